"""Checking many claims at once: over processes, one failure apart from the others, resumable, in the order given.

The processes (`oracle.running.pool`) are spawned, so that nothing that was done before reaches a check, and each is
asked for one claim after the other: when a process dies, it is known on which claim, and a new one takes its place.
"""

from __future__ import annotations

import os
import time
import traceback
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import nullcontext
from dataclasses import dataclass, field
from functools import partial

from oracle.core.extras import missing
from oracle.running.pool import Died, Pool
from theorems.claim import Checked, Claim, capped, claim, judge
from theorems.findings import Findings
from theorems.tools import effort
from theorems.verdict import Finding

LIMIT = 300.0
"""Seconds of a processor that the check of one claim may take; under `--full` twenty times as many."""


@dataclass(frozen=True)
class Failed:
    """A claim whose check did not come to a finding, and why; the traceback is that of the checker."""

    claim: Claim
    error: str
    traceback: str = field(default="", compare=False)


@dataclass(frozen=True)
class Trouble:
    """What a check raised, in words, and where."""

    error: str
    traceback: str = ""


@dataclass(frozen=True)
class Done:
    """A claim's finding or what went wrong, and the seconds of a processor it took, if it came from no store."""

    name: str
    result: Finding | Trouble
    seconds: float | None = None


Find = Callable[[str], Finding]


def find_registered(name: str) -> Finding:
    """What the checker of a registered claim finds about it."""
    item = claim(name)
    return judge(item, item.says)


def processors() -> int:
    """How many processors this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def run(
    items: Sequence[Claim], *, workers: int = 1, full: bool = False, store: Findings | None = None,
    progress: Callable[[Done], None] = lambda _: None, find: Find = find_registered,
) -> list[Checked | Failed]:
    """Check claims; the outcomes come in the order of the claims.

    One worker is this process itself. Several are processes of their own, which find a claim by its id with `find`.
    """
    results: dict[str, Finding | Trouble] = {}

    def missing() -> Iterator[Claim]:
        """The claims that the store does not know, looked up one by one: that takes time, in which others work."""
        for item in items:
            kept = None if store is None else store.finding(item.id)
            if kept is None:
                yield item
            else:
                results[item.id] = kept
                progress(Done(item.id, kept))

    parallel = min(workers, len(items)) > 1
    for done in _spread((item.id for item in missing()), workers, full, find) if parallel else _here(missing(), full):
        results[done.name] = done.result
        if store is not None and isinstance(done.result, Finding):
            store.keep(done.name, done.result)
        progress(done)
    return [_outcome(item, results[item.id]) for item in items]


def _outcome(item: Claim, result: Finding | Trouble) -> Checked | Failed:
    return Failed(item, result.error, result.traceback) if isinstance(result, Trouble) else capped(item, result)


def _attempt(name: str, work: Callable[[], Finding], full: bool) -> Done:
    """A finding, or what went wrong in words: one claim's error must not cost the others their findings."""
    start = time.process_time()
    try:
        with effort.full() if full else nullcontext(), effort.at_most(effort.points(1) * LIMIT):
            result: Finding | Trouble = work()
    except Exception as error:
        if lacking := missing(error):
            raise lacking from None  # what the installation lacks is no failure of the claim
        result = Trouble(f"{type(error).__name__}: {error}", "".join(traceback.format_exception(error)))
    return Done(name, result, time.process_time() - start)


def _here(items: Iterable[Claim], full: bool) -> Iterator[Done]:
    for item in items:
        yield _attempt(item.id, partial(judge, item, item.says), full)


def _found(name: str, find: Find, full: bool) -> Done:
    """What a worker does with a claim."""
    return _attempt(name, partial(find, name), full)


def _spread(names: Iterable[str], workers: int, full: bool, find: Find) -> Iterator[Done]:
    with Pool(workers) as pool:
        for (name, *_), done in pool.run(_found, ((name, find, full) for name in names)):
            if isinstance(done, Died):
                yield Done(name, Trouble(str(done)))
            else:
                yield done
