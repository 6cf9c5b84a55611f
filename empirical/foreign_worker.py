"""The process in which a foreign target runs: `python -m empirical.foreign_worker MEMORY run SPEC`, or `exec COMMAND`.

It limits the memory first and dies with the audit that started it. `exec` then becomes the command. `run` serves a
Python function: the protocol moves to private descriptors, so that what the target prints goes to standard error, and
standard input is an error that says so. A request is a JSON line, `{"dataset": name, "models": M}`, with the shapes of
the data set's arrays where it is new, followed by the arrays and by M seeds as raw bytes; an answer is a JSON line,
`{"alive": true}` as long as the function is called on and on, at last `{"shape": [M, ...]}`, followed by the releases,
or `{"error": why}`.
"""

from __future__ import annotations

import ctypes
import importlib
import importlib.util
import io
import json
import math
import os
import resource
import signal
import sys
import time
import traceback
from collections.abc import Callable
from pathlib import Path
from typing import Any, BinaryIO, NoReturn

import numpy as np
from numpy.typing import NDArray

from empirical.releases import as_numbers, check_releases
from oracle.errors import TargetError

Array = NDArray[np.float64]
Dataset = tuple[Array, Array]

_PARENT_DEATH_SIGNAL = 1  # Linux' PR_SET_PDEATHSIG


class NoInput(io.TextIOBase):
    """In place of standard input: whoever reads it, by whatever method, is told that there is none."""

    def read(self, size: int | None = -1, /) -> NoReturn:
        """Refuse."""
        raise TargetError("it reads standard input, and an audit has none to give")

    def readline(self, size: int = -1, /) -> NoReturn:  # type: ignore[override]
        """Refuse; `input()`, iteration and `readlines` come here, too."""
        self.read()


def confine(memory: int) -> None:
    """Limit the memory of this process in MB, and let it die with its parent."""
    # The data limit counts what can be written to; an address-space limit would also stop programs (node) that only
    # reserve a lot of it.
    limit = memory * 2**20
    resource.setrlimit(resource.RLIMIT_DATA, (limit, limit))
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(_PARENT_DEATH_SIGNAL, signal.SIGKILL)


def load_function(path: str) -> Callable[..., Any]:
    """The function of `pkg.mod:fn` or `file.py:fn`."""
    place, _, name = path.rpartition(":")
    if place.endswith(".py"):
        file = Path(place).resolve()
        spec = importlib.util.spec_from_file_location(file.stem, file)
        assert spec is not None
        assert spec.loader is not None
        module = importlib.util.module_from_spec(spec)
        sys.modules[file.stem] = module  # as an import would: dataclasses and the like look it up
        sys.path.insert(0, str(file.parent))  # so that the file may import its neighbours, as a script may
        spec.loader.exec_module(module)
    else:
        sys.path.insert(0, os.getcwd())
        module = importlib.import_module(place)
    function: Any = module
    for part in name.split("."):
        if not hasattr(function, part):
            raise TargetError(f"{place} has no {name}")
        function = getattr(function, part)
    if not callable(function):
        raise TargetError(f"{path} is no function but {type(function).__name__}")
    return function  # type: ignore[no-any-return]


def one_by_one(
    function: Callable[..., Any], dataset: Dataset, seeds: NDArray[np.int64], alive: Callable[[], None]
) -> Array:
    """The releases of a function of one seed."""
    result: Array | None = None
    for index, seed in enumerate(seeds.tolist()):
        released = as_numbers(function(_copy(dataset), seed))
        if result is None:
            result = np.empty((len(seeds), *released.shape))
        elif released.shape != result.shape[1:]:
            raise TargetError(
                f"seed {seed} released shape {released.shape} after shape {result.shape[1:]}: it must not change"
            )
        result[index] = released
        alive()
    assert result is not None
    if not np.isfinite(result).all():
        first = int(np.flatnonzero(~np.isfinite(result.reshape(len(seeds), -1)).all(axis=1))[0])
        bad = result[first][~np.isfinite(result[first])].flat[0]
        raise TargetError(f"seed {seeds[first]} released {bad}: a release must be finite")
    return result


def all_at_once(function: Callable[..., Any], dataset: Dataset, seeds: NDArray[np.int64]) -> Array:
    """The releases of a function of many seeds; a list of paths stands for the models saved there."""
    released = function(_copy(dataset), seeds.copy())
    if isinstance(released, (list, tuple)) and released and isinstance(released[0], (str, Path)):
        released = [as_numbers(path) for path in released]
    numbers = as_numbers(released)
    check_releases("the function", numbers, models=len(seeds), entry_shape=None)
    return numbers


def _copy(dataset: Dataset) -> Dataset:
    """Fresh arrays: a target may work in place without spoiling the next model's data."""
    return dataset[0].copy(), dataset[1].copy()


def told(error: BaseException) -> str:
    """An exception as one line: what it says, and where in the target it was raised."""
    if isinstance(error, TargetError):
        return str(error)
    text = " ".join(str(error).split())[:300]
    frames = traceback.extract_tb(error.__traceback__)
    where = f" ({Path(frames[-1].filename).name}, line {frames[-1].lineno})" if frames else ""
    short = " (it may use no more memory)" if isinstance(error, MemoryError) else ""
    return f"it raised {type(error).__name__}{': ' if text else ''}{text}{where}{short}"


def serve(spec: dict[str, Any], requests: BinaryIO, answers: BinaryIO) -> None:
    """Answer requests until there are no more, or the first error."""

    def answer(message: dict[str, Any], body: bytes = b"") -> None:
        answers.write(json.dumps(message).encode() + b"\n" + body)
        answers.flush()

    pause, last = spec["timeout"] / 20, time.monotonic()

    def alive() -> None:
        nonlocal last
        now = time.monotonic()
        if now - last > pause:
            last = now
            answer({"alive": True})

    datasets: dict[str, Dataset] = {}
    try:
        function = load_function(spec["path"])
        answer({"alive": True})
        while line := requests.readline():
            request = json.loads(line)
            if "shapes" in request:
                features, labels = (
                    np.frombuffer(requests.read(8 * math.prod(shape)), dtype=np.float64).reshape(shape)
                    for shape in request["shapes"]
                )
                datasets[request["dataset"]] = (features, labels)
            dataset = datasets[request["dataset"]]
            seeds = np.frombuffer(requests.read(8 * request["models"]), dtype=np.int64)
            last = time.monotonic()
            released = (
                all_at_once(function, dataset, seeds) if spec["batched"]
                else one_by_one(function, dataset, seeds, alive)
            )
            answer({"shape": released.shape}, np.ascontiguousarray(released).tobytes())
    except BrokenPipeError:
        pass  # the audit is gone
    except BaseException as error:  # a target may raise anything, SystemExit and KeyboardInterrupt included
        answer({"error": told(error)})


def main(words: list[str]) -> None:
    """Confine this process, then serve a function or become a command."""
    memory, task, *rest = words
    confine(int(memory))
    if task == "exec":
        try:
            os.execvp(rest[0], rest)
        except OSError as error:
            sys.exit(f"{rest[0]} cannot be run: {error.strerror}")
    requests, answers = os.fdopen(os.dup(0), "rb"), os.fdopen(os.dup(1), "wb")
    nothing = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nothing, 0)
    os.dup2(2, 1)
    sys.stdin = NoInput()
    serve(json.loads(rest[0]), requests, answers)


if __name__ == "__main__":
    main(sys.argv[1:])
