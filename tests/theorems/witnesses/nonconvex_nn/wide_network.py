"""Witnesses against what document 002 says of wide networks, again: matrices, finite differences, tails, quadrature."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction

import mpmath
import numpy as np
import sympy
from numpy.typing import NDArray
from scipy import stats

from tests.theorems.witness_text import Witness, number

Array = NDArray[np.float64]


def matrix(text: str) -> Array:
    """A matrix of fractions as a witness writes it."""
    return np.array([[float(Fraction(str(sympy.Rational(str(v))))) for v in row]
                     for row in sympy.Matrix(sympy.sympify(text)).tolist()])


def layers_of(witness: Witness) -> list[Array]:
    """W_1, ..., W_L."""
    names = sorted(name for name in witness if name.startswith("W_"))
    return [matrix(witness[name]) for name in names]


def forward(layers: list[Array], x: Array) -> tuple[float, list[Array]]:
    """f and the hidden layers."""
    h = [x]
    for layer in layers[:-1]:
        h.append(np.maximum(layer @ h[-1], 0.0))
    return float(np.sqrt(layers[-1].shape[1]) * (layers[-1] @ h[-1]).item()), h


def slopes(layers: list[Array], x: Array, step: float = 1e-5) -> list[Array]:
    """The derivatives of f by central differences."""
    found = []
    for layer in layers:
        slope = np.zeros_like(layer)
        for place in np.ndindex(layer.shape):
            kept = layer[place]
            ends = []
            for side in (step, -step):
                layer[place] = kept + side
                ends.append(forward(layers, x)[0])
            layer[place] = kept
            slope[place] = (ends[0] - ends[1]) / (2 * step)
        found.append(slope)
    return found


def no_product(witness: Witness) -> bool:
    """numpy refuses to multiply the two factors."""
    one, other = (np.ones([int(v) for v in witness[name].split(" x ")]) for name in ("first factor", "second factor"))
    try:
        return bool((one @ other).shape != tuple(int(v) for v in witness["derivative"].split(" x ")))
    except ValueError:
        return True


def other_derivative(witness: Witness) -> bool:
    layers, x = layers_of(witness), matrix(witness["x"])
    true = slopes(layers, x)[int(witness["layer"]) - 1]
    claimed = np.array(sympy.Matrix(sympy.sympify(witness["claimed"])).evalf().tolist(), dtype=float)
    return bool(claimed.shape != true.shape or np.abs(claimed - true).max() > 1e-6)


def other_gates(witness: Witness) -> bool:
    """The signs of W_l h_l, multiplied to W_l h_{l-1}, do not give h_l."""
    layers, at = layers_of(witness), int(witness["layer"])
    _, h = forward(layers, matrix(witness["x"]))
    opened = np.diag((layers[at - 1] @ h[at] > 0).ravel().astype(float))
    return bool(np.abs(opened @ layers[at - 1] @ h[at - 1] - h[at]).max() > 1e-9)


def other_form(witness: Witness) -> bool:
    layers, at = layers_of(witness), int(witness["layer"])
    f, h = forward(layers, matrix(witness["x"]))
    vector = h[at]
    for r in range(int(witness["product from"]), int(witness["to"]) + 1):
        vector = np.maximum(layers[r - 1] @ h[r - 1], 0) if vector is h[r - 1] else (
            np.diag((layers[r - 1] @ h[r - 1] > 0).ravel().astype(float)) @ layers[r - 1] @ vector)
    return bool(abs(np.sqrt(layers[-1].shape[1]) * (layers[-1] @ vector).item() - f) > 1e-9)


def not_the_start(witness: Witness) -> bool:
    """f(W(0)) + <slopes, W(0)> by differences is not f(W(0))."""
    layers, x = layers_of(witness), matrix(witness["x"])
    f = forward(layers, x)[0]
    printed = f + sum(float((s * w).sum()) for s, w in zip(slopes(layers, x), layers, strict=True))
    return abs(printed - number(witness, "f_ntk(W(0))")) < 1e-4 and abs(printed - f) > 1e-3


def not_linear(witness: Witness) -> bool:
    return number(witness, "f_ntk at W = 0") == number(witness, "f(W(0))") != number(witness, "claimed")


def far_at_the_start(witness: Witness) -> bool:
    """The share of runs with 2 |h| |z| below the bound, |h|^2 a mean of 2 relu(g)^2: nearly 1 for so many units."""
    m, bound = mpmath.mpf(witness["m"]), 8 * mpmath.mpf(witness["m"]) ** (-mpmath.mpf(1) / 6)
    bound *= mpmath.sqrt(mpmath.log(m))
    share = 2 * stats.norm.cdf(float(bound) / (int(witness["L"]) * 0.9)) - 1
    return bool(abs(float(bound) - number(witness, "claimed bound")) < 1e-9 and share < 0.5)


def falls(witness: Witness) -> bool:
    """The loss of the one open unit at both ends, to 60 digits, and its slope along the move."""
    with mpmath.workdps(60):
        s, omega, a, b = (mpmath.mpf(Fraction(witness[k]).numerator) / Fraction(witness[k]).denominator
                          for k in ("S", "omega", "a", "b"))
        root = mpmath.sqrt(mpmath.mpf(witness["m"]))

        def loss(part: mpmath.mpf) -> mpmath.mpf:
            return s * mpmath.log1p(mpmath.exp(root * (a + part * omega) * (b - part * omega)))

        along = mpmath.diff(loss, 0)
        return bool(loss(mpmath.mpf(1)) - loss(mpmath.mpf(0)) - along < -mpmath.mpf(witness["Delta"]))


def grows_with_the_width(witness: Witness) -> bool:
    n, depth, m, e = (number(witness, k) for k in ("n", "L", "m", "epsilon"))
    return bool(np.log(n * depth) + m * e**2 / depth > 0) and witness["bound of the failure"].count("exp(") == 1


def not_one(witness: Witness) -> bool:
    """A zero record has zero hidden layers."""
    layer = np.random.default_rng(1).normal(size=(64, 3))
    h = np.maximum(layer @ (number(witness, "|x|") * np.array([1.0, 0.0, 0.0])), 0)
    return bool(abs(np.linalg.norm(h) - number(witness, "claimed")) > 0.5)


def no_such_layer(witness: Witness) -> bool:
    return int(witness["claimed last"]) not in map(int, witness["layers with an activation"].split(", "))


def sigmoid_is_long(witness: Witness) -> bool:
    """The binomial by scipy, and |h|^2 of one draw."""
    m = int(witness["m"])
    h = 1 / (1 + np.exp(-np.random.default_rng(2).normal(scale=np.sqrt(2 / m), size=m)))
    chance = float(Fraction(witness["P(at most 16 units >= 1/2)"]))
    return bool(chance < 1e-6 and abs(chance / stats.binom.cdf(16, m, 0.5) - 1) < 1e-9 and np.linalg.norm(h) > 2)


def long_row(witness: Witness) -> bool:
    """The norm of an outer product of vectors of the two lengths."""
    h, row = number(witness, "|h_{l-1}|"), number(witness, "|W_L ... D_l|")
    outer = np.outer(row * np.array([0.6, 0.8]), h * np.array([0.8, -0.6]))
    return bool(np.linalg.norm(outer) > number(witness, "claimed") + 1e-9)


def slope_moves(witness: Witness) -> bool:
    b = number(witness, "b")
    return abs(((3 + 1e-6) * b - 3 * b) / 1e-6 - number(witness, "claimed")) > 1e-3


def outside(witness: Witness) -> bool:
    """The norms of drawn layers are far above R."""
    m = int(witness["m"])
    draws = np.random.default_rng(3).normal(scale=np.sqrt(2 / m), size=(5, m, m))
    return bool((np.linalg.norm(draws, axis=(1, 2)) * (1 - number(witness, "centre over start"))
                 > 2 * number(witness, "R")).all())


def kernel_spreads(witness: Witness) -> bool:
    """The moments of one unit by quadrature: the variance of a sum of m of them grows."""
    density = mpmath.npdf
    mean = mpmath.mpf(1) / 2 + 2 * mpmath.quad(lambda g: g**2 * density(g), [0, 5, 20])
    square = mpmath.quad(lambda g: density(g) * (3 + 4 * g**2 + 4 * g**4), [0, 5, 20])
    told = number(witness, "mean square of one unit") - number(witness, "mean of one unit") ** 2
    return bool(abs(square - mean**2 - told) < 1e-9 and told > 0)


def own_slopes(witness: Witness) -> bool:
    """An Euler step of the linearised network."""
    a, b, eta = (number(witness, k) for k in ("a", "b", "eta"))
    slope, time = np.array([max(b, 0.0), a * (b > 0)]), 1e-3
    rate = float(slope @ (-eta * slope * time)) / time
    return abs(rate - number(witness, "claimed")) > 1e-6


def product_tail(witness: Witness) -> bool:
    """P(|a| relu(b) > t) by an integral over b, against xi."""
    with mpmath.workdps(40):
        t = mpmath.mpf(witness["claimed bound"])
        chance = mpmath.quad(
            lambda b: mpmath.npdf(b, 0, mpmath.sqrt(2)) * mpmath.erfc(t / b / mpmath.sqrt(2)), [1, 5, 10, 15, 30])
        return bool(chance > mpmath.exp(-mpmath.mpf(witness["log(1/xi)"])))


WITNESSES: dict[str, Callable[[Witness], bool]] = {
    "nonconvex-nn/eq-16": no_product,
    "nonconvex-nn/eq-16-last": other_derivative,
    "nonconvex-nn/eq-16-D": other_gates,
    "nonconvex-nn/eq-16-form": other_form,
    "nonconvex-nn/def-8-ntrf": not_the_start,
    "nonconvex-nn/ntrf-linear": not_linear,
    "nonconvex-nn/lem-18": far_at_the_start,
    "nonconvex-nn/lem-19": falls,
    "nonconvex-nn/lem-20": grows_with_the_width,
    "nonconvex-nn/lem-20-unit": not_one,
    "nonconvex-nn/lem-20-index": no_such_layer,
    "nonconvex-nn/extends-to-sigmoid": sigmoid_is_long,
    "nonconvex-nn/lem-22-backward": long_row,
    "nonconvex-nn/lem-22-ntk": slope_moves,
    "nonconvex-nn/lem-26": product_tail,
    "nonconvex-nn/asm-4-start": outside,
    "nonconvex-nn/ntk-limit-scaling": kernel_spreads,
    "nonconvex-nn/ntk-dynamics-expectation": own_slopes,
}
NOT_WITNESSES: dict[str, Witness] = {
    "nonconvex-nn/eq-16": {"first factor": "2 x 1", "second factor": "1 x 2", "derivative": "2 x 2"},
    "nonconvex-nn/lem-20-unit": {"|x|": "0", "claimed": "0"},
    "nonconvex-nn/lem-22-backward": {"|h_{l-1}|": "1", "|W_L ... D_l|": "2", "claimed": "2"},
    "nonconvex-nn/lem-22-ntk": {"b": "2", "claimed": "2"},
    "nonconvex-nn/asm-4-start": {"m": "8", "R": "100", "centre over start": "0"},
    "nonconvex-nn/ntk-dynamics-expectation": {"a": "1", "b": "1", "eta": "1", "claimed": "-2"},
    "nonconvex-nn/lem-19": {"S": "1", "omega": "1/1000000", "a": "1/1000", "b": "1/1000", "m": "1000000", "Delta": "1"},
}
