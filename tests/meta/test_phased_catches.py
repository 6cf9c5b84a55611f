"""Planted bugs in phased SGD: in the batched twin, which the agreement shows; in both, which the closed forms show."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

import oracle
from oracle.algorithms.phased import moreau, phased_sgd, torch_moreau, torch_phased_sgd
from oracle.algorithms.shared import links
from oracle.core.algorithm import Values
from oracle.core.tape import Tape
from tests.checks import check_twins
from tests.oracle.phased import test_moreau as oracles
from tests.oracle.phased import test_phased_training as phased

PLAIN, PROJECTED, SMOOTHED = "phased-sgd", "phased-sgd-projected", "smoothed-phased-sgd"
CHANGES: dict[str, dict[str, Any]] = {
    PLAIN: {"initial_radius": 1}, PROJECTED: {}, SMOOTHED: {"gamma": "0.01"},
    "smoothed-phased-sgd-projected": {"gradient_oracle": "subgradient", "oracle_error": 3},
}


@dataclass(frozen=True)
class Shared(Tape):
    """Every model draws what the first one draws."""

    def words(self, purpose: str, step: int, count: int) -> Any:
        return np.tile(super().words(purpose, step, count)[:1], (self.models, 1))


@dataclass(frozen=True)
class OneProjection(Tape):
    """One projection for all models."""

    def normal(self, purpose: str, step: int, dimension: int) -> Any:
        drawn = super().normal(purpose, step, dimension)
        return np.tile(drawn[:1], (self.models, 1)) if purpose == "projection" else drawn


@dataclass(frozen=True)
class OneNoise(Tape):
    """The first phase's noise in every phase."""

    def normal(self, purpose: str, step: int, dimension: int) -> Any:
        return super().normal(purpose, min(step, 1), dimension)


@dataclass(frozen=True)
class Halves(Tape):
    """Projections of half the variance."""

    def normal(self, purpose: str, step: int, dimension: int) -> Any:
        drawn = super().normal(purpose, step, dimension)
        return drawn / np.sqrt(2) if purpose == "projection" else drawn


def agree(name: str, train: Callable[..., Any] | None = None) -> None:
    item = oracle.algorithm(name)
    values = phased.config(name, **CHANGES[name])
    check_twins(item.reference, train or item.train_batched, phased.data(80), values, Tape(5, 3))


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


TWINS: dict[str, tuple[str, Callable[..., Any]]] = {
    "no start": (PLAIN, with_values(PLAIN, lambda v: {"initial_radius": 0})),
    "one draw for all": (PLAIN, with_tape(PLAIN, Shared)),
    "one projection for all": (PROJECTED, with_tape(PROJECTED, OneProjection)),
    "a projection of half the variance": (PROJECTED, with_tape(PROJECTED, Halves)),
    "another oracle": (SMOOTHED, with_values(SMOOTHED, lambda v: {"oracle": "subgradient", "gamma": Fraction(1)})),
    "beta for 2 beta": (SMOOTHED, with_values(SMOOTHED, lambda v: {"beta": 2 * v.beta})),
}
for _name in CHANGES:
    TWINS[f"{_name}: noise reused"] = (_name, with_tape(_name, OneNoise))
    TWINS[f"{_name}: noise off by a part in 10^6"] = (
        _name, with_values(_name, lambda v: {"sigma": v.sigma * (1 + Fraction(1, 10**6))}),
    )
    TWINS[f"{_name}: eta off in the 8th digit"] = (
        _name, with_values(_name, lambda v: {"learning_rate": v.learning_rate * (1 + Fraction(1, 10**7))}),
    )


@pytest.mark.full
@pytest.mark.parametrize("bug", TWINS)
def test_a_bug_in_the_twin_is_caught(bug: str) -> None:
    name, train = TWINS[bug]
    agree(name)
    with pytest.raises(AssertionError, match="is not"):
        agree(name, train)


def stale(block: Any, s: int, before: Any, factors: Any, eta: float) -> Any:
    """The score before the block: the records of a block do not see each other's steps."""
    return before


def uphill(block: Any, w: Any, factors: Any, eta: float) -> None:
    """Steps up the loss."""
    w.addmm_(factors.T, block.x, alpha=eta)


