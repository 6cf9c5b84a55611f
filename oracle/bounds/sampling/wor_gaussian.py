r"""Gaussian noise on the sum of a batch drawn without replacement: Renyi DP and epsilon under replacing a record.

m of n records are drawn without replacement, gamma = m/n; the released value is the sum of the drawn vectors, each of
norm at most C, plus N(0, (sigma C)^2 I). Let b = 2/sigma, w(y) = e^{b y - b^2/2} and u(y) = 1 - gamma + gamma w(y).

One step. By Balle, Barthe and Gaboardi 2018, Thm 9 (proof: `amplification`), with the Gaussian curve of mu = b,

    delta'(log(1 + gamma (e^epsilon - 1))) = gamma delta_b(epsilon)        for every epsilon >= 0,

and it is attained: all other records are -C e and the one replaced is C e or -C e. This is the pair P = phi u, Q = phi.

The dominating pair. The curve h(a) = sup H_a over neighbours equals, for a >= 1, that of (phi u, phi); for a < 1 the
relation's symmetry and H_a(P, Q) = 1 - a + a H_{1/a}(Q, P) give that of (phi, phi u). A pair with exactly this curve
has the positive part of the loss log u of the first, the negative part of the loss -log u of the second, and an atom at
0 (Zhu, Dong and Wang 2022: a curve belongs to a pair if it is convex and decreasing from 1 and not below 1 - a; h is
convex at a = 1 too, where its slope jumps by the mass (1-gamma) (1 - 2 Phi(-b/2)) >= 0 of the atom). u >= 1 for
y >= b/2, so with t = alpha - 1

    M(t) = E e^{t loss} = int_{y > b/2} phi (u^alpha + u^{-t}) dy + atom,     atom = 1 - int_{y > b/2} phi (u + 1) dy,
    M(t) - 1 = int_{y > b/2} phi (u^alpha - 1) (1 - u^{-t}) dy,

whose integrand is positive: no digits are lost where M is close to 1. No step's Renyi divergence, given what was
released before, exceeds that of a pair that dominates it, so k steps have Renyi DP k log M(alpha-1) / (alpha-1). This
is `exact`: exact for the dominating pair; the mechanism's own divergence may be smaller, and is not below what
`wor_gaussian_attained` computes.

wbk. Wang, Balle and Kasiviswanathan 2019, Thm 9, for integers alpha >= 2 and the Gaussian's Renyi DP j b^2/2:

    M <= 1 + gamma^2 C(alpha,2) min(4 (e^{b^2} - 1), 2 e^{b^2}) + 2 sum_{j=3}^alpha gamma^j C(alpha,j) e^{j(j-1) b^2/2}.

It is above the exact moment: with v = u - 1 >= 0, (1+v)^{-t} <= 1 - t v + alpha t v^2/2 turns the integrand of M - 1
into at most 2 C(alpha,2) v^2 + sum_{j>=3} C(alpha,j) v^j; and int phi v^2 = gamma^2 (e^{b^2} - 1), int_{y > b/2} phi
v^j <= gamma^j int phi w^j = gamma^j e^{j(j-1) b^2/2}.

Epsilon. One step: from the attained curve, exactly. More: the least over all real orders of the conversion of Canonne,
Kamath and Steinke 2020 (see `zcdp`). With L = log M, k steps and D = log(1/delta), that is the infimum over t > 0 of

    f(t) = (k L(t) + D)/t - log(1 + 1/t) - log(1 + t)/t.

L is convex, so L(t) >= L(s) + L'(s) (t - s) for any s; what f becomes with this line has its minimum at log(1+t) = c,
c = D + k L(s) - k s L'(s) (if c > 0), and there it is k L'(s) + log(1 - e^-c). So one order s gives both ends:

    k L'(s) + log(1 - e^-c) <= inf f <= f(s),

and they meet where c = log(1+s), that is where f'(s) = 0: floats propose s, a few corrections in balls refine it.

Integrals. In z = y - b/2 the integrand e^{alpha l - y^2/2}(...), l = log u, is analytic but at the zeros of u. Where
w > (1-gamma)/gamma, l = b z + log gamma + log(1 + (1-gamma)/gamma e^{-b z}) is that function in a wider region, and the
square is completed. Beyond Z, u <= kappa e^{b z} with kappa = gamma + (1-gamma) e^{-b Z}: the tail of u^a is at most
kappa^a e^{a(a-1) b^2/2} Phi(a b - b/2 - Z); for M' one uses l <= u^eta / eta.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import array_api_compat.numpy as numpy_namespace
import numpy as np
from flint import acb, arb, ctx

from oracle.bounds.renyi.zcdp import fast_log_inverse, log_inverse, zcdp_epsilon
from oracle.bounds.sampling import amplification_arrays
from oracle.bounds.sampling import wor_gaussian_arrays as arrays
from oracle.bounds.sampling import wor_gaussian_attained as attained
from oracle.core import vocabulary
from oracle.core.algorithm import Values
from oracle.core.arithmetic import decreasing_root, enclose, integral
from oracle.core.arrays import UNIT, inflate
from oracle.core.attainment import bracketed
from oracle.core.domain import shown
from oracle.core.enclosure import Enclosure, ball
from oracle.core.errors import DomainError, PrecisionError
from oracle.core.registry import Bound
from oracle.engines import gaussian_arrays
from oracle.engines.gaussian_curve import certainly_negative, epsilon_of_mu, logit_ball, normal_upper_tail

_MOST_TERMS = 10_000  # of the sum over integer orders
_LEAST_RATE = Fraction(1, 10**130)  # whose square times b^2 is still far from the subnormals
_CORRECTIONS = 12
_NOWHERE = acb(math.nan)


@dataclass(frozen=True)
class SampledPair:
    """The dominating pair of one step, for 0 < gamma < 1."""

    sigma: Fraction
    gamma: Fraction

    def floats(self) -> tuple[Any, Any]:
        """b and gamma as columns of one double each, gamma at least _LEAST_RATE."""
        column = np.ones((1, 1))
        return column * float(2 / self.sigma), column * float(max(self.gamma, _LEAST_RATE))

    def log_moment(self, t: arb, peak: float) -> arb:
        """L(t) for an exact t > 0, given about where the integrand is largest."""
        return _log_one_plus(*self._integral(t, peak, derivative=False))

    def tangent(self, t: arb, peak: float) -> tuple[arb, arb]:
        """L(t) and L'(t)."""
        mass, top = self._integral(t, peak, derivative=False)
        moved, moved_top = self._integral(t, peak, derivative=True)
        return _log_one_plus(mass, top), moved * (moved_top - top).exp() / (mass + (-top).exp())

    def _integral(self, t: arb, peak: float, *, derivative: bool) -> tuple[arb, arb]:
        """M - 1, or its derivative in t, as (ball, exact s) standing for ball * e^s."""
        b, gamma, alpha = ball(2 / self.sigma), ball(self.gamma), 1 + t
        odds, log_gamma, half = ball((1 - self.gamma) / self.gamma), gamma.log(), b / 2
        switch = (odds.log().max(arb(1)) / b).mid()
        centre = (t + arb(1) / 2) * b
        square = alpha * log_gamma + (centre * centre - half * half) / 2
        top = arb(0)

        def integrand(z: acb, analytic: bool) -> acb:
            if z.real.mid() < switch:
                v = gamma * (b * z).expm1()
                loss, y = v.log1p(), z + half
                exponent = alpha * loss - y * y / 2
            else:
                v = odds * (-b * z).exp()
                rest, y = v.log1p(), z - centre
                loss, exponent = b * z + log_gamma + rest, alpha * rest + square - y * y / 2
            if analytic and not v.real > -1 and v.imag.contains(0):
                return _NOWHERE
            density = (exponent - top).exp()
            if derivative:
                return -density * loss * (-(2 * t + 1) * loss).expm1()
            return density * (-alpha * loss).expm1() * (-t * loss).expm1()

        top = integrand(acb(arb(peak)), False).real.log().mid()
        tolerance = Fraction(1, 2 ** (ctx.prec - 24))
        power, factor = alpha, arb(1)
        if derivative:
            eta = 1 / (1 + alpha * b * b).mid()
            power, factor = alpha + eta, 1 / eta
        reach = self._reach(power, b, top, factor)
        end = ((power - arb(1) / 2) * b + reach).mid()
        kappa = gamma + (1 - gamma) * (-b * end).exp()
        beyond = factor * (power * kappa.log() + power * (power - 1) * b * b / 2 - top).exp()
        beyond *= normal_upper_tail(end + half - power * b) * (2 * arb.pi()).sqrt()
        tail = beyond.union(arb(0))
        mass = integral(integrand, arb(0), end, tail=tail, tolerance=tolerance) / (2 * arb.pi()).sqrt()
        return mass, top

    def _reach(self, power: arb, b: arb, top: arb, factor: arb) -> arb:
        """About how far beyond the last peak the tail is negligible: a proposal, the tail is bounded afterwards."""
        gamma = ball(self.gamma)

        def needed(end: arb) -> arb:
            kappa = gamma + (1 - gamma) * (-b * end).exp()
            excess = power * kappa.log() + power * (power - 1) * b * b / 2 - top + factor.log()
            return (2 * (excess + (ctx.prec - 20) * arb(2).log()).max(arb(1))).sqrt()

        last = (power - arb(1) / 2) * b
        first = needed(arb(0))
        second = needed(last + first)
        return second.max(needed(last + second)).mid()


