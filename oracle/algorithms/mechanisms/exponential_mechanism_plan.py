"""A model drawn with probability proportional to exp(-(sum of its losses)/temperature) (document 004)."""

from __future__ import annotations

from oracle.algorithms.shared.fixed_size import CONSTANT, FIXED_SIZE
from oracle.core import vocabulary
from oracle.core.planning import Guarantee, Recipe, said

exponential_mechanism = Recipe(
    algorithm="exponential-mechanism",
    summary="a model drawn with probability proportional to exp(-(sum of its losses + n R)/temperature)",
    parameters=(
        vocabulary.loss_range, vocabulary.temperature,
        vocabulary.neighbours,
    ),
    optional=(
        vocabulary.clipped,
        vocabulary.exact_sampling, FIXED_SIZE,
    ),
    guarantees=(
        Guarantee(
            "exponential-mechanism.epsilon", "pure: the exponent and its normaliser",
            lambda config: {
                "loss_range": config.loss_range, "temperature": config.temperature, "neighbours": config.neighbours,
            },
            (
                said("every loss is clipped to one interval of length loss_range", "clipped"),
                said("the model is drawn from this law, not from an approximation to it", "exact_sampling"), CONSTANT,
            ),
        ),
    ),
    source=("cs208/exp-mech",),
)
