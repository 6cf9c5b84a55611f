"""A foreign program in a process of its own: nothing it does (crash, hang, memory, printing) reaches whoever asks it.

Requests go to its standard input and answers come from its standard output, both with a deadline; what it writes to
standard error is drained, and only the end is kept, for messages. It is started through
`oracle.running.isolated_worker`, which limits its memory and ties its life to ours, and that of all it starts
(`oracle.running.keeper`). This is isolation against accidents, not a sandbox: the program runs with the rights of
whoever starts it.
"""

from __future__ import annotations

import contextlib
import json
import os
import selectors
import shlex
import signal
import subprocess
import sys
import threading
import time
import weakref
from collections.abc import Sequence
from fractions import Fraction
from importlib.machinery import PathFinder
from pathlib import Path
from typing import IO, Any

from oracle.core import rooms
from oracle.core.domain import Parameter, printable, shown
from oracle.core.errors import DomainError, NameTakenError, OracleError, TargetError, TargetTimeout
from oracle.running.keeper import LINUX, lastingly

SECONDS = Parameter("timeout", low=Fraction(0), high=Fraction(10**6), low_open=True)  # the system's clocks hold more
MEGABYTES = Parameter("memory", kind="integer", low=Fraction(1), high=Fraction(10**9))  # and so do its limits
TIMEOUT = 60.0
MEMORY = 4096
LOADING = 60.0  # seconds that a process has at least from its start to its first word: imports take their time

_BLOCK = 1 << 20
_KEPT = 4000  # bytes of standard error that are kept
_SLACK = 1.1  # on top of every deadline: a busy machine is a little late
_ENDING = 20.0  # seconds that the end of all its processes may take; it takes one look, unless the system hangs
_GRACE = 2.0  # seconds in which a process that closed its output must end, so that the reason can be told


class Isolated:
    """A running foreign program; every failure of it is a TargetError that says what happened.

    `words` are those of `oracle.running.isolated_worker` after the memory: `exec COMMAND...` or `serve MODULE SPEC`.
    """

    def __init__(self, name: str, words: Sequence[str], *, memory: int) -> None:
        self.name = name
        self._memory = memory
        # One thread and one hash seed: the same release from every process, and no fight for the cores.
        environment = {"OMP_NUM_THREADS": "1", "PYTHONHASHSEED": "0", **os.environ}
        self._process = lastingly(lambda: subprocess.Popen(
            [sys.executable, "-P", rooms.__file__, str(os.getpid()), str(memory), *words],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, start_new_session=True, bufsize=0,
            env=environment,
        ))
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        assert self._process.stderr is not None
        self._input, self._output = self._process.stdin.fileno(), self._process.stdout.fileno()
        os.set_blocking(self._input, False)
        os.set_blocking(self._output, False)
        self._said = bytearray()
        self._listener = threading.Thread(target=_drain, args=(self._process.stderr, self._said), daemon=True)
        self._listener.start()
        self._buffer = bytearray()
        self._owner = os.getpid()
        self.stop = weakref.finalize(self, _kill, self._process, self._owner)

    @property
    def usable(self) -> bool:
        """Whether it runs and is ours: after a fork, the child must start its own."""
        return self._owner == os.getpid() and self._process.poll() is None

    def write(self, data: bytes, *, seconds: float) -> None:
        """Send all the bytes; a program that does not read them in time hangs."""
        deadline, view = time.monotonic() + seconds, memoryview(data)
        while view:
            self._wait(self._input, selectors.EVENT_WRITE, deadline, seconds)
            try:
                view = view[os.write(self._input, view[:_BLOCK]) :]
            except BlockingIOError:
                continue
            except BrokenPipeError:
                raise self._death() from None

    def read_line(self, *, seconds: float, megabytes: int | None = None) -> bytes:
        """One line, without its end; a longer one than that (by default, than the memory) is an error."""
        deadline, searched, longest = time.monotonic() + seconds, 0, megabytes or self._memory
        while (end := self._buffer.find(b"\n", searched)) < 0:
            searched = len(self._buffer)
            if searched > longest * 2**20:
                raise TargetError(f"{self.name} answers without end: more than {longest} MB and no end of line")
            self._receive(deadline, seconds)
        line = bytes(self._buffer[:end])
        del self._buffer[: end + 1]
        told = rooms.complaint_in(line.decode("utf-8", "replace"))
        if told is not None:
            with contextlib.suppress(ValueError):
                told = json.loads(f'"{told}"')  # it stood in a JSON string
            self.stop()
            raise NameTakenError(told)
        return line

    def read_object(self, *, seconds: float, megabytes: int | None = None) -> dict[str, Any]:
        """One line that is a JSON object; whatever else it is, is a TargetError."""
        line = self.read_line(seconds=seconds, megabytes=megabytes)
        try:
            answer = json.loads(line)
        except (ValueError, RecursionError):  # bad JSON, no UTF-8, a number of thousands of digits or of brackets
            answer = None
        if not isinstance(answer, dict):
            raise TargetError(f"{self.name} answered with what is no JSON object: {_text(line)!r}")
        return answer

    def require_silence(self) -> None:
        """A TargetError where it has said what nobody asked for: a later answer could be taken for another one."""
        with contextlib.suppress(BlockingIOError):
            self._buffer += os.read(self._output, _BLOCK)
        if self._buffer:
            raise TargetError(
                f"{self.name} said more than it was asked for: {_text(bytes(self._buffer[:200]))!r}; there is one "
                "answer to a request"
            )

    def read_exactly(self, count: int, *, seconds: float) -> bytes:
        """So many bytes; any progress starts the clock again."""
        while len(self._buffer) < count:
            self._receive(time.monotonic() + seconds, seconds)
        data = bytes(self._buffer[:count])
        del self._buffer[:count]
        return data

    def _receive(self, deadline: float, seconds: float) -> None:
        self._wait(self._output, selectors.EVENT_READ, deadline, seconds)
        try:
            block = os.read(self._output, _BLOCK)
        except BlockingIOError:
            return
        if not block:
            raise self._death()
        self._buffer += block

    def _wait(self, descriptor: int, event: int, deadline: float, seconds: float) -> None:
        with selectors.DefaultSelector() as selector:
            selector.register(descriptor, event)
            if not selector.select(max(0.0, deadline - time.monotonic()) + (_SLACK - 1) * seconds):
                self.stop()
                raise TargetTimeout(f"{self.name} hangs: no answer within {seconds:g} s{self._last_words()}")

    def _death(self) -> OracleError:
        """What became of a program that closed its pipes."""
        try:
            status = self._process.wait(_GRACE)
        except subprocess.TimeoutExpired:
            self.stop()
            return TargetError(f"{self.name} closed its standard input or output and went on{self._last_words()}")
        self._listener.join(_GRACE)
        self.stop()
        told = rooms.complaint_in(bytes(self._said).decode("utf-8", "replace"))
        if told is not None:
            return NameTakenError(told)
        if status < 0:
            fate = f"was killed by {signal.Signals(-status).name}"
            if -status in (signal.SIGKILL, signal.SIGABRT, signal.SIGSEGV, signal.SIGTRAP):
                fate += f" (a crash, or more than the {self._memory} MB of memory that it may use)"
        else:
            fate = f"ended with exit status {status} before it answered"
        return TargetError(f"{self.name} {fate}{self._last_words()}")

    def _last_words(self) -> str:
        lines = [line for line in bytes(self._said).decode("utf-8", "replace").splitlines() if line.strip()]
        return f"; it last said: {printable(lines[-1])[:200]}" if lines else ""


