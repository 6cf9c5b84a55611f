"""The privacy curve of one direction of a composition, to an asked width: closed forms, small noise, or the contour."""

from __future__ import annotations

import functools
import math
from collections.abc import Callable
from fractions import Fraction

from flint import arb, ctx

from oracle.core.arithmetic import enclose, is_narrow
from oracle.core.enclosure import Dyadic, Enclosure, ball
from oracle.core.errors import PrecisionError
from oracle.engines.contour import (
    MOST_NODES,
    ContourCurve,
    Stages,
    Step,
    least_work,
    make_plan,
    saddle_for,
    total_cumulants,
    work,
)
from oracle.engines.gaussian_curve import epsilon_of_mu
from oracle.engines.gaussian_step import GaussianStep
from oracle.engines.laplace import laplace_exact
from oracle.engines.least_epsilon import least_epsilon
from oracle.engines.sampled import small_noise
from oracle.engines.sampled.sampled_gaussian import SampledGaussian

_ATTEMPTS = 12
_FAR = 6.0  # in units of 1/c: how far from its planned epsilon a curve is trusted to be narrow
_MANY = 3000
_ROUGH = 8.0
_GOAL_STEP = 6.0
_LARGEST_EPSILON = 10**12
_CLOSEST, _ROOM_FOR_ERRORS, _LEAST_GOAL = 1e-8, 2.2, 3.0  # of a rough contour: in logarithms of delta
_SHARP = 10.0  # how far the error of Chernoff's bound lies below it
_FEW_NODES, _LITTLE_WORK = 100, 8000.0


def largest_loss(stages: Stages) -> arb | None:
    """The largest total loss, where every stage has one."""
    total = arb(0)
    for step, count in stages:
        largest = step.largest_loss()
        if largest is None:
            return None
        total += count * largest
    return total


def _closed_form(stages: Stages) -> Step | None:
    """The only step of a composition that has a closed form."""
    return stages[0][0] if len(stages) == 1 and stages[0][1] == 1 else None


def contour_delta(stages: Stages, epsilon: Fraction, width: Fraction, most: float) -> Enclosure:
    """delta of an asked width, by closed forms, small noise or the contour with at most that much work."""
    if not stages:
        return Enclosure.exactly(0)
    with ctx.workprec(128):
        largest = largest_loss(stages)
        if largest is not None and ball(epsilon) >= largest:
            return Enclosure.exactly(0)
    single = _closed_form(stages)
    if single is not None:
        return enclose(lambda: single.single_delta(ball(epsilon)), width=width).capped(1)
    if (most_lost := laplace_exact.largest_loss(stages)) is not None:
        gap = most_lost - epsilon  # exact: at an end of the curve a ball would not decide
        if gap <= 0:
            return Enclosure.exactly(0)
        if (by_gap := laplace_exact.curve_by_gap(stages, width, epsilon=epsilon)) is not None:
            return enclose(lambda: by_gap(ball(gap)), width=width).capped(1)
    if (discrete := _small_noise(stages, _log(width) - 60)) is not None:
        with ctx.workprec(256 + _bits(width)):
            value = discrete(ball(epsilon))
            if is_narrow(value, width):
                return Enclosure.of_ball(value).capped(1)
    if epsilon > _LARGEST_EPSILON:
        raise PrecisionError(f"epsilon is above {_LARGEST_EPSILON:.0e}, beyond what a float64 plan can place")
    goal, step, log_delta = 4 - _log(width), _GOAL_STEP, 0.0
    if most < math.inf:
        _require(stages, saddle_for(stages, epsilon=float(epsilon)).c, most)
    for _ in range(_ATTEMPTS):
        plan = make_plan(stages, float(epsilon), goal, log_delta, _nodes(most))
        curve = ContourCurve(stages, plan, most)
        most -= work(stages, plan)
        with ctx.workprec(curve.precision):
            low, high = curve.delta(ball(epsilon))
            value = low.lower().union(high.upper())
            if low > 0 and is_narrow(value, width):
                return Enclosure.between(low, high).capped(1)
            log_delta = float(high.upper().log().mid())
        step = _GOAL_STEP if low > 0 else 2 * step  # where delta is not even seen, it may lie far below its estimate
        goal += step
    raise PrecisionError(f"delta at epsilon = {float(epsilon):.6g} was not enclosed to the asked width")


