"""Enclosures: exact ends, outward rounding into doubles and decimals, comparisons that say no more than is proved."""

from __future__ import annotations

import copy
import math
import operator
import pickle
from collections.abc import Callable
from decimal import Decimal
from fractions import Fraction

import pytest
from flint import arb, ctx
from hypothesis import example, given
from hypothesis import strategies as st

from empirical.gate.ranges import LARGEST, SMALLEST
from oracle.core.enclosure import Dyadic, Enclosure, ball
from oracle.core.errors import OracleError
from tests.checks import check_decimals, check_floats, exactly, point

mantissas = st.integers(-(2**200), 2**200)
moderate = st.builds(Dyadic, mantissas, st.integers(-1500, 1200))
far = st.builds(Dyadic, mantissas.filter(bool), st.sampled_from([-(10**24), -(10**6), 10**6, 10**24]))
doubles = st.floats(allow_nan=False, allow_infinity=False).map(exactly)
dyadics = st.one_of(moderate, far, doubles)
exact_numbers = st.one_of(
    st.integers(-(10**30), 10**30), st.floats(allow_nan=False, allow_infinity=False), st.fractions(),
    st.decimals(allow_nan=False, allow_infinity=False, places=30),
)


def between(first: Dyadic, second: Dyadic) -> Enclosure:
    return Enclosure(first, second) if first.compare(second) <= 0 else Enclosure(second, first)


enclosures = st.builds(between, dyadics, dyadics)
tight_enclosures = st.builds(  # ends that agree in many digits, like a real certificate
    lambda end, gap, bits: between(end, Dyadic((end.mantissa << bits) + gap, end.exponent - bits)),
    st.one_of(moderate, far), st.integers(1, 10**9), st.integers(0, 400),
)


# --- Dyadic


@given(st.integers(), st.integers(-5000, 5000))
def test_a_dyadic_is_its_number_in_lowest_terms(mantissa: int, exponent: int) -> None:
    value = Dyadic(mantissa, exponent)
    assert value.to_fraction() == mantissa * Fraction(2) ** exponent
    assert value.mantissa % 2 == 1 or value == Dyadic(0, 0)
    assert value == Dyadic(mantissa * 8, exponent - 3)
    assert hash(value) == hash(Dyadic(mantissa * 8, exponent - 3))


@given(dyadics)
def test_the_ball_of_a_dyadic_is_exact_at_any_precision(value: Dyadic) -> None:
    with ctx.workprec(10):
        assert value.ball.is_exact()
        assert Dyadic.of(value.ball) == value


@given(moderate, st.one_of(moderate, doubles))
def test_dyadics_compare_exactly(first: Dyadic, second: Dyadic) -> None:
    left, right = first.to_fraction(), second.to_fraction()
    expected = (left > right) - (left < right)
    with ctx.workprec(10):  # the working precision must not matter
        assert first.compare(second) == expected
        assert first.compare(right) == expected


@given(moderate, exact_numbers)
def test_a_dyadic_compares_exactly_with_any_number(value: Dyadic, other: int | float | Fraction | Decimal) -> None:
    left, right = value.to_fraction(), Fraction(other)
    assert value.compare(other) == (left > right) - (left < right)


def test_numbers_one_unit_apart_at_huge_exponents_are_told_apart() -> None:
    huge = Dyadic(2**400 + 1, -(10**24))
    assert huge.compare(Dyadic(2**400, -(10**24))) == 1
    assert Dyadic(2**400, -(10**24)).compare(huge) == -1
    assert huge.compare(0) == 1
    assert Dyadic(-1, 10**24).compare(-LARGEST) == -1


def test_a_fraction_that_would_need_megabytes_is_refused() -> None:
    with pytest.raises(OracleError, match="too extreme"):
        Dyadic(1, -(10**24)).to_fraction()


# --- outward rounding


@given(enclosures)
@example(point(Dyadic(0, 0)))
@example(point(Dyadic(1, -1074)))
@example(point(Dyadic(1, -1075)))
@example(point(Dyadic(3, -1075)))
@example(point(Dyadic(-1, -1075)))
@example(between(Dyadic(-1, -(10**24)), Dyadic(1, -(10**24))))
@example(between(Dyadic(-1, 10**24), Dyadic(1, 10**24)))
@example(point(exactly(LARGEST)))
@example(point(Dyadic(1, 1024)))
@example(point(Dyadic(2**54 - 1, 970)))  # rounds to 2**1024, which no double is
@example(point(Dyadic(-(2**54) + 1, 970)))
@example(point(exactly(Fraction(1) + Fraction(1, 2**53))))
def test_doubles_enclose_and_are_the_nearest_outward(enclosure: Enclosure) -> None:
    check_floats(enclosure)


@pytest.mark.parametrize(
    "mantissa", [2**1049 + 1, -(2**1049) - 1, 2**1024 + 1, 3**640], ids=["2^1049", "-2^1049", "2^1024", "3^640"]
)
def test_a_number_just_beyond_the_doubles_rounds_outward_even_with_a_long_mantissa(mantissa: int) -> None:
    check_floats(point(Dyadic(mantissa, 0)))


