"""Plans of document 002's algorithms: what the examples prove, and every hypothesis that can take it away."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

import oracle
from oracle.core.planning import CONDITIONAL, DOES_NOT_APPLY, PROVED, plan, read

EXAMPLES = Path(__file__).parents[3] / "examples"
CASES = {
    "phased-sgd": ("phased-sgd.epsilon", 0.99946),
    "phased-sgd-projected": ("phased-sgd-projected.epsilon", 0.95918),
    "smoothed-phased-sgd": ("phased-sgd.epsilon", 0.97810),
    "smoothed-phased-sgd-projected": ("phased-sgd-projected.epsilon", 0.96864),
    "two-layer": ("two-layer.epsilon", 0.99872),
    "two-layer-projected": ("two-layer-projected.epsilon", 0.99872),
    "dp-pgd": ("dp-pgd.epsilon", 0.99921),
    "adaptive-batched-gd": ("adaptive-batched-gd.epsilon", 0.99725),
    "dp-sgd-multilayer": ("dp-sgd-multilayer.epsilon", 1.29856),
}
MODEL = {"independent_records": "true", "well_specified": "true"}
RISKS: dict[str, tuple[str, dict[str, Any]]] = {
    "phased-sgd.risk": ("phased-sgd", {**MODEL, "distance": 1, "rank": 5}),
    "phased-sgd-projected.risk": ("phased-sgd-projected", {**MODEL, "target_norm": 1, "initial_radius": 0}),
    "dp-pgd.risk": ("dp-pgd", {**MODEL, "learning_rate": "0.1", "target_norm": 1}),
    "adaptive-batched-gd.risk": ("adaptive-batched-gd", {
        "independent_records": "true", "isotropic": "true", "target_norm": 1, "optimal_risk": "0.1", "dimension": 8,
        "learning_rate": "0.5", "feature_norm": 5, "label_bound": 2, "strong_convexity": "0.25",
    }),
    "adaptive-batched-gd-symmetric.risk": ("adaptive-batched-gd", {
        "independent_records": "true", "isotropic": "true", "symmetric": "true", "target_norm": 1,
        "optimal_risk": "0.1", "dimension": 8, "learning_rate": "0.5", "feature_norm": 5, "label_bound": 2,
    }),
    "exponential-mechanism.utility": ("exponential-mechanism", {"dataset_size": 100, "candidates": 25}),
}
ABOUT_RISK = {*MODEL, "isotropic", "symmetric"}
FLAGS = [
    (name, parameter.name)
    for name in CASES for parameter in oracle.algorithm(name).stated
    if parameter.choices == ("true", "false") and parameter.name not in ABOUT_RISK
]
PHASED = [name for name in CASES if "phased-sgd" in name or "two-layer" in name]


def plan_of(name: str, **changes: Any) -> Any:
    item, keys = read(EXAMPLES / f"{name}.toml")
    return plan(item, {key: value for key, value in {**keys, **changes}.items() if value is not None})


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


def risk_of(bound: str, **changes: Any) -> Any:
    name, keys = RISKS[bound]
    return next(item for item in plan_of(name, **{**keys, **changes}).risks if item.guarantee.bound == bound)


@pytest.mark.parametrize("bound", RISKS)
def test_a_risk_is_proved_only_where_all_is_said(bound: str) -> None:
    """Each key that was added for it matters, and so does each flag that is about the data."""
    proved = risk_of(bound)
    assert (proved.status, proved.epsilon) == (PROVED, None)
    assert proved.risk == oracle.bound(bound).reference(**proved.parameters)
    for key, value in RISKS[bound][1].items():
        assert risk_of(bound, **{key: None}).status != PROVED
        if value == "true":
            assert risk_of(bound, **{key: "false"}).status == DOES_NOT_APPLY
    name, keys = RISKS[bound]
    assert plan_of(name, **keys).best.epsilon == plan_of(name).best.epsilon, "what is said for a risk buys no privacy"


@pytest.mark.parametrize("name", [name for name in CASES if name != "dp-sgd-multilayer"])
def test_adding_or_removing_a_record_is_another_matter(name: str) -> None:
    assert plan_of(name, neighbours="add_remove").best is None


@pytest.mark.parametrize("name", PHASED)
@pytest.mark.parametrize("released", ["last_iterate", "all_iterates"])
def test_what_happens_inside_a_phase_must_stay_there(name: str, released: str) -> None:
    assert plan_of(name, released=released).best is None


@pytest.mark.parametrize("name", ["dp-pgd", "adaptive-batched-gd", "dp-sgd-multilayer"])
def test_composition_does_not_care_what_is_released(name: str) -> None:
    assert plan_of(name, released="all_iterates").best.epsilon == plan_of(name).best.epsilon


@pytest.mark.parametrize(
    ("name", "edge"), [
        ("phased-sgd", 8), ("phased-sgd-projected", 2), ("smoothed-phased-sgd", "1/4"),
        ("smoothed-phased-sgd-projected", "1/16"), ("two-layer", 32), ("two-layer-projected", 8),
    ],
)
def test_the_step_may_lie_on_the_edge_exactly(name: str, edge: Any) -> None:
    assert plan_of(name, base_learning_rate=edge).best is not None
    beyond = plan_of(name, base_learning_rate=Fraction(edge) + Fraction(1, 10**30))
    assert beyond.judged[0].status == DOES_NOT_APPLY


def test_too_few_projected_directions_use_up_delta() -> None:
    few = plan_of("two-layer-projected", projected_dimension=10).judged[0]
    assert few.status == DOES_NOT_APPLY
    assert few.reason.startswith("delta = 1/100000 is outside its domain")


@pytest.mark.parametrize("name", ["phased-sgd", "phased-sgd-projected", "two-layer", "two-layer-projected"])
def test_a_link_of_which_nothing_is_said_proves_nothing(name: str) -> None:
    unsaid = plan_of(name, link_lipschitz=None)
    assert (unsaid.judged[0].status, unsaid.best) == (CONDITIONAL, None)


def test_the_printed_noise_is_judged_by_what_it_is() -> None:
    """Over the sensitivity at the start: z / r, or 2 z^2 B / (m r); without r and B nobody knows."""
    printed = {"noise_formula": "printed-variance", "feature_norm": 2, "label_bound": 3}
    assert plan_of("adaptive-batched-gd", noise_formula="printed-variance").judged[0].status == CONDITIONAL
    found = plan_of("adaptive-batched-gd", **printed).judged[0]
    assert found.parameters["noise_over_sensitivity"] == str(Fraction("3.74") / 2)
    found = plan_of("adaptive-batched-gd", **{**printed, "noise_formula": "printed-std"}).judged[0]
    assert found.parameters["noise_over_sensitivity"] == str(2 * Fraction("3.74") ** 2 * 3 / (1000 * 2))
    assert plan_of("adaptive-batched-gd", batch_size=1001).judged[0].status == DOES_NOT_APPLY
