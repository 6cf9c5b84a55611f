"""Batches row by row, and numbers that no double holds: refused by name, never rounded, never fatal to other rows."""

from __future__ import annotations

import math
from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
import torch

import oracle
from empirical.gate.making.points import fixed_points
from oracle.core import registry
from oracle.core.errors import DomainError, PrecisionError
from tests.checks import LIBRARIES
from tests.samples import columns, numbers
from tests.tiers import represented

BOUNDS = list(registry.bounds().values())
every_library = pytest.mark.parametrize("library", LIBRARIES)
ODD = 2**53 + 1  # lies between two doubles


# --- numbers that are no doubles


@pytest.mark.parametrize("bound", BOUNDS, ids=lambda item: item.name)
def test_a_count_that_no_double_holds_is_refused_by_every_bound(bound: oracle.Bound) -> None:
    row = fixed_points(bound, 1, seed=1)[0]
    point = {k: list(v) if isinstance(v, tuple) else v for k, v in row.items()}
    for parameter in bound.parameters:
        if parameter.kind != "integer" or (parameter.high is not None and parameter.high < ODD):
            continue
        for value in (ODD, np.int64(ODD), np.uint64(2**64 - 1), np.array([ODD]), [1, ODD], torch.tensor([ODD]), 10**40):
            with pytest.raises(DomainError) as caught:
                bound.fast(**{**point, parameter.name: value})
            assert str(caught.value).startswith(f"{parameter.name} = ")
            assert "is held by no double" in str(caught.value)
            assert parameter.domain in str(caught.value)


@pytest.mark.parametrize(
    "value",
    [
        Fraction(1, 3), Decimal("0.1"), [Fraction(1, 3), 2.0], [ODD, 0.5], np.array([ODD, 1], dtype=np.uint64),
        10**30 + 1,
    ],
    ids=str,
)
def test_a_real_number_that_no_double_holds_is_refused(value: Any) -> None:
    with pytest.raises(DomainError, match=r"^mu = .* is held by no double \(the reference takes it\); its domain: "):
        oracle.bound("gdp.delta").fast(mu=value, epsilon=1.0)


@pytest.mark.skipif(np.finfo(np.longdouble).bits <= 64, reason="this machine has no longer floats")
def test_a_long_float_that_no_double_holds_is_refused() -> None:
    bound = oracle.bound("gdp.delta")
    with pytest.raises(DomainError, match=r"^mu = 0.333.* is held by no double"):
        bound.fast(mu=np.longdouble(1) / 3, epsilon=1.0)
    assert bound.fast(mu=np.longdouble(0.5), epsilon=1.0) == bound.fast(mu=0.5, epsilon=1.0)


@pytest.mark.parametrize(
    ("value", "same"),
    [
        (Fraction(1, 2), 0.5), (Decimal("0.25"), 0.25), (10**20, 1e20), (2**60, 2.0**60), (np.uint64(2**63), 2.0**63),
        (np.float32(0.1), float(np.float32(0.1))), (ODD - 1, 2.0**53), (np.int64(-(2**63)), None),
    ],
    ids=str,
)
def test_what_a_double_holds_is_taken(value: Any, same: float | None) -> None:
    bound = oracle.bound("gdp.delta")
    if same is None:
        with pytest.raises(DomainError, match="is outside its domain"):
            bound.fast(mu=value, epsilon=1.0)
    else:
        assert bound.fast(mu=value, epsilon=1.0) == bound.fast(mu=same, epsilon=1.0)


@every_library
def test_a_count_beyond_those_that_float64_counts_is_the_references(library: str) -> None:
    """2^54 + 2 - 2^54 + 1 is 3, and not what doubles make of it."""
    bound = oracle.bound("iteration-sgd.rdp")
    size = LIBRARIES[library](np.array([2.0**54 + 4, 10.0]))
    rest = {"lipschitz": 1.0, "noise_on_mean": 1.0, "alpha": 2.0}
    place = LIBRARIES[library](np.array([2.0**54, 8.0]))
    result = np.asarray(bound.fast(dataset_size=size, record_position=place, **rest))
    exact = bound.reference(dataset_size=2**54 + 4, record_position=2**54, **rest)
    assert exact.upper.compare(float(result[0])) <= 0
    assert result[0] == pytest.approx(4 / 5, rel=1e-15)


def test_the_levels_of_a_tree_are_counted_exactly() -> None:
    tree = oracle.bound("tree.epsilon")
    rest: dict[str, Any] = {"noise_multiplier": 4.0, "delta": 1e-6, "neighbours": "replace"}
    for leaves in (2**53, 2**60, 2**62):
        assert tree.reference(leaves=leaves, **rest).lower.compare(float(tree.fast(leaves=leaves, **rest))) <= 0
    with pytest.raises(DomainError, match=r"^leaves = "):
        tree.fast(leaves=2**60 + 1, **rest)


