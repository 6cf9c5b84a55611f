r"""Equal sampled Gaussian steps: an enclosure for a known amount of work, however wide.

Two sources, the narrower of which counts at each end:
- the smoothed contour integral with a given number of nodes (`smoothed_contour`);
- plain inequalities, for parameters that no float64 plan can place, or where it sees nothing:
  one step is a part of all of them, so delta_1(epsilon) <= delta(epsilon); to count the steps whose y exceeds a level
  is a test, whose two errors for m of T, p_1 and p_0 the chances of a step, are at most e^{-T KL(m/T, p_1)} and
  e^{-T KL(m/T, p_0)}, so delta >= 1 - the first - e^epsilon times the second; losses and failures add up, so
  delta(epsilon) <= T delta_1(epsilon/T); a sampled step is a mixture of nothing and the unsampled Gaussian step of
  mu = 1/sigma (replace: 2/sigma), so that sqrt(T) mu dominates; and delta <= 1 - (1-q)^T, as with probability (1-q)^T
  the record is never sampled and nothing differs.
"""

from __future__ import annotations

import contextlib
import functools
import math
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from typing import Protocol

from flint import arb, ctx

from oracle.core.arithmetic import DEFAULT_WIDTH, enclose, reaches
from oracle.core.enclosure import Dyadic, Enclosure, ball
from oracle.core.errors import PrecisionError
from oracle.engines.contour import Saddle, saddle_for
from oracle.engines.gaussian_curve import delta_ball, epsilon_of_mu, normal_upper_tail
from oracle.engines.least_epsilon import DIGITS, least_epsilon
from oracle.engines.sampled.sampled_gaussian import Line, SampledGaussian
from oracle.engines.sampled.smoothed_contour import SmoothedCurve, SmoothedPlan, affordable_nodes, smoothed_plan

_WORK = 35_000.0  # of an exact contour that is tried first, in the units of `contour.work`
_NODES = tuple((1 << power) - 1 for power in (15, 17, 20))  # of smoothed ones; the first where no width is asked for
LEAST_NOISE = Fraction(1, 60)
_LOOSE, _ROUGH = Fraction(1, 1000), 0.05  # a width in need of rescue, and one that is good enough then
_PLAIN = Fraction(1, 10**6)  # width of the closed forms behind the plain inequalities
_STEEPEST = 1000  # 1/sigma, beyond which one step's own delta says as much
_PLACES = 8  # how often the place of a bound is corrected
_FAR = 3.0  # in the exponent: by how much a delta may be below its estimate before the plan is made again
_SCOUTS = (1 << 13) - 1  # nodes that find the place before the others are spent on it
_MOVED = 0.5
_EXACT_STEPS = 64  # up to which (1-q)^T is computed as a rational number


UNPLANNED = (PrecisionError, ArithmeticError, ValueError)
"""What a float64 plan ends in where it cannot be made: parameters beyond the doubles, or no digits left."""


class SampledQuestion(Protocol):
    """A number about equal sampled steps that can be bounded in two ways."""

    def plain(self) -> Enclosure:
        """Its enclosure by plain inequalities."""

    def smoothed(self, nodes: int) -> Enclosure:
        """Its enclosure by a smoothed contour."""

    def chernoff(self) -> Enclosure:
        """Between 0 and Chernoff's bound."""


@dataclass(frozen=True)
class SampledDelta:
    """delta(epsilon) of a number of equal steps."""

    step: SampledGaussian
    count: int
    epsilon: Fraction

    def plain(self) -> Enclosure:
        """Between one step's delta and the least of the plain upper bounds."""
        return plain_delta(self.step, self.count, self.epsilon)

    def smoothed(self, nodes: int) -> Enclosure:
        """Between the bounds of a smoothed contour."""
        _require_noise(self.step)
        return smoothed_delta(self.step, self.count, self.epsilon, nodes)

    def chernoff(self) -> Enclosure:
        """At most Chernoff's bound."""
        _require_noise(self.step)
        with ctx.workprec(128):
            return Enclosure.between(arb(0), chernoff_delta(self.step, self.count, self.epsilon))


