"""Where the pieces of long work are computed: in this process, in worker processes, or on a Dask cluster.

A piece is an item, plain data, to which a function at the top of a module is applied; what it returns comes back beside
the item, in any order. An item is taken from the iterable only when there is room for it. A worker process that dies is
replaced and its item is tried again; on a cluster the scheduler does so.
"""

from __future__ import annotations

import asyncio
import concurrent.futures
import contextlib
import importlib
import itertools
import queue
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator
from typing import Any, TypeVar

from oracle.core.errors import DomainError, OracleError
from oracle.running.pool import Died, Pool

Item = TypeVar("Item")
Result = TypeVar("Result")

_DEATHS = 3  # how often workers may die over a piece of work
_AHEAD = 2  # items in flight for each worker, so that none waits for the next
_PATIENCE = 60  # seconds until a cluster without a worker is an error


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
        self._deaths = 0

    def __exit__(self, *_: object) -> None:
        self._pool.__exit__(*_)

    def run(self, function: Callable[[Item], Result], items: Iterable[Item]) -> Iterator[tuple[Item, Result]]:
        """As they come; what a worker was at when it died goes to another, after the others."""
        left: Iterable[tuple[Item]] = ((item,) for item in items)
        while left:
            lost: list[tuple[Item]] = []
            for (item,), result in self._pool.run(function, left, ahead=_AHEAD):
                if isinstance(result, Died):
                    self._deaths += 1
                    if self._deaths > _DEATHS:
                        raise OracleError(f"worker processes died {self._deaths} times (out of memory?)")
                    lost.append((item,))
                else:
                    yield item, result
            left = lost


class Cluster(Place):
    """A Dask cluster, by the address of its scheduler; its workers need this package, and the files that items name."""

    def __init__(self, address: str) -> None:
        try:
            distributed: Any = importlib.import_module("distributed")
        except ImportError:
            raise DomainError(f"cluster = {address} needs Dask: pip install 'dp-oracle[cluster]'") from None
        self._dask = distributed
        try:
            self._client = distributed.Client(address, timeout=_PATIENCE, set_as_default=False)
            self._client.wait_for_workers(1, timeout=_PATIENCE)
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
                    future = self._client.submit(function, item, pure=False, retries=_DEATHS)
                    flying[future] = item
                    future.add_done_callback(ready.put)
                if not flying:
                    return
                future = ready.get()
                result = future.result()
                yield flying.pop(future), result
        except self._dask.KilledWorker as error:
            raise OracleError(f"workers of the cluster died again and again: {error}") from None
        except (OSError, concurrent.futures.CancelledError, asyncio.CancelledError) as error:
            raise OracleError(f"the cluster is lost: {error}") from None
        finally:
            with contextlib.suppress(OSError):  # there may be nobody left to tell
                self._client.cancel(list(flying))


def place_for(*, workers: int, cluster: str | None, items: int) -> Place:
    """The place that a command's options name; no more processes than there are items."""
    if workers < 1:
        raise DomainError(f"workers = {workers} is outside its domain: an integer >= 1")
    if cluster is not None:
        return Cluster(cluster)
    return ThisProcess() if min(workers, items) <= 1 else Processes(min(workers, items))
