"""The exact convex programme as an algorithm: closed forms, duality across the twins, limits, invariances, refusals."""

from __future__ import annotations

import itertools
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
import torch
from numpy.typing import NDArray
from scipy.optimize import nnls

import oracle
from oracle.algorithms.convex_relu import convex_programme, torch_convex_programme
from oracle.core.errors import DomainError, OracleError
from oracle.core.tape import Tape
from tests.checks import check_twins
from tests.commands import parsed
from tests.samples import normal_data

ITEM = oracle.algorithm("convex-relu-exact")
Array = NDArray[np.float64]


def literal(x: Array, y: Array, lam: Any) -> float:
    return float(ITEM.reference(x, y, ITEM.parse({"group_penalty": lam}), Tape(0))[0])


def twin(x: Array, y: Array, lam: Any) -> float:
    return float(ITEM.train_batched(x, y, ITEM.parse({"group_penalty": lam}), Tape(0))[0, 0])


both = pytest.mark.parametrize("value", [literal, twin])


# --- agreement and duality


@pytest.mark.full
@pytest.mark.parametrize(("records", "dimension"), [(7, 1), (6, 2), (9, 2), (5, 3), (4, 4), (2, 6)])
@pytest.mark.parametrize("lam", ["0.02", "0.5"])
def test_the_twins_agree_beyond_the_plane_too(records: int, dimension: int, lam: str) -> None:
    data = normal_data(records + 10 * dimension, records, dimension)
    check_twins(ITEM.reference, ITEM.train_batched, data, ITEM.parse({"group_penalty": lam}), Tape(0, 2))


@pytest.mark.parametrize("seed", range(6))
def test_each_twin_bounds_the_other_from_below(seed: int) -> None:
    """Weak duality: no dual value of the one is above a primal value of the other, but for rounding."""
    x, y = normal_data(seed, 4, 2)
    heard: list[dict[str, float]] = []
    for train in (ITEM.reference, ITEM.train_batched):
        train(x, y, ITEM.parse({"group_penalty": "0.1"}), Tape(0), recorder=lambda kind, **facts: heard.append(facts))
    assert len(heard) == 2
    for one, other in itertools.product(heard, repeat=2):
        assert one["lower"] <= other["objective"] * (1 + 1e-14)
        assert other["objective"] - one["lower"] <= 5e-10 * one["lower"]


@both
@pytest.mark.parametrize("seed", range(8))
def test_on_a_line_there_is_a_closed_form(value: Any, seed: int) -> None:
    """The atoms relu(x) and relu(-x) are orthogonal: each side is one soft threshold."""
    x, y = normal_data(seed, 5, 1)
    lam = 0.1 * (seed + 1)
    expected = float(y @ y) / 2
    for side in (np.maximum(x[:, 0], 0), np.maximum(-x[:, 0], 0)):
        if side.any():
            expected -= max(0.0, abs(float(side @ y)) - lam) ** 2 / (2 * float(side @ side))
    assert value(x, y, lam) == pytest.approx(expected, rel=1e-9)


# --- limits


def steepest_atom(x: Array, y: Array) -> Array:
    """The relu(X u), |u| = 1, of the largest |y^T relu(X u)| in the plane: at a kink, or where an arc is flat."""
    kinks = [angle for row in x for angle in (np.arctan2(row[0], -row[1]), np.arctan2(-row[0], row[1]))]
    masks = np.array(list(itertools.product([0.0, 1.0], repeat=len(x))))
    flat = [np.arctan2(sign * pull[1], sign * pull[0]) for pull in (masks * y) @ x for sign in (1, -1)]
    angles = np.array([*kinks, *flat])
    atoms = np.maximum(np.stack([np.cos(angles), np.sin(angles)], axis=1) @ x.T, 0)
    return np.asarray(atoms[np.abs(atoms @ y).argmax()])


