r"""Subsample and aggregate: the noisy mean of estimates over disjoint blocks (document 004, "Subsample & Aggregate").

    release  (1/k) sum_{j=1..k} clip(estimate(block_j), low, high) + Laplace(b)

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
from oracle.algorithms.shared.glm import Array
from oracle.core import vocabulary
from oracle.core.errors import DomainError
from oracle.core.registry import Algorithm, Values
from oracle.core.tape import Tape


def check(features: Array, labels: Array, config: Values) -> None:
    """A DomainError unless the data fall into blocks on which the estimator is defined."""
    glm.check_data(features, labels)
    check_interval(config)
    block_size(config, features.shape[0])
    if config.estimator == "slope" and features.shape[1] != 1:
        raise DomainError(f"estimator = slope is outside its domain: one feature, got {features.shape[1]}")


def check_interval(config: Values) -> None:
    """A DomainError unless low < high."""
    if not config.estimate_low < config.estimate_high:
        raise DomainError(f"high = {config.estimate_high} is outside its domain: a real number > low = {config.estimate_low}")


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
    return float(((x - x.mean()) * (y - y.mean())).sum() / ((x - x.mean()) ** 2).sum())


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


def account(config: Values, records: int) -> dict[str, Any]:
    """The parameters of subsample-aggregate.epsilon."""
    check_interval(config)
    block_size(config, records)
    return {"diameter": config.estimate_high - config.estimate_low, "blocks": config.blocks, "scale": config.noise_scale}


subsample_aggregate = Algorithm(
    name="subsample-aggregate",
    document="004, Subsample & Aggregate",
    summary="the mean of clipped estimates over disjoint blocks, plus Laplace noise",
    parameters=(
        vocabulary.estimator,
        vocabulary.order,
        vocabulary.blocks,
        vocabulary.estimate_low,
        vocabulary.estimate_high,
        vocabulary.noise_scale,
    ),
    released="output",
    neighbours="replace",
    accounted_by="subsample-aggregate.epsilon",
    account=account,
    reference=train,
    batched="oracle.algorithms.mechanisms.torch_subsample_aggregate:train",
    gaussian_release=lambda config: False,
    source=("cs208/sa-privacy",),
)
