"""The exact convex programme: patterns by another enumeration, optima against closed forms, networks and the dual."""

from __future__ import annotations

from math import comb
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray
from scipy.optimize import minimize

from oracle.algorithms.convex_relu import convex_programme as programme
from oracle.core.errors import DomainError, OracleError
from tests.samples import normal_data

Array = NDArray[np.float64]


# --- patterns


@pytest.mark.parametrize("dimension", [1, 2, 3, 4])
@pytest.mark.parametrize("records", [1, 2, 3, 5, 7])
def test_in_general_position_there_are_covers_many_regions(records: int, dimension: int) -> None:
    x, _ = normal_data(records + 10 * dimension, records, dimension)
    assert len(programme.open_patterns(x)) == 2 * sum(comb(records - 1, k) for k in range(dimension))


def by_directions(x: NDArray[np.int64]) -> set[tuple[bool, ...]]:
    """All patterns of integer records in the plane: u on every ray of the arrangement, between any two, and u = 0."""
    rays = [u for a, b in x.tolist() for u in ((-b, a), (b, -a)) if (a, b) != (0, 0)] or [(1, 0), (-1, 0)]
    ordered = sorted(rays, key=lambda u: np.arctan2(u[1], u[0]))
    between = [
        (p[0] * 10**4 + q[0], p[1] * 10**4 + q[1]) for p in ordered for q in ordered  # next to p, on either side
    ]
    quarter = [(-b, a) for a, b in ordered]
    normals = np.array([(0, 0), *ordered, *between, *quarter])
    return {tuple(row) for row in (normals @ x.T >= 0).tolist()}


@given(st.lists(st.tuples(st.integers(-3, 3), st.integers(-3, 3)), min_size=1, max_size=6))
def test_patterns_in_the_plane_are_all_and_only_those_of_directions(rows: list[tuple[int, int]]) -> None:
    """Records that repeat, vanish or lie on one line among them."""
    x = np.array(rows)
    found = {tuple(row) for row in programme.patterns(x.astype(np.float64)).tolist()}
    assert found == by_directions(x)


@pytest.mark.parametrize(("x", "count", "regions"), [
    ([[1.0], [-1.0]], 3, 2),  # u = 0 is the only one with both: more patterns than regions
    ([[1.0], [2.0]], 2, 2),
    ([[1.0, 0.0], [-1.0, 1.0], [0.0, -1.0]], 7, 6),
    ([[1.0, 1.0], [2.0, 2.0], [-3.0, -3.0]], 3, 2),  # rank 1
    ([[0.0, 0.0]], 1, 1),
])
def test_degenerate_records(x: list[list[float]], count: int, regions: int) -> None:
    assert len(programme.patterns(np.array(x))) == count
    assert len(programme.open_patterns(np.array(x))) == regions


def test_a_record_that_is_off_by_one_bit_is_another_record() -> None:
    """Exact arithmetic: twice a record cuts nowhere else; the next double after it does."""
    x = np.array([[1.0, 1.0], [2.0, 2.0]])
    assert len(programme.open_patterns(x)) == 2
    x[1, 1] = np.nextafter(2.0, 3.0)
    assert len(programme.open_patterns(x)) == 4


# --- the optimum


@pytest.mark.parametrize(("x", "y", "lam"), [(1.0, 2.0, 0.5), (-2.0, 1.0, 0.3), (1.5, -1.0, 0.2), (1.0, 0.5, 1.0)])
def test_one_record_has_a_closed_form(x: float, y: float, lam: float) -> None:
    """min (s - |y|)^2 / 2 + lam s / |x| over s >= 0, whatever the signs."""
    best = max(0.0, abs(y) - lam / abs(x))
    expected = (best - abs(y)) ** 2 / 2 + lam * best / abs(x)
    found = programme.solve(np.array([[x]]), np.array([y]), lam)
    assert found.objective == pytest.approx(expected, abs=1e-8)
    assert found.lower <= expected + 1e-12


CASES = [(seed, records, dimension) for records in (2, 3, 4) for dimension in (1, 2) for seed in (1, 2)]
every_case = pytest.mark.parametrize(("seed", "records", "dimension"), CASES)


@every_case
def test_the_solution_is_feasible_and_its_value_is_what_it_says(seed: int, records: int, dimension: int) -> None:
    x, y = normal_data(seed, records, dimension)
    found = programme.solve(x, y, "0.1")
    output = np.zeros(records)
    for pattern, v, w in zip(found.patterns, found.v, found.w, strict=True):
        for vector in (v, w):
            assert ((2 * pattern - 1.0) * (x @ vector) >= -1e-12).all()
        output += pattern * (x @ (v - w))
    cost = 0.1 * sum(np.linalg.norm(found.v, axis=1) + np.linalg.norm(found.w, axis=1))
    assert found.objective == pytest.approx(float((output - y) @ (output - y)) / 2 + cost, rel=1e-12)
    assert -1e-12 <= found.gap <= 1e-9 * max(1.0, float(y @ y) / 2)
    u, alpha = found.network()
    residual = np.maximum(x @ u.T, 0.0) @ alpha - y
    network = residual @ residual / 2 + 0.1 / 2 * ((u**2).sum() + alpha @ alpha)  # (3.2)
    assert float(network) == pytest.approx(found.objective, rel=1e-12)


