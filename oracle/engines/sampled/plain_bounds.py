r"""Equal sampled Gaussian steps between plain inequalities, for parameters that no float64 plan can place.

One step is a part of all of them, so delta_1(epsilon) <= delta(epsilon). Tests bound delta from below by what they
tell, delta >= P(S) - e^epsilon Q(S). That some y exceeds a level has the chances 1 - (1 - p)^T, p those of a step, and
is the best test where one large y outweighs all others. To count the y beyond a level has, for m of T, p_1 and p_0 the
chances of a step, errors of at most e^{-T KL(m/T, p_1)} and e^{-T KL(m/T, p_0)}, so that
delta >= 1 - the first - e^epsilon times the second. Losses and failures add up: delta(epsilon) <= T delta_1(epsilon/T);
a sampled step is a mixture of nothing and the unsampled Gaussian step of mu = 1/sigma (replace: 2/sigma), so that
sqrt(T) mu dominates; delta <= 1 - (1-q)^T, as with probability (1-q)^T the record is never sampled and nothing differs;
and Chernoff's bound.
"""

from __future__ import annotations

import contextlib
import math
from collections.abc import Callable
from fractions import Fraction

import numpy as np
from flint import arb, ctx

from oracle.core.arithmetic import enclose
from oracle.core.enclosure import Dyadic, Enclosure, ball
from oracle.core.errors import PrecisionError
from oracle.engines.contour import Saddle, saddle_for
from oracle.engines.gaussian_curve import delta_ball, epsilon_of_mu, normal_upper_tail
from oracle.engines.least_epsilon import DIGITS, least_epsilon
from oracle.engines.sampled.planned_gaussian import Array
from oracle.engines.sampled.sampled_gaussian import SampledGaussian

_PLAIN = Fraction(1, 10**6)  # width of the closed forms behind the plain inequalities
_STEEPEST = 1000  # 1/sigma, beyond which one step's own delta says as much
_EXACT_STEPS = 64  # up to which (1-q)^T is computed as a rational number
_LEVELS = 400  # of y, among which the best is sought
_DIGITS = 256


def plain_delta(step: SampledGaussian, count: int, epsilon: Fraction) -> Enclosure:
    """delta(epsilon) between one step's and the least of the plain upper bounds."""
    lower = _single(step, epsilon)
    with ctx.workprec(128):
        for told in (counted_delta(step, count, ball(epsilon)), exceeded_delta(step, count, epsilon)):
            if told > lower.lower.ball:
                lower = Enclosure.between(told, arb(1))
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
    told = Dyadic.of(exceeded_epsilon(step, count, delta))
    with ctx.workprec(128):
        upper = (count * upper).upper()
    if upper < DIGITS:
        upper = upper.min(epsilon_of_mu(lambda: _mu(step, count), delta, _PLAIN).upper.ball)
    least = told if told.compare(lower.lower) > 0 else lower.lower
    return Enclosure(least, Dyadic.of(upper.max(lower.upper.ball).upper()))


def exceeded_delta(step: SampledGaussian, count: int, epsilon: Fraction) -> arb:
    """A lower bound of delta(epsilon) by whether any y exceeds a level, the best in sight; or 0."""
    with contextlib.suppress(ValueError, ArithmeticError), np.errstate(all="ignore"):
        factor = math.expm1(epsilon)
        level = _best_level(step, count, lambda gap, seldom: gap - factor * seldom)
        with ctx.workprec(_DIGITS):
            gap, seldom = _exceeded(step, count, arb(level))
            return arb((gap - ball(epsilon).expm1() * seldom).lower().max(arb(0)))
    return arb(0)


def exceeded_epsilon(step: SampledGaussian, count: int, delta: Fraction) -> arb:
    """A lower bound of epsilon at delta by the same test: where that is all of delta; or 0."""
    with contextlib.suppress(ValueError, ArithmeticError), np.errstate(all="ignore"):
        target = float(delta)
        level = _best_level(step, count, lambda gap, seldom: (gap - target) / seldom)
        with ctx.workprec(_DIGITS):
            gap, seldom = _exceeded(step, count, arb(level))
            value = ((gap - ball(delta)) / seldom).log1p().lower()
            return arb(value.max(arb(0))) if value.is_finite() else arb(0)
    return arb(0)


def _exceeded(step: SampledGaussian, count: int, level: arb) -> tuple[arb, arb]:
    """The chance that some y exceeds a level, under P less under Q, and under Q alone."""
    a, q = ball(1 / step.sigma), ball(step.rate)
    away = level + a if step.direction == "replace" else level
    chance = (1 - q) * normal_upper_tail(level) + q * normal_upper_tail(away)
    more = q * (normal_upper_tail(level - a) - normal_upper_tail(away))
    never = count * (-chance).log1p()
    return -never.exp() * (count * (-more / (1 - chance)).log1p()).expm1(), -never.expm1()


def _best_level(step: SampledGaussian, count: int, worth: Callable[[Array, Array], Array]) -> float:
    """The level at which a worth of both chances is largest, in floats; nothing is proved here."""
    from scipy.special import ndtr

    if step.direction == "add":
        raise ValueError("no single y tells much that a record was added")
    a, q = 1 / float(step.sigma), float(step.rate)
    levels = np.linspace(0.0, a + 38.0, _LEVELS)
    for _ in range(2):
        away = levels + a if step.direction == "replace" else levels
        chance = (1 - q) * ndtr(-levels) + q * ndtr(-away)
        more = q * (ndtr(a - levels) - ndtr(-away))
        never = count * np.log1p(-chance)
        values = worth(-np.exp(never) * np.expm1(count * np.log1p(-more / (1 - chance))), -np.expm1(never))
        best = int(np.nanargmax(np.where(np.isfinite(values), values, -math.inf)))
        level, apart = float(levels[best]), float(levels[1] - levels[0])
        levels = np.linspace(max(0.0, level - apart), level + apart, 41)
    return level


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
    return -(count * step.log_rest()).expm1()


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
    """delta(epsilon) <= M(c)^T e^{-c epsilon} c^c/(1+c)^{1+c}, at the best order c in sight; with what a cut loses."""
    c, exponent = _chernoff(step, count, saddle_for([(step, count)], epsilon=float(epsilon)))
    gap, share = (count * part for part in step.lost())
    if not share < 1:
        return arb(1)
    return arb((((exponent - c * ball(epsilon)).exp() + gap) / (1 - share)).upper())


def chernoff_epsilon(step: SampledGaussian, count: int, delta: Fraction) -> arb:
    """The epsilon at which that is delta."""
    with ctx.workprec(64):
        log_delta = float(ball(delta).log().mid())
    c, exponent = _chernoff(step, count, saddle_for([(step, count)], log_delta=log_delta))
    gap, share = (count * part for part in step.lost())
    left = ball(delta) * (1 - share) - gap
    if not left > 0:
        raise PrecisionError("what is cut off is more than delta")
    return arb(((exponent - left.log()) / c).max(arb(0)).upper())


def _chernoff(step: SampledGaussian, count: int, saddle: Saddle) -> tuple[arb, arb]:
    c = arb(saddle.c)
    exponent = count * step.moment_above(c, 10 + math.log(count)).log() + c * c.log() - (1 + c) * (1 + c).log()
    if not exponent.is_finite():
        raise PrecisionError("no moment in sight")
    return c, exponent
