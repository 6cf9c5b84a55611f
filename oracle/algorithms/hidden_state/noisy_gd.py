"""Full-batch noisy gradient descent: hidden state, with or without a projection, or composition over all iterates.

theta <- Proj(theta - eta (mean of clipped gradients + lambda theta + N(0, (z C / n)^2 I))). Under replace-one the mean
gradient moves by 2C/n against noise z C / n, at every step.
"""

from __future__ import annotations

from typing import Any

from oracle.algorithms.shared.conditions import HIDDEN_STATE, LOSS_FACTS, PLANNED, REPLACE, contraction
from oracle.core import vocabulary
from oracle.core.algorithm import Algorithm, Guarantee, Values, by_design, given, towards


def _hidden(config: Values) -> dict[str, Any] | None:
    """The parameters of noisy-gd.mu: the record moves the sum of all gradients by 2C at most, in every step."""
    factor = contraction(config)
    if factor is None:
        return None
    return {
        "sensitivity": 2 * config.clip_norm, "dataset_size": config.dataset_size,
        "noise_on_mean": config.noise_on_mean, "contraction": factor, "steps": config.steps,
    }


def _projected(config: Values) -> dict[str, Any] | None:
    parameters = _hidden(config)
    if parameters is None or config.diameter is None:
        return None
    return {**parameters, "learning_rate": config.learning_rate, "diameter": config.diameter}


noisy_gd = Algorithm(
    name="noisy-gd",
    document="000, Section 2.3",
    summary="full-batch noisy gradient descent; noisy-cgd with one batch trains it",
    parameters=(
        vocabulary.learning_rate, vocabulary.regularisation, vocabulary.clip_norm.finite(),
        vocabulary.noise_on_mean.above(0), vocabulary.steps.at_least(1),
    ),
    setting=PLANNED,
    stated=(*LOSS_FACTS, vocabulary.diameter.finite().above(0)),
    released="last_iterate",
    neighbours="replace",
    guarantees=(
        Guarantee(
            "noisy-gd.mu", "hidden state: only the last iterate is seen", _hidden,
            (*HIDDEN_STATE, *by_design("full-batches")),
        ),
        Guarantee(
            "noisy-gd-projected.mu", "hidden state: a bounded set forgets the distant past", _projected,
            (
                *HIDDEN_STATE, *by_design("full-batches"),
                given("bounded-set", "diameter"),
            ),
        ),
        Guarantee(
            "gaussian-composed.epsilon", "composition: all iterates may be seen, no convexity needed",
            lambda config: {
                "sigma": config.noise_on_mean, "sensitivity": 2 * config.clip_norm / config.dataset_size,
                "steps": config.steps,
            },
            (*towards("l2-sensitivity", REPLACE), *by_design("gaussian-noise")),
        ),
    ),
    source=("background/bok-gd",),
)
