"""dp-accounting's closed forms: `gaussian_mechanism`, the losses of `privacy_loss_mechanism`, optimal composition."""

from __future__ import annotations

from typing import Any

from empirical.gate.adapters import declare
from empirical.gate.adapters.dp_accounting_events import DISTRIBUTION, LIBRARY


def gaussian_epsilon(sigma: float, sensitivity: float, delta: float) -> Any:
    """Epsilon of one Gaussian release; theirs has sensitivity 1."""
    from dp_accounting import get_epsilon_gaussian

    return get_epsilon_gaussian(sigma / sensitivity, delta)


def gaussian_delta(sigma: float, sensitivity: float, epsilon: float) -> Any:
    """Delta of one Gaussian release."""
    from dp_accounting.pld.privacy_loss_mechanism import GaussianPrivacyLoss

    return GaussianPrivacyLoss(sigma, sensitivity).get_delta_for_epsilon(epsilon)


def gaussian_sigma(sensitivity: float, epsilon: float, delta: float) -> Any:
    """Noise of one Gaussian release; theirs has sensitivity 1."""
    from dp_accounting import get_sigma_gaussian

    return get_sigma_gaussian(epsilon, delta) * sensitivity


def laplace_delta(scale: float, sensitivity: float, epsilon: float) -> Any:
    """Delta of one Laplace release."""
    from dp_accounting.pld.privacy_loss_mechanism import LaplacePrivacyLoss

    return LaplacePrivacyLoss(scale, sensitivity).get_delta_for_epsilon(epsilon)


def composition_optimal(base_epsilon: float, base_delta: float, steps: int, delta: float) -> Any:
    """Epsilon of mechanisms of which only (epsilon, delta) is known; None where theirs has no answer."""
    from dp_accounting.pld import accountant, common

    return accountant.advanced_composition(common.DifferentialPrivacyParameters(base_epsilon, base_delta), steps, delta)


ADAPTERS = declare(LIBRARY, "closed forms", DISTRIBUTION, {
    "gaussian.epsilon": gaussian_epsilon,
    "gaussian.delta": gaussian_delta,
    "gaussian.sigma": gaussian_sigma,
    "laplace.delta": laplace_delta,
    "composition.optimal": composition_optimal,
})
