"""Opacus's PRVAccountant, which is the default of its PrivacyEngine."""

from __future__ import annotations

from typing import Any

from empirical.gate.adapters import SOME_STEPS, declare
from empirical.gate.adapters.opacus_history import DISTRIBUTION, LIBRARY, epsilon_after, only_add_remove, sigma_for


def gaussian_epsilon(sigma: float, sensitivity: float, delta: float) -> Any:
    """Epsilon of one Gaussian release."""
    return epsilon_after("prv", sigma / sensitivity, 1.0, 1, delta)


def gaussian_composed_epsilon(sigma: float, sensitivity: float, steps: int, delta: float) -> Any:
    """Epsilon of Gaussian releases."""
    return epsilon_after("prv", sigma / sensitivity, 1.0, steps, delta)


def poisson_gaussian_epsilon(sigma: float, sampling_rate: float, steps: int, delta: float, neighbours: str) -> Any:
    """Epsilon of DP-SGD."""
    only_add_remove(neighbours)
    return epsilon_after("prv", sigma, sampling_rate, steps, delta)


def poisson_gaussian_sigma(sampling_rate: float, steps: int, epsilon: float, delta: float, neighbours: str) -> Any:
    """Noise multiplier of DP-SGD."""
    only_add_remove(neighbours)
    return sigma_for("prv", sampling_rate, steps, epsilon, delta)


ADAPTERS = declare(LIBRARY, "PRV", DISTRIBUTION, {
    "gaussian.epsilon": gaussian_epsilon,
    "gaussian-composed.epsilon": gaussian_composed_epsilon,
    "poisson-gaussian.epsilon": poisson_gaussian_epsilon,
    "poisson-gaussian.sigma": poisson_gaussian_sigma,
}, offers=SOME_STEPS)
