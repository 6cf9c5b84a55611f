r"""The whole privacy curve from one sample: bounds at many thresholds that hold at once.

*Weighted union* (`curve`). Thresholds t_1, ..., t_k and shares a_1 + ... + a_k = alpha are fixed on held-out scores;
each threshold gets the joint region of `binomial` at its a_j. Some region misses its truth with probability at most
alpha, whatever the dependence between thresholds, so the largest of the k bounds is a lower bound. The favourite (what
the held-out scores expect to certify most) gets four fifths of alpha, a geometric grid of false positive and false
negative rates shares the rest: the price over a single threshold is small, and a favourite that was badly placed, or a
leak that the held-out scores did not show, no longer decides.

*DKW* (`dkw`). Pr[sup_t |F_n(t) - F(t)| > e] <= 2 exp(-2 n e^2) (Dvoretzky, Kiefer and Wolfowitz 1956 with Massart's
constant, 1990) holds for every law, ties included, so every threshold may be tried on the judged scores themselves.
Each data set gets half of alpha, and only one side of its band is used, for which Massart proves exp(-2 n e^2) without
the factor 2 wherever that is at most 1/2. The band is as wide for small rates as for large ones, which makes it useless
where audits happen: it is here as the plain one to compare with.
"""

from __future__ import annotations

import math

import numpy as np

from empirical.estimators.binomial import (
    Array,
    RateBounds,
    Scores,
    epsilon_from_rates,
    joint_bound,
    joint_point,
    tally,
)
from empirical.estimators.estimate import Estimate, check
from empirical.estimators.thresholds import Candidates, candidates, joint_choice
from oracle.core.errors import DomainError

_FAVOURITE = 0.8
_GRID = 8


def curve(held: Scores, judged: Scores, *, delta: float, confidence: float) -> Estimate:
    """A lower bound on epsilon for any release: the best of many thresholds whose bounds hold at once."""
    check(held, judged, delta, confidence)

    def convert(low: Array, high: Array) -> Array:
        return epsilon_from_rates(low, high, delta)

    best = Estimate(-1.0, None, None)
    for threshold, angle, alpha in plan_band(held, judged, delta=delta, confidence=confidence):
        counts = tally(judged, threshold)
        if joint_point(counts, angle, alpha, convert) > best.epsilon:  # one point of the region often rules it out
            value, rates = joint_bound(counts, angle, alpha, convert)
            if value > best.epsilon:
                best = Estimate(value, threshold, rates)
    return best


def dkw(held: Scores, judged: Scores, *, delta: float, confidence: float) -> Estimate:
    """A lower bound on epsilon for any release: the best of all thresholds, each rate in a band of constant width."""
    check(held, judged, delta, confidence)
    negatives, positives = judged
    points = np.unique(np.concatenate(judged))
    low = (len(positives) - np.searchsorted(np.sort(positives), points, side="right")) / len(positives)
    high = (len(negatives) - np.searchsorted(np.sort(negatives), points, side="right")) / len(negatives)
    alpha = (1 - confidence) / 2
    low = np.maximum(0.0, low - dkw_width(len(positives), alpha))
    high = np.minimum(1.0, high + dkw_width(len(negatives), alpha))
    values = epsilon_from_rates(low, high, delta)
    best = int(np.argmax(values))
    return Estimate(float(values[best]), float(points[best]), RateBounds(float(low[best]), float(high[best])))


def dkw_width(models: int, alpha: float) -> float:
    """The width that a one-sided empirical band of this many models exceeds with probability at most alpha."""
    if not 0 < alpha <= 0.5:  # the one-sided inequality is proved for no more
        raise DomainError(f"alpha = {alpha} is outside its domain: a real number in (0, 1/2]")
    return math.sqrt(-math.log(alpha) / (2 * models))


def plan_band(
    held: Scores, judged: Scores, *, delta: float, confidence: float
) -> list[tuple[float, float, float]]:
    """Thresholds with the angle of their arc and their share of alpha, fixed by held-out scores and sample sizes."""
    alpha = 1 - confidence
    options = candidates(held)
    trials = (len(judged[1]), len(judged[0]))
    merits, angles = joint_choice(options, trials, alpha, lambda low, high: epsilon_from_rates(low, high, delta))
    favourite = int(np.argmax(merits))
    others = [index for index in _grid(options, min(trials)) if index != favourite]
    share = alpha * (1 - _FAVOURITE) / max(1, len(others))
    return [
        (float(options.thresholds[index]), float(angles[index]), alpha * _FAVOURITE if index == favourite else share)
        for index in (favourite, *others)
    ]


def _grid(options: Candidates, models: int) -> list[int]:
    """The candidates whose false positive or false negative rate is next to a geometric grid of rates."""
    rates = np.geomspace(min(0.25, 4 / models), 0.5, _GRID)
    chosen = [int(np.argmin(np.abs(np.log(options.false_positive + 1e-300) - math.log(rate)))) for rate in rates]
    chosen += [int(np.argmin(np.abs(np.log(1 - options.true_positive + 1e-300) - math.log(rate)))) for rate in rates]
    return sorted(set(chosen))
