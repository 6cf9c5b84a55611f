"""Private tuning: exact small mechanisms, the register's figures, both ends, limits, and errors."""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from mpmath import mp, mpf

import oracle
from oracle.bounds.tuning.tuning import tuned_epsilon
from oracle.core.enclosure import Enclosure
from oracle.core.errors import DomainError
from oracle.core.planning import CONDITIONAL, DOES_NOT_APPLY, PROVED, plan, read
from oracle.engines.composed_pairs import PoissonGaussian, compose
from tests.formulas import gaussian_delta
from tests.topics.tuning import log_moment

THEOREM, PAIR = oracle.bound("poisson-tuning.epsilon"), oracle.bound("poisson-tuning-pair.epsilon")
RDP, RENYI = oracle.bound("poisson-tuning.rdp"), oracle.bound("poisson-tuning-renyi.epsilon")
LOWER, GDP = oracle.bound("poisson-tuning.lower"), oracle.bound("gdp.epsilon")

laws = st.lists(st.integers(1, 20), min_size=2, max_size=5).map(lambda parts: [mpf(p) / sum(parts) for p in parts])
means = st.floats(0.05, 20).map(mpf)


def best_of(law: Sequence[mpf], mean: mpf) -> list[mpf]:
    """The law of the best outcome (the first is best) of a Poisson number of draws; the last entry is no draw."""
    reached = [mp.exp(-mean * mp.fsum(law[:k])) for k in range(len(law) + 1)]
    return [reached[k] - reached[k + 1] for k in range(len(law))] + [reached[-1]]


def divergence(law: Sequence[mpf], other: Sequence[mpf], epsilon: mpf) -> mpf:
    return mp.fsum(max(mpf(0), p - mp.exp(epsilon) * q) for p, q in zip(law, other, strict=True))


def same_length(one: list[mpf], other: list[mpf]) -> tuple[list[mpf], list[mpf]]:
    size = min(len(one), len(other))
    return [p / mp.fsum(one[:size]) for p in one[:size]], [p / mp.fsum(other[:size]) for p in other[:size]]


# --- the theorems, on mechanisms whose every outcome is listed


@given(laws, laws, means, st.floats(0, 8), st.floats(0, 2))
def test_theorem_5_1_holds_for_listed_mechanisms(
    one: list[mpf], other: list[mpf], mean: mpf, epsilon: float, first: float
) -> None:
    law, neighbour = same_length(one, other)

    def curve(x: mpf) -> mpf:
        return max(divergence(law, neighbour, x), divergence(neighbour, law, x))

    left = mpf(epsilon) - mean * (mp.expm1(first) + curve(mpf(first)))
    assert divergence(best_of(law, mean), best_of(neighbour, mean), mpf(epsilon)) <= mean * curve(left) + mpf("1e-14")


@given(laws, laws, means, st.floats(0.05, 20))
def test_the_renyi_bound_holds_for_listed_mechanisms(
    one: list[mpf], other: list[mpf], mean: mpf, order: float
) -> None:
    law, neighbour = same_length(one, other)
    t = mpf(order)

    def moment(p: Sequence[mpf], q: Sequence[mpf]) -> mpf:
        return mp.fsum(a ** (1 + t) * b**-t for a, b in zip(p, q, strict=True))

    x = mp.log1p(1 / t)
    curve = max(divergence(law, neighbour, x), divergence(neighbour, law, x))
    allowed = mp.exp(-mean) + mean * moment(law, neighbour) * mp.exp(mean * t * curve)
    assert moment(best_of(law, mean), best_of(neighbour, mean)) <= allowed * (1 + mpf("1e-12"))


