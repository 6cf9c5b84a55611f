r"""Phased SGD behind a fixed feature map: two-layer networks by the kernel trick (document 002, Algorithm 9).

The algorithm is `phased_sgd` on psi(x) for x, with exact gradients (link(<w, psi(x)>) - y) psi(x). Hypotheses: link and
label lie in [0, 1]; the link rises and is Lipschitz with constant G = link_lipschitz; psi does not depend on the data
and |psi(x)| <= r = feature_norm for every possible record. A gradient is at most r long, so a replaced record moves a
step by at most 2r eta_i (attained: a constant link 1, the label 0, psi against -psi), and steps do not expand if eta_1
G r^2 <= 2:

    mu = 2r / sigma,    eta G r^2 <= 8;        projected:    mu = 4r / sigma,    eta G r^2 <= 2,

with eta = base_learning_rate and sigma = noise_over_step, the latter at what the projection of psi(x)/r leaves of
delta. The paper takes r = 1 and runs its Algorithm 2 with B = 1, which is twice the noise that is needed: labels in [0,
1] are labels in [-1/2, 1/2] but for a shift of label and link alike, that is B = 1/2. And r = 1 has to be earned: the
kernel <x, x'>^0 + ... + <x, x'>^m for |x| <= 1 has r^2 = m + 1 unless it is divided by m + 1.

The paper's text was at hand; the derivation is that of `phased_sgd` and stands on its own.
"""

from __future__ import annotations

from fractions import Fraction
from typing import Any

from oracle.algorithms.phased import phased_sgd_privacy as phased
from oracle.core import vocabulary
from oracle.core.algorithm import Values
from oracle.core.arrays import inflate
from oracle.core.attainment import one_sided, truth
from oracle.core.domain import shown
from oracle.core.registry import Bound
from oracle.engines import projection
from oracle.engines.gaussian_curve import CURVE


def sensitivity(values: Values, *, projected: bool) -> Fraction:
    """The most by which the average of a phase moves, over its step size."""
    r = values.feature_norm
    reason = f"link_lipschitz = {shown(values.link_lipschitz)} and feature_norm = {shown(r)}"
    phased.check_step(values, projected=projected, curvature=values.link_lipschitz * r * r, reason=reason)
    return Fraction((4 if projected else 2) * r)


def _fast_sensitivity(xp: Any, values: Values, *, projected: bool) -> Any:
    r = values.feature_norm
    curvature = inflate(values.link_lipschitz * r * r, 2.0)
    return (4.0 if projected else 2.0) * r * phased.allowed(xp, values, projected=projected, curvature=curvature)


_FEATURE_NORM = vocabulary.feature_norm
_SETTING = (_FEATURE_NORM, phased.LEARNING_RATE, phased.SMOOTHNESS)
_PROJECTED = (*_SETTING, projection.DATASET_SIZE, projection.PROJECTED_DIMENSION)
_FORMULA = CURVE + r", \quad \mu = \frac{2r}{\sigma}, \quad \eta G r^2 \le 8"
_PROJECTED_FORMULA = (
    CURVE + r" \text{ at } " + projection.FORMULA + r", \quad \mu = \frac{4r}{\sigma}, \quad \eta G r^2 \le 2"
)
_SOURCE = ("nonconvex-nn/thm-8-privacy-repaired", "background/balle-wang")
_EXAMPLE = {"feature_norm": "1", "base_learning_rate": "0.1", "link_lipschitz": "1"}
_PROJECTED_EXAMPLE = {**_EXAMPLE, "dataset_size": "1000", "projected_dimension": "100"}

_ASSUMES = (
    "replace", "phase-averages", "disjoint-phases", "gaussian-noise", "fixed-features", "bounded-features",
    "unit-labels", "rising-link", "lipschitz-link", "independent-start",
)

epsilon = Bound(
    name="two-layer.epsilon",
    unit="epsilon",
    tightness=truth("a constant link 1, the label 0 and psi against -psi move a phase by as much"),
    summary="least epsilon for which phased SGD behind a feature map is (epsilon, delta)-DP",
    formula=_FORMULA,
    parameters=(phased.SIGMA, *_SETTING, vocabulary.delta.open()),
    assumes=_ASSUMES,
    neighbours="replace",
    threat_model="last_iterate",
    released="average_iterate",
    source=_SOURCE,
    validity="argued",
    certify=lambda v, width: phased.epsilon_bound(v, width, sensitivity(v, projected=False), projected=False),
    vectorised=lambda xp, v: phased.fast_epsilon(
        xp, v, _fast_sensitivity(xp, v, projected=False), projected=False
    ),
    example={"noise_over_step": "10", **_EXAMPLE, "delta": "1e-5"},
)

sigma = Bound(
    name="two-layer.sigma",
    unit="sigma",
    tightness=truth("a constant link 1, the label 0 and psi against -psi move a phase by as much"),
    summary="least noise over the step size for which phased SGD behind a feature map is (epsilon, delta)-DP",
    formula=_FORMULA,
    parameters=(*_SETTING, vocabulary.epsilon, vocabulary.delta.open()),
    assumes=_ASSUMES,
    neighbours="replace",
    threat_model="last_iterate",
    released="average_iterate",
    source=_SOURCE,
    validity="argued",
    certify=lambda v, width: phased.sigma_bound(v, width, sensitivity(v, projected=False), projected=False),
    vectorised=lambda xp, v: phased.fast_sigma(xp, v, _fast_sensitivity(xp, v, projected=False), projected=False),
    example={**_EXAMPLE, "epsilon": "1", "delta": "1e-5"},
)

projected_epsilon = Bound(
    name="two-layer-projected.epsilon",
    unit="epsilon",
    tightness=one_sided("what a random projection may cost is charged to delta in the worst case"),
    summary="least epsilon for which phased SGD on randomly projected features is (epsilon, delta)-DP",
    formula=_PROJECTED_FORMULA,
    parameters=(phased.SIGMA, *_PROJECTED, projection.DELTA),
    assumes=(*_ASSUMES, "gaussian-projection"),
    neighbours="replace",
    threat_model="last_iterate",
    released="average_iterate",
    source=(*_SOURCE, projection.SOURCE),
    validity="argued",
    certify=lambda v, width: phased.epsilon_bound(v, width, sensitivity(v, projected=True), projected=True),
    vectorised=lambda xp, v: phased.fast_epsilon(xp, v, _fast_sensitivity(xp, v, projected=True), projected=True),
    example={"noise_over_step": "20", **_PROJECTED_EXAMPLE, "delta": "1e-5"},
)

projected_sigma = Bound(
    name="two-layer-projected.sigma",
    unit="sigma",
    tightness=one_sided("what a random projection may cost is charged to delta in the worst case"),
    summary="least noise over the step size for which phased SGD on projected features is (epsilon, delta)-DP",
    formula=_PROJECTED_FORMULA,
    parameters=(*_PROJECTED, vocabulary.epsilon, projection.DELTA),
    assumes=(*_ASSUMES, "gaussian-projection"),
    neighbours="replace",
    threat_model="last_iterate",
    released="average_iterate",
    source=(*_SOURCE, projection.SOURCE),
    validity="argued",
    certify=lambda v, width: phased.sigma_bound(v, width, sensitivity(v, projected=True), projected=True),
    vectorised=lambda xp, v: phased.fast_sigma(xp, v, _fast_sensitivity(xp, v, projected=True), projected=True),
    example={**_PROJECTED_EXAMPLE, "epsilon": "1", "delta": "1e-5"},
)