PATCHED: dict[str, tuple[str, Any, str, Any]] = {
    "stale scores": (PLAIN, torch_phased_sgd.Shared, "score", stale),
    "stale scores, projected": (PROJECTED, torch_phased_sgd.Projected, "score", stale),
    "uphill": (PLAIN, torch_phased_sgd.Shared, "move_", uphill),
    "the last iterate": (PLAIN, torch_phased_sgd, "weights", lambda *a: twin_weights(*a) * 0 + 1),
    "the average after the steps": (PLAIN, torch_phased_sgd, "weights", lambda *a: twin_weights(*a) + 1 / a[2]),
    "a phase too few": (PLAIN, torch_phased_sgd, "sizes", lambda n: phased_sgd.sizes(n)[:-1]),
    "without the first phase": (PLAIN, torch_phased_sgd, "sizes", lambda n: phased_sgd.sizes(n)[1:]),
    "a halving too few": (SMOOTHED, torch_moreau.moreau, "halvings", lambda b, e: moreau_halvings(b, e) - 1),
    "a step too few": (
        "smoothed-phased-sgd-projected", torch_moreau.moreau, "steps", lambda b, e: moreau_steps(b, e) - 1,
    ),
    "the error of records of length one": (
        "smoothed-phased-sgd-projected", torch_moreau, "derivative",
        lambda v, scores, label, longest: torch_moreau.subgradient(v, scores, label, v.oracle_error),
    ),
}
moreau_halvings, moreau_steps, twin_weights = moreau.halvings, moreau.steps, torch_phased_sgd.weights


@pytest.mark.parametrize("bug", PATCHED)
def test_a_bug_in_the_twins_parts_is_caught(bug: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """The literal results are computed first: the counts of phases and of the oracles' steps are shared."""
    name, owner, attribute, wrong = PATCHED[bug]
    item, values, tape = oracle.algorithm(name), phased.config(name, **CHANGES[name]), Tape(5, 3)
    right = [item.reference(*phased.data(80), values, tape.one(model)) for model in range(3)]

    def kept(features: Any, labels: Any, config: Values, one: Tape) -> Any:
        return right[one.first_model]

    check_twins(kept, item.train_batched, phased.data(80), values, tape)
    monkeypatch.setattr(owner, attribute, wrong)
    with pytest.raises(AssertionError, match="is not"):
        check_twins(kept, item.train_batched, phased.data(80), values, tape)


# --- bugs that both twins share


def late(x: Any, y: Any, values: Values, tape: Tape, slope: Any, recorder: Any) -> Any:
    """The average over w^2, ..., w^{n_i + 1}: the last record of a phase has influence."""
    w, first = phased_sgd.initial(values, tape, x.shape[1]), 0
    for i, size in enumerate(phased_sgd.sizes(len(x)), start=1):
        eta, iterates = float(values.learning_rate) / 4**i, []
        for t in range(first, first + size):
            w = w - eta * slope(float(x[t] @ w), float(y[t])) * x[t]
            iterates.append(w)
        w = np.mean(iterates, axis=0) + float(values.sigma) * eta * tape.normal("noise", i, x.shape[1])[0]
        first += size
    return w


@pytest.mark.parametrize("caught", [
    lambda: phased.test_a_constant_link_has_its_closed_form(PLAIN, 20), lambda: phased.test_who_has_influence(PLAIN),
])
def test_an_average_of_the_wrong_iterates_is_caught(caught: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    caught()
    monkeypatch.setattr(phased_sgd, "descend", late)
    with pytest.raises(AssertionError):
        caught()


def test_the_papers_number_of_phases_is_caught(monkeypatch: pytest.MonkeyPatch) -> None:
    """k = ceil(log2 n): the last phase is empty, its average 0/0."""
    monkeypatch.setattr(phased_sgd, "sizes", lambda n: [n >> i for i in range(1, (n - 1).bit_length() + 1)])
    with pytest.raises(AssertionError):
        phased.test_no_phase_is_empty_and_some_record_is_always_left_over()


def test_a_link_that_is_not_the_one_named_is_caught(monkeypatch: pytest.MonkeyPatch) -> None:
    """A link of twice the score."""
    genuine = links.value
    monkeypatch.setattr(links, "value", lambda link, score, bound: genuine(link, 2 * score, bound))
    with pytest.raises(AssertionError):
        oracles.test_a_link_rises_within_its_bound_as_fast_as_it_says("sigmoid")
    with pytest.raises(AssertionError):
        phased.test_the_average_is_that_of_the_iterates(PLAIN, "tanh")


@pytest.mark.parametrize("caught", [
    lambda: oracles.test_algorithm_4_takes_the_papers_steps(),
    lambda: oracles.test_the_first_steps_of_algorithm_4_are_those_by_hand("tanh"),
])
def test_an_algorithm_4_of_the_wrong_length_is_caught(caught: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    caught()
    monkeypatch.setattr(moreau, "steps", lambda bound, error: moreau_steps(bound, error) + 1)
    with pytest.raises(AssertionError):
        caught()


def test_a_bisection_that_stops_early_is_caught(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(moreau, "halvings", lambda bound, error: moreau_halvings(bound, error) - 2)
    with pytest.raises(AssertionError):
        oracles.test_bisection_finds_the_exact_derivative_up_to_the_error("tanh", "1e-3")
