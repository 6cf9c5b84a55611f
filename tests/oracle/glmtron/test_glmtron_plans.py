"""Plans of document 003's algorithms: which guarantee is proved, what it depends on, and the weaker of two parts."""

from __future__ import annotations

from typing import Any

import pytest

from oracle import algorithm, bound
from oracle.core.errors import DomainError
from oracle.core.planning import CONDITIONAL, DOES_NOT_APPLY, PROVED, Plan, plan

COMMON: dict[str, Any] = {
    "dataset_size": 60, "epochs": 1, "clip": "shorten", "thresholds": "fixed", "delta": "1e-3",
    "neighbours": "replace", "released": "all_iterates",
}
SHUFFLED: dict[str, Any] = {**COMMON, "noise_over_sensitivity": 5, "shuffled": "true"}
TREE: dict[str, Any] = {**COMMON, "noise_multiplier": 20, "late_noise": "true"}
HISTOGRAMS: dict[str, Any] = {
    "threshold_epsilon": "0.01", "threshold_delta": "1e-7", "noisy_test": "true", "fixed_bins": "true",
}
OTHERS: dict[str, Any] = {**HISTOGRAMS, "thresholds": "other_records"}


def plan_of(name: str, **keys: Any) -> Plan:
    return plan(algorithm(name), keys)


def best(found: Plan) -> str | None:
    return None if found.best is None else found.best.guarantee.bound


def statuses(found: Plan) -> dict[str, str]:
    return {item.guarantee.bound: item.status for item in found.judged}


# --- one pass


def test_a_shuffled_pass_has_the_better_guarantee() -> None:
    found = plan_of("dp-glmtron", **SHUFFLED)
    assert statuses(found) == {
        "glmtron.epsilon": PROVED, "gaussian.epsilon": PROVED, "dp-threshold.epsilon": DOES_NOT_APPLY,
    }
    assert best(found) == "glmtron.epsilon"
    shuffled, alone = (item.epsilon for item in found.judged[:2])
    assert shuffled is not None
    assert alone is not None
    assert not alone.possibly_le(shuffled)


@pytest.mark.parametrize(
    ("change", "proved"),
    [
        ({"shuffled": "false"}, "gaussian.epsilon"), ({"epochs": 2}, None), ({"neighbours": "add_remove"}, None),
        ({"thresholds": "same_records"}, None), ({"clip": "printed-max"}, None),
    ],
    ids=str,
)
@pytest.mark.parametrize("name", ["dp-glmtron", "glm-dp-sgd"])
def test_what_a_pass_depends_on(name: str, change: dict[str, Any], proved: str | None) -> None:
    assert best(plan_of(name, **{**SHUFFLED, **change})) == proved


def test_an_order_of_which_nothing_is_said_counts_for_nothing() -> None:
    found = plan_of("dp-glmtron", **{key: value for key, value in SHUFFLED.items() if key != "shuffled"})
    assert statuses(found)["glmtron.epsilon"] == CONDITIONAL
    assert best(found) == "gaussian.epsilon"


# --- the tree


@pytest.mark.parametrize("neighbours", ["replace", "add_remove"])
def test_a_tree_under_both_relations(neighbours: str) -> None:
    found = plan_of("dp-taglmtron", **{**TREE, "neighbours": neighbours})
    direct = bound("taglmtron.epsilon").reference(
        noise_multiplier=20, dataset_size=60, delta="1e-3", neighbours=neighbours
    )
    assert found.best is not None
    assert found.best.epsilon == direct


@pytest.mark.parametrize(
    "change",
    [{"late_noise": "false"}, {"thresholds": "same_records"}, {"epochs": 3}, {"clip": "printed-max"},
     {**OTHERS, "neighbours": "add_remove"}],
    ids=["early noise", "same records", "epochs", "the misprint", "thresholds are for replace"],
)
@pytest.mark.parametrize("name", ["dp-taglmtron", "dp-ftrl"])
def test_what_a_tree_depends_on(name: str, change: dict[str, Any]) -> None:
    assert best(plan_of(name, **TREE)) == "taglmtron.epsilon"
    assert plan_of(name, **{**TREE, **change}).best is None


