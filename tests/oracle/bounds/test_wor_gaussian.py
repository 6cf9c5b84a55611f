"""Gaussian noise on batches without replacement: closed forms, real mechanisms below the bound, orders, edges."""

from __future__ import annotations

import itertools
import math
import random
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from mpmath import mp, mpf

import oracle
from oracle.core.enclosure import Enclosure
from oracle.core.errors import DomainError
from oracle.engines.composed_pairs import PoissonGaussian, compose
from tests.checks import (
    LIBRARIES,
    check_anywhere,
    check_fast,
    check_monotone,
    check_second_opinion,
    check_width,
)
from tests.opinion import at_both_precisions, number
from tests.tiers import examples

RDP, EPSILON = oracle.bound("wor-gaussian.rdp"), oracle.bound("wor-gaussian.epsilon")
FINE = Fraction(1, 10**25)


def exact(**params: Any) -> Enclosure:
    """The exact moment's Renyi DP of one step, finely."""
    return RDP.reference(**{"steps": 1, "method": "exact", "width": FINE, **params})


@pytest.mark.full
@pytest.mark.parametrize("bound", [RDP, EPSILON], ids=lambda item: item.name)
@examples(1 / 2)
@given(data=st.data())
def test_contracts_anywhere(bound: oracle.Bound, data: st.DataObject) -> None:
    check_anywhere(bound, data)


@pytest.mark.full
@examples(1 / 2)
@given(st.floats(-4, 2), st.floats(-0.4, 3), st.floats(-4, -0.001))
def test_orders_that_are_no_integers(log_order: float, log_sigma: float, log_rate: float) -> None:
    check_second_opinion(RDP, {
        "sigma": 10.0**log_sigma, "sampling_rate": 10.0**log_rate, "steps": 1, "alpha": 1 + 10.0**log_order,
        "method": "exact",
    })


# --- closed forms


def tail(x: mpf) -> mpf:
    return mp.erfc(x / mp.sqrt(2)) / 2


def binomial_sum(sigma: mpf, rate: mpf, alpha: int, *, beyond: bool) -> mpf:
    """int phi u^alpha over y > b/2 (beyond) or over all y, by expanding the power."""
    b = 2 / sigma
    return mp.fsum(
        mp.binomial(alpha, j) * (1 - rate) ** (alpha - j) * rate**j * mp.exp(j * (j - 1) * b * b / 2)
        * (tail(b / 2 - j * b) if beyond else 1)
        for j in range(alpha + 1)
    )


@pytest.mark.full
@pytest.mark.parametrize(
    ("sigma", "rate", "alpha"), [("1", "0.01", 2), ("3", "0.3", 7), ("0.5", "0.9", 24), ("20", "1e-3", 40)]
)
def test_integer_orders_by_a_binomial_sum(sigma: str, rate: str, alpha: int) -> None:
    """The positive part of the loss in closed form; only the negative part, whose integrand is at most phi, by quad."""

    def truth() -> mpf:
        s, q = number(sigma), number(rate)
        b = 2 / s
        pieces = [b / 2 + mpf(k) / 4 * min(mpf(1), s) for k in range(40)] + [b / 2 + 4 * k for k in range(3, 8)]
        with mp.extradps(25):
            negative = mp.quad(
                lambda y: mp.npdf(y) * (1 - q + q * mp.exp(b * y - b * b / 2)) ** (1 - alpha), sorted(pieces)
            )
            atom = 1 - (1 - q) * tail(b / 2) - q * tail(-b / 2) - tail(b / 2)
            return mp.log(binomial_sum(s, q, alpha, beyond=True) + negative + atom) / (alpha - 1)

    with mp.workdps(45):
        value, found = truth(), exact(sigma=sigma, sampling_rate=rate, alpha=alpha)
        low, high = (mpf(end.mantissa) * mpf(2) ** end.exponent for end in (found.lower, found.upper))
        assert low * (1 - mpf(10) ** -24) < value < high * (1 + mpf(10) ** -24)


@pytest.mark.parametrize("alpha", [2, 3, 100, 1000])
@pytest.mark.parametrize("rate", ["0.001", "0.5"])
def test_much_too_little_noise(rate: str, alpha: int) -> None:
    """sigma = 0.01: the sum is all there is, since what is left out is at most 2 beside e^20000."""
    truth = at_both_precisions(
        lambda: mp.log(binomial_sum(mpf(1) / 100, number(rate), alpha, beyond=True)) / (alpha - 1)
    )
    assert exact(sigma="0.01", sampling_rate=rate, alpha=alpha).overlaps(truth)


