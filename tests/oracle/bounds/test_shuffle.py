"""Shuffling: exact enumerations of the pairs, real randomisers below the bound, the order of the methods, edges."""

from __future__ import annotations

import itertools
from fractions import Fraction
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from mpmath import mp, mpf

import oracle
from oracle.core.enclosure import Enclosure
from oracle.core.errors import DomainError
from tests.checks import (
    LIBRARIES,
    check_anywhere,
    check_fast,
    check_monotone,
    check_round_trip,
    check_second_opinion,
    check_width,
)
from tests.opinion import at_both_precisions, number
from tests.shuffled import FINE, NEAR, divergence, logarithm

EPSILON, DELTA = oracle.bound("shuffle.epsilon"), oracle.bound("shuffle.delta")
METHODS = ("upper", "lower")


def agrees(enclosure: Enclosure, exact: Fraction) -> bool:
    return enclosure.lower.to_fraction() - NEAR <= exact <= enclosure.upper.to_fraction() + NEAR


# --- exact enumerations: e^epsilon0 and e^epsilon rational, so that every probability is


@pytest.mark.parametrize("users", [1, 2, 3, 5, 8])
@pytest.mark.parametrize(("odds", "factor"), [
    (Fraction(2), Fraction(1)), (Fraction(2), Fraction(5, 4)), (Fraction(11, 10), Fraction(101, 100)),
    (Fraction(9), Fraction(8)), (Fraction(50), Fraction(3)),
])
def test_the_curves_are_sums_over_all_outcomes(users: int, odds: Fraction, factor: Fraction) -> None:
    common: dict[str, Any] = {"epsilon0": logarithm(odds), "users": users, "epsilon": logarithm(factor), "width": FINE}
    clone = [1 / (2 * odds), 1 / (2 * odds), 1 - 1 / odds]
    true, false = odds / (1 + odds), 1 / (1 + odds)
    pair = ([true, false, Fraction(0)], [false, true, Fraction(0)])
    upper = divergence(*([hidden, *[clone] * (users - 1)] for hidden in pair), factor)
    assert agrees(DELTA.reference(method="upper", **common), upper)
    bits = ([true, false], [false, true])
    lower = divergence(*([hidden, *[bits[0]] * (users - 1)] for hidden in bits), factor)
    assert agrees(DELTA.reference(method="lower", **common), lower)


def response(size: int, odds: Fraction) -> list[list[Fraction]]:
    """Randomised response on several values."""
    return [[(odds if x == o else 1) / (odds + size - 1) for o in range(size)] for x in range(size)]


def subsets(odds: Fraction) -> list[list[Fraction]]:
    """Pairs of four values, more likely if they contain the true one."""
    pairs = list(itertools.combinations(range(4), 2))
    return [[(odds if x in pair else 1) / (3 * odds + 3) for pair in pairs] for x in range(4)]


def silent(rows: list[list[Fraction]], share: Fraction) -> list[list[Fraction]]:
    """The same, but a share of the reports says nothing."""
    return [[*(share * chance for chance in row), 1 - share] for row in rows]


RANDOMISERS = {
    "binary response": lambda odds: response(2, odds),
    "ternary response": lambda odds: response(3, odds),
    "five values": lambda odds: response(5, odds),
    "subsets": subsets,
    "half silent": lambda odds: silent(response(3, odds), Fraction(1, 2)),
    "mostly silent": lambda odds: silent(response(2, odds), Fraction(1, 10)),
}


@pytest.mark.full
@pytest.mark.parametrize("odds", [Fraction(3, 2), Fraction(3), Fraction(12)])
@pytest.mark.parametrize("name", RANDOMISERS)
def test_no_randomiser_leaks_more_than_the_upper_bound(name: str, odds: Fraction) -> None:
    """Every choice of the others' values, for both changes of the first: all below, by exact enumeration."""
    rows, users = RANDOMISERS[name](odds), 4
    assert all(row[o] <= odds * other[o] for row in rows for other in rows for o in range(len(row)))
    for factor in (Fraction(1), (3 + odds) / 4, (1 + 3 * odds) / 4):
        bound = DELTA.reference(
            epsilon0=logarithm(odds), users=users, epsilon=logarithm(factor), method="upper", width=FINE
        )
        for others in itertools.combinations_with_replacement(rows, users - 1):
            leaked = divergence([rows[0], *others], [rows[1], *others], factor)
            assert leaked <= bound.upper.to_fraction() + NEAR


