"""What the gate found out: the outcome of each case, of the search beyond the vectors, and of an audited training.

Good is what the policy lets pass (`policy`), and whatever an expected failure foretells; BELOW_FORMULA is undecided
unless the policy says otherwise. Cases and failures are counted over one number of questions: the vectors and what the
search judged, together. A target that cannot be used has no verdict and never passes.
"""

from __future__ import annotations

import decimal
import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from empirical.gate.making.cases import Case
from empirical.gate.policy import DEFAULT, Policy
from empirical.gate.severity import Severity, everyday
from empirical.gate.verdicts import GateVerdict, Judgement
from empirical.gate.xfail import TODO, VIOLATION, Xfail
from oracle.core.plain import by_fields, plain_object
from oracle.running.console import BAD_USAGE, GOOD, INTERRUPTED, UNDECIDED, WRONG

ANSWERED = (GateVerdict.TIGHT, GateVerdict.LOOSE, GateVerdict.BELOW_FORMULA, GateVerdict.UNSOUND)
"""The verdicts on a number that answers a valid case."""

_NAMES = {"cut_short": "cutShort", "not_found": "notFound"}


@dataclass(frozen=True)
class Outcome:
    """A case with its verdict, the exact call, and whether that is good; `why` says why not, or why a failure is.

    `undecided` is what is neither good nor a failure: below the formula, and not known to be wrong.
    """

    case: Case
    call: str
    judgement: Judgement
    good: bool
    expected_failure: Xfail | None = None
    why: str = ""
    undecided: bool = False

    def to_json(self) -> dict[str, Any]:
        """Its JSON object; numbers are decimal strings."""
        truth, judged = self.case.expected, self.judgement
        return plain_object({  # by hand: case and judgement in one flat object, with the names of the vector files
            "tcId": self.case.tc_id, "flags": self.case.flags, "comment": self.case.comment, "input": self.case.input,
            "result": "valid" if self.case.valid else "invalid",
            "expected": None if truth is None else {"lower": _decimal(truth.lower), "upper": _decimal(truth.upper)},
            "attained": None if truth is None or truth.attained is None else _decimal(truth.attained),
            "call": self.call, "verdict": judged.verdict, "answer": judged.answer, "detail": judged.detail,
            "amount": _number(judged.amount), "relative": _number(judged.relative), "severity": judged.severity,
            "factor": _number(judged.factor), "good": self.good, "undecided": self.undecided, "why": self.why,
            "expectedFailure": self.expected_failure,
        })


@dataclass(frozen=True)
class Unsupported:
    """A word that the target refuses in every valid case, while it answers another."""

    parameter: str
    word: str
    cases: int

    def __str__(self) -> str:
        return f"unsupported: {self.parameter}={self.word}, {self.cases} cases"


@dataclass(frozen=True)
class GateSearch:
    """What the search beyond the vectors did: `worst` has the worst case of each verdict, shrunk to a simple input.

    `screened` points were asked, and the truth certified where the answer looked wrong. `asked` examples were drawn,
    and a few more climbed to: `judged` have a verdict, `failed` of them one that fails and `undecided` one that is
    neither good nor a failure, and `refused` were refused;
    `uncertified` are those whose truth the reference could not certify, `outside` those that no double could answer or
    that lie outside the domain: neither counts as a pass. `cut_short` says that time ran out, so that another run may
    find something else; `not_found` are expected verdicts that did not turn up, which proves nothing.
    """

    asked: int
    judged: int
    refused: int
    uncertified: int
    outside: int
    cut_short: bool
    seconds: float
    worst: tuple[Outcome, ...]
    not_found: tuple[Xfail, ...] = ()
    failed: int = 0
    undecided: int = 0
    screened: int = 0

    @property
    def told(self) -> str:
        """The search in one line."""
        parts = [f"search: {self.judged} examples judged beyond the vectors"]
        parts += [f"{self.screened} more points screened"] if self.screened else []
        parts += [
            f"{count} {what}" for count, what in (
                (self.refused, "refused"), (self.uncertified, "not certified by the reference"),
                (self.outside, "left out (outside the domain, or beyond the doubles)"),
            ) if count
        ]
        if self.cut_short:
            parts.append(f"cut short after {self.seconds:.0f} s: another run may find something else")
        return ", ".join(parts)

    def to_json(self) -> dict[str, Any]:
        """Its JSON object: the fields, with the names of the vector files."""
        found = by_fields(self, seconds=round(self.seconds, 3))
        return {_NAMES.get(name, name): value for name, value in found.items()}