def _log_one_plus(mass: arb, top: arb) -> arb:
    """log(1 + mass e^top)."""
    return (mass * top.exp()).log1p() if top < 0 else top + (mass + (-top).exp()).log()


def proposed_peak(pair: SampledPair, t: float) -> float:
    """About where the integrand of M - 1 is largest, by floats."""
    b, gamma = pair.floats()
    with np.errstate(all="ignore"):
        return float(arrays.moments(numpy_namespace, b, gamma, np.full((1, 1), t), panels=1).peak[0, 0])


# --- Renyi DP


def _exact(values: Values) -> Callable[[], arb]:
    if values.sampling_rate == 1:
        return lambda: ball(2 * values.steps * values.alpha / values.sigma**2)
    pair = SampledPair(values.sigma, values.sampling_rate)
    peak = proposed_peak(pair, float(values.alpha - 1))
    return lambda: ball(values.steps / (values.alpha - 1)) * pair.log_moment(ball(values.alpha - 1), peak)


def _wbk(values: Values) -> arb:
    alpha, gamma, square = int(values.alpha), ball(values.sampling_rate), ball(4 / values.sigma**2)
    growth = square.exp()
    term = ball(Fraction(alpha * (alpha - 1), 2)) * gamma * gamma * growth
    total = term * (-4 * (-square).expm1()).min(arb(2))
    power = growth
    for j in range(3, alpha + 1):
        power *= growth
        term *= gamma * power * ball(Fraction(alpha - j + 1, j))
        total += 2 * term
    return ball(values.steps / (values.alpha - 1)) * total.log1p()


