r"""The privacy curve of a Gaussian pair, in balls, and both its inverses: what bounds and engines take from there.

For means at a distance mu, in units of the noise,

    delta(epsilon) = Phi(mu/2 - epsilon/mu) - e^epsilon Phi(-mu/2 - epsilon/mu)          (Balle and Wang 2018, Thm 8)

falls in epsilon and rises in mu: d delta/d epsilon = -e^epsilon Phi(-mu/2 - epsilon/mu) < 0, d delta/d mu = phi(mu/2 -
epsilon/mu) > 0. The inverses are therefore roots of monotone functions, certified by signs at their two ends.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from fractions import Fraction

from flint import arb, ctx

from oracle.core.arithmetic import PRECISION_LIMIT, decreasing_root, finite
from oracle.core.enclosure import Dyadic, Enclosure, ball
from oracle.core.errors import PrecisionError
from oracle.engines.gaussian_far import FAR, epsilon_far, mu_far

CURVE = (
    r"\delta(\varepsilon) = \Phi\left(\frac{\mu}{2} - \frac{\varepsilon}{\mu}\right)"
    r" - e^{\varepsilon}\,\Phi\left(-\frac{\mu}{2} - \frac{\varepsilon}{\mu}\right)"
)


def normal_upper_tail(x: arb) -> arb:
    """1 - Phi(x), in balls; far out by monotonicity from the exact ends, where arb's own error bound is too crude."""
    point = x / arb(2).sqrt()
    if abs(point) < 1000:
        return point.erfc() / 2
    return point.lower().erfc().union(point.upper().erfc()) / 2


def delta_ball(epsilon: arb, mu: arb) -> arb:
    """delta(epsilon) of the Gaussian pair at mu, at the working precision."""
    ratio, half = epsilon / mu, mu / 2
    return normal_upper_tail(ratio - half) - epsilon.exp() * normal_upper_tail(ratio + half)


def logit_ball(epsilon: arb, mu: arb) -> arb:
    """log(delta / (1 - delta)); 1 - delta is a sum of positive terms, so both tails keep their digits."""
    ratio, half = epsilon / mu, mu / 2
    above = epsilon.exp() * normal_upper_tail(ratio + half)
    return (normal_upper_tail(ratio - half) - above).log() - (normal_upper_tail(half - ratio) + above).log()


def _target_logit(delta: Fraction) -> arb:
    return (ball(delta) / ball(1 - delta)).log()


def _tail_point(delta: Fraction) -> arb:
    """sqrt(2 log(1/delta)), through log1p so that a delta next to 1 keeps its digits."""
    log = ball(delta).log() if 2 * delta < 1 else ball(delta - 1).log1p()
    return (-2 * log).sqrt()


def epsilon_of_mu(mu: Callable[[], arb], delta: Fraction, width: Fraction) -> Enclosure:
    """The enclosure of the least epsilon >= 0 with delta(epsilon) <= delta, for mu recomputed at any precision."""

    def excess(epsilon: arb) -> arb:
        return logit_ball(epsilon, mu()) - _target_logit(delta)

    about = finite(mu)
    if about > FAR:
        return epsilon_far(mu, delta, width)
    zero = arb(0)
    if certainly_negative(lambda: excess(zero)):
        return Enclosure.exactly(0)
    with ctx.workprec(128):
        # delta(epsilon) <= Phi(-x) <= e^{-x^2/2} at x = epsilon/mu - mu/2 = sqrt(2 log(1/delta)).
        upper = (about * (about / 2 + _tail_point(delta))).upper()
    return decreasing_root(excess, zero, upper, width=width)


def certainly_negative(compute: Callable[[], arb]) -> bool:
    """The certified answer to 'is this number negative?', at rising precision."""
    precision = 128
    while precision <= PRECISION_LIMIT:
        with ctx.workprec(precision):
            value = compute()
            if value < 0:
                return True
            if value > 0:
                return False
        precision *= 2
    raise PrecisionError("delta lies too close to delta(0) to decide whether epsilon is 0")


def sigma_of(sensitivity: Fraction, epsilon: Fraction, delta: Fraction, width: Fraction) -> Enclosure:
    """The enclosure of the least sigma for which noise sigma on this sensitivity is (epsilon, delta)-DP."""

    def shortfall(mu: arb) -> arb:
        return _target_logit(delta) - logit_ball(ball(epsilon), mu)

    if epsilon > FAR * FAR:
        with ctx.workprec(128):
            most = (ball(sensitivity) / ball(2 * epsilon).sqrt()).upper().max(arb(1))
            relative = width / 16 / (int(most.ceil().upper().fmpz()) + 1)
        return _scaled(sensitivity, mu_far(epsilon, delta, relative), relative)
    with ctx.workprec(128):
        # A guess from the tail bound; the doublings below make it a bracket whose signs are then certified.
        z = _tail_point(delta)
        guess = (2 * ball(epsilon) / ((z * z + 2 * ball(epsilon)).sqrt() + z) + ball(delta)).mid()
        high, low = guess, guess
        while not certainly_negative(functools.partial(shortfall, high)):
            high = (2 * high).mid()
        while certainly_negative(functools.partial(shortfall, low)):
            low = (low / 2).mid()
        largest = (ball(sensitivity) / low).upper()
        relative = width / 4 / max(1, int(largest.ceil().upper().fmpz()))
    return _scaled(sensitivity, decreasing_root(shortfall, low, high, width=relative), relative)


def _scaled(sensitivity: Fraction, mu: Enclosure, relative: Fraction) -> Enclosure:
    """sensitivity / mu, for an enclosed mu."""
    with ctx.workprec(128 + 2 * relative.denominator.bit_length()):
        top, bottom = ball(sensitivity) / mu.lower.ball, ball(sensitivity) / mu.upper.ball
        return Enclosure(Dyadic.of(bottom.lower()), Dyadic.of(top.upper()))
