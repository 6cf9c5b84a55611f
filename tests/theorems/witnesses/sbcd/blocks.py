"""Witnesses against Sections 1, 3 and 4 of document 001, again: numerical minimisation, simulation of maps, summing."""

from __future__ import annotations

import re
from collections.abc import Callable
from fractions import Fraction

import numpy as np
from scipy import optimize

from tests.theorems.witness_text import Witness, number


def diagonal(text: str) -> np.ndarray:
    return np.diag([float(Fraction(part)) for part in re.findall(r"-?\d+(?:/\d+)?", text)])


def penalty_is_smaller(witness: Witness) -> bool:
    """Minimise (4) over x and U numerically."""
    theta, y, gamma = (number(witness, key) for key in ("theta", "y", "gamma"))

    def penalty(v: np.ndarray) -> float:
        x, u = v
        return (x - y) ** 2 / 2 + gamma / 2 * ((x - max(0, u)) ** 2 + (u - theta) ** 2)

    best = min(optimize.minimize(penalty, start).fun for start in ([1.0, 1.0], [0.0, -1.0], [2.0, 2.0]))
    return best < number(witness, "claimed") - 1e-6


def input_is_replaced(witness: Witness) -> bool:
    theta, u = number(witness, "theta_0"), number(witness, "U_0")
    least = optimize.minimize_scalar(lambda x: x**2 + (u - theta * x) ** 2).x  # what (5) solves with sigma(U_{-1}) = 0
    return abs(least - number(witness, "x_0 after the update")) < 1e-6 < abs(least - number(witness, "input"))


def linearised_step_differs(witness: Witness) -> bool:
    h, eta, theta = float(witness["F"].split()[0]), number(witness, "eta"), number(witness, "theta")
    least = optimize.minimize_scalar(lambda t: h * t**2 / 2 + (t - theta) ** 2 / (2 * eta)).x
    return abs(least - (theta - eta * h * theta)) > 1e-3


def estimate_leaves_a_larger_norm(witness: Witness) -> bool:
    theta, rho = diagonal(witness["theta"]), number(witness, "rho")
    vector = np.ones(len(theta))
    vector = theta.T @ theta @ vector  # one power iteration
    estimate = np.linalg.norm(theta @ vector) / np.linalg.norm(vector)
    after = np.linalg.norm(theta * min(rho / estimate, 1), 2)
    return bool(abs(estimate**2 - number(witness, "estimated norm squared")) < 1e-9 and after > rho + 1e-6)


def normalisation_expands(witness: Witness) -> bool:
    rho = number(witness, "rho")
    pair = [diagonal(witness[key]) for key in ("theta", "theta'")]
    scaled = [theta * min(rho / np.linalg.norm(theta, 2), 1) for theta in pair]
    return bool(np.linalg.norm(scaled[0] - scaled[1]) > np.linalg.norm(pair[0] - pair[1]) + 1e-6)


def leaves_the_ball(witness: Witness) -> bool:
    theta, rho, eta, gradient = (number(witness, key) for key in ("theta", "rho", "eta", "gradient"))
    return theta * min(rho / abs(theta), 1) - eta * gradient > rho


def product_is_larger(witness: Witness) -> bool:
    one, two = diagonal(witness["theta_0"]), diagonal(witness["theta_1"])
    return bool(np.linalg.norm(two @ one, 2) < np.linalg.norm(two, 2) * np.linalg.norm(one, 2) - 1e-9)


def curvier_than_claimed(witness: Witness) -> bool:
    """A second difference of gamma/2 |u - theta x|^2 along theta."""
    gamma, size = number(witness, "gamma"), number(witness, "|x|^2") ** 0.5

    def value(theta: float) -> float:
        return gamma / 2 * (1 - theta * size) ** 2

    curvature = (value(0.5) - 2 * value(0.0) + value(-0.5)) / 0.25
    return size**2 <= number(witness, "X") and curvature > number(witness, "claimed") + 1e-9


def last_is_curvier(witness: Witness) -> bool:
    smooth, size = float(Fraction(witness["R"].split()[0])), number(witness, "X") ** 0.5

    def value(theta: float) -> float:
        return smooth * (theta * size - 1) ** 2 / 2

    return (value(0.5) - 2 * value(0.0) + value(-0.5)) / 0.25 > number(witness, "claimed") + 1e-9


