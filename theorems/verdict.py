"""What a check finds: a verdict, how much of the hypotheses it covers, and how we know, step by step.

A checker ends in one of a few calls: `refuted` (one instance is against it), `proof` (steps, each of them computed for
all values, sampled at some of them, or argued in words), `instance` (a printed number, recomputed), `at_points`,
`undecided`, `cited`. Evidence is never chosen by hand where it follows from the steps: a proof with a step that is
argued or sampled is ARGUED, one whose steps were all computed is PROVED, and one with a computed or sampled step that
failed is no proof, but UNDECIDED.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import Enum

from sympy.logic.boolalg import BooleanAtom

from oracle.core.errors import OracleError


class Verdict(Enum):
    """What a check found."""

    HOLDS = "HOLDS"
    REFUTED = "REFUTED"
    AMBIGUOUS = "AMBIGUOUS"  # the document's words have readings of different verdicts, each a claim of its own
    UNDECIDED = "UNDECIDED"
    VACUOUS = "VACUOUS"
    NOT_CHECKABLE = "NOT_CHECKABLE"


class Evidence(Enum):
    """How strong the finding is, strongest first; never stronger than that of the claims that the check rests on."""

    PROVED = "PROVED"  # every step computed, for all values in scope
    ARGUED = "ARGUED"  # a written proof some steps of which are computed
    CERTIFIED_ON_BOX = "CERTIFIED_ON_BOX"
    CHECKED_AT_POINTS = "CHECKED_AT_POINTS"
    STATISTICAL = "STATISTICAL"  # with a stated error probability
    CITED = "CITED"

    @property
    def rank(self) -> int:
        """Its place, the strongest first."""
        return list(Evidence).index(self)


SCOPES = ("all", "box", "points", "instance")


@dataclass(frozen=True)
class Scope:
    """How much of the hypotheses a check covered: "all" of them, a "box", "points", or an "instance".

    An instance is a printed number, a table's entry, or one counterexample. `tried` counts the points or boxes that
    were looked at, `met` those of them that met the hypotheses, and `region` says from where they came. If none met
    them, the claim is VACUOUS.
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
INSTANCE = Scope("instance")


@dataclass(frozen=True)
class ProofStep:
    """A step of a proof in words, and whether the checker computed it: `passed` is None for one argued in words.

    A step that is computed at points only, and not for all values that it is about, is not `everywhere`.
    """

    words: str
    passed: bool | None
    everywhere: bool = True

    @property
    def computed(self) -> bool:
        """Whether the checker computed it for all values that it is about, and it came out true."""
        return self.passed is True and self.everywhere

    @property
    def kind(self) -> str:
        """How it is known: "computed", "sampled" or "argued"."""
        return "argued" if self.passed is None else "computed" if self.everywhere else "sampled"


def computed(words: str, passed: bool | None) -> ProofStep:
    """A step that was computed, for all values, and came out so; None, for "cannot tell", counts as not passed."""
    return ProofStep(words, _truth(words, passed))


def sampled(words: str, passed: bool | None) -> ProofStep:
    """A step that was tried at points, in exact or certified arithmetic: for all values it stands in words only."""
    return ProofStep(words, _truth(words, passed), everywhere=False)


def _truth(words: str, passed: object) -> bool:
    """What a step came to; what is no truth value, such as an expression that was to vanish, is an error, not true."""
    if passed is None or isinstance(passed, (bool, BooleanAtom)):
        return bool(passed)
    raise OracleError(f"a step came to {passed!r}, which is neither true nor false: {words}")


def argued(words: str) -> ProofStep:
    """A step that stands in words only, here or in the module's docstring."""
    return ProofStep(words, None)


@dataclass(frozen=True)
class Finding:
    """A verdict, how we know, and the numbers; for a refuted claim the witness is the counterexample.

    `scope` is None only where nothing was computed: CITED and NOT_CHECKABLE. `steps` are those of a proof.
    """

    verdict: Verdict
    evidence: Evidence
    summary: str
    witness: Mapping[str, str] = field(default_factory=dict)
    scope: Scope | None = None
    steps: tuple[ProofStep, ...] = ()


def refuted(summary: str, witness: Mapping[str, object], *, by: Evidence = Evidence.PROVED) -> Finding:
    """One instance, the witness, is against the statement: exactly or certified, unless `by` says how else."""
    return Finding(Verdict.REFUTED, by, summary, _told(witness), INSTANCE)