def contour_epsilon(stages: Stages, delta: Fraction, width: Fraction, most: float) -> Enclosure:
    """epsilon of an asked width, by closed forms, small noise or the contour with at most that much work."""
    if not stages:
        return Enclosure.exactly(0)
    single = _closed_form(stages)
    if isinstance(single, GaussianStep):
        return epsilon_of_mu(single.mu, delta, width)
    if single is not None:
        return least_epsilon(single.single_delta, single.largest_loss(), delta, width)
    with ctx.workprec(128):
        # Total variation distances add up at most.
        if sum((count * step.single_delta(arb(0)) for step, count in stages), arb(0)) <= ball(delta):
            return Enclosure.exactly(0)
    if (exact := laplace_exact.curve_by_epsilon(stages, width, log_delta=_log(delta))) is not None:
        # The logarithm is nearly straight, which saves half of the evaluations.
        near = saddle_for(stages, log_delta=_log(delta)).epsilon
        return least_epsilon(exact, largest_loss(stages), delta, width, straight=True, near=near)
    # A relative error e of delta moves epsilon by e times the scale of the loss, about a sqrt(T) here.
    if (discrete := _small_noise(stages, _log(width) + _log(delta) - 10)) is not None:
        return least_epsilon(discrete, largest_loss(stages), delta, width)
    log_delta = _log(delta)
    saddle = saddle_for(stages, log_delta=log_delta)
    near = saddle.epsilon
    _require(stages, saddle.c, most)
    goal = 3 - _log(width) - math.log(min(1.0, max(near, 1e-9)) * min(saddle.c, 1.0))
    settled = False
    for _ in range(_ATTEMPTS):
        plan = make_plan(stages, near, goal, log_delta, _nodes(most))
        if plan.nodes > _MANY and not settled and work(stages, plan) < most:
            rough = make_plan(stages, near, _ROUGH, log_delta)  # too dear to be in the wrong place: find it first
            _afford(work(stages, plan) + work(stages, rough), most)
            plan = rough
        curve = ContourCurve(stages, plan, most)
        most -= work(stages, plan)
        with ctx.workprec(curve.precision):
            target = ball(delta)
            proposal = curve.propose_epsilon(target.log(), near, ball(width) / 100)
            moved, near = abs(float(proposal.mid()) - near) * curve.plan.c, float(proposal.mid())
            settled = moved <= _FAR
            if not settled or plan.goal < goal:
                continue
            if proposal.is_zero() and curve.delta(proposal)[1] <= target:
                return Enclosure.exactly(0)
            margin = (ball(width) * proposal.min(arb(1)) / 5).mid()
            proposal = _rounded(proposal, margin)
            low, high = (proposal - margin).mid(), (proposal + margin).mid()
            if low > 0 and curve.delta(low)[0] >= target and curve.delta(high)[1] <= target:
                return Enclosure(Dyadic.of(low), Dyadic.of(high))
        goal += _GOAL_STEP
    raise PrecisionError(f"epsilon near {near:.6g} was not enclosed to the asked width")


def chernoff_below(stages: Stages, level: arb, epsilon: arb) -> bool:
    """Whether delta(epsilon) < level is certain by Chernoff's bound alone, which floats must promise first."""
    at = float(epsilon.mid())
    c = min(saddle_for(stages, epsilon=at).c, 1e6)
    about = total_cumulants(stages, c)[0] + c * math.log(c / (1 + c)) - math.log1p(c) - c * at
    if not about < float(level.log().mid()):
        return False
    order = arb(c)
    exponent = order * order.log() - (1 + order) * (1 + order).log() - order * epsilon
    for step, count in stages:
        exponent += count * step.moment_above(order, _SHARP + math.log(count + 1)).log()
    return bool(exponent.exp() < level)


def certainly_below(stages: Stages, level: arb, epsilon: arb, winner: Stages) -> bool:
    """Whether delta(epsilon) < level is certain by a contour that is as rough as it may be; `winner` has that delta.

    Its sum is only ever too large, but for what is cut off. How close the two are is told by their saddle points, whose
    errors are alike.
    """
    if _closed_form(stages) is not None:
        return False
    at = float(epsilon.mid())
    saddle = saddle_for(stages, epsilon=at)
    gap = saddle_for(winner, epsilon=at).log_delta - saddle.log_delta
    if not gap > _CLOSEST:
        return False
    with ctx.workprec(64):
        log_level = float(level.log().mid())
    plan = make_plan(stages, at, max(_ROOM_FOR_ERRORS - math.log(gap), _LEAST_GOAL), log_level, _FEW_NODES)
    if plan.nodes > _FEW_NODES or work(stages, plan) > _LITTLE_WORK:
        return False
    curve = ContourCurve(stages, plan)
    with ctx.workprec(curve.precision):
        return bool(curve.above(epsilon) < level)


def _require(stages: Stages, order: float, most: float) -> None:
    """Refuse what so much work does not pay for, before a plan is made."""
    _afford(least_work(stages, order), most)


def _afford(needed: float, most: float) -> None:
    if needed > most:
        raise PrecisionError("the nodes and the points of the quadrature are too many")


def _nodes(most: float) -> int:
    """More nodes than so much work allows."""
    return min(MOST_NODES, math.ceil(min(most, 8.0 * MOST_NODES) / 8) + 1)


def _rounded(proposal: arb, margin: arb) -> arb:
    """The nearest multiple of a power of two far below the margin: the last bits hang on the plan's floats."""
    if not margin > 0:
        return proposal
    unit = Dyadic.of(margin)
    exponent = unit.exponent + unit.mantissa.bit_length() - 6
    scale = Fraction(2) ** exponent
    return arb(round(Dyadic.of(proposal).to_fraction() / scale)) * (arb(2) ** exponent)


def _bits(width: Fraction) -> int:
    """About -log2 of a width."""
    return max(0, math.ceil(-_log(width) / math.log(2)))


def _log(value: Fraction) -> float:
    with ctx.workprec(64):
        return float(ball(value).log().mid())


def _small_noise(stages: Stages, log_error: float) -> Callable[[arb], arb] | None:
    """The curve of steps with little noise, where its error is about e^{log_error} of a loss's scale, or less."""
    step, count = stages[0]
    if len(stages) > 1 or not isinstance(step, SampledGaussian):
        return None
    scale = 0.5 * math.log(count) - _log(step.sigma)
    if not small_noise.serves(step, count, log_error - scale):
        return None
    return functools.partial(small_noise.delta, step, count)
