"""Adaptive DP batched gradient descent for ReLU regression: the literal reference (document 002, Algorithm 8).

The records are cut into disjoint batches D_1, ..., D_T of m, in the order given; from w_0 = 0,

    w_i = w_{i-1} - eta ( (1/m) sum_{D_i} (max(0, <w_{i-1}, x>) - y) x + zeta_i ),    zeta_i ~ N(0, sigma_i^2 I_d),

where sigma_i follows the length of the iterate that the step starts from; w_T is released. With |x| <= r, |y| <= B,
noise_formula is

    exact             sigma_i = z r (r |w_{i-1}| + 2B) / m       z times the sensitivity of the step
    printed-variance  sigma_i = 2 z (r |w_{i-1}| + B) / m        the text's sigma_{i-1}, taken for a variance
    printed-std       sigma_i = (2 z (r |w_{i-1}| + B) / m)^2    the text's sigma_{i-1}, taken for what it says

What is fixed here. The text has r = sqrt(d) and prints 8 (r |w| + B)^2 log(1.25/delta) / (m epsilon)^2, which is the
last line at its z = sqrt(2 log(1.25/delta)) / epsilon, and promises (epsilon, delta). That promise is REFUTED in either
reading: a gradient has norm up to r (r |w| + B), and the outer r is missing. The printed noises are kept for the claims
about them; their guarantee is not the text's, but what they give. In multiples of the sensitivity they are least at
w = 0, where every run starts, namely z / r and 2 z^2 B / (m r): for u = r |w| >= 0,

    2 (u + B) / (u + 2B)  and  (u + B)^2 / (u + 2B)  grow in u, from 1 and from B/2.

r is a parameter, since no law satisfies the text's hypotheses with r = sqrt(d) (isotropic, with a density). The text's
m = n/T is an integer here: a batch size that does not divide n is refused, no record is dropped. Its "eta <= 1/16" is
for utility, and so are its T; the noise grows with the iterate, which may run away from small batches.

Nothing is clipped: |x| <= r and |y| <= B are hypotheses, and data beyond them are refused. Entries of an iterate that
runs away are cut to `FARTHEST`, after the noise and so at no cost.
"""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np

from oracle.algorithms.regression import relu_regression
from oracle.algorithms.shared import glm
from oracle.algorithms.shared.conditions import DISJOINT_BATCHES, LABELS_BOUNDED, PLANNED, REPLACE
from oracle.algorithms.shared.glm import Array
from oracle.core import records, vocabulary
from oracle.core.algorithm import Algorithm, Condition, Guarantee, Values, by_design, equals, given, said, towards
from oracle.core.records import FARTHEST
from oracle.core.tape import Tape


def check(features: Array, labels: Array, config: Values) -> None:
    """A DomainError unless the data meet the hypotheses of the guarantee."""
    relu_regression.check_data(
        features, labels, feature_norm=config.feature_norm, label_bound=config.label_bound
    )
    glm.batches(config.batch_size, features.shape[0])


def noise_std(config: Values, weight_norm: float) -> float:
    """The standard deviation of the noise of a step from an iterate of that length."""
    z, r, bound = (float(v) for v in (config.noise_over_sensitivity, config.feature_norm, config.label_bound))
    size = float(config.batch_size)
    if config.noise_formula == "exact":
        return z * r * (r * weight_norm + 2 * bound) / size
    printed = 2 * z * (r * weight_norm + bound) / size
    return printed if config.noise_formula == "printed-variance" else printed * printed


def train(features: Array, labels: Array, config: Values, tape: Tape, recorder: Any = None) -> Array:
    """The last iterate of one model: the text of the algorithm, sample by sample."""
    check(features, labels, config)
    eta = float(config.learning_rate)
    records, dimension = features.shape
    w = np.zeros(dimension)
    for step, start in enumerate(range(0, records, config.batch_size)):
        total = np.zeros(dimension)
        for i in range(start, start + config.batch_size):
            gradient = relu_regression.gradient(w, features[i], float(labels[i]))
            total += gradient
            if recorder is not None:
                recorder("sample", step=step, sample=i, norm=float(np.linalg.norm(gradient)))
        std = noise_std(config, float(np.linalg.norm(w)))
        if recorder is not None:
            recorder("update", step=step, clipped_sum=total.copy(), noise_std=std)
        w = w - eta * (total / config.batch_size + std * tape.normal("noise", step, dimension)[0])
        w = np.clip(w, -FARTHEST[False], FARTHEST[False])
    return w


