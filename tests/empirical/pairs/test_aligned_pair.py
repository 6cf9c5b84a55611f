"""The canary along the target's own model: admissible, reproducible, and pointing where the target looks."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from empirical.audits.targets import AlgorithmTarget
from empirical.pairs.pair import make_pair
from oracle.core.errors import DomainError, TargetError
from oracle.core.tape import Tape

SPEC: dict[str, Any] = {
    "kind": "built", "name": "aligned", "records": 20, "dimension": 3, "feature_norm": "2", "label_low": 0,
    "label_high": 1,
}


class Learner:
    """A target that releases a multiple of the mean of the positive records, plus noise."""

    def __init__(self, width: int = 1, scale: float = 1.0) -> None:
        self.width, self.scale = width, scale
        self.seen: list[Tape] = []

    def spec(self) -> dict[str, Any]:
        return {"kind": "function", "path": "learner.py:train"}

    def releases(self, features: np.ndarray, labels: np.ndarray, tape: Tape) -> np.ndarray:
        self.seen.append(tape)
        mean = self.scale * features[labels > 0].mean(axis=0)
        return np.tile(mean, self.width) + 1e-3 * tape.normal("noise", 0, self.width * features.shape[1])


@pytest.mark.parametrize("neighbours", ["replace", "add_remove"])
def test_the_canary_lies_along_the_model_with_the_label_against_it(neighbours: str) -> None:
    target = Learner()
    pair = make_pair({**SPEC, "neighbours": neighbours}, target)
    assert pair.canary == 19
    assert len(pair.features[1]) == 20
    canary = pair.features[1][19]
    assert np.linalg.norm(canary) == pytest.approx(2.0)
    others, labels = pair.features[1][:19], pair.labels[1][:19]
    mean = others[labels > 0].mean(axis=0)
    assert canary @ mean == pytest.approx(2.0 * np.linalg.norm(mean), rel=1e-4)
    assert pair.labels[1][19] == 0.0  # the model predicts far more than 1/2 of it
    assert len(pair.features[0]) == (20 if neighbours == "replace" else 19)
    if neighbours == "replace":
        np.testing.assert_array_equal(pair.features[0], pair.features[1])
        assert pair.labels[0][19] == 1.0


def test_the_label_against_a_model_that_predicts_little_is_the_high_one() -> None:
    assert make_pair({**SPEC, "neighbours": "add_remove"}, Learner(scale=1e-3)).labels[1][19] == 1.0


def test_the_pair_is_reproducible_and_takes_no_draw_of_an_audit() -> None:
    first, second = (Learner(), Learner())
    pairs = [make_pair(SPEC, target) for target in (first, second)]
    np.testing.assert_array_equal(pairs[0].features[1], pairs[1].features[1])
    assert first.seen[0].seed > 2**60
    assert [tape.models for tape in first.seen] == [32]


def test_it_serves_our_own_algorithms_too() -> None:
    config = {
        "loss": "logistic", "learning_rate": "0.5", "regularisation": "0.1", "clip_norm": 1, "noise_on_mean": "0.1",
        "batch_size": 5, "epochs": 2, "feature_norm": 2,
    }
    pair = make_pair(SPEC, AlgorithmTarget("noisy-cgd", config))
    assert pair.direction is not None
    assert pair.direction[0] > 0.5  # the labels of the others are the signs of the first feature


def test_targets_and_sizes_that_do_not_fit_are_told() -> None:
    with pytest.raises(TargetError, match="releases 6"):
        make_pair(SPEC, Learner(width=2))
    with pytest.raises(DomainError, match="records = 1"):
        make_pair({**SPEC, "records": 1}, Learner())
