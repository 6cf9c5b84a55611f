"""A formula that is called proved for all values must have been asked about symbols, not only about numbers.

A checker that evaluates a formula at points and proves another one in general would call any variant proved that is
right at its points. Who has only finitely many cases, or compares with the proved formula by other means, is listed.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import fields, is_dataclass, replace
from typing import Any

import pytest
import sympy

from theorems.claim import ALL, Claim, Evidence, Expectation, Finding, Verdict, claim, claims, expectations

PROVED = Expectation(Verdict.HOLDS, Evidence.PROVED)
FINITE = {
    "background/composition-optimal": "a maximum over outcomes: only the formula itself is called proved",
    "relu-approx/eq-3.6-3.8-D-repaired": "three signs",
    "relu-approx/experiments-privacy-repaired": "a grid of runs",
    "relu-approx/fig-2-text-table-repaired": "four cells of a table",
    "relu-approx/inference": "three signs",
    "relu-approx/thm-5.1-eps1": "a rule on laws",
    "sbcd/decrease-schedule-repaired": "the five K of Table 1",
    "sbcd/fig-1a-noise-repaired": "30 epochs",
    "sbcd/fig-1b-decay-repaired": "30 epochs",
    "sbcd/fig-1b-deccon": "30 epochs",
    "sbcd/fig-1b-increase": "30 epochs",
    "sbcd/global-lipschitz-repaired": "a relation",
}


def symbolic(value: Any) -> bool:
    """Whether an argument has symbols in it."""
    if isinstance(value, (tuple, list)):
        return any(map(symbolic, value))
    if is_dataclass(value) and not isinstance(value, type):
        return any(symbolic(getattr(value, item.name)) for item in fields(value))
    return bool(getattr(value, "free_symbols", None))


def watched(says: Any, asked: list[list[bool]]) -> Any:
    """The same statement, whose functions note for each call whether it was about symbols."""
    if isinstance(says, tuple):
        return tuple(watched(item, asked) for item in says)
    if is_dataclass(says) and not isinstance(says, type):
        inner = {item.name: watched(getattr(says, item.name), asked) for item in fields(says)}
        return replace(says, **inner)
    if not callable(says) or isinstance(says, type):
        return says
    calls: list[bool] = []
    asked.append(calls)

    def noting(*values: Any) -> Any:
        calls.append(any(map(symbolic, values)))
        return says(*values)

    return noting


def numbers_only(check: Callable[[Any], Finding], says: Any) -> bool:
    """Whether a checker asks one of the functions of a statement about numbers only."""
    asked: list[list[bool]] = []
    check(watched(says, asked))
    return not all(map(any, asked))


def has_functions(says: Any) -> bool:
    """Whether a statement is, or holds, a formula."""
    found: list[list[bool]] = []
    watched(says, found)
    return bool(found)


@pytest.mark.full
@pytest.mark.parametrize("name", [
    name for name, item in claims().items()
    if expectations()[name] == PROVED and name not in FINITE and has_functions(item.says)
])
def test_what_is_proved_was_asked_about_symbols(name: str) -> None:
    assert not numbers_only(claim(name).check, claim(name).says)


@pytest.mark.parametrize("name", list(FINITE))
def test_the_list_of_finite_cases_is_needed(name: str) -> None:
    assert expectations()[name] == PROVED
    assert numbers_only(claim(name).check, claim(name).says)


def test_a_checker_that_proves_another_formula_is_found() -> None:
    def at_a_point(says: Callable[[Any], Any]) -> Finding:
        assert says(3) == 15
        return Finding(Verdict.HOLDS, Evidence.PROVED, "5x is proved", scope=ALL)

    def for_all(says: Callable[[Any], Any]) -> Finding:
        assert sympy.expand(says(sympy.symbols("x")) - 5 * sympy.symbols("x")) == 0
        return at_a_point(says)

    planted = Claim("planted/claim", "", "", "", (), lambda x: 5 * x, at_a_point)
    assert numbers_only(planted.check, planted.says)
    assert not numbers_only(for_all, planted.says)
