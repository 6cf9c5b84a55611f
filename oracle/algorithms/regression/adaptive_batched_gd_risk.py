r"""Adaptive batched gradient descent for ReLU regression without a model (002, Algorithm 8): risk of its last iterate.

Setting: E xx^T = I, |x| <= rho = feature_norm, |y| <= B, and nothing else is known of y; L(w) = E(relu(<w,x>) - y)^2,
w* any vector, F(w) = E(relu(<w,x>) - y) x the gradient of the convex surrogate, w_l its zero. From w_0 = 0, each of T
steps takes m fresh records, w_i = w_{i-1} - eta (their mean of (relu - y) x + zeta_i), where zeta_i ~ N(0, s_i^2 I_d)
with s_i = nu rho (rho |w_{i-1}| + 2B)/m: nu = noise_over_sensitivity times the sensitivity of that mean if one record
is replaced. (The text's noise lacks a factor sqrt(d), and its |x| <= sqrt(d) with E xx^T = I and a density is met by no
law.)

Risk from distance. Let r = y - relu(<w*,x>), so L(w*) = |r|^2 as a mean square, and e = |w - w_l|^2.
- Any law with <F(w) - F(v), w - v> >= mu |w-v|^2: |E r x| <= |r|, so |w_l - w*| <= |r|/mu, and relu(<w,x>) differs from
  relu(<w*,x>) by at most |w - w*| in mean square:  L(w) <= (sqrt(e) + (1 + 1/mu) sqrt(L(w*)))^2.
- x and -x alike: relu(a) = (a + |a|)/2, so F(w) = (w - w_l)/2, and relu(<w,x>) - relu(<w*,x>) = <u,x>/2 + q, where
  u = w - w*, q is even in x and |q| <= |u|/2. Split r likewise into its linear part <v,x>/2, where w_l = w* + v, and
  the rest p. Linear and even functions are orthogonal:  L(w) = |u-v|^2/4 + |q-p|^2 <= e/4 + (sqrt(e)/2 + |v|/2 +
  |p|)^2, and |v|/2 + |p| is at most sqrt(2 L(w*)):  L(w) <= e/4 + (sqrt(e)/2 + sqrt(2 L(w*)))^2. At e = 0 the factor 2
  is the least: for x = +-1 and y = min(0, x) the best w* is 0, w_l = 1 and L(w_l) = 1 = 2 L(0).

Distance, in mean square: e_0 = |w_l|^2, and as records and noise are fresh, with N = |w_l|,

    e_{i} = q^2 e_{i-1} + eta^2 [ rho^2/m Lmax(e_{i-1}) + d (nu rho/m)^2 (rho (sqrt(e_{i-1}) + N) + 2B)^2 ],

q = 1 - eta/2 for symmetric x, q = max(|1 - eta mu|, |1 - eta|) else (F is the gradient of a mu-strongly convex 1-smooth
function), Lmax the bound on L above: a batch's mean gradient has variance at most E|gradient|^2/m <= rho^2 L(w)/m.
All terms rise in e, and E(sqrt(X) + c)^2 <= (sqrt(E X) + c)^2, so upper bounds propagate, and E L(w_T) <= Lmax(e_T).

This decides Theorem 7's constant, L(w_T) <= 2 (1 + 2 mu) L(w*) + alpha for n large: false in general. In one dimension
let x + 1 be exponential, p = E[x^2; x<0] = 1 - 2/e = mu, and y = -max(0, x). Then w* = 0 is best and w_l = -(1-p)/p, so
L(w_l)/L(w*) = 1/mu = 3.78 > 2 (1 + 2 mu) = 3.06 (a cut tail that makes x and y bounded changes both as little as one
likes). It holds for symmetric x, where 2 (1 + 2 mu) = 4 > 2.

The text of 002 was at hand; the proofs above stand on their own and are in expectation (the text's are with high
probability and rest on lemmas of another paper).
"""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from typing import Any

from flint import arb

from oracle.core import vocabulary
from oracle.core.algorithm import Values
from oracle.core.arrays import UNIT, inflate
from oracle.core.attainment import one_sided
from oracle.core.enclosure import ball
from oracle.core.registry import Bound, closed_form
from oracle.engines.rounding import rounded_up

_SHARP = 1e-11  # total relative excess that the rounding of the contraction may cause


def _walk(v: Values, shrink: Fraction, risk_at: Callable[[arb], arb]) -> arb:
    """Lmax(e_T) for the contraction and for Lmax as a function of sqrt(e)."""
    eta, radius, norm = ball(v.learning_rate), ball(v.feature_norm), ball(v.target_norm)
    variance = ball(v.feature_norm**2 / v.batch_size)
    noise = ball(v.dimension * (v.noise_over_sensitivity * v.feature_norm / v.batch_size) ** 2)
    square, distance, kept = norm**2, norm, ball(shrink) ** 2
    for _ in range(v.steps):
        private = noise * (radius * (distance + norm) + ball(2 * v.label_bound)) ** 2
        square = kept * square + eta**2 * (variance * risk_at(distance) + private)
        distance = square.sqrt()
    return risk_at(distance)


