"""DP-GLMtron: the step from pure to approximate local randomisers enumerated, known figures, inverses, edges."""

from __future__ import annotations

import itertools
import random
from fractions import Fraction
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from mpmath import mp, mpf

import oracle
from oracle.core.enclosure import Enclosure
from oracle.core.errors import DomainError
from tests.checks import LIBRARIES, check_anywhere, check_fast, check_monotone, check_second_opinion, check_width
from tests.formulas import normal_tail
from tests.opinion import number
from tests.shuffled import FINE, NEAR, Row, divergence, logarithm
from tests.tiers import examples

EPSILON, SIGMA = oracle.bound("glmtron.epsilon"), oracle.bound("glmtron.sigma")
GAUSSIAN, SHUFFLE = oracle.bound("gaussian.epsilon"), oracle.bound("shuffle.epsilon")
METHODS = ("upper", "closed-form")


def middle(enclosure: Enclosure) -> float:
    return sum(enclosure.to_floats()) / 2


def alone(noise: Any, delta: Any, **options: Any) -> Enclosure:
    """One Gaussian release: a record enters one step."""
    return GAUSSIAN.reference(sigma=noise, sensitivity=1, delta=delta, **options)


# --- the proof, on laws that can be enumerated


def leak(one: Row, other: Row, factor: Fraction) -> Fraction:
    """The mass of (one - factor other)_+."""
    return sum((max(Fraction(0), a - factor * b) for a, b in zip(one, other, strict=True)), Fraction(0))


def random_law(rng: random.Random, size: int) -> list[Fraction]:
    weights = [rng.randint(1, 60) ** 2 for _ in range(size)]
    return [Fraction(weight, sum(weights)) for weight in weights]


@pytest.mark.parametrize("seed", range(11))
def test_approximate_randomisers_cost_what_the_proof_says(seed: int) -> None:
    """Two laws that mirror each other, as Gaussians do, and any third: the clones' curve and (2n - 1) delta0 more."""
    rng = random.Random(seed)
    users, odds = rng.choice((3, 4, 5)), Fraction(rng.randint(11, 20), 10)
    first = random_law(rng, 3)
    second, third = first[::-1], random_law(rng, 3)
    delta0 = max(leak(a, b, odds) for a, b in itertools.permutations((first, second, third), 2))
    assert delta0 > 0, "the draw is a pure randomiser"
    for factor in (Fraction(1), (1 + odds) / 2, odds):
        clones = oracle.bound("shuffle.delta").reference(
            epsilon0=logarithm(odds), users=users, epsilon=logarithm(factor), method="upper", width=FINE
        )
        for others in itertools.combinations_with_replacement((first, second, third), users - 1):
            true = divergence([first, *others], [second, *others], factor)
            assert true <= clones.upper.to_fraction() + (2 * users - 1) * delta0 + NEAR


def test_without_the_steps_deltas_the_clones_curve_is_too_low() -> None:
    """Two users who nearly always say 0, or 2, and seldom anything else: at epsilon0 there are no clones of a delta."""
    first, odds = [Fraction(8, 10), Fraction(1, 10), Fraction(1, 10)], Fraction(3)
    second = first[::-1]
    true = divergence([first, second], [second, second], odds)
    clones = oracle.bound("shuffle.delta").reference(
        epsilon0=logarithm(odds), users=2, epsilon=logarithm(odds), method="upper", width=FINE
    )
    delta0 = leak(first, second, odds)
    assert clones.upper.to_fraction() + delta0 / 5 < true <= clones.upper.to_fraction() + 3 * delta0


@pytest.mark.parametrize("cut", ["-1", "0.5", "2"])
@pytest.mark.parametrize(("noise", "records", "delta"), [(1, 1, "0.1"), (5, 50, "0.01"), (30, 30, "0.001")])
def test_a_thresholded_gaussian_leaks_no_more(noise: int, records: int, delta: str, cut: str) -> None:
    """Every release cut to a bit at a multiple of the noise, the others' all alike: the number of ones, exactly."""
    bound = EPSILON.reference(noise_over_sensitivity=noise, dataset_size=records, delta=delta, method="upper")
    with mp.workdps(40):
        ones = [normal_tail(number(cut) - mpf(mean) / noise) for mean in (0, 1)]

        def counted(chance: mpf) -> list[mpf]:
            q, n = ones[0], records - 1
            others = [mp.binomial(n, j) * q**j * (1 - q) ** (n - j) for j in range(n + 1)]
            return [
                (others[j] * (1 - chance) if j <= n else 0) + (others[j - 1] * chance if j else 0)
                for j in range(records + 1)
            ]

        p, q = counted(ones[0]), counted(ones[1])
        factor = mp.exp(mpf(bound.to_floats()[1]))
        for a, b in ((p, q), (q, p)):
            assert mp.fsum(max(mpf(0), x - factor * y) for x, y in zip(a, b, strict=True)) <= number(delta)


