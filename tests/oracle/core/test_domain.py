"""Parameter domains: text and numbers become exact values, and everything else a DomainError that says why."""

from __future__ import annotations

import math
from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import oracle
from oracle.core import registry
from oracle.core.domain import (
    Parameter,
    choice,
    exact,
    extended,
    non_negative,
    non_negative_integer,
    parse_all,
    positive,
    positive_integer,
    probability,
    schedule,
    shown,
    unit_interval,
)
from oracle.core.errors import DomainError, OracleError
from tests.waiting import ending

REAL = Parameter("x")
REGISTERED = [(name, parameter) for name, item in registry.bounds().items() for parameter in item.parameters]


def refusal(parameter: Parameter, value: Any) -> str:
    """The message of the refusal of a value; it must come before the work, and name argument and domain."""
    with ending(), pytest.raises(DomainError) as caught:
        parameter.parse(value)
    message = str(caught.value)
    assert message.startswith(f"{parameter.name} = ")
    assert parameter.domain in message
    assert isinstance(caught.value, (ValueError, OracleError))
    return message


# --- exact parsing


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("0.1", Fraction(1, 10)), ("1/60", Fraction(1, 60)), ("-3/4", Fraction(-3, 4)), ("+2", Fraction(2)),
        ("1e-5", Fraction(1, 100000)), ("1E+3", Fraction(1000)), (".5", Fraction(1, 2)), ("5.", Fraction(5)),
        (" 2.50 ", Fraction(5, 2)), ("1e-4000", Fraction(1, 10**4000)), ("6/4", Fraction(3, 2)), ("-0", Fraction(0)),
        ("0." + "3" * 1000, Fraction(10**1000 // 3, 10**1000)),
    ],
)
def test_text_is_exact(text: str, expected: Fraction) -> None:
    assert REAL.parse(text) == expected


@given(st.decimals(allow_nan=False, allow_infinity=False, min_value=-(10**50), max_value=10**50))
def test_decimal_text_and_decimals_mean_the_same(value: Decimal) -> None:
    assert REAL.parse(str(value)) == REAL.parse(value) == Fraction(value)


@given(st.floats(allow_nan=False, allow_infinity=False))
def test_a_float_means_its_double(value: float) -> None:
    parsed = REAL.parse(value)
    assert parsed == Fraction(*value.as_integer_ratio())
    assert REAL.parse(np.float64(value)) == parsed


def test_a_float_tenth_is_not_a_tenth() -> None:
    assert exact("x", 0.1, "a number") != Fraction(1, 10)
    assert exact("x", "0.1", "a number") == Fraction(1, 10) == exact("x", Decimal("0.1"), "a number")


@given(st.fractions())
def test_ratios_are_exact(value: Fraction) -> None:
    assert REAL.parse(f"{value.numerator}/{value.denominator}") == value == REAL.parse(value)


def test_integers_stay_ints_and_reals_are_fractions() -> None:
    for given_value in (7, 7.0, "7", "7.0", "70e-1", "14/2", Fraction(7), Decimal(7)):
        parsed = positive_integer("n").parse(given_value)
        assert parsed == 7
        assert type(parsed) is int
        assert type(REAL.parse(given_value)) is Fraction


@pytest.mark.parametrize("value", [np.int64(3), np.int32(3), np.uint8(3)])
def test_numpy_integers_are_numbers_with_python_arithmetic(value: Any) -> None:
    """A Fraction of numpy integers overflows silently and no ball takes it: the parsed value must be of Python ints."""
    parsed = positive("x").parse(value)
    assert isinstance(parsed, Fraction)
    assert type(parsed.numerator) is int
    assert parsed * 10**30 == 3 * 10**30
    assert oracle.bound("gaussian.delta").reference(sigma=value, sensitivity=value, epsilon=1).contains(
        oracle.bound("gaussian.delta").reference(sigma=3, sensitivity=3, epsilon=1)
    )


# --- refusals


NOT_NUMBERS = [
    math.nan, math.inf, -math.inf, np.nan, True, False, np.True_, None, "", " ", "abc", "1,5", "1 2", "0x10", "1_000",
    "nan", "inf", "-Infinity", "1e", "e5", "--1", "1/2/3", "1.5/2", "1/2e3", "½", "1\n2", [], [1], {}, object(), 1j,
    b"1", "1/0", "0/0", Decimal("NaN"), Decimal("sNaN"), Decimal("Infinity"), np.array([1.0, 2.0]), "$(id)", "1e5.5",
]


@pytest.mark.parametrize("value", NOT_NUMBERS, ids=[f"{i}-{type(v).__name__}" for i, v in enumerate(NOT_NUMBERS)])
@pytest.mark.parametrize("parameter", [REAL, positive("sigma"), positive_integer("steps")], ids=lambda p: p.name)
def test_what_is_no_number_is_refused(parameter: Parameter, value: Any) -> None:
    refusal(parameter, value)


