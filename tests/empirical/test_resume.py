"""The audit command, stopped in the middle: Ctrl-C and kill -9 lose no finished shard and change no bit."""

from __future__ import annotations

import contextlib
import json
import os
import signal
import sqlite3
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from empirical.audits.audit import run
from empirical.audits.audit_plan import PHASES, AuditPlan
from empirical.audits.trial import TOGETHER
from tests.empirical.trainings import noisy_sums, processes, seeds_of, trained
from tests.waiting import PATIENCE, runs, wait_until


def start(folder: Path, *options: str) -> subprocess.Popen[str]:
    words = (
        f"audit {folder}/noisy_sums.py:train --batched --epsilon 20 --delta 1e-3 --shard 20 --records 4 --dimension 2 "
        "--canary extremes"
    )
    return subprocess.Popen(
        [sys.executable, "-m", "reports.cli", *words.split(), *options], text=True, stdout=subprocess.PIPE,
        stderr=subprocess.PIPE, start_new_session=True,
    )


def start_with_store(folder: Path, result: str) -> subprocess.Popen[str]:
    return start(folder, "--budget", "200", "--store", f"{folder}/store", "--json", f"{folder}/{result}")


def kept(folder: Path) -> dict[tuple[str, int, int], str]:
    """The shards of the store with their digests; none as long as there is no store."""
    with contextlib.closing(sqlite3.connect(f"file:{folder}/store?mode=ro", uri=True, timeout=PATIENCE)) as connection:
        try:
            rows = connection.execute("SELECT key, sha256 FROM entries WHERE kind = 'shard'").fetchall()
        except sqlite3.OperationalError:
            return {}
    places = [key.split("/")[1:4] for key, _ in rows]
    return {
        (phase, int(side), int(number)): digest
        for (phase, side, number), (_, digest) in zip(places, rows, strict=True)
    }


def wait_for_shards(process: subprocess.Popen[str], folder: Path, count: int) -> None:
    def there() -> bool:
        assert process.poll() is None, process.communicate()
        return (folder / "store").exists() and len(kept(folder)) >= count

    wait_until(there)


def finished(folder: Path, result: str) -> dict[str, Any]:
    done: dict[str, Any] = json.loads((folder / result).read_text())
    return done


@pytest.mark.full
def test_an_interrupted_audit_goes_on_and_ends_with_the_same_bits(tmp_path: Path) -> None:
    noisy_sums(tmp_path)
    (tmp_path / "hold").write_text("3")
    stopped = start_with_store(tmp_path, "stopped.json")
    wait_for_shards(stopped, tmp_path, 3)
    os.killpg(stopped.pid, signal.SIGINT)  # Ctrl-C reaches the whole group
    _, said = stopped.communicate(timeout=PATIENCE)
    assert stopped.returncode == 130, said
    assert f"kept in {tmp_path}/store; run the same again to go on" in said
    assert "Traceback" not in said
    before = kept(tmp_path)
    assert len(before) == 3

    (tmp_path / "hold").write_text("8")
    killed = start_with_store(tmp_path, "killed.json")
    wait_for_shards(killed, tmp_path, 8)
    killed.send_signal(signal.SIGKILL)
    killed.communicate(timeout=PATIENCE)
    after = kept(tmp_path)
    assert len(after) == 8
    assert after.items() >= before.items()
    assert not list(tmp_path.glob("*.json"))

    (tmp_path / "hold").unlink()
    trained(tmp_path)
    # Two processes at once take it up; each finishes.
    for process in [start_with_store(tmp_path, "first.json"), start_with_store(tmp_path, "second.json")]:
        _, said = process.communicate(timeout=PATIENCE)
        assert process.returncode == 0, said
    assert (tmp_path / "first.json").read_bytes() == (tmp_path / "second.json").read_bytes()
    assert kept(tmp_path).items() >= after.items()
    assert len(kept(tmp_path)) == 20

    done = finished(tmp_path, "first.json")
    plan = AuditPlan.from_json(done["plan"])
    assert done["plan_hash"] == plan.hash()
    shards = {(s.phase, s.side, s.index): seeds_of(plan, s) for phase in PHASES for s in plan.shards(phase)}
    old = set().union(*(seeds for key, seeds in shards.items() if key in after))
    new = set().union(*(seeds for key, seeds in shards.items() if key not in after))
    again = set(trained(tmp_path))
    assert new <= again
    assert len(again & old) == 2 * TOGETHER  # the models of the trial; no finished shard was trained again
    assert run(plan).to_json() == done  # as in one sitting, without a store


@pytest.mark.full
@pytest.mark.parametrize("way", [signal.SIGINT, signal.SIGKILL])
def test_worker_processes_end_with_the_command(tmp_path: Path, way: signal.Signals) -> None:
    noisy_sums(tmp_path)
    (tmp_path / "shards").touch()
    (tmp_path / "hold").write_text("0")
    process = start(tmp_path, "--budget", "200", "--workers", "2")

    def working() -> bool:
        assert process.poll() is None, process.communicate()
        return len(set(processes(tmp_path).values()) - {process.pid}) == 2  # the command itself starts the trial's

    wait_until(working)
    if way is signal.SIGINT:
        os.killpg(process.pid, way)  # as a terminal does
        _, said = process.communicate(timeout=PATIENCE)
        assert process.returncode == 130, said
        assert "nothing is kept" in said
        assert "Traceback" not in said
    else:
        process.send_signal(way)
        process.communicate(timeout=PATIENCE)  # returns when the workers, too, have let go of the pipes
    noted = processes(tmp_path)
    wait_until(lambda: not any(runs(pid) for pid in {*noted, *noted.values()}))