def test_an_overflow_has_the_largest_double_on_its_inner_side() -> None:
    assert Dyadic(1, 5000).to_float(up=False) == LARGEST
    assert Dyadic(1, 5000).to_float(up=True) == math.inf
    assert Dyadic(-1, 5000).to_float(up=True) == -LARGEST
    assert Dyadic(-1, 5000).to_float(up=False) == -math.inf
    assert Dyadic(1, -5000).to_float(up=True) == SMALLEST
    assert Dyadic(-1, -5000).to_float(up=True) == 0.0


@given(st.one_of(enclosures, tight_enclosures))
@example(point(Dyadic(0, 0)))
@example(between(Dyadic(0, 0), Dyadic(1, -(10**24))))
@example(between(Dyadic(-1, 10**24), Dyadic(3, -(10**24))))
@example(point(Dyadic(-3, 10**24)))
@example(point(Dyadic(3, -40)))
@example(point(Dyadic(3, -41)))
def test_decimals_enclose(enclosure: Enclosure) -> None:
    check_decimals(enclosure, loss=False)


@given(tight_enclosures)
@example(between(Dyadic(0, 0), Dyadic(1, 0)))
@example(between(Dyadic(-1, 0), Dyadic(1, 0)))
@example(between(exactly(1.0), exactly(1.0 + 2**-52)))
def test_decimals_lose_less_than_a_hundredth_of_the_width(enclosure: Enclosure) -> None:
    check_decimals(enclosure)


@pytest.mark.parametrize("power", [0, 1, 2, 3, 15, 22, 23, 40, 100, 308, 400])
def test_powers_of_ten_print_as_themselves(power: int) -> None:
    for value in (10**power, -(10**power)):
        lower, upper = Enclosure.exactly(value).to_decimals()
        assert Fraction(lower) == Fraction(upper) == value


@pytest.mark.parametrize("power", [-30, -3, 1, 7, 30])
@pytest.mark.parametrize("side", [-1, 1])
def test_next_to_a_power_of_ten_the_decimals_enclose(power: int, side: int) -> None:
    near = round(Fraction(10) ** power * 2**300) + side
    check_decimals(between(Dyadic(near - 1, -300), Dyadic(near + 1, -300)))


@given(st.integers(-(10**15), 10**15), st.integers(-40, 40))
def test_a_short_exact_number_prints_exactly(mantissa: int, exponent: int) -> None:
    value = Dyadic(mantissa, exponent)
    lower, upper = point(value).to_decimals()
    assert lower == upper
    assert Fraction(lower) == value.to_fraction()


def test_a_long_exact_number_prints_forty_digits_around_itself() -> None:
    tiny = point(Dyadic(1, -(10**24)))
    lower, upper = tiny.to_decimals()
    assert lower != upper
    assert len(lower.partition("e")[0].replace(".", "")) >= 40
    check_decimals(tiny)


def test_decimal_text_has_plain_and_scientific_forms() -> None:
    assert Enclosure.exactly(0).to_decimals() == ("0", "0")
    assert point(exactly(-0.75)).to_decimals() == ("-0.75", "-0.75")
    assert Enclosure.exactly(120).to_decimals() == ("120", "120")
    assert Enclosure.exactly(3 * 2**100).to_decimals()[0] == "3.802951800684688204490109616128e30"
    assert str(Enclosure(Dyadic(1, -1), Dyadic(3, -1))) == "[0.5, 1.5]"


# --- the interval


@given(enclosures, dyadics)
def test_contains_is_between_the_ends(enclosure: Enclosure, value: Dyadic) -> None:
    inside = enclosure.lower.compare(value) <= 0 <= enclosure.upper.compare(value)
    assert enclosure.contains(point(value)) == inside
    assert enclosure.contains(enclosure)
    assert enclosure.contains(point(enclosure.lower))
    assert enclosure.contains(point(enclosure.upper))


@given(st.builds(between, moderate, moderate), exact_numbers)
def test_comparisons_with_numbers(enclosure: Enclosure, other: int | float | Fraction | Decimal) -> None:
    lower, upper, value = enclosure.lower.to_fraction(), enclosure.upper.to_fraction(), Fraction(other)
    assert enclosure.contains(other) == (lower <= value <= upper)
    assert enclosure.certainly_le(other) == (upper <= value)
    assert enclosure.possibly_le(other) == (lower <= value)


@given(st.builds(between, moderate, moderate), st.builds(between, moderate, moderate))
def test_comparisons_of_enclosures(first: Enclosure, second: Enclosure) -> None:
    a, b = first.lower.to_fraction(), first.upper.to_fraction()
    c, d = second.lower.to_fraction(), second.upper.to_fraction()
    assert first.certainly_le(second) == (b <= c)
    assert first.possibly_le(second) == (a <= d)
    assert first.overlaps(second) == second.overlaps(first) == (max(a, c) <= min(b, d))
    assert first.contains(second) == (a <= c and d <= b)


