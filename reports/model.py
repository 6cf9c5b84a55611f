"""What the report says, as data: every bound, claim, audit, false promise and planted bug, with what was found.

`collect` does the work and returns a frozen `Report`; `Report.to_json` is the stable content of `report.json`, whose
schema is `templates/report.schema.json`. Nothing here depends on the clock or the machine's name, so the same seed,
budget and libraries give the same report byte for byte. Numbers that carry a certificate are decimal strings.
"""

from __future__ import annotations

import json
import platform
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from importlib import metadata, resources
from pathlib import Path
from typing import Any, TypeVar

import numpy as np

from empirical.audits.audit import Audit
from empirical.audits.audit_plan import AuditPlan
from empirical.audits.campaigns import ALL
from empirical.audits.tightness import TightnessRow, carry_out
from empirical.gate.league.league import League
from empirical.mutants.mutant import Judged, Mutant, judge, mutants
from empirical.studies import record, runs
from empirical.studies.outcome import StudyOutcome
from empirical.studies.study import Study, studies
from oracle.core.domain import Parameter
from oracle.core.enclosure import Dyadic
from oracle.core.errors import OracleError
from oracle.core.plain import by_fields, picked, plain, plain_object
from oracle.core.registry import Bound, bounds
from theorems.claim import Checked, Claim, Expectation, claims
from theorems.findings import Findings
from theorems.graph import consequences, users
from theorems.promise import AuditedPromise, FalseClaim, false_claims
from theorems.promise import carry_out as audit_false_claims
from theorems.run import Failed
from theorems.run import run as check_all
from theorems.verdict import Evidence, Verdict

DISTRIBUTION = "dp-oracle"
FORMAT = "dp-oracle-report/1"
LIBRARIES = ("numpy", "torch", "python-flint")

Item = TypeVar("Item")
Result = TypeVar("Result")

Progress = Callable[[str, float], None]
"""Told what is being done, and how much of a step was done since it was last told."""


@dataclass(frozen=True)
class ReportScope:
    """What a report covers."""

    bounds: tuple[Bound, ...]
    claims: tuple[Claim, ...]
    audits: Mapping[str, AuditPlan]
    mutants: tuple[Mutant, ...]
    false_claims: tuple[FalseClaim, ...]
    studies: Mapping[str, Study]

    @property
    def steps(self) -> int:
        """How many steps `collect` will tell its progress of."""
        parts = (self.bounds, self.claims, self.audits, self.mutants, self.false_claims)
        return sum(map(len, parts)) + bool(self.studies)


def everything() -> ReportScope:
    """All that is registered, and the default campaign."""
    return ReportScope(
        bounds=tuple(bounds().values()), claims=tuple(claims().values()), audits=ALL,
        mutants=tuple(mutants().values()), false_claims=tuple(false_claims().values()),
        studies=runs.chosen_studies((), everything=True, full=False),
    )


@dataclass(frozen=True)
class Example:
    """A bound at one point: its certified ends and its fast value, as decimals rounded to the safe side."""

    params: Mapping[str, str]
    lower: str
    upper: str
    fast: str


@dataclass(frozen=True)
class BoundEntry:
    """A bound with its example, if it has one."""

    bound: Bound
    example: Example | None

    def to_json(self) -> dict[str, Any]:
        """The bound's object in `report.json`."""
        item = self.bound
        return {  # by hand: a bound is code, of which JSON has the words alone
            **picked(item, "name", "unit", "summary", "formula"), "parameters": _parameters(item.parameters),
            "hypotheses": [picked(one, "name", "kind", "words") for one in item.hypotheses],
            **picked(item, "neighbours", "threat_model", "source", "validity"), "example": plain(self.example),
        }


