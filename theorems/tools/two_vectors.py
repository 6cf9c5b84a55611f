"""Any two vectors of bounded norm, as expressions whose signs computer algebra decides."""

from __future__ import annotations

from typing import Any

import sympy


def two_vectors(radius: Any) -> tuple[sympy.Expr, sympy.Expr, sympy.Expr]:
    """|g|^2, <g, h> and |h|^2 for |g|, |h| <= radius in any dimension.

    |g| = radius/(1 + s), |h| = radius/(1 + t) and <g, h> = |g| |h| (e - 1), with s, t, e >= 0 (by Cauchy-Schwarz); the
    zero vector is a limit. At s = t = e = 0 they are opposite and as long as may be.
    """
    s, t, e = sympy.symbols("s t e", nonnegative=True)
    g, h = radius / (1 + s), radius / (1 + t)
    return g**2, g * h * (e - 1), h**2


def never_negative(value: sympy.Expr) -> bool:
    """Whether an expression in non-negative symbols is shown to be at least 0: all its coefficients are."""
    numerator, denominator = sympy.fraction(sympy.together(value))
    parts = (sympy.expand(numerator), sympy.expand(denominator))
    return parts[0].is_nonnegative is True and parts[1].is_positive is True


def opposite(value: sympy.Expr) -> sympy.Expr:
    """An expression in the parameters of `two_vectors` where the vectors are opposite and as long as may be."""
    return sympy.simplify(value.subs(dict.fromkeys(sympy.symbols("s t e", nonnegative=True), 0)))