@dataclass(frozen=True)
class SampledEpsilon:
    """The least epsilon >= 0 at a delta of a number of equal steps."""

    step: SampledGaussian
    count: int
    delta: Fraction

    def plain(self) -> Enclosure:
        """Between one step's epsilon and the least of the plain upper bounds."""
        return plain_epsilon(self.step, self.count, self.delta)

    def smoothed(self, nodes: int) -> Enclosure:
        """Between the bounds of a smoothed contour."""
        _require_noise(self.step)
        return smoothed_epsilon(self.step, self.count, self.delta, nodes)

    def chernoff(self) -> Enclosure:
        """At most where Chernoff's bound meets the delta."""
        _require_noise(self.step)
        with ctx.workprec(128):
            return Enclosure.between(arb(0), chernoff_epsilon(self.step, self.count, self.delta))


def _require_noise(step: SampledGaussian) -> None:
    """With very little noise a quadrature has too many points."""
    if step.sigma < LEAST_NOISE:
        raise PrecisionError("there is too little noise for a quadrature")


def narrowest(
    exactly: Callable[[Fraction, float], Enclosure], question: SampledQuestion, width: Fraction | None
) -> Enclosure:
    """The answer of an asked width; without one as narrow as a fixed amount of work makes it, but always an answer.

    `exactly(width, work)` gives an enclosure of that width for at most that much work, or an error of `UNPLANNED`.
    """
    asked = DEFAULT_WIDTH if width is None else width
    try:
        return exactly(asked, _WORK)
    except UNPLANNED:
        best = question.plain()
    for nodes in _NODES if width is not None else _NODES[:1]:
        if reaches(best, asked):
            return best
        try:
            best = _both(best, question.smoothed(nodes))
        except UNPLANNED:
            break
    more = functools.partial(question.smoothed, _NODES[1])
    for rescue in (functools.partial(exactly, _LOOSE, 6 * _WORK), question.chernoff, more):
        with ctx.workprec(64):
            if best.upper.ball - best.lower.ball < _ROUGH * best.upper.ball:
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


# ---- plain inequalities


def plain_delta(step: SampledGaussian, count: int, epsilon: Fraction) -> Enclosure:
    """delta(epsilon) between one step's and the least of the plain upper bounds."""
    lower = _single(step, epsilon)
    with ctx.workprec(128):
        counted = counted_delta(step, count, ball(epsilon))
        if counted > lower.lower.ball:
            lower = Enclosure.between(counted, arb(1))
        upper = count * _single(step, epsilon / count).upper.ball
        upper = upper.min(never_sampled(step, count))
        with contextlib.suppress(PrecisionError):
            upper = upper.min(enclose(lambda: delta_ball(ball(epsilon), _mu(step, count)), width=_PLAIN).upper.ball)
        return Enclosure(lower.lower, Dyadic.of(upper.min(arb(1)).upper()))


def plain_epsilon(step: SampledGaussian, count: int, delta: Fraction) -> Enclosure:
    """epsilon at delta between one step's and the least of the plain upper bounds."""
    if meets_unnoised(step, count, delta):
        return Enclosure.exactly(0)
    lower = _single_epsilon(step, delta)
    upper = _single_epsilon(step, delta / count).upper.ball
    with ctx.workprec(128):
        upper = (count * upper).upper()
    if upper < DIGITS:
        upper = upper.min(epsilon_of_mu(lambda: _mu(step, count), delta, _PLAIN).upper.ball)
    return Enclosure(lower.lower, Dyadic.of(upper.max(lower.upper.ball).upper()))


def counted_delta(step: SampledGaussian, count: int, epsilon: arb) -> arb:
    """A lower bound of delta(epsilon) by the number of steps that exceed half of a sampled one's mean; or 0."""
    a, q = ball(1 / step.sigma), ball(step.rate)
    if step.direction == "add" or not a < _STEEPEST:
        return arb(0)
    level = a / 2
    away = level + a if step.direction == "replace" else level
    chances = [(1 - q) * normal_upper_tail(level) + q * normal_upper_tail(x) for x in (level - a, away)]
    if step.direction == "remove":
        chances[1] = normal_upper_tail(level)
    best, (often, seldom) = arb(0), chances
    for power in range(1, 32):
        share = (often * power + seldom * (32 - power)) / 32
        if seldom < share and share < often:
            errors = [(-count * _divergence(share.mid(), chance)).exp() for chance in chances]
            best = best.max(1 - errors[0] - epsilon.exp() * errors[1])
    return best.lower().max(arb(0))


