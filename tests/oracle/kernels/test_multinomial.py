"""The multinomial kernel: the identity of its features exactly, their number, their norm, hidden units as weights."""

from __future__ import annotations

import itertools
import math
from fractions import Fraction

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from oracle.algorithms.kernels import multinomial, torch_multinomial
from oracle.algorithms.kernels.chebyshev import approximation
from oracle.core.errors import DomainError

Array = NDArray[np.float64]
SHAPES = [(1, 1), (1, 9), (2, 3), (3, 4), (5, 2), (4, 5)]
rationals = st.lists(st.fractions(-3, 3, max_denominator=50), min_size=4, max_size=4)


def sphere(rng: np.random.Generator, count: int, dimension: int) -> Array:
    points = rng.normal(size=(count, dimension))
    return points / np.linalg.norm(points, axis=1, keepdims=True)


def ordered_size(dimension: int, degree: int) -> int:
    """D_m = 1 + d + ... + d^m, the number of features that the document counts: ordered products."""
    return sum(dimension**i for i in range(degree + 1))


def test_figures_of_the_documents() -> None:
    assert ordered_size(10, 8) == 111_111_111
    assert multinomial.size(10, 8) == 43_758


@pytest.mark.parametrize(("dimension", "degree"), SHAPES)
def test_every_product_is_one_feature(dimension: int, degree: int) -> None:
    """Ordered products, counted by brute force: each exponent stands there once, and stands for so many of them."""
    counts: dict[tuple[int, ...], int] = {}
    for length in range(degree + 1):
        for product in itertools.product(range(dimension), repeat=length):
            exponent = tuple(product.count(coordinate) for coordinate in range(dimension))
            counts[exponent] = counts.get(exponent, 0) + 1
    table = [tuple(row) for row in multinomial.exponents(dimension, degree).tolist()]
    assert len(table) == len(set(table)) == multinomial.size(dimension, degree)
    assert {exponent: multinomial.multiplicity(exponent) for exponent in table} == counts
    assert sum(counts.values()) == ordered_size(dimension, degree)


@given(rationals, rationals, st.integers(1, 4), st.integers(1, 4))
def test_the_kernel_identity_is_exact(one: list[Fraction], two: list[Fraction], dimension: int, degree: int) -> None:
    """sum over exponents of multiplicity x^a x'^a = sum_i <x, x'>^i, in rationals; both sides go by 1/(m + 1)."""
    x, other = one[:dimension], two[:dimension]
    total = Fraction(0)
    for exponent in multinomial.exponents(dimension, degree).tolist():
        total += multinomial.multiplicity(exponent) * math.prod(
            (u * v) ** power for u, v, power in zip(x, other, exponent, strict=True)
        )
    inner = sum((u * v for u, v in zip(x, other, strict=True)), Fraction(0))
    assert total == sum(inner**i for i in range(degree + 1))


@pytest.mark.parametrize(("dimension", "degree"), SHAPES)
def test_features_give_the_kernel_in_both_implementations(dimension: int, degree: int) -> None:
    rng = np.random.default_rng(dimension + 10 * degree)
    points = sphere(rng, 8, dimension) * rng.random((8, 1))
    points[0] = 0.0
    psi = np.array([multinomial.features(x, degree) for x in points])
    gram = [[multinomial.kernel(x, other, degree) for other in points] for x in points]
    np.testing.assert_allclose(psi @ psi.T, gram, rtol=1e-13)
    batch = torch.as_tensor(points)
    together = torch_multinomial.features(batch, torch_multinomial.table(dimension, degree, batch))
    np.testing.assert_allclose(together, psi, rtol=1e-12, atol=1e-300)
    np.testing.assert_allclose(torch_multinomial.kernel(batch, batch, degree), gram, rtol=1e-13)


@pytest.mark.parametrize(("dimension", "degree"), SHAPES)
def test_features_are_no_longer_than_one(dimension: int, degree: int) -> None:
    """At most 1 in the unit ball, 1 on the sphere; undivided, as the document has it, sqrt(m + 1)."""
    rng = np.random.default_rng(degree)
    for x in sphere(rng, 20, dimension):
        assert np.linalg.norm(multinomial.features(x, degree)) == pytest.approx(1, rel=1e-13)
        assert np.linalg.norm(multinomial.features(x * rng.random(), degree)) < 1
    assert np.linalg.norm(multinomial.features(np.zeros(dimension), degree)) == pytest.approx((degree + 1) ** -0.5)