def _fast_walk(xp: Any, v: Values, shrink: Any, risk_at: Callable[[Any], Any], *inputs: Any) -> Any:
    variance = v.feature_norm * v.feature_norm / v.batch_size
    share = v.noise_over_sensitivity * v.feature_norm / v.batch_size
    noise = v.dimension * share * share
    # 1 - eta mu has an absolute error of a few units: added, and left to the reference where it would show.
    kept = shrink + 4.0 * UNIT * (1.0 + v.learning_rate)
    sharp = 8.0 * UNIT * (1.0 + v.learning_rate) * v.steps < _SHARP * shrink
    distance = v.target_norm
    for step in range(int(xp.max(v.steps)) if math.prod(v.steps.shape) else 0):
        private = v.feature_norm * (distance + v.target_norm) + 2.0 * v.label_bound
        inner = variance * risk_at(distance) + noise * private * private
        square = kept * kept * distance * distance + v.learning_rate * v.learning_rate * inner
        distance = xp.where(v.steps > step, inflate(xp.sqrt(square), 40.0), distance)
    result = risk_at(distance)
    whole = (result > 1e-250) & (result < 1e250)  # a distance that underflowed on the way may matter below
    result = rounded_up(
        xp, result, v.target_norm, v.optimal_risk, v.label_bound, v.feature_norm, v.dimension, v.batch_size,
        v.learning_rate, v.noise_over_sensitivity, *inputs, units=40.0,
    )
    return xp.where(sharp & whole, result, math.nan)


def _general(v: Values) -> arb:
    eta, mu = v.learning_rate, v.strong_convexity
    rest = (1 + 1 / ball(mu)) * ball(v.optimal_risk).sqrt()
    return _walk(v, max(abs(1 - eta * mu), abs(1 - eta)), lambda distance: (distance + rest) ** 2)


def _fast_general(xp: Any, v: Values) -> Any:
    slow, quick = xp.abs(1.0 - v.learning_rate * v.strong_convexity), xp.abs(1.0 - v.learning_rate)
    rest = (1.0 + 1.0 / v.strong_convexity) * xp.sqrt(v.optimal_risk)

    def risk_at(distance: Any) -> Any:
        return (distance + rest) * (distance + rest)

    return _fast_walk(xp, v, xp.where(slow > quick, slow, quick), risk_at, v.strong_convexity)


def _symmetric(v: Values) -> arb:
    rest = ball(2 * v.optimal_risk).sqrt()
    return _walk(
        v, abs(1 - v.learning_rate / 2), lambda distance: distance**2 / 4 + (distance / 2 + rest) ** 2
    )


def _fast_symmetric(xp: Any, v: Values) -> Any:
    rest = xp.sqrt(2.0 * v.optimal_risk)

    def risk_at(distance: Any) -> Any:
        half = 0.5 * distance
        return half * half + (half + rest) * (half + rest)

    return _fast_walk(xp, v, xp.abs(1.0 - 0.5 * v.learning_rate), risk_at)


_COMMON = (
    vocabulary.target_norm,
    vocabulary.optimal_risk, vocabulary.label_bound,
    vocabulary.feature_norm, vocabulary.dimension,
    vocabulary.batch_size,
    vocabulary.steps.at_most(10000),
    vocabulary.learning_rate,
    vocabulary.noise_over_sensitivity,
)
_STEP = (
    r"e_{i} = q^2 e_{i-1} + \eta^2\left[\frac{\rho^2}{m} R(e_{i-1}) + d\left(\frac{\nu\rho}{m}\right)^2"
    r" \left(\rho(\sqrt{e_{i-1}} + N) + 2B\right)^2\right],\ e_0 = N^2,"
)
_EXAMPLE = {
    "target_norm": "1", "optimal_risk": "0.1", "label_bound": "2", "feature_norm": "5", "dimension": "8",
    "batch_size": "100000", "steps": "24", "learning_rate": "0.5", "noise_over_sensitivity": "5",
}

_ASSUMES = (
    "population-risk", "judged-last", "disjoint-batches", "relu-updates", "independent-records", "isotropic-features",
    "bounded-features", "bounded-labels", "bounded-target", "best-risk", "gaussian-noise", "past-noise",
    "start-at-zero",
)

risk = Bound(
    name="adaptive-batched-gd.risk",
    unit="risk",
    tightness=one_sided("an inequality on the risk; no problem is known that attains it"),
    summary="risk, in expectation, of adaptive batched gradient descent for misspecified ReLU regression",
    formula=(
        r"\mathbb{E}\,L(w_T) \le R(e_T), \quad " + _STEP
        + r"\ R(e) = \left(\sqrt{e} + (1 + 1/\mu)\sqrt{L(w^*)}\right)^2,\ q = \max(|1-\eta\mu|, |1-\eta|)"
    ),
    parameters=(*_COMMON, vocabulary.strong_convexity.at_most(1)),
    assumes=(*_ASSUMES, "monotone-surrogate"),
    neighbours="replace",
    threat_model="all_iterates",
    source=("nonconvex-nn/thm-7-utility-repaired", "nonconvex-nn/thm-7-constant-repaired"),
    validity="argued",
    certify=closed_form(_general),
    vectorised=_fast_general,
    example={**_EXAMPLE, "strong_convexity": "0.25"},
    released="last_iterate",
)

symmetric = Bound(
    name="adaptive-batched-gd-symmetric.risk",
    unit="risk",
    tightness=one_sided("an inequality on the risk; no problem is known that attains it"),
    summary="the same for feature vectors with a symmetric law, where at most twice the best risk remains",
    formula=(
        r"\mathbb{E}\,L(w_T) \le R(e_T), \quad " + _STEP
        + r"\ R(e) = \frac{e}{4} + \left(\frac{\sqrt{e}}{2} + \sqrt{2 L(w^*)}\right)^2,\ q = 1 - \frac{\eta}{2}"
    ),
    parameters=_COMMON,
    assumes=(*_ASSUMES, "symmetric-features"),
    neighbours="replace",
    threat_model="all_iterates",
    source=("nonconvex-nn/thm-7-utility-repaired", "nonconvex-nn/relu-symmetric-closed-form"),
    validity="argued",
    certify=closed_form(_symmetric),
    vectorised=_fast_symmetric,
    example=_EXAMPLE,
    released="last_iterate",
)
