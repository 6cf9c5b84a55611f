"""A model drawn with probability proportional to exp(-(sum of its losses)/temperature) (document 004)."""

from __future__ import annotations

from oracle.algorithms.shared.fixed_size import CONSTANT, FIXED_SIZE
from oracle.core.domain import choice, positive
from oracle.core.planning import Guarantee, Recipe, flag, said

exponential_mechanism = Recipe(
    algorithm="exponential-mechanism",
    summary="a model drawn with probability proportional to exp(-(sum of its losses + n R)/temperature)",
    parameters=(
        positive("loss_range", "length of the interval that holds every loss"), positive("temperature"),
        choice("neighbours", "replace", "add_remove"),
    ),
    optional=(
        flag("clipped", "whether every loss is clipped to one interval of length loss_range"),
        flag("exact_sampling", "whether the model is drawn from the law itself"), FIXED_SIZE,
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
