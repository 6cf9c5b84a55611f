r"""Subsample and aggregate: the noisy mean of estimates over disjoint blocks (document 004, "Subsample & Aggregate").

    release  (1/k) sum_{j=1..k} clip(estimate(block_j), [low, high]) + Laplace(b)

The k blocks are of one size (k must divide the number of records: none is dropped in silence) and a record's place
alone decides its block: consecutive places, or those of a uniform permutation. A replaced record changes one estimate,
so that b = (high - low) / (k epsilon) is epsilon-DP. The estimator is any function of a block; here

    mean      of the labels
    median    of the labels, the mean of the middle two for an even number
    slope     of least squares of the labels on the only feature, 0 where the feature does not vary

The document's "optimal rates" need an unbiased estimator (a bias of order k/n survives the mean); privacy does not.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from oracle.algorithms.shared import glm
from oracle.algorithms.shared.conditions import REPLACE
from oracle.algorithms.shared.glm import Array
from oracle.core import vocabulary
from oracle.core.algorithm import Algorithm, Condition, Guarantee, Values, equals, said
from oracle.core.errors import DomainError
from oracle.core.tape import Tape


def check(features: Array, labels: Array, config: Values) -> None:
    """A DomainError unless the data fall into blocks on which the estimator is defined."""
    glm.check_data(features, labels)
    if not config.estimate_low < config.estimate_high:
        raise DomainError(
            f"estimate_high = {config.estimate_high} is outside its domain: a real number > estimate_low ="
            f" {config.estimate_low}"
        )
    block_size(config, features.shape[0])
    if config.estimator == "slope" and features.shape[1] != 1:
        raise DomainError(f"estimator = slope is outside its domain: one feature, got {features.shape[1]}")


def block_size(config: Values, records: int) -> int:
    """The number of records of a block, or a DomainError: no record is dropped in silence."""
    if records < 1 or records % config.blocks:
        raise DomainError(f"blocks = {config.blocks} is outside its domain: a divisor of the {records} records")
    return int(records // config.blocks)


def estimate(estimator: str, features: Array, labels: Array) -> float:
    """What the estimator says of one block."""
    if estimator == "mean":
        return float(np.mean(labels))
    if estimator == "median":
        return float(np.median(labels))
    x, y = features[:, 0], labels
    if x.max() == x.min():  # decided exactly: a centred sum of squares is not exactly 0
        return 0.0
    power = int(np.frexp(np.abs(x).max())[1])
    x = np.ldexp(x, -power)  # no square of what varies underflows then, and a slope of ordinary numbers keeps its bits
    slope = ((x - x.mean()) * (y - y.mean())).sum() / ((x - x.mean()) ** 2).sum()
    with np.errstate(over="ignore"):  # an infinite slope is cut like every other
        return float(np.ldexp(slope, -power))


def train(features: Array, labels: Array, config: Values, tape: Tape, recorder: Any = None) -> Array:
    """The noisy mean of the estimates of one run, shape [1]."""
    check(features, labels, config)
    records = len(features)
    size = block_size(config, records)
    order = np.arange(records) if config.order == "given" else tape.permutation("blocks", 0, records)[0]
    total = 0.0
    for block in range(config.blocks):
        places = order[block * size : (block + 1) * size]
        answer = estimate(config.estimator, features[places], labels[places])
        total += min(max(answer, float(config.estimate_low)), float(config.estimate_high))
        if recorder is not None:
            recorder("batch", step=block, batch=places.copy(), estimate=answer)
    noise = float(config.noise_scale) * tape.laplace("noise", 0, 1)[0]
    if recorder is not None:
        recorder("release", exact=total / config.blocks, noise_scale=float(config.noise_scale))
    return np.asarray(total / config.blocks + noise)


def facts(config: Values) -> dict[str, Any]:
    """The length of the interval that estimates are clipped to."""
    if config.estimate_low is None or config.estimate_high is None:
        return {}
    return {"estimate_range": config.estimate_high - config.estimate_low}


def _mean(config: Values, **noise: Any) -> dict[str, Any] | None:
    """What both bounds ask for: how far one record moves the mean, and the noise."""
    if config.estimate_range is None:
        return None
    return {"estimate_range": config.estimate_range, "blocks": config.blocks, **noise}


def _divides(config: Values) -> bool:
    """A training that knows its records has blocks of one size, or none; a plan's may be of any."""
    records = getattr(config, "records", None)
    return records is None or records % config.blocks == 0


_BLOCKS = (
    REPLACE,
    said("disjoint-blocks", "disjoint"),
    said("estimates-clipped", "clipped"),
    Condition(
        "estimates-clipped", lambda config: None if config.estimate_range is None else config.estimate_range > 0,
        "the set is not empty: estimate_low < estimate_high",
    ),
    Condition(
        "disjoint-blocks", _divides, "no record is left over: a training's blocks divide the number of its records"
    ),
)


subsample_aggregate = Algorithm(
    name="subsample-aggregate",
    document="004, Subsample & Aggregate",
    summary="the mean of clipped estimates over disjoint blocks, plus Laplace noise",
    parameters=(vocabulary.blocks, vocabulary.noise_scale),
    training=(vocabulary.estimator, vocabulary.order, vocabulary.estimate_low, vocabulary.estimate_high),
    setting=(vocabulary.noise_law.choosing("laplace", "gaussian"), vocabulary.delta.open(), vocabulary.neighbours),
    stated=(vocabulary.estimate_range, vocabulary.disjoint, vocabulary.clipped),
    facts=facts,
    trained=lambda config: {"noise_law": "laplace", "disjoint": "true", "clipped": "true"},
    released="output",
    neighbours="replace",
    guarantees=(
        Guarantee(
            "subsample-aggregate.epsilon", "pure: one record moves one block",
            lambda config: _mean(config, scale=config.noise_scale),
            (equals("laplace-noise", "noise_law", "laplace"), *_BLOCKS),
        ),
        Guarantee(
            "subsample-aggregate-gaussian.epsilon", "the Gaussian mechanism on the mean",
            lambda config: _mean(config, sigma=config.noise_scale),
            (equals("gaussian-noise", "noise_law", "gaussian"), *_BLOCKS),
        ),
    ),
    check=check,
    reference=train,
    batched="oracle.algorithms.mechanisms.torch_subsample_aggregate:twin",
    source=("cs208/sa-privacy",),
)
