r"""What a distribution-free audit can certify at best: the binomial limit of a pair whose law is known.

Somebody who knows the law also knows the best test before a single model is trained, and spends every model on its two
error rates. With `models` runs on each data set, "score > threshold" false positive with probability p and true
positive with probability q, the counts are Bin(models, p) and Bin(models, q); Clopper-Pearson bounds at alpha_1 and
alpha_2, alpha_1 + alpha_2 = 1 - confidence, then certify

    log((q_low - delta) / p_high)     and     log((1 - p_high - delta) / (1 - q_low)).

The limit is the largest of these over the thresholds, both directions of the definition and the splits of alpha, when
both counts are at their medians. One of the two rates is rare at the best threshold, and its count decides: about half
of such audits certify more than the limit, half less. (Nothing here limits the GDP conversion, which assumes a law.)

For a Gaussian pair with mu = 0.386 and delta = 1e-5, at confidence 0.95, that is 0.63 of the true epsilon with 10^5
models a side, 0.68 with 2 * 10^5 and 0.79 with 10^6.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol

import numpy as np
from numpy.typing import NDArray
from scipy import special, stats

from empirical.estimators import check_confidence
from oracle.errors import DomainError

Array = NDArray[np.float64]

SPLITS = (0.05, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 0.95)
_TARGETS = 400
_HALVINGS = 120


class Rates(Protocol):
    """What the limit needs of an exact law."""

    def rates(self, thresholds: Array) -> tuple[Array, Array]:
        """The false and the true positive rates of "score > threshold"."""


def binomial_limit(law: Rates, *, models: int, delta: float, confidence: float) -> float:
    """The epsilon that the best threshold, known in advance, certifies with `models` runs on each data set."""
    check_confidence(confidence)
    if models < 1:
        raise DomainError(f"models = {models} is outside its domain: an integer >= 1")
    if not 0 <= delta < 1:
        raise DomainError(f"delta = {delta} is outside its domain: a real number in [0, 1)")
    false_positive, true_positive = law.rates(_thresholds(law, models))
    hits, alarms = _median(true_positive, models), _median(false_positive, models)
    alpha = 1 - confidence
    return max(
        float(_certified(hits, alarms, models, delta, share * alpha, (1 - share) * alpha).max()) for share in SPLITS
    )


def _median(rates: Array, models: int) -> Array:
    return np.asarray(stats.binom.ppf(0.5, models, np.clip(rates, 0.0, 1.0)), dtype=np.float64)


def _certified(hits: Array, alarms: Array, models: int, delta: float, alpha_hits: float, alpha_alarms: float) -> Array:
    """The larger of the two certified log ratios, never below 0, at counts of hits and false alarms."""
    low = np.where(hits > 0, special.betaincinv(np.maximum(hits, 1), models - hits + 1, alpha_hits), 0.0)
    high = np.where(
        alarms < models, special.betainccinv(alarms + 1, np.maximum(models - alarms, 1), alpha_alarms), 1.0
    )
    # 1 - low and 1 - high by the complementary functions: near 1 the differences would lose every digit.
    low_rest = np.where(hits > 0, special.betainccinv(models - hits + 1, np.maximum(hits, 1), alpha_hits), 1.0)
    high_rest = np.where(
        alarms < models, special.betaincinv(np.maximum(models - alarms, 1), alarms + 1, alpha_alarms), 0.0
    )
    with np.errstate(divide="ignore", invalid="ignore"):
        forward = np.where(low > delta, np.log((low - delta) / high), 0.0)
        backward = np.where(high_rest > delta, np.log((high_rest - delta) / low_rest), 0.0)
    return np.maximum(0.0, np.maximum(forward, backward))


def _thresholds(law: Rates, models: int) -> Array:
    """Thresholds at which one of the error rates passes each of many values, from less than one model to one half."""
    targets = np.geomspace(0.1 / models, 0.5, _TARGETS)
    return np.concatenate([
        _crossings(lambda t: law.rates(t)[0], targets),
        _crossings(lambda t: law.rates(t)[1], 1 - targets),
    ])


def _crossings(rate: Callable[[Array], Array], targets: Array) -> Array:
    """For a rate that falls in the threshold, points just before and after it passes each target."""
    low, high = np.full(targets.shape, -1.0), np.full(targets.shape, 1.0)
    for _ in range(_HALVINGS):
        low, high = np.where(rate(low) > targets, low, 2 * low), np.where(rate(high) > targets, 2 * high, high)
    for _ in range(_HALVINGS):
        middle = (low + high) / 2
        above = rate(middle) > targets
        low, high = np.where(above, middle, low), np.where(above, high, middle)
    return np.concatenate([low, high])
