"""Full-batch gradient descent on clipped gradients with Gaussian noise (document 004): all iterates, composed."""

from __future__ import annotations

from oracle.algorithms.shared.fixed_size import CONSTANT, FIXED_SIZE
from oracle.core.domain import choice, positive, positive_integer, probability
from oracle.core.planning import Guarantee, Recipe, flag, said

CLIPPED = said("every record's gradient g is clipped by itself: g min(1, clip_norm/|g|)", "clipped")

dp_gd = Recipe(
    algorithm="dp-gd",
    summary="full-batch gradient descent on the noisy mean of clipped gradients",
    parameters=(
        positive_integer("dataset_size"), positive("clip_norm", "norm C to which each record's gradient is clipped"),
        positive("noise_std", "standard deviation of the noise on the mean gradient"), positive_integer("steps"),
        probability("delta"), choice("neighbours", "replace", "add_remove"),
        choice("released", "last_iterate", "average_iterate", "all_iterates"),
    ),
    optional=(flag("clipped", "whether each record's gradient is clipped by itself"), FIXED_SIZE),
    guarantees=(
        Guarantee(
            "dp-gd.epsilon", "composition: exact, all iterates may be seen, no convexity needed",
            lambda config: {
                "clip_norm": config.clip_norm, "dataset_size": config.dataset_size, "sigma": config.noise_std,
                "steps": config.steps, "delta": config.delta, "neighbours": config.neighbours,
            },
            (CLIPPED, CONSTANT),
        ),
    ),
    source=("cs208/dp-gd-sensitivity",),
)