def test_the_upper_bound_is_nearly_reached() -> None:
    """By ternary response, the others holding the third value: four fifths of the bound, at 4 users and epsilon = 0."""
    rows = response(3, Fraction(10))
    leaked = divergence([rows[0], *[rows[2]] * 3], [rows[1], *[rows[2]] * 3], Fraction(1))
    bound = DELTA.reference(epsilon0=logarithm(Fraction(10)), users=4, epsilon=0, method="upper")
    assert leaked > Fraction(4, 5) * bound.upper.to_fraction()


# --- contracts


@pytest.mark.full
@pytest.mark.parametrize("bound", [EPSILON, DELTA], ids=lambda item: item.name)
@given(data=st.data())
def test_contracts_anywhere(bound: oracle.Bound, data: st.DataObject) -> None:
    check_anywhere(bound, data)


@pytest.mark.full
@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("epsilon0", ["1e-8", "0.3", "3", "40"])
def test_second_opinion_at_extremes(epsilon0: str, method: str) -> None:
    for users in (1, 2, 30):
        common = {"epsilon0": epsilon0, "users": users, "method": method}
        for share in ("0", "1/1000000", "1/2", "999999/1000000"):
            check_second_opinion(DELTA, {**common, "epsilon": Fraction(share) * Fraction(epsilon0)})
        for delta in ("1e-300", "1e-9", "0.1", "0.999999999999"):
            check_second_opinion(EPSILON, {**common, "delta": delta})


@pytest.mark.parametrize("delta", ["1e-200", "1e-6", "0.5", "0.99999999"])
@pytest.mark.parametrize("users", [1, 30, 10**4, 10**9])
@pytest.mark.parametrize("epsilon0", ["1e-8", "0.3", "3", "12", "1e6"])
def test_the_closed_form_at_extremes(epsilon0: str, users: int, delta: str) -> None:
    params = {"epsilon0": epsilon0, "users": users, "delta": delta, "method": "closed-form"}
    check_second_opinion(EPSILON, params)
    check_width(EPSILON, params, Fraction(1, 10**40))


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize(("epsilon0", "users", "share"), [
    ("1", 1, "0.4"), ("1", 20, "0.5"), ("0.1", 500, "0.1"), ("4", 500, "0.3"), ("2", 20000, "0.02"),
])
def test_the_inverse_inverts(epsilon0: str, users: int, share: str, method: str) -> None:
    params = {"epsilon0": Fraction(epsilon0), "users": users, "method": method}
    check_round_trip(DELTA, EPSILON, params, "epsilon", Fraction(share) * Fraction(epsilon0))


@pytest.mark.parametrize("method", ["upper", "lower", "closed-form"])
@pytest.mark.parametrize("name", ["epsilon0", "users", "delta"])
def test_strictly_monotone_inside(name: str, method: str) -> None:
    params: dict[str, Any] = {"epsilon0": Fraction(1), "users": 1000, "delta": Fraction(1, 10**6), "method": method}
    step = 1001 if name == "users" else params[name] * (1 + Fraction(1, 10**8))
    check_monotone(EPSILON, params, name, step, certain=True)


# --- one method against the other


@given(st.floats(-3, 1.3), st.integers(1, 3000), st.floats(-12, -0.001))
def test_lower_is_below_upper_is_below_the_closed_form(log_epsilon0: float, users: int, log_delta: float) -> None:
    params: dict[str, Any] = {"epsilon0": Fraction(10.0**log_epsilon0), "users": users, "delta": 10.0**log_delta}
    lower, upper, closed = (EPSILON.reference(method=m, **params) for m in ("lower", "upper", "closed-form"))
    assert lower.possibly_le(upper)
    assert upper.possibly_le(closed)
    assert all(item.certainly_le(params["epsilon0"]) for item in (lower, upper, closed))
    assert lower.lower.compare(0) >= 0


@pytest.mark.parametrize("delta", ["1e-12", "1e-3", "0.3", "0.9", "0.999"])
@pytest.mark.parametrize("users", [12, 100, 2000, 50000])
def test_the_closed_form_holds_up_to_its_condition(users: int, delta: str) -> None:
    """At the largest epsilon0 it is stated for, and where it gives less than epsilon0 below that."""
    with mp.workdps(30):
        edge = mp.log(users / (16 * mp.log(2 / number(delta))))
    for share in ("0.999999", "0.9", "0.5", "0.1"):
        if edge > 0:
            params: dict[str, Any] = {
                "epsilon0": Fraction(share) * Fraction(str(edge)), "users": users, "delta": delta,
            }
            closed = EPSILON.reference(method="closed-form", **params)
            assert EPSILON.reference(method="upper", **params).certainly_le(closed)


