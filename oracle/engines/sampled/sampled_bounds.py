r"""Equal sampled Gaussian steps: an enclosure for a known amount of work, however wide.

Two sources, the narrower of which counts at each end: the smoothed contour integral with a given number of nodes
(`smoothed_contour`), of the steps themselves or of cut ones (`cut_gaussian`), and plain inequalities (`plain_bounds`).
"""

from __future__ import annotations

import contextlib
import functools
import math
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar, Protocol

from flint import arb, ctx

from oracle.core.arithmetic import DEFAULT_WIDTH, reaches
from oracle.core.enclosure import Dyadic, Enclosure, ball
from oracle.core.errors import PrecisionError
from oracle.engines.contour import Saddle, saddle_for
from oracle.engines.sampled.cut_gaussian import cut_for
from oracle.engines.sampled.plain_bounds import (
    chernoff_delta,
    chernoff_epsilon,
    exceeded_delta,
    meets_unnoised,
    plain_delta,
    plain_epsilon,
)
from oracle.engines.sampled.sampled_gaussian import SampledGaussian
from oracle.engines.sampled.smoothed_contour import SmoothedCurve
from oracle.engines.sampled.smoothed_plan import Work, affordable_nodes, smoothed_plan
from oracle.engines.sampled.smoothed_sums import SmoothedScout, SmoothedSums

_NODES = tuple((1 << power) - 1 for power in (15, 17, 20))  # of smoothed ones; the first where no width is asked for
LEAST_NOISE = Fraction(1, 60)
_LOOSE, _ROUGH = Fraction(1, 1000), 0.05  # a width in need of rescue, and one that is good enough then
_IN_SIGHT = 8  # the factor between two ends from which on more nodes would not see more
_PLACES = 8  # how often the place of a bound is corrected
_ROOM = 1.02  # by which it is placed further from the root than its errors ask for
_SECANTS, _SETTLED = 60, 2.0**-42  # evaluations of a root, and the distance of the logarithm at which it is found
_NOISE = 1e-5  # differences of logarithms below which a chord tells no slope
_FAR = 3.0  # in the exponent: by how much a delta may be below its estimate before the plan is made again
_SEARCHES = 3
_SCOUTS = (1 << 12) - 1  # nodes that find the place before the others are spent on it
_SHARES = tuple(math.log(10) * power for power in (-5, -4, -3, -2, -1))  # of delta that a cut may lose, in logarithms
_TOLERABLE, _SLOWER = 9.0, 4.0
_MOVED, _STRAYED = 0.5, 3.0  # by how much a place may be off, in the exponent, before and after all nodes are spent


UNPLANNED = (PrecisionError, ArithmeticError, ValueError)
"""What a float64 plan ends in where it cannot be made: parameters beyond the doubles, or no digits left."""


class SampledQuestion(Protocol):
    """A number about equal sampled steps that can be bounded in two ways."""

    @property
    def affordable(self) -> float:
        """What all its smoothed contours may cost where no width is asked for, in the units of `Work`."""

    @property
    def trial(self) -> float:
        """What an exact contour that is tried first may cost, in the units of `contour.work`."""

    @property
    def step(self) -> SampledGaussian:
        """One of the steps."""

    def quickly(self) -> Enclosure | None:
        """Its enclosure by plain inequalities, where they take little work."""

    def plain(self) -> Enclosure | None:
        """Its enclosure by plain inequalities that take some."""

    def suited(self) -> SampledGaussian:
        """The step, or one that is cut, whichever serves a sum of few nodes."""

    def smoothed(self, step: SampledGaussian, nodes: int, work: Work) -> Enclosure:
        """Its enclosure by a smoothed contour of that step, for no more work."""

    def chernoff(self, step: SampledGaussian) -> Enclosure:
        """Between 0 and Chernoff's bound, by that step."""