# --- contracts and identities


@pytest.mark.full
@pytest.mark.parametrize("bound", [EPSILON, SIGMA], ids=lambda item: item.name)
@examples(1 / 2)
@given(data=st.data())
def test_contracts_anywhere(bound: oracle.Bound, data: st.DataObject) -> None:
    check_anywhere(bound, data)


@pytest.mark.full
@pytest.mark.parametrize("delta", ["1e-50", "1e-6", "0.3"])
@pytest.mark.parametrize("records", [1, 30, 10**4, 10**9])
@pytest.mark.parametrize("noise", ["0.3", "3", "40"])
def test_the_closed_form_at_extremes(noise: str, records: int, delta: str) -> None:
    common = {"dataset_size": records, "delta": delta, "method": "closed-form"}
    check_second_opinion(EPSILON, {**common, "noise_over_sensitivity": noise})
    check_width(EPSILON, {**common, "noise_over_sensitivity": noise}, Fraction(1, 10**30))
    check_second_opinion(SIGMA, {**common, "epsilon": 1 / Fraction(noise)})
    check_width(SIGMA, {**common, "epsilon": 1 / Fraction(noise)}, Fraction(1, 10**30))


@pytest.mark.parametrize("method", METHODS)
@given(st.floats(-0.5, 2), st.integers(1, 2000), st.floats(-10, -0.5))
def test_the_smaller_of_two_guarantees(method: str, log_noise: float, records: int, log_delta: float) -> None:
    """Never above one Gaussian release, never above shuffled randomisers of the step's epsilon0, and one of the two."""
    noise, delta = Fraction(10.0**log_noise), Fraction(10.0**log_delta)
    value = EPSILON.reference(noise_over_sensitivity=noise, dataset_size=records, delta=delta, method=method)
    one = alone(noise, delta)
    local = alone(noise, delta / (4 * records - 2), width="1e-25")
    low, high = (
        SHUFFLE.reference(epsilon0=end.to_fraction(), users=records, delta=delta / 2, method=method)
        for end in (local.lower, local.upper)
    )
    shuffled = low.hull(high)
    assert value.possibly_le(one)
    assert value.possibly_le(shuffled)
    assert value.overlaps(one) or value.overlaps(shuffled)


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("delta", ["1e-9", "0.2"])
def test_one_record_is_one_gaussian_release(delta: str, method: str) -> None:
    value = EPSILON.reference(noise_over_sensitivity=2, dataset_size=1, delta=delta, method=method, width=FINE)
    assert value.overlaps(alone(2, delta, width=FINE))


def test_an_everyday_case() -> None:
    """Ten times the sensitivity, 550 records, delta = 1e-5: a quarter of 0.3407 is left by counting clones."""
    params: dict[str, Any] = {"noise_over_sensitivity": 10, "dataset_size": 550, "delta": "1e-5"}
    assert abs(middle(EPSILON.reference(method="upper", **params)) - 0.0878014) < 1e-6
    assert EPSILON.reference(method="closed-form", **params).overlaps(alone(10, "1e-5"))


def test_the_closed_form_gains_with_a_million_records() -> None:
    value = EPSILON.reference(noise_over_sensitivity=1, dataset_size=10**6, delta="1e-6", method="closed-form")
    assert abs(middle(value) - 0.843311) < 1e-6
    assert abs(middle(alone(1, "1e-6")) - 4.886554) < 1e-6


