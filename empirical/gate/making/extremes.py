"""A search for the extreme points of a bound: its smallest and largest answers, and where double precision struggles.

hypothesis explores the bound's range and climbs towards each goal; the seed is fixed. What it finds is kept in the
vectors, which are the record: another version of hypothesis may find other points, and `make` does not search again.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from empirical.gate.making.cases import Text, arguments, certified, is_told
from empirical.gate.making.everyday import rounded
from empirical.gate.making.points import FEW_POINTS, Point, strategy, texts
from oracle.core.algorithm import Values
from oracle.core.arrays import as_float64
from oracle.core.errors import OracleError
from oracle.core.registry import Bound

_EXAMPLES, _FEW = 150, 30
_SLOW = 60  # FEW_POINTS up to which a reference counts as slow


@dataclass(frozen=True)
class _Tried:
    given: dict[str, Text]
    size: float  # log10 of the answer
    excess: float  # of the float64 formula over the certified answer, relative; infinite where it hands over


def find(bound: Bound, kept: int) -> list[tuple[dict[str, Text], str]]:
    """The extreme inputs, with a comment each: smallest and largest answer, and `kept` of each of the other kinds."""
    from hypothesis import HealthCheck, Phase, given, seed, settings, target

    tried: list[_Tried] = []
    count = _FEW if FEW_POINTS.get(bound.name, _EXAMPLES) <= _SLOW else _EXAMPLES

    @seed(0)
    @settings(
        max_examples=count, database=None, deadline=None, phases=(Phase.generate, Phase.target),
        suppress_health_check=list(HealthCheck),
    )
    @given(strategy(bound))
    def explore(point: Point) -> None:
        one = _try(bound, texts(rounded(point)))
        if one is not None:
            tried.append(one)
            target(one.size, label="largest answer")
            target(-one.size, label="smallest answer")
            if math.isfinite(one.excess):
                target(one.excess, label="rounding")

    explore()
    if not tried:
        return []
    chosen = [
        (min(tried, key=lambda one: one.size).given, "the smallest answer found"),
        (max(tried, key=lambda one: one.size).given, "the largest answer found"),
    ]
    lossy = sorted((one for one in tried if math.isfinite(one.excess)), key=lambda one: -one.excess)
    chosen += [(one.given, f"float64 gives {one.excess:.1e} away, relative") for one in lossy[:kept]]
    given_up = [one for one in tried if not math.isfinite(one.excess)]
    step = max(1, len(given_up) // kept)
    chosen += [(one.given, "float64 hands over to ball arithmetic") for one in given_up[::step][:kept]]
    return chosen


def _try(bound: Bound, given: dict[str, Text]) -> _Tried | None:
    """What an input is worth; None where it has no answer of a size that doubles have."""
    try:
        truth = certified(bound, given)
        xp, values, faults = as_float64(bound.name, bound.parameters, arguments(bound, given))
        if faults:
            return None
        with np.errstate(all="ignore"):
            fast = float(bound.vectorised(xp, Values(**values)))
    except OracleError:
        return None
    if not is_told(truth) or truth.upper.mantissa == 0:
        return None
    lower, upper = truth.to_floats()
    excess = (fast / upper if bound.safe == "upper" else lower / fast if fast else math.inf) - 1.0
    return _Tried(given, math.log10(lower), excess if math.isfinite(fast) else math.inf)
