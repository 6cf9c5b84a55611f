"""Opacus's RDPAccountant, with its default orders, and the functions below it."""

from __future__ import annotations

from typing import Any

from empirical.gate.adapters import declare
from empirical.gate.adapters.opacus_history import DISTRIBUTION, LIBRARY, epsilon_after, only_add_remove, sigma_for


def gaussian_epsilon(sigma: float, sensitivity: float, delta: float) -> Any:
    """Epsilon of one Gaussian release."""
    return epsilon_after("rdp", sigma / sensitivity, 1.0, 1, delta)


def gaussian_composed_epsilon(sigma: float, sensitivity: float, steps: int, delta: float) -> Any:
    """Epsilon of Gaussian releases."""
    return epsilon_after("rdp", sigma / sensitivity, 1.0, steps, delta)


def poisson_gaussian_epsilon(sigma: float, sampling_rate: float, steps: int, delta: float, neighbours: str) -> Any:
    """Epsilon of DP-SGD."""
    only_add_remove(neighbours)
    return epsilon_after("rdp", sigma, sampling_rate, steps, delta)


def poisson_gaussian_sigma(sampling_rate: float, steps: int, epsilon: float, delta: float, neighbours: str) -> Any:
    """Noise multiplier of DP-SGD."""
    only_add_remove(neighbours)
    return sigma_for("rdp", sampling_rate, steps, epsilon, delta)


def poisson_gaussian_rdp(sigma: float, sampling_rate: float, steps: int, alpha: float, neighbours: str) -> Any:
    """Renyi divergence of DP-SGD at one order."""
    from opacus.accountants.analysis.rdp import compute_rdp

    only_add_remove(neighbours)
    return compute_rdp(q=sampling_rate, noise_multiplier=sigma, steps=steps, orders=alpha)


def rdp_epsilon(alpha: float, rdp: float, delta: float, conversion: str) -> Any:
    """Epsilon of a Renyi divergence at one order, by the conversion of Canonne, Kamath and Steinke."""
    from opacus.accountants.analysis.rdp import get_privacy_spent

    if conversion != "canonne":
        raise ValueError(f"conversion = {conversion!r} is not offered")
    return get_privacy_spent(orders=alpha, rdp=rdp, delta=delta)[0]


ADAPTERS = declare(LIBRARY, "RDP", DISTRIBUTION, {
    "gaussian.epsilon": gaussian_epsilon,
    "gaussian-composed.epsilon": gaussian_composed_epsilon,
    "poisson-gaussian.epsilon": poisson_gaussian_epsilon,
    "poisson-gaussian.rdp": poisson_gaussian_rdp,
    "poisson-gaussian.sigma": poisson_gaussian_sigma,
    "rdp.epsilon": rdp_epsilon,
})
