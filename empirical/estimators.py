"""From scores to a lower confidence bound on epsilon.

Scores of models trained on the two data sets are split: the threshold is chosen on the held-out part and both error
rates are bounded on the rest, so nothing is paid for twice and nothing is chosen on the data that judges it. The error
probability alpha is split evenly over the two one-sided Clopper-Pearson bounds (true positive rate from below, false
positive rate from above); both directions of the definition then follow from the same two events.

- `clopper_pearson`: epsilon >= log((tpr - delta) / fpr) and log((tnr - delta) / fnr), valid for any release;
- `gdp`: mu >= Phi^-1(tpr) - Phi^-1(fpr), then the exact Gaussian curve, valid only where the released law is Gaussian
  by theory, and refused elsewhere by the audit.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import special

from oracle.errors import DomainError, TargetError
from oracle.registry import bound

Array = NDArray[np.float64]
Counts = NDArray[np.integer[Any]]

HELD_OUT = 0.2
_CANDIDATES = 512


@dataclass(frozen=True)
class Rates:
    """A lower confidence bound of the true positive rate and an upper one of the false positive rate."""

    true_positive: float
    false_positive: float

    def arrays(self) -> tuple[Array, Array]:
        """The two rates as arrays of one entry, for the vectorised conversions."""
        return np.array([self.true_positive]), np.array([self.false_positive])


@dataclass(frozen=True)
class Estimate:
    """A lower confidence bound on epsilon, with the threshold and the rates behind it."""

    epsilon: float
    threshold: float
    rates: Rates


def rate_bounds(hits: Counts, false_alarms: Counts, trials: tuple[int, int], alpha: float) -> tuple[Array, Array]:
    """Clopper-Pearson: lower bounds of the hit rate and upper bounds of the false-alarm rate, each at alpha / 2."""
    positives, negatives = trials
    # The least p whose upper tail P(X >= hits) reaches alpha/2 is a quantile of Beta(hits, positives - hits + 1).
    low = np.where(hits > 0, special.betaincinv(np.maximum(hits, 1), positives - hits + 1, alpha / 2), 0.0)
    inside = np.minimum(false_alarms, negatives - 1)
    high = special.betainccinv(inside + 1, negatives - inside, alpha / 2)
    return low, np.where(false_alarms < negatives, high, 1.0)


def epsilon_from_rates(low: Array, high: Array, delta: float) -> Array:
    """The largest epsilon that (epsilon, delta)-DP must have, given tpr >= low and fpr <= high; never below 0."""
    with np.errstate(divide="ignore", invalid="ignore"):
        forward = np.where(low > delta, np.log((low - delta) / high), 0.0)
        backward = np.where(1 - high > delta, np.log((1 - high - delta) / (1 - low)), 0.0)
    return np.maximum(0.0, np.maximum(forward, backward))


def mu_from_rates(low: Array, high: Array) -> Array:
    """The largest mu that a Gaussian release must have, given tpr >= low and fpr <= high; never below 0."""
    with np.errstate(invalid="ignore"):
        mu = special.ndtri(low) - special.ndtri(high)
    return np.asarray(np.maximum(0.0, np.nan_to_num(mu, nan=0.0, neginf=0.0)))


def clopper_pearson(negatives: Array, positives: Array, *, delta: float, confidence: float) -> Estimate:
    """A lower bound on epsilon valid for any release."""
    threshold, rates = _judge(
        negatives, positives, confidence, lambda low, high: epsilon_from_rates(low, high, delta)
    )
    epsilon = float(epsilon_from_rates(*rates.arrays(), delta)[0])
    return Estimate(epsilon, threshold, rates)


def gdp(negatives: Array, positives: Array, *, delta: float, confidence: float) -> Estimate:
    """A lower bound on epsilon valid where the release is Gaussian with a common covariance."""
    threshold, rates = _judge(negatives, positives, confidence, mu_from_rates)
    mu = float(mu_from_rates(*rates.arrays())[0])
    epsilon = bound("gdp.epsilon").reference(mu=mu, delta=delta).to_floats()[0] if mu > 0 else 0.0
    return Estimate(epsilon, threshold, rates)


ESTIMATORS: dict[str, Callable[..., Estimate]] = {"clopper-pearson": clopper_pearson, "gdp": gdp}


def check_confidence(confidence: float) -> None:
    """A DomainError unless the confidence is a probability strictly between 0 and 1."""
    if not 0 < confidence < 1:
        raise DomainError(f"confidence = {confidence} is outside its domain: a real number in (0, 1)")


def _judge(
    negatives: Array, positives: Array, confidence: float, merit: Callable[[Array, Array], Array]
) -> tuple[float, Rates]:
    """Choose the threshold of largest merit on the held-out scores, and bound the rates on the others."""
    check_confidence(confidence)
    for name, scores in (("first", negatives), ("second", positives)):
        if scores.ndim != 1 or len(scores) < 20:
            raise DomainError(f"the {name} data set has {scores.size} scores; at least 20 are needed")
        if not np.isfinite(scores).all():
            raise TargetError(f"the {name} data set has scores that are not finite")
    alpha = 1 - confidence
    cut = math.ceil(HELD_OUT * min(len(negatives), len(positives)))
    held = np.concatenate([negatives[:cut], positives[:cut]])
    candidates = np.quantile(held, np.linspace(0, 1, _CANDIDATES))
    merits = merit(*_bounds_at(candidates, negatives[:cut], positives[:cut], alpha))
    threshold = float(candidates[int(np.argmax(merits))])
    low, high = _bounds_at(np.array([threshold]), negatives[cut:], positives[cut:], alpha)
    return threshold, Rates(float(low[0]), float(high[0]))


def _bounds_at(thresholds: Array, negatives: Array, positives: Array, alpha: float) -> tuple[Array, Array]:
    """Rate bounds of the test 'score > threshold', at every threshold."""
    hits = len(positives) - np.searchsorted(np.sort(positives), thresholds, side="right")
    alarms = len(negatives) - np.searchsorted(np.sort(negatives), thresholds, side="right")
    return rate_bounds(hits, alarms, (len(positives), len(negatives)), alpha)
