"""jax-privacy with its RDP accountant, whose orders are its own, and the calibration of its noise.

The calibration takes either accountant; with this one it is fast enough to be judged.
"""

from __future__ import annotations

from typing import Any

from empirical.gate.adapters import declare
from empirical.gate.adapters.jax_privacy_pld import dpsgd


def gaussian_composed_epsilon(*, sigma: Any, sensitivity: Any, steps: Any, delta: Any) -> Any:
    """Full batches: a sampling rate of 1."""
    from jax_privacy import accounting

    return dpsgd(accounting.RdpAccountantConfig(), sigma / sensitivity, 1.0, steps, delta)


def poisson_gaussian_epsilon(*, sigma: Any, sampling_rate: Any, steps: Any, delta: Any, neighbours: Any) -> Any:
    """DP-SGD; the library's accountants are built for add or remove."""
    from jax_privacy import accounting

    if neighbours != "add_remove":
        raise ValueError(f"Poisson sampling under {neighbours} is not offered")
    return dpsgd(accounting.RdpAccountantConfig(), sigma, sampling_rate, steps, delta)


def poisson_gaussian_sigma(*, sampling_rate: Any, steps: Any, epsilon: Any, delta: Any, neighbours: Any) -> Any:
    """The calibration of the noise multiplier, with its default tolerance."""
    from jax_privacy import accounting

    if neighbours != "add_remove":
        raise ValueError(f"Poisson sampling under {neighbours} is not offered")
    batch_size, examples = float(sampling_rate).as_integer_ratio()
    return accounting.calibrate_noise_multiplier(
        target_epsilon=epsilon, accountant=accounting.DpsgdTrainingAccountant(accounting.RdpAccountantConfig()),
        batch_sizes=batch_size, num_updates=steps, num_samples=examples, target_delta=delta,
    )


ADAPTERS = declare("jax-privacy", "RDP", "jax-privacy", {
    "gaussian-composed.epsilon": gaussian_composed_epsilon,
    "poisson-gaussian.epsilon": poisson_gaussian_epsilon,
    "poisson-gaussian.sigma": poisson_gaussian_sigma,
})
