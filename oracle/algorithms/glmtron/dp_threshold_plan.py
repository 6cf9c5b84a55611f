"""DP-Threshold (document 003, Algorithm 2): clipping thresholds from histograms, alone or beside a training.

A training that takes its thresholds from OTHER records than it trains on has, for every record, the guarantee of the
part which that record is in: for all of them the weaker of the two. `covers` and `covered` say which one that is.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from oracle.core import vocabulary
from oracle.core.enclosure import Enclosure
from oracle.core.errors import DomainError
from oracle.core.planning import Guarantee, Hypothesis, Recipe, equals, said
from oracle.core.registry import Values, bound

HISTOGRAMS = 3  # of each call, one for each of the three residuals
REPLACE = equals("neighbours differ by replacing one record", "neighbours", "replace")
_EPSILON = vocabulary.threshold_epsilon
_DELTA = vocabulary.threshold_delta
_REPAIRED = vocabulary.noisy_test
_FIXED = vocabulary.fixed_bins

THRESHOLDS = vocabulary.thresholds
OPTIONAL = (_EPSILON, _DELTA, _REPAIRED, _FIXED)
"""What a training whose thresholds come from other records has to say of them."""


def _parameters(config: Values, calls: int) -> Mapping[str, Any] | None:
    if config.threshold_epsilon is None or config.threshold_delta is None:
        return None
    return {
        "epsilon": config.threshold_epsilon, "delta": config.threshold_delta, "histograms": HISTOGRAMS, "calls": calls,
        "total_delta": config.delta,
    }


def _compared(
    config: Values, training: Callable[[Values], Enclosure], dearer: Callable[[Enclosure, Enclosure], bool]
) -> bool | None:
    """Whether the thresholds' guarantee and the training's compare as asked; None where the file does not say."""
    parameters, said_of = _parameters(config, config.records), (config.noisy_test, config.fixed_bins)
    if config.neighbours != "replace" or "false" in said_of:
        return False
    if parameters is None or None in said_of:
        return None
    try:
        return dearer(bound("dp-threshold.epsilon").at(parameters), training(config))
    except DomainError:  # no epsilon is enough for the thresholds at this delta
        return False


def covers(training: Callable[[Values], Enclosure]) -> Hypothesis:
    """The training's guarantee holds for the records of the thresholds, too."""

    def holds(config: Values) -> bool | None:
        if config.thresholds == "other_records":
            return _compared(config, training, lambda thresholds, rest: thresholds.certainly_le(rest))
        return bool(config.thresholds == "fixed")

    return Hypothesis("the thresholds are fixed in advance, or come from other records at no higher epsilon", holds)


def covered(training: Callable[[Values], Enclosure], others: tuple[Hypothesis, ...]) -> Guarantee:
    """The thresholds' guarantee where it is the weaker one; `others` is what the training's own guarantee assumes."""

    def holds(config: Values) -> bool | None:
        if config.thresholds == "other_records":
            return _compared(config, training, lambda thresholds, rest: rest.certainly_le(thresholds))
        return False

    return Guarantee(
        "dp-threshold.epsilon", "the thresholds, where they cost more than the training on the other records",
        lambda config: _parameters(config, config.records),
        (*others, Hypothesis("the thresholds come from other records, at no lower epsilon than the training's", holds)),
    )


dp_threshold = Recipe(
    algorithm="dp-threshold",
    summary="clipping thresholds from three stable histograms a call",
    parameters=(
        _EPSILON, _DELTA, vocabulary.calls,
        vocabulary.delta.open(), vocabulary.neighbours,
    ),
    optional=(_REPAIRED, _FIXED),
    guarantees=(
        Guarantee(
            "dp-threshold.epsilon", "stable histograms: what all calls together release",
            lambda config: _parameters(config, config.calls),
            (
                REPLACE, said("a bin is released if its noisy count exceeds the threshold", "noisy_test"),
                said("bins and batches do not depend on the records", "fixed_bins"),
            ),
        ),
    ),
    source=("glmtron/alg-2", "glmtron/threshold-composition"),
)
