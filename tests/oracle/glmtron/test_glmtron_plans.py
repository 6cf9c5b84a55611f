"""Plans of document 003's algorithms: which guarantee is proved, what it depends on, and the weaker of two parts."""

from __future__ import annotations

from typing import Any

import pytest

from oracle import bound
from oracle.core.planning import CONDITIONAL, DOES_NOT_APPLY, PROVED, Plan, judge, recipes

COMMON: dict[str, Any] = {
    "records": 60, "passes": 1, "thresholds": "fixed", "delta": "1e-3", "neighbours": "replace",
    "released": "all_iterates",
}
SHUFFLED: dict[str, Any] = {**COMMON, "noise_multiplier": 5, "shuffled": "true"}
TREE: dict[str, Any] = {**COMMON, "noise_multiplier": 20, "late_noise": "true"}
HISTOGRAMS: dict[str, Any] = {
    "threshold_epsilon": "0.01", "threshold_delta": "1e-7", "noisy_test": "true", "fixed_bins": "true",
}
OTHERS: dict[str, Any] = {**HISTOGRAMS, "thresholds": "other_records"}


def plan_of(algorithm: str, **keys: Any) -> Plan:
    recipe = recipes()[algorithm]
    return judge(recipe, recipe.parse(keys))


def best(plan: Plan) -> str | None:
    return None if plan.best is None else plan.best.guarantee.bound


def statuses(plan: Plan) -> dict[str, str]:
    return {item.guarantee.bound: item.status for item in plan.judged}


# --- one pass


def test_a_shuffled_pass_has_the_better_guarantee() -> None:
    plan = plan_of("dp-glmtron", **SHUFFLED)
    assert statuses(plan) == {
        "glmtron.epsilon": PROVED, "gaussian.epsilon": PROVED, "dp-threshold.epsilon": DOES_NOT_APPLY,
    }
    assert best(plan) == "glmtron.epsilon"
    shuffled, alone = (item.epsilon for item in plan.judged[:2])
    assert shuffled is not None
    assert alone is not None
    assert not alone.possibly_le(shuffled)


@pytest.mark.parametrize(
    ("change", "proved"),
    [
        ({"shuffled": "false"}, "gaussian.epsilon"), ({"passes": 2}, None), ({"neighbours": "add_remove"}, None),
        ({"thresholds": "same_records"}, None),
    ],
    ids=str,
)
def test_what_a_pass_depends_on(change: dict[str, Any], proved: str | None) -> None:
    assert best(plan_of("dp-glmtron", **{**SHUFFLED, **change})) == proved


def test_an_order_of_which_nothing_is_said_counts_for_nothing() -> None:
    plan = plan_of("dp-glmtron", **{key: value for key, value in SHUFFLED.items() if key != "shuffled"})
    assert statuses(plan)["glmtron.epsilon"] == CONDITIONAL
    assert best(plan) == "gaussian.epsilon"


# --- the tree


@pytest.mark.parametrize("neighbours", ["replace", "add_remove"])
def test_a_tree_under_both_relations(neighbours: str) -> None:
    plan = plan_of("dp-taglmtron", **{**TREE, "neighbours": neighbours})
    direct = bound("taglmtron.epsilon").reference(
        noise_multiplier=20, dataset_size=60, delta="1e-3", neighbours=neighbours
    )
    assert plan.best is not None
    assert plan.best.epsilon == direct


@pytest.mark.parametrize(
    "change",
    [{"late_noise": "false"}, {"thresholds": "same_records"}, {"passes": 3}, {**OTHERS, "neighbours": "add_remove"}],
    ids=["early noise", "same records", "passes", "thresholds are for replace"],
)
def test_what_a_tree_depends_on(change: dict[str, Any]) -> None:
    assert plan_of("dp-taglmtron", **{**TREE, **change}).best is None


# --- thresholds from other records: the weaker of the two guarantees


@pytest.mark.full
@pytest.mark.parametrize(("algorithm", "config"), [("dp-glmtron", SHUFFLED), ("dp-taglmtron", TREE)])
@pytest.mark.parametrize("one", ["0.0001", "0.1"])
def test_the_weaker_guarantee_is_the_one_that_is_proved(algorithm: str, config: dict[str, Any], one: str) -> None:
    plan = plan_of(algorithm, **{**config, **OTHERS, "threshold_epsilon": one})
    training = plan_of(algorithm, **config).best
    thresholds = bound("dp-threshold.epsilon").reference(
        threshold_epsilon=one, threshold_delta="1e-7", histograms=3, calls=60, delta="1e-3"
    )
    assert training is not None
    assert training.epsilon is not None
    assert plan.best is not None
    assert plan.best.epsilon is not None
    assert training.epsilon.possibly_le(plan.best.epsilon)
    assert thresholds.possibly_le(plan.best.epsilon)
    assert (best(plan) == "dp-threshold.epsilon") == (one == "0.1")


@pytest.mark.full
@pytest.mark.parametrize("missing", HISTOGRAMS)
def test_thresholds_of_which_too_little_is_said(missing: str) -> None:
    plan = plan_of("dp-glmtron", **{**SHUFFLED, **{key: value for key, value in OTHERS.items() if key != missing}})
    assert plan.best is None
    assert statuses(plan)["glmtron.epsilon"] == CONDITIONAL


@pytest.mark.parametrize(
    "change", [{"noisy_test": "false"}, {"fixed_bins": "false"}, {"threshold_delta": "0.5"}], ids=str
)
def test_thresholds_that_are_not_private_prove_nothing(change: dict[str, Any]) -> None:
    """The printed test, bins from the records, or histograms that give more away than delta allows."""
    plan = plan_of("dp-glmtron", **{**SHUFFLED, **OTHERS, **change})
    assert plan.best is None
    assert set(statuses(plan).values()) == {DOES_NOT_APPLY}


@pytest.mark.parametrize("change", [{"neighbours": "add_remove"}, {"noisy_test": "false"}, {"fixed_bins": "false"}])
def test_what_thresholds_alone_depend_on(change: dict[str, str]) -> None:
    config = {**HISTOGRAMS, "calls": 10, "delta": "1e-3", "neighbours": "replace"}
    assert best(plan_of("dp-threshold", **config)) == "dp-threshold.epsilon"
    assert plan_of("dp-threshold", **{**config, **change}).best is None
