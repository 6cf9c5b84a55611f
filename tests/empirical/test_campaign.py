"""Campaigns: the same result in one process, in several, on a cluster, in one sitting or more; old shards are kept."""

from __future__ import annotations

import os
import sqlite3
import sys
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import empirical.audits.campaign
from empirical.audits.audit import Audit, run
from empirical.audits.audit_plan import PHASES, TRAINING, AuditPlan
from empirical.audits.campaign import Status
from empirical.audits.campaigns import DEFAULT
from empirical.audits.compute import TaskFailure, work
from empirical.audits.plan_code import code_of
from empirical.audits.progress import described
from empirical.audits.shard_store import Shards
from empirical.audits.shard_training import Task
from empirical.audits.trial import TOGETHER, TRIED
from oracle.core.errors import DomainError, TargetError, WorkLostError
from oracle.core.tape import Tape
from tests.empirical.trainings import noisy_sums, plan_of, seeds_of, trained
from tests.waiting import PATIENCE

CGD = replace(
    DEFAULT["NoisyCGD, canary in the last batch"], budget=2000, shard=300, held=0.2, estimator="clopper-pearson"
)


def shards(plan: AuditPlan) -> list[Any]:
    return [shard for phase in PHASES for shard in plan.shards(phase)]


def test_the_models_of_a_plan_are_disjoint_and_complete() -> None:
    for plan in (CGD, replace(CGD, budget=1999, held=0.37, shard=1), replace(CGD, budget=100, held=0.999)):
        models = [model for shard in shards(plan) for model in range(shard.first, shard.first + shard.models)]
        assert sorted(models) == list(range(2 * plan.budget))
        for phase in PHASES:
            sizes = [sum(s.models for s in plan.shards(phase) if s.side == side) for side in (0, 1)]
            assert sizes[0] == sizes[1] > 0


def test_every_part_of_a_plan_is_in_its_hash() -> None:
    changes: list[dict[str, Any]] = [
        {"target": {**CGD.target, "name": "dp-gd"}}, {"pair": {**CGD.pair, "batch": 1}}, {"delta": "1e-6"},
        {"claimed": "1"}, {"budget": 2001}, {"held": 0.3}, {"confidence": 0.9}, {"estimator": "gdp"},
        {"attacks": ("projection",)}, {"seed": 1}, {"shard": 301},
    ]
    assert {name for change in changes for name in change} == set(CGD.to_json())
    hashes = {CGD.hash(), *(replace(CGD, **change).hash() for change in changes)}
    assert len(hashes) == 1 + len(changes)
    assert AuditPlan.from_json(CGD.to_json()) == CGD
    assert AuditPlan.from_json(CGD.to_json()).hash() == CGD.hash()


@pytest.mark.parametrize(
    ("change", "word"),
    [
        ({"delta": "2"}, "delta"), ({"claimed": "-1"}, "epsilon"), ({"claimed": "nan"}, "epsilon"),
        ({"budget": 3}, "budget"), ({"budget": 1e5}, "budget"), ({"held": 1.0}, "held"),
        ({"confidence": 1.0}, "confidence"), ({"seed": -1}, "seed"), ({"shard": 0}, "shard"),
        ({"attacks": ()}, "attacks"), ({"attacks": ("guess",)}, "guess"),
        ({"target": {"kind": object()}}, "JSON"), ({"unknown": 1}, "unknown"),
        ({"pair": "file"}, "pair"),
    ],
)
def test_a_bad_plan_is_refused(change: dict[str, Any], word: str) -> None:
    with pytest.raises(DomainError, match=word):
        AuditPlan.from_json({**CGD.to_json(), **change})


@pytest.mark.full
def test_a_store_changes_nothing_and_a_second_run_trains_nothing(tmp_path: Path) -> None:
    plan = plan_of(noisy_sums(tmp_path))
    plain = run(plan)
    assert plain.verdict == "CONSISTENT"
    trained(tmp_path)
    assert run(plan, store=tmp_path / "store") == plain
    with sqlite3.connect(tmp_path / "store") as connection:
        query = "SELECT CAST(data AS TEXT) FROM entries WHERE kind = 'plan'"
        assert connection.execute(query).fetchall() == [(plan.canonical(),)]
    connection.close()
    every = set().union(*(seeds_of(plan, shard) for shard in shards(plan)))
    assert set(trained(tmp_path)) == every
    with Shards(tmp_path / "store") as store:
        assert store.shards_of(plan.models_hash()) == len(shards(plan)) == 20
    assert run(plan, store=tmp_path / "store") == plain
    assert len(set(trained(tmp_path))) == 2 * TOGETHER  # the trial only


