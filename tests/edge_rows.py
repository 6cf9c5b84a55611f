"""Rows at the edges of every domain: what a hunt for unsound answers and for crashes asks first.

An edge is an end of a domain, the double beside it, a power of two at which float64 changes (least subnormal and
normal, unit roundoff, 2^53), a size at which an exponential or a square leaves the doubles, or a count around which
code branches. A row is an everyday point of `empirical.gate.making.points` with some of its values moved to edges.
"""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import numpy as np

from empirical.gate.making.points import Point, point_at
from empirical.gate.ranges import LARGEST, SMALLEST
from oracle.core.domain import Parameter
from oracle.core.errors import DomainError
from oracle.core.registry import Bound

NORMAL, ROUNDOFF, COUNT = 2.0**-1022, 2.0**-53, 2.0**53
REALS = (
    SMALLEST, 3 * SMALLEST, 1e-310, NORMAL, 1e-300, 1e-160, 1e-30, ROUNDOFF, 2 * ROUNDOFF, 1e-8, 1e-3, 0.1, 0.5,
    1 - ROUNDOFF, 1.0, 1 + 2 * ROUNDOFF, 2.0, 3.0, 10.0, 37.0, 700.0, 745.0, 1e4, 1e8, COUNT, 1e30, 1e160, 1e300,
    LARGEST,
)
UNITS = (
    0.0, SMALLEST, NORMAL, 1e-300, 1e-100, 1e-17, ROUNDOFF, 1e-8, 1e-4, 0.1, 0.5, 0.9, 1 - 1e-8, 1 - 2 * ROUNDOFF,
    1 - ROUNDOFF, 1.0,
)
COUNTS = (0, 1, 2, 3, 4, 7, 10, 63, 64, 65, 100, 400, 401, 1000, 10**4, 10**6, 10**9, 10**12, 2**53 - 1, 2**53)
TEXTS = ("1e-4000", "1e-400", "1e-160", "1e400", "1e4000", "1e300", "12345678901234567.8901234567890123456789")
UNIT_TEXTS = ("1e-4000", "1e-400", "0.99999999999999999", "0." + "9" * 400)
COUNT_TEXTS = (str(2**53 + 1), "1" + "0" * 30, "1" + "0" * 400)
MOVED = (0.3, 0.6, 1.0)
"""The share of a row's values that stands at an edge, in turn."""


def _entry(parameter: Parameter) -> Parameter:
    return replace(parameter, kind="real") if parameter.kind == "schedule" else parameter


def _inside(parameter: Parameter, values: list[Any]) -> tuple[Any, ...]:
    """Those of some values that lie in a domain, each once."""
    entry, kept = _entry(parameter), []
    for value in dict.fromkeys(values):
        try:
            entry.parse(value)
        except DomainError:
            continue
        kept.append(value)
    return tuple(kept)


def edges(parameter: Parameter) -> tuple[Any, ...]:
    """The edges of one parameter's domain, as doubles, counts or words."""
    if parameter.kind == "choice":
        return parameter.choices
    counts = parameter.kind == "integer"
    unit = parameter.high == 1 and parameter.low == 0
    values: list[Any] = list(COUNTS if counts else UNITS if unit else REALS)
    for end in (parameter.low, parameter.high):
        if end is not None:
            near = float(end)
            beside = (math.nextafter(near, -math.inf), near, math.nextafter(near, math.inf))
            values += [int(end) - 1, int(end), int(end) + 1] if counts else beside
    if parameter.infinite:
        values.append(math.inf)
    if parameter.low is None:
        values += [-value for value in values]
    return _inside(parameter, values)


def beyond(parameter: Parameter) -> tuple[Any, ...]:
    """Numbers that are no doubles, as decimal texts; the edges where the domain has none."""
    unit = parameter.high == 1 and parameter.low == 0
    texts = COUNT_TEXTS if parameter.kind == "integer" else UNIT_TEXTS if unit else TEXTS
    return _inside(parameter, list(texts)) or edges(parameter)


def edge_rows(bound: Bound, count: int, seed: int, *, texts: bool = False) -> list[Point]:
    """The same rows every time; with `texts`, what is moved is moved to numbers that are no doubles as often as not."""
    rng = np.random.default_rng(seed)

    def pick(parameter: Parameter) -> Any:
        far = texts and parameter.kind != "choice" and rng.random() < 0.5
        values = beyond(parameter) if far else edges(parameter)
        return values[int(rng.integers(len(values)))]

    rows = []
    for index in range(count):
        row = point_at(bound, [float(u) for u in rng.random(len(bound.parameters))])
        for parameter in bound.parameters:
            if parameter.kind == "choice" or rng.random() < MOVED[index % len(MOVED)]:
                row[parameter.name] = (
                    tuple(pick(parameter) if rng.random() < 0.5 else entry for entry in row[parameter.name])
                    if parameter.kind == "schedule" else pick(parameter)
                )
        rows.append(row)
    return rows
