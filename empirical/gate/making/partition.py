"""The everyday domain of a bound, cut into cells: an axis a parameter, and the products of every two axes.

A real number's axis is cut at the powers of ten or at the edges that `everyday_ranges` states, a count's at
1, 2, 3, 10, 32, 100 and the powers of ten; each word of a choice is a cell, and so are 0, 1 and infinity where they
belong to the domain. A schedule lies in the cell of its largest entry; the common length of all schedules is an axis of
its own.

`position -> point` maps the unit cube onto that domain: cells are equally wide, those of a single value a quarter of
that, and numbers are spread by their logarithms inside a cell. Shares of the domain are measured in that cube.
"""

from __future__ import annotations

import functools
import itertools
import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from empirical.gate.making.cases import Case, arguments
from empirical.gate.making.everyday_ranges import AT_MOST, EVERYDAY
from empirical.gate.making.points import Point
from empirical.gate.ranges import Edges, gathered
from oracle.core.domain import Parameter
from oracle.core.errors import OracleError
from oracle.core.registry import Bound

LENGTH = "length"
"""The axis of the schedules' common length."""
_LENGTHS = ((1, 2), (2, 3), (3, 10), (10, 31))
_COUNTS = (1, 2, 3, 10, 32, 100)
_NARROW = 0.25  # the width of a cell of one value
_RATIO = 2.0  # above, a cell's numbers are spread by their logarithms
_GOLDEN = 0.6180339887498949

Narrowed: dict[tuple[str, str], Edges] = gathered("EVERYDAY")


@dataclass(frozen=True)
class CellOfAxis:
    """A word, a number, or the numbers from `low` to `high` (not itself, but for the last cell of an axis)."""

    low: float = 0.0
    high: float = 0.0
    word: str = ""
    closed: bool = False

    @property
    def single(self) -> bool:
        """Whether it is one number."""
        return not self.word and self.low == self.high

    @property
    def weight(self) -> float:
        """Its width on the axis."""
        return _NARROW if self.single else 1.0

    def __str__(self) -> str:
        if self.word:
            return self.word
        return f"{self.low:g}" if self.single else f"[{self.low:g}, {self.high:g}{']' if self.closed else ')'}"

    def holds(self, value: Any) -> bool:
        """Whether a value lies in it."""
        if self.word or isinstance(value, str):
            return bool(self.word == value)
        return bool(value == self.low if self.single else self.low <= value < self.high or (
            self.closed and value == self.high
        ))

    def inside(self, value: Any) -> float:
        """Where a value lies in the cell, between 0 and 1."""
        if self.word or self.single:
            return 0.5
        if self.low > 0 and self.high / self.low > _RATIO:
            return math.log(value / self.low) / math.log(self.high / self.low)
        return float((value - self.low) / (self.high - self.low))

    def at(self, u: float, *, whole: bool) -> Any:
        """The value at a position in [0, 1) of the cell."""
        if self.word:
            return self.word
        if self.single:
            return int(self.low) if whole else self.low
        if self.low > 0 and self.high / self.low > _RATIO:
            value = self.low * (self.high / self.low) ** u
        else:
            value = self.low + u * (self.high - self.low)
        return min(max(math.floor(value), math.ceil(self.low)), math.ceil(self.high) - 1) if whole else value


@dataclass(frozen=True)
class Axis:
    """The cells of one parameter (or of the schedules' length), in order."""

    name: str
    kind: str
    cells: tuple[CellOfAxis, ...]

    @functools.cached_property
    def ends(self) -> tuple[float, ...]:
        """Where each cell ends in [0, 1]."""
        sums = list(itertools.accumulate(cell.weight for cell in self.cells))
        return tuple(value / sums[-1] for value in sums)

    def at(self, u: float) -> Any:
        """The value at a position of the axis."""
        index = next((i for i, end in enumerate(self.ends) if u < end), len(self.cells) - 1)
        start = self.ends[index - 1] if index else 0.0
        inside = min((u - start) / (self.ends[index] - start), 1.0 - 1e-9)
        return self.cells[index].at(inside, whole=self.kind in ("integer", LENGTH))

    def position(self, value: Any) -> float:
        """Where a value lies on the axis: the inverse of `at`; beyond the everyday range the nearer end."""
        value = _largest(value)
        index = self.of(value)
        if index is None:
            return 0.0 if value < self.cells[0].low else 1.0
        start = self.ends[index - 1] if index else 0.0
        middle = value + 0.5 if self.kind in ("integer", LENGTH) else value  # a count stands for all up to the next
        return start + self.cells[index].inside(middle) * (self.ends[index] - start)

    def of(self, value: Any) -> int | None:
        """The number of the cell that holds a value, or None beyond the everyday range."""
        value = _largest(value)
        return next((index for index, cell in enumerate(self.cells) if cell.holds(value)), None)


def _largest(value: Any) -> Any:
    return max(value, default=0.0) if isinstance(value, (list, tuple)) else value


@functools.cache
def axes(name: str, parameters: tuple[Parameter, ...]) -> tuple[Axis, ...]:
    """The axes of a bound."""
    found = [Axis(p.name, p.kind, tuple(_cells(name, p))) for p in parameters]
    if any(p.kind == "schedule" for p in parameters):
        found.append(Axis(LENGTH, LENGTH, tuple(CellOfAxis(low, high) for low, high in _LENGTHS)))
    return tuple(found)


def of(bound: Bound) -> tuple[Axis, ...]:
    """The axes of a bound."""
    return axes(bound.name, bound.parameters)


