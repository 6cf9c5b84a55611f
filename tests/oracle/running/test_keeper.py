"""The keeper: whatever a program starts ends with it, and all its processes share one limit of memory."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from oracle.core.errors import TargetError
from oracle.running.isolated import Isolated
from oracle.running.keeper import TOO_MUCH
from tests.waiting import PATIENCE, runs, wait_until

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="there is a keeper on Linux only")

DAEMON = "(setsid sh -c 'sleep 600 & echo $! $$; wait' &); "
"""A shell's words: two processes, in a session of their own, whose parent is gone; they say who they are."""


def shell(text: str, memory: int = 500) -> Isolated:
    return Isolated("it", ["exec", "sh", "-c", text], memory=memory)


def told(process: Isolated) -> list[int]:
    return [int(word) for word in process.read_line(seconds=PATIENCE).split()]


def all_ended(pids: list[int]) -> bool:
    return not any(map(runs, pids))


def test_a_daemon_ends_when_the_program_is_stopped() -> None:
    process = shell(DAEMON + "sleep 600")
    pids = told(process)
    assert all(map(runs, pids))
    process.stop()
    assert all_ended(pids)


def test_a_daemon_ends_when_the_program_ends_and_its_status_is_told() -> None:
    process = shell(DAEMON + "read line; exit 3")
    pids = told(process)
    process.write(b"\n", seconds=PATIENCE)
    with pytest.raises(TargetError, match="ended with exit status 3 before it answered"):
        process.read_line(seconds=PATIENCE)
    assert all_ended(pids)


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGKILL, signal.SIGSEGV, signal.SIGUSR1])
def test_the_signal_that_ended_the_program_is_told(number: signal.Signals) -> None:
    process = shell(f"kill -{number.value} $$; sleep 600")
    with pytest.raises(TargetError, match=f"was killed by {number.name}"):
        process.read_line(seconds=PATIENCE)


def test_a_daemon_ends_when_whoever_asked_is_killed() -> None:
    asks = (
        "from tests.oracle.running.test_keeper import DAEMON, shell, told\n"
        "process = shell(DAEMON + 'sleep 600')\nprint(*told(process), flush=True)\nprocess.read_line(seconds=900)\n"
    )
    asking = subprocess.Popen([sys.executable, "-c", asks], text=True, stdout=subprocess.PIPE)
    assert asking.stdout is not None
    pids = [int(word) for word in asking.stdout.readline().split()]
    assert all(map(runs, pids))
    asking.kill()
    asking.communicate()
    wait_until(lambda: all_ended(pids))


def test_a_program_that_starts_others_without_end_is_ended(tmp_path: Path) -> None:
    file = tmp_path / "program.py"
    file.write_text(
        "import os\nos.write(1, b'begun\\n')\n"
        "while True:\n    os.fork() or (os.setsid(), os.fork() and os._exit(0), os.execvp('sleep', ['sleep', '600']))\n"
        "    os.wait()\n"
    )
    process = Isolated("it", ["exec", sys.executable, str(file)], memory=500)
    assert process.read_line(seconds=PATIENCE) == b"begun"
    keeper = process._process.pid
    orphans = [pid for pid in map(int, filter(str.isdigit, os.listdir("/proc"))) if _parent(pid) == keeper]
    process.stop()
    assert all_ended([keeper, *orphans])


def _parent(pid: int) -> int | None:
    """The parent of a process, if there is such a process."""
    try:
        return int(Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[1])
    except OSError:
        return None


MEMORY = """
import os, sys, time
held = bytearray(b"x") * (200 * 2**20)
for _ in range(3):
    if os.fork() == 0:
        more = bytearray(b"y") * (MORE * 2**20)
        time.sleep(600)
print("begun", flush=True)
input()
time.sleep(1.0)
print("alive", flush=True)
time.sleep(600)
"""


@pytest.mark.parametrize("more", [10, 150])
def test_the_memory_of_all_processes_counts_together_and_what_they_share_once(more: int, tmp_path: Path) -> None:
    file = tmp_path / "program.py"
    file.write_text(MEMORY.replace("MORE", str(more)))
    process = Isolated("it", ["exec", sys.executable, str(file)], memory=400)
    if more == 10:
        assert process.read_line(seconds=PATIENCE) == b"begun"
        process.write(b"\n", seconds=PATIENCE)
        assert process.read_line(seconds=PATIENCE) == b"alive"  # 230 MB and a little; each for itself has 210
        process.stop()
        return
    with pytest.raises(TargetError, match=f"killed by SIGKILL.* it last said: {TOO_MUCH} 400 MB: [4-9][0-9][0-9] MB"):
        list(iter(lambda: process.read_line(seconds=PATIENCE), b"alive"))