@pytest.mark.parametrize(("name", "config"), [("dp-glmtron", SHUFFLED), ("dp-taglmtron", TREE)])
def test_a_clipping_of_which_nothing_is_said_counts_for_nothing(name: str, config: dict[str, Any]) -> None:
    found = plan_of(name, **{key: value for key, value in config.items() if key != "clip"})
    assert found.best is None
    assert CONDITIONAL in statuses(found).values()


def test_each_noise_has_its_own_name() -> None:
    """What a record moves is 2 gamma for a pass, gamma or 2 gamma for a node: one name would mean two noises."""
    with pytest.raises(DomainError, match="noise_over_sensitivity"):
        plan_of("dp-glmtron", **COMMON, noise_multiplier=5, shuffled="true")
    with pytest.raises(DomainError, match="noise_multiplier"):
        plan_of("dp-taglmtron", **COMMON, noise_over_sensitivity=5, late_noise="true")


# --- thresholds from other records: the weaker of the two guarantees


@pytest.mark.full
@pytest.mark.parametrize(("name", "config", "one"), [
    ("dp-glmtron", SHUFFLED, "0.0001"), ("dp-taglmtron", TREE, "0.0001"),
    *(pytest.param(name, config, "0.1", marks=pytest.mark.thorough)
      for name, config in (("dp-glmtron", SHUFFLED), ("dp-taglmtron", TREE))),
])
def test_the_weaker_guarantee_is_the_one_that_is_proved(name: str, config: dict[str, Any], one: str) -> None:
    found = plan_of(name, **{**config, **OTHERS, "threshold_epsilon": one})
    training = plan_of(name, **config).best
    thresholds = bound("dp-threshold.epsilon").reference(
        threshold_epsilon=one, threshold_delta="1e-7", histograms=3, calls=60, delta="1e-3"
    )
    assert training is not None
    assert training.epsilon is not None
    assert found.best is not None
    assert found.best.epsilon is not None
    assert training.epsilon.possibly_le(found.best.epsilon)
    assert thresholds.possibly_le(found.best.epsilon)
    assert (best(found) == "dp-threshold.epsilon") == (one == "0.1")


@pytest.mark.full
@pytest.mark.parametrize("missing", HISTOGRAMS)
def test_thresholds_of_which_too_little_is_said(missing: str) -> None:
    found = plan_of("dp-glmtron", **{**SHUFFLED, **{key: value for key, value in OTHERS.items() if key != missing}})
    assert found.best is None
    assert statuses(found)["glmtron.epsilon"] == CONDITIONAL


@pytest.mark.parametrize(
    "change", [{"noisy_test": "false"}, {"fixed_bins": "false"}, {"threshold_delta": "0.5"}], ids=str
)
def test_thresholds_that_are_not_private_prove_nothing(change: dict[str, Any]) -> None:
    """The printed test, bins from the records, or histograms that give more away than delta allows."""
    found = plan_of("dp-glmtron", **{**SHUFFLED, **OTHERS, **change})
    assert found.best is None
    assert set(statuses(found).values()) == {DOES_NOT_APPLY}


@pytest.mark.parametrize("change", [
    {"neighbours": "add_remove"}, {"noisy_test": "false"}, {"fixed_bins": "false"}, {"dataset_size": 7999},
    {"histogram_batches": 2000},
])
def test_what_thresholds_alone_depend_on(change: dict[str, Any]) -> None:
    config = {
        **HISTOGRAMS, "calls": 10, "histogram_batches": 4000, "dataset_size": 8000, "delta": "1e-3",
        "neighbours": "replace",
    }
    assert best(plan_of("dp-threshold", **config)) == "dp-threshold.epsilon"
    assert plan_of("dp-threshold", **{**config, **change}).best is None
