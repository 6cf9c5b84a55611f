"""DP-SGD on many networks with one hidden layer at once: the batched sibling of `dp_sgd_network`, on any torch device.

Only the records drawn are worked on: `members` packs each model's batch to the front, so that a step is a few products
of tensors [M, k, ...], k the largest batch. A record's gradient is r times the outer product (a phi'(u)) (x, 1)^T and
the vector (z, 1), whose norms are known without forming them, so that clipping and summing need no per-sample gradient:

    |gradient|^2 = r^2 (<a^2, phi'(u)^2> (|x|^2 + 1) + |z|^2 + 1),
    sum of s r (a phi'(u)) (x, 1)^T = a phi'(u)^T (s r (x, 1)),    s the share that clipping leaves of a record.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from oracle.registry import Values
from oracle.tape import Tape
from oracle.training.dp_sgd import check
from oracle.training.dp_sgd_network import weights_count
from oracle.training.torch_glm import drawn, in_chunks, residual


def train(
    features: NDArray[np.float64],
    labels: NDArray[np.float64],
    config: Values,
    tape: Tape,
    *,
    device: str | torch.device = "cpu",
    dtype: torch.dtype = torch.float64,
    recorder: Any = None,
) -> torch.Tensor:
    """The last weights of all the tape's models, shape [M, P], on the device."""
    check(features, labels, config)
    x = torch.as_tensor(features, dtype=dtype, device=device)
    y = torch.as_tensor(labels, dtype=dtype, device=device)
    records, dimension = features.shape
    # About the largest batch of a chunk; a larger one costs some memory, and nothing else.
    largest = min(records, math.ceil(config.batch_size + 4 * math.sqrt(config.batch_size)))
    entries = max(records, weights_count(config.width, dimension), largest * max(config.width, dimension))
    return in_chunks(tape, entries, lambda part: _train_chunk(x, y, config, part, recorder), x, recorder)


def members(mask: NDArray[np.bool_]) -> tuple[NDArray[np.int64], NDArray[np.bool_]]:
    """The records that a mask [M, n] lets in, packed to the front, [M, k], and which of these places are taken."""
    counts = np.count_nonzero(mask, axis=1)
    taken = np.arange(counts.max()) < counts[:, None]
    index = np.zeros(taken.shape, dtype=np.int64)
    index[taken] = np.flatnonzero(mask) - np.repeat(np.arange(0, mask.size, mask.shape[1]), counts)  # both by rows
    return index, taken


def _initial(config: Values, tape: Tape, x: torch.Tensor) -> torch.Tensor:
    width, dimension = config.width, x.shape[1]
    draws = float(config.initial_std) * drawn(tape.normal("initial", 0, width * (dimension + 1)), x)
    first = draws[:, : width * dimension] / math.sqrt(dimension)
    second = draws[:, width * dimension :] / math.sqrt(width)
    return torch.cat([first, torch.zeros_like(second), second, torch.zeros_like(second[:, :1])], dim=1)


def _train_chunk(x: torch.Tensor, y: torch.Tensor, config: Values, tape: Tape, recorder: Any) -> torch.Tensor:
    eta, clip_norm, noise_std = (float(v) for v in (config.eta, config.clip_norm, config.noise_std))
    rate = config.batch_size / config.dataset_size
    weights = _initial(config, tape, x)
    for step in range(config.steps):
        index, taken = (
            torch.as_tensor(part, device=x.device) for part in members(tape.bernoulli("batch", step, len(x), rate))
        )
        batch = x.index_select(0, index.view(-1)).view(*index.shape, x.shape[1])
        total, norms = _clipped_sum(weights, batch, y[index], taken, clip_norm, config)
        noise = drawn(tape.normal("noise", step, weights.shape[1]), x)
        if recorder is not None:
            recorder("batch", step=step, index=index, taken=taken)
            recorder("samples", step=step, index=index, taken=taken, norms=norms)
            recorder("update", step=step, clipped_sum=total, noise_std=noise_std)
        weights.sub_(total, alpha=eta / config.batch_size).sub_(noise, alpha=eta * noise_std)
    return weights


def _clipped_sum(
    weights: torch.Tensor, x: torch.Tensor, y: torch.Tensor, taken: torch.Tensor, clip_norm: float, config: Values
) -> tuple[torch.Tensor, torch.Tensor]:
    """The sums [M, P] of the clipped gradients of the records taken, and all norms [M, k], for features [M, k, d]."""
    models, _, dimension = x.shape
    width = config.width
    first, bias, second, last = torch.split(weights, [width * dimension, width, width, 1], dim=1)
    u = torch.baddbmm(bias[:, None], x, first.view(models, width, dimension).mT)
    a = second[:, None]
    # In place where it can be: new memory is slow.
    if config.activation == "tanh":
        z = u.tanh_()
        slope = z.square()
        z_square = _sum(slope)
        torch.addcmul(a, slope, a, value=-1.0, out=slope)  # a phi'(u) = a (1 - z^2)
    else:
        z = u.relu_()
        z_square = _sum(z.square())
        slope = z.sign().mul_(a)
    # A row times a matrix is several times as fast as the matrix times a column.
    r = residual(config.loss, torch.baddbmm(last[:, None], a, z.mT)[:, 0], y)
    norms = torch.addcmul(z_square.add_(1), _sum(slope.square()), _sum(x.square()).add_(1)).sqrt_().mul_(r.abs())
    r = (clip_norm / norms.clamp(min=clip_norm)).mul_(r).mul_(taken)
    row = r[:, None]
    parts = (
        torch.bmm(slope.mT, r[:, :, None] * x).flatten(1), torch.bmm(row, slope)[:, 0], torch.bmm(row, z)[:, 0],
        r.sum(dim=1, keepdim=True),
    )
    return torch.cat(parts, dim=1), norms


def _sum(entries: torch.Tensor) -> torch.Tensor:
    """The sums [M, k] of entries [M, k, n]: one product with ones, as short rows are slow to add up."""
    return entries @ entries.new_ones(entries.shape[2])
