"""Exact laws of the releases on a pair of neighbouring data sets, where theory knows them.

A law is that of the likelihood-ratio score: its rates are what the best attack has, its epsilon is the truth that an
audit approaches from below and a proof from above. The law is of the algorithm in real arithmetic, with the decimals of
its configuration; data and training in doubles differ from it by rounding only.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from typing import Protocol

import numpy as np
from flint import arb, ctx
from numpy.typing import NDArray
from scipy import special

from oracle.domain import Number, probability
from oracle.enclosure import Dyadic, Enclosure, ball
from oracle.privacy.gaussian import epsilon_of_mu

Array = NDArray[np.float64]
WIDTH = Fraction(1, 10**12)


class Law(Protocol):
    """The exact law of the likelihood-ratio score on both data sets."""

    @property
    def gaussian(self) -> bool:
        """Whether the release is Gaussian with one covariance, and only the mean differs."""

    def epsilon(self, delta: Number) -> Enclosure:
        """The exact epsilon of this pair at delta, the larger of both directions."""

    def rates(self, thresholds: Array) -> tuple[Array, Array]:
        """The exact false and true positive rates of 'score > threshold'."""

    def score(self, releases: Array) -> Array:
        """The score of every release, monotone in the likelihood ratio, shape [M]."""


def flattened(releases: Array) -> Array:
    """Releases [M, ...] as a matrix [M, D]."""
    return np.asarray(releases, dtype=np.float64).reshape(len(releases), -1)


@dataclass(frozen=True)
class GaussianLaw:
    """Gaussian releases of one covariance: scores are N(-mu/2, 1) and N(mu/2, 1).

    The score is <weights, release - centre>, weights = covariance^-1 (mean gap) / mu, centre the middle of the means.
    """

    mu: Callable[[], arb]
    weights: Array
    centre: Array

    @property
    def gaussian(self) -> bool:
        """It is."""
        return True

    def epsilon(self, delta: Number) -> Enclosure:
        """The epsilon of the Gaussian pair at mu."""
        return epsilon_of_mu(self.mu, probability("delta").rational(delta), WIDTH)

    def rates(self, thresholds: Array) -> tuple[Array, Array]:
        """Normal tails."""
        half = self.mu_float() / 2
        return np.asarray(special.ndtr(-thresholds - half)), np.asarray(special.ndtr(half - thresholds))

    def score(self, releases: Array) -> Array:
        """The projection on the weights."""
        return np.asarray((flattened(releases) - self.centre) @ self.weights)

    def mu_float(self) -> float:
        """The middle of mu as a double."""
        with ctx.workprec(128):
            return Dyadic.of(self.mu().mid()).to_float(up=False)


def isotropic(*, gap: Fraction, variance: Fraction, direction: Array, centre: Array | None = None) -> GaussianLaw:
    """The Gaussian law of releases whose means are `gap` apart along a unit vector, where the variance is this."""
    scale = 1.0 / float(np.sqrt(float(variance)))
    middle = np.zeros_like(direction) if centre is None else centre
    return GaussianLaw(lambda: ball(gap) / ball(variance).sqrt(), direction * scale, middle)
