"""What the generic tests need to know of the Renyi bounds for hidden-state training."""

from __future__ import annotations

import functools
import math
from collections.abc import Callable
from typing import Any

from mpmath import mp, mpf

from tests.formulas import rdp_epsilon
from tests.opinion import Numbers, Value
from tests.opinions_wor_gaussian import rdp as sampled_rdp
from tests.opinions_wor_gaussian import zcdp
from tests.topics import FALLS, RISES, TURNS

SMALLEST = 5e-324


def iteration_rho(v: Numbers) -> mpf:
    """Half the squared shifts over the noise."""
    return mp.fsum((a / tau) ** 2 for a, tau in zip(v["shift"], v["noise"], strict=True)) / 2


def one_pass_rho(v: Numbers) -> mpf:
    """A drift of 2L/sigma standard deviations, shared evenly by the steps from the record on."""
    steps = int(v["dataset_size"] - v["position"]) + 1
    return mp.fsum((2 * v["lipschitz"] / v["sigma"] / steps) ** 2 for _ in range(steps)) / 2


def langevin_rho(v: Numbers) -> mpf:
    """Chourasia, Ye and Shokri's formula."""
    scale = v["sensitivity"] ** 2 / (v["strong_convexity"] * v["sigma"] ** 2 * v["dataset_size"] ** 2)
    return scale * -mp.expm1(-v["strong_convexity"] * v["step_size"] * v["steps"] / 2)


def minibatch_rho(v: Numbers) -> mpf:
    """The recursion, step by step, on the divergence and the variance."""
    fresh = 2 * v["step_size"] * v["sigma"] ** 2
    drift = v["step_size"] * v["sensitivity"] / v["batch_size"]
    rho = variance = mpf(0)
    for _ in range(int(v["epochs"])):
        for number in range(1, int(v["batches"]) + 1):
            before = v["contraction"] ** 2 * variance
            variance = before + fresh
            rho = rho + drift**2 / (2 * fresh) if number == v["position"] else rho * before / variance
    return rho


@functools.cache
def one_batch(noise: mpf, rate: mpf, alpha: mpf, digits: int) -> mpf:
    """One batch without replacement, at that working precision; the same points are asked for by several tests."""
    assert digits == mp.dps
    return sampled_rdp({"sigma": noise, "sampling_rate": rate, "steps": 1, "alpha": alpha, "method": "exact"})


def projected_rdp(v: Numbers) -> mpf:
    """The least over composition, two splits of the noise, and the number of steps at the end."""
    if v["steps"] == 0 or v["diameter"] == 0:
        return mpf(0)

    noise, rate = v["sigma"] * v["batch_size"] / v["lipschitz"], v["batch_size"] / v["dataset_size"]
    candidates = [v["steps"] * one_batch(noise, rate, v["alpha"], mp.dps)]
    for kept in (mpf(7) / 10, mpf(9) / 10) if v["diameter"] < mp.inf else ():
        batch = one_batch(kept * noise, rate, v["alpha"], mp.dps)
        other = v["sigma"] * mp.sqrt(1 - kept**2) * v["step_size"]
        middle = mp.floor(v["diameter"] / other * mp.sqrt(v["alpha"] / (2 * batch)))
        for near in range(-2, 4):
            steps = min(max(middle + near, mpf(1)), v["steps"])
            candidates.append(steps * (batch + v["alpha"] / 2 * (v["diameter"] / steps / other) ** 2))
    return min(candidates)


def projected_epsilon(v: Numbers) -> mpf:
    divergence = projected_rdp(v)
    return rdp_epsilon({**v, "rdp": divergence, "conversion": "canonne"}) if divergence else mpf(0)


