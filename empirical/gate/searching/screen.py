"""The screen: thousands of questions to a target whose answers cost little, to find where to certify the truth.

The target is asked at points spread over the everyday domain (`partition`; a Latin hypercube, so that every thin slab
has its share), in the products of cells that have no vector, and along lines through certified points, one parameter at
a time. An answer is suspicious where it lies on the unsafe side of

- what the float64 formula says (`approximation`),
- what a certified answer at an easier point proves (`neighbours`), or, by far, of all certified answers nearby,

and where the target's own answers jump, or bend, along a line, as they do at the edge between two of its branches. The
most suspicious points are handed to the search, which certifies the truth at each: only that accuses.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np

from empirical.gate.making import partition
from empirical.gate.making.cases import Case, Text, arguments
from empirical.gate.making.everyday import rounded
from empirical.gate.making.partition import uncovered
from empirical.gate.making.points import Point, as_text
from empirical.gate.searching.approximation import estimates
from empirical.gate.searching.neighbours import Certified, Floats
from empirical.gate.verdicts import Answer, Breakdown, GateVerdict, Interval
from oracle.core.registry import Bound
from oracle.running.patience import TooLongError, within

Given = dict[str, Text]
Ask = Callable[[Given], Answer]
"""How the target is asked."""

_LINES, _ON_A_LINE = 3, 33  # lines for each parameter, and points on each
_WITHOUT = 400  # points in products of cells without a vector, at most
_ESTIMATED, _ESTIMATING = 128, 2.0  # points whose estimate is computed at a time, and seconds for all
_NOISE = 1e-9  # relative: by so much a float64 formula may be too careful
_CLEAR = 1e-2  # relative: what no rounding explains
_FAR = 1e-3  # of all that is certified nearby
_PATIENCE = 3  # time-outs after which the target is asked no more
_LEAST = -400.0  # log10 of a ratio: no double is smaller
_FOUND = {"clear": 40, "broken": 6, "far": 12, "edge": 12, "slight": 12}
"""How many points of each kind are handed on at most, in this order."""


class Traverse(NamedTuple):
    """Points in a row: where the first stands, and the logarithm of the parameter that moves, at each."""

    start: int
    along: Floats


@dataclass
class Screen:
    """What the target answered, and the points worth certifying, the most suspicious of each kind first."""

    asked: int = 0
    cut_short: bool = False
    suspects: dict[str, list[Given]] = field(default_factory=dict)


@dataclass(frozen=True)
class Ground:
    """What a screen asks, and all that is known there before a target answers: the same for every target."""

    asked: list[Given]
    values: list[Point]
    lines: list[Traverse]
    proved: Floats
    near: Floats
    distance: Floats
    estimated: Floats

    @property
    def complete(self) -> bool:
        """Whether there was time for all estimates."""
        return len(self.estimated) == len(self.asked)


def ground(bound: Bound, cases: Sequence[Case], *, points: int, seed: int) -> Ground:
    """So many points and a few more; the same seed gives the same ones."""
    asked, lines = questions(bound, cases, points, seed)
    values, certified = [arguments(bound, one) for one in asked], Certified(bound, cases)
    near, distance = certified.nearby(certified.places(values)) if asked else (np.empty(0), np.empty(0))
    # Estimates by portions: some float64 formulas take milliseconds a point.
    estimated: list[float] = []
    started = time.process_time()
    try:
        for start in range(0, len(asked), _ESTIMATED):
            with within(max(0.01, _ESTIMATING - (time.process_time() - started))):
                estimated += estimates(bound, values[start : start + _ESTIMATED])
    except TooLongError:
        pass
    return Ground(asked, values, lines, certified.proved(values), near, distance, np.array(estimated))


def screen(bound: Bound, ask: Ask, known: Ground, *, seconds: float) -> Screen:
    """Ask the points; the target has so many seconds."""
    started, found = time.monotonic(), Screen(cut_short=not known.complete)
    answers, late = [], 0
    for one in known.asked:
        if time.monotonic() - started > seconds or late == _PATIENCE:
            found.cut_short = True
            break
        answer = ask(one)
        late += isinstance(answer, Breakdown) and answer.verdict is GateVerdict.TIMEOUT
        answers.append(answer)
    found.asked = count = len(answers)
    numbers = np.array([_number(answer, bound.safe) for answer in answers])
    estimated = np.full(count, np.nan)
    estimated[: len(known.estimated)] = known.estimated[:count]
    distance = known.distance[:count]
    far = _ratios(bound, numbers, known.near[:count])
    ratios = np.fmin(_ratios(bound, numbers, known.proved[:count]), _ratios(bound, numbers, estimated))
    broken = np.array([isinstance(answer, Breakdown) or _is_nan(answer) for answer in answers], dtype=bool)
    edges = _edges(numbers, estimated, known.lines)
    kinds = {
        "clear": (ratios < math.log10(1 - _CLEAR), ratios), "broken": (broken, distance),
        "far": (far < math.log10(_FAR), far), "edge": (edges > 0, -edges),
        "slight": ((ratios < math.log10(1 - _NOISE)) & (ratios >= math.log10(1 - _CLEAR)), ratios),
    }
    for kind, (chosen, rank) in kinds.items():
        rows = np.flatnonzero(chosen)
        # Of equally bad answers those next to what was certified before: there the reference has an answer.
        order = rows[np.lexsort((distance[rows], np.round(rank[rows], 2)))]
        found.suspects[kind] = [known.asked[int(row)] for row in order[: _FOUND[kind]]]
    return found


def questions(bound: Bound, cases: Sequence[Case], points: int, seed: int) -> tuple[list[Given], list[Traverse]]:
    """All inputs to ask, and where the lines stand among them; the same seed gives the same ones."""
    axes, rng = partition.of(bound), np.random.default_rng(seed)
    found: list[Point] = [*_without(bound, cases, rng)]
    ranks = rng.permuted(np.tile(np.arange(points), (len(axes), 1)), axis=1).T
    cube = (ranks + rng.random(ranks.shape)) / points
    found += [partition.point(bound, list(map(float, place))) for place in cube]
    lines = []
    starts = [case for case in cases if case.valid and None not in _where(bound, case)]
    for axis in range(len(axes)):
        for number in rng.permutation(len(starts))[:_LINES]:
            line = list(_line(bound, axis, starts[int(number)]))
            along = [_log(point[axes[axis].name]) for point in line]
            lines.append(Traverse(len(found), np.array(along)))
            found += line
    return [{name: as_text(value) for name, value in rounded(point, 4).items()} for point in found], lines


def _where(bound: Bound, case: Case) -> tuple[int | None, ...]:
    return partition.located(bound, arguments(bound, case.input))


def _without(bound: Bound, cases: Sequence[Case], rng: np.random.Generator) -> Iterator[Point]:
    """A point in each product of two cells that has no vector."""
    axes = partition.of(bound)
    pairs = sorted(uncovered(bound, cases))
    for index in rng.permutation(len(pairs))[:_WITHOUT]:
        one, i, other, j = pairs[int(index)]
        cells = {axis.name: axis.cells[int(rng.integers(len(axis.cells)))] for axis in axes}
        cells |= {axes[one].name: axes[one].cells[i], axes[other].name: axes[other].cells[j]}
        yield partition.within(bound, cells, {name: float(rng.random()) for name in cells})


def _line(bound: Bound, axis: int, start: Case) -> Iterator[Point]:
    """The points of a line through a case along one axis, each count once."""
    axes, base = partition.of(bound), arguments(bound, start.input)
    if axes[axis].kind in ("choice", "schedule", partition.LENGTH):
        return
    seen = set()
    for step in range(_ON_A_LINE):
        value = axes[axis].at((step + 0.5) / _ON_A_LINE)
        if value not in seen:
            seen.add(value)
            yield {
                name: tuple(entry) if isinstance(entry, list) else entry
                for name, entry in {**base, axes[axis].name: value}.items()
            }


def _log(value: float) -> float:
    return math.log10(value) if 0 < value < math.inf else math.nan


def _number(answer: Answer, safe: str) -> float:
    """The end of an answer that must not lie on the unsafe side; NaN for none."""
    if not isinstance(answer, Interval):
        return math.nan
    try:
        return float(answer.upper if safe == "upper" else answer.lower)
    except OverflowError:
        return math.inf


def _is_nan(answer: Answer) -> bool:
    return isinstance(answer, Interval) and isinstance(answer.lower, float) and math.isnan(answer.lower)


def _ratios(bound: Bound, answers: Floats, truths: Floats) -> Floats:
    """log10 of answer over truth, turned so that it is negative on the unsafe side; NaN where one is not known."""
    with np.errstate(all="ignore"):
        ratios = np.log10(answers) - np.log10(truths)
        ratios = np.where((answers <= 0) & (truths > 0), _LEAST, ratios)
        if bound.safe == "lower":
            ratios = np.where((answers > 0) & (truths == 0), _LEAST, -ratios)
    return np.clip(np.where(np.isnan(answers) | np.isnan(truths), np.nan, ratios), _LEAST, -_LEAST)


def _edges(answers: Floats, estimated: Floats, lines: Sequence[Traverse]) -> Floats:
    """How sharply the answers bend at each point of a line, beyond what the estimate does there; 0 elsewhere."""
    found = np.zeros(len(answers))
    for line in lines:
        part = slice(line.start, line.start + len(line.along))
        if part.stop > len(answers) or len(line.along) < 3:
            continue
        bends = _bends(answers[part], line.along)
        smooth = np.nan_to_num(_bends(estimated[part], line.along))
        sharp = np.nan_to_num(np.abs(bends - smooth))
        usual = float(np.median(sharp)) if len(sharp) else 0.0
        # A bend ten times the usual one of its line, on both sides of it.
        for index in np.flatnonzero(sharp > max(10 * usual, _CLEAR)):
            for near in (index, index + 1, index + 2):
                found[line.start + near] = max(found[line.start + near], sharp[index])
    return found


def _bends(values: Floats, along: Floats) -> Floats:
    """How the slope of the logarithms changes at each inner point, over a step of the usual length.

    An answer of 0 is a jump between positive ones only, for many truths end in 0.
    """
    positive = np.flatnonzero(values > 0)
    with np.errstate(all="ignore"):
        logs = np.clip(np.where(values > 0, np.log10(values), np.nan), _LEAST, -_LEAST)
    if len(positive):
        inside = slice(positive[0], positive[-1])
        logs[inside] = np.where(values[inside] <= 0, _LEAST, logs[inside])
    with np.errstate(all="ignore"):
        steps = np.diff(along)
        usual = float(np.median(steps[np.isfinite(steps)])) if np.isfinite(steps).any() else np.nan
        return np.diff(np.diff(logs) / steps) * usual
