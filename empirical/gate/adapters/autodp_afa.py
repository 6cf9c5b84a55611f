"""autodp by its analytical Fourier accountant (AFA): characteristic functions of the privacy loss, inverted.

sigma and b of autodp are noise over sensitivity. Poisson sampling cannot be asked: it calls scipy.integrate.quadrature,
which SciPy has no more since 1.14, and never comes to an answer.
"""

from __future__ import annotations

from typing import Any

from empirical.gate.adapters import declare


def gaussian_epsilon(*, sigma: Any, sensitivity: Any, delta: Any) -> Any:
    """One Gaussian release."""
    return _gaussian(sigma / sensitivity, 1).get_approxDP(delta)


def gaussian_delta(*, sigma: Any, sensitivity: Any, epsilon: Any) -> Any:
    """The same, the other way round."""
    return _gaussian(sigma / sensitivity, 1).get_approx_delta(epsilon)


def gaussian_composed_epsilon(*, sigma: Any, sensitivity: Any, steps: Any, delta: Any) -> Any:
    """Gaussian releases."""
    return _gaussian(sigma / sensitivity, steps).get_approxDP(delta)


def gaussian_composed_delta(*, sigma: Any, sensitivity: Any, steps: Any, epsilon: Any) -> Any:
    """The same, the other way round."""
    return _gaussian(sigma / sensitivity, steps).get_approx_delta(epsilon)


def _gaussian(sigma: Any, steps: Any) -> Any:
    from autodp.mechanism_zoo import GaussianMechanism
    from autodp.transformer_zoo import ComposeAFA

    return ComposeAFA()([GaussianMechanism(sigma, phi_off=False)], [steps])


def laplace_composed_epsilon(*, scale: Any, sensitivity: Any, steps: Any, delta: Any) -> Any:
    """Laplace releases."""
    return _laplace(scale / sensitivity, steps).get_approxDP(delta)


def laplace_composed_delta(*, scale: Any, sensitivity: Any, steps: Any, epsilon: Any) -> Any:
    """The same, the other way round."""
    return _laplace(scale / sensitivity, steps).get_approx_delta(epsilon)


def _laplace(b: Any, steps: Any) -> Any:
    from autodp.mechanism_zoo import LaplaceMechanism
    from autodp.transformer_zoo import ComposeAFA

    return ComposeAFA()([LaplaceMechanism(b, phi_off=False)], [steps])


def randomised_response_epsilon(*, keep: Any, delta: Any) -> Any:
    """One bit; p of autodp is the probability of telling the truth."""
    from autodp.mechanism_zoo import RandresponseMechanism
    from autodp.transformer_zoo import ComposeAFA

    return ComposeAFA()([RandresponseMechanism(keep, phi_off=False)], [1]).get_approxDP(delta)


ADAPTERS = declare("autodp", "AFA", "autodp", {
    "gaussian-composed.delta": gaussian_composed_delta,
    "gaussian-composed.epsilon": gaussian_composed_epsilon,
    "gaussian.delta": gaussian_delta,
    "gaussian.epsilon": gaussian_epsilon,
    "laplace-composed.delta": laplace_composed_delta,
    "laplace-composed.epsilon": laplace_composed_epsilon,
    "randomised-response.epsilon": randomised_response_epsilon,
})
