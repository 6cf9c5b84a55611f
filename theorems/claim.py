"""What a claim is: a statement of a document, its hypotheses as a domain, a checker that can come out either way.

A `Claim` stands at the top of a module below `theorems` and is registered by standing there. What it `says` is a value
(a formula, a number, a predicate) that its checker is given together with the domain of its hypotheses: the checker
computes a `Finding` about that value, so the same checker judges the statement, its repair, its `flips` (false or true
variants that must come out otherwise) and the variants that a machine makes (`theorems.mutation`). A refuted statement
carries its `repair`, which is registered as a claim of its own. What holds was tried at the ends of its hypotheses,
whatever the evidence, with formulas that answer with numbers (`theorems.watching`); what holds for all values has no
formula that tells one number from all others (`theorems.branches`). The verdict that is `expected` stands in the claim:
a change in either direction is a regression. UNDECIDED and VACUOUS never count as a pass.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from enum import Enum
from typing import Any

from oracle.core.domain import Parameter
from oracle.core.errors import OracleError
from oracle.core.plain import picked, plain
from oracle.core.registry import discover, index, named
from theorems.branches import branch_in
from theorems.given import Domain
from theorems.verdict import Evidence, Finding, Verdict, broken_rule, cited, weakest
from theorems.watching import Answers

Checker = Callable[[Any, Domain], Finding]


class Whose(Enum):
    """Whose statement a claim is: only printed ones and misprints are statements of a document."""

    PRINTED = "printed"
    TYPO = "typo"  # printed, and evidently a misprint
    READING = "reading"  # ours of words that can be read otherwise, too
    OURS = "ours"  # a repair or a finding


class Stake(Enum):
    """What it matters if the statement is false, the worst first."""

    PRIVACY = "a privacy guarantee is false"
    UTILITY = "a utility statement or a number is wrong"
    PROOF = "a gap in a proof; the statement survives"
    EDITORIAL = "editorial"

    @property
    def rank(self) -> int:
        """Its place, the worst first."""
        return list(Stake).index(self)


@dataclass(frozen=True)
class Expectation:
    """The verdict and the evidence that the project has established before."""

    verdict: Verdict
    evidence: Evidence

    @staticmethod
    def of(words: str) -> Expectation:
        """From the text "HOLDS PROVED"."""
        verdict, evidence = words.split()
        return Expectation(Verdict(verdict), Evidence(evidence))

    def __str__(self) -> str:
        return f"{self.verdict.value} {self.evidence.value}"


@dataclass(frozen=True)
class Flip:
    """A variant of what a claim says (a sign changed, a constant moved, the repair), and the verdict it must get."""

    what: str
    says: Any
    verdict: Verdict


@dataclass(frozen=True)
class Repair:
    """What is true in place of a refuted statement; what is not given is that of the statement.

    Its id is that of the statement with "-repaired". Where both have one checker, each is a flip of the other.
    """

    statement: str
    words: str
    says: Any
    expected: str
    source: str = ""
    hypotheses: tuple[Parameter, ...] | None = None
    check: Checker | None = None
    flips: tuple[Flip, ...] = ()
    uses: tuple[str, ...] = ()
    rests_on: tuple[str, ...] = ()
    true_variants: Mapping[str, str] = field(default_factory=dict)
    survivors: Mapping[str, str] = field(default_factory=dict)
    untested: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class Claim:
    """A statement that can be checked.

    `quote` has the exact words of the document. `uses` names what the document's own argument leans on; `rests_on` what
    our check leans on. A claim that `uses` a refuted one falls with it, unless our check shows by its own route that it
    holds. Ambiguous words have no checker, but `readings`: claims of their own. `untested` tells of hypotheses whose
    ends the check need not try. Of the machine-made variants that come out as the claim does, `true_variants` tells why
    they are true as well, and `survivors` why the check cannot tell others; a PROVED claim has none of the latter.
    """

    id: str
    source: str
    statement: str
    words: str
    hypotheses: tuple[Parameter, ...]
    says: Any
    check: Checker | None
    expected: str
    quote: str = ""
    whose: Whose = Whose.OURS
    severity: Stake = Stake.EDITORIAL
    flips: tuple[Flip, ...] = ()
    repair: Repair | None = None
    repaired_by: str | None = None
    readings: tuple[str, ...] = ()
    uses: tuple[str, ...] = ()
    rests_on: tuple[str, ...] = ()
    true_variants: Mapping[str, str] = field(default_factory=dict)
    survivors: Mapping[str, str] = field(default_factory=dict)
    untested: Mapping[str, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if (self.check is None) != bool(self.readings):
            raise OracleError(f"claim {self.id} needs either a checker or readings")
        if self.repair is not None and self.repaired_by is not None:
            raise OracleError(f"claim {self.id} has a repair and names another")

    @property
    def paper(self) -> str:
        """The part of the id before the slash."""
        return self.id.split("/", 1)[0]

    @property
    def domains(self) -> list[dict[str, str]]:
        """Its hypotheses as the commands write them: what has which domain."""
        return [picked(item, "name", "domain") for item in self.hypotheses]

    @property
    def of_document(self) -> bool:
        """Whether it is a statement that the document makes."""
        return self.whose in (Whose.PRINTED, Whose.TYPO)

    @property
    def registered(self) -> Claim:
        """As it is registered: its repair is a claim of its own, and a flip where one checker judges both."""
        if self.repair is None:
            return self
        the_repair = Flip("the repair", self.repair.says, Expectation.of(self.repair.expected).verdict)
        flips = (*self.flips, the_repair) if self.repair.check is None else self.flips
        return replace(self, repair=None, repaired_by=f"{self.id}-repaired", flips=flips)


def citing(verdict: Verdict, reason: str) -> Checker:
    """The checker of a claim about which nothing is computed; the reason says who proves it, or what is missing."""
    return lambda says, given: cited(verdict, reason)


def expanded(item: Claim) -> Iterator[Claim]:
    """A claim as it is registered, and its repair as a claim of its own."""
    yield item.registered
    repair = item.repair
    if repair is None:
        return
    check, mirrored = repair.check or item.check, repair.check is None
    yield Claim(
        f"{item.id}-repaired", repair.source or f"{item.source}, repaired", repair.statement, repair.words,
        item.hypotheses if repair.hypotheses is None else repair.hypotheses, repair.says, check, repair.expected,
        severity=item.severity, uses=repair.uses, rests_on=repair.rests_on, true_variants=repair.true_variants,
        survivors=repair.survivors, untested=repair.untested,
        flips=repair.flips + ((Flip("as printed", item.says, Verdict.REFUTED),) if mirrored else ()),
    )


@functools.cache
def claims() -> dict[str, Claim]:
    """All claims by id, repairs included; every id that a claim names must exist.

        >>> import dp_oracle
        >>> dp_oracle.claims()["relu-approx/lem-2.5"].source
        '000, Lemma 2.5 (Dong, Roth and Su 2022, Cor. 2.13)'
    """
    every = [one for item in discover(Claim, "theorems") for one in expanded(item)]
    table = index(every, lambda item: item.id)
    for item in table.values():
        repaired = (item.repaired_by,) if item.repaired_by else ()
        for other in (*item.uses, *item.rests_on, *item.readings, *repaired):
            if other not in table:
                raise OracleError(f"claim {item.id} names {other}, which is not registered")
    return table


@functools.cache
def expectations() -> dict[str, Expectation]:
    """What is expected of every claim."""
    return {name: Expectation.of(item.expected) for name, item in claims().items()}


def by_severity(items: Iterable[Claim]) -> list[Claim]:
    """Claims in the order of every list for people: what matters most first, refuted before the others, then by id."""
    return sorted(items, key=lambda item: (
        item.severity.rank, Expectation.of(item.expected).verdict is not Verdict.REFUTED, item.id))


def claim(name: str) -> Claim:
    """The claim of that id."""
    return named(claims(), "claim", name)


@dataclass(frozen=True)
class Checked:
    """A claim with its finding, as strong as what it rests on, and what was expected; `capped_by` is the weakest."""

    claim: Claim
    finding: Finding
    expected: Expectation
    capped_by: str = ""

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
            **picked(item, "id", "source", "quote", "statement", "words"), "whose": item.whose.value,
            "severity": item.severity.value, "hypotheses": item.domains,
            "verdict": plain(finding.verdict), "expected": plain(expected.verdict),
            **picked(self, "as_expected", "difference"), "evidence": plain(finding.evidence),
            "expected_evidence": plain(expected.evidence), "capped_by": self.capped_by,
            **picked(finding, "summary", "witness", "scope"),
            "steps": [picked(step, "words", "kind", "computed") for step in finding.steps],
            **picked(item, "repaired_by", "readings", "uses", "rests_on"),
        }


def judge(item: Claim, says: Any, domain: Domain | None = None, *, jumps: bool = False) -> Finding:
    """What a claim's checker finds about a statement, held to the rules that every finding obeys.

    With `jumps` the formulas may answer with expressions that jump: the checker has to find out by itself.
    """
    if item.check is None:
        return _of_readings(item)
    given, answers = Domain(item.hypotheses) if domain is None else domain, Answers()
    finding = item.check(answers.watched(says), given)
    scope = finding.scope
    if scope is not None and scope.kind in ("box", "points") and scope.met == 0:
        return replace(finding, verdict=Verdict.VACUOUS, summary=f"no point met the hypotheses ({scope.tried} tried)")
    rule = broken_rule(finding)
    if rule:
        raise OracleError(f"the checker of {item.id} {rule}")
    told = _hollow(item, says, finding, given, answers) if finding.verdict is Verdict.HOLDS else ""
    if told and not (jumps and told.endswith(answers.jump or "none")):
        raise OracleError(f"the checker of {item.id} calls {finding.evidence.value} what {told}")
    return finding


def _hollow(item: Claim, says: Any, finding: Finding, given: Domain, answers: Answers) -> str:
    """Why what is said to hold is not known so: ends of the hypotheses left out, a formula that tells numbers apart."""
    if answers.missing:
        return f"gives no number at {answers.missing}"
    kind = "" if finding.scope is None else finding.scope.kind
    if kind == "instance" and item.hypotheses:
        return f"is one instance, but has hypotheses: {', '.join(one.name for one in item.hypotheses)}"
    left = [name for name in given.untested if name not in item.untested] if kind else []
    if left:
        return f"it never tried at the ends of {', '.join(left)}"
    if kind in ("all", "box") and answers.part_of_ball:
        return f"branches for a part of a ball: {answers.part_of_ball}"
    branch = branch_in(says) or answers.jump if kind in ("all", "box") else ""
    return branch and f"may differ at single numbers: {branch}"


def _of_readings(item: Claim) -> Finding:
    """What the readings of ambiguous words come to: the verdict that all share, or AMBIGUOUS."""
    found = {name: expectations()[name] for name in item.readings}
    verdicts = {one.verdict for one in found.values()}
    verdict = verdicts.pop() if len(verdicts) == 1 else Verdict.AMBIGUOUS
    told = "; ".join(f"{name}: {one}" for name, one in found.items())
    evidence, _ = weakest({name: one.evidence for name, one in found.items()}, Evidence.PROVED)
    return Finding(verdict, evidence, f"its readings: {told}")


def capped(item: Claim, finding: Finding, known: Mapping[str, Expectation] | None = None) -> Checked:
    """A finding with its expectation, its evidence no stronger than that of what the check rests on."""
    table = expectations() if known is None else known
    expected = Expectation.of(item.expected)
    if finding.verdict not in (Verdict.HOLDS, Verdict.REFUTED) or finding.evidence is Evidence.CITED:
        return Checked(item, finding, expected)
    fallen = [name for name in item.rests_on if table[name].verdict is not Verdict.HOLDS]
    if fallen:
        raise OracleError(f"the check of {item.id} rests on {', '.join(fallen)}, which is not established")
    evidence, name = weakest({other: table[other].evidence for other in item.rests_on}, finding.evidence)
    return Checked(item, replace(finding, evidence=evidence), expected, name)


def check(item: Claim | str) -> Checked:
    """What a check of a claim, or of the claim of that id, finds, beside what is expected of it.

        >>> import dp_oracle
        >>> found = dp_oracle.check("relu-approx/lem-3.2")
        >>> found.finding.verdict.value, found.claim.repaired_by, found.as_expected
        ('REFUTED', 'relu-approx/lem-3.2-repaired', True)
        >>> found.finding.witness["largest curvature"], found.finding.witness["claimed"]
        ('3', '2')
    """
    known = claim(item) if isinstance(item, str) else item
    return capped(known, judge(known, known.says))
