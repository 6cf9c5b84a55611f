"""Bugs in the machinery of campaigns: shards, plans, and the store."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np

from empirical.audits.audit_plan import AuditPlan
from empirical.mutants.changes import code
from tests.empirical import test_audit as audits
from tests.empirical import test_campaign as campaigns
from tests.empirical import test_store as stores
from tests.planted import seen

CAMPAIGN, PLAN, STORE = (f"empirical.audits.{name}" for name in ("campaign", "audit_plan", "shard_store"))
OTHER = "(SELECT data FROM entries WHERE key LIKE '%/1/0/%')"
DAMAGE = f"UPDATE entries SET data = {OTHER} WHERE key LIKE '%/0/0/%'"


def as_they_arrived(honest: Any) -> Any:
    def prefix(arrived: dict[tuple[int, int], Any], rounds: int) -> tuple[Any, Any]:
        sides = [[array for (_, side), array in arrived.items() if side == wanted] for wanted in (0, 1)]
        return np.concatenate(sides[0][:rounds]), np.concatenate(sides[1][:rounds])

    return prefix


def same_draws(honest: Any) -> Any:
    return lambda plan, phase: tuple(
        replace(shard, first=shard.first % plan.budget) for shard in honest(plan, phase)
    )


def without_the_shard(honest: Any) -> Any:
    def canonical(plan: AuditPlan) -> Any:
        return honest(replace(plan, shard=1)) if plan.shard != 1 else honest(plan)

    return canonical


MUTANTS = (
    seen(
        CAMPAIGN, "shards joined as they arrive", code("machinery", {f"{CAMPAIGN}:_prefix": as_they_arrived}),
        campaigns.test_a_sequential_audit_stops_at_the_same_shard_whatever_the_order,
    ),
    seen(
        PLAN, "models that are used twice", code("machinery", {f"{PLAN}:AuditPlan.shards": same_draws}),
        campaigns.test_the_models_of_a_plan_are_disjoint_and_complete, audits.test_the_two_sides_use_different_draws,
    ),
    seen(
        PLAN, "a hash that misses a part of the plan", code(
            "machinery", {f"{PLAN}:AuditPlan.canonical": without_the_shard},
        ),
        campaigns.test_every_part_of_a_plan_is_in_its_hash,
    ),
    seen(
        STORE, "scores of another attack that are used", code("machinery", {
            f"{STORE}:Shards.array": lambda honest: lambda self, models, shard, attack, code: honest(
                self, models, shard, "", code
            ),
            f"{STORE}:Shards.keep": lambda honest: lambda self, models, shard, attack, code, array: honest(
                self, models, shard, "", code, array
            ),
        }), campaigns.test_scores_of_another_attack_are_not_mixed_in,
    ),
    seen(
        "oracle.running.store", "rows that are not checked",
        code("machinery", {"oracle.running.store:digest": lambda honest: lambda *_: ""}),
        partial(stores.test_a_damaged_row_counts_as_absent_and_can_be_written_again, damage=DAMAGE),
    ),
)