@dataclass(frozen=True)
class ClaimEntry:
    """A checked claim with the claims that point to it, and what a refutation of it means for others."""

    checked: Checked
    used_by: tuple[str, ...]
    repairs: tuple[str, ...]
    falls: tuple[str, ...]
    survives: tuple[str, ...]

    def to_json(self) -> dict[str, Any]:
        """The claim's object in `report.json`: that of `dp-oracle check`, its hypotheses and its back-links."""
        links = by_fields(self)
        return {
            **links.pop("checked"), "paper": self.checked.claim.paper,
            "hypotheses": _parameters(self.checked.claim.hypotheses), **links,
        }


@dataclass(frozen=True)
class Counts:
    """How many claims came out in which way."""

    count: int
    verdicts: Mapping[str, int]
    evidence: Mapping[str, int]

    @staticmethod
    def of(checked: Sequence[Checked]) -> Counts:
        """The counts of some claims; every verdict and kind of evidence is there, if only with zero."""
        verdicts = Counter(item.finding.verdict for item in checked)
        evidence = Counter(item.finding.evidence for item in checked)
        return Counts(
            len(checked), {verdict.value: verdicts[verdict] for verdict in Verdict},
            {kind.value: evidence[kind] for kind in Evidence},
        )


@dataclass(frozen=True)
class Totals:
    """The counts at the top of the report."""

    bounds: int
    counts: Counts
    papers: Mapping[str, Counts]
    as_expected: int
    unexpected: tuple[str, ...]
    cited: tuple[str, ...]
    undecided: tuple[str, ...]
    audits: int
    consistent: int
    harmful: int
    killed: int
    equivalent: int
    spared: int
    false_claims: int
    violations: int
    promises_as_expected: int
    rates: int
    rates_as_recorded: int

    @property
    def ok(self) -> bool:
        """Whether everything is as expected."""
        return (
            self.as_expected == self.counts.count and self.consistent == self.audits
            and self.killed == self.harmful and self.spared == self.equivalent
            and self.promises_as_expected == self.false_claims and self.rates_as_recorded == self.rates
        )

    def to_json(self) -> dict[str, Any]:
        """The totals' object in `report.json`."""
        return {  # by hand: grouped by room
            "bounds": self.bounds,
            "claims": {
                **by_fields(self.counts), **picked(self, "as_expected", "unexpected", "cited", "undecided", "papers"),
            },
            "audits": {"count": self.audits, "consistent": self.consistent},
            "mutants": {
                **picked(self, "harmful", "killed", "equivalent", "spared"),
                "kill_score": self.killed / self.harmful if self.harmful else None,
            },
            "false_claims": {
                "count": self.false_claims, "violations": self.violations, "as_expected": self.promises_as_expected,
            },
            "rates": {"count": self.rates, "as_recorded": self.rates_as_recorded},
        }


