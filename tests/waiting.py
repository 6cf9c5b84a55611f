"""Waiting for other processes, and the end of what would not end: the only places of the tests that know a clock."""

from __future__ import annotations

import contextlib
import signal
import subprocess
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from types import FrameType
from typing import TypeVar

Result = TypeVar("Result")

PATIENCE = 900.0  # seconds: the machine may be slow, and busy
_NO_END = 30.0  # seconds of this process's own time, whatever else the machine does


def wait_until(condition: Callable[[], bool], process: subprocess.Popen[str] | None = None) -> None:
    """Wait for something that another process does; that process, if it is given, must not end before."""
    deadline = time.monotonic() + PATIENCE
    while not condition():
        assert process is None or process.poll() is None or condition(), f"it ended with {process.returncode} before"
        assert time.monotonic() < deadline, "waited in vain"
        time.sleep(0.02)


def timed(work: Callable[[], Result]) -> tuple[Result, float]:
    """What work gives, and how many seconds it took here and now."""
    started = time.monotonic()
    return work(), time.monotonic() - started


def worked(work: Callable[[], Result]) -> tuple[Result, float]:
    """What work gives, and how many seconds of a processor this process took for it, however busy the machine is."""
    started = time.process_time()
    return work(), time.process_time() - started


def runs(pid: int) -> bool:
    """Whether a process runs, zombies excepted (Linux)."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] not in ("Z", "X")
    except (FileNotFoundError, ProcessLookupError):
        return False


@contextlib.contextmanager
def ending() -> Iterator[None]:
    """Fail instead of hanging, where a bad value must be refused before the work that it asks for."""

    def give_up(number: int, frame: FrameType | None) -> None:
        raise AssertionError(f"no end after {_NO_END:g} seconds of work")

    before = signal.signal(signal.SIGVTALRM, give_up)
    signal.setitimer(signal.ITIMER_VIRTUAL, _NO_END)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_VIRTUAL, 0)
        signal.signal(signal.SIGVTALRM, before)