def test_touching_enclosures_overlap_and_neighbouring_ones_do_not() -> None:
    low, high = Enclosure(Dyadic(1, 0), Dyadic(2, 0)), Enclosure(Dyadic(2, 0), Dyadic(3, 0))
    assert low.overlaps(high)
    assert low.certainly_le(high)
    apart = Enclosure(Dyadic(2**80 + 1, -79), Dyadic(3, 0))
    assert not low.overlaps(apart)
    assert not apart.possibly_le(low)


@given(enclosures)
def test_width_is_rounded_up(enclosure: Enclosure) -> None:
    with ctx.workprec(400):
        exact = enclosure.upper.ball - enclosure.lower.ball
        width = enclosure.width()
        assert math.isinf(width) or arb(width) >= exact.lower()
        assert math.isinf(width) or arb(width) <= exact.upper() * (1 + arb(2) ** -50) + arb(2) ** -1073


@given(enclosures)
def test_pickling_and_copying_change_nothing(enclosure: Enclosure) -> None:
    assert pickle.loads(pickle.dumps(enclosure)) == enclosure
    assert copy.deepcopy(enclosure) == enclosure
    assert hash(copy.deepcopy(enclosure)) == hash(enclosure)


@pytest.mark.parametrize("forget", [float, bool, int, math.sqrt, round, operator.not_])
def test_nobody_can_forget_that_it_is_an_interval(forget: Callable[[Enclosure], object]) -> None:
    with pytest.raises(TypeError):
        forget(Enclosure.exactly(1))


@pytest.mark.parametrize("compare", [operator.lt, operator.le, operator.gt, operator.ge])
@pytest.mark.parametrize("other", [0, 0.5, Enclosure.exactly(2)])
def test_there_is_no_order(compare: Callable[[object, object], bool], other: object) -> None:
    with pytest.raises(TypeError, match="interval"):
        compare(Enclosure.exactly(1), other)
    with pytest.raises(TypeError, match="interval"):
        compare(other, Enclosure.exactly(1))


def test_ends_cannot_be_swapped_or_changed() -> None:
    with pytest.raises(OracleError, match="lower <= upper"):
        Enclosure(Dyadic(2**200 + 1, -200), Dyadic(1, 0))
    with pytest.raises(AttributeError):
        Enclosure.exactly(1).lower = Dyadic(0, 0)  # type: ignore[misc]


@pytest.mark.parametrize("text", ["inf", "-inf", "nan", "0 +/- inf"])
def test_a_ball_that_is_not_finite_encloses_nothing(text: str) -> None:
    with pytest.raises(OracleError, match="not finite"):
        Enclosure.of_ball(arb(text))


@given(st.fractions(), st.integers(2, 300))
def test_a_ball_is_rounded_outward_to_an_enclosure(value: Fraction, precision: int) -> None:
    with ctx.workprec(precision):
        assert Enclosure.of_ball(ball(value)).contains(value)
        assert Enclosure.of_ball(ball(value) / 3).contains(value / 3)
        assert Enclosure.between(ball(value), ball(value + 1)).contains(value)
        assert Enclosure.between(ball(value), ball(value + 1)).contains(value + 1)


@given(enclosures)
def test_the_ball_of_an_enclosure_contains_both_ends(enclosure: Enclosure) -> None:
    with ctx.workprec(40):
        assert enclosure.ball.contains(enclosure.lower.ball)
        assert enclosure.ball.contains(enclosure.upper.ball)


def test_a_proved_ceiling_caps_the_upper_end_only() -> None:
    over = Enclosure(Dyadic(1, -1), Dyadic(5, -2))
    assert over.capped(1) == Enclosure(Dyadic(1, -1), Dyadic(1, 0))
    assert over.capped(2) is over
    with pytest.raises(OracleError):  # a ceiling below the whole enclosure refutes one of the two
        over.capped(0)


@given(enclosures, enclosures)
def test_the_hull_holds_both_the_minimum_the_smaller_and_the_maximum_the_larger(
    first: Enclosure, second: Enclosure
) -> None:
    hull, least, most = first.hull(second), first.minimum(second), first.maximum(second)
    assert hull.contains(first)
    assert hull.contains(second)
    assert hull.lower in (first.lower, second.lower)
    assert hull.upper in (first.upper, second.upper)
    for one in (first.lower, first.upper):
        for other in (second.lower, second.upper):
            smaller, larger = (one, other) if one.compare(other) <= 0 else (other, one)
            assert least.contains(point(smaller))
            assert most.contains(point(larger))
    assert least.upper in (first.upper, second.upper)
    assert most.lower in (first.lower, second.lower)
    for one in (first, second):
        assert least.possibly_le(one)
        assert one.possibly_le(most)


@pytest.mark.parametrize(("base", "power"), [(10, 5000), (-3, 20001)])
def test_a_point_of_thousands_of_digits_is_printed_rounded_outward(base: int, power: int) -> None:
    value = base**power + 1
    low, high = Enclosure.exactly(value).to_decimals()
    inside = Fraction(low) < value < Fraction(high)  # told apart from the assertion, which would print the numbers
    assert inside
    assert len(low) < 60
    narrow = Fraction(high) - Fraction(low) <= Fraction(abs(value), 10**40)
    assert narrow
