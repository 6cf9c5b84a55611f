"""Whether computer algebra decides that an expression vanishes or keeps its sign; "cannot tell" counts as no."""

from __future__ import annotations

from typing import Any

import sympy


def vanishes(*expressions: Any) -> bool:
    """Whether every expression is zero identically; one with a case distinction left is not."""
    parts = [sympy.sympify(one) for one in expressions]
    return not any(one.has(sympy.Piecewise) for one in parts) and all(sympy.simplify(one) == 0 for one in parts)


def never_negative(*expressions: Any) -> bool:
    """Whether every expression is >= 0 by the signs of the terms of its numerator and its denominator."""
    return all(_signed(one)[0].is_nonnegative is True and _signed(one)[1].is_positive is True for one in expressions)


def positive(*expressions: Any) -> bool:
    """Whether every expression is > 0 in the same way."""
    return all(_signed(one)[0].is_positive is True and _signed(one)[1].is_positive is True for one in expressions)


def _signed(expression: Any) -> tuple[sympy.Expr, sympy.Expr]:
    top, bottom = sympy.fraction(sympy.together(sympy.sympify(expression)))
    return sympy.expand(top), sympy.expand(bottom)
