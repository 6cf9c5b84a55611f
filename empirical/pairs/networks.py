r"""Worst cases of the models with hidden parts: convex ReLU units, block coordinate descent, tuning.

Block coordinate descent without hidden layers is one linear block. A record of a label beyond all others has its
gradient always clipped: +-C e_1, so that the block is Gaussian, its random start included, but for iterates as far
away as the label, whose probability no double can express. With hidden layers only the label is known to be extreme.

Convex ReLU units: the canary is active at half of the random hyperplanes, which are not released; the direction is that
of all units' first coordinate.

Tuning: NoisyCGD's worst case among the protected records, and public records that score a model by how far it went in
the canary's direction.
"""

from __future__ import annotations

import math
from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np

from empirical.pairs.descent import HUGE_LABEL, SIZES, canary_pair
from empirical.pairs.generic import replaced, unit
from empirical.pairs.laws import NearlyLaw, isotropic
from empirical.pairs.pair import Builder, Pair
from oracle.core.algorithm import Values
from oracle.core.errors import DomainError

NEVER = Fraction(1, 2**1000)
"""Above the probability that a Gaussian strays a thousand standard deviations (e^-500000) in any run there can be."""


def _blocks(name: str, config: Values, parameters: Values) -> Pair:
    records, dimension = parameters.records, parameters.dimension
    classes = config.outputs > 1
    low, high = (0.0, 1.0) if classes else (-HUGE_LABEL, HUGE_LABEL)
    others, labels = np.zeros((records - 1, dimension)), np.zeros(records - 1)
    canary = unit(dimension)
    pair = replaced(others, labels, (canary, canary), (low, high), records - 1)
    if config.layers or classes:
        return pair
    pair = replace(pair, direction=canary)
    if config.regulariser != "none" or config.spectral_norm != math.inf or config.clip_norm == math.inf:
        return pair
    rate, noise = config.learning_rate, config.noise_variances
    gap = 2 * rate * config.clip_norm / config.batch_size * len(noise)
    updates = records // config.batch_size
    variance = Fraction(1, dimension) + sum((2 * rate * o * updates for o in noise), Fraction(0))
    farthest = HUGE_LABEL - float(config.clip_norm) - float(gap)
    if farthest < 1000 * math.sqrt(float(variance)):
        raise DomainError(f"clip_norm = {config.clip_norm} is outside its domain: far below the label {HUGE_LABEL:g}")
    return replace(pair, law=NearlyLaw(isotropic(gap=gap, variance=variance, direction=canary), NEVER))


def _block_defaults(name: str, config: Values) -> dict[str, Any]:
    return {"records": 2 * config.batch_size, "dimension": 1}


label_canary = Builder(
    name="label-canary",
    summary="a canary of the most extreme labels, one on either side; the rest is zero",
    algorithms=("dp-sbcd",),
    parameters=SIZES,
    defaults=_block_defaults,
    build=_blocks,
)


def _units(name: str, config: Values, parameters: Values) -> Pair:
    records, dimension = parameters.records, parameters.dimension
    low, high = (-HUGE_LABEL, HUGE_LABEL) if config.loss == "squared" and config.outputs == 1 else (0.0, 1.0)
    others, labels = np.zeros((records - 1, dimension)), np.zeros(records - 1)
    canary = float(config.feature_norm) * unit(dimension)
    weights = np.zeros((config.outputs, config.hyperplanes, dimension))
    weights[-1 if config.outputs == 1 else 1, :, 0] = 1.0
    if config.outputs > 1:
        weights[0, :, 0] = -1.0
    direction = weights.ravel() / np.linalg.norm(weights)
    return replace(replaced(others, labels, (canary, canary), (low, high), records - 1), direction=direction)


unit_canary = Builder(
    name="unit-canary",
    summary="a canary of the longest features and the most extreme labels, one on either side; the rest is zero",
    algorithms=("noisy-cgd-convex-relu",),
    parameters=SIZES,
    defaults=_block_defaults,
    build=_units,
)


def _tuned(name: str, config: Values, parameters: Values) -> Pair:
    records, dimension = parameters.records, parameters.dimension
    kept = records - config.validation_records
    if kept < 1:
        wanted = f"more than validation_records = {config.validation_records}"
        raise DomainError(f"records = {records} is outside its domain: {wanted}")
    pair = canary_pair(config, records=kept, dimension=dimension, at=kept - 1, longest=config.feature_norm)
    public = np.tile(unit(dimension), (config.validation_records, 1))
    label = 0.0 if config.loss == "linear" else 1.0
    features = tuple(np.concatenate([part, public]) for part in pair.features)
    labels = tuple(np.concatenate([part, np.full(config.validation_records, label)]) for part in pair.labels)
    return replace(
        pair, features=(features[0], features[1]), labels=(labels[0], labels[1]),
        direction=np.concatenate([[0.0], unit(dimension)]),
    )


tuned_canary = Builder(
    name="tuned-canary",
    summary="a canary of opposite gradients in the last batch, and public records that favour its direction",
    algorithms=("poisson-tuned-noisy-cgd",),
    parameters=SIZES,
    defaults=lambda name, config: {"records": 2 * config.batch_size + config.validation_records, "dimension": 2},
    build=_tuned,
)