def test_the_quoted_renyi_bound_would_be_negative_for_few_runs() -> None:
    """r + m delta + log(m)/t at m = 1/2, t = 1 and a base that reveals little; a divergence is not negative."""
    base = {"base_mu": mpf("0.001"), "mean_runs": mpf("0.5")}
    chance = base["mean_runs"] * gaussian_delta(base["base_mu"], mp.log(2))
    quoted = base["base_mu"] ** 2 + chance + mp.log(base["mean_runs"])
    assert quoted < 0 < log_moment(base, mpf(1))
    assert not RDP.reference(base_mu="0.001", mean_runs="0.5", alpha=2).certainly_le(0)
    for mean in (1, 5):  # nearly the quoted value where runs are many
        value = RDP.reference(base_mu="0.1", mean_runs=mean, alpha=3).to_floats()[0]
        plain = 0.015 + mean * float(gaussian_delta(mpf("0.1"), mp.log(1.5))) + math.log(mean) / 2
        assert 0 < value - plain < math.exp(-mean)


@pytest.mark.parametrize("mean", [1, 10, 20])
@pytest.mark.parametrize("mu", ["0.1", "0.3473", "1.0749", "3"])
def test_no_other_epsilon1_is_better(mu: str, mean: int) -> None:
    ours = THEOREM.reference(base_mu=mu, mean_runs=mean, delta="1e-5")
    hat = GDP.reference(mu=mu, delta=Fraction(1, 10**5 * mean)).to_floats()[1]
    for first in (1e-3, 0.01, 0.1, 0.5, 1.0, 3.0):
        other = hat + mean * (math.expm1(first) + float(gaussian_delta(mpf(mu), mpf(first))))
        assert ours.certainly_le(other)


# --- figures


@pytest.mark.parametrize(
    ("mu", "mean", "theorem", "renyi"),
    [
        ("0.34730156", 20, ("4.322", "4.324"), ("3.781", "3.782")),
        ("1.0749064", 20, ("13.640", "13.642"), ("12.767", "12.78")),
        ("0.34730156", 10, ("2.892", "2.894"), ("2.69", "2.70")),
        ("1.0749064", 10, ("9.396", "9.398"), ("9.15", "9.17")),
    ],
)
def test_the_figures_of_the_register(
    mu: str, mean: int, theorem: tuple[str, str], renyi: tuple[str, str]
) -> None:
    for bound, (low, high) in ((THEOREM, theorem), (RENYI, renyi)):
        value = bound.reference(base_mu=mu, mean_runs=mean, delta="1e-5")
        assert value.certainly_le(Fraction(high))
        assert not value.possibly_le(Fraction(low))


@pytest.mark.parametrize(
    ("base", "mu", "threshold", "printed", "lower"),
    [
        ("1.33", "0.347301", "-0.15", "2.88", "3.63"), ("4.76", "1.074906", "0.30", "8.91", "12.371"),
        ("1.3174", "0.34432", "-0.15", "2.88", "3.596"), ("4.543", "1.0326", "0.30", "8.91", "11.846"),
    ],
)
def test_the_printed_epsilons_are_too_small(base: str, mu: str, threshold: str, printed: str, lower: str) -> None:
    """Runs of mu-GDP that are (base, 1e-5)-DP, 20 on average: the tuning is certainly not (printed, 1e-5)-DP."""
    assert GDP.reference(mu=mu, delta="1e-5").certainly_le(Fraction(base))
    truth = LOWER.reference(base_mu=mu, mean_runs=20, rank_threshold=threshold, delta="1e-5")
    assert not truth.possibly_le(Fraction(printed))
    assert not truth.possibly_le(Fraction(lower))
    assert truth.certainly_le(RENYI.reference(base_mu=mu, mean_runs=20, delta="1e-5"))
    assert truth.certainly_le(THEOREM.reference(base_mu=mu, mean_runs=20, delta="1e-5"))


