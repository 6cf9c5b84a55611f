"""Making the league table: every library that is installed is held to the bounds, trainings and auditors it offers.

Each finished part is kept in a file of JSON lines, keyed by the library's version, the vectors, the code that asks and
judges and the settings, so that an interrupted run goes on where it was, and a part is only made anew when something
about it changed.
"""

from __future__ import annotations

import hashlib
import importlib.util
import json
import platform
import tempfile
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from empirical.gate import vector_files, xfail
from empirical.gate.adapters import ROUNDING, TIMEOUT, Adapter, installed
from empirical.gate.jobs import BoundJob
from empirical.gate.league.league import AnyRow, AuditorRow, LeagueRow, TrainingRow, Worst, row_of
from empirical.gate.league.peer_auditors import AUDITORS, PeerAuditor
from empirical.gate.league.peer_trainings import TRAININGS, XFAIL, PeerTraining
from empirical.gate.result import Outcome, Result
from empirical.gate.verdicts import GateVerdict
from oracle.core.errors import TargetError
from oracle.core.pool import spread

MEMORY, SEARCH, SEARCH_SECONDS = 4096, 20, 5.0

Peer = Adapter | PeerTraining | PeerAuditor


@dataclass(frozen=True)
class Settings:
    """How long a library may think, how much memory it may take, and how far the search goes."""

    timeout: float = float(TIMEOUT)
    memory: int = MEMORY
    search: int = SEARCH
    search_seconds: float = SEARCH_SECONDS


def peers() -> list[Peer]:
    """Whatever can be judged with the libraries that are installed."""
    return [*installed(), *(peer for peer in (*TRAININGS, *AUDITORS) if peer.version is not None)]


def made(peer: Peer, settings: Settings) -> tuple[AnyRow, ...]:
    """The rows of one part of a library."""
    if isinstance(peer, Adapter):
        return (_bound_row(peer, _judged(peer, settings)),)
    if isinstance(peer, PeerTraining):
        return (_training_row(peer),)
    return tuple(_auditor_rows(peer))


def _judged(adapter: Adapter, settings: Settings) -> Result:
    expected = xfail.Xfails() if adapter.xfail is None else xfail.load(adapter.xfail)
    job = BoundJob(target=adapter.target, bounds=(adapter.bound,), rounding=ROUNDING, **asdict(settings))
    (result,) = job.carry_out(expected, lambda _: lambda *_: None)
    if result.unusable:
        raise TargetError(f"{adapter.target} ({adapter.bound}): {result.unusable}")
    return result


def _bound_row(adapter: Adapter, result: Result) -> LeagueRow:
    count = result.counts
    valid_refused = sum(
        outcome.case.valid for outcome in result.outcomes if outcome.judgement.verdict is GateVerdict.REFUSED
    )
    unsupported = sum(item.cases for item in result.unsupported)
    return LeagueRow(
        library=adapter.library, version=adapter.version or "", variant=adapter.variant, bound=adapter.bound,
        cases=len(result.outcomes), searched=result.searched.judged if result.searched else 0,
        sound=count[GateVerdict.TIGHT] + count[GateVerdict.LOOSE], unsound=count[GateVerdict.UNSOUND],
        refused=valid_refused - unsupported, unsupported=unsupported,
        refused_invalid=count[GateVerdict.REFUSED] - valid_refused,
        accepted_invalid=count[GateVerdict.ACCEPTED_INVALID],
        crashed=count[GateVerdict.CRASH], timed_out=count[GateVerdict.TIMEOUT],
        worst_unsound=_worst(result.worst(GateVerdict.UNSOUND)), worst_loose=_worst(result.worst(GateVerdict.LOOSE)),
        seconds=round(result.seconds, 1), as_expected=not result.failures,
        differs=tuple(
            f"{outcome.case.name}: {outcome.judgement.verdict} {outcome.call} -> {outcome.judgement.answer} "
            f"{outcome.why}".strip() for outcome in result.failures
        ),
    )


def _worst(outcome: Outcome | None) -> Worst | None:
    if outcome is None or outcome.case.expected is None:
        return None
    told, found = outcome.to_json()["expected"], outcome.judgement
    size = found.amount if found.verdict is GateVerdict.UNSOUND else found.factor
    return Worst(outcome.case.name, outcome.call, found.answer, told["lower"], told["upper"], repr(size))


