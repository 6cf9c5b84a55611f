"""Auditing the auditors: pairs whose epsilon is known exactly, and how often a bound exceeds it.

A lower confidence bound may exceed the truth with probability at most alpha = 1 - confidence. Over R repetitions that
is at most a binomial number of failures; more than `allowed` of them happen to a valid bound with probability at most
1e-6. A bound that never exceeds anything passes that check: `power` is the other half, what a bound must reach.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import scipy
from scipy import special

from empirical.estimators.binomial import Array, Scores
from empirical.estimators.estimate import Estimate
from empirical.estimators.limits import binomial_limit
from oracle.core.registry import bound
from oracle.engines.composed_pairs import PoissonGaussian, compose

Estimating = Callable[..., Estimate]
FALSE_ALARM = 1e-6


@dataclass(frozen=True)
class Known:
    """A pair of score laws: how to draw from it, and its exact epsilon at delta (rounded up)."""

    name: str
    draw: Callable[[np.random.Generator, int], Scores]
    epsilon: Callable[[float], float]
    gaussian: bool = False


def gaussian(mu: float) -> Known:
    """N(0, 1) and N(mu, 1); for mu = 0 the two data sets cannot be told apart."""

    def epsilon(delta: float) -> float:
        return bound("gdp.epsilon").reference(mu=mu, delta=delta).to_floats()[1] if mu > 0 else 0.0

    def draw(rng: np.random.Generator, models: int) -> Scores:
        return rng.normal(size=models), rng.normal(mu, 1, models)

    return Known(f"gaussian {mu:g}" if mu else "identical", draw, epsilon, True)


def laplace(gap: float) -> Known:
    """Laplace laws of scale 1 whose centres are `gap` apart: delta(epsilon) = 1 - e^{(epsilon - gap)/2}."""
    return Known(
        f"laplace {gap:g}", lambda rng, models: (rng.laplace(0, 1, models), rng.laplace(gap, 1, models)),
        lambda delta: max(0.0, gap + 2 * math.log1p(-delta)),
    )


def randomised_response(odds: float) -> Known:
    """One bit, right with the given odds: every score is tied with half of the others."""
    right = odds / (1 + odds)
    return Known(
        f"randomised response {odds:g}",
        lambda rng, models: ((rng.random(models) > right).astype(float), (rng.random(models) < right).astype(float)),
        lambda delta: max(0.0, math.log((right - delta) / (1 - right))),
    )


def subsampled_gaussian(rate: float, mu: float) -> Known:
    """N(0, 1), and N(mu, 1) with the given probability, else N(0, 1): one step of Poisson sampling, add or remove."""

    def draw(rng: np.random.Generator, models: int) -> Scores:
        return rng.normal(size=models), rng.normal(size=models) + mu * (rng.random(models) < rate)

    def epsilon(delta: float) -> float:
        step = PoissonGaussian(sigma=1 / mu, sampling_rate=rate)
        return compose([(step, 1)], neighbours="add_remove").epsilon(delta).to_floats()[1]

    return Known(f"subsampled gaussian {rate:g} {mu:g}", draw, epsilon)


@dataclass(frozen=True)
class Leak:
    """A release that says nothing, but with a small probability everything: (0, probability)-DP and no better."""

    probability: float

    def draw(self, rng: np.random.Generator, models: int) -> Scores:
        """Scores of which a few, on data set 1 only, are far away."""
        leaked = rng.random(models) < self.probability
        return rng.normal(size=models), np.where(leaked, 100.0, rng.normal(size=models))

    def rates(self, thresholds: Array) -> tuple[Array, Array]:
        """The exact rates of 'score > threshold'."""
        tail = np.asarray(special.ndtr(-thresholds))
        return tail, (1 - self.probability) * tail + self.probability * (thresholds < 100.0)


PAIRS = (
    gaussian(0.0), gaussian(0.5), gaussian(2.0), laplace(1.0), randomised_response(1.5), randomised_response(6.0),
    subsampled_gaussian(0.25, 2.0),
)


@dataclass(frozen=True)
class Coverage:
    """How often a bound exceeded the truth, and how often a valid one may."""

    failures: int
    allowed: int
    repetitions: int

    @property
    def valid(self) -> bool:
        """Whether the failures are no more than a valid bound may have."""
        return self.failures <= self.allowed

    def __str__(self) -> str:
        return f"exceeds the truth in {self.failures} of {self.repetitions} audits, at most {self.allowed} are allowed"


def allowed(repetitions: int, error: float) -> int:
    """The number of failures that a bound with this error probability exceeds with probability at most 1e-6."""
    return int(scipy.stats.binom.isf(FALSE_ALARM, repetitions, error))


def coverage(
    estimate: Estimating, pair: Known, *, delta: float, confidence: float, repetitions: int, held: int = 50,
    judged: int = 150, seed: int = 0,
) -> Coverage:
    """Repeat an audit of a known pair, and count how often the bound exceeds the truth."""
    rng = np.random.default_rng(seed)
    truth = pair.epsilon(delta)
    failures = sum(
        estimate(pair.draw(rng, held), pair.draw(rng, judged), delta=delta, confidence=confidence).epsilon > truth
        for _ in range(repetitions)
    )
    return Coverage(failures, allowed(repetitions, 1 - confidence), repetitions)


def power(estimate: Estimating, leak: Leak, *, delta: float, confidence: float, models: int, seed: int = 0) -> float:
    """The share of the binomial limit that an audit of a rare leak reaches, a fifth of its models held out."""
    rng = np.random.default_rng(seed)
    cut = models // 5
    found = estimate(leak.draw(rng, cut), leak.draw(rng, models - cut), delta=delta, confidence=confidence)
    return found.epsilon / binomial_limit(leak, models=models, delta=delta, confidence=confidence)
