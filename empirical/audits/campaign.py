"""A campaign: the shards of a plan, read from the store or trained, brought into order whatever their arrival.

First both data sets' selection models are trained, and their releases kept; an attack is chosen on them; then the
evaluation models are trained, and only their scores kept. Every shard is stored as soon as it comes. What a campaign
returns depends on the plan alone: it looks at evaluation shards in the order of the plan, both sides of an index
together, so that a sequential audit stops at the same place whoever finished first, now or before an interruption.
"""

from __future__ import annotations

import hashlib
import math
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from empirical.attacks.attacks import Score
from empirical.audits.audit_plan import AuditPlan, Shard
from empirical.audits.compute import Finished, Workshop
from empirical.audits.shard_store import Shards
from empirical.audits.shard_training import Task
from oracle.core.errors import DomainError

Array = NDArray[np.float64]
Scores = tuple[Array, Array]

_SELECTION_MEMORY = 2**28  # numbers: what choosing an attack may hold, 2 GB
_GLANCE = 1.0  # seconds between two looks at the current bound, which are for the eye only,
_SHARE = 20  # and at least so many times what a look takes


@dataclass(frozen=True)
class Status:
    """How far a campaign is: models on both sides, models a second, the bound so far, and seconds left."""

    phase: str
    done: int
    total: int
    rate: float | None
    bound: float | None
    left: float | None


Progress = Callable[[Status], None]


@dataclass
class Campaign:
    """A plan at work: where it trains, where it keeps, whom it tells; `code` is the fingerprint of what trains."""

    plan: AuditPlan
    workshop: Workshop
    store: Shards | None
    progress: Progress
    code: str
    _done: int = 0
    _trained: int = 0
    _bound: float | None = None
    _started: float = field(default_factory=time.monotonic)

    def selection(self, shape: tuple[int, ...]) -> Scores:
        """The releases of the models that select attack and threshold, on both data sets."""
        size = max(1, math.prod(shape))
        most = _SELECTION_MEMORY // (2 * size)
        if self.plan.selection > most:
            raise DomainError(
                f"held = {self.plan.held} of budget = {self.plan.budget} is outside its domain: an attack on releases "
                f"of {size} numbers can be chosen on at most {most} models a side (memory)"
            )
        arrived = {(shard.index, shard.side): array for shard, array in self._arrivals("selection", None, shape)}
        return _prefix(arrived, len(arrived) // 2)

    def evaluation(
        self, shape: tuple[int, ...], score: Score, bound: Callable[[Scores], float],
        enough: Callable[[float], bool] | None,
    ) -> Scores:
        """The scores that judge, in the plan's order: all of them, or up to the first index whose bound is enough.

        Without `enough` nothing stops the campaign, and the bound so far is computed now and then, for the eye.
        """
        rounds = len(self.plan.shards("evaluation")) // 2
        arrived: dict[tuple[int, int], Array] = {}
        seen, next_look = 0, time.monotonic() + _GLANCE
        for shard, array in self._arrivals("evaluation", score, shape):
            arrived[shard.index, shard.side] = array
            while (seen, 0) in arrived and (seen, 1) in arrived:
                seen += 1
                started = time.monotonic()
                if enough is not None or (seen < rounds and started > next_look):
                    self._bound = bound(_prefix(arrived, seen))
                    next_look = time.monotonic() + max(_GLANCE, _SHARE * (time.monotonic() - started))
                    if enough is not None and enough(self._bound):
                        return _prefix(arrived, seen)
        return _prefix(arrived, seen)

    def _arrivals(self, phase: str, score: Score | None, shape: tuple[int, ...]) -> Iterator[Finished]:
        """The shards of a phase: first those that are stored, then the others as they are trained and stored."""
        models, name = self.plan.models_hash(), "" if score is None else f"{score.attack} {_digest(score)}"
        attack = None if score is None else (score.attack, score.arrays)
        missing = []
        for shard in self.plan.shards(phase):
            array = None if self.store is None else self.store.array(models, shard, name, self.code)
            if array is None:
                missing.append(Task(self.plan, shard, attack, shape, self.code))
            else:
                self._tell(shard, trained=False)
                yield shard, array
        for shard, array in self.workshop.run(missing):
            if self.store is not None:
                self.store.keep(models, shard, name, self.code, array)
            self._tell(shard, trained=True)
            yield shard, array

    def _tell(self, shard: Shard, *, trained: bool) -> None:
        total = 2 * self.plan.budget
        self._done += shard.models
        self._trained += shard.models if trained else 0
        rate = self._trained / (time.monotonic() - self._started) if self._trained else None
        left = None if rate is None else (total - self._done) / rate
        self.progress(Status(shard.phase, self._done, total, rate, self._bound, left))


def _prefix(arrived: dict[tuple[int, int], Array], rounds: int) -> Scores:
    """The arrays of the first indices on both sides, joined in order."""
    negatives, positives = (np.concatenate([arrived[index, side] for index in range(rounds)]) for side in (0, 1))
    return negatives, positives


def _digest(score: Score) -> str:
    """A name for a fitted attack: scores of another one must not be mixed in."""
    digest = hashlib.blake2b(score.attack.encode(), digest_size=16)
    for name, array in sorted(score.arrays.items()):
        plain = np.ascontiguousarray(array)
        digest.update(f"{name} {plain.dtype.str} {plain.shape}\n".encode())
        digest.update(plain.tobytes())
    return digest.hexdigest()
