"""Neighbouring data sets to audit on, and the exact law of what is released on them where it is known.

For the linear loss h = -<x, theta> every step of NoisyCGD is affine: theta <- (1 - eta lambda) theta + eta (g_j - Z).
The last iterate is then exactly N(mean, variance I), and replacing x by -x in the last batch, with |x| = C, moves the
mean as far as any replacement can. So theory, simulation and audit have one number to agree on.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from oracle.errors import DomainError
from oracle.registry import Values

Array = NDArray[np.float64]


@dataclass(frozen=True)
class Pair:
    """Two neighbouring data sets, and the direction in which their releases are expected to differ."""

    features: tuple[Array, Array]
    labels: tuple[Array, Array]
    neighbours: str
    direction: Array


def opposite_canary(config: Values, *, records: int, dimension: int) -> Pair:
    """Replace-one neighbours whose last record is +C e_1 or -C e_1; all other records are zero."""
    if records < 1 or dimension < 1:
        raise DomainError(f"records = {records} and dimension = {dimension} must be integers >= 1")
    canary = np.zeros((records, dimension))
    canary[-1, 0] = float(min(config.clip_norm, config.feature_norm))
    direction = np.zeros(dimension)
    direction[0] = 1.0
    labels = np.zeros(records)
    return Pair((-canary, canary), (labels, labels), "replace", direction)


@dataclass(frozen=True)
class GaussianLaw:
    """The squared distance of the two means over the common variance, exactly: mu^2 of the release."""

    mean_gap: Fraction
    variance: Fraction

    @property
    def squared_mu(self) -> Fraction:
        """mu^2 = (mean gap)^2 / variance."""
        return self.mean_gap**2 / self.variance


def linear_loss_law(config: Values, *, records: int) -> GaussianLaw:
    """The exact law of the last iterate on `opposite_canary` for the linear loss, by direct recursion in rationals."""
    if config.loss != "linear":
        raise DomainError(f"loss = {config.loss} is outside its domain: the exact law is known for the linear loss")
    multiplier = 1 - config.eta * config.lam
    canary = min(config.clip_norm, config.feature_norm)
    batches = records // config.batch_size
    gap, variance = Fraction(0), Fraction(0)
    for _ in range(config.epochs):
        for batch in range(batches):
            shift = 2 * canary / config.batch_size if batch == batches - 1 else Fraction(0)
            gap = multiplier * gap + config.eta * shift
            variance = multiplier**2 * variance + (config.eta * config.sigma) ** 2
    return GaussianLaw(gap, variance)
