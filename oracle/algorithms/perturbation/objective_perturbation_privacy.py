r"""Objective perturbation: a random linear term in the objective, and what its change of variables costs.

    theta(D, b) = argmin  sum_i l_i(<x_i, theta>) + (n lambda / 2) |theta|^2 + <b, theta>     (n times the mean's form)

over all of R^d, where every l_i is convex and twice continuously differentiable, |l_i'| |x_i| <= L and
0 <= l_i'' |x_i|^2 <= c, and n lambda is a constant (lambda + Delta where ridge is added for privacy). Nothing else is
assumed, neither of d nor of theta. The released minimiser must be exact: an approximate one is another random variable,
of which nothing is said here.

The gradient vanishes: b = -n lambda theta - sum_i l_i'(<x_i, theta>) x_i, a one-to-one map of theta with derivative
-(n lambda I + sum_i l_i'' x_i x_i^T). So theta has the density nu(b(theta)) det(n lambda I + sum_i l_i'' x_i x_i^T).
Between neighbours, at the same theta:

noise. b moves by at most k L, k = 2 for a replaced record, k = 1 for one added or removed. With nu proportional to
exp(-|b|/s) its logarithm moves by at most k L / s.

determinant. Let M >= n lambda I be what the common records leave. Replacing x, of weight a = l''(<x, theta>), by x':

    det(M + a x x^T) / det(M + a' x' x'^T) = (1 + a x^T M^-1 x) / (1 + a' x'^T M^-1 x') <= 1 + c / (n lambda),

since by convexity the denominator is at least 1; adding or removing has one factor only, and the same bound. Hence

    sharp      epsilon = k L / s + log(1 + c / (n lambda))
    cms11      epsilon = k L / s + 2 log(1 + c / (n lambda))       log(1 + 2t + t^2), t = c/(n lambda), as published.

The sharp one is the least for the class: d = 1, all other x = 0, theta large, a record x = -1 at whose margin l' has
just risen to L with slope c against x = 1, at whose larger margin l' is L without slope: both terms are reached
together in the limit. Without the logarithm the statement is false; without a fixed n lambda (a mean over the records
that happen to be there) adding or removing a record moves b by lambda theta, without bound.

Ridge for a target: c / (n lambda) = e^{epsilon/(2m)} - 1, m = 1 or 2, makes the logarithm half of epsilon. (The
published algorithm adds ridge to reach that where the logarithm alone is epsilon or more.)

Gaussian b, N(0, sigma^2 I), mu = L / sigma. Let x^ be the direction of x. Add or remove: b moves by l'(<x, theta>) x,
along x^ whatever theta is, so that with Z = <b, x^>/sigma, a standard normal, the log ratio of the densities is at most

    log(1 + c/(n lambda)) + nu |Z| + nu^2/2,       nu = mu.

Since delta(epsilon) = E max(0, 1 - e^{epsilon - loss}) rises with the loss, it is at most T(nu, e) for
e = epsilon - log(1 + c/(n lambda)), where

    T(nu, e) = E max(0, 1 - e^{e - nu |Z| - nu^2/2}) = 2 (Phi(-a) - e^e Phi(-a - nu)),      a = max(0, e/nu - nu/2),

which is twice the Gaussian curve of nu for e >= nu^2/2. Replace: b moves by the difference s of two such gradients, and
2 <b, s> + |s|^2 is convex in their two slopes: it is largest where both have norm L, that is at s = L v or -L v for v =
x^ - x'^ or v = x^ + x'^. So the loss is at most the larger of two as above, with nu = mu |v|. The squares of the two
|v| add up to 4: one is at most sqrt 2, the other at most 2. A maximum's T is at most the sum, and T rises in nu:

    delta(epsilon) <= T(2 mu, e) + T(sqrt(2) mu, e).

Source: Chaudhuri, Monteleoni and Sarwate (2011), Theorem 9, and Kifer, Smith and Thakurta (2012); neither text was at
hand, that of document 004 was. The derivations stand on their own.
"""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

from flint import arb, ctx

from oracle.bounds.sampling.relation import NEIGHBOURS, TERMS
from oracle.core import vocabulary
from oracle.core.algorithm import Values
from oracle.core.arithmetic import decreasing_root, enclose
from oracle.core.arrays import UNIT, erfcx, inflate, positive_part, quotient
from oracle.core.attainment import one_sided
from oracle.core.domain import shown
from oracle.core.enclosure import Enclosure, ball
from oracle.core.errors import DomainError, PrecisionError
from oracle.core.registry import Bound, closed_form
from oracle.engines import gaussian_arrays as arrays
from oracle.engines.gaussian_curve import certainly_negative, normal_upper_tail
from oracle.engines.gaussian_far import FAR, epsilon_far

