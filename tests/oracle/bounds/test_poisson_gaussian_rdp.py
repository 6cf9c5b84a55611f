"""The Renyi divergence of sampled Gaussian steps: finite sums, limits, both directions, extremes, and float64."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

import array_api_compat.numpy as numpy_namespace
import numpy as np
import pytest
from flint import arb, ctx
from hypothesis import Phase, given
from hypothesis import strategies as st
from mpmath import mp, mpf

import oracle
from empirical.gate.making.points import Point
from oracle.core.enclosure import Enclosure
from oracle.core.errors import DomainError, PrecisionError
from oracle.engines.composed_pairs import PoissonGaussian, compose
from oracle.engines.sampled.sampled_gaussian import SampledGaussian
from oracle.engines.sampled.sampled_moment import log_moment
from oracle.engines.sampled.sampled_moment_arrays import divergence
from tests.checks import check_anywhere, check_fast, check_monotone, check_second_opinion, check_width
from tests.opinion import at_both_precisions
from tests.opinion.sampled import binomial_moment, moment
from tests.tiers import examples

RDP = oracle.bound("poisson-gaussian.rdp")
QUICK = (Phase.explicit, Phase.generate)  # an opinion takes up to a second
BOTH = pytest.mark.parametrize("neighbours", ["add_remove", "replace"])


@pytest.mark.full
@examples(1 / 2, phases=QUICK)
@given(data=st.data())
def test_contracts_anywhere(data: st.DataObject) -> None:
    check_anywhere(RDP, data)


@pytest.mark.full
@pytest.mark.parametrize("sigma", ["0.05", "0.3", "1", "40", "10000"])
@pytest.mark.parametrize("rate", ["1e-9", "0.01", "0.7"])
@pytest.mark.parametrize("order", [2, 3, 32, 500])
def test_integer_orders_are_binomial_sums(sigma: str, rate: str, order: int) -> None:
    """Mironov, Talwar and Zhang's sum, here with divergences from 1e-26 to 1e8."""
    check_second_opinion(
        RDP,
        {"sigma": sigma, "sampling_rate": rate, "steps": 3, "alpha": order, "neighbours": "add_remove"},
        Fraction(1, 10**20),
    )


@BOTH
@pytest.mark.parametrize("alpha", ["2", "12.5", "1e6"])
def test_next_to_no_sampling_it_is_answered(alpha: str, neighbours: str) -> None:
    """q = 1 - 10^-400: what is left of 1 - q bounds the loss of a replacement, and so moves high orders only."""
    given = {"sigma": "1", "steps": 10, "alpha": alpha, "neighbours": neighbours}
    value, whole = (RDP.reference(**given, sampling_rate=rate) for rate in ("0." + "9" * 400, "1"))
    assert value.lower.compare(whole.upper) <= 0
    if neighbours == "replace" and alpha == "1e6":
        # log M is largest at y = alpha, where u(y) = e^(alpha - 1/2) and u(-y) = 1 - q, all but exactly.
        order = 10**6
        peak = order * (order - 0.5) - order**2 / 2 + (order - 1) * 400 * math.log(10)
        assert value.to_floats()[0] == pytest.approx(10 * peak / (order - 1), rel=1e-12)
    else:
        assert value.to_floats()[0] == pytest.approx(whole.to_floats()[0], rel=1e-12)


@pytest.mark.full
@pytest.mark.parametrize(
    ("sigma", "rate", "alpha"),
    [("1", "0.01", "1.01"), ("0.4", "1e-6", "3"), ("0.5", "0.3", "25.5"), ("20", "0.999", "7.25")],
)
def test_replace_by_quadrature(sigma: str, rate: str, alpha: str) -> None:
    point = {"sigma": sigma, "sampling_rate": rate, "steps": 2, "alpha": alpha, "neighbours": "replace"}
    check_second_opinion(RDP, point, Fraction(1, 10**20))


