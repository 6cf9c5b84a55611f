"""Take from the shuffling pairs a direction, what was cut off, or the clones' law, and require a check to fail."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from typing import Any

import pytest
from flint import arb, ctx

import oracle
import oracle.bounds.shuffling.shuffle_arrays as arrays
from empirical.gate.making.points import Point
from oracle.bounds.shuffling import shuffle
from oracle.core.algorithm import Values
from oracle.core.registry import closed_form
from oracle.engines import shuffle_pairs
from tests.checks import check_fast, check_second_opinion
from tests.meta.planted_shuffle import clone_pair
from tests.meta.test_oracle_catches import all_opinions

EPSILON, DELTA = oracle.bound("shuffle.epsilon"), oracle.bound("shuffle.delta")


def test_the_plain_sum_is_right_where_nothing_is_planted() -> None:
    """What the planted pairs are made with is no mistake in itself."""
    all_opinions(replace(DELTA, certify=closed_form(clone_pair(lambda k: k, lambda k: 1 / (1 + k)))))


# --- directions of randomised response


# Where the hidden 0 leaks more (few ones give it away), and where the hidden 1 does.
CURVE = [
    {"epsilon0": 2.0, "users": 12, "epsilon": 0.4, "method": "lower"},
    {"epsilon0": 0.1, "users": 3, "epsilon": 0.02, "method": "lower"},
]
INVERSE = [
    {"epsilon0": 2.0, "users": 60, "delta": 1e-3, "method": "lower"},
    {"epsilon0": 0.1, "users": 3, "delta": 0.0155, "method": "lower"},
]


@pytest.mark.parametrize(("bound", "chosen"), [(DELTA, CURVE), (EPSILON, INVERSE)], ids=["delta", "epsilon"])
@pytest.mark.parametrize("kept", [0, 1], ids=["hidden 1 only", "hidden 0 only"])
def test_a_missing_direction_is_caught(
    bound: oracle.Bound, chosen: list[Point], kept: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    for params in chosen:
        check_second_opinion(bound, params)
    monkeypatch.setitem(shuffle._PAIRS, "lower", lambda *point: [(shuffle_pairs.responses(*point) or [])[kept]])
    with pytest.raises(AssertionError, match=r"misses|lies below the truth"):
        check_second_opinion(bound, chosen[kept])


@pytest.mark.parametrize("kept", [0, 1], ids=["hidden 1 only", "hidden 0 only"])
def test_a_missing_direction_of_the_fast_path_is_caught(kept: int, monkeypatch: pytest.MonkeyPatch) -> None:
    check_fast(DELTA, CURVE, "numpy")
    true_mass, calls = arrays._log_mass, iter(range(100))

    def one_sided(*given: Any) -> tuple[Any, Any]:
        log, error = true_mass(*given)
        return (log, error) if next(calls) % 2 == kept else (log - 1000.0, error)

    monkeypatch.setattr(arrays, "_log_mass", one_sided)
    with pytest.raises(AssertionError, match="UNSOUND"):
        check_fast(DELTA, CURVE, "numpy")


# --- what a window of clones leaves out


def curve(epsilon: Fraction) -> arb:
    with ctx.workprec(100):
        masses = shuffle_pairs.clones(Fraction(1), 400, epsilon)
        assert masses is not None
        return shuffle._hull(Fraction(1), epsilon, masses)


@pytest.mark.parametrize("side", [0, 1], ids=["few clones", "many clones"])
@pytest.mark.parametrize("epsilon", [Fraction(0), Fraction(1, 10), Fraction(1, 2)])
def test_what_the_window_leaves_out_is_needed(epsilon: Fraction, side: int, monkeypatch: pytest.MonkeyPatch) -> None:
    true_window = shuffle_pairs._window
    monkeypatch.setattr(shuffle_pairs, "_window", lambda *_: (0, 399))
    truth = curve(epsilon)
    assert truth.rad() < truth * arb(10) ** -20

    def narrow(*given: Any) -> tuple[int, int]:
        low, high = true_window(*given)
        middle, reach = (low + high) // 2, (high - low) // 6
        return (middle - reach, high) if side == 0 else (low, middle + reach)

    monkeypatch.setattr(shuffle_pairs, "_window", narrow)
    assert curve(epsilon).overlaps(truth)
    assert not curve(epsilon).rad() < truth * arb(10) ** -20
    monkeypatch.setattr(shuffle_pairs, "_cut", lambda *_: arb(0))
    assert not curve(epsilon).overlaps(truth)


def test_the_rest_of_a_binomial_tail_is_needed() -> None:
    """A sum that stops at a rest of 2^-8 contains the full one by that rest alone."""
    with ctx.workprec(100):
        full, short = (shuffle_pairs._below(arb(1), 1000, 400, arb(1), bits) for bits in (100, 8))
        assert full.rad() < arb(10) ** -25
        assert short.overlaps(full)
        assert short.lower() < full - arb(10) ** -4  # what was summed: without the rest it would miss


# --- the closed form


WRONG: dict[str, Callable[[Values], arb]] = {
    "log(2/delta) for log(4/delta)": lambda v: shuffle._closed(Values(**{**vars(v), "delta": 2 * v.delta}), v.delta),
    "one user more": lambda v: shuffle._closed(Values(**{**vars(v), "users": v.users + 1}), v.delta),
}


@pytest.mark.parametrize("name", WRONG)
def test_a_wrong_closed_form_is_caught(name: str) -> None:
    params = {"epsilon0": "0.5", "users": 5000, "delta": "1e-6", "method": "closed-form"}
    check_second_opinion(EPSILON, params)
    with pytest.raises(AssertionError, match=r"lies (above|below) the truth"):
        check_second_opinion(replace(EPSILON, certify=closed_form(WRONG[name])), params)


def test_a_closed_form_used_beyond_its_condition_is_caught() -> None:
    """Formula and epsilon0 differ there: the opinion says epsilon0."""
    params = {"epsilon0": "3.77", "users": 10**4, "delta": "1e-6", "method": "closed-form"}
    check_second_opinion(EPSILON, params)
    inside = replace(EPSILON, certify=lambda v, w: EPSILON.certify(
        Values(**{**vars(v), "epsilon0": Fraction("3.76")}), w,
    ))
    with pytest.raises(AssertionError, match="lies below the truth"):
        check_second_opinion(inside, params)