def _rdp(values: Values, width: Fraction) -> Enclosure:
    alpha = values.alpha
    if values.method == "wbk" and not (alpha.denominator == 1 and 2 <= alpha <= _MOST_TERMS):
        raise DomainError(
            f"alpha = {shown(alpha)} is outside the domain of method wbk: an integer in [2, {_MOST_TERMS}]"
        )
    if values.steps == 0 or values.sampling_rate == 0:
        return Enclosure.exactly(0)
    return enclose(_exact(values) if values.method == "exact" else lambda: _wbk(values), width=width)


# --- epsilon


def _one_step(values: Values, width: Fraction) -> Enclosure:
    """The exact curve: gamma delta_b(epsilon) = delta at epsilon' = log(1 + gamma (e^epsilon - 1))."""
    gamma, delta = values.sampling_rate, values.delta / values.sampling_rate
    if delta >= 1:
        return Enclosure.exactly(0)  # delta_b < 1

    def excess(amplified: arb) -> arb:
        epsilon = (amplified.expm1() / ball(gamma)).log1p()
        return logit_ball(epsilon, ball(2 / values.sigma)) - (ball(delta) / ball(1 - delta)).log()

    zero = arb(0)
    if certainly_negative(lambda: excess(zero)):
        return Enclosure.exactly(0)
    largest = epsilon_of_mu(lambda: ball(2 / values.sigma), delta, Fraction(1, 100)).upper
    with ctx.workprec(128):
        upper = (ball(gamma) * largest.ball.expm1()).log1p().upper() * (1 + arb(2) ** -60)
    return decreasing_root(excess, zero, upper.upper(), width=width)


