"""The studies of phased SGD (002): closed moments against enumeration, bounds against certified, planted faults."""

from __future__ import annotations

import itertools
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
from flint import arb

from empirical.studies.levels import level_of
from empirical.studies.nonconvex_nn import linear_twin, phased_rates
from empirical.studies.nonconvex_nn.linear_twin import PhasedPlan, clipped, closed_bound, drawn, excess, generator_of
from empirical.studies.outcome import judge
from empirical.studies.study import Array, Spot, Study, study
from oracle.core.errors import OracleError
from oracle.core.registry import bound


def enumerated(plan: PhasedPlan) -> Fraction:
    """The expected risk of the linear process, by all sequences of records and labels; noise adds its variance."""
    p, w = linear_twin.masses(plan.atoms), [linear_twin.TARGET * (-1) ** j for j in range(plan.atoms)]
    outcomes = [(j, y, p[j] * (1 + y * w[j]) / 2) for j in range(plan.atoms) for y in (-1, 1)]
    total = Fraction(0)
    sizes = [plan.records >> i for i in range(1, plan.phases + 1)]
    # The noise of a phase passes through later ones linearly: its variance is found with unit starts per coordinate.
    for path in itertools.product(outcomes, repeat=sum(sizes)):
        weight = Fraction(1)
        for _, _, q in path:
            weight *= q
        state, gains, first = [Fraction(0)] * plan.atoms, [[Fraction(0)] * plan.atoms for _ in sizes], 0
        for i, size in enumerate(sizes, start=1):
            h, sums = plan.step / 4**i, [Fraction(0)] * plan.atoms
            grown = [[Fraction(0)] * plan.atoms for _ in sizes]
            for j, y, _ in path[first : first + size]:
                sums = [a + b for a, b in zip(sums, state, strict=True)]
                grown = [[a + b for a, b in zip(u, v, strict=True)] for u, v in zip(grown, gains, strict=True)]
                state[j] -= h * (state[j] - y)
                for gain in gains:
                    gain[j] *= 1 - h
            state = [a / size for a in sums]
            gains = [[a / size for a in row] for row in grown]
            gains[i - 1] = [plan.noise * h] * plan.atoms
            first += size
        for j in range(plan.atoms):
            noise = sum((gain[j] ** 2 for gain in gains), Fraction(0))
            total += weight * p[j] * ((state[j] - w[j]) ** 2 + noise)
    return total


@pytest.mark.parametrize("plan", [
    PhasedPlan(4, Fraction(2), Fraction(1, 7), 3), PhasedPlan(8, Fraction(3, 2), Fraction(1, 3), 1),
], ids=["four", "eight"])
def test_closed_moments_are_those_of_all_sequences(plan: PhasedPlan) -> None:
    exact, true = excess(plan), enumerated(plan)
    reach = float(clipped(plan))
    assert abs(float(exact.mid()) - float(true)) < 1e-12
    assert float(exact.rad()) >= 0.99 * reach > 0  # the ball also holds the risk with the clip


def test_a_phase_without_clipping_has_a_tiny_radius() -> None:
    plan = phased_rates.plan_of(phased_rates.in_records.spot(2**50))
    assert float(excess(plan).rad()) < 1e-100


@pytest.mark.parametrize("records", [2**10, 2**20, 2**50])
def test_the_closed_bound_is_no_smaller_than_the_certified_one(records: int) -> None:
    plan = phased_rates.plan_of(phased_rates.in_records.spot(records))
    certified = bound("phased-sgd.risk").reference(
        link_lipschitz=1, label_bound=1, distance=Fraction(9, 5), rank=36, dataset_size=records,
        base_learning_rate=plan.step, noise_over_sensitivity=plan.noise / 4,
    )
    assert plan.distance == Fraction(9, 5) ** 2
    assert certified.certainly_le(Fraction(float(closed_bound(plan, rank=Fraction(36)).upper())))


def test_null_atoms_are_counted() -> None:
    plan = PhasedPlan(8, Fraction(3, 2), Fraction(1, 3), 2, 3)
    alone = PhasedPlan(8, Fraction(3, 2), Fraction(1, 3), 2)
    assert sum(linear_twin.masses(2, 3)) == 1
    assert float(excess(plan).mid()) != float(excess(alone).mid())
    features, labels = drawn(plan, generator_of(0, 0))
    assert features.shape == (8, 5)
    assert set(labels) <= {-1.0, 1.0}


def test_smaller_data_are_the_first_of_larger() -> None:
    few, many = (drawn(PhasedPlan(n, Fraction(1), Fraction(1), 6), generator_of(3, 1)) for n in (16, 64))
    assert np.array_equal(few[0], many[0][:16])
    assert np.array_equal(few[1], many[1][:16])


def outcome(item: Study, runs: Array, value: int) -> str:
    """The verdict on one simulated point with its exact curve."""
    both = np.stack([runs, np.full(len(runs), np.nan)], axis=1)
    curve = item.exact(item.spot(value)) if item.exact is not None else None
    level = level_of(item, value, both, curve)
    return judge(replace(item, predicted=None), [level], {} if curve is None else {value: curve}, {value: both},
                 family=1).verdict


def test_runs_agree_and_a_wrong_noise_factor_does_not() -> None:
    # Right runs are apart by four standard errors once in 15,000; the seed is fixed.
    item = study("phased-sgd-private")
    spot = item.spot(16)
    right = linear_twin.trained(phased_rates.plan_of(spot), 5, range(8), models=64)
    plan = phased_rates.plan_of(spot)
    wrong = linear_twin.trained(replace(plan, noise=4 * plan.noise), 5, range(8), models=64)
    assert outcome(item, right, 16) == "HELD"
    assert outcome(item, wrong, 16) == "CONTRADICTED"


def test_the_private_path_refuses_the_statistical_regime() -> None:
    item = study("phased-sgd-epsilon")
    with pytest.raises(OracleError, match="private regime"):
        replace(item, grid=(Fraction(1, 4),)).check_premises()


def test_a_lower_bound_in_place_of_the_bound_is_violated() -> None:
    item = study("phased-sgd-epsilon")

    def too_small(spot: Spot) -> arb:
        assert item.bound is not None
        return item.bound(spot) / 1000

    planted = replace(item, bound=too_small)
    values = item.grid[-4:]
    curves = {value: item.exact(item.spot(value)) for value in values} if item.exact is not None else {}
    levels = [level_of(planted, value, None, curves[value]) for value in values]
    assert judge(replace(planted, grid=values), levels, curves, {}, family=1).verdict == "BOUND_VIOLATED"
