"""What the adapters of prv-accountant share: its mechanisms, by our parameters."""

from __future__ import annotations

from typing import Any

LIBRARY, DISTRIBUTION = "prv-accountant", "prv-accountant"


def gaussian(sigma: float, sensitivity: float) -> Any:
    """A Gaussian release; what they call noise multiplier is the standard deviation of the noise."""
    from prv_accountant import GaussianMechanism

    return GaussianMechanism(noise_multiplier=sigma, l2_sensitivity=sensitivity)


def sampled(sigma: float, sampling_rate: float, neighbours: str) -> Any:
    """A step of DP-SGD."""
    from prv_accountant import PoissonSubsampledGaussianMechanism

    if neighbours != "add_remove":
        raise ValueError(f"neighbours = {neighbours!r} is not offered")
    return PoissonSubsampledGaussianMechanism(sampling_probability=sampling_rate, noise_multiplier=sigma)
