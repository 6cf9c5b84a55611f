"""Plant errors in both solvers of the exact convex programme, and require the twins' agreement to flag each of them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
import torch

import oracle
from oracle.algorithms.convex_relu import convex_programme, torch_convex_programme
from oracle.core.algorithm import Algorithm
from oracle.core.tape import Tape
from tests.checks import check_twins
from tests.oracle.core.test_twins import test_a_seed_repeats_bit_for_bit_and_models_differ as check_models

ITEM = oracle.algorithm("convex-relu-exact")
SOLVE, SOLVED = convex_programme.solve, torch_convex_programme.solved
STEEPEST, NULL_SPACES = torch_convex_programme.steepest, torch_convex_programme.null_spaces


def data() -> tuple[Any, Any]:
    rng = np.random.default_rng(4)
    return rng.normal(size=(4, 2)), rng.normal(size=4)


def judged() -> None:
    check_twins(ITEM.reference, ITEM.train_batched, data(), ITEM.parse({"group_penalty": "0.3"}), Tape(0, 2))


def one_sign(x: Any, theta: Any, projectors: Any) -> Any:
    """No neuron with a negative output weight."""
    slopes, atoms = STEEPEST(x, theta, projectors)
    kept = (atoms >= 0).all(dim=0)
    return slopes[kept], atoms[:, kept]


def gated(x: Any, theta: Any, projectors: Any) -> Any:
    """D X u for any mask D, as if there were no cones."""
    masks = torch.cartesian_prod(*[torch.tensor([0.0, 1.0], dtype=x.dtype)] * len(x))
    pulls = (masks * theta) @ x
    lengths = torch.linalg.vector_norm(pulls, dim=1)
    kept = lengths > 0
    atoms = (masks * (pulls @ x.T))[kept] / lengths[kept, None]
    return lengths[kept], atoms.T


def plane_only(x: Any) -> Any:
    """No direction on a hyperplane of the arrangement."""
    yield next(NULL_SPACES(x))


def doubled(x: Any, y: Any, lam: float) -> tuple[float, float]:
    """The squared loss without its half, but the weight of the norms the same."""
    upper, lower = SOLVED(x, y, lam / 2)
    return 2 * upper, 2 * lower


TWIN: dict[str, tuple[str, Callable[..., Any]]] = {
    "one sign": ("steepest", one_sign),
    "no cones": ("steepest", gated),
    "no directions on a hyperplane": ("null_spaces", plane_only),
    "lambda off in the 8th digit": ("solved", lambda x, y, lam: SOLVED(x, y, lam * (1 + 1e-8))),
    "no half": ("solved", doubled),
    "the bound from below of a rough solution": ("solved", lambda x, y, lam: (SOLVED(x, y, lam)[1] * (1 - 2e-9), 0.0)),
}

LITERAL: dict[str, Callable[..., Any]] = {
    "no cones": lambda x, y, lam, **how: SOLVE(x, y, lam, constrained=False, **how),
    "a wide gap": lambda x, y, lam, **how: SOLVE(x, y, lam, tolerance=1e-5),
    "a record forgotten": lambda x, y, lam, **how: SOLVE(x[1:], y[1:], lam, **how),
}


def test_without_an_error_the_judge_is_content() -> None:
    judged()


@pytest.mark.parametrize("error", TWIN)
def test_an_error_in_the_twin_is_caught(error: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(torch_convex_programme, *TWIN[error])
    with pytest.raises(AssertionError, match="is not"):
        judged()


@pytest.mark.parametrize("error", LITERAL)
def test_an_error_in_the_reference_is_caught(error: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(convex_programme, "solve", LITERAL[error])
    with pytest.raises(AssertionError, match="is not"):
        judged()


@pytest.mark.parametrize(
    "item", [replace(ITEM, deterministic=False), replace(oracle.algorithm("gd"), deterministic=True)], ids=["no", "yes"]
)
def test_a_wrong_word_on_randomness_is_caught(item: Algorithm) -> None:
    with pytest.raises(AssertionError):
        check_models(item)
