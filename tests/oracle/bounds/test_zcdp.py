"""Conversions from Renyi DP and zCDP: second opinions, the certified minimum, limits and soundness for the Gaussian."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import pytest
from hypothesis import Phase, given, settings
from hypothesis import strategies as st
from mpmath import mp, mpf

import oracle
from empirical.gate.making.points import fixed_points
from oracle.core.enclosure import Enclosure
from oracle.core.errors import DomainError
from tests.checks import check_anywhere, check_fast, check_monotone, check_second_opinion, check_width
from tests.opinion import at_both_precisions

RDP, ZCDP = oracle.bound("rdp.epsilon"), oracle.bound("zcdp.epsilon")
QUICK = (Phase.explicit, Phase.generate)  # a golden-section search takes a tenth of a second
CONVERSIONS = ("mironov", "canonne")


@given(data=st.data())
def test_rdp_contracts_anywhere(data: st.DataObject) -> None:
    check_anywhere(RDP, data)


@pytest.mark.full
@settings(phases=QUICK)
@given(data=st.data())
def test_zcdp_contracts_anywhere(data: st.DataObject) -> None:
    check_anywhere(ZCDP, data)


@pytest.mark.parametrize("conversion", CONVERSIONS)
@pytest.mark.parametrize("alpha", ["1.0000000001", "1.5", "2", "64", "1e10"])
@pytest.mark.parametrize("delta", ["1e-300", "1e-5", "0.5", "0.999999999999999"])
def test_rdp_at_extremes(alpha: str, delta: str, conversion: str) -> None:
    for rdp in ("0", "1e-10", "3", "1e4"):
        check_second_opinion(RDP, {"alpha": alpha, "rdp": rdp, "delta": delta, "conversion": conversion})


@pytest.mark.parametrize("rho", ["1e-300", "1e-20", "1e-3", "1", "1e6", "1e300"])
@pytest.mark.parametrize("delta", ["1e-300", "1e-5", "0.999999999999999"])
def test_zcdp_at_extremes(rho: str, delta: str) -> None:
    check_width(ZCDP, {"rho": rho, "delta": delta}, Fraction(1, 10**20))
    check_second_opinion(ZCDP, {"rho": rho, "delta": delta})


def test_published_digits() -> None:
    """rho = 0.1, delta = 1e-5 by mpmath's own minimiser: findroot on a numerical derivative."""

    def minimum() -> mpf:
        rho, delta = mpf(1) / 10, mpf(10) ** -5

        def at(alpha: mpf) -> mpf:
            return rho * alpha + mp.log(1 / (alpha * delta)) / (alpha - 1) + mp.log(1 - 1 / alpha)

        best = mp.findroot(lambda alpha: mp.diff(at, alpha), mpf(10))
        return at(best)

    assert ZCDP.reference(rho="0.1", delta="1e-5", width="1e-25").overlaps(at_both_precisions(minimum))


@given(st.floats(-6, 3), st.floats(-15, -0.1), st.floats(-6, 6))
def test_no_order_beats_the_minimum(log_rho: float, log_delta: float, log_gap: float) -> None:
    """Canonne's conversion of rho alpha at any order is at least the zCDP epsilon."""
    rho, delta, alpha = Fraction(10.0**log_rho), Fraction(10.0**log_delta), 1 + Fraction(10.0**log_gap)
    best = ZCDP.reference(rho=rho, delta=delta)
    assert best.possibly_le(RDP.reference(alpha=alpha, rdp=rho * alpha, delta=delta, conversion="canonne"))


def test_some_order_attains_the_minimum() -> None:
    """On a fine grid of orders the best conversion comes within 1e-6."""
    best = ZCDP.reference(rho="0.1", delta="1e-5").upper.to_fraction()
    grid = (
        RDP.reference(alpha=alpha, rdp=alpha / 10, delta="1e-5", conversion="canonne").upper.to_fraction()
        for alpha in (10 + Fraction(i, 100) for i in range(100))
    )
    assert 0 <= min(grid) - best < Fraction(1, 10**5)


