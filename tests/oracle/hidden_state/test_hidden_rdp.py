"""Renyi bounds for hidden-state training: exact Gaussian runs below, the shift programme beside them, every edge."""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import oracle
from oracle.bounds.renyi.zcdp import epsilon_of_rho
from oracle.core.enclosure import Enclosure, ball
from oracle.core.errors import DomainError
from tests.checks import check_anywhere, check_fast
from tests.formulas import shift_programme
from tests.topics.hidden_rdp import FAMILIES

ITERATION, ONE_PASS = oracle.bound("iteration.rdp"), oracle.bound("iteration-sgd.rdp")
LANGEVIN, MINIBATCH = oracle.bound("langevin.rdp"), oracle.bound("noisy-minibatch.rdp")
SHARP = Fraction(1, 10**25)
CONTRACTIONS = [Fraction(text) for text in ("1/1000", "1/2", "9/10", "999/1000", "1")]

fractions = st.fractions(min_value=Fraction(1, 50), max_value=2, max_denominator=50)
contractions = st.fractions(min_value=Fraction(1, 50), max_value=1, max_denominator=50)


def gaussian_run(c: Fraction, drift: Sequence[Fraction], variance: Sequence[Fraction]) -> Fraction:
    """R_alpha / alpha of two linear runs x <- c x + drift + noise, exactly: their ends are two Gaussians."""
    distance = total = Fraction(0)
    for moved, fresh in zip(drift, variance, strict=True):
        distance, total = c * distance + moved, c * c * total + fresh
    return distance**2 / (2 * total) if total else Fraction(0)


def below(value: Fraction, enclosure: Enclosure) -> bool:
    """Whether an exact value is not above what an enclosure encloses."""
    return enclosure.upper.compare(value) >= 0


@pytest.mark.full
@pytest.mark.parametrize("name", [f"{family}.{unit}" for family in FAMILIES[:-1] for unit in ("rdp", "epsilon")])
@given(data=st.data())
def test_opinion_width_and_directions_anywhere(name: str, data: st.DataObject) -> None:
    check_anywhere(oracle.bound(name), data)


# --- given shifts


@pytest.mark.parametrize("c", CONTRACTIONS, ids=str)
@pytest.mark.parametrize("steps", [1, 2, 7, 30])
def test_the_best_shifts_give_noisy_gd(c: Fraction, steps: int) -> None:
    """Shifts in proportion to c^(T-t), which pay off a drift of 3 a step: alpha mu^2 / 2 of `noisy-gd.mu`."""
    decays = [c ** (steps - t) for t in range(1, steps + 1)]
    size = 3 * sum(decays) / sum(d * d for d in decays)
    shift = [size * d for d in decays]
    found = ITERATION.reference(
        drift=[3] * steps, iterate_noise=[2] * steps, shift=shift, contraction=c, alpha=5, width=SHARP
    )
    mu = oracle.bound("noisy-gd.mu").reference(
        sensitivity=3, dataset_size=1, noise_on_mean=2, contraction=c, steps=steps, width=SHARP
    )
    low, high = (Fraction(5, 2) * end.to_fraction() ** 2 for end in (mu.lower, mu.upper))
    assert found.lower.compare(high) <= 0 <= found.upper.compare(low)


@given(contractions, st.lists(st.tuples(fractions, fractions, st.integers(0, 100)), min_size=1, max_size=6))
def test_no_shifts_beat_the_exact_runs(c: Fraction, drawn: list[tuple[Fraction, Fraction, int]]) -> None:
    """Any shifts that pay, drawn at random: never below two linear Gaussian runs with that drift and noise."""
    left, shifts = Fraction(0), []
    for index, (drift, _, percent) in enumerate(drawn, start=1):
        owed = c * left + drift
        shifts.append(owed if index == len(drawn) else owed * Fraction(percent, 100))
        left = owed - shifts[-1]
    drift, noise = [entry[0] for entry in drawn], [entry[1] for entry in drawn]
    found = ITERATION.reference(drift=drift, iterate_noise=noise, shift=shifts, contraction=c, alpha=3)
    assert below(3 * gaussian_run(c, drift, [tau**2 for tau in noise]), found)


