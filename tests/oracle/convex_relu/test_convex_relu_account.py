"""The guarantee of the convex ReLU training: exact values, the plan's verdicts, contraction of real steps, refusals."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from oracle.algorithms.convex_relu import convex_relu
from oracle.algorithms.shared import glm
from oracle.algorithms.shared.conditions import contraction as contraction_of
from oracle.core.algorithm import Values
from oracle.core.planning import plan, plan_of_training
from tests.oracle.convex_relu.cases import ALGORITHM, Array, config, data
from tests.trainings.convex_relu import convex_relu as sample


def factor(values: Values) -> float:
    """The Lipschitz constant of a step, as the guarantee has it."""
    found = contraction_of(ALGORITHM.as_trained(values, records=10, delta=Fraction(1, 10**5)))
    assert found is not None
    return float(found)


@pytest.mark.parametrize(("changes", "contraction"), [
    ({"loss": "squared", "outputs": 1, "learning_rate": "0.1", "regularisation": "0.5"}, Fraction(19, 20)),
    ({"loss": "squared", "outputs": 5, "learning_rate": "0.45", "regularisation": "0.1"}, Fraction(191, 200)),
    ({"loss": "squared", "outputs": 5, "learning_rate": "0.45", "regularisation": "0.2"}, Fraction(91, 100)),
    ({"loss": "softmax", "outputs": 2, "learning_rate": "0.9", "regularisation": "0.1"}, Fraction(91, 100)),
    (
        {"loss": "logistic", "outputs": 1, "learning_rate": "0.48", "regularisation": "0.1", "feature_norm": 2},
        Fraction(121, 125),
    ),
    (
        {"loss": "logistic", "outputs": 7, "learning_rate": "0.5", "regularisation": "0.1", "clipping": "output"},
        Fraction(19, 20),
    ),
    (
        {"loss": "softmax", "outputs": 3, "learning_rate": "0.5", "regularisation": "0.1", "clip_norm": 3},
        Fraction(19, 20),
    ),
])
def test_the_guarantee_is_exact(changes: dict[str, Any], contraction: Fraction) -> None:
    values = config(**changes)
    found = plan_of_training(ALGORITHM, values, records=10, delta="1e-5").judged[0]
    assert found.status == "PROVED"
    assert {name: Fraction(text) for name, text in found.parameters.items()} == {
        "sensitivity": 2 * values.clip_norm, "batch_size": 2, "noise_on_mean": Fraction(1, 5),
        "contraction": contraction, "batches": 5, "epochs": 3,
    }


@pytest.mark.parametrize(("changes", "message"), [
    ({}, "clipping keeps the loss convex"),
    ({"clipping": "output"}, "clipping keeps the loss convex"),
    ({"loss": "logistic"}, "clipping keeps the loss convex"),
    ({"clip_norm": "2.8284271"}, "clipping keeps the loss convex"),  # just below sqrt(2 P): clipping may still act
    ({"loss": "squared", "learning_rate": "0.51"}, "every step contracts"),
    ({"loss": "softmax", "outputs": 2, "learning_rate": "0.99"}, "every step contracts"),
    ({"loss": "softmax", "outputs": 1}, "a softmax has two outputs or more"),
    ({"loss": "squared", "batch_size": 3}, "batch_size divides dataset_size"),
])
def test_no_hidden_state_where_a_hypothesis_fails(changes: dict[str, Any], message: str) -> None:
    found = plan_of_training(ALGORITHM, config(**changes), records=10, delta="1e-5").judged[0]
    assert found.status == "DOES NOT APPLY"
    assert found.reason.startswith(f"not met: {message}") or message in found.reason


@pytest.mark.parametrize("seed", range(30))
def test_a_training_is_judged_as_its_plan_is(seed: int) -> None:
    """A sample's configuration, trained by us or planned in so many words: the same verdicts, the same epsilons."""
    features, _, words = sample(np.random.default_rng(seed))
    words["clip_norm"] *= 1 if seed % 2 else 5  # at times so large that clipping never acts
    words["learning_rate"] /= 4 if seed % 3 else 1
    values = ALGORITHM.parse(words)
    told = plan(ALGORITHM, {
        **words, "dataset_size": len(features), "independent_hyperplanes": "true", "released": "last_iterate",
        "neighbours": "replace", "delta": "1e-5",
    })
    trained = plan_of_training(ALGORITHM, values, records=len(features), delta="1e-5")
    assert [(item.status, item.epsilon) for item in told.judged] == [
        (item.status, item.epsilon) for item in trained.judged
    ]


@given(
    st.sampled_from([("squared", 1), ("squared", 3), ("softmax", 2), ("logistic", 1)]), st.floats(0.01, 2),
    st.floats(0, 1), st.integers(0, 100), st.sampled_from(["record", "output"]),
)
def test_steps_contract_as_the_account_says(
    model: tuple[str, int], eta: float, lam: float, seed: int, clipping: str
) -> None:
    """Two models under the same noise come closer by at least c in a step, clipped or not, whatever is active."""
    loss, outputs = model
    values = config(loss=loss, outputs=outputs, learning_rate=eta, regularisation=lam, clipping=clipping)
    features, labels = data(outputs, seed=seed)
    rng = np.random.default_rng(seed)
    pair = rng.normal(size=(2, outputs, 12)) * 3
    moved = []
    for v in pair:
        total = np.zeros_like(v)
        for x, y in zip(features, labels, strict=True):
            wide = np.outer(np.random.default_rng(0).normal(size=(4, 3)) @ x >= 0, x).ravel()
            target = np.array([y]) if outputs == 1 else np.eye(outputs)[int(y)]
            slope = np.outer(convex_relu.residual(loss, v @ wide, target), wide)
            if clipping == "record":
                total += glm.clip(slope, 0.5)
            else:
                total += np.array([glm.clip(part, 0.5 / np.sqrt(outputs)) for part in slope])
        moved.append(v - eta * (total / 6 + lam * v))
    ratio = float(np.linalg.norm(moved[0] - moved[1]) / np.linalg.norm(pair[0] - pair[1]))
    assert ratio <= factor(values) * (1 + 1e-9)


def test_a_step_that_the_account_refuses_does_expand() -> None:
    """Three classes, label 0, outputs (0, 1, -1), 64 active hyperplanes, |x| = C = 1: a step of factor above 1.0003."""
    wide = np.ones(64)
    step, lam = 0.01, 0.01

    def moved(v: Array) -> Array:
        slope = np.outer(convex_relu.residual("softmax", v @ wide, np.eye(3)[0]), wide)
        return v - step * (glm.clip(slope, 1.0) + lam * v)

    v = np.outer([0.0, 1.0, -1.0], wide) / 64
    p = np.exp([0.0, 1.0, -1.0]) / np.exp([0.0, 1.0, -1.0]).sum()
    r = (p - np.eye(3)[0]) / np.linalg.norm(p - np.eye(3)[0])
    jacobian = (np.eye(3) - np.outer(r, r)) @ (np.diag(p) - np.outer(p, p))
    direction = np.linalg.eigh(jacobian + jacobian.T)[1][:, 0]
    shift = 1e-4 * np.outer(direction, wide) / 8
    ratio = float(np.linalg.norm(moved(v + shift) - moved(v - shift)) / np.linalg.norm(2 * shift))
    claimed = config(learning_rate="0.01", regularisation="0.01", hyperplanes=64, clip_norm=1)
    assert factor(claimed) < 1 < 1.0003 < ratio
    found = plan_of_training(ALGORITHM, claimed, records=10, delta="1e-5").judged[0]
    assert found.reason.startswith("not met: clipping keeps the loss convex")
