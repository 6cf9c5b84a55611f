r"""One pass of gradient descent over disjoint batches whose noise follows the iterate (document 002, Algorithm 8).

w_i = w_{i-1} - eta (mean over batch D_i of (max(0, <w_{i-1}, x>) - y) x + N(0, sigma_i^2 I)) for ReLU regression. The
batches have m records each, are disjoint, and records are assigned to them without looking. Hypotheses: |x| <= r and
|y| <= B for every possible record. By `relu_gradient`, a replaced record moves the mean gradient of its batch by at
most

    Delta(w_{i-1}) = r (r |w_{i-1}| + 2B) / m,        attained,        sigma_i = z Delta(w_{i-1}).

Why noise that depends on the iterate is allowed: w_{i-1} is released, and its law is the same for two data sets that
differ in batch i. Given w_{i-1}, step i is a Gaussian mechanism whose noise and sensitivity are both known numbers, of
ratio z whatever w_{i-1} is; given w_i, the later steps see batches on which the two data sets agree. So all iterates
together are (1/z)-GDP. It needs |w_{i-1}| of the released iterate: noise from any other statistic would itself leak.

The paper's text was at hand, the derivation stands on its own. With r = sqrt(d), the paper's noise lacks the outer
factor sqrt(d) of the gradient's norm: at d = 100 its (1, 1e-5)-DP is epsilon = 10.39, at w_0 = 0. The paper's triangle
inequality, 2r (r |w| + B) / m, is right but larger than needed wherever w is not 0.
"""

from __future__ import annotations

from fractions import Fraction
from typing import Any

from oracle.core import vocabulary
from oracle.core.algorithm import Values
from oracle.core.arrays import inflate, quotient
from oracle.core.attainment import truth
from oracle.core.enclosure import ball
from oracle.core.registry import Bound
from oracle.engines import gaussian_arrays as arrays
from oracle.engines import relu_gradient
from oracle.engines.gaussian_curve import CURVE, epsilon_of_mu, sigma_of


def _moves(values: Values) -> Fraction:
    total = relu_gradient.replaced(values.feature_norm, values.weight_norm, values.label_bound)
    return Fraction(total / values.batch_size)


def _fast_moves(xp: Any, values: Values) -> Any:
    total = relu_gradient.replaced(values.feature_norm, values.weight_norm, values.label_bound)
    return quotient(xp, inflate(total, 4.0), values.batch_size)


_SOURCE = ("nonconvex-nn/thm-7-privacy-gdp", "background/balle-wang")

_ASSUMES = (
    "replace", "disjoint-batches", "relu-updates", "bounded-features", "bounded-labels", "gaussian-noise", "past-noise",
    "independent-start",
)

epsilon = Bound(
    name="adaptive-batched-gd.epsilon",
    unit="epsilon",
    tightness=truth("the sensitivity of a step is attained, and one Gaussian release has this curve"),
    summary="least epsilon for which a pass over disjoint batches, noise following the iterate, is (epsilon, delta)-DP",
    formula=CURVE + r", \quad \mu = \frac{1}{z}, \quad \sigma_i = z\,\frac{r(r|w_{i-1}| + 2B)}{m}",
    parameters=(
        vocabulary.noise_over_sensitivity.above(0), vocabulary.delta.open(),
    ),
    assumes=_ASSUMES,
    neighbours="replace",
    threat_model="all_iterates",
    released="all_iterates",
    source=_SOURCE,
    validity="argued",
    certify=lambda v, width: epsilon_of_mu(lambda: ball(1 / v.noise_over_sensitivity), v.delta, width),
    vectorised=lambda xp, v: arrays.epsilon_upper(
        xp, quotient(xp, xp.ones_like(v.delta), v.noise_over_sensitivity), v.delta
    ),
    example={"noise_over_sensitivity": "4", "delta": "1e-5"},
)

sigma = Bound(
    name="adaptive-batched-gd.sigma",
    unit="sigma",
    tightness=truth("the sensitivity of a step is attained, and one Gaussian release has this curve"),
    summary="least noise of a step from an iterate of known norm for which the pass is (epsilon, delta)-DP",
    formula=CURVE + r", \quad \mu = \frac{r(r|w| + 2B)}{m\sigma}",
    parameters=(
        vocabulary.weight_norm,
        vocabulary.feature_norm,
        vocabulary.label_bound,
        vocabulary.batch_size,
        vocabulary.epsilon,
        vocabulary.delta.open(),
    ),
    assumes=_ASSUMES,
    neighbours="replace",
    threat_model="all_iterates",
    released="all_iterates",
    source=_SOURCE,
    validity="argued",
    certify=lambda v, width: sigma_of(_moves(v), v.epsilon, v.delta, width),
    vectorised=lambda xp, v: arrays.sigma_upper(xp, _fast_moves(xp, v), v.epsilon, v.delta),
    example={
        "weight_norm": "1", "feature_norm": "1", "label_bound": "1", "batch_size": "1000", "epsilon": "1",
        "delta": "1e-5",
    },
)
