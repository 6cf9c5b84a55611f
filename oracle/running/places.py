"""Where the pieces of long work are computed: in this process, in worker processes, or on a Dask cluster.

A piece is an item, plain data, to which a function at the top of a module is applied; what it returns comes back beside
the item, in any order. An item is taken from the iterable only when there is room for it. A worker process that dies is
replaced and its item is tried again, three times in all; on a cluster the scheduler does so. A cluster that has no
worker left is waited for with a patience that is stated, and told when it is over.
"""

from __future__ import annotations

import asyncio
import concurrent.futures
import contextlib
import importlib
import itertools
import queue
import sys
import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator
from fractions import Fraction
from typing import Any, TypeVar

from oracle.core.domain import Number, Parameter, clean
from oracle.core.errors import DomainError, WorkLostError
from oracle.running.pool import TRIES, Died, Pool

Item = TypeVar("Item")
Result = TypeVar("Result")

PATIENCE = 60.0
"""Seconds until a cluster without a worker is an error."""
SECONDS = Parameter("patience", low=Fraction(0), high=Fraction(10**6), low_open=True)

_AHEAD = 2  # items in flight for each worker, so that none waits for the next
_LOOK = 1.0  # seconds between two looks at whether a cluster has workers, while nothing comes


class Place(ABC):
    """Where items are worked on; a context manager, which lets its workers go."""

    def __enter__(self) -> Place:
        return self

    def __exit__(self, *_: object) -> None:
        return None

    @abstractmethod
    def run(self, function: Callable[[Item], Result], items: Iterable[Item]) -> Iterator[tuple[Item, Result]]:
        """Every item and what the function returns for it, as they come."""


class ThisProcess(Place):
    """This process."""

    def run(self, function: Callable[[Item], Result], items: Iterable[Item]) -> Iterator[tuple[Item, Result]]:
        """One after the other."""
        for item in items:
            yield item, function(item)


class Processes(Place):
    """Worker processes of this machine."""

    def __init__(self, workers: int) -> None:
        self._pool = Pool(workers)

    def __exit__(self, *_: object) -> None:
        self._pool.__exit__(*_)

    def run(self, function: Callable[[Item], Result], items: Iterable[Item]) -> Iterator[tuple[Item, Result]]:
        """As they come."""
        for (item,), result in self._pool.run(function, ((item,) for item in items), ahead=_AHEAD):
            if isinstance(result, Died):
                raise WorkLostError(f"a piece of work is lost: {result}")
            yield item, result


class Cluster(Place):
    """A Dask cluster, by the address of its scheduler; its workers need this package, and the files that items name."""

    def __init__(self, address: str, patience: float) -> None:
        self._patience = patience
        try:
            distributed: Any = importlib.import_module("distributed")
        except ImportError:
            raise DomainError(f"cluster = {address} needs Dask: pip install 'dp-oracle[cluster]'") from None
        self._dask = distributed
        try:
            self._client = distributed.Client(address, timeout=patience, set_as_default=False)
            self._client.wait_for_workers(1, timeout=patience)
        except (OSError, ValueError, TimeoutError) as error:
            raise DomainError(f"cluster = {address} is no Dask scheduler with workers: {error}") from None

    def __exit__(self, *_: object) -> None:
        self._client.close()

    def run(self, function: Callable[[Item], Result], items: Iterable[Item]) -> Iterator[tuple[Item, Result]]:
        """As they come; the scheduler gives a dead worker's items to the others."""
        source = iter(items)
        flying: dict[Any, Item] = {}
        ready: queue.SimpleQueue[Any] = queue.SimpleQueue()
        try:
            while True:
                room = _AHEAD * max(1, sum(self._client.nthreads().values())) - len(flying)
                for item in itertools.islice(source, max(0, room)):
                    future = self._client.submit(function, item, pure=False, retries=TRIES)
                    flying[future] = item
                    future.add_done_callback(ready.put)
                if not flying:
                    return
                future = self._next(ready)
                result = future.result()
                yield flying.pop(future), result
        except self._dask.KilledWorker as error:
            raise WorkLostError(f"workers of the cluster died again and again: {error}") from None
        except (OSError, concurrent.futures.CancelledError, asyncio.CancelledError) as error:
            raise WorkLostError(f"the cluster is lost: {error}") from None
        finally:
            with contextlib.suppress(OSError):  # there may be nobody left to tell
                self._client.cancel(list(flying))


    def _next(self, ready: queue.SimpleQueue[Any]) -> Any:
        """The next item that is done; a WorkLostError where there is nobody who could do one, for so long."""
        since: float | None = None
        while True:
            with contextlib.suppress(queue.Empty):
                return ready.get(timeout=_LOOK)
            if self._client.nthreads():
                since = None
            elif since is None:
                since = time.monotonic()
                print(clean(f"the cluster has no worker left; waiting {self._patience:g} s for one"), file=sys.stderr)
            elif time.monotonic() - since > self._patience:
                raise WorkLostError(f"the cluster is lost: it had no worker for {self._patience:g} s (--patience)")


def place_for(*, workers: int, cluster: str | None, items: int, patience: Number = PATIENCE) -> Place:
    """The place that a command's options name; no more processes than there are items."""
    if workers < 1:
        raise DomainError(f"workers = {workers} is outside its domain: an integer >= 1")
    if cluster is not None:
        return Cluster(cluster, float(SECONDS.rational(patience)))
    return ThisProcess() if min(workers, items) <= 1 else Processes(min(workers, items))