_FACTORS = {"sharp": 1, "cms11": 2}
_NEWTON_STEPS = 40
_SMALLEST = 1e-290  # below, float64 loses relative accuracy
_ILL_CONDITIONED = 1e-10  # relative error of a difference above which the reference answers


def _jacobian(values: Values) -> arb:
    """log(1 + c / (n lambda)): what the change of variables costs."""
    return ball(values.curvature / (values.dataset_size * values.regularisation)).log1p()


def _fast_jacobian(xp: Any, values: Values) -> Any:
    some = values.curvature > 0.0
    ratio = quotient(xp, xp.where(some, values.curvature, 1.0), values.dataset_size, values.regularisation)
    return xp.where(some, inflate(xp.log1p(ratio), 8.0), 0.0)


# --- noise of density exp(-|b|/s)


def _epsilon(values: Values) -> arb:
    noise = ball(TERMS[values.neighbours] * values.lipschitz / values.noise_scale)
    return noise + _FACTORS[values.correction] * _jacobian(values)


def _fast_epsilon(xp: Any, values: Values) -> Any:
    noise = quotient(xp, TERMS[values.neighbours] * values.lipschitz, values.noise_scale)
    return inflate(noise + _FACTORS[values.correction] * _fast_jacobian(xp, values), 4.0)


def _scale(values: Values, width: Fraction) -> Enclosure:
    def left() -> arb:
        return ball(values.epsilon) - _FACTORS[values.correction] * _jacobian(values)

    if values.curvature and certainly_negative(left):  # the logarithm of a rational is never a rational but 0
        raise DomainError(
            f"epsilon = {shown(values.epsilon)} does not pay for the curvature: expected more than"
            f" {_FACTORS[values.correction]} log(1 + curvature / (dataset_size regularisation)), or more ridge"
            " (objective-perturbation.ridge)"
        )
    return enclose(lambda: TERMS[values.neighbours] * ball(values.lipschitz) / left(), width=width)


def _fast_scale(xp: Any, values: Values) -> Any:
    spent = _FACTORS[values.correction] * _fast_jacobian(xp, values)
    slack = 8 * UNIT * (values.epsilon + spent)
    left = values.epsilon - spent - slack
    left = xp.where(slack < _ILL_CONDITIONED * left, left, math.nan)
    return quotient(xp, TERMS[values.neighbours] * values.lipschitz, left)


def _ridge(values: Values) -> arb:
    growth = ball(values.epsilon / (2 * _FACTORS[values.correction])).expm1()
    return ball(values.curvature / values.dataset_size) / growth


def _fast_ridge(xp: Any, values: Values) -> Any:
    some = values.curvature > 0.0
    growth = xp.expm1(values.epsilon / (2.0 * _FACTORS[values.correction])) * (1.0 - 16 * UNIT)
    growth = xp.where(growth > _SMALLEST, growth, math.nan)
    return xp.where(some, quotient(xp, xp.where(some, values.curvature, 1.0), values.dataset_size, growth), 0.0)


# --- Gaussian noise


def _two_sided(e: arb, nu: arb) -> arb:
    """T(nu, e)."""
    start = (e / nu - nu / 2).max(arb(0))
    return 2 * (normal_upper_tail(start) - e.exp() * normal_upper_tail(start + nu))


def _shifts(values: Values) -> tuple[arb, ...]:
    """The nu whose T add up to delta, the largest first."""
    mu = ball(values.lipschitz / values.noise_on_sum)
    return (mu,) if values.neighbours == "add_remove" else (2 * mu, arb(2).sqrt() * mu)


def _gaussian(values: Values, width: Fraction) -> Enclosure:
    def excess(epsilon: arb) -> arb:
        e = epsilon - _jacobian(values)
        total = sum((_two_sided(e, nu) for nu in _shifts(values)), arb(0))
        return total.log() - ball(values.delta).log()

    with ctx.workprec(128):
        if _shifts(values)[0] > FAR:
            return _far(values, width)
    if certainly_negative(lambda: excess(arb(0))):
        return Enclosure.exactly(0)
    with ctx.workprec(128):
        # T(nu, e) <= 2 Phi(-z) <= e^{-z^2/2} at z = e/nu - nu/2 >= 0: all together meet delta at this z.
        largest, *others = _shifts(values)
        z = (2 * ball((1 + len(others)) / values.delta).log()).sqrt()
        upper = (_jacobian(values) + largest * (largest / 2 + z)).upper()
    return decreasing_root(excess, arb(0), upper, width=width)


