r"""Worst cases of the descents on Poisson batches: DP-SGD on generalised linear models and on networks.

For the linear loss without a ridge the last iterate of DP-SGD moves by eta C / b along the canary for each of the
K ~ Binomial(T, q) batches that it is in, and all steps have the same noise: a mixture of T + 1 Gaussians of variance
T (eta noise_on_mean)^2. What is seen is the sum of the T noisy steps; the accountant lets all of them be seen, so that
the exact epsilon of the last iterate stays below the proved one. With a ridge the sum is weighted: 2^T parts, which are
listed for few steps only.

The networks have no linear loss. Their canary moves the output: its features are zero where there is an output bias,
and its label is as extreme as the loss allows.
"""

from __future__ import annotations

import itertools
import math
from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np

from empirical.pairs.descent import HUGE_LABEL, SIZES, canary_pair
from empirical.pairs.generic import added, replaced, unit
from empirical.pairs.laws import MixtureLaw
from empirical.pairs.pair import Builder, Pair
from oracle.algorithms.networks.dp_sgd_network import weights_count
from oracle.core.algorithm import Values

MOST_LISTED_STEPS = 10


def sampled_law(config: Values, direction: Any) -> MixtureLaw | None:
    """The law of the last iterate for the linear loss, or None where it has too many parts."""
    rate = Fraction(config.batch_size, config.dataset_size)
    move = config.learning_rate * config.clip_norm / config.batch_size
    steps, multiplier = config.steps, 1 - config.learning_rate * config.regularisation
    if config.regularisation == 0:
        parts = [(math.comb(steps, k) * rate**k * (1 - rate) ** (steps - k), k * move) for k in range(steps + 1)]
    elif steps <= MOST_LISTED_STEPS and multiplier >= 0:
        parts = []
        for chosen in itertools.product((0, 1), repeat=steps):
            weight = rate ** sum(chosen) * (1 - rate) ** (steps - sum(chosen))
            moved = sum((move * multiplier**age for age, drawn in enumerate(chosen) if drawn), Fraction(0))
            parts.append((weight, moved))
    else:
        return None
    parts = [part for part in parts if part[0] > 0]
    kick = config.learning_rate * config.noise_on_mean
    variance = sum(((multiplier**age * kick) ** 2 for age in range(steps)), Fraction(0))
    none = [(Fraction(1), Fraction(0))]
    negatives = none if config.neighbours == "add_remove" else [(weight, -mean) for weight, mean in parts]
    return MixtureLaw(negatives, parts, variance, direction)


def _glm(name: str, config: Values, parameters: Values) -> Pair:
    pair = canary_pair(
        config, records=parameters.records, dimension=parameters.dimension, at=parameters.records - 1, longest=None,
        add_remove=config.neighbours == "add_remove",
    )
    return replace(pair, law=sampled_law(config, pair.direction)) if config.loss == "linear" else pair


def _sizes(name: str, config: Values) -> dict[str, Any]:
    # Where a record is added the declared n is a constant, and the data may be few; where one is replaced they are n.
    return {"records": 2 if config.neighbours == "add_remove" else config.dataset_size, "dimension": 2}


sampled_canary = Builder(
    name="sampled-canary",
    summary="a canary of opposite gradients, or one that is added, among records without gradients",
    algorithms=("dp-sgd",),
    parameters=SIZES,
    defaults=_sizes,
    build=_glm,
)


def _network(name: str, config: Values, parameters: Values) -> Pair:
    records, dimension = parameters.records, parameters.dimension
    others, labels = np.zeros((records - 1, dimension)), np.zeros(records - 1)
    low, high = (0.0, 1.0) if config.loss == "logistic" else (-HUGE_LABEL, HUGE_LABEL)
    canary, direction = np.zeros(dimension), None
    if name == "dp-sgd-network":
        # The output bias, which every label pulls at.
        direction = unit(weights_count(config.hidden_units, dimension), -1)
    else:
        canary = 10.0 * float(config.clip_norm) * unit(dimension)  # without biases only features make gradients
    if config.neighbours == "add_remove":
        return replace(added(others, labels, canary, high, records - 1), direction=direction)
    return replace(replaced(others, labels, (canary, canary), (low, high), records - 1), direction=direction)


network_canary = Builder(
    name="network-canary",
    summary="a canary with the most extreme label that the loss allows",
    algorithms=("dp-sgd-network", "dp-sgd-multilayer"),
    parameters=SIZES,
    defaults=_sizes,
    build=_network,
)