def _cells(name: str, parameter: Parameter) -> Iterator[CellOfAxis]:
    if parameter.kind == "choice":
        yield from (CellOfAxis(word=word) for word in parameter.choices)
        return
    if parameter.name not in EVERYDAY:
        raise OracleError(f"{name}: {parameter.name} has no everyday range (empirical/gate/making/everyday_ranges.py)")
    edges = _cut(parameter, Narrowed.get((name, parameter.name), EVERYDAY[parameter.name]))
    low = None if parameter.low is None else float(parameter.low)
    high = None if parameter.high is None else float(parameter.high)
    if low is not None and not parameter.low_open and low < edges[0] and parameter.kind != "schedule":
        yield CellOfAxis(low, low)
    for index, (left, right) in enumerate(itertools.pairwise(edges)):
        closed = index == len(edges) - 2 and right != high
        yield CellOfAxis(left, right, closed=closed and parameter.kind != "integer")
    if high is not None and not parameter.high_open and edges[-1] == high and parameter.kind != "integer":
        yield CellOfAxis(high, high)
    if parameter.infinite:
        yield CellOfAxis(math.inf, math.inf)


def _cut(parameter: Parameter, edges: Edges) -> list[float]:
    """The edges of the cells, inside the domain."""
    if len(edges) == 2:
        low, high = edges
        tens = [float(f"1e{k}") for k in range(math.floor(math.log10(low)), math.ceil(math.log10(high)) + 1)]
        inner = sorted({*_COUNTS, *tens}) if parameter.kind == "integer" else tens
        edges = (low, *(edge for edge in inner if low < edge < high), high)
    if parameter.kind == "integer" and parameter.low is not None:  # a range of counts has its end, too
        edges = (*edges[:-1], edges[-1] + 1)
        first = math.floor(parameter.low) + 1 if parameter.low_open else math.ceil(parameter.low)
        edges = tuple(sorted({*(edge for edge in edges if edge >= first), *((first,) if edges[0] < first else ())}))
    last = math.inf if parameter.high is None else float(parameter.high) + (parameter.kind == "integer")
    if edges[-1] > last:
        edges = (*(edge for edge in edges if edge < last), last)
    return [float(edge) for edge in edges]


def point(bound: Bound, position: Sequence[float]) -> Point:
    """The point at a position of the unit cube of the bound's axes; counts that bound each other do."""
    whole = {axis.name: axis.at(u) for axis, u in zip(of(bound), position, strict=True)}
    return _completed(bound, whole, {axis.name: u for axis, u in zip(of(bound), position, strict=True)})


def within(bound: Bound, cells: Mapping[str, CellOfAxis], inside: Mapping[str, float]) -> Point:
    """The point in a cell of each axis, at a position inside each."""
    kinds = {axis.name: axis.kind for axis in of(bound)}
    whole = {
        name: cell.at(inside[name], whole=kinds[name] in ("integer", LENGTH)) for name, cell in cells.items()
    }
    return _completed(bound, whole, inside)


def _completed(bound: Bound, whole: Point, spread: Mapping[str, float]) -> Point:
    """Largest entries made schedules, and counts cut to what they cannot exceed."""
    found: Point = {}
    for parameter in bound.parameters:
        value = whole[parameter.name]
        if parameter.kind == "schedule":
            value = _schedule(value, whole[LENGTH], spread[parameter.name], free=parameter.low_open is False)
        elif AT_MOST.get(parameter.name) in whole:
            value = 1 + (value - 1) % max(1, whole[AT_MOST[parameter.name]])
        found[parameter.name] = value
    return found


def _schedule(largest: float, length: int, u: float, *, free: bool) -> tuple[float, ...]:
    """Entries of which the last is the largest; others lie up to a decade below, and some are 0 where they may be."""
    shares = [(u + _GOLDEN * index) % 1.0 for index in range(1, length)]
    return (*(0.0 if free and share < 0.1 else largest * 10.0 ** (share - 1.0) for share in shares), largest)


def located(bound: Bound, given: Mapping[str, Any]) -> tuple[int | None, ...]:
    """The cell of each axis in which a point lies; None where it lies beyond the everyday range."""
    lengths = [len(value) for value in given.values() if isinstance(value, (list, tuple))]
    return tuple(
        axis.of(lengths[0] if axis.name == LENGTH else given[axis.name]) for axis in of(bound)
    )


Pair = tuple[int, int, int, int]
"""Two axes and a cell of each: (axis, cell, axis, cell); one axis twice for a bound of a single axis."""


def pairs(bound: Bound) -> list[Pair]:
    """Every product of two cells; single cells where there is but one axis."""
    found = of(bound)
    if len(found) == 1:
        return [(0, cell, 0, cell) for cell in range(len(found[0].cells))]
    return [
        (one, i, other, j)
        for one, other in itertools.combinations(range(len(found)), 2)
        for i in range(len(found[one].cells)) for j in range(len(found[other].cells))
    ]


def covered(where: Sequence[int | None]) -> Iterator[Pair]:
    """The products in which a point lies."""
    inside = [(axis, cell) for axis, cell in enumerate(where) if cell is not None]
    if len(where) == 1:
        yield from ((axis, cell, axis, cell) for axis, cell in inside)
    for (one, i), (other, j) in itertools.combinations(inside, 2):
        yield one, i, other, j


def told(bound: Bound, pair: Pair) -> str:
    """A product of cells in words."""
    one, i, other, j = pair
    found = of(bound)
    first = f"{found[one].name} {found[one].cells[i]}"
    return first if one == other else f"{first}, {found[other].name} {found[other].cells[j]}"


def where(bound: Bound, case: Case) -> tuple[int | None, ...]:
    """The cells in which a case lies."""
    return located(bound, arguments(bound, case.input))


def uncovered(bound: Bound, cases: Sequence[Case]) -> set[Pair]:
    """The products of two cells without a valid case."""
    seen = {pair for case in cases if case.valid for pair in covered(where(bound, case))}
    return set(pairs(bound)) - seen
