"""Killed with kill -9 at any moment: nothing is left running, and the same command ends with the same bytes.

When a run is killed is drawn at random as a share of the time that it takes on this machine; whatever the moment, the
result must be the same, so nothing here depends on the clock.
"""

from __future__ import annotations

import contextlib
import os
import random
import signal
import sys
from pathlib import Path

import pytest

from tests.faults.runs import RUNS, prepare, told
from tests.waiting import timed

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="processes are found by /proc")

MOMENTS = {"audit": 14, "rates": 12, "check": 12, "league": 6, "gate": 6}
"""Fifty kills, in runs that are killed again and again before they may finish."""


def killed_and_resumed(name: str, folder: Path, kills: int, seed: int) -> None:
    """Kill a run so many times, each time in another moment, let it finish, and compare."""
    prepare(folder)
    expected, seconds = timed(lambda: RUNS[name].finish(folder, folder / "undisturbed", folder / "undisturbed.json"))
    draw = random.Random(f"{name} {seed}")
    store, result = folder / "store", folder / "result.json"
    for number in range(kills):
        started = RUNS[name].start(folder, store, result)
        started.let_pass(draw.uniform(0.0, 1.1 * seconds))
        started.kill()
        if result.exists() and result.stat().st_size:
            assert told(result) == expected  # it came to its end before
        if number % 2:
            result.unlink(missing_ok=True)
            store.unlink(missing_ok=True)  # a sitting of two kills, then from the start
    assert RUNS[name].finish(folder, store, result) == expected


@pytest.mark.full
def test_a_killed_audit_leaves_nothing_and_goes_on(tmp_path: Path) -> None:
    killed_and_resumed("short audit", tmp_path, 1, 0)


@pytest.mark.thorough
@pytest.mark.parametrize("name", MOMENTS)
def test_fifty_kills_leave_nothing_and_change_no_byte(name: str, tmp_path: Path) -> None:
    killed_and_resumed(name, tmp_path, MOMENTS[name], 1)


@pytest.mark.thorough
@pytest.mark.parametrize("name", ["audit", "audit --all", "rates", "check", "false-claims", "league"])
def test_workers_that_are_killed_change_no_byte(name: str, tmp_path: Path) -> None:
    prepare(tmp_path)
    run, store, result = RUNS[name], tmp_path / "store", tmp_path / "result.json"
    expected, seconds = timed(lambda: run.finish(tmp_path, tmp_path / "undisturbed", tmp_path / "undisturbed.json"))
    draw = random.Random(name)
    started = run.start(tmp_path, store, result)
    for _ in range(2):  # fewer than would lose an item
        started.let_pass(draw.uniform(0.2, 0.5) * seconds)
        for worker in started.workers()[:1]:
            with contextlib.suppress(ProcessLookupError):
                os.kill(worker, signal.SIGKILL)
    assert run.ended(started, result) == expected