@dataclass(frozen=True)
class Report:
    """All that the report shows."""

    version: str
    libraries: Mapping[str, str]
    seed: int
    budget: int | None
    bounds: tuple[BoundEntry, ...]
    claims: tuple[ClaimEntry, ...]
    audits: tuple[tuple[str, Audit], ...]
    mutants: tuple[Judged, ...]
    false_claims: tuple[AuditedPromise, ...]
    rates: tuple[StudyOutcome, ...]
    calibration: Sequence[Mapping[str, Any]]
    league: League
    variants: Mapping[str, Mapping[str, int]]
    unjudged: int

    @property
    def totals(self) -> Totals:
        """The counts, from the entries."""
        checked = [entry.checked for entry in self.claims]
        harmful = [item for item in self.mutants if item.mutant.severity != "E"]
        equivalent = [item for item in self.mutants if item.mutant.severity == "E"]
        papers = sorted({item.claim.paper for item in checked})
        return Totals(
            bounds=len(self.bounds), counts=Counts.of(checked), as_expected=sum(item.as_expected for item in checked),
            papers={paper: Counts.of([item for item in checked if item.claim.paper == paper]) for paper in papers},
            unexpected=tuple(item.claim.id for item in checked if not item.as_expected),
            cited=tuple(item.claim.id for item in checked if item.finding.evidence is Evidence.CITED),
            undecided=tuple(item.claim.id for item in checked if item.finding.verdict is Verdict.UNDECIDED),
            audits=len(self.audits), consistent=sum(item.verdict == "CONSISTENT" for _, item in self.audits),
            harmful=len(harmful), killed=sum(item.good for item in harmful),
            equivalent=len(equivalent), spared=sum(item.good for item in equivalent),
            false_claims=len(self.false_claims),
            violations=sum(item.audit.verdict == "VIOLATION" for item in self.false_claims),
            promises_as_expected=sum(item.good for item in self.false_claims),
            rates=len(self.rates),
            rates_as_recorded=sum(record.differs(item, record.known(item.study)) == "" for item in self.rates),
        )

    @property
    def tightness(self) -> tuple[TightnessRow, ...]:
        """The audits as rows of the tightness table; how long they took is no part of a report."""
        return tuple(TightnessRow(name, audit, None) for name, audit in self.audits)

    @property
    def ok(self) -> bool:
        """Whether every verdict is as expected, every audit consistent and every mutant judged rightly."""
        return self.totals.ok

    def to_json(self) -> dict[str, Any]:
        """The content of `report.json`."""
        return plain_object({  # by hand: what follows from the entries stands before them
            "format": FORMAT, "project": {"name": DISTRIBUTION, "version": self.version},
            **picked(self, "libraries", "seed", "budget", "ok", "totals", "bounds", "claims"), "audits": self.tightness,
            **picked(self, "mutants", "false_claims", "rates", "calibration", "league", "variants", "unjudged"),
        })


def shipped_league() -> League:
    """The league table as it was last made with the real libraries, which a reader of the report need not have."""
    with resources.as_file(resources.files("reports").joinpath("league.json")) as path:
        return League.read(path)


def shipped_variants() -> tuple[dict[str, dict[str, int]], int]:
    """How many machine-made false variants of claims survived when last judged, and of how many claims none were."""
    shipped = json.loads(resources.files("reports").joinpath("variants.json").read_text(encoding="utf-8"))
    return shipped["totals"], len(shipped["unjudged"])


def shipped_calibration() -> list[dict[str, Any]]:
    """How the method of the studies judged planted rates when it was last held to them."""
    rows: list[dict[str, Any]] = json.loads(
        resources.files("reports").joinpath("calibration.json").read_text(encoding="utf-8")
    )
    return rows


def _parameters(items: Iterable[Parameter]) -> list[dict[str, Any]]:
    return [picked(item, "name", "kind", "domain", "meaning") for item in items]


def evaluate(item: Bound, params: Mapping[str, str]) -> Example:
    """A bound at one point."""
    lower, upper = item.reference(**params).to_decimals()
    numbers = item.parse(params)
    arrays = {k: v if isinstance(v, str) else np.array([v], dtype=np.float64) for k, v in numbers.items()}
    return Example(dict(params), lower, upper, _safely(float(item.fast(**arrays)[0]), up=item.safe == "upper"))


def example_of(item: Bound) -> BoundEntry:
    """A bound evaluated at its example, if it has one."""
    return BoundEntry(item, None if item.example is None else evaluate(item, item.example))


def _safely(value: float, *, up: bool) -> str:
    """A double as a decimal on the asked side of it: the fast value is a safe end, and stays one in print."""
    numerator, denominator = value.as_integer_ratio()
    return Dyadic(numerator, 1 - denominator.bit_length()).to_decimal(digits=17, up=up)


def relate(checked: Iterable[Checked]) -> tuple[ClaimEntry, ...]:
    """Checked claims with their back-links: which use it, which it repairs, which fall with it and which survive."""
    found = tuple(checked)
    table = {item.claim.id: item.claim for item in found}
    known = {item.claim.id: Expectation(item.finding.verdict, item.finding.evidence) for item in found}

    def entry(item: Checked) -> ClaimEntry:
        falls, survives = consequences(table, item.claim.id, known)
        repairs = tuple(other.claim.id for other in found if other.claim.repaired_by == item.claim.id)
        return ClaimEntry(item, users(table, item.claim.id), repairs, falls, survives)

    return tuple(entry(item) for item in found)