@dataclass(frozen=True)
class SampledDelta:
    """delta(epsilon) of a number of equal steps."""

    step: SampledGaussian
    count: int
    epsilon: Fraction
    affordable: ClassVar[float] = 90_000.0  # it may be so small that no float64 sum sees it, and is often asked for
    trial: ClassVar[float] = 15_000.0

    def quickly(self) -> Enclosure | None:
        """Between what simple tests tell and the least of the plain upper bounds."""
        return plain_delta(self.step, self.count, self.epsilon)

    def plain(self) -> Enclosure | None:
        """No more."""
        return None

    def suited(self) -> SampledGaussian:
        """As the logarithm of Chernoff's bound falls, which delta is no smaller than a test tells."""
        told = exceeded_delta(self.step, self.count, self.epsilon)

        def chernoff(step: SampledGaussian) -> Saddle:
            return saddle_for([(step, self.count)], epsilon=float(self.epsilon))

        return _suited(self.step, self.count, _log(told), chernoff) if told > 0 else self.step

    def smoothed(self, step: SampledGaussian, nodes: int, work: Work) -> Enclosure:
        """Between the bounds of a smoothed contour."""
        return smoothed_delta(step, self.count, self.epsilon, nodes, work)

    def chernoff(self, step: SampledGaussian) -> Enclosure:
        """At most Chernoff's bound."""
        with ctx.workprec(128):
            return Enclosure.between(arb(0), chernoff_delta(step, self.count, self.epsilon))


@dataclass(frozen=True)
class SampledEpsilon:
    """The least epsilon >= 0 at a delta of a number of equal steps."""

    step: SampledGaussian
    count: int
    delta: Fraction
    affordable: ClassVar[float] = 250_000.0
    trial: ClassVar[float] = 38_000.0

    def quickly(self) -> Enclosure | None:
        """0 where no noise at all is needed."""
        return Enclosure.exactly(0) if meets_unnoised(self.step, self.count, self.delta) else None

    def plain(self) -> Enclosure | None:
        """Between what simple tests tell and the least of the plain upper bounds."""
        return plain_epsilon(self.step, self.count, self.delta)

    def suited(self) -> SampledGaussian:
        """As the epsilon of Chernoff's bound falls."""
        log_delta = _log(ball(self.delta))

        def chernoff(step: SampledGaussian) -> Saddle:
            return saddle_for([(step, self.count)], log_delta=log_delta)

        return _suited(self.step, self.count, log_delta, chernoff)

    def smoothed(self, step: SampledGaussian, nodes: int, work: Work) -> Enclosure:
        """Between the bounds of a smoothed contour."""
        return smoothed_epsilon(step, self.count, self.delta, nodes, work)

    def chernoff(self, step: SampledGaussian) -> Enclosure:
        """At most where Chernoff's bound meets the delta."""
        with ctx.workprec(128):
            return Enclosure.between(arb(0), chernoff_epsilon(step, self.count, self.delta))


def _suited(
    step: SampledGaussian, count: int, log_delta: float, chernoff: Callable[[SampledGaussian], Saddle]
) -> SampledGaussian:
    """The step itself, or one that is cut where a share of delta is lost, such that Chernoff's bound is of use.

    What a deep cut takes off that bound is tail: so many digits a sum over the step would lose, and where it raises the
    order much, the order without it is too small to see an epsilon so far below.
    """
    deepest = cut_for(step, count, log_delta, _SHARES[-1]) if count > 1 else None
    if deepest is None:
        return step
    least = chernoff(deepest)
    for log_share in (None, *_SHARES[:-1]):
        tried = step if log_share is None else cut_for(step, count, log_delta, log_share)
        if tried is not None:
            saddle = chernoff(tried)
            digits = saddle.c * (saddle.epsilon - least.epsilon) + saddle.log_delta - least.log_delta
            if digits < _TOLERABLE and saddle.c > least.c / _SLOWER:
                return tried
    return deepest


def _log(value: arb) -> float:
    with ctx.workprec(64):
        return float(value.log().mid())


