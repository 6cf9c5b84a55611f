r"""Worst cases of the mechanisms of document 004: noise on a minimiser, on an objective, on statistics, on a choice.

Perturbation, linear loss, one feature: the minimiser of -(mean x) theta + (lambda/2) theta^2 is (mean x) / lambda. The
canary +-L moves it by 2 L / (n lambda), all that the theorem allows, and the noise is one Laplace variable: of scale b
on the output, and of scale s / (n lambda) from the objective's random linear term. In more dimensions the noise has
another law, which the projection on the canary sees only in part.

Subsample and aggregate: the canary carries the estimate of its block from one end of the interval to the other.
Statistics: the records (0, 0) and (1, 1) move all four means by 1/n.
Exponential mechanism: the canary's loss is the whole range B on one half of the grid and 0 on the other, the other way
round for its counterpart, which all other records equal. So the half that the canary favours is rare, the normaliser
hardly changes where the weights change by e^{2B/T}, and the exact epsilon comes close to the proved 2B/T. The law of
the grid is finite, and computed in balls from the data.
"""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np
from flint import arb

from empirical.pairs.descent import HUGE_LABEL, SIZES
from empirical.pairs.finite_law import FiniteLaw, LaplaceProductLaw
from empirical.pairs.generic import replaced, unit
from empirical.pairs.laws import LaplaceLaw
from empirical.pairs.pair import Array, Builder, Pair
from oracle.algorithms.mechanisms import exponential_mechanism
from oracle.algorithms.mechanisms.subsample_aggregate import block_size
from oracle.algorithms.perturbation import objective_perturbation
from oracle.core.algorithm import Values
from oracle.core.domain import positive_integer
from oracle.core.enclosure import ball

RECORDS = positive_integer("records")


def laplace_law(ratio: Fraction, scale: float, centre: float, dimension: int) -> LaplaceLaw:
    """One Laplace coordinate, the first, of that scale, moved by `ratio` scales around a centre."""
    direction = unit(dimension)
    return LaplaceLaw(lambda: ball(ratio), direction / scale, centre * direction)


def _minimiser(name: str, config: Values, parameters: Values) -> Pair:
    records, dimension = parameters.records, parameters.dimension
    length = float(config.feature_norm)
    direction = unit(dimension)
    others, labels = np.zeros((records - 1, dimension)), np.zeros(records - 1)
    if config.loss == "linear":
        canaries, ends = (-length * direction, length * direction), (0.0, 0.0)
    else:
        canaries = (length * direction, length * direction)
        ends = (0.0, 1.0) if config.loss == "logistic" else (-HUGE_LABEL, HUGE_LABEL)
    pair = replace(replaced(others, labels, canaries, ends, records - 1), direction=direction)
    if config.loss != "linear" or dimension != 1:
        return pair
    if name == "output-perturbation":
        ratio = 2 * config.feature_norm / (records * config.regularisation * config.noise_scale)
        return replace(pair, law=laplace_law(ratio, float(config.noise_scale), 0.0, dimension))
    scale, ridge = objective_perturbation.noise_and_ridge(config, records)
    ratio = 2 * config.feature_norm / Fraction(scale)
    return replace(pair, law=laplace_law(ratio, scale / (records * ridge), 0.0, dimension))


minimiser_canary = Builder(
    name="minimiser-canary",
    summary="a canary of opposite slopes, as steep as the loss allows; the rest is zero",
    algorithms=("output-perturbation", "objective-perturbation"),
    parameters=SIZES,
    defaults=lambda name, config: {"records": 20, "dimension": 1},
    build=_minimiser,
)


def _block(name: str, config: Values, parameters: Values) -> Pair:
    records = parameters.records
    size = block_size(config, records)
    lowest, highest = config.estimate_low, config.estimate_high
    width = float(highest) - float(lowest)
    low, high = float(lowest) - size * width - HUGE_LABEL, float(highest) + size * width + HUGE_LABEL
    others, labels = np.zeros((records - 1, 1)), np.zeros(records - 1)
    canary = np.ones(1)  # the only feature that varies, so that its block's slope is its label
    if config.estimator == "median":
        labels = np.where(np.arange(records - 1) % 2 == 0, low, high)  # half on either side: the canary is the middle
    pair = replace(replaced(others, labels, (canary, canary), (low, high), records - 1), direction=unit(1))
    known = size == 1 or config.estimator != "median"
    if not known:
        return pair
    ratio = (highest - lowest) / (config.blocks * config.noise_scale)
    rest = min(max(Fraction(0), lowest), highest) if config.estimator != "median" else None
    if rest is None:  # every other estimate is an end of the interval
        ends = [lowest if label < 0 else highest for label in labels]
        centre = (sum(ends, Fraction(0)) + (lowest + highest) / 2) / config.blocks
    else:
        centre = (rest * (config.blocks - 1) + (lowest + highest) / 2) / config.blocks
    return replace(pair, law=laplace_law(ratio, float(config.noise_scale), float(centre), 1))


