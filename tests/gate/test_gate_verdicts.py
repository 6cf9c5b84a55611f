"""What an answer is worth: verdicts are exhaustive, exclusive, monotone, mirrored, and exact at the very ends."""

from __future__ import annotations

import math
from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from empirical.gate.making.cases import Case, Expected
from empirical.gate.verdicts import ROUNDING, Breakdown, GateVerdict, Interval, Judgement, Refusal, judge, number, read

TINY = Fraction(1, 10**40)  # far below what any double resolves
ENDS = st.fractions(min_value=-(10**6), max_value=10**6)
SAFE = st.sampled_from(["upper", "lower"])
SLACKS = st.fractions(min_value=1, max_value=10)
ROUNDINGS = st.sampled_from([Fraction(0), ROUNDING, Fraction(1, 1000)])
NUMBERS = ENDS | st.sampled_from([math.inf, -math.inf])


def case(lower: Any, upper: Any) -> Case:
    return Case("gaussian.epsilon", 1, {}, Expected(Fraction(lower), Fraction(upper)))


@st.composite
def cases(draw: st.DrawFn) -> Case:
    return case(*sorted((draw(ENDS), draw(ENDS))))


def one(value: Any) -> Interval:
    return Interval(value, value)


def verdict(truth: Case, value: Any, safe: str = "upper", **options: Any) -> GateVerdict:
    return judge(truth, one(value), safe=safe, **options).verdict


@given(cases(), NUMBERS, SAFE, SLACKS, ROUNDINGS)
def test_a_number_is_tight_or_loose_or_unsound_as_the_definition_says(
    truth: Case, value: Any, safe: str, slack: Fraction, rounding: Fraction
) -> None:
    lower, upper = truth.expected.lower, truth.expected.upper  # type: ignore[union-attr]
    if safe == "upper":
        unsound = value < lower - rounding * abs(lower)
        tight = not unsound and value <= slack * upper + rounding * abs(upper)
    else:
        unsound = value > upper + rounding * abs(upper)
        tight = not unsound and value >= lower / slack - rounding * abs(lower)
    expected = GateVerdict.UNSOUND if unsound else GateVerdict.TIGHT if tight else GateVerdict.LOOSE
    judged = judge(truth, one(value), safe=safe, slack=slack, rounding=rounding)
    assert judged.verdict is expected
    assert (judged.amount is not None) == unsound
    assert judged.factor is not None


@given(cases(), NUMBERS, NUMBERS, SLACKS, ROUNDINGS)
def test_a_larger_answer_is_never_less_sound_and_a_smaller_one_never_looser(
    truth: Case, first: Any, second: Any, slack: Fraction, rounding: Fraction
) -> None:
    order = [GateVerdict.UNSOUND, GateVerdict.TIGHT, GateVerdict.LOOSE]
    small, large = sorted((first, second))
    options = {"slack": slack, "rounding": rounding}
    assert order.index(verdict(truth, small, **options)) <= order.index(verdict(truth, large, **options))
    mirrored = [verdict(truth, value, "lower", **options) for value in (large, small)]
    assert order.index(mirrored[0]) <= order.index(mirrored[1])


@given(cases(), NUMBERS, ROUNDINGS)
def test_a_bound_that_is_safe_below_is_the_mirror_image(truth: Case, value: Any, rounding: Fraction) -> None:
    assert truth.expected is not None
    mirror = case(-truth.expected.upper, -truth.expected.lower)
    assert verdict(truth, value, "lower", rounding=rounding) is verdict(mirror, -value, "upper", rounding=rounding)