@pytest.mark.parametrize("mean", [0.5, 5, 50])
@pytest.mark.parametrize("mu", [0.05, 0.5, 2.0])
@pytest.mark.parametrize("delta", [1e-8, 1e-3])
def test_what_is_certain_lies_below_what_is_proved(mu: float, mean: float, delta: float) -> None:
    above = [bound.reference(base_mu=mu, mean_runs=mean, delta=delta) for bound in (THEOREM, RENYI)]
    for threshold in (-2.0, -0.5, mu / 2, 1.0, 4.0):
        below = LOWER.reference(base_mu=mu, mean_runs=mean, rank_threshold=threshold, delta=delta)
        assert all(below.possibly_le(item) for item in above)


@pytest.mark.full
@pytest.mark.parametrize(("mu", "mean", "threshold"), [
    (0.7, 2.0, 1.1), pytest.param(0.5, 5.0, -0.2, marks=pytest.mark.thorough),
    pytest.param(1.0, 20.0, 0.4, marks=pytest.mark.thorough),
])
def test_the_example_by_integration_of_its_densities(mu: float, mean: float, threshold: float) -> None:
    """The hockey-stick divergence of the two released laws at the bound's epsilon is delta."""
    delta = 1e-3
    epsilon = mpf(LOWER.reference(base_mu=mu, mean_runs=mean, rank_threshold=threshold, delta=delta).to_floats()[0])

    def density(y: mpf, centre: float) -> mpf:
        better = mp.ncdf(threshold, centre, 1) + 1 - mp.ncdf(y, centre, 1)
        return mean * mp.npdf(y, centre, 1) * mp.exp(-mean * better)

    def excess(y: mpf) -> mpf:
        return max(mpf(0), density(y, mu) - mp.exp(epsilon) * density(y, 0))

    edges = [threshold + mpf(k) / 16 for k in range(160)]
    total = mp.fsum(mp.quad(excess, [a, a + mpf(1) / 16], maxdegree=4) for a in edges)
    assert abs(total - delta) < 1e-3 * delta  # the kink of the positive part costs the rule its digits


# --- limits


def test_few_runs_cost_nothing_at_a_delta() -> None:
    assert THEOREM.reference(base_mu=1, mean_runs="1e-9", delta="1e-3") == Enclosure.exactly(0)
    assert RENYI.reference(base_mu=1, mean_runs="1e-9", delta="0.3") == Enclosure.exactly(0)


def test_the_threshold_of_total_variation() -> None:
    """Just above delta = m tv the cost is 0, just below it is more than m tv."""
    distance = oracle.bound("gdp.delta").reference(mu=1, epsilon=0).to_floats()[0]
    assert THEOREM.reference(base_mu=1, mean_runs="0.5", delta=distance / 2 + 1e-9) == Enclosure.exactly(0)
    assert not THEOREM.reference(base_mu=1, mean_runs="0.5", delta=distance / 2 - 1e-9).possibly_le(distance / 2)


def test_huge_runs_are_told_from_a_distance_of_one() -> None:
    """tv lies within e^(-10^15) of 1: comparing m tv with delta must not need the digits in between."""
    assert THEOREM.reference(base_mu=10**8, mean_runs="0.5", delta="0.5") == Enclosure.exactly(0)
    assert not THEOREM.reference(base_mu=10**8, mean_runs="0.5001", delta="0.5").possibly_le(10**15)


def test_a_single_gaussian_as_a_composition() -> None:
    base = compose([(PoissonGaussian(sigma=2), 1)], neighbours="add_remove")
    for mean, delta in ((20, "1e-5"), ("0.3", "1e-3"), ("0.001", "0.1")):
        assert tuned_epsilon(base, mean, delta).overlaps(THEOREM.reference(base_mu="0.5", mean_runs=mean, delta=delta))


def test_dp_sgd_runs_by_their_own_curve() -> None:
    """sigma = 15, q = 1/60, T = 24000 of document 000: 1.3171 a run, and 4.284 tuned, not 2.88."""
    base = compose([(PoissonGaussian(sigma=15, sampling_rate="1/60"), 24000)], neighbours="replace")
    value = tuned_epsilon(base, 20, "1e-5", width="1e-9")
    assert value.certainly_le(Fraction("4.2841"))
    assert not value.possibly_le(Fraction("4.2839"))
    assert value.width() <= 1e-9


