"""The account of the convex ReLU training: exact values, the plan's verdicts, contraction of real steps, refusals."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import oracle
from oracle.algorithms.convex_relu import convex_relu
from oracle.algorithms.shared import glm
from oracle.core.errors import DomainError
from oracle.core.planning import judge, recipes
from tests.oracle.convex_relu.cases import ALGORITHM, Array, config, data
from tests.trainings.convex_relu import convex_relu as sample


@pytest.mark.parametrize(("changes", "contraction"), [
    ({"loss": "squared", "outputs": 1, "eta": "0.1", "lam": "0.5"}, Fraction(19, 20)),
    ({"loss": "squared", "outputs": 5, "eta": "0.45", "lam": "0.1"}, Fraction(191, 200)),
    ({"loss": "squared", "outputs": 5, "eta": "0.45", "lam": "0.2"}, Fraction(91, 100)),
    ({"loss": "softmax", "outputs": 2, "eta": "0.9", "lam": "0.1"}, Fraction(91, 100)),
    ({"loss": "logistic", "outputs": 1, "eta": "0.48", "lam": "0.1", "feature_norm": 2}, Fraction(121, 125)),
    ({"loss": "logistic", "outputs": 7, "eta": "0.5", "lam": "0.1", "clipping": "output"}, Fraction(19, 20)),
    ({"loss": "softmax", "outputs": 3, "eta": "0.5", "lam": "0.1", "clip_norm": 3}, Fraction(19, 20)),
])
def test_the_account_is_exact(changes: dict[str, Any], contraction: Fraction) -> None:
    values = config(**changes)
    account = ALGORITHM.account(values, 10)
    assert account == {
        "sensitivity": 2 * values.clip_norm, "batch_size": 2, "sigma": Fraction(1, 5), "contraction": contraction,
        "batches": 5, "epochs": 3,
    }


@pytest.mark.parametrize(("changes", "message"), [
    ({}, "softmax loss of 3 outputs convex"),
    ({"clipping": "output"}, "softmax loss of 3 outputs convex"),
    ({"loss": "logistic"}, "logistic loss of 3 outputs convex"),
    ({"clip_norm": "2.8284271"}, "convex"),  # just below sqrt(2 P): clipping may still act
    ({"loss": "squared", "eta": "0.51"}, r"eta = 51/100 .* expand"),
    ({"loss": "softmax", "outputs": 2, "eta": "0.99"}, r"eta = 99/100 .* expand"),
    ({"loss": "softmax", "outputs": 1}, "softmax needs an integer >= 2"),
    ({"loss": "squared", "batch_size": 3}, "batch_size = 3 .* divisor of the 10 records"),
])
def test_no_account_where_there_is_no_guarantee(changes: dict[str, Any], message: str) -> None:
    with pytest.raises(DomainError, match=message):
        ALGORITHM.account(config(**changes), 10)


@pytest.mark.parametrize("seed", range(30))
def test_the_account_answers_where_the_plan_proves_and_says_the_same(seed: int) -> None:
    """A sample's configuration in the words of `dp-oracle plan`: its hidden-state guarantee, and its epsilon."""
    features, _, words = sample(np.random.default_rng(seed))
    words["clip_norm"] *= 1 if seed % 2 else 5  # at times so large that clipping never acts
    words["eta"] /= 4 if seed % 3 else 1
    values = ALGORITHM.parse(words)
    same = {key: getattr(values, key) for key in (
        "batch_size", "epochs", "loss", "outputs", "hyperplanes", "clip_norm", "clipping", "feature_norm"
    )}
    recipe = recipes()[ALGORITHM.name]
    plan = judge(recipe, recipe.parse({
        **same, "dataset_size": len(features), "noise_multiplier": values.sigma * values.batch_size / values.clip_norm,
        "learning_rate": values.eta, "regularisation": values.lam, "independent_hyperplanes": "true",
        "released": "last_iterate", "neighbours": "replace", "delta": "1e-5",
    }))
    hidden = next(item for item in plan.judged if item.guarantee.bound == ALGORITHM.accounted_by)
    if hidden.status != "PROVED":
        with pytest.raises(DomainError):
            ALGORITHM.account(values, len(features))
        return
    mu = oracle.bound("noisy-cgd.mu").reference(**ALGORITHM.account(values, len(features)))
    ends = (mu.lower.to_fraction(), mu.upper.to_fraction())
    low, high = (oracle.bound("gdp.epsilon").reference(mu=end, delta="1e-5") for end in ends)
    assert hidden.epsilon is not None
    assert low.possibly_le(hidden.epsilon)
    assert hidden.epsilon.possibly_le(high)


@given(
    st.sampled_from([("squared", 1), ("squared", 3), ("softmax", 2), ("logistic", 1)]), st.floats(0.01, 2),
    st.floats(0, 1), st.integers(0, 100), st.sampled_from(["record", "output"]),
)
def test_steps_contract_as_the_account_says(
    model: tuple[str, int], eta: float, lam: float, seed: int, clipping: str
) -> None:
    """Two models under the same noise come closer by at least c in a step, clipped or not, whatever is active."""
    loss, outputs = model
    values = config(loss=loss, outputs=outputs, eta=eta, lam=lam, clipping=clipping)
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
    assert ratio <= float(convex_relu.contraction(values)) * (1 + 1e-9)


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
    claimed = config(eta="0.01", lam="0.01", hyperplanes=64, clip_norm=1)
    assert float(convex_relu.contraction(claimed)) < 1 < 1.0003 < ratio
    with pytest.raises(DomainError, match="convex"):
        ALGORITHM.account(claimed, 10)