def test_order_two_under_replace_in_closed_form() -> None:
    """q = 1/2 and sigma huge: u(y)^2/u(-y) integrates to 1 + 4 q^2 a^2 up to a^4, by hand; at q = 1, e^{4 a^2}."""
    result = RDP.reference(sigma=10**6, sampling_rate="0.5", steps=1, alpha=2, neighbours="replace", width="1e-20")
    assert abs(result.to_floats()[0] / 1e-12 - 1) < 1e-9
    full = RDP.reference(sigma=2, sampling_rate=1, steps=1, alpha=2, neighbours="replace")
    assert full.contains(1)


@BOTH
@pytest.mark.parametrize("alpha", ["1.000001", "1.1", "2.5", "40"])
def test_a_rate_near_one_is_the_gaussian(neighbours: str, alpha: str) -> None:
    point: dict[str, Any] = {"sigma": 3, "steps": 5, "alpha": alpha, "neighbours": neighbours}
    full = RDP.reference(sampling_rate=1, width="1e-30", **point)
    shift = 4 if neighbours == "replace" else 1
    assert full.contains(Fraction(5) * Fraction(alpha) * shift / 18)
    near = RDP.reference(sampling_rate=1 - Fraction(1, 10**12), width="1e-16", **point)
    assert near.certainly_le(full)
    assert near.lower.to_fraction() > full.lower.to_fraction() * (1 - Fraction(1, 10**9))


@BOTH
def test_small_rates_are_quadratic(neighbours: str) -> None:
    """rdp ~ alpha/2 times the variance of the ratio of densities: q^2 (e^{a^2} - 1), or 2 q^2 (e^{a^2} - e^{-a^2})."""
    for sigma, alpha in (("1", "1.1"), ("0.5", "2"), ("30", "7.7")):
        a = 1 / Fraction(sigma)
        with mp.workdps(40):
            square = mpf((a * a).numerator) / (a * a).denominator
            variance = mp.expm1(square) if neighbours == "add_remove" else 2 * (mp.exp(square) - mp.exp(-square))
            expected = float(variance * mpf(Fraction(alpha).numerator) / Fraction(alpha).denominator / 2 * mpf("1e-24"))
        result = RDP.reference(sigma=sigma, sampling_rate="1e-12", steps=1, alpha=alpha, neighbours=neighbours)
        assert abs(result.to_floats()[0] / expected - 1) < 1e-6


@pytest.mark.full
@pytest.mark.parametrize(("sigma", "rate", "alpha"), [("1", "0.1", "3.5"), ("0.4", "0.3", "1.2"), ("5", "0.9", "20")])
def test_removing_a_record_costs_more_than_adding_one(sigma: str, rate: str, alpha: str) -> None:
    """The other direction, int phi u^{1-alpha}, by quadrature of its definition."""
    point = [Fraction(v) for v in (sigma, rate, alpha)]

    def added() -> mpf:
        s, q, order = (mpf(v.numerator) / v.denominator for v in point)

        def integrand(x: mpf) -> mpf:
            one = mp.npdf(x, 0, s)
            return one**order * ((1 - q) * one + q * mp.npdf(x, 1, s)) ** (1 - order)

        return mp.log(mp.quad(integrand, [s * i for i in range(-30, 31)])) / (order - 1)

    other = at_both_precisions(added, digits=(40, 55))
    result = RDP.reference(sigma=sigma, sampling_rate=rate, steps=1, alpha=alpha, neighbours="add_remove")
    assert other.certainly_le(result)
    assert not result.possibly_le(other)


def test_replacing_costs_more_than_removing_and_less_than_the_gaussian() -> None:
    for sigma, rate, alpha in (("1", "0.01", "4"), ("2", "0.5", "1.3"), ("0.2", "0.001", "30")):
        point: dict[str, Any] = {"sigma": sigma, "steps": 1, "alpha": alpha}
        removed, replaced = (
            RDP.reference(sampling_rate=rate, neighbours=word, **point) for word in ("add_remove", "replace")
        )
        assert removed.certainly_le(replaced)
        assert replaced.certainly_le(RDP.reference(sampling_rate=1, neighbours="replace", **point))


