"""Checking many claims at once: over processes, one failure apart from the others, resumable, in the order given.

The processes (`oracle.running.pool`) are spawned, so that nothing that was done before reaches a check, and each is
asked for one claim after the other: when a process dies, it is known on which claim, and a new one takes its place.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import nullcontext
from dataclasses import dataclass
from functools import partial

from oracle.running.pool import Died, Pool
from theorems.claim import Checked, Claim, Finding, claim, expectations, judge
from theorems.findings import Findings
from theorems.tools import effort


@dataclass(frozen=True)
class Failed:
    """A claim whose check did not come to a finding, and why."""

    claim: Claim
    error: str


@dataclass(frozen=True)
class Done:
    """A claim's finding or its error in words, and the seconds of a processor it took, if it came from no store."""

    name: str
    result: Finding | str
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
    results: dict[str, Finding | str] = {}
    for item in items:
        kept = None if store is None else store.finding(item.id)
        if kept is not None:
            results[item.id] = kept
            progress(Done(item.id, kept))
    left = [item for item in items if item.id not in results]
    parallel = min(workers, len(left)) > 1
    for done in _spread([item.id for item in left], workers, full, find) if parallel else _here(left, full):
        results[done.name] = done.result
        if store is not None and isinstance(done.result, Finding):
            store.keep(done.name, done.result)
        progress(done)
    return [_outcome(item, results[item.id]) for item in items]


def _outcome(item: Claim, result: Finding | str) -> Checked | Failed:
    return Failed(item, result) if isinstance(result, str) else Checked(item, result, expectations()[item.id])


def _attempt(name: str, work: Callable[[], Finding]) -> Done:
    """A finding, or what went wrong in words: one claim's error must not cost the others their findings."""
    start = time.process_time()
    try:
        result: Finding | str = work()
    except Exception as error:
        result = f"{type(error).__name__}: {error}"
    return Done(name, result, time.process_time() - start)


def _here(items: Sequence[Claim], full: bool) -> Iterator[Done]:
    for item in items:
        with effort.full() if full else nullcontext():
            done = _attempt(item.id, partial(judge, item, item.says))
        yield done


def _found(name: str, find: Find, full: bool) -> Done:
    """What a worker does with a claim."""
    with effort.full() if full else nullcontext():
        return _attempt(name, partial(find, name))


def _spread(names: Sequence[str], workers: int, full: bool, find: Find) -> Iterator[Done]:
    with Pool(workers) as pool:
        for (name, *_), done in pool.run(_found, ((name, find, full) for name in names)):
            if isinstance(done, Died):
                yield Done(name, f"the process that checked it died with exit code {done.exit_code}")
            else:
                yield done
