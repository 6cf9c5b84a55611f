"""The estimators: valid lower bounds at the stated confidence (coverage measured), and as tight as counting allows.

Coverage tests run 400 audits with a fixed seed: with true coverage at least 0.95 fewer than 365 cover with probability
below 1e-3, and with at least 0.5 fewer than 168 do. The low confidence is there because it shows selection bias best.
"""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
import pytest
from scipy import stats

from empirical.estimators import (
    Array,
    Estimate,
    clopper_pearson,
    epsilon_from_rates,
    gdp,
    mu_from_rates,
    rate_bounds,
)
from oracle import bound
from oracle.errors import DomainError, TargetError

AUDITS = 400
LEAST_COVERED = {0.95: 365, 0.5: 168}

Law = Callable[[np.random.Generator, int], tuple[Array, Array]]


def gaussian_law(mu: float) -> Law:
    return lambda rng, runs: (rng.normal(size=runs), mu + rng.normal(size=runs))


def staircase_law(odds: float) -> Law:
    """Randomised response plus uniform noise: every threshold in [1, 2] attains epsilon = log(odds) at delta = 0."""
    p = odds / (1 + odds)
    return lambda rng, runs: (
        (rng.random(runs) > p) + rng.random(runs), (rng.random(runs) < p) + rng.random(runs),
    )


def covered(
    estimator: Callable[..., Estimate], law: Law, *, epsilon: float, delta: float, confidence: float, runs: int = 500
) -> int:
    """How many of 400 audits of a known law stay at or below its true epsilon."""
    rng = np.random.default_rng(20_261)
    return sum(
        estimator(*law(rng, runs), delta=delta, confidence=confidence).epsilon <= epsilon for _ in range(AUDITS)
    )


def gaussian_epsilon(mu: float, delta: float) -> float:
    return bound("gdp.epsilon").reference(mu=mu, delta=delta).to_floats()[1] if mu > 0 else 0.0


@pytest.mark.parametrize("confidence", LEAST_COVERED)
@pytest.mark.parametrize("mu", [0.0, 0.3, 2.0])
@pytest.mark.parametrize("estimator", [clopper_pearson, gdp])
def test_coverage_on_gaussian_pairs(estimator: Callable[..., Estimate], mu: float, confidence: float) -> None:
    truth = gaussian_epsilon(mu, 1e-3)
    count = covered(estimator, gaussian_law(mu), epsilon=truth, delta=1e-3, confidence=confidence)
    assert count >= LEAST_COVERED[confidence]


@pytest.mark.parametrize("confidence", LEAST_COVERED)
@pytest.mark.parametrize("odds", [1.5, 5.0])
def test_clopper_pearson_covers_a_law_that_is_not_gaussian(odds: float, confidence: float) -> None:
    law = staircase_law(odds)
    count = covered(clopper_pearson, law, epsilon=math.log(odds), delta=0.0, confidence=confidence)
    assert count >= LEAST_COVERED[confidence]


def test_rate_bounds_are_the_exact_binomial_ones() -> None:
    alpha = 0.05
    counts = np.array([0, 1, 17, 99, 100])
    low, high = rate_bounds(counts, counts, (100, 100), alpha)
    for count, a, b in zip(counts, low, high, strict=True):
        expected = stats.binomtest(int(count), 100).proportion_ci(1 - alpha, "exact")
        assert a == pytest.approx(expected.low, abs=1e-12)
        assert b == pytest.approx(expected.high, abs=1e-12)


def test_conversions_at_known_values() -> None:
    low, high = np.array([0.9]), np.array([0.1])
    assert epsilon_from_rates(low, high, 0.0)[0] == pytest.approx(math.log(9))
    assert epsilon_from_rates(low, high, 0.1)[0] == pytest.approx(math.log(8))
    # The other direction of the definition: tnr = 0.999 against fnr = 0.5.
    assert epsilon_from_rates(np.array([0.5]), np.array([0.001]), 0.0)[0] == pytest.approx(math.log(500))
    assert epsilon_from_rates(np.array([0.2]), np.array([0.3]), 0.8)[0] == 0.0
    assert mu_from_rates(low, high)[0] == pytest.approx(2 * 1.2815515655446004)


def test_a_worse_than_random_attack_gives_zero_not_a_sign_flip() -> None:
    # A01: an auditor that takes |mu| reports a large epsilon here.
    rng = np.random.default_rng(3)
    weak, strong = rng.normal(size=4000), 3 + rng.normal(size=4000)
    assert gdp(strong, weak, delta=1e-5, confidence=0.95).epsilon == 0.0
    assert clopper_pearson(strong, weak, delta=1e-5, confidence=0.95).epsilon == 0.0


def test_tightness_at_a_hundred_thousand_runs() -> None:
    # Peers' figures for mu = 1: 2.58 (Clopper-Pearson) and 4.255 (GDP) of 4.377 at 100k runs a side, median of 8 seeds.
    pairs = [np.random.default_rng(seed) for seed in range(8)]
    data = [(rng.normal(size=100_000), 1 + rng.normal(size=100_000)) for rng in pairs]
    for estimator, least in ((clopper_pearson, 2.5), (gdp, 4.2)):
        values = [estimator(a, b, delta=1e-5, confidence=0.95).epsilon for a, b in data]
        assert np.median(values) >= least


def test_bad_scores_are_errors() -> None:
    good = np.linspace(0, 1, 50)
    with pytest.raises(DomainError, match="at least 20"):
        gdp(good[:5], good, delta=1e-5, confidence=0.95)
    with pytest.raises(TargetError, match="not finite"):
        gdp(good, np.where(good > 0.5, np.nan, good), delta=1e-5, confidence=0.95)
    with pytest.raises(DomainError, match="confidence"):
        gdp(good, good, delta=1e-5, confidence=1.5)
