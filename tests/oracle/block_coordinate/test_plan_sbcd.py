"""The plans of DP-SBCD and of NoisyCGD on the convex ReLU model: what is proved, and what is honestly not."""

from __future__ import annotations

from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest

from oracle.core.errors import DomainError
from oracle.core.planning import CONDITIONAL, DOES_NOT_APPLY, MET, NOT_MET, PROVED, UNKNOWN, Plan, judge, read, recipes

EXAMPLES = Path(__file__).parents[3] / "examples"
MODEL: dict[str, Any] = {
    "dataset_size": 60000, "batch_size": 1000, "epochs": 400, "loss": "softmax", "outputs": 2, "hyperplanes": 128,
    "feature_norm": 1, "clip_norm": 1, "clipping": "record", "noise_multiplier": 15, "learning_rate": Decimal("0.01"),
    "regularisation": Decimal("0.01"), "independent_hyperplanes": "true", "released": "last_iterate",
    "neighbours": "replace", "delta": Decimal("1e-5"),
}
BLOCK: dict[str, Any] = {
    "dataset_size": 4800, "batch_size": 960, "noise": ["0.01"] * 10, "blocks": 1, "sensitivity": 20,
    "learning_rate": "0.01", "lipschitz_gradient": "0.98", "lipschitz_map": 1, "sensitivity_enforced": "true",
    "other_inputs_independent": "true", "separate_records": "true", "partition": "hidden",
    "released": "last_iterate", "neighbours": "replace", "delta": "1e-5",
}


def plan_of(name: str, keys: dict[str, Any]) -> Plan:
    recipe = recipes()[name]
    return judge(recipe, recipe.parse(keys))


def relu(**keys: Any) -> Plan:
    return plan_of("noisy-cgd-convex-relu", {**MODEL, **keys})


def sbcd(**keys: Any) -> Plan:
    return plan_of("dp-sbcd", {**BLOCK, **keys})


def clipping(plan: Plan) -> str:
    return next(status for words, status in plan.judged[0].hypotheses if words.startswith("clipping"))


def contracting(plan: Plan) -> str:
    return next(status for words, status in plan.judged[0].hypotheses if words.startswith("every step contracts"))


def best(plan: Plan) -> str | None:
    return None if plan.best is None else plan.best.guarantee.bound


# --- the convex ReLU model


def test_the_two_examples_of_the_convex_model() -> None:
    """With two classes both guarantees are proved; the document's own experiment is left with composition."""
    proved = judge(*read(EXAMPLES / "noisy-cgd-convex-relu.toml"))
    assert [item.status for item in proved.judged] == [PROVED, PROVED]
    assert best(proved) == "noisy-cgd.mu"
    honest = judge(*read(EXAMPLES / "noisy-cgd-convex-relu-mnist.toml"))
    assert [item.status for item in honest.judged] == [DOES_NOT_APPLY, PROVED]
    assert (clipping(honest), contracting(honest)) == (NOT_MET, NOT_MET)
    assert honest.judged[1].epsilon == proved.judged[1].epsilon  # mu = (2/sigma) sqrt(epochs), whatever the model


@pytest.mark.parametrize(
    ("keys", "status"),
    [
        ({"loss": "softmax", "outputs": 2}, MET),
        ({"loss": "softmax", "outputs": 2, "clipping": "output"}, MET),
        ({"loss": "softmax", "outputs": 3}, NOT_MET),
        ({"loss": "softmax", "outputs": 3, "clipping": "output"}, NOT_MET),
        ({"loss": "softmax", "outputs": 3, "feature_norm": None}, UNKNOWN),
        ({"loss": "logistic", "outputs": 1}, MET),
        ({"loss": "logistic", "outputs": 10}, NOT_MET),
        ({"loss": "logistic", "outputs": 10, "clipping": "output"}, MET),
        ({"loss": "squared", "outputs": 10}, MET),
        # Clipping that never acts: |r| sqrt(128) <= 16 = sqrt(2 * 128) for softmax, exactly.
        ({"loss": "softmax", "outputs": 10, "clip_norm": 16}, MET),
        ({"loss": "softmax", "outputs": 10, "clip_norm": Decimal("15.999")}, NOT_MET),
        ({"loss": "softmax", "outputs": 2, "clip_norm": 1}, MET),
        ({"loss": "softmax", "outputs": 8, "clipping": "output", "clip_norm": 32}, MET),
        ({"loss": "softmax", "outputs": 8, "clipping": "output", "clip_norm": Decimal("31.99")}, NOT_MET),
        ({"loss": "logistic", "outputs": 8, "clip_norm": 32}, MET),
        ({"loss": "logistic", "outputs": 8, "clip_norm": Decimal("31.99")}, NOT_MET),
    ],
    ids=str,
)
def test_when_clipping_keeps_the_loss_convex(keys: dict[str, Any], status: str) -> None:
    whole = {**MODEL, **keys}
    plan = plan_of("noisy-cgd-convex-relu", {key: value for key, value in whole.items() if value is not None})
    assert clipping(plan) == status