def test_ordered_products_have_the_same_inner_products() -> None:
    """The document's D_m features, (x tensored i times) / sqrt(m + 1): as many as it counts, the same kernel."""
    rng, degree = np.random.default_rng(3), 4
    points = sphere(rng, 5, 3)

    def ordered(x: Array) -> Array:
        powers = [np.ones(1)]
        for _ in range(degree):
            powers.append(np.outer(powers[-1], x).ravel())
        return np.concatenate(powers) / math.sqrt(degree + 1)

    lifted = np.array([ordered(x) for x in points])
    assert lifted.shape[1] == ordered_size(3, degree)
    psi = np.array([multinomial.features(x, degree) for x in points])
    np.testing.assert_allclose(psi @ psi.T, lifted @ lifted.T, rtol=1e-13)


def test_the_kernel_does_not_see_rotations() -> None:
    rng = np.random.default_rng(4)
    points = sphere(rng, 6, 4)
    turned = points @ np.linalg.qr(rng.normal(size=(4, 4)))[0]
    psi, other = (np.array([multinomial.features(x, 3) for x in rows]) for rows in (points, turned))
    np.testing.assert_allclose(psi @ psi.T, other @ other.T, rtol=1e-13)


def test_a_polynomial_of_a_direction_is_linear_in_the_features() -> None:
    rng = np.random.default_rng(5)
    for dimension, degree in SHAPES:
        coefficients, direction = rng.normal(size=degree + 1), rng.normal(size=dimension)
        w = multinomial.weights(coefficients.tolist(), direction)
        for x in sphere(rng, 5, dimension):
            expected = sum(c * float(direction @ x) ** i for i, c in enumerate(coefficients))
            assert w @ multinomial.features(x, degree) == pytest.approx(expected, rel=1e-11, abs=1e-11)
        length = sum(c * c * float(direction @ direction) ** i for i, c in enumerate(coefficients))
        assert w @ w == pytest.approx((degree + 1) * length, rel=1e-12)


@pytest.mark.parametrize(("function", "degree"), [("sigmoid", 7), ("relu", 6)])
def test_a_hidden_layer_is_a_weight_up_to_the_certified_error(function: str, degree: int) -> None:
    """Lemmas 16 and 17: k units with |a_t| = 1 and |b| = 1 within sqrt(k) err, |w| at most sqrt(k (m + 1)) |c|."""
    rng, units, dimension = np.random.default_rng(6), 5, 3
    found = approximation(function, degree)
    monomials = [float(c) for c in found.monomials]
    directions, b = sphere(rng, units, dimension), sphere(rng, 1, units)[0]
    w = sum(float(b[t]) * multinomial.weights(monomials, directions[t]) for t in range(units))
    activation = {"sigmoid": lambda z: 1 / (1 + np.exp(-z)), "relu": lambda z: np.maximum(z, 0)}[function]
    error, worst = found.error.to_floats()[1], 0.0
    for x in sphere(rng, 300, dimension):
        layer = float(b @ activation(directions @ x))
        worst = max(worst, abs(layer - float(np.asarray(w) @ multinomial.features(x, degree))))
    assert error / 100 < worst <= float(np.abs(b).sum()) * error <= math.sqrt(units) * error
    assert np.linalg.norm(w) <= math.sqrt(units * (degree + 1)) * found.norm.to_floats()[1] * (1 + 1e-12)


def test_too_many_features_are_refused_with_their_number() -> None:
    with pytest.raises(DomainError, match=r"degree = 8 is outside its domain: 30 coordinates give 48903492 features"):
        multinomial.features(np.zeros(30), 8)
    with pytest.raises(DomainError, match="kernel form"):
        torch_multinomial.table(30, 8, torch.zeros(2, 30))
    multinomial.check_size(10, 8)
