"""Phased SGD for generalised linear models (document 002, Algorithms 2 and 5), and on projected data (3 and 6).

Disjoint phases i = 1, 2, ... of half the remaining records, steps of learning_rate / 4^i, and the average of each phase
released with noise sigma learning_rate / 4^i. Nothing is proved if the iterates inside a phase are released too.
"""

from __future__ import annotations

from fractions import Fraction

from oracle.core import vocabulary
from oracle.core.planning import Guarantee, Hypothesis, Recipe, equals, said
from oracle.core.registry import Values

REPLACE = equals("neighbours differ by replacing one record", "neighbours", "replace")
AVERAGES = equals("of each phase only the noisy average is released", "released", "average_iterate")
RISES = said("the link rises", "link_rises")
DISJOINT = said("records are assigned to phases without looking, each to one", "disjoint")
LABELS = said("labels, and a bounded link, lie in [-B, B]", "labels_bounded")
SHORT = said("no record's features are longer than 1", "features_bounded")
GAUSSIAN = said("the projection is a matrix of independent Gaussians, drawn without looking", "gaussian_projection")
NEIGHBOURS = vocabulary.neighbours
RELEASED = vocabulary.released
FLAGS = (
    vocabulary.link_rises,
    vocabulary.disjoint,
)
FEATURES = vocabulary.features_bounded
LABEL_BOUND = vocabulary.label_bound
LABEL_FLAG = vocabulary.labels_bounded
PROJECTION = vocabulary.gaussian_projection


def allows(limit: int, words: str) -> Hypothesis:
    """learning_rate * smoothness * feature_norm^2 is at most the limit (features of length 1 unless given)."""

    def holds(config: Values) -> bool:
        length = Fraction(getattr(config, "feature_norm", 1))
        return Fraction(config.base_learning_rate) * Fraction(config.link_lipschitz) * length**2 <= limit

    return Hypothesis(words, holds)


def _given(config: Values, *names: str) -> dict[str, Fraction | int]:
    return {name: getattr(config, name) for name in names}


_COMMON = (
    vocabulary.noise_over_step,
    LABEL_BOUND,
    vocabulary.base_learning_rate,
    vocabulary.link_lipschitz,
    vocabulary.dataset_size,
    vocabulary.oracle_error,
    vocabulary.delta.open(), NEIGHBOURS, RELEASED,
)
_NAMES = ("sigma", "label_bound", "learning_rate", "smoothness", "dataset_size", "oracle_error", "delta")

phased_sgd = Recipe(
    algorithm="phased-sgd",
    summary="phased SGD for generalised linear models with a bounded link",
    parameters=_COMMON,
    optional=(*FLAGS, FEATURES, LABEL_FLAG),
    guarantees=(
        Guarantee(
            "phased-sgd.epsilon", "one noisy average sees each record", lambda config: _given(config, *_NAMES),
            (
                REPLACE, AVERAGES, DISJOINT, SHORT, LABELS, RISES,
                allows(8, "no step expands: learning_rate/4 <= 2/smoothness"),
            ),
        ),
    ),
    source=("nonconvex-nn/thm-1-privacy", "nonconvex-nn/thm-4-privacy"),
)

phased_sgd_projected = Recipe(
    algorithm="phased-sgd-projected",
    summary="phased SGD on randomly projected records",
    parameters=(*_COMMON, vocabulary.projected_dimension),
    optional=(*FLAGS, FEATURES, LABEL_FLAG, PROJECTION),
    guarantees=(
        Guarantee(
            "phased-sgd-projected.epsilon", "one noisy average sees each record; long projections are charged to delta",
            lambda config: _given(config, *_NAMES, "projected_dimension"),
            (
                REPLACE, AVERAGES, DISJOINT, SHORT, LABELS, RISES, GAUSSIAN,
                allows(2, "no step expands: learning_rate/4 <= 2/(4 smoothness)"),
            ),
        ),
    ),
    source=("nonconvex-nn/thm-2-privacy", "nonconvex-nn/thm-5-privacy"),
)
