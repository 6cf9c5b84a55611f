"""Full-batch noisy gradient descent: hidden state, with or without a projection, or composition over all iterates.

theta <- Proj(theta - eta (mean of clipped gradients + lambda theta + N(0, (z C / n)^2 I))). Under replace-one the mean
gradient moves by 2C/n against noise z C / n, at every step.
"""

from __future__ import annotations

from fractions import Fraction
from typing import Any

from oracle.algorithms.hidden_state.noisy_cgd_plan import (
    CLIP_NORM,
    HIDDEN_STATE,
    LOSS,
    NEIGHBOURS,
    RELEASED,
    REPLACE,
    RIDGE,
    contraction,
)
from oracle.core import vocabulary
from oracle.core.planning import Guarantee, Hypothesis, Recipe
from oracle.core.registry import Values


def _hidden(config: Values) -> dict[str, Any] | None:
    """Gradients and noise in units of C/n."""
    factor = contraction(config)
    if factor is None:
        return None
    return {
        "sensitivity": 2, "dataset_size": 1, "sigma": config.noise_multiplier, "contraction": factor,
        "steps": config.steps,
    }


def _projected(config: Values) -> dict[str, Any] | None:
    parameters = _hidden(config)
    if parameters is None or config.diameter is None:
        return None
    unit = Fraction(config.clip_norm) / config.dataset_size
    return {**parameters, "learning_rate": config.learning_rate * unit, "diameter": config.diameter}


noisy_gd = Recipe(
    algorithm="noisy-gd",
    summary="full-batch noisy gradient descent",
    parameters=(
        vocabulary.dataset_size, vocabulary.steps.at_least(1), CLIP_NORM,
        vocabulary.noise_multiplier,
        vocabulary.learning_rate, RIDGE, vocabulary.delta.open(), NEIGHBOURS, RELEASED,
    ),
    optional=(
        *LOSS, vocabulary.diameter.finite().above(0),
    ),
    guarantees=(
        Guarantee(
            "noisy-gd.mu", "hidden state: only the last iterate is seen", _hidden, (REPLACE, *HIDDEN_STATE),
        ),
        Guarantee(
            "noisy-gd-projected.mu", "hidden state: a bounded set forgets the distant past", _projected,
            (
                REPLACE, *HIDDEN_STATE,
                Hypothesis(
                    "every iterate is projected onto a set of the given diameter",
                    lambda config: None if config.diameter is None else True,
                ),
            ),
        ),
        Guarantee(
            "gaussian-composed.epsilon", "composition: all iterates may be seen, no convexity needed",
            lambda config: {
                "sigma": config.noise_multiplier, "sensitivity": 2, "steps": config.steps, "delta": config.delta,
            },
            (REPLACE,),
        ),
    ),
    source=("background/bok-gd",),
)
