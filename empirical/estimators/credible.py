r"""A Bayesian lower bound on epsilon (Zanella-Beguelin et al., ICML 2023, Bayesian estimation of differential privacy).

The true and the false positive rate of a test have independent Jeffreys priors Beta(1/2, 1/2), hence independent Beta
posteriors. Epsilon is a function of the two, and the bound is the alpha-quantile of its posterior: the epsilon at which

    Pr[p <= e^epsilon q + delta and 1 - q <= e^epsilon (1 - p) + delta] = alpha

under the posterior. The interval of the paper is two-sided; this is its lower end at full alpha.

What it promises: if the rates are drawn from the prior, the bound exceeds the truth with probability at most alpha,
averaged over the prior. That is not a confidence statement. At given rates it exceeds the truth more often than alpha:
where both directions are equally sharp (p = 1 - q, as for randomised response and for every symmetric pair at its best
threshold) epsilon is the larger of two, and its posterior is biased upwards. Summed exactly over all counts of 200
models a side at p = 0.97: in 0.19 of audits at 95 %, in 0.84 at 50 % (tests/empirical/test_coverage.py). So a verdict
that rests on it says "credible", and is no evidence of the kind that the other estimators give.
"""

from __future__ import annotations

import numpy as np
from scipy import special

from empirical.estimators.binomial import Array, Counts, Scores, epsilon_from_rates, tally, unit_quadrature
from empirical.estimators.estimate import Estimate, check
from empirical.estimators.thresholds import candidates, split_choice

_NODES = 96
_STEPS = 40
_LARGEST = 60.0  # e^60: no number of models comes near


def credible(held: Scores, judged: Scores, *, delta: float, confidence: float) -> Estimate:
    """A lower credible bound on epsilon: one threshold, the alpha-quantile of the posterior of epsilon."""
    check(held, judged, delta, confidence)
    trials = (len(judged[1]), len(judged[0]))
    threshold, _ = split_choice(
        candidates(held), trials, 1 - confidence, lambda low, high: epsilon_from_rates(low, high, delta)
    )
    counts = tally(judged, threshold)
    value = posterior_quantile(
        np.array([counts.hits]), np.array([counts.alarms]), trials, delta=delta, alpha=1 - confidence
    )
    return Estimate(float(value[0]), threshold, None)


def posterior_quantile(
    hits: Counts, alarms: Counts, trials: tuple[int, int], *, delta: float, alpha: float
) -> Array:
    """The alpha-quantile of the posterior of epsilon, for arrays of counts of data sets 1 and 0."""
    level, weight = unit_quadrature(_NODES)
    positives, negatives = trials
    rate = special.betaincinv(alarms[:, None] + 0.5, negatives - alarms[:, None] + 0.5, level)
    above = (hits + 0.5)[:, None], (positives - hits + 0.5)[:, None]
    low, high = np.zeros(len(hits)), np.full(len(hits), _LARGEST)
    for _ in range(_STEPS):
        middle = (low + high) / 2
        factor = np.exp(middle)[:, None]
        most = np.minimum(factor * rate + delta, 1 - (1 - rate - delta) / factor)
        inside = special.betainc(*above, np.clip(most, 0.0, 1.0)) @ weight
        low, high = np.where(inside < alpha, middle, low), np.where(inside < alpha, high, middle)
    return low
