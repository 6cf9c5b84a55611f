r"""Worst cases of the ReLU regressions: GLMtron, tree aggregation, adaptive noise, random projections.

The canary has a negative label and features +-e_1. Then (ReLU(<x, w>) - y) x is never shorter than |y| and points along
x whatever the model: clipped, it is exactly +-gamma e_1 at every step, with certainty. All other records are zero, and
so are their vectors. What is released is then known exactly:

GLMtron: a record at place t of N is in the iterates after it, (N-1-t)/N of the average, and t is uniform and secret:
a mixture of N Gaussians, whose variance is the sum of (2 f gamma eta (N-1-t)/N)^2.

Trees: the first record is in all N prefix sums, so the average moves by eta times what a leaf moves. The noise of the
node that leaf k (from 1) completes is live for min(2^b, N - k + 1) answers, 2^b the largest power of 2 that divides k:
Gaussian, of variance (eta noise / N)^2 times the sum of the squares of these.

One batch of the adaptive descent is a single Gaussian step from w = 0, whose noise is known.

The gradient with its indicator, 1[<x, w> > 0], needs a model on the right side: no law, and a positive label, which
pushes the model further to the side where it is.
"""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np

from empirical.pairs.descent import HUGE_LABEL, SIZES
from empirical.pairs.generic import replaced, unit
from empirical.pairs.laws import GaussianLaw, MixtureLaw, isotropic
from empirical.pairs.pair import Array, Builder, Pair
from oracle.algorithms.glmtron.glmtron import SHORTEN
from oracle.algorithms.regression import adaptive_batched_gd
from oracle.core.algorithm import Values
from oracle.core.domain import Parameter
from oracle.core.errors import DomainError

INDICATOR = ("glm-dp-sgd", "dp-ftrl")


def opposite(records: int, dimension: int, at: int, length: float, label: float, *, zeroed: bool = False) -> Pair:
    """Neighbours whose canary has features +length e_1 (or 0) on data set 0 and -length e_1 on data set 1."""
    direction = unit(dimension)
    first = 0.0 * direction if zeroed else length * direction
    others, labels = np.zeros((records - 1, dimension)), np.zeros(records - 1)
    return replace(replaced(others, labels, (first, -length * direction), (label, label), at), direction=direction)


def _label(name: str, config: Values) -> float:
    if name in INDICATOR or name == "dp-glmtron-adaptive":
        return HUGE_LABEL if name in INDICATOR else -HUGE_LABEL
    return -max(1.0, float(config.clip_norm))


def shuffled_law(config: Values, records: int, direction: Array) -> MixtureLaw:
    """The law of DP-GLMtron's average iterate."""
    move = config.learning_rate * config.clip_norm
    shares = [Fraction(age, records) for age in range(records)]
    noise = 2 * config.noise_over_sensitivity * move
    variance = sum(((noise * share) ** 2 for share in shares), config.initial_std**2 * Fraction(1))
    parts = [(Fraction(1, records), move * share) for share in shares]
    return MixtureLaw([(weight, -mean) for weight, mean in parts], parts, variance, direction)


def _shuffled(name: str, config: Values, parameters: Values) -> Pair:
    pair = opposite(parameters.records, parameters.dimension, 0, 1.0, _label(name, config))
    if name == "glm-dp-sgd":  # with y > 0 the record pushes along +x
        pair = replace(pair, direction=-unit(parameters.dimension))
    if name != "dp-glmtron" or config.clip != SHORTEN or parameters.records < 2:
        return pair
    return replace(pair, law=shuffled_law(config, parameters.records, unit(parameters.dimension)))


def _shuffled_defaults(name: str, config: Values) -> dict[str, Any]:
    return {"records": 10 + (config.threshold_records if name == "dp-glmtron-adaptive" else 0), "dimension": 2}


shuffled_canary = Builder(
    name="shuffled-canary",
    summary="a canary of a constant clipped vector, in a pass in secret order over records that are zero",
    algorithms=("dp-glmtron", "glm-dp-sgd", "dp-glmtron-adaptive"),
    parameters=SIZES,
    defaults=_shuffled_defaults,
    build=_shuffled,
)


def tree_law(config: Values, records: int, place: int, direction: Array) -> GaussianLaw:
    """The law of DP-TAGLMtron's average iterate, the canary at a place from 1."""
    moves = 2 if config.neighbours == "replace" else 1  # by how many clipping norms the canary moves a node
    gap = config.learning_rate * moves * config.clip_norm * Fraction(records - place + 1, records)
    noise = config.learning_rate * config.noise_multiplier * config.clip_norm / records
    lives = [min(leaf & -leaf, records - leaf + 1) for leaf in range(1, records + 1)]
    variance = noise**2 * sum(live**2 for live in lives) + config.initial_std**2
    return isotropic(gap=gap, variance=Fraction(variance), direction=direction)


def _tree(name: str, config: Values, parameters: Values) -> Pair:
    if parameters.place > parameters.records:
        raise DomainError(f"place = {parameters.place} is outside its domain: an integer in [1, {parameters.records}]")
    # The guarantee's second relation zeroes a record's leaf in its place; the data sets have one size under both.
    zeroed = config.neighbours == "add_remove"
    dimension = parameters.dimension
    pair = opposite(parameters.records, dimension, parameters.place - 1, 1.0, _label(name, config), zeroed=zeroed)
    if name == "dp-ftrl":
        return replace(pair, direction=-unit(dimension))
    if config.clip != SHORTEN:
        return pair
    law = tree_law(config, parameters.records, parameters.place, unit(dimension))
    push = float(config.learning_rate) * float(config.clip_norm) / 2 if zeroed else 0.0
    centre = law.centre + push * unit(dimension) * (
        (parameters.records - parameters.place + 1) / parameters.records
    )
    return replace(pair, law=replace(law, centre=centre))


tree_canary = Builder(
    name="tree-canary",
    summary="a canary of a constant clipped vector among records that are zero; the first place is in every answer",
    algorithms=("dp-taglmtron", "dp-ftrl"),
    parameters=(*SIZES, Parameter("place", kind="integer", low=Fraction(1), meaning="the canary's place, from 1")),
    defaults=lambda name, config: {"records": 16, "dimension": 2, "place": 2 if name == "dp-ftrl" else 1},
    build=_tree,
)


def _bounded(name: str, config: Values, parameters: Values) -> Pair:
    records, dimension = parameters.records, parameters.dimension
    length = Fraction(1) if name == "dp-pgd" else config.feature_norm
    label = -float(config.label_bound)
    pair = opposite(records, dimension, records - 1, float(length), label)
    if name != "adaptive-batched-gd" or records != config.batch_size:
        return pair
    std = Fraction(adaptive_batched_gd.noise_std(config, 0.0))  # the noise that the run has, to the last bit
    gap = 2 * length * config.label_bound / config.batch_size
    direction = unit(dimension) / float(config.learning_rate)
    return replace(pair, law=isotropic(gap=gap, variance=std**2, direction=direction))


bounded_canary = Builder(
    name="bounded-canary",
    summary="a canary of the longest features, opposite on the two sides, and the least label; the rest is zero",
    algorithms=("adaptive-batched-gd", "dp-pgd"),
    parameters=SIZES,
    defaults=lambda name, config: {
        "records": config.batch_size if name == "adaptive-batched-gd" else 10, "dimension": 2,
    },
    build=_bounded,
)
