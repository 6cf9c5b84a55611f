"""Adaptive batched descent without a model: closed forms by quadrature, the recursion by the twin, planted noise."""

from __future__ import annotations

import math
from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from empirical.studies.levels import level_of
from empirical.studies.nonconvex_nn import misspecified
from empirical.studies.outcome import judge
from empirical.studies.study import Simulation, Study
from oracle.core.errors import OracleError

NODES, WEIGHTS = np.polynomial.legendre.leggauss(12)


def expected(function: Any, w: tuple[float, ...]) -> float:
    """E function(x, y) over the cube and the labels, by Gauss-Legendre on both sides of <w, x> = 0, w along e_1."""
    assert all(part == 0 for part in w[1:])
    total, side = 0.0, math.sqrt(3)
    for low, high in ((-side, 0.0), (0.0, side)):
        first = (low + high) / 2 + (high - low) / 2 * NODES
        for x1, p1 in zip(first, WEIGHTS / 2 * 0.5, strict=True):
            for x2, p2 in zip(side * NODES, WEIGHTS / 2, strict=True):
                for xi in (-0.125, 0.125):
                    total += p1 * p2 / 2 * function(np.array([x1, x2]), x1 / 2 + xi)
    return total


@pytest.mark.parametrize("w1", [-0.7, 0.0, 0.5, 1.0, 2.0])
def test_moments_by_quadrature(w1: float) -> None:
    w, kappa = np.array([w1, 0.0]), 2.8
    risk = expected(lambda x, y: (max(0.0, w @ x) - y) ** 2, (w1, 0.0))
    assert risk == pytest.approx(w1**2 / 2 - w1 / 2 + 1 / 4 + 1 / 64, abs=1e-12)
    square = expected(lambda x, y: (max(0.0, w @ x) - y) ** 2 * (x @ x), (w1, 0.0))
    assert square == pytest.approx(kappa * (w1**2 / 2 - w1 / 2 + 1 / 4) + 2 / 64, abs=1e-12)
    mean = expected(lambda x, y: (max(0.0, w @ x) - y) * x[0], (w1, 0.0))
    assert mean == pytest.approx((w1 - 1) / 2, abs=1e-12)


@pytest.fixture
def short(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(misspecified, "STEPS", 12)


def small(noise: str, *, factor: int = 1) -> Study:
    """12 steps of 64 records in three dimensions; `factor` is planted: the runs have so much more noise."""

    def sample(spot: Any, seed: int, replicates: range) -> Any:
        return misspecified.sample({**spot, "epsilon": spot["epsilon"] / factor}, seed, replicates)

    original = misspecified.private if noise == "corrected" else misspecified.literal
    return replace(
        original, grid=(12 * 64,), setting={**original.setting, "epsilon": Fraction(1), "noise": noise},
        simulation=Simulation(sample, (12 * 64,), 64, 4),
    )


def verdict(study: Study) -> str:
    spot = study.spot(study.grid[0])
    assert study.simulation is not None
    errors = study.simulation.sample(spot, 4, range(64))
    runs = np.stack([errors, np.full(64, np.nan)], axis=1)
    curve = misspecified.distances(spot)
    level = level_of(study, study.grid[0], runs, curve)
    return judge(study, [level], {study.grid[0]: curve}, {study.grid[0]: runs}, family=1).verdict


@pytest.mark.parametrize("noise", ["corrected", "printed"])
def test_the_twin_agrees_with_the_recursion(short: None, noise: str) -> None:
    # Beyond 4 standard errors with probability 6e-5; one point has no exponent.
    assert verdict(small(noise)) == "PRE_ASYMPTOTIC"


@pytest.mark.parametrize("noise", ["corrected", "printed"])
def test_runs_with_more_noise_than_the_curve_are_noticed(short: None, noise: str) -> None:
    assert verdict(small(noise, factor=2)) == "CONTRADICTED"


def test_the_sandwich_is_one() -> None:
    for value in misspecified.private.grid[:2]:
        low, high = misspecified.distances(misspecified.private.spot(value))
        assert low <= high


@pytest.mark.parametrize(("changes", "words"), [
    ({"dimension": 4}, "cube"), ({"epsilon": Fraction(1, 1000)}, "explodes"), ({"epsilon": Fraction(2)}, "epsilon"),
])
def test_broken_settings_are_refused(changes: dict[str, Any], words: str) -> None:
    study = misspecified.private
    with pytest.raises(OracleError, match=words):
        replace(study, setting={**study.setting, **changes}).check_premises()


def test_the_text_s_own_noise_is_not_private() -> None:
    # Its factor over the sensitivity is 1/r of what is needed: the premise must not take it for private.
    spot = misspecified.literal.spot(misspecified.literal.grid[0])
    from oracle.core.registry import bound

    true = bound("adaptive-batched-gd.epsilon").fast(
        noise_over_sensitivity=float(misspecified.multiplier(spot)) / 3, delta=1e-5
    )
    assert float(true) > float(spot["epsilon"])
