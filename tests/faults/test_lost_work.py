"""Workers that die, and clusters that lose theirs: told in one line, with what is kept; what is written is whole."""

from __future__ import annotations

import contextlib
import json
import os
import socket
import subprocess
import sys
import threading
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from empirical.audits import tightness
from empirical.audits.audit_plan import AuditPlan
from empirical.audits.shard_store import SHARD, Shards
from empirical.audits.targets import make_target
from oracle.core.errors import WorkLostError
from oracle.running import pool
from oracle.running.places import place_for
from tests.commands import command
from tests.empirical.trainings import SOURCE, noisy_sums, plan_of
from tests.faults.runs import MARK, SUMS, marked
from tests.waiting import PATIENCE, wait_until

KILLS = SOURCE.split("def train")[0] + '''
def fn(dataset, seed):
    """Kill the worker that asks, whatever becomes of this process; never the one of the tests."""
    with (HERE / "kills").open("a") as noted:
        noted.write("x")
    if str(starter()) != (HERE / "spare").read_text():
        os.kill(starter(), signal.SIGKILL)
'''


def lethal(folder: Path) -> AuditPlan:
    """A plan whose training kills every worker that is at it."""
    (folder / "kills.py").write_text(KILLS)
    (folder / "spare").write_text(str(os.getpid()))
    target = make_target({"kind": "function", "path": f"{folder / 'kills.py'}:fn", "batched": False}).spec()
    return replace(plan_of(noisy_sums(folder)), target=target)


@pytest.mark.full
def test_audit_all_goes_on_without_the_audit_at_which_workers_die(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    plan, file = plan_of(noisy_sums(tmp_path)), tmp_path / "all.json"
    plans = {"first": plan, "lethal": lethal(tmp_path), "last": replace(plan, budget=150)}
    monkeypatch.setattr("empirical.cli.ALL", plans)
    done = command("audit", "--all", "--workers", "2", "--json", str(file), "--store", str(tmp_path / "store"))
    assert done.returncode == 2, done.stderr
    assert "Traceback" not in done.stderr
    rows = {row["name"]: row for row in json.loads(file.read_text())}
    assert list(rows) == list(plans)
    assert (tmp_path / "kills").read_text() == "x" * pool.TRIES
    lost = rows.pop("lethal")
    assert (lost["verdict"], lost["epsilon_lower"], lost["claimed"]) == ("INVALID", None, 20.0)
    assert "a worker process died 3 times at it, at last with exit code -9" in lost["reason"]
    assert f"lethal (curve): {lost['reason']}" in done.stdout
    for name, row in rows.items():
        (alone,) = tightness.audit_every_way(name, plans[name])
        assert alone.audit.verdict == "CONSISTENT"
        assert {**alone.to_json(), "seconds": None} == {**row, "seconds": None}


@pytest.mark.thorough
def test_an_audit_whose_workers_die_says_what_is_kept(tmp_path: Path) -> None:
    file = tmp_path / "sums.py"
    killing = SUMS.replace("    noise =", "    if len(seeds) == 50:\n        kill()\n    noise =")
    file.write_text(killing + KILLS.replace("def fn(dataset, seed)", "def kill()"))
    (tmp_path / "spare").write_text(str(os.getpid()))
    words = ("--epsilon", "1", "--budget", "200", "--shard", "50", "--records", "4", "--dimension", "1", "--batched",
             "--canary", "extremes", "--workers", "2")
    done = command("audit", f"{file}:train", *words, "--store", str(tmp_path / "store"))
    assert done.returncode == 70
    *_, kept, error = done.stderr.splitlines()
    assert kept.startswith("stopped after ")
    assert kept.endswith(f"kept in {tmp_path / 'store'}; run the same again to go on")
    assert error.startswith("error: a piece of work is lost: a worker process died 3 times at it")


@contextlib.contextmanager
def cluster(workers: int) -> Iterator[tuple[str, list[subprocess.Popen[str]]]]:
    """The address of a Dask scheduler, and it and its workers as processes."""
    pytest.importorskip("distributed")
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    address = f"tcp://127.0.0.1:{port}"
    python = (sys.executable, "-m", "distributed.cli.dask_scheduler", "--port", str(port), "--no-dashboard")
    worker = (sys.executable, "-m", "distributed.cli.dask_worker", address, "--no-dashboard", "--no-nanny",
              "--nthreads", "1")
    started = [
        subprocess.Popen(words, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, text=True)
        for words in (python, *[worker] * workers)
    ]
    try:
        yield address, started
    finally:
        for process in started:
            process.kill()
            process.wait()


def slowly(number: int) -> int:
    """A piece of work that takes long enough for its worker to be killed."""
    threading.Event().wait(0.2 if number else 600)
    return number


@pytest.mark.thorough
@pytest.mark.parametrize("whom", ["workers", "scheduler"])
def test_a_cluster_that_is_lost_is_told(whom: str, capsys: pytest.CaptureFixture[str]) -> None:
    with cluster(2) as (address, (scheduler, *workers)), place_for(
        workers=1, cluster=address, items=4, patience=PATIENCE
    ) as place:
        place._patience = 3.0  # type: ignore[attr-defined]
        found: list[Any] = []

        def take() -> None:
            for item, result in place.run(slowly, [1, 2, 3, 0]):
                found.append((item, result))
                if len(found) == 3:
                    for process in workers if whom == "workers" else [scheduler]:
                        process.kill()

        with pytest.raises(WorkLostError, match="the cluster is lost"):
            take()
        assert sorted(found) == [(1, 1), (2, 2), (3, 3)]
        if whom == "workers":
            assert "the cluster has no worker left; waiting 3 s for one" in capsys.readouterr().err


@pytest.mark.thorough
def test_an_audit_whose_cluster_is_lost_says_what_is_kept_and_goes_on(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "sums.py").write_text(SUMS.replace("0.02", "0.3"))
    plan = "--epsilon 20 --delta 1e-3 --budget 1000 --shard 50 --records 4 --dimension 2 --canary extremes --batched"
    words = ["audit", f"{tmp_path}/sums.py:train", *plan.split(), "--store", str(tmp_path / "store")]
    with cluster(2) as (address, (_, *workers)):
        monkeypatch.setenv(MARK, str(tmp_path))
        process = subprocess.Popen(
            [sys.executable, "-m", "reports.cli", *words, "--cluster", address, "--patience", "3"], text=True,
            stderr=subprocess.PIPE, stdout=subprocess.PIPE,
        )
        def some() -> bool:
            if not (tmp_path / "store").exists():
                return False
            with Shards(tmp_path / "store") as store:
                return store.count(SHARD) >= 6

        wait_until(some, process)
        for worker in workers:
            worker.kill()
        _, said = process.communicate(timeout=PATIENCE)
    assert process.returncode == 70, said
    assert "Traceback" not in said
    assert "the cluster has no worker left; waiting 3 s for one" in said
    assert "; run the same again to go on" in said
    assert "error: the cluster is lost: it had no worker for 3 s (--patience)" in said
    wait_until(lambda: not marked(f"{MARK}={tmp_path}"))
    kept, plain = tmp_path / "kept.json", tmp_path / "plain.json"
    assert command(*words, "--json", str(kept)).returncode == 0
    assert command(*words[:-2], "--json", str(plain)).returncode == 0
    assert kept.read_bytes() == plain.read_bytes()
