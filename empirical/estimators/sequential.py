r"""An anytime-valid bound: an audit may look after every model and stop as soon as it knows.

Models of the two data sets come in pairs. With a threshold and a direction fixed on held-out scores, pair i shows
b_i (the event on the data set where it should be likely) and a_i (the event on the other one). If the mechanism is
(epsilon, delta)-DP, then E[b - e^epsilon a - delta] <= 0, so for any lambda in [0, 1/(e^epsilon + delta)]

    K_n(epsilon) = prod_{i <= n} (1 + lambda (b_i - e^epsilon a_i - delta))

is a non-negative supermartingale that starts at 1, and so is an average of such products over several lambdas. By
Ville's inequality it ever reaches 1/alpha with probability at most alpha: whoever stops, whenever and why, may then
reject epsilon. (Betting as in Waudby-Smith and Ramdas 2024; the lambdas bet as Kelly would on the held-out rates.)

A time-uniform bound: epsilons of a grid fixed beforehand are rejected from the bottom up, and the bound is the last one
before the first that never was rejected. The hypotheses are nested; to exceed the truth, the walk must reject the first
grid point at or above it, a true hypothesis: probability at most alpha, with no price for the grid.
"""

from __future__ import annotations

import math

import numpy as np
from scipy import special

from empirical.estimators.binomial import Array, Scores, epsilon_from_rates
from empirical.estimators.estimate import Estimate, check, check_confidence
from empirical.estimators.thresholds import candidates, joint_choice

_GRID = 400
_HEDGE = np.array([0.25, 0.5, 1.0, 2.0])
_LEAST_BET, _LARGEST_BET = 1e-3, 0.99  # as shares of the largest bet that cannot go bankrupt
_LOOKS = 64
_FORESEEN = 6  # pairs that judge, for each that is held out


class Sequential:
    """A running test: feed it scores as they come, read the bound, stop at will.

    `pairs` is how many pairs of models are foreseen; a wrong guess costs tightness, never validity.
    """

    def __init__(self, held: Scores, *, delta: float, confidence: float, pairs: int) -> None:
        check_confidence(confidence)
        options = candidates(held)
        # Ville's 1/alpha corresponds to sqrt(2 log(1/alpha)) standard errors, where one look costs a normal quantile.
        alpha = float(special.ndtr(-math.sqrt(-2 * math.log(1 - confidence))))
        merits, _ = joint_choice(
            options, (pairs, pairs), alpha, lambda low, high: epsilon_from_rates(low, high, delta)
        )
        best = int(np.argmax(merits))
        p, q = float(options.true_positive[best]), float(options.false_positive[best])
        self.threshold = float(options.thresholds[best])
        self.forward = (p - delta) * (1 - p) >= (1 - q - delta) * q  # the larger of the two odds
        likely, unlikely = (p, q) if self.forward else (1 - q, 1 - p)
        top = math.log(max(likely, 1e-300) / max(unlikely, 1e-300)) if likely > unlikely else 0.0
        self.epsilons = np.linspace(0.0, min(50.0, 1.2 * top + 0.5), _GRID)
        self._need = -math.log(1 - confidence)
        self._logs = _log_factors(self.epsilons, likely, unlikely, delta)
        self._counts = np.zeros(4)
        self._rejected = np.zeros(_GRID, dtype=np.bool_)
        self.history: list[tuple[int, float]] = []

    @property
    def epsilon(self) -> float:
        """The time-uniform lower bound so far."""
        return self.history[-1][1] if self.history else 0.0

    @property
    def pairs(self) -> int:
        """How many pairs were seen."""
        return int(self._counts.sum())

    def update(self, negatives: Array, positives: Array) -> float:
        """The bound after these scores; they are paired in order, and every share of them is looked at."""
        pairs = min(len(negatives), len(positives))
        if pairs == 0:
            return self.epsilon
        above = negatives[:pairs] > self.threshold, positives[:pairs] > self.threshold
        unlikely, likely = above if self.forward else (~above[1], ~above[0])
        kinds = 2 * unlikely.astype(np.int64) + likely
        ends = np.unique(np.linspace(0, pairs, min(pairs, _LOOKS) + 1).astype(np.int64)[1:])
        running = np.stack([np.cumsum(kinds == kind)[ends - 1] for kind in range(4)], axis=1) + self._counts
        bets = np.tensordot(running, self._logs, axes=1)
        largest = bets.max(axis=1)
        wealth = largest + np.log(np.exp(bets - largest[:, None, :]).mean(axis=1))
        rejected = np.logical_or.accumulate(wealth >= self._need, axis=0) | self._rejected
        reached = np.minimum.accumulate(rejected, axis=1).sum(axis=1)  # how far the walk from the bottom gets
        bounds = self.epsilons[np.maximum(reached, 1) - 1]
        self.history += zip(running.sum(axis=1).astype(int).tolist(), bounds.tolist(), strict=True)
        self._counts, self._rejected = running[-1], rejected[-1]
        return self.epsilon


def sequential(held: Scores, judged: Scores, *, delta: float, confidence: float) -> Estimate:
    """A lower bound on epsilon for any release, valid at whatever time one stops.

    The test is fixed by the held-out scores alone: calls with more and more of the judged scores are one test, looked
    at again. Tuned to the number of judged scores, each call would be another test, and stopping at will invalid.
    """
    check(held, judged, delta, confidence)
    foreseen = _FORESEEN * min(len(held[0]), len(held[1]))
    test = Sequential(held, delta=delta, confidence=confidence, pairs=foreseen)
    test.update(*judged)
    reached = next((pairs for pairs, epsilon in test.history if epsilon == test.epsilon), test.pairs)
    return Estimate(test.epsilon, test.threshold, None, reached)


def _log_factors(epsilons: Array, likely: float, unlikely: float, delta: float) -> Array:
    """log(1 + lambda g), shape [4, bets, epsilons], for (a, b) = (0, 0), (0, 1), (1, 0), (1, 1) and hedged Kelly bets.

    Won with chance w and lost e^epsilon-fold with chance l, a bet grows most at (w - l e^epsilon) / (e^epsilon (w + l))
    (Kelly 1956); w is held down by delta, and a quarter, a half and the double hedge the error of the held-out rates.
    """
    factor = np.exp(epsilons)
    gains = np.stack([0 * factor, 1 + 0 * factor, -factor, 1 - factor]) - delta
    won, lost = (1 - unlikely) * likely, unlikely * (1 - likely)
    kelly = (won - delta - lost * factor) / (factor * (won + lost) + 1e-300)
    most = 1 / (factor + delta)
    bets = np.clip(kelly * _HEDGE[:, None], _LEAST_BET * most, _LARGEST_BET * most)
    return np.asarray(np.log1p(gains[:, None, :] * bets))