@every_case
def test_the_residual_proves_the_optimum(seed: int, records: int, dimension: int) -> None:
    """Optimality without our dual: no unit u has |theta^T relu(X u)| > lambda, over a dense set of directions."""
    x, y = normal_data(seed, records, dimension)
    found = programme.solve(x, y, "0.1")
    u, alpha = found.network()
    theta = y - np.maximum(x @ u.T, 0) @ alpha
    angles = np.linspace(0, 2 * np.pi, 20001)
    directions = np.array([[1.0], [-1.0]]) if dimension == 1 else np.stack([np.cos(angles), np.sin(angles)], axis=1)
    slopes = np.abs(np.maximum(directions @ x.T, 0) @ theta)
    assert slopes.max() <= 0.1 + 1e-4
    if found.objective < float(y @ y) / 2 - 1e-6:  # somewhere the constraint is met: there a neuron stands
        assert slopes.max() >= 0.1 - 1e-4
    assert float(theta @ y - theta @ theta / 2) == pytest.approx(found.objective, abs=1e-4)


def trained(x: Array, y: Array, lam: float, width: int, rng: np.random.Generator) -> float:
    """The value (3.2) that a network of random start reaches by BFGS, with its own text of the objective."""
    d = x.shape[1]

    def value(parameters: Array) -> tuple[float, Array]:
        u, alpha = parameters[: width * d].reshape(width, d), parameters[width * d :]
        hidden = np.maximum(x @ u.T, 0)
        residual = hidden @ alpha - y
        slope_u = ((residual[:, None] * (hidden > 0)) * alpha).T @ x + lam * u
        slopes = np.concatenate([slope_u.ravel(), hidden.T @ residual + lam * alpha])
        return float(residual @ residual / 2 + lam / 2 * parameters @ parameters), slopes

    return float(minimize(value, rng.normal(size=width * (d + 1)), jac=True, method="BFGS").fun)


@pytest.mark.full
@every_case
def test_no_network_is_better_and_the_best_found_is_as_good(seed: int, records: int, dimension: int) -> None:
    """Multi-start training never falls below the programme's lower bound; here it comes within 1e-3 of it."""
    x, y = normal_data(seed, records, dimension)
    found = programme.solve(x, y, "0.1")
    rng = np.random.default_rng(seed)
    reached = [trained(x, y, 0.1, records + 3, rng) for _ in range(12)]
    assert min(reached) >= found.lower - 1e-6
    assert min(reached) <= found.objective + 1e-3


@every_case
def test_the_relaxation_without_cones_is_never_above(seed: int, records: int, dimension: int) -> None:
    x, y = normal_data(seed, records, dimension)
    gated, exact = (programme.solve(x, y, "0.1", constrained=flag) for flag in (False, True))
    assert gated.lower <= exact.objective
    assert gated.objective <= exact.objective + 1e-8


def test_the_relaxation_is_lower_somewhere() -> None:
    x, y = normal_data(4, 4, 3)
    gated, exact = (programme.solve(x, y, "0.3", constrained=flag) for flag in (False, True))
    assert gated.objective < exact.lower - 0.1


def test_a_width_of_the_dimension_plus_one_is_too_little() -> None:
    """A zigzag of six points, for which document 000's Theorem 3.1 claims width 3: 3 kinks leave an error of 1/2.

    The optimum is below the interpolation by five neurons, and each network of three stays above 1/4.
    """
    t = np.arange(6.0)
    x, y = np.stack([t, np.ones(6)], axis=1), t % 2
    found = programme.solve(x, y, "0.001")
    # slopes 1, -2, 2, -2, 2 of the kinks at 0, 1, ..., 4: a neuron (u, alpha) costs lambda |u| |alpha|
    interpolation = 0.001 * sum(s * np.hypot(1, k) for s, k in zip((1, 2, 2, 2, 2), range(5), strict=True))
    assert found.objective <= interpolation <= 0.0229
    rng = np.random.default_rng(0)
    assert min(trained(x, y, 0.001, 3, rng) for _ in range(10)) >= 0.25


def test_zeros_are_solved() -> None:
    found = programme.solve(np.zeros((2, 2)), np.array([1.0, -1.0]), 1)
    assert found.objective == 1.0 == found.lower
    assert len(found.network()[1]) == 0
    assert programme.solve(np.eye(2), np.zeros(2), 1).objective == 0.0


@pytest.mark.parametrize(("x", "y", "lam"), [
    (np.ones((2, 1)), np.ones(3), 1), (np.ones(2), np.ones(2), 1), (np.ones((2, 1)), np.array([1, np.nan]), 1),
    (np.array([[np.inf]]), np.ones(1), 1), (np.ones((2, 1)), np.ones(2), 0), (np.ones((2, 1)), np.ones(2), -1),
    (np.ones((13, 1)), np.ones(13), 1), (np.ones((0, 1)), np.ones(0), 1),
])
def test_what_is_no_programme_is_refused(x: Any, y: Any, lam: Any) -> None:
    with pytest.raises(DomainError):
        programme.solve(x, y, lam)


def test_a_cone_too_thin_for_doubles_is_an_error_and_no_answer() -> None:
    x = np.array([[1.0, 1.0], [2.0, np.nextafter(2.0, 3.0)]])
    with pytest.raises(OracleError, match="too thin"):
        programme.solve(x, np.ones(2), 1)


def test_a_tolerance_that_doubles_cannot_meet_is_an_error_and_no_answer() -> None:
    x, y = normal_data(4, 4, 2)
    with pytest.raises(OracleError, match="a gap of"):
        programme.solve(x, y, "0.1", tolerance=1e-30)
