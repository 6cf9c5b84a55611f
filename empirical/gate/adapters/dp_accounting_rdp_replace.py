"""dp-accounting's RdpAccountant under REPLACE_ONE, with the noise multiplier that its events document.

The docstrings of GaussianDpEvent and LaplaceDpEvent define it as noise over the bound on a vector's norm. A vector that
is replaced moves the sum by twice its norm, so that at a given sensitivity the multiplier is 2 noise / sensitivity.
PLDAccountant reads the Gaussian event so, and refuses the Laplace event.
"""

from __future__ import annotations

from typing import Any

from empirical.gate.adapters import SOME_STEPS, declare
from empirical.gate.adapters.dp_accounting_events import DISTRIBUTION, LIBRARY, composed, relation


def _after(event: Any, steps: int, orders: Any = None) -> Any:
    from dp_accounting.rdp import RdpAccountant

    return composed(RdpAccountant(orders, relation("replace")), event, steps)


def _of_gaussians(sigma: float, sensitivity: float, steps: int) -> Any:
    from dp_accounting import GaussianDpEvent

    return _after(GaussianDpEvent(2 * sigma / sensitivity), steps)


def gaussian_epsilon(sigma: float, sensitivity: float, delta: float) -> Any:
    """Epsilon of one Gaussian release."""
    return _of_gaussians(sigma, sensitivity, 1).get_epsilon(delta)


def gaussian_delta(sigma: float, sensitivity: float, epsilon: float) -> Any:
    """Delta of one Gaussian release."""
    return _of_gaussians(sigma, sensitivity, 1).get_delta(epsilon)


def gaussian_composed_epsilon(sigma: float, sensitivity: float, steps: int, delta: float) -> Any:
    """Epsilon of Gaussian releases."""
    return _of_gaussians(sigma, sensitivity, steps).get_epsilon(delta)


def gaussian_composed_delta(sigma: float, sensitivity: float, steps: int, epsilon: float) -> Any:
    """Delta of Gaussian releases."""
    return _of_gaussians(sigma, sensitivity, steps).get_delta(epsilon)


def _of_laplaces(scale: float, sensitivity: float, steps: int) -> Any:
    from dp_accounting import LaplaceDpEvent

    return _after(LaplaceDpEvent(2 * scale / sensitivity), steps)


def laplace_composed_epsilon(scale: float, sensitivity: float, steps: int, delta: float) -> Any:
    """Epsilon of Laplace releases."""
    return _of_laplaces(scale, sensitivity, steps).get_epsilon(delta)


def laplace_composed_delta(scale: float, sensitivity: float, steps: int, epsilon: float) -> Any:
    """Delta of Laplace releases."""
    return _of_laplaces(scale, sensitivity, steps).get_delta(epsilon)


def _without_replacement(sigma: float, sampling_rate: float, steps: int, orders: list[float]) -> Any:
    from dp_accounting import GaussianDpEvent, SampledWithoutReplacementDpEvent

    # Our sigma is noise over the bound on a record's norm, which is the event's multiplier; only the rate counts.
    event = SampledWithoutReplacementDpEvent(1, sampling_rate, GaussianDpEvent(sigma))
    return _after(event, steps, orders)


def wor_gaussian_rdp(sigma: float, sampling_rate: float, steps: int, alpha: float, method: str) -> Any:
    """Renyi divergence of batches without replacement at one order, by a bound of its own."""
    if method != "exact":
        raise ValueError(f"method = {method!r} is not offered")
    return _without_replacement(sigma, sampling_rate, steps, [alpha]).rdp[0]


ADAPTERS = declare(LIBRARY, "RDP, REPLACE_ONE", DISTRIBUTION, {
    "gaussian.epsilon": gaussian_epsilon,
    "gaussian.delta": gaussian_delta,
    "gaussian-composed.epsilon": gaussian_composed_epsilon,
    "gaussian-composed.delta": gaussian_composed_delta,
    "laplace-composed.epsilon": laplace_composed_epsilon,
    "laplace-composed.delta": laplace_composed_delta,
    "wor-gaussian.rdp": wor_gaussian_rdp,
}, offers=SOME_STEPS)
