"""Worker processes that end with the process that started them, however it ends, and that leave Ctrl-C to it.

They are started afresh, for torch does not survive a fork, with one thread each, since they share the cores. Each has a
pipe of its own, over which items come in and results go out one by one; so it is known which item a worker was at when
it died: a new worker takes its place, and the item is tried again after the others, three times in all. The pipe is its
leash, too: when the other end is closed, by us or by the system because we were killed, the worker exits at once, even
in the middle of its work (on Linux even where a library holds Python's lock).
"""

from __future__ import annotations

import contextlib
import itertools
import multiprocessing
import multiprocessing.connection
import multiprocessing.resource_tracker
import os
import pickle
import queue
import signal
import threading
import traceback
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from multiprocessing.connection import Connection
from typing import Any, TypeVar

from oracle.core.errors import OracleError, WorkLostError
from oracle.running.keeper import die_with_parent, lastingly

Result = TypeVar("Result")
Arguments = tuple[Any, ...]

TRIES = 3
"""How often an item is begun whose worker dies each time."""

_THREADS = ("OMP_NUM_THREADS", "MKL_NUM_THREADS", "OPENBLAS_NUM_THREADS")


@dataclass(frozen=True)
class Died:
    """In place of an item's result: every worker that was at this item died, the last one so."""

    exit_code: int | None

    def __str__(self) -> str:
        return f"a worker process died {TRIES} times at it, at last with exit code {self.exit_code} (out of memory?)"


class _Item:
    """An item's arguments, and how often a worker has died at it."""

    def __init__(self, arguments: Arguments) -> None:
        self.arguments, self.deaths = arguments, 0


class Pool:
    """A number of worker processes; a context manager, which ends them even in the middle of their work."""

    def __init__(self, workers: int) -> None:
        self.workers = workers
        self._idle: list[_Worker] = []

    def __enter__(self) -> Pool:
        return self

    def __exit__(self, *_: object) -> None:
        _stop(self._idle)
        self._idle = []

    def run(
        self, function: Callable[..., Result], items: Iterable[Arguments], *, ahead: int = 1
    ) -> Iterator[tuple[Arguments, Result | Died]]:
        """Each item and what the function returns for its arguments, as they come; what it raises is raised here.

        An item is taken from the iterable only when there is room for it: a worker is given up to `ahead` items, more
        than one where they are so short that it should not wait for the next.
        """
        source, busy = map(_Item, items), dict[Connection, _Worker]()
        left = deque[_Item]()  # given to a worker that died before it came to them
        again = deque[_Item]()  # a worker died at them: they come last, when there is more room
        try:
            while True:
                self._feed(function, itertools.chain(_drained(left), source, _drained(again)), busy, ahead)
                if not busy:
                    return
                for connection in multiprocessing.connection.wait(list(busy)):
                    worker = busy.pop(connection)  # type: ignore[call-overload]
                    item, result = worker.take()
                    if isinstance(result, Died):
                        left.extend(worker.items)
                    elif worker.items:
                        busy[worker.connection] = worker
                    else:
                        self._idle.append(worker)
                    if isinstance(result, _Raised):
                        raise result.error()
                    if isinstance(result, Died):
                        item.deaths += 1
                        if item.deaths < TRIES:
                            again.append(item)
                            continue
                    yield item.arguments, result
        finally:
            _stop(busy.values())  # nobody will hear what they are at

    def _feed(
        self, function: Callable[..., Any], source: Iterator[_Item], busy: dict[Connection, _Worker], ahead: int
    ) -> None:
        """Give every worker what it has room for, first one item each, and start those that are missing."""
        for room in range(1, ahead + 1):
            workers = [*busy.values(), *self._idle]
            while len(workers) < self.workers or any(len(worker.items) < room for worker in workers):
                item = next(source, None)
                if item is None:
                    return
                worker = min(workers, key=lambda one: len(one.items), default=None)
                if worker is None or (worker.items and len(workers) < self.workers):
                    worker = _Worker()
                    workers.append(worker)
                if worker in self._idle:
                    self._idle.remove(worker)
                busy[worker.connection] = worker
                worker.give(function, item)


def spread(
    function: Callable[..., Result], items: Iterable[Arguments], *, workers: int
) -> Iterator[Result | Died]:
    """What a function returns for each item's arguments, in order, from that many processes; one is this process."""
    if workers == 1:
        yield from itertools.starmap(function, items)
        return
    with Pool(workers) as pool:
        ready: dict[int, Result | Died] = {}
        wanted = itertools.count()
        place = next(wanted)
        for (number, *_), result in pool.run(_numbered, ((n, function, item) for n, item in enumerate(items))):
            ready[number] = result
            while place in ready:
                yield ready.pop(place)
                place = next(wanted)


