r"""DP-Threshold: the literal reference and its guarantee (document 003, Algorithm 2, repaired).

A scale for the residuals of a model w, from records that are not trained on. Of every record three squares are taken,

    d1 = (<x, w> - y)^2,    d2 = y^2,    d3 = <x, w>^2,

for the three cases of signs in which |ReLU(<x, w>) - y| may be large. For each of the three:

    the records fall into K consecutive batches of one size; each batch has the mean of its squares
    count the K means in the fixed bins {0}, (0, 2^-64), [2^j, 2^{j+1}) for -64 <= j < 64, [2^64, inf)
    every bin that is not empty gets Laplace noise of scale 2/epsilon' on its count, and speaks if the noisy count is
        above 1 + (2/epsilon') log(1/delta')
    u = the upper end of the bin with the largest noisy count of those that speak
    s1 = sqrt(2 u), s2 = sqrt(2 u), s3 = sqrt(2 (u + V)),    V = sigma^2 log^{2a}(1/b) of the document

and s = max(s1, s2, s3). Released is (1, s), or (0, 0) where one of the three has no bin that speaks, or its bin has no
upper end: the failure is told, and nothing falls back on the records.

Corrected: as printed, bins whose TRUE count is below the threshold get the noise and all others are emptied. Which bins
speak then tells the true count, and the fullest bin never speaks. Counts here are the document's frequencies times K.
The bins of the document go on for ever; here the last ones are open, which needs finitely many draws. K is
ceil(C_1 log(N/delta')/epsilon') there; here it is given, and a K below which a histogram cannot be expected to speak
even with all its counts in one bin, 1 + (2/epsilon') log(1/delta'), is refused with the number of records needed.

A training that takes its thresholds from OTHER records than it trains on has, for every record, the guarantee of the
part which that record is in: for all of them the weaker of the two. `covers` and `covered` say which one that is.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Callable, Mapping
from fractions import Fraction
from typing import Any

import numpy as np

from oracle.algorithms.glmtron.dp_threshold_privacy import HISTOGRAMS
from oracle.algorithms.shared import glm
from oracle.algorithms.shared.conditions import REPLACE
from oracle.algorithms.shared.glm import Array
from oracle.core import records as numbers
from oracle.core import vocabulary
from oracle.core.algorithm import Algorithm, Condition, Guarantee, Values, by_design, said, towards
from oracle.core.enclosure import Enclosure
from oracle.core.errors import DomainError
from oracle.core.registry import bound
from oracle.core.tape import Tape

REACH = 64
"""Bins reach from 2^-64 to 2^64."""
BINS = 2 * REACH + 3


def noise_scale(config: Values) -> float:
    """The scale of the noise on a count."""
    return float(2 / config.threshold_epsilon)


def bar(config: Values) -> float:
    """What a noisy count must exceed to be released."""
    return 1.0 + noise_scale(config) * _logarithm(config)


def _logarithm(config: Values) -> float:
    """log(1/delta'), of integers, which may be huge."""
    delta = config.threshold_delta
    return math.log(delta.denominator) - math.log(delta.numerator)


def check_size(config: Values, records: int) -> None:
    """A DomainError, with the number needed, unless so many records give batch means that may speak."""
    exceeded = 1 + 2 / config.threshold_epsilon * Fraction(_logarithm(config))  # of any size
    needed = math.floor(exceeded) + 1
    if config.histogram_batches < needed:
        least, exceeds = numbers.told(needed), f"{float(exceeded):.6g}" if needed < 10**15 else numbers.told(exceeded)
        raise DomainError(
            f"histogram_batches = {config.histogram_batches} is outside its domain: at least {least}, since noisy "
            f"counts must exceed {exceeds}; that needs {least} records for the thresholds alone"
        )
    batches = f"histogram_batches = {config.histogram_batches}"
    if records < config.histogram_batches:
        raise DomainError(f"{records} records are too few for the thresholds: {batches} needs so many")
    if records % config.histogram_batches:
        raise DomainError(f"{batches} is outside its domain: a divisor of the {records} records")


def check(features: Array, labels: Array, config: Values) -> None:
    """A DomainError unless these are data, enough of them, and the model is one of theirs."""
    glm.check_data(features, labels)
    check_size(config, features.shape[0])
    if len(config.weights) != features.shape[1]:
        raise DomainError(
            f"weights of {len(config.weights)} entries are outside their domain: one for each of the "
            f"{features.shape[1]} features"
        )


def bin_of(value: float) -> int:
    """The number of the bin; what is no number is beyond all bins."""
    if value == 0:
        return 0
    if not value < 2.0**REACH:
        return BINS - 1
    if value < 2.0**-REACH:
        return 1
    exponent = math.frexp(value)[1] - 1
    return 2 + REACH + exponent


def upper_end(number: int) -> float:
    """The upper end of a bin, infinite for the last."""
    if number == 0:
        return 0.0
    return math.inf if number == BINS - 1 else 2.0 ** (number - 1 - REACH)


def largest_square(config: Values) -> float:
    """log2 of the square of the largest s that may be released."""
    return numbers.log2(2 * (2**REACH + config.model_variance))


def winner(means: list[float], config: Values, draws: Array) -> int | None:
    """The bin of one histogram that speaks loudest, if any does; draws are standard Laplace, one a bin."""
    counts = [0] * BINS
    for mean in means:
        counts[bin_of(mean)] += 1
    best, loudest = None, bar(config)
    for number, count in enumerate(counts):
        if count > 0:
            noisy = count + noise_scale(config) * float(draws[number])
            if noisy > loudest:
                best, loudest = number, noisy
    return best


def threshold(
    features: Array, labels: Array, w: Array, config: Values, tape: Tape, step: int, recorder: Any = None
) -> float | None:
    """s for one model, or None for failure; `step` numbers the calls on the same records."""
    size = len(features) // config.histogram_batches
    ends: list[float] = []
    for which in range(HISTOGRAMS):
        means = []
        for start in range(0, len(features), size):
            total = 0.0
            for i in range(start, start + size):
                score, y = float(features[i] @ w), float(labels[i])
                residual = (score - y, y, score)[which]
                total += residual * residual  # a power would refuse to overflow
            means.append(total / size)
        number = winner(means, config, tape.laplace(f"histogram {which}", step, BINS)[0])
        if recorder is not None:
            spoken = -1 if number is None else number
            recorder("histogram", step=step, histogram=which, means=np.array(means), bin=spoken)
        ends.append(math.inf if number is None else upper_end(number))
    if math.inf in ends:
        return None
    ends[2] += float(config.model_variance)
    return math.sqrt(2 * max(ends))


def train(features: Array, labels: Array, config: Values, tape: Tape, recorder: Any = None) -> Array:
    """What one call releases: (1, s), or zeros for failure."""
    check(features, labels, config)
    w = np.array([float(entry) for entry in config.weights])
    s = threshold(features, labels, w, config, tape, 0, recorder)
    return np.zeros(2) if s is None else np.array([1.0, s])


# --- what is proved


KEYS = (vocabulary.threshold_epsilon, vocabulary.threshold_delta, vocabulary.histogram_batches)
STATED = (vocabulary.noisy_test, vocabulary.fixed_bins)
BESIDE = (vocabulary.threshold_epsilon, vocabulary.threshold_delta, *STATED)
"""What a training whose thresholds come from other records has to say of them."""
REPAIRED = (
    said("noisy-test", "noisy_test"), said("fixed-histograms", "fixed_bins"), *by_design("laplace-noise"),
)
TRAINED = {"noisy_test": "true", "fixed_bins": "true"}
"""What this implementation makes true."""


def filled(records: str) -> tuple[Condition, Condition]:
    """The batches of a histogram suit the number of records under that key, and are enough for a bin to speak."""
    return (
        Condition(
            "fixed-histograms", lambda config: getattr(config, records) % config.histogram_batches == 0,
            f"the batches of a histogram are of one size: histogram_batches divides {records}",
        ),
        Condition(
            "fixed-histograms", lambda config: config.histogram_batches > bar(config),
            "a bin can speak: histogram_batches is above 1 + (2/threshold_epsilon) log(1/threshold_delta)",
        ),
    )


def _calls(config: Values, calls: int) -> Mapping[str, Any] | None:
    if config.threshold_epsilon is None or config.threshold_delta is None:
        return None
    return {
        "threshold_epsilon": config.threshold_epsilon, "threshold_delta": config.threshold_delta,
        "histograms": HISTOGRAMS, "calls": calls, "delta": config.delta,
    }


@functools.lru_cache(maxsize=4)
def _epsilon_of_calls(**parameters: Any) -> Enclosure:
    """The thresholds' epsilon, which several conditions of one plan compare with: it takes a second."""
    return bound("dp-threshold.epsilon").at(parameters)


def _compared(
    config: Values, training: Callable[[Values], Enclosure], dearer: Callable[[Enclosure, Enclosure], bool]
) -> bool | None:
    """Whether the thresholds' guarantee and the training's compare as asked; None where the plan does not say."""
    parameters, said_of = _calls(config, config.dataset_size), (config.noisy_test, config.fixed_bins)
    if config.neighbours != "replace" or "false" in said_of:
        return False
    if parameters is None or None in said_of:
        return None
    try:
        return dearer(_epsilon_of_calls(**parameters), training(config))
    except DomainError:  # no epsilon is enough for the thresholds at this delta
        return False


def covers(training: Callable[[Values], Enclosure]) -> Condition:
    """The training's guarantee holds for the records of the thresholds, too."""

    def holds(config: Values) -> bool | None:
        if config.thresholds == "other_records":
            return _compared(config, training, lambda thresholds, rest: thresholds.certainly_le(rest))
        return bool(config.thresholds == "fixed")

    return Condition(
        "past-thresholds", holds, "the thresholds are fixed in advance, or come from other records at no higher epsilon"
    )


def covered(training: Callable[[Values], Enclosure], others: tuple[Condition, ...]) -> Guarantee:
    """The thresholds' guarantee where it is the weaker one; `others` is what the training's own guarantee assumes."""

    def holds(config: Values) -> bool | None:
        if config.thresholds == "other_records":
            return _compared(config, training, lambda thresholds, rest: rest.certainly_le(thresholds))
        return False

    return Guarantee(
        "dp-threshold.epsilon", "the thresholds, where they cost more than the training on the other records",
        lambda config: _calls(config, config.dataset_size),
        (
            REPLACE, *REPAIRED, *towards("noisy-test", *others),
            Condition(
                "noisy-test", holds, "the thresholds come from other records, at no lower epsilon than the training's"
            ),
        ),
    )


dp_threshold = Algorithm(
    name="dp-threshold",
    document="003, Algorithm 2",
    summary="a scale of the residuals of a model, from three stable histograms of batch means",
    parameters=KEYS,
    training=(vocabulary.model_variance, vocabulary.weights),
    setting=(vocabulary.dataset_size, vocabulary.calls, vocabulary.delta.open(), vocabulary.neighbours),
    stated=STATED,
    trained=lambda config: {**TRAINED, "calls": 1},
    released="output",
    neighbours="replace",
    guarantees=(
        Guarantee(
            "dp-threshold.epsilon", "stable histograms: what all calls together release",
            lambda config: _calls(config, config.calls), (REPLACE, *REPAIRED, *filled("dataset_size")),
        ),
    ),
    check=check,
    step=lambda config, room: largest_square(config),
    reference=train,
    batched="oracle.algorithms.glmtron.torch_dp_threshold:twin",
    source=(
        "glmtron/alg-2-repaired", "glmtron/alg-2-histogram-privacy", "glmtron/alg-2-sample-size-repaired",
        "glmtron/threshold-composition",
    ),
)
