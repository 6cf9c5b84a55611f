"""The plans of DP-SBCD: what is proved, and what is honestly not."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from oracle import algorithm, bound
from oracle.core.errors import DomainError
from oracle.core.planning import CONDITIONAL, DOES_NOT_APPLY, PROVED, Plan, plan, read

EXAMPLES = Path(__file__).parents[3] / "examples"
BLOCK: dict[str, Any] = {
    "dataset_size": 4800, "batch_size": 960, "noise_variances": ["0.01"] * 10, "layers": 0, "clip_norm": 10,
    "learning_rate": "0.01", "lipschitz_gradient": "0.98", "lipschitz_prox": 1, "clipped": "true",
    "other_inputs_independent": "true", "separate_records": "true", "partition": "hidden",
    "released": "last_iterate", "neighbours": "replace", "delta": "1e-5",
}


def sbcd(**keys: Any) -> Plan:
    return plan(algorithm("dp-sbcd"), {**BLOCK, **keys})


def best(found: Plan) -> str | None:
    return None if found.best is None else found.best.guarantee.bound


def test_the_two_examples_of_dp_sbcd() -> None:
    several = plan(*read(EXAMPLES / "dp-sbcd.toml"))
    assert [item.status for item in several.judged] == [DOES_NOT_APPLY, DOES_NOT_APPLY, PROVED]
    one = plan(*read(EXAMPLES / "dp-sbcd-one-block.toml"))
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
        ({"layers": 1}, "sbcd-composition.epsilon"),
        ({"other_inputs_independent": "false"}, "sbcd-composition.epsilon"),
        ({"released": "all_iterates"}, "sbcd-composition.epsilon"),
        ({"layers": 1, "separate_records": "false"}, None),
        ({"clipped": "false"}, None),
        ({"clip_norm": "inf"}, None),
        ({"neighbours": "add_remove"}, None),
        ({"batch_size": 959}, None),
    ],
    ids=str,
)
def test_what_is_left_when_a_hypothesis_fails(keys: dict[str, Any], left: str | None) -> None:
    assert best(sbcd(**keys)) == left


@pytest.mark.parametrize(("missing", "left"), [
    ("clipped", None), ("separate_records", "sbcd-mixed.rdp"), ("other_inputs_independent", "sbcd-composition.epsilon"),
    ("lipschitz_gradient", "sbcd-composition.epsilon"), ("lipschitz_prox", "sbcd-composition.epsilon"),
])
def test_what_is_not_said_is_not_assumed(missing: str, left: str | None) -> None:
    found = plan(algorithm("dp-sbcd"), {key: value for key, value in BLOCK.items() if key != missing})
    assert best(found) == left
    assert CONDITIONAL in {item.status for item in found.judged}


def test_a_replaced_record_moves_a_sum_by_twice_the_clipping_norm() -> None:
    block = {
        "sensitivity": 20, "batch_size": 960, "learning_rate": "0.01", "noise_variances": ["0.01"] * 10, "batches": 5,
        "lipschitz_gradient": "0.98", "lipschitz_prox": 1,
    }
    worst, _, composed = sbcd().judged
    assert worst.epsilon == bound("sbcd.epsilon").at({**block, "delta": "1e-5"})
    entries = {"learning_rate": "0.01", "batch_size": 960, "sensitivities": [20] * 10, "noise_variances": ["0.01"] * 10}
    assert composed.epsilon == bound("sbcd-composition.epsilon").at({**entries, "delta": "1e-5"})


def test_blocks_compose() -> None:
    """Four blocks cost what four times as many epochs of one block would."""
    four, longer = sbcd(layers=3).judged[2], sbcd(noise_variances=["0.01"] * 40).judged[2]
    assert four.epsilon == longer.epsilon


def test_the_printed_schedule_is_refused_by_name() -> None:
    with pytest.raises(DomainError, match=r"noise_variances = -0\.002 \(entry 5\)"):
        sbcd(noise_variances=["0.01", "0.007", "0.004", "0.001", "-0.002"])