def _divergence(share: arb, chance: arb) -> arb:
    """KL(share, chance) of two coins."""
    return share * (share / chance).log() + (1 - share) * ((1 - share) / (1 - chance)).log()


def _mu(step: SampledGaussian, count: int) -> arb:
    return ball((2 if step.direction == "replace" else 1) / step.sigma) * arb(count).sqrt()


def never_sampled(step: SampledGaussian, count: int) -> arb:
    """1 - (1-q)^T, at the working precision."""
    return -(count * ball(-step.rate).log1p()).expm1()


def meets_unnoised(step: SampledGaussian, count: int, delta: Fraction) -> bool:
    """Whether 1 - (1-q)^T <= delta is certain, so that no noise at all is needed."""
    if count <= _EXACT_STEPS and step.rate.denominator.bit_length() < 2000:  # a ball cannot tell equality
        return 1 - (1 - step.rate) ** count <= delta
    with ctx.workprec(256):
        return bool(never_sampled(step, count) <= ball(delta))


def _single(step: SampledGaussian, epsilon: Fraction) -> Enclosure:
    largest = step.largest_loss()
    if largest is not None and ball(epsilon) >= largest:
        return Enclosure.exactly(0)
    try:
        return enclose(lambda: step.single_delta(ball(epsilon)), width=_PLAIN).capped(1)
    except PrecisionError:  # a delta below 2^-(2^15)
        return Enclosure.between(arb(0), arb(1))


def _single_epsilon(step: SampledGaussian, delta: Fraction) -> Enclosure:
    return least_epsilon(step.single_delta, step.largest_loss(), delta, _PLAIN, relative=True)


# ---- Chernoff's bound


def chernoff_delta(step: SampledGaussian, count: int, epsilon: Fraction) -> arb:
    """delta(epsilon) <= M(c)^T e^{-c epsilon} c^c/(1+c)^{1+c}, at the best order c in sight."""
    c, exponent = _chernoff(step, count, saddle_for([(step, count)], epsilon=float(epsilon)))
    return (exponent - c * ball(epsilon)).exp().upper()


def chernoff_epsilon(step: SampledGaussian, count: int, delta: Fraction) -> arb:
    """The epsilon at which that is delta."""
    with ctx.workprec(64):
        log_delta = float(ball(delta).log().mid())
    c, exponent = _chernoff(step, count, saddle_for([(step, count)], log_delta=log_delta))
    return ((exponent - ball(delta).log()) / c).max(arb(0)).upper()


def _chernoff(step: SampledGaussian, count: int, saddle: Saddle) -> tuple[arb, arb]:
    c = arb(saddle.c)
    moment = step.moments(c, arb(1), 1, log_error=-10 - math.log(count))[0].real
    exponent = count * moment.log() + c * c.log() - (1 + c) * (1 + c).log()
    if not exponent.is_finite():
        raise PrecisionError("no moment in sight")
    return c, exponent


# ---- the smoothed contour


def smoothed_delta(step: SampledGaussian, count: int, epsilon: Fraction, nodes: int) -> Enclosure:
    """delta(epsilon) between the bounds of a smoothed contour with that many nodes."""
    stages, log_delta, best = [(step, count)], 0.0, Enclosure.between(arb(0), arb(1))
    for _ in range(3):
        saddle = saddle_for(stages, epsilon=float(epsilon))
        saddle = Saddle(saddle.c, saddle.epsilon, min(saddle.log_delta, log_delta))
        plan = smoothed_plan(step, count, saddle, affordable_nodes(step, saddle.c, nodes))
        curve = SmoothedCurve(step, count, plan)
        with ctx.workprec(128):
            low, high = curve.delta(ball(epsilon))
            best = _both(best, Enclosure.between(low.max(arb(0)), high.min(arb(1))))
            if not high > 0:
                raise PrecisionError("float64 sees no delta here")
            log_delta = float(high.log().mid())
            if low > 0 and log_delta > saddle.log_delta - _FAR:
                break
            if log_delta > saddle.log_delta - 1:
                break  # nothing new would be tried
    return best


