"""Opacus's GaussianAccountant: a central limit theorem, of which it warns that it may be too low."""

from __future__ import annotations

from typing import Any

from empirical.gate.adapters import SOME_STEPS, declare
from empirical.gate.adapters.opacus_history import DISTRIBUTION, LIBRARY, epsilon_after, only_add_remove, sigma_for


def gaussian_epsilon(sigma: float, sensitivity: float, delta: float) -> Any:
    """Epsilon of one Gaussian release."""
    return epsilon_after("gdp", sigma / sensitivity, 1.0, 1, delta)


def gaussian_composed_epsilon(sigma: float, sensitivity: float, steps: int, delta: float) -> Any:
    """Epsilon of Gaussian releases."""
    return epsilon_after("gdp", sigma / sensitivity, 1.0, steps, delta)


def poisson_gaussian_epsilon(sigma: float, sampling_rate: float, steps: int, delta: float, neighbours: str) -> Any:
    """Epsilon of DP-SGD."""
    only_add_remove(neighbours)
    return epsilon_after("gdp", sigma, sampling_rate, steps, delta)


def poisson_gaussian_sigma(sampling_rate: float, steps: int, epsilon: float, delta: float, neighbours: str) -> Any:
    """Noise multiplier of DP-SGD."""
    only_add_remove(neighbours)
    return sigma_for("gdp", sampling_rate, steps, epsilon, delta)


def gdp_epsilon(mu: float, delta: float) -> Any:
    """Epsilon of a mu-GDP mechanism."""
    from opacus.accountants.analysis.gdp import eps_from_mu

    return eps_from_mu(mu=mu, delta=delta)


def gdp_delta(mu: float, epsilon: float) -> Any:
    """Delta of a mu-GDP mechanism."""
    from opacus.accountants.analysis.gdp import delta_eps_mu

    return delta_eps_mu(eps=epsilon, mu=mu)


ADAPTERS = declare(LIBRARY, "GDP", DISTRIBUTION, {
    "gaussian.epsilon": gaussian_epsilon,
    "gaussian-composed.epsilon": gaussian_composed_epsilon,
    "poisson-gaussian.epsilon": poisson_gaussian_epsilon,
    "poisson-gaussian.sigma": poisson_gaussian_sigma,
    "gdp.epsilon": gdp_epsilon,
    "gdp.delta": gdp_delta,
}, offers={"poisson-gaussian.sigma": SOME_STEPS["poisson-gaussian.sigma"]})
