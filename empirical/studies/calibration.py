"""The method, held to planted rates: how often it confirms what is false, and how often it tells what is planted.

Replicates are drawn around a known curve, with the scatter and the pairing of real runs (lognormal errors, half of the
variance of their logarithms shared by all points), and judged like a study that predicts the exponent -1/2 under a
bound. What is planted is the right rate, an exponent off by 0.1 or 0.25 either way, a factor log n, the wrong power of
epsilon, an error 5 % above the bound, and two terms that cross within the grid.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from flint import arb

from empirical.studies.levels import level_of
from empirical.studies.outcome import judge
from empirical.studies.study import Array, Premise, Simulation, Spot, Study
from oracle.core.plain import by_fields

REPLICATES, SCATTER, PAIRED = 256, 0.3, 0.5
GRID = tuple(4**k for k in range(4, 11))
_TARGET, _CONSTANT = -0.5, 3.0


@dataclass(frozen=True)
class PlantedRate:
    """A curve that errors follow, and the verdict that is right for it: those of `wrong` are false decisions."""

    name: str
    curve: Callable[[float], float]
    right: str
    wrong: tuple[str, ...]


_NOT_TRUE = ("CONFIRMED", "HELD")
PLANTED = (
    PlantedRate("right", lambda x: x**_TARGET, "CONFIRMED", ("FASTER", "SLOWER", "BOUND_VIOLATED")),
    PlantedRate("exponent +0.1", lambda x: x ** (_TARGET + 0.1), "SLOWER", (*_NOT_TRUE, "FASTER")),
    PlantedRate("exponent -0.1", lambda x: x ** (_TARGET - 0.1), "FASTER", (*_NOT_TRUE, "SLOWER")),
    PlantedRate("exponent +0.25", lambda x: x ** (_TARGET + 0.25), "SLOWER", (*_NOT_TRUE, "FASTER")),
    PlantedRate("exponent -0.25", lambda x: x ** (_TARGET - 0.25), "FASTER", (*_NOT_TRUE, "SLOWER")),
    PlantedRate("extra log n", lambda x: x**_TARGET * math.log(x) / 5, "SLOWER", (*_NOT_TRUE, "FASTER")),
    PlantedRate("power of epsilon", lambda x: x ** (2 * _TARGET), "FASTER", (*_NOT_TRUE, "SLOWER")),
    PlantedRate("bound exceeded by 5 %", lambda x: 1.05 * _CONSTANT * x**_TARGET, "BOUND_VIOLATED", _NOT_TRUE),
    PlantedRate("two terms cross", lambda x: x**-0.25 + 100 * x**-1.0, "", (*_NOT_TRUE, "FASTER")),
)


@dataclass(frozen=True)
class CalibrationRow:
    """What a planted rate was taken for: how often rightly, falsely confirmed, otherwise falsely decided, undecided."""

    name: str
    repeats: int
    rightly: int
    falsely_confirmed: int
    otherwise_false: int

    def to_json(self) -> dict[str, object]:
        """The counts."""
        return by_fields(self)


def _bound(spot: Spot) -> arb:
    """The bound that is planted: far above the curve, but for the case that exceeds it."""
    level = 1 if spot["exceeded"] else 1000
    return arb(level * 3) * arb(spot["n"]) ** (arb(-1) / 2)


def _study(rate: PlantedRate) -> Study:
    return Study(
        name="planted", source=(), statement="planted", estimand="error", generator="lognormal errors", axis="n",
        grid=GRID, setting={"exceeded": rate.right == "BOUND_VIOLATED"}, predicted=Fraction(-1, 2),
        premises=(Premise("planted", lambda spot: True),), bound=_bound,
        simulation=Simulation(_never, GRID, REPLICATES, 0),
    )


def _never(spot: Spot, seed: int, replicates: range) -> Array:
    raise AssertionError("planted errors are drawn at once")


def planted_errors(rate: PlantedRate, seed: int) -> Array:
    """Errors around the curve, [replicates, points], with mean on it; half of the variance is shared by all points."""
    draw = np.random.Generator(np.random.Philox([seed, 20]))
    shared, own = draw.standard_normal((REPLICATES, 1)), draw.standard_normal((REPLICATES, len(GRID)))
    logs = SCATTER * (math.sqrt(PAIRED) * shared + math.sqrt(1 - PAIRED) * own) - SCATTER**2 / 2
    errors: Array = np.array([rate.curve(x) for x in GRID]) * np.exp(logs)
    return errors


def verdict_of(rate: PlantedRate, seed: int, *, family: int = 1) -> str:
    """What the method says of one draw of a planted rate."""
    study, errors = _study(rate), planted_errors(rate, seed)
    finite = np.full(REPLICATES, np.nan)
    runs = {x: np.stack([column, finite], axis=1) for x, column in zip(GRID, errors.T, strict=True)}
    levels = [level_of(study, x, runs[x], None) for x in GRID]
    return judge(study, levels, {}, runs, family=family).verdict


def calibrate(
    repeats: int, *, seed: int = 0, progress: Callable[[int, int], None] = lambda done, total: None
) -> list[CalibrationRow]:
    """How the method judges every planted rate, so many times each."""
    rows: list[CalibrationRow] = []
    for rate in PLANTED:
        progress(len(rows), len(PLANTED))
        found = [verdict_of(rate, seed + number) for number in range(repeats)]
        confirmed = sum(verdict in _NOT_TRUE and verdict in rate.wrong for verdict in found)
        false = sum(verdict in rate.wrong for verdict in found)
        rows.append(CalibrationRow(rate.name, repeats, found.count(rate.right), confirmed, false - confirmed))
    return rows
