"""What a claim is: a statement with hypotheses as data, a checker that can come out either way, and a verdict.

A `Claim` stands at the top of a module below `theorems` and is registered by standing there. What it `says` is a value
(a formula, a number, a predicate) that its checker is given: the checker computes a `Finding` about that value, so the
same checker judges the statement, its repair and its `flips`, false or true variants that must come out otherwise.
Expected verdicts are data (`theorems/expected`): a change in either direction is a regression, and an id that stands
there can never be dropped or renamed. UNDECIDED and VACUOUS never count as a pass.
"""

from __future__ import annotations

import functools
import tomllib
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from enum import Enum
from importlib import resources
from typing import Any

from oracle.core.domain import Parameter
from oracle.core.errors import OracleError
from oracle.core.plain import picked, plain
from oracle.core.registry import discover, index, named


class Verdict(Enum):
    """What a check found."""

    HOLDS = "HOLDS"
    REFUTED = "REFUTED"
    UNDECIDED = "UNDECIDED"
    VACUOUS = "VACUOUS"
    NOT_CHECKABLE = "NOT_CHECKABLE"


class Evidence(Enum):
    """How strong the finding is, strongest first; always given the claims that it rests on, a CITED one included."""

    PROVED = "PROVED"
    CERTIFIED_ON_BOX = "CERTIFIED_ON_BOX"
    CHECKED_AT_POINTS = "CHECKED_AT_POINTS"
    STATISTICAL = "STATISTICAL"
    CITED = "CITED"


SCOPES = ("all", "box", "points")