@pytest.mark.parametrize("sigma", ["0.01", "0.3", "1", "50", "1e4"])
@pytest.mark.parametrize("alpha", ["1.0001", "2", "33.3", "1000"])
def test_the_whole_data_is_a_gaussian(sigma: str, alpha: str) -> None:
    """Rate 1 is a Gaussian release of sensitivity 2: 2 alpha/sigma^2; and a rate next to 1 is next to it."""
    gaussian = 2 * Fraction(alpha) / Fraction(sigma) ** 2
    assert exact(sigma=sigma, sampling_rate=1, alpha=alpha).contains(gaussian)
    near = exact(sigma=sigma, sampling_rate=1 - Fraction(1, 10**18), alpha=alpha)
    assert near.certainly_le(gaussian)
    assert not near.possibly_le(gaussian * (1 - Fraction(1, 10**12)))


@given(st.floats(-1, 3), st.floats(-6, 0), st.integers(2, 80))
def test_between_the_attained_pair_and_the_published_bound(log_sigma: float, log_rate: float, alpha: int) -> None:
    """The Renyi divergence of phi u from phi, a real neighbouring pair, is below; Wang and others' bound is above."""
    sigma, rate = Fraction(10.0**log_sigma), Fraction(10.0**log_rate)
    found = exact(sigma=sigma, sampling_rate=rate, alpha=alpha)

    def one_pair() -> mpf:
        with mp.extradps(20 + int(-2 * log_rate + 2 * max(0.0, log_sigma))):
            result = mp.log(binomial_sum(number(sigma), number(rate), alpha, beyond=False)) / (alpha - 1)
        return +result

    assert at_both_precisions(one_pair).possibly_le(found)
    published = RDP.reference(sigma=sigma, sampling_rate=rate, steps=1, alpha=alpha, method="wbk", width=FINE)
    assert found.certainly_le(published)


# --- real mechanisms


def batch_density(data: tuple[float, ...], batch: int, sigma: float, y: Any) -> Any:
    """The density of the noisy sum of a batch of scalars, at the points y."""
    sums = [sum(chosen) for chosen in itertools.combinations(data, batch)]
    parts = [np.exp(-0.5 * ((y - total) / sigma) ** 2) for total in sums]
    return sum(parts) / (len(sums) * sigma * math.sqrt(2 * math.pi))


@pytest.mark.parametrize("rest", [(0, 0), (1, 1), (-1, -1), (1, -1), (0.5, -1)], ids=str)
@pytest.mark.parametrize("batch", [1, 2])
@pytest.mark.parametrize("pair", [(1, -1), (1, 0)])
def test_no_data_set_of_three_exceeds_the_bound(rest: tuple[float, float], batch: int, pair: tuple[int, int]) -> None:
    """Renyi divergences and deltas of one step, both ways, by summing up the mechanism's own densities."""
    y, gap = np.linspace(-24, 24, 4801, retstep=True)
    common: dict[str, Any] = {"sigma": "1.5", "sampling_rate": Fraction(batch, 3)}
    first, second = (batch_density((one, *rest), batch, 1.5, y) for one in pair)
    for p, q in ((first, second), (second, first)):
        assert float(np.sum(p)) * gap == pytest.approx(1, abs=1e-12)
        for alpha in (1.5, 4.0):
            divergence = math.log(float(np.sum(p**alpha * q ** (1 - alpha))) * gap) / (alpha - 1)
            assert divergence <= exact(alpha=alpha, **common).to_floats()[1] * (1 + 1e-10)
        for epsilon in (0.0, 0.3, 1.0):
            leak = float(np.sum(np.maximum(0.0, p - math.exp(epsilon) * q))) * gap
            if leak > 1e-6:  # a sum over a kink is right to about 1e-5
                claimed = EPSILON.reference(steps=1, delta=leak * (1 - 1e-4), **common)
                assert claimed.to_floats()[1] >= epsilon


@pytest.mark.parametrize("delta", ["0.15", "0.05", "1e-4"])
def test_one_record_against_all_others_needs_the_whole_epsilon(delta: str) -> None:
    """x = 1 against x = -1 among records that are all -1: the curve of one step is attained."""
    epsilon = EPSILON.reference(sigma="1.5", sampling_rate="1/3", steps=1, delta=delta).to_floats()[1]
    y, gap = np.linspace(-24, 24, 480001, retstep=True)
    p, q = (batch_density((one, -1, -1), 1, 1.5, y) for one in (1, -1))
    leak = float(np.sum(np.maximum(0.0, p - math.exp(epsilon) * q))) * gap
    assert leak == pytest.approx(float(delta), rel=1e-6)


# --- one step against other bounds, many against one


