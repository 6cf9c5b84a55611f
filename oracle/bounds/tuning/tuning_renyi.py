r"""Private tuning with a Poisson number of runs, in Renyi DP (Papernot and Steinke 2022), for a mu-GDP base.

The best of K ~ Poisson(m) runs is released, nothing if K = 0; densities and notation are those of `tuning`. At an order
alpha > 1, with t = alpha - 1, a base of Renyi divergence r(alpha) = alpha mu^2/2 and curve delta(.),

    E_{A'} (A/A')^alpha = e^{-m} + int m Q^alpha Q'^{-t} e^{-m (alpha Q(>y) - t Q'(>y))} dy.

For e^x = 1 + 1/t the curve gives t Q'(>y) <= t e^x Q(>y) + t delta(x) = alpha Q(>y) + t delta(x), so the exponential is
at most e^{m t delta(x)} and

    divergence at order alpha <= 1/t log( e^{-m} + m e^{t (r(alpha) + m delta(x))} ),       x = log(1 + 1/t).

(A smaller x is allowed and never better.) This is this repository's own derivation; the theorem's text was not at hand.
As it is quoted, r + m delta(x) + log(m)/t, it lacks the e^{-m} of releasing nothing: nearly the same for m >= 1, but
negative, hence false, for a small m and a base that reveals little.

In numbers, M - 1 = m (e^X - 1) + (e^{-m} - 1 + m) with X = t (r + m delta(x)): both terms are positive. Epsilon is the
least conversion by Canonne, Kamath and Steinke 2020 (see `zcdp`) over the 72 orders of ORDERS, never below 0: four an
octave of t, from 1/32 to 7168.
"""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

from flint import arb

from oracle.bounds.renyi.zcdp import fast_log_inverse, log_inverse
from oracle.bounds.sampling.wor_gaussian_arrays import in_blocks
from oracle.bounds.tuning.tuning import MEAN, MU, ranked_by_chance
from oracle.core import vocabulary
from oracle.core.algorithm import Values
from oracle.core.arithmetic import enclose
from oracle.core.arrays import TINY, UNIT, inflate, positive_part
from oracle.core.attainment import bracketed, one_sided
from oracle.core.enclosure import Enclosure, ball
from oracle.core.registry import Bound, closed_form
from oracle.engines import gaussian_arrays as arrays
from oracle.engines.gaussian_curve import delta_ball

ORDERS = tuple(Fraction(k, 4) * Fraction(2) ** j for j in range(-5, 13) for k in range(4, 8))
"""The t = alpha - 1 over which the least epsilon is taken."""

_FAR = 64  # from such an X on, M is m e^X times a number next to 1
_STEEP = 600.0  # the same in float64, where e^X would overflow next
_LEAST_MEAN = 1e-100
_LARGEST_MU = 1e150
_SERIES = 12


def _log_moment(mu: Fraction, mean: Fraction, t: Fraction) -> arb:
    """log(e^{-m} + m e^X), at the working precision."""
    x = ball(1 / t).log1p()
    exponent = ball(t) * (ball((1 + t) * mu * mu / 2) + ball(mean) * delta_ball(x, ball(mu)))
    if exponent > _FAR:
        return exponent + (ball(mean) + (-ball(mean) - exponent).exp()).log()
    runs = ball(mean)
    return (runs * exponent.expm1() + (runs + (-runs).expm1())).log1p()


def _rdp(values: Values) -> arb:
    return _log_moment(values.base_mu, values.mean_runs, values.alpha - 1) / ball(values.alpha - 1)


def _epsilon(values: Values, width: Fraction) -> Enclosure:
    def least() -> arb:
        log, best = log_inverse(values.delta), arb(math.inf)
        for t in ORDERS:
            spent = (_log_moment(values.base_mu, values.mean_runs, t) + log) / ball(t)
            best = best.min(spent - ball(1 / t).log1p() - ball(t).log1p() / ball(t))
        return arb(0) if best <= 0 else best

    return enclose(least, width=width)


def _surplus(xp: Any, mean: Any) -> Any:
    """e^{-m} - 1 + m, by its series where it cancels."""
    small = xp.where(mean < 0.25, mean, 0.25)
    series = xp.zeros_like(small)
    for k in range(_SERIES, 1, -1):
        series = (1.0 - series) * small / k if k > 2 else (1.0 - series) * small * small / 2.0
    return xp.where(mean < 0.25, series, mean + xp.expm1(-mean))


