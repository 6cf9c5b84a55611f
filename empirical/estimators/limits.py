r"""What a distribution-free audit can certify at best: the binomial limit of a pair whose law is known.

Somebody who knows the law also knows the best test before a single model is trained, and spends every model on its two
error rates. With `models` runs on each data set, "score > threshold" false positive with probability p and true
positive with probability q, the counts are Bin(models, p) and Bin(models, q); Clopper-Pearson bounds at alpha_1 and
alpha_2, alpha_1 + alpha_2 = 1 - confidence, then certify

    log((q_low - delta) / p_high)     and     log((1 - p_high - delta) / (1 - q_low)).

The limit is the largest median of the better of the two, over the thresholds and the splits of alpha: half of the
audits by somebody who knows all this in advance certify more, half less. It limits neither the GDP conversion, which
assumes a law, nor quite the joint region of `binomial`, which gives away a little less than any split.

For a Gaussian pair with mu = 0.386 and delta = 1e-5, at confidence 0.95, that is 0.63 of the true epsilon with 10^5
models a side, 0.68 with 2 * 10^5 and 0.79 with 10^6.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol

import numpy as np
import scipy
from numpy.typing import NDArray
from scipy import special

from empirical.estimators.binomial import epsilon_from_rates, rate_high, rate_low
from empirical.estimators.estimate import check_confidence
from oracle.core.errors import DomainError

Array = NDArray[np.float64]

SPLITS = (0.02, 0.05, 0.1, 0.2, 0.35, 0.5, 0.65, 0.8, 0.9, 0.95, 0.98)
_TARGETS = 120
_LOOKS = ((1, 400), (9, 24), (101, 1))
_HALVINGS = 120


class ExactRates(Protocol):
    """What the limit needs of an exact law."""

    def rates(self, thresholds: Array) -> tuple[Array, Array]:
        """The false and the true positive rates of "score > threshold"."""


def binomial_limit(law: ExactRates, *, models: int, delta: float, confidence: float) -> float:
    """The epsilon that the best threshold, known in advance, certifies with `models` runs on each data set."""
    check_confidence(confidence)
    if models < 1:
        raise DomainError(f"models = {models} is outside its domain: an integer >= 1")
    if not 0 <= delta < 1:
        raise DomainError(f"delta = {delta} is outside its domain: a real number in [0, 1)")
    alpha = 1 - confidence
    deviates = np.array([(-special.ndtri(share * alpha), -special.ndtri((1 - share) * alpha)) for share in SPLITS])
    # Every threshold with every split; a finer and finer look at fewer and fewer of them.
    rates = np.repeat(np.stack(law.rates(_thresholds(law, models)), axis=-1), len(SPLITS), axis=0)
    deviates = np.tile(deviates, (len(rates) // len(SPLITS), 1))
    for nodes, kept in _LOOKS:
        medians = _medians(rates, deviates, models, delta, nodes)
        best = np.argsort(-medians, kind="stable")[:kept]
        rates, deviates = rates[best], deviates[best]
    return float(medians[best[0]])


def _medians(rates: Array, deviates: Array, models: int, delta: float, nodes: int) -> Array:
    """The medians of what is certified, at rows of (false, true) positive rates and of normal deviates of the split.

    Each count is replaced by its quantiles at the middles of `nodes` equal steps.
    """
    levels = (np.arange(nodes) + 0.5) / nodes
    counts = scipy.stats.binom.ppf(levels[:, None], models, np.clip(rates, 0.0, 1.0)[:, None, :]).astype(np.int64)
    low = rate_low(counts[..., 1], models, deviates[:, :1])
    high = rate_high(counts[..., 0], models, deviates[:, 1:])
    certified = epsilon_from_rates(low[:, :, None], high[:, None, :], delta)
    return np.asarray(np.median(certified.reshape(len(rates), -1), axis=1))


def _thresholds(law: ExactRates, models: int) -> Array:
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
