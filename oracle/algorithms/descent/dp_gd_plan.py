"""Full-batch gradient descent on clipped gradients with Gaussian noise (document 004): all iterates, composed."""

from __future__ import annotations

from oracle.algorithms.shared.fixed_size import CONSTANT, FIXED_SIZE
from oracle.core import vocabulary
from oracle.core.planning import Guarantee, Recipe, said

CLIPPED = said("every record's gradient g is clipped by itself: g min(1, clip_norm/|g|)", "clipped")

dp_gd = Recipe(
    algorithm="dp-gd",
    summary="full-batch gradient descent on the noisy mean of clipped gradients",
    parameters=(
        vocabulary.dataset_size, vocabulary.clip_norm.finite(),
        vocabulary.noise_on_mean.above(0), vocabulary.steps.at_least(1),
        vocabulary.delta.open(), vocabulary.neighbours,
        vocabulary.released,
    ),
    optional=(vocabulary.clipped, FIXED_SIZE),
    guarantees=(
        Guarantee(
            "dp-gd.epsilon", "composition: exact, all iterates may be seen, no convexity needed",
            lambda config: {
                "clip_norm": config.clip_norm, "dataset_size": config.dataset_size, "sigma": config.noise_on_mean,
                "steps": config.steps, "delta": config.delta, "neighbours": config.neighbours,
            },
            (CLIPPED, CONSTANT),
        ),
    ),
    source=("cs208/dp-gd-sensitivity",),
)
