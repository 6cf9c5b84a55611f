"""The recipes of document 004's algorithms: every hypothesis counts, and the epsilons are those of the bounds."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import oracle
from oracle.core.planning import CONDITIONAL, DOES_NOT_APPLY, PROVED, Plan, judge, read

EXAMPLES = Path(__file__).parents[3] / "examples"
# The flags on which the first guarantee of each example rests.
FLAGS = {
    "dp-gd": ("clipped", "fixed_size"),
    "dp-sgd": ("clipped", "constant_divisor", "secret_batches", "fixed_size"),
    "output-perturbation": ("convex",),
    "objective-perturbation": ("convex", "linear_model", "unconstrained", "exact_minimiser"),
    "exponential-mechanism": ("clipped", "exact_sampling"),
    "subsample-aggregate": ("disjoint_blocks", "clipped"),
    "sufficient-statistics": ("clipped", "only_moments"),
}


def plan(name: str, **changes: Any) -> Plan:
    recipe, config = read(EXAMPLES / f"{name}.toml")
    return judge(recipe, type(config)(**{**vars(config), **changes}))


@pytest.mark.parametrize(("name", "flag"), [(name, flag) for name, flags in FLAGS.items() for flag in flags])
def test_every_flag_counts(name: str, flag: str) -> None:
    for word, status in (("true", PROVED), ("false", DOES_NOT_APPLY), (None, CONDITIONAL)):
        assert plan(name, **{flag: word}).judged[0].status == status


def test_the_epsilons_are_those_of_the_bounds() -> None:
    for name in ("dp-gd", "objective-perturbation", "exponential-mechanism", "subsample-aggregate"):
        judged = plan(name).judged[0]
        assert judged.epsilon == oracle.bound(judged.guarantee.bound).at(judged.parameters)
    assert plan("dp-gd").claim_is_proved
    assert not plan("dp-gd", neighbours="replace").claim_is_proved, "twice the sensitivity"


@pytest.mark.parametrize("name", ["output-perturbation", "exponential-mechanism", "objective-perturbation"])
def test_adding_a_record_asks_for_a_constant_size(name: str) -> None:
    statuses = [
        plan(name, neighbours="add_remove", fixed_size=word).judged[0].status for word in ("true", "false", None)
    ]
    assert statuses == [PROVED, DOES_NOT_APPLY, CONDITIONAL]
    assert plan(name, fixed_size="false").judged[0].status == PROVED, "replacing a record does not"


def test_a_solver_of_unknown_error_proves_nothing() -> None:
    assert plan("output-perturbation", solver_error=None).judged[0].status == CONDITIONAL


@pytest.mark.parametrize(
    ("name", "pure"),
    [("output-perturbation", "gamma"), ("objective-perturbation", "gamma"), ("subsample-aggregate", "laplace"),
     ("sufficient-statistics", "laplace")],
)
def test_the_noise_decides_which_guarantee_applies(name: str, pure: str) -> None:
    for noise in (pure, "gaussian"):
        for item in plan(name, noise=noise, neighbours="replace", fixed_size="true").judged:
            applies = ("gaussian" in item.guarantee.bound) == (noise == "gaussian")
            assert (item.status == PROVED) == applies


@pytest.mark.parametrize(
    ("sampling", "neighbours", "proved"),
    [("poisson", "add_remove", [0, 2]), ("poisson", "replace", [0, 2]), ("without_replacement", "replace", [1, 2]),
     ("without_replacement", "add_remove", []), ("with_replacement", "replace", []),
     ("with_replacement", "add_remove", [])],
)
def test_how_batches_are_drawn_decides_what_is_proved(sampling: str, neighbours: str, proved: list[int]) -> None:
    judged = plan("dp-sgd", sampling=sampling, neighbours=neighbours).judged
    assert [index for index, item in enumerate(judged) if item.status == PROVED] == proved


def test_known_batches_leave_composition() -> None:
    best = plan("dp-sgd", secret_batches="false").best
    assert best is not None
    assert best.guarantee.bound == "gaussian-composed.epsilon"
