"""The processor's extended numbers, with 64 bits of mantissa: long sums of numbers >= 0 at the speed of arrays.

Sums, products and quotients are rounded correctly by the hardware, so that each adds one unit 2^-64 to the relative
error of a result that is formed without cancellation; whoever calls this counts them, and what they add up to is a
proof. Nothing else (no exponential, no logarithm) is taken from here. Where the machine has no such numbers, or an
input is so large or small that exponents could run out, balls do the work.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from fractions import Fraction
from typing import Any

import numpy as np
from flint import arb, ctx

from oracle.core.enclosure import ball

UNIT = Fraction(1, 2**64)
_SMALL, _LARGE = 1e-240, 1e240  # between which a double has another double for its rest
_BITS, _SHARP = 192, 100


def available() -> bool:
    """Whether this machine's longest floats have 64 bits of mantissa, or more, by trying."""
    one, last = np.longdouble(1.0), np.longdouble(2.0**-63)
    return bool((one + last) - one == last and np.finfo(np.longdouble).maxexp >= 16384)


def relative(units: int) -> Fraction:
    """The relative error that so many roundings, each by a factor between 1 - 2^-64 and 1 + 2^-64, cannot exceed."""
    return units * UNIT / (1 - units * UNIT)


def extended(values: Iterable[Fraction]) -> Any | None:
    """An array of numbers >= 0, each to 2 units; None where one is too large or too small for that."""
    with ctx.workprec(_BITS):
        return extended_of_balls([ball(value) for value in values])


def extended_of_balls(values: Sequence[arb]) -> Any | None:
    """An array of enclosed numbers >= 0, each to 2 units; None where one is too large, too small or too wide for that.

    A double, whatever its last bit, and what is left beside it: their sum is one rounding away from the number.
    """
    with ctx.workprec(_BITS):
        high = [float(value.mid()) for value in values]
        low = [float((value - first).mid()) for value, first in zip(values, high, strict=True)]
        for value, first in zip(values, high, strict=True):
            if not value.is_zero() and not (_SMALL < first < _LARGE and value.rel_accuracy_bits() > _SHARP):
                return None
    return np.array(high, dtype=np.longdouble) + np.array(low, dtype=np.longdouble)


def exact(value: Any) -> arb:
    """A finite extended number as a ball without radius."""
    mantissa, exponent = np.frexp(value)
    high = np.floor(np.ldexp(mantissa, 32))
    low = np.ldexp(np.ldexp(mantissa, 32) - high, 32)
    with ctx.workprec(128):
        return (int(high) * 2**32 + int(low)) * arb((1, int(exponent) - 64))
