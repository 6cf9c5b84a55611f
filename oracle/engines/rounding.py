"""Rounding for the fast utility bounds: sums and products of numbers >= 0, which float64 forms without cancellation."""

from __future__ import annotations

import math
from typing import Any

from oracle.core.arrays import inflate

_SMALL, _LARGE = 1e-30, 1e30  # products of nine such numbers neither overflow nor lose digits to underflow


def rounded_up(xp: Any, result: Any, *inputs: Any, units: Any) -> Any:
    """The result, larger by that many unit roundoffs; NaN (for the reference) where an input is extreme.

    Every step of the formula must be a sum, product, quotient or root of numbers >= 0 (relative errors then add up),
    and no term may multiply more than nine inputs. A schedule among the inputs counts with all its entries.
    """
    safe = xp.isfinite(result)
    for value in inputs:
        fine = (value == 0.0) | ((value >= _SMALL) & (value <= _LARGE))
        safe = safe & (fine if value.shape == result.shape else xp.all(fine, axis=-1))
    return xp.where(safe, inflate(result, units), math.nan)