def _log_moment_upper(xp: Any, mu: Any, mean: Any, t: Any) -> Any:
    """The logarithm above, rounded up; NaN or infinite where float64 does not hold it."""
    x = xp.log1p(1.0 / t) * (1.0 - 8 * UNIT)  # rounded down: the curve falls
    exponent = inflate(t * (0.5 * (1.0 + t) * mu * mu + mean * arrays.delta_upper(xp, x, mu)), 16.0) + TINY
    steep = exponent > _STEEP
    moment = mean * xp.expm1(xp.where(steep, 1.0, exponent)) + _surplus(xp, mean)
    far = exponent + xp.log(mean) + 32 * UNIT * xp.abs(xp.log(mean))
    far = xp.where(mean > _LEAST_MEAN, far, xp.nan)
    return xp.where(steep, inflate(far, 4.0), inflate(xp.log1p(inflate(moment, 64.0)), 4.0))


def _usable(xp: Any, mu: Any) -> Any:
    return xp.where((mu < _LARGEST_MU) & (mu > 1 / _LARGEST_MU), mu, xp.nan)


def _rdp_fast(xp: Any, values: Values) -> Any:
    t = values.alpha - 1.0
    result = inflate(_log_moment_upper(xp, _usable(xp, values.base_mu), values.mean_runs, t) / t, 8.0)
    return xp.where((result > 1e-290) & (t < _LARGEST_MU), result, xp.nan)


def _epsilon_fast(xp: Any, values: Values) -> Any:
    def least(mu: Any, mean: Any, log: Any) -> Any:
        t = xp.asarray([float(order) for order in ORDERS], dtype=xp.float64, device=mu.device)[None, :] + 0.0 * mu
        spent = (_log_moment_upper(xp, mu + 0.0 * t, mean + 0.0 * t, t) + log) / t
        saved = xp.log1p(1.0 / t) + xp.log1p(t) / t
        cost = xp.where(xp.isnan(spent), math.inf, spent - saved)
        best = xp.min(cost, axis=1, keepdims=True)
        size = xp.max(xp.where(cost == best, spent + saved, 0.0), axis=1, keepdims=True)
        return positive_part(xp, best, size)

    return in_blocks(xp, least, _usable(xp, values.base_mu), values.mean_runs, fast_log_inverse(xp, values.delta))


_MOMENT = (
    r"M = e^{-m} + m\,e^{(\alpha - 1)\left(\alpha\mu^2/2 + m\,\delta(x)\right)}, \quad"
    r" x = \log\frac{\alpha}{\alpha - 1}"
)
_SOURCE = ("background/poisson-tuning",)

_ASSUMES = ("runs-gaussian-dp", "poisson-runs", "best-run")

rdp = Bound(
    name="poisson-tuning.rdp",
    unit="rdp",
    tightness=one_sided("no base and ranking are known that attain it"),
    summary="Renyi DP of releasing the best of a Poisson number of runs, each mu-GDP",
    formula=r"\frac{\log M}{\alpha - 1}, \quad " + _MOMENT,
    parameters=(MU, MEAN, vocabulary.alpha),
    assumes=_ASSUMES,
    neighbours="any",
    threat_model="all_iterates",
    source=_SOURCE,
    validity="argued",
    certify=closed_form(_rdp),
    vectorised=_rdp_fast,
    example={"base_mu": "0.3473", "mean_runs": "20", "alpha": "11"},
)

epsilon = Bound(
    name="poisson-tuning-renyi.epsilon",
    unit="epsilon",
    tightness=bracketed("a Gaussian base and a ranking by chance", ranked_by_chance),
    summary="an epsilon of releasing the best of a Poisson number of runs, each mu-GDP, by Renyi DP",
    formula=(
        r"\max\left(0,\ \min_{t} \frac{\log M + \log(1/\delta)}{t} - \log\left(1 + \frac{1}{t}\right)"
        r" - \frac{\log(1 + t)}{t}\right), \quad t = \alpha - 1 = \frac{k}{4} 2^{j},\ 4 \le k < 8,"
        r"\ -5 \le j \le 12, \quad " + _MOMENT
    ),
    parameters=(MU, MEAN, vocabulary.delta.open()),
    assumes=_ASSUMES,
    neighbours="any",
    threat_model="all_iterates",
    source=_SOURCE,
    validity="argued",
    certify=_epsilon,
    vectorised=_epsilon_fast,
    example={"base_mu": "0.3473", "mean_runs": "20", "delta": "1e-5"},
)
