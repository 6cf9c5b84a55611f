"""The shards of campaigns in a store: an array is the bytes of an .npy file, and the plans stand beside them as JSON.

A shard's key is the hash of the models, phase, side, index, number of models and attack, the attack being that of the
scores, or empty for releases. So a store tells by itself what it holds, and of a plan that only judges otherwise the
models are found again.
"""

from __future__ import annotations

import io

import numpy as np
from numpy.typing import NDArray

from empirical.audits.audit_plan import AuditPlan, Shard
from oracle.running.store import Store

Array = NDArray[np.float64]

PLAN, SHARD = "plan", "shard"


class Shards(Store):
    """The shards of any number of plans in one file."""

    def register(self, plan: AuditPlan) -> None:
        """Write the plan's text, so that a reader of the file knows what the hashes stand for."""
        if self.read(PLAN, plan.hash(), "") is None:
            self.write(PLAN, plan.hash(), "", plan.canonical().encode())

    def array(self, models: str, shard: Shard, attack: str, code: str) -> Array | None:
        """The array of a shard, or None where the store has none, or only one of other code or a damaged one."""
        data = self.read(SHARD, _key(models, shard, attack), code)
        return None if data is None else np.asarray(np.load(io.BytesIO(data), allow_pickle=False), dtype=np.float64)

    def keep(self, models: str, shard: Shard, attack: str, code: str, array: Array) -> None:
        """Keep the array of a shard: afterwards it is on the disk, whatever happens to this process."""
        buffer = io.BytesIO()
        np.save(buffer, array, allow_pickle=False)
        self.write(SHARD, _key(models, shard, attack), code, buffer.getvalue())

    def shards_of(self, models: str) -> int:
        """How many shards of these models are kept."""
        return self.count(SHARD, f"{models}/")


def _key(models: str, shard: Shard, attack: str) -> str:
    return f"{models}/{shard.phase}/{shard.side}/{shard.index}/{shard.models}/{attack}"