def narrowest(
    exactly: Callable[[Fraction, float], Enclosure], question: SampledQuestion, width: Fraction | None
) -> Enclosure:
    """The answer of an asked width; without one as narrow as a fixed amount of work makes it, but always an answer.

    `exactly(width, work)` gives an enclosure of that width for at most that much work, or an error of `UNPLANNED`.
    Where no width is asked for and the step is best cut, no exact contour would do.
    """
    asked, step = DEFAULT_WIDTH if width is None else width, question.step
    noisy = step.sigma >= LEAST_NOISE  # with less noise a quadrature has too many points
    if width is None and noisy:
        with contextlib.suppress(*UNPLANNED):
            step = question.suited()
    if step is question.step:
        with contextlib.suppress(*UNPLANNED):
            return exactly(asked, question.trial)
    best, work = question.quickly(), Work(question.affordable if width is None else math.inf)
    for nodes in (_NODES if width is not None else _NODES[:1]) if noisy else ():
        if best is not None and reaches(best, asked):
            return best
        try:
            best = _both(best, question.smoothed(step, nodes, work))
        except UNPLANNED:
            break
    if best is None or not reaches(best, _LOOSE):
        best = _both(best, question.plain())
    chernoff = [functools.partial(question.chernoff, some) for some in dict.fromkeys((step, question.step))]
    finer = functools.partial(question.smoothed, step, _NODES[1], work)
    for rescue in (*chernoff, functools.partial(exactly, _LOOSE, question.trial), finer) if noisy else ():
        with ctx.workprec(64):
            low, high = best.lower.ball, best.upper.ball
            if high - low <= _ROUGH * high or (rescue is finer and high > _IN_SIGHT * low):
                break
        with contextlib.suppress(*UNPLANNED):
            best = _both(best, rescue())
    if width is None or reaches(best, asked):
        return best
    try:
        return exactly(asked, math.inf)
    except UNPLANNED as error:
        raise PrecisionError(
            f"the asked width is out of reach ({error}); known so far: {best}; ask for a wider width, or for none"
        ) from error


# ---- the smoothed contour


def smoothed_delta(
    step: SampledGaussian, count: int, epsilon: Fraction, nodes: int, work: Work | None = None
) -> Enclosure:
    """delta(epsilon) between the bounds of a smoothed contour with that many nodes, as far as the work goes."""
    work = Work() if work is None else work
    best = Enclosure.between(arb(0), arb(1))
    saddle = saddle_for([(step, count)], epsilon=float(epsilon))
    most = affordable_nodes(step, saddle.c, nodes)
    with contextlib.suppress(*UNPLANNED):
        return _scouted_delta(step, count, epsilon, saddle, most, work)
    for attempt in range(2):
        try:
            plan = smoothed_plan(step, count, saddle, most)
            work.spend(step, plan, balls=True)
            found, log_delta = _delta_of(SmoothedCurve(step, count, plan), epsilon)
        except UNPLANNED:
            if not attempt:
                raise
            break  # what the first one told stands
        best = _both(best, found)
        if log_delta > saddle.log_delta - (_FAR if found.lower.mantissa else 1):
            break  # or nothing new would be tried
        saddle = Saddle(saddle.c, saddle.epsilon, log_delta)
    return best


def _scouted_delta(
    step: SampledGaussian, count: int, epsilon: Fraction, saddle: Saddle, nodes: int, work: Work
) -> Enclosure:
    """The same where floats see a delta: they tell how large it is, and how much it bends."""
    for _ in range(_SEARCHES):
        plan = smoothed_plan(step, count, saddle, min(nodes, _SCOUTS))
        work.spend(step, plan, balls=False)
        scout = SmoothedScout(step, count, plan)
        about, known = scout.about(saddle.epsilon, above=True), saddle.log_delta
        if about == -math.inf:
            raise PrecisionError("floats see no delta here")
        saddle = Saddle(saddle.c, saddle.epsilon, min(about, known))
        if about > known - _FAR:
            break
    plan = smoothed_plan(step, count, saddle, nodes, scout.curvature(saddle.epsilon))
    work.spend(step, plan, balls=True)
    return _delta_of(SmoothedCurve(step, count, plan), epsilon)[0]


def _delta_of(curve: SmoothedCurve, epsilon: Fraction) -> tuple[Enclosure, float]:
    """The bounds of a curve, and the logarithm of the upper one."""
    with ctx.workprec(128):
        low, high = curve.delta(ball(epsilon))
        if not high > 0:
            raise PrecisionError("float64 sees no delta here")
        return Enclosure.between(low.max(arb(0)), high.min(arb(1))), float(high.log().mid())


