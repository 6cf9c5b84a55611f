"""Worker processes that end with the process that started them, however it ends, and that leave Ctrl-C to it.

They are started afresh, for torch does not survive a fork. Each holds the reading end of a pipe, its leash; when the
other end is closed, by us or by the system because we were killed, the worker exits at once. The pool of the standard
library alone would leave its workers waiting for ever.
"""

from __future__ import annotations

import concurrent.futures
import contextlib
import itertools
import multiprocessing
import multiprocessing.connection
import os
import signal
import threading
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future
from typing import Any, ParamSpec, TypeVar

P = ParamSpec("P")
Result = TypeVar("Result")


class Pool:
    """A number of worker processes; a context manager, which ends them even in the middle of their work."""

    def __init__(self, workers: int) -> None:
        self.workers = workers
        self._context = multiprocessing.get_context("spawn")
        self._held_end, self._leash = self._context.Pipe(duplex=False)
        self._pool = self._started()

    def __enter__(self) -> Pool:
        return self

    def __exit__(self, *_: object) -> None:
        self._leash.close()
        self._pool.shutdown(cancel_futures=True)
        self._held_end.close()

    def submit(self, function: Callable[P, Result], /, *args: P.args, **kwargs: P.kwargs) -> Future[Result]:
        """Have a function called in a worker; a BrokenProcessPool if a worker has died."""
        with _deaf():  # this is when workers are started
            return self._pool.submit(function, *args, **kwargs)

    def restart(self) -> None:
        """New workers, after one has died."""
        self._pool.shutdown()
        self._pool = self._started()

    def _started(self) -> concurrent.futures.ProcessPoolExecutor:
        return concurrent.futures.ProcessPoolExecutor(
            self.workers, mp_context=self._context, initializer=_begin, initargs=(self._held_end,)
        )


def spread(function: Callable[..., Result], items: Iterable[tuple[Any, ...]], *, workers: int) -> Iterator[Result]:
    """What a function returns for each item's arguments, in order, from that many processes; one is this process."""
    if workers == 1:
        yield from itertools.starmap(function, items)
        return
    with Pool(workers) as pool:
        waiting = [pool.submit(function, *item) for item in items]
        for future in waiting:
            yield future.result()


@contextlib.contextmanager
def _deaf() -> Iterator[None]:
    """Hold Ctrl-C back for a moment: processes that are started meanwhile never hear it."""
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def _begin(leash: multiprocessing.connection.Connection) -> None:
    def watch() -> None:
        multiprocessing.connection.wait([leash])
        os._exit(1)

    threading.Thread(target=watch, daemon=True).start()
