"""Noisy cyclic mini-batch gradient descent (document 000): hidden state, or composition over all iterates.

theta <- theta - eta (mean of clipped gradients of the batch + lambda theta + N(0, (z C / b)^2 I)), batches fixed,
disjoint and visited in order. Under replace-one the mean gradient moves by 2C/b against noise z C / b, once an epoch.
"""

from __future__ import annotations

from fractions import Fraction

from oracle.core.domain import choice, non_negative, positive, positive_integer, probability
from oracle.core.planning import Guarantee, Hypothesis, Recipe, equals, flag, said
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
CLIP_NORM = positive("clip_norm", "norm C to which each record's gradient is clipped")
RIDGE = non_negative("regularisation", "lambda of the ridge lambda |theta|^2 / 2")
NEIGHBOURS = choice("neighbours", "replace", "add_remove")
RELEASED = choice("released", "last_iterate", "average_iterate", "all_iterates")
LOSS = (
    positive("smoothness", "largest curvature beta of any record's loss, ridge included"),
    flag("convex", "whether every record's loss is convex"),
    flag("scalar_output", "whether the model has one output, so that clipping keeps its loss convex"),
)

noisy_cgd = Recipe(
    algorithm="noisy-cgd",
    summary="noisy cyclic mini-batch gradient descent with fixed disjoint batches",
    parameters=(
        positive_integer("dataset_size"), positive_integer("batch_size"), positive_integer("epochs"),
        CLIP_NORM, positive("noise_multiplier", "noise on the mean gradient in units of clip_norm / batch_size"),
        positive("learning_rate"), RIDGE, probability("delta"), NEIGHBOURS, RELEASED,
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
