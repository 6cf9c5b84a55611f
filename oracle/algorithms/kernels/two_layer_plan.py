"""Phased SGD behind a feature map (document 002, Algorithm 9), on the features themselves or randomly projected."""

from __future__ import annotations

from fractions import Fraction

from oracle.algorithms.phased.phased_sgd_plan import (
    AVERAGES,
    DISJOINT,
    FLAGS,
    GAUSSIAN,
    NEIGHBOURS,
    PROJECTION,
    RELEASED,
    REPLACE,
    RISES,
    allows,
)
from oracle.core import vocabulary
from oracle.core.planning import Guarantee, Hypothesis, Recipe, said
from oracle.core.registry import Values

_NAMES = ("sigma", "feature_norm", "learning_rate", "smoothness", "delta")
_UNIT_LABELS = said("labels and link lie in [0, 1]", "unit_labels")


def _plain(config: Values) -> dict[str, Fraction | int]:
    return {name: getattr(config, name) for name in _NAMES}


def _projected(config: Values) -> dict[str, Fraction | int] | None:
    names = (*_NAMES, "dataset_size", "projected_dimension")
    found = {name: getattr(config, name) for name in names}
    return None if found["projected_dimension"] is None else found


two_layer = Recipe(
    algorithm="two-layer",
    summary="phased SGD behind a fixed feature map: two-layer networks by the kernel trick",
    parameters=(
        vocabulary.noise_over_step,
        vocabulary.feature_norm,
        vocabulary.base_learning_rate,
        vocabulary.link_lipschitz,
        vocabulary.dataset_size,
        vocabulary.delta.open(), NEIGHBOURS, RELEASED,
    ),
    optional=(
        vocabulary.projected_dimension,
        *FLAGS, PROJECTION, vocabulary.unit_labels,
    ),
    guarantees=(
        Guarantee(
            "two-layer.epsilon", "one noisy average sees each record", _plain,
            (
                REPLACE, AVERAGES, DISJOINT, RISES, _UNIT_LABELS,
                Hypothesis("features are not projected", lambda config: config.projected_dimension is None),
                allows(8, "no step expands: learning_rate/4 <= 2/(smoothness feature_norm^2)"),
            ),
        ),
        Guarantee(
            "two-layer-projected.epsilon", "the same on projected features; long projections are charged to delta",
            _projected,
            (
                REPLACE, AVERAGES, DISJOINT, RISES, _UNIT_LABELS, GAUSSIAN,
                Hypothesis("features are projected", lambda config: config.projected_dimension is not None),
                allows(2, "no step expands: learning_rate/4 <= 2/(4 smoothness feature_norm^2)"),
            ),
        ),
    ),
    source=("nonconvex-nn/thm-8-privacy",),
)