def _each(
    items: Iterable[Item], what: Callable[[Item], str], work: Callable[[Item], Result], progress: Progress
) -> tuple[Result, ...]:
    """The work done on each item, with progress told before (what is being done) and after (that it is done)."""
    results = []
    for item in items:
        progress(what(item), 0)
        results.append(work(item))
        progress(what(item), 1)
    return tuple(results)


def _checked(items: Sequence[Claim], workers: int, store: Findings | None, progress: Progress) -> list[Checked]:
    """The claims checked; one that comes to no finding is an error, since a report must not leave it out."""
    outcomes = check_all(
        items, workers=workers, store=store, progress=lambda done: progress(f"claim {done.name}", 1)
    )
    failed = [f"{item.claim.id} ({item.error})" for item in outcomes if isinstance(item, Failed)]
    if failed:
        raise OracleError(f"no finding for {', '.join(failed)}")
    return [item for item in outcomes if isinstance(item, Checked)]


def collect(
    scope: ReportScope | None = None, *, budget: int | None = None, seed: int = 0, workers: int = 1,
    findings: Findings | None = None, store: Path | None = None, progress: Progress = lambda *_: None,
) -> Report:
    """Evaluate, check, audit and judge all that is in the scope (everything, if none is given).

    `budget` is the most models that an audit trains on each data set, if not its own number of them; a false claim
    takes at least as many as show its violation. Audits that `store` knows are read from it.
    """
    chosen = everything() if scope is None else scope
    plans = {
        name: replace(plan, budget=plan.budget if budget is None else min(plan.budget, budget), seed=seed)
        for name, plan in chosen.audits.items()
    }
    promises = [(item, item.at_most(budget, seed=seed)) for item in chosen.false_claims]
    return Report(
        version=metadata.version(DISTRIBUTION),
        libraries={"python": platform.python_version(), **{name: metadata.version(name) for name in LIBRARIES}},
        seed=seed,
        budget=budget,
        bounds=_each(chosen.bounds, lambda item: f"bound {item.name}", example_of, progress),
        claims=relate(_checked(chosen.claims, workers, findings, progress)),
        audits=tuple(_audited(plans, workers, store, progress)),
        mutants=_each(chosen.mutants, lambda item: f"mutant {item.id}", judge, progress),
        false_claims=tuple(_refuted(promises, workers, store, progress)),
        rates=_studied(chosen.studies, workers, store, progress), calibration=shipped_calibration(),
        league=shipped_league(), variants=shipped_variants()[0], unjudged=shipped_variants()[1],
    )


def _audited(
    plans: Mapping[str, AuditPlan], workers: int, store: Path | None, progress: Progress
) -> Iterator[tuple[str, Audit]]:
    """The audits of all plans, each with its name, by every estimator that may judge it."""
    progress("audits", 0)
    for rows in carry_out(plans, workers=workers, store=store):
        progress(f"audit {rows[0].name}", 1)
        yield from ((row.name, row.audit) for row in rows)


def _refuted(
    promises: Sequence[tuple[FalseClaim, AuditPlan]], workers: int, store: Path | None, progress: Progress
) -> Iterator[AuditedPromise]:
    """The false privacy claims, each with its audit."""
    progress("false privacy claims", 0)
    for judged in audit_false_claims(promises, workers=workers, store=store):
        progress(f"false claim {judged.false_claim.id}", 1)
        yield judged


def _studied(
    chosen: Mapping[str, Study], workers: int, store: Path | None, progress: Progress
) -> tuple[StudyOutcome, ...]:
    """The outcomes of the studies of utility rates; replicates that the store knows are read from it."""
    if not chosen:
        return ()
    progress("utility rates", 0)
    others = record.probabilities(studies())
    found = runs.carry_out(chosen, store=store, workers=workers, recorded=others)
    progress("utility rates", 1)
    return tuple(found.values())
