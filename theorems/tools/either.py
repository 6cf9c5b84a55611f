"""Functions of a ball or of an expression alike, for formulas that are asked about both.

They ask for the type of their argument and for nothing else, so `theorems.branches` does not look inside.
"""

from __future__ import annotations

from typing import Any

import sympy
from flint import arb


def root(value: Any) -> Any:
    """The square root of a ball or an expression."""
    return value.sqrt() if isinstance(value, arb) else sympy.sqrt(value)


def log(value: Any) -> Any:
    """The logarithm of a ball or an expression."""
    return value.log() if isinstance(value, arb) else sympy.log(value)


def exp(value: Any) -> Any:
    """The exponential function of a ball or an expression."""
    return value.exp() if isinstance(value, arb) else sympy.exp(value)