def hessian_differs(witness: Witness) -> bool:
    """A second difference of |U - theta x|^2/2 for a 2 x 2 layer at gamma = 1, in the entries that it names."""
    x = np.array([float(part) for part in witness["x"].split(",")])

    def value(theta: np.ndarray) -> float:
        return float(np.sum((np.ones(2) - theta @ x) ** 2) / 2)

    one, other = np.zeros((2, 2)), np.zeros((2, 2))
    one[0, 0] = 1.0
    other[int(witness["rows"] == "different"), int(witness["columns"] == "different")] = 1.0
    entry = value(one + other) - value(one) - value(other) + value(np.zeros((2, 2)))
    return abs(entry - number(witness, "claimed")) > 1e-9


def singular(witness: Witness) -> bool:
    """Eigenvalues of the batch's sum of x x^T, and Lemma 4.1's bound for many step sizes."""
    rows = re.findall(r"\(([^)]*)\)", witness["x"])
    batch = np.array([[float(v) for v in re.findall(r"-?\d+", row)] for row in rows])
    omega, beta = np.linalg.eigvalsh(batch.T @ batch)[[0, -1]]
    return all(max(abs(1 - eta * omega), abs(1 - eta * beta)) >= 1 for eta in np.linspace(0.01, 5, 200))


def wrong_proximal_point(witness: Witness) -> bool:
    eta, theta, claimed = (number(witness, key) for key in ("eta", "theta", "claimed"))
    objective = {"l2": lambda t: t**2 / 2, "l1": abs, "0": lambda t: 0.0}[witness["r"]]
    least = optimize.minimize_scalar(lambda t: objective(t) + (t - theta) ** 2 / (2 * eta)).x
    return bool(abs(least - claimed) > 1e-4)


def other_constant(witness: Witness) -> bool:
    eta = number(witness, "eta")
    points = [optimize.minimize_scalar(lambda t, c=c: t**2 / 2 + (t - c) ** 2 / (2 * eta)).x for c in (0.0, 10.0)]
    return witness["r"] == "l2" and abs(abs(points[1] - points[0]) / 10 - number(witness, "claimed")) > 1e-3


def simulated_spread(gradient: float, noises: list[float]) -> list[float]:
    """The variances of a linear recursion, by adding up each step's share separately."""
    return [
        sum(noise * gradient ** (2 * (step - index)) for index, noise in enumerate(noises[: step + 1]))
        for step in range(len(noises))
    ]


def zero_divides(witness: Witness) -> bool:
    """c_0^{j_0} at j_0 = 0 is the constant of a point mass, whose inverse variance is infinite."""
    return (witness["j_0"], witness["epoch"]) == ("0", "0") and "zero" in witness["decay after 1, 2, 3 epochs"]


def renyi_of_a_linear_map(gradient: float, batches: int, epochs: int) -> float:
    """R/alpha by the recursion, in floats, the record in the last batch."""
    spreads = [0.0, *simulated_spread(gradient, [1.0] * (batches * epochs))]
    rho = 0.0
    for step in range(batches * epochs):
        if step % batches == batches - 1:
            rho += 1 / 8
        else:
            rho *= gradient**2 * spreads[step] / (gradient**2 * spreads[step] + 1)
    return rho


def not_exponential(witness: Witness) -> bool:
    """K touches of 1/8, which composition adds up to, against the claimed exponential, in logarithms."""
    epochs = int(witness["epochs"])
    claimed = np.log(number(witness, "constant")) + (epochs - 1) * np.log(number(witness, "base"))
    return bool(np.log(8 * sum([1 / 8] * epochs)) < claimed)


def does_not_converge(witness: Witness) -> bool:
    gradient, batches = number(witness, "L_F L_T"), int(witness["batches"])
    losses = [renyi_of_a_linear_map(gradient, batches, epochs) for epochs in (50, 100, 200)]
    return losses[2] - losses[1] > 1.5 * (losses[1] - losses[0]) > 1


def moves_farther(witness: Witness) -> bool:
    """Four gradients in two batches, one of them changed: how far its batch's mean moves."""
    records, batch = int(witness["n"]), int(witness["b"])
    data = np.zeros((2, records))
    data[:, 0] = -1.0, 1.0
    moved = abs(np.diff(data[:, :batch].mean(axis=1))[0])
    return bool(moved > abs(np.diff(data.mean(axis=1))[0]) / batch + 1e-9)


