"""jax-privacy with its PLD accountant: DP-SGD under Poisson sampling, and a single release.

The library takes a batch size and a number of examples, and computes the sampling rate as their quotient. The two are
the numerator and the denominator of the double that is asked for, so that the quotient is that double exactly.
"""

from __future__ import annotations

from typing import Any

from empirical.gate.adapters import declare


def gaussian_epsilon(*, sigma: Any, sensitivity: Any, delta: Any) -> Any:
    """The accountant of a single release."""
    from jax_privacy import accounting

    params = accounting.DpParams(noise_multipliers=sigma / sensitivity, num_samples=1, delta=delta, batch_size=1)
    return accounting.SingleReleaseTrainingAccountant(accounting.PldAccountantConfig()).compute_epsilon(1, params)


def poisson_gaussian_epsilon(*, sigma: Any, sampling_rate: Any, steps: Any, delta: Any, neighbours: Any) -> Any:
    """DP-SGD; the library's accountants are built for add or remove."""
    from jax_privacy import accounting

    if neighbours != "add_remove":
        raise ValueError(f"Poisson sampling under {neighbours} is not offered")
    return dpsgd(accounting.PldAccountantConfig(), sigma, sampling_rate, steps, delta)


def dpsgd(config: Any, noise_multiplier: Any, sampling_rate: Any, steps: Any, delta: Any) -> Any:
    """The epsilon of DP-SGD by the accountant of that configuration."""
    from jax_privacy import accounting

    batch_size, examples = float(sampling_rate).as_integer_ratio()
    params = accounting.DpParams(
        noise_multipliers=noise_multiplier, num_samples=examples, delta=delta, batch_size=batch_size,
    )
    return accounting.DpsgdTrainingAccountant(config).compute_epsilon(steps, params)


ADAPTERS = declare("jax-privacy", "PLD", "jax-privacy", {
    "gaussian.epsilon": gaussian_epsilon,
    "poisson-gaussian.epsilon": poisson_gaussian_epsilon,
})
