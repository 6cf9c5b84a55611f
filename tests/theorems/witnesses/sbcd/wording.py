"""Witnesses against sentences around the theorems of document 001, again: numerical minimisation and sampling sums."""

from __future__ import annotations

import numpy as np

from tests.theorems.witness_text import Witness, number
from tests.theorems.witnesses.sbcd.accounting import divergence
from tests.theorems.witnesses.sbcd.experiments import last_iterate_tells_more


def orders_differ(witness: Witness) -> bool:
    """A finite difference of |U - theta x|^2/2 in theta, at the old and at the new U, times the step size."""
    theta, x, eta = (number(witness, key) for key in ("theta_0", "x_0", "eta"))

    def moved(hidden: float) -> float:
        high, low = ((hidden - t * x) ** 2 / 2 for t in (theta + 0.5, theta - 0.5))
        return theta - eta * (high - low)

    gap = moved(number(witness, "U_0 after")) - moved(number(witness, "U_0 before"))
    return abs(gap - number(witness, "claimed difference")) > 1e-9


def touch_is_another(witness: Witness) -> bool:
    """eta = S_g = b = 1: the mean moves by 1 at the variance 2 o."""
    return abs(float(divergence(1.0, 2 * number(witness, "o")) / 2) - number(witness, "claimed")) > 1e-6


def losses_add(witness: Witness) -> bool:
    both = divergence(1.0, number(witness, "v_1")) + divergence(1.0, number(witness, "v_2"))
    return abs(float(both / 2) - number(witness, "claimed R/alpha")) > 1e-6


def step_without_curvature(witness: Witness) -> bool:
    """A gradient step on gamma/2 |U - theta x|^2 with x = 0 keeps two points as far apart as they were."""
    apart = np.diff([theta - number(witness, "eta") * (theta * 0.0 - 1.0) * 0.0 for theta in (0.0, 1.0)])[0]
    return bool(number(witness, "curvature") == 0 and number(witness, "omega") > 0
                and apart > number(witness, "claimed") + 1e-9)


def other_variance(witness: Witness) -> bool:
    """The noise of (8) by its definition against what is claimed."""
    return abs(2 * number(witness, "eta") * number(witness, "o") - number(witness, "variance of (9)")) > 1e-9


def gradients_differ(witness: Witness) -> bool:
    """Central differences of gamma/2 (U - theta x)^2 in theta for the two records."""
    gamma, theta = number(witness, "gamma"), number(witness, "theta")
    slopes = [
        gamma / 2 * ((u - (theta + 0.5) * x) ** 2 - (u - (theta - 0.5) * x) ** 2) for x, u in ((1.0, 0.0), (0.0, 0.0))
    ]
    return abs(slopes[0] - slopes[1]) > number(witness, "S_g at most") + 1e-9


WITNESSES = {
    "sbcd/assump-4.4-finite": gradients_differ,
    "sbcd/alg-simultaneous": orders_differ,
    "sbcd/cor-4.5-sigma": touch_is_another,
    "sbcd/composition-identical-noise-reading-needed": losses_add,
    "sbcd/lem-4.1-uniform-reading-one-omega": step_without_curvature,
    "sbcd/o-is-variance": other_variance,
    "sbcd/eq-9-t": other_variance,
    "sbcd/whole-network-gain": last_iterate_tells_more,
}
NOT_WITNESSES: dict[str, Witness] = {
    "sbcd/assump-4.4-finite": {"gamma": "1", "theta": "1", "S_g at most": "2"},
    "sbcd/alg-simultaneous": {"theta_0": "1", "x_0": "1", "eta": "1/2", "U_0 before": "1", "U_0 after": "1",
                              "claimed difference": "0"},
    "sbcd/cor-4.5-sigma": {"o": "2", "claimed": "1/8"},
    "sbcd/composition-identical-noise-reading-needed": {"v_1": "2", "v_2": "2", "claimed R/alpha": "1/2"},
    "sbcd/lem-4.1-uniform-reading-one-omega": {"eta": "1", "omega": "1/2", "curvature": "0", "claimed": "1"},
    "sbcd/o-is-variance": {"eta": "1/2", "o": "3", "variance of (9)": "3"},
}
