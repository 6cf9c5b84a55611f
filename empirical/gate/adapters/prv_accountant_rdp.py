"""prv-accountant's Renyi accountant (`other_accountants.RDP`), its default orders, and its mechanisms' divergences."""

from __future__ import annotations

from typing import Any

from empirical.gate.adapters import declare
from empirical.gate.adapters.prv_accountant_mechanisms import DISTRIBUTION, LIBRARY, gaussian, sampled


def _epsilon(mechanism: Any, steps: int, delta: float) -> Any:
    from prv_accountant.other_accountants import RDP

    return RDP(prvs=[mechanism]).compute_epsilon(delta=delta, num_self_compositions=[steps])[2]  # the upper end


def gaussian_composed_epsilon(sigma: float, sensitivity: float, steps: int, delta: float) -> Any:
    """Epsilon of Gaussian releases."""
    return _epsilon(gaussian(sigma, sensitivity), steps, delta)


def gaussian_epsilon(sigma: float, sensitivity: float, delta: float) -> Any:
    """Epsilon of one Gaussian release."""
    return gaussian_composed_epsilon(sigma, sensitivity, 1, delta)


def poisson_gaussian_epsilon(sigma: float, sampling_rate: float, steps: int, delta: float, neighbours: str) -> Any:
    """Epsilon of DP-SGD."""
    return _epsilon(sampled(sigma, sampling_rate, neighbours), steps, delta)


def poisson_gaussian_rdp(sigma: float, sampling_rate: float, steps: int, alpha: float, neighbours: str) -> Any:
    """Renyi divergence of DP-SGD at one order: theirs is that of a step, and divergences add."""
    return steps * sampled(sigma, sampling_rate, neighbours).rdp(alpha)


def laplace_composed_epsilon(scale: float, sensitivity: float, steps: int, delta: float) -> Any:
    """Epsilon of Laplace releases; their mu is the epsilon of one."""
    from prv_accountant import LaplaceMechanism

    return _epsilon(LaplaceMechanism(mu=sensitivity / scale), steps, delta)


ADAPTERS = declare(LIBRARY, "RDP", DISTRIBUTION, {
    "gaussian.epsilon": gaussian_epsilon,
    "gaussian-composed.epsilon": gaussian_composed_epsilon,
    "poisson-gaussian.epsilon": poisson_gaussian_epsilon,
    "poisson-gaussian.rdp": poisson_gaussian_rdp,
    "laplace-composed.epsilon": laplace_composed_epsilon,
})