def test_the_order_is_strict_in_an_everyday_case() -> None:
    """epsilon0 = 1, a thousand users, delta = 1e-6: 0.127, 0.182 and 0.566 of 1."""
    lower, upper, closed = (
        EPSILON.reference(epsilon0=1, users=1000, delta="1e-6", method=m) for m in ("lower", "upper", "closed-form")
    )
    assert Fraction("0.1266") < lower.lower.to_fraction() < lower.upper.to_fraction() < Fraction("0.1267")
    assert Fraction("0.1824") < upper.lower.to_fraction() < upper.upper.to_fraction() < Fraction("0.1825")
    formula = at_both_precisions(
        lambda: mp.log(1 + mp.tanh(mpf(1) / 2) * (8 * mp.sqrt(mp.e * mp.log(4 * 10**6) / 1000) + 8 * mp.e / 1000))
    )
    assert closed.overlaps(formula)


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("delta", ["1e-9", "0.01", "0.4"])
@pytest.mark.parametrize("epsilon0", ["0.1", "1", "5"])
def test_one_user_is_one_response(epsilon0: str, delta: str, method: str) -> None:
    """Nothing to hide among: the worst epsilon0-DP mechanism, once."""
    alone = EPSILON.reference(epsilon0=epsilon0, users=1, delta=delta, method=method, width=FINE)
    once = oracle.bound("composition.optimal").reference(
        base_epsilon=epsilon0, base_delta=0, steps=1, delta=delta, width=FINE
    )
    assert alone.overlaps(once)


def test_two_users_at_epsilon_zero() -> None:
    """tanh(epsilon0/2) (1 - k/2): with probability k the other is a clone and half of what is seen is the same."""
    value = DELTA.reference(epsilon0=2, users=2, epsilon=0, method="upper", width=FINE)
    assert value.overlaps(at_both_precisions(lambda: mp.tanh(1) * (1 - mp.exp(-2) / 2)))


@pytest.mark.full
@pytest.mark.parametrize("epsilon0", ["0.5", "2"])
@pytest.mark.parametrize("delta", ["1e-8", "1e-4"])
def test_a_million_users_are_nearly_gaussian(epsilon0: str, delta: str) -> None:
    """The hidden report moves a count by 2 tanh(epsilon0/2) clones among n k, or by tanh among n q (1-q) ones."""
    users, half = 10**6, number(epsilon0) / 2
    shifts = {
        "upper": 2 * mp.tanh(half) / mp.sqrt(users * mp.exp(-2 * half)),
        "lower": mp.tanh(half) / mp.sqrt(users / (2 * mp.cosh(half)) ** 2),
    }
    for method, shift in shifts.items():
        value = EPSILON.reference(epsilon0=epsilon0, users=users, delta=delta, method=method)
        limit = oracle.bound("gdp.epsilon").reference(mu=Fraction(str(shift)), delta=delta).upper.to_fraction()
        assert abs(value.upper.to_fraction() - limit) < limit / 200


# --- edges


def test_nothing_is_lost_by_silence_or_beyond_epsilon0() -> None:
    for method in METHODS:
        assert EPSILON.reference(epsilon0=0, users=5, delta="1e-9", method=method) == Enclosure.exactly(0)
        assert DELTA.reference(epsilon0=2, users=5, epsilon=2, method=method) == Enclosure.exactly(0)
        assert float(EPSILON.fast(epsilon0=0.0, users=5, delta=1e-9, method=method)) == 0.0
        assert float(DELTA.fast(epsilon0=2.0, users=5, epsilon=2.0, method=method)) == 0.0
        near = DELTA.reference(epsilon0=2, users=5, epsilon=2 - Fraction(1, 10**40), method=method)
        assert near.lower.compare(0) > 0
    assert EPSILON.reference(epsilon0=0, users=5, delta="1e-9", method="closed-form") == Enclosure.exactly(0)


@pytest.mark.parametrize("method", METHODS)
def test_epsilon_is_zero_from_the_total_variation_on(method: str) -> None:
    total = DELTA.reference(epsilon0=1, users=50, epsilon=0, method=method, width=Fraction(1, 10**40))
    above, below = total.upper.to_fraction(), total.lower.to_fraction() - Fraction(1, 10**30)
    common: dict[str, Any] = {"epsilon0": 1, "users": 50, "method": method}
    assert EPSILON.reference(delta=above, **common) == Enclosure.exactly(0)
    least = EPSILON.reference(delta=below, **common)
    assert least.lower.compare(0) > 0
    assert least.certainly_le(Fraction(1, 10**25))