@pytest.mark.full
def test_damaged_shards_are_trained_again_and_no_others(tmp_path: Path) -> None:
    plan = plan_of(noisy_sums(tmp_path))
    plain = run(plan, store=tmp_path / "store")
    with sqlite3.connect(tmp_path / "store") as connection:
        connection.execute("UPDATE entries SET data = zeroblob(length(data)) WHERE key LIKE '%/1/1/%'")
    connection.close()
    trained(tmp_path)
    assert run(plan, store=tmp_path / "store") == plain
    damaged = [shard for shard in shards(plan) if (shard.side, shard.index) == (1, 1)]
    assert len(damaged) == 2  # one of either phase
    tried = {int(word) for word in Tape(plan.seed, 2 * TOGETHER).words("seed", 0, 1)[:, 0] >> 1}
    assert set(trained(tmp_path)) - tried == set().union(*(seeds_of(plan, shard) for shard in damaged))


@pytest.mark.full
def test_a_changed_plan_and_changed_code_use_no_old_shard(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    plan = plan_of(noisy_sums(tmp_path))
    first = run(plan, store=tmp_path / "store")
    trained(tmp_path)
    for other in (replace(plan, seed=1), replace(plan, pair={**plan.pair, "feature_norm": 2})):
        run(other, store=tmp_path / "store")
        assert len(trained(tmp_path)) > 2 * plan.budget
    with pytest.raises(TargetError, match="changed"):  # the digest of the file is part of the plan
        run(replace(plan, target={**plan.target, "sha256": "0" * 64}), store=tmp_path / "store")
    monkeypatch.setattr("empirical.audits.audit.code_of", lambda plan: "other code")
    assert run(plan, store=tmp_path / "store") == first
    assert len(trained(tmp_path)) > 2 * plan.budget


@pytest.mark.full
def test_a_plan_that_only_judges_otherwise_trains_nothing_again(tmp_path: Path) -> None:
    plan = plan_of(noisy_sums(tmp_path), attacks=["mean-distance"])
    run(plan, store=tmp_path / "store")
    trained(tmp_path)
    counts = set()
    for change in ({"estimator": "curve"}, {"claimed": "3"}, {"confidence": 0.9}, {"delta": "1e-4"}):
        other = replace(plan, **change)  # type: ignore[arg-type]
        assert other.hash() != plan.hash()
        assert other.models_hash() == plan.models_hash()
        with_store = run(other, store=tmp_path / "store")
        tried = len(trained(tmp_path))
        assert with_store == run(other)
        again = len(trained(tmp_path))
        assert 2 * plan.budget <= again - tried  # the trial is made in both, and some models are asked for again
        counts.add(tried)
    assert len(counts) == 1
    assert counts.pop() <= 2 * (4 * TRIED + 2 * TOGETHER)  # of which nothing is one of the audit's models
    both = replace(plan, attacks=("coordinate-scan",))
    assert run(both, store=tmp_path / "store") == run(both)
    assert run(plan, store=tmp_path / "store") == run(plan)  # scores of both attacks are kept side by side


def test_the_parts_that_determine_the_models_are_in_their_hash() -> None:
    changes: list[dict[str, Any]] = [
        {"target": {**CGD.target, "name": "dp-gd"}}, {"pair": {**CGD.pair, "batch": 1}}, {"budget": 2001},
        {"held": 0.3}, {"seed": 1}, {"shard": 301},
    ]
    assert {name for change in changes for name in change} == set(TRAINING)
    hashes = {CGD.models_hash(), *(replace(CGD, **change).models_hash() for change in changes)}
    assert len(hashes) == 1 + len(changes)


@pytest.mark.full
def test_scores_of_another_attack_are_not_mixed_in(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    # As when the selection was computed again elsewhere, and the choice came out otherwise.
    plan = plan_of(noisy_sums(tmp_path))
    run(plan, store=tmp_path / "store")
    choose = empirical.audits.audit.choose
    only = {"attacks": ("coordinate-scan",)}
    monkeypatch.setattr("empirical.audits.audit.choose", lambda *a, **k: choose(*a, **{**k, **only}))
    assert run(plan, store=tmp_path / "store") == run(plan)


@pytest.mark.full
def test_the_shard_size_changes_no_model() -> None:
    # Guaranteed for a training whose rows do not depend on the number of rows, as here; the plan's hash differs anyway.
    first = run(CGD)
    other = run(replace(CGD, shard=77))
    assert (first.epsilon_lower, first.threshold, first.attack) == (other.epsilon_lower, other.threshold, other.attack)
    assert first.epsilon_lower != run(replace(CGD, seed=1)).epsilon_lower


@pytest.mark.full
def test_the_order_of_arrival_does_not_matter(monkeypatch: pytest.MonkeyPatch) -> None:
    first = run(CGD)
    here = empirical.audits.compute.Here.run
    monkeypatch.setattr("empirical.audits.compute.Here.run", lambda self, tasks: here(self, reversed(list(tasks))))
    assert run(CGD) == first


def test_a_sequential_audit_stops_at_the_same_shard_whatever_the_order(monkeypatch: pytest.MonkeyPatch) -> None:
    plan = replace(CGD, estimator="sequential", claimed="0.5")
    first = run(plan)
    assert first.verdict == "VIOLATION"
    assert first.models is not None
    assert first.models < plan.budget
    here = empirical.audits.compute.Here.run
    monkeypatch.setattr("empirical.audits.compute.Here.run", lambda self, tasks: here(self, reversed(list(tasks))))
    assert run(plan) == first


@pytest.mark.full
def test_two_runs_on_one_store_at_once(tmp_path: Path) -> None:
    plan = plan_of(noisy_sums(tmp_path))
    with ThreadPoolExecutor(2) as pool:
        both = list(pool.map(lambda _: run(plan, store=tmp_path / "store"), range(2)))
    assert both[0] == both[1] == run(plan)


def test_progress_tells_models_rate_bound_and_time_left(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("empirical.audits.campaign._GLANCE", 0.0)
    told: list[Status] = []
    run(CGD, progress=told.append)
    assert [status.done for status in told] == sorted(status.done for status in told)
    assert told[-1].done == told[-1].total == 2 * CGD.budget
    assert told[-1].left == 0
    assert told[0].phase == "selection"
    assert any(status.bound is not None for status in told)
    words = described(told[-1])
    assert "models/s" in words
    assert "epsilon >=" in words
    assert "0:00 left" in words


def test_a_worker_with_other_code_is_refused() -> None:
    task = Task(CGD, CGD.shards("selection")[0], None, None, "other code")
    refused = work(task)
    assert isinstance(refused, TaskFailure)
    assert "other code" in str(refused.error())
    assert not isinstance(refused.error(), TargetError)  # it says nothing of the target
    array = work(replace(task, code=code_of(CGD)))
    assert isinstance(array, np.ndarray)
    assert array.shape == (300, 4)


def test_a_planted_target_takes_no_store_and_no_workers(tmp_path: Path) -> None:
    target = empirical.audits.targets.make_target(CGD.target)
    for options in ({"store": tmp_path / "s"}, {"workers": 2}, {"cluster": "tcp://127.0.0.1:1"}):
        with pytest.raises(DomainError, match="planted"):
            run(CGD, target=target, **options)  # type: ignore[arg-type]
    with pytest.raises(DomainError, match="workers"):
        run(CGD, workers=0)


def test_releases_too_large_to_choose_on_are_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("empirical.audits.campaign._SELECTION_MEMORY", 100)
    with pytest.raises(DomainError, match="held"):
        run(CGD)


def test_a_foreign_training_is_audited_without_torch(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "torch", None)
    assert run(plan_of(noisy_sums(tmp_path))).verdict == "CONSISTENT"
    with pytest.raises(ImportError):
        run(CGD)


def spawned(plan: AuditPlan, folder: Path, **options: Any) -> Audit:
    """A run of which one worker is killed in the middle."""
    (folder / "kill").write_text(str(os.getpid()))  # this process is no worker
    result = run(plan, **options)
    assert not (folder / "kill").exists()
    return result


@pytest.mark.full
def test_processes_give_the_same_bits_though_one_is_killed(tmp_path: Path) -> None:
    plan = plan_of(noisy_sums(tmp_path))
    plain = run(plan)
    assert spawned(plan, tmp_path, workers=2, store=tmp_path / "store") == plain
    with Shards(tmp_path / "store") as store:
        assert store.shards_of(plan.models_hash()) == 20


@pytest.mark.full
def test_processes_that_die_too_often_are_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("oracle.running.pool.TRIES", 1)
    plan = plan_of(noisy_sums(tmp_path))
    (tmp_path / "kill").write_text(str(os.getpid()))
    with pytest.raises(WorkLostError, match="died"):
        run(plan, workers=2)


@pytest.mark.thorough
def test_a_dask_cluster_gives_the_same_bits_though_a_worker_is_killed(tmp_path: Path) -> None:
    dask, distributed = (pytest.importorskip(name) for name in ("dask", "distributed"))
    plan = plan_of(noisy_sums(tmp_path))
    plain = run(plan)
    slow = {f"distributed.comm.timeouts.{what}": f"{PATIENCE:g} s" for what in ("connect", "tcp")}
    with dask.config.set(slow), distributed.LocalCluster(
        n_workers=2, threads_per_worker=1, processes=True, dashboard_address=None, silence_logs=50
    ) as cluster:
        pids = {worker.pid for worker in cluster.workers.values()}
        assert spawned(plan, tmp_path, cluster=cluster.scheduler_address, patience=PATIENCE) == plain
        assert {worker.pid for worker in cluster.workers.values()} != pids  # one was replaced
        assert run(CGD, cluster=cluster.scheduler_address, patience=PATIENCE) == run(CGD)


@pytest.mark.full
def test_a_cluster_that_is_not_there_is_told() -> None:
    pytest.importorskip("distributed")
    with pytest.raises(DomainError, match=r"cluster = tcp://127\.0\.0\.1:1"):
        run(CGD, cluster="tcp://127.0.0.1:1", patience=1)
    with pytest.raises(DomainError, match="patience = nan"):
        run(CGD, cluster="tcp://127.0.0.1:1", patience=float("nan"))