def _pair(rho: Callable[[Numbers], mpf], name: str) -> dict[str, Value]:
    """The opinions on a bound that is linear in the order, and on its conversion."""

    def converted(v: Numbers) -> mpf:
        found = rho(v)
        return zcdp(found, v["delta"]) if found > 0 else mpf(0)

    return {f"{name}.rdp": Value(lambda v: v["alpha"] * rho(v)), f"{name}.epsilon": Value(converted, digits=(45, 70))}


OPINIONS: dict[str, Value] = {
    **_pair(iteration_rho, "iteration"),
    **_pair(one_pass_rho, "iteration-sgd"),
    **_pair(langevin_rho, "langevin"),
    **_pair(minibatch_rho, "noisy-minibatch"),
    "projected-noisy-sgd.rdp": Value(projected_rdp, digits=(36, 46)),
    "projected-noisy-sgd.epsilon": Value(projected_epsilon, digits=(36, 46)),
}

_COMMON: dict[str, dict[str, str]] = {
    "iteration": {"drift": TURNS, "noise": TURNS, "shift": TURNS, "contraction": TURNS},
    "iteration-sgd": {"lipschitz": RISES, "sigma": FALLS, "dataset_size": FALLS, "position": RISES},
    "langevin": {
        "sensitivity": RISES, "dataset_size": FALLS, "sigma": FALLS, "strong_convexity": FALLS, "smoothness": TURNS,
        "step_size": RISES, "steps": RISES,
    },
    "noisy-minibatch": {
        "sensitivity": RISES, "batch_size": FALLS, "sigma": FALLS, "step_size": RISES, "contraction": RISES,
        "batches": TURNS, "epochs": RISES, "position": RISES,
    },
    "projected-noisy-sgd": {
        "lipschitz": RISES, "dataset_size": FALLS, "batch_size": TURNS, "sigma": FALLS, "step_size": FALLS,
        "diameter": RISES, "steps": RISES,
    },
}
DIRECTIONS: dict[str, dict[str, str]] = {
    **{f"{name}.rdp": {**moves, "alpha": RISES} for name, moves in _COMMON.items()},
    **{f"{name}.epsilon": {**moves, "delta": FALLS} for name, moves in _COMMON.items()},
}
DIRECTIONS["projected-noisy-sgd.epsilon"]["alpha"] = TURNS

FAMILIES = tuple(_COMMON)
UNITS = ("rdp", "epsilon")


def _both(table: dict[tuple[str, str], Any]) -> dict[tuple[str, str], Any]:
    """The entries of a family for its two bounds."""
    return {(f"{name}.{unit}", parameter): v for (name, parameter), v in table.items() for unit in UNITS}


# Shifts that are sure to pay for any drift drawn, steps that contract, positions there are, batches within the data.
RANGES: dict[tuple[str, str], tuple[float, float]] = _both({
    ("iteration", "drift"): (-4.0, 0.0),
    ("iteration", "noise"): (-1.0, 4.0),
    ("iteration-sgd", "dataset_size"): (1.5, 2.5),  # the opinion adds up the steps
    ("iteration-sgd", "position"): (0.0, 1.5),
    ("langevin", "dataset_size"): (0.0, 9.0),
    ("langevin", "sigma"): (-2.0, 4.0),
    ("langevin", "strong_convexity"): (-4.0, -0.5),
    ("langevin", "smoothness"): (0.0, 1.0),
    ("langevin", "step_size"): (-4.0, -1.0),
    ("langevin", "steps"): (0.0, 9.0),
    ("noisy-minibatch", "batches"): (1.0, 1.7),  # the opinion takes every step
    ("noisy-minibatch", "position"): (0.0, 1.0),
    ("noisy-minibatch", "sigma"): (-2.0, 4.0),
    ("projected-noisy-sgd", "lipschitz"): (-0.3, 0.3),
    ("projected-noisy-sgd", "dataset_size"): (2.0, 3.0),  # where the best number of steps at the end is 1 to 10^4
    ("projected-noisy-sgd", "batch_size"): (0.0, 2.0),
    ("projected-noisy-sgd", "sigma"): (0.0, 0.6),
    ("projected-noisy-sgd", "step_size"): (-1.0, 0.0),
    ("projected-noisy-sgd", "diameter"): (-2.0, 0.5),
})


