"""Plant bugs in the batched mechanisms of document 004, and require that check_twins flags each of them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest

from oracle.algorithms.mechanisms import torch_exponential_mechanism, torch_exponential_sampler
from oracle.algorithms.shared import torch_minimiser
from oracle.core.algorithm import Algorithm, Values
from oracle.core.tape import Tape
from tests.checks import check_twins
from tests.oracle.perturbation import test_mechanisms_training as mechanisms
from tests.oracle.perturbation import test_perturbation_training as perturbation
from tests.oracle.perturbation.test_mechanisms_training import (
    BLOCKS,
    CHAIN,
    GRID,
    MOMENTS,
    blocks,
    chain,
    grid,
    moments,
)
from tests.oracle.perturbation.test_perturbation_training import OBJECTIVE, OUTPUT, objective, output

Changes = dict[str, Callable[[Values], Any]]


@dataclass(frozen=True)
class Gaussian(Tape):
    def exponential_norm(self, purpose: str, step: int, dimension: int) -> Any:
        return self.normal(purpose, step, dimension)


@dataclass(frozen=True)
class Shared(Tape):
    """Every model draws what the first one draws."""

    def words(self, purpose: str, step: int, count: int) -> Any:
        return np.tile(super().words(purpose, step, count)[:1], (self.models, 1))


@dataclass(frozen=True)
class SameProposals(Tape):
    def normal(self, purpose: str, step: int, dimension: int) -> Any:
        return super().normal(purpose, 0, dimension)


CONFIGURED: dict[str, tuple[Algorithm, Values, Changes]] = {
    "output: half the noise": (OUTPUT, output(), {"noise_scale": lambda v: v.noise_scale / 2}),
    "output: a ridge without its half": (OUTPUT, output(), {"strong_convexity": lambda v: 2 * v.strong_convexity}),
    "objective: the sharp correction": (OBJECTIVE, objective(), {"correction": lambda v: "sharp"}),
    "objective: no correction": (OBJECTIVE, objective(), {"correction": lambda v: "none"}),
    "objective: no added ridge": (
        OBJECTIVE, objective(epsilon="0.1"), {"correction": lambda v: "none", "epsilon": lambda v: v.epsilon / 2},
    ),
    "grid: no regulariser": (GRID, grid(points=101), {"ridge": lambda v: 0}),
    "grid: double temperature": (GRID, grid(points=101), {"temperature": lambda v: 2 * v.temperature}),
    "grid: no clipping": (GRID, grid(points=101), {"loss_range": lambda v: 10**9}),
    "chain: a step too few": (CHAIN, chain(steps=20), {"steps": lambda v: v.steps - 1}),
    "chain: no clipping": (CHAIN, chain(steps=20), {"loss_range": lambda v: 10**9}),
    "blocks: no clipping": (BLOCKS, blocks(high="0.4"), {"high": lambda v: 10**9}),
    "blocks: too few": (BLOCKS, blocks(), {"blocks": lambda v: 2, "estimator": lambda v: "median"}),
    "blocks: shuffled": (BLOCKS, blocks(estimator="median"), {"order": lambda v: "shuffled"}),
    "moments: noise on one sum": (MOMENTS, moments(), {"noise_scale": lambda v: v.noise_scale / 12}),
    "moments: no floor": (MOMENTS, moments(floor="0.5"), {"floor": lambda v: 1e-9}),
}
DRAWN: dict[str, tuple[Algorithm, Values, type[Tape]]] = {
    "output: Gaussian noise": (OUTPUT, output(), Gaussian),
    "output: one noise for all": (OUTPUT, output(), Shared),
    "objective: one noise for all": (OBJECTIVE, objective(), Shared),
    "grid: one draw for all": (GRID, grid(temperature=100), Shared),
    "chain: the same proposal at every step": (CHAIN, chain(steps=20), SameProposals),
    "blocks: one noise for all": (BLOCKS, blocks(), Shared),
    "moments: one noise for all": (MOMENTS, moments(), Shared),
}


def data(item: Algorithm) -> tuple[Any, Any]:
    return perturbation.data() if item in (OUTPUT, OBJECTIVE) else mechanisms.data()


def flagged(item: Algorithm, planted: Callable[..., Any], values: Values) -> None:
    """Eight models, so that a wrong law of a fine grid chooses another of its models at least once."""
    with pytest.raises(AssertionError, match="is not"):
        check_twins(item.reference, planted, data(item), values, Tape(5, 8))


@pytest.mark.parametrize("name", [*CONFIGURED, *DRAWN])
def test_what_is_registered_passes(name: str) -> None:
    item, values, _ = {**CONFIGURED, **DRAWN}[name]
    check_twins(item.reference, item.train_batched, data(item), values, Tape(5, 8))


@pytest.mark.parametrize("name", CONFIGURED)
def test_a_wrong_formula_is_caught(name: str) -> None:
    item, values, changes = CONFIGURED[name]

    def planted(features: Any, labels: Any, given: Values, tape: Tape) -> Any:
        wrong = Values(**{**vars(given), **{key: change(given) for key, change in changes.items()}})
        return item.train_batched(features, labels, wrong, tape)

    flagged(item, planted, values)


@pytest.mark.parametrize("name", DRAWN)
def test_a_wrong_draw_is_caught(name: str) -> None:
    item, values, tape_type = DRAWN[name]

    def planted(features: Any, labels: Any, given: Values, tape: Tape) -> Any:
        return item.train_batched(features, labels, given, tape_type(tape.seed, tape.models, tape.first_model))

    flagged(item, planted, values)


def test_an_early_stop_is_caught(monkeypatch: pytest.MonkeyPatch) -> None:
    """A twin that takes a gradient of 1e-5 for zero is no twin."""
    monkeypatch.setattr(torch_minimiser, "rounding", lambda *given: 1e-5)
    flagged(OBJECTIVE, OBJECTIVE.train_batched, objective(epsilon=30))


@pytest.mark.parametrize(("item", "values", "module"), [
    (GRID, grid(points=101), torch_exponential_mechanism), (CHAIN, chain(steps=20), torch_exponential_sampler),
])
def test_a_mean_for_a_sum_is_caught(item: Algorithm, values: Values, module: Any, monkeypatch: Any) -> None:
    right = module.energies
    monkeypatch.setattr(module, "energies", lambda x, *given: right(x, *given) / len(x))
    flagged(item, item.train_batched, values)