def _far(values: Values, width: Fraction) -> Enclosure:
    """The least epsilon where noise is all but absent: e lies where half of delta is met on one side of the largest nu.

    With delta < 1 - 2^-100 the largest nu crosses at an x = e/nu - nu/2 > 0, where T(nu, e) is twice the Gaussian curve
    (x = 0 gives 1 - 2 phi(0) R(nu), and R(nu) < 1/nu). Any other nu, at most nu/sqrt(2), then crosses beyond nu/4 and
    adds at most e^{-nu^2/32}, far less than the 2^-bits that are taken from delta to cover it.
    """
    largest, *others = (lambda: _shifts(values)[0]), *_shifts(values)[1:]
    if values.delta >= 1 - Fraction(1, 1 << 100):
        raise PrecisionError(f"delta = {shown(values.delta)} is too close to 1 for so little noise")
    upper = epsilon_far(largest, values.delta / 2, width / 4)
    if others:
        bits = 2 * (upper.upper.exponent + upper.upper.mantissa.bit_length()) + values.delta.denominator.bit_length()
        bits += width.denominator.bit_length() + 64
        upper = upper.hull(epsilon_far(largest, (values.delta - Fraction(1, 1 << bits)) / 2, width / 4))
    ratio = enclose(lambda: _jacobian(values), width=width / 4)
    with ctx.workprec(128 + 2 * (upper.upper.mantissa.bit_length() + width.denominator.bit_length())):
        return Enclosure.between(upper.lower.ball + ratio.lower.ball, upper.upper.ball + ratio.upper.ball)


def _fast_sum(xp: Any, mu: Any, delta: Any) -> Any:
    """The e >= 2 mu^2 with T(2 mu, e) + T(sqrt(2) mu, e) = delta, rounded up; NaN where there is none.

    Each T is there twice the Gaussian curve, and below that it is less: the certificate holds anyway. Newton's method
    on the logarithm of the sum proposes.
    """
    shifts = (2.0 * mu, inflate(math.sqrt(2.0) * mu, 2.0))

    def total(e: Any) -> Any:
        return inflate(2.0 * sum(arrays.delta_upper(xp, e, nu) for nu in shifts), 4.0)

    e = arrays.epsilon_upper(xp, shifts[0], 0.5 * delta)  # of the larger term alone: too small
    moving = delta > 0.0  # a row that has arrived stays, whatever its neighbours do
    for _ in range(_NEWTON_STEPS):
        slope = xp.zeros_like(e)
        for nu in shifts:
            x = e / nu - 0.5 * nu
            slope = slope + xp.exp(-0.5 * x * x) * arrays.mills(xp, x + nu) * math.sqrt(2.0 / math.pi)
        value = total(e)
        step = value * xp.log(value / delta) / slope
        e = xp.where(moving, e + xp.where(slope > 0.0, step, math.nan), e)
        moving = moving & (xp.abs(step) > 1e-9 * e)
        if not bool(xp.any(moving)):
            break
    proposed = xp.where(e > 2.0 * mu * mu, e, math.nan)
    return arrays.certify(xp, proposed, proposed + mu, lambda at: total(at) <= delta)


def _fast_gaussian(xp: Any, values: Values) -> Any:
    mu, jacobian = quotient(xp, values.lipschitz, values.noise_on_sum), _fast_jacobian(xp, values)
    replaced = values.neighbours == "replace"
    beyond = _fast_sum(xp, mu, values.delta) if replaced else arrays.epsilon_upper(xp, mu, 0.5 * values.delta)
    beyond = xp.where(beyond > 1e-3 * mu, beyond, math.nan)  # below, it is ill-conditioned: the reference answers
    steep = inflate(beyond + jacobian, 1.0)
    if replaced:
        return steep
    # Where e < mu^2/2, delta = 1 - 2 e^e Phi(-mu), with 2 Phi(-mu) = e^{-mu^2/2} erfcx(mu / sqrt 2).
    half, survived = 0.5 * mu * mu, xp.log1p(-values.delta)
    log_tail = xp.log(erfcx(xp, mu * math.sqrt(0.5)))
    terms = 1.0 + half - log_tail - survived + jacobian  # 1, since erfcx next to 1 has an absolute error
    flat = positive_part(xp, survived + half - log_tail + jacobian, terms)
    side, slack = survived - log_tail, 32 * UNIT * terms  # e - mu^2/2
    return xp.where(side + slack < 0.0, flat, xp.where(side - slack > 0.0, steep, math.nan))


