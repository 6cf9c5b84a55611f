"""Noisy SGD with hidden state: against an exact mixture, noisy GD, composition, every limit, and errors."""

from __future__ import annotations

import itertools
import math
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from flint import arb
from hypothesis import given
from hypothesis import strategies as st

import oracle
from oracle.bounds.hidden_state.noisy_sgd_privacy import ORDERS, Training, _from_chords
from oracle.core.enclosure import Enclosure, ball
from oracle.core.errors import DomainError
from oracle.core.planning import CONDITIONAL, DOES_NOT_APPLY, PROVED, plan, read

EPSILON, DELTA = oracle.bound("noisy-sgd.epsilon"), oracle.bound("noisy-sgd.delta")
GD, GDP = oracle.bound("noisy-gd.mu"), oracle.bound("gdp.epsilon")
WOR = oracle.bound("wor-gaussian.epsilon")
EXAMPLE: dict[str, Any] = dict(EPSILON.example or {})


def epsilon(**changed: Any) -> Enclosure:
    return EPSILON.reference(**{**EXAMPLE, **changed})


# --- against the truth


def exact_delta(ratio: float, rate: float, c: float, steps: int, epsilon: float) -> float:
    """delta of the worst of both directions for losses with constant Hessian, whose release is a mixture of Gaussians.

    The replaced record pulls by L/b whenever it is drawn, its replacement never does (c X + pull + noise, in units of
    eta sigma); the Riemann sum's error is far below the tolerance of the test.
    """
    deviation = math.sqrt(sum(c ** (2 * j) for j in range(steps)))
    y = np.linspace(-12 * deviation, 12 * deviation + ratio * steps, 40001)

    def density(mean: float) -> Any:
        return np.exp(-((y - mean) ** 2) / (2 * deviation**2)) / (deviation * math.sqrt(2 * math.pi))

    mixture = sum(
        rate ** sum(drawn) * (1 - rate) ** (steps - sum(drawn)) * density(
            ratio * sum(c**j for j, hit in enumerate(drawn) if hit)
        )
        for drawn in itertools.product((0, 1), repeat=steps)
    )
    sums = [
        float(np.sum(np.maximum(0.0, p - math.exp(epsilon) * q)) * (y[1] - y[0]))
        for p, q in ((mixture, density(0.0)), (density(0.0), mixture))
    ]
    return max(sums)


@pytest.mark.full
@pytest.mark.parametrize("steps", [1, 2, 5])
@pytest.mark.parametrize("contraction", [0.0, 0.5, 0.9, 1.0])
@pytest.mark.parametrize(("batch", "ratio"), [(1, 1.0), (3, 0.5), (9, 2.0)])
def test_never_below_an_exact_release(steps: int, contraction: float, batch: int, ratio: float) -> None:
    for level in (0.0, 0.1, 1.0, 3.0):
        bound = DELTA.reference(
            sensitivity=batch * ratio, dataset_size=10, batch_size=batch, noise_on_mean=1, contraction=contraction,
            learning_rate=1,
            diameter="inf", steps=steps, epsilon=level,
        )
        assert bound.to_floats()[1] >= exact_delta(ratio, batch / 10, contraction, steps, level) - 1e-9


# --- noisy GD, composition


@pytest.mark.parametrize("contraction", ["0", "0.5", "0.999", "1"])
@pytest.mark.parametrize("steps", [1, 7, 1000])
def test_full_batches_are_noisy_gd(contraction: str, steps: int) -> None:
    mu = GD.reference(sensitivity=2, dataset_size=50, noise_on_mean="0.15", contraction=contraction, steps=steps)
    full = epsilon(dataset_size=50, batch_size=50, noise_on_mean="0.15", contraction=contraction, steps=steps)
    low, high = (GDP.reference(mu=end.to_fraction(), delta="1e-5") for end in (mu.lower, mu.upper))
    assert Enclosure(low.lower, high.upper).overlaps(full)


@pytest.mark.parametrize("contraction", ["0.3", "0.9", "1"])
@pytest.mark.parametrize("batch", [1, 30, 49])
def test_a_sampled_record_is_never_worse_than_one_in_every_batch(contraction: str, batch: int) -> None:
    mu = GD.reference(sensitivity=batch, dataset_size=batch, noise_on_mean=1, contraction=contraction, steps=20)
    whole = GDP.reference(mu=mu.upper.to_fraction(), delta="1e-5")
    sampled = epsilon(
        sensitivity=batch, dataset_size=50, batch_size=batch, noise_on_mean=1, contraction=contraction, steps=20
    )
    assert sampled.possibly_le(whole)