@both
@pytest.mark.parametrize("seed", range(4))
def test_from_the_largest_slope_on_no_neuron_pays(value: Any, seed: int) -> None:
    """Below it, that one neuron alone gains (slope - lambda)^2 / (2 |a|^2)."""
    x, y = normal_data(seed, 4, 2)
    atom = steepest_atom(x, y)
    slope, nothing = abs(float(atom @ y)), float(y @ y) / 2
    for factor in (1 + 1e-6, 2.0, 1e6):
        assert value(x, y, factor * slope) == pytest.approx(nothing, rel=1e-12)
    gain = (slope / 10) ** 2 / (2 * float(atom @ atom))
    assert nothing - 2 * gain <= value(x, y, 0.9 * slope) <= (nothing - gain) * (1 + 1e-9)


@both
def test_for_a_small_lambda_the_value_is_lambda_times_the_least_norm_of_an_interpolation(value: Any) -> None:
    """Two orthogonal records, of labels of the same sign: one neuron u = (3, 4) meets both, for lam |u|.

    The correction is of second order: |theta|^2 / 2 with theta = lam u / |u|, and no more, since theta^T relu(X u) <=
    lam |u| for all u.
    """
    x, y = np.eye(2), np.array([3.0, 4.0])
    for lam in (0.1, 0.01, 0.001):
        assert value(x, y, lam) == pytest.approx(5 * lam - lam**2 / 2, rel=1e-9)


@both
def test_the_value_rises_in_lambda_and_is_concave(value: Any) -> None:
    """A minimum of functions that are affine in lambda."""
    x, y = normal_data(3, 4, 2)
    lams = np.linspace(0.05, 1.5, 8)
    values = np.array([value(x, y, lam) for lam in lams])
    assert (np.diff(values) >= -1e-9).all()
    assert (np.diff(values, 2) <= 1e-9).all()
    assert values[-1] > values[0] + 0.1


# --- invariances


@pytest.mark.full
@both
@pytest.mark.parametrize("seed", range(3))
def test_what_the_value_does_not_depend_on(value: Any, seed: int) -> None:
    """Order and rotation of the records, signs of the labels, a zero column; and both homogeneities."""
    x, y = normal_data(seed, 4, 2)
    rng = np.random.default_rng(seed)
    here = value(x, y, 0.2)
    rotation, _ = np.linalg.qr(rng.normal(size=(2, 2)))
    order = rng.permutation(4)
    same = [
        (x @ rotation, y, 0.2), (x[order], y[order], 0.2), (x, -y, 0.2), (np.hstack([x, np.zeros((4, 1))]), y, 0.2),
        (10 * x, y, 2.0),
    ]
    for case in same:
        assert value(*case) == pytest.approx(here, rel=1e-9)
    assert value(x, 10 * y, 2.0) == pytest.approx(100 * here, rel=1e-9)


@both
@pytest.mark.parametrize(("of_x", "of_y"), [(100, 0), (-100, 0), (0, 100), (0, -100), (300, -200), (-900, 400)])
def test_powers_of_two_change_no_bit(value: Any, of_x: int, of_y: int) -> None:
    x, y = normal_data(5, 4, 2)
    lam = Fraction(1, 5) * Fraction(2) ** (of_x + of_y)
    assert value(np.ldexp(x, of_x), np.ldexp(y, of_y), lam) == np.ldexp(value(x, y, Fraction(1, 5)), 2 * of_y)


@both
def test_a_record_of_zeros_pays_its_own_label(value: Any) -> None:
    x, y = normal_data(1, 3, 2)
    more = value(np.vstack([x, np.zeros((1, 2))]), np.append(y, 0.7), 0.2)
    assert more == pytest.approx(value(x, y, 0.2) + 0.7**2 / 2, rel=1e-9)