def by_name(
    function: Callable[..., Result], names: Iterable[str], *arguments: Any, workers: int
) -> Iterator[tuple[str, Result]]:
    """Each name and what a function returns for it and the other arguments, as they come, from that many processes.

    Whoever keeps what comes loses nothing but what is under way when the run is cut short. Where workers die the
    others go on; the names at which it happened are told in the end.
    """
    dead = dict[str, Died]()
    with Pool(workers) as pool:
        for (name, *_), result in pool.run(function, ((name, *arguments) for name in names)):
            if isinstance(result, Died):
                dead[name] = result
            else:
                yield name, result
    require_all(dead)


def require_all(dead: Mapping[str, Died]) -> None:
    """A WorkLostError that names what no worker has survived, if there is such; all else is finished by then."""
    if dead:
        raise WorkLostError(f"{'; '.join(f'{name}: {why}' for name, why in dead.items())}; the others are finished")


def _numbered(_: int, function: Callable[..., Result], arguments: Arguments) -> Result:
    return function(*arguments)


@dataclass(frozen=True)
class _Raised:
    """What a function raised in a worker, pickled if it can be, and the place in words."""

    pickled: bytes
    told: str

    @staticmethod
    def of(error: BaseException) -> _Raised:
        told = "".join(traceback.format_exception(error))
        try:
            pickled = pickle.dumps(error)
            pickle.loads(pickled)  # an exception with arguments of its own may fail here only
        except Exception:
            pickled = pickle.dumps(OracleError(f"{type(error).__name__}: {error}"))
        return _Raised(pickled, told)

    def error(self) -> BaseException:
        error: BaseException = pickle.loads(self.pickled)
        error.add_note(f"in a worker process:\n{self.told}")
        return error


class _Worker:
    """A spawned process, the pipe to it, and the items that it was given, the one it works on first."""

    def __init__(self) -> None:
        context: Any = multiprocessing.get_context("spawn")
        self.connection, theirs = context.Pipe()
        self.process = context.Process(target=_serve, args=(theirs,), daemon=True)
        lastingly(self._start)
        theirs.close()
        self.items: deque[_Item] = deque()

    def _start(self) -> None:
        with _deaf(), _single_threaded():
            self.process.start()

    def give(self, function: Callable[..., Any], item: _Item) -> None:
        """Ask for one item; that the process is dead is told by `take`."""
        task = pickle.dumps((function, item.arguments))
        self.items.append(item)
        with contextlib.suppress(ConnectionError):
            self.connection.send_bytes(task)

    def take(self) -> tuple[_Item, Any]:
        """The item that is done and its result, or that the process died."""
        item = self.items.popleft()
        try:
            return item, pickle.loads(self.connection.recv_bytes())
        except (EOFError, ConnectionError):
            self.connection.close()
            self.process.join()
            return item, Died(self.process.exitcode)


def _stop(workers: Iterable[_Worker]) -> None:
    for worker in workers:
        worker.connection.close()
        worker.process.kill()  # the leash needs Python's lock, which a library may hold for long
        worker.process.join()


def _drained(items: deque[_Item]) -> Iterator[_Item]:
    while items:
        yield items.popleft()


def _serve(connection: Connection) -> None:
    """The life of a worker: an item comes in, its result goes out, until nobody is at the other end."""
    die_with_parent()
    tasks: queue.SimpleQueue[bytes] = queue.SimpleQueue()

    def listen() -> None:  # all the time, for the other end must never wait for us to take an item
        with contextlib.suppress(EOFError, OSError):
            while True:
                tasks.put(connection.recv_bytes())
        os._exit(1)

    threading.Thread(target=listen, daemon=True).start()
    while True:
        result: Any = None
        try:
            function, item = pickle.loads(tasks.get())
            result = function(*item)
            answer = pickle.dumps(result)
        except Exception as error:
            answer = pickle.dumps(_Raised.of(error))
        with contextlib.suppress(ConnectionError):  # nobody is there: the thread above ends this process
            connection.send_bytes(answer)


@contextlib.contextmanager
def _deaf() -> Iterator[None]:
    """Hold Ctrl-C back for a moment: processes that are started meanwhile never hear it.

    Python's own tracker of resources is started first: it comes with the first process, and lets Ctrl-C through again
    before that process is started.
    """
    multiprocessing.resource_tracker.ensure_running()
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


@contextlib.contextmanager
def _single_threaded() -> Iterator[None]:
    """Start processes with one thread each, unless the user asked for more."""
    unset = [name for name in _THREADS if name not in os.environ]
    os.environ.update(dict.fromkeys(unset, "1"))
    try:
        yield
    finally:
        for name in unset:
            del os.environ[name]
