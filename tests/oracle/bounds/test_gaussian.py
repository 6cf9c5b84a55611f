"""The Gaussian mechanism's curve and inverses: second opinions, round trips, monotonicity, limits, widths."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from mpmath import mp, mpf

import oracle
from empirical.gate.making.points import strategy
from oracle.core.enclosure import Enclosure
from oracle.core.errors import PrecisionError
from tests.checks import check_monotone, check_moved, check_round_trip, check_second_opinion, check_width
from tests.formulas import gaussian_delta, gaussian_delta_by_integration
from tests.opinion import at_both_precisions, number

DELTA, EPSILON, SIGMA, GDP = (
    oracle.bound(name) for name in ("gaussian.delta", "gaussian.epsilon", "gaussian.sigma", "gdp.epsilon")
)
FAMILY = (DELTA, EPSILON, SIGMA, GDP)

# mu from 1e-8 to 1e4; delta from 1e-300 to 1 - 1e-15; epsilon from 0 to 1e4: text is exact.
MUS = ("1e-8", "1e-3", "0.5", "1", "7/3", "30", "1e4")
DELTAS = ("1e-300", "1e-100", "1e-15", "1e-5", "0.3", "0.5", "0.7", "0.999", "0.999999999999999")
EPSILONS = ("0", "1e-300", "1e-10", "0.1", "1", "20", "700", "1e4")


def truth_at(mu: str, epsilon: Fraction) -> Enclosure:
    """delta(epsilon) by mpmath alone."""
    return at_both_precisions(lambda: gaussian_delta(number(mu), number(epsilon)))


# --- (a) second opinions


@pytest.mark.parametrize("mu", MUS)
@pytest.mark.parametrize("epsilon", EPSILONS)
def test_delta_at_extremes(mu: str, epsilon: str) -> None:
    check_second_opinion(DELTA, {"sigma": 1, "sensitivity": mu, "epsilon": epsilon})


@pytest.mark.parametrize("mu", MUS)
@pytest.mark.parametrize("delta", DELTAS)
def test_epsilon_at_extremes(mu: str, delta: str) -> None:
    check_second_opinion(GDP, {"mu": mu, "delta": delta})
    check_second_opinion(EPSILON, {"sigma": 3, "sensitivity": 3 * Fraction(mu), "delta": delta})


@pytest.mark.parametrize("epsilon", EPSILONS)
@pytest.mark.parametrize("delta", DELTAS)
def test_sigma_at_extremes(epsilon: str, delta: str) -> None:
    check_second_opinion(SIGMA, {"sensitivity": "0.1", "epsilon": epsilon, "delta": delta})


@pytest.mark.full
@pytest.mark.parametrize("bound", FAMILY, ids=lambda item: item.name)
@given(data=st.data())
def test_second_opinion_anywhere(bound: oracle.Bound, data: st.DataObject) -> None:
    check_second_opinion(bound, data.draw(strategy(bound)))


@pytest.mark.parametrize(("mu", "epsilon"), [("1", "1"), ("0.1", "0.3"), ("2", "0"), ("0.01", "0.001"), ("5", "20")])
def test_the_curve_is_the_hockey_stick_integral(mu: str, epsilon: str) -> None:
    """The definition itself, integrated: the formula is not taken on trust."""
    integrated = at_both_precisions(
        lambda: gaussian_delta_by_integration(number(mu), number(epsilon)), digits=(40, 60)
    )
    result = DELTA.reference(sigma=1, sensitivity=mu, epsilon=epsilon)
    assert result.overlaps(integrated)


def test_published_digits() -> None:
    """sigma = sensitivity = 1; a decimal delta and its double differ in the 17th digit, and so must the answers."""
    exact = EPSILON.reference(sigma=1, sensitivity=1, delta="1e-5", width="1e-30")
    double = EPSILON.reference(sigma=1, sensitivity=1, delta=1e-5, width="1e-30")
    assert exact.contains(Fraction("4.37717809568122462765011629324201091315343851697"))
    assert double.contains(Fraction("4.377178095681224608553985889735381191786"))
    assert exact.width() <= 1e-30
    assert double.width() <= 1e-30
    assert not exact.overlaps(double)


# --- (b) round trips


@given(st.floats(-3, 2).map(lambda u: Fraction(10.0**u)), st.floats(0, 40))
def test_epsilon_of_delta_of_epsilon(mu: Fraction, tail: float) -> None:
    epsilon = mu * (mu / 2 + Fraction(tail))
    params = {"sigma": 1, "sensitivity": mu}
    assume(DELTA.reference(epsilon=epsilon, **params).upper.compare(1) < 0)
    check_round_trip(DELTA, EPSILON, params, "epsilon", epsilon)


@given(st.floats(-2, 2).map(lambda u: Fraction(10.0**u)), st.floats(0, 30), st.floats(-2, 2))
def test_sigma_of_delta_of_sigma(mu: Fraction, tail: float, log_sensitivity: float) -> None:
    epsilon = mu * (mu / 2 + Fraction(tail))
    sensitivity = Fraction(10.0**log_sensitivity)
    params = {"sensitivity": sensitivity, "epsilon": epsilon}
    assume(DELTA.reference(sigma=sensitivity / mu, **params).upper.compare(1) < 0)
    check_round_trip(DELTA, SIGMA, params, "sigma", sensitivity / mu)


@given(st.data())
def test_gdp_and_gaussian_epsilon_are_one_function(data: st.DataObject) -> None:
    params = data.draw(strategy(EPSILON))
    mu = Fraction(params["sensitivity"]) / Fraction(params["sigma"])
    width = Fraction(1, 10**30)
    one = GDP.reference(mu=mu, delta=params["delta"], width=width)
    other = EPSILON.reference(width=width, **params)
    assert one.overlaps(other)
    check_width(EPSILON, params, width)


# --- (c) monotonicity


@pytest.mark.full
@pytest.mark.parametrize("bound", FAMILY, ids=lambda item: item.name)
@given(data=st.data())
def test_monotone_in_each_parameter(bound: oracle.Bound, data: st.DataObject) -> None:
    check_moved(bound, data.draw(strategy(bound)), data)


INTERIOR: dict[str, dict[str, Any]] = {
    "gaussian.delta": {"sigma": "2", "sensitivity": "1.5", "epsilon": "0.3"},
    "gaussian.epsilon": {"sigma": "2", "sensitivity": "1.5", "delta": "1e-6"},
    "gaussian.sigma": {"sensitivity": "1.5", "epsilon": "0.3", "delta": "1e-6"},
    "gdp.epsilon": {"mu": "0.75", "delta": "1e-6"},
}


@pytest.mark.parametrize("bound", FAMILY, ids=lambda item: item.name)
def test_strictly_monotone_inside(bound: oracle.Bound) -> None:
    """A relative step of 1e-10, far above the width: the order is proved, not only not refuted."""
    params = INTERIOR[bound.name]
    for name, value in params.items():
        check_monotone(bound, params, name, Fraction(value) * (1 + Fraction(1, 10**10)), certain=True)


# --- (d) limits


@pytest.mark.parametrize("mu", MUS)
def test_epsilon_is_zero_from_delta_at_zero_on(mu: str) -> None:
    at_zero = DELTA.reference(sigma=1, sensitivity=mu, epsilon=0, width="1e-30")
    above = at_zero.upper.to_fraction() + Fraction(1, 10**25) * at_zero.upper.to_fraction()
    below = at_zero.lower.to_fraction() * (1 - Fraction(1, 10**25))
    if above < 1:
        assert GDP.reference(mu=mu, delta=above) == Enclosure.exactly(0)
        assert EPSILON.reference(sigma=1, sensitivity=mu, delta=above) == Enclosure.exactly(0)
    tiny = GDP.reference(mu=mu, delta=below)
    assert tiny.lower.compare(0) > 0
    if Fraction(mu) < 10:  # for larger mu delta(0) is so flat that a relative step of 1e-25 is a large epsilon
        assert tiny.certainly_le(Fraction(1, 10**10))


def test_delta_at_zero_is_the_total_variation() -> None:
    result = DELTA.reference(sigma=1, sensitivity=1, epsilon=0, width="1e-30")
    assert result.overlaps(at_both_precisions(lambda: mp.erf(mpf(1) / 2 / mp.sqrt(2))))


@pytest.mark.parametrize("mu", ["100", "1e4", "1e8"])
def test_delta_never_exceeds_one(mu: str) -> None:
    result = DELTA.reference(sigma=1, sensitivity=mu, epsilon=1)
    assert result.certainly_le(1)
    assert result.overlaps(truth_at(mu, Fraction(1)))


def test_delta_of_an_absurd_epsilon_is_tiny_and_positive() -> None:
    result = DELTA.reference(sigma="1e8", sensitivity=1, epsilon="1e4")
    assert result.lower.compare(0) > 0
    assert result.lower.exponent < -(10**22)
    check_second_opinion(DELTA, {"sigma": "1e8", "sensitivity": 1, "epsilon": "1e4"})


@pytest.mark.parametrize("delta", ["1e-4000", Fraction(1, 10**1000), 1 - Fraction(1, 10**300)])
def test_delta_next_to_its_ends(delta: Any) -> None:
    epsilon = GDP.reference(mu=100, delta=delta)
    for end, sign in ((epsilon.lower, 1), (epsilon.upper, -1)):
        for working in (400, 500):  # the width around 1 - 1e-300 needs 315
            with mp.workdps(working):
                candidate = mp.ldexp(mpf(end.mantissa), end.exponent)
                assert sign * (gaussian_delta(mpf(100), candidate) - number(delta)) > 0


@pytest.mark.parametrize("params", [
    {"sensitivity": 1, "epsilon": 0, "delta": "1e-320"},
    {"sensitivity": "1e330", "epsilon": 1, "delta": "1e-5"},
    {"sensitivity": 1000, "epsilon": 0, "delta": "1e-310"},
])
def test_sigma_beyond_the_doubles(params: dict[str, Any]) -> None:
    """A sigma of 1e320 is a number like any other for exact arithmetic."""
    check_second_opinion(SIGMA, params)
    check_width(SIGMA, params, Fraction(1, 10**12))


def test_an_epsilon_that_no_precision_reaches_is_refused_quickly() -> None:
    with pytest.raises(PrecisionError, match="bits"):
        DELTA.reference(sigma=1, sensitivity=1, epsilon="1e4000")


# --- (e) widths


@pytest.mark.parametrize("bound", FAMILY, ids=lambda item: item.name)
@given(data=st.data(), digits=st.integers(1, 60))
def test_the_asked_width_is_honoured(bound: oracle.Bound, data: st.DataObject, digits: int) -> None:
    check_width(bound, data.draw(strategy(bound)), Fraction(1, 10**digits))


@pytest.mark.full
@pytest.mark.parametrize("bound", FAMILY, ids=lambda item: item.name)
@given(data=st.data())
def test_narrow_enclosures_hold_the_truth_too(bound: oracle.Bound, data: st.DataObject) -> None:
    check_second_opinion(bound, data.draw(strategy(bound)), width=Fraction(1, 10**28))
