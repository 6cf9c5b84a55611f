"""What the adapters of Opacus share: an accountant after a number of equal steps of DP-SGD.

Opacus accounts for DP-SGD with Poisson batches, a record being added or removed. A Gaussian release is a step at
sampling rate 1. The history is set as the library itself does it where it knows the number of steps
(`get_noise_multiplier`).
"""

from __future__ import annotations

from typing import Any

LIBRARY, DISTRIBUTION = "Opacus", "opacus"


def epsilon_after(mechanism: str, sigma: float, sampling_rate: float, steps: int, delta: float) -> Any:
    """Epsilon of steps with a noise multiplier, noise over the bound on a record's norm."""
    from opacus.accountants import create_accountant

    accountant = create_accountant(mechanism)
    accountant.history = [(sigma, sampling_rate, steps)]
    return accountant.get_epsilon(delta)


def sigma_for(mechanism: str, sampling_rate: float, steps: int, epsilon: float, delta: float) -> Any:
    """The noise multiplier that the library recommends."""
    from opacus.accountants.utils import get_noise_multiplier

    return get_noise_multiplier(
        target_epsilon=epsilon, target_delta=delta, sample_rate=sampling_rate, steps=steps, accountant=mechanism
    )


def only_add_remove(neighbours: str) -> None:
    """Refuse the other relations."""
    if neighbours != "add_remove":
        raise ValueError(f"neighbours = {neighbours!r} is not offered")