def _many_steps(values: Values, width: Fraction) -> Enclosure:
    """Both ends of inf f from one order, corrected until they meet as far as the precision allows."""
    if values.sampling_rate < _LEAST_RATE:
        raise PrecisionError(f"sampling_rate is below {float(_LEAST_RATE):.0e}, beyond what the float64 search reaches")
    pair, k = SampledPair(values.sigma, values.sampling_rate), values.steps
    b, gamma = pair.floats()
    with ctx.workprec(64):
        log = float(log_inverse(values.delta).mid())
    column = np.ones((1, 1))
    with np.errstate(all="ignore"):
        proposal = float(arrays.best_order(numpy_namespace, b, gamma, column * k, column * log)[0, 0])
        near = arrays.moments(numpy_namespace, b, gamma, column * proposal, panels=arrays.ROUGH)
        mass = near.zeroth + np.exp(-near.top)
        spread = float((near.second / mass - (near.first / mass) ** 2)[0, 0])
    steepness = k * proposal * spread + 1 / (1 + proposal)  # the slope of log(1+s) - c, about
    peak = float(near.peak[0, 0])
    order = [arb(proposal)]  # kept from one precision to the next

    def minimum() -> arb:
        wanted, goal = log_inverse(values.delta), arb(2) ** -(ctx.prec - 36)
        slope, before = arb(steepness), None
        for _ in range(_CORRECTIONS):
            s = order[0]
            cumulant, rise = pair.tangent(s, peak)
            c = wanted + k * (cumulant - s * rise)
            above = (k * cumulant + wanted) / s - (1 / s).log1p() - s.log1p() / s
            if above <= 0:
                return arb(0)
            below = k * rise + (-(-c).exp()).log1p() if c > 0 else arb(0)
            if not above - below > goal * above:
                break
            off = (s.log1p() - c).mid()
            if before is not None and not (before[0] - s).is_zero():
                slope = ((before[1] - off) / (before[0] - s)).mid()
            before = (s, off)
            order[0] = _moved(s, off / slope)
        if not (above - below).lower() < above / 1000:
            raise PrecisionError(f"the best order was not found near {1 + proposal:.6g}")
        result: arb = above.union(below.max(arb(0)))
        return result

    return enclose(minimum, width=width)


def _moved(s: arb, step: arb) -> arb:
    """An order corrected by a step, but not by more than half."""
    moved = (s - step).mid()
    return moved if moved.is_finite() and s < 2 * moved and moved < 2 * s else s


def _epsilon(values: Values, width: Fraction) -> Enclosure:
    if values.steps == 0 or values.sampling_rate == 0:
        return Enclosure.exactly(0)
    if values.steps == 1:
        return _one_step(values, width)
    if values.sampling_rate == 1:
        return zcdp_epsilon.certify(Values(rho=2 * values.steps / values.sigma**2, delta=values.delta), width)
    return _many_steps(values, width)