@pytest.mark.parametrize(
    ("keys", "status"),
    [
        ({"learning_rate": Decimal("0.031")}, MET),  # 2/beta = 2 / (128/2 + 0.01) = 0.031245
        ({"learning_rate": Decimal("0.0313")}, NOT_MET),
        ({"learning_rate": Decimal("0.0313"), "active": 64}, MET),
        ({"learning_rate": Decimal("0.0313"), "loss": "logistic"}, MET),
        ({"learning_rate": Decimal("0.016"), "loss": "squared"}, NOT_MET),
    ],
    ids=str,
)
def test_when_a_step_contracts(keys: dict[str, Any], status: str) -> None:
    assert contracting(relu(**keys)) == status


def test_unknowns_leave_it_conditional() -> None:
    bare = {key: value for key, value in MODEL.items() if key not in ("feature_norm", "independent_hyperplanes")}
    plan = plan_of("noisy-cgd-convex-relu", bare)
    assert [item.status for item in plan.judged] == [CONDITIONAL, CONDITIONAL]
    assert best(plan) is None


# --- DP-SBCD


def test_the_two_examples_of_dp_sbcd() -> None:
    several = judge(*read(EXAMPLES / "dp-sbcd.toml"))
    assert [item.status for item in several.judged] == [DOES_NOT_APPLY, DOES_NOT_APPLY, PROVED]
    one = judge(*read(EXAMPLES / "dp-sbcd-one-block.toml"))
    assert [item.status for item in one.judged] == [PROVED, PROVED, PROVED]
    epsilons = [item.epsilon for item in one.judged]
    assert all(item is not None for item in epsilons)
    worst, mixed, composed = (item for item in epsilons if item is not None)
    assert mixed.certainly_le(worst)
    assert worst.certainly_le(composed)


@pytest.mark.parametrize(
    ("keys", "left"),
    [
        ({}, "sbcd-mixed.rdp"),
        ({"partition": "known"}, "sbcd.epsilon"),
        ({"blocks": 2}, "sbcd-composition.epsilon"),
        ({"other_inputs_independent": "false"}, "sbcd-composition.epsilon"),
        ({"released": "all_iterates"}, "sbcd-composition.epsilon"),
        ({"blocks": 2, "separate_records": "false"}, None),
        ({"sensitivity_enforced": "false"}, None),
        ({"neighbours": "add_remove"}, None),
        ({"batch_size": 959}, None),
    ],
    ids=str,
)
def test_what_is_left_when_a_hypothesis_fails(keys: dict[str, Any], left: str | None) -> None:
    assert best(sbcd(**keys)) == left


def test_blocks_compose() -> None:
    """Four blocks cost what four times as many epochs of one block would."""
    four, longer = sbcd(blocks=4).judged[2], sbcd(noise=["0.01"] * 40).judged[2]
    assert four.epsilon == longer.epsilon


def test_the_printed_schedule_is_refused_by_name() -> None:
    with pytest.raises(DomainError, match=r"noise = -0\.002 \(entry 5\)"):
        sbcd(noise=["0.01", "0.007", "0.004", "0.001", "-0.002"])
