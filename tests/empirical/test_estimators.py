"""The estimators: exact where they say so, as tight as counting allows, and never an epsilon from what is no number."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
import pytest
from flint import arb
from scipy import stats

from empirical.estimators.bands import dkw_width
from empirical.estimators.binomial import (
    Array,
    Scores,
    Tally,
    arc_quantile,
    epsilon_from_rates,
    joint_bound,
    mu_from_rates,
    rate_bounds,
)
from empirical.estimators.coverage import gaussian
from empirical.estimators.estimators import ESTIMATORS, mu_low
from empirical.estimators.limits import binomial_limit
from empirical.estimators.sequential import Sequential
from empirical.estimators.thresholds import candidates, wilson
from empirical.pairs.laws import GaussianLaw
from oracle.core.errors import DomainError, TargetError

EVERY = pytest.mark.parametrize("name", list(ESTIMATORS))


def scores(mu: float, models: int, seed: int) -> Scores:
    rng = np.random.default_rng(seed)
    return rng.normal(size=models), mu + rng.normal(size=models)


def split(data: Scores, cut: int) -> tuple[Scores, Scores]:
    return (data[0][:cut], data[1][:cut]), (data[0][cut:], data[1][cut:])


def test_rate_bounds_are_the_exact_binomial_ones() -> None:
    counts = np.array([0, 1, 17, 99, 100])
    low, high = rate_bounds(counts, counts, (100, 100), (0.01, 0.04))
    for count, a, b in zip(counts, low, high, strict=True):
        test = stats.binomtest(int(count), 100)
        assert a == pytest.approx(test.proportion_ci(0.98, "exact").low, abs=1e-12)
        assert b == pytest.approx(test.proportion_ci(0.92, "exact").high, abs=1e-12)


def test_conversions_at_known_values() -> None:
    low, high = np.array([0.9]), np.array([0.1])
    assert epsilon_from_rates(low, high, 0.0)[0] == pytest.approx(math.log(9))
    assert epsilon_from_rates(low, high, 0.1)[0] == pytest.approx(math.log(8))
    # The other direction of the definition: tnr = 0.999 against fnr = 0.5.
    assert epsilon_from_rates(np.array([0.5]), np.array([0.001]), 0.0)[0] == pytest.approx(math.log(500))
    assert epsilon_from_rates(np.array([0.2]), np.array([0.3]), 0.8)[0] == 0.0
    assert mu_from_rates(low, high)[0] == pytest.approx(2 * 1.2815515655446004)


def test_the_arc_quantile_is_that_of_the_largest_projection() -> None:
    # 400,000 draws: the frequency of an event of probability 0.05 is within 5 standard errors, P(fail) < 1e-6.
    arc, alpha = 0.7, 0.05
    normal = np.random.default_rng(0).normal(size=(400_000, 2))
    radius, angle = np.hypot(*normal.T), np.arctan2(normal[:, 1], normal[:, 0])
    largest = radius * np.cos(np.maximum(0.0, np.abs(angle) - arc / 2))
    frequency = float(np.mean(largest >= arc_quantile(arc, alpha)))
    assert frequency == pytest.approx(alpha, abs=5 * math.sqrt(alpha * (1 - alpha) / len(normal)))
    assert arc_quantile(0.0, alpha) == pytest.approx(1.6448536269514722)


def test_the_joint_region_is_searched_on_all_of_its_edge() -> None:
    # The least of 200,000 points of the region, found without the code's segments, is not below the bound.
    counts, angle, alpha = Tally(300, 1000, 40, 1000), 1.1, 0.05

    def convert(low: Array, high: Array) -> Array:
        return epsilon_from_rates(low, high, 1e-3)

    found, _ = joint_bound(counts, angle, alpha, convert)
    rng = np.random.default_rng(1)
    p, q = rng.uniform(0.2, 0.4, 200_000), rng.uniform(0.01, 0.12, 200_000)
    z1 = stats.norm.isf(stats.binom.sf(counts.hits - 1, 1000, p))
    z2 = stats.norm.isf(stats.binom.cdf(counts.alarms, 1000, q))
    nearest = np.clip(np.arctan2(z2, z1), angle - 0.1, angle + 0.1)
    inside = z1 * np.cos(nearest) + z2 * np.sin(nearest) < arc_quantile(0.2, alpha * 0.999)
    least = float(convert(p[inside], q[inside]).min())
    assert found <= least <= found + 0.03


@pytest.mark.parametrize(("mu", "models"), [(1.5, 12), (1.0, 200), (3.0, 5000)])
def test_mu_is_the_exact_bound_of_the_non_central_t_law(mu: float, models: int) -> None:
    negatives, positives = scores(mu, models, 5)
    low = mu_low((negatives, positives), 0.05)
    pooled = math.sqrt((negatives.var(ddof=1) + positives.var(ddof=1)) / 2)
    scale = math.sqrt(2 / models)
    statistic = (positives.mean() - negatives.mean()) / (pooled * scale)
    assert low > 0
    assert stats.nct.sf(statistic, 2 * models - 2, low / scale) == pytest.approx(0.05, rel=1e-6)


@EVERY
def test_a_worse_than_random_attack_gives_zero_not_a_sign_flip(name: str) -> None:
    rng = np.random.default_rng(3)
    weak, strong = rng.normal(size=4000), 3 + rng.normal(size=4000)
    held, judged = split((strong, weak), 800)
    assert ESTIMATORS[name].estimate(held, judged, delta=1e-5, confidence=0.95).epsilon == 0.0


@EVERY
def test_constant_and_tied_scores_are_judged(name: str) -> None:
    half = np.tile([0.0, 1.0], 200)
    assert ESTIMATORS[name].estimate((half, half), (half, half), delta=1e-5, confidence=0.95).epsilon == 0.0
    if not ESTIMATORS[name].gaussian_only:
        zero, one = np.zeros(400), np.ones(400)
        apart = ESTIMATORS[name].estimate((zero, one), (zero, one), delta=1e-5, confidence=0.95)
        assert apart.epsilon > 2.0
        assert apart.epsilon < math.log(400) or ESTIMATORS[name].guarantee == "credible"


@pytest.mark.full
@pytest.mark.parametrize("delta", [0.0, 1e-5])
@pytest.mark.parametrize("mu", [0.386, 1.0, 2.0, 3.0])
def test_distribution_free_bounds_reach_the_binomial_limit(mu: float, delta: float) -> None:
    # Medians of 15 fixed seeds, 10 % held out; the limit is what the best threshold, known in advance, certifies.
    law = GaussianLaw(lambda: arb(str(mu)), np.ones(1), np.zeros(1))
    limit = binomial_limit(law, models=100_000, delta=delta, confidence=0.95)
    data = [split(scores(mu, 100_000, seed), 10_000) for seed in range(15)]
    for name, least in (("clopper-pearson", 0.95), ("joint", 0.95), ("curve", 0.95), ("sequential", 0.9)):
        found = [ESTIMATORS[name].estimate(*pair, delta=delta, confidence=0.95).epsilon for pair in data]
        assert np.median(found) >= least * limit, name


@pytest.mark.parametrize("mu", [0.2, 0.386, 1.0])
def test_the_gaussian_bound_reaches_the_exact_epsilon(mu: float) -> None:
    truth = gaussian(mu).epsilon(1e-5)
    data = [split(scores(mu, 200_000, seed), 20_000) for seed in range(8)]
    found = [ESTIMATORS["gdp"].estimate(*pair, delta=1e-5, confidence=0.95).epsilon for pair in data]
    assert np.median(found) >= 0.95 * truth


def test_rates_are_smoothed_for_smooth_laws_and_counted_for_others() -> None:
    rng = np.random.default_rng(0)
    smooth = candidates((rng.normal(size=5000), 1 + rng.normal(size=5000)))
    assert np.allclose(smooth.false_positive, stats.norm.sf(smooth.thresholds), atol=0.02)
    skewed = candidates((rng.gumbel(size=5000), 1 + rng.gumbel(size=5000)))
    assert np.allclose(skewed.true_positive, stats.gumbel_r.sf(skewed.thresholds - 1), atol=0.03)
    coins = candidates((np.tile([0.0, 1.0], 500), np.tile([0.0, 1.0, 1.0, 1.0], 250)))
    inside = (coins.thresholds > 0.1) & (coins.thresholds < 0.9)
    assert np.allclose(coins.false_positive[inside], 0.5, atol=0.04)
    assert np.allclose(coins.true_positive[inside], 0.75, atol=0.04)


@pytest.mark.filterwarnings("error")
def test_the_end_of_an_interval_that_is_rounded_past_one_has_an_interval() -> None:
    assert np.isfinite(wilson(np.array([-1e-16, 0.0, 1.0, 1.0 + 2.3e-16]), 10**9, -1e-9)).all()


def test_scores_that_span_the_range_of_doubles_have_thresholds() -> None:
    rng = np.random.default_rng(0)
    wide = rng.normal(size=400), np.where(rng.random(400) < 0.5, 1.5e308, -1.5e308)
    found = ESTIMATORS["joint"].estimate(wide, wide, delta=1e-5, confidence=0.95)
    assert found.epsilon > 3.5  # half of the hits and no alarm: log(0.46 / 0.01) or so


def test_the_dkw_width_is_that_of_massart() -> None:
    assert dkw_width(1000, 0.05) == pytest.approx(math.sqrt(math.log(20) / 2000))
    with pytest.raises(DomainError, match="alpha"):
        dkw_width(1000, 0.7)


def test_a_sequential_audit_stops_when_it_knows_and_is_cut_as_one_likes() -> None:
    held, judged = split(scores(2.0, 50_000, 1), 5000)
    whole = Sequential(held, delta=1e-5, confidence=0.95, pairs=45_000)
    whole.update(*judged)
    parts = Sequential(held, delta=1e-5, confidence=0.95, pairs=45_000)
    for first in range(0, 45_000, 9000):
        parts.update(judged[0][first: first + 9000], judged[1][first: first + 9000])
    assert parts.pairs == whole.pairs == 45_000
    assert parts.epsilon >= whole.epsilon * 0.98
    assert min(pairs for pairs, epsilon in whole.history if epsilon > 1.0) < 5000
    assert whole.epsilon <= 20.0
    bounds = [epsilon for _, epsilon in whole.history]
    assert bounds == sorted(bounds)


@EVERY
def test_bad_scores_are_errors(name: str) -> None:
    estimate: Callable[..., object] = ESTIMATORS[name].estimate
    good = np.linspace(0, 1, 50)
    with pytest.raises(DomainError, match="at least 4"):
        estimate((good[:2], good), (good, good), delta=1e-5, confidence=0.95)
    with pytest.raises(TargetError, match="not finite"):
        estimate((good, good), (good, np.where(good > 0.5, np.nan, good)), delta=1e-5, confidence=0.95)
    with pytest.raises(DomainError, match="confidence"):
        estimate((good, good), (good, good), delta=1e-5, confidence=1.5)
    with pytest.raises(DomainError, match="delta"):
        estimate((good, good), (good, good), delta=-0.1, confidence=0.95)
    if ESTIMATORS[name].gaussian_only:
        with pytest.raises(DomainError, match="delta = 0"):
            estimate((good, good), (good, good), delta=0.0, confidence=0.95)


def test_scores_without_spread_are_no_gaussian_release() -> None:
    constant = np.zeros(50), np.ones(50)
    with pytest.raises(TargetError, match="all equal"):
        ESTIMATORS["gdp"].estimate(constant, constant, delta=1e-5, confidence=0.95)