@BOTH
def test_the_conversion_of_its_divergence_holds_for_the_exact_composition(neighbours: str) -> None:
    """epsilon from the best of a few orders is above the exact one, and not far above."""
    exact = compose([(PoissonGaussian(sigma=1, sampling_rate="0.01"), 500)], neighbours=neighbours).epsilon("1e-5")
    converted = []
    for alpha in ("4", "6.5", "9", "14"):
        rdp = RDP.reference(sigma=1, sampling_rate="0.01", steps=500, alpha=alpha, neighbours=neighbours)
        converted.append(oracle.bound("rdp.epsilon").reference(
            alpha=alpha, rdp=rdp.upper.to_fraction(), delta="1e-5", conversion="canonne",
        ))
    assert all(exact.certainly_le(value) for value in converted)
    assert min(value.to_floats()[0] for value in converted) < 1.6 * exact.to_floats()[1]


@pytest.mark.full
def test_orders_that_other_accountants_get_wrong() -> None:
    """Low orders and small rates, where published accountants were seen too low (cancellation) or 31 % too high.

    At q = 1e-6, sigma = 1 and order 1.1 the divergence is alpha q^2 (e - 1)/2 up to O(q^3): 9.45055005653e-13.
    """
    result = RDP.reference(sigma=1, sampling_rate="1e-6", steps=1, alpha="1.1", neighbours="add_remove")
    with mp.workdps(30):
        leading = float(mpf("1.1") / 2 * mpf("1e-12") * mp.expm1(1))
    assert abs(result.to_floats()[0] / leading - 1) < 1e-5
    for alpha in ("1.01", "1.25", "1.5", "1.75", "1.99"):
        check_second_opinion(
            RDP, {"sigma": "0.8", "sampling_rate": "0.02", "steps": 1, "alpha": alpha, "neighbours": "add_remove"},
            Fraction(1, 10**25),
        )


@BOTH
@pytest.mark.parametrize("sigma", ["0.05", "1", "10000"])
@pytest.mark.parametrize("rate", ["1e-9", "0.5", "0.999999999"])
@pytest.mark.parametrize("alpha", ["1.000001", "10000"])
def test_the_served_extremes(neighbours: str, sigma: str, rate: str, alpha: str) -> None:
    params = {"sigma": sigma, "sampling_rate": rate, "steps": 10**6, "alpha": alpha, "neighbours": neighbours}
    check_width(RDP, params, Fraction(1, 10**15))
    check_monotone(RDP, params, "alpha", Fraction(alpha) * (1 + Fraction(1, 10**7)))


def test_large_orders_approach_the_mixture_of_the_largest_term() -> None:
    """For alpha/sigma^2 far above log(1/q) the Gaussian that is always sampled counts: q^alpha of its moment."""
    sigma, rate, alpha = Fraction(1, 2), Fraction(1, 10), 2000
    result = RDP.reference(sigma=sigma, sampling_rate=rate, steps=1, alpha=alpha, neighbours="add_remove")
    with mp.workdps(30):
        leading = (alpha * mp.log(mpf(1) / 10) + mpf(alpha) * (alpha - 1) * 2) / (alpha - 1)
    assert abs(result.to_floats()[0] / float(leading) - 1) < 1e-12


def test_too_little_noise_is_refused() -> None:
    with pytest.raises(PrecisionError, match="needs more than 200000 nodes"):
        RDP.reference(sigma="1e-6", sampling_rate="0.5", steps=1, alpha="1.5", neighbours="add_remove")


