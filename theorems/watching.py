"""The formulas of a statement, watched while a checker asks them: what answers tell nothing, or tell of less than all.

A ball that is NaN, or that is the whole line, is neither above nor below any other: a check that asks "is it certainly
wrong?" lets it through. An expression that may jump at one number (`jump_in`), and what a formula that branches on an
order answers about a ball that is no point (`theorems.branches`), do not hold for all arguments that were asked about.
"""

from __future__ import annotations

import functools
import math
from typing import Any

import sympy
from flint import arb
from sympy import Basic, MatrixBase

from theorems.branches import ordering
from theorems.leaves import Place, leaves, transformed

_JUMPING = (
    sympy.Piecewise, sympy.Heaviside, sympy.sign, sympy.floor, sympy.ceiling, sympy.frac, sympy.Mod,
    sympy.KroneckerDelta, sympy.DiracDelta, sympy.SingularityFunction, sympy.core.relational.Relational,
    sympy.logic.boolalg.BooleanFunction,
)


class Answers:
    """Whether a formula gave no number, an expression that may jump, or an answer for a part of a ball, and when."""

    def __init__(self) -> None:
        self.missing, self.jump, self.part_of_ball = "", "", ""

    def watched(self, says: Any) -> Any:
        """The statement with its formulas watched."""
        return transformed(says, self._watched)

    def _watched(self, at: Place, part: Any) -> Any:
        if not callable(part) or isinstance(part, type):
            return part

        order = functools.cache(lambda: ordering(part))

        @functools.wraps(part)
        def answering(*args: Any, **options: Any) -> Any:
            answer = part(*args, **options)
            for _, one in leaves(answer):
                if not self.missing and _no_number(one):
                    self.missing = ", ".join(map(str, args))
                self.jump = self.jump or jump_in(one)
            if not self.part_of_ball and any(_wide(one) for _, one in leaves((args, options))):
                self.part_of_ball = order()
            return answer

        return answering


def jump_in(answer: Any) -> str:
    """The first part of an expression that may jump at one number; empty if there is none, or if it has no symbol.

    An inequality, which a predicate answers with, is as good as its two sides.
    """
    if isinstance(answer, (sympy.Lt, sympy.Le, sympy.Gt, sympy.Ge)):
        return jump_in(answer.lhs) or jump_in(answer.rhs)
    if not isinstance(answer, (Basic, MatrixBase)) or not answer.free_symbols:
        return ""
    for part in answer.atoms(sympy.Pow, *_JUMPING):
        if isinstance(part, _JUMPING):
            return str(part.func.__name__)
        if part.base.is_zero:
            return "a power of 0"
    return ""


def _no_number(value: Any) -> bool:
    if isinstance(value, arb):
        return bool(value.is_nan()) or not value.rad().is_finite()
    if isinstance(value, Basic):
        return value in (sympy.nan, sympy.zoo)
    return isinstance(value, float) and math.isnan(value)


def _wide(value: Any) -> bool:
    return isinstance(value, arb) and not value.is_exact()
