"""Planted bugs in gradient descent: in one of the twins, which their agreement shows; in both, which the laws show."""

from __future__ import annotations

import importlib
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
import torch

import oracle
from oracle.algorithms.networks import torch_dp_sgd_network
from oracle.core.algorithm import Values
from oracle.core.tape import Tape
from tests.checks import check_twins
from tests.oracle.descent import test_descent_accounts as accounts
from tests.oracle.descent import test_descent_training as descent
from tests.oracle.descent.cases import BASE, data
from tests.oracle.networks import test_network_training as network

CONFIGS: dict[str, dict[str, Any]] = {**BASE, "dp-sgd-network": network.BASE}
NOISY = [name for name in CONFIGS if name != "gd"]


def parsed(name: str) -> Values:
    return oracle.algorithm(name).parse(CONFIGS[name])


def with_values(name: str, change: Callable[[Values], dict[str, Any]]) -> Callable[..., Any]:
    """The batched twin, trained with another configuration than was asked for (unchecked, as a bug would be)."""

    def train(features: Any, labels: Any, values: Values, tape: Tape) -> Any:
        wrong = Values(**{**vars(values), **change(values)})
        return oracle.algorithm(name).train_batched(features, labels, wrong, tape)

    return train


def with_tape(name: str, kind: type[Tape]) -> Callable[..., Any]:
    """The batched twin, whose draws are not those of the tape."""

    def train(features: Any, labels: Any, values: Values, tape: Tape) -> Any:
        wrong = kind(tape.seed, tape.models, tape.first_model)
        return oracle.algorithm(name).train_batched(features, labels, values, wrong)

    return train


@dataclass(frozen=True)
class OneBatch(Tape):
    """The first batch in every step."""

    def bernoulli(self, purpose: str, step: int, count: int, rate: float) -> Any:
        return super().bernoulli(purpose, 0, count, rate)


@dataclass(frozen=True)
class SharedBatch(Tape):
    """One batch for all models."""

    def bernoulli(self, purpose: str, step: int, count: int, rate: float) -> Any:
        return np.tile(super().bernoulli(purpose, step, count, rate)[:1], (self.models, 1))


@dataclass(frozen=True)
class OneNoise(Tape):
    """The first step's noise in every step."""

    def normal(self, purpose: str, step: int, dimension: int) -> Any:
        return super().normal(purpose, 0, dimension)


@dataclass(frozen=True)
class SharedNormals(Tape):
    """One noise, and one initial point, for all models."""

    def normal(self, purpose: str, step: int, dimension: int) -> Any:
        return np.tile(super().normal(purpose, step, dimension)[:1], (self.models, 1))


PLANTED: dict[str, tuple[str, Callable[..., Any]]] = {
    "gd: a step short": ("gd", with_values("gd", lambda v: {"steps": v.steps - 1})),
    "gd: last for average": ("gd", with_values("gd", lambda v: {"iterate": "last"})),
    "gd: the slide's sum": ("gd", lambda *a: oracle.algorithm("gd").train_batched(*a) * 5),
    "gd: one start for all": ("gd", with_tape("gd", SharedNormals)),
    "projected: hardly": ("dp-gd-projected", with_values("dp-gd-projected", lambda v: {"radius": 10 * v.radius})),
    "projected: twice": ("dp-gd-projected", with_values("dp-gd-projected", lambda v: {"radius": v.radius / 2})),
    "dp-sgd: no ridge": ("dp-sgd", with_values("dp-sgd", lambda v: {"regularisation": Fraction(0)})),
}
for _name in NOISY:
    PLANTED[f"{_name}: noise off by a part in 10^6"] = (
        _name, with_values(_name, lambda v: {"noise_std": v.noise_std * (1 + Fraction(1, 10**6))}),
    )
    PLANTED[f"{_name}: noise reused"] = (_name, with_tape(_name, OneNoise))
    PLANTED[f"{_name}: noise shared"] = (_name, with_tape(_name, SharedNormals))
    PLANTED[f"{_name}: eta off in the 8th digit"] = (
        _name, with_values(_name, lambda v: {"eta": v.eta * (1 + Fraction(1, 10**8))}),
    )
for _name in ("dp-gd", "dp-sgd", "dp-sgd-network"):
    PLANTED[f"{_name}: clipped to 2C"] = (_name, with_values(_name, lambda v: {"clip_norm": 2 * v.clip_norm}))
for _name in ("dp-sgd", "dp-sgd-network"):
    PLANTED[f"{_name}: one batch for all steps"] = (_name, with_tape(_name, OneBatch))
    PLANTED[f"{_name}: one batch for all models"] = (_name, with_tape(_name, SharedBatch))
    PLANTED[f"{_name}: divided by the data's size"] = (_name, with_values(_name, lambda v: {"batch_size": 6}))


def agree(name: str, train: Callable[..., Any] | None = None) -> None:
    item = oracle.algorithm(name)
    check_twins(item.reference, train or item.train_batched, data(), parsed(name), Tape(5, 3))


@pytest.mark.parametrize("bug", PLANTED)
def test_a_bug_in_the_twin_is_caught(bug: str) -> None:
    name, train = PLANTED[bug]
    agree(name)
    with pytest.raises(AssertionError, match="is not"):
        agree(name, train)


def longest_clip(r: torch.Tensor, norms: torch.Tensor, clip_norm: float) -> torch.Tensor:
    """The slide's clipping: max where min belongs."""
    return r * torch.clamp(clip_norm / (r.abs() * norms).clamp(min=1e-300), min=1.0)


