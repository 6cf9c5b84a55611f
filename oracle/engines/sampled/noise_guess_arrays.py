"""About the noise at which sampled steps meet a delta, vectorised: where a search on the contour sum begins.

The saddle-point formula of delta (`contour_scan_arrays`) is good to some percent and takes a tenth of the time of the
sum; log delta falls about with the square of sigma, and secants in log sigma find where it is as asked. A choice: a bad
one costs the search time, never truth. Rows never meet.
"""

from __future__ import annotations

from typing import Any

from oracle.core.arrays import anywhere, at_least, at_most
from oracle.engines.contour_plan_arrays import StepColumn
from oracle.engines.contour_scan_arrays import scan

_TRIES = 10
_CLOSE = 0.02  # in log delta: the formula is no better
_LONGEST, _FLATTEST = 1.0, -0.5
_PART = 256  # rows at a time


def about_log_noise(xp: Any, start: Any, rate: Any, steps: Any, epsilon: Any, delta: Any, *, mirrored: bool) -> Any:
    """About the log of sigma for columns of shape [B], from a guess of it; 0 < rate < 1 and steps > 1."""
    target = xp.log(delta)

    def excess(x: Any) -> Any:
        columns = (xp.exp(x), rate, steps, epsilon)
        parts = [
            _log_delta(xp, *(column[first : first + _PART] for column in columns), mirrored=mirrored)
            for first in range(0, max(1, x.shape[0]), _PART)
        ]
        return (parts[0] if len(parts) == 1 else xp.concat(parts)) - target

    x, at, slope = start, excess(start), 2.0 * (target - 1.0)
    for _ in range(_TRIES):
        settled = xp.abs(at) <= _CLOSE
        if not anywhere(~settled):
            break
        step = at_most(xp, at_least(xp, -at / slope, -_LONGEST), _LONGEST)
        at_new = excess(x + step)
        slope = at_most(xp, (at_new - at) / step, _FLATTEST)
        x, at = xp.where(settled, x, x + step), xp.where(settled, at, at_new)
    return x


def _log_delta(xp: Any, sigma: Any, rate: Any, steps: Any, epsilon: Any, *, mirrored: bool) -> Any:
    """Log delta by the saddle-point formula, the larger of both directions."""
    ones = xp.ones_like(sigma)
    levels = [
        scan(StepColumn(xp, sigma, rate, steps, sign, mirrored=mirrored), None, epsilon).level
        for sign in ((ones,) if mirrored else (ones, -ones))
    ]
    return levels[0] if mirrored else xp.maximum(*levels)