@pytest.mark.parametrize("delta", ["1e-2", "1e-5", "1e-30"])
@pytest.mark.parametrize(("sigma", "rate"), [("1", "0.01"), ("0.2", "0.5"), ("30", "0.9")])
def test_one_step_by_amplification_and_by_a_poisson_sample(sigma: str, rate: str, delta: str) -> None:
    """The Gaussian curve of sensitivity 2 amplified; and removing a record from a Poisson sample at half the noise."""
    found = EPSILON.reference(sigma=sigma, sampling_rate=rate, steps=1, delta=delta, width=FINE)
    if Fraction(delta) < Fraction(rate):
        base = oracle.bound("gaussian.epsilon").reference(
            sigma=sigma, sensitivity=2, delta=Fraction(delta) / Fraction(rate), width=FINE
        )
        amplified = Enclosure(*(
            getattr(oracle.bound("amplification.poisson").reference(
                base_epsilon=end.to_fraction(), sampling_rate=rate, width=FINE
            ), name)
            for name, end in (("lower", base.lower), ("upper", base.upper))
        ))
        assert found.overlaps(amplified)
    removed = compose([(PoissonGaussian(Fraction(sigma) / 2, rate), 1)]).epsilon(delta, width=FINE)
    assert found.overlaps(removed)


@pytest.mark.full
@pytest.mark.parametrize(("sigma", "rate", "steps"), [("1", "0.01", 100), ("4", "0.05", 1000), ("0.7", "0.5", 3)])
def test_epsilon_is_the_best_of_all_orders(sigma: str, rate: str, steps: int) -> None:
    common: dict[str, Any] = {"sigma": sigma, "sampling_rate": rate, "steps": steps}
    found = EPSILON.reference(delta="1e-5", **common)
    converted = []
    for k in range(-8, 60):
        alpha = 1 + Fraction(11, 10) ** k
        divergence = RDP.reference(alpha=alpha, method="exact", **common).upper.to_fraction()
        converted.append(
            oracle.bound("rdp.epsilon").reference(alpha=alpha, rdp=divergence, delta="1e-5", conversion="canonne")
        )
        assert found.certainly_le(converted[-1])
    assert min(item.to_floats()[1] for item in converted) < found.to_floats()[0] * 1.01


@pytest.mark.parametrize("delta", ["1e-2", "1e-6"])
def test_the_exact_step_is_below_the_converted_one(delta: str) -> None:
    common: dict[str, Any] = {"sigma": "1.5", "sampling_rate": "0.1", "delta": delta}
    one = EPSILON.reference(steps=1, **common)
    for alpha in (2, 5, 11, 30):
        divergence = exact(sigma="1.5", sampling_rate="0.1", alpha=alpha).upper.to_fraction()
        assert one.certainly_le(
            oracle.bound("rdp.epsilon").reference(alpha=alpha, rdp=divergence, delta=delta, conversion="canonne")
        )
    assert one.certainly_le(EPSILON.reference(steps=2, **common))


def test_the_whole_data_many_times_is_zcdp() -> None:
    found = EPSILON.reference(sigma="10", sampling_rate=1, steps=7, delta="1e-6", width=FINE)
    assert found.overlaps(oracle.bound("zcdp.epsilon").reference(rho=Fraction(14, 100), delta="1e-6", width=FINE))
    near = EPSILON.reference(sigma="10", sampling_rate=1 - Fraction(1, 10**15), steps=7, delta="1e-6")
    assert near.possibly_le(found)
    assert not near.possibly_le(found.lower.to_fraction() * (1 - Fraction(1, 10**9)))


def test_sampling_without_replacement_is_no_poisson_sampling() -> None:
    """Replacing a record moves the sum by 2: a Poisson accountant (1 for adding or removing) would promise too much."""
    poisson = compose([(PoissonGaussian("2", "0.01"), 1000)]).epsilon("1e-5")
    found = EPSILON.reference(sigma="2", sampling_rate="0.01", steps=1000, delta="1e-5")
    assert poisson.certainly_le(found)
    assert not found.possibly_le(3 * poisson.upper.to_fraction())


# --- fast paths, extremes and edges


@pytest.mark.full
@pytest.mark.parametrize("library", LIBRARIES)
def test_fast_orders_that_are_no_integers(library: str) -> None:
    rng = random.Random(6)
    check_fast(RDP, [
        {"sigma": 10 ** rng.uniform(-2, 4), "sampling_rate": 10 ** rng.uniform(-9, 0), "steps": rng.randint(1, 10**6),
         "alpha": 1 + 10 ** rng.uniform(-6, 3), "method": "exact"}
        for _ in range(200)
    ], library)


