"""The pieces of Theorem 13: noise of all weights, gaps from the linearisation, what a tangent model can reach."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from empirical.studies.levels import level_of
from empirical.studies.nonconvex_nn import wide_network as wide
from oracle.algorithms.networks import dp_sgd_multilayer as deep
from tests.oracle.networks.records import linearised


def test_noise_energy_counts_every_weight() -> None:
    # 16 replicates of chi^2 with 16 * 4 + 16^2 + 16 degrees of freedom; beyond 4 standard errors: 6e-5.
    study = replace(wide.energy, grid=(16,), simulation=None)
    runs = wide.noise_energy(study.spot(16), 1, range(16))
    curve = wide.weights(study.spot(16))
    assert float(curve[0].mid()) == 16 * 4 + 16**2 + 16
    level = level_of(study, 16, np.stack([runs, np.full(16, np.nan)], axis=1), curve)
    assert level.agrees
    # planted: noise that forgets the layer between the hidden ones
    less = level_of(study, 16, np.stack([runs * 80 / 336, np.full(16, np.nan)], axis=1), curve)
    assert less.agrees is False


def test_the_gap_found_is_in_the_ball_and_beats_random_points() -> None:
    spot = {"width": 16, "depth": 3, "1/omega": 8}
    found = wide.linearisation_gap(spot, 2, range(1))[0]
    start, x = wide._start(spot, 2, 0)
    rng, best = np.random.Generator(np.random.Philox(0)), 0.0
    for _ in range(200):
        moved = wide._edge(start, [rng.standard_normal(layer.shape) for layer in start], 1 / 8)
        assert all(np.linalg.norm(a - b) <= 1 / 8 + 1e-12 for a, b in zip(moved, start, strict=True))
        best = max(best, abs(deep.network(moved, x) - linearised(moved, start, x)))
    assert found > best


def test_reach_is_what_the_linearised_network_attains() -> None:
    spot = {"width": 32, "depth": 3, "R": 0.5, "label": 5}
    start, x = wide._start(spot, 3, 1)
    left = []
    for first in (start, [*start[:-1], -start[-1]]):
        edge = wide._edge(first, deep.network_gradient(first, x), 0.5 / np.sqrt(32))
        left.append(5 - linearised(edge, first, x))
    assert wide.out_of_reach(spot, 3, range(1, 2))[0] == pytest.approx(sum(left) / 2, rel=1e-9)


def test_losses_repeat_and_stay_finite() -> None:
    spot = wide.rate.spot(2)
    one = wide.loss_after(spot, 4, range(1, 3))
    assert np.array_equal(one, wide.loss_after(spot, 4, range(3))[1:])
    assert np.isfinite(one).all()
