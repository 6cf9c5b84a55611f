"""Planted bugs in two-layer training: in the batched twin, which the agreement shows; in both, which the laws show."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest
import torch
from numpy.typing import NDArray

import oracle
from oracle.algorithms.kernels import multinomial, torch_multinomial, torch_two_layer, torch_two_layer_kernel, two_layer
from oracle.core.algorithm import Values
from oracle.core.tape import Tape
from tests.checks import check_twins
from tests.oracle.kernels import test_two_layer_training as laws
from tests.oracle.kernels.test_two_layer_training import BASE, config, data, every_algorithm

_FEATURES, _KERNEL = torch_multinomial.features, torch_multinomial.kernel


def agree(name: str, train: Callable[..., Any] | None = None) -> None:
    item = oracle.algorithm(name)
    check_twins(item.reference, train or item.train_batched, data(70), config(name), Tape(5, 3))


@dataclass(frozen=True)
class OneNoise(Tape):
    """The noise of the first phase in all of them."""

    def normal(self, purpose: str, step: int, dimension: int) -> NDArray[np.float64]:
        return super().normal(purpose, min(step, 1), dimension)


@dataclass(frozen=True)
class OneModel(Tape):
    """One model's draws of a purpose for all."""

    shared: str = "noise"

    def normal(self, purpose: str, step: int, dimension: int) -> NDArray[np.float64]:
        draws = super().normal(purpose, step, dimension)
        return np.repeat(draws[:1], len(draws), axis=0) if purpose == self.shared else draws


def on(kind: Callable[[Tape], Tape]) -> Callable[[str], Callable[..., Any]]:
    def planted(name: str) -> Callable[..., Any]:
        def train(x: Any, y: Any, values: Values, tape: Tape) -> Any:
            return oracle.algorithm(name).train_batched(x, y, values, kind(tape))

        return train

    return planted


def with_values(**changes: Any) -> Callable[[str], Callable[..., Any]]:
    def planted(name: str) -> Callable[..., Any]:
        def train(x: Any, y: Any, values: Values, tape: Tape) -> Any:
            return oracle.algorithm(name).train_batched(x, y, Values(**{**vars(values), **changes}), tape)

        return train

    return planted


PLANTED = {
    "noise reused": on(lambda tape: OneNoise(tape.seed, tape.models, tape.first_model)),
    "noise shared": on(lambda tape: OneModel(tape.seed, tape.models, tape.first_model)),
    "another link": with_values(link="clip"),
    "another degree": with_values(degree=2),
    "less noise": with_values(sigma=0.29),
    "smaller steps": with_values(learning_rate=1.999),
}


@every_algorithm
@pytest.mark.parametrize("bug", PLANTED)
def test_a_bug_in_the_twin_is_caught(name: str, bug: str) -> None:
    agree(name)
    with pytest.raises(AssertionError, match="is not"):
        agree(name, PLANTED[bug](name))


def test_a_projection_shared_by_the_models_is_caught() -> None:
    name = "two-layer-projected"
    shared = on(lambda tape: OneModel(tape.seed, tape.models, tape.first_model, "projection"))
    with pytest.raises(AssertionError, match="is not"):
        agree(name, shared(name))


def undivided(x: torch.Tensor, degree: int) -> torch.Tensor:
    return _FEATURES(x, degree) * (degree + 1) ** 0.5


def uncounted(x: torch.Tensor, degree: int) -> torch.Tensor:
    """Every product once, whatever stands for it in the kernel."""
    counts = [multinomial.multiplicity(exponent) for exponent in multinomial.exponents(x.shape[1], degree).tolist()]
    return _FEATURES(x, degree) / torch.as_tensor(counts, dtype=x.dtype).sqrt()


@every_algorithm
@pytest.mark.parametrize("wrong", [undivided, uncounted])
def test_wrong_features_are_caught(name: str, wrong: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(torch_multinomial, "features", wrong)
    with pytest.raises(AssertionError, match="is not"):
        agree(name)


@pytest.mark.parametrize("wrong", [
    lambda x, other, degree: _KERNEL(x, other, degree) * (degree + 1), lambda x, other, degree: (x @ other.T) ** degree,
], ids=["undivided", "one power"])
def test_a_wrong_kernel_is_caught(wrong: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    laws.test_the_twins_of_the_kernel_form_agree("sigmoid")
    monkeypatch.setattr(torch_two_layer_kernel, "kernel", wrong)
    with pytest.raises(AssertionError, match="is not"):
        laws.test_the_twins_of_the_kernel_form_agree("sigmoid")


# --- bugs that both twins share


def test_the_law_catches_noise_that_is_reused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(laws, "Tape", OneNoise)
    with pytest.raises(AssertionError):
        laws.test_the_constant_link_releases_its_gaussian()


def test_the_law_catches_another_link(monkeypatch: pytest.MonkeyPatch) -> None:
    """A surrogate of the wrong sign, and a link that is no link of the document, in both implementations."""
    for wrong in (lambda score: -score, lambda score: 2 * score):
        monkeypatch.setattr(two_layer, "link", lambda name, score, wrong=wrong: wrong(score))
        monkeypatch.setattr(torch_two_layer, "link", lambda name, scores, wrong=wrong: wrong(scores))
        for name in BASE:
            agree(name)  # the twins cannot see it
        for test in (
            laws.test_the_first_gradient_is_that_of_the_surrogate_loss,
            laws.test_links_rise_within_the_unit_interval_with_their_slope,
            laws.test_the_constant_link_releases_its_gaussian,
        ):
            with pytest.raises(AssertionError):
                test()