def smoothed_epsilon(step: SampledGaussian, count: int, delta: Fraction, nodes: int) -> Enclosure:
    """The least epsilon >= 0 at delta between the bounds of a smoothed contour with that many nodes."""
    with ctx.workprec(64):
        log_delta = float(ball(delta).log().mid())
    saddle = saddle_for([(step, count)], log_delta=log_delta)
    plan = smoothed_plan(step, count, saddle, min(nodes, _SCOUTS))
    curve = SmoothedCurve(step, count, plan)
    place = _about_root(curve, log_delta, saddle, above=True)
    if abs(place - saddle.epsilon) * saddle.c > _MOVED:  # the loss is nearly discrete, Chernoff's bound a bad guess
        order = min(saddle.c, saddle_for([(step, count)], epsilon=place).c)
        saddle = Saddle(order, place, log_delta)
    nodes = affordable_nodes(step, saddle.c, nodes)
    plan, scout = smoothed_plan(step, count, saddle, nodes, curve.curvature(place)), curve
    curve = SmoothedCurve(step, count, plan, _reusable(scout, plan))
    with ctx.workprec(128):
        target = ball(delta)
        upper = _placed(curve, target, log_delta, saddle, above=True)
        lower = _placed(curve, target, log_delta, saddle, above=False)
        if upper is None:
            raise PrecisionError("float64 does not see delta fall to the target")
        return Enclosure(Dyadic.of(arb(0) if lower is None else lower.min(upper)), Dyadic.of(upper))


def _reusable(scout: SmoothedCurve, plan: SmoothedPlan) -> Line | None:
    """The points of another curve's quadrature, if they serve."""
    return scout.line if plan.c == scout.plan.c and plan.accuracy < scout.plan.accuracy + 4 else None


def _placed(curve: SmoothedCurve, target: arb, log_delta: float, saddle: Saddle, *, above: bool) -> arb | None:
    """A point >= 0, near the root of one bound, at which it is certified: delta <= target (above) or >= target."""
    side = 1 if above else -1
    root = _about_root(curve, log_delta, saddle, above=above)
    margin = max(root * 2.0**-50, 2.0**-50 / saddle.c)
    beside = root + side * 2.0**-10 * max(root, 1e-3 / saddle.c)
    slope = abs(curve.about(beside, above=above) - log_delta) / abs(beside - root)  # of log delta
    for _ in range(_PLACES):
        point = arb(max(0.0, root + side * margin))
        if point.is_zero() and not above:
            return None
        value = curve.delta_above(point) if above else curve.delta_below(point)
        if (value <= target) if above else (value >= target):
            return point
        missing = abs(float((value / target).log())) if value > 0 else math.inf
        margin += 1.1 * missing / slope if 0 < missing < 1 and slope > 0 else 31 * margin
    return None


def _about_root(curve: SmoothedCurve, log_delta: float, saddle: Saddle, *, above: bool) -> float:
    """About where one bound falls to a delta, at 0 or more: secants in a bracket, in floats."""

    def excess(epsilon: float) -> float:
        return curve.about(epsilon, above=above) - log_delta

    if excess(0.0) <= 0:
        return 0.0
    low, at_low, high, at_high = 0.0, excess(0.0), saddle.epsilon + 1 / saddle.c, 0.0
    for _ in range(60):
        at_high = excess(high)
        if at_high <= 0:
            break
        low, at_low, high = high, at_high, 1.5 * high
    for attempt in range(100):
        if high - low <= 2.0**-50 * high:
            break
        slope = (at_high - at_low) / (high - low)
        point = low - at_low / slope if math.isfinite(slope) and slope < 0 and attempt % 3 < 2 else 0.5 * (low + high)
        step = 2.0**-48 * high
        point = min(max(point, low + step), high - step) if high - low > 2 * step else 0.5 * (low + high)
        value = excess(point)
        if value > 0:
            low, at_low = point, value
        else:
            high, at_high = point, value
    return high


def _both(one: Enclosure, other: Enclosure) -> Enclosure:
    """The enclosure of a truth that lies in both."""
    lower = one.lower if one.lower.compare(other.lower) >= 0 else other.lower
    upper = one.upper if one.upper.compare(other.upper) <= 0 else other.upper
    return Enclosure(lower, upper)
