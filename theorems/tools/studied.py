"""What a frozen study of a utility rate has on record, as a step of a check or as a finding of its own.

A claim about a rate names its study here, and the study names the claim in its `source`. The record is data, and is
read, never run: the last entry of a name counts. That every study is on record as it is now, and that nobody edited the
record, is for the tests of the studies, and for `dp-oracle rates`.
"""

from __future__ import annotations

import functools
import json
from dataclasses import dataclass
from importlib import resources

from oracle.core.errors import OracleError
from theorems.verdict import Evidence, Finding, ProofStep, Scope, Verdict, sampled

FOR = ("CONFIRMED", "HELD", "FASTER")
AGAINST = ("SLOWER", "BOUND_VIOLATED")
ERROR = "0.05"  # of all decisions of all studies together


@dataclass(frozen=True)
class StudyOnRecord:
    """What a study came to."""

    name: str
    verdict: str
    reason: str
    interval: tuple[float, float] | None
    bound: str


@functools.cache
def _record() -> dict[str, StudyOnRecord]:
    text = resources.files("empirical.studies").joinpath("record.jsonl").read_text(encoding="utf-8")
    found = {}
    for line in text.splitlines():
        fields = json.loads(line)
        ends = fields["interval"]
        found[fields["name"]] = StudyOnRecord(
            fields["name"], fields["verdict"], fields["reason"], None if ends is None else (ends[0], ends[1]),
            fields["bound"],
        )
    return found


def on_record(name: str) -> StudyOnRecord:
    """The last entry of a study; that there is none is an error, and no pass."""
    if name not in _record():
        raise OracleError(f"study = {name} has no entry on record")
    return _record()[name]


def study_step(name: str, *verdicts: str) -> ProofStep:
    """The step that a study came to one of these verdicts (to one that is for the prediction, if none is given)."""
    entry = on_record(name)
    return sampled(f"study {name}: {entry.verdict}", entry.verdict in (verdicts or FOR))


def by_study(name: str) -> Finding:
    """What the study alone says of the statement that it is about; its error is that of all studies together."""
    entry = on_record(name)
    region = {"points": f"the grid of the study {name}", "error probability": f"{ERROR}, of all studies"}
    summary = f"study {name}: {entry.verdict}, {entry.reason}"
    if entry.verdict in AGAINST:
        witness = {"study": name, "verdict": entry.verdict, "slopes": str(entry.interval), "bound": entry.bound}
        return Finding(Verdict.REFUTED, Evidence.STATISTICAL, summary, witness, Scope("instance", region=region))
    verdict = Verdict.HOLDS if entry.verdict in FOR else Verdict.UNDECIDED
    return Finding(verdict, Evidence.STATISTICAL, summary, scope=Scope("points", 1, 1, region))
