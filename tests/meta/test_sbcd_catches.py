"""Plant errors in the batched SBCD and DP-SBCD, and require the twins' agreement to flag each of them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest
import torch

import oracle
from oracle.algorithms.block_coordinate import torch_sbcd
from oracle.core.algorithm import Values
from oracle.core.tape import Tape
from tests.checks import check_twins

ALGORITHM = oracle.algorithm("dp-sbcd")
GIVEN: dict[str, Any] = {
    "layers": 2, "width": 4, "outputs": 1, "eta": "0.2", "regulariser": "l2", "lipschitz": "0.8", "batch_size": 2,
    "noise": ["0.02", "0.05"], "clip_norm": "0.3",
}


def data() -> tuple[Any, Any]:
    rng = np.random.default_rng(4)
    return rng.normal(size=(6, 3)), rng.normal(size=6)


def changed(**values: Any) -> Callable[[Values], Values]:
    """A twin that trains another configuration."""
    return lambda given: Values(**{**vars(given), **vars(ALGORITHM.parse({**GIVEN, **values}))})


CONFIGURED = {
    "no clipping": changed(clip_norm="inf"),
    "clipped to 2C": changed(clip_norm="0.6"),
    "no normalisation": changed(lipschitz="inf"),
    "no proximal map": changed(regulariser="none"),
    "another proximal map": changed(regulariser="l1"),
    "constant noise": changed(noise=["0.02", "0.02"]),
    "the noise of another epoch": changed(noise=["0.05", "0.02"]),
    "one epoch short": changed(noise=["0.02"]),
    "whole data a batch": changed(batch_size=6),
    "eta off in the 8th digit": changed(eta="0.200000002"),
}


def u_as_if_no_root(ahead: Any, x_next: Any) -> Any:
    return torch.where(ahead + x_next <= 0, ahead.clamp(max=0.0), (ahead + x_next) / 2)


def prox_as_printed(theta: Any, eta: float, regulariser: str) -> Any:
    return theta * eta / (1.0 + eta)


def by_the_frobenius_norm(theta: Any, rho: float) -> Any:
    norms = torch.linalg.matrix_norm(theta, keepdim=True)
    return theta * (rho / norms).clamp(max=1.0)


def by_one_power_iteration(theta: Any, rho: float) -> Any:
    right = theta.mT @ (theta @ torch.ones_like(theta[:, :1].mT))
    norms = torch.linalg.matrix_norm(theta @ right, keepdim=True) / torch.linalg.matrix_norm(right, keepdim=True)
    return theta * (rho / norms).clamp(max=1.0)


PATCHED = {
    "U without its first case": ("minimal_u", u_as_if_no_root),
    "U is the plain preactivation": ("minimal_u", lambda ahead, x_next: ahead),
    "the printed proximal map of l2": ("proximal", prox_as_printed),
    "normalised by the Frobenius norm": ("shortened", by_the_frobenius_norm),
    "normalised by power iteration": ("shortened", by_one_power_iteration),
}


@dataclass(frozen=True)
class SameNoiseForEveryBlock(Tape):
    def normal(self, purpose: str, step: int, dimension: int) -> Any:
        return super().normal(purpose, step - step % 3 if purpose == "noise" else step, dimension)


@dataclass(frozen=True)
class SameNoiseEveryEpoch(Tape):
    def normal(self, purpose: str, step: int, dimension: int) -> Any:
        return super().normal(purpose, step % 9, dimension)


@dataclass(frozen=True)
class SameStartForAll(Tape):
    def normal(self, purpose: str, step: int, dimension: int) -> Any:
        draws = super().normal(purpose, step, dimension)
        return np.tile(draws[0], (self.models, 1)) if purpose == "initial" else draws


def flagged(batched: Callable[..., Any]) -> None:
    with pytest.raises(AssertionError, match="is not"):
        check_twins(ALGORITHM.reference, batched, data(), ALGORITHM.parse(GIVEN), Tape(5, 3))


def test_the_twin_itself_is_not_flagged() -> None:
    check_twins(ALGORITHM.reference, ALGORITHM.train_batched, data(), ALGORITHM.parse(GIVEN), Tape(5, 3))


@pytest.mark.parametrize("name", CONFIGURED)
def test_a_twin_of_another_configuration_is_caught(name: str) -> None:
    flagged(lambda x, y, values, tape: ALGORITHM.train_batched(x, y, CONFIGURED[name](values), tape))


@pytest.mark.parametrize("name", PATCHED)
def test_a_wrong_block_update_is_caught(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(torch_sbcd, *PATCHED[name])
    flagged(ALGORITHM.train_batched)


@pytest.mark.parametrize("wrong", [SameNoiseForEveryBlock, SameNoiseEveryEpoch, SameStartForAll])
def test_wrong_draws_are_caught(wrong: type[Tape]) -> None:
    flagged(lambda x, y, values, tape: ALGORITHM.train_batched(x, y, values, wrong(tape.seed, tape.models)))