def test_shifts_that_do_not_pay_are_refused_by_both_paths() -> None:
    unpaid: dict[str, Any] = {
        "drift": [0.5, 0.25], "iterate_noise": [1.0, 1.0], "shift": [0.5, 0.2499], "contraction": 1.0, "alpha": 2.0
    }
    for call in (ITERATION.reference, ITERATION.fast):
        with pytest.raises(DomainError, match=r"^shift = .* leaves a distance of 0.0001 after the last step \(drift"):
            call(**unpaid)
    paid = {**unpaid, "shift": [0.5, 0.25]}
    assert ITERATION.reference(**paid).contains(Fraction(5, 16))
    assert ITERATION.fast(**paid) >= 5 / 16


@pytest.mark.parametrize("c", [Fraction(0), Fraction(1, 3), Fraction(1)])
def test_a_shift_above_what_is_left_is_allowed_and_paid_for(c: Fraction) -> None:
    more = ITERATION.reference(drift=[1, 1], iterate_noise=[1, 1], shift=[3, 1], contraction=c, alpha=2)
    assert more.contains(10)
    with pytest.raises(DomainError, match="leaves a distance of 1 after"):
        ITERATION.reference(drift=[1, 1], iterate_noise=[1, 1], shift=[3, 0], contraction=c, alpha=2)


def test_total_contraction_needs_only_the_last_step_paid() -> None:
    at_zero = ITERATION.reference(drift=[7, 1], iterate_noise=[1, 1], shift=[0, 1], contraction=0, alpha=2)
    assert at_zero == Enclosure.exactly(1)
    with pytest.raises(DomainError, match="leaves a distance"):
        ITERATION.reference(drift=[7, 1], iterate_noise=[1, 1], shift=[0, 1], contraction="1e-300", alpha=2)


def test_nothing_run_releases_nothing() -> None:
    assert ITERATION.reference(drift=[], iterate_noise=[], shift=[], contraction=1, alpha=2) == Enclosure.exactly(0)
    assert ITERATION.fast(drift=[], iterate_noise=[], shift=[], contraction=1.0, alpha=2.0) == 0.0
    with pytest.raises(DomainError, match="must have one length"):
        ITERATION.reference(drift=[0], iterate_noise=[1, 1], shift=[0, 0], contraction=1, alpha=2)


def test_more_noise_at_any_step_and_less_drift_never_hurt() -> None:
    given_: dict[str, Any] = {
        "drift": [1, 1, 1], "iterate_noise": [1, 2, 3], "shift": [1, 1, 1], "contraction": 1, "alpha": 2,
    }
    before = ITERATION.reference(**given_)
    for step in range(3):
        noise = [tau + (index == step) for index, tau in enumerate(given_["iterate_noise"])]
        assert not before.possibly_le(ITERATION.reference(**{**given_, "iterate_noise": noise}))
        drift = [0 if index == step else s for index, s in enumerate(given_["drift"])]
        shift = [0 if index == step else a for index, a in enumerate(given_["shift"])]
        assert not before.possibly_le(ITERATION.reference(**{**given_, "drift": drift, "shift": shift}))


@pytest.mark.parametrize(("size", "position"), [(1, 1), (10, 1), (10, 7), (10, 10)])
def test_one_pass_is_an_iteration_with_one_drift(size: int, position: int) -> None:
    left = size + 1 - position
    drift = [0] * (position - 1) + [4] + [0] * (left - 1)
    shift = [0] * (position - 1) + [Fraction(4, left)] * left
    general = ITERATION.reference(drift=drift, iterate_noise=[3] * size, shift=shift, contraction=1, alpha=7)
    one_pass = ONE_PASS.reference(lipschitz=2, noise_on_mean=3, dataset_size=size, record_position=position, alpha=7)
    assert general.overlaps(one_pass)
    assert one_pass.contains(Fraction(7, 2) * Fraction(4, 3) ** 2 / left)
    # The runs on linear losses are exact: nothing is lost when the record comes first.
    exact = 7 * gaussian_run(Fraction(1), [Fraction(s) for s in drift], [Fraction(9)] * size)
    assert below(exact, one_pass)
    assert (exact == Fraction(7, 2) * Fraction(4, 3) ** 2 / left) == (position == 1)


