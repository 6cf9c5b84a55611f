"""Bugs in the batched SBCD and DP-SBCD: another configuration, wrong block updates, wrong draws."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import torch

import oracle
from empirical.mutants.changes import code, configuration, tape
from empirical.mutants.checks import Setting
from empirical.mutants.mutant import Change, Mutant
from empirical.mutants.tapes import held, repeated, shared
from oracle.core.tape import Tape
from tests.planted import unlike

ALGORITHM = oracle.algorithm("dp-sbcd")
GIVEN: dict[str, Any] = {
    "layers": 2, "hidden_units": 4, "outputs": 1, "learning_rate": "0.2", "regulariser": "l2", "spectral_norm": "0.8",
    "batch_size": 2,
    "noise_variances": ["0.02", "0.05"], "clip_norm": "0.3",
}


def data() -> tuple[Any, Any]:
    rng = np.random.default_rng(4)
    return rng.normal(size=(6, 3)), rng.normal(size=6)


SETTING = Setting(ALGORITHM.parse(GIVEN), data(), Tape(5, 3))


def differs(title: str, changes: Change, severity: str) -> Mutant:
    return unlike(ALGORITHM.name, title, changes, severity, SETTING)


def given(**values: Any) -> Change:
    """A configuration as a user would write it."""
    parsed = vars(ALGORITHM.parse({**GIVEN, **values}))
    return configuration(**{key: parsed[key] for key in values})


def updated(name: str, wrong: Callable[..., Any]) -> Change:
    """Another update of a block."""
    return code("twin", {f"oracle.algorithms.block_coordinate.torch_sbcd:{name}": lambda honest: wrong})


def u_as_if_no_root(ahead: Any, x_next: Any) -> Any:
    return torch.where(ahead + x_next <= 0, ahead.clamp(max=0.0), (ahead + x_next) / 2)


def by_the_frobenius_norm(theta: Any, rho: float) -> Any:
    norms = torch.linalg.matrix_norm(theta, keepdim=True)
    return theta * (rho / norms).clamp(max=1.0)


def by_one_power_iteration(theta: Any, rho: float) -> Any:
    right = theta.mT @ (theta @ torch.ones_like(theta[:, :1].mT))
    norms = torch.linalg.matrix_norm(theta @ right, keepdim=True) / torch.linalg.matrix_norm(right, keepdim=True)
    return theta * (rho / norms).clamp(max=1.0)


MUTANTS = (
    differs("no clipping", given(clip_norm="inf"), "C"),
    differs("clipped to 2C", given(clip_norm="0.6"), "C"),
    differs("no normalisation", given(spectral_norm="inf"), "C"),
    differs("no proximal map", given(regulariser="none"), "C"),
    differs("another proximal map", given(regulariser="l1"), "C"),
    differs("constant noise", given(noise_variances=["0.02", "0.02"]), "C"),
    differs("the noise of another epoch", given(noise_variances=["0.05", "0.02"]), "C"),
    differs("one epoch short", given(noise_variances=["0.02"]), "U"),
    differs("whole data a batch", given(batch_size=6), "C"),
    differs("learning rate off in the 8th digit", given(learning_rate="0.200000002"), "N"),
    differs("U without its first case", updated("minimal_u", u_as_if_no_root), "U"),
    differs("U is the plain preactivation", updated("minimal_u", lambda ahead, x_next: ahead), "U"),
    differs(
        "the printed proximal map of l2",
        updated("proximal", lambda theta, eta, regulariser: theta * eta / (1.0 + eta)), "U",
    ),
    differs("normalised by the Frobenius norm", updated("shortened", by_the_frobenius_norm), "U"),
    differs("normalised by power iteration", updated("shortened", by_one_power_iteration), "C"),
    differs("the same noise for every block", tape(held(3, "noise")), "C"),
    differs("the same noise every epoch", tape(repeated(9, "noise")), "C"),
    differs("the same start for all", tape(shared("initial")), "U"),
)
