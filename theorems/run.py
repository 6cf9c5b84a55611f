"""Checking many claims at once: over processes, one failure apart from the others, resumable, in the order given.

The processes are spawned, so that nothing a check did before reaches another, and each is asked for one claim after the
other over its own pipe: when a process dies, it is known on which claim, and a new one takes its place.
"""

from __future__ import annotations

import os
import signal
import time
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, nullcontext, suppress
from dataclasses import dataclass
from functools import partial
from multiprocessing import get_context
from multiprocessing.connection import Connection, wait
from typing import Any

from theorems.claim import Checked, Claim, Finding, claim, expectations, judge
from theorems.store import Store
from theorems.tools import effort

_THREADS = ("OMP_NUM_THREADS", "MKL_NUM_THREADS", "OPENBLAS_NUM_THREADS")


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
    items: Sequence[Claim], *, workers: int = 1, full: bool = False, store: Store | None = None,
    progress: Callable[[Done], None] = lambda _: None, find: Find = find_registered,
) -> list[Checked | Failed]:
    """Check claims; the outcomes come in the order of the claims.

    One worker is this process itself. Several are processes of their own, which find a claim by its id with `find`.
    """
    kept = {} if store is None else store.findings
    results: dict[str, Finding | str] = {item.id: kept[item.id] for item in items if item.id in kept}
    for name, finding in results.items():
        progress(Done(name, finding))
    left = [item for item in items if item.id not in results]
    parallel = min(workers, len(left)) > 1
    for done in _spread([item.id for item in left], workers, full, find) if parallel else _here(left, full):
        results[done.name] = done.result
        if store is not None and isinstance(done.result, Finding):
            store.add(done.name, done.result)
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


def _serve(connection: Connection, find: Find, full: bool) -> None:
    """The life of a worker: a name comes in, what was found goes out, until nobody is at the other end."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the parent is interrupted, too, and ends its workers
    with effort.full() if full else nullcontext(), suppress(EOFError, ConnectionError):
        while True:
            name = connection.recv()
            connection.send(_attempt(name, partial(find, name)))


class _Worker:
    """A spawned process, the pipe to it, and the claim it works on."""

    def __init__(self, find: Find, full: bool) -> None:
        context: Any = get_context("spawn")
        self.connection, theirs = context.Pipe()
        self.process = context.Process(target=_serve, args=(theirs, find, full), daemon=True)
        with _single_threaded():
            self.process.start()
        theirs.close()
        self.name = ""

    def give(self, name: str) -> None:
        """Ask for one claim."""
        self.name = name
        self.connection.send(name)

    def take(self) -> Done:
        """What was found, or that the process died."""
        try:
            done: Done = self.connection.recv()
        except (EOFError, ConnectionResetError):
            self.process.join()
            return Done(self.name, f"the process that checked it died with exit code {self.process.exitcode}")
        return done


def _spread(names: Sequence[str], workers: int, full: bool, find: Find) -> Iterator[Done]:
    left = deque(names)
    busy: dict[Any, _Worker] = {}
    try:
        while left or busy:
            while left and len(busy) < workers:
                worker = _Worker(find, full)
                busy[worker.connection] = worker
                worker.give(left.popleft())
            for connection in wait(list(busy)):
                worker = busy[connection]
                done = worker.take()
                if left and worker.process.exitcode is None:
                    worker.give(left.popleft())
                else:
                    del busy[connection]
                    worker.connection.close()  # which tells a living worker that no more comes
                yield done
    finally:
        for worker in busy.values():
            worker.process.terminate()


@contextmanager
def _single_threaded() -> Iterator[None]:
    """Processes that share the cores start with one thread each, unless the user asked for more."""
    unset = [name for name in _THREADS if name not in os.environ]
    os.environ.update(dict.fromkeys(unset, "1"))
    try:
        yield
    finally:
        for name in unset:
            del os.environ[name]