def test_a_position_there_is_not_is_refused_by_both_paths() -> None:
    point: dict[str, Any] = {"lipschitz": 1.0, "noise_on_mean": 1.0, "dataset_size": 5, "record_position": 6}
    for name, extra in (("iteration-sgd.rdp", {"alpha": 2.0}), ("iteration-sgd.epsilon", {"delta": 0.1})):
        for call in (oracle.bound(name).reference, oracle.bound(name).fast):
            with pytest.raises(DomainError, match=r"^record_position = 6 .* an integer in \[1, dataset_size = 5\]"):
                call(**point, **extra)


# --- Langevin


def langevin(**params: Any) -> Enclosure:
    return LANGEVIN.reference(**{
        "sensitivity": 3, "dataset_size": 2, "diffusion": 1, "smoothness": 1, "alpha": 4, "width": SHARP, **params
    })


@pytest.mark.full
@pytest.mark.parametrize("lam", [Fraction(text) for text in ("1/100000", "1/100", "1/2", "99/100", "1")], ids=str)
@pytest.mark.parametrize("share", [Fraction(1, 1000), Fraction(1, 2), Fraction(999, 1000), Fraction(1)], ids=str)
@pytest.mark.parametrize("steps", [1, 2, 3, 10, 1000, 10**6])
def test_langevin_is_never_below_noisy_gd(lam: Fraction, share: Fraction, steps: int) -> None:
    """What the docstring proves, with its factor of 0.8, up to eta = 2/(lambda + beta), where c may be 0."""
    eta = share * 2 / (lam + 1)
    found = langevin(strong_convexity=lam, learning_rate=eta, steps=steps)
    scale = Fraction(9, 4) / 2 * eta  # (eta S/n)^2 over the variance 2 eta sigma^2
    unit = oracle.bound("noisy-gd.mu").reference(
        sensitivity=1, dataset_size=1, noise_on_mean=1, contraction=1 - eta * lam, steps=steps, width=SHARP
    )
    assert found.lower.to_fraction() * Fraction(8, 10) >= 2 * scale * unit.upper.to_fraction() ** 2


@pytest.mark.parametrize("start", ["point", "stationary"])
@pytest.mark.parametrize("h", [Fraction(1, 100), Fraction(1, 2), Fraction(999, 1000), Fraction(1)], ids=str)
def test_langevin_is_never_below_the_exact_runs(start: str, h: Fraction) -> None:
    """Quadratics of curvature 1: c = 1 - h; from a point and from the paper's N(0, 2 sigma^2/lambda)."""
    c = 1 - h
    for steps in (1, 2, 5, 40):
        distance = sum(c**t for t in range(steps)) * h * Fraction(3, 2)
        variance = sum(c ** (2 * t) for t in range(steps)) * 2 * h + (2 * c ** (2 * steps) if start != "point" else 0)
        found = langevin(strong_convexity=1, learning_rate=h, steps=steps)
        assert below(4 * distance**2 / (2 * variance), found)


def test_langevin_limits() -> None:
    start = langevin(strong_convexity="0.1", learning_rate="0.5", steps=0)
    assert start == Enclosure.exactly(0)
    forever = langevin(strong_convexity="0.5", learning_rate="0.5", steps=10**9)
    assert float(forever.upper.to_fraction() - 4 * Fraction(9, 4) * 2) == pytest.approx(0, abs=1e-20)
    flat = langevin(strong_convexity="1e-40", learning_rate="0.5", steps=100)
    assert abs(flat.upper.to_fraction() - 4 * Fraction(9, 4) * 25) < Fraction(1, 10**20)


@pytest.mark.parametrize(
    ("lam", "eta"), [(0.5, 1.34), (2.0, 0.5), (1.0, 1.0000001)], ids=["long step", "lambda above beta", "just too long"]
)
def test_langevin_refuses_steps_that_do_not_contract(lam: float, eta: float) -> None:
    point: dict[str, Any] = {
        "sensitivity": 1.0, "dataset_size": 1, "diffusion": 1.0, "strong_convexity": lam, "smoothness": 1.0,
        "learning_rate": eta, "steps": 3, "alpha": 2.0,
    }
    for call in (LANGEVIN.reference, LANGEVIN.fast):
        with pytest.raises(DomainError, match=r"^learning_rate = .* at most 2 / \(strong_convexity \+ smoothness\)"):
            call(**point)


