r"""The Gaussian-DP parameter of noisy descent over fixed batches in a fixed order, as a formula, and what proves it.

For the record in the last batch the value is the cost of these shifts: nothing before step k, the chord from
(W(k-1), 0) to (W(kE-1), S(kE-1)), and a_T = 1. They are feasible where S is concave in W.
"""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from typing import Any

import sympy

from theorems.tools.exact_shift_programme import at_contraction

Squared = Callable[[Any, Any, Any], Any]
"""(b sigma mu / L)^2 as a function of c, q = c^k and Q = c^{k(E-1)}."""


def squared(c: Any, q: Any, big_q: Any) -> Any:
    """The expression under the square root of Bok, Su and Altschuler's theorem."""
    return 1 + q**2 / c**2 * (1 - c**2) / (1 - q) ** 2 * (1 - big_q) / (1 + big_q)


def value(says: Squared, c: Fraction, k: int, epochs: int) -> Fraction:
    """A claimed (b sigma mu / L)^2 in exact rationals, its limit at c = 1 included."""
    return at_contraction(lambda c: says(c, c**k, c ** (k * (epochs - 1))), c)


def identity_gap(says: Squared) -> sympy.Expr:
    """The chord's cost and the last step's, 1, minus the formula's value; zero identically."""
    c, q, big_q = sympy.symbols("c q Q", positive=True)
    rise = (1 / q) * (1 - 1 / big_q) / (1 - 1 / q)
    run = (1 / q**2) * (1 - 1 / big_q**2) / (1 - 1 / c**2)
    return sympy.simplify(rise**2 / run + 1 - says(c, q, big_q))


def curvature() -> sympy.Expr:
    """d^2 S / d W^2 along S = alpha u + beta, W = A u^2 + B with alpha, A, u > 0; negative means concave."""
    u, alpha, a = sympy.symbols("u alpha A", positive=True)
    first = sympy.diff(alpha * u, u) / sympy.diff(a * u**2, u)
    return sympy.simplify(sympy.diff(first, u) / sympy.diff(a * u**2, u))