@pytest.mark.parametrize(("sigma", "steps"), [("0.04", 1000), ("0.1", 10000), ("0.02", 100)])
def test_without_contraction_it_is_composition_at_the_best_order_there_is(sigma: str, steps: int) -> None:
    """c = 1, no projection: no length below T helps here. All real orders are a little better than those tried."""
    hidden = epsilon(noise_on_mean=sigma, contraction=1, steps=steps)
    composed = WOR.reference(sigma=100 * Fraction(sigma), sampling_rate="0.01", steps=steps, delta="1e-5")
    assert composed.certainly_le(hidden)
    assert hidden.certainly_le(composed.upper.to_fraction() * Fraction(103, 100))


@pytest.mark.parametrize(("contraction", "below"), [("0.99", "0.25"), ("0.999", "0.87"), ("0.9999", "1")])
def test_hiding_the_state_pays(contraction: str, below: str) -> None:
    """Against all iterates of the same training; the second figures are shares of what composition costs."""
    assert epsilon(contraction=contraction).certainly_le(epsilon(contraction=1).upper.to_fraction() * Fraction(below))


# --- limits


def test_nothing_released_and_nothing_to_tell() -> None:
    assert epsilon(steps=0) == Enclosure.exactly(0)
    assert epsilon(diameter=0) == Enclosure.exactly(0)


def test_total_contraction_forgets_all_but_the_last_step() -> None:
    for steps in (2, 10**6):
        assert epsilon(contraction=0, steps=steps) == epsilon(contraction=0, steps=1)
    assert epsilon(contraction=0, steps=1).overlaps(epsilon(contraction="0.7", steps=1))


def test_training_on_costs_no_more_in_the_end() -> None:
    """c < 1, or a projection: the cost converges as T grows."""
    for changed in ({"contraction": "0.99"}, {"contraction": 1, "diameter": "0.1", "noise_on_mean": "0.5"}):
        long, longer = (epsilon(**changed, steps=steps) for steps in (10**6, 10**9))
        assert long.possibly_le(longer)
        assert longer.certainly_le(long.upper.to_fraction() * Fraction(101, 100))


def test_a_projection_that_never_acts_changes_nothing() -> None:
    """The gap never exceeds eta L / (b (1 - c)) = 0.2."""
    assert epsilon(diameter="0.2").overlaps(epsilon(diameter="inf"))
    assert epsilon(diameter="0.02").certainly_le(epsilon(diameter="0.05"))
    assert not epsilon(diameter="inf").possibly_le(epsilon(diameter="0.02"))


@pytest.mark.parametrize("exponent", [6, 12, 30])
def test_continuous_at_contraction_one(exponent: int) -> None:
    near, at = epsilon(contraction=1 - Fraction(1, 10**exponent), steps=50), epsilon(contraction=1, steps=50)
    assert near.possibly_le(at)
    assert at.lower.to_fraction() - near.upper.to_fraction() <= Fraction(1, 10 ** (exponent - 4)) + Fraction(1, 10**11)


@pytest.mark.parametrize(
    "changed", [{}, {"batch_size": 5000}, {"contraction": 1, "diameter": "1", "noise_on_mean": "0.02"}],
)
def test_epsilon_and_delta_are_inverse(changed: dict[str, Any]) -> None:
    point = {name: value for name, value in {**EXAMPLE, **changed}.items() if name != "delta"}
    level = DELTA.reference(epsilon="0.3", **point)
    back = EPSILON.reference(delta=level.upper.to_fraction(), **point)
    assert abs(float(back.lower.to_fraction()) - 0.3) < 1e-9


def test_an_order_that_float64_cannot_judge_is_left_to_the_reference() -> None:
    """Large losses on rare batches: no candidate that is NaN may be taken for a delta of 1."""
    point: dict[str, Any] = {
        "sensitivity": 1.0, "dataset_size": 6931938, "batch_size": 13, "noise_on_mean": 0.01011553014771806,
        "contraction": 0.0, "learning_rate": 1.4, "diameter": 420.0, "steps": 404, "epsilon": 2.948,
    }
    truth = DELTA.reference(**point)
    assert truth.certainly_le(Fraction("0.69"))
    assert float(DELTA.fast(**point)) <= truth.to_floats()[1] * (1 + 1e-9)