def clip_r(r: torch.Tensor, norms: torch.Tensor, clip_norm: float) -> torch.Tensor:
    """The residual clipped in place of the gradient."""
    return r.clamp(-clip_norm, clip_norm)


@pytest.mark.parametrize("name", ["dp-gd", "dp-sgd"])
@pytest.mark.parametrize("wrong", [longest_clip, clip_r, lambda r, norms, clip_norm: r], ids=["max", "r", "none"])
def test_wrong_clipping_is_caught(name: str, wrong: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    twin = importlib.import_module(oracle.algorithm(name).batched.split(":")[0])
    monkeypatch.setattr(twin, "clipped", wrong)
    with pytest.raises(AssertionError, match="is not"):
        agree(name)


def a_layer_each(
    weights: Any, x: Any, squares: Any, y: Any, taken: Any, clip_norm: float, config: Values, kept: Any
) -> Any:
    """Clipped layer by layer, as if each had its own budget."""
    at = ([part[:, [i]] for part in (x, squares, y, taken)] for i in range(x.shape[1]))
    alone = [ORIGINAL(weights, *one, 1e9, config, kept)[0] for one in at]
    hidden = config.width * x.shape[2]
    total = torch.zeros_like(weights)
    for gradient in alone:
        for layer in (slice(0, hidden), slice(hidden, None)):
            norm = gradient[:, layer].norm(dim=1, keepdim=True)
            total[:, layer] += gradient[:, layer] * torch.clamp(clip_norm / norm.clamp(min=1e-300), max=1.0)
    return total, taken


ORIGINAL = torch_dp_sgd_network._clipped_sum
NETWORK_BUGS: dict[str, Callable[..., Any]] = {
    "clipped a layer": a_layer_each,
    "padding counted": lambda w, x, s, y, taken, c, v, k: ORIGINAL(w, x, s, y, torch.ones_like(taken), c, v, k),
    "the sum clipped, not its terms": lambda w, x, s, y, taken, c, v, k: (
        torch.nn.functional.normalize(ORIGINAL(w, x, s, y, taken, 1e9, v, k)[0]) * c, taken
    ),
    "slope of another activation": lambda w, x, s, y, taken, c, v, k: ORIGINAL(
        w, x, s, y, taken, c, Values(**{**vars(v), "activation": "relu"}), k
    ),
    "labels of another record": lambda w, x, s, y, taken, c, v, k: ORIGINAL(w, x, s, y.flip(1), taken, c, v, k),
}


@pytest.mark.parametrize("bug", NETWORK_BUGS)
def test_a_wrong_sum_over_networks_is_caught(bug: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(torch_dp_sgd_network, "_clipped_sum", NETWORK_BUGS[bug])
    with pytest.raises(AssertionError, match="is not"):
        agree("dp-sgd-network")


# --- bugs that both twins share, which only what the documents say can show


def test_the_laws_catch_noise_and_batches_that_are_reused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(descent, "Tape", OneNoise)
    with pytest.raises(AssertionError):
        descent.test_the_average_iterate_of_the_linear_loss_has_its_closed_form_law()
    monkeypatch.setattr(descent, "Tape", OneBatch)
    with pytest.raises(AssertionError):
        descent.test_dp_sgd_on_the_linear_loss_has_its_mean_and_covariance()
    with pytest.raises(AssertionError):
        descent.test_batches_are_drawn_anew_for_every_step_and_record()


@pytest.mark.parametrize(("name", "change", "test"), [
    ("dp-sgd", lambda v: {"batch_size": 3}, descent.test_dp_sgd_on_the_linear_loss_has_its_mean_and_covariance),
    ("dp-sgd", lambda v: {"dataset_size": 5, "neighbours": "add_remove"},
     descent.test_one_step_of_dp_sgd_is_the_exact_mixture_over_all_batches),
    ("dp-gd", lambda v: {"dataset_size": 5, "neighbours": "add_remove"},
     descent.test_the_average_iterate_of_the_linear_loss_has_its_closed_form_law),
    ("dp-gd", lambda v: {"steps": 4}, descent.test_the_average_iterate_of_the_linear_loss_has_its_closed_form_law),
    ("dp-gd", lambda v: {"noise_on_mean": v.noise_on_mean * 2 / 3},
     descent.test_the_average_iterate_of_the_linear_loss_has_its_closed_form_law),
])
def test_the_laws_catch_another_algorithm(name: str, change: Any, test: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    test()
    honest = descent.batched
    monkeypatch.setattr(
        descent, "batched",
        lambda which, x, y, values, tape, **kwargs: honest(
            which, x, y, Values(**{**vars(values), **change(values)}), tape, **kwargs
        ),
    )
    with pytest.raises(AssertionError):
        test()


@pytest.mark.parametrize("change", [{"neighbours": "add_remove"}, {"clip_norm": Fraction(1, 5)}, {"steps": 4}])
def test_a_wrong_account_is_caught(change: dict[str, Any], monkeypatch: pytest.MonkeyPatch) -> None:
    honest = oracle.bound("dp-gd.epsilon")
    wrong = type(
        "Planted", (), {"reference": lambda self, **given: honest.reference(**{**given, **change})}
    )()
    monkeypatch.setattr(accounts.oracle, "bound", lambda name: wrong)
    with pytest.raises(AssertionError):
        accounts.test_full_batch_accounts_are_the_gaussian_curve("dp-gd", 0.4, "replace", 2)
