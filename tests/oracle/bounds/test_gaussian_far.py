"""Gaussian pairs far apart: the numbers of the curve's own inverse where both serve, and answers where it did not."""

from __future__ import annotations

from fractions import Fraction

import pytest

import oracle
from oracle.core.enclosure import Enclosure, ball
from oracle.engines import gaussian_curve
from oracle.engines.gaussian_far import FAR, epsilon_far, mu_far

DELTAS = [Fraction(text) for text in ("1e-5", "0.3", "0.5", "0.999999", "1e-300", "0.49999999999999999999")]
WIDTH = Fraction(1, 10**12)


@pytest.mark.parametrize("delta", DELTAS, ids=float)
def test_both_ways_to_epsilon_agree(delta: Fraction, monkeypatch: pytest.MonkeyPatch) -> None:
    mu = 10**80
    far = epsilon_far(lambda: ball(mu), delta, WIDTH)
    monkeypatch.setattr(gaussian_curve, "FAR", 10**9000)
    near = gaussian_curve.epsilon_of_mu(lambda: ball(mu), delta, WIDTH)
    assert far.overlaps(near)
    assert far.upper.to_fraction() - far.lower.to_fraction() <= WIDTH


@pytest.mark.parametrize("delta", DELTAS, ids=float)
def test_both_ways_to_mu_agree(delta: Fraction) -> None:
    """epsilon_far at the ends of an enclosed mu leaves epsilon between."""
    epsilon = Fraction(FAR) ** 2 * 7
    mu = mu_far(epsilon, delta, Fraction(1, 10**100))
    low, high = (epsilon_far(lambda end=end: end.ball, delta, WIDTH) for end in (mu.lower, mu.upper))
    assert Enclosure(low.lower, high.upper).contains(epsilon)


def test_noise_beyond_the_doubles_is_answered() -> None:
    """epsilon is mu^2/2 plus mu times a normal quantile, about."""
    found = oracle.bound("gaussian.epsilon").reference(sigma="1e-4000", sensitivity=1, delta="1e-5")
    half = Fraction(10**8000, 2)
    assert half + 4 * 10**4000 < found.lower.to_fraction() < found.upper.to_fraction() < half + 5 * 10**4000
    assert found.upper.to_fraction() - found.lower.to_fraction() <= WIDTH
    sigma = oracle.bound("gaussian.sigma").reference(sensitivity="1e4000", epsilon="1e300", delta="1e-5")
    assert sigma.upper.to_fraction() - sigma.lower.to_fraction() <= WIDTH
    assert abs(sigma.upper.to_fraction() / Fraction(10**3850) * Fraction(14142135623, 10**10) - 1) < Fraction(1, 10**9)


@pytest.mark.parametrize("neighbours", ["replace", "add_remove"])
def test_objective_perturbation_with_next_to_no_noise(neighbours: str, monkeypatch: pytest.MonkeyPatch) -> None:
    from oracle.algorithms.perturbation import objective_perturbation_privacy

    item = oracle.bound("objective-perturbation-gaussian.epsilon")
    given = {
        "lipschitz": 10**70, "curvature": 1, "regularisation": 1, "dataset_size": 10, "noise_on_sum": "1e-10",
        "delta": "1e-5", "neighbours": neighbours,
    }
    far = item.reference(**given)
    monkeypatch.setattr(objective_perturbation_privacy, "FAR", 10**9000)
    assert far.overlaps(item.reference(**given))
