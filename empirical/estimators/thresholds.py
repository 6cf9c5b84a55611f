"""Choosing a threshold on held-out scores: any rule is valid, since other scores judge it; this one aims well.

The largest empirical bound on the held-out scores is a poor guide: far out it rests on a handful of models, and its
maximum is where luck was greatest. So both survival functions are smoothed first: by a normal law if no count of the
held-out scores contradicts it, else by a cubic on the probit scale, else not at all (then the rates are moved one
standard error to the careful side). A threshold is chosen for what the judging models are expected to certify with it:
their expected counts, with score intervals (Wilson 1927) in place of the exact ones for speed.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from scipy import special

from empirical.estimators.binomial import Array, Conversion, Scores, arc_quantile

_RANKS = 48
_STEPS = 96
_GAPS = 8
_TYPICAL_ARC = 0.25
_TOLERATED = 4.0  # standard errors by which a count may miss its smooth rate
_ANGLES = np.linspace(0.0, math.pi / 2, 25)
_SPLITS = np.concatenate([[0.01, 0.02, 0.05], np.linspace(0.1, 0.9, 17), [0.95, 0.98, 0.99]])


@dataclass(frozen=True)
class Candidates:
    """Thresholds, and the smoothed rates of the tests 'score > threshold'."""

    thresholds: Array
    true_positive: Array
    false_positive: Array


def candidates(held: Scores) -> Candidates:
    """Candidate thresholds from held-out scores, with smoothed rates."""
    pooled = np.sort(np.concatenate(held))
    # Equal steps serve the bulk, geometric ranks both tails, and the widest gaps the laws that lie in heaps.
    ranks = np.unique(np.geomspace(1, len(pooled) / 2, _RANKS).astype(int))
    with np.errstate(over="ignore", invalid="ignore"):
        steps = np.linspace(pooled[0], pooled[-1], _STEPS)
        gaps = np.diff(pooled)
    widest = np.argpartition(gaps, -min(_GAPS, len(gaps)))[-_GAPS:]
    values = np.concatenate([steps, pooled[ranks - 1], pooled[-ranks], pooled[widest] / 2 + pooled[widest + 1] / 2])
    points = np.unique(values[np.isfinite(values)])  # equal steps overflow where scores span the range of doubles
    return Candidates(points, _smooth(held[1], points, -1.0), _smooth(held[0], points, 1.0))


def wilson(rate: Array, trials: int, z: Array | float) -> Array:
    """The end of the score interval of a rate: the lower one for z < 0, the upper one for z > 0."""
    rate = np.clip(rate, 0.0, 1.0)  # the end of another interval may be rounded past 1, and there is no root below 0
    square = np.square(z) / trials
    spread = np.sqrt(rate * (1 - rate) / trials + square / (4 * trials))
    return np.asarray((rate + square / 2 + z * spread) / (1 + square))


def split_choice(
    options: Candidates, trials: tuple[int, int], alpha: float, convert: Conversion
) -> tuple[float, tuple[float, float]]:
    """The threshold and the shares of alpha (true, false positive rate) expected to certify most."""
    to_false = -special.ndtri(alpha * _SPLITS)
    to_true = -special.ndtri(alpha * (1 - _SPLITS))
    low = wilson(options.true_positive[:, None], trials[0], -to_true)
    high = wilson(options.false_positive[:, None], trials[1], to_false)
    merits = convert(low, high)
    row, column = np.unravel_index(int(np.argmax(merits)), merits.shape)
    share = float(_SPLITS[column])
    return float(options.thresholds[row]), (alpha * (1 - share), alpha * share)


def joint_choice(
    options: Candidates, trials: tuple[int, int], alpha: float, convert: Conversion
) -> tuple[Array, Array]:
    """What the joint region is expected to certify with each candidate, and the angle of the arc that it needs."""
    c = arc_quantile(_TYPICAL_ARC, alpha)
    low = wilson(options.true_positive[:, None], trials[0], -c * np.cos(_ANGLES))
    high = wilson(options.false_positive[:, None], trials[1], c * np.sin(_ANGLES))
    values = convert(low, high)
    worst = np.argmin(values, axis=1)
    return values[np.arange(len(values)), worst], _ANGLES[worst]


def _survivors(scores: Array, points: Array) -> Array:
    return (len(scores) - np.searchsorted(np.sort(scores), points, side="right")).astype(np.float64)


def _smooth(scores: Array, points: Array, careful: float) -> Array:
    """The smoothed rate of scores above each point; where no smooth law fits, the counted one, moved to a side."""
    counts, trials = _survivors(scores, points), len(scores)
    with np.errstate(over="ignore", invalid="ignore"):
        spread = float(scores.std())
    for law in (_normal_law, _cubic_law) if 0 < spread < math.inf else ():
        rate = law(scores, points, counts, spread)
        error = np.sqrt(trials * rate * (1 - rate)) + 1.0  # one count more, for where the rate is below 1 / trials
        if bool(np.all(np.abs(counts - trials * rate) <= _TOLERATED * error)):
            return rate
    return wilson(counts / trials, trials, careful)


def _normal_law(scores: Array, points: Array, counts: Array, spread: float) -> Array:
    return np.asarray(special.ndtr((float(scores.mean()) - points) / spread))


def _cubic_law(scores: Array, points: Array, counts: Array, spread: float) -> Array:
    """A cubic in the threshold fitted to the probits of the survival function, by weighted least squares."""
    trials = len(scores)
    inside = (counts >= 3) & (counts <= trials - 3)
    if np.count_nonzero(inside) < 8:
        return np.full_like(points, 0.5)
    x = (points - float(scores.mean())) / spread
    rate = counts[inside] / trials
    probit = special.ndtri(rate)
    weight = np.exp(-probit * probit / 2) / np.sqrt(rate * (1 - rate))
    coefficients = np.polynomial.polynomial.polyfit(x[inside], probit, 3, w=weight)
    fitted = np.polynomial.polynomial.polyval(x, coefficients)
    # Outside the fitted range a cubic goes anywhere: hold it at the ends.
    edge = np.nonzero(inside)[0]
    fitted[: edge[0]], fitted[edge[-1] + 1 :] = fitted[edge[0]], fitted[edge[-1]]
    return np.asarray(special.ndtr(np.minimum.accumulate(fitted)))
