r"""From Renyi DP at one order, and from zCDP, to (epsilon, delta)-DP.

A mechanism of Renyi divergence at most r at order alpha > 1 is (epsilon, delta)-DP for

    mironov    epsilon = r + log(1/delta) / (alpha - 1)
    canonne    epsilon = r + log((alpha-1)/alpha) - (log delta + log alpha) / (alpha - 1)

(Mironov 2017, Prop. 3; Canonne, Kamath and Steinke 2020, Prop. 12), and for 0 where that is negative. The second is
below the first by log(alpha/(alpha-1)) + log(alpha)/(alpha-1).

rho-zCDP has r = rho alpha at every order, so (op. cit., Cor. 13) epsilon(delta) is the infimum over alpha > 1 of

    f(alpha) = rho alpha + log(1/(alpha delta)) / (alpha - 1) + log(1 - 1/alpha).

The infimum is certified through its only critical point. With t = alpha - 1 and L = log(1/delta) the derivative is

    f'(alpha) = rho - (L - log alpha) / (alpha - 1)^2 = (rho t^2 + log(1+t) - L) / t^2,

and the numerator rises strictly from -L < 0 to infinity: f falls up to its root t* and rises beyond. At the root
L - log alpha = rho t^2, which turns the minimum into

    f(1 + t*) = rho (2 t* + 1) - log(1 + 1/t*),

a function that rises in t*: an enclosure of the root gives one of the minimum. For the root, rho t^2 + log(1+t) <= L at
t = min(L/2, sqrt(L/(2 rho))) and >= L at t = min(sqrt(L/rho), 1/delta - 1).
"""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from typing import Any

from flint import arb, ctx

from oracle.core import vocabulary
from oracle.core.algorithm import Values
from oracle.core.arithmetic import decreasing_root, enclose
from oracle.core.arrays import TINY, UNIT, inflate, positive_part
from oracle.core.attainment import bracketed
from oracle.core.enclosure import Dyadic, Enclosure, ball
from oracle.core.registry import Bound
from oracle.engines.gaussian_curve import epsilon_of_mu

_NEWTON_STEPS = 60
_NEARBY = 2.0**-20  # relative distance of two rho whose chord tells the slope
_BLUNT = 3e-10  # relative error of epsilon above which the reference answers


def log_inverse(delta: Fraction) -> arb:
    """log(1/delta) > 0 in balls, through log1p so that a delta next to 1 keeps its digits."""
    return -ball(delta).log() if 2 * delta < 1 else -ball(delta - 1).log1p()


def fast_log_inverse(xp: Any, delta: Any) -> Any:
    """log(1/delta) > 0 to a few unit roundoffs; delta - 1 is exact for delta >= 1/2."""
    return -xp.where(delta < 0.5, xp.log(delta), xp.log1p(xp.where(delta < 0.5, 0.5, delta) - 1.0))


def _floored(value: arb) -> arb:
    return arb(0) if value <= 0 else value


# --- Renyi DP at one order


def _canonne_is_zero(alpha: Fraction, delta: Fraction) -> bool:
    """Whether ((alpha-1)/alpha)^(alpha-1) = alpha delta exactly: Canonne's epsilon at r = 0 is then exactly 0.

    With alpha - 1 = a/b in lowest terms this reads (a/(a+b))^a = (delta alpha)^b, which makes a and a + b b-th powers;
    these lie further than b apart unless b = 1. So alpha = n is an integer and delta = (n-1)^(n-1) / n^n, in lowest
    terms. (For rational r > 0 the exponential of r is transcendental and the sum of logarithms cannot cancel it.)
    """
    n = alpha.numerator
    if alpha.denominator != 1 or n.bit_length() > 64 or n * (n.bit_length() - 1) > delta.denominator.bit_length():
        return False
    return delta == Fraction((n - 1) ** (n - 1), n**n)


