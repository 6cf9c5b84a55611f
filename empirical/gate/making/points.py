"""Parameter points for any registered bound: one map from the unit cube, read by tests, vectors and searches alike.

`value_at(bound, parameter, u)` turns u in [0, 1] into a parameter value, by the parameter's kind and domain and by the
tables in `ranges`, which hold what is special about a bound. All values are doubles (or ints, or words), so that a fast
path and the certified reference see exactly the same numbers.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from decimal import Decimal
from typing import TYPE_CHECKING, Any

import numpy as np

from empirical.gate.making.cases import Text
from empirical.gate.ranges import (
    CORNER_INTEGERS,
    CORNER_PROBABILITIES,
    CORNER_REALS,
    CORNER_UNITS,
    Corners,
    Maps,
    Ranges,
    gathered,
    logarithmic,
)
from oracle.core.domain import Parameter
from oracle.core.registry import Bound

if TYPE_CHECKING:
    from hypothesis.strategies import SearchStrategy

Point = dict[str, Any]

RANGES: Ranges = gathered("RANGES")
MAPS: Maps = gathered("MAPS")
CORNERS: Corners = gathered("CORNERS")
FEW_POINTS: dict[str, int] = gathered("FEW_POINTS")

_DEFAULT_LOGS = {"real": (-4.0, 4.0), "integer": (0.0, 4.0), "probability": (-300.0, -0.3)}


def _is_probability(parameter: Parameter) -> bool:
    return parameter.high == 1 and parameter.low_open and parameter.high_open


def _logs(bound: Bound, parameter: Parameter) -> tuple[float, float]:
    kind = "probability" if _is_probability(parameter) else parameter.kind
    return RANGES.get((bound.name, parameter.name), _DEFAULT_LOGS[kind])


def _probability(u: float, logs: tuple[float, float]) -> float:
    if u < 0.7:
        return logarithmic(u / 0.7, logs)
    return 1.0 - logarithmic((u - 0.7) / 0.3, (-0.3, -15.5))


def _closed_unit(u: float) -> float:
    if u < 0.04:
        return 0.0
    if u > 0.96:
        return 1.0
    if u < 0.25:
        return logarithmic((u - 0.04) / 0.21, (-20.0, -1.0))
    if u < 0.5:
        return 0.1 + 0.8 * (u - 0.25) / 0.25
    return 1.0 - logarithmic((u - 0.5) / 0.46, (-1.0, -15.9))


SCHEDULE_LENGTH = 4  # of every schedule that is drawn: those of one bound must agree


def value_at(bound: Bound, parameter: Parameter, u: float) -> Any:
    """The value of a parameter at the position u in [0, 1] of its range."""
    if (bound.name, parameter.name) in MAPS:
        return MAPS[bound.name, parameter.name](u)
    if parameter.kind == "choice":
        return parameter.choices[min(int(u * len(parameter.choices)), len(parameter.choices) - 1)]
    closed_zero = parameter.low == 0 and not parameter.low_open
    if parameter.kind == "schedule":
        # Entries that differ, and that all move with u: the golden ratio spreads them over the range.
        logs = RANGES.get((bound.name, parameter.name), _DEFAULT_LOGS["real"])
        spread = [(u + 0.618034 * index) % 1.0 for index in range(SCHEDULE_LENGTH)]
        return tuple(0.0 if closed_zero and v < 0.1 else logarithmic(v, logs) for v in spread)
    if parameter.infinite and u > 0.96:
        return math.inf
    if parameter.kind == "integer":
        if closed_zero and u < 0.04:
            return 0
        return max(int(logarithmic(u, _logs(bound, parameter))), math.ceil(parameter.low or 0))
    if _is_probability(parameter):
        return _probability(u, _logs(bound, parameter))
    if parameter.high == 1 and closed_zero:
        return _closed_unit(u)
    assert parameter.high is None, f"{bound.name}: empirical/gate/ranges needs a map for {parameter.name}"
    if closed_zero and u < 0.04:
        return 0.0
    return logarithmic(u, _logs(bound, parameter))


def point_at(bound: Bound, position: Sequence[float]) -> Point:
    """The parameters of a bound at a position in the unit cube."""
    return {p.name: value_at(bound, p, u) for p, u in zip(bound.parameters, position, strict=True)}


def strategy(bound: Bound) -> SearchStrategy[Point]:
    """Points drawn by hypothesis."""
    from hypothesis import strategies as st  # slow to import, and most commands draw nothing

    units = [st.floats(0.0, 1.0) for _ in bound.parameters]
    return st.tuples(*units).map(lambda position: point_at(bound, position))


def fixed_points(bound: Bound, count: int, seed: int = 0) -> list[Point]:
    """The same `count` spread-out points every time; they share every word, as one array's points must."""
    count = min(count, FEW_POINTS.get(bound.name, count))
    cube = np.random.default_rng(seed).random((count, len(bound.parameters)))
    for index, parameter in enumerate(bound.parameters):
        if parameter.kind == "choice":
            cube[:, index] = (0.5 + seed // 2 % len(parameter.choices)) / len(parameter.choices)
    return [point_at(bound, [float(u) for u in position]) for position in cube]


def points_of_all_words(bound: Bound, count: int, seed: int = 0) -> list[Point]:
    """The fixed points, with each word of each choice in turn: at least one point has every combination of words."""
    choices = [parameter for parameter in bound.parameters if parameter.kind == "choice"]
    combinations = list(itertools.product(*(parameter.choices for parameter in choices)))
    base = fixed_points(bound, max(count, len(combinations)), seed)
    base += [base[index % len(base)] for index in range(len(base), len(combinations))]
    names = [parameter.name for parameter in choices]
    return [
        {**point, **dict(zip(names, combinations[index % len(combinations)], strict=True))}
        for index, point in enumerate(base)
    ]


def corner_points(bound: Bound, count: int, seed: int = 0) -> list[Point]:
    """The same `count` extreme points every time: each coordinate is a far corner of its domain."""
    rng = np.random.default_rng(seed)
    count = min(count, FEW_POINTS.get(bound.name, count))

    def corner(parameter: Parameter) -> Any:
        if parameter.kind == "choice":
            return parameter.choices[0]
        values: tuple[float, ...] = CORNER_REALS
        if parameter.kind == "integer":
            values = CORNER_INTEGERS
        elif parameter.high == 1:
            values = CORNER_PROBABILITIES if parameter.low_open else CORNER_UNITS
        if parameter.low == 0 and not parameter.low_open and 0.0 not in values:
            values = (0, *values)
        values = (*values, math.inf) if parameter.infinite else values
        values = CORNERS.get((bound.name, parameter.name), values)
        if parameter.kind == "schedule":
            return tuple(values[int(rng.integers(len(values)))] for _ in range(SCHEDULE_LENGTH))
        return values[int(rng.integers(len(values)))]

    return [{p.name: corner(p) for p in bound.parameters} for _ in range(count)]


def as_text(value: Any) -> Text:
    """A drawn value as a case has it: the shortest decimal number that is this double."""
    if isinstance(value, tuple):
        return tuple(str(as_text(entry)) for entry in value)
    return value if isinstance(value, str) else repr(value)


def texts(point: Point) -> dict[str, Text]:
    """A point as the input of a case: the shortest decimals that are read as its doubles."""
    return {name: _text(value) for name, value in point.items()}


def _text(value: Any) -> Text:
    if isinstance(value, tuple):
        return tuple(str(_text(entry)) for entry in value)
    if isinstance(value, (str, int)):
        return str(value)
    if value.is_integer() and abs(value) < 1e15:
        return str(int(value))
    mantissa, e, exponent = repr(value).partition("e")
    # Next to 1 the shortest decimal is another number by far, seen from 1: there the double is written in full.
    if not e and 0.9 < value < 1.1 and len(mantissa) > 16:
        return str(Decimal(value))
    return f"{mantissa}e{int(exponent)}" if e else mantissa
