"""The points of `empirical.gate.making.points` as the arrays that fast paths take, and records of normal numbers."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from empirical.gate.making.points import Point, fixed_points
from oracle.core.registry import Bound


def columns(bound: Bound, chosen: Sequence[Point]) -> dict[str, Any]:
    """The points as one float64 array a parameter, [points] or [points, steps] (points must agree on every word)."""
    table: dict[str, Any] = {}
    for parameter in bound.parameters:
        values = [point[parameter.name] for point in chosen]
        if parameter.kind == "choice":
            assert len(set(values)) == 1, f"{bound.name}: points of one array must share {parameter.name}"
            table[parameter.name] = values[0]
        else:
            table[parameter.name] = np.array(values, dtype=np.float64)
    return table


def numbers(bound: Bound, count: int = 6, seed: int = 5) -> dict[str, Any]:
    """A column a parameter."""
    return columns(bound, fixed_points(bound, count, seed=seed))


def at(table: dict[str, Any], index: int) -> dict[str, Any]:
    """One row of a table, as Python numbers, lists and words."""
    return {k: v if isinstance(v, str) else v[index].tolist() for k, v in table.items()}


def normal_data(seed: int, records: int, dimension: int) -> tuple[Any, Any]:
    """Records and labels of standard normal numbers."""
    rng = np.random.default_rng(seed)
    return rng.normal(size=(records, dimension)), rng.normal(size=records)