def _rdp(values: Values, width: Fraction) -> Enclosure:
    alpha, rdp, delta = values.alpha, values.rdp, values.delta

    def mironov() -> arb:
        return ball(rdp) + log_inverse(delta) / ball(alpha - 1)

    def canonne() -> arb:
        return _floored(mironov() + ball(-1 / alpha).log1p() - ball(alpha - 1).log1p() / ball(alpha - 1))

    if values.conversion == "canonne" and rdp == 0 and _canonne_is_zero(alpha, delta):
        return Enclosure.exactly(0)
    return enclose(mironov if values.conversion == "mironov" else canonne, width=width)


def _rdp_fast(xp: Any, values: Values) -> Any:
    gap = values.alpha - 1.0  # exact up to alpha = 2, then rounded once
    plain = values.rdp + fast_log_inverse(xp, values.delta) / gap
    if values.conversion == "mironov":
        return inflate(plain, 16.0) + TINY
    saved = xp.log1p(1.0 / gap) + xp.log1p(gap) / gap
    return positive_part(xp, plain - saved, plain + saved)


def _gaussian_of_rdp(values: Values, width: Fraction) -> Enclosure:
    """Epsilon of a Gaussian release with alpha mu^2/2 = rdp: it has that Renyi divergence, so the truth is no less."""
    if values.rdp == 0:
        return Enclosure.exactly(0)
    return epsilon_of_mu(lambda: ball(2 * values.rdp / values.alpha).sqrt(), values.delta, width)


# --- zCDP


def _critical_order(rho: Fraction, delta: Fraction) -> arb:
    """A ball around the t* of the module docstring, nearly as narrow as the working precision allows."""
    with ctx.workprec(64):
        log = log_inverse(delta)
        low = (log / 2).min((log / ball(2 * rho)).sqrt())
        high = (log / ball(rho)).sqrt().min(ball(1 / delta - 1))
        origin = (low / 2).mid()
        longest = (2 * high / origin).log().upper() + 2
    target = Fraction(1, 2 ** max(16, ctx.prec - 40))

    def shortfall(u: arb) -> arb:
        t = origin * (u - 1).exp()
        return log_inverse(delta) - ball(rho) * t * t - t.log1p()

    u = decreasing_root(shortfall, arb(1), longest, width=target).ball  # u >= 1: no digits go to a root near zero
    return origin * (u - 1).exp()


def _zcdp(values: Values, width: Fraction) -> Enclosure:
    if values.rho == 0:
        return Enclosure.exactly(0)  # alpha = 1/delta gives log(1 - delta) < 0

    def minimum() -> arb:
        t = _critical_order(values.rho, values.delta)
        return _floored(ball(values.rho) * (2 * t + 1) - (1 / t).log1p())

    return enclose(minimum, width=width)


def _gaussian_of_rho(values: Values, width: Fraction) -> Enclosure:
    """Epsilon of a Gaussian release with mu^2/2 = rho: it is rho-zCDP, so the truth is no less."""
    if values.rho == 0:
        return Enclosure.exactly(0)
    return epsilon_of_mu(lambda: ball(2 * values.rho).sqrt(), values.delta, width)


def epsilon_of_rho(rho: Callable[[], arb], delta: Fraction, width: Fraction) -> Enclosure:
    """zCDP's epsilon for a rho >= 0 that is known as a ball at the working precision: epsilon rises with rho."""

    def between() -> arb:
        value = rho()
        if not value.is_finite():
            return arb.nan()
        if value < ball(delta) ** 2:
            return arb(0)  # alpha = 1/delta gives rho/delta + log(1 - delta) < 0; such a rho may be any power of two
        fine = Fraction(1, 2 ** (ctx.prec - 24))
        ends = (Dyadic.of(end).to_fraction() for end in (value.lower().max(arb(0)), value.upper()))
        low, high = (_zcdp(Values(rho=end, delta=delta), fine).ball for end in ends)
        return low.union(high)

    return enclose(between, width=width)


