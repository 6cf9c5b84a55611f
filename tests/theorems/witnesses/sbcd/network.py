"""Witnesses against what document 001 says of networks and of runs, again: matrices, minimisation, quadrature."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from fractions import Fraction

import mpmath
import numpy as np
from scipy import optimize

from tests.theorems.witness_text import Witness
from tests.theorems.witnesses.sbcd.prose import number, shares


def kernel_is_steeper(witness: Witness) -> bool:
    """The largest eigenvalue of gamma C^T C, C the matrix of the shifts of a constant input on a circle."""
    size, places = int(witness["kernel"]), int(witness["places"])
    x = np.full(places, (number(witness, "|x|^2") / places) ** 0.5)
    shifts = np.stack([np.roll(x, -m) for m in range(size)], axis=1)
    steepest = np.linalg.eigvalsh(number(witness, "gamma") * shifts.T @ shifts)[-1]
    return bool(steepest > number(witness, "claimed") + 1e-9)


def gradient_remembers(witness: Witness) -> bool:
    """U_0 by minimising (4) numerically from the two values of x_1, and theta_0's gradient as a difference."""
    theta, x = number(witness, "theta_0"), number(witness, "x_0")

    def gradient(before: float) -> float:
        found = optimize.minimize_scalar(
            lambda u: (before - max(0.0, u)) ** 2 + (u - theta * x) ** 2, bounds=(0.0, 100.0), method="bounded",
            options={"xatol": 1e-10},
        ).x
        high, low = ((found - (theta + side) * x) ** 2 / 2 for side in (0.5, -0.5))
        return float(high - low)

    one, other = (gradient(float(Fraction(word))) for word in witness["x_1 before"].split(" or "))
    return abs((one - other) - number(witness, "claimed")) > 1e-6


def no_such_variable(witness: Witness) -> bool:
    return len(set(witness["U"].split(", "))) == int(witness["D"]) != int(witness["claimed"])


def not_four_and_five(witness: Witness) -> bool:
    widths = [int(word) for word in witness["widths"].split(",")]
    return not (sorted(widths)[-4:] == [200] * 4 and widths[-1] == int(witness["classes"]))


def hidden_grows(witness: Witness) -> bool:
    """R_2 of the law after all steps, by an integral, over that of one step with the record."""
    epochs, steps = int(witness["epochs"]), int(witness["epochs"]) * int(witness["batches"])

    def divergence(mean: float, variance: float) -> mpmath.mpf:
        root = mpmath.sqrt(variance)
        at = [2 * mean + k * root for k in (-20, -5, 0, 5, 20)]
        return mpmath.log(mpmath.quad(lambda x: mpmath.npdf(x, mean, root) ** 2 / mpmath.npdf(x, 0, root), at))

    return abs(divergence(epochs, steps) / divergence(1, 1) - number(witness, "claimed")) > 1e-6


def histories_lose_more(witness: Witness) -> bool:
    """Variances as explicit sums, factors multiplied touch by touch, over all positions in all epochs."""
    unit, q = number(witness, "u"), number(witness, "q")
    epochs, batches = int(witness["epochs"]), int(witness["batches"])
    wide = [sum(q**i for i in range(step)) for step in range(epochs * batches + 1)]

    def moment(history: tuple[int, ...]) -> float:
        touched = [k * batches + j for k, j in enumerate(history)]
        kept = [
            np.prod([q * wide[s] / wide[s + 1] for s in range(t + 1, epochs * batches) if s not in touched])
            for t in touched
        ]
        return float(np.exp(unit * sum(kept)))

    every = [moment(history) for history in itertools.product(range(batches), repeat=epochs)]
    fixed = [moment((j,) * epochs) for j in range(batches)]
    return bool(np.mean(fixed) < np.mean(every) - 1e-9)


def no_less_after(witness: Witness) -> bool:
    """Means and variances of theta <- T(F(theta) + noise) carried on: the losses are not in the claimed order."""
    small, large = (
        (size * number(witness, "L_F")) ** 2
        / (2 * size**2 * (number(witness, "L_F") ** 2 * number(witness, "1/c") + number(witness, "2 eta o")))
        for size in (float(Fraction(word)) for word in witness["L_T"].split(" and "))
    )
    return not small < large - 1e-12


def difference_grows(witness: Witness) -> bool:
    """The contributions at that j_0 and at 0, in floats: their difference is no smaller an epoch later."""
    now, then = (int(word) for word in witness["epochs"].split(" and "))
    late, early = (shares([0.01] * 30, 21, before, 0.99) for before in (int(witness["j_0"]), 0))
    gaps = late - early
    return bool(then == now + 1 and gaps[then] >= gaps[now])


WITNESSES: dict[str, Callable[[Witness], bool]] = {
    "sbcd/lem-3.2-convolution": kernel_is_steeper,
    "sbcd/carried-activations": gradient_remembers,
    "sbcd/alg-U-D": no_such_variable,
    "sbcd/four-layers-reading-all": not_four_and_five,
    "sbcd/composition-grows-reading-revealed": hidden_grows,
    "sbcd/same-position-reading-anew": histories_lose_more,
    "sbcd/smaller-LT-reading-step": no_less_after,
    "sbcd/fig-1a-disparity-reading-difference": difference_grows,
}
NOT_WITNESSES: dict[str, Witness] = {
    "sbcd/lem-3.2-convolution": {"gamma": "1", "|x|^2": "1", "kernel": "2", "places": "2", "claimed": "2"},
    "sbcd/carried-activations": {"theta_0": "1", "x_0": "1", "x_1 before": "2 or 2", "claimed": "0"},
    "sbcd/alg-U-D": {"D": "2", "claimed": "2", "U": "U_0, U_1"},
    "sbcd/four-layers-reading-all": {"widths": "200, 200, 200, 200, 5", "classes": "5"},
    "sbcd/composition-grows-reading-revealed": {"epochs": "1", "batches": "2", "claimed": "1/2"},
    "sbcd/same-position-reading-anew": {"u": "1/10", "q": "1", "epochs": "1", "batches": "2"},
}
