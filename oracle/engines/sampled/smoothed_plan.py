"""Plans for smoothed contours: where to integrate and how much to smooth. In floats, nothing here is trusted."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

from oracle.core.errors import PrecisionError
from oracle.engines.contour import Saddle, period_at
from oracle.engines.sampled.sampled_gaussian import SampledGaussian

SMOOTHNESS = 16  # m: a power of two
_MOST_ACCURATE = 80.0
_SHARP = 6.0  # how far the error of a ceiling lies below it after all steps, in the exponent
_BESIDE_ONE = 3.0  # log M(c)^T up to which M^T - 1 is summed
_WIDEST = 1.0  # of a smoothing, in units of 1/c and in log x
_POINTS, _BESIDES = (6, 15, 60), 16.0
_PULLS = (1.0, 0.7, 0.5, 0.35)
_UNSMOOTHED = 22.0
_GOOD = 1e-9  # an error for which no other order is tried
_BALL, _SHARED = 18.0, 1000.0
_GOALS = (_UNSMOOTHED, 6.0, 8.0, 10.0, 13.0, 16.0, 19.0)


@dataclass(frozen=True)
class SmoothedPlan:
    """Where to integrate and how much to smooth: proposed by floats, judged by the bounds."""

    c: float
    spacing: float
    nodes: int
    chernoff: float
    reach: float  # w; 0 for no smoothing
    parameter: float  # with which the step proves its decay, where there is no smoothing
    decay_accuracy: float  # the error of that proof, as an exponent of e
    accuracy: float  # the quadrature's error, as an exponent of e, in units of the largest term
    beside_one: bool  # whether M^T - 1 is summed in place of M^T

    @property
    def columns(self) -> int:
        """Columns of the table of nodes, a power of two."""
        return 1 << (max(self.nodes.bit_length(), 2) + 1) // 2

    @property
    def rows(self) -> int:
        """Rows of the table of nodes, of which the last is full."""
        return -(-(self.nodes + 1) // self.columns)

    @property
    def last(self) -> int:
        """The last node of the table."""
        return self.rows * self.columns - 1


def affordable_nodes(step: SampledGaussian, order: float, nodes: int) -> int:
    """Twice as many nodes where the quadrature has few points for its digits, a half or a quarter where it has many."""
    points = step.points(order, step.digits + _BESIDES) / step.digits
    return 2 * nodes + 1 if points < _POINTS[0] else nodes >> sum(points > some for some in _POINTS[1:])


@dataclass
class Work:
    """What may be spent on smoothed contours, about a microsecond a unit; it is counted, not measured.

    A point of the quadrature is 18 in balls and next to nothing in floats; a node's share of a point is 1/1000.
    """

    left: float = math.inf

    def spend(self, step: SampledGaussian, plan: SmoothedPlan, *, balls: bool) -> None:
        """Take off what a plan costs; refused where too little is left, for floats where no balls could follow, too."""
        if self.left == math.inf:
            return
        points = step.points(plan.c, plan.accuracy)
        floats = points * plan.nodes / _SHARED
        if points * _BALL + (floats if balls else 2 * floats) > self.left:
            raise PrecisionError(f"{points:.0f} points of quadrature at {plan.nodes} nodes are too much work")
        self.left -= points * _BALL + floats if balls else floats


def smoothed_plan(
    step: SampledGaussian, count: int, saddle: Saddle, nodes: int, curvature: float = 0.0,
    pulls: Sequence[float] = _PULLS,
) -> SmoothedPlan:
    """A plan with about that many nodes (one less than a power of two is best used), of the least error in sight.

    All errors but the smoothing's are about e^{-goal} of delta, and a smaller goal needs less smoothing. That of the
    smoothing is its variance times the curvature of delta, in units of delta: at least c (c+1) or so.
    """
    curvature = max(curvature, saddle.c * (saddle.c + 1)) * SMOOTHNESS / 3
    plans = []
    for pull in pulls:
        for goal in _GOALS:
            plan, noise = _plan_at(step, count, saddle, nodes, pull, goal)
            plans.append((math.exp(-goal) + curvature * plan.reach**2 + noise, plan))
            if curvature * plan.reach**2 > 2 * math.exp(-goal) and goal < _UNSMOOTHED:
                break  # the next one is smoothed more
        if min(error for error, _ in plans) < _GOOD:
            break
    best = min(plans, key=lambda pair: pair[0])[1]
    if best.reach * max(1.0, best.c) > _WIDEST:
        raise PrecisionError("too few nodes: the smoothing would blur everything")
    return best


def _plan_at(
    step: SampledGaussian, count: int, saddle: Saddle, nodes: int, pull: float, goal: float
) -> tuple[SmoothedPlan, float]:
    """The plan of an order and a goal, and about the error of the floats."""
    c = saddle.c * pull
    period, chernoff = period_at([(step, count)], saddle, pull, goal)
    spacing = 2 * math.pi / period
    log_m = count * step.cumulants(c)[0]
    log_peak = log_m - c * saddle.epsilon - saddle.log_delta
    accuracy = min(step.digits + max(0.0, log_peak), _MOST_ACCURATE) + math.log(count + 1)
    plan = SmoothedPlan(c, spacing, nodes, chernoff, 0.0, 0.0, 0.0, accuracy, False)
    last = plan.last * spacing
    beside_one = log_m < _BESIDE_ONE
    peak = math.exp(min(log_peak, 300.0)) / c
    noise = count * (4e-16 if beside_one else 4e-14) * peak
    if goal == _UNSMOOTHED:
        log_ceiling, parameter = step.decay(c, last)
        if count * log_ceiling - c * saddle.epsilon - saddle.log_delta - math.log(math.pi * last) < -goal:
            sharp = min(max(0.0, step.cumulants(c)[0] - log_ceiling) + math.log(count) + _SHARP, accuracy)
            chosen = replace(plan, parameter=parameter, decay_accuracy=sharp, beside_one=beside_one)
            return chosen, noise + 3e-14 * peak
    exponent = (goal + max(0.0, log_peak)) / SMOOTHNESS
    return replace(plan, reach=math.exp(min(exponent, 300.0)) / last, beside_one=beside_one), noise