def activation_is_unbounded(witness: Witness) -> bool:
    """One pass of numerical minimisations of (4) over U_0 and then x_1, for the smallest noise of the witness."""
    theta, y = number(witness, "rho") + number(witness, "noise at least"), number(witness, "y")
    grid = np.linspace(-100.0, 100.0, 40_001)
    hidden = grid[np.argmin(np.maximum(0, grid) ** 2 + (grid - theta * number(witness, "x_0")) ** 2)]  # x_1 = 0 before
    active = [grid[np.argmin((t * grid - y) ** 2 + (grid - max(0.0, hidden)) ** 2)] for t in (-1.0, 0.0, 1.0)]
    return bool(min(active) ** 2 > number(witness, "X"))


def law_is_wider(witness: Witness) -> bool:
    """The variance of theta_1 after two steps by quadrature, x_1 minimised numerically for each theta_1."""
    spread, y = number(witness, "s^2"), number(witness, "y")
    nodes, weights = np.polynomial.hermite_e.hermegauss(40)
    moved = []
    for theta in nodes * np.sqrt(spread):
        x = optimize.minimize_scalar(lambda v, t=theta: (t * v - y) ** 2 + v**2, tol=1e-12).x  # U_0 = 0
        moved.append(theta - (theta * x - y) * x)
    second = float(np.sum(weights * np.square(moved)) / np.sum(weights)) + spread
    return bool(second > number(witness, "1/c of Lemma 4.7") * (1 + 1e-6))


WITNESSES: dict[str, Callable[[Witness], bool]] = {
    "sbcd/eq-4-lagrangian-reading-exact": penalty_is_smaller,
    "sbcd/eq-5-d0": input_is_replaced,
    "sbcd/eq-7-exact-reading-equal": linearised_step_differs,
    "sbcd/eq-2-reading-estimate": estimate_leaves_a_larger_norm,
    "sbcd/norm-nonexpansive-reading-recursion": normalisation_expands,
    "sbcd/alg-order-reading-listed": leaves_the_ball,
    "sbcd/global-lipschitz": product_is_larger,
    "sbcd/lem-3.2": curvier_than_claimed,
    "sbcd/lem-3.2-last": last_is_curvier,
    "sbcd/hessian-xxT-reading-all": hessian_differs,
    "sbcd/contraction": singular,
    "sbcd/prox-l2": wrong_proximal_point,
    "sbcd/prox-all-1-reading-best": other_constant,
    "sbcd/decay-lt-1": zero_divides,
    "sbcd/intro-exponential-reading-loss": not_exponential,
    "sbcd/convergence-const": does_not_converge,
    "sbcd/assump-4.4-reading-mean": moves_farther,
    "sbcd/assump-3.1-reading-listed": activation_is_unbounded,
    "sbcd/lem-4.7-law-reading-algorithm": law_is_wider,
}

NOT_WITNESSES: dict[str, Witness] = {
    "sbcd/eq-4-lagrangian-reading-exact": {"theta": "1", "y": "1", "gamma": "1", "claimed": "0"},
    "sbcd/norm-nonexpansive-reading-recursion": {"theta": "diag(1, 1)", "theta'": "diag(9/10, 9/10)", "rho": "1"},
    "sbcd/global-lipschitz": {"theta_0": "diag(1, 1)", "theta_1": "diag(2, 2)"},
    "sbcd/lem-3.2": {"gamma": "1", "|x|^2": "4", "X": "4", "claimed": "16"},
    "sbcd/lem-3.2-last": {"R": "1 (theta x - y)^2 / 2", "X": "1", "claimed": "1"},
    "sbcd/contraction": {"x": "[(1, 0), (0, 1)]"},
    "sbcd/assump-3.1-reading-listed": {"rho": "1", "y": "1", "noise at least": "1", "x_0": "1", "X": "16"},
    "sbcd/lem-4.7-law-reading-algorithm": {"s^2": "1", "y": "0", "1/c of Lemma 4.7": "2"},
    "sbcd/hessian-xxT-reading-all": {"x": "1, 2", "rows": "same", "columns": "different", "claimed": "2"},
    "sbcd/prox-l2": {"r": "l2", "eta": "1", "theta": "2", "claimed": "1"},
    "sbcd/convergence-const": {"L_F L_T": "1/2", "batches": "2"},
    "sbcd/intro-exponential-reading-loss": {"base": "11/10", "constant": "1", "epochs": "5"},
    "sbcd/alg-order-reading-listed": {"theta": "1", "rho": "1", "eta": "1/10", "gradient": "1"},
}
