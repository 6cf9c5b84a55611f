"""The plans of NoisyCGD on the convex ReLU model: what is proved, and what is honestly not."""

from __future__ import annotations

from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest

from oracle import algorithm
from oracle.core.hypotheses import MET, NOT_MET, UNKNOWN
from oracle.core.planning import CONDITIONAL, DOES_NOT_APPLY, PROVED, Plan, plan, read

EXAMPLES = Path(__file__).parents[3] / "examples"
MODEL: dict[str, Any] = {
    "dataset_size": 60000, "batch_size": 1000, "epochs": 400, "loss": "softmax", "outputs": 2, "hyperplanes": 128,
    "feature_norm": 1, "clip_norm": 1, "clipping": "record", "noise_multiplier": 15, "learning_rate": Decimal("0.01"),
    "regularisation": Decimal("0.01"), "independent_hyperplanes": "true", "released": "last_iterate",
    "neighbours": "replace", "delta": Decimal("1e-5"),
}


def plan_of(keys: dict[str, Any]) -> Plan:
    return plan(algorithm("noisy-cgd-convex-relu"), keys)


def relu(**keys: Any) -> Plan:
    return plan_of({**MODEL, **keys})


def condition(found: Plan, start: str) -> str:
    told = (pair for one in found.judged[0].hypotheses for pair in one.conditions)
    return next(status for words, status in told if words.startswith(start))


def clipping(found: Plan) -> str:
    return condition(found, "clipping")


def contracting(found: Plan) -> str:
    return condition(found, "every step contracts")


def best(found: Plan) -> str | None:
    return None if found.best is None else found.best.guarantee.bound


def test_the_two_examples_of_the_convex_model() -> None:
    """With two classes both guarantees are proved; the document's own experiment is left with composition."""
    proved = plan(*read(EXAMPLES / "noisy-cgd-convex-relu.toml"))
    assert [item.status for item in proved.judged] == [PROVED, PROVED]
    assert best(proved) == "noisy-cgd.mu"
    honest = plan(*read(EXAMPLES / "noisy-cgd-convex-relu-mnist.toml"))
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
    found = plan_of({key: value for key, value in whole.items() if value is not None})
    assert clipping(found) == status


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
    found = plan_of(bare)
    assert [item.status for item in found.judged] == [CONDITIONAL, CONDITIONAL]
    assert best(found) is None
