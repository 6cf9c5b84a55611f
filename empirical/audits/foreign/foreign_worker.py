"""What serves a training function in its own process (`oracle.running.isolated_worker`).

A request is a JSON line, `{"id": n, "dataset": number, "models": M}`, with the shapes of the data set's arrays where it
is new, followed by the arrays and by M seeds as raw bytes; an answer is a JSON line that repeats id and data set and
says whose it is, `"pid"`: `"alive"` as long as the function is called on and on, at last `"shape": [M, ...]`, followed
by the releases, or `"error": why`. A child that the function forks never answers.
"""

from __future__ import annotations

import json
import math
import os
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np
from numpy.typing import NDArray

from empirical.audits.foreign.releases import as_numbers, check_releases
from oracle.core.errors import TargetError
from oracle.running.isolated_worker import load_function, told

Array = NDArray[np.float64]
Dataset = tuple[Array, Array]


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


def serve(spec: dict[str, Any], requests: BinaryIO, answers: BinaryIO) -> None:
    """Answer requests until there are no more, or the first error."""

    process = os.getpid()
    asked: dict[str, int] = {}

    def answer(message: dict[str, Any], body: bytes = b"") -> None:
        if os.getpid() != process:
            os._exit(0)  # the function forked, and its child came back, too: one answer is enough
        try:
            answers.write(json.dumps({**asked, "pid": process, **message}).encode() + b"\n" + body)
            answers.flush()
        except BrokenPipeError:
            os._exit(0)  # the audit is gone

    pause, last = spec["timeout"] / 20, time.monotonic()

    def alive() -> None:
        nonlocal last
        now = time.monotonic()
        if now - last > pause:
            last = now
            answer({"alive": True})

    datasets: dict[int, Dataset] = {}
    try:
        function = load_function(spec["path"])
        answer({"alive": True})
        while line := requests.readline():
            request = json.loads(line)
            asked = {"id": request["id"], "dataset": request["dataset"]}
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
    except BaseException as error:  # a target may raise anything, SystemExit and KeyboardInterrupt included
        answer({"error": told(error)})
