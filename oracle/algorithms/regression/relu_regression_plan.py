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
from oracle.core import vocabulary
from oracle.core.planning import Guarantee, Recipe, said

dp_pgd = Recipe(
    algorithm="dp-pgd",
    summary="full-batch projected gradient descent for ReLU regression on randomly projected records",
    parameters=(
        vocabulary.noise_on_mean.above(0),
        vocabulary.weight_bound,
        LABEL_BOUND,
        vocabulary.dataset_size, vocabulary.steps.at_least(1),
        vocabulary.projected_dimension,
        vocabulary.delta.open(), NEIGHBOURS, RELEASED,
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
        vocabulary.noise_over_sensitivity.above(0),
        vocabulary.delta.open(), NEIGHBOURS, RELEASED,
    ),
    optional=(
        vocabulary.disjoint,
        vocabulary.released_norm,
        vocabulary.features_bounded, LABEL_FLAG,
    ),
    guarantees=(
        Guarantee(
            "adaptive-batched-gd.epsilon", "one step sees each record: all iterates may be seen",
            lambda config: {"noise_multiplier": config.noise_over_sensitivity, "delta": config.delta},
            (
                REPLACE, said("records are assigned to batches without looking, each to one", "disjoint"),
                said("the noise follows the norm of the released iterate, of nothing else", "released_norm"),
                said("no record's features are longer than r", "features_bounded"), LABELS,
            ),
        ),
    ),
    source=("nonconvex-nn/thm-7-privacy",),
)
