"""The hunt for the worst row of every bound, edges first: the fast path against the certified reference, and no crash.

A fast path that is unsound somewhere is most likely so where float64 changes: this is where `tests.edge_rows` draws its
rows. What is asked of a row: the fast answer is on the safe side of the reference's enclosure; where one of the two
paths refuses, it says so by an error of ours in one line; nothing else is ever raised. A few rows a bound in every
tier, many at night.
"""

from __future__ import annotations

import itertools
import math
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

import oracle
from empirical.gate.making.points import Point, point_at
from empirical.gate.ranges import LARGEST, SMALLEST
from oracle.core import registry
from oracle.core.errors import DomainError, OracleError, PrecisionError
from tests.edge_rows import edge_rows
from tests.tiers import named

pytestmark = pytest.mark.full

BOUNDS = list(registry.bounds().values())
SAMPLED = (
    "poisson-gaussian.delta", "poisson-gaussian.epsilon", "poisson-gaussian.sigma", "poisson-gaussian.rdp",
    "dp-sgd.epsilon", "dp-sgd-multilayer.epsilon", "dp-sgd-multilayer.sigma",
)
"""Bounds that end in the contour of sampled Gaussian steps, whose reference takes long at edges if it shall be fine."""
QUICK_ENOUGH = {"poisson-gaussian.delta", "poisson-gaussian.epsilon"}
"""Those of them whose answers without a width are quick at edges, too."""
DEAR = {
    *SAMPLED, "adaptive-batched-gd.risk", "adaptive-batched-gd-symmetric.risk", "glmtron-recursion.risk",
    "glmtron-adaptive.epsilon", "glmtron.sigma", "laplace-composed.epsilon", "noisy-sgd.delta", "noisy-sgd.epsilon",
    "poisson-tuning.lower", "poisson-tuning.epsilon", "sbcd-mixed.rdp", "sbcd.epsilon", "composition.optimal-delta",
}
DEAR_DIGITS = {"output-perturbation-gaussian.sigma", "dp-gd.sigma", "adaptive-batched-gd.sigma", "noisy-gd.sigma"}
"""Noises of 10^4000 to twelve digits behind the point: thousands of digits take a second."""
FINE = Fraction(1, 10**20)
FEW, MANY = 6, 60
quickly = pytest.mark.parametrize("bound", named(BOUNDS, DEAR, "thorough"))


def fault(bound: oracle.Bound, row: Point) -> str:
    """What is wrong with the fast answer of one row; empty where nothing is."""
    try:
        value = float(bound.fast(**{k: list(v) if isinstance(v, tuple) else v for k, v in row.items()}))
    except OracleError as error:
        refused(bound, row, error)
        return ""
    try:
        truth = bound.reference(width=FINE, **row)
    except PrecisionError:
        return ""  # nothing to judge by at this width
    if math.isnan(value):
        return f"NaN, and no word of it, for {truth} at {row}"
    if bound.safe == "lower":
        return f"UNSOUND {value!r} > {truth} at {row}" if truth.upper.compare(value) < 0 else ""
    if value == math.inf:
        return f"infinite, not {truth}, at {row}" if truth.upper.compare(LARGEST) <= 0 else ""
    return f"UNSOUND {value!r} < {truth} at {row}" if truth.lower.compare(value) > 0 else ""


def refused(bound: oracle.Bound, row: Point, error: OracleError) -> None:
    """A refusal is one line, and what lies outside the domain for one path does so for the other."""
    assert "\n" not in str(error)
    assert isinstance(error, (DomainError, PrecisionError))
    if isinstance(error, DomainError):
        with pytest.raises(DomainError):
            bound.reference(**row)


def hunt(bound: oracle.Bound, count: int, seed: int) -> None:
    """No row among so many is unsound."""
    faults = [told for row in edge_rows(bound, count, seed) if (told := fault(bound, row))]
    assert not faults, f"{bound.name}: {len(faults)} of {count} rows\n" + "\n".join(faults[:5])


@quickly
def test_no_row_at_the_edges_is_unsound(bound: oracle.Bound) -> None:
    hunt(bound, FEW, seed=11)


@pytest.mark.thorough
@pytest.mark.parametrize("bound", [item for item in BOUNDS if item.name not in SAMPLED], ids=lambda item: item.name)
def test_no_row_among_many_is_unsound(bound: oracle.Bound) -> None:
    hunt(bound, MANY, seed=12)


