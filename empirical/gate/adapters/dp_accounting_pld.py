"""dp-accounting's privacy loss distributions, pessimistic and with the default discretisation of 1e-4.

One release is asked of `privacy_loss_distribution` (which has the sensitivity as an argument), several of
`PLDAccountant` and its events, as users do. The noise of one release is calibrated by `pld.accountant`; that of DP-SGD
is not asked, since its search takes a quarter of a minute a case.
"""

from __future__ import annotations

from typing import Any

from empirical.gate.adapters import SOME_STEPS, declare
from empirical.gate.adapters.dp_accounting_events import (
    DISTRIBUTION,
    LIBRARY,
    composed,
    relation,
    sampled_gaussian,
    two_answers,
)


def gaussian_epsilon(sigma: float, sensitivity: float, delta: float) -> Any:
    """Epsilon of one Gaussian release."""
    from dp_accounting.pld import privacy_loss_distribution

    return privacy_loss_distribution.from_gaussian_mechanism(sigma, sensitivity).get_epsilon_for_delta(delta)


def gaussian_delta(sigma: float, sensitivity: float, epsilon: float) -> Any:
    """Delta of one Gaussian release."""
    from dp_accounting.pld import privacy_loss_distribution

    return privacy_loss_distribution.from_gaussian_mechanism(sigma, sensitivity).get_delta_for_epsilon(epsilon)


def gaussian_sigma(sensitivity: float, epsilon: float, delta: float) -> Any:
    """Noise of one Gaussian release."""
    from dp_accounting.pld import accountant, common

    target = common.DifferentialPrivacyParameters(epsilon, delta)
    return accountant.get_smallest_gaussian_noise(target, sensitivity=sensitivity)


def gaussian_composed_epsilon(sigma: float, sensitivity: float, steps: int, delta: float) -> Any:
    """Epsilon of Gaussian releases."""
    from dp_accounting import GaussianDpEvent
    from dp_accounting.pld import PLDAccountant

    return composed(PLDAccountant(), GaussianDpEvent(sigma / sensitivity), steps).get_epsilon(delta)


def gaussian_composed_delta(sigma: float, sensitivity: float, steps: int, epsilon: float) -> Any:
    """Delta of Gaussian releases."""
    from dp_accounting import GaussianDpEvent
    from dp_accounting.pld import PLDAccountant

    return composed(PLDAccountant(), GaussianDpEvent(sigma / sensitivity), steps).get_delta(epsilon)


def poisson_gaussian_epsilon(sigma: float, sampling_rate: float, steps: int, delta: float, neighbours: str) -> Any:
    """Epsilon of DP-SGD."""
    from dp_accounting.pld import PLDAccountant

    event = sampled_gaussian(sigma, sampling_rate)
    return composed(PLDAccountant(relation(neighbours)), event, steps).get_epsilon(delta)


def poisson_gaussian_delta(sigma: float, sampling_rate: float, steps: int, epsilon: float, neighbours: str) -> Any:
    """Delta of DP-SGD."""
    from dp_accounting.pld import PLDAccountant

    event = sampled_gaussian(sigma, sampling_rate)
    return composed(PLDAccountant(relation(neighbours)), event, steps).get_delta(epsilon)


def laplace_delta(scale: float, sensitivity: float, epsilon: float) -> Any:
    """Delta of one Laplace release."""
    from dp_accounting.pld import privacy_loss_distribution

    return privacy_loss_distribution.from_laplace_mechanism(scale, sensitivity).get_delta_for_epsilon(epsilon)


def laplace_composed_epsilon(scale: float, sensitivity: float, steps: int, delta: float) -> Any:
    """Epsilon of Laplace releases."""
    from dp_accounting import LaplaceDpEvent
    from dp_accounting.pld import PLDAccountant

    return composed(PLDAccountant(), LaplaceDpEvent(scale / sensitivity), steps).get_epsilon(delta)


def laplace_composed_delta(scale: float, sensitivity: float, steps: int, epsilon: float) -> Any:
    """Delta of Laplace releases."""
    from dp_accounting import LaplaceDpEvent
    from dp_accounting.pld import PLDAccountant

    return composed(PLDAccountant(), LaplaceDpEvent(scale / sensitivity), steps).get_delta(epsilon)


def randomised_response_epsilon(keep: float, delta: float) -> Any:
    """Epsilon of one answer; the bit is replaced."""
    from dp_accounting.pld import PLDAccountant

    return composed(PLDAccountant(relation("replace")), two_answers(keep)).get_epsilon(delta)


def randomised_response_delta(keep: float, epsilon: float) -> Any:
    """Delta of one answer; the bit is replaced."""
    from dp_accounting.pld import PLDAccountant

    return composed(PLDAccountant(relation("replace")), two_answers(keep)).get_delta(epsilon)


def _of_parameters(epsilon: float, delta: float, steps: int) -> Any:
    from dp_accounting.pld import common, privacy_loss_distribution

    one = privacy_loss_distribution.from_privacy_parameters(common.DifferentialPrivacyParameters(epsilon, delta))
    return one.self_compose(steps)


def composition_optimal(base_epsilon: float, base_delta: float, steps: int, delta: float) -> Any:
    """Epsilon of mechanisms of which only (epsilon, delta) is known."""
    return _of_parameters(base_epsilon, base_delta, steps).get_epsilon_for_delta(delta)


def composition_optimal_delta(base_epsilon: float, base_delta: float, steps: int, epsilon: float) -> Any:
    """Delta of mechanisms of which only (epsilon, delta) is known."""
    return _of_parameters(base_epsilon, base_delta, steps).get_delta_for_epsilon(epsilon)


ADAPTERS = declare(LIBRARY, "PLD", DISTRIBUTION, {
    "gaussian.epsilon": gaussian_epsilon,
    "gaussian.delta": gaussian_delta,
    "gaussian.sigma": gaussian_sigma,
    "gaussian-composed.epsilon": gaussian_composed_epsilon,
    "gaussian-composed.delta": gaussian_composed_delta,
    "poisson-gaussian.epsilon": poisson_gaussian_epsilon,
    "poisson-gaussian.delta": poisson_gaussian_delta,
    "laplace.delta": laplace_delta,
    "laplace-composed.epsilon": laplace_composed_epsilon,
    "laplace-composed.delta": laplace_composed_delta,
    "randomised-response.epsilon": randomised_response_epsilon,
    "randomised-response.delta": randomised_response_delta,
    "composition.optimal": composition_optimal,
    "composition.optimal-delta": composition_optimal_delta,
}, offers=SOME_STEPS)
