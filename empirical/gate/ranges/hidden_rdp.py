"""Where the parameters of the Renyi bounds for hidden-state training are drawn."""

from __future__ import annotations

import math
from typing import Any

from empirical.gate.ranges import SMALLEST, Corners, Maps, Ranges

_FAMILIES = ("iteration", "iteration-sgd", "langevin", "noisy-minibatch", "projected-noisy-sgd")
_UNITS = ("rdp", "epsilon")


def _both(table: dict[tuple[str, str], Any]) -> dict[tuple[str, str], Any]:
    """The entries of a family for its two bounds."""
    return {(f"{name}.{unit}", parameter): v for (name, parameter), v in table.items() for unit in _UNITS}


# Shifts that are sure to pay for any drift drawn, steps that contract, positions there are, batches within the data.
RANGES: Ranges = _both({
    ("iteration", "drift"): (-4.0, 0.0),
    ("iteration", "iterate_noise"): (-1.0, 4.0),
    ("iteration-sgd", "dataset_size"): (1.5, 2.5),  # the opinion adds up the steps
    ("iteration-sgd", "record_position"): (0.0, 1.5),
    ("langevin", "dataset_size"): (0.0, 9.0),
    ("langevin", "diffusion"): (-2.0, 4.0),
    ("langevin", "strong_convexity"): (-4.0, -0.5),
    ("langevin", "smoothness"): (0.0, 1.0),
    ("langevin", "learning_rate"): (-4.0, -1.0),
    ("langevin", "steps"): (0.0, 9.0),
    ("noisy-minibatch", "batches"): (1.0, 1.7),  # the opinion takes every step
    ("noisy-minibatch", "batch_position"): (0.0, 1.0),
    ("noisy-minibatch", "diffusion"): (-2.0, 4.0),
    ("projected-noisy-sgd", "lipschitz"): (-0.3, 0.3),
    ("projected-noisy-sgd", "dataset_size"): (2.0, 3.0),  # where the best number of steps at the end is 1 to 10^4
    ("projected-noisy-sgd", "batch_size"): (0.0, 2.0),
    ("projected-noisy-sgd", "noise_on_mean"): (0.0, 0.6),
    ("projected-noisy-sgd", "learning_rate"): (-1.0, 0.0),
    ("projected-noisy-sgd", "diameter"): (-2.0, 0.5),
})


def _order(u: float) -> float:
    return float(1.0 + 10.0 ** (-8.0 + 12.0 * u))


def _shifts(u: float) -> tuple[float, ...]:
    """Shifts of which the second may be nothing and the last pays for any drift drawn."""
    return (u, 0.0 if u < 0.3 else 2.0 * u, 1.0 - u, 5.0 + 40.0 * u)


MAPS: Maps = {
    **{(f"{name}.rdp", "alpha"): _order for name in _FAMILIES},
    ("projected-noisy-sgd.rdp", "alpha"): lambda u: 1.0 + 10.0 ** (-1.0 + 2.0 * u),
    **_both({
        ("iteration", "shift"): _shifts,
        ("noisy-minibatch", "epochs"): lambda u: int(20.0 * u),
        ("projected-noisy-sgd", "steps"): lambda u: int(10.0 ** (2.0 + 4.0 * u)) if u > 0.04 else 0,
    }),
    # The conversion of a few divergences: their opinions are slow, and the other bound has them everywhere.
    ("projected-noisy-sgd.epsilon", "lipschitz"): lambda u: 1.0,
    ("projected-noisy-sgd.epsilon", "dataset_size"): lambda u: 300,
    ("projected-noisy-sgd.epsilon", "batch_size"): lambda u: 10,
    ("projected-noisy-sgd.epsilon", "noise_on_mean"): lambda u: 1.0 if u < 0.5 else 0.3,
    ("projected-noisy-sgd.epsilon", "alpha"): lambda u: 2.0 if u < 0.3 else 12.0,
    ("projected-noisy-sgd.epsilon", "delta"): lambda u: 10.0 ** (-12.0 + 10.0 * u),
}

_ORDERS = (1 + 2**-52, 1.5, 2.0, 1e8, 1e300)
_MODERATE = (1e-30, 1e-8, 1.0, 3.0, 1e8, 1e30)
CORNERS: Corners = {
    **{(f"{name}.rdp", "alpha"): _ORDERS for name in _FAMILIES},
    **_both({
        ("iteration", "drift"): (0.0, SMALLEST, 1e-310, 1e-30),
        ("iteration", "shift"): (1e-8, 1.0, 1e8, 1e30),
        ("iteration", "iterate_noise"): _MODERATE,
        ("iteration-sgd", "lipschitz"): _MODERATE,
        ("iteration-sgd", "noise_on_mean"): _MODERATE,
        ("iteration-sgd", "dataset_size"): (10**6, 2**53, int(1e100), int(1e300)),
        ("iteration-sgd", "record_position"): (1, 2, 10**6),
        ("langevin", "sensitivity"): _MODERATE,
        ("langevin", "diffusion"): _MODERATE,
        ("langevin", "strong_convexity"): (1e-300, 1e-30, 1e-8, 1.0),
        ("langevin", "smoothness"): (1.0, 3.0, 1e8),
        ("langevin", "learning_rate"): (SMALLEST, 1e-300, 1e-30, 1e-9),
        ("noisy-minibatch", "sensitivity"): _MODERATE,
        ("noisy-minibatch", "diffusion"): _MODERATE,
        ("noisy-minibatch", "learning_rate"): _MODERATE,
        ("noisy-minibatch", "batches"): (10**6, 2**53, int(1e100)),
        ("noisy-minibatch", "epochs"): (0, 1, 2, 17),
        ("noisy-minibatch", "batch_position"): (1, 2, 10**6),
        ("projected-noisy-sgd", "lipschitz"): (0.1, 1.0, 10.0),
        ("projected-noisy-sgd", "dataset_size"): (100, 10**6, 10**9),
        ("projected-noisy-sgd", "batch_size"): (1, 2, 100),
        ("projected-noisy-sgd", "noise_on_mean"): (1e-2, 1.0, 1e3),
        ("projected-noisy-sgd", "learning_rate"): (1e-300, 1e-8, 1.0, 1e300),
        ("projected-noisy-sgd", "diameter"): (0.0, 1e-300, 1.0, 1e300, math.inf),
        ("projected-noisy-sgd", "steps"): (0, 1, 2, 10**12),
        ("projected-noisy-sgd", "alpha"): (1.5, 2.0, 64.0, 1e3),
    }),
}

FEW_POINTS: dict[str, int] = {
    **{f"{name}.epsilon": 40 for name in _FAMILIES}, "noisy-minibatch.rdp": 100,
    **{f"projected-noisy-sgd.{unit}": 12 for unit in _UNITS},
}
