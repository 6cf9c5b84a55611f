"""Plans of document 002's algorithms: what the examples prove, and every hypothesis that can take it away."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

import oracle
from oracle.core.planning import CONDITIONAL, DOES_NOT_APPLY, PROVED, judge, read

EXAMPLES = Path(__file__).parents[3] / "examples"
CASES = {
    "phased-sgd": ("phased-sgd.epsilon", 0.99946),
    "phased-sgd-projected": ("phased-sgd-projected.epsilon", 0.96864),
    "two-layer": ("two-layer.epsilon", 0.99872),
    "dp-pgd": ("dp-pgd.epsilon", 0.99921),
    "adaptive-batched-gd": ("adaptive-batched-gd.epsilon", 0.99725),
    "dp-sgd-multilayer": ("dp-sgd-multilayer.epsilon", 1.29856),
}
FLAGS = [
    (name, parameter.name)
    for name in CASES for parameter in read(EXAMPLES / f"{name}.toml")[0].optional
    if parameter.choices == ("true", "false") and (name, parameter.name) != ("two-layer", "gaussian_projection")
]


def plan_of(name: str, **changes: Any) -> Any:
    recipe, config = read(EXAMPLES / f"{name}.toml")
    given = {key: value for key, value in {**vars(config), **changes}.items() if value is not None}
    return judge(recipe, recipe.parse(given))


@pytest.mark.parametrize("name", CASES)
def test_an_example_proves_what_its_bound_gives(name: str) -> None:
    bound, epsilon = CASES[name]
    best = plan_of(name).best
    assert best.guarantee.bound == bound
    assert best.epsilon == oracle.bound(bound).reference(**best.parameters)
    assert abs(best.epsilon.to_floats()[1] - epsilon) < 1e-5


@pytest.mark.parametrize(("name", "flag"), FLAGS)
def test_every_flag_matters(name: str, flag: str) -> None:
    """Denied, nothing is proved; not said, what would be proved is conditional."""
    assert plan_of(name).judged[0].status == PROVED
    denied, unsaid = plan_of(name, **{flag: "false"}), plan_of(name, **{flag: None})
    assert denied.judged[0].status == DOES_NOT_APPLY
    assert unsaid.judged[0].status == CONDITIONAL
    assert denied.best is None
    assert unsaid.best is None


@pytest.mark.parametrize("name", [name for name in CASES if name != "dp-sgd-multilayer"])
def test_adding_or_removing_a_record_is_another_matter(name: str) -> None:
    assert plan_of(name, neighbours="add_remove").best is None


@pytest.mark.parametrize("name", ["phased-sgd", "phased-sgd-projected", "two-layer"])
@pytest.mark.parametrize("released", ["last_iterate", "all_iterates"])
def test_what_happens_inside_a_phase_must_stay_there(name: str, released: str) -> None:
    assert plan_of(name, released=released).best is None


@pytest.mark.parametrize("name", ["dp-pgd", "adaptive-batched-gd", "dp-sgd-multilayer"])
def test_composition_does_not_care_what_is_released(name: str) -> None:
    assert plan_of(name, released="all_iterates").best.epsilon == plan_of(name).best.epsilon


@pytest.mark.parametrize(
    ("name", "edge"), [("phased-sgd", 8), ("phased-sgd-projected", "1/16"), ("two-layer", 32)],
)
def test_the_step_may_lie_on_the_edge_exactly(name: str, edge: Any) -> None:
    assert plan_of(name, learning_rate=edge).best is not None
    beyond = plan_of(name, learning_rate=Fraction(edge) + Fraction(1, 10**30))
    assert beyond.judged[0].status == DOES_NOT_APPLY


def test_projected_features_are_judged_by_their_own_bound() -> None:
    said = plan_of("two-layer", projected_dimension=100, gaussian_projection="true")
    assert said.judged[0].status == DOES_NOT_APPLY
    assert said.best.guarantee.bound == "two-layer-projected.epsilon"
    assert plan_of("two-layer", projected_dimension=100).judged[1].status == CONDITIONAL
    few = plan_of("two-layer", projected_dimension=10, gaussian_projection="true").judged[1]
    assert few.status == DOES_NOT_APPLY
    assert few.reason.startswith("delta = 1/100000 is outside its domain")
