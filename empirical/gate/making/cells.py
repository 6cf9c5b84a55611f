"""Filling the cells: cases are added to a bound's vectors until every product of two cells has one, or a reason.

A greedy covering design: a row holds one product of two cells that is still open, and its other cells are chosen so
that it closes as many others as can be; the truth at a point of the row is certified as for every case, or, where that
is dear, as closely as it soon can be (flag `Coarse`). Rows that fail (parameters that do not suit each other, an answer
that cannot be certified) are tried again elsewhere in the same two cells, next to what could be answered before; then
the product is listed with the last reason. Where the right answer is mostly 0, such cases notice little: so every cell
gets a few cases with another answer, too, where the float64 formula finds such points. Nothing that stands is touched:
a run that was cut short goes on where it was. The reasons are a file beside the vectors, of the same name.
"""

from __future__ import annotations

import time
import zlib
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from empirical.gate import vector_files
from empirical.gate.making import partition
from empirical.gate.making.cases import Text, arguments
from empirical.gate.making.everyday import rounded
from empirical.gate.making.flags import CELL
from empirical.gate.making.make import OUTSIDE, document, tried
from empirical.gate.making.partition import Pair
from empirical.gate.making.points import texts
from empirical.gate.searching.approximation import estimates
from empirical.gate.vector_files import VectorFile
from oracle.core.registry import Bound, bound
from oracle.running.patience import TooLongError, within

TRIES, CHEAP_TRIES = 8, 64  # points in two cells before they are listed; what lies outside the domain costs little
SECONDS = 2.0  # for the truth of one case: vectors are made for machines that wait
TELLING = 2  # cases of each cell whose answer is not 0
_DRAWN = 1024  # points at which these are looked for
_GREEDY = 2  # tries whose other cells close as much as can be; those after it stay near what was answered
_LONGEST = 160  # letters of a reason
_PORTION = 30.0  # seconds after which what was found is written


