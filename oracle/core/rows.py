"""Many questions at once: the fast path row by row, where a row that has no answer does not take the others with it.

A row is one question of a batch. It has no answer where a parameter lies outside its domain or is no double, where
parameters do not suit each other, and where neither float64 nor the reference certifies a value. `answered` marks
such a row NaN and says why; `strict` raises what the first of them says.

A count beyond 2^53 is one that float64 cannot add 1 to: its row is the reference's, whose integers are exact.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from oracle.core.algorithm import Values
from oracle.core.arrays import anywhere, as_float64, summed
from oracle.core.doubles import LARGEST_COUNT
from oracle.core.errors import DomainError, OracleError

if TYPE_CHECKING:
    from oracle.core.registry import Bound

SAFE = ("lower", "upper")


@dataclass(frozen=True)
class RefusedRow:
    """A row without an answer: its place in the batch, an index an axis, and why."""

    row: tuple[int, ...]
    reason: str

    def __str__(self) -> str:
        return f"row {', '.join(map(str, self.row))}: {self.reason}" if self.row else self.reason


@dataclass(frozen=True)
class Rows:
    """The answers of a batch where its inputs are, NaN exactly at the rows that `refused` explains, in their order."""

    values: Any
    refused: tuple[RefusedRow, ...] = ()


@dataclass(frozen=True)
class _Batch:
    """The rows of a bound, flat: its arrays are [rows], or [rows, steps] for a schedule; words are words."""

    bound: Bound
    xp: Any
    values: dict[str, Any]
    size: int

    def take(self, rows: Any) -> _Batch:
        """Some of the rows."""
        values = {name: v if isinstance(v, str) else v[rows] for name, v in self.values.items()}
        return _Batch(self.bound, self.xp, values, int(rows.shape[0]))

    def point(self, row: int) -> dict[str, Any]:
        """One row as Python's own numbers, lists and words."""
        return {name: v if isinstance(v, str) else v[row].tolist() for name, v in self.values.items()}

    def kernel(self) -> Any:
        """The float64 formula of all rows; NaN where a count is none that float64 can count with."""
        with np.errstate(all="ignore"):  # intermediate overflow is expected; what is not finite is recomputed
            result = self.bound.vectorised(self.xp, Values(**self.values))
        for parameter in self.bound.parameters:
            if parameter.kind == "integer":
                result = self.xp.where(self.values[parameter.name] > LARGEST_COUNT, math.nan, result)
        return result

    def certified(self, row: int) -> float:
        """The reference's end on the safe side."""
        return self.bound.at(self.point(row)).to_floats()[SAFE.index(self.bound.safe)]


def strict(bound: Bound, arrays: dict[str, Any]) -> Any:
    """The answers of all rows, or the error of the first that has none."""
    xp, values, faults = as_float64(bound.name, bound.parameters, arrays)
    shape = _shape(bound, values)
    for fault in faults:
        at = int(xp.argmax(xp.astype(xp.reshape(fault.where, (-1,)), xp.int8)))
        raise DomainError(fault.told(at))
    batch = _flat(bound, xp, values, shape)
    result = batch.kernel()
    missing = ~xp.isfinite(result)
    if anywhere(missing):
        result = xp.asarray(result, copy=True)
        for index in xp.nonzero(missing)[0]:
            try:
                result[int(index)] = batch.certified(int(index))
            except OracleError as error:
                if not shape:
                    raise
                place = ", ".join(map(str, _place(int(index), shape)))
                raise type(error)(f"{error} (row {place}; `rows` answers the others)") from None
    return result if tuple(result.shape) == shape else xp.reshape(result, shape)


def answered(bound: Bound, arrays: dict[str, Any]) -> Rows:
    """The answers of the rows that have one, and why the others have none."""
    xp, values, faults = as_float64(bound.name, bound.parameters, arrays)
    shape = _shape(bound, values)
    size = math.prod(shape)
    batch = _flat(bound, xp, values, shape)
    refused: dict[int, str] = {}
    for fault in faults:
        own = math.prod(fault.where.shape) // size if size else 1
        for index in xp.nonzero(xp.reshape(fault.where, (-1,)))[0]:
            refused.setdefault(int(index) // own, fault.told(int(index)))
    column = next(v for v in batch.values.values() if not isinstance(v, str))
    result = xp.full_like(column if column.ndim == 1 else summed(column), math.nan)  # all may be schedules
    sound = [row for row in range(size) if row not in refused]

    def refuse(row: int, reason: str) -> None:
        refused[row] = reason

    _fill(batch, result, sound, refuse)
    told = tuple(RefusedRow(_place(row, shape), refused[row]) for row in sorted(refused))
    return Rows(xp.reshape(result, shape), told)


def _fill(batch: _Batch, result: Any, rows: list[int], refuse: Callable[[int, str], None]) -> None:
    """Write the answers of some rows; parameters that do not suit each other are found by halving."""
    if not rows:
        return
    xp = batch.xp
    at = xp.asarray(np.array(rows), device=getattr(result, "device", None))
    part = batch.take(at)
    try:
        values = part.kernel()
    except OracleError as error:
        if len(rows) == 1:
            refuse(rows[0], str(error))
        else:
            middle = len(rows) // 2
            _fill(batch, result, rows[:middle], refuse)
            _fill(batch, result, rows[middle:], refuse)
        return
    result[at] = values
    for index in xp.nonzero(~xp.isfinite(values))[0]:
        row = rows[int(index)]
        try:
            result[row] = part.certified(int(index))
        except OracleError as error:
            result[row] = math.nan
            refuse(row, str(error))


def _shape(bound: Bound, values: dict[str, Any]) -> tuple[int, ...]:
    """The shape of the answers: that of any number, or of a list without its own axis."""
    for parameter in bound.parameters:
        if parameter.kind != "choice":
            shape = tuple(values[parameter.name].shape)
            return shape[:-1] if parameter.kind == "schedule" else shape
    return ()


def _flat(bound: Bound, xp: Any, values: dict[str, Any], shape: tuple[int, ...]) -> _Batch:
    size = math.prod(shape)
    if len(shape) == 1:
        return _Batch(bound, xp, values, size)
    schedules = {parameter.name for parameter in bound.parameters if parameter.kind == "schedule"}
    flat = {
        name: v if isinstance(v, str) else xp.reshape(v, (size, v.shape[-1]) if name in schedules else (size,))
        for name, v in values.items()
    }
    return _Batch(bound, xp, flat, size)


def _place(row: int, shape: tuple[int, ...]) -> tuple[int, ...]:
    return tuple(int(index) for index in np.unravel_index(row, shape)) if shape else ()
