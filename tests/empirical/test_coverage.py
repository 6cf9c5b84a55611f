"""Coverage: no bound exceeds the truth more often than its stated error probability allows.

Every statistical test has a fixed seed and fails for a valid bound with probability at most 1e-6 (`coverage.allowed`).
Half confidence is there because it shows selection bias best. The regions behind the bounds are also checked without
chance: their failure probabilities are summed over all counts.
"""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy import stats

from empirical.attacks.attacks import choose
from empirical.audits import one_run
from empirical.estimators.binomial import Array, Tally, epsilon_from_rates, joint_bound, rate_bounds
from empirical.estimators.coverage import (
    PAIRS,
    Known,
    Leak,
    allowed,
    coverage,
    gaussian,
    power,
    randomised_response,
)
from empirical.estimators.credible import posterior_quantile
from empirical.estimators.estimators import ESTIMATORS, Estimator
from empirical.mutants.checks import one_run_coverage
from empirical.pairs.pair import Pair

REPETITIONS = {
    "clopper-pearson": 1000, "joint": 600, "curve": 200, "dkw": 2000, "sequential": 250, "gdp": 400,
    "gdp-threshold": 400,
}
CONFIDENT = [item for item in ESTIMATORS.values() if item.guarantee == "confidence"]
AT_NIGHT = {"gaussian 0.5", "randomised response 6", "subsampled gaussian 0.25 2"}
"""Pairs of laws that others stand for by day."""
CASES = [
    pytest.param(item, pair, id=f"{item.name}-{pair.name}", marks=[pytest.mark.thorough] * (pair.name in AT_NIGHT))
    for item in CONFIDENT for pair in PAIRS if pair.gaussian or not item.gaussian_only
]


@pytest.mark.full
@pytest.mark.parametrize("confidence", [pytest.param(0.95, marks=pytest.mark.thorough), 0.5])
@pytest.mark.parametrize(("estimator", "pair"), CASES)
def test_a_bound_exceeds_the_truth_no_more_often_than_stated(
    estimator: Estimator, pair: Known, confidence: float
) -> None:
    found = coverage(
        estimator.estimate, pair, delta=1e-3, confidence=confidence, repetitions=REPETITIONS[estimator.name]
    )
    assert found.valid, str(found)


def peeking(name: str, *, confidence: float, repetitions: int) -> int:
    """How often a bound exceeds the truth at some of ten looks at more and more of the judged scores."""
    rng, pair, failures = np.random.default_rng(6), randomised_response(6.0), 0
    truth = pair.epsilon(1e-3)
    for _ in range(repetitions):
        held, (first, second) = pair.draw(rng, 50), pair.draw(rng, 300)
        looks = ((first[:end], second[:end]) for end in range(30, 301, 30))
        failures += any(
            ESTIMATORS[name].estimate(held, judged, delta=1e-3, confidence=confidence).epsilon > truth
            for judged in looks
        )
    return failures


@pytest.mark.full
def test_only_the_sequential_bound_may_be_looked_at_again_and_again() -> None:
    assert peeking("sequential", confidence=0.5, repetitions=80) <= allowed(80, 0.5)
    assert peeking("joint", confidence=0.5, repetitions=250) > allowed(250, 0.5)


def test_every_estimator_is_either_covered_or_called_credible() -> None:
    assert {item.name for item in CONFIDENT} == set(REPETITIONS)
    assert [item.name for item in ESTIMATORS.values() if item.guarantee == "credible"] == ["credible"]


@pytest.mark.full
@pytest.mark.parametrize("alpha", [0.05, 0.5])
@pytest.mark.parametrize(("p", "q"), [(0.5, 0.5), (0.9, 0.1), (0.4, 0.02), (0.97, 0.6)])
def test_failure_probabilities_summed_over_all_counts_are_at_most_alpha(p: float, q: float, alpha: float) -> None:
    models, delta = 25, 0.01
    truth = float(epsilon_from_rates(np.array(p), np.array(q), delta))
    chances = stats.binom.pmf(np.arange(models + 1), models, p), stats.binom.pmf(np.arange(models + 1), models, q)
    failures = dict.fromkeys(("split", "joint 0.2", "joint 0.8", "joint 1.5"), 0.0)

    def convert(low: Array, high: Array) -> Array:
        return epsilon_from_rates(low, high, delta)

    for hits in range(models + 1):
        for alarms in range(models + 1):
            chance = float(chances[0][hits] * chances[1][alarms])
            if chance < 1e-10:  # too rare to be worth a bound: counted as a failure of all
                failures = {name: total + chance for name, total in failures.items()}
                continue
            corner = rate_bounds(hits, alarms, (models, models), (0.3 * alpha, 0.7 * alpha))
            failures["split"] += chance * (float(convert(*corner)) > truth)
            for angle in (0.2, 0.8, 1.5):
                counts = Tally(hits, models, alarms, models)
                failures[f"joint {angle}"] += chance * (joint_bound(counts, angle, alpha, convert)[0] > truth)
    assert max(failures.values()) <= alpha, failures


