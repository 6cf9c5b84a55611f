"""Where the shards of a campaign are trained: in this process, in worker processes, or on a Dask cluster.

All three run `train` on the same shards, each with one thread, so that a shard has the same bits wherever it ran (on
machines with the same family of processors). A task is plain data; a worker makes target and pair from their JSON, and
refuses to work with other code than the campaign's. Results come in any order: the campaign sorts them.

What becomes of a worker that dies is `oracle.running.places`' business. A failure of the target itself is a result
(`TaskFailure`), no reason to try again.
"""

from __future__ import annotations

import contextlib
import functools
import json
import threading
from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from threadpoolctl import threadpool_limits

from empirical.audits.audit_plan import Shard
from empirical.audits.foreign.foreign import Foreign
from empirical.audits.plan_code import code_of
from empirical.audits.shard_training import Array, Task, train
from empirical.audits.targets import AuditTarget, make_target
from empirical.pairs.pair import Pair, make_pair
from oracle.core import extras
from oracle.core.errors import OracleError, TargetError
from oracle.running.places import Place

Finished = tuple[Shard, Array]


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
    with extras.told():
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


class Workshop(ABC):
    """Where shards are trained; a context manager, which lets its workers go."""

    def __enter__(self) -> Workshop:
        return self

    def __exit__(self, *_: object) -> None:
        return None

    @abstractmethod
    def run(self, tasks: Iterable[Task]) -> Iterator[Finished]:
        """Every task's shard and array, as they come; a task is taken from the iterable only when there is room."""


class Here(Workshop):
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


class Elsewhere(Workshop):
    """Worker processes, or a cluster, whose workers make target and pair themselves."""

    def __init__(self, place: Place) -> None:
        self._place = place

    def __exit__(self, *_: object) -> None:
        self._place.__exit__(*_)

    def run(self, tasks: Iterable[Task]) -> Iterator[Finished]:
        """As they come."""
        for task, result in self._place.run(work, tasks):
            yield task.shard, _array(result)


def _array(result: Array | TaskFailure) -> Array:
    if isinstance(result, TaskFailure):
        raise result.error()
    return result
