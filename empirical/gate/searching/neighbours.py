"""What the certified answers of a bound's vectors say about the truth elsewhere: a side that it keeps to, and a guess.

Where a bound is known to move one way in a parameter (DIRECTIONS), the certified answer at an easier point is a proved
bound of the truth at a harder one. Where nothing is easier, the nearest certified answers tell its size. Neither
accuses anybody: they say where the truth is worth certifying.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from empirical.gate.making import partition
from empirical.gate.making.cases import Case, arguments
from empirical.gate.ranges import gathered
from empirical.gate.ranges.directions import FALLS, RISES
from oracle.core.registry import Bound

Floats = np.ndarray[Any, np.dtype[np.float64]]

DIRECTIONS: dict[str, dict[str, str]] = gathered("DIRECTIONS")
_NEAREST = 3
_BLOCK = 256  # points at a time, so that the tables stay small


class Certified:
    """The valid cases of a bound as arrays."""

    def __init__(self, bound: Bound, cases: Sequence[Case]) -> None:
        self._bound, self._axes = bound, partition.of(bound)
        valid = [case for case in cases if case.expected is not None]
        self._given = [arguments(bound, case.input) for case in valid]
        end = "lower" if bound.safe == "upper" else "upper"
        self._ends = np.array([_double(getattr(case.expected, end)) for case in valid])
        self._places = self.places(self._given)
        self._harder, self._same = self._sides(self._given)

    def places(self, given: Sequence[Mapping[str, Any]]) -> Floats:
        """Where points lie in the cube of the partition, [points, axes]."""
        return np.array([
            [axis.position(_of(point, axis.name)) for axis in self._axes] for point in given
        ]).reshape(len(given), len(self._axes))

    def _sides(self, given: Sequence[Mapping[str, Any]]) -> tuple[Floats, list[tuple[Any, ...]]]:
        """The parameters in which the bound moves, all made to raise it, and what must be the same."""
        moves = DIRECTIONS.get(self._bound.name, {})
        signs = {name: 1.0 if way == RISES else -1.0 for name, way in moves.items() if way in (RISES, FALLS)}
        rising = np.array([[sign * float(point[name]) for name, sign in signs.items()] for point in given])
        rest = [p.name for p in self._bound.parameters if p.name not in signs]
        return rising.reshape(len(given), len(signs)), [
            tuple(tuple(v) if isinstance(v, list) else v for v in (point[name] for name in rest)) for point in given
        ]

    def proved(self, given: Sequence[Mapping[str, Any]]) -> Floats:
        """The end that the truth keeps to at each point: a lower one where large answers are safe; NaN for none."""
        found = np.full(len(given), np.nan)
        rising, same = self._sides(given)
        for key in set(same) & set(self._same):
            rows = np.array([index for index, value in enumerate(same) if value == key])
            known = np.array([index for index, value in enumerate(self._same) if value == key])
            for part in np.array_split(rows, 1 + len(rows) // _BLOCK):
                easier = self._harder[known][None, :, :] <= rising[part][:, None, :]
                if self._bound.safe == "lower":
                    easier = self._harder[known][None, :, :] >= rising[part][:, None, :]
                ends = np.where(easier.all(axis=2), self._ends[known][None, :], np.nan)
                best = np.fmax.reduce(ends, axis=1) if self._bound.safe == "upper" else np.fmin.reduce(ends, axis=1)
                found[part] = best
        return found

    def nearby(self, places: Floats) -> tuple[Floats, Floats]:
        """The least safe of the nearest certified answers at each place, and how far the nearest is."""
        count = min(_NEAREST, len(self._ends))
        if count == 0:
            return np.full(len(places), np.nan), np.full(len(places), math.inf)
        ends, distances = [], []
        for part in np.array_split(places, 1 + len(places) // _BLOCK):
            squares = ((part[:, None, :] - self._places[None, :, :]) ** 2).sum(axis=2)
            near = np.argsort(squares, axis=1)[:, :count]
            values = self._ends[near]
            ends.append(values.min(axis=1) if self._bound.safe == "upper" else values.max(axis=1))
            distances.append(np.sqrt(np.take_along_axis(squares, near[:, :1], axis=1)[:, 0]))
        return np.concatenate(ends), np.concatenate(distances)


def _of(point: Mapping[str, Any], name: str) -> Any:
    if name == partition.LENGTH:
        return next(len(value) for value in point.values() if isinstance(value, (list, tuple)))
    return point[name]


def _double(value: Any) -> float:
    try:
        return float(value)
    except OverflowError:
        return math.inf