class Filling:
    """The open products of a bound's file, and the cases that close them."""

    def __init__(self, bound: Bound, file: VectorFile, known: Mapping[str, str]) -> None:
        self.bound, self.axes = bound, partition.of(bound)
        self._cases, self._last = list(file.cases), int(file.header["lastTcId"])
        self._inputs = {tuple(case.input.values()) for case in file.cases}
        self._rows = [partition.where(bound, case) for case in file.cases if case.valid]
        names = {partition.told(bound, pair): pair for pair in partition.pairs(bound)}
        self._open = dict.fromkeys(names.values())
        self._why: dict[Pair, str] = {}
        for row in self._rows:
            self._close(row)
        found = {names[cells]: why for cells, why in known.items() if cells in names}
        self._why = {pair: why for pair, why in found.items() if pair in self._open}
        for pair in self._why:
            del self._open[pair]
        self._telling = Counter(
            place for case in file.cases if case.expected is not None and case.expected.upper > 0
            for place in enumerate(partition.where(bound, case))
        )
        self._rng = np.random.default_rng(zlib.crc32(bound.name.encode()) + self._last)

    @property
    def missing(self) -> int:
        """How many products have neither a case nor a reason."""
        return len(self._open)

    @property
    def unanswered(self) -> dict[str, str]:
        """The products that could not be answered, with the reason."""
        return dict(sorted((partition.told(self.bound, pair), why) for pair, why in self._why.items()))

    def document(self) -> dict[str, Any]:
        """The file as it stands now."""
        return document(self.bound, self._cases, self._last)

    def carry_out(self, *, seconds: float, each: float = SECONDS) -> int:
        """Add cases until nothing is open or so many seconds have passed; how many were added."""
        until, before = time.monotonic() + seconds, len(self._cases)
        order = list(self._open)
        self._rng.shuffle(order)
        for pair in map(tuple, order):
            attempt = 0
            while pair in self._open:
                if time.monotonic() > until:
                    return len(self._cases) - before
                why = self._try(pair, attempt, each)
                attempt += 1
                if why and attempt >= (CHEAP_TRIES if why.startswith(OUTSIDE) else TRIES) and pair in self._open:
                    self._why[pair] = why
                    del self._open[pair]
        return len(self._cases) - before

    def tell(self, *, until: float, each: float = SECONDS) -> int:
        """Add cases whose answer is not 0 to the cells that have few of them; how many were added."""
        before = len(self._cases)
        for place in [(axis, cell) for axis, one in enumerate(self.axes) for cell in range(len(one.cells))]:
            for given in self._likely(*place) if self._telling[place] < TELLING else ():
                if self._telling[place] >= TELLING or time.monotonic() > until:
                    break
                self._add(given, each)
        return len(self._cases) - before

    def _likely(self, axis: int, cell: int) -> list[dict[str, Text]]:
        """Points of a cell at which the float64 formula has an answer other than 0."""
        drawn = []
        for _ in range(_DRAWN):
            row = [int(self._rng.integers(len(one.cells))) for one in self.axes]
            row[axis] = cell
            drawn.append(self._point(row))
        values = estimates(self.bound, [arguments(self.bound, given) for given in drawn])
        return [given for given, value in zip(drawn, values, strict=True) if value > 0][:TRIES]

    def close(self, why: str) -> None:
        """List what is open, with that reason."""
        self._why |= dict.fromkeys(self._open, why)
        self._open.clear()

    def _try(self, pair: Pair, attempt: int, each: float) -> str:
        """Add a case in a product of cells; why not, where that fails."""
        row = self._row(pair, greedy=attempt < _GREEDY)
        given = self._point(row)
        if tuple(given.values()) not in self._inputs:
            there = partition.located(self.bound, arguments(self.bound, given))
            if pair not in set(partition.covered(there)):
                return "no point: one of the two counts is at most the other"
        return self._add(given, each)

    def _point(self, row: Sequence[int]) -> dict[str, Text]:
        """A point somewhere in the cells of a row."""
        cells = {axis.name: axis.cells[cell] for axis, cell in zip(self.axes, row, strict=True)}
        inside = dict(zip(cells, map(float, self._rng.uniform(0.02, 0.98, len(cells))), strict=True))
        return texts(rounded(partition.within(self.bound, cells, inside), 3))

    def _add(self, given: dict[str, Text], each: float) -> str:
        """Add the case of an input; why not, where that fails."""
        if tuple(given.values()) in self._inputs:
            return "every point that was tried stands in the file already"
        try:
            with within(each):
                case = tried(self.bound, (given, CELL, ""), coarse=True)
        except TooLongError:
            return f"the reference takes longer than {each:g} s"
        if isinstance(case, str):
            return _short(case)
        self._last += 1
        self._cases.append(replace(case, tc_id=self._last))
        self._inputs.add(tuple(given.values()))
        there = partition.located(self.bound, arguments(self.bound, given))
        self._telling.update(enumerate(there) if case.expected is not None and case.expected.upper > 0 else ())
        self._rows.append(there)
        self._close(there)
        return ""

    def _close(self, row: Sequence[int | None]) -> None:
        for pair in partition.covered(row):
            self._open.pop(pair, None)
            self._why.pop(pair, None)

    def _row(self, pair: Pair, *, greedy: bool) -> list[int]:
        """A cell of every axis, those of the pair among them."""
        one, i, other, j = pair
        row: dict[int, int] = {one: i, other: j}
        rest = [axis for axis in range(len(self.axes)) if axis not in row]
        self._rng.shuffle(rest)
        near = self._rows[int(self._rng.integers(len(self._rows)))] if self._rows else [None] * len(self.axes)
        for axis in rest:
            cells = len(self.axes[axis].cells)
            kept = near[axis]
            if not greedy and kept is not None:
                row[axis] = kept
                continue
            gains = [self._gain(row, axis, cell) for cell in range(cells)] if greedy else [0] * cells
            best = [cell for cell, gain in enumerate(gains) if gain == max(gains)]
            row[axis] = best[int(self._rng.integers(len(best)))]
        return [row[axis] for axis in range(len(self.axes))]

    def _gain(self, row: Mapping[int, int], axis: int, cell: int) -> int:
        """How many open products a cell would close beside those that are chosen."""
        return sum(
            ((other, there, axis, cell) if other < axis else (axis, cell, other, there)) in self._open
            for other, there in row.items()
        )


def _short(text: str) -> str:
    text = " ".join(text.split())
    return text if len(text) <= _LONGEST else text[: _LONGEST - 3] + "..."


def fill(
    name: str, folder: Path, *, seconds: float, again: bool = False, close: bool = False
) -> tuple[int, int]:
    """Fill the cells of a file, in portions that are kept; how many cases were added, and how many cells are open.

    `close` lists what is still open in the end as not tried, for another day.
    """
    known = {} if again else vector_files.unanswered(name, folder)
    filling = Filling(bound(name), vector_files.load(name, folder), known)
    until, added = time.monotonic() + seconds, 0
    while filling.missing and time.monotonic() < until:
        added += filling.carry_out(seconds=min(_PORTION, until - time.monotonic()))
        vector_files.save(folder / f"{name}.json", filling.document())
        vector_files.save_unanswered(name, folder, filling.unanswered)
    if told := filling.tell(until=until):
        added += told
        vector_files.save(folder / f"{name}.json", filling.document())
        vector_files.save_unanswered(name, folder, filling.unanswered)
    if close:
        filling.close(f"not certified in the {seconds:g} s that were given to this file")
        vector_files.save_unanswered(name, folder, filling.unanswered)
    return added, filling.missing