_LIPSCHITZ = vocabulary.lipschitz
_CURVATURE = vocabulary.curvature
_RIDGE = vocabulary.regularisation.above(0)
_SIZE = vocabulary.dataset_size
_CORRECTION = vocabulary.correction.choosing(*_FACTORS)
_SUM = (
    r"\frac{kL}{s} + m\log\left(1 + \frac{c}{n\lambda}\right), \quad k = 2 \text{ (replace) or } 1"
    r" \text{ (add or remove)}, \quad m = 1 \text{ (sharp) or } 2 \text{ (cms11)}"
)
_SOURCE = ("cs208/objective-perturbation-repaired",)
_EXAMPLE = {"lipschitz": "1", "curvature": "0.25", "regularisation": "0.01", "dataset_size": "10000"}
_WORDS = {"neighbours": "replace", "correction": "sharp"}

_ASSUMES = ("convex-losses", "smooth-margins", "curved-margins", "whole-space", "exact-minimiser", "constant-size")

epsilon = Bound(
    name="objective-perturbation.epsilon",
    unit="epsilon",
    tightness=one_sided("a worst case for each part of the proof; no losses are known that attain both"),
    summary="epsilon of the minimiser of a convex ridge objective with a linear term of density exp(-|b|/noise_scale)",
    formula=r"\varepsilon = " + _SUM,
    parameters=(
        _LIPSCHITZ, _CURVATURE, _RIDGE, _SIZE, vocabulary.noise_scale, NEIGHBOURS,
        _CORRECTION,
    ),
    assumes=(*_ASSUMES, "lipschitz-loss", "radial-noise"),
    neighbours="any",
    threat_model="all_iterates",
    source=_SOURCE,
    validity="argued",
    certify=closed_form(_epsilon),
    vectorised=_fast_epsilon,
    example={**_EXAMPLE, "noise_scale": "2", **_WORDS},
)

scale = Bound(
    name="objective-perturbation.scale",
    unit="sigma",
    tightness=one_sided("a worst case for each part of the proof; no losses are known that attain both"),
    summary="least scale of the random linear term, of density exp(-|b|/scale), that makes the minimiser epsilon-DP",
    formula=r"\varepsilon = " + _SUM,
    parameters=(_LIPSCHITZ, _CURVATURE, _RIDGE, _SIZE, vocabulary.epsilon.above(0), NEIGHBOURS, _CORRECTION),
    assumes=(*_ASSUMES, "lipschitz-loss", "radial-noise"),
    neighbours="any",
    threat_model="all_iterates",
    source=_SOURCE,
    validity="argued",
    certify=_scale,
    vectorised=_fast_scale,
    example={**_EXAMPLE, "epsilon": "1", **_WORDS},
)

ridge = Bound(
    name="objective-perturbation.ridge",
    unit="smoothness",
    tightness=one_sided("a worst case for each part of the proof; no losses are known that attain both"),
    summary="least ridge for which the change of variables costs at most half of epsilon",
    formula=(
        r"\lambda = \frac{c}{n\left(e^{\varepsilon/(2m)} - 1\right)}, \quad m = 1 \text{ (sharp) or } 2 \text{ (cms11)}"
    ),
    parameters=(_CURVATURE, _SIZE, vocabulary.epsilon.above(0), _CORRECTION),
    assumes=_ASSUMES,
    neighbours="any",
    threat_model="all_iterates",
    source=_SOURCE,
    validity="argued",
    certify=closed_form(_ridge),
    vectorised=_fast_ridge,
    example={"curvature": "0.25", "dataset_size": "10000", "epsilon": "1", "correction": "sharp"},
)

gaussian_epsilon = Bound(
    name="objective-perturbation-gaussian.epsilon",
    unit="epsilon",
    tightness=one_sided("a worst case for each part of the proof; no losses are known that attain both"),
    summary="an epsilon for which the minimiser of a convex ridge objective with a Gaussian linear term is private",
    formula=(
        r"\varepsilon = \max\left(0,\ e + \log\left(1 + \frac{c}{n\lambda}\right)\right), \quad \mu = \frac{L}{\sigma},"
        r" \quad \delta = T(\mu) \text{ (add or remove) or } T(2\mu) + T(\sqrt{2}\mu) \text{ (replace)}, \quad"
        r" T(\nu) = 2\Phi(-a) - 2e^{e}\,\Phi(-a - \nu), \quad a = \max\left(0,\ \frac{e}{\nu} - \frac{\nu}{2}\right)"
    ),
    parameters=(
        _LIPSCHITZ, _CURVATURE, _RIDGE, _SIZE, vocabulary.noise_on_sum,
        vocabulary.delta.open(), NEIGHBOURS,
    ),
    assumes=(*_ASSUMES, "lipschitz-loss", "gaussian-noise"),
    neighbours="any",
    threat_model="all_iterates",
    source=("cs208/objective-perturbation-gaussian",),
    validity="argued",
    certify=_gaussian,
    vectorised=_fast_gaussian,
    example={**_EXAMPLE, "noise_on_sum": "5", "delta": "1e-5", "neighbours": "add_remove"},
)
