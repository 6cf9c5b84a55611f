"""The noisy mean of an estimator over disjoint blocks of the data (document 004)."""

from __future__ import annotations

from oracle.algorithms.hidden_state.noisy_cgd_plan import REPLACE
from oracle.core.domain import choice, positive, positive_integer, probability
from oracle.core.planning import Guarantee, Recipe, equals, flag, said

_BLOCKS = (
    REPLACE,
    said("the blocks are disjoint, and a record's place alone decides its block", "disjoint_blocks"),
    said("every block's estimate is clipped to one set of that diameter", "clipped"),
)

subsample_aggregate = Recipe(
    algorithm="subsample-aggregate",
    summary="the mean of clipped estimates over disjoint blocks, plus noise",
    parameters=(
        positive_integer("blocks"), positive("diameter", "of the set that a block's estimate is clipped to"),
        choice("noise", "laplace", "gaussian", meaning="on a number, or on every coordinate of a vector"),
        positive("noise_scale", "scale of the Laplace or standard deviation of the Gaussian noise on the mean"),
        probability("delta"), choice("neighbours", "replace", "add_remove"),
    ),
    optional=(
        flag("disjoint_blocks", "whether the blocks are disjoint and chosen by the records' places"),
        flag("clipped", "whether every block's estimate is clipped"),
    ),
    guarantees=(
        Guarantee(
            "subsample-aggregate.epsilon", "pure: one record moves one block",
            lambda config: {"diameter": config.diameter, "blocks": config.blocks, "scale": config.noise_scale},
            (equals("the noise is Laplace on one number", "noise", "laplace"), *_BLOCKS),
        ),
        Guarantee(
            "subsample-aggregate-gaussian.epsilon", "the Gaussian mechanism on the mean",
            lambda config: {
                "diameter": config.diameter, "blocks": config.blocks, "sigma": config.noise_scale,
                "delta": config.delta,
            },
            (equals("the noise is Gaussian", "noise", "gaussian"), *_BLOCKS),
        ),
    ),
    source=("cs208/sa-privacy",),
)
