"""The binomial limit: the figures quoted for it, what simulation says of it, and its ends."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest
from scipy import special

from empirical.estimators.binomial import epsilon_from_rates, rate_bounds
from empirical.estimators.limits import binomial_limit
from empirical.pairs.pair import Array
from oracle import bound
from oracle.core.errors import DomainError


@dataclass(frozen=True)
class Normal:
    mu: float
    scale: float = 1.0

    def rates(self, thresholds: Array) -> tuple[Array, Array]:
        return special.ndtr(-thresholds / self.scale), special.ndtr(self.mu - thresholds / self.scale)


@dataclass(frozen=True)
class Response:
    """Randomised response: scores 0 and 1."""

    right: float

    def rates(self, thresholds: Array) -> tuple[Array, Array]:
        one = thresholds < 1
        return (np.where(thresholds < 0, 1.0, one * (1 - self.right)), np.where(thresholds < 0, 1.0, one * self.right))


def test_the_figures_for_a_weak_gaussian_pair() -> None:
    truth = bound("gdp.epsilon").reference(mu="0.386", delta="1e-5").to_floats()[0]
    for models, share in ((100_000, 0.628), (200_000, 0.679), (1_000_000, 0.786)):
        limit = binomial_limit(Normal(0.386), models=models, delta=1e-5, confidence=0.95)
        assert limit / truth == pytest.approx(share, abs=0.001)


@pytest.mark.full
@pytest.mark.parametrize("mu", [0.386, 1.0, 3.0])
def test_about_half_of_the_audits_at_the_best_threshold_certify_the_limit(mu: float) -> None:
    # 1,000 audits with a fixed seed at each of the thresholds around the best one: the largest median is within 2 % of
    # the limit (its standard error is below 0.5 %, and the thresholds miss the best one by a little).
    models, rng = 100_000, np.random.default_rng(12)
    medians = []
    for threshold in np.linspace(mu / 2 + 2, mu / 2 + 3.5, 31):
        hits = rng.binomial(models, special.ndtr(mu - threshold), 1000)
        alarms = rng.binomial(models, special.ndtr(-threshold), 1000)
        for share in (0.05, 0.35):
            low, high = rate_bounds(hits, alarms, (models, models), (share * 0.05, (1 - share) * 0.05))
            medians.append(float(np.median(epsilon_from_rates(low, high, 1e-5))))
    limit = binomial_limit(Normal(mu), models=models, delta=1e-5, confidence=0.95)
    assert max(medians) == pytest.approx(limit, rel=0.02)


def test_units_do_not_matter() -> None:
    plain, small, large = (
        binomial_limit(Normal(1.0, scale), models=10_000, delta=1e-5, confidence=0.9) for scale in (1.0, 1e-9, 1e9)
    )
    assert small == pytest.approx(plain, rel=1e-9)
    assert large == pytest.approx(plain, rel=1e-9)


def test_a_law_of_two_values() -> None:
    # Both directions of the definition certify about the same; the better one counts. 4,000 audits, a fixed seed: the
    # standard error of their median is below 0.0006.
    models, right, rng = 10_000, 5 / 6, np.random.default_rng(14)
    hits, alarms = rng.binomial(models, right, 4000), rng.binomial(models, 1 - right, 4000)
    low, high = rate_bounds(hits, alarms, (models, models), (0.025, 0.025))
    expected = float(np.median(epsilon_from_rates(low, high, 0.0)))
    limit = binomial_limit(Response(right), models=models, delta=0.0, confidence=0.95)
    assert limit == pytest.approx(expected, abs=0.004)


def test_nothing_is_certified_of_equal_laws_and_more_models_certify_more() -> None:
    assert binomial_limit(Normal(0.0), models=10_000, delta=1e-5, confidence=0.95) == 0.0
    values = [binomial_limit(Normal(1.0), models=models, delta=1e-5, confidence=0.95) for models in (100, 1000, 10_000)]
    assert values == sorted(values)
    assert values[0] < values[-1]


@pytest.mark.parametrize(
    ("change", "word"),
    [({"models": 0}, "models = 0"), ({"delta": 1.0}, "delta = 1"), ({"confidence": 1.0}, "confidence")],
)
def test_bad_input_names_the_argument(change: dict[str, Any], word: str) -> None:
    given: dict[str, Any] = {"models": 100, "delta": 1e-5, "confidence": 0.95, **change}
    with pytest.raises(DomainError, match=word):
        binomial_limit(Normal(1.0), **given)