def fast_epsilon_of_rho(xp: Any, rho: Any, delta: Any, units: Any = 64.0) -> Any:
    """The same for an array of rho >= 0, each rounded up by that many unit roundoffs; NaN stays NaN.

    Where epsilon is the small difference of large terms, a relative error of rho grows: how much, the slope between two
    neighbouring rho says (epsilon is concave in rho, so the chord below is steep enough). The reference answers there.
    """
    known = rho >= 0.0
    safe = xp.where(known, rho, 1.0)
    result = _zcdp_fast(xp, Values(rho=safe, delta=delta))
    rise = result - _zcdp_fast(xp, Values(rho=safe * (1.0 - _NEARBY), delta=delta))
    sharp = (rise / _NEARBY * units * UNIT <= _BLUNT * result) | (result == 0.0)
    return xp.where(known & sharp, result, math.nan)


def _zcdp_fast(xp: Any, values: Values) -> Any:
    """f at a double near the minimiser, rounded up: any order gives a valid epsilon, so Newton need not be trusted."""
    rho, log = values.rho, fast_log_inverse(xp, values.delta)
    safe = xp.where(rho > 1e-290, rho, 1.0)
    by_rho, by_delta = 0.5 * (xp.log(log) - xp.log(safe)), log
    s = xp.where(by_rho < by_delta, by_rho, by_delta)  # rho t^2 + log(1+t) >= L there; convex in s = log t: monotone
    moving = log > -math.inf  # a row that has arrived stays, whatever its neighbours do
    for _ in range(_NEWTON_STEPS):
        t = xp.exp(s)
        square = safe * t * t
        step = (square + xp.log1p(t) - log) / (2.0 * square + t / (1.0 + t))
        s = xp.where(moving, s - step, s)
        moving = moving & (xp.abs(step) > 1e-9)
        if not bool(xp.any(moving)):
            break
    t = xp.exp(s)
    cost, plain, saved = safe * (1.0 + t), log / t, xp.log1p(1.0 / t) + xp.log1p(t) / t
    result = positive_part(xp, cost + plain - saved, cost + plain + saved)
    result = xp.where(rho > 1e-290, result, math.nan)
    return xp.where(rho > 0.0, result, 0.0)


rdp_epsilon = Bound(
    name="rdp.epsilon",
    unit="epsilon",
    tightness=bracketed("a Gaussian release of that Renyi divergence", _gaussian_of_rdp),
    summary="an epsilon for which Renyi DP at one order implies (epsilon, delta)-DP",
    formula=(
        r"\varepsilon = r + \frac{\log(1/\delta)}{\alpha - 1} \text{ (mironov)}, \quad"
        r" \varepsilon = \max\left(0,\ r + \log\frac{\alpha - 1}{\alpha}"
        r" - \frac{\log\delta + \log\alpha}{\alpha - 1}\right) \text{ (canonne)}"
    ),
    parameters=(
        vocabulary.alpha,
        vocabulary.rdp,
        vocabulary.delta.open(),
        vocabulary.conversion,
    ),
    assumes=("renyi-dp",),
    neighbours="any",
    threat_model="all_iterates",
    source=("background/rdp-conversion",),
    validity="argued",
    certify=_rdp,
    vectorised=_rdp_fast,
    example={"alpha": "10", "rdp": "0.5", "delta": "1e-5", "conversion": "canonne"},
)

zcdp_epsilon = Bound(
    name="zcdp.epsilon",
    unit="epsilon",
    tightness=bracketed("a Gaussian release of that rho", _gaussian_of_rho),
    summary="an epsilon for which rho-zCDP implies (epsilon, delta)-DP, at the best Renyi order",
    formula=(
        r"\varepsilon = \max\left(0,\ \inf_{\alpha > 1} \rho\alpha + \frac{\log(1/(\alpha\delta))}{\alpha - 1}"
        r" + \log\left(1 - \frac{1}{\alpha}\right)\right)"
    ),
    parameters=(vocabulary.rho, vocabulary.delta.open()),
    assumes=("concentrated-dp",),
    neighbours="any",
    threat_model="all_iterates",
    source=("background/zcdp-conversion",),
    validity="argued",
    certify=_zcdp,
    vectorised=_zcdp_fast,
    example={"rho": "0.1", "delta": "1e-5"},
)
