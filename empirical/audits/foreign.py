"""Anybody's training as a target: a Python function, or a command that speaks JSON lines, in a process of its own.

A function is `fn(dataset, seed) -> array`, or with `batched` `fn(dataset, seeds) -> array[M, ...]`; `dataset` is the
pair of arrays (X, y) and a seed an integer below 2^63. It is imported once, and a whole shard of seeds is one request.

A command reads requests from standard input, a JSON object a line, and answers each by one line on standard output:

    {"dataset": 0, "features": [[0.5, 1.0], ...], "labels": [1.0, ...], "seeds": [7, 8]}
    {"releases": [[0.1, 0.2], [0.3, 0.4]]}
    {"dataset": 0, "seeds": [9]}
    {"releases": [[0.5, 0.6]]}

A data set is sent once, with the first request that names it; afterwards its number is enough. There is one release
for each seed, all of one shape: a number, a list, nested lists, or the path of a saved model. A seed is an integer
below 2^53, which every JSON reader keeps exactly, and no request has more than 100. An answer `{"error": "why"}` ends
the audit; so does the end of standard input end the command. `examples/audit_command.py` and
`examples/audit_command.js` are complete.

A release must depend on the data set and the seed alone (that of a batched function on all the seeds of its call; the
calls are the same in every run). The timeout is for one call of a function, and for one answer of a command; the
first word of a process may take a minute, for imports. The sha256 of a function's file, and of every file among the
words of a command, is part of the spec; what these files load is not seen.
"""

from __future__ import annotations

import abc
import hashlib
import json
import math
import threading
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from empirical.audits.releases import as_numbers, check_releases
from oracle.core.domain import Number, shown
from oracle.core.errors import TargetError
from oracle.core.tape import Tape
from oracle.running.isolated import LOADING, MEGABYTES, MEMORY, SECONDS, TIMEOUT, Isolated, command_words, source_of

Array = NDArray[np.float64]

MODELS_A_REQUEST = 100  # fixed, not adapted to speed: a release must not depend on how fast a machine is


class Foreign(abc.ABC):
    """What a function and a command share: the process, its limits, and the data sets it has been sent."""

    many_a_call = True
    """Whether one call trains many models."""

    def __init__(self, name: str, words: list[str], timeout: Number, memory: Number) -> None:
        self.name = name
        self._words = words
        self._timeout = float(SECONDS.rational(timeout))
        self._memory = int(MEGABYTES.rational(memory))
        self._process: Isolated | None = None
        self._sent: dict[bytes, int] = {}
        self._loaded = False
        self._shape: tuple[int, ...] | None = None
        self._turn = threading.Lock()  # a worker of a cluster may have several threads; questions wait for answers

    def releases(self, features: Array, labels: Array, tape: Tape) -> Array:
        """What the models of the tape release; the process is started where it does not run yet."""
        data = (np.ascontiguousarray(features, dtype=np.float64), np.ascontiguousarray(labels, dtype=np.float64))
        with self._turn:
            process = self._running()
            try:
                released = np.concatenate(list(self._ask(process, data, tape.words("seed", 0, 1)[:, 0])))
                check_releases(self.name, released, models=tape.models, entry_shape=self._shape)
            except BaseException:  # whatever happened, an interrupt included: its pipes may hold half an answer
                self.close()
                raise
            self._shape = released.shape[1:]
            return released

    def close(self) -> None:
        """End the process; the next releases start another."""
        if self._process is not None:
            self._process.stop()
        self._process = None

    def _running(self) -> Isolated:
        if self._process is None or not self._process.usable:
            self._sent, self._loaded = {}, False
            self._process = Isolated(self.name, self._words, memory=self._memory)
        return self._process

    def _heard(self, process: Isolated) -> bytes:
        """The next line of the process; the first one may take as long as loading may."""
        line = process.read_line(seconds=self._timeout if self._loaded else max(self._timeout, LOADING))
        self._loaded = True
        return line

    def _number(self, data: tuple[Array, Array]) -> tuple[int, bool]:
        """The number of a data set, and whether the process does not know it yet."""
        digest = hashlib.blake2b(data[0].tobytes() + repr(data[0].shape).encode() + data[1].tobytes()).digest()
        new = digest not in self._sent
        return self._sent.setdefault(digest, len(self._sent)), new

    @abc.abstractmethod
    def _ask(self, process: Isolated, data: tuple[Array, Array], seeds: NDArray[np.uint64]) -> Iterator[Array]:
        """The releases, part by part."""


