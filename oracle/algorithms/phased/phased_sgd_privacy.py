r"""Phased SGD for generalised linear models with a bounded link (document 002, Algorithms 2, 3, 5 and 6).

Phase i = 1, 2, ... takes n_i = floor(n / 2^i) records that no other phase sees, runs one pass of

    w <- w - eta_i g,     g = h(<w, x>) x,     eta_i = base_learning_rate / 4^i,

from the last release, and releases the average of its iterates plus N(0, (sigma eta_i)^2 I), sigma = noise_over_step.
Here h is the derivative of a convex scalar loss: the link minus the label (Algorithm 2), or that of its Moreau envelope
(Algorithm 5), known up to an error of norm oracle_error on g. Hypotheses: |x| <= 1; link and label in [-B, B], so |h|
<= 2B; h rises, with slope at most G = link_lipschitz (of the link, or beta of the envelope, for which the link need not
be continuous); records are assigned to phases without looking at them; w_0 does not depend on the data.

Sensitivity, a record replaced. A step on one record, with s in [0, G] the slope of h between two iterates that
differ by u, maps u to u - eta_i s <u, x> x, of squared norm |u|^2 - eta_i s <u, x>^2 (2 - eta_i s |x|^2): no longer, if
eta_i G |x|^2 <= 2. The step on the replaced record moves the two runs apart by at most 4B eta_i, and inexact
gradients by another 2 oracle_error eta_i a step: after j steps, by eta_i (4B + 2 j oracle_error). Averaged over
w^2, ..., w^{n_i + 1}, with the first record replaced,

    |difference| <= eta_i (4B + oracle_error (n_i + 1)),

which is attained for exact gradients (a constant link B, the label -B, x against -x). The average over w^1, ...,
w^{n_i} that the paper prints ignores the last record and moves by less: eta_i (n_i - 1) (4B/n_i + oracle_error).

Privacy. One phase sees the replaced record: what was released before has the same law, its own release is a Gaussian
mechanism whatever was released before, and the rest is post-processing. So the curve is the Gaussian one at
mu = (4B + oracle_error (n_1 + 1)) / sigma, n_1 = floor(n / 2) being the longest phase. Phase 1 also has the largest
step: base_learning_rate / 4 must not exceed 2 / G.

Projected (Algorithms 3 and 6): the same on Phi x. Where |Phi x| <= 2 for all records, |g| <= 4B, the sensitivity is
eta_i (8B + oracle_error (n_i + 1)) and the step must satisfy 4 G base_learning_rate / 4 <= 2; the rest is charged
to delta, see `projection`. oracle_error bounds the error of g on that event.

The paper's text was at hand; the sensitivities are derived anew. Its noise_over_step, 8B sqrt(log(1/delta))/epsilon, is
enough for epsilon <= 1 and delta <= 0.8, not for every delta < 1, and only with the condition on the step, which its
Theorem 1 leaves out.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from typing import Any

from oracle.core import vocabulary
from oracle.core.algorithm import Values
from oracle.core.arrays import UNIT, inflate, quotient
from oracle.core.attainment import bracketed, one_sided
from oracle.core.domain import shown
from oracle.core.enclosure import Enclosure, ball
from oracle.core.errors import DomainError
from oracle.core.registry import Bound
from oracle.engines import gaussian_arrays as arrays
from oracle.engines import projection
from oracle.engines.gaussian_curve import CURVE, epsilon_of_mu, sigma_of

LARGEST_STEP = {False: 8, True: 2}
"""Of base_learning_rate * link_lipschitz: plain, and with points stretched to length 2."""


def check_step(values: Values, *, projected: bool, curvature: Fraction, reason: str) -> None:
    """Refuse a learning rate at which a step of the first phase could move two runs apart."""
    limit = LARGEST_STEP[projected]
    if values.base_learning_rate * curvature > limit:
        raise DomainError(
            f"base_learning_rate = {shown(values.base_learning_rate)} is outside its domain: a real number in"
            f" (0, {shown(limit / curvature)}] for {reason}; beyond, steps may move two runs apart"
        )


def allowed(xp: Any, values: Values, *, projected: bool, curvature: Any) -> Any:
    """1 where the learning rate is certainly allowed, NaN (for the reference) elsewhere; curvature is rounded up."""
    return xp.where(values.base_learning_rate * curvature <= LARGEST_STEP[projected] * (1.0 - 4 * UNIT), 1.0, math.nan)


def sensitivity(values: Values, *, projected: bool) -> Fraction:
    """The most by which the average of a phase moves, over its step size."""
    reason = f"link_lipschitz = {shown(values.link_lipschitz)}"
    check_step(values, projected=projected, curvature=values.link_lipschitz, reason=reason)
    gradient = (8 if projected else 4) * values.label_bound
    return Fraction(gradient + values.oracle_error * (values.dataset_size // 2 + 1))


def _fast_sensitivity(xp: Any, values: Values, *, projected: bool) -> Any:
    gradient = (8.0 if projected else 4.0) * values.label_bound
    result = inflate(gradient + values.oracle_error * (xp.floor(0.5 * values.dataset_size) + 1.0), 4.0)
    return result * allowed(xp, values, projected=projected, curvature=values.link_lipschitz)


def epsilon_bound(values: Values, width: Fraction, moves: Fraction, *, projected: bool) -> Enclosure:
    """epsilon of one Gaussian release that moves by `moves`, at delta or at what a projection leaves of it."""

    def at(delta: Fraction, asked: Fraction) -> Enclosure:
        return epsilon_of_mu(lambda: ball(moves / values.noise_over_step), delta, asked)

    return projection.at_remaining_delta(values, width, at) if projected else at(values.delta, width)


def sigma_bound(values: Values, width: Fraction, moves: Fraction, *, projected: bool) -> Enclosure:
    """The noise for one release that moves by `moves`, at delta or at what a projection leaves of it."""

    def at(delta: Fraction, asked: Fraction) -> Enclosure:
        return sigma_of(moves, values.epsilon, delta, asked)

    return projection.at_remaining_delta(values, width, at) if projected else at(values.delta, width)


def fast_epsilon(xp: Any, values: Values, moves: Any, *, projected: bool) -> Any:
    """The same on arrays, for a sensitivity rounded up."""
    delta = projection.remaining_delta(xp, values) if projected else values.delta
    return arrays.epsilon_upper(xp, quotient(xp, moves, values.noise_over_step), delta)


def fast_sigma(xp: Any, values: Values, moves: Any, *, projected: bool) -> Any:
    """The same on arrays, for a sensitivity rounded up."""
    delta = projection.remaining_delta(xp, values) if projected else values.delta
    return arrays.sigma_upper(xp, moves, values.epsilon, delta)


def _exact(values: Values, bound: Callable[..., Enclosure], width: Fraction) -> Enclosure:
    """What exact gradients attain, 4B; without a phase nothing is released."""
    if values.dataset_size < 2:
        return Enclosure.exactly(0)
    sensitivity(values, projected=False)  # which refuses a step that is too long
    return bound(values, width, 4 * values.label_bound, projected=False)


SIGMA = vocabulary.noise_over_step
LEARNING_RATE = vocabulary.base_learning_rate
SMOOTHNESS = vocabulary.link_lipschitz
_LABEL_BOUND = vocabulary.label_bound
_ORACLE_ERROR = vocabulary.oracle_error
_SETTING = (_LABEL_BOUND, LEARNING_RATE, SMOOTHNESS, projection.DATASET_SIZE, _ORACLE_ERROR)
_PROJECTED = (*_SETTING, projection.PROJECTED_DIMENSION)
_FORMULA = r", \quad \mu = \frac{4B + \gamma(\lfloor n/2\rfloor + 1)}{\sigma}, \quad \eta\beta \le 8"
_PROJECTED_FORMULA = (
    r" \text{ at } " + projection.FORMULA
    + r", \quad \mu = \frac{8B + \gamma(\lfloor n/2\rfloor + 1)}{\sigma}, \quad \eta\beta \le 2"
)
_EXAMPLE = {
    "label_bound": "1", "base_learning_rate": "0.1", "link_lipschitz": "1", "dataset_size": "1000", "oracle_error": "0",
}
_PROJECTED_EXAMPLE = {**_EXAMPLE, "projected_dimension": "100"}


_ASSUMES = (
    "replace", "phase-averages", "disjoint-phases", "gaussian-noise", "short-features", "bounded-labels", "rising-link",
    "lipschitz-link", "independent-start",
)

epsilon = Bound(
    name="phased-sgd.epsilon",
    unit="epsilon",
    tightness=bracketed(
        "a constant link B, the label -B and x against -x, exact gradients",
        lambda v, width: _exact(v, epsilon_bound, width),
    ),
    summary="least epsilon for which phased SGD, the noisy average of each phase released, is (epsilon, delta)-DP",
    formula=CURVE + _FORMULA,
    parameters=(SIGMA, *_SETTING, vocabulary.delta.open()),
    assumes=_ASSUMES,
    neighbours="replace",
    threat_model="last_iterate",
    released="average_iterate",
    source=("nonconvex-nn/thm-1-privacy-repaired", "nonconvex-nn/thm-4-privacy-repaired", "background/balle-wang"),
    validity="argued",
    certify=lambda v, width: epsilon_bound(v, width, sensitivity(v, projected=False), projected=False),
    vectorised=lambda xp, v: fast_epsilon(xp, v, _fast_sensitivity(xp, v, projected=False), projected=False),
    example={"noise_over_step": "20", **_EXAMPLE, "delta": "1e-5"},
)

sigma = Bound(
    name="phased-sgd.sigma",
    unit="sigma",
    tightness=bracketed(
        "a constant link B, the label -B and x against -x, exact gradients",
        lambda v, width: _exact(v, sigma_bound, width),
    ),
    summary="least noise over the step size for which phased SGD is (epsilon, delta)-DP",
    formula=CURVE + _FORMULA,
    parameters=(*_SETTING, vocabulary.epsilon, vocabulary.delta.open()),
    assumes=_ASSUMES,
    neighbours="replace",
    threat_model="last_iterate",
    released="average_iterate",
    source=("nonconvex-nn/thm-1-privacy-repaired", "nonconvex-nn/thm-4-privacy-repaired", "background/balle-wang"),
    validity="argued",
    certify=lambda v, width: sigma_bound(v, width, sensitivity(v, projected=False), projected=False),
    vectorised=lambda xp, v: fast_sigma(xp, v, _fast_sensitivity(xp, v, projected=False), projected=False),
    example={**_EXAMPLE, "epsilon": "1", "delta": "1e-5"},
)

projected_epsilon = Bound(
    name="phased-sgd-projected.epsilon",
    unit="epsilon",
    tightness=one_sided("what a random projection may cost is charged to delta in the worst case"),
    summary="least epsilon for which phased SGD on randomly projected records is (epsilon, delta)-DP",
    formula=CURVE + _PROJECTED_FORMULA,
    parameters=(SIGMA, *_PROJECTED, projection.DELTA),
    assumes=(*_ASSUMES, "gaussian-projection"),
    neighbours="replace",
    threat_model="last_iterate",
    released="average_iterate",
    source=(
        "nonconvex-nn/thm-2-privacy-repaired", "nonconvex-nn/thm-5-privacy-repaired", projection.SOURCE,
        "background/balle-wang",
    ),
    validity="argued",
    certify=lambda v, width: epsilon_bound(v, width, sensitivity(v, projected=True), projected=True),
    vectorised=lambda xp, v: fast_epsilon(xp, v, _fast_sensitivity(xp, v, projected=True), projected=True),
    example={"noise_over_step": "40", **_PROJECTED_EXAMPLE, "delta": "1e-5"},
)

projected_sigma = Bound(
    name="phased-sgd-projected.sigma",
    unit="sigma",
    tightness=one_sided("what a random projection may cost is charged to delta in the worst case"),
    summary="least noise over the step size for which phased SGD on projected records is (epsilon, delta)-DP",
    formula=CURVE + _PROJECTED_FORMULA,
    parameters=(*_PROJECTED, vocabulary.epsilon, projection.DELTA),
    assumes=(*_ASSUMES, "gaussian-projection"),
    neighbours="replace",
    threat_model="last_iterate",
    released="average_iterate",
    source=(
        "nonconvex-nn/thm-2-privacy-repaired", "nonconvex-nn/thm-5-privacy-repaired", projection.SOURCE,
        "background/balle-wang",
    ),
    validity="argued",
    certify=lambda v, width: sigma_bound(v, width, sensitivity(v, projected=True), projected=True),
    vectorised=lambda xp, v: fast_sigma(xp, v, _fast_sensitivity(xp, v, projected=True), projected=True),
    example={**_PROJECTED_EXAMPLE, "epsilon": "1", "delta": "1e-5"},
)
