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
from oracle.core.domain import non_negative, positive, positive_integer, probability
from oracle.core.planning import Guarantee, Hypothesis, Recipe, flag, said
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
        positive("sigma", "noise standard deviation of phase i over its step size learning_rate / 4^i"),
        positive("feature_norm", "no record's features are longer: the root of the kernel's largest K(x, x)"),
        positive("learning_rate"),
        non_negative("smoothness", "Lipschitz constant of the link"),
        positive_integer("dataset_size"),
        probability("delta"), NEIGHBOURS, RELEASED,
    ),
    optional=(
        positive_integer("projected_dimension", "rows of the projection; absent if there is none"),
        *FLAGS, PROJECTION, flag("unit_labels", "whether labels and link lie in [0, 1]"),
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
