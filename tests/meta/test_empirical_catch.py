"""Plant the known bugs of auditors (rows A01, A02, A05 of the corpus) and require the estimator tests to fail."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

import empirical.estimators as estimators
import tests.empirical.test_estimators as suite
from empirical.audit import run
from empirical.campaigns import DEFAULT
from empirical.estimators import Array, Rates


def test_a01_absolute_value_of_mu_loses_coverage(monkeypatch: pytest.MonkeyPatch) -> None:
    true = estimators.mu_from_rates

    def absolute(low: Array, high: Array) -> Array:
        return np.maximum(true(low, high), true(1 - high, 1 - low)) + np.abs(low - high)

    monkeypatch.setattr(estimators, "mu_from_rates", absolute)
    with pytest.raises(AssertionError):
        suite.test_coverage_on_gaussian_pairs(estimators.gdp, 0.0, 0.95)


def test_a02_threshold_chosen_on_the_evaluation_data_loses_coverage(monkeypatch: pytest.MonkeyPatch) -> None:
    def greedy(
        negatives: Array, positives: Array, confidence: float, merit: Callable[[Array, Array], Array]
    ) -> tuple[float, Rates]:
        candidates = np.sort(np.concatenate([negatives, positives]))
        low, high = estimators._bounds_at(candidates, negatives, positives, 1 - confidence)
        best = int(np.argmax(merit(low, high)))
        return float(candidates[best]), Rates(float(low[best]), float(high[best]))

    monkeypatch.setattr(estimators, "_judge", greedy)
    with pytest.raises(AssertionError):
        suite.test_clopper_pearson_covers_a_law_that_is_not_gaussian(1.5, 0.5)
    with pytest.raises(AssertionError):
        suite.test_coverage_on_gaussian_pairs(estimators.gdp, 0.3, 0.5)


def test_a05_alpha_that_is_not_split_is_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    true = estimators.rate_bounds
    monkeypatch.setattr(suite, "rate_bounds", lambda hits, alarms, trials, alpha: true(hits, alarms, trials, 2 * alpha))
    with pytest.raises(AssertionError):
        suite.test_rate_bounds_are_the_exact_binomial_ones()


def test_a03_an_exception_never_becomes_epsilon_zero() -> None:
    def failing(*_: object) -> object:
        raise ArithmeticError("planted")

    with pytest.raises(ArithmeticError, match="planted"):
        run(DEFAULT["NoisyGD on quadratics"], train=failing)
