"""Where the shards of a campaign are trained: in this process, in worker processes, or on a Dask cluster.

All three run `train` on the same shards, each with one thread, so that a shard has the same bits wherever it ran (on
machines with the same family of processors). A task is plain data; a worker makes target and pair from their JSON, and
refuses to work with other code than the campaign's. Results come in any order: the campaign sorts them.

A worker process that dies is replaced and its shards are trained again; on a cluster the scheduler does so. A failure
of the target itself is a result (`TaskFailure`), no reason to try again.
"""

from __future__ import annotations

import asyncio
import concurrent.futures
import contextlib
import functools
import importlib
import itertools
import json
import queue
import threading
from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

from threadpoolctl import threadpool_limits

from empirical.audits.audit_plan import Shard
from empirical.audits.foreign import Foreign
from empirical.audits.plan_code import code_of
from empirical.audits.shard_training import Array, Task, train
from empirical.audits.targets import AuditTarget, make_target
from empirical.pairs.pair import Pair, make_pair
from oracle.core.errors import DomainError, OracleError, TargetError
from oracle.running.pool import Died, Pool

Finished = tuple[Shard, Array]

_DEATHS = 3  # how often workers may die over a campaign
_AHEAD = 2  # tasks in flight for each worker, so that none waits for the next
_PATIENCE = 60  # seconds until a cluster without a worker is an error


@dataclass(frozen=True)
class TaskFailure:
    """Why a target gave nothing that can be judged, or why a worker cannot work."""

    reason: str
    target: bool

    def error(self) -> OracleError:
        """The failure as the error to raise."""
        return TargetError(self.reason) if self.target else OracleError(self.reason)


@functools.lru_cache(maxsize=64)
def _workplace(text: str, thread: int) -> tuple[AuditTarget, Pair]:
    """Target and pair, made from the JSON text of their specs once in every thread: a target is not shared."""
    specs = json.loads(text)
    target = make_target(specs["target"])
    _torch_threads(target, 1)
    return target, make_pair(specs["pair"], target)


def work(task: Task) -> Array | TaskFailure:
    """Train a shard in a worker: its array, or why there is none."""
    threadpool_limits(1)
    if code_of(task.plan) != task.code:
        return TaskFailure(
            "a worker runs other code, or other versions of numpy, scipy or torch, than this process", False,
        )
    plain = task.plan.to_json()
    text = json.dumps({name: plain[name] for name in ("target", "pair")})
    try:
        return train(*_workplace(text, threading.get_ident()), task)
    except OracleError as error:
        return TaskFailure(str(error), isinstance(error, TargetError))


def _torch_threads(target: AuditTarget, threads: int) -> int:
    """Give torch so many threads, and say how many it had."""
    if isinstance(target, Foreign):  # which computes elsewhere: nobody waits a second or two for torch
        return threads
    import torch

    before: int = torch.get_num_threads()
    torch.set_num_threads(threads)
    return before


@contextlib.contextmanager
def one_thread(target: AuditTarget) -> Iterator[None]:
    """Let this process compute with one thread for a while: sums must not depend on how many threads share them."""
    with threadpool_limits(1):
        before = _torch_threads(target, 1)
        try:
            yield
        finally:
            _torch_threads(target, before)


class Place(ABC):
    """Where shards are trained; a context manager, which lets its workers go."""

    def __enter__(self) -> Place:
        return self

    def __exit__(self, *_: object) -> None:
        return None

    @abstractmethod
    def run(self, tasks: Iterable[Task]) -> Iterator[Finished]:
        """Every task's shard and array, as they come; a task is taken from the iterable only when there is room."""


class Here(Place):
    """This process, with a target and a pair that need no spec."""

    def __init__(self, target: AuditTarget, pair: Pair) -> None:
        self._target, self._pair = target, pair

    def run(self, tasks: Iterable[Task]) -> Iterator[Finished]:
        """One after the other."""
        for task in tasks:
            yield task.shard, train(self._target, self._pair, task)

    def __exit__(self, *_: object) -> None:
        if isinstance(self._target, Foreign):
            self._target.close()


class Processes(Place):
    """Worker processes of this machine."""

    def __init__(self, workers: int) -> None:
        self._pool = Pool(workers)
        self._deaths = 0

    def __exit__(self, *_: object) -> None:
        self._pool.__exit__(*_)

    def run(self, tasks: Iterable[Task]) -> Iterator[Finished]:
        """As they come; what a worker was at when it died goes to another, after the others."""
        left: Iterable[tuple[Task]] = ((task,) for task in tasks)
        while left:
            lost: list[tuple[Task]] = []
            for (task,), result in self._pool.run(work, left, ahead=_AHEAD):
                if isinstance(result, Died):
                    self._deaths += 1
                    if self._deaths > _DEATHS:
                        raise OracleError(f"worker processes died {self._deaths} times (out of memory?)")
                    lost.append((task,))
                else:
                    yield task.shard, _array(result)
            left = lost


class Cluster(Place):
    """A Dask cluster, by the address of its scheduler; its workers need this package and the pair's file."""

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

    def run(self, tasks: Iterable[Task]) -> Iterator[Finished]:
        """As they come; the scheduler gives a dead worker's tasks to the others."""
        source = iter(tasks)
        flying: dict[Any, Task] = {}
        ready: queue.SimpleQueue[Any] = queue.SimpleQueue()
        try:
            while True:
                room = _AHEAD * max(1, sum(self._client.nthreads().values())) - len(flying)
                for task in itertools.islice(source, max(0, room)):
                    future = self._client.submit(work, task, pure=False, retries=_DEATHS)
                    flying[future] = task
                    future.add_done_callback(ready.put)
                if not flying:
                    return
                future = ready.get()
                result = future.result()
                yield flying.pop(future).shard, _array(result)
        except self._dask.KilledWorker as error:
            raise OracleError(f"workers of the cluster died again and again: {error}") from None
        except (OSError, concurrent.futures.CancelledError, asyncio.CancelledError) as error:
            raise OracleError(f"the cluster is lost: {error}") from None
        finally:
            with contextlib.suppress(OSError):  # there may be nobody left to tell
                self._client.cancel(list(flying))


def _array(result: Array | TaskFailure) -> Array:
    if isinstance(result, TaskFailure):
        raise result.error()
    return result
