"""About the noise at which equal sampled steps meet a delta, in floats: where to look first. Nothing here is trusted.

Saddle points place it to a few percent; where a scout's sum sees delta it is placed as closely as floats do.
"""

from __future__ import annotations

import contextlib
import math
from collections.abc import Callable
from fractions import Fraction

from oracle.core.errors import PrecisionError
from oracle.engines.contour import Saddle, Stages, Step, saddle_for
from oracle.engines.sampled.cut_gaussian import cut_for
from oracle.engines.sampled.sampled_bounds import LEAST_NOISE, UNPLANNED, SampledDelta
from oracle.engines.sampled.sampled_gaussian import SampledGaussian
from oracle.engines.sampled.smoothed_plan import Work, affordable_nodes, smoothed_plan
from oracle.engines.sampled.smoothed_sums import SmoothedScout

_LEAST, _MOST = -10.0, 28.0  # of log sigma
_LONGEST, _CLOSE = 1.5, 1.0  # a step in log sigma, and a distance in log delta at which a tiny step is the last
_ROUGH, _ROUGH_TRIES = 5e-3, 30
_FINE, _FINE_TRIES = 1e-9, 6
_UNSURE, _MEAN = 0.05, 0.2  # of a saddle point's log delta, and of the mean of a scout's bounds in units of their gap
_AWAY = (0.0, 0.08, 0.16)
_PULLS = (1.0, 0.5)
_AFFORDABLE = 15_000.0  # of a scout
_NODES = 127, 1023  # enough where the moments decay, and elsewhere
_CUT_SHARE = math.log(0.1)


def about_noise(
    stages_at: Callable[[Fraction], Stages], epsilon: Fraction, log_delta: float, start: float
) -> tuple[float, float]:
    """About the sigma at which delta(epsilon) is e^{log_delta}, and the slope of log delta there."""

    def by_saddle(x: float) -> tuple[float, float]:
        try:
            at = stages_at(Fraction(math.exp(x)))
            stages = [(_without_tail(step, count, log_delta), count) for step, count in at]
            return saddle_for(stages, epsilon=float(epsilon)).log_delta - log_delta, _UNSURE
        except UNPLANNED:
            return -log_delta, 0.0  # so little noise that no plan can be made

    whole = False  # whether no step was cut, and none is to be

    def by_scout(x: float) -> tuple[float, float]:
        nonlocal whole
        (step, count), *others = stages_at(Fraction(math.exp(x)))
        if others or count == 1 or not isinstance(step, SampledGaussian) or step.sigma < LEAST_NOISE:
            raise PrecisionError("there are no sums for these steps")
        suited = step if whole else SampledDelta(step, count, epsilon).suited()
        whole = suited is step
        above, below, noise = _scouted(suited, count, float(epsilon), log_delta)
        return 0.5 * (above + below) - log_delta, max(_MEAN * (above - below), noise)

    x, slope = _root(by_saddle, math.log(start), -1.0, _ROUGH, _ROUGH_TRIES)
    for away in _AWAY:  # where a saddle point errs, delta may lie far below what floats see: with less noise they do
        with contextlib.suppress(*UNPLANNED):
            x, slope = _root(by_scout, x - away, slope, _FINE, _FINE_TRIES)
            break
    return math.exp(x), slope * math.exp(-x)


def _without_tail(step: Step, count: int, log_delta: float) -> Step:
    """A sampled step whose tail does not count at such a delta, but may govern Chernoff's bound, without it."""
    cut = cut_for(step, count, log_delta, _CUT_SHARE) if isinstance(step, SampledGaussian) else None
    return step if cut is None else cut


def _scouted(step: SampledGaussian, count: int, epsilon: float, log_delta: float) -> tuple[float, float, float]:
    """About the logarithms of both bounds of a scout of delta(epsilon), where it is near a guess, and their noise."""
    saddle = saddle_for([(step, count)], epsilon=epsilon)
    saddle = Saddle(saddle.c, saddle.epsilon, min(saddle.log_delta, log_delta))
    for nodes in _NODES:
        plan = smoothed_plan(step, count, saddle, affordable_nodes(step, saddle.c, nodes), pulls=_PULLS)
        if not plan.reach:
            break
    Work(_AFFORDABLE).spend(step, plan, balls=False)
    scout = SmoothedScout(step, count, plan)
    above, below = (scout.about(epsilon, above=side) for side in (True, False))
    if not math.isfinite(above + below):
        raise PrecisionError("floats see no delta here")
    return above, below, math.exp(scout.log_noise + float(scout.log_top) - plan.c * epsilon - above)


def _root(
    function: Callable[[float], tuple[float, float]], x: float, slope: float, near: float, tries: int
) -> tuple[float, float]:
    """About the root of a falling function, and its slope: secants, kept in a bracket where there is one.

    The function tells how unsure its values are, too; it may jump, so that points that are near tell no slope.
    """
    low, high, before, slow = _LEAST, _MOST, (math.nan, math.nan), 0
    for _ in range(tries):
        value, unsure = function(x)
        low, high = (x, high) if value > 0 else (low, x)
        if abs(x - before[0]) >= near and (value - before[1]) / (x - before[0]) < 0:
            slope = (value - before[1]) / (x - before[0])
        slow = slow + 1 if abs(value) > 0.5 * abs(before[1]) else 0
        before, step = (x, value), max(-_LONGEST, min(_LONGEST, -value / slope))
        point = x + step
        if abs(value) <= unsure or high - low < near or (abs(step) < near and abs(value) < _CLOSE):
            return point if low < point < high else x, slope
        if not low < point < high or (slow > 1 and low > _LEAST and high < _MOST):
            point = 0.5 * (low + high)
        elif slow > 1 and abs(step) < _LONGEST:
            point = x + math.copysign(min(_LONGEST, 2 * abs(step) + 0.1), value)
        x = point
    return x, slope
