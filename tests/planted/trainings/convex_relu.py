"""Bugs in the convex ReLU model: in the batched twin of its training, and in both solvers of the exact programme."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np
import torch

import oracle
from empirical.mutants.changes import code, configuration, declaration, tape
from empirical.mutants.checks import Setting
from empirical.mutants.mutant import SLIP, Change, Mutant
from empirical.mutants.tapes import shared
from oracle.core.tape import Tape
from tests.oracle.convex_relu.test_convex_relu_training import config, data
from tests.planted import unlike

ROOM = "oracle.algorithms.convex_relu"
EXACT = oracle.algorithm("convex-relu-exact")


def few() -> tuple[Any, Any]:
    rng = np.random.default_rng(4)
    return rng.normal(size=(4, 2)), rng.normal(size=4)


TRAINED, SOLVED = Setting(config(), data(), Tape(5, 3)), Setting(
    EXACT.parse({"group_penalty": "0.3"}), few(), Tape(0, 2),
)


def trained(title: str, changes: Change, severity: str) -> Mutant:
    return unlike("noisy-cgd-convex-relu", title, changes, severity, TRAINED)


def training(name: str, wrong: Callable[..., Any]) -> Change:
    return code("twin", {f"{ROOM}.torch_convex_relu:{name}": lambda honest: wrong})


def solved(title: str, changes: Change, severity: str = "U") -> Mutant:
    return unlike(EXACT.name, title, changes, severity, SOLVED)


def solving(name: str, wrong: Callable[[Any], Any]) -> Change:
    return code("twin", {f"{ROOM}.torch_convex_programme:{name}": wrong})


def literally(wrong: Callable[[Any], Any]) -> Change:
    return code("reference", {f"{ROOM}.convex_programme:solve": wrong})


def one_sign(honest: Any) -> Any:
    """No neuron with a negative output weight."""

    def steepest(x: Any, theta: Any, projectors: Any) -> Any:
        slopes, atoms = honest(x, theta, projectors)
        kept = (atoms >= 0).all(dim=0)
        return slopes[kept], atoms[:, kept]

    return steepest


def gated(honest: Any) -> Any:
    """D X u for any mask D, as if there were no cones."""

    def steepest(x: Any, theta: Any, projectors: Any) -> Any:
        masks = torch.cartesian_prod(*[torch.tensor([0.0, 1.0], dtype=x.dtype)] * len(x))
        pulls = (masks * theta) @ x
        lengths = torch.linalg.vector_norm(pulls, dim=1)
        kept = lengths > 0
        atoms = (masks * (pulls @ x.T))[kept] / lengths[kept, None]
        return lengths[kept], atoms.T

    return steepest


def doubled(honest: Any) -> Any:
    """The squared loss without its half, but the weight of the norms the same."""

    def solve(x: Any, y: Any, lam: float) -> tuple[float, float]:
        upper, lower = honest(x, y, lam / 2)
        return 2 * upper, 2 * lower

    return solve


MUTANTS = (
    trained("clipped one by one", configuration(clipping="output"), "C"),
    trained("one hyperplane short", configuration(hyperplanes=lambda v: v.hyperplanes - 1), "U"),
    trained("logistic for softmax", configuration(loss="logistic"), "U"),
    trained("no clipping", configuration(clip_norm=Fraction(10**9)), "C"),
    trained("no regularisation", configuration(regularisation=Fraction(0)), "C"),
    trained("no noise", configuration(noise_on_mean=Fraction(0)), "C"),
    trained("whole data a batch", configuration(batch_size=6), "C"),
    trained("the inactive side", training("active", lambda x, u: (u @ x.T <= 0).to(x.dtype)), "U"),
    trained(
        "all sides active",
        training("active", lambda x, u: torch.ones(u.shape[0], u.shape[1], x.shape[0], dtype=x.dtype)), "C",
    ),
    trained("one set of hyperplanes for all models", tape(shared("hyperplanes")), "U"),
    trained(
        "softmax over the batch",
        training("residual", lambda loss, outputs, target: torch.softmax(outputs, dim=2) - target), "C",
    ),
    solved("one sign", solving("steepest", one_sign)),
    solved("no cones", solving("steepest", gated)),
    solved(
        # no direction on a hyperplane of the arrangement
        "no directions on a hyperplane", solving("null_spaces", lambda honest: lambda x: iter([next(honest(x))])),
    ),
    solved(
        "lambda off in the 8th digit",
        solving("solved", lambda honest: lambda x, y, lam: honest(x, y, lam * (1 + 1e-8))), "N",
    ),
    solved("no half", solving("solved", doubled)),
    solved(
        "the bound from below of a rough solution",
        solving("solved", lambda honest: lambda x, y, lam: (honest(x, y, lam)[1] * (1 - 2e-9), 0.0)), "N",
    ),
    solved(
        "no cones in the reference",
        literally(lambda honest: lambda x, y, lam, **how: honest(x, y, lam, constrained=False, **how)),
    ),
    solved(
        "a wide gap in the reference",
        literally(lambda honest: lambda x, y, lam, **how: honest(x, y, lam, tolerance=1e-5)),
    ),
    solved(
        "a record forgotten in the reference",
        literally(lambda honest: lambda x, y, lam, **how: honest(x[1:], y[1:], lam, **how)),
    ),
    *(
        Mutant(
            name, "a wrong word on randomness", declaration(deterministic=said), severity="T", origin=SLIP,
            caught_by=("randomness",),
        )
        for name, said in ((EXACT.name, False), ("gd", True))
    ),
)
