"""What the batched trainings share: many models as one tensor [M, d], in chunks that bound the memory.

`in_chunks` splits the models; the tape makes the split invisible. The per-sample gradients r x of a generalised linear
model are clipped analytically (|r x| = |r| |x|), so that a step is two matrix products.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import torch
from numpy.typing import NDArray

from oracle.tape import Tape

CHUNK_ELEMENTS = 1 << 18
"""The largest number of entries of one tensor with a model axis: a few such tensors stay in the cache of a core."""
ACCELERATOR_CHUNK_ELEMENTS = 1 << 24
"""The same where there is no such cache to stay in, but many cores to keep busy."""


def in_chunks(
    tape: Tape, entries: int, train: Callable[[Tape], torch.Tensor], device: str | torch.device = "cpu"
) -> torch.Tensor:
    """The results of all models, trained in chunks; `entries` is the largest number of entries a model needs."""
    most = CHUNK_ELEMENTS if torch.device(device).type == "cpu" else ACCELERATOR_CHUNK_ELEMENTS
    chunk = max(1, most // max(1, entries))

    def part(first: int) -> torch.Tensor:
        return train(tape.block(first, min(chunk, tape.models - first)).by("torch"))

    start = part(0)
    result = start.new_empty(tape.models, *start.shape[1:])  # a list of parts would hold all models twice in the end
    result[: len(start)] = start
    for first in range(chunk, tape.models, chunk):
        result[first : first + chunk] = part(first)
    return result


def drawn(draws: NDArray[np.float64], like: torch.Tensor) -> torch.Tensor:
    """Draws of the tape, where and as the tensor is."""
    return torch.as_tensor(draws, dtype=like.dtype, device=like.device)


def residual(loss: str, scores: torch.Tensor, labels: torch.Tensor) -> torch.Tensor:
    """The scalars r of the gradients r x, [M, b] for scores [M, b]."""
    if loss == "linear":
        return -torch.ones_like(scores)
    if loss == "squared":
        return scores - labels
    return torch.sigmoid(scores) - labels


def clipped(r: torch.Tensor, norms: torch.Tensor, clip_norm: float) -> torch.Tensor:
    """The r of the clipped gradients, for feature norms [b]: |r| |x| <= C is -C/|x| <= r <= C/|x|."""
    most = clip_norm / norms
    return r.clamp(-most, most)
