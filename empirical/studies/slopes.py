"""Exponent: local slopes of the logarithms on successive triples of the grid, with what is uncertain about them.

The slope of a triple is that of the least-squares line through its three points, log error against log axis; never one
line through the whole grid, which would average two powers where two terms cross. Off an exact curve the slopes are
known, and the interval is their hull. Off replicates the interval is simultaneous over all counted triples, by a paired
bootstrap: replicates are drawn anew, the same ones at all points, and the interval must survive the largest studentised
deviation over the triples. Whether the counted points lie on a straight line at all is tested against the replicates'
own scatter (lack of fit).
"""

from __future__ import annotations

import functools
import math
from dataclasses import dataclass

import numpy as np
import scipy

from empirical.studies.study import Array, Number

RESAMPLES = 10_000
_STRAIGHT = 0.01  # the level of the test of lack of fit
_STILL = 1e-10  # a standard error of a slope that is rounding


@dataclass(frozen=True)
class Slopes:
    """The counted points, the local slopes of their triples, their standard errors, and the largest deviations.

    `deviations` are the largest studentised deviations of all slopes in each resample, sorted; empty for slopes that
    are known. `unfit` is the probability of so much curvature by chance; None for an exact curve.
    """

    counted: tuple[Number, ...]
    slopes: tuple[float, ...]
    errors: tuple[float, ...]
    deviations: Array
    unfit: float | None

    def interval(self, level: float) -> tuple[float, float]:
        """The hull of the simultaneous intervals of all counted slopes; `level` is their error probability."""
        reach = 0.0
        if len(self.deviations):
            place = min(len(self.deviations) - 1, math.ceil((1.0 - level) * len(self.deviations)))
            reach = float(self.deviations[place])
        pairs = list(zip(self.slopes, self.errors, strict=True))
        return min(s - reach * e for s, e in pairs), max(s + reach * e for s, e in pairs)

    def p_outside(self, low: float, high: float) -> float:
        """The error probability of saying that all counted slopes lie between two numbers: 1 if one does not."""
        if not all(low <= slope <= high for slope in self.slopes):
            return 1.0
        if not len(self.deviations):
            return 0.0
        room = min(
            min(slope - low, high - slope) / error if error > 0 else math.inf
            for slope, error in zip(self.slopes, self.errors, strict=True)
        )
        beyond = len(self.deviations) - int(np.searchsorted(self.deviations, room, side="left"))
        return (1 + beyond) / (1 + len(self.deviations))


def triples(grid: tuple[Number, ...]) -> Array:
    """The weights, [triples, points], that make local slopes of the logarithms of errors."""
    logs = np.array([math.log(value) for value in grid])
    weights = np.zeros((max(0, len(grid) - 2), len(grid)))
    for first in range(len(weights)):
        centred = logs[first : first + 3] - logs[first : first + 3].mean()
        weights[first, first : first + 3] = centred / (centred @ centred)
    return weights


def exact_slopes(grid: tuple[Number, ...], curves: Array, small: Array, *, drift: float, least: int) -> Slopes | None:
    """The counted local slopes of exact curves, [curves, points]; None where too few points count."""
    slopes = np.log(curves) @ triples(grid).T
    for first in range(_first_counted(small), len(grid) - least + 1):
        part = slopes[:, first:]
        if float((part.max(axis=1) - part.min(axis=1)).max()) <= drift:
            flat = tuple(map(float, part.ravel()))
            return Slopes(grid[first:], flat, (0.0,) * len(flat), np.empty(0), None)
    return None


def sampled_slopes(
    grid: tuple[Number, ...], errors: Array, small: Array, *, least: int, seed: int
) -> Slopes | None:
    """The counted local slopes of replicates' means, errors being [replicates, points]; None where too few count."""
    means = _resampled(errors, seed)
    usable = _first_counted(small & (errors.mean(axis=0) > 0) & (means > 0).all(axis=0))
    for first in range(usable, len(grid) - least + 1):
        logs, drawn = np.log(errors.mean(axis=0)[first:]), np.log(means[:, first:])
        unfit = _lack_of_fit(grid[first:], logs, drawn)
        if unfit >= _STRAIGHT:
            weights = triples(grid[first:])
            slopes, others = weights @ logs, drawn @ weights.T
            few = math.sqrt(len(errors) / (len(errors) - 1))
            spread = others.std(axis=0, ddof=1) * few
            # Slopes that no resample moves are known, as where pairs cancel all chance.
            moved = np.divide(others - slopes, spread, out=np.zeros_like(others), where=spread > _STILL)
            deviations = np.sort(few * np.abs(moved).max(axis=1))
            return Slopes(grid[first:], tuple(map(float, slopes)), tuple(map(float, spread)), deviations, unfit)
    return None


def _first_counted(small: Array) -> int:
    """Where the last run of points begins that may all count."""
    bad = np.flatnonzero(~small.astype(bool))
    return int(bad[-1]) + 1 if len(bad) else 0


def _resampled(errors: Array, seed: int) -> Array:
    """The means of replicates drawn anew, the same ones at all points, [RESAMPLES, points]."""
    means: Array = _counts(len(errors), seed) @ errors / len(errors)
    return means


@functools.lru_cache(maxsize=1)
def _counts(replicates: int, seed: int) -> Array:
    """How often each replicate is drawn in each resample, [RESAMPLES, replicates]."""
    draw = np.random.Generator(np.random.Philox(seed))
    counts = draw.multinomial(replicates, np.full(replicates, 1.0 / replicates), size=RESAMPLES)
    return counts.astype(np.float64)


def _lack_of_fit(grid: tuple[Number, ...], logs: Array, drawn: Array) -> float:
    """The probability, if the logarithms lie on a line, of being as far from one as these are, by the replicates."""
    design = np.stack([np.ones(len(grid)), [math.log(value) for value in grid]], axis=1)
    covariance = np.cov(drawn, rowvar=False)
    # The scatter of the replicates is all that is known; directions in which they do not scatter must fit exactly.
    values, vectors = np.linalg.eigh(covariance)
    scale = 1.0 / np.sqrt(np.maximum(values, 1e-14 * max(values.max(), 1e-300)))
    white = vectors.T * scale[:, None]
    residual = white @ logs - white @ design @ np.linalg.lstsq(white @ design, white @ logs, rcond=None)[0]
    return float(scipy.stats.chi2.sf(residual @ residual, len(grid) - 2))
