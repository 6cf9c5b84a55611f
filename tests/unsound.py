"""The page of unsound calls (reports/unsound.md), read: what a section runs, what it answers, what is certified."""

from __future__ import annotations

import ast
import re
from dataclasses import dataclass
from pathlib import Path

from oracle import bound

PAGE = Path(__file__).resolve().parents[1] / "reports" / "unsound.md"
_SECTION = re.compile(
    r"(?P<library>\S+) (?P<version>\d\S*): .+\n\n"
    r"```python\n(?P<code>(?:(?!```).*\n)+)```\n"
    r"answers `(?P<answer>\S+)`(?: within (?P<percent>\d+) %)?; (?:"
    r"certified: at (?P<side>least|most) `(?P<certified>\S+)` \(`dp-oracle bound (?P<name>\S+) (?P<values>[^`]+)`\)\.|"
    r"must be `(?P<right>\S+)`: .+\.)\n"
    r"Why: (?:.+\n)*?.*\bLink: (?P<link>none known|https://github\.com/\S+.*)\n*"
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
            values=dict(word.split("=", 1) for word in (part["values"] or "").split()),
        )

    def printing(self) -> str:
        """The block as a programme whose last line of output is the value of its last line."""
        *before, last = ast.parse(self.code).body
        assert isinstance(last, ast.Expr), f"the block does not end with an expression: {self.code}"
        return f"{ast.unparse(ast.Module(before, []))}\nprint(repr(float({ast.unparse(last.value)})))"

    def truth(self) -> tuple[float, float]:
        """The certified interval, rounded outward: what the command on the page prints."""
        if self.side == "be":
            return self.certified, self.certified
        return bound(self.name).at(self.values).to_floats()

    def is_unsound(self, answer: float) -> bool:
        """Whether the answer is certainly on the wrong side of the truth."""
        lower, upper = self.truth()
        too_small, too_large = answer < lower, answer > upper
        return {"least": too_small, "most": too_large, "be": too_small or too_large}[self.side]

    def is_as_told(self, answer: float) -> bool:
        """Whether it is the answer on the page."""
        return abs(answer - self.answer) <= self.tolerance * abs(self.answer)


def texts() -> list[str]:
    """The sections of the page, each from its heading on."""
    return PAGE.read_text(encoding="utf-8").split("\n## ")[1:]


def heading(text: str) -> str:
    """The first line, which names the test of a section."""
    return text.split("\n", 1)[0]