# --- mini-batches


def minibatch(**params: Any) -> Enclosure:
    return MINIBATCH.reference(**{
        "sensitivity": 2, "batch_size": 1, "diffusion": 1, "learning_rate": 2, "alpha": 2, "width": SHARP, **params
    })


def touched(batches: int, epochs: int, position: int) -> list[int]:
    return [int(number == position) for _ in range(epochs) for number in range(1, batches + 1)]


@pytest.mark.parametrize("c", CONTRACTIONS, ids=str)
@pytest.mark.parametrize(("batches", "epochs"), [(1, 4), (2, 3), (4, 1), (5, 6)])
def test_mini_batches_are_above_the_programme_and_the_exact_runs(c: Fraction, batches: int, epochs: int) -> None:
    """With drift 4 and variance 4 a step. The docstring's proof, at every position; and the last is the worst."""
    results = []
    for position in range(1, batches + 1):
        found = minibatch(contraction=c, batches=batches, epochs=epochs, batch_position=position)
        pattern = touched(batches, epochs, position)
        assert below(4 * shift_programme(c, pattern), found)  # alpha/2 times 16/4
        assert below(2 * gaussian_run(c, [4 * Fraction(t) for t in pattern], [Fraction(4)] * len(pattern)), found)
        results.append(found)
    assert all(small.possibly_le(large) for small, large in itertools.pairwise(results))
    mu = oracle.bound("noisy-cgd.mu").reference(
        sensitivity=2, batch_size=1, noise_on_mean=1, contraction=c, batches=batches, epochs=epochs, width=SHARP
    )
    assert below(mu.lower.to_fraction() ** 2, results[-1])


@pytest.mark.parametrize("c", CONTRACTIONS, ids=str)
def test_a_step_without_the_record_is_exact_for_gaussians(c: Fraction) -> None:
    """The record in the first batch of one epoch: everything after is forgetting, and nothing is lost."""
    found = minibatch(contraction=c, batches=6, epochs=1, batch_position=1)
    exact = 2 * gaussian_run(c, [Fraction(4), *[Fraction(0)] * 5], [Fraction(4)] * 6)
    assert abs(found.upper.to_fraction() - exact) <= exact / 10**20


def test_the_registers_figures() -> None:
    """k = 60, E = 400, noise multiplier 15, the record last: R/alpha 0.727 and 0.381 against 0.0498 and 0.0329."""
    for lam, recursion, programme in (("0.9999", "0.7268222278", "0.0498"), ("0.9998", "0.3808103256", "0.0329")):
        found = minibatch(diffusion=15, contraction=lam, batches=60, epochs=400, batch_position=60, width="1e-12")
        assert abs(float(found.upper.to_fraction()) / 2 - float(recursion)) < 1e-9
        mu = oracle.bound("noisy-cgd.mu").reference(
            sensitivity=2, batch_size=1, noise_on_mean=15, contraction=lam, batches=60, epochs=400
        )
        assert abs(float(mu.upper.to_fraction()) ** 2 / 2 - float(programme)) < 5e-5


@pytest.mark.parametrize("c", ["0", "0.3", "1"])
def test_one_batch_is_composition_and_no_epoch_is_nothing(c: str) -> None:
    assert minibatch(contraction=c, batches=1, epochs=7, batch_position=1).contains(28)
    assert minibatch(contraction=c, batches=3, epochs=0, batch_position=2) == Enclosure.exactly(0)


def test_total_contraction_forgets_all_but_the_last_step() -> None:
    for epochs in (1, 2, 9):
        assert minibatch(contraction=0, batches=3, epochs=epochs, batch_position=2) == Enclosure.exactly(0)
        assert minibatch(contraction=0, batches=3, epochs=epochs, batch_position=3) == Enclosure.exactly(4)


