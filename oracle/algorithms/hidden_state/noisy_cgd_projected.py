"""Noisy cyclic mini-batch gradient descent that projects every iterate onto a bounded convex set.

theta <- Proj(theta - eta (mean of clipped gradients of the batch + lambda theta + N(0, (z C / b)^2 I))): as in
`noisy_cgd`, but two iterates are never further apart than the diameter of the set. Its bounds hold here, too, since a
projection onto a convex set is 1-Lipschitz.
"""

from __future__ import annotations

from fractions import Fraction
from typing import Any

from oracle.algorithms.hidden_state.noisy_cgd_plan import DISJOINT, HIDDEN_STATE, REPLACE, hidden, noisy_cgd
from oracle.core import vocabulary
from oracle.core.planning import Guarantee, Recipe
from oracle.core.registry import Values


def _projected(config: Values) -> dict[str, Any] | None:
    """Gradients are in units of C/b, so that a step of size eta is one of size eta C/b."""
    parameters = hidden(config)
    if parameters is None:
        return None
    unit = Fraction(config.clip_norm) / config.batch_size
    return {**parameters, "learning_rate": config.learning_rate * unit, "diameter": config.diameter}


noisy_cgd_projected = Recipe(
    algorithm="noisy-cgd-projected",
    summary="noisy cyclic mini-batch gradient descent with a projection onto a bounded set after every step",
    parameters=(*noisy_cgd.parameters, vocabulary.diameter.finite().above(0)),
    optional=noisy_cgd.optional,
    guarantees=(
        Guarantee(
            "noisy-cgd-projected.mu", "hidden state: a bounded set forgets the distant past", _projected,
            (REPLACE, DISJOINT, *HIDDEN_STATE),
        ),
        *noisy_cgd.guarantees,
    ),
    source=("relu-approx/thm-2.8-formula",),
)
