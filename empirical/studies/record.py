"""The record of the studies: what each came to, under the hash of its frozen data, oldest first; nothing is taken back.

A study that is changed has another hash, and its result a new entry; the old one stays. Each entry carries the digest
of the one before it, so that a result which was edited or removed later is noticed. Probabilities of the last entries
are what Holm's rule needs of the studies that are not run; the last verdict is what a run is expected to give again.
"""

from __future__ import annotations

import functools
import hashlib
import json
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from empirical.studies.outcome import StudyOutcome
from empirical.studies.study import Study
from oracle.core.errors import OracleError
from oracle.running.outputs import append_bytes

RECORD = Path(__file__).with_name("record.jsonl")


@dataclass(frozen=True)
class RecordedStudy:
    """One line: the study, its hash, what it came to, and the digest of the line before."""

    name: str
    hash: str
    verdict: str
    reason: str
    p: float
    interval: tuple[float, float] | None
    bound: str
    worst: float | None
    seconds: float
    before: str

    @property
    def line(self) -> str:
        """The entry as the file has it."""
        return json.dumps(asdict(self), ensure_ascii=False)

    @property
    def digest(self) -> str:
        """What the next entry says of this one."""
        return hashlib.blake2b(self.line.encode(), digest_size=8).hexdigest()


@functools.cache
def recorded(path: Path = RECORD) -> tuple[RecordedStudy, ...]:
    """All entries, in their order; a chain that is broken is an error."""
    entries: list[RecordedStudy] = []
    if not path.exists():
        return ()
    for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
        try:
            fields: dict[str, Any] = json.loads(line)
            interval = fields["interval"]
            entry = RecordedStudy(**{**fields, "interval": None if interval is None else (interval[0], interval[1])})
        except (ValueError, TypeError, KeyError) as error:
            raise OracleError(f"record = {path} is broken at line {number}: {error}") from None
        if entry.before != (entries[-1].digest if entries else ""):
            raise OracleError(f"record = {path} was edited before line {number}: results are never taken back")
        entries.append(entry)
    return tuple(entries)


def latest(path: Path = RECORD) -> dict[str, RecordedStudy]:
    """The last entry of every study that was recorded, by name."""
    return {entry.name: entry for entry in recorded(path)}


def known(study: Study, path: Path = RECORD) -> RecordedStudy | None:
    """What is on record of a study as it is now."""
    return next((entry for entry in reversed(recorded(path)) if entry.hash == study.hash), None)


def probabilities(names: Iterable[str], path: Path = RECORD) -> dict[str, float]:
    """The probabilities of the decisions on record of these studies; 1, no decision, for those that have none."""
    table = latest(path)
    return {name: table[name].p if name in table else 1.0 for name in names}


def append(outcomes: Mapping[str, StudyOutcome], path: Path = RECORD) -> int:
    """Add what is new: outcomes of studies that have no entry, or whose verdict or interval is not the recorded one."""
    entries, added = list(recorded(path)), 0
    for name, outcome in outcomes.items():
        before = known(outcome.study, path)
        if before is not None and differs(outcome, before) == "":
            continue
        entry = RecordedStudy(
            name, outcome.study.hash, outcome.verdict, outcome.reason, outcome.p, outcome.interval, outcome.bound,
            outcome.worst, round(outcome.seconds, 1), entries[-1].digest if entries else "",
        )
        append_bytes(path, f"{entry.line}\n".encode())
        entries.append(entry)
        added += 1
    recorded.cache_clear()
    return added


def differs(outcome: StudyOutcome, entry: RecordedStudy | None) -> str:
    """How an outcome differs from what is on record, in words; empty if it does not.

    Slopes may differ in their last digits between processors, not more.
    """
    if entry is None:
        return "not on record yet"
    if outcome.verdict != entry.verdict:
        return f"on record: {entry.verdict}"
    if (outcome.interval is None) != (entry.interval is None):
        return "on record: another interval"
    pairs = zip(outcome.interval or (), entry.interval or (), strict=True)
    return "" if all(abs(one - other) <= 1e-6 for one, other in pairs) else f"on record: the interval {entry.interval}"