@pytest.mark.parametrize("exponent", [5, 20, 200])
def test_mini_batches_are_continuous_where_nothing_contracts(exponent: int) -> None:
    shape: dict[str, Any] = {"batches": 4, "epochs": 9, "batch_position": 3}
    near = minibatch(contraction=1 - Fraction(1, 10**exponent), **shape)
    gap = minibatch(contraction=1, **shape).upper.to_fraction() - near.lower.to_fraction()
    assert -Fraction(1, 10**20) <= gap <= Fraction(1, 10 ** min(exponent - 4, 20))


def test_a_batch_there_is_not_is_refused_by_both_paths() -> None:
    point: dict[str, Any] = {
        "sensitivity": 1.0, "batch_size": 1, "diffusion": 1.0, "learning_rate": 1.0, "contraction": 0.5, "batches": 3,
        "epochs": 2, "batch_position": 4, "alpha": 2.0,
    }
    for call in (MINIBATCH.reference, MINIBATCH.fast):
        with pytest.raises(DomainError, match=r"^batch_position = 4 .* an integer in \[1, batches = 3\]"):
            call(**point)


# --- the conversion


@pytest.mark.parametrize("rho", ["1/1000", "1/3", "40"])
def test_a_rho_known_as_a_ball_converts_as_its_fraction(rho: str) -> None:
    exact = Fraction(rho)
    by_ball = epsilon_of_rho(lambda: ball(exact), Fraction(1, 10**5), SHARP)
    assert by_ball.overlaps(oracle.bound("zcdp.epsilon").reference(rho=exact, delta="1e-5", width=SHARP))


def test_a_rho_far_below_every_delta_converts_to_nothing() -> None:
    assert epsilon_of_rho(lambda: (-ball(10**9)).exp(), Fraction(1, 10**5), SHARP) == Enclosure.exactly(0)


@pytest.mark.parametrize("family", FAMILIES[:-1])
def test_every_epsilon_is_the_conversion_of_its_divergence(family: str) -> None:
    """rho from the divergence at alpha = 2, converted: the epsilon of the same training."""
    rdp, epsilon = oracle.bound(f"{family}.rdp"), oracle.bound(f"{family}.epsilon")
    assert rdp.example is not None
    training = {name: value for name, value in rdp.example.items() if name != "alpha"}
    rho = rdp.reference(**training, alpha=2, width=SHARP)
    expected = oracle.bound("zcdp.epsilon").reference(rho=rho.upper.to_fraction() / 2, delta="1e-5", width=SHARP)
    found = epsilon.reference(**training, delta="1e-5", width=SHARP)
    assert abs(expected.upper.to_fraction() - found.upper.to_fraction()) < Fraction(1, 10**18)


def test_fast_schedules_come_in_batches() -> None:
    rng = np.random.default_rng(3)
    drift, noise = rng.random((5, 4)), 0.5 + rng.random((5, 4))
    shift = np.concatenate([np.zeros((5, 3)), np.full((5, 1), 4.5)], axis=1)
    found = ITERATION.fast(drift=drift, iterate_noise=noise, shift=shift, contraction=0.9, alpha=2.0)
    np.testing.assert_allclose(found, (4.5 / noise[:, 3]) ** 2, rtol=1e-13)
    assert math.isfinite(float(np.max(found)))


def test_an_epsilon_next_to_nothing_stays_sharp_after_many_epochs() -> None:
    """Where epsilon is the difference of nearly equal terms, the error of a long recursion would show in it."""
    last = 65.01271540902431  # beyond, epsilon is 0
    shape = {"sensitivity": 2.0, "batch_size": 1, "learning_rate": 2.0, "contraction": 1.0, "batches": 7, "epochs": 500}
    chosen = [
        {**shape, "diffusion": last * (1 - 10.0**-k), "batch_position": 7, "delta": 0.3} for k in (1, 3, 6, 9)
    ]
    check_fast(oracle.bound("noisy-minibatch.epsilon"), chosen, "numpy")
    values = oracle.bound("noisy-minibatch.epsilon").fast(**{k: np.array([p[k] for p in chosen]) for k in chosen[0]})
    assert 0 < values[-1] < 1e-8 < values[0]
