"""Projected noisy SGD on a bounded set: runs computed on a grid, brute force over its choices, and every edge."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from scipy import special

import oracle
from oracle.core.enclosure import Enclosure
from oracle.core.errors import DomainError
from tests.checks import check_monotone

RDP, EPSILON = oracle.bound("projected-noisy-sgd.rdp"), oracle.bound("projected-noisy-sgd.epsilon")
POINT: dict[str, Any] = {
    "lipschitz": 1, "dataset_size": 40, "batch_size": 4, "noise_on_mean": "0.5", "learning_rate": "0.5",
    "diameter": "0.5",
    "steps": 200, "alpha": 6,
}


def rdp(**params: Any) -> Enclosure:
    return RDP.reference(**{**POINT, **params})


def one_batch(kept: Fraction, **params: Any) -> Enclosure:
    """Renyi DP of one batch under that share of the noise, from the bound on batches alone."""
    v = {**POINT, **params}
    noise = kept * v["batch_size"] * Fraction(v["noise_on_mean"]) / v["lipschitz"]
    return oracle.bound("wor-gaussian.rdp").reference(
        sigma=noise, sampling_rate=Fraction(v["batch_size"], v["dataset_size"]), steps=1, alpha=v["alpha"],
        method="exact",
    )


# --- the runs themselves


def last_iterate(gradient: float, v: dict[str, Any], cells: int = 300) -> np.ndarray:
    """The law of the last iterate on [0, D] for linear losses in one dimension, all slopes 0 but one record's.

    The ends of the interval are atoms; inside, a cell stands for its middle. Starting from D/2, a step moves by
    -eta (slope / b if the record is drawn) + eta sigma N(0, 1) and is clipped to the interval.
    """
    diameter, eta, spread = v["diameter"], v["learning_rate"], v["learning_rate"] * v["noise_on_mean"]
    edges = np.linspace(0.0, diameter, cells + 1)
    places = np.concatenate([[0.0], (edges[1:] + edges[:-1]) / 2, [diameter]])

    def step(move: float) -> np.ndarray:
        inside = special.ndtr((edges[None, :] - (places + move)[:, None]) / spread)
        return np.concatenate([inside[:, :1], np.diff(inside, axis=1), 1 - inside[:, -1:]], axis=1)

    rate = v["batch_size"] / v["dataset_size"]
    kernel = (1 - rate) * step(0.0) + rate * step(-eta * gradient / v["batch_size"])
    law = np.zeros(cells + 2)
    law[cells // 2] = 1.0
    for _ in range(v["steps"]):
        law = law @ kernel
    return law


@pytest.mark.parametrize("alpha", [1.5, 4.0, 12.0])
@pytest.mark.parametrize(
    ("size", "batch", "sigma", "diameter", "steps"),
    [(1, 1, 0.5, 0.5, 1), (1, 1, 0.5, 0.5, 40), (10, 1, 0.5, 0.2, 60), (10, 5, 0.2, 1.0, 40), (4, 2, 1.0, 0.1, 30)],
)
def test_never_below_runs_computed_on_a_grid(
    alpha: float, size: int, batch: int, sigma: float, diameter: float, steps: int
) -> None:
    """Both slopes of the replaced record at their limits: its last iterate is told apart less than the bound allows."""
    v: dict[str, Any] = {
        "lipschitz": 1.0, "dataset_size": size, "batch_size": batch, "noise_on_mean": sigma, "learning_rate": 0.5,
        "diameter": diameter, "steps": steps, "alpha": alpha,
    }
    p, q = last_iterate(1.0, v), last_iterate(-1.0, v)
    divergence = math.log(float(np.sum(p**alpha * q ** (1 - alpha)))) / (alpha - 1)
    assert divergence > 1e-4
    assert divergence <= RDP.reference(**v).to_floats()[0]


# --- its choices


@pytest.mark.parametrize("steps", [1, 2, 3, 17, 60])
@pytest.mark.parametrize("diameter", ["0.01", "0.3", "2"])
def test_the_least_over_all_choices_by_brute_force(steps: int, diameter: str) -> None:
    candidates = [steps * one_batch(Fraction(1)).upper.to_fraction()]
    for kept in (Fraction(7, 10), Fraction(9, 10)):
        batch = one_batch(kept).upper.to_fraction()
        square = (Fraction(diameter) / (Fraction(1, 2) * Fraction(1, 2))) ** 2
        candidates += [m * batch + 3 * square / (m * (1 - kept**2)) for m in range(1, steps + 1)]
    found = rdp(steps=steps, diameter=diameter)
    assert abs(found.upper.to_fraction() - min(candidates)) <= min(candidates) / 10**11


def test_it_stops_growing_where_composition_does_not() -> None:
    settled = rdp(steps=10**4)
    assert rdp(steps=10**12) == settled
    assert not rdp(steps=10**4, diameter="inf").possibly_le(settled)
    assert rdp(steps=10).certainly_le(settled)


@pytest.mark.parametrize(
    "name", ["lipschitz", "dataset_size", "noise_on_mean", "learning_rate", "diameter", "steps", "alpha"],
)
def test_monotone(name: str) -> None:
    """At a point where the shift is used: composition has no step size and no diameter."""
    assert rdp().certainly_le(rdp(diameter="inf"))
    value = Fraction(POINT[name])
    if name == "steps":
        check_monotone(RDP, {**POINT, "steps": 3}, name, 10, certain=True)
    else:
        check_monotone(RDP, POINT, name, 2 * value if value > 1 else value * Fraction(11, 10), certain=name != "alpha")


# --- edges


def test_no_steps_and_no_room_release_nothing() -> None:
    for edge in ({"steps": 0}, {"diameter": 0}, {"steps": 0, "diameter": "inf"}):
        assert rdp(**edge) == Enclosure.exactly(0)
        assert EPSILON.reference(**{**POINT, **edge}, delta="1e-5") == Enclosure.exactly(0)


def test_without_a_bounded_set_it_is_composition() -> None:
    expected = oracle.bound("wor-gaussian.rdp").reference(
        sigma=2, sampling_rate="0.1", steps=200, alpha=6, method="exact"
    )
    for diameter in ("inf", 10**9):
        assert rdp(diameter=diameter).overlaps(expected)


def test_the_whole_data_a_batch() -> None:
    """b = n: a Gaussian release a step, S = alpha (2L)^2/(2 (n sigma)^2) = 0.03 at n = 40."""
    whole = rdp(batch_size=40, steps=1)
    assert whole.contains(Fraction(6 * 4, 2 * 400))


def test_epsilon_is_the_conversion_at_its_order() -> None:
    divergence = rdp().upper.to_fraction()
    expected = oracle.bound("rdp.epsilon").reference(alpha=6, rdp=divergence, delta="1e-5", conversion="canonne")
    found = EPSILON.reference(**POINT, delta="1e-5")
    assert abs(found.upper.to_fraction() - expected.upper.to_fraction()) < Fraction(1, 10**11)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"batch_size": 41}, r"^batch_size = 41 .* an integer in \[1, dataset_size = 40\]"),
        (
            {"noise_on_mean": "1e-5"},
            r"^noise_on_mean = .* batch_size noise_on_mean / lipschitz = 4e-05 must be in \[1/5000, 1000000\]",
        ),
        ({"noise_on_mean": 10**6}, r"^noise_on_mean = .* must be in \[1/5000, 1000000\]"),
    ],
)
def test_what_does_not_suit_is_refused_by_both_paths(change: dict[str, Any], message: str) -> None:
    for bound, extra in ((RDP, {}), (EPSILON, {"delta": 0.1})):
        with pytest.raises(DomainError, match=message):
            bound.reference(**{**POINT, **change, **extra})
        with pytest.raises(DomainError, match=message):
            bound.fast(**{name: float(value) for name, value in {**POINT, **change, **extra}.items()})
