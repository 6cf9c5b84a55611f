"""Noisy cyclic mini-batch gradient descent with noise of variance 2 eta sigma^2 a step (Ye and Shokri's notation).

theta <- theta - eta (mean of b clipped gradients + lambda theta) + N(0, 2 eta sigma^2 I), batches fixed, disjoint and
visited in order. The guarantees are for every record: for the batch that comes last, which is the worst.
"""

from __future__ import annotations

from oracle.algorithms.hidden_state.langevin_gd import (
    CONTRACTS,
    CONVEX,
    FLAGS,
    LAST,
    SCALAR,
    SMOOTHNESS,
    noise_on_the_mean,
)
from oracle.algorithms.hidden_state.noisy_cgd_plan import DISJOINT, REPLACE
from oracle.core import vocabulary
from oracle.core.planning import Guarantee, Recipe
from oracle.core.registry import Values

_HIDDEN = (REPLACE, DISJOINT, LAST, CONVEX, SCALAR, CONTRACTS)


def _batches(config: Values) -> int:
    return int(config.dataset_size // config.batch_size)


noisy_minibatch = Recipe(
    algorithm="noisy-minibatch",
    summary="noisy cyclic mini-batch gradient descent, noise of variance 2 step_size sigma^2",
    parameters=(
        vocabulary.dataset_size, vocabulary.batch_size, vocabulary.epochs.at_least(1),
        vocabulary.clip_norm.finite(),
        vocabulary.diffusion, vocabulary.learning_rate,
        vocabulary.regularisation.above(0), vocabulary.delta.open(),
        vocabulary.neighbours,
        vocabulary.released,
    ),
    optional=(SMOOTHNESS, *FLAGS),
    guarantees=(
        Guarantee(
            "noisy-minibatch.epsilon", "hidden state, by Ye and Shokri's recursion",
            lambda config: {
                "sensitivity": 2 * config.clip_norm, "batch_size": config.batch_size, "sigma": config.diffusion,
                "step_size": config.learning_rate, "contraction": 1 - config.learning_rate * config.regularisation,
                "batches": _batches(config), "epochs": config.epochs, "position": _batches(config),
                "delta": config.delta,
            },
            _HIDDEN,
        ),
        Guarantee(
            "noisy-cgd.mu", "hidden state, by the best shifts",
            lambda config: {
                "sensitivity": 2 * config.clip_norm, "batch_size": config.batch_size,
                "sigma": noise_on_the_mean(config), "contraction": 1 - config.learning_rate * config.regularisation,
                "batches": _batches(config), "epochs": config.epochs,
            },
            _HIDDEN,
        ),
        Guarantee(
            "gaussian-composed.epsilon", "composition: all iterates may be seen, no convexity needed",
            lambda config: {
                "sigma": noise_on_the_mean(config), "sensitivity": 2 * config.clip_norm / config.batch_size,
                "steps": config.epochs, "delta": config.delta,
            },
            (REPLACE, DISJOINT),
        ),
    ),
    source=("background/ye-shokri22", "relu-approx/thm-2.8-formula"),
)
