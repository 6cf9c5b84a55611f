"""How the claims of document 004 about formulas are judged: against a count by hand at points, then on symbols."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

from theorems.claim import Checker
from theorems.given import Domain
from theorems.tools.leading_points import first_at
from theorems.tools.symbolic_signs import never_negative, vanishes
from theorems.tools.unchecked import unchecked_claim
from theorems.verdict import Finding, ProofStep, computed, proof, refuted, sampled

Formula = Callable[..., Any]


def formula(
    names: tuple[str, ...], by_hand: Formula, truth: Formula, against: str, words: str, *, bound: bool = False,
    simple: Mapping[str, str] | None = None, most: Mapping[str, int] | None = None,
    more: Callable[[Domain], tuple[ProofStep, ...]] = lambda given: (), left: str = "claimed", right: str = "true",
) -> Checker:
    """The checker of a formula of these hypotheses: equal to the truth, or not below it if it is a `bound`.

    `by_hand` counts or adds up at a point, `truth` is an expression, which must agree with it there: on symbols if it
    can be computed so, else by the steps of `more`; without any it is known at the points only.
    """

    def judge(says: Formula, given: Domain) -> Finding:
        tried = 0
        for point in first_at(simple or {}, given, names, 80, most):
            values = [point[name] for name in names]
            claimed, true = says(*values), by_hand(*values)
            tried += 1
            if claimed < true if bound else claimed != true:
                return refuted(against, {**point, left: claimed, right: true})
        symbols = [given.chart(name) for name in names]
        gap = says(*symbols) - truth(*symbols)
        agrees = all(truth(*(point[name] for name in names)) == by_hand(*(point[name] for name in names))
                     for point in given.points(*names, at_most=20, most=most))
        counted = _on_symbols(by_hand, symbols)
        linked = agrees and (counted is None or vanishes(counted - truth(*symbols)))
        decided = computed(words, linked and (never_negative(gap) if bound else vanishes(gap)))
        steps = more(given)
        only = () if steps or counted is not None else (sampled(f"so it is counted by hand at {tried} points", agrees),)
        return proof(decided, *steps, *only, tried=tried)

    return judge


def _on_symbols(by_hand: Formula, symbols: list[Any]) -> Any:
    """What is counted by hand as an expression; None where it can only be counted."""
    try:
        return by_hand(*symbols)
    except TypeError:
        return None


unchecked = partial(unchecked_claim, "cs208", "004")