def smoothed_epsilon(
    step: SampledGaussian, count: int, delta: Fraction, nodes: int, work: Work | None = None
) -> Enclosure:
    """The least epsilon >= 0 at delta between the bounds of a smoothed contour, as far as the work goes."""
    work = Work() if work is None else work
    log_delta = _log(ball(delta))
    saddle = saddle_for([(step, count)], log_delta=log_delta)
    scouts = min(nodes, affordable_nodes(step, saddle.c, _SCOUTS), _SCOUTS)
    plan = smoothed_plan(step, count, saddle, scouts)
    work.spend(step, plan, balls=False)
    scout: SmoothedSums = SmoothedScout(step, count, plan)
    place, slope = _about_root(scout, log_delta, saddle.epsilon, saddle.c, above=True)
    for _ in range(2):
        if abs(place - saddle.epsilon) * saddle.c > _MOVED:  # the loss is nearly discrete, Chernoff's bound a bad guess
            order = min(saddle.c, saddle_for([(step, count)], epsilon=place).c)
            saddle = Saddle(order, place, log_delta)
        most = affordable_nodes(step, saddle.c, nodes)
        plan = smoothed_plan(step, count, saddle, most, scout.curvature(place))
        work.spend(step, plan, balls=True)
        scout = curve = SmoothedCurve(step, count, plan)
        place, slope = _about_root(curve, log_delta, place, slope, above=True)
        if abs(place - saddle.epsilon) * plan.chernoff < _STRAYED:
            break
    with ctx.workprec(128):
        target = ball(delta)
        upper = _placed(curve, target, log_delta, place, slope, above=True)
        below, fall = _about_root(curve, log_delta, place, slope, above=False)
        lower = _placed(curve, target, log_delta, below, fall, above=False)
        if upper is None:
            raise PrecisionError("float64 does not see delta fall to the target")
        return Enclosure(Dyadic.of(arb(0) if lower is None else lower.min(upper)), Dyadic.of(upper))


def _placed(
    curve: SmoothedCurve, target: arb, log_delta: float, root: float, slope: float, *, above: bool
) -> arb | None:
    """A point >= 0, near the root of one bound, at which it is certified: delta <= target (above) or >= target."""
    side = 1 if above else -1
    if root == 0.0:  # nowhere is delta larger
        return arb(0) if above and curve.delta_above(arb(0)) <= target else None
    margin = max(root * 2.0**-50, 2.0**-50 / curve.plan.c)
    margin += _ROOM * curve.uncertainty(root, log_delta, above=above) / slope
    for attempt in range(_PLACES):
        point = arb(max(0.0, root + side * margin))
        if point.is_zero() and not above:
            return None
        value = curve.delta_above(point) if above else curve.delta_below(point)
        if (value <= target) if above else (value >= target):
            return point
        missing = abs(float((value / target).log())) if value > 0 else math.inf
        margin += 2.0**attempt * 1.1 * missing / slope if 0 < missing < 1 else 31 * margin
    return None


def _about_root(
    curve: SmoothedSums, log_delta: float, start: float, slope: float, *, above: bool
) -> tuple[float, float]:
    """About where one bound falls to a delta, at 0 or more, and how fast its logarithm does: secants in a bracket."""

    def excess(epsilon: float) -> float:
        return curve.about(epsilon, above=above) - log_delta

    low, high, point = 0.0, math.inf, start
    before = math.nan, math.nan
    for attempt in range(_SECANTS):
        value = excess(point)
        low, high = (point, high) if value > 0 else (low, point)
        change = before[1] - value
        if abs(change) > _NOISE and change / (point - before[0]) > 0 and math.isfinite(change):
            slope = change / (point - before[0])
        lost = abs(value) < 2 * abs(change) < 2 * _NOISE  # in noise
        if abs(value) < _SETTLED or high - low <= 2.0**-48 * low or lost:
            break
        before = point, value
        proposal = point + value / slope
        if low == 0.0 and not proposal > 2.0**-6 * high:
            if excess(0.0) <= 0:
                return 0.0, slope
            proposal = max(proposal, 2.0**-6 * high)
        if not low < proposal < high or attempt % 6 == 5:
            proposal = 0.5 * (low + high) if math.isfinite(high) else 2 * point + 1 / curve.plan.c
        point = proposal
    return point, slope


def _both(one: Enclosure | None, other: Enclosure | None) -> Enclosure:
    """The enclosure of a truth that lies in both, or in the only one."""
    if one is None or other is None:
        found = other if one is None else one
        assert found is not None
        return found
    lower = one.lower if one.lower.compare(other.lower) >= 0 else other.lower
    upper = one.upper if one.upper.compare(other.upper) <= 0 else other.upper
    return Enclosure(lower, upper)
