"""Planted holes: an accountant that is right but for one region, in which it promises everything, and who notices.

For each bound regions of its everyday domain are drawn at random: boxes in two or three parameters, thin slabs of one,
single counts (or a few in a row), and one word of a choice. The accountant answers with the bound's own float64 formula
(it refuses where that has no answer), and inside the region with 0, or with infinity where small answers are safe. The
gate's default run must not pass it: it must call an answer UNSOUND or BELOW_FORMULA. The size of a region is its share
of the points of the domain's cube (`partition`) at which the truth is a positive number; regions below 1 % are drawn
again.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from empirical.gate import vector_files
from empirical.gate.gate_run import SEARCH, SEARCH_SECONDS, run
from empirical.gate.gate_targets import LocalTarget
from empirical.gate.making import partition
from empirical.gate.making.cases import Case, arguments
from empirical.gate.making.everyday import rounded
from empirical.gate.making.partition import LENGTH, Axis
from empirical.gate.making.points import Point
from empirical.gate.policy import DEFAULT
from empirical.gate.result import Outcome
from empirical.gate.searching.approximation import estimates
from empirical.gate.searching.screen import Ground, ground
from empirical.gate.verdicts import GateVerdict
from empirical.gate.worst_case import SCREENED, Suspicion
from oracle.core.registry import Bound, bound

WRONG = (GateVerdict.UNSOUND, GateVerdict.BELOW_FORMULA)
"""With either the gate does not pass: an answer of 0 is below a formula even where nothing is known to be attained."""
KINDS = ("box", "slab", "count", "word")
LEAST, LARGE = 0.01, 0.05  # shares: of the smallest region that is planted, and of those that must all be caught
_SAMPLE = 1500  # points that measure a region
_DRAWS = 400  # until a bound has no region of that kind
_SIZES = (-2.0, -0.7)  # decimal exponents of the shares that are drawn


@dataclass(frozen=True)
class Hole:
    """A region: for some axes the values from `low` to `high`, or a word; with its share of the domain."""

    bound: str
    kind: str
    limits: Mapping[str, tuple[float, float] | str]
    share: float = math.nan

    def holds(self, point: Mapping[str, Any]) -> bool:
        """Whether a point lies in it."""
        for name, limit in self.limits.items():
            value = _value(point, name)
            if isinstance(limit, str):
                if value != limit:
                    return False
            elif not limit[0] <= value <= limit[1]:
                return False
        return True

    def __str__(self) -> str:
        parts = [
            f"{name} = {limit}" if isinstance(limit, str) else f"{limit[0]:.4g} <= {name} <= {limit[1]:.4g}"
            for name, limit in self.limits.items()
        ]
        return ", ".join(parts)


def _value(point: Mapping[str, Any], name: str) -> Any:
    if name == LENGTH:
        return next(len(value) for value in point.values() if isinstance(value, (list, tuple)))
    value = point[name]
    return max(value) if isinstance(value, (list, tuple)) else value


class Planter:
    """Draws the holes of one bound, and makes the accountants that have them; honest answers are computed once."""

    def __init__(self, name: str, seed: int = 0) -> None:
        self.bound: Bound = bound(name)
        self._seed = [seed, *name.encode()]
        self._rng = np.random.default_rng(self._seed)
        self._axes = partition.of(self.bound)
        self._known: dict[tuple[Any, ...], float] = {}
        places = self._rng.random((_SAMPLE, len(self._axes)))
        drawn = [rounded(partition.point(self.bound, list(map(float, place))), 4) for place in places]
        values = estimates(self.bound, drawn)
        self._sample = [point for point, value in zip(drawn, values, strict=True) if 1e-300 < value < 1e300]

    def holes(self, count: int) -> list[Hole]:
        """So many regions of all kinds in turn, always the same; a kind of which the bound has none is passed over."""
        found: list[Hole] = []
        self._rng = np.random.default_rng(self._seed)
        kinds = [kind for kind in KINDS if self._has(kind)]
        words = 0
        for number in range(count):
            hole = None
            for step in range(len(kinds)):
                kind = kinds[(number + step) % len(kinds)]
                hole = None if kind == "word" and words >= 3 else self._drawn(kind)
                if hole is not None:
                    break
            if hole is not None:
                words += hole.kind == "word"
                found.append(hole)
        return found

    def _has(self, kind: str) -> bool:
        kinds = {axis.kind for axis in self._axes}
        return {"count": "integer" in kinds, "word": "choice" in kinds}.get(kind, kinds != {"choice"})

    def _drawn(self, kind: str) -> Hole | None:
        for _ in range(_DRAWS):
            limits = getattr(self, f"_{kind}")(10.0 ** float(self._rng.uniform(*_SIZES)))
            hole = Hole(self.bound.name, kind, limits)
            share = sum(map(hole.holds, self._sample)) / max(1, len(self._sample))
            if share >= LEAST:
                return Hole(self.bound.name, kind, limits, share)
        return None

    def _box(self, share: float) -> dict[str, Any]:
        numbers = [axis for axis in self._axes if axis.kind != "choice"]
        chosen = self._rng.permutation(len(numbers))[: int(self._rng.integers(2, 4))]
        return {
            numbers[int(index)].name: self._interval(numbers[int(index)], share ** (1 / len(chosen)))
            for index in chosen
        }

    def _slab(self, share: float) -> dict[str, Any]:
        numbers = [axis for axis in self._axes if axis.kind != "choice"]
        axis = numbers[int(self._rng.integers(len(numbers)))]
        return {axis.name: self._interval(axis, min(share, 0.1))}

    def _count(self, share: float) -> dict[str, Any]:
        counts = [axis for axis in self._axes if axis.kind == "integer"]
        axis = counts[int(self._rng.integers(len(counts)))]
        first = int(axis.at(float(self._rng.uniform(0.0, 0.6))))
        return {axis.name: (first, first if share < 10**-1.25 else 2 * first)}

    def _word(self, share: float) -> dict[str, Any]:
        choices = [axis for axis in self._axes if axis.kind == "choice"]
        axis = choices[int(self._rng.integers(len(choices)))]
        limits: dict[str, Any] = {axis.name: axis.cells[int(self._rng.integers(len(axis.cells)))].word}
        numbers = [axis for axis in self._axes if axis.kind != "choice"]
        if numbers and share < 10**-1.25:  # the word together with a part of another parameter
            limits |= self._slab(2 * share)
        return limits

    def _interval(self, axis: Axis, width: float) -> tuple[float, float]:
        start = float(self._rng.uniform(0.0, 1.0 - width))
        return axis.at(start), axis.at(start + width)

    @functools.cached_property
    def cases(self) -> Sequence[Case]:
        """The bound's vectors, with the honest answers to them in mind."""
        cases = vector_files.load(self.bound.name).cases
        self._remember([arguments(self.bound, case.input) for case in cases if case.valid])
        return cases

    @functools.cached_property
    def ground(self) -> Ground:
        """What the screen of a default run knows before it asks, the same for every hole; with the honest answers."""
        known = ground(self.bound, self.cases, points=SCREENED * SEARCH, seed=0)
        self._remember(known.values, list(map(float, known.estimated)))
        return known

    def _remember(self, points: Sequence[Point], values: Sequence[float] = ()) -> None:
        """The honest answers to points, of which the first are known, at once: one by one they take far longer."""
        answers = [*values, *estimates(self.bound, points[len(values) :])]
        self._known |= dict(zip(map(_key, points), answers, strict=True))

    def accountant(self, hole: Hole | None) -> Callable[..., float]:
        """The float64 formula as a function, with a hole."""
        unsafe = 0.0 if self.bound.safe == "upper" else math.inf

        def answer(**given: Any) -> float:
            _checked(self.bound, given)
            if hole is not None and hole.holds(given):
                return unsafe
            key = _key(given)
            if key not in self._known:
                self._known[key] = estimates(self.bound, [given])[0]
            if math.isnan(self._known[key]):
                raise ValueError("float64 has no answer")
            return self._known[key]

        return answer


