"""What the batched trainings share: many models as one tensor [M, d], in chunks that bound the memory.

`in_chunks` splits the models; the tape makes the split invisible. The per-sample gradients r x of a generalised linear
model are clipped analytically (|r x| = |r| |x|), so that a step is two matrix products.
"""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
import torch
from numpy.typing import NDArray

from oracle.tape import Tape

CHUNK_ELEMENTS = 1 << 24
"""The largest number of entries of one tensor with a model axis."""


def in_chunks(tape: Tape, entries: int, train: Callable[[Tape], torch.Tensor]) -> torch.Tensor:
    """The results of all models, trained in chunks; `entries` is the largest number of entries a model needs."""
    chunk = max(1, CHUNK_ELEMENTS // max(1, entries))
    return torch.cat([
        train(tape.block(first, min(chunk, tape.models - first))) for first in range(0, tape.models, chunk)
    ])


def drawn(draws: NDArray[np.float64], like: torch.Tensor) -> torch.Tensor:
    """Draws of the tape, where and as the tensor is."""
    return torch.as_tensor(draws, dtype=like.dtype, device=like.device)


def normal(tape: Tape, purpose: str, step: int, count: int, like: torch.Tensor) -> torch.Tensor:
    """The tape's normals [M, count] to the last bits, where and as the tensor is: Box-Muller as on the tape, by torch.

    numpy's cosines and sines take most of the time of `Tape.normal`; where a model has thousands of weights, that is
    most of a training's.
    """
    pairs = -(-count // 2)
    draws = torch.from_numpy(tape.uniform(purpose, step, 2 * pairs))
    radius = draws[:, :pairs].log_().mul_(-2.0).sqrt_()  # in place, as fresh memory costs more than the arithmetic
    angle = draws[:, pairs:].mul_(2.0 * math.pi)
    cosine = angle.cos()
    angle.sin_().mul_(radius)
    radius.mul_(cosine)
    return draws[:, :count].to(dtype=like.dtype).to(device=like.device)


def residual(loss: str, scores: torch.Tensor, labels: torch.Tensor) -> torch.Tensor:
    """The scalars r of the gradients r x, [M, b] for scores [M, b]."""
    if loss == "linear":
        return -torch.ones_like(scores)
    if loss == "squared":
        return scores - labels
    return torch.sigmoid(scores) - labels


def clipped(r: torch.Tensor, norms: torch.Tensor, clip_norm: float) -> torch.Tensor:
    """The r of the clipped gradients, for feature norms [b]."""
    length = r.abs() * norms
    return r * torch.where(length > clip_norm, clip_norm / length, torch.ones_like(length))