@dataclass(frozen=True)
class Result:
    """A target held to a bound.

    `not_offered` vectors were not asked; `seconds` is what the target took for the others; `unusable` says why it has
    no verdict.
    """

    target: str
    bound: str
    safe: str
    seed: int
    outcomes: tuple[Outcome, ...]
    policy: Policy = DEFAULT
    unit: str = ""
    not_offered: int = 0
    searched: GateSearch | None = None
    unsupported: tuple[Unsupported, ...] = ()
    seconds: float = 0.0
    interrupted: bool = False
    unusable: str = ""

    @property
    def counts(self) -> dict[GateVerdict, int]:
        """How many vectors came out with each verdict."""
        counted = Counter(outcome.judgement.verdict for outcome in self.outcomes)
        return {verdict: counted[verdict] for verdict in GateVerdict}

    @property
    def failures(self) -> tuple[Outcome, ...]:
        """What is not good, of the vectors and of the search."""
        return tuple(outcome for outcome in self.found if not outcome.good and not outcome.undecided)

    @property
    def undecided(self) -> tuple[Outcome, ...]:
        """What is neither good nor a failure, of the vectors and of the search."""
        return tuple(outcome for outcome in self.found if outcome.undecided)

    @property
    def found(self) -> tuple[Outcome, ...]:
        """The outcome of every vector, and the worst of the search."""
        return (*self.outcomes, *(() if self.searched is None else self.searched.worst))

    @property
    def questions(self) -> dict[str, int]:
        """How many questions were judged, vectors and examples of the search together, and how many of them failed."""
        searched = self.searched
        failed = sum(not outcome.good and not outcome.undecided for outcome in self.outcomes)
        undecided = sum(outcome.undecided for outcome in self.outcomes)
        return {
            "judged": len(self.outcomes) + (searched.judged + searched.refused if searched else 0),
            "failed": failed + (searched.failed if searched else 0),
            "undecided": undecided + (searched.undecided if searched else 0),
        }

    @property
    def severities(self) -> dict[Severity, int]:
        """How many vectors are unsound, by how much it matters."""
        counted = Counter(outcome.judgement.severity for outcome in self.outcomes)
        return {severity: counted[severity] for severity in Severity}

    @property
    def expected_failures(self) -> tuple[Outcome, ...]:
        """What fails as the library's own file foretells."""
        return tuple(outcome for outcome in self.found if outcome.good and outcome.expected_failure)

    @property
    def exit_code(self) -> int:
        """0 good, 1 something failed, 2 unusable, 3 undecided: below a formula, or nothing judged; 130 interrupted."""
        if self.interrupted:
            return INTERRUPTED
        if self.unusable:
            return BAD_USAGE
        if self.failures:
            return WRONG
        nothing_found = self.searched is not None and self.searched.asked > 0 and not (
            self.searched.judged or self.searched.refused
        )
        return UNDECIDED if not self.outcomes or nothing_found or self.undecided else GOOD

    def worst(self, verdict: GateVerdict, *, ordinary: bool | None = None) -> Outcome | None:
        """The worst case of a verdict, by its shortfall; of equally bad ones that with the largest truth.

        `ordinary` takes only those inside the everyday box, or only those outside of it.
        """
        same = [
            outcome for outcome in self.found if outcome.judgement.verdict is verdict
            and (ordinary is None or everyday(outcome.case, self.unit) is ordinary)
        ]
        return max(same, key=lambda outcome: (severity(outcome), _size(outcome)), default=None)

    def to_xfails(self) -> list[Xfail]:
        """The present failures as entries of an expected-failure file, with the reasons that are known."""
        groups: dict[tuple[str, str, str, tuple[str, ...]], list[int]] = {}
        for outcome in self.found:
            entry = outcome.expected_failure
            held = entry is not None and outcome.good
            if outcome.judgement.verdict is GateVerdict.TIGHT or (outcome.good and not held):
                continue
            known = (entry.reason, entry.link, entry.also) if entry is not None and held else (TODO, "", ())
            key = (str(outcome.judgement.verdict), *known)
            groups.setdefault(key, []).append(outcome.case.tc_id)
        entries = []
        for (verdict, reason, link, also), tc_ids in sorted(groups.items()):
            vectors = tuple(tc_id for tc_id in tc_ids if tc_id)
            if vectors:
                entries.append(Xfail(self.bound, verdict, reason, "", link, cases=vectors, also=also))
            if 0 in tc_ids:
                entries.append(Xfail(self.bound, verdict, reason, "", link, search=True))
        return entries

    def to_json(self) -> dict[str, Any]:
        """Its JSON object, valid under schemas/result.schema.json."""
        return plain_object({  # by hand: what follows from the fields stands among them
            "kind": "bound", "target": self.target, "bound": self.bound, "safe": self.safe,
            **self.policy.to_json(),
            "seed": self.seed, "exitCode": self.exit_code, "unusable": self.unusable, "interrupted": self.interrupted,
            "seconds": round(self.seconds, 3), "counts": self.counts, "severities": self.severities,
            "questions": self.questions, "notOffered": self.not_offered, "unsupported": self.unsupported,
            "tests": self.outcomes, "search": self.searched,
        })