@given(st.floats(-2, 1), st.floats(-12, -1))
def test_sound_for_the_gaussian_mechanism(log_mu: float, log_delta: float) -> None:
    """A Gaussian release is mu^2/2-zCDP: its exact epsilon is below every conversion, and below Bun and Steinke's."""
    mu, delta = Fraction(10.0**log_mu), Fraction(10.0**log_delta)
    exact = oracle.bound("gdp.epsilon").reference(mu=mu, delta=delta)
    converted = ZCDP.reference(rho=mu**2 / 2, delta=delta)
    assert exact.certainly_le(converted)
    older = at_both_precisions(
        lambda: mpf(float(mu)) ** 2 / 2 + mp.sqrt(2 * mpf(float(mu)) ** 2 * mp.log(1 / mpf(float(delta))))
    )
    assert converted.possibly_le(older)


@given(data=st.data())
def test_canonne_is_never_above_mironov(data: st.DataObject) -> None:
    params = fixed_points(RDP, 1, seed=data.draw(st.integers(0, 10**6)))[0]
    ours, older = (RDP.reference(**{**params, "conversion": word}) for word in ("canonne", "mironov"))
    assert ours.possibly_le(older)


@pytest.mark.parametrize("n", [2, 3, 7])
def test_where_canonne_is_exactly_zero(n: int) -> None:
    """rdp = 0 and delta = (n-1)^(n-1)/n^n at order n: the logarithms cancel exactly, and a hair off they do not."""
    delta = Fraction((n - 1) ** (n - 1), n**n)
    zero = {"alpha": n, "rdp": 0, "conversion": "canonne"}
    assert RDP.reference(delta=delta, **zero) == Enclosure.exactly(0)
    assert RDP.reference(delta=delta * (1 + Fraction(1, 10**50)), **zero) == Enclosure.exactly(0)
    assert RDP.reference(delta=delta * (1 - Fraction(1, 10**50)), **zero).lower.compare(0) > 0


def test_limits_of_zcdp() -> None:
    assert ZCDP.reference(rho=0, delta="1e-300") == Enclosure.exactly(0)
    assert ZCDP.reference(rho="1e-12", delta="0.1") == Enclosure.exactly(0)  # below delta^2/2
    assert ZCDP.reference(rho="1e-12", delta="1e-9").lower.compare(0) > 0
    assert float(ZCDP.fast(rho=0.0, delta=0.1)) == 0.0


@pytest.mark.parametrize("name", ["rho", "delta"])
def test_strictly_monotone_inside(name: str) -> None:
    params = {"rho": "0.1", "delta": "1e-5"}
    check_monotone(ZCDP, params, name, Fraction(params[name]) * (1 + Fraction(1, 10**10)), certain=True)


@pytest.mark.parametrize("conversion", CONVERSIONS)
@pytest.mark.parametrize("library", ["numpy", "torch"])
def test_fast_for_every_word(conversion: str, library: str) -> None:
    check_fast(RDP, [{**p, "conversion": conversion} for p in fixed_points(RDP, 100, seed=11)], library)


def test_fast_where_the_logarithms_nearly_cancel() -> None:
    """rdp = 0 at order 2 around delta = 1/4, where canonne crosses zero."""
    deltas = [0.25 * (1 - 2.0**-j) for j in range(2, 52)] + [0.25, 0.25 * (1 + 2.0**-50)]
    check_fast(RDP, [{"alpha": 2.0, "rdp": 0.0, "delta": d, "conversion": "canonne"} for d in deltas], "numpy")


@pytest.mark.parametrize(
    ("name", "value"), [("alpha", 1), ("alpha", "0.5"), ("rdp", -1), ("delta", 0), ("conversion", "other")]
)
def test_bad_input_is_named(name: str, value: Any) -> None:
    params: dict[str, Any] = {"alpha": 2, "rdp": 1, "delta": "1e-5", "conversion": "canonne", name: value}
    with pytest.raises(DomainError, match=f"^{name} = "):
        RDP.reference(**params)