def test_the_moment_is_that_of_both_opinions() -> None:
    """The enclosure at two goals, against the finite sum and the quadrature, which agree with each other."""
    with mp.workdps(40):
        summed = binomial_moment(mpf(1) / 2, mpf(1) / 5, 6)
        integrated = moment(mpf(1) / 2, mpf(1) / 5, mpf(6), replace=False)
        assert abs(summed / integrated - 1) < mpf(10) ** -30
        expected = float(mp.log(summed))
    for goal in (20.0, 60.0):
        ball = log_moment(Fraction(1, 2), Fraction(1, 5), Fraction(6), replace=False, goal=goal)
        assert float(ball.rad()) < 10 * math.exp(-goal)
        assert abs(float(ball.mid()) - expected) < 1e-6 + 10 * math.exp(-goal)


@pytest.mark.parametrize("direction", ["remove", "replace"])
def test_the_moment_is_that_of_the_contour_engine(direction: str) -> None:
    """Another quadrature of the same integral, planned and bounded differently."""
    sigma, rate, alpha = Fraction(4, 5), Fraction(1, 20), Fraction(7, 2)
    mine = log_moment(sigma, rate, alpha, replace=direction == "replace", goal=60.0)
    with ctx.workprec(200):
        c = arb(5) / 2
        other = SampledGaussian(sigma, rate, direction).moments(c, arb(1), 1, log_error=-60.0)[0].real.log()
        assert mine.overlaps(other)
        assert other.rad() < 1e-20


def test_edges() -> None:
    zero = Enclosure.exactly(0)
    point: dict[str, Any] = {"sigma": 1, "alpha": 2, "neighbours": "replace"}
    assert RDP.reference(sampling_rate=0, steps=5, **point) == zero
    assert RDP.reference(sampling_rate="0.5", steps=0, **point) == zero
    assert float(RDP.fast(sampling_rate=0.0, steps=5.0, **point)) == 0.0
    once, many = (RDP.reference(sampling_rate="0.5", steps=steps, width="1e-20", **point) for steps in (1, 1000))
    assert many.overlaps(Enclosure.between(1000 * once.lower.ball, 1000 * once.upper.ball))


# --- float64


def drawn(count: int, seed: int, neighbours: str, *, wide: bool) -> list[Point]:
    rng = np.random.default_rng(seed)
    logs = ((-1.3, 4.0), (-9.0, 0.0), (-6.0, 4.0)) if wide else ((-0.3, 1.3), (-6.0, -0.1), (-2.0, 2.4))
    return [
        {
            "sigma": float(10 ** rng.uniform(*logs[0])), "sampling_rate": float(10 ** rng.uniform(*logs[1])),
            "steps": 1000.0, "alpha": float(1 + 10 ** rng.uniform(*logs[2])), "neighbours": neighbours,
        }
        for _ in range(count)
    ]


@pytest.mark.full
@BOTH
@pytest.mark.parametrize("wide", [False, True], ids=["everyday", "everywhere"])
def test_fast_is_sound_and_tight(neighbours: str, wide: bool) -> None:
    check_fast(RDP, drawn(150, 3, neighbours, wide=wide), "torch" if wide else "numpy")


@BOTH
def test_few_everyday_points_are_left_to_the_reference(neighbours: str) -> None:
    points = drawn(2000, 4, neighbours, wide=False)
    sigma, rate, alpha = (np.array([p[name] for p in points]) for name in ("sigma", "sampling_rate", "alpha"))
    with np.errstate(all="ignore"):
        values = divergence(numpy_namespace, sigma, rate, alpha, rate > 0, replace=neighbours == "replace")
    assert np.isnan(values).mean() < 0.02


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("sigma", 0), ("sampling_rate", "1.5"), ("sampling_rate", -1), ("steps", "0.5"), ("alpha", 1),
        ("neighbours", "both"),
    ],
)
def test_bad_input_is_named(name: str, value: Any) -> None:
    params: dict[str, Any] = {
        "sigma": 1, "sampling_rate": "0.1", "steps": 2, "alpha": 2, "neighbours": "replace", name: value,
    }
    with pytest.raises(DomainError, match=f"^{name} = {value} is outside its domain: "):
        RDP.reference(**params)
