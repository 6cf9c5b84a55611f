r"""Phased SGD with a smoothed loss: the literal reference (document 002, Algorithms 5 and 6).

Algorithms 2 and 3 (`phased_sgd`) with the gradient h x of the Moreau envelope in place of (link - y) x, known up to an
error of norm at most gamma (`moreau`). The paper's noise_over_step is 10 B R sqrt(log(1/delta)) / epsilon
(Algorithm 5) and 20 B sqrt(log(2/delta)) / epsilon (Algorithm 6); R is defined nowhere, and must be 1.

The guarantee is for beta = envelope_smoothness and any gamma = oracle_error: the error that the paper's noise leaves
room for, gamma (n + 1) <= B, is not assumed. Its Theorem 5 prints gamma = O(n log n) for O(1 / (n log n)); at
gamma >= 12B Algorithm 4 takes one step, and answers 0 whatever the record. "A fast JL matrix" in Algorithm 6 is the
Gaussian one of Algorithm 3, whose tail is the one accounted for. A link that is Lipschitz needs no smoothing; for one
that jumps, this is the algorithm with a guarantee.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from oracle.algorithms.phased import moreau
from oracle.algorithms.phased.phased_sgd import (
    DATA_KEPT,
    LONGEST,
    PHASED,
    PHASED_FLAGS,
    START,
    check,
    descend,
    descend_projected,
    link_facts,
    phased_guarantee,
    reach,
)
from oracle.algorithms.shared.conditions import PLANNED
from oracle.algorithms.shared.glm import Array
from oracle.core import vocabulary
from oracle.core.algorithm import Algorithm, Values
from oracle.core.tape import Tape
from oracle.engines.projection import PROJECTED_DIMENSION


def _slope(config: Values, *, projected: bool) -> Callable[[float, float], float]:
    return lambda score, label: moreau.derivative(config, score, label, LONGEST[projected])


def _check(features: Array, labels: Array, config: Values) -> None:
    """A DomainError unless the data fit, and the oracle answers."""
    check(features, labels, config)
    moreau.check(config, LONGEST[False])


def _check_projected(features: Array, labels: Array, config: Values) -> None:
    check(features, labels, config)
    moreau.check(config, LONGEST[True])


def train(features: Array, labels: Array, config: Values, tape: Tape, recorder: Any = None) -> Array:
    """Algorithm 5 for one model."""
    check(features, labels, config)
    return descend(features, labels, config, tape, _slope(config, projected=False), recorder)


def train_projected(features: Array, labels: Array, config: Values, tape: Tape, recorder: Any = None) -> Array:
    """Algorithm 6 for one model."""
    check(features, labels, config)
    return descend_projected(features, labels, config, tape, _slope(config, projected=True), recorder)


_TRAINING = (*START, vocabulary.gradient_oracle)

smoothed_phased_sgd = Algorithm(
    name="smoothed-phased-sgd",
    document="002, Algorithm 5 (with 2 and 4)",
    summary="phased SGD on the Moreau envelope of the loss, its gradients by Algorithm 4, for links that may jump",
    parameters=(*PHASED, *moreau.PARAMETERS),
    training=_TRAINING,
    setting=PLANNED,
    stated=PHASED_FLAGS,
    facts=link_facts,
    trained=lambda config: DATA_KEPT,
    released="average_iterate",
    neighbours="replace",
    guarantees=(phased_guarantee("envelope_smoothness", projected=False),),
    check=_check,
    reach=reach,
    step=lambda config, room: moreau.largest(config, LONGEST[False]),
    reference=train,
    batched="oracle.algorithms.phased.torch_smoothed_phased_sgd:twin",
    gaussian_release=lambda config: config.link == "constant" and config.initial_radius == 0,
    source=("nonconvex-nn/thm-4-privacy",),
)

smoothed_phased_sgd_projected = Algorithm(
    name="smoothed-phased-sgd-projected",
    document="002, Algorithm 6 (with 3 and 4)",
    summary="phased SGD on the Moreau envelope of the loss, its gradients by Algorithm 4, on projected records",
    parameters=(*PHASED, *moreau.PARAMETERS, PROJECTED_DIMENSION),
    training=_TRAINING,
    setting=PLANNED,
    stated=(*PHASED_FLAGS, vocabulary.gaussian_projection),
    facts=link_facts,
    trained=lambda config: {**DATA_KEPT, "gaussian_projection": "true"},
    released="average_iterate",
    neighbours="replace",
    guarantees=(phased_guarantee("envelope_smoothness", projected=True),),
    check=_check_projected,
    reach=reach,
    step=lambda config, room: moreau.largest(config, LONGEST[True]),
    reference=train_projected,
    batched="oracle.algorithms.phased.torch_smoothed_phased_sgd:twin_projected",
    source=("nonconvex-nn/thm-5-privacy",),
)