@dataclass(frozen=True)
class TrainingResult:
    """A training held to a claimed (epsilon, delta) by an audit: CONSISTENT, VIOLATION, or INVALID with the reason."""

    target: str
    verdict: str
    reason: str
    claim: str
    audit: Mapping[str, Any]
    expected_failure: Xfail | None = None
    seconds: float = 0.0

    @property
    def good(self) -> bool:
        """Whether it came out as claimed, or failed as the library's own file foretells."""
        return self.verdict == (VIOLATION if self.expected_failure is not None else "CONSISTENT")

    @property
    def why(self) -> str:
        """What is wrong with an outcome that is not good."""
        if self.good or self.expected_failure is None:
            return "" if self.good else self.reason
        return f"expected {VIOLATION} by {self.expected_failure.place}, came out {self.verdict}: {self.reason}"

    @property
    def exit_code(self) -> int:
        """0 good, 1 a violation or an expected one that is gone, 2 it cannot be audited."""
        return GOOD if self.good else BAD_USAGE if self.verdict == "INVALID" else WRONG

    def to_xfails(self) -> list[Xfail]:
        """A present violation as an entry of an expected-failure file."""
        if self.verdict != VIOLATION:
            return []
        known = self.expected_failure
        return [Xfail(self.target, VIOLATION, known.reason if known else TODO, "", known.link if known else "")]

    def to_json(self) -> dict[str, Any]:
        """Its JSON object, valid under schemas/result.schema.json."""
        return plain_object({  # by hand, as above
            "kind": "training", "target": self.target, "claim": self.claim, "verdict": self.verdict,
            "reason": self.reason, "good": self.good, "why": self.why, "exitCode": self.exit_code,
            "seconds": round(self.seconds, 3), "audit": self.audit, "expectedFailure": self.expected_failure,
        })


AnyResult = Result | TrainingResult


def exit_code(results: Sequence[AnyResult]) -> int:
    """The exit code of several results: the gravest."""
    codes = {result.exit_code for result in results} or {UNDECIDED}
    return next(code for code in (INTERRUPTED, BAD_USAGE, WRONG, UNDECIDED, GOOD) if code in codes)


def _size(outcome: Outcome) -> Fraction:
    """How large the truth certainly is."""
    return Fraction(0) if outcome.case.expected is None else outcome.case.expected.lower


def shortfall(gap: float, larger: float) -> float:
    """How unsound an answer is that misses the truth by a gap, in [0, 1]; `larger` is the larger of the two in size.

    The lesser of gap / larger and gap / (1 + gap): half an epsilon of 10 is worse than half of one of 0.1, and both are
    worse than -0.01 for 0, or than rounding in what is next to nothing.
    """
    if math.isinf(gap):
        return 1.0
    return min(gap / larger, gap / (1 + gap)) if gap > 0 else 0.0


def severity(outcome: Outcome) -> float:
    """How bad a case is among those of its verdict: its shortfall, or |log(answer / truth)| where it is LOOSE.

    LOOSE at a truth of 0, which has no factor, counts 0.
    """
    judged, truth = outcome.judgement, outcome.case.expected
    if truth is None or judged.factor is None:
        return 0.0
    if judged.verdict in (GateVerdict.UNSOUND, GateVerdict.BELOW_FORMULA) and judged.amount is not None:
        limit = judged.amount / judged.relative if judged.relative else 0.0  # whose relative gap is infinite at 0
        below = judged.factor < 1
        return shortfall(judged.amount, max(abs(limit), abs(limit - judged.amount if below else limit + judged.amount)))
    if judged.verdict is not GateVerdict.LOOSE or truth.upper == 0:
        return 0.0
    return abs(math.log(judged.factor)) if judged.factor > 0 else math.inf


def unsupported_words(
    choices: Mapping[str, Sequence[str]], judged: Iterable[tuple[Case, GateVerdict]]
) -> list[Unsupported]:
    """The words whose valid cases are all refused while valid cases with another word of the parameter are answered."""
    valid = [(case, verdict) for case, verdict in judged if case.valid]
    found = []
    for parameter, words in choices.items():
        verdicts = {word: [v for case, v in valid if case.input.get(parameter) == word] for word in words}
        some = any(verdict in ANSWERED for of_word in verdicts.values() for verdict in of_word)
        found += [
            Unsupported(parameter, word, len(of_word)) for word, of_word in verdicts.items()
            if some and of_word and all(verdict is GateVerdict.REFUSED for verdict in of_word)
        ]
    return found


def _decimal(value: Fraction) -> str:
    """A certified end as the decimal number that it is."""
    with decimal.localcontext(decimal.Context(prec=2000)):
        return str(decimal.Decimal(value.numerator) / decimal.Decimal(value.denominator))


def _number(value: float | None) -> str | None:
    return None if value is None else repr(value)
