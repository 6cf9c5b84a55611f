"""Plant errors in the machinery of campaigns and require its tests to fail.

The known bugs of estimators (rows A01 ... A09 of the corpus) are planted in `empirical.mutants.auditors`.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import tests.empirical.test_audit as audits
import tests.empirical.test_campaign as campaigns
import tests.empirical.test_store as stores
from empirical.audits.audit import run
from empirical.audits.audit_plan import AuditPlan, Shard
from empirical.audits.shard_store import Shards
from empirical.mutants.mutant import Planted


def test_shards_joined_as_they_arrive_are_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    def as_they_arrived(arrived: dict[tuple[int, int], Any], rounds: int) -> tuple[Any, Any]:
        sides = [[array for (_, side), array in arrived.items() if side == wanted] for wanted in (0, 1)]
        return np.concatenate(sides[0][:rounds]), np.concatenate(sides[1][:rounds])

    monkeypatch.setattr("empirical.audits.campaign._prefix", as_they_arrived)
    with pytest.raises(AssertionError):
        campaigns.test_a_sequential_audit_stops_at_the_same_shard_whatever_the_order(monkeypatch)


def test_models_that_are_used_twice_are_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    true = AuditPlan.shards

    def same_draws(plan: AuditPlan, phase: str) -> tuple[Shard, ...]:
        return tuple(replace(shard, first=shard.first % plan.budget) for shard in true(plan, phase))

    monkeypatch.setattr(AuditPlan, "shards", same_draws)
    with pytest.raises(AssertionError):
        campaigns.test_the_models_of_a_plan_are_disjoint_and_complete()
    with pytest.raises(AssertionError):
        audits.test_the_two_sides_use_different_draws()


def test_a_hash_that_misses_a_part_of_the_plan_is_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    true = AuditPlan.canonical
    monkeypatch.setattr(
        AuditPlan, "canonical", lambda plan: true(replace(plan, shard=1)) if plan.shard != 1 else true(plan)
    )
    with pytest.raises(AssertionError):
        campaigns.test_every_part_of_a_plan_is_in_its_hash()


@pytest.mark.full
def test_scores_of_another_attack_that_are_used_are_seen(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    read, write = Shards.array, Shards.keep
    monkeypatch.setattr(Shards, "array", lambda self, models, shard, attack, code: read(self, models, shard, "", code))
    monkeypatch.setattr(
        Shards, "keep", lambda self, models, shard, attack, code, array: write(self, models, shard, "", code, array)
    )
    with pytest.raises(AssertionError):
        campaigns.test_scores_of_another_attack_are_not_mixed_in(tmp_path, monkeypatch)


def test_rows_that_are_not_checked_are_seen(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("oracle.core.store._digest", lambda *_: "")
    other = "(SELECT data FROM entries WHERE key LIKE '%/1/0/%')"
    damage = f"UPDATE entries SET data = {other} WHERE key LIKE '%/0/0/%'"
    with pytest.raises(AssertionError):
        stores.test_a_damaged_row_counts_as_absent_and_can_be_written_again(tmp_path, damage)


def test_an_exception_never_becomes_epsilon_zero() -> None:
    def failing(*_: object) -> object:
        raise ArithmeticError("planted")

    with pytest.raises(ArithmeticError, match="planted"):
        run(audits.GD, target=Planted(audits.GD, failing))
