"""Batched training, once for all algorithms: data to tensors, models in chunks over threads or a device, results back.

An algorithm's twin is its chunk function: what a block of the tape's models releases, [m, ...]. `prepare` makes of the
data what all models share; `entries` says how many entries of a tensor one model needs at most, which bounds the
memory. The tape makes the split into chunks invisible.
"""

from __future__ import annotations

import contextlib
import functools
import math
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch

from oracle.core import records
from oracle.core.algorithm import Values
from oracle.core.domain import shown
from oracle.core.errors import DomainError
from oracle.core.records import Array
from oracle.core.tape import Tape
from oracle.core.tape.torch_tape import TorchTape

CHUNK_ELEMENTS = 1 << 18
"""The largest number of entries of one tensor with a model axis, up to a quarter: a few stay in the cache of a core."""
ACCELERATOR_CHUNK_ELEMENTS = 1 << 24
"""The same where there is no such cache to stay in, but many cores to keep busy."""

DTYPES = {"float64": torch.float64, "float32": torch.float32}

Data = Any


def _as_it_is(x: torch.Tensor, y: torch.Tensor, config: Values, recorder: Any) -> Data:
    return x, y


@dataclass(frozen=True)
class Twin:
    """A batched training: `chunk(data, config, tape, recorder)` trains a block, `data` being what `prepare` made.

    `entries(data, config, tape)` is the largest number of entries that one model needs. Where `double` is set, the
    data are prepared in float64 on the processor, whatever the models' type and device.
    """

    chunk: Callable[[Data, Values, Tape, Any], torch.Tensor]
    entries: Callable[[Data, Values, Tape], int]
    prepare: Callable[[torch.Tensor, torch.Tensor, Values, Any], Data] = _as_it_is
    double: bool = False

    def train(
        self, features: Array, labels: Array, config: Values, tape: Tape, *, device: str | torch.device = "cpu",
        dtype: torch.dtype | str | None = None, recorder: Any = None,
        fit: Callable[..., tuple[Array, Array]] = records.saturated,
    ) -> torch.Tensor:
        """What all the tape's models release, on the device; `fit` makes the data fit the precision (`records`)."""
        like = _empty(dtype, device)
        made = torch.empty(0, dtype=torch.float64) if self.double else like
        with _one_thread_each():  # the number of threads must change no bit of what all models share either
            single, cast = (some.dtype == torch.float32 for some in (made, like))
            x, y = (drawn(part, made) for part in fit(features, labels, single=single, cast=cast))
            data = self.prepare(x, y, config, recorder)

        def chunk(part: Tape) -> torch.Tensor:
            return self.chunk(data, config, part, recorder).to(like)

        return in_chunks(tape, self.entries(data, config, tape), chunk, made, recorder)


def _empty(dtype: torch.dtype | str | None, device: str | torch.device) -> torch.Tensor:
    """An empty tensor of the models' type and device; a DomainError where there is no such type or device."""
    kind = torch.float64 if dtype is None else DTYPES.get(str(dtype).removeprefix("torch."))
    if kind is None:
        raise DomainError(f"dtype = {shown(dtype)} is outside its domain: one of {', '.join(DTYPES)}")
    why = "it holds no numbers"
    try:
        like = torch.empty(0, dtype=kind, device=device)
        if like.device.type != "meta":
            return like
    except (RuntimeError, AssertionError, TypeError) as error:  # a wrong name, none here, or one without the type
        why = shown(error)
    raise DomainError(f"device = {shown(device)} is outside its domain: a device that torch has here ({why})")


