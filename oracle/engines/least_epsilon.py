"""The least epsilon at which a falling privacy curve meets a delta, decided by certified signs on both sides."""

from __future__ import annotations

import contextlib
import functools
from collections.abc import Callable
from fractions import Fraction

from flint import arb, ctx

from oracle.core.arithmetic import decreasing_root
from oracle.core.enclosure import Enclosure, ball
from oracle.core.errors import PrecisionError
from oracle.engines.gaussian_curve import certainly_negative

DIGITS = arb(2) ** 4000
"""Beyond, an epsilon is known to a relative width only."""
_ROOMS = (2.0**-6, 2.0**-3)  # about a guess, in units of it


def least_epsilon(
    curve: Callable[[arb], arb], largest: arb | None, delta: Fraction, width: Fraction, *, relative: bool = False,
    straight: bool = False, near: float | None = None,
) -> Enclosure:
    """The least epsilon >= 0 at which a falling curve is at most delta; no loss exceeds `largest`.

    The width may be relative to an epsilon above 1, too: one of thousands of digits is dear. `straight` says that the
    logarithm of the curve is nearly so, which saves evaluations; so does to know about where to look (`near`).
    """

    def excess(epsilon: arb) -> arb:
        if largest is not None and epsilon >= largest:
            return arb(-1)  # no loss is that large: delta is 0
        ratio = curve(epsilon) / ball(delta)
        return ratio.log() if straight else ratio - 1

    for room in _ROOMS if near else ():
        with contextlib.suppress(PrecisionError):  # the root lies elsewhere
            return decreasing_root(excess, arb(near) * (1 - room), arb(near) * (1 + room), width=width)
    with ctx.workprec(128):
        if certainly_negative(functools.partial(excess, arb(0))):
            return Enclosure.exactly(0)
        low, high = -1, 1  # powers of two
        while not certainly_negative(functools.partial(excess, arb(2) ** high)):
            low, high = high, 2 * high
        if not relative and arb(2) ** low > DIGITS:
            raise PrecisionError(f"epsilon is above 2^{low}: its digits to an absolute width are too many")
        while high - low > 1 and low > 0:
            middle = (low + high) // 2
            beyond = certainly_negative(functools.partial(excess, arb(2) ** middle))
            low, high = (low, middle) if beyond else (middle, high)
    lower = arb(2) ** low if low > 0 else arb(0)
    return decreasing_root(excess, lower, arb(2) ** high, width=width * (1 << high if relative else 1))
