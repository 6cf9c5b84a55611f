"""What a bound's float64 formula says at thousands of points at once: an estimate, by which no answer is judged.

The search compares a target's answers with it and certifies the truth only where the two differ. Points that share
their words and the length of their schedules are one array; a row that the formula refuses is told apart by halving.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from empirical.gate.making.points import Point
from oracle.core.algorithm import Values
from oracle.core.arrays import as_float64
from oracle.core.errors import DomainError, OracleError
from oracle.core.registry import Bound

_ROWS = 256  # of an array: enough to be quick, and few enough that halving finds a refused row soon


def estimates(bound: Bound, points: Sequence[Point]) -> list[float]:
    """The bound at each point; NaN where float64 has no answer (it hands over, or the point is refused)."""
    found = [math.nan] * len(points)
    groups: dict[tuple[Any, ...], list[int]] = {}
    for index, point in enumerate(points):
        kind = tuple(
            value if isinstance(value, str) else len(value)
            for value in point.values() if isinstance(value, (str, tuple, list))
        )
        groups.setdefault(kind, []).append(index)
    for group in groups.values():
        for start in range(0, len(group), _ROWS):
            rows = group[start : start + _ROWS]
            for index, value in zip(rows, _rows(bound, [points[index] for index in rows]), strict=True):
                found[index] = value
    return found


def _rows(bound: Bound, points: Sequence[Point]) -> list[float]:
    table = {
        parameter.name: points[0][parameter.name] if parameter.kind == "choice"
        else np.array([point[parameter.name] for point in points], dtype=np.float64)
        for parameter in bound.parameters
    }
    try:
        xp, values, faults = as_float64(bound.name, bound.parameters, table)
        if faults:
            raise DomainError(f"{faults[0].parameter.name} is outside its domain in a row")
        with np.errstate(all="ignore"):
            result = np.asarray(bound.vectorised(xp, Values(**values)))
        return [float(value) if math.isfinite(value) else math.nan for value in result]
    except (OracleError, ArithmeticError):
        if len(points) == 1:
            return [math.nan]
        half = len(points) // 2
        return [*_rows(bound, points[:half]), *_rows(bound, points[half:])]
