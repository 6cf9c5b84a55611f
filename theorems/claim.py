"""What a claim is: a statement with hypotheses as data, a checker that can come out either way, and a verdict.

A `Claim` stands at the top of a module below `theorems` and is registered by standing there. Its checker computes a
`Finding`; `expected` is the verdict that the project has established before, so that a change in either direction is a
regression. UNDECIDED and VACUOUS never count as a pass.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from enum import Enum
from typing import Any

from oracle.domain import Parameter
from oracle.errors import OracleError
from oracle.registry import discover, index, named


class Verdict(Enum):
    """What a check found."""

    HOLDS = "HOLDS"
    REFUTED = "REFUTED"
    UNDECIDED = "UNDECIDED"
    VACUOUS = "VACUOUS"
    NOT_CHECKABLE = "NOT_CHECKABLE"


class Evidence(Enum):
    """How strong the finding is, strongest first; always given the claims that it `uses`, a CITED one included."""

    PROVED = "PROVED"
    CERTIFIED_ON_BOX = "CERTIFIED_ON_BOX"
    CHECKED_AT_POINTS = "CHECKED_AT_POINTS"
    STATISTICAL = "STATISTICAL"
    CITED = "CITED"


@dataclass(frozen=True)
class Finding:
    """A verdict, how we know, and the numbers; for a refuted claim the witness is the counterexample."""

    verdict: Verdict
    evidence: Evidence
    summary: str
    witness: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class Claim:
    """A statement of a document that can be checked."""

    id: str
    source: str
    statement: str
    words: str
    hypotheses: tuple[Parameter, ...]
    expected: Verdict
    check: Callable[[], Finding]
    repaired_by: str | None = None
    uses: tuple[str, ...] = ()

    @property
    def paper(self) -> str:
        """The part of the id before the slash."""
        return self.id.split("/", 1)[0]


@dataclass(frozen=True)
class Checked:
    """A claim with its finding."""

    claim: Claim
    finding: Finding

    @property
    def as_expected(self) -> bool:
        """Whether the verdict is the established one."""
        return self.finding.verdict is self.claim.expected

    def to_json(self) -> dict[str, Any]:
        """The stable JSON object of `dp-oracle check`."""
        return {
            "id": self.claim.id,
            "source": self.claim.source,
            "statement": self.claim.statement,
            "words": self.claim.words,
            "verdict": self.finding.verdict.value,
            "expected": self.claim.expected.value,
            "as_expected": self.as_expected,
            "evidence": self.finding.evidence.value,
            "summary": self.finding.summary,
            "witness": dict(self.finding.witness),
            "repaired_by": self.claim.repaired_by,
            "uses": list(self.claim.uses),
        }


@functools.cache
def claims() -> dict[str, Claim]:
    """All claims by id; every id that a claim names must exist."""
    table = index(discover("theorems", Claim), lambda item: item.id)
    for item in table.values():
        for other in (*item.uses, *((item.repaired_by,) if item.repaired_by else ())):
            if other not in table:
                raise OracleError(f"claim {item.id} names {other}, which is not registered")
    return table


def claim(name: str) -> Claim:
    """The claim of that id."""
    return named(claims(), "claim", name)


def check(item: Claim) -> Checked:
    """Run a claim's checker; a refuted claim without a witness is an error of the checker, not a finding."""
    finding = item.check()
    if finding.verdict is Verdict.REFUTED and not finding.witness:
        raise OracleError(f"the checker of {item.id} refutes without a witness")
    return Checked(item, finding)
