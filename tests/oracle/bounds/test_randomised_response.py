"""Randomised response: second opinions, exact points, round trips and the edges of its domain."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from mpmath import mp, mpf

import oracle
from oracle.core.enclosure import Enclosure
from oracle.core.errors import DomainError
from tests.checks import LIBRARIES, check_anywhere, check_fast, check_monotone, check_second_opinion
from tests.opinion import at_both_precisions

DELTA, EPSILON = (oracle.bound(f"randomised-response.{unit}") for unit in ("delta", "epsilon"))


@pytest.mark.parametrize("bound", [DELTA, EPSILON], ids=lambda item: item.name)
@given(data=st.data())
def test_contracts_anywhere(bound: oracle.Bound, data: st.DataObject) -> None:
    check_anywhere(bound, data)


@pytest.mark.parametrize("keep", ["0.5", "0.5000000001", "0.75", "0.999", "0.9999999999999999999"])
@pytest.mark.parametrize("at", ["0", "1e-20", "0.3", "0.999"])
def test_second_opinion_at_extremes(keep: str, at: str) -> None:
    check_second_opinion(EPSILON, {"keep": keep, "delta": at})
    check_second_opinion(DELTA, {"keep": keep, "epsilon": at})


def test_exact_points() -> None:
    """keep = 3/4: delta(0) is 1/2, pure DP begins at log 3; a fair coin tells nothing."""
    assert DELTA.reference(keep="3/4", epsilon=0).contains(Fraction(1, 2))
    assert EPSILON.reference(keep="3/4", delta=0).overlaps(at_both_precisions(lambda: mp.log(3)))
    assert EPSILON.reference(keep="3/4", delta="1/2") == Enclosure.exactly(0)
    assert EPSILON.reference(keep="3/4", delta=1) == Enclosure.exactly(0)
    assert EPSILON.reference(keep="1/2", delta=0) == DELTA.reference(keep="1/2", epsilon=0) == Enclosure.exactly(0)


def test_pure_dp_begins_at_the_log_odds() -> None:
    """On either side of log 3, 1e-60 away."""
    with mp.workdps(120):
        below = Fraction(str(mp.nstr(mp.log(3) - mpf(10) ** -60, 100)))
    assert DELTA.reference(keep="3/4", epsilon=below).lower.compare(0) > 0
    assert DELTA.reference(keep="3/4", epsilon=below + Fraction(2, 10**60)) == Enclosure.exactly(0)
    assert DELTA.reference(keep="3/4", epsilon="1e4000") == Enclosure.exactly(0)


@given(st.floats(0.5, 1, exclude_max=True), st.floats(0, 1))
def test_round_trip(keep: float, share: float) -> None:
    """delta(epsilon(delta)) = delta below the total variation 2 keep - 1."""
    delta = Fraction(share) * (2 * Fraction(keep) - 1)
    epsilon = EPSILON.reference(keep=keep, delta=delta, width="1e-40")
    high = DELTA.reference(keep=keep, epsilon=epsilon.lower.to_fraction(), width="1e-40")
    low = DELTA.reference(keep=keep, epsilon=epsilon.upper.to_fraction(), width="1e-40")
    assert Enclosure(low.lower, high.upper).contains(delta)


@pytest.mark.parametrize("name", ["keep", "delta"])
def test_strictly_monotone_inside(name: str) -> None:
    params = {"keep": "0.8", "delta": "0.1"}
    check_monotone(EPSILON, params, name, Fraction(params[name]) * (1 + Fraction(1, 10**10)), certain=True)


def test_it_is_the_one_step_optimal_composition() -> None:
    """Randomised response with e^epsilon odds is the worst epsilon-DP mechanism."""
    keep = Fraction(9, 10)
    odds = EPSILON.reference(keep=keep, delta=0, width="1e-40").lower.to_fraction()
    for total in ("0", "0.5", "2"):
        one = oracle.bound("composition.optimal-delta").reference(
            base_epsilon=odds, base_delta=0, steps=1, epsilon=total, width="1e-30"
        )
        assert abs(one.lower.to_fraction() - DELTA.reference(keep=keep, epsilon=total).lower.to_fraction()) < 1e-11


@pytest.mark.parametrize("library", LIBRARIES)
def test_fast_at_the_knife_edge(library: str) -> None:
    """epsilon within rounding of the log-odds: sound, and hardly above."""
    near = [math.log(3.0)]
    for _ in range(6):
        near = [math.nextafter(near[0], 0.0), *near, math.nextafter(near[-1], math.inf)]
    check_fast(DELTA, [{"keep": 0.75, "epsilon": epsilon} for epsilon in near], library)


@pytest.mark.parametrize(("name", "value"), [("keep", "0.49999"), ("keep", 1), ("epsilon", -1)])
def test_bad_input_is_named(name: str, value: Any) -> None:
    params: dict[str, Any] = {"keep": "0.75", "epsilon": 1, name: value}
    with pytest.raises(DomainError, match=f"^{name} = "):
        DELTA.reference(**params)