def test_the_closed_form_is_epsilon0_where_its_condition_fails() -> None:
    """At 10^4 users and delta 1e-6 the condition is epsilon0 <= log(10^4 / (16 log(2 10^6))) = 3.763..."""
    params: dict[str, Any] = {"users": 10**4, "delta": "1e-6", "method": "closed-form"}
    assert EPSILON.reference(epsilon0="3.77", **params).contains(Fraction("3.77"))
    assert EPSILON.reference(epsilon0="3.76", **params).certainly_le(Fraction(2))
    assert EPSILON.reference(epsilon0="1e-9", users=5, delta="1e-9", method="closed-form").contains(Fraction(1, 10**9))


def test_a_huge_epsilon0_hides_nothing() -> None:
    for method in METHODS:
        value = EPSILON.reference(epsilon0=10**30, users=10**9, delta="0.5", method=method)
        assert value.overlaps(at_both_precisions(lambda: mpf(10) ** 30 - mp.log(2)))
        assert DELTA.reference(epsilon0=10**30, users=10**9, epsilon=10**29, method=method).contains(1)


# --- the fast path where the shared samples do not go


@pytest.mark.full
@pytest.mark.parametrize("library", LIBRARIES)
@pytest.mark.parametrize("method", METHODS)
def test_fast_with_many_users(method: str, library: str) -> None:
    """Thousands of terms, then more than the sums have: the reference's answers."""
    everyday = [(0.5, 3000, 1e-6), (2.0, 20000, 1e-8), (5.0, 30000, 1e-3), (0.01, 4000, 1e-12), (3.0, 10**6, 0.01)]
    check_fast(EPSILON, [
        {"epsilon0": e, "users": n, "delta": d, "method": method} for e, n, d in everyday
    ], library)
    check_fast(DELTA, [
        {"epsilon0": e, "users": n, "epsilon": e * share, "method": method}
        for e, n, _ in everyday for share in (0.0, 1e-9, 0.01, 0.1, 0.5)
    ], library)


@pytest.mark.parametrize("method", METHODS)
def test_fast_next_to_epsilon0_and_to_zero(method: str) -> None:
    chosen = []
    for epsilon0 in (1e-3, 0.7, 9.0):
        for j in range(1, 53, 3):
            chosen += [{"epsilon0": epsilon0, "users": 40, "epsilon": epsilon0 * (1 - 2.0**-j), "method": method}]
            chosen += [{"epsilon0": epsilon0, "users": 40, "epsilon": epsilon0 * 2.0**-j, "method": method}]
    check_fast(DELTA, chosen, "numpy")


@pytest.mark.full
@pytest.mark.parametrize("method", METHODS)
def test_fast_next_to_the_total_variation(method: str) -> None:
    """delta a rounding away from the largest that asks for an epsilon at all."""
    total = DELTA.reference(epsilon0=0.75, users=60, epsilon=0, method=method).to_floats()[0]
    check_fast(EPSILON, [
        {"epsilon0": 0.75, "users": 60, "delta": total * (1 + sign * 2.0**-j), "method": method}
        for sign in (-1, 1) for j in range(3, 53, 4)
    ], "torch")


@pytest.mark.parametrize("library", LIBRARIES)
def test_fast_at_the_condition_of_the_closed_form(library: str) -> None:
    with mp.workdps(30):
        edge = float(mp.log(5000 / (16 * mp.log(mpf(2) / number(1e-7)))))
    check_fast(EPSILON, [
        {"epsilon0": edge * (1 + sign * 2.0**-j), "users": 5000, "delta": 1e-7, "method": "closed-form"}
        for sign in (-1, 1) for j in range(2, 53, 5)
    ], library)


@pytest.mark.parametrize(
    ("name", "value"),
    [("epsilon0", -1), ("users", 0), ("users", "2.5"), ("users", 10**9 + 1), ("delta", 0), ("delta", 1),
     ("method", "numerical")],
)
def test_bad_input_is_named(name: str, value: Any) -> None:
    params: dict[str, Any] = {"epsilon0": 1, "users": 4, "delta": "1e-5", "method": "upper", name: value}
    with pytest.raises(DomainError, match=f"^{name} = "):
        EPSILON.reference(**params)


def test_the_closed_form_has_no_curve() -> None:
    with pytest.raises(DomainError, match=r"^method = closed-form is outside its domain: one of upper, lower"):
        DELTA.reference(epsilon0=1, users=4, epsilon=0, method="closed-form")