def _from(config: Values, length: int) -> tuple[Fraction, Fraction]:
    """The largest gradient of a step from weights of that length, and the noise times what it is divided by."""
    z, r, bound = config.noise_over_sensitivity, config.feature_norm, config.label_bound
    if config.noise_formula == "exact":
        noise = z * r * (r * length + 2 * bound)
    else:
        noise = 2 * z * (r * length + bound)
        noise = noise if config.noise_formula == "printed-variance" else noise**2
    return r * (r * length + bound), noise


def _first(config: Values, count: int) -> float:
    """How far the first step may carry the weights (`records`): all others follow how far they have come."""
    gradient, noise = _from(config, 0)
    return records.reach(
        steps=1, learning_rate=config.learning_rate, gradient=gradient, noise=noise / config.batch_size,
    )


def _step(config: Values, room: int) -> float:
    """The largest number that a step from there computes, before the learning rate or after."""
    gradient, noise = _from(config, 2**room)
    rate = max(Fraction(1), config.learning_rate)
    return max(records.log2(rate * (gradient + records.LARGEST_DRAW * noise)), records.log2(config.feature_norm**2))


def _parameters(config: Values) -> dict[str, Fraction] | None:
    """The least noise of a step over its sensitivity, which is all that adaptive-batched-gd.epsilon asks for."""
    z, r, bound = config.noise_over_sensitivity, config.feature_norm, config.label_bound
    if config.noise_formula == "exact":
        return {"noise_over_sensitivity": z}
    if r is None or bound is None:
        return None
    least = z / r if config.noise_formula == "printed-variance" else 2 * z**2 * bound / (config.batch_size * r)
    return {"noise_over_sensitivity": Fraction(least)}


_DATA = (
    *towards("disjoint-batches", DISJOINT_BATCHES), said("disjoint-batches", "disjoint"),
    said("bounded-features", "features_bounded"), LABELS_BOUNDED, *by_design("gaussian-noise", "relu-updates"),
)
_PAST = said("past-noise", "released_norm")
_RISK = (
    *_DATA, _PAST, Condition(
        "past-noise", lambda config: bool(config.noise_formula == "exact"),
        "its factor is noise_over_sensitivity: noise_formula is exact",
    ),
    equals("judged-last", "released", "last_iterate"), said("independent-records", "independent_records"),
    said("isotropic-features", "isotropic"), given("bounded-target", "target_norm"), given("best-risk", "optimal_risk"),
    *by_design("population-risk", "start-at-zero"),
)


def _risk(config: Values, *asked: str) -> dict[str, Any] | None:
    """The parameters of the risk: a step a batch."""
    names = (
        "target_norm", "optimal_risk", "label_bound", "feature_norm", "dimension", "batch_size", "learning_rate",
        "noise_over_sensitivity", *asked,
    )
    values = {name: getattr(config, name) for name in names}
    return None if None in values.values() else {**values, "steps": config.dataset_size // config.batch_size}


adaptive_batched_gd = Algorithm(
    name="adaptive-batched-gd",
    document="002, Algorithm 8",
    summary="one pass of ReLU regression over disjoint batches, noise following the iterate; as printed: REFUTED",
    parameters=(vocabulary.noise_formula, vocabulary.noise_over_sensitivity.above(0), vocabulary.batch_size),
    training=(vocabulary.learning_rate, vocabulary.feature_norm, vocabulary.label_bound),
    setting=PLANNED,
    stated=(
        vocabulary.disjoint, vocabulary.released_norm, vocabulary.features_bounded, vocabulary.labels_bounded,
        vocabulary.independent_records, vocabulary.isotropic, vocabulary.symmetric, vocabulary.target_norm,
        vocabulary.optimal_risk, vocabulary.dimension, vocabulary.strong_convexity.at_most(1),
    ),
    trained=lambda config: {
        "disjoint": "true", "released_norm": "true", "features_bounded": "true", "labels_bounded": "true",
    },
    released="last_iterate",
    neighbours="replace",
    guarantees=(
        Guarantee(
            "adaptive-batched-gd.epsilon", "one step sees each record: all iterates may be seen", _parameters,
            (REPLACE, *_DATA, _PAST, *by_design("independent-start")),
        ),
    ),
    risks=(
        Guarantee(
            "adaptive-batched-gd.risk", "the last iterate, in expectation",
            lambda config: _risk(config, "strong_convexity"), (*_RISK, given("monotone-surrogate", "strong_convexity")),
        ),
        Guarantee(
            "adaptive-batched-gd-symmetric.risk", "the last iterate, in expectation, for symmetric features", _risk,
            (*_RISK, said("symmetric-features", "symmetric")),
        ),
    ),
    check=check,
    reach=_first,
    step=_step,
    reference=train,
    batched="oracle.algorithms.regression.torch_adaptive_batched_gd:twin",
    source=("nonconvex-nn/thm-7-privacy", "nonconvex-nn/grad-bound-prose"),
)
