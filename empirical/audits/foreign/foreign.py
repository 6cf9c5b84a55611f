"""Anybody's training as a target: a Python function, or a command that speaks JSON lines, in a process of its own.

A function is `fn(dataset, seed) -> array`, or with `batched` `fn(dataset, seeds) -> array[M, ...]`; `dataset` is the
pair of arrays (X, y) and a seed an integer below 2^63. It is imported once, and a whole shard of seeds is one request.

A command reads requests from standard input, a JSON object a line, and answers each by one line on standard output:

    {"id": 1, "dataset": 0, "features": [[0.5, 1.0], ...], "labels": [1.0, ...], "seeds": [7, 8]}
    {"id": 1, "dataset": 0, "releases": [[0.1, 0.2], [0.3, 0.4]]}
    {"id": 2, "dataset": 0, "seeds": [9]}
    {"id": 2, "dataset": 0, "releases": [[0.5, 0.6]]}

A data set is sent once, with the first request that names it; afterwards its number is enough. An answer repeats the
id and the data set of its request, so that none is ever taken for another's; a line that answers nothing ends the
audit. There is one release for each seed, all of one shape: a number, a list, nested lists, or the path of a saved
model. A seed is an integer below 2^53, which every JSON reader keeps exactly, and no request has more than 100. An
answer `{"id": 1, "error": "why"}` ends the audit; so does the end of standard input end the command.
`examples/audit_command.py` and `examples/audit_command.js` are complete.

Some models, by a rule that depends on the seeds alone, are asked for again between others: a target that mixes up its
answers, whatever it calls them, is told so.

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
import os
import threading
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from empirical.audits.foreign.release_files import ReleaseReader
from empirical.audits.foreign.releases import as_numbers, check_releases
from oracle.core.domain import Number, printable, shown
from oracle.core.errors import TargetError
from oracle.core.tape import Tape
from oracle.running.isolated import LOADING, MEGABYTES, MEMORY, SECONDS, TIMEOUT, Isolated, command_words, source_of

Array = NDArray[np.float64]

ASKED_AGAIN = 8  # of so many requests that only make sense as a whole, one leads to others being asked again
MODELS_A_REQUEST = 100  # fixed, not adapted to speed: a release must not depend on how fast a machine is


class Foreign(abc.ABC):
    """What a function and a command share: the process, its limits, and the data sets it has been sent."""

    many_a_call = True
    """Whether one call trains many models."""
    one_by_one = False
    """Whether a release depends on its own seed only, whatever else is asked for in the same call."""

    def __init__(self, name: str, words: list[str], timeout: Number, memory: Number) -> None:
        self.name = name
        self._words = words
        self._timeout = float(SECONDS.rational(timeout))
        self._memory = int(MEGABYTES.rational(memory))
        self._process: Isolated | None = None
        self._sent: dict[bytes, int] = {}
        self._loaded = False
        self._shape: tuple[int, ...] | None = None
        self._asked = 0
        self._again: list[tuple[tuple[Array, Array], NDArray[np.uint64], Array]] = []
        self._turn = threading.Lock()  # a worker of a cluster may have several threads; questions wait for answers

    def releases(self, features: Array, labels: Array, tape: Tape) -> Array:
        """What the models of the tape release; the process is started where it does not run yet."""
        data = (np.ascontiguousarray(features, dtype=np.float64), np.ascontiguousarray(labels, dtype=np.float64))
        with self._turn:
            process, seeds = self._running(), tape.words("seed", 0, 1)[:, 0]
            try:
                released = self._answered(process, data, seeds)
                check_releases(self.name, released, models=tape.models, entry_shape=self._shape)
                self._check_again(process, seeds)
                process.require_silence()
                self._keep_for_later(data, seeds, released)
            except BaseException:  # whatever happened, an interrupt included: its pipes may hold half an answer
                self.close()
                raise
            self._shape = released.shape[1:]
            return released

    def _answered(self, process: Isolated, data: tuple[Array, Array], seeds: NDArray[np.uint64]) -> Array:
        return np.concatenate(list(self._ask(process, data, seeds)))

    def _keep_for_later(self, data: tuple[Array, Array], seeds: NDArray[np.uint64], released: Array) -> None:
        """Keep what is asked again: of the first request of a process, and of the last one before the next."""
        whole = self.many_a_call and not self.one_by_one
        chosen = np.arange(len(seeds)) if whole else np.unique([0, int(seeds[0] % np.uint64(len(seeds)))])
        self._again = [*self._again[:1], (data, seeds[chosen], released[chosen])]

    def _check_again(self, process: Isolated, seeds: NDArray[np.uint64]) -> None:
        """Ask again, after another request: what was released must not depend on what was asked between.

        Where a release depends on its own seed alone, two models are trained again for every request; otherwise the
        whole of one request in a few, which its seeds choose.
        """
        whole = self.many_a_call and not self.one_by_one
        if whole and hashlib.blake2b(seeds.tobytes()).digest()[0] % ASKED_AGAIN:
            return
        for data, earlier, before in self._again:
            if not np.array_equal(self._answered(process, data, earlier), before):
                raise TargetError(
                    f"{self.name} is not reproducible: asked again after other requests, the same data set and seed "
                    "gave another release (does it mix up its answers, keep something between calls, read a clock, or "
                    "draw from a generator that it does not seed?)"
                )

    def close(self) -> None:
        """End the process; the next releases start another."""
        if self._process is not None:
            self._process.stop()
        self._process = None

    def _running(self) -> Isolated:
        if self._process is None or not self._process.usable:
            self._sent, self._loaded, self._again = {}, False, []
            self._process = Isolated(self.name, self._words, memory=self._memory)
        return self._process

    def _send(self, process: Isolated, request: dict[str, Any], body: bytes = b"") -> None:
        """Send a request under a number of its own; nothing may be left to hear from before."""
        self._asked += 1
        process.require_silence()
        process.write(json.dumps({"id": self._asked, **request}).encode() + b"\n" + body, seconds=self._timeout)

    def _heard(self, process: Isolated, **expected: Any) -> dict[str, Any]:
        """The next answer, which must be that to the last request; the first may take as long as loading may."""
        answer = process.read_object(seconds=self._timeout if self._loaded else max(self._timeout, LOADING))
        self._loaded = True
        if "error" in answer:
            raise TargetError(f"{self.name} does not work: {shown_line(answer['error'])}")
        for key, value in expected.items():
            if answer.get(key) != value or isinstance(answer.get(key), bool):
                raise TargetError(
                    f"{self.name} mixes up its answers: {key} = {shown(answer.get(key))} where {key} = {value} was "
                    "asked for"
                )
        return answer

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
        self.many_a_call, self.one_by_one = batched, not batched
        self._pid: Any = None
        self._sha256 = _unchanged(path, sha256, _digest(source_of(path)))
        task = json.dumps({"path": path, "batched": batched, "timeout": float(SECONDS.rational(timeout))})
        super().__init__(path, ["serve", "empirical.audits.foreign.foreign_worker", task], timeout, memory)

    def spec(self) -> dict[str, Any]:
        """The path, how it is called, the limits, and the digest of its file."""
        return {
            "kind": "function", "path": self._path, "batched": self._batched, "timeout": self._timeout,
            "memory": self._memory, "sha256": self._sha256,
        }

    def _ask(self, process: Isolated, data: tuple[Array, Array], seeds: NDArray[np.uint64]) -> Iterator[Array]:
        if not self._loaded:
            self._pid = self._heard(process).get("pid")  # that it is alive; what it forks never says so
        number, new = self._number(data)
        request: dict[str, Any] = {"dataset": number, "models": len(seeds)}
        body = (seeds >> np.uint64(1)).astype(np.int64).tobytes()
        if new:
            request["shapes"] = [array.shape for array in data]
            body = data[0].tobytes() + data[1].tobytes() + body
        self._send(process, request, body)
        while "shape" not in (message := self._heard(process, id=self._asked, dataset=number, pid=self._pid)):
            pass  # it is alive
        yield np.frombuffer(self._body(process, message["shape"], len(seeds)), dtype=np.float64).reshape(
            message["shape"]
        )

    def _body(self, process: Isolated, shape: object, models: int) -> bytes:
        """The bytes of an array of that shape, if it is one, and of so many models."""
        if not (isinstance(shape, list) and shape and all(type(size) is int and size >= 0 for size in shape)):
            raise TargetError(f"{self.name} disturbed its own process: a shape that is none, {shown(shape)}")
        if shape[0] != models or 8 * math.prod(shape) > self._memory * 2**20:
            raise TargetError(f"{self.name} disturbed its own process: a shape {shown(shape)} for {models} models")
        return process.read_exactly(8 * math.prod(shape), seconds=self._timeout)


class TrainingCommand(Foreign):
    """A program that speaks JSON lines."""

    one_by_one = True

    def __init__(
        self, command: str, timeout: Number = TIMEOUT, memory: Number = MEMORY,
        files: Mapping[str, str] | None = None,
    ) -> None:
        words = command_words(command)
        self._command = command
        now = {word: _digest(Path(word)) for word in words if os.path.isfile(word)}
        self._files = _unchanged(command, dict(files) if files is not None else None, now)
        super().__init__(command, ["exec", *words], timeout, memory)
        self._files_read = ReleaseReader(command, timeout=self._timeout, memory=self._memory)

    def close(self) -> None:
        """End the command, and what reads its files."""
        super().close()
        self._files_read.close()

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
            self._send(process, {**request, "seeds": part.tolist()})
            yield self._parsed(self._heard(process, id=self._asked, dataset=number), len(part))

    def _parsed(self, answer: dict[str, Any], models: int) -> Array:
        releases = answer.get("releases")
        if not isinstance(releases, list):
            raise TargetError(
                f"{self.name} answered {shown(json.dumps(answer))}; expected releases, a list, beside id and dataset"
            )
        try:
            if any(isinstance(entry, str) for entry in releases):
                releases = [self._files_read.numbers(one) if isinstance(one, str) else one for one in releases]
            numbers = as_numbers(releases)
        except TargetError as error:
            raise TargetError(f"{self.name} does not work: {error}") from None
        check_releases(self.name, numbers, models=models, entry_shape=self._shape)
        self._shape = numbers.shape[1:]
        return numbers


def shown_line(value: object) -> str:
    """What a target says of itself: one line, of a length that a terminal bears."""
    text = printable(str(value))
    return text if len(text) <= 400 else text[:397] + "..."


def _digest(path: Path) -> str:
    """The sha256 of a file, which may be data of any size."""
    try:
        with path.open("rb") as file:
            return hashlib.file_digest(file, "sha256").hexdigest()
    except OSError as error:
        raise TargetError(f"{path} cannot be read: {error.strerror}") from None


def _unchanged(name: str, planned: Any, now: Any) -> Any:
    """The present digests, which must be the planned ones where there are such."""
    if planned is not None and planned != now:
        raise TargetError(f"{name} has changed since the audit was planned (its sha256 differs)")
    return now