def _epsilon_fast(xp: Any, values: Values) -> Any:
    sigma, steps, delta = values.sigma, values.steps, values.delta
    live = (values.sampling_rate > 0.0) & (steps > 0.0)
    gamma = xp.where(live, values.sampling_rate, 1.0)
    b = inflate(2.0 / sigma, 1.0)
    share = delta / gamma * (1.0 - 4 * UNIT)  # rounded down: a smaller delta costs more
    base = gaussian_arrays.epsilon_upper(xp, b, xp.where(share < 1.0, share, 0.5))
    single = amplification_arrays.amplified(xp, xp.where(share > 1e-290, base, xp.nan), gamma)
    single = xp.where(share < 1.0, single, xp.zeros_like(single))
    many = live & (steps > 1.0) & (gamma < 1.0)
    sampled = arrays.epsilon_upper(
        xp, sigma, xp.where(many, gamma, 0.5), xp.where(many, steps, 2.0), fast_log_inverse(xp, delta)
    )
    whole = zcdp_epsilon.vectorised(xp, Values(rho=inflate(0.5 * steps * b * b, 4.0), delta=delta))
    result = xp.where(steps == 1.0, single, xp.where(gamma < 1.0, sampled, whole))
    return xp.where(live, result, xp.zeros_like(result))


_SIGMA = vocabulary.sigma.at_least("1/10000").at_most(1000000)
_RATE = vocabulary.sampling_rate
_STEPS = vocabulary.steps.at_most(1000000000000)
_MOMENT = (
    r"M(t) = 1 + \int_{b/2}^{\infty} \phi(y)\,(u^{1+t} - 1)(1 - u^{-t})\,dy,"
    r" \quad u = 1 - \gamma + \gamma e^{by - b^2/2},\ b = \frac{2}{\sigma}"
)
_SOURCE = ("background/amplification-wor", "background/zhu")

_ASSUMES = ("replace", "short-terms", "gaussian-noise", "without-replacement", "secret-batches")

rdp = Bound(
    name="wor-gaussian.rdp",
    unit="rdp",
    tightness=bracketed("one record of norm C for -C among records -C", attained.divergence),
    summary="Renyi DP of Gaussian noise on sums over batches drawn without replacement",
    formula=(
        r"\frac{k\log M(\alpha - 1)}{\alpha - 1} \text{ (exact)}, \quad " + _MOMENT + r"; \quad M \le 1 +"
        r" \gamma^2\binom{\alpha}{2}\min\left(4(e^{b^2} - 1),\ 2e^{b^2}\right)"
        r" + 2\sum_{j=3}^{\alpha} \gamma^j\binom{\alpha}{j} e^{j(j-1)b^2/2} \text{ (wbk)}"
    ),
    parameters=(
        _SIGMA, _RATE, _STEPS,
        vocabulary.alpha.at_most(1000000),
        vocabulary.method.choosing("exact", "wbk"),
    ),
    assumes=_ASSUMES,
    neighbours="replace",
    threat_model="all_iterates",
    source=(*_SOURCE, "background/wbk"),
    validity="checked",
    certify=_rdp,
    vectorised=lambda xp, v: (arrays.rdp_upper if v.method == "exact" else arrays.wbk_upper)(
        xp, v.sigma, v.sampling_rate, v.steps, v.alpha
    ),
    example={"sigma": "4", "sampling_rate": "0.01", "steps": "1000", "alpha": "8", "method": "exact"},
)

epsilon = Bound(
    name="wor-gaussian.epsilon",
    unit="epsilon",
    tightness=bracketed("one record of norm C for -C among records -C; one batch attains the value", attained.cost),
    summary="an epsilon of Gaussian noise on sums over batches drawn without replacement; the least for one batch",
    formula=(
        r"\gamma\,\delta_b(\varepsilon_b) = \delta,\ \varepsilon = \log(1 + \gamma(e^{\varepsilon_b} - 1)) \text{ for }"
        r" k = 1; \quad \max\left(0,\ \inf_{t > 0} \frac{k\log M(t) + \log(1/\delta)}{t}"
        r" - \log\left(1 + \frac{1}{t}\right) - \frac{\log(1 + t)}{t}\right) \text{ for } k > 1, \quad " + _MOMENT
    ),
    parameters=(_SIGMA, _RATE, _STEPS, vocabulary.delta.open()),
    assumes=_ASSUMES,
    neighbours="replace",
    threat_model="all_iterates",
    source=(*_SOURCE, "background/rdp-conversion"),
    validity="argued",
    certify=_epsilon,
    vectorised=_epsilon_fast,
    example={"sigma": "2", "sampling_rate": "0.01", "steps": "1000", "delta": "1e-5"},
)
