r"""From scores to a lower confidence bound on epsilon: the estimators and their registry.

An estimator gets the scores of models of both data sets twice: `held`, on which it may choose whatever it likes
(threshold, split of the error, direction), and `judged`, independent of them, on which it counts. Nothing is chosen on
the data that judge it. Each returns an epsilon that exceeds the truth with probability at most 1 - confidence, for
every release of which the scores are a function (`credible` promises something else, and says so).

- `clopper-pearson`: one threshold, alpha split between the two rates as the held-out scores advise;
- `joint`: one threshold, no split: the joint region of `binomial`. Where both counts matter (a small epsilon) it
  certifies clearly more than the split, and elsewhere about as much; the one to use if in doubt;
- `curve`, `dkw`: many thresholds in one simultaneous band (`bands`);
- `credible`: a Bayesian credible bound (`credible`);
- `sequential`: an anytime-valid bound, for audits that stop when they know (`sequential`);
- `gdp`, `gdp-threshold`: for releases that are Gaussian by theory, with one covariance, and for these only.

`gdp`: a score that is linear in a Gaussian release is N(m_i, s^2), and the release has mu >= (m_1 - m_0)/s. With pooled
variance S^2 on n_0 + n_1 - 2 degrees of freedom, (mean_1 - mean_0) / (S sqrt(1/n_0 + 1/n_1)) has a non-central t law
with parameter (m_1 - m_0)/s / sqrt(1/n_0 + 1/n_1), in which it is stochastically increasing: the parameter at which its
upper tail is alpha is an exact lower confidence bound. It uses every model, not the few near a threshold, and pays by
relying on normality: a score that is not linear must go to `gdp-threshold`, mu >= Phi^-1(p) - Phi^-1(q) over the joint
region, which any test of a Gaussian pair obeys (Dong, Roth and Su 2022, Thm 2.10).
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np
import scipy
from scipy import special

from empirical.estimators import bands, credible, sequential
from empirical.estimators.binomial import (
    Array,
    RateBounds,
    Scores,
    epsilon_from_rates,
    joint_bound,
    mu_from_rates,
    rate_bounds,
    tally,
    unit_quadrature,
)
from empirical.estimators.estimate import Estimate, check, check_confidence
from empirical.estimators.thresholds import candidates, joint_choice, split_choice
from oracle.core.errors import DomainError, TargetError
from oracle.core.registry import bound

__all__ = ["ESTIMATORS", "Estimate", "Estimator", "RateBounds", "Scores", "check_confidence"]

_NODES = 256


@dataclass(frozen=True)
class Estimator:
    """A way from scores to a lower bound on epsilon, with what it promises and where it is allowed.

    `gaussian_only`: only for releases declared Gaussian with one covariance. `linear_only`: only for scores that are
    linear (affine) in the release.
    """

    name: str
    guarantee: str
    gaussian_only: bool
    estimate: Callable[..., Estimate] = field(repr=False)
    linear_only: bool = False


def clopper_pearson(held: Scores, judged: Scores, *, delta: float, confidence: float) -> Estimate:
    """A lower bound on epsilon for any release: one threshold, the error split between the two rates."""
    check(held, judged, delta, confidence)

    def convert(low: Array, high: Array) -> Array:
        return epsilon_from_rates(low, high, delta)

    trials = (len(judged[1]), len(judged[0]))
    threshold, alphas = split_choice(candidates(held), trials, 1 - confidence, convert)
    counts = tally(judged, threshold)
    low, high = rate_bounds(counts.hits, counts.alarms, trials, alphas)
    return Estimate(float(convert(low, high)), threshold, RateBounds(float(low), float(high)))


def joint(held: Scores, judged: Scores, *, delta: float, confidence: float) -> Estimate:
    """A lower bound on epsilon for any release: one threshold, both rates in one joint region."""
    check(held, judged, delta, confidence)
    return _joint(held, judged, confidence, lambda low, high: epsilon_from_rates(low, high, delta))


def gdp_threshold(held: Scores, judged: Scores, *, delta: float, confidence: float) -> Estimate:
    """A lower bound on epsilon for Gaussian releases, from one threshold: any score will do."""
    check(held, judged, delta, confidence)
    found = _joint(held, judged, confidence, mu_from_rates)
    return Estimate(epsilon_of_mu(found.epsilon, delta), found.threshold, found.rates)


def gdp(held: Scores, judged: Scores, *, delta: float, confidence: float) -> Estimate:
    """A lower bound on epsilon for Gaussian releases and linear scores, from means and pooled variance."""
    check(held, judged, delta, confidence)
    mu = mu_low(judged, 1 - confidence)
    return Estimate(epsilon_of_mu(mu, delta), None, None)


def mu_low(judged: Scores, alpha: float) -> float:
    """The exact lower confidence bound, never below 0, of (m_1 - m_0)/s for N(m_0, s^2) and N(m_1, s^2) samples."""
    negatives, positives = judged
    freedom = len(negatives) + len(positives) - 2
    scale = math.sqrt(1 / len(negatives) + 1 / len(positives))
    squares = float(((negatives - negatives.mean()) ** 2).sum() + ((positives - positives.mean()) ** 2).sum())
    gap = float(positives.mean() - negatives.mean())
    if gap <= 0:
        return 0.0
    if squares == 0:
        raise TargetError("the scores of each data set are all equal, which those of a Gaussian release are not")
    statistic = gap / (math.sqrt(squares / freedom) * scale)
    # Pr[T >= t] = E Phi(nc - t S) with S^2 a chi-square over its degrees of freedom, by quadrature in S's quantiles.
    levels, weights = unit_quadrature(_NODES)
    spreads = np.sqrt(2 * special.gammaincinv(freedom / 2, levels) / freedom)

    def excess(parameter: float) -> float:
        return float(weights @ special.ndtr(parameter - statistic * spreads)) - alpha

    if excess(0.0) >= 0:
        return 0.0
    return float(scipy.optimize.brentq(excess, 0.0, statistic + 50.0 * (1 + statistic), xtol=1e-12, rtol=1e-12)) * scale


def epsilon_of_mu(mu: float, delta: float) -> float:
    """The certified lower end of the epsilon of a Gaussian pair at mu, 0 for mu = 0."""
    if not 0 < delta < 1:
        raise DomainError(
            f"delta = {delta} is outside its domain: a real number in (0, 1), for no Gaussian pair is (epsilon, 0)-DP"
        )
    return bound("gdp.epsilon").reference(mu=mu, delta=delta).to_floats()[0] if mu > 0 else 0.0


def _joint(
    held: Scores, judged: Scores, confidence: float, convert: Callable[[Array, Array], Array]
) -> Estimate:
    options = candidates(held)
    merits, angles = joint_choice(options, (len(judged[1]), len(judged[0])), 1 - confidence, convert)
    best = int(np.argmax(merits))
    threshold = float(options.thresholds[best])
    value, rates = joint_bound(tally(judged, threshold), float(angles[best]), 1 - confidence, convert)
    return Estimate(value, threshold, rates)


ESTIMATORS: dict[str, Estimator] = {
    item.name: item
    for item in (
        Estimator("clopper-pearson", "confidence", False, clopper_pearson),
        Estimator("joint", "confidence", False, joint),
        Estimator("curve", "confidence", False, bands.curve),
        Estimator("dkw", "confidence", False, bands.dkw),
        Estimator("credible", "credible", False, credible.credible),
        Estimator("sequential", "confidence", False, sequential.sequential),
        Estimator("gdp", "confidence", True, gdp, linear_only=True),
        Estimator("gdp-threshold", "confidence", True, gdp_threshold),
    )
}
