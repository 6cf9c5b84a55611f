r"""Phased SGD on multinomial features, plain and projected: the literal reference (document 002, Algorithm 9).

The records become (psi(x), y), psi of `multinomial`, and Algorithm 2 (or 3, projected) of `phased_sgd` runs on them
from w = 0 with the gradients

    (link(<w, psi(x)>) - y) psi(x)

of the surrogate loss int_0^{<w, psi(x)>} (link(z) - y) dz. Algorithm 9 asks `choose` which of the two to run. Links,
the output activation, rise and lie in [0, 1] as labels do:

    sigmoid   1 / (1 + e^{-z}), slope at most 1/4
    clip      min(max(z, 0), 1), slope at most 1
    constant  1: the worst case; its steps are affine, and plain releases are exactly Gaussian

What is fixed here, beside what `phased_sgd` fixes. The kernel is divided by m + 1, so that |psi| <= 1 is true. The
text's noise is that of labels in [-1, 1] (B = 1): it is a parameter here, and the guarantee knows that labels and link
in [0, 1] need half as much. Nothing is proved of steps that could expand, which the text's theorem leaves out.
"""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np

from oracle.algorithms.kernels import multinomial
from oracle.algorithms.phased import phased_sgd
from oracle.algorithms.phased.phased_sgd_privacy import LEARNING_RATE, SIGMA
from oracle.algorithms.shared import glm
from oracle.algorithms.shared.conditions import GAUSSIAN_PROJECTION, PLANNED
from oracle.algorithms.shared.glm import Array
from oracle.core import vocabulary
from oracle.core.algorithm import Algorithm, Condition, Guarantee, Values, by_design, given, said
from oracle.core.domain import Number, positive, positive_integer
from oracle.core.errors import DomainError
from oracle.core.tape import Tape
from oracle.engines.projection import PROJECTED_DIMENSION

SLOPE = {"sigmoid": Fraction(1, 4), "clip": Fraction(1), "constant": Fraction(0)}
"""The Lipschitz constants of the links."""


def check(features: Array, labels: Array, config: Values) -> None:
    """A DomainError unless these are records in the unit ball, labels in [0, 1], and features that can be formed."""
    check_records(features, labels)
    multinomial.check_size(features.shape[1], config.degree)


def check_records(features: Array, labels: Array) -> None:
    """A DomainError unless these are records in the unit ball, enough for a phase, with labels in [0, 1]."""
    glm.check_data(features, labels, feature_norm=Fraction(1))
    phased_sgd.sizes(features.shape[0])
    if labels.min() < 0 or labels.max() > 1:
        raise DomainError(f"labels from {labels.min()} to {labels.max()} leave [0, 1]")


def choose(*, records: int, epsilon: Number, theta: Number) -> str:
    """Line 1 of Algorithm 9: which algorithm to run for features of expected rank theta.

    sqrt(theta)/(n epsilon) < (n epsilon)^{-1/2}, the document's two rates, if and only if n epsilon > theta.
    """
    budget = positive_integer("records").rational(records) * vocabulary.epsilon.above(0).rational(epsilon)
    return "two-layer" if budget > positive("theta").rational(theta) else "two-layer-projected"


def link(name: str, score: float) -> float:
    """The link at a score."""
    if name == "constant":
        return 1.0
    if name == "clip":
        return min(max(score, 0.0), 1.0)
    return float(0.5 * (1.0 + np.tanh(0.5 * score)))


def from_zero(config: Values) -> Values:
    """The configuration with the start of phased SGD: w_0 = 0."""
    return Values(**vars(config), initial_radius=0)


def train(features: Array, labels: Array, config: Values, tape: Tape, recorder: Any = None) -> Array:
    """The last release of one model, a weight of every feature."""
    check(features, labels, config)
    psi = np.array([multinomial.features(x, config.degree) for x in features])
    return phased_sgd.descend(
        psi, labels, from_zero(config), tape, lambda score, label: link(config.link, score) - label, recorder,
    )


def train_projected(features: Array, labels: Array, config: Values, tape: Tape, recorder: Any = None) -> Array:
    """The same on projected features, lifted back to a weight of every feature."""
    check(features, labels, config)
    psi = np.array([multinomial.features(x, config.degree) for x in features])
    return phased_sgd.descend_projected(
        psi, labels, from_zero(config), tape, lambda score, label: link(config.link, score) - label, recorder,
    )


