r"""Sampled Gaussian steps with so little noise that their number shows: a sum over it.

With a = 1/sigma large, y ~ N(0, 1) for an unsampled step and y ~ N(a, 1) for a sampled one, w = e^{ay - a^2/2} and
r = q/(1-q), log(1 - q + q w) is log(1-q) + log(1 + r w), or log(q w) + log(1 + 1/(r w)). The second logarithms are
positive, and below eta = e^{-g} unless an unsampled y exceeds y_0 (where r w = e^{-g}) or a sampled one falls short of
y_1 (where r w = e^g): for one step with a probability below

    p = (1-q) P(N > y_0) + q P(N < y_1 - a).

Without them the loss of T steps, K ~ Bin(T, q) of them sampled, is N(K a^2/2, K a^2) + K h + (T-K) b, with b = log(1-q)
and h = log q for `remove`, b = 0 and h = log r for `replace`; so, with the Gaussian curve delta_mu,

    D(epsilon) = sum_K P(K) delta_{a sqrt K}(epsilon - K h - (T-K) b),

and the truth lies between D(epsilon + 2 T eta) - 2 T p and D(epsilon - 2 T eta) + 2 T p (for `replace` both u(y) and
u(-y) err, the latter by less than eta for a sampled y > y_1 as long as r < e^{a^2/2}). For `add` the loss is
-T log(1-q), but for the same errors. The contour integral is no help here: the loss is all but discrete, and its
transform does not decay.
"""

from __future__ import annotations

import math

from flint import arb, ctx

from oracle.core.enclosure import ball
from oracle.core.errors import PrecisionError
from oracle.engines.gaussian_curve import delta_ball, normal_upper_tail
from oracle.engines.sampled.sampled_gaussian import SampledGaussian

_MOST_TERMS = 100_000
_LEAST_RATIO = 10.0  # a = 1/sigma, below which the error is never small


def serves(step: SampledGaussian, count: int, log_error: float) -> bool:
    """Whether the error 2 T (eta + p) is about e^{log_error} or less; a choice, not a proof."""
    a = 1 / float(step.sigma)
    if a < _LEAST_RATIO:
        return False
    return math.log(4 * count) + _best_exponent(step)[1] <= log_error


def _best_exponent(step: SampledGaussian) -> tuple[float, float]:
    """The g that makes max(eta, p) least, and about its logarithm."""
    a, q = 1 / float(step.sigma), float(step.rate)
    log_ratio = math.log(q) - math.log1p(-q)
    best = (1.0, 0.0)
    for power in range(1, 400):
        g = 1.04**power
        above = a / 2 + (-g - log_ratio) / a
        short = a / 2 + (-g + log_ratio) / a  # a - y_1
        if above <= 0 or short <= 0:
            break
        error = max(-g, -0.5 * above**2, math.log(q) - 0.5 * short**2)
        best = min(best, (g, error), key=lambda pair: pair[1])
    return best


def delta(step: SampledGaussian, count: int, epsilon: arb) -> arb:
    """A ball around delta(epsilon) after a number of steps."""
    a, q = ball(1 / step.sigma), ball(step.rate)
    rest, ratio = (1 - q).log(), (q / (1 - q)).log()
    if not abs(ratio) < a * a / 2:
        return arb(0).union(arb(1))  # the thresholds y_0 and y_1 do not lie between 0 and a
    g = arb(_best_exponent(step)[0])
    eta = (-g).exp()
    failed = (1 - q) * normal_upper_tail(a / 2 - (g + ratio) / a) + q * normal_upper_tail(a / 2 - (g - ratio) / a)
    slack, loose = 2 * count * eta, 2 * count * failed
    if step.direction == "add":
        gap = 1 - (epsilon + count * rest).exp()
        return gap.max(arb(0)) + arb(0, (slack + loose).upper())
    bulk, hit = (rest, q.log()) if step.direction == "remove" else (arb(0), ratio)
    below, above = (_sum(count, q, a, bulk, hit, epsilon + sign * slack) for sign in (1, -1))
    return (below - loose).lower().union((above + loose).upper())


def _sum(count: int, q: arb, a: arb, bulk: arb, hit: arb, epsilon: arb) -> arb:
    """D(epsilon), from the number of samples at which the curve is about 1/2 both ways until nothing counts.

    Above, P(K) falls by a known ratio and the curve is at most 1. Below, the curve is at most the probability that a
    loss exceeds its level: of a standard normal variable above (room - K gain)/(a sqrt K), room = epsilon - T bulk.
    That point rises as K falls, if room >= 0 and one more sample adds gain = a^2/2 + hit - bulk > 0 on average. Where
    room is not known to be >= 0 (epsilon = 0 under `replace`, where bulk is 0 and the slack is taken off), nothing is
    cut off below.
    """
    gain, room = a * a / 2 + hit - bulk, epsilon - count * bulk
    if not gain > 0:
        return arb.nan()

    def level(k: int) -> arb:
        return room - k * (hit - bulk)

    def curve(k: int) -> arb:
        return delta_ball(level(k), a * arb(k).sqrt()) if k else (1 - level(k).exp()).max(arb(0))

    start = max(0, min(count, int(float((room / gain).mid()))))
    weight = _binomial(count, start, q)
    odds, tiny = q / (1 - q), arb(2) ** -ctx.prec
    total, k, chance = weight * curve(start), start, weight
    while k < count:
        chance, k = chance * odds * (count - k) / (k + 1), k + 1
        total += chance * curve(k)
        ratio = odds * (count - k) / (k + 1)
        rest = chance * ratio / (1 - ratio)
        if ratio < 1 and rest < tiny * total:
            total += arb(0, rest.upper())
            break
        _limit(k - start)
    k, chance = start, weight
    while k > 0:
        chance, k = chance * k / (odds * (count - k + 1)), k - 1
        total += chance * curve(k)
        rest = normal_upper_tail((room - k * gain) / (a * arb(k).sqrt())) if k else arb(0)
        if room >= 0 and rest < tiny * total:
            total += arb(0, rest.upper())
            break
        _limit(start - k)
    return total


def _binomial(count: int, k: int, q: arb) -> arb:
    """P(K = k) for K ~ Bin(count, q)."""
    ways = arb(count + 1).lgamma() - arb(k + 1).lgamma() - arb(count - k + 1).lgamma()
    return (ways + k * q.log() + (count - k) * (1 - q).log()).exp()


def _limit(terms: int) -> None:
    if terms > _MOST_TERMS:
        raise PrecisionError(f"the sum over the number of sampled steps has more than {_MOST_TERMS} terms")