block_canary = Builder(
    name="block-canary",
    summary="a canary that carries its block's estimate from one end of the interval to the other",
    algorithms=("subsample-aggregate",),
    parameters=(RECORDS,),
    defaults=lambda name, config: {"records": 2 * config.blocks},
    build=_block,
)


def _moments(name: str, config: Values, parameters: Values) -> Pair:
    records = parameters.records
    others, labels = np.zeros((records - 1, 1)), np.zeros(records - 1)
    pair = replaced(others, labels, (np.zeros(1), np.ones(1)), (0.0, 1.0), records - 1)
    direction = np.array([0.5, 0.5, 0.5, 0.5, 0.0, 0.0])
    means = (np.zeros(4), np.full(4, 1.0 / records))
    law = LaplaceProductLaw(Fraction(1, records) / config.noise_scale, float(config.noise_scale), means)
    return replace(pair, direction=direction, law=law)


moments_canary = Builder(
    name="moments-canary",
    summary="a record (0, 0) is replaced by (1, 1): all four means move by 1/n",
    algorithms=("sufficient-statistics",),
    parameters=(RECORDS,),
    defaults=lambda name, config: {"records": 20},
    build=_moments,
)


def clipped_loss(config: Values, x: Sequence[Fraction], y: Fraction, theta: Sequence[Fraction]) -> arb:
    """A record's clipped loss at a model, in balls."""
    score = sum((a * b for a, b in zip(x, theta, strict=True)), Fraction(0))
    if config.loss == "squared":
        return ball(min((score - y) ** 2 / 2, config.loss_range))
    margin = score if y == 1 else -score
    return ball(-margin).exp().log1p().min(ball(config.loss_range))


def grid_law(config: Values, features: Array, labels: Array) -> list[arb]:
    """The law of the exponential mechanism over its grid, in balls."""
    step = Fraction(2, config.grid_points - 1)
    axis = [config.grid_radius * (step * j - 1) for j in range(config.grid_points)]
    weights = []
    rows = zip(features.tolist(), labels.tolist(), strict=True)
    counted = Counter((tuple(Fraction(entry) for entry in x), Fraction(y)) for x, y in rows)
    for theta in itertools.product(axis, repeat=features.shape[1]):
        energy = ball(len(features) * config.regularisation / 2 * sum((t * t for t in theta), Fraction(0)))
        for (x, y), times in counted.items():
            energy += times * clipped_loss(config, x, y, theta)
        weights.append((-energy / ball(config.temperature)).exp())
    total = arb(0)
    for weight in weights:
        total += weight
    return [weight / total for weight in weights]


def _grid_canary(name: str, config: Values, parameters: Values) -> Pair:
    """Features so long that the loss of a model on the wrong side is the whole range, and on the right side 0."""
    records, dimension = parameters.records, parameters.dimension
    direction = unit(dimension)
    length = 2.0 * (float(config.loss_range) + 40.0) / float(config.grid_radius) * (config.grid_points - 1)
    label = 1.0
    if config.loss == "squared":  # zero at one corner of the grid, beyond the range everywhere else
        label = length * float(config.grid_radius)
    canaries = (-length * direction, length * direction)
    others, labels = np.tile(canaries[0], (records - 1, 1)), np.full(records - 1, label)
    pair = replace(replaced(others, labels, canaries, (label, label), records - 1), direction=direction)
    outcomes = exponential_mechanism.candidates(config, dimension)
    law = FiniteLaw(
        outcomes, lambda: (grid_law(config, pair.features[0], pair.labels[0]),
                           grid_law(config, pair.features[1], pair.labels[1])),
    )
    return replace(pair, law=law)


def _grid_defaults(name: str, config: Values) -> dict[str, Any]:
    return {"records": 4, "dimension": 1}


grid_canary = Builder(
    name="grid-canary",
    summary="a canary whose loss is the whole range on one half of the grid and 0 on the other",
    algorithms=("exponential-mechanism",),
    parameters=SIZES,
    defaults=_grid_defaults,
    build=_grid_canary,
)
