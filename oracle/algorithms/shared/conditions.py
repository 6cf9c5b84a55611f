"""How configurations decide the hypotheses that several algorithms meet: relation, batches, losses, hidden state."""

from __future__ import annotations

from fractions import Fraction

from oracle.core import vocabulary
from oracle.core.algorithm import Condition, Values, by_design, equals, said

REPLACE = equals("replace", "neighbours", "replace")

DISJOINT_BATCHES = Condition(
    "cyclic-batches", lambda config: config.dataset_size % config.batch_size == 0,
    "the batches are disjoint and of one size: batch_size divides dataset_size",
)

WITHOUT_REPLACEMENT = equals("without-replacement", "sampling", "without_replacement")
SHORT_FEATURES = said("short-features", "features_bounded")
LABELS_BOUNDED = said("bounded-labels", "labels_bounded")
GAUSSIAN_PROJECTION = said("gaussian-projection", "gaussian_projection")


def _constant_size(config: Values) -> bool | None:
    if config.neighbours == "replace":
        return True
    return None if config.fixed_size is None else config.fixed_size == "true"


CONSTANT_SIZE = Condition("constant-size", _constant_size)


def contraction(config: Values) -> Fraction | None:
    """max(|1 - eta lambda|, |1 - eta beta|) for lambda-strongly convex, beta-smooth losses; None without a beta."""
    if config.smoothness is None:
        return None
    rate, *curvatures = map(Fraction, (config.learning_rate, config.regularisation, config.smoothness))
    return max(abs(1 - rate * curvature) for curvature in curvatures)


def _contracts(config: Values) -> bool | None:
    factor = contraction(config)
    return None if factor is None else factor <= 1


CONTRACTS = Condition("contracting-steps", _contracts, "every step contracts: learning_rate <= 2/smoothness")
CONVEX = said("contracting-steps", "convex", "every record's loss, the ridge apart, is convex")
SCALAR = said("contracting-steps", "scalar_output", "clipping keeps it convex: one output")

LAST = equals("last-iterate", "released", "last_iterate")
CLIPPED_RUN = by_design("gradient-sensitivity", "gaussian-noise", "independent-start")
"""What a run of clipped gradients with noise is, that starts without looking."""
HIDDEN_STATE = (REPLACE, LAST, CONVEX, SCALAR, CONTRACTS, *CLIPPED_RUN)
"""What the hidden-state theorems ask of relation, release and losses, whatever the batches are."""
LOSS_FACTS = (vocabulary.smoothness, vocabulary.convex, vocabulary.scalar_output)
"""The keys by which a plan states what they ask of losses."""
PLANNED = (vocabulary.dataset_size, vocabulary.delta.open(), vocabulary.neighbours, vocabulary.released)
"""What a plan says of most trainings, and a training knows."""
