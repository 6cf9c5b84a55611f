"""Witnesses against Section 3 of document 000, again: sampling, numerical optimisation, finite differences."""

from __future__ import annotations

import ast
from collections.abc import Callable
from fractions import Fraction

import numpy as np
from scipy import optimize

from tests.theorems.witness_text import Witness


def more_patterns_than_regions(witness: Witness) -> bool:
    """Random directions find the regions; the origin and the rows' orthogonals add the other patterns."""
    rows = np.array(ast.literal_eval(witness["X"]), dtype=float)
    generator = np.random.default_rng(0)
    generic = {tuple(rows @ u >= 0) for u in generator.normal(size=(2000, rows.shape[1]))}
    special = [np.zeros(rows.shape[1])]
    if rows.shape[1] == 2:
        special += [s * np.array([-row[1], row[0]]) for row in rows for s in (1, -1)]
    every = generic | {tuple(rows @ u >= 0) for u in special}
    claimed = (int(witness["patterns"]), int(witness["regions"]))
    return (len(every), len(generic)) == claimed and len(every) > len(generic)


def in_several_cones(witness: Witness) -> bool:
    rows, u = (np.array(ast.literal_eval(witness[key]), dtype=float) for key in ("X", "u"))
    cones = {tuple(np.where(rows @ v >= 0, 1, -1)) for v in np.random.default_rng(0).normal(size=(500, rows.shape[1]))}
    return sum(bool((np.array(cone) * (rows @ u) >= 0).all()) for cone in cones) > 1


def bound_too_small(witness: Witness) -> bool:
    """One point on the line has two regions; in general, count sign vectors of random data."""
    n, r = int(witness["n"]), int(witness["r"])
    generator = np.random.default_rng(1)
    rows = generator.normal(size=(n, r))
    found = len({tuple(rows @ u > 0) for u in generator.normal(size=(4000, r))})
    return found > 2 * r * (np.e * (n - 1) / r) ** r


def three_neurons_cost_more(witness: Witness) -> bool:
    """Fit networks of that width from many starts, and evaluate the five-neuron interpolant."""
    labels = np.array(ast.literal_eval(witness["y"]), dtype=float)
    lam, width = float(Fraction(witness["lambda"])), int(witness["m"])
    data = np.column_stack([np.arange(6), np.ones(6)])

    def objective(weights: np.ndarray, neurons: int) -> float:
        u, alpha = weights[: 2 * neurons].reshape(neurons, 2), weights[2 * neurons :]
        residual = np.maximum(0, data @ u.T) @ alpha - labels
        return float(residual @ residual / 2 + lam / 2 * (weights @ weights))

    generator = np.random.default_rng(2)
    fitted = min(
        optimize.minimize(objective, generator.normal(size=3 * width), args=(width,)).fun for _ in range(30)
    )
    neurons = [(1, 0), (-2, 1), (2, 2), (-2, 3), (2, 4)]
    scales = [np.sqrt(abs(a) / np.hypot(1, s)) for a, s in neurons]
    weights = np.concatenate([
        np.array([[c, -c * s] for (_, s), c in zip(neurons, scales, strict=True)]).ravel(),
        [a / c for (a, _), c in zip(neurons, scales, strict=True)],
    ])
    return width == data.shape[1] + 1 and objective(weights, 5) < 0.025 < float(Fraction(
        witness["objective (3.2) at least"]
    )) <= fitted


def measures_something_else(witness: Witness) -> bool:
    prediction, y = float(Fraction(witness["prediction"])), float(Fraction(witness["y"]))
    return float(np.linalg.norm([prediction, y]) ** 2) != (prediction - y) ** 2


def indicators_differ(witness: Witness) -> bool:
    product = float(Fraction(witness["x^T u"]))
    return max(0.0, float(np.sign(product))) != float(product >= 0)


def blocks_interact(witness: Witness) -> bool:
    """A mixed second difference of h(v) = (v_1 + v_2 - 1)^2 / 2."""
    x = float(witness["x"])

    def h(a: float, b: float) -> float:
        return (x * a + x * b - 1) ** 2 / 2

    return abs(h(1, 1) - h(1, 0) - h(0, 1) + h(0, 0)) > 0.5


def clipped(logits: np.ndarray, tau: float) -> np.ndarray:
    p = np.exp(logits - logits.max())
    residual = p / p.sum() - np.eye(len(logits))[0]
    return residual * min(1.0, tau / np.linalg.norm(residual))


def differences(logits: np.ndarray, tau: float) -> np.ndarray:
    """The Jacobian of the clipped residual by central differences."""
    h, size = 1e-5, len(logits)
    return np.column_stack([
        (clipped(logits + h * e, tau) - clipped(logits - h * e, tau)) / (2 * h) for e in np.eye(size)
    ])


def numbers(text: str) -> np.ndarray:
    return np.array([float(Fraction(part)) for part in text.split(",")])


