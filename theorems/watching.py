"""The formulas of a statement, watched while a checker asks them: an answer that is no number is against nothing.

A ball that is NaN is neither above nor below any other: a check that asks "is it certainly wrong?" lets it through.
"""

from __future__ import annotations

import functools
import math
from typing import Any

from flint import arb

from theorems.leaves import Place, leaves, transformed


class Answers:
    """Whether a formula gave no number, and when."""

    def __init__(self) -> None:
        self.missing = ""

    def watched(self, says: Any) -> Any:
        """The statement with its formulas watched."""
        return transformed(says, self._watched)

    def _watched(self, at: Place, part: Any) -> Any:
        if not callable(part) or isinstance(part, type):
            return part

        @functools.wraps(part)
        def answering(*args: Any, **options: Any) -> Any:
            answer = part(*args, **options)
            if not self.missing and any(_no_number(one) for _, one in leaves(answer)):
                self.missing = ", ".join(map(str, args))
            return answer

        return answering


def _no_number(value: Any) -> bool:
    if isinstance(value, arb):
        return bool(value.is_nan())
    return isinstance(value, float) and math.isnan(value)