@pytest.mark.parametrize("share", [Fraction(1, 10), Fraction(1, 4), Fraction(3, 4)])
def test_another_share_of_delta_gains_little(share: Fraction) -> None:
    """Less than 4 in 100 for the steps' share of delta, where half of it is theirs in the bound."""
    for noise, records, delta in ((10, 550, Fraction(1, 10**5)), (3, 10**4, Fraction(1, 10**6))):
        half = EPSILON.reference(noise_over_sensitivity=noise, dataset_size=records, delta=delta, method="upper")
        local = alone(noise, share * delta / (2 * records - 1)).upper.to_fraction()
        other = SHUFFLE.reference(epsilon0=local, users=records, delta=(1 - share) * delta, method="upper")
        assert other.upper.to_fraction() > Fraction(96, 100) * half.upper.to_fraction()


# --- the document's figures: N = 550, delta = N^-1.1


def documents_delta(records: int) -> Fraction:
    with mp.workdps(40):
        return Fraction(mp.nstr(mp.power(records, mpf(-11) / 10), 30))


@pytest.mark.parametrize(
    ("epsilon", "classical", "by_formula", "exact", "numerical"),
    [("0.05", 75.7, 58.8, 30.235, 7.976), ("0.2", 18.9, 15.5, 9.950, 3.514), ("0.5", 7.6, 6.5, 4.630, 2.186)],
)
def test_the_noise_that_theorem_4_1_needs(
    epsilon: str, classical: float, by_formula: float, exact: float, numerical: float
) -> None:
    """Classical calibration of every step, with the theorem's closed form, gains little on itself without shuffling;

    one exact Gaussian release is better than both, and the clones counted, with exact steps, better by far.
    """
    delta, e = documents_delta(550), float(epsilon)
    with mp.workdps(30):
        total, n, half = number(delta), 550, number(delta) / 2
        assert abs(mp.sqrt(2 * mp.log(mpf(5) / 4 / total)) / e - classical) < 0.05

        def amplified(x: mpf) -> mpf:
            spread = mp.exp(x) / n
            return mp.log(1 + mp.tanh(x / 2) * (8 * mp.sqrt(spread * mp.log(4 / half)) + 8 * spread)) - e

        local = mp.findroot(amplified, (0.01, 1.4), solver="anderson")
        delta0 = half / ((mp.exp(e) + 1) * (1 + mp.exp(-local) / 2) * n)
        assert abs(mp.sqrt(2 * mp.log(mpf(5) / 4 / delta0)) / local - by_formula) < 0.15
    common: dict[str, Any] = {"dataset_size": 550, "epsilon": epsilon, "delta": delta}
    assert abs(middle(SIGMA.reference(method="closed-form", **common)) - exact) < 0.001
    assert abs(middle(SIGMA.reference(method="upper", **common)) - numerical) < 0.001


@pytest.mark.parametrize(("epsilon", "constant"), [("0.05", 0.706), ("0.2", 1.244), ("0.5", 1.935)])
def test_the_constant_of_theorem_4_1(epsilon: str, constant: float) -> None:
    """f = c log(N/delta) / (epsilon sqrt(N)): c = 1 is proved at 0.05 by counting clones, not at 0.2 and 0.5."""
    delta = documents_delta(550)
    least = SIGMA.reference(dataset_size=550, epsilon=epsilon, delta=delta, method="upper").upper.to_fraction()
    with mp.workdps(30):
        unit = mp.log(550 / number(delta)) / (number(epsilon) * mp.sqrt(550))
        assert abs(number(least) / unit - constant) < 0.001


def test_the_condition_of_the_closed_form_excludes_the_documents_small_data_sets() -> None:
    for records in (50, 90):
        delta = documents_delta(records)
        value = EPSILON.reference(noise_over_sensitivity=100, dataset_size=records, delta=delta, method="closed-form")
        assert value.overlaps(alone(100, delta))


# --- the inverse


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize(
    ("records", "epsilon", "delta"), [(1, "1", "1e-5"), (200, "0", "0.01"), (200, "0.1", "1e-5"), (5000, "0.3", "1e-6")]
)
def test_sigma_inverts_epsilon(records: int, epsilon: str, delta: str, method: str) -> None:
    common: dict[str, Any] = {"dataset_size": records, "delta": delta, "method": method}
    least = SIGMA.reference(epsilon=epsilon, width="1e-25", **common)
    at, below = (
        EPSILON.reference(noise_over_sensitivity=noise, **common)
        for noise in (least.upper.to_fraction(), least.lower.to_fraction() * (1 - Fraction(1, 10**6)))
    )
    assert at.possibly_le(Fraction(epsilon))
    assert not below.possibly_le(Fraction(epsilon))


