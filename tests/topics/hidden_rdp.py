"""What the generic tests need to know of the Renyi bounds for hidden-state training."""

from __future__ import annotations

import functools
from collections.abc import Callable

from mpmath import mp, mpf

from tests.formulas import rdp_epsilon
from tests.opinion import Numbers, Value
from tests.opinion.wor_gaussian import rdp as sampled_rdp
from tests.opinion.wor_gaussian import zcdp


def iteration_rho(v: Numbers) -> mpf:
    """Half the squared shifts over the noise."""
    return mp.fsum((a / tau) ** 2 for a, tau in zip(v["shift"], v["iterate_noise"], strict=True)) / 2


def one_pass_rho(v: Numbers) -> mpf:
    """A drift of 2L/sigma standard deviations, shared evenly by the steps from the record on."""
    steps = int(v["dataset_size"] - v["record_position"]) + 1
    return mp.fsum((2 * v["lipschitz"] / v["noise_on_mean"] / steps) ** 2 for _ in range(steps)) / 2


def langevin_rho(v: Numbers) -> mpf:
    """Chourasia, Ye and Shokri's formula."""
    scale = v["sensitivity"] ** 2 / (v["strong_convexity"] * v["diffusion"] ** 2 * v["dataset_size"] ** 2)
    return scale * -mp.expm1(-v["strong_convexity"] * v["learning_rate"] * v["steps"] / 2)


def minibatch_rho(v: Numbers) -> mpf:
    """The recursion, step by step, on the divergence and the variance."""
    fresh = 2 * v["learning_rate"] * v["diffusion"] ** 2
    drift = v["learning_rate"] * v["sensitivity"] / v["batch_size"]
    rho = variance = mpf(0)
    for _ in range(int(v["epochs"])):
        for number in range(1, int(v["batches"]) + 1):
            before = v["contraction"] ** 2 * variance
            variance = before + fresh
            rho = rho + drift**2 / (2 * fresh) if number == v["batch_position"] else rho * before / variance
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

    noise, rate = v["noise_on_mean"] * v["batch_size"] / v["lipschitz"], v["batch_size"] / v["dataset_size"]
    candidates = [v["steps"] * one_batch(noise, rate, v["alpha"], mp.dps)]
    for kept in (mpf(7) / 10, mpf(9) / 10) if v["diameter"] < mp.inf else ():
        batch = one_batch(kept * noise, rate, v["alpha"], mp.dps)
        other = v["noise_on_mean"] * mp.sqrt(1 - kept**2) * v["learning_rate"]
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

FAMILIES = ("iteration", "iteration-sgd", "langevin", "noisy-minibatch", "projected-noisy-sgd")
