"""Noisy cyclic mini-batch gradient descent with noise of variance 2 eta sigma^2 a step (Ye and Shokri's notation).

theta <- theta - eta (mean of b clipped gradients + lambda theta) + N(0, 2 eta sigma^2 I), batches fixed, disjoint and
visited in order. The guarantees are for every record: for the batch that comes last, which is the worst.
"""

from __future__ import annotations

from oracle.algorithms.hidden_state.langevin_gd import CONTRACTS, noise_on_the_mean
from oracle.algorithms.shared.conditions import (
    CLIPPED_RUN,
    CONVEX,
    DISJOINT_BATCHES,
    LAST,
    LOSS_FACTS,
    PLANNED,
    REPLACE,
    SCALAR,
)
from oracle.core import vocabulary
from oracle.core.algorithm import Algorithm, Guarantee, Values, by_design, towards

_HIDDEN = (REPLACE, DISJOINT_BATCHES, LAST, CONVEX, SCALAR, CONTRACTS, *CLIPPED_RUN)


def _batches(config: Values) -> int:
    return int(config.dataset_size // config.batch_size)


noisy_minibatch = Algorithm(
    name="noisy-minibatch",
    document="001, Section 2; Ye and Shokri 2022",
    summary="noisy cyclic mini-batch gradient descent, noise of variance 2 learning_rate diffusion^2",
    parameters=(
        vocabulary.learning_rate, vocabulary.regularisation.above(0), vocabulary.clip_norm.finite(),
        vocabulary.diffusion, vocabulary.batch_size, vocabulary.epochs.at_least(1),
    ),
    setting=PLANNED,
    stated=LOSS_FACTS,
    released="last_iterate",
    neighbours="replace",
    guarantees=(
        Guarantee(
            "noisy-minibatch.epsilon", "hidden state, by Ye and Shokri's recursion",
            lambda config: {
                "sensitivity": 2 * config.clip_norm, "batch_size": config.batch_size,
                "diffusion": config.diffusion, "learning_rate": config.learning_rate,
                "contraction": 1 - config.learning_rate * config.regularisation,
                "batches": _batches(config), "epochs": config.epochs, "batch_position": _batches(config),
            },
            (*_HIDDEN, *by_design("record-in-batch")),
        ),
        Guarantee(
            "noisy-cgd.mu", "hidden state, by the best shifts",
            lambda config: {
                "sensitivity": 2 * config.clip_norm, "batch_size": config.batch_size,
                "noise_on_mean": noise_on_the_mean(config),
                "contraction": 1 - config.learning_rate * config.regularisation,
                "batches": _batches(config), "epochs": config.epochs,
            },
            _HIDDEN,
        ),
        Guarantee(
            "gaussian-composed.epsilon", "composition: all iterates may be seen, no convexity needed",
            lambda config: {
                "sigma": noise_on_the_mean(config), "sensitivity": 2 * config.clip_norm / config.batch_size,
                "steps": config.epochs,
            },
            (*towards("l2-sensitivity", REPLACE, DISJOINT_BATCHES), *by_design("gaussian-noise")),
        ),
    ),
    source=("background/ye-shokri22", "relu-approx/thm-2.8-formula"),
)
