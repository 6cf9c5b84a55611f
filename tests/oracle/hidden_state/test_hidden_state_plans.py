"""Plans of NoisyGD and of projected NoisyCGD: units, hypotheses, and which guarantee is the best one."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import pytest

from oracle import bound
from oracle.core.planning import CONDITIONAL, DOES_NOT_APPLY, PROVED, Plan
from oracle.core.planning import plan as planned
from oracle.core.registry import algorithm as algorithm_of

COMMON: dict[str, Any] = {
    "dataset_size": 1000, "clip_norm": 3, "noise_multiplier": 20, "learning_rate": "0.5", "regularisation": "0.01",
    "smoothness": 2, "convex": "true", "scalar_output": "true", "released": "last_iterate", "neighbours": "replace",
    "delta": "1e-5",
}
GD = {**COMMON, "steps": 500}
CGD = {**COMMON, "batch_size": 100, "epochs": 300, "diameter": "0.2"}


def plan_of(algorithm: str, **keys: Any) -> Plan:
    return planned(algorithm_of(algorithm), keys)


def epsilon_of(name: str, **params: Any) -> float:
    mu = bound(name).reference(**params)
    return bound("gdp.epsilon").reference(mu=mu.upper.to_fraction(), delta="1e-5").to_floats()[1]


def proved(plan: Plan) -> tuple[str, float]:
    assert plan.best is not None
    assert plan.best.epsilon is not None
    return plan.best.guarantee.bound, plan.best.epsilon.to_floats()[1]


def test_noisy_gd_in_its_own_units() -> None:
    """sigma = z C / n on the mean gradient, sensitivity 2 C over n records."""
    plan = plan_of("noisy-gd", **GD)
    assert [item.status for item in plan.judged] == [PROVED, CONDITIONAL, PROVED]
    expected = epsilon_of(
        "noisy-gd.mu", sensitivity=6, dataset_size=1000, noise_on_mean=Fraction(60, 1000), contraction="0.995",
        steps=500,
    )
    assert proved(plan) == ("noisy-gd.mu", pytest.approx(expected, rel=1e-10))


def test_projected_noisy_gd_in_its_own_units() -> None:
    plan = plan_of("noisy-gd", **GD, diameter="0.05")
    expected = epsilon_of(
        "noisy-gd-projected.mu", sensitivity=6, dataset_size=1000, noise_on_mean=Fraction(60, 1000),
        contraction="0.995",
        steps=500, learning_rate="0.5", diameter="0.05",
    )
    assert proved(plan) == ("noisy-gd-projected.mu", pytest.approx(expected, rel=1e-10))
    assert expected < proved(plan_of("noisy-gd", **GD))[1]


def test_projected_noisy_cgd_in_its_own_units() -> None:
    plan = plan_of("noisy-cgd-projected", **CGD)
    assert [item.status for item in plan.judged] == [PROVED] * 3
    expected = epsilon_of(
        "noisy-cgd-projected.mu", sensitivity=6, batch_size=100, noise_on_mean=Fraction(60, 100), contraction="0.995",
        batches=10, epochs=300, learning_rate="0.5", diameter="0.2",
    )
    assert proved(plan) == ("noisy-cgd-projected.mu", pytest.approx(expected, rel=1e-10))


@pytest.mark.parametrize(
    "change", [{"convex": "false"}, {"scalar_output": "false"}, {"smoothness": 5}, {"released": "all_iterates"}],
    ids=str,
)
@pytest.mark.parametrize(("algorithm", "keys"), [("noisy-gd", {**GD, "diameter": 1}), ("noisy-cgd-projected", CGD)])
def test_hidden_state_needs_all_its_hypotheses(algorithm: str, keys: dict[str, Any], change: dict[str, Any]) -> None:
    plan = plan_of(algorithm, **{**keys, **change})
    assert [item.status for item in plan.judged] == [DOES_NOT_APPLY, DOES_NOT_APPLY, PROVED]
    assert proved(plan)[0] == "gaussian-composed.epsilon"


@pytest.mark.parametrize(("algorithm", "keys"), [("noisy-gd", GD), ("noisy-cgd-projected", CGD)])
def test_other_neighbours_are_not_covered(algorithm: str, keys: dict[str, Any]) -> None:
    assert plan_of(algorithm, **{**keys, "neighbours": "add_remove"}).best is None