def test_the_least_noise_may_be_where_the_condition_of_the_closed_form_ends() -> None:
    """A little less noise, and the formula no longer holds: from 0.9 to one Gaussian release's 2.9."""
    common: dict[str, Any] = {"dataset_size": 10**5, "delta": "1e-3", "method": "closed-form"}
    least = SIGMA.reference(epsilon=2, **common)
    above, below = (
        EPSILON.reference(noise_over_sensitivity=least.upper.to_fraction() * (1 + shift * Fraction(1, 10**6)), **common)
        for shift in (1, -1)
    )
    assert above.certainly_le(Fraction(19, 10))
    assert not below.possibly_le(2)


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("name", ["noise_over_sensitivity", "delta"])
def test_strictly_monotone_inside(name: str, method: str) -> None:
    params: dict[str, Any] = {
        "noise_over_sensitivity": Fraction(10), "dataset_size": 20000, "delta": Fraction(1, 10**6), "method": method,
    }
    check_monotone(EPSILON, params, name, params[name] * (1 + Fraction(1, 10**8)), certain=True)


def test_more_records_help_only_once_they_hide_more_than_they_cost() -> None:
    values = [
        middle(EPSILON.reference(noise_over_sensitivity=10, dataset_size=n, delta="1e-5", method="upper"))
        for n in (1, 20, 60, 550)
    ]
    assert values[0] == values[1] > values[2] > values[3]


# --- the fast path where the shared samples do not go


@pytest.mark.full
@pytest.mark.parametrize("library", LIBRARIES)
def test_fast_with_many_records(library: str) -> None:
    for method in METHODS:
        check_fast(EPSILON, [
            {"noise_over_sensitivity": f, "dataset_size": n, "delta": d, "method": method}
            for f, n, d in ((10.0, 550, 1e-5), (3.0, 5000, 1e-6), (100.0, 3000, 1e-9), (1.0, 20000, 1e-3))
        ], library)
        check_fast(SIGMA, [
            {"dataset_size": n, "epsilon": e, "delta": d, "method": method}
            for e, n, d in ((0.05, 550, 1e-5), (0.5, 2000, 1e-6), (2.0, 5000, 1e-3), (2.0, 100000, 1e-3))
        ], library)


@pytest.mark.parametrize("library", LIBRARIES)
def test_fast_at_the_condition_of_the_closed_form(library: str) -> None:
    edge = SIGMA.reference(dataset_size=10**5, epsilon=2, delta=1e-3, method="closed-form").to_floats()[1]
    check_fast(EPSILON, [
        {
            "noise_over_sensitivity": edge * (1 + sign * 2.0**-j), "dataset_size": 10**5, "delta": 1e-3,
            "method": "closed-form",
        }
        for sign in (-1, 1) for j in range(2, 53, 5)
    ], library)


@pytest.mark.full
def test_fast_where_the_shuffled_epsilon_vanishes() -> None:
    """delta next to the total variation: an epsilon that is a difference of deltas."""
    params: dict[str, Any] = {"dataset_size": 50, "epsilon": 0.0, "delta": 0.01, "method": "upper"}
    edge = SIGMA.reference(**params).to_floats()[1]
    check_fast(EPSILON, [
        {"noise_over_sensitivity": edge * (1 + sign * 2.0**-j), "dataset_size": 50, "delta": 0.01, "method": "upper"}
        for sign in (-1, 1) for j in range(2, 53, 12)
    ], "numpy")


@pytest.mark.parametrize(
    ("name", "value"),
    [("noise_over_sensitivity", 0), ("dataset_size", 0), ("dataset_size", 10**9 + 1), ("delta", 0), ("delta", 1),
     ("method", "lower")],
)
def test_bad_input_is_named(name: str, value: Any) -> None:
    params: dict[str, Any] = {
        "noise_over_sensitivity": 1, "dataset_size": 4, "delta": "1e-5", "method": "upper", name: value,
    }
    with pytest.raises(DomainError, match=f"^{name} = "):
        EPSILON.reference(**params)
