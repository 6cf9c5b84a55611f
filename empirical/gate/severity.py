"""How much an unsound answer matters: negligible, material or gross, by its relative and its absolute gap.

With g the gap between the answer and the value that the truth certainly does not fall short of, and |t| that value,

    negligible  g <= 1e-6 |t|, or g at most what no user notices: 1e-9 of an epsilon or a mu, 1e-12 of a Renyi
                divergence (which is multiplied by steps), 1e-15 of a delta
    material    g <= 1e-2 |t|
    gross       more

What lies within the rounding that is forgiven (1e-12 |t| by default) is no gap at all. `everyday` tells the questions
that users ask from those at the ends of the domain: "worst" means the worst of the former, with the latter apart.
"""

from __future__ import annotations

import math
from enum import StrEnum
from fractions import Fraction

from empirical.gate.making.cases import Case


class Severity(StrEnum):
    """How much an unsound answer matters, the least first."""

    NEGLIGIBLE = "negligible"
    MATERIAL = "material"
    GROSS = "gross"

    def reaches(self, level: Severity) -> bool:
        """Whether it is at least as grave."""
        order = list(Severity)
        return order.index(self) >= order.index(level)


MATERIAL, GROSS = Fraction(1, 10**6), Fraction(1, 100)
"""The relative gaps above which an answer is material, and gross."""

UNNOTICED = {
    "epsilon": Fraction(1, 10**9), "mu": Fraction(1, 10**9), "rdp": Fraction(1, 10**12), "delta": Fraction(1, 10**15),
}
"""The absolute gaps that no user notices, by the unit of the answer; other units have none."""

EVERYDAY = {"delta": (Fraction(1, 10**12), Fraction(1, 1000)), "epsilon": (Fraction(1, 100), Fraction(20))}
"""The box of everyday questions: a delta or an epsilon outside of it, asked or true, is an extreme."""


def graded(gap: Fraction | float, limit: Fraction, unit: str) -> tuple[float, Severity]:
    """The relative gap (infinite beside a truth of 0) and the severity of an answer that misses a limit by a gap."""
    if isinstance(gap, float) and math.isinf(gap):
        return math.inf, Severity.GROSS
    relative: Fraction | float = math.inf if limit == 0 else gap / limit
    if gap <= UNNOTICED.get(unit, 0) or relative <= MATERIAL:
        severity = Severity.NEGLIGIBLE
    else:
        severity = Severity.MATERIAL if relative <= GROSS else Severity.GROSS
    try:
        return float(relative), severity
    except OverflowError:
        return math.inf, severity


def everyday(case: Case, unit: str) -> bool:
    """Whether a case lies in the everyday box, by what it asks and by what is certified."""
    if case.expected is None:
        return False
    told = [(unit, case.expected.upper)]
    told += [(name, Fraction(text)) for name, text in case.input.items() if name in EVERYDAY and isinstance(text, str)]
    return all(EVERYDAY[name][0] <= value <= EVERYDAY[name][1] for name, value in told if name in EVERYDAY)
