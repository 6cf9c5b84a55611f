"""Files that a command releases, read in a process of their own, under the command's limits of time and memory.

What a program saves may be a pipe, an archive that expands to more than there is, or damaged in a way that kills its
reader: none of that may reach the audit. The process answers a path by a JSON line, `{"id": n, "shape": [...]}`
followed by the numbers, or `{"id": n, "error": why}`.
"""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np
from numpy.typing import NDArray

from empirical.audits.foreign.releases import load
from oracle.core.errors import TargetError
from oracle.running.isolated import LOADING, Isolated

Array = NDArray[np.float64]


class ReleaseReader:
    """The process that reads files, started with the first of them."""

    def __init__(self, name: str, *, timeout: float, memory: int) -> None:
        self._name, self._timeout, self._memory = name, timeout, memory
        self._process: Isolated | None = None
        self._asked = 0

    def numbers(self, path: str) -> Array:
        """The numbers of a saved model; a TargetError where there are none."""
        if self._process is None or not self._process.usable:
            self._process = Isolated(
                f"the reader of {self._name}'s files", ["serve", __name__, "{}"], memory=self._memory
            )
        process = self._process
        self._asked += 1
        process.write(json.dumps({"id": self._asked, "path": path}).encode() + b"\n", seconds=self._timeout)
        answer = process.read_object(seconds=max(self._timeout, LOADING))
        if "error" in answer or answer.get("id") != self._asked:
            raise TargetError(str(answer.get("error", "its file could not be read")))
        shape = answer["shape"]
        raw = process.read_exactly(8 * math.prod(shape), seconds=self._timeout)
        return np.frombuffer(raw, dtype=np.float64).reshape(shape)

    def close(self) -> None:
        """End the process."""
        if self._process is not None:
            self._process.stop()
        self._process = None


def serve(spec: dict[str, Any], requests: BinaryIO, answers: BinaryIO) -> None:
    """Answer paths until there are no more (in the process that `oracle.running.isolated_worker` has confined)."""
    while line := requests.readline():
        request, body = json.loads(line), b""
        try:
            array = np.ascontiguousarray(load(Path(request["path"])))
            message, body = {"id": request["id"], "shape": array.shape}, array.tobytes()
        except TargetError as error:
            message = {"id": request["id"], "error": str(error)}
        except MemoryError:
            message = {"id": request["id"], "error": f"the released file {request['path']} needs too much memory"}
        answers.write(json.dumps(message).encode() + b"\n" + body)
        answers.flush()