class TrainingFunction(Foreign):
    """A Python function, `pkg.mod:fn` or `file.py:fn`."""

    def __init__(
        self, path: str, batched: bool = False, timeout: Number = TIMEOUT, memory: Number = MEMORY,
        sha256: str | None = None,
    ) -> None:
        self._path, self._batched = path, batched
        self.many_a_call = batched
        self._sha256 = _unchanged(path, sha256, _digest(source_of(path)))
        task = json.dumps({"path": path, "batched": batched, "timeout": float(SECONDS.rational(timeout))})
        super().__init__(path, ["serve", "empirical.audits.foreign_worker", task], timeout, memory)

    def spec(self) -> dict[str, Any]:
        """The path, how it is called, the limits, and the digest of its file."""
        return {
            "kind": "function", "path": self._path, "batched": self._batched, "timeout": self._timeout,
            "memory": self._memory, "sha256": self._sha256,
        }

    def _ask(self, process: Isolated, data: tuple[Array, Array], seeds: NDArray[np.uint64]) -> Iterator[Array]:
        if not self._loaded:
            self._hear(process)  # that it is alive
        number, new = self._number(data)
        request: dict[str, Any] = {"dataset": str(number), "models": len(seeds)}
        body = (seeds >> np.uint64(1)).astype(np.int64).tobytes()
        if new:
            request["shapes"] = [array.shape for array in data]
            body = data[0].tobytes() + data[1].tobytes() + body
        process.write(json.dumps(request).encode() + b"\n" + body, seconds=self._timeout)
        while "shape" not in (message := self._hear(process)):
            pass  # it is alive
        count = math.prod(message["shape"])
        raw = process.read_exactly(8 * count, seconds=self._timeout)
        yield np.frombuffer(raw, dtype=np.float64).reshape(message["shape"])

    def _hear(self, process: Isolated) -> Mapping[str, Any]:
        message: dict[str, Any] = json.loads(self._heard(process))
        if "error" in message:
            raise TargetError(f"{self.name} does not work: {message['error']}")
        return message


class TrainingCommand(Foreign):
    """A program that speaks JSON lines."""

    def __init__(
        self, command: str, timeout: Number = TIMEOUT, memory: Number = MEMORY,
        files: Mapping[str, str] | None = None,
    ) -> None:
        words = command_words(command)
        self._command = command
        now = {word: _digest(Path(word)) for word in words if Path(word).is_file()}
        self._files = _unchanged(command, dict(files) if files is not None else None, now)
        super().__init__(command, ["exec", *words], timeout, memory)

    def spec(self) -> dict[str, Any]:
        """The command, the limits, and the digests of the files among its words."""
        return {
            "kind": "command", "command": self._command, "timeout": self._timeout, "memory": self._memory,
            "files": self._files,
        }

    def _ask(self, process: Isolated, data: tuple[Array, Array], seeds: NDArray[np.uint64]) -> Iterator[Array]:
        number, new = self._number(data)
        for first in range(0, len(seeds), MODELS_A_REQUEST):
            part = seeds[first : first + MODELS_A_REQUEST] >> np.uint64(11)
            request: dict[str, Any] = {"dataset": number}
            if new:
                request |= {"features": data[0].tolist(), "labels": data[1].tolist()}
                new = False
            request["seeds"] = part.tolist()
            process.write(json.dumps(request).encode() + b"\n", seconds=self._timeout)
            yield self._parsed(self._heard(process), len(part))

    def _parsed(self, line: bytes, models: int) -> Array:
        try:
            answer = json.loads(line)
        except ValueError:  # bad JSON, or no UTF-8
            text = shown(line.decode(errors="replace"))
            raise TargetError(f"{self.name} answered with what is no JSON: {text!r}") from None
        if isinstance(answer, dict) and "error" in answer:
            raise TargetError(f"{self.name} answered with an error: {shown(answer['error'])}")
        if not isinstance(answer, dict) or not isinstance(answer.get("releases"), list):
            raise TargetError(f'{self.name} answered {shown(line.decode())}; expected {{"releases": [...]}}')
        releases = answer["releases"]
        if any(isinstance(entry, str) for entry in releases):
            releases = [as_numbers(entry) for entry in releases]
        try:
            numbers = as_numbers(releases)
        except TargetError as error:
            raise TargetError(f"{self.name} does not work: {error}") from None
        check_releases(self.name, numbers, models=models, entry_shape=self._shape)
        self._shape = numbers.shape[1:]
        return numbers


def _digest(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()


def _unchanged(name: str, planned: Any, now: Any) -> Any:
    """The present digests, which must be the planned ones where there are such."""
    if planned is not None and planned != now:
        raise TargetError(f"{name} has changed since the audit was planned (its sha256 differs)")
    return now
