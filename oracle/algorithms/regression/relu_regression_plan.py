"""ReLU regression (document 002): projected full-batch descent (Algorithm 7) and adaptive batches (Algorithm 8)."""

from __future__ import annotations

from oracle.algorithms.phased.phased_sgd_plan import (
    FEATURES,
    GAUSSIAN,
    LABEL_BOUND,
    LABEL_FLAG,
    LABELS,
    NEIGHBOURS,
    PROJECTION,
    RELEASED,
    REPLACE,
    SHORT,
)
from oracle.core.domain import positive, positive_integer, probability
from oracle.core.planning import Guarantee, Recipe, flag, said

dp_pgd = Recipe(
    algorithm="dp-pgd",
    summary="full-batch projected gradient descent for ReLU regression on randomly projected records",
    parameters=(
        positive("sigma", "standard deviation of the noise on the mean gradient"),
        positive("weight_bound", "W: iterates are projected onto the ball of radius 2W"),
        LABEL_BOUND,
        positive_integer("dataset_size"), positive_integer("steps"),
        positive_integer("projected_dimension", "number of rows of the projection"),
        probability("delta"), NEIGHBOURS, RELEASED,
    ),
    optional=(FEATURES, LABEL_FLAG, PROJECTION),
    guarantees=(
        Guarantee(
            "dp-pgd.epsilon", "composition: all iterates may be seen; long projections are charged to delta",
            lambda config: {
                name: getattr(config, name) for name in (
                    "sigma", "weight_bound", "label_bound", "dataset_size", "steps", "projected_dimension", "delta",
                )
            },
            (REPLACE, SHORT, LABELS, GAUSSIAN),
        ),
    ),
    source=("nonconvex-nn/thm-6-privacy",),
)

adaptive_batched_gd = Recipe(
    algorithm="adaptive-batched-gd",
    summary="one pass of ReLU regression over disjoint batches, with noise that follows the released iterate",
    parameters=(
        positive("noise_multiplier", "every step's noise over its sensitivity r (r |w| + 2B) / m"),
        probability("delta"), NEIGHBOURS, RELEASED,
    ),
    optional=(
        flag("disjoint", "whether every record is used in one batch only, chosen without looking at it"),
        flag("released_norm", "whether |w| is that of the released iterate from which the step starts"),
        flag("features_bounded", "whether every possible record's features have norm at most r"), LABEL_FLAG,
    ),
    guarantees=(
        Guarantee(
            "adaptive-batched-gd.epsilon", "one step sees each record: all iterates may be seen",
            lambda config: {"noise_multiplier": config.noise_multiplier, "delta": config.delta},
            (
                REPLACE, said("records are assigned to batches without looking, each to one", "disjoint"),
                said("the noise follows the norm of the released iterate, of nothing else", "released_norm"),
                said("no record's features are longer than r", "features_bounded"), LABELS,
            ),
        ),
    ),
    source=("nonconvex-nn/thm-7-privacy",),
)
