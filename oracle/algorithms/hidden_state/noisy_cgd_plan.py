"""Noisy cyclic mini-batch gradient descent (document 000): hidden state, or composition over all iterates.

theta <- theta - eta (mean of clipped gradients of the batch + lambda theta + N(0, (z C / b)^2 I)), batches fixed,
disjoint and visited in order. Under replace-one the mean gradient moves by 2C/b against noise z C / b, once an epoch.
"""

from __future__ import annotations

from fractions import Fraction

from oracle.core import vocabulary
from oracle.core.planning import Guarantee, Hypothesis, Recipe, equals, said
from oracle.core.registry import Values


def contraction(config: Values) -> Fraction | None:
    """max(|1 - eta lambda|, |1 - eta beta|) for lambda-strongly convex, beta-smooth losses."""
    if config.smoothness is None:
        return None
    rate, *curvatures = map(Fraction, (config.learning_rate, config.regularisation, config.smoothness))
    return max(abs(1 - rate * curvature) for curvature in curvatures)


def hidden(config: Values) -> dict[str, Fraction | int] | None:
    """The parameters of noisy-cgd.mu, gradients and noise in units of C/b."""
    factor = contraction(config)
    if factor is None:
        return None
    return {
        "sensitivity": Fraction(2), "batch_size": 1, "sigma": config.noise_multiplier, "contraction": factor,
        "batches": config.dataset_size // config.batch_size, "epochs": config.epochs,
    }


def _contracts(config: Values) -> bool | None:
    factor = contraction(config)
    return None if factor is None else factor <= 1


REPLACE = equals("neighbours differ by replacing one record", "neighbours", "replace")
DISJOINT = Hypothesis(
    "the batches are disjoint and of one size: batch_size divides dataset_size",
    lambda config: config.dataset_size % config.batch_size == 0,
)
HIDDEN_STATE = (
    equals("only the last iterate is released", "released", "last_iterate"),
    said("every record's loss is convex", "convex"),
    said("clipping keeps it convex: one output", "scalar_output"),
    Hypothesis("every step contracts: learning_rate <= 2/smoothness", _contracts),
)
CLIP_NORM = vocabulary.clip_norm.finite()
RIDGE = vocabulary.regularisation
NEIGHBOURS = vocabulary.neighbours
RELEASED = vocabulary.released
LOSS = (
    vocabulary.smoothness,
    vocabulary.convex,
    vocabulary.scalar_output,
)

noisy_cgd = Recipe(
    algorithm="noisy-cgd",
    summary="noisy cyclic mini-batch gradient descent with fixed disjoint batches",
    parameters=(
        vocabulary.dataset_size, vocabulary.batch_size, vocabulary.epochs.at_least(1),
        CLIP_NORM, vocabulary.noise_multiplier,
        vocabulary.learning_rate, RIDGE, vocabulary.delta.open(), NEIGHBOURS, RELEASED,
    ),
    optional=LOSS,
    guarantees=(
        Guarantee(
            "noisy-cgd.mu", "hidden state: only the last iterate is seen", hidden,
            (REPLACE, DISJOINT, *HIDDEN_STATE),
        ),
        Guarantee(
            "gaussian-composed.epsilon", "composition: all iterates may be seen, no convexity needed",
            lambda config: {
                "sigma": config.noise_multiplier, "sensitivity": 2, "steps": config.epochs, "delta": config.delta,
            },
            (REPLACE, DISJOINT),
        ),
    ),
    source=("relu-approx/thm-2.8-formula",),
)
