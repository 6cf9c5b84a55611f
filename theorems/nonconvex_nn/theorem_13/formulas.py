"""Formulas in positive numbers, judged: identical to another one, never below it, never above it.

Points are exact (roots stay roots), symbols are positive. An order of two formulas is decided by their quotient: for
products of powers it is a number, or has the sign that the terms of numerator and denominator show.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import sympy

from theorems.claim import Checker
from theorems.given import Domain, Point
from theorems.tools.symbolic_signs import never_negative
from theorems.verdict import Finding, computed, proof, refuted

Formula = Callable[..., Any]
_POINTS = 24


def exactly(value: Any) -> Any:
    """A point's number as one of computer algebra."""
    return sympy.Rational(value.numerator, value.denominator)


def running(given: Domain, name: str) -> Any:
    """A symbol of a hypothesis, or low + t where it has a positive lower end."""
    low = given[name].low
    return given.chart(name) if low is not None and low > 0 else given.symbol(name)


def _told(point: Point, claimed: Any, true: Any) -> dict[str, object]:
    return {**point, "claimed": sympy.N(claimed, 12), "true": sympy.N(true, 12)}


def _compared(
    names: tuple[str, ...], true: Formula, words: str, wrong: str,
    fails: Callable[[Any, Any], bool], decides: Callable[[Any, Any], bool],
) -> Checker:
    def judge(says: Formula, given: Domain) -> Finding:
        tried = 0
        simple = [dict.fromkeys(names, 4)] if given.contains(**dict.fromkeys(names, 4)) else []
        for point in (*simple, *given.points(*names, at_most=_POINTS)):
            values = [exactly(point[name]) for name in names]
            claimed, found = sympy.sympify(says(*values)), sympy.sympify(true(*values))
            tried += 1
            if not claimed.is_finite or fails(claimed, found):
                return refuted(wrong, _told(point, claimed, found))
        symbols = [running(given, name) for name in names]
        return proof(computed(words, decides(says(*symbols), true(*symbols))), tried=tried)

    return judge


def _equal(one: Any, other: Any) -> bool:
    gap = sympy.sympify(one - other)
    return not gap.has(sympy.Piecewise) and bool(sympy.simplify(sympy.powdenest(gap, force=True)) == 0)


def _apart(one: Any, other: Any) -> bool:
    """Whether two numbers differ within their first 25 digits: roots that are the same are slow to show so."""
    if one == other:
        return False
    gap = sympy.N(one - other, 30)
    return not gap.is_finite or bool(abs(gap) > sympy.Rational(1, 10**25) * abs(sympy.N(other, 30)))


def same(names: tuple[str, ...], true: Formula, words: str, wrong: str = "another number") -> Checker:
    """Whether a formula is identical to the true one: refuted by digits at a point, proved on symbols only."""
    return _compared(names, true, words, wrong, _apart, _equal)


def at_least(names: tuple[str, ...], true: Formula, words: str, wrong: str = "less than needed") -> Checker:
    """Whether a formula is nowhere below the true one."""
    return _compared(names, true, words, wrong, lambda one, other: bool(sympy.N(one - other, 30) < -1e-25),
                     lambda one, other: ordered(other, one))


def at_most(names: tuple[str, ...], true: Formula, words: str, wrong: str = "more than there is") -> Checker:
    """Whether a formula is nowhere above the true one."""
    return _compared(names, true, words, wrong, lambda one, other: bool(sympy.N(one - other, 30) > 1e-25), ordered)


def ordered(low: Any, high: Any) -> bool:
    """Whether 0 < low <= high for all values of the symbols."""
    quotient = sympy.simplify(sympy.powsimp(sympy.expand_power_base(sympy.sympify(high) / low, force=True), force=True))
    return sympy.sympify(low).is_positive is True and not quotient.has(sympy.Piecewise) and never_negative(quotient - 1)
