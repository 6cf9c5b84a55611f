"""The Laplace mechanism's curve against the hockey-stick integral, its limits, monotonicity and widths."""

from __future__ import annotations

from fractions import Fraction

import pytest
from hypothesis import Phase, given
from hypothesis import strategies as st
from mpmath import mp, mpf

import oracle
from empirical.gate.making.points import strategy
from oracle.core.enclosure import Enclosure
from tests.checks import check_monotone, check_moved, check_second_opinion, check_width
from tests.opinion import at_both_precisions
from tests.tiers import examples

DELTA = oracle.bound("laplace.delta")
QUICK = (Phase.explicit, Phase.generate)  # an integration takes a tenth of a second, and shrinking would take minutes


@pytest.mark.parametrize("ratio", ["1e-8", "0.01", "1", "7/3", "50", "1e4"])
@pytest.mark.parametrize("fraction", ["0", "1e-10", "0.3", "0.999", "0.9999999999"])
def test_the_curve_is_the_hockey_stick_integral(ratio: str, fraction: str) -> None:
    epsilon = Fraction(ratio) * Fraction(fraction)
    check_second_opinion(DELTA, {"scale": "0.5", "sensitivity": Fraction(ratio) / 2, "epsilon": epsilon})


@pytest.mark.full
@examples(1 / 2, phases=QUICK)
@given(strategy(DELTA))
def test_second_opinion_anywhere(params: dict[str, float]) -> None:
    check_second_opinion(DELTA, params)


@pytest.mark.full
@examples(1 / 4, phases=QUICK)
@given(strategy(DELTA))
def test_narrow_enclosures_hold_the_truth_too(params: dict[str, float]) -> None:
    check_second_opinion(DELTA, params, width=Fraction(1, 10**25))


@given(strategy(DELTA), st.integers(1, 200))
def test_the_asked_width_is_honoured(params: dict[str, float], digits: int) -> None:
    check_width(DELTA, params, Fraction(1, 10**digits))


@given(st.data())
def test_monotone_in_each_parameter(data: st.DataObject) -> None:
    check_moved(DELTA, data.draw(strategy(DELTA)), data)


@pytest.mark.parametrize("name", ["scale", "sensitivity", "epsilon"])
def test_strictly_monotone_inside(name: str) -> None:
    params = {"scale": "2", "sensitivity": "3", "epsilon": "0.4"}
    check_monotone(DELTA, params, name, Fraction(params[name]) * (1 + Fraction(1, 10**10)), certain=True)


# --- limits


def test_pure_dp_begins_exactly_at_the_ratio() -> None:
    """epsilon = sensitivity / scale = 1/3 exactly: delta is 0 there and beyond, and positive just below."""
    params = {"scale": 3, "sensitivity": 1}
    assert DELTA.reference(epsilon="1/3", **params) == Enclosure.exactly(0)
    assert DELTA.reference(epsilon=Fraction(1, 3) + Fraction(1, 10**300), **params) == Enclosure.exactly(0)
    below = DELTA.reference(epsilon=Fraction(1, 3) - Fraction(1, 10**300), **params)
    assert below.overlaps(at_both_precisions(lambda: -mp.expm1(-mpf(10) ** -300 / 2)))
    # The double 1/3 is below a third: pure DP at the exact third does not hold at the double.
    assert DELTA.reference(epsilon=1 / 3, **params).lower.compare(0) > 0


@given(st.fractions(min_value=Fraction(1, 1000), max_value=1000), st.fractions(min_value=1, max_value=1000))
def test_delta_is_exactly_zero_beyond_the_ratio(ratio: Fraction, excess: Fraction) -> None:
    assert DELTA.reference(scale=2, sensitivity=2 * ratio, epsilon=ratio * excess) == Enclosure.exactly(0)


def test_at_epsilon_zero_delta_is_the_total_variation() -> None:
    """1 - e^(-ratio/2)."""
    for ratio in (1, 10, 300):
        result = DELTA.reference(scale=1, sensitivity=ratio, epsilon=0, width="1e-30")
        truth = at_both_precisions(lambda ratio=ratio: -mp.expm1(-mpf(ratio) / 2))
        assert result.overlaps(truth)


@pytest.mark.parametrize("ratio", ["1e3", "1e100", "1e4000"])
def test_delta_never_exceeds_one(ratio: str) -> None:
    result = DELTA.reference(scale=1, sensitivity=ratio, epsilon=0)
    assert result.certainly_le(1)
    assert result.upper.compare(1) == 0
    assert result.lower.compare(1 - Fraction(1, 10**11)) > 0


def test_a_tiny_ratio_keeps_its_digits() -> None:
    result = DELTA.reference(scale="1e300", sensitivity="1e-300", epsilon=0)
    assert result.overlaps(at_both_precisions(lambda: -mp.expm1(-mpf(10) ** -600 / 2)))
    assert result.lower.compare(0) > 0


@given(strategy(DELTA), st.floats(-3, 3))
def test_only_the_ratio_counts(params: dict[str, float], log_factor: float) -> None:
    factor = Fraction(10.0**log_factor)
    scaled = {name: factor * Fraction(params[name]) for name in ("scale", "sensitivity")}
    width = Fraction(1, 10**40)
    assert DELTA.reference(width=width, **params).overlaps(
        DELTA.reference(width=width, epsilon=params["epsilon"], **scaled)
    )
