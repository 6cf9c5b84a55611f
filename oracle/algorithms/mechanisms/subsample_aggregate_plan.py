"""The noisy mean of an estimator over disjoint blocks of the data (document 004)."""

from __future__ import annotations

from oracle.algorithms.hidden_state.noisy_cgd_plan import REPLACE
from oracle.core import vocabulary
from oracle.core.planning import Guarantee, Recipe, equals, said

_BLOCKS = (
    REPLACE,
    said("the blocks are disjoint, and a record's place alone decides its block", "disjoint_blocks"),
    said("every block's estimate is clipped to one set of that diameter", "clipped"),
)

subsample_aggregate = Recipe(
    algorithm="subsample-aggregate",
    summary="the mean of clipped estimates over disjoint blocks, plus noise",
    parameters=(
        vocabulary.blocks, vocabulary.estimate_range,
        vocabulary.noise_law.choosing("laplace", "gaussian"),
        vocabulary.noise_scale,
        vocabulary.delta.open(), vocabulary.neighbours,
    ),
    optional=(
        vocabulary.disjoint,
        vocabulary.clipped,
    ),
    guarantees=(
        Guarantee(
            "subsample-aggregate.epsilon", "pure: one record moves one block",
            lambda config: {"diameter": config.estimate_range, "blocks": config.blocks, "scale": config.noise_scale},
            (equals("the noise is Laplace on one number", "noise", "laplace"), *_BLOCKS),
        ),
        Guarantee(
            "subsample-aggregate-gaussian.epsilon", "the Gaussian mechanism on the mean",
            lambda config: {
                "diameter": config.estimate_range, "blocks": config.blocks, "sigma": config.noise_scale,
                "delta": config.delta,
            },
            (equals("the noise is Gaussian", "noise", "gaussian"), *_BLOCKS),
        ),
    ),
    source=("cs208/sa-privacy",),
)