def test_an_end_of_a_domain_that_is_no_double_excludes_what_lies_outside() -> None:
    """The double nearest to a third is below it."""
    parameter = oracle.bound("gdp.delta").parameters[0].at_least(Fraction(1, 3)).at_most(Fraction(2, 3))
    values = np.array([1 / 3, math.nextafter(1 / 3, 1), 2 / 3, math.nextafter(2 / 3, 1)])
    inside = [Fraction(1, 3) <= Fraction(value) <= Fraction(2, 3) for value in values.tolist()]
    import array_api_compat.numpy as xp

    assert (~parameter.outside(xp, values)).tolist() == inside == [False, True, True, False]


# --- rows


@pytest.mark.parametrize("bound", represented(BOUNDS))
@every_library
def test_good_rows_are_those_of_the_fast_path(bound: oracle.Bound, library: str) -> None:
    table = {k: LIBRARIES[library](v) for k, v in columns(bound, fixed_points(bound, 4, seed=5)).items()}
    rows = bound.rows(**table)
    assert not rows.refused
    assert type(rows.values) is type(bound.fast(**table))
    np.testing.assert_array_equal(np.asarray(rows.values), np.asarray(bound.fast(**table)))


@pytest.mark.parametrize("bound", represented(BOUNDS))
@every_library
def test_a_bad_row_is_marked_and_the_others_are_answered(bound: oracle.Bound, library: str) -> None:
    table = columns(bound, fixed_points(bound, 4, seed=5))
    whole = np.asarray(bound.fast(**table))
    for parameter in bound.parameters:
        if parameter.kind == "choice":
            continue
        column = table[parameter.name].copy()
        column[2] = math.nan
        rows = bound.rows(**{k: LIBRARIES[library](v) for k, v in {**table, parameter.name: column}.items()})
        (refusal,) = rows.refused
        assert refusal.row == (2,)
        assert refusal.reason == f"{parameter.name} = nan is outside its domain: {parameter.domain}"
        answers = np.asarray(rows.values)
        assert math.isnan(answers[2])
        np.testing.assert_allclose(np.delete(answers, 2), np.delete(whole, 2), rtol=1e-12)


def test_rows_that_do_not_suit_each_other_are_found_among_many() -> None:
    """10,000 rows, of which three have more records in a batch than there are, and one is no number."""
    bound = oracle.bound("amplification.wor")
    size, batch = np.full(10_000, 1000.0), np.arange(1.0, 10_001.0) % 900 + 1
    batch[[17, 4000, 9_999]] = 1001.0
    epsilon = np.ones(10_000)
    epsilon[5] = math.nan
    with pytest.raises(DomainError):
        bound.fast(base_epsilon=1.0, dataset_size=size, batch_size=batch)
    rows = bound.rows(base_epsilon=epsilon, dataset_size=size, batch_size=batch)
    assert [refusal.row for refusal in rows.refused] == [(5,), (17,), (4000,), (9_999,)]
    assert all("batch_size = 1001" in refusal.reason for refusal in rows.refused[1:])
    assert np.nonzero(np.isnan(rows.values))[0].tolist() == [5, 17, 4000, 9_999]


def test_a_row_that_the_reference_refuses_is_explained() -> None:
    """Neither float64 nor the reference answers the middle row; `fast` says which and how to get the others."""
    bound = oracle.bound("laplace-composed.epsilon")
    scale = np.array([[1.0, 1e-12, 2.0]])
    given: dict[str, Any] = {"scale": scale, "sensitivity": 1.0, "steps": 1000, "delta": 1e-5}
    rows = bound.rows(**given)
    assert rows.values.shape == (1, 3)
    assert np.isnan(rows.values).tolist() == [[False, True, False]]
    (refusal,) = rows.refused
    assert refusal.row == (0, 1)
    assert str(refusal) == f"row 0, 1: {refusal.reason}"
    with pytest.raises(PrecisionError, match=r"\(row 0, 1; `rows` answers the others\)$"):
        bound.fast(**given)


def test_a_single_question_and_an_empty_batch() -> None:
    bound = oracle.bound("gdp.delta")
    alone = bound.rows(mu=-1.0, epsilon=1.0)
    assert math.isnan(float(alone.values))
    assert [str(refusal) for refusal in alone.refused] == ["mu = -1.0 is outside its domain: a real number > 0"]
    nothing = bound.rows(mu=np.zeros((0, 3)), epsilon=1.0)
    assert nothing.values.shape == (0, 3)
    assert not nothing.refused


def test_what_concerns_the_whole_call_is_still_an_error() -> None:
    bound = oracle.bound("gdp.delta")
    for given in ({"mu": 1.0}, {"mu": "abc", "epsilon": 1.0}, {"mu": np.ones(2), "epsilon": np.ones(3)}):
        with pytest.raises(DomainError):
            bound.rows(**given)


@pytest.mark.full
@pytest.mark.parametrize("bound", BOUNDS, ids=lambda item: item.name)
def test_a_row_alone_is_the_row_among_others(bound: oracle.Bound) -> None:
    """Bit for bit: no search of a row is cut short or drawn out by its neighbours'."""
    table = numbers(bound, 6)
    alone = [
        float(bound.fast(**{name: v if isinstance(v, str) else v[i : i + 1] for name, v in table.items()})[0])
        for i in range(6)
    ]
    np.testing.assert_array_equal(bound.fast(**table), alone)
