"""The training of one shard: all that determines its array, apart from where and when it is trained (`compute`)."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from empirical.attacks.attacks import restore
from empirical.audits.audit_plan import AuditPlan, Shard
from empirical.audits.targets import AuditTarget
from empirical.pairs.pair import Pair
from oracle.core.errors import TargetError

Array = NDArray[np.float64]

_BLOCK = 2**25  # numbers: the releases that a worker holds at once, 256 MB


@dataclass(frozen=True)
class Task:
    """One shard to train: its releases if no attack is chosen yet, else the scores of its releases.

    `attack` is a chosen attack's name and arrays; the law that it may need is part of the pair.
    """

    plan: AuditPlan
    shard: Shard
    attack: tuple[str, Mapping[str, Array]] | None
    shape: tuple[int, ...] | None
    code: str


def train(target: AuditTarget, pair: Pair, task: Task) -> Array:
    """The releases of a shard's models, or their scores, in blocks that bound the memory."""
    shard = task.shard
    tape = shard.tape(task.plan.seed)
    block = shard.models if task.shape is None else max(1, min(shard.models, _BLOCK // max(1, math.prod(task.shape))))
    score = None if task.attack is None else restore(*task.attack, pair)
    parts = []
    for first in range(0, shard.models, block):
        part = tape.block(first, min(block, shard.models - first))
        released = target.releases(pair.features[shard.side], pair.labels[shard.side], part)
        expected = (part.models, *(released.shape[1:] if task.shape is None else task.shape))
        if released.shape != expected:
            raise TargetError(f"{target.name} released shape {released.shape}, expected {expected}")
        parts.append(released if score is None else score(released))
    return np.concatenate(parts)