def source_of(path: str) -> Path:
    """The file of `pkg.mod:fn` or `file.py:fn`, found without importing anything."""
    place, _, name = path.rpartition(":")
    if not place or not name:
        raise DomainError(f"target = {shown(path)} is outside its domain: pkg.mod:fn or file.py:fn")
    if place.endswith(".py"):
        if not os.path.isfile(place):
            raise DomainError(f"target = {shown(path)}: there is no file {place}")
        return Path(place)
    *packages, last = place.split(".")
    search: Any = ["", *os.environ.get("PYTHONPATH", "").split(os.pathsep), *sys.path]  # as its process will
    for package in packages:
        found = PathFinder.find_spec(package, search)
        search = found.submodule_search_locations if found is not None else None
        if search is None:
            raise DomainError(f"target = {shown(path)}: there is no package {package}")
    found = PathFinder.find_spec(last, search)
    if found is None or found.origin is None or not Path(found.origin).is_file():
        raise DomainError(f"target = {shown(path)}: there is no module {place} in a file")
    return Path(found.origin)


def command_words(command: str) -> list[str]:
    """The program and its arguments, as a shell would split them."""
    try:
        words = shlex.split(command)
    except ValueError as error:
        raise DomainError(f"command = {shown(command)} cannot be split into words: {error}") from None
    if not words:
        raise DomainError("command is empty; expected a program and its arguments")
    return words


def _text(line: bytes) -> str:
    return shown(line.decode(errors="replace"))


def _drain(stream: IO[bytes], said: bytearray) -> None:
    """Read standard error to its end, so that a program that writes a lot never blocks on it."""
    with stream:
        while block := stream.read(_BLOCK):
            said += block
            del said[:-_KEPT]


def _kill(process: subprocess.Popen[bytes], owner: int) -> None:
    """End the program and all that it has started; a forked child of ours must not kill its parent's program."""
    if os.getpid() != owner:
        return
    for number in (signal.SIGTERM, signal.SIGKILL) if LINUX else (signal.SIGKILL,):  # its keeper hears the first
        with contextlib.suppress(ProcessLookupError, PermissionError):  # it is gone already
            os.killpg(process.pid, number)
        with contextlib.suppress(subprocess.TimeoutExpired):
            process.wait(_ENDING)
            break
    for stream in (process.stdin, process.stdout):
        if stream is not None:
            stream.close()
