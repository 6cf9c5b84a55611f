r"""A better adversary of NoisyCGD: losses that let noise add up until the end, and then shrink it.

The last-iterate bound of a record in the last of k batches is mu^2 = (s/sigma)^2 (1 + (E-1)/k) for convex losses
(c = 1): the last touch counts in full, since nothing hides it but the noise of its own step. The linear loss falls
short of that, (s/sigma)^2 E/k, because the noise of all kE steps lies on the last touch as well. Shrinking the iterate
by

    rho = g n / (s v),       g, v: gap and variance before the last step, n: the noise of one step

in the last step, and only there, makes gap and noise add up in the best way: mu^2 = g^2 / v + s^2 / n, which is
(s/sigma)^2 (1 + (E-1)^2 / (kE-1)), nearly the bound. But batches repeat, and so would a curvature.

Clipping makes it a matter of place instead of time. The canary's companions in its batch have squared loss and features
a e_1, a^2 = (1 - rho) b / ((b-1) eta): from theta* + h up, h = C / a^2, their gradient is clipped to C, a constant push
down of eta C (b-1)/b = (1 - rho) h an epoch; within h of theta* it is curved, and contracts by rho. An iterate that is
between theta* + rho h and theta* + h before the last touch was above theta* + h one push earlier. So theta* can be put
where the first E - 1 epochs find the iterate above theta* + h, and the last finds it below. The canary itself has a
label so large that it is always clipped, up on one data set and down on the other.

All losses are convex, every step contracts by at most c, and |x| <= feature_norm: the pair is admissible. The release
is the affine one but on the event that the iterate is on the wrong side of theta* + h in some epoch, whose probability
is a sum of normal tails: the law is exact up to that.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

import numpy as np
from scipy import special

from empirical.pairs.descent import HUGE_LABEL, SIZES
from empirical.pairs.generic import replaced, unit
from empirical.pairs.laws import NearlyLaw, isotropic
from empirical.pairs.pair import Builder, Pair
from oracle.core.algorithm import Values
from oracle.core.errors import DomainError

MOST_DOUBT = 1e-9
"""Of the law, in total variation; beyond, the batch is too small for these losses."""


@dataclass(frozen=True)
class Path:
    """Before each canary step: the middle of the two means, half their distance, and the variance."""

    middle: list[Fraction]
    half_gap: list[Fraction]
    variance: list[Fraction]


def affine_path(config: Values, batches: int) -> Path:
    """The iterate before each epoch's last step, as long as all gradients are clipped."""
    multiplier, share = 1 - config.learning_rate * config.regularisation, Fraction(1, config.batch_size)
    push = config.learning_rate * config.clip_norm
    middle, half_gap, variance = Fraction(0), Fraction(0), Fraction(0)
    path = Path([], [], [])
    for _ in range(config.epochs):
        for _ in range(batches - 1):
            middle, half_gap = multiplier * middle, multiplier * half_gap
            variance = multiplier**2 * variance + (config.learning_rate * config.noise_on_mean) ** 2
        path.middle.append(middle)
        path.half_gap.append(half_gap)
        path.variance.append(variance)
        middle = multiplier * middle - (1 - share) * push
        half_gap = multiplier * half_gap + share * push
        variance = multiplier**2 * variance + (config.learning_rate * config.noise_on_mean) ** 2
    return path


def _clocked(name: str, config: Values, parameters: Values) -> Pair:
    records, dimension, size = parameters.records, parameters.dimension, config.batch_size
    if config.loss != "squared":
        raise DomainError(f"loss = {config.loss} is outside its domain: this adversary needs the squared loss")
    if records % size or size < 2:
        raise DomainError(f"batch_size = {size} is outside its domain: at least 2, a divisor of {records} records")
    path = affine_path(config, records // size)
    multiplier, companions = 1 - config.learning_rate * config.regularisation, Fraction(size - 1, size)
    push, step = config.learning_rate * config.clip_norm, (config.learning_rate * config.noise_on_mean) ** 2
    gap, variance = 2 * path.half_gap[-1], path.variance[-1]
    best = min(multiplier, gap * step / (2 * push / size * variance)) if variance else multiplier
    length = math.sqrt(float((multiplier - best) / (config.learning_rate * companions)))
    length = min(length, float(config.feature_norm))
    if length <= 0:
        raise DomainError("there is no curvature to use: one step, or a learning rate too small")
    curvature = Fraction(length) ** 2
    factor = multiplier - config.learning_rate * companions * curvature
    reach = config.clip_norm / curvature
    # Half-way between where the last step is still clipped and where the one before is curved.
    star = path.middle[-1] - (reach + max(Fraction(0), reach - companions * push)) / 2
    doubt = _doubt(path, star, reach, length)
    if doubt > MOST_DOUBT:
        raise DomainError(f"batch_size = {size} is outside its domain: large enough for the losses, doubt {doubt:.2g}")
    direction = unit(dimension)
    canary = length * direction
    huge = HUGE_LABEL * (1 + float(config.clip_norm) / length)
    others, labels = np.zeros((records - 1, dimension)), np.zeros(records - 1)
    others[records - size :] = canary
    labels[records - size :] = length * float(star)
    pair = replace(replaced(others, labels, (canary, canary), (-huge, huge), records - 1), direction=direction)
    known = isotropic(
        gap=factor * gap + 2 * push / size, variance=factor**2 * variance + step, direction=direction,
        centre=float(factor * path.middle[-1] + (multiplier - factor) * star) * direction,
    )
    return replace(pair, law=NearlyLaw(known, Fraction(doubt)))


def _doubt(path: Path, star: Fraction, reach: Fraction, length: float) -> float:
    """A bound on the probability that some epoch finds the iterate where its losses are not the ones meant."""
    doubt = 0.0
    last = len(path.middle) - 1
    for epoch, (middle, half_gap, variance) in enumerate(zip(path.middle, path.half_gap, path.variance, strict=True)):
        std = math.sqrt(float(variance))
        distance = float(middle - star)
        margins = [distance - float(half_gap) - float(reach)]
        if epoch == last:
            margins = [float(reach) - abs(distance) - float(half_gap)]
        # The canary's label is so far away that its clipping is certain but for iterates beyond all others.
        margins.append(HUGE_LABEL / length / 2 - abs(float(middle)) - float(half_gap))
        for margin in margins:
            if margin <= 0:
                return 1.0
            doubt += 2 * float(special.ndtr(-margin / std)) if std else 0.0
    return max(1.001 * doubt, 1e-300)


def _defaults(name: str, config: Values) -> dict[str, Any]:
    return {"records": 4 * config.batch_size, "dimension": 1}


clocked_canary = Builder(
    name="clocked-canary",
    summary="squared losses that let noise add up to the last epoch and shrink it in the canary's last step",
    algorithms=("noisy-cgd",),
    parameters=SIZES,
    defaults=_defaults,
    build=_clocked,
    special=True,
)