@dataclass(frozen=True)
class Scope:
    """How much of the hypotheses a check covered: "all" of them, a "box", or "points".

    `tried` counts the points or boxes that were looked at, `met` those of them that met the hypotheses, and `region`
    says from where they came. If none met them, the claim is VACUOUS.
    """

    kind: str
    tried: int = 0
    met: int = 0
    region: Mapping[str, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if self.kind not in SCOPES:
            raise OracleError(f"a scope's kind is one of {', '.join(SCOPES)}, not {self.kind!r}")
        if not 0 <= self.met <= self.tried:
            raise OracleError(f"a scope of {self.tried} tried cannot have {self.met} that met the hypotheses")


ALL = Scope("all")
"""The scope of a proof for every value that meets the hypotheses, and of a single exact instance that refutes."""


@dataclass(frozen=True)
class Finding:
    """A verdict, how we know, and the numbers; for a refuted claim the witness is the counterexample.

    `scope` is None only where nothing was computed: CITED and NOT_CHECKABLE.
    """

    verdict: Verdict
    evidence: Evidence
    summary: str
    witness: Mapping[str, str] = field(default_factory=dict)
    scope: Scope | None = None


def undecided(summary: str, tried: int, met: int | None = None) -> Finding:
    """What was found at some points, all of which met the hypotheses if `met` is not given, and not proved beyond."""
    scope = Scope("points", tried, tried if met is None else met)
    return Finding(Verdict.UNDECIDED, Evidence.CHECKED_AT_POINTS, summary, scope=scope)


@dataclass(frozen=True)
class Flip:
    """A variant of what a claim says (a sign changed, a constant moved, the repair), and the verdict it must get."""

    what: str
    says: Any
    verdict: Verdict


@dataclass(frozen=True)
class Claim:
    """A statement of a document that can be checked.

    `uses` names what the document's own argument leans on; `rests_on` what our check leans on. A claim that `uses` a
    refuted one falls with it, unless our check shows by its own route that it holds.
    """

    id: str
    source: str
    statement: str
    words: str
    hypotheses: tuple[Parameter, ...]
    says: Any
    check: Callable[[Any], Finding]
    flips: tuple[Flip, ...] = ()
    repaired_by: str | None = None
    uses: tuple[str, ...] = ()
    rests_on: tuple[str, ...] = ()

    @property
    def paper(self) -> str:
        """The part of the id before the slash."""
        return self.id.split("/", 1)[0]

    @property
    def domains(self) -> list[dict[str, str]]:
        """Its hypotheses as the commands write them: what has which domain."""
        return [picked(item, "name", "domain") for item in self.hypotheses]


@dataclass(frozen=True)
class Expectation:
    """The verdict and the evidence that the project has established before."""

    verdict: Verdict
    evidence: Evidence


@dataclass(frozen=True)
class Checked:
    """A claim with its finding and what was expected."""

    claim: Claim
    finding: Finding
    expected: Expectation

    @property
    def as_expected(self) -> bool:
        """Whether verdict and evidence are the established ones."""
        return self.difference == ""

    @property
    def difference(self) -> str:
        """What differs from the established finding, in words; empty if nothing does."""
        found = Expectation(self.finding.verdict, self.finding.evidence)
        return "; ".join(
            f"{name}: expected {getattr(self.expected, name).value}, found {getattr(found, name).value}"
            for name in ("verdict", "evidence")
            if getattr(self.expected, name) is not getattr(found, name)
        )

    def to_json(self) -> dict[str, Any]:
        """The stable JSON object of `dp-oracle check`."""
        item, finding, expected = self.claim, self.finding, self.expected
        return {  # by hand: one flat object of the three
            **picked(item, "id", "source", "statement", "words"), "hypotheses": item.domains,
            "verdict": plain(finding.verdict), "expected": plain(expected.verdict),
            **picked(self, "as_expected", "difference"), "evidence": plain(finding.evidence),
            "expected_evidence": plain(expected.evidence), **picked(finding, "summary", "witness", "scope"),
            **picked(item, "repaired_by", "uses", "rests_on"),
        }


def cited(verdict: Verdict, reason: str) -> Callable[[Any], Finding]:
    """The checker of a claim about which nothing is computed; the reason says who proves it, or what is missing."""
    return lambda says: Finding(verdict, Evidence.CITED, reason)


@functools.cache
def expectations() -> dict[str, Expectation]:
    """What is expected of every claim, from the data files `theorems/expected/PAPER.toml`."""
    table: dict[str, Expectation] = {}
    for file in sorted(resources.files("theorems").joinpath("expected").iterdir(), key=lambda item: item.name):
        for name, words in tomllib.loads(file.read_text(encoding="utf-8")).items():
            verdict, evidence = words.split()
            table[name] = Expectation(Verdict(verdict), Evidence(evidence))
            if f"{name.split('/')[0]}.toml" != file.name:
                raise OracleError(f"{name} stands in {file.name}, the file of another paper")
    return table


@functools.cache
def claims() -> dict[str, Claim]:
    """All claims by id; every id that a claim names must exist, and every claim must have its expectation.

        >>> import dp_oracle
        >>> dp_oracle.claims()["relu-approx/lem-2.5"].source
        '000, Lemma 2.5 (Dong, Roth and Su 2022, Cor. 2.13)'
    """
    table = index(discover(Claim, "theorems"), lambda item: item.id)
    for item in table.values():
        for other in (*item.uses, *item.rests_on, *((item.repaired_by,) if item.repaired_by else ())):
            if other not in table:
                raise OracleError(f"claim {item.id} names {other}, which is not registered")
    lacking, dropped = sorted(table.keys() - expectations()), sorted(expectations().keys() - table)
    if lacking or dropped:
        raise OracleError(f"without an expected verdict: {lacking}; expected, but not registered: {dropped}")
    return table


def claim(name: str) -> Claim:
    """The claim of that id."""
    return named(claims(), "claim", name)


def judge(item: Claim, says: Any) -> Finding:
    """What a claim's checker finds about a statement, held to the rules that every finding obeys."""
    finding = item.check(says)
    scope, computed = finding.scope, finding.evidence is not Evidence.CITED
    if computed and scope is not None and scope.kind != "all" and scope.met == 0:
        return replace(finding, verdict=Verdict.VACUOUS, summary=f"no point met the hypotheses ({scope.tried} tried)")
    wrong = {
        "refutes without a witness": finding.verdict is Verdict.REFUTED and not finding.witness,
        "does not say how much of the hypotheses it covered": computed and scope is None,
        "claims a computation where it only cites": not computed and scope is not None,
        "calls points a proof": finding.verdict is Verdict.HOLDS and scope is not None and (
            (finding.evidence is Evidence.PROVED) != (scope.kind == "all")
        ),
        "calls points a box": finding.evidence is Evidence.CERTIFIED_ON_BOX and (scope is None or scope.kind != "box"),
        "calls a box points": finding.evidence is Evidence.CHECKED_AT_POINTS and scope is not None
        and finding.verdict is Verdict.HOLDS and scope.kind != "points",
        "decides by citing": finding.verdict is Verdict.REFUTED and not computed,
        "computes what it calls not checkable": finding.verdict is Verdict.NOT_CHECKABLE and computed,
        "gives no reason": not finding.summary.strip(),
    }
    for what, is_so in wrong.items():
        if is_so:
            raise OracleError(f"the checker of {item.id} {what}")
    return finding


def check(item: Claim | str, expected: Expectation | None = None) -> Checked:
    """What a check of a claim, or of the claim of that id, finds, beside what is expected of it.

        >>> import dp_oracle
        >>> found = dp_oracle.check("relu-approx/lem-3.2")
        >>> found.finding.verdict.value, found.claim.repaired_by, found.as_expected
        ('REFUTED', 'relu-approx/lem-3.2-repaired', True)
        >>> found.finding.witness["largest curvature"], found.finding.witness["claimed"]
        ('3', '2')
    """
    known = claim(item) if isinstance(item, str) else item
    return Checked(known, judge(known, known.says), expected or expectations()[known.id])
