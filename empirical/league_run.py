"""Making the league table: every adapter whose library is installed is held to its bound, as `dp-oracle gate` would.

Each finished row is kept in a file of JSON lines, keyed by the library's version, the vectors and the settings, so that
an interrupted run goes on where it was and a row is only made anew when something about it changed.
"""

from __future__ import annotations

import functools
import hashlib
import json
import platform
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from empirical.league import Row, Worst, row_of
from empirical.pool import spread
from oracle.errors import TargetError
from oracle.gate import vectors, xfail
from oracle.gate.adapters import Adapter
from oracle.gate.result import Outcome, Result
from oracle.gate.run import run
from oracle.gate.targets import FunctionTarget
from oracle.gate.verdicts import Verdict
from oracle.registry import bound

TIMEOUT, MEMORY, SEARCH, SEARCH_SECONDS = 20.0, 4096, 40, 60.0


@dataclass(frozen=True)
class Settings:
    """How long a library may think, how much memory it may take, and how far the search goes."""

    timeout: float = TIMEOUT
    memory: int = MEMORY
    search: int = SEARCH
    search_seconds: float = SEARCH_SECONDS


def judged(adapter: Adapter, settings: Settings) -> Result:
    """One adapter held to its bound."""
    expected = xfail.Xfails() if adapter.xfail is None else xfail.load(adapter.xfail)
    target = FunctionTarget(adapter.target, timeout=settings.timeout, memory=settings.memory)
    return run(
        target, bound(adapter.bound), vectors.load(adapter.bound).cases, search=settings.search,
        search_seconds=settings.search_seconds, xfail=expected,
    )


def summarised(adapter: Adapter, result: Result) -> Row:
    """A result as a row of the table; a library that cannot be asked at all has none."""
    if result.unusable:
        raise TargetError(f"{adapter.target} ({adapter.bound}): {result.unusable}")
    count = result.counts
    valid_refused = sum(
        outcome.case.valid for outcome in result.outcomes if outcome.judgement.verdict is Verdict.REFUSED
    )
    unsupported = sum(item.cases for item in result.unsupported)
    return Row(
        library=adapter.library, version=adapter.version or "", variant=adapter.variant, bound=adapter.bound,
        cases=len(result.outcomes), searched=result.searched.judged if result.searched else 0,
        sound=count[Verdict.TIGHT] + count[Verdict.LOOSE], unsound=count[Verdict.UNSOUND],
        refused=valid_refused - unsupported, unsupported=unsupported,
        refused_invalid=count[Verdict.REFUSED] - valid_refused, accepted_invalid=count[Verdict.ACCEPTED_INVALID],
        crashed=count[Verdict.CRASH], timed_out=count[Verdict.TIMEOUT],
        worst_unsound=_worst(result.worst(Verdict.UNSOUND)), worst_loose=_worst(result.worst(Verdict.LOOSE)),
        seconds=round(result.seconds, 1), as_expected=not result.failures,
        differs=tuple(
            f"{outcome.case.name}: {outcome.judgement.verdict} {outcome.call} -> {outcome.judgement.answer} "
            f"{outcome.why}".strip() for outcome in result.failures
        ),
    )


def _worst(outcome: Outcome | None) -> Worst | None:
    if outcome is None or outcome.case.expected is None:
        return None
    told, found = outcome.to_json(), outcome.judgement
    size = found.amount if found.verdict is Verdict.UNSOUND else found.factor
    return Worst(
        outcome.case.name, outcome.call, found.answer, told["expected"]["lower"], told["expected"]["upper"],
        repr(size),
    )


def key(adapter: Adapter, settings: Settings) -> str:
    """What a row depends on: the adapter and its file of expected failures, the library, the vectors, the settings."""
    expected = b"" if adapter.xfail is None else adapter.xfail.read_bytes()
    parts: tuple[Any, ...] = (
        adapter.target, adapter.bound, adapter.version, platform.python_version(), asdict(settings),
        hashlib.sha256(expected).hexdigest(), vectors.digest(adapter.bound), adapter.source_digest,
    )
    return hashlib.sha256(json.dumps(parts, sort_keys=True).encode()).hexdigest()


def _made(adapter: Adapter, settings: Settings) -> Row:
    return summarised(adapter, judged(adapter, settings))


def carry_out(
    adapters: Sequence[Adapter], settings: Settings, *, workers: int, store: Path | None,
    progress: Callable[[Row, bool], None],
) -> list[Row]:
    """The rows of these adapters, in their order; those that the store knows are not made again."""
    known = dict(_stored(store)) if store is not None else {}
    keys = [key(adapter, settings) for adapter in adapters]
    missing = [(adapter, name) for adapter, name in zip(adapters, keys, strict=True) if name not in known]
    for name in keys:
        if name in known:
            progress(known[name], False)
    fresh = spread(functools.partial(_made), [(adapter, settings) for adapter, _ in missing], workers=workers)
    for (_, name), row in zip(missing, fresh, strict=True):
        known[name] = row
        if store is not None:
            with store.open("a", encoding="utf-8") as file:
                file.write(json.dumps({"key": name, "row": asdict(row)}) + "\n")
        progress(row, True)
    return [known[name] for name in keys]


def _stored(store: Path) -> Iterator[tuple[str, Row]]:
    """The rows of a store; a last line that a kill cut short is no row."""
    if not store.exists():
        return
    for line in store.read_text(encoding="utf-8").splitlines():
        try:
            entry = json.loads(line)
            yield entry["key"], row_of(entry["row"])
        except (ValueError, KeyError, TypeError):
            continue
