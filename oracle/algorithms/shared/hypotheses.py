"""Hypotheses that the theorems of several algorithms share: the relation, batches, losses, the hidden state."""

from __future__ import annotations

from fractions import Fraction

from oracle.core import vocabulary
from oracle.core.algorithm import Hypothesis, Values, equals, said

REPLACE = equals("neighbours differ by replacing one record", "neighbours", "replace")

DISJOINT_BATCHES = Hypothesis(
    "the batches are disjoint and of one size: batch_size divides dataset_size",
    lambda config: config.dataset_size % config.batch_size == 0,
)

SHORT_FEATURES = said("no record's features are longer than 1", "features_bounded")
LABELS_BOUNDED = said("labels, and a bounded link, lie in [-B, B]: B = label_bound", "labels_bounded")
GAUSSIAN_PROJECTION = said(
    "the projection is a matrix of independent Gaussians, drawn without looking", "gaussian_projection"
)


def _constant_size(config: Values) -> bool | None:
    if config.neighbours == "replace":
        return True
    return None if config.fixed_size is None else config.fixed_size == "true"


CONSTANT_SIZE = Hypothesis(
    "the number of records that the algorithm uses is the same in neighbouring data sets", _constant_size
)


def contraction(config: Values) -> Fraction | None:
    """max(|1 - eta lambda|, |1 - eta beta|) for lambda-strongly convex, beta-smooth losses; None without a beta."""
    if config.smoothness is None:
        return None
    rate, *curvatures = map(Fraction, (config.learning_rate, config.regularisation, config.smoothness))
    return max(abs(1 - rate * curvature) for curvature in curvatures)


def _contracts(config: Values) -> bool | None:
    factor = contraction(config)
    return None if factor is None else factor <= 1


CONTRACTS = Hypothesis("every step contracts: learning_rate <= 2/smoothness", _contracts)

LAST = equals("only the last iterate is released", "released", "last_iterate")
HIDDEN_STATE = (
    LAST,
    said("every record's loss is convex", "convex"),
    said("clipping keeps it convex: one output", "scalar_output"),
    CONTRACTS,
)
"""What the hidden-state theorems ask of release and losses."""
LOSS_FACTS = (vocabulary.smoothness, vocabulary.convex, vocabulary.scalar_output)
"""The keys by which a plan states what they ask of losses."""
PLANNED = (vocabulary.dataset_size, vocabulary.delta.open(), vocabulary.neighbours, vocabulary.released)
"""What a plan says of most trainings, and a training knows."""