def proof(*steps: ProofStep, summary: str = "", tried: int = 0, witness: Mapping[str, object] | None = None) -> Finding:
    """What a proof for all values of the hypotheses comes to; `tried` counts the points that it was also held against.

    The steps in their order are the summary, unless there is a better one.
    """
    failed = [step.words for step in steps if step.passed is False]
    if failed:
        return undecided(f"no point tried is against it, but this step of the proof fails: {failed[0]}", max(tried, 1))
    evidence = Evidence.PROVED if all(step.computed for step in steps) else Evidence.ARGUED
    words = summary or "; ".join(step.words for step in steps)
    points = f" ({tried} points held against it)" if tried else ""
    return Finding(Verdict.HOLDS, evidence, words + points, _told(witness), ALL, steps)


def instance(summary: str, witness: Mapping[str, object] | None = None) -> Finding:
    """A statement about finitely many printed numbers, all of them recomputed exactly or certified."""
    return Finding(Verdict.HOLDS, Evidence.PROVED, summary, _told(witness), INSTANCE)


def at_points(
    summary: str, scope: Scope | int, region: Mapping[str, str] | None = None,
    witness: Mapping[str, object] | None = None,
) -> Finding:
    """Held at points, in exact or certified arithmetic, and not proved beyond; an int counts points that all met."""
    return Finding(Verdict.HOLDS, Evidence.CHECKED_AT_POINTS, summary, _told(witness), _points(scope, region))


def undecided(summary: str, scope: Scope | int, region: Mapping[str, str] | None = None) -> Finding:
    """Nothing is against it where it was tried, and nothing proves it."""
    return Finding(Verdict.UNDECIDED, Evidence.CHECKED_AT_POINTS, summary, scope=_points(scope, region))


def cited(verdict: Verdict, reason: str) -> Finding:
    """A finding without a computation; the reason says who proves it, or what is missing."""
    return Finding(verdict, Evidence.CITED, reason)


def weakest(found: Mapping[str, Evidence], own: Evidence) -> tuple[Evidence, str]:
    """The weakest of one's own evidence and that of others, and whose it is; one's own has no name."""
    name = max(found, key=lambda other: found[other].rank, default="")
    return (found[name], name) if name and found[name].rank > own.rank else (own, "")


def broken_rule(finding: Finding) -> str:
    """The rule that a finding breaks, in words; empty if it breaks none."""
    scope, kind = finding.scope, "" if finding.scope is None else finding.scope.kind
    nothing, holds = finding.evidence is Evidence.CITED, finding.verdict is Verdict.HOLDS
    scopes = {
        Evidence.PROVED: ("all", "instance"), Evidence.ARGUED: ("all",), Evidence.CERTIFIED_ON_BOX: ("box",),
        Evidence.CHECKED_AT_POINTS: ("points",), Evidence.STATISTICAL: ("points",), Evidence.CITED: ("",),
    }
    rules = {
        "refutes without a witness": finding.verdict is Verdict.REFUTED and not finding.witness,
        "refutes by more than one instance": finding.verdict is Verdict.REFUTED and kind != "instance",
        "does not say how much of the hypotheses it covered": not nothing and scope is None,
        "claims a computation where it only cites": nothing and scope is not None,
        f"calls {kind or 'nothing'} {finding.evidence.value}": holds and kind not in scopes[finding.evidence],
        "proves for all values without a step": holds and kind == "all" and not finding.steps,
        "calls proved what it argues": holds and finding.evidence is Evidence.PROVED
        and not all(step.computed for step in finding.steps),
        "argues without a computed step": holds and finding.evidence is Evidence.ARGUED
        and not any(step.passed for step in finding.steps),
        "calls argued what it computes": finding.evidence is Evidence.ARGUED
        and all(step.computed for step in finding.steps),
        "has a failed step": any(step.passed is False for step in finding.steps),
        "does not state its error probability": finding.evidence is Evidence.STATISTICAL
        and (scope is None or "error probability" not in scope.region),
        "computes what it calls not checkable": finding.verdict is Verdict.NOT_CHECKABLE and not nothing,
        "gives no reason": not finding.summary.strip(),
    }
    return next((rule for rule, is_so in rules.items() if is_so), "")


def _told(witness: Mapping[str, object] | None) -> dict[str, str]:
    return {name: str(value) for name, value in (witness or {}).items()}


def _points(scope: Scope | int, region: Mapping[str, str] | None) -> Scope:
    return Scope("points", scope, scope, region or {}) if isinstance(scope, int) else scope
