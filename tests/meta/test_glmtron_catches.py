"""Planted bugs in the trainings of ReLU regression: the agreement of the twins catches every one of them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
import torch

import oracle
from oracle.algorithms.glmtron import torch_dp_threshold, torch_glmtron
from oracle.algorithms.glmtron.torch_tree import PrefixNoise
from oracle.core.algorithm import Values
from oracle.core.tape import Tape
from tests.checks import check_twins
from tests.oracle.glmtron.test_glmtron_training import NAMES, Given, config, data
from tests.oracle.glmtron.test_threshold_training import ITEM as THRESHOLD
from tests.oracle.glmtron.test_threshold_training import config as threshold_config


@dataclass(frozen=True)
class OneNoise(Tape):
    """The noise of one step at all of them."""

    def normal(self, purpose: str, step: int, dimension: int) -> Any:
        return super().normal(purpose, 0, dimension)


@dataclass(frozen=True)
class OneOrder(Tape):
    """The order of the first model for all."""

    def permutation(self, purpose: str, step: int, count: int) -> Any:
        return np.tile(super().permutation(purpose, step, count)[0], (self.models, 1))


@dataclass(frozen=True)
class OneHistogram(Tape):
    """The noise of one histogram in all three."""

    def laplace(self, purpose: str, step: int, count: int) -> Any:
        return super().laplace("histogram 0", step, count)


def changed(name: str, change: Callable[[Values], dict[str, Any]]) -> Callable[..., Any]:
    """The twin with another configuration than it was given."""
    twin = oracle.algorithm(name).train_batched
    return lambda x, y, values, tape: twin(x, y, Values(**{**vars(values), **change(values)}), tape)


def on(name: str, kind: type[Tape]) -> Callable[..., Any]:
    """The twin on another tape than it was given."""
    twin = oracle.algorithm(name).train_batched
    return lambda x, y, values, tape: twin(x, y, values, kind(tape.seed, tape.models, tape.first_model))


EVERY = {
    f"{name}: {bug}": (name, changed(name, change))
    for name in NAMES
    for bug, change in {
        "half the noise": lambda v: {"noise_multiplier": v.noise_multiplier / 2},
        "the misprinted clipping": lambda v: {"clip": "printed-max"},
        "no clipping": lambda v: {"clip_norm": v.clip_norm * 10**9, "noise_multiplier": v.noise_multiplier / 10**9},
        "from zero": lambda v: {"initial_std": Fraction(0)},
        "eta off in the 8th digit": lambda v: {"eta": v.eta * (1 + Fraction(1, 10**8))},
    }.items()
}
PLANTED: dict[str, tuple[str, Callable[..., Any]]] = EVERY | {
    f"{name}: {kind.__doc__}": (name, on(name, kind))
    for kind, names in {Given: NAMES[:2], OneOrder: NAMES[:2], OneNoise: NAMES}.items() for name in names
} | {
    f"{name}: noise over twice the clipping norm": (
        name, changed(name, lambda v: {"noise_multiplier": 2 * v.noise_multiplier})
    )
    for name in NAMES[2:]
} | {
    f"{one} for {other}": (other, oracle.algorithm(one).train_batched)
    for one, other in (NAMES[:2], NAMES[1::-1], NAMES[2:], NAMES[:1:-1])
}


@pytest.mark.parametrize("name", PLANTED)
def test_a_planted_bug_is_caught(name: str) -> None:
    algorithm, twin = PLANTED[name]
    item, values, tape = oracle.algorithm(algorithm), config(algorithm), Tape(5, 4)
    check_twins(item.reference, item.train_batched, data(), values, tape)
    with pytest.raises(AssertionError, match="is not"):
        check_twins(item.reference, twin, data(), values, tape)


def _independent(self: PrefixNoise, noise: torch.Tensor) -> torch.Tensor:
    """Fresh noise a step in place of the nodes'."""
    return noise


def _never_dropped(self: PrefixNoise, noise: torch.Tensor) -> torch.Tensor:
    """Nodes that a larger one contains stay live: the noise of all of them piles up."""
    self.stack.append(self.stack[-1] + noise if self.stack else noise)
    return self.stack[-1]


@pytest.mark.parametrize("bug", [_independent, _never_dropped])
def test_another_tree_is_caught(bug: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(PrefixNoise, "add", bug)
    item = oracle.algorithm("dp-taglmtron")
    with pytest.raises(AssertionError, match="is not"):
        check_twins(item.reference, item.train_batched, data(), config("dp-taglmtron"), Tape(5, 2))


def test_a_relu_turned_round_is_caught(monkeypatch: pytest.MonkeyPatch) -> None:
    honest = torch_glmtron.factors
    for name in ("torch_dp_glmtron", "torch_dp_taglmtron"):
        turned = f"oracle.training.{name}.factors"
        monkeypatch.setattr(turned, lambda s, y, indicator: -honest(-s, -y, indicator=indicator))
    for name in NAMES:
        item = oracle.algorithm(name)
        with pytest.raises(AssertionError, match="is not"):
            check_twins(item.reference, item.train_batched, data(), config(name), Tape(5, 2))


# --- thresholds


def histogram_data() -> tuple[Any, Any]:
    rng = np.random.default_rng(3)
    return rng.uniform(0.4, 1.2, (16, 1)), rng.uniform(0.5, 1.5, 16)


THRESHOLDS = {
    "twice the noise": changed("dp-threshold", lambda v: {"threshold_epsilon": v.threshold_epsilon / 2}),
    "another bar": changed("dp-threshold", lambda v: {"threshold_delta": v.threshold_delta / 100}),
    "no variance": changed("dp-threshold", lambda v: {"model_variance": Fraction(0)}),
    "larger batches": changed("dp-threshold", lambda v: {"histogram_batches": 4, "threshold_delta": Fraction(9, 10)}),
    "a model of zeros": changed("dp-threshold", lambda v: {"weights": (Fraction(0),)}),
    "one noise for three": on("dp-threshold", OneHistogram),
}


@pytest.mark.parametrize("name", THRESHOLDS)
def test_a_planted_threshold_is_caught(name: str) -> None:
    values, tape = threshold_config(model_variance="0.3", threshold_epsilon=2), Tape(5, 60)
    check_twins(THRESHOLD.reference, THRESHOLD.train_batched, histogram_data(), values, tape)
    with pytest.raises(AssertionError, match="is not"):
        check_twins(THRESHOLD.reference, THRESHOLDS[name], histogram_data(), values, tape)


def test_bins_off_by_one_are_caught(monkeypatch: pytest.MonkeyPatch) -> None:
    honest = torch_dp_threshold.bins
    monkeypatch.setattr(torch_dp_threshold, "bins", lambda means: honest(means) + 1)
    values = threshold_config(model_variance="0.3", threshold_epsilon=2)
    with pytest.raises(AssertionError, match="is not"):
        check_twins(THRESHOLD.reference, THRESHOLD.train_batched, histogram_data(), values, Tape(5, 60))