# --- the parts


@given(st.fractions(Fraction(1, 10), 1, max_denominator=20), st.integers(1, 12), st.integers(1, 12))
def test_shifts_cost_the_least_that_pays_off_the_drift(c: Fraction, length: int, before: int) -> None:
    """B_m is the squared norm of the shortest a with sum c^(m-j) a_j = c^m zeta."""
    training = Training(Fraction(1), math.inf, c, Fraction(1, 10), before + length)
    weights = np.array([[float(c) ** (length - j) for j in range(1, length + 1)]])
    drift = float(c) ** length * sum(float(c) ** j for j in range(before))
    shortest = np.linalg.lstsq(weights, np.array([drift]), rcond=None)[0]
    assert abs(float(training.shift_cost(length).mid()) - float(shortest @ shortest)) < 1e-9 * (1 + before) ** 2


@given(st.sets(st.sampled_from(ORDERS), min_size=1), st.sampled_from(ORDERS), st.integers(0, 3))
def test_chords_stay_below_a_convex_function(known: set[Fraction], t: Fraction, kind: int) -> None:
    convex = [lambda x: x**2, lambda x: x**3 + x, lambda x: 2 * x, lambda x: max(x, 10 * x - 30)][kind]
    table: dict[Fraction, arb] = {x: ball(convex(x)) for x in known if x != t}
    assert not _from_chords(table, t) > ball(convex(t))


# --- errors


@pytest.mark.parametrize("bound", [EPSILON, DELTA], ids=lambda item: item.name)
def test_a_batch_beyond_the_data_is_an_error(bound: oracle.Bound) -> None:
    point = {**(bound.example or {}), "batch_size": 10001}
    with pytest.raises(DomainError, match=r"batch_size = 10001 .*dataset_size = 10000"):
        bound.reference(**point)
    with pytest.raises(DomainError, match=r"batch_size = 10001.0 .*dataset_size = 10000.0"):
        bound.fast(**{name: float(value) for name, value in point.items()})


@pytest.mark.parametrize("sigma", ["1e-7", "1e7"])
def test_noise_out_of_reach_is_an_error(sigma: str) -> None:
    with pytest.raises(DomainError, match="sensitivity / "):
        epsilon(noise_on_mean=sigma)
    with pytest.raises(DomainError, match="sensitivity / "):
        EPSILON.fast(**{name: float(value) for name, value in {**EXAMPLE, "noise_on_mean": sigma}.items()})


# --- the plan


def planned(**changed: Any) -> Any:
    item, keys = read(Path(__file__).parents[3] / "examples" / "noisy-sgd.toml")
    return plan(item, {name: value for name, value in {**keys, **changed}.items() if value is not None})


def test_the_plan_is_the_bound_and_never_above_composition() -> None:
    found = planned()
    assert [item.status for item in found.judged] == [PROVED, PROVED, DOES_NOT_APPLY]
    assert found.best.guarantee.bound == "noisy-sgd.epsilon"
    assert found.best.epsilon == epsilon()
    assert planned(diameter=Fraction(1, 50)).best.epsilon == epsilon(diameter="0.02")


@pytest.mark.parametrize("smoothness", [Fraction("1.1"), Fraction("0.29"), Fraction("0.31")], ids=str)
def test_poisson_batches_must_contract_at_every_size(smoothness: Fraction) -> None:
    """n/b = 100 and eta = 0.1: a full batch has curvature 0.1 + 100 (beta - 0.1), at most 2/eta = 20."""
    hidden = planned(sampling="poisson", smoothness=smoothness).judged[0]
    assert hidden.status == (PROVED if smoothness < Fraction("0.299") else DOES_NOT_APPLY)


@pytest.mark.parametrize(
    ("changed", "status"),
    [
        ({"smoothness": None}, CONDITIONAL), ({"convex": None}, CONDITIONAL), ({"convex": "false"}, DOES_NOT_APPLY),
        ({"scalar_output": "false"}, DOES_NOT_APPLY), ({"released": "average_iterate"}, DOES_NOT_APPLY),
        ({"learning_rate": Fraction(2)}, DOES_NOT_APPLY), ({"neighbours": "add_remove"}, DOES_NOT_APPLY),
    ],
    ids=str,
)
def test_a_plan_without_a_hypothesis_proves_nothing_hidden(changed: dict[str, Any], status: str) -> None:
    assert planned(**changed).judged[0].status == status