def not_a_gradient(witness: Witness) -> bool:
    """The clipped gradients of the two models, in doubles, against their difference."""
    v, other, tau = numbers(witness["v"]), numbers(witness["v'"]), float(Fraction(witness["C"]))
    return float((clipped(other, tau) - clipped(v, tau)) @ (other - v)) < -1e-8


def step_expands(witness: Witness) -> bool:
    """The two models as whole weight matrices: one clipped step each, every gradient of full size."""
    eta, decay, active = (float(Fraction(witness[k])) for k in ("eta", "eta lambda", "active hyperplanes"))
    t, bar = np.ones(int(active)), float(Fraction(witness["C"]))

    def step(weights: np.ndarray) -> np.ndarray:
        logits = t @ weights
        p = np.exp(logits - logits.max())
        gradient = np.outer(t, p / p.sum() - np.eye(len(logits))[0])
        return (1 - decay) * weights - eta * gradient * min(1.0, bar / float(np.linalg.norm(gradient)))

    v, other = (np.outer(t, numbers(witness[key])) / active for key in ("logits", "other logits"))
    return bool(np.linalg.norm(step(other) - step(v)) > np.linalg.norm(other - v) * (1 + 1e-6))


def fewer_are_admissible(witness: Witness) -> bool:
    square, hyperplanes = float(Fraction(witness["|x|^2"])), int(witness["P"])
    beta = square * hyperplanes / 2 / 2  # softmax has curvature at most 1/2
    count = sum(10**e < 2 / beta for e in np.arange(-3, 0, 0.5))
    return int(count) != ast.literal_eval(witness["claimed"])[1]


def outputs_turn_round(witness: Witness) -> bool:
    """A random gradient for each output, clipped on its own, and the opposite ones."""
    outputs, clip = int(witness["outputs"]), float(Fraction(witness["C"]))
    rows = np.random.default_rng(3).normal(size=(outputs, 4)) * 10
    rows *= clip / np.maximum(clip, np.linalg.norm(rows, axis=1, keepdims=True))
    return bool(np.linalg.norm(rows - (-rows)) > 2 * clip + 1e-9)


def ten_classes_expand(witness: Witness) -> bool:
    """Finite differences of the clipped residual at logits whose softmax is near the worst, and an operator norm."""
    base, power = 10.0, float(Fraction(witness["eta"].removeprefix("10^(").removesuffix(")")))
    size = float(Fraction(witness["active"])) * float(Fraction(witness["|x|^2"]))
    logits = np.log([0.001, 18.0, *[1.0] * 8])[: int(witness["classes"])]
    matrix = differences(logits, 1 / np.sqrt(size))
    keep = 1 - float(Fraction(witness["eta lambda"]))
    return bool(np.linalg.norm(keep * np.eye(len(logits)) - base**power * size * matrix, 2) > keep + 1e-9)


WITNESSES: dict[str, Callable[[Witness], bool]] = {
    "relu-approx/experiments-privacy": ten_classes_expand,
    "relu-approx/clip-per-output-reading-each": outputs_turn_round,
    "relu-approx/DX-regions": more_patterns_than_regions,
    "relu-approx/cones-partition": in_several_cones,
    "relu-approx/DX-bound": bound_too_small,
    "relu-approx/thm-3.1": three_neurons_cost_more,
    "relu-approx/general-convex-loss": three_neurons_cost_more,
    "relu-approx/eq-3.4": measures_something_else,
    "relu-approx/eq-3.6-3.8-D": indicators_differ,
    "relu-approx/lem-B.1-hessian": blocks_interact,
    "relu-approx/clip-convex": not_a_gradient,
    "relu-approx/clip-preserves": step_expands,
    "relu-approx/lem-3.2-consequence": fewer_are_admissible,
}

NOT_WITNESSES: dict[str, Witness] = {
    "relu-approx/clip-per-output-reading-each": {"outputs": "1", "C": "1"},
    "relu-approx/experiments-privacy": {
        "eta": "10^(-3)", "P": "64", "|x|^2": "1", "classes": "2", "active": "32", "eta lambda": "27/500000",
    },
    "relu-approx/DX-regions": {"X": "[[1], [2]]", "patterns": "2", "regions": "2"},
    "relu-approx/cones-partition": {"X": "[[1]]", "u": "[1]"},
    "relu-approx/DX-bound": {"n": "3", "r": "2"},
    "relu-approx/eq-3.4": {"prediction": "0", "y": "2"},
    "relu-approx/eq-3.6-3.8-D": {"x^T u": "1"},
    "relu-approx/clip-convex": {"v": "0, 1", "v'": "1/10, 9/10", "C": "1/10"},
    "relu-approx/clip-preserves": {
        "eta": "1/100", "eta lambda": "1/10000", "active hyperplanes": "64", "C": "1", "logits": "0, 1",
        "other logits": "1/10, 9/10",
    },
    "relu-approx/lem-3.2-consequence": {"|x|^2": "1", "P": "128", "claimed": "(6, 4, 3)"},
}
