"""prv-accountant's PRVAccountant: an interval, whose two ends are both judged.

With the errors that its documentation calls typical, 0.1 for epsilon and a thousandth of delta; where delta is asked
for, the 1e-9 that its DPSGDAccountant has as a default.
"""

from __future__ import annotations

from typing import Any

from empirical.gate.adapters import ABOVE_ZERO, SOME_STEPS, declare
from empirical.gate.adapters.prv_accountant_mechanisms import DISTRIBUTION, LIBRARY, gaussian, sampled

EPSILON_ERROR = 0.1
DELTA_ERROR = 1e-9
_EPSILONS = ("composition.optimal", "gaussian-composed.epsilon", "laplace-composed.epsilon", "poisson-gaussian.epsilon")


def _epsilon(mechanism: Any, steps: int, delta: float) -> Any:
    from prv_accountant import PRVAccountant

    accountant = PRVAccountant(
        prvs=[mechanism], eps_error=EPSILON_ERROR, delta_error=delta / 1000, max_self_compositions=[steps]
    )
    lower, _, upper = accountant.compute_epsilon(delta=delta, num_self_compositions=[steps])
    return {"lower": lower, "upper": upper}


def _delta(mechanism: Any, steps: int, epsilon: float) -> Any:
    from prv_accountant import PRVAccountant

    accountant = PRVAccountant(
        prvs=[mechanism], eps_error=EPSILON_ERROR, delta_error=DELTA_ERROR, max_self_compositions=[steps]
    )
    lower, _, upper = accountant.compute_delta(epsilon=epsilon, num_self_compositions=[steps])
    return {"lower": lower, "upper": upper}


def gaussian_composed_epsilon(sigma: float, sensitivity: float, steps: int, delta: float) -> Any:
    """Epsilon of Gaussian releases."""
    return _epsilon(gaussian(sigma, sensitivity), steps, delta)


def gaussian_composed_delta(sigma: float, sensitivity: float, steps: int, epsilon: float) -> Any:
    """Delta of Gaussian releases."""
    return _delta(gaussian(sigma, sensitivity), steps, epsilon)


def gaussian_epsilon(sigma: float, sensitivity: float, delta: float) -> Any:
    """Epsilon of one Gaussian release."""
    return gaussian_composed_epsilon(sigma, sensitivity, 1, delta)


def gaussian_delta(sigma: float, sensitivity: float, epsilon: float) -> Any:
    """Delta of one Gaussian release."""
    return gaussian_composed_delta(sigma, sensitivity, 1, epsilon)


def poisson_gaussian_epsilon(sigma: float, sampling_rate: float, steps: int, delta: float, neighbours: str) -> Any:
    """Epsilon of DP-SGD."""
    return _epsilon(sampled(sigma, sampling_rate, neighbours), steps, delta)


def poisson_gaussian_delta(sigma: float, sampling_rate: float, steps: int, epsilon: float, neighbours: str) -> Any:
    """Delta of DP-SGD."""
    return _delta(sampled(sigma, sampling_rate, neighbours), steps, epsilon)


def poisson_gaussian_sigma(sampling_rate: float, steps: int, epsilon: float, delta: float, neighbours: str) -> Any:
    """Noise multiplier of DP-SGD."""
    from prv_accountant.dpsgd import find_noise_multiplier

    if neighbours != "add_remove":
        raise ValueError(f"neighbours = {neighbours!r} is not offered")
    return find_noise_multiplier(sampling_rate, steps, target_epsilon=epsilon, target_delta=delta)


def laplace_composed_epsilon(scale: float, sensitivity: float, steps: int, delta: float) -> Any:
    """Epsilon of Laplace releases; their mu is the epsilon of one."""
    from prv_accountant import LaplaceMechanism

    return _epsilon(LaplaceMechanism(mu=sensitivity / scale), steps, delta)


def laplace_composed_delta(scale: float, sensitivity: float, steps: int, epsilon: float) -> Any:
    """Delta of Laplace releases."""
    from prv_accountant import LaplaceMechanism

    return _delta(LaplaceMechanism(mu=sensitivity / scale), steps, epsilon)


def laplace_delta(scale: float, sensitivity: float, epsilon: float) -> Any:
    """Delta of one Laplace release."""
    return laplace_composed_delta(scale, sensitivity, 1, epsilon)


def composition_optimal(base_epsilon: float, base_delta: float, steps: int, delta: float) -> Any:
    """Epsilon of mechanisms of which only (epsilon, delta) is known."""
    from prv_accountant import ApproximateDPMechanism

    return _epsilon(ApproximateDPMechanism(base_epsilon, base_delta), steps, delta)


def composition_optimal_delta(base_epsilon: float, base_delta: float, steps: int, epsilon: float) -> Any:
    """Delta of mechanisms of which only (epsilon, delta) is known."""
    from prv_accountant import ApproximateDPMechanism

    return _delta(ApproximateDPMechanism(base_epsilon, base_delta), steps, epsilon)


ADAPTERS = declare(LIBRARY, "PRV", DISTRIBUTION, {
    "gaussian.epsilon": gaussian_epsilon,
    "gaussian.delta": gaussian_delta,
    "gaussian-composed.epsilon": gaussian_composed_epsilon,
    "gaussian-composed.delta": gaussian_composed_delta,
    "poisson-gaussian.epsilon": poisson_gaussian_epsilon,
    "poisson-gaussian.delta": poisson_gaussian_delta,
    "poisson-gaussian.sigma": poisson_gaussian_sigma,
    "laplace.delta": laplace_delta,
    "laplace-composed.epsilon": laplace_composed_epsilon,
    "laplace-composed.delta": laplace_composed_delta,
    "composition.optimal": composition_optimal,
    "composition.optimal-delta": composition_optimal_delta,
}, offers={  # a delta of 0 leaves no room for the error in delta that has to be given
    bound: {**offered, **({"delta": ABOVE_ZERO} if bound in _EPSILONS else {})} for bound, offered in SOME_STEPS.items()
})
