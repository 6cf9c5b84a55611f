"""Clones among very many users in extended numbers: the same masses as in balls, and the same epsilon."""

from __future__ import annotations

from fractions import Fraction

import pytest
from flint import ctx

import oracle
from oracle.bounds.shuffling import shuffle
from oracle.engines import shuffle_long, shuffle_pairs
from oracle.engines.extended import available

pytestmark = pytest.mark.skipif(not available(), reason="this machine has no extended numbers")


@pytest.mark.parametrize(
    ("epsilon0", "users", "epsilon"),
    [("0.1", 10**6, "1e-3"), ("0.1", 10**7, "1e-4"), ("1", 10**6, "1/300"), ("1", 10**7, "1e-6"), ("3", 10**7, "1/50")],
)
def test_the_masses_are_those_of_balls(epsilon0: str, users: int, epsilon: str) -> None:
    with ctx.workprec(104):
        quick = shuffle_long.clones(Fraction(epsilon0), users, Fraction(epsilon))
        balls = shuffle_pairs.clones(Fraction(epsilon0), users, Fraction(epsilon))
    assert quick is not None
    assert balls is not None
    for one, other in zip(quick, balls, strict=True):
        assert one.edge.overlaps(other.edge)
        assert one.beyond.overlaps(other.beyond)
        assert one.edge.rel_accuracy_bits() > 40
        assert one.cut < other.edge * 1e-9


@pytest.mark.parametrize(
    ("epsilon0", "users", "epsilon"),
    [("0.1", 10**6, "1e-3"), ("0.1", 10**8, "1e-4"), ("1", 10**6, "1/300"), ("1", 10**7, "0"), ("5", 10**7, "1/20")],
)
def test_the_responses_are_those_of_balls(epsilon0: str, users: int, epsilon: str) -> None:
    with ctx.workprec(104):
        quick = shuffle_long.responses(Fraction(epsilon0), users, Fraction(epsilon))
        balls = shuffle_pairs.responses(Fraction(epsilon0), users, Fraction(epsilon))
    assert quick is not None
    assert balls is not None
    for one, other in zip(quick, balls, strict=True):
        assert one.edge.overlaps(other.edge)
        assert one.beyond.overlaps(other.beyond)
        assert one.beyond.rel_accuracy_bits() > 40


@pytest.mark.parametrize("method", ["upper", "lower"])
def test_both_ways_to_epsilon_agree(method: str, monkeypatch: pytest.MonkeyPatch) -> None:
    given = {"epsilon0": "0.5", "users": 2 * 10**6, "delta": "1e-8", "method": method}
    quick = oracle.bound("shuffle.epsilon").reference(**given)
    monkeypatch.setattr(shuffle_long, "FEWEST_USERS", 10**12)
    assert quick.overlaps(oracle.bound("shuffle.epsilon").reference(**given))
    assert quick.width() <= 1e-12 * quick.to_floats()[1]


def test_a_thousand_million_users() -> None:
    """The Gaussian limit 2 tanh(epsilon0/2) / sqrt(n e^-epsilon0) of the shift puts epsilon below its tail bound."""
    found = oracle.bound("shuffle.epsilon").reference(epsilon0="0.1", users=10**9, delta="1e-10", method="upper")
    assert found.certainly_le("1.2171e-5")
    assert not found.certainly_le("1.2170e-5")


def test_what_is_too_few_or_at_zero_is_left_to_balls() -> None:
    assert shuffle_long.clones(Fraction(1, 10), 10**6, Fraction(0)) is None
    assert shuffle_long.clones(Fraction(1), 100, Fraction(1, 10)) is None
    assert shuffle._QUICK_BITS < 200