@pytest.mark.parametrize("rounding", [Fraction(0), ROUNDING])
def test_the_very_ends_are_compared_exactly(rounding: Fraction) -> None:
    truth = case("1/3", "2/3")
    low, high = Fraction(1, 3) * (1 - rounding), Fraction(2, 3) * (1 + rounding)
    for value, above in ((low - TINY, GateVerdict.UNSOUND), (low, GateVerdict.TIGHT), (high, GateVerdict.TIGHT),
                         (high + TINY, GateVerdict.LOOSE)):
        assert verdict(truth, value, rounding=rounding) is above
    for value, below in ((high + TINY, GateVerdict.UNSOUND), (high, GateVerdict.TIGHT), (low, GateVerdict.TIGHT),
                         (low - TINY, GateVerdict.LOOSE)):
        assert verdict(truth, value, "lower", rounding=rounding) is below
    slack = Fraction(21, 20)
    last = slack * Fraction(2, 3) + rounding * Fraction(2, 3)
    assert verdict(truth, last, slack=slack, rounding=rounding) is GateVerdict.TIGHT
    assert verdict(truth, last + TINY, slack=slack, rounding=rounding) is GateVerdict.LOOSE


def test_an_interval_must_contain_the_truth_and_is_judged_by_its_safe_end() -> None:
    truth = case(2, 3)
    assert judge(truth, Interval(Fraction(1), Fraction(3)), safe="upper").verdict is GateVerdict.TIGHT
    assert judge(truth, Interval(Fraction(1), Fraction(9)), safe="upper").verdict is GateVerdict.LOOSE
    assert judge(truth, Interval(Fraction(0), Fraction(1)), safe="upper").verdict is GateVerdict.UNSOUND
    assert judge(truth, Interval(Fraction(4), Fraction(5)), safe="upper").verdict is GateVerdict.UNSOUND
    # A number may err on the safe side.
    assert judge(truth, one(Fraction(5)), safe="upper").verdict is GateVerdict.LOOSE
    assert judge(truth, Interval(Fraction(0), Fraction(1)), safe="lower").verdict is GateVerdict.UNSOUND
    assert judge(truth, Interval(Fraction(2), Fraction(9)), safe="lower").verdict is GateVerdict.TIGHT


def test_what_is_no_number_of_a_valid_case_is_never_good() -> None:
    truth, nothing = case(1, 1), Case("gaussian.epsilon", 1, {}, None)
    assert verdict(truth, math.nan) is GateVerdict.CRASH
    assert verdict(nothing, math.nan) is GateVerdict.ACCEPTED_INVALID
    assert verdict(nothing, Fraction(1)) is GateVerdict.ACCEPTED_INVALID
    for either in (truth, nothing):
        assert judge(either, Refusal("no"), safe="upper") == Judgement(GateVerdict.REFUSED, "refused", "no")
        for broken in (GateVerdict.CRASH, GateVerdict.TIMEOUT):
            assert judge(either, Breakdown(broken, "why"), safe="upper").verdict is broken


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (1, 1), (0.1, Fraction(0.1)), (Fraction(1, 3), Fraction(1, 3)), (Decimal("0.1"), Fraction(1, 10)),
        ("0.1", Fraction(1, 10)), (" 1e-5 ", Fraction(1, 10**5)), (np.float32(0.5), Fraction(1, 2)),
        (np.array(2.5), Fraction(5, 2)), (torch.tensor(0.25), Fraction(1, 4)), (np.int64(3), 3),
        ("inf", math.inf), ("-Infinity", -math.inf), (Decimal("inf"), math.inf), (10**400, 10**400),
        (True, None), (np.True_, None), (None, None), ("one", None), ([1.0], None), (1j, None), ("1/0", None),
        ("1e999999999", None), (np.array([1.0, 2.0]), None), (b"1", None),
    ],
)
def test_numbers_of_any_kind_are_read_exactly(value: Any, expected: Any) -> None:
    assert number(value) == expected
    answer = read(value)
    assert answer == one(expected) if expected is not None else isinstance(answer, Breakdown)


def test_an_answer_may_have_two_ends() -> None:
    assert read({"lower": 0.5, "upper": "1"}) == Interval(Fraction(1, 2), Fraction(1))
    for bad in ({"lower": 1}, {"lower": 2, "upper": 1}, {"lower": None, "upper": 1}, {}):
        assert isinstance(read(bad), Breakdown)
    nothing = read({"lower": math.nan, "upper": 1.0})
    assert isinstance(nothing, Interval)
    assert math.isnan(nothing.lower)  # type: ignore[arg-type]
