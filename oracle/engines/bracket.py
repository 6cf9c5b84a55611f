"""The root of a falling function whose values are dear and known by enclosures only: a bracket in few evaluations."""

from __future__ import annotations

import math
from collections.abc import Callable

_EVALUATIONS, _BLIND = 16, 2
_DESCENTS, _HALVINGS = 6, 12
_FIRST_STEP = 0.05
_TOLD, _APART = 4, 1e-4  # uncertainties by which two values must differ to tell a slope, or points, relatively
_ROOM = 1.25  # by which an end is placed further from the root than the uncertainty there


def bracket(
    excess: Callable[[float], tuple[float, float]], start: float, slope: float, width: float
) -> tuple[float, float]:
    """low < high with excess(low) > 0 >= excess(high) certain, high - low <= width * min(1, low) if that is in reach.

    `excess(x)` gives bounds of a falling function at the double x > 0, best of logarithmic kind. An end that is never
    found is 0 or infinite. A guess of the slope, then secants through the last two middles propose the root; the end
    that is further from it is then placed beside it, as far as the values are uncertain.
    """
    low, high, x, step = 0.0, math.inf, start, _FIRST_STEP
    last: tuple[float, float] | None = None
    blind = 0
    for _ in range(_EVALUATIONS):
        below, above = excess(x)
        low, high = (max(low, x) if below > 0 else low), (min(high, x) if above <= 0 else high)
        blind += above - below > 1
        if blind > _BLIND:
            break  # too little is known around here
        if high - low <= width * min(1.0, low):
            break
        middle = 0.5 * (below + above)
        if last is not None and math.isfinite(middle):
            change = middle - last[1]
            if abs(change) > _TOLD * (above - below) or abs(x - last[0]) > _APART * x:
                slope = change / (x - last[0])
        if not (math.isfinite(slope) and slope < 0 and math.isfinite(middle)):
            factor = 1 + step
            last = (x, middle) if math.isfinite(middle) else last
            x, step = (x * factor if above > 0 else x / factor), min(2 * step, 3.0)
            continue
        last = x, middle
        root = x - middle / slope
        away = max(_ROOM * 0.5 * (above - below) / -slope, width * min(1.0, root) / 5, 4e-16 * root)
        if low > 0 and high - low <= 4 * away:
            break  # as close as the values are certain
        x = root + away if high - root > root - low else root - away
        if not low < x < high:
            x = 0.5 * (low + high) if math.isfinite(high) else 2 * low
            x = math.sqrt(x * high) if low == 0 and math.isfinite(high) else x
    if math.isinf(high):
        high = _raised(excess, max(x, start))
    if low == 0 and math.isfinite(high):
        low, high = _halved(excess, high)
    return low, high


def _raised(excess: Callable[[float], tuple[float, float]], start: float) -> float:
    """An upper end by ever larger steps up; infinite where there is none."""
    point, factor = start, 1.05
    for _ in range(_DESCENTS):
        point, factor = point * factor, factor * factor
        if excess(point)[1] <= 0:
            return point
    return math.inf


def _halved(excess: Callable[[float], tuple[float, float]], high: float) -> tuple[float, float]:
    """A lower end by ever larger steps down from the upper one, then a few halvings: for flat functions."""
    low, point, factor = 0.0, high, 1.05
    for _ in range(_DESCENTS):
        point, factor = point / factor, factor * factor
        below, above = excess(point)
        if below > 0:
            low = point
            break
        high = point if above <= 0 else high
    for _ in range(_HALVINGS if low > 0 else 0):
        middle = math.sqrt(low * high)
        below, above = excess(middle)
        low, high = (middle if below > 0 else low), (middle if above <= 0 else high)
        if below <= 0 < above:
            break
    return low, high
