"""The keeper of a foreign program: a process between it and us that ends whatever the program has started.

A program may start processes, and these others, in sessions of their own or as daemons that have left their parents.
Linux gives the orphans among them to the keeper (a subreaper), so that none is ever out of its reach. It ends them all
when the program has ended, when it is told to (SIGTERM), when its own parent is gone, however that ended, and when they
use more memory together than one may: each is limited by itself, which a program of many processes would never feel.
Memory is what they have written to, what is shared counted once; it is looked at five times a second.

Elsewhere there is no keeper: the program is in a process group of its own, and nothing counts its children's memory.
"""

from __future__ import annotations

import contextlib
import ctypes
import functools
import os
import re
import resource
import signal
import sys
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import NoReturn, TypeVar

Started = TypeVar("Started")

LINUX = sys.platform == "linux"
TOO_MUCH = "the processes that it started use more memory together than"

_PARENT_DEATH_SIGNAL, _CHILD_SUBREAPER = 1, 36  # as Linux' prctl numbers them
_LOOK = 0.2  # seconds between two looks at the memory
_ROUND = 0.02  # seconds between two rounds of killing
_PATIENCE = 5.0  # seconds in which killed processes are gone, unless the system itself hangs
_WORDS = (signal.SIGCHLD, signal.SIGTERM)
_WRITTEN = re.compile(r"^Pss_(?:Anon|Shmem):\s+(\d+) kB$", re.MULTILINE)


def die_with_parent(number: signal.Signals = signal.SIGKILL) -> None:
    """Let this process get a signal when the thread that started it has ended; only Linux knows how."""
    if LINUX:
        ctypes.CDLL(None).prctl(_PARENT_DEATH_SIGNAL, number)


@functools.cache
def _starter(process: int) -> ThreadPoolExecutor:
    """The one thread of a process that starts others."""
    return ThreadPoolExecutor(1, thread_name_prefix=f"starter of {process}")


def lastingly(start: Callable[[], Started]) -> Started:
    """Start a process in a thread that lasts as long as this process: Linux ends it with the thread that started it."""
    return _starter(os.getpid()).submit(start).result()


def keep(parent: int, megabytes: int) -> None:
    """Become the keeper of a child of this process; this returns in the child alone, which has a session of its own."""
    if not LINUX:
        return
    ctypes.CDLL(None).prctl(_CHILD_SUBREAPER, 1, 0, 0, 0)
    die_with_parent(signal.SIGTERM)
    before = signal.pthread_sigmask(signal.SIG_BLOCK, _WORDS)
    if os.getppid() != parent:
        sys.exit("whoever started this process is gone")
    keeper = os.getpid()
    child = os.fork()
    if child:
        _watch(child, megabytes)
    os.setsid()
    die_with_parent()
    signal.pthread_sigmask(signal.SIG_SETMASK, before)
    if os.getppid() != keeper:
        os._exit(1)


def _watch(child: int, megabytes: int) -> NoReturn:
    """Wait for the end of the child, end what is left of it, and end as it did."""
    nothing = os.open(os.devnull, os.O_RDWR)
    for pipe in (0, 1):  # whoever is at the other end must hear when the program closes its own
        os.dup2(nothing, pipe)
    status = None
    while status is None:
        word = signal.sigtimedwait(_WORDS, _LOOK)
        status = dict(_reaped()).get(child)
        if word is not None and word.si_signo == signal.SIGTERM:
            break
        if status is None and (used := _used()) > megabytes * 2**10:
            _end_all()
            os.write(2, f"\n{TOO_MUCH} {megabytes} MB: {used >> 10} MB\n".encode())
            break
    _end_all()
    if status is None or os.WIFSIGNALED(status):
        number = signal.SIGKILL if status is None else os.WTERMSIG(status)
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        if number not in (signal.SIGKILL, signal.SIGSTOP):
            signal.signal(number, signal.SIG_DFL)
        signal.pthread_sigmask(signal.SIG_UNBLOCK, {number})
        os.kill(os.getpid(), number)
    os._exit(0 if status is None else os.waitstatus_to_exitcode(status))


def _reaped() -> Iterator[tuple[int, int]]:
    """The children that have ended, orphans among them, with their status; they are zombies no more."""
    with contextlib.suppress(ChildProcessError):
        while (ended := os.waitpid(-1, os.WNOHANG))[0]:
            yield ended


def _end_all() -> None:
    """End every process below this one, those that are started meanwhile, too."""
    deadline = time.monotonic() + _PATIENCE
    while (below := _below(os.getpid())) and time.monotonic() < deadline:
        for number in (signal.SIGSTOP, signal.SIGKILL):  # who is stopped starts no other
            for pid in below:
                with contextlib.suppress(ProcessLookupError, PermissionError):
                    os.kill(pid, number)
        signal.sigtimedwait((signal.SIGCHLD,), _ROUND)
        for _ in _reaped():
            pass


def _below(pid: int) -> list[int]:
    """The processes below one, children first."""
    found = [pid]
    for one in found:
        found += _children(one)
    return found[1:]


def _children(pid: int) -> list[int]:
    found: list[int] = []
    with contextlib.suppress(OSError):  # it has ended meanwhile
        for thread in Path(f"/proc/{pid}/task").iterdir():
            found += map(int, (thread / "children").read_text().split())
    return found


def _used() -> int:
    """The kB that the processes below this one have written to, if they are several; of one the system sees to it."""
    below = _below(os.getpid())
    return sum(map(_written, below)) if len(below) > 1 else 0


def _written(pid: int) -> int:
    with contextlib.suppress(OSError):
        return sum(map(int, _WRITTEN.findall(Path(f"/proc/{pid}/smaps_rollup").read_text())))
    return 0