def test_nothing_is_drawn_and_all_models_are_equal() -> None:
    x, y = normal_data(1, 3, 2)
    config = ITEM.parse({"group_penalty": "0.1"})
    alone = ITEM.reference(x, y, config, None)
    together = ITEM.train_batched(x, y, config, Tape(7, 1000, 3))
    assert alone.shape == (1,)
    assert together.shape == (1000, 1)
    assert len(set(together.flatten().tolist())) == 1


# --- the parts of the twin


@pytest.mark.parametrize(("records", "dimension"), [(4, 1), (4, 2), (5, 3), (2, 4)])
def test_no_direction_is_steeper_than_the_steepest(records: int, dimension: int) -> None:
    """Against 200000 random directions; slopes are those of their atoms."""
    x, theta = normal_data(records * dimension, records, dimension)
    tensor = torch.as_tensor(x)
    projectors = list(torch_convex_programme.null_spaces(tensor))
    slopes, atoms = torch_convex_programme.steepest(tensor, torch.as_tensor(theta), projectors)
    np.testing.assert_allclose(theta @ atoms.numpy(), slopes.numpy(), atol=1e-12)
    u = np.random.default_rng(0).normal(size=(200000, dimension))
    random = np.abs(np.maximum(u @ x.T, 0) @ theta) / np.linalg.norm(u, axis=1)
    assert random.max() <= float(slopes.max()) * (1 + 1e-12)
    assert random.max() >= float(slopes.max()) * 0.97  # so many directions come near it: it is no overestimate


@pytest.mark.parametrize("seed", range(10))
def test_non_negative_least_squares(seed: int) -> None:
    rng = np.random.default_rng(seed)
    system, target = rng.normal(size=(5, 1 + seed)), rng.normal(size=5)
    found = torch_convex_programme.non_negative(torch.as_tensor(system), torch.as_tensor(target)).numpy()
    assert (found >= 0).all()
    assert np.linalg.norm(system @ found - target) == pytest.approx(nnls(system, target)[1], rel=1e-12, abs=1e-12)


# --- refusals


@pytest.mark.parametrize(
    ("records", "dimension", "words"), [(13, 1, "13 records are too many"), (12, 4, "of dimension 4 are too many")]
)
def test_too_many_records_are_refused_by_both(records: int, dimension: int, words: str) -> None:
    x, y = normal_data(0, records, dimension)
    for value in (literal, twin):
        with pytest.raises(DomainError, match=words):
            value(x, y, 1)


@both
def test_labels_whose_squares_are_no_doubles_are_refused(value: Any) -> None:
    with pytest.raises(DomainError, match=r"labels of size 2\^665 are too large"):
        value(np.ones((1, 1)), np.array([2.0**664]), 1)


@pytest.mark.parametrize("lam", [0, -1, "nan", "inf"])
def test_lambda_must_be_positive(lam: Any) -> None:
    with pytest.raises(DomainError, match=r"^group_penalty = .* a real number > 0"):
        ITEM.parse({"group_penalty": lam})


def test_what_doubles_cannot_settle_is_an_error_and_no_value(monkeypatch: pytest.MonkeyPatch) -> None:
    """The literal method has an absolute end; single precision is short of digits, and the twin of rounds."""
    x, y = normal_data(2, 4, 2)
    with pytest.raises(OracleError, match="not solved"):
        convex_programme.solve(x, 1e-8 * y, 1e-9, tolerance=1e-10, relative=True)
    with pytest.raises(OracleError, match="not solved"):
        ITEM.train_batched(x, y, ITEM.parse({"group_penalty": "1e-5"}), Tape(0), dtype=torch.float32)
    monkeypatch.setattr(torch_convex_programme, "_ROUNDS", 1)
    with pytest.raises(OracleError, match="not solved"):
        twin(x, y, "0.1")


@pytest.mark.full
def test_the_listing_says_what_it_is() -> None:
    listed = {entry["algorithm"]: entry for entry in parsed("algorithms", "--json")}
    assert listed[ITEM.name]["guarantees"] == []
    assert [name for name, entry in listed.items() if entry["deterministic"]] == [ITEM.name]
