"""What a study is: a prediction about utility and, frozen before it is run, all that decides whether it came true.

A `Study` stands at the top of a module below `empirical.studies` and is registered by standing there. Its functions say
what is measured at a point of its grid: `sample` the errors of independent replicates (a data set and its trainings),
`exact` the same expectation computed (one curve, or a lower and an upper one), `bound` the explicit bound of the
theorem, `trivial` the risk of doing nothing. All other fields are data, and their hash names the study: what is changed
is another study, with a record of its own (`record`). Nothing here looks at results.
"""

from __future__ import annotations

import functools
import hashlib
import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

import numpy as np
from flint import arb
from numpy.typing import NDArray

from oracle.core.errors import OracleError
from oracle.core.registry import discover, index, named

Array = NDArray[np.float64]
Number = int | Fraction
Spot = Mapping[str, Any]
"""A point of a grid: the value of the axis and the settings, by name."""
Curve = tuple[arb, ...]
"""What is computed at a spot: one ball, or a lower and an upper one between which the truth lies."""

TIERS = ("default", "full")
CERTIFIED, FLOAT = "certified", "float64"
UPPER, EQUAL = "upper", "equal"
REAL, SHARE, FIXED = "real", "share", "fixed"


@dataclass(frozen=True)
class Premise:
    """A hypothesis of the theorem, tested on what the generator makes at a spot."""

    words: str
    holds: Callable[[Spot], bool]


@dataclass(frozen=True)
class Simulation:
    """Which runs are made: at these values of the axis, so many replicates each, under this seed.

    `sample(spot, seed, replicates)` gives the error of each of these replicates, [count], or with the step at which it
    was no longer finite beside it, [count, 2] (NaN for none). Replicate r uses the same draws at every spot, so
    that they are pairs: what differs between two spots is not which data were drawn. It is called with `block`
    replicates at a time, the unit of work that is stored. `law` says what a replicate is: a real number, 0 or 1 (the
    estimand being a share), or a number that no lot decides.
    """

    sample: Callable[[Spot, int, range], Array]
    at: tuple[Number, ...]
    replicates: int
    seed: int
    block: int = 8
    law: str = REAL


@dataclass(frozen=True)
class Asymptotics:
    """Which part of the grid counts for the exponent; the rule is frozen, the part is found by it.

    Points whose error is more than `below` times the trivial risk never count. Of the others the longest run up to the
    end of the grid counts on which the local slopes of an exact curve differ by at most `drift` (the study's margin, if
    it says nothing else), or on which replicates cannot tell the logarithms from a straight line (at 1 %); `least`
    points at least, or the study is pre-asymptotic.
    """

    below: Fraction = Fraction(1, 5)
    drift: Fraction | None = None
    least: int = 4


@dataclass(frozen=True)
class Study:
    """A prediction: `estimand` behaves like `axis` to the power `predicted`, or stays below `bound`, or both.

    `kind` says whether the document promises an upper bound (to be faster is no refutation) or equality. The exponent
    is read off the exact curve where there is one, else off the replicates; it is confirmed if the simultaneous
    interval of all counted local slopes lies within `margin` of the prediction. `exactness` says what the curve is:
    certified balls, or float64 without a proof. `needs` says what would be needed where the grid cannot be asymptotic.
    """

    name: str
    source: tuple[str, ...]
    statement: str
    estimand: str
    generator: str
    axis: str
    grid: tuple[Number, ...]
    setting: Mapping[str, Any] = field(default_factory=dict)
    predicted: Fraction | None = None
    margin: Fraction = Fraction(1, 20)
    kind: str = UPPER
    exactness: str = CERTIFIED
    premises: tuple[Premise, ...] = ()
    exact: Callable[[Spot], Curve] | None = None
    bound: Callable[[Spot], arb] | None = None
    trivial: Callable[[Spot], arb] | None = None
    simulation: Simulation | None = None
    asymptotics: Asymptotics = Asymptotics()
    tier: str = "default"
    needs: str = ""

    def __post_init__(self) -> None:
        wrong = {
            "has neither a prediction nor a bound": self.predicted is None and self.bound is None,
            "measures nothing": self.exact is None and self.simulation is None,
            "needs a grid that rises": any(a >= b for a, b in zip(self.grid, self.grid[1:], strict=False)),
            f"has tier {self.tier}, none of {', '.join(TIERS)}": self.tier not in TIERS,
            f"has kind {self.kind}": self.kind not in (UPPER, EQUAL),
            "tests no hypothesis": not self.premises,
            "runs at spots that are not in its grid":
                self.simulation is not None and not set(self.simulation.at) <= set(self.grid),
            "reads an exponent off fewer than 32 replicates":
                self.by_replicates and self.simulation is not None and self.simulation.replicates < 32,
        }
        for what, is_so in wrong.items():
            if is_so:
                raise OracleError(f"study {self.name} {what}")

    @property
    def by_replicates(self) -> bool:
        """Whether the exponent is read off runs, for want of an exact curve."""
        return self.predicted is not None and self.exact is None

    @property
    def drift(self) -> Fraction:
        """How much the counted local slopes of an exact curve may differ."""
        return self.margin if self.asymptotics.drift is None else self.asymptotics.drift

    @property
    def measured_at(self) -> tuple[Number, ...]:
        """The values of the axis at which the exponent is read."""
        return self.simulation.at if self.exact is None and self.simulation is not None else self.grid

    def spot(self, value: Number) -> Spot:
        """The point of the grid at a value of the axis."""
        return {**self.setting, self.axis: value}

    def check_premises(self) -> None:
        """Refuse the study where its generator breaks a hypothesis of its theorem at any point of the grid."""
        for value in self.grid:
            for premise in self.premises:
                if not premise.holds(self.spot(value)):
                    raise OracleError(
                        f"study {self.name} is refused: at {self.axis} = {value} its generator breaks "
                        f"a hypothesis of the theorem ({premise.words})"
                    )

    def frozen(self) -> dict[str, Any]:
        """All data of the study, as JSON."""
        runs, rule = self.simulation, self.asymptotics
        return {
            "name": self.name, "source": list(self.source), "statement": self.statement, "estimand": self.estimand,
            "generator": self.generator, "axis": self.axis, "grid": [str(value) for value in self.grid],
            "setting": {name: str(value) for name, value in self.setting.items()},
            "predicted": None if self.predicted is None else str(self.predicted), "margin": str(self.margin),
            "kind": self.kind, "exactness": self.exactness, "premises": [item.words for item in self.premises],
            "evidence": [name for name in ("exact", "bound", "trivial") if getattr(self, name) is not None],
            "simulation": None if runs is None else {
                "at": [str(value) for value in runs.at], "replicates": runs.replicates, "seed": runs.seed,
                "block": runs.block, "law": runs.law,
            },
            "asymptotics": {"below": str(rule.below), "drift": str(self.drift), "least": rule.least},
            "tier": self.tier, "needs": self.needs,
        }

    @property
    def hash(self) -> str:
        """The name of the frozen study: 16 hexadecimal digits of its data."""
        text = json.dumps(self.frozen(), sort_keys=True, ensure_ascii=False)
        return hashlib.blake2b(text.encode(), digest_size=8).hexdigest()


@functools.cache
def studies() -> dict[str, Study]:
    """All studies by name."""
    return index(discover(Study, "empirical.studies"), lambda item: item.name)


def study(name: str) -> Study:
    """The study of that name."""
    return named(studies(), "study", name)