@pytest.mark.parametrize(
    "value",
    [
        "1e999999999", "1e-999999999", "1e99999999999999999999", "-1e5000", "1e-4001", "9" * 5000, "0." + "1" * 5000,
        "1" * 20_000, "1/" + "3" * 5000, "1e" + "9" * 10_000, Decimal("1e-1000000"), Decimal("1e1000000"),
    ],
    ids=lambda value: str(value)[:20],
)
def test_absurd_sizes_are_refused_at_once(value: Any) -> None:
    assert len(refusal(REAL, value)) < 300, "the message repeats the whole absurdity"


@pytest.mark.parametrize(
    ("parameter", "value"),
    [
        (probability("delta"), 10**5000), (probability("delta"), Fraction(10**5000, 7)),
        (positive("sigma"), -(10**5000)), (unit_interval("contraction"), Fraction(7 * 10**5000, 3)),
    ],
    ids=["int", "fraction", "negative", "unit"],
)
def test_a_huge_exact_number_outside_its_domain_is_a_domain_error(parameter: Parameter, value: Any) -> None:
    assert len(refusal(parameter, value)) < 300


def test_a_large_decimal_is_a_number_like_its_text() -> None:
    """Decimal("1e400") is finite although no double is."""
    assert REAL.parse(Decimal("1e400")) == REAL.parse("1e400") == 10**400


@pytest.mark.parametrize(
    ("parameter", "bad", "good"),
    [
        (positive("sigma"), ["0", "-1", "-1e-300", 0, -0.0], ["1e-300", 5e-324, 1]),
        (non_negative("epsilon"), ["-1", -5e-324], [0, -0.0, "0", "1e300"]),
        (probability("delta"), ["0", "1", "1.0000001", -0.1, 2, 1.0], ["1e-300", 1 - 2**-53, "0.999"]),
        (unit_interval("contraction"), ["-0.1", "1.0000000000000000001", 1.0000000000000002], [0, 1, "0.5", "1.0"]),
        (positive_integer("batches"), [0, -1, "0.5", "3/2", 1.5, "1e-3"], [1, "1e3", 2**70]),
        (non_negative_integer("steps"), [-1, "0.1", 1e-300], [0, "0", 10**30]),
        (choice("loss", "linear", "squared"), ["Linear", "", 1, None, "linear "], ["linear", "squared"]),
    ],
    ids=lambda item: item.name if isinstance(item, Parameter) else "",
)
def test_domains_have_exact_edges(parameter: Parameter, bad: list[Any], good: list[Any]) -> None:
    for value in bad:
        message = refusal(parameter, value)
        assert f"{value}" in message
    for value in good:
        expected = value if parameter.kind == "choice" else Fraction(value)
        assert parameter.parse(value) == expected


def test_a_closed_upper_end_is_exact_below_the_doubles() -> None:
    """One plus 1e-30 is not one, although its double is."""
    refusal(unit_interval("contraction"), 1 + Fraction(1, 10**30))
    assert unit_interval("contraction").parse(1 - Fraction(1, 10**30)) < 1


@pytest.mark.parametrize(
    ("parameter", "words"),
    [
        (REAL, "a real number"), (positive("x"), "a real number > 0"), (non_negative("x"), "a real number >= 0"),
        (probability("x"), "a real number in (0, 1)"), (unit_interval("x"), "a real number in [0, 1]"),
        (positive_integer("x"), "an integer >= 1"), (non_negative_integer("x"), "an integer >= 0"),
        (choice("x", "a", "b"), "one of a, b"),
    ],
)
def test_domains_in_words(parameter: Parameter, words: str) -> None:
    assert parameter.domain == words


# --- infinity, and lists


def test_an_extended_parameter_may_be_infinite() -> None:
    parameter = extended("diameter")
    assert parameter.domain == "a real number >= 0, or inf"
    assert [parameter.parse(value) for value in ("inf", math.inf, "0", 1.5)] == [math.inf, math.inf, 0, Fraction(3, 2)]
    for bad in ("-inf", -math.inf, math.nan, "-1"):
        refusal(parameter, bad)


def test_a_schedule_is_a_list_of_exact_numbers() -> None:
    parameter = schedule("sigma")
    tenths = (Fraction(1, 10), Fraction(1, 5))
    assert [parameter.parse(value) for value in ("0.1,0.2", "[0.1, 1/5]", ["0.1", "0.2"], tenths)] == [tenths] * 4
    assert parameter.parse(np.array([0.5, 2.0])) == (Fraction(1, 2), 2)
    assert parameter.parse("") == parameter.parse("[]") == parameter.parse([]) == ()
    assert parameter.domain == "a list of numbers, each a real number > 0"
    for bad in (1.0, None, True, np.array(1.0), np.ones((2, 2))):
        assert "is no list" in refusal(parameter, bad)
    assert "sigma = 0 (entry 2) is outside" in refusal(parameter, "1,0,2")
    assert "sigma = x is not a number" in refusal(parameter, "1,2,x")
    assert "(entry 2)" in refusal(parameter, [1.0, math.nan])
    assert "sigma =" in refusal(parameter, "1,,2")