@pytest.mark.parametrize("bound", named(BOUNDS, SAMPLED, "thorough"))
def test_two_least_doubles_are_answered_like_any_numbers(bound: oracle.Bound) -> None:
    """A ratio of two of them may be an ordinary number: what float64 does not know of it, the reference decides."""
    reals = [p.name for p in bound.parameters if p.kind == "real" and not (p.low == 0 and p.high == 1)]
    everyday = point_at(bound, [0.4] * len(bound.parameters))
    for pair in itertools.combinations(reals, 2):
        row = {**everyday, **dict.fromkeys(pair, SMALLEST)}
        try:
            bound.parse({name: list(value) if isinstance(value, tuple) else value for name, value in row.items()})
        except DomainError:
            continue
        told = fault(bound, row)
        assert not told, told


@pytest.mark.parametrize("steps", [0, 3])
def test_a_ratio_that_float64_does_not_know_is_no_refusal_and_no_promise(steps: int) -> None:
    item = oracle.bound("noisy-sgd.epsilon")
    row: Point = {
        "sensitivity": SMALLEST, "dataset_size": 10**9, "batch_size": 2, "noise_on_mean": SMALLEST, "contraction": 0.5,
        "learning_rate": 1e4, "diameter": 1e-30, "steps": steps, "delta": 1e-4,
    }
    assert not fault(item, row)
    assert (float(item.fast(**row)) > 0.0) == (steps > 0)
    with pytest.raises(DomainError, match="outside its domain"):  # also where nothing is released: steps = 0
        item.fast(**{**row, "noise_on_mean": 1.0})


def test_the_hunt_would_find_an_unsound_row() -> None:
    """A fast path that loses its last rounding, one that underflows to 0, and one that is silent are all caught."""
    from dataclasses import replace

    item = oracle.bound("gaussian.delta")
    row: Point = {"sigma": 1.0, "sensitivity": 1.0, "epsilon": 60.0}
    assert not fault(item, row)
    shaved = replace(item, vectorised=lambda xp, v: item.vectorised(xp, v) * (1 - 2.0**-40))
    assert "UNSOUND" in fault(shaved, {**row, "epsilon": 1.0})
    assert "UNSOUND 0.0" in fault(replace(item, vectorised=lambda xp, v: 0.0 * v.epsilon), row)
    below = oracle.bound("convex-relu.step")
    point = {
        "step_rule": "expansion", "loss": "squared", "active": 3, "feature_norm": 1.0, "regularisation": 0.5,
    }
    assert not fault(below, point)
    larger = replace(below, vectorised=lambda xp, v: below.vectorised(xp, v) * (1 + 2.0**-40))
    assert "UNSOUND" in fault(larger, point)


# --- no crash


def check_no_crash(bound: oracle.Bound, count: int, seed: int) -> None:
    """At numbers inside the domain, doubles and others, the reference encloses or refuses in one clear line."""
    for row in edge_rows(bound, count, seed, texts=True):
        try:
            enclosure = bound.reference(**row)
        except (DomainError, PrecisionError) as error:
            told = str(error)
        else:
            told = str(enclosure)
            assert enclosure.lower.compare(enclosure.upper) <= 0, row
        assert told.strip(), row
        assert "\n" not in told, row


@pytest.mark.parametrize("bound", named(BOUNDS, (DEAR | DEAR_DIGITS) - QUICK_ENOUGH, "thorough"))
def test_nothing_inside_the_domain_is_a_crash(bound: oracle.Bound) -> None:
    check_no_crash(bound, 4, seed=21)


@pytest.mark.thorough
@pytest.mark.parametrize("bound", BOUNDS, ids=lambda item: item.name)
def test_nothing_far_inside_the_domain_is_a_crash(bound: oracle.Bound) -> None:
    check_no_crash(bound, 24, seed=22)


# --- what underflows


@pytest.mark.parametrize("steps", [1, 10, 1000])
@pytest.mark.parametrize("library", ["numpy", "torch"])
def test_a_sampled_delta_that_underflows_is_the_least_double(steps: int, library: str) -> None:
    """At epsilon = 100 and sigma = 1 one step has about 10^-2000: no double but the least positive one is right."""
    import torch

    convert: Any = np.asarray if library == "numpy" else torch.as_tensor
    item = oracle.bound("poisson-gaussian.delta")
    epsilon = convert(np.array([100.0, 300.0, 690.0]))
    result = item.fast(sigma=1.0, sampling_rate=0.01, steps=steps, epsilon=epsilon, neighbours="add_remove")
    assert np.asarray(result).tolist() == [SMALLEST] * 3


def test_a_delta_that_underflows_is_never_zero() -> None:
    """Every bound on a delta, far out: 0 only where the reference is 0, too."""
    for item in BOUNDS:
        if item.unit != "delta" or item.name in SAMPLED or "epsilon" not in {p.name for p in item.parameters}:
            continue
        for row in edge_rows(item, 4, seed=31):
            moved = {**row, "epsilon": 720.0}
            told = fault(item, moved)
            assert not told, told
