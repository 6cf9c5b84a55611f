r"""The Renyi divergence of Poisson-sampled Gaussian steps (Mironov, Talwar and Zhang 2019), exactly, at any real order.

A step releases the sum over a Poisson sample plus N(0, sigma^2), records having norm at most 1. The worst pairs are
cited as in `composition`: (1-q) N(0) + q N(1) and N(0) if a record is added or removed, (1-q) N(0) + q N(1) and
(1-q) N(0) + q N(-1) if one is replaced, all of variance sigma^2. With u as in `sampled_gaussian`, T steps have

    add_remove  T log(int phi u(y)^alpha dy) / (alpha - 1)
    replace     T log(int phi u(y)^alpha u(-y)^{1-alpha} dy) / (alpha - 1)

(divergences of products add). The replace pair is symmetric. For add_remove the divergence in the other direction,
with int phi u^{1-alpha}, is never larger (Mironov et al., Theorem 5); in short: y -> a - y turns phi into w phi and w
into 1/w, so the difference of the two integrals is half the integral of phi times
H = u^alpha - u^{1-alpha} + w (u'^alpha - u'^{1-alpha}), u' = 1-q + q/w. With A = log u, B = -log u', b = alpha - 1/2,
H = 2 sqrt(u) sinh(bA) - 2 w sqrt(u') sinh(bB). At b = 1/2 it is u + w u' - 1 - w = 0; and for w > 1 the quotient
sinh(bA)/sinh(bB) rises in b because A >= B, that is u u' = (1-q)^2 + q^2 + q(1-q)(w + 1/w) >= 1. So H >= 0; w < 1 is
the same by symmetry.

Closed forms: 0 at q = 0 or T = 0, and T alpha s^2 / (2 sigma^2) at q = 1, s = 1 or 2.
"""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

from flint import ctx

from oracle.core import vocabulary
from oracle.core.algorithm import Values
from oracle.core.arithmetic import is_narrow
from oracle.core.arrays import inflate
from oracle.core.attainment import truth
from oracle.core.enclosure import Enclosure, ball
from oracle.core.errors import PrecisionError
from oracle.core.registry import Bound, closed_form
from oracle.engines.sampled.sampled_moment import log_moment
from oracle.engines.sampled.sampled_moment_arrays import divergence

_ATTEMPTS = 12
_SHIFT = {"add_remove": 1, "replace": 2}


def _log(value: Fraction) -> float:
    with ctx.workprec(64):
        return float(ball(value).log().mid())


def _first_guess(sigma: Fraction, rate: Fraction, alpha: Fraction) -> float:
    """About the log of M - 1 where it is small: alpha (alpha - 1)/2 times the variance of u; a guess, not trusted."""
    with ctx.workprec(64):
        variance = ball(rate * rate) * ball(1 / sigma**2).min(ball(1)).expm1()
        return min(0.0, float((ball(alpha * (alpha - 1) / 2) * variance).log().mid()))


def _certify(values: Values, width: Fraction) -> Enclosure:
    sigma, rate, steps, alpha = values.sigma, values.sampling_rate, values.steps, values.alpha
    shift = _SHIFT[values.neighbours]
    if steps == 0 or rate == 0:
        return Enclosure.exactly(0)
    if rate == 1:
        return closed_form(lambda _: ball(steps * alpha * shift * shift / (2 * sigma * sigma)))(values, width)
    factor = steps / (alpha - 1)
    needed = 4 - _log(width)
    goal = needed + max(-_first_guess(sigma, rate, alpha), _log(factor), 0.0)
    for _ in range(_ATTEMPTS):
        moment = log_moment(sigma, rate, alpha, replace=shift == 2, goal=goal)
        with ctx.workprec(64 + 2 * math.ceil(goal / math.log(2)) + factor.numerator.bit_length()):
            value = ball(factor) * moment
            if value > 0 and is_narrow(value, width):
                return Enclosure.of_ball(value)
            better = needed + max(-float(moment.lower().log().mid()), _log(factor)) if moment > 0 else 2 * goal
        goal = max(better, goal + 10)
    raise PrecisionError(f"the divergence of order {float(alpha):.6g} was not enclosed to the asked width")


def _fast(xp: Any, values: Values) -> Any:
    steps, rate, alpha, sigma = values.steps, values.sampling_rate, values.alpha, values.sigma
    shift = float(_SHIFT[values.neighbours])
    mixed = (rate > 0.0) & (rate < 1.0) & (steps > 0.0)
    one = divergence(xp, sigma, rate, alpha, mixed, replace=shift == 2.0)
    ratio = shift / sigma
    plain = 0.5 * steps * alpha * ratio * ratio
    plain = xp.where((ratio > 1e-100) & (ratio < 1e100) & (plain < 1e300), inflate(plain, 8.0), math.nan)
    result = xp.where(rate == 1.0, plain, inflate(steps * one, 2.0))
    return xp.where((rate > 0.0) & (steps > 0.0), result, 0.0)


rdp = Bound(
    name="poisson-gaussian.rdp",
    unit="rdp",
    tightness=truth("one record of norm C among zeros (C for -C, if replaced) is the worst pair, at every step"),
    summary="Renyi divergence of a number of Poisson-sampled Gaussian steps",
    formula=(
        r"\frac{T}{\alpha - 1}\log\int\varphi(y)\,u(y)^\alpha\,dy \text{ (add or remove)}, \quad"
        r" \frac{T}{\alpha - 1}\log\int\varphi(y)\,u(y)^\alpha u(-y)^{1-\alpha}\,dy \text{ (replace)}, \quad"
        r" u(y) = 1 - q + q\,e^{y/\sigma - 1/(2\sigma^2)}"
    ),
    parameters=(
        vocabulary.sigma,
        vocabulary.sampling_rate,
        vocabulary.steps,
        vocabulary.alpha,
        vocabulary.neighbours,
    ),
    assumes=("short-terms", "gaussian-noise", "poisson-sampling", "secret-batches", "constant-divisor"),
    neighbours="any",
    threat_model="all_iterates",
    source=("background/sampled-gaussian-rdp", "relu-approx/lem-2.6-repaired"),
    validity="argued",
    certify=_certify,
    vectorised=_fast,
    example={
        "sigma": "1", "sampling_rate": "0.01", "steps": "1000", "alpha": "8", "neighbours": "add_remove",
    },
)
