"""What a frozen study of a utility rate has on record, as a step of a check or as a finding of its own.

A claim about a rate names its study here, and the study names the claim in its `source`. The record is read, never run:
a study that was changed after its last run has no entry, which is an error and no pass.
"""

from __future__ import annotations

from empirical.studies.outcome import FAMILY_ERROR
from empirical.studies.record import RecordedStudy, known
from empirical.studies.study import studies
from oracle.core.errors import OracleError
from oracle.core.registry import named
from theorems.verdict import Evidence, Finding, ProofStep, Scope, Verdict, sampled

FOR = ("CONFIRMED", "HELD", "FASTER")
AGAINST = ("SLOWER", "BOUND_VIOLATED")


def on_record(name: str) -> RecordedStudy:
    """The entry of a study as it is now."""
    entry = known(named(studies(), "study", name))
    if entry is None:
        raise OracleError(f"study = {name} has no entry on record as it is now")
    return entry


def study_step(name: str, *verdicts: str) -> ProofStep:
    """The step that a study came to one of these verdicts (to one that is for the prediction, if none is given)."""
    entry = on_record(name)
    return sampled(f"study {name}: {entry.verdict}", entry.verdict in (verdicts or FOR))


def by_study(name: str) -> Finding:
    """What the study alone says of the statement that it is about; its error is that of all studies together."""
    entry = on_record(name)
    points = len(studies()[name].grid)
    region = {"points": f"the grid of the study {name}", "error probability": f"{FAMILY_ERROR:g}, of all studies"}
    summary = f"study {name}: {entry.verdict}, {entry.reason}"
    if entry.verdict in AGAINST:
        witness = {"study": name, "verdict": entry.verdict, "slopes": str(entry.interval), "bound": entry.bound}
        return Finding(Verdict.REFUTED, Evidence.STATISTICAL, summary, witness, Scope("instance", region=region))
    verdict = Verdict.HOLDS if entry.verdict in FOR else Verdict.UNDECIDED
    return Finding(verdict, Evidence.STATISTICAL, summary, scope=Scope("points", points, points, region))