def test_tuned_epsilon_names_bad_input() -> None:
    base = compose([(PoissonGaussian(sigma=2), 1)])
    for mean, delta, name in ((0, "1e-5", "mean"), (20, 1, "delta")):
        with pytest.raises(DomainError, match=name):
            tuned_epsilon(base, mean, delta)


@given(st.floats(0.01, 3), st.floats(0.01, 20))
def test_a_pair_is_randomised_response(epsilon: float, mean: float) -> None:
    """Without failures and with next to no delta, epsilon_hat is the base's epsilon."""
    value = PAIR.reference(base_epsilon=epsilon, base_delta=0, mean_runs=mean, delta="1e-200")
    assert abs(value.to_floats()[0] - (epsilon + mean * math.tanh(epsilon / 2))) < 1e-9 * (1 + mean)


def test_a_gdp_base_is_never_dearer_than_its_own_point() -> None:
    for delta in ("1e-7", "1e-9"):
        point = GDP.reference(mu="0.5", delta=delta).to_floats()[1]
        known = PAIR.reference(base_epsilon=point, base_delta=delta, mean_runs=20, delta="1e-5")
        assert THEOREM.reference(base_mu="0.5", mean_runs=20, delta="1e-5").certainly_le(known)


def test_a_pair_at_the_least_delta() -> None:
    """delta = mean_runs * base_delta exactly is allowed and leaves nothing; one bit less is an error on both paths."""
    exact: dict[str, Any] = {"base_epsilon": 1, "base_delta": 2.0**-20, "mean_runs": 16}
    value = PAIR.reference(delta=2.0**-16, **exact)
    expected = 1 + 16 * (2.0**-20 + (1 - 2.0**-20) * math.tanh(0.5))
    assert abs(value.to_floats()[0] - expected) < 1e-9
    assert float(PAIR.fast(delta=2.0**-16, **exact)) == value.to_floats()[1]
    below = math.nextafter(2.0**-16, 0)
    for call in (PAIR.reference, PAIR.fast):
        with pytest.raises(DomainError, match=r"^delta = .* mean_runs \* base_delta"):
            call(delta=below, **exact)
    with pytest.raises(DomainError, match=r"^delta = 1e-0?9"):
        PAIR.fast(base_epsilon=1.0, base_delta=1e-5, mean_runs=np.array([1e-5, 20.0]), delta=np.array([0.5, 1e-9]))


@pytest.mark.parametrize("total", ["1e-5", "0.5"])
def test_a_base_that_reveals_nothing(total: str) -> None:
    assert PAIR.reference(base_epsilon=0, base_delta=0, mean_runs=20, delta=total) == Enclosure.exactly(0)
    assert PAIR.reference(base_epsilon=5, base_delta=1, mean_runs="1e-6", delta=total) == Enclosure.exactly(0)


# --- the plan


@pytest.mark.parametrize(
    ("changed", "status"),
    [
        ({}, PROVED), ({"gaussian_dp": None}, CONDITIONAL), ({"run_count": "fixed"}, DOES_NOT_APPLY),
        ({"released_runs": "all_runs"}, DOES_NOT_APPLY), ({"gaussian_dp": "false"}, DOES_NOT_APPLY),
    ],
    ids=str,
)
def test_a_tuning_is_proved_only_under_its_hypotheses(changed: dict[str, Any], status: str) -> None:
    item, keys = read(Path(__file__).parents[3] / "examples" / "poisson-tuning.toml")
    found = plan(item, {name: value for name, value in {**keys, **changed}.items() if value is not None})
    assert {judged.status for judged in found.judged} == {status}
    if status == PROVED:
        assert found.best is not None
        assert found.best.epsilon == RENYI.reference(base_mu="0.3473", mean_runs=20, delta="1e-5")
