"""The page of unsound calls (reports/unsound.md), read: what a section runs, what it answers, what is certified."""

from __future__ import annotations

import ast
import math
import re
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path

from empirical.gate.making.cases import Case, Expected
from empirical.gate.severity import Severity, everyday, graded
from oracle import bound

PAGE = Path(__file__).resolve().parents[1] / "reports" / "unsound.md"
_SECTION = re.compile(
    r"(?P<library>\S+) (?P<version>\d\S*): .+\n\n"
    r"```python\n(?P<code>(?:(?!```).*\n)+)```\n"
    r"answers `(?P<answer>\S+)`(?: within (?P<percent>\d+) %)?; (?:"
    r"certified: at (?P<side>least|most) `(?P<certified>\S+)` \(`dp-oracle bound (?P<name>\S+) (?P<values>[^`]+)`\)\.|"
    r"must be `(?P<right>\S+)`: .+\.)\n"
    r"Why: (?:.+\n)+\n"
    r"- Gap: (?P<gap>.+)\n"
    r"- Reported on: (?P<reported>not reported|\d{4}-\d\d-\d\d, .+)\n"
    r"- Issue: (?P<issue>none|https://.+)\n"
    r"- Reply: (?P<reply>.+)\n"
    r"- Fixed in: (?P<fixed>.+)\n"
    r"- Workaround: (?P<workaround>.+)\n*"
)
_TOLERANCE = 1e-6


@dataclass(frozen=True)
class Section:
    """One unsound call: the library's own code, the answer on the page, and the bound that it breaks.

    `side` says on which side of the answer the truth lies: "least" (the answer is too small), "most" (too large), or
    "be" for a call without a bound, whose right answer is known.
    """

    library: str
    version: str
    code: str
    answer: float
    tolerance: float
    side: str
    certified: float
    name: str
    values: dict[str, str]
    gap: str
    reported: str
    issue: str

    @staticmethod
    def of(text: str) -> Section:
        """The parts of a section, or an AssertionError with its heading."""
        found = _SECTION.fullmatch(text)
        assert found, f"the section does not have its parts in order: {text.splitlines()[0]}"
        part = found.groupdict()
        return Section(
            library=part["library"], version=part["version"], code=part["code"], answer=float(part["answer"]),
            tolerance=float(part["percent"]) / 100 if part["percent"] else _TOLERANCE, side=part["side"] or "be",
            certified=float(part["certified"] or part["right"]), name=part["name"] or "",
            values=dict(word.split("=", 1) for word in (part["values"] or "").split()), gap=part["gap"],
            reported=part["reported"], issue=part["issue"],
        )

    def printing(self) -> str:
        """The block as a programme whose last line of output is the value of its last line."""
        *before, last = ast.parse(self.code).body
        assert isinstance(last, ast.Expr), f"the block does not end with an expression: {self.code}"
        return f"{ast.unparse(ast.Module(before, []))}\nprint(repr(float({ast.unparse(last.value)})))"

    def truth(self) -> tuple[float, float]:
        """The certified interval of the truth, rounded outward: what the command on the page prints.

        Its lower end is what is attained, where the bound is only an upper one; a bound that proves nothing of the
        truth accuses nobody.
        """
        if self.side == "be":
            return self.certified, self.certified
        lower, upper = bound(self.name).at(self.values).to_floats()
        attained = bound(self.name).attained(self.values)
        assert attained is not None, f"{self.name} is one-sided: it proves nobody wrong"
        return min(lower, attained.to_floats()[0]), upper

    @property
    def relative(self) -> float:
        """The gap over the truth, infinite beside a truth of 0."""
        return abs(self.answer - self.certified) / abs(self.certified) if self.certified else math.inf

    @property
    def is_negligible(self) -> bool:
        """Whether the gap has no practical effect, by the gate's own measure."""
        if self.side == "be" or self.relative == math.inf:
            return False
        unit = bound(self.name).unit
        gap = abs(Fraction(self.answer) - Fraction(self.certified))
        return graded(gap, Fraction(self.certified), unit)[1] is Severity.NEGLIGIBLE

    @property
    def is_everyday(self) -> bool:
        """Whether it lies in the everyday box, by what is asked and by what is certified."""
        if self.side == "be":
            return True
        truth = Fraction(self.certified)
        return everyday(Case(self.name, 0, self.values, Expected(truth, truth)), bound(self.name).unit)

    def is_unsound(self, answer: float) -> bool:
        """Whether the answer is certainly on the wrong side of the truth."""
        lower, upper = self.truth()
        too_small, too_large = answer < lower, answer > upper
        return {"least": too_small, "most": too_large, "be": too_small or too_large}[self.side]

    def is_as_told(self, answer: float) -> bool:
        """Whether it is the answer on the page."""
        return abs(answer - self.answer) <= self.tolerance * abs(self.answer)


def by_class() -> dict[str, list[str]]:
    """The sections of each class of the page, each from its heading on."""
    parts = PAGE.read_text(encoding="utf-8").split("\n# ")[1:]
    return {part[0]: part.split("\n## ")[1:] for part in parts}


def texts() -> list[str]:
    """The sections of the page, each from its heading on."""
    return [text for part in by_class().values() for text in part]


def heading(text: str) -> str:
    """The first line, which names the test of a section."""
    return text.split("\n", 1)[0]