@pytest.mark.parametrize("alpha", [0.05, 0.5])
def test_the_credible_bound_keeps_what_it_promises_averaged_over_the_prior(alpha: float) -> None:
    rng = np.random.default_rng(1)
    audits, models, delta = 20_000, 12, 1e-3
    p, q = rng.beta(0.5, 0.5, audits), rng.beta(0.5, 0.5, audits)
    hits, alarms = rng.binomial(models, p), rng.binomial(models, q)
    kinds, which = np.unique(np.stack([hits, alarms]), axis=1, return_inverse=True)
    low = posterior_quantile(kinds[0], kinds[1], (models, models), delta=delta, alpha=alpha)[which.ravel()]
    failures = int(np.count_nonzero(low > epsilon_from_rates(p, q, delta)))
    assert failures <= allowed(audits, alpha)


def test_the_credible_bound_is_no_confidence_bound() -> None:
    models, delta = 50, 1e-3
    hits, alarms = (side.ravel() for side in np.meshgrid(np.arange(models + 1), np.arange(models + 1)))
    chance = stats.binom.pmf(hits, models, 0.97) * stats.binom.pmf(alarms, models, 0.03)
    seen = chance > 1e-7
    low = posterior_quantile(hits[seen], alarms[seen], (models, models), delta=delta, alpha=0.05)
    failure = float(chance[seen][low > math.log((0.97 - delta) / 0.03)].sum())
    assert 0.15 < failure < 0.25  # what its docstring says; a confidence bound has 0.05 at most


def releases(rng: np.random.Generator, models: int, gap: float) -> tuple[Array, Array]:
    """Releases of four numbers, of which the second differs by `gap` on average, in standard deviations."""
    shift = np.array([0.0, gap, 0.0, 0.0])
    return rng.normal(size=(models, 4)), rng.normal(size=(models, 4)) + shift


@pytest.mark.full
@pytest.mark.parametrize("confidence", [0.95, 0.5])
@pytest.mark.parametrize("gap", [0.0, 1.0])
def test_an_attack_chosen_on_held_out_releases_costs_no_coverage(gap: float, confidence: float) -> None:
    attacks = ("linear-discriminant", "mean-distance", "coordinate-scan")
    data = np.zeros((3, 4))
    pair = Pair((data, data + 1.0), (np.zeros(3), np.zeros(3)), "replace", None, None)
    rng, failures, repetitions = np.random.default_rng(4), {"joint": 0, "gdp": 0}, 100
    truth = gaussian(gap).epsilon(1e-3)
    for _ in range(repetitions):
        first, second = releases(rng, 60, gap), releases(rng, 200, gap)
        score = choose(*first, pair, attacks=attacks, delta=1e-3, confidence=confidence)
        held, judged = (score(first[0]), score(first[1])), (score(second[0]), score(second[1]))
        for name in failures:
            found = ESTIMATORS[name].estimate(held, judged, delta=1e-3, confidence=confidence)
            failures[name] += found.epsilon > truth
    assert max(failures.values()) <= allowed(repetitions, 1 - confidence), failures


def test_one_run_with_fair_coins_covers_a_mechanism_whose_canaries_interact() -> None:
    assert one_run_coverage().valid


@pytest.mark.parametrize("confidence", [0.95, 0.5])
def test_one_run_covers_randomised_response_which_attains_its_bound(confidence: float) -> None:
    rng, repetitions, canaries, guesses = np.random.default_rng(2), 3000, 400, 200
    correct, counts = np.unique(rng.binomial(guesses, math.e / (1 + math.e), repetitions), return_counts=True)
    bounds = [
        one_run.epsilon_low(canaries=canaries, guesses=guesses, correct=int(value), delta=0.0, confidence=confidence)
        for value in correct
    ]
    failures = int(counts[np.array(bounds) > 1.0].sum())
    assert failures <= allowed(repetitions, 1 - confidence)
    assert failures >= (1 - confidence) * repetitions / 3  # sharp, but for the steps of the counts and of the grid


@pytest.mark.parametrize("confidence", [0.95, 0.5])
def test_one_run_covers_independent_gaussian_canaries(confidence: float) -> None:
    rng, repetitions, mu = np.random.default_rng(3), 2000, 1.5
    coins = rng.integers(0, 2, (repetitions, 60))
    scores = rng.normal(size=coins.shape) + mu * coins
    right = [one_run.guess(*row, 20) for row in zip(scores, coins, strict=True)]
    correct, counts = np.unique(right, return_counts=True)
    bounds = [one_run.mu_low(canaries=60, guesses=20, correct=int(v), confidence=confidence) for v in correct]
    assert int(counts[np.array(bounds) > mu].sum()) <= allowed(repetitions, 1 - confidence)


@pytest.mark.parametrize("name", ["clopper-pearson", "joint", "curve", "sequential"])
def test_a_leak_with_probability_ten_delta_is_seen(name: str) -> None:
    share = power(ESTIMATORS[name].estimate, Leak(0.01), delta=1e-3, confidence=0.95, models=20_000)
    assert share >= 0.7
