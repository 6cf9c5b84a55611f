"""Noisy cyclic mini-batch gradient descent that projects every iterate onto a bounded convex set.

theta <- Proj(theta - eta (mean of clipped gradients of the batch + lambda theta + N(0, (z C / b)^2 I))): as in
`noisy_cgd`, but two iterates are never further apart than the diameter of the set. Its bounds hold here, too, since a
projection onto a convex set is 1-Lipschitz.
"""

from __future__ import annotations

from typing import Any

from oracle.algorithms.hidden_state.noisy_cgd import COMPOSED, HIDDEN, KEYS, hidden
from oracle.algorithms.shared.conditions import DISJOINT_BATCHES, HIDDEN_STATE, LOSS_FACTS, PLANNED
from oracle.core import vocabulary
from oracle.core.algorithm import Algorithm, Guarantee, Values, by_design


def _projected(config: Values) -> dict[str, Any] | None:
    parameters = hidden(config)
    if parameters is None:
        return None
    return {**parameters, "learning_rate": config.learning_rate, "diameter": config.diameter}


noisy_cgd_projected = Algorithm(
    name="noisy-cgd-projected",
    document="000, Section 2.3, with a projection",
    summary="noisy cyclic mini-batch gradient descent with a projection onto a bounded set after every step",
    parameters=(*KEYS, vocabulary.diameter.finite().above(0)),
    setting=PLANNED,
    stated=LOSS_FACTS,
    released="last_iterate",
    neighbours="replace",
    guarantees=(
        Guarantee(
            "noisy-cgd-projected.mu", "hidden state: a bounded set forgets the distant past", _projected,
            (*HIDDEN_STATE, DISJOINT_BATCHES, *by_design("bounded-set")),
        ),
        HIDDEN, COMPOSED,
    ),
    source=("relu-approx/thm-2.8-formula",),
)