def _training_row(peer: PeerTraining) -> TrainingRow:
    with tempfile.TemporaryDirectory() as folder:
        job = peer.job(Path(folder))
        result = job.carry_out(xfail.load(XFAIL))
    if result.verdict == "INVALID":
        raise TargetError(f"{peer.target}: {result.reason}")
    return TrainingRow(
        library=peer.library, version=peer.version or "", training=peer.function.__name__,
        claimed=float(job.epsilon or 0), delta=job.delta, verdict=result.verdict,
        epsilon_lower=result.audit["epsilon_lower"],
        confidence=job.confidence, models=job.budget, seconds=round(result.seconds, 1), as_expected=result.good,
        remark=peer.remark,
    )


def _auditor_rows(peer: PeerAuditor) -> Iterator[AuditorRow]:
    for record in peer.judge():
        yield AuditorRow(
            library=peer.library, version=peer.version or "", auditor=peer.method, pair=record.pair,
            true_epsilon=record.truth, confidence=record.confidence, repetitions=record.repetitions,
            overclaims=record.overclaims, crashes=record.crashes, median=record.median, verdict=str(record.verdict),
            as_expected=str(record.verdict) == peer.expected(record.pair),
        )


def key(peer: Peer, settings: Settings) -> str:
    """What a part depends on: the code that asks and judges, expected failures, the library, the vectors, settings."""
    if isinstance(peer, Adapter):
        judges = sorted(Path(vector_files.__file__).parent.rglob("*.py"))
        asked = vector_files.SHIPPED / f"{peer.bound}.json"
        files = [_source(peer.target), *([peer.xfail] if peer.xfail else []), asked, *judges]
        name = f"{peer.target} {peer.bound}"
    else:
        name = peer.target if isinstance(peer, PeerTraining) else f"{peer.function.__qualname__} {peer.method}"
        files = [_source(peer.function.__module__), XFAIL]
    digests = [hashlib.sha256(file.read_bytes()).hexdigest() for file in files]
    parts: Any = (name, peer.version, platform.python_version(), asdict(settings), digests)
    return hashlib.sha256(json.dumps(parts, sort_keys=True).encode()).hexdigest()


def _source(target: str) -> Path:
    """The file of "file.py:fn" or of "module:fn"."""
    if target.partition(":")[0].endswith(".py"):
        return Path(target.partition(":")[0])
    spec = importlib.util.find_spec(target.partition(":")[0])
    assert spec is not None
    assert spec.origin is not None
    return Path(spec.origin)


def carry_out(
    chosen: Sequence[Peer], settings: Settings, *, workers: int, store: Path | None,
    progress: Callable[[Peer, tuple[AnyRow, ...], bool], None],
) -> list[AnyRow]:
    """The rows of these parts, in their order; those that the store knows are not made again."""
    known = dict(_stored(store)) if store is not None else {}
    keys = [key(peer, settings) for peer in chosen]
    missing = [(peer, name) for peer, name in zip(chosen, keys, strict=True) if name not in known]
    for peer, name in zip(chosen, keys, strict=True):
        if name in known:
            progress(peer, known[name], False)
    fresh = spread(made, [(peer, settings) for peer, _ in missing], workers=workers)
    for (peer, name), rows in zip(missing, fresh, strict=True):
        known[name] = rows
        if store is not None:
            with store.open("a", encoding="utf-8") as file:
                file.write(json.dumps({"key": name, "rows": [_written(row) for row in rows]}) + "\n")
        progress(peer, rows, True)
    return [row for name in keys for row in known[name]]


def _written(row: AnyRow) -> dict[str, Any]:
    return {"kind": type(row).__name__, **asdict(row)}


def _stored(store: Path) -> Iterator[tuple[str, tuple[AnyRow, ...]]]:
    """The rows of a store; a last line that a kill cut short is no row."""
    if not store.exists():
        return
    for line in store.read_text(encoding="utf-8").splitlines():
        try:
            entry = json.loads(line)
            yield entry["key"], tuple(row_of(row.pop("kind"), row) for row in entry["rows"])
        except (ValueError, KeyError, TypeError):
            continue
