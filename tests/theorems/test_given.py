"""The hypotheses as a domain: ends first, nothing outside, and what a check left out is known."""

from __future__ import annotations

from fractions import Fraction

import pytest
import sympy
from hypothesis import given
from hypothesis import strategies as st

from oracle.core.domain import (
    Parameter,
    choice,
    non_negative,
    positive,
    positive_integer,
    probability,
    real,
    schedule,
    unit_interval,
    vector,
)
from oracle.core.errors import DomainError
from theorems.given import Domain

EVERY = (
    positive("a"), non_negative("b"), probability("c"), unit_interval("d"), positive_integer("e"), real("f"),
    Parameter("g", kind="integer", low=Fraction(2), high=Fraction(5)), Parameter("h", high=Fraction(3), high_open=True),
    Parameter("i", low=Fraction(1), low_open=True),
)


@pytest.mark.parametrize("item", EVERY, ids=lambda item: item.name)
def test_every_value_lies_in_the_domain_and_the_ends_are_there(item: Parameter) -> None:
    values = Domain((item,)).values(item.name)
    assert len(set(values)) == len(values) >= 4
    for value in values:
        item.parse(value)
    for end, is_open, sign in ((item.low, item.low_open, 1), (item.high, item.high_open, -1)):
        if end is not None and not is_open:
            assert end in values
        if end is not None and is_open:
            assert any(0 < sign * (value - end) <= Fraction(1, 10**6) for value in values)


def test_what_was_not_tried_is_known() -> None:
    domain = Domain((*EVERY[:2], vector("x")))
    assert domain.untested == ("a", "b")
    domain.symbol("a")
    assert domain.untested == ("a", "b"), "a symbol is no end"
    domain.values("a")
    assert domain.untested == ("b",)
    assert len(list(domain.points())) == 36
    assert domain.untested == ()


def test_an_end_of_the_domain_cannot_be_cut_off() -> None:
    domain = Domain(EVERY)
    assert max(domain.values("e", most=6)) == 6
    with pytest.raises(DomainError, match="would cut off an end of c"):
        domain.values("c", most="1/2")
    with pytest.raises(DomainError, match="no hypothesis z"):
        domain.values("z")


def test_a_large_product_keeps_its_corners() -> None:
    domain = Domain(EVERY)
    points = list(domain.points(*"abcdefghi", at_most=600))
    assert len(points) <= 600
    corners = {(point["c"], point["d"]) for point in points}
    assert {(c, d) for c in domain.values("c")[:2] for d in (0, 1)} <= corners
    assert points == list(domain.points(*"abcdefghi", at_most=600)), "drawn with a fixed seed"


def test_symbols_know_what_the_hypothesis_says() -> None:
    domain = Domain(EVERY)
    assert domain.symbol("a").is_positive
    assert domain.symbol("b").is_nonnegative
    assert domain.symbol("e").is_integer
    assert domain.symbol("f").is_positive is None
    assert domain.without("a").symbol("a").is_positive is None


@given(t=st.fractions(min_value=0, max_value=1000))
def test_a_chart_stays_inside(t: Fraction) -> None:
    for name in "bdi":
        domain = Domain(EVERY)
        chart = domain.chart(name)
        (free,) = chart.free_symbols
        there = sympy.Rational(chart.subs(free, sympy.Rational(t.numerator, t.denominator)))
        if t or not domain[name].low_open:
            assert domain.contains(**{name: Fraction(int(there.p), int(there.q))})


def test_a_chart_decides_signs() -> None:
    c, i = Domain(EVERY).chart("c"), Domain(EVERY).chart("i")
    assert sympy.factor(1 - c).is_positive
    assert sympy.expand(i**2 - 1).is_positive


def test_words_lists_and_vectors() -> None:
    domain = Domain((choice("w", "x", "y"), schedule("s"), vector("v")))
    assert domain.values("w") == ("x", "y")
    assert {len(values) for values in domain.values("s")} == {1, 3, 4}
    assert (0, 0) in set(domain.vectors("v", 2))
    with pytest.raises(DomainError, match="no vector"):
        domain.vectors("w", 2)
    with pytest.raises(DomainError, match="outside its domain"):
        Domain(EVERY).box(c=("0", "1/2"))
    assert Domain(EVERY).box(c=("1/4", "1/2")) == {"c": (Fraction(1, 4), Fraction(1, 2))}