@pytest.mark.parametrize("library", LIBRARIES)
def test_fast_published_bound(library: str) -> None:
    rng = random.Random(7)
    check_fast(RDP, [
        {"sigma": 10 ** rng.uniform(-2, 4), "sampling_rate": 10 ** rng.uniform(-9, 0), "steps": rng.randint(1, 10**6),
         "alpha": float(int(10 ** rng.uniform(0.31, 3.2))), "method": "wbk"}
        for _ in range(100)
    ], library)


@pytest.mark.full
@pytest.mark.parametrize("library", LIBRARIES)
def test_fast_many_steps(library: str) -> None:
    rng = random.Random(8)
    check_fast(EPSILON, [
        {"sigma": 10 ** rng.uniform(-2, 4), "sampling_rate": 10 ** rng.uniform(-8, 0),
         "steps": int(10 ** rng.uniform(0.31, 6)), "delta": 10 ** rng.uniform(-20, -1)}
        for _ in range(60)
    ], library)


@pytest.mark.parametrize("sigma", ["0.0001", "0.01", "1e4", "1e6"])
@pytest.mark.parametrize("rate", ["1e-20", "1e-3", "0.999999"])
def test_widths_are_reached_at_extremes(sigma: str, rate: str) -> None:
    for alpha in ("1.000001", "2", "1000", "1e6"):
        params = {"sigma": sigma, "sampling_rate": rate, "steps": 10, "alpha": alpha, "method": "exact"}
        check_width(RDP, params, Fraction(1, 10**15))


@pytest.mark.parametrize("sigma", ["0.01", "1", "1e4"])
@pytest.mark.parametrize("steps", [2, 10**6])
def test_epsilon_at_extremes(sigma: str, steps: int) -> None:
    for rate, delta in (("1e-6", "1e-12"), ("0.3", "1e-300"), ("0.3", "0.9")):
        check_width(EPSILON, {"sigma": sigma, "sampling_rate": rate, "steps": steps, "delta": delta}, FINE)


def test_nothing_costs_nothing() -> None:
    zero = Enclosure.exactly(0)
    for rate, steps in ((0, 5), ("0.1", 0)):
        for method in ("exact", "wbk"):
            assert RDP.reference(sigma=1, sampling_rate=rate, steps=steps, alpha=2, method=method) == zero
            assert float(RDP.fast(sigma=1.0, sampling_rate=float(rate), steps=steps, alpha=2.0, method=method)) == 0.0
        assert EPSILON.reference(sigma=1, sampling_rate=rate, steps=steps, delta="1e-5") == zero
    # One batch of a tenth of the records: a delta of a tenth is granted by being there.
    assert EPSILON.reference(sigma="0.01", sampling_rate="0.1", steps=1, delta="0.1") == zero
    assert EPSILON.reference(sigma="0.01", sampling_rate="0.1", steps=1, delta="0.0999").lower.compare(5000) > 0


@pytest.mark.parametrize("name", ["sigma", "sampling_rate", "steps", "delta"])
@pytest.mark.parametrize("steps", [1, 100])
def test_strictly_monotone_inside(name: str, steps: int) -> None:
    params: dict[str, Any] = {
        "sigma": Fraction(2), "sampling_rate": Fraction(1, 100), "steps": steps, "delta": Fraction(1, 10**6),
    }
    step = steps + 1 if name == "steps" else params[name] * (1 + Fraction(1, 10**8))
    check_monotone(EPSILON, params, name, step, certain=True)


def test_the_published_bound_takes_only_integers() -> None:
    params: dict[str, Any] = {"sigma": 1, "sampling_rate": "0.1", "steps": 1, "method": "wbk"}
    for alpha in ("1.5", "2.5", 10001):
        with pytest.raises(DomainError, match=r"^alpha = .* method wbk: an integer in \[2, 10000\]"):
            RDP.reference(alpha=alpha, **params)
    with pytest.raises(DomainError, match=r"^alpha = .* method wbk"):
        RDP.fast(**{**params, "sampling_rate": [0.0, 0.1], "alpha": [2.0, 2.5]})


@pytest.mark.parametrize(
    ("name", "value"),
    [("sigma", 0), ("sigma", "1e-5"), ("sampling_rate", "1.1"), ("steps", "0.5"), ("alpha", 1), ("alpha", "1e7"),
     ("method", "zhu")],
)
def test_bad_input_is_named(name: str, value: Any) -> None:
    params: dict[str, Any] = {
        "sigma": 1, "sampling_rate": "0.1", "steps": 1, "alpha": 2, "method": "exact", name: value,
    }
    with pytest.raises(DomainError, match=f"^{name} = "):
        RDP.reference(**params)
