"""Gaussian releases in sequence: second opinions, limits, and the identities that tie them to the single release."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import oracle
from oracle.core.enclosure import Enclosure
from oracle.core.errors import DomainError
from tests.checks import check_anywhere, check_fast, check_monotone, check_round_trip, check_second_opinion

GDP, DELTA, EPSILON = (
    oracle.bound(name) for name in ("gdp.delta", "gaussian-composed.delta", "gaussian-composed.epsilon")
)
FAMILY = (GDP, DELTA, EPSILON)
FINE = Fraction(1, 10**40)


@pytest.mark.parametrize("bound", FAMILY, ids=lambda item: item.name)
@given(data=st.data())
def test_contracts_anywhere(bound: oracle.Bound, data: st.DataObject) -> None:
    check_anywhere(bound, data)


@pytest.mark.parametrize("steps", [1, 2, 10**4, 10**15])
@pytest.mark.parametrize("delta", ["1e-300", "1e-5", "0.5", "0.999999999999999"])
def test_epsilon_at_extremes(steps: int, delta: str) -> None:
    check_second_opinion(EPSILON, {"sigma": "7/3", "sensitivity": "0.1", "steps": steps, "delta": delta})


@pytest.mark.parametrize("epsilon", ["0", "1e-300", "1", "1e4"])
def test_delta_at_extremes(epsilon: str) -> None:
    for steps in (1, 2, 10**8):
        check_second_opinion(DELTA, {"sigma": "7/3", "sensitivity": "0.1", "steps": steps, "epsilon": epsilon})


@given(st.floats(-3, 2).map(lambda u: Fraction(10.0**u)), st.floats(0.0, 20.0))
def test_one_step_is_the_single_release(ratio: Fraction, epsilon: float) -> None:
    common: dict[str, Any] = {"sigma": 2, "sensitivity": 2 * ratio, "width": FINE}
    single = oracle.bound("gaussian.delta").reference(epsilon=epsilon, **common)
    assert DELTA.reference(steps=1, epsilon=epsilon, **common).overlaps(single)
    assert GDP.reference(mu=ratio, epsilon=epsilon, width=FINE).overlaps(single)
    single = oracle.bound("gaussian.epsilon").reference(delta="1e-6", **common)
    assert EPSILON.reference(steps=1, delta="1e-6", **common).overlaps(single)


@pytest.mark.parametrize(("steps", "root"), [(4, 2), (9, 3), (10**8, 10**4)])
def test_a_square_number_of_steps_is_a_larger_sensitivity(steps: int, root: int) -> None:
    """k releases of sensitivity 1 are one of sensitivity sqrt(k); and less than that is not enough."""
    composed = EPSILON.reference(sigma=100, sensitivity=1, steps=steps, delta="1e-5", width=FINE)
    single = oracle.bound("gaussian.epsilon").reference(sigma=100, sensitivity=root, delta="1e-5", width=FINE)
    assert composed.overlaps(single)
    less = oracle.bound("gaussian.epsilon").reference(
        sigma=100, sensitivity=root - Fraction(1, 10**9), delta="1e-5", width=FINE
    )
    assert not composed.possibly_le(less)


def test_nothing_released_costs_nothing() -> None:
    assert DELTA.reference(sigma=1, sensitivity="1e300", steps=0, epsilon=0) == Enclosure.exactly(0)
    assert EPSILON.reference(sigma=1, sensitivity="1e300", steps=0, delta="1e-300") == Enclosure.exactly(0)
    assert float(DELTA.fast(sigma=1.0, sensitivity=1e300, steps=0, epsilon=0.0)) == 0.0
    assert float(EPSILON.fast(sigma=1.0, sensitivity=1e300, steps=0, delta=1e-300)) == 0.0


@pytest.mark.parametrize("name", ["sigma", "sensitivity", "steps", "delta"])
def test_strictly_monotone_inside(name: str) -> None:
    params: dict[str, Any] = {"sigma": 20, "sensitivity": Fraction(3, 2), "steps": 1000, "delta": Fraction(1, 10**6)}
    step = 1001 if name == "steps" else params[name] * (1 + Fraction(1, 10**10))
    check_monotone(EPSILON, params, name, step, certain=True)


@given(st.integers(1, 10**6), st.floats(0, 20))
def test_epsilon_of_delta_of_epsilon(steps: int, tail: float) -> None:
    params = {"sigma": 100, "sensitivity": 1, "steps": steps}
    check_round_trip(DELTA, EPSILON, params, "epsilon", Fraction(tail) * steps / 10**4 + Fraction(1, 10))


def test_mu_beyond_the_doubles_is_answered() -> None:
    """sqrt(steps) / sigma overflows: delta is 1, not NaN and not 0."""
    check_fast(DELTA, [{"sigma": 1e-200, "sensitivity": 1e100, "steps": int(1e300), "epsilon": 1.0}], "numpy")
    check_fast(GDP, [{"mu": 1e300, "epsilon": 1.0}, {"mu": 1e-300, "epsilon": 0.0}], "numpy", tight=False)


@pytest.mark.parametrize(
    ("name", "value"), [("steps", -1), ("steps", "1.5"), ("sigma", 0), ("sensitivity", 0), ("delta", 0), ("delta", 1)]
)
def test_bad_input_is_named(name: str, value: Any) -> None:
    params: dict[str, Any] = {"sigma": 1, "sensitivity": 1, "steps": 1, "delta": "1e-5", name: value}
    with pytest.raises(DomainError, match=f"^{name} = "):
        EPSILON.reference(**params)
