"""dp-accounting's PLDAccountant under REPLACE_ONE, on Gaussian releases; DP-SGD stands with the other relation.

The sensitivity of our bounds is that of the neighbouring relation, so that here a vector's norm is at most half of it,
and the noise multiplier of the event 2 sigma / sensitivity. Laplace events are refused under this relation.
"""

from __future__ import annotations

from typing import Any

from empirical.gate.adapters import SOME_STEPS, declare
from empirical.gate.adapters.dp_accounting_events import DISTRIBUTION, LIBRARY, composed, relation


def _of_gaussians(sigma: float, sensitivity: float, steps: int) -> Any:
    from dp_accounting import GaussianDpEvent
    from dp_accounting.pld import PLDAccountant

    return composed(PLDAccountant(relation("replace")), GaussianDpEvent(2 * sigma / sensitivity), steps)


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


ADAPTERS = declare(LIBRARY, "PLD, REPLACE_ONE", DISTRIBUTION, {
    "gaussian.epsilon": gaussian_epsilon,
    "gaussian.delta": gaussian_delta,
    "gaussian-composed.epsilon": gaussian_composed_epsilon,
    "gaussian-composed.delta": gaussian_composed_delta,
}, offers=SOME_STEPS)
