"""Signs and identities of symbols, as the checks of document 001 decide them."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import sympy

from theorems.given import Domain


def never_negative(expression: Any) -> bool:
    """Whether an expression is >= 0 for all values of its symbols, which must be known to be >= 0 themselves.

    Sufficient, not necessary: numerator and denominator, multiplied out, have no coefficient of the wrong sign.
    """
    value = sympy.sympify(expression)
    symbols = sorted(value.free_symbols, key=str)
    if not all(symbol.is_nonnegative for symbol in symbols):
        return False
    top, bottom = (_signs(part, symbols) for part in sympy.fraction(sympy.together(value)))
    return (top in ({1}, set()) and bottom == {1}) or (top == bottom == {-1})


def _signs(expression: Any, symbols: list[sympy.Symbol]) -> set[int]:
    """The signs of the coefficients of a polynomial, without zeros; 0 stands for one that is not known."""
    if not symbols:
        return {_sign(expression)} - {None}
    return {_sign(value) for value in sympy.Poly(sympy.expand(expression), *symbols).coeffs()} - {None}


def _sign(value: Any) -> Any:
    number = sympy.simplify(value)
    return None if number.is_zero else 1 if number.is_positive else -1 if number.is_negative else 0


def symbol_of(given: Domain, name: str) -> Any:
    """The symbol of a hypothesis, or its number where the hypothesis leaves only one."""
    item = given[name]
    if item.low is not None and item.low == item.high:
        return sympy.Rational(item.low.numerator, item.low.denominator)
    return given.symbol(name)


def minimiser(objective: Any) -> Fraction:
    """Where a quadratic of one number with a positive leading coefficient is least, from three of its values."""
    here, right, left = (Fraction(objective(Fraction(at))) for at in (0, 1, -1))
    bend, slope = (right + left) / 2 - here, (right - left) / 2
    if bend <= 0:
        raise ArithmeticError("the quadratic has no least value")
    return -slope / (2 * bend)