def _order(u: float) -> float:
    return 1.0 + 10.0 ** (-8.0 + 12.0 * u)


def _shifts(u: float) -> tuple[float, ...]:
    """Shifts of which the second may be nothing and the last pays for any drift drawn."""
    return (u, 0.0 if u < 0.3 else 2.0 * u, 1.0 - u, 5.0 + 40.0 * u)


MAPS: dict[tuple[str, str], Callable[[float], Any]] = {
    **{(f"{name}.rdp", "alpha"): _order for name in FAMILIES},
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
    ("projected-noisy-sgd.epsilon", "sigma"): lambda u: 1.0 if u < 0.5 else 0.3,
    ("projected-noisy-sgd.epsilon", "alpha"): lambda u: 2.0 if u < 0.3 else 12.0,
    ("projected-noisy-sgd.epsilon", "delta"): lambda u: 10.0 ** (-12.0 + 10.0 * u),
}

_ORDERS = (1 + 2**-52, 1.5, 2.0, 1e8, 1e300)
_MODERATE = (1e-30, 1e-8, 1.0, 3.0, 1e8, 1e30)
CORNERS: dict[tuple[str, str], tuple[float, ...]] = {
    **{(f"{name}.rdp", "alpha"): _ORDERS for name in FAMILIES},
    **_both({
        ("iteration", "drift"): (0.0, SMALLEST, 1e-310, 1e-30),
        ("iteration", "shift"): (1e-8, 1.0, 1e8, 1e30),
        ("iteration", "noise"): _MODERATE,
        ("iteration-sgd", "lipschitz"): _MODERATE,
        ("iteration-sgd", "sigma"): _MODERATE,
        ("iteration-sgd", "dataset_size"): (10**6, 2**53, int(1e100), int(1e300)),
        ("iteration-sgd", "position"): (1, 2, 10**6),
        ("langevin", "sensitivity"): _MODERATE,
        ("langevin", "sigma"): _MODERATE,
        ("langevin", "strong_convexity"): (1e-300, 1e-30, 1e-8, 1.0),
        ("langevin", "smoothness"): (1.0, 3.0, 1e8),
        ("langevin", "step_size"): (SMALLEST, 1e-300, 1e-30, 1e-9),
        ("noisy-minibatch", "sensitivity"): _MODERATE,
        ("noisy-minibatch", "sigma"): _MODERATE,
        ("noisy-minibatch", "step_size"): _MODERATE,
        ("noisy-minibatch", "batches"): (10**6, 2**53, int(1e100)),
        ("noisy-minibatch", "epochs"): (0, 1, 2, 17),
        ("noisy-minibatch", "position"): (1, 2, 10**6),
        ("projected-noisy-sgd", "lipschitz"): (0.1, 1.0, 10.0),
        ("projected-noisy-sgd", "dataset_size"): (100, 10**6, 10**9),
        ("projected-noisy-sgd", "batch_size"): (1, 2, 100),
        ("projected-noisy-sgd", "sigma"): (1e-2, 1.0, 1e3),
        ("projected-noisy-sgd", "step_size"): (1e-300, 1e-8, 1.0, 1e300),
        ("projected-noisy-sgd", "diameter"): (0.0, 1e-300, 1.0, 1e300, math.inf),
        ("projected-noisy-sgd", "steps"): (0, 1, 2, 10**12),
        ("projected-noisy-sgd", "alpha"): (1.5, 2.0, 64.0, 1e3),
    }),
}

FEW_POINTS: dict[str, int] = {
    **{f"{name}.epsilon": 40 for name in FAMILIES}, "noisy-minibatch.rdp": 100,
    **{f"projected-noisy-sgd.{unit}": 12 for unit in UNITS},
}