def in_chunks(
    tape: Tape, entries: int, train: Callable[[Tape], torch.Tensor], like: torch.Tensor, recorder: Any = None
) -> torch.Tensor:
    """The results of all models, trained in chunks; `entries` is the largest number of entries a model needs.

    Chunks are made for the device of the tensor `like`, and draws for its dtype. On processors as many chunks are
    trained at a time as torch has threads, each by one of them, so that their number changes no bit of a result; one
    after the other, and in order, where a recorder listens.
    """
    local = like.device.type == "cpu"
    chunk = max(1, (CHUNK_ELEMENTS if local else ACCELERATOR_CHUNK_ELEMENTS) // max(1, entries))
    count = -(-tape.models // chunk)
    if local and count > 1:  # an even number, so that no core waits long for another
        count = min(tape.models, 2 * max(1, math.ceil(tape.models / (2 * chunk) - 0.25)))
    starts = [tape.models * place // count for place in range(count)]
    ends = [*starts[1:], tape.models]

    def part(first: int, end: int) -> torch.Tensor:
        block = tape.block(first, end - first)
        single = like.dtype.itemsize < torch.float64.itemsize
        # A tape of another class draws what it means to, which a device's own would not. And mps has no float64, of
        # which the tape's uniforms are.
        if local or like.device.type == "mps" or type(block) not in (Tape, TorchTape):
            return train(block.by("torch", single=single))
        return train(TorchTape(block.seed, block.models, block.first_model, single=single, device=like.device))

    if local:
        _keep_what_is_freed()
    with contextlib.ExitStack() as stack:
        parts: Iterator[torch.Tensor] = map(part, starts, ends)
        if local:
            threads = stack.enter_context(_one_thread_each())
            if recorder is None and min(threads, len(starts)) > 1:
                # OpenMP counts for each thread apart: a new one would have as many as the environment says.
                pool = ThreadPoolExecutor(min(threads, len(starts)), initializer=torch.set_num_threads, initargs=(1,))
                parts = stack.enter_context(pool).map(part, starts, ends)
        result = like.new_empty(0)
        for first, end, models in zip(starts, ends, parts, strict=True):
            if first == 0:  # a list of parts would hold all models twice in the end
                result = _empty_table(models, tape.models)
            result[first:end] = models
    return result


@functools.cache
def _keep_what_is_freed() -> None:
    """What a chunk of models frees is kept for the next one, which else is given it anew, page by page.

    The C library of most Linux systems keeps no more than twice the largest block that was ever freed, nor than 64 MB.
    """
    torch.empty((1 << 25) - (1 << 16), dtype=torch.uint8)  # freed at once, and never written


def _empty_table(like: torch.Tensor, rows: int) -> torch.Tensor:
    """As many rows as asked for, each as those of a tensor: on processors in numpy's memory, whose pages are huge.

    Linux gives memory page by page as it is first written, for a microsecond or two each; numpy asks for large pages.
    """
    shape = (rows, *like.shape[1:])
    size = math.prod(shape) * like.element_size()
    if like.device.type != "cpu" or size == 0:
        return like.new_empty(shape)
    memory = torch.from_numpy(np.empty(size, dtype=np.uint8))
    return memory.view(like.dtype).view(shape)


@contextlib.contextmanager
def _one_thread_each() -> Iterator[int]:
    """A thread of torch's for each of Python's, and how many torch had."""
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        yield threads
    finally:
        torch.set_num_threads(threads)


class Kept:
    """Memory that is kept from step to step by its name, as new memory is slow; what it holds lasts until asked for."""

    def __init__(self, like: torch.Tensor) -> None:
        self.like = like
        self.flat: dict[str, torch.Tensor] = {}

    def __call__(self, name: str, *shape: int) -> torch.Tensor:
        """A tensor of the shape, its entries whatever they are."""
        size = math.prod(shape)
        if name not in self.flat or self.flat[name].numel() < size:
            self.flat[name] = self.like.new_empty(size)
        return self.flat[name][:size].view(shape)


def tanh_(x: torch.Tensor) -> torch.Tensor:
    """The hyperbolic tangents, in place: on processors numpy's, which take a tenth of the time of torch's."""
    if x.device.type != "cpu":
        return x.tanh_()
    values = x.numpy()
    np.tanh(values, out=values)
    return x


def drawn(draws: Any, like: torch.Tensor) -> torch.Tensor:
    """Draws of the tape (or data), an array or a tensor already, where and as the tensor is."""
    return torch.as_tensor(draws, dtype=like.dtype, device=like.device)