def test_schedules_of_one_owner_have_one_length() -> None:
    parameters = (schedule("sigma"), schedule("drift", low_open=False))
    assert parse_all("owner", parameters, {"sigma": "1,2", "drift": "0,1"})["drift"] == (0, 1)
    with pytest.raises(DomainError, match="sigma = 2 entries, drift = 1 entries: the schedules of owner"):
        parse_all("owner", parameters, {"sigma": "1,2", "drift": "0"})


# --- all parameters of a bound


def test_missing_and_extra_names_are_told_with_what_is_known() -> None:
    parameters = (positive("sigma"), probability("delta"))
    assert parse_all("owner", parameters, {"delta": "0.5", "sigma": 2}) == {"sigma": 2, "delta": Fraction(1, 2)}
    with pytest.raises(DomainError, match=r"owner needs delta: a real number in \(0, 1\)"):
        parse_all("owner", parameters, {"sigma": 1})
    with pytest.raises(DomainError, match=r"owner has no parameter mu \(got 3\); it takes sigma, delta"):
        parse_all("owner", parameters, {"sigma": 1, "delta": "0.1", "mu": 3})
    with pytest.raises(DomainError, match="needs sigma"):
        parse_all("owner", parameters, {})


@pytest.mark.parametrize(("name", "parameter"), REGISTERED, ids=[f"{n}-{p.name}" for n, p in REGISTERED])
def test_every_registered_parameter_refuses_what_is_outside(name: str, parameter: Parameter) -> None:
    item = oracle.bound(name)
    good: dict[str, Any] = {p.name: p.choices[0] if p.kind == "choice" else "1" for p in item.parameters}
    good |= {p.name: "0.5" for p in item.parameters if p.kind == "real" and p.high == 1}
    good |= {p.name: "2" for p in item.parameters if p.low == 1 and p.low_open}
    item.parse(good)
    bad: list[Any] = [math.nan, True, "abc", None, *([] if parameter.infinite else [math.inf])]
    bad += ["-1"] if parameter.low is not None or parameter.kind == "choice" else []
    bad += ["1.5"] if parameter.kind == "integer" else []
    bad += ["2"] if parameter.high == 1 else []
    bad += ["0"] if parameter.low == 0 and parameter.low_open else []
    for value in bad:
        with pytest.raises(DomainError) as caught:
            item.reference(**{**good, parameter.name: value})
        assert str(caught.value).startswith(f"{parameter.name} = ")
        assert parameter.domain in str(caught.value)
    with pytest.raises(DomainError, match=f"{name} needs {parameter.name}"):
        item.reference(**{key: value for key, value in good.items() if key != parameter.name})


@pytest.mark.parametrize("width", [0, "-1", "0", math.nan, True, "narrow", "1/0"])
def test_a_bad_width_is_refused(width: Any) -> None:
    with pytest.raises(DomainError, match="width = "):
        oracle.bound("laplace.delta").reference(scale=1, sensitivity=1, epsilon=0, width=width)


@pytest.mark.parametrize("name", ["nope", "SIGMA", "epsilon ", ""])
def test_a_name_that_is_no_parameter_is_refused(name: str) -> None:
    with pytest.raises(DomainError, match="has no parameter"):
        oracle.bound("gdp.epsilon").reference(**{"mu": 1, "delta": "0.1", name: 1})
    with pytest.raises(DomainError, match="has no parameter"):
        oracle.bound("gdp.epsilon").fast(**{"mu": 1.0, "delta": 0.1, name: 1.0})


@pytest.mark.parametrize("name", ["self", "width", "params"])
def test_a_mapping_may_have_any_key(name: str) -> None:
    """`at` is for keys that a user typed: a key that Python takes for itself is an unknown parameter like any other."""
    with pytest.raises(DomainError, match=f"has no parameter {name}"):
        oracle.bound("gdp.epsilon").at({"mu": 1, "delta": "0.1", name: 1})


@pytest.mark.parametrize(
    ("value", "told"),
    [
        (Fraction(5e-324), "about 4.94066e-324"), (-Fraction(1e-310), "about -1e-310"), (10**200, "about 1e+200"),
        (10**400, "a number of 1329 bits"), (Fraction(1, 10**4000), "a number of 13288 bits"), (Fraction(1, 3), "1/3"),
    ],
)
def test_a_long_number_is_told_by_its_size(value: Fraction | int, told: str) -> None:
    assert shown(value) == told
