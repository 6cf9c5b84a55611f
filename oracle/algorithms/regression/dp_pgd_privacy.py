r"""Full-batch projected gradient descent for ReLU regression on randomly projected data (document 002, Algorithm 7).

T steps of w <- Pi(w - eta (mean over the n records of (max(0, <w, Phi x>) - y) Phi x + N(0, sigma^2 I))), sigma =
noise_on_mean, with Pi the projection onto |w| <= 2W and Phi a Gaussian projection; hypotheses |x| <= 1, |y| <= B, w_1
with |w_1| <= 2W and, like the step sizes, independent of the data. No condition on the step sizes.

Where |Phi x| <= 2 for all records, a replaced record moves the mean gradient at a given w by at most
2 (2 * 2W + 2B) / n (`relu_gradient` at r = 2), which is attained:

    Delta = 4 (2W + B) / n,        mu = Delta sqrt(T) / sigma

by composition of Gaussian releases, each chosen after those before it: every noisy gradient may be released, and the
iterates, their average and its image under Phi^T are post-processing. What the projection costs is charged to delta,
see `projection`; at epsilon the curve is that of mu at what is left.

The paper's text was at hand, the derivation stands on its own. Its Delta = 4 (4W + B) / n, by the triangle inequality,
is up to twice as large.
"""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

from flint import arb

from oracle.bounds.gaussian.gaussian_composed import composed_mu
from oracle.core import vocabulary
from oracle.core.algorithm import Values
from oracle.core.arithmetic import enclose
from oracle.core.arrays import inflate, quotient
from oracle.core.attainment import one_sided
from oracle.core.enclosure import Enclosure, ball
from oracle.core.registry import Bound
from oracle.engines import gaussian_arrays as arrays
from oracle.engines import projection, relu_gradient
from oracle.engines.gaussian_curve import CURVE, epsilon_of_mu, sigma_of


def _moves(values: Values) -> Fraction:
    return Fraction(relu_gradient.replaced(2, 2 * values.weight_bound, values.label_bound) / values.dataset_size)


def _fast_moves(xp: Any, values: Values) -> Any:
    total = inflate(relu_gradient.replaced(2.0, 2.0 * values.weight_bound, values.label_bound), 4.0)
    return quotient(xp, total, values.dataset_size)


def _mu(values: Values) -> arb:
    return ball(_moves(values) / values.noise_on_mean) * ball(values.steps).sqrt()


def _sigma(values: Values, width: Fraction) -> Enclosure:
    """Delta sqrt(T) times the noise for a sensitivity of 1, which is asked for as finely as the product needs it."""
    largest = math.ceil(_moves(values)) * (math.isqrt(values.steps) + 1)

    def at(delta: Fraction, asked: Fraction) -> Enclosure:
        unit = sigma_of(Fraction(1), values.epsilon, delta, asked / 4 / largest)
        return enclose(lambda: ball(_moves(values)) * ball(values.steps).sqrt() * unit.ball, width=asked)

    return projection.at_remaining_delta(values, width, at)


_SETTING = (
    vocabulary.weight_bound,
    vocabulary.label_bound,
    projection.DATASET_SIZE,
    vocabulary.steps.at_least(1),
    projection.PROJECTED_DIMENSION,
)
_FORMULA = CURVE + r" \text{ at } " + projection.FORMULA + r", \quad \mu = \frac{4(2W + B)\sqrt{T}}{n\sigma}"
_SOURCE = ("nonconvex-nn/thm-6-privacy-repaired", projection.SOURCE, "background/gdp-composition")
_EXAMPLE = {
    "weight_bound": "1", "label_bound": "1", "dataset_size": "10000", "steps": "100", "projected_dimension": "100",
}

_ASSUMES = (
    "replace", "gaussian-noise", "full-batches", "projected-weights", "relu-updates", "gaussian-projection",
    "short-features", "bounded-labels", "independent-start",
)

epsilon = Bound(
    name="dp-pgd.epsilon",
    unit="epsilon",
    tightness=one_sided("what a random projection may cost is charged to delta in the worst case"),
    summary="least epsilon for which projected gradient descent for ReLU regression is (epsilon, delta)-DP",
    formula=_FORMULA,
    parameters=(
        vocabulary.noise_on_mean.above(0), *_SETTING, projection.DELTA,
    ),
    assumes=_ASSUMES,
    neighbours="replace",
    threat_model="all_iterates",
    released="all_iterates",
    source=_SOURCE,
    validity="argued",
    certify=lambda v, width: projection.at_remaining_delta(
        v, width, lambda delta, asked: epsilon_of_mu(lambda: _mu(v), delta, asked)
    ),
    vectorised=lambda xp, v: arrays.epsilon_upper(
        xp, composed_mu(xp, quotient(xp, _fast_moves(xp, v), v.noise_on_mean), v.steps),
        projection.remaining_delta(xp, v),
    ),
    example={"noise_on_mean": "0.05", **_EXAMPLE, "delta": "1e-5"},
)

sigma = Bound(
    name="dp-pgd.sigma",
    unit="sigma",
    tightness=one_sided("what a random projection may cost is charged to delta in the worst case"),
    summary="least noise on the mean gradient for which projected gradient descent is (epsilon, delta)-DP",
    formula=_FORMULA,
    parameters=(*_SETTING, vocabulary.epsilon, projection.DELTA),
    assumes=_ASSUMES,
    neighbours="replace",
    threat_model="all_iterates",
    released="all_iterates",
    source=_SOURCE,
    validity="argued",
    certify=_sigma,
    vectorised=lambda xp, v: arrays.sigma_upper(
        xp, composed_mu(xp, _fast_moves(xp, v), v.steps), v.epsilon, projection.remaining_delta(xp, v)
    ),
    example={**_EXAMPLE, "epsilon": "1", "delta": "1e-5"},
)