def _facts(config: Values) -> dict[str, Any]:
    """What is known of a named link."""
    return {} if config.link is None else {"link_lipschitz": SLOPE[config.link], "link_rises": "true"}


_TRAINED = {"disjoint": "true", "unit_labels": "true", "feature_norm": 1}
"""What our own training makes true: `check` refuses other records, and the divided kernel is at most 1 on them."""


def _curvature(config: Values) -> Fraction | None:
    return None if config.link_lipschitz is None else Fraction(config.link_lipschitz * config.feature_norm**2)


def _is_lipschitz(config: Values) -> bool | None:
    if config.link_lipschitz is None:
        return None
    return bool(config.link is None or config.link_lipschitz >= SLOPE[config.link])


def _conditions(*, projected: bool) -> tuple[Condition, ...]:
    return (
        *phased_sgd.IN_PHASES, said("unit-labels", "unit_labels"), given("bounded-features", "feature_norm"),
        *by_design("fixed-features"), *((GAUSSIAN_PROJECTION,) if projected else ()),
        Condition("lipschitz-link", _is_lipschitz),
        phased_sgd.no_expansion("link_lipschitz * feature_norm^2", _curvature, projected=projected),
    )


def _parameters(config: Values) -> dict[str, Any] | None:
    """The parameters of two-layer.epsilon."""
    if config.link_lipschitz is None:
        return None
    names = ("noise_over_step", "feature_norm", "base_learning_rate", "link_lipschitz")
    return {name: getattr(config, name) for name in names}


def _projected_parameters(config: Values) -> dict[str, Any] | None:
    """The parameters of two-layer-projected.epsilon."""
    plain = _parameters(config)
    if plain is None:
        return None
    return {**plain, "dataset_size": config.dataset_size, "projected_dimension": config.projected_dimension}


_KEYS = (LEARNING_RATE, SIGMA)
_TRAINING = (vocabulary.link.choosing(*SLOPE), vocabulary.degree)
_SETTING = (*PLANNED, vocabulary.feature_norm)
_STATED = (vocabulary.link_lipschitz, vocabulary.link_rises, vocabulary.disjoint, vocabulary.unit_labels)

two_layer = Algorithm(
    name="two-layer",
    document="002, Algorithm 9 (with 2)",
    summary="phased SGD on the features of a multinomial kernel: two-layer networks made convex",
    parameters=_KEYS,
    training=_TRAINING,
    setting=_SETTING,
    stated=_STATED,
    facts=_facts,
    trained=lambda config: _TRAINED,
    released="average_iterate",
    neighbours="replace",
    guarantees=(
        Guarantee(
            "two-layer.epsilon", "one noisy average sees each record", _parameters, _conditions(projected=False),
        ),
    ),
    check=check,
    reach=phased_sgd.reach,
    reference=train,
    batched="oracle.algorithms.kernels.torch_two_layer:twin",
    gaussian_release=lambda config: bool(config.link == "constant"),
    source=("nonconvex-nn/thm-8-privacy-repaired",),
)

two_layer_projected = Algorithm(
    name="two-layer-projected",
    document="002, Algorithm 9 (with 3)",
    summary="phased SGD on randomly projected features of a multinomial kernel",
    parameters=(*_KEYS, PROJECTED_DIMENSION),
    training=_TRAINING,
    setting=_SETTING,
    stated=(*_STATED, vocabulary.gaussian_projection),
    facts=_facts,
    trained=lambda config: {**_TRAINED, "gaussian_projection": "true"},
    released="average_iterate",
    neighbours="replace",
    guarantees=(
        Guarantee(
            "two-layer-projected.epsilon", "one noisy average sees each record; long projections are charged to delta",
            _projected_parameters, _conditions(projected=True),
        ),
    ),
    check=check,
    reach=phased_sgd.reach,
    reference=train_projected,
    batched="oracle.algorithms.kernels.torch_two_layer:twin_projected",
    source=("nonconvex-nn/thm-8-privacy-repaired",),
)
