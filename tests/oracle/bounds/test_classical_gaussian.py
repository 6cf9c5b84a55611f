"""The classical calibration: second opinions, that it is private where it is offered, and refused elsewhere."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import oracle
from empirical.gate.making.points import strategy
from oracle.core.errors import DomainError
from tests.checks import check_anywhere, check_monotone, check_second_opinion

SIGMA = oracle.bound("gaussian-classical.sigma")


@given(data=st.data())
def test_contracts_anywhere(data: st.DataObject) -> None:
    check_anywhere(SIGMA, data)


@pytest.mark.parametrize("epsilon", ["1e-300", "0.1", "1"])
@pytest.mark.parametrize("delta", ["1e-300", "1e-5", "0.999999999999999"])
def test_second_opinion_at_extremes(epsilon: str, delta: str) -> None:
    check_second_opinion(SIGMA, {"sensitivity": "7/3", "epsilon": epsilon, "delta": delta})


@given(strategy(SIGMA))
def test_never_below_the_least_noise_that_is_enough(params: dict[str, float]) -> None:
    assert oracle.bound("gaussian.sigma").reference(**params).possibly_le(SIGMA.reference(**params))


def test_the_textbook_number() -> None:
    """epsilon = 1, delta = 1e-5: sigma = 4.84480526..., a third above the exact 3.73."""
    result = SIGMA.reference(sensitivity=1, epsilon=1, delta="1e-5")
    assert str(result).startswith("[4.844805262605389421258")
    least = oracle.bound("gaussian.sigma").reference(sensitivity=1, epsilon=1, delta="1e-5")
    assert least.certainly_le(Fraction("3.74"))


@pytest.mark.parametrize("name", ["sensitivity", "epsilon", "delta"])
def test_strictly_monotone_inside(name: str) -> None:
    params = {"sensitivity": "2", "epsilon": "0.3", "delta": "1e-5"}
    check_monotone(SIGMA, params, name, Fraction(params[name]) * (1 + Fraction(1, 10**10)), certain=True)


@pytest.mark.parametrize(
    ("name", "value"), [("epsilon", "1.0001"), ("epsilon", 0), ("delta", 0), ("delta", 1), ("sensitivity", 0)]
)
def test_outside_its_proof_it_is_refused(name: str, value: Any) -> None:
    params: dict[str, Any] = {"sensitivity": 1, "epsilon": 1, "delta": "1e-5", name: value}
    with pytest.raises(DomainError, match=f"^{name} = "):
        SIGMA.reference(**params)