def _key(given: Mapping[str, Any]) -> tuple[Any, ...]:
    return tuple(tuple(value) if isinstance(value, list) else value for value in given.values())


def _checked(item: Bound, given: Point) -> None:
    """A ValueError for an input that means nothing, as an honest accountant has it."""
    item.parse(given)


@dataclass(frozen=True)
class Caught:
    """What became of a hole: whether an answer was called WRONG, by what, and whether with a proof."""

    hole: Hole
    by: str  # "vectors", "screen", "search", or nothing
    unsound: bool = False  # else BELOW_FORMULA

    def to_json(self) -> dict[str, Any]:
        """Its JSON object."""
        return {
            "kind": self.hole.kind, "region": str(self.hole), "share": round(self.hole.share, 4), "caught": self.by,
        }


def caught(planter: Planter, hole: Hole | None) -> Caught:
    """Run the gate as it runs by default, until the hole is found; without a hole, up to the end of the screen."""
    item, cases = planter.bound, planter.cases
    target = LocalTarget(planter.accountant(hole))
    told = hole or Hole(item.name, "none", {}, 0.0)
    by_vectors = run(target, item, cases, search=0)
    if wrong := _wrong(by_vectors.outcomes):
        return Caught(told, "vectors", GateVerdict.UNSOUND in wrong)
    suspicion = Suspicion(target, item, DEFAULT, by_vectors.unsupported, {})
    looked = suspicion.affordable  # a default run has no more time for the truth
    for outcome in suspicion.suspects(planter.ground, seconds=SEARCH_SECONDS, looked=looked):
        if outcome is not None and (wrong := _wrong([outcome])):
            return Caught(told, "screen", GateVerdict.UNSOUND in wrong)
    if hole is None:
        return Caught(told, "")
    searched = run(target, item, cases).searched
    wrong = _wrong(searched.worst) if searched is not None else set()
    return Caught(told, "search" if wrong else "", GateVerdict.UNSOUND in wrong)


def _wrong(outcomes: Iterable[Outcome]) -> set[GateVerdict]:
    return {outcome.judgement.verdict for outcome in outcomes if outcome.judgement.verdict in WRONG}


def rates(found: Sequence[Caught]) -> dict[str, Any]:
    """How many holes were caught: all, and those of a share above 5 %."""
    large = [item for item in found if item.hole.share > LARGE]
    return {
        "holes": len(found), "caught": sum(bool(item.by) for item in found),
        "large": len(large), "largeCaught": sum(bool(item.by) for item in large),
        "byVectors": sum(item.by == "vectors" for item in found), "unsound": sum(item.unsound for item in found),
    }


