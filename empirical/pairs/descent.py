r"""Worst cases of the full-batch and cyclic descents on generalised linear models.

All records are zero but the canary, whose gradient is as long as the guarantee allows and points one way on data set 1
and the other way on data set 0 (or is missing there). For the linear loss every step is affine, so releases are exactly
Gaussian, and mu is a quotient of two recursions in rationals:

    gap <- a gap + eta s [canary's step],    variance <- a^2 variance + (eta sigma)^2,    a = 1 - eta lambda.

For the squared loss the label is so large that the gradient is always clipped; for the logistic one it is flipped.
"""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np

from empirical.pairs.generic import added, replaced, unit
from empirical.pairs.laws import GaussianLaw, isotropic
from empirical.pairs.pair import Array, Builder, Pair
from oracle.core.algorithm import Values
from oracle.core.domain import Parameter, positive_integer
from oracle.core.errors import DomainError

HUGE_LABEL = 1e6
"""A squared-loss residual so large that its gradient is clipped whatever the model, in units of what clips it."""

SIZES = (positive_integer("records", "size of the data set(s) that have the canary"), positive_integer("dimension"))


def canary_pair(
    config: Values, *, records: int, dimension: int, at: int, longest: Fraction | None, add_remove: bool = False
) -> Pair:
    """Neighbours by one canary along e_1 whose gradient is -C or +C, if records of that length may be."""
    length = config.clip_norm if longest is None else min(config.clip_norm, longest)
    direction = unit(dimension)
    others, labels = np.zeros((records - 1, dimension)), np.zeros(records - 1)
    ends = (0.0, 0.0)
    canaries = (-float(length) * direction, float(length) * direction)
    if config.loss != "linear":
        # The gradient is r x with one x: a label on either side decides the sign of r.
        x = float(longest) if longest is not None else max(1.0, 4 * float(config.clip_norm))
        canaries = (x * direction, x * direction)
        ends = (0.0, 1.0)
        if config.loss == "squared":
            label = HUGE_LABEL * max(1.0, float(config.clip_norm) / x)
            ends = (-label, label)
    if add_remove:
        return replace(added(others, labels, canaries[1], ends[1], at), direction=direction)
    return replace(replaced(others, labels, canaries, ends, at), direction=direction)


def cyclic_law(config: Values, *, batches: int, batch: int, gap: Fraction, direction: Array) -> GaussianLaw:
    """The law of the last iterate for the linear loss, with gradients `gap` apart in one batch of every epoch."""
    multiplier = 1 - config.learning_rate * config.regularisation
    apart, variance = Fraction(0), Fraction(0)
    for _ in range(config.epochs):
        for number in range(1, batches + 1):
            apart = multiplier * apart + (config.learning_rate * gap if number == batch else 0)
            variance = multiplier**2 * variance + (config.learning_rate * config.noise_on_mean) ** 2
    return isotropic(gap=apart, variance=variance, direction=direction)


def _cyclic(name: str, config: Values, parameters: Values) -> Pair:
    records, batch_size = parameters.records, config.batch_size
    if records % batch_size:
        raise DomainError(f"records = {records} is outside its domain: a multiple of batch_size = {batch_size}")
    batches = records // batch_size
    if parameters.batch > batches:
        raise DomainError(f"batch = {parameters.batch} is outside its domain: an integer in [1, {batches}]")
    at = parameters.batch * batch_size - 1
    pair = canary_pair(
        config, records=records, dimension=parameters.dimension, at=at, longest=config.feature_norm
    )
    if config.loss != "linear":
        return pair
    gap = 2 * min(config.clip_norm, config.feature_norm) / batch_size
    assert pair.direction is not None
    law = cyclic_law(config, batches=batches, batch=parameters.batch, gap=gap, direction=pair.direction)
    return replace(pair, law=law)


def _cyclic_defaults(name: str, config: Values) -> dict[str, Any]:
    return {"records": 4 * config.batch_size, "dimension": 4, "batch": 4}


cyclic_canary = Builder(
    name="cyclic-canary",
    summary="a canary of opposite gradients in one batch of every epoch; the last batch is the worst",
    algorithms=("noisy-cgd",),
    parameters=(*SIZES, Parameter("batch", kind="integer", low=Fraction(1), meaning="the canary's batch, from 1")),
    defaults=_cyclic_defaults,
    build=_cyclic,
)


def _average_law(config: Values, gap: Fraction, direction: Array) -> GaussianLaw:
    """The law of the average iterate for the linear loss: the noise of step s is in T - s + 1 of T iterates."""
    steps = config.steps
    weight = Fraction(steps + 1, 2)
    squares = Fraction((steps + 1) * (2 * steps + 1), 6 * steps)
    return isotropic(
        gap=config.learning_rate * gap * weight,
        variance=(config.learning_rate * config.noise_on_mean) ** 2 * squares,
        direction=direction,
    )


def _full_batch(name: str, config: Values, parameters: Values) -> Pair:
    add_remove = config.neighbours == "add_remove"
    if name == "dp-gd-projected":
        return _projected(config, parameters, add_remove=add_remove)
    pair = canary_pair(
        config, records=parameters.records, dimension=parameters.dimension, at=parameters.records - 1, longest=None,
        add_remove=add_remove,
    )
    if config.loss != "linear":
        return pair
    assert pair.direction is not None
    gap = (1 if add_remove else 2) * config.clip_norm / config.dataset_size
    law = _average_law(config, gap, pair.direction)
    middle = float(config.learning_rate * gap * Fraction(config.steps + 1, 4)) if add_remove else 0.0
    return replace(pair, law=replace(law, centre=middle * pair.direction))


def _projected(config: Values, parameters: Values, *, add_remove: bool) -> Pair:
    """Nothing is clipped: a record must meet the Lipschitz bound L on the whole ball of radius R.

    Squared loss: |x| (R |x| + |y|) <= L, so features of R |x|^2 = L/100 leave 0.98 L and more for every gradient.
    """
    lipschitz, radius = float(config.lipschitz), float(config.radius)
    direction = unit(parameters.dimension)
    others, labels = np.zeros((parameters.records - 1, parameters.dimension)), np.zeros(parameters.records - 1)
    canaries, ends = (-lipschitz * direction, lipschitz * direction), (0.0, 0.0)
    if config.loss == "logistic":
        canaries, ends = (canaries[1], canaries[1]), (0.0, 1.0)
    elif config.loss == "squared":
        x = 0.1 * (lipschitz / radius) ** 0.5
        canaries, label = (x * direction, x * direction), lipschitz / x - radius * x
        ends = (-label, label)
    at = parameters.records - 1
    if add_remove:
        return replace(added(others, labels, canaries[1], ends[1], at), direction=direction)
    return replace(replaced(others, labels, canaries, ends, at), direction=direction)


def _full_batch_defaults(name: str, config: Values) -> dict[str, Any]:
    return {"records": config.dataset_size, "dimension": 4}


full_batch_canary = Builder(
    name="full-batch-canary",
    summary="a canary of opposite gradients, or one that is added, in the only batch",
    algorithms=("dp-gd", "dp-gd-projected"),
    parameters=SIZES,
    defaults=_full_batch_defaults,
    build=_full_batch,
)
