"""DP-SGD on many networks with one hidden layer at once: the batched sibling of `dp_sgd_network`, on any torch device.

Only the records drawn are worked on: `members` packs each model's batch to the front, so that a step is a few products
of tensors [M, k, ...], k the largest batch. Records are (x, 1) here, and what leads from an input to all units stands
together, (W, c)^T as [d + 1, m], before (a, e). A record's gradient is r times the outer product (x, 1) (a phi'(u))^T
and the vector (z, 1), whose norms are known without forming them: clipping and summing need no per-sample gradient.

    |gradient|^2 = r^2 (<a^2, phi'(u)^2> (|x|^2 + 1) + |z|^2 + 1),
    sum of s r (x, 1) (a phi'(u))^T = (s r (x, 1))^T a phi'(u),    s the share that clipping leaves of a record.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from oracle.algorithms.networks.dp_sgd_network import weights_count
from oracle.algorithms.shared.torch_glm import residual
from oracle.core.algorithm import Values
from oracle.core.tape import Tape
from oracle.core.torch_twin import Kept, Twin, drawn, tanh_


def members(mask: NDArray[np.bool_], absent: int = 0) -> tuple[NDArray[np.int64], NDArray[np.bool_]]:
    """The records that a mask [M, n] lets in, packed to the front, [M, k], and which of these places are taken.

    The others name the record `absent`.
    """
    found, starts = np.flatnonzero(mask), np.arange(0, mask.size + 1, mask.shape[1])
    counts = np.diff(np.searchsorted(found, starts))  # in less time than they take to be counted
    taken = np.arange(counts.max()) < counts[:, None]
    index = np.full(taken.shape, absent, dtype=np.int64)
    index[taken] = found - np.repeat(starts[:-1], counts)  # both by rows
    return index, taken


def drawn_batches(
    tape: Tape, config: Values, x: torch.Tensor, absent: int = 0
) -> Iterator[tuple[torch.Tensor, torch.Tensor]]:
    """The batches of all steps, as `members` packs them, on the device of the records x."""
    rate, steps = config.batch_size / config.dataset_size, range(config.steps)

    def draw(step: int) -> Any:  # an array on the host, a tensor on a device
        return tape.bernoulli("batch", step, len(x), rate)

    if x.device.type == "cpu":
        for step in steps:
            packed, filled = members(draw(step), absent)
            yield torch.as_tensor(packed), torch.as_tensor(filled)
        return
    # Whoever asks a device for the size of a batch waits for it: all masks are drawn once before, and it is asked once.
    sizes = torch.stack([torch.as_tensor(draw(step), device=x.device).sum(dim=1).amax() for step in steps])
    places = torch.arange(int(sizes.amax()), device=x.device)
    for step in steps:
        mask = torch.as_tensor(draw(step), device=x.device)
        taken = places < mask.sum(dim=1, keepdim=True)
        first = mask.to(torch.uint8).argsort(dim=1, descending=True, stable=True)[:, : len(places)]
        yield first.where(taken, absent), taken


def order(width: int, dimension: int) -> torch.Tensor:
    """Where the weights, in the order that is used here, stand in the order of the reference, [P]."""
    first = torch.arange(width * dimension).view(width, dimension)
    return torch.cat([first.T.flatten(), torch.arange(width * dimension, weights_count(width, dimension))])


def _initial(config: Values, tape: Tape, x: torch.Tensor) -> torch.Tensor:
    """The weights [M, P] that training starts from, in the order of the reference."""
    width, dimension = config.hidden_units, x.shape[1]
    draws = float(config.initial_scale) * drawn(tape.normal("initial", 0, width * (dimension + 1)), x)
    first = draws[:, : width * dimension] / math.sqrt(dimension)
    second = draws[:, width * dimension :] / math.sqrt(width)
    return torch.cat([first, torch.zeros_like(second), second, torch.zeros_like(second[:, :1])], dim=1)


def _chunk(data: tuple[torch.Tensor, torch.Tensor], config: Values, tape: Tape, recorder: Any) -> torch.Tensor:
    """The last weights of a block of models, [m, P]."""
    x, y = data
    eta, clip_norm, sigma = (float(v) for v in (config.learning_rate, config.clip_norm, config.noise_on_mean))
    here = order(config.hidden_units, x.shape[1]).to(x.device)
    back = here.argsort()
    weights = _initial(config, tape, x)[:, here]
    records = torch.cat([x, torch.ones_like(x[:, :1])], dim=1)
    squares = records.square().sum(dim=1)
    kept = Kept(x)
    for step, (index, taken) in enumerate(drawn_batches(tape, config, x)):
        batch = kept("batch", *index.shape, records.shape[1])
        torch.index_select(records, 0, index.view(-1), out=batch.view(-1, records.shape[1]))
        lengths, known = (part.index_select(0, index.view(-1)).view(index.shape) for part in (squares, y))
        total, norms = _clipped_sum(weights, batch, lengths, known, taken, clip_norm, config, kept)
        noise = drawn(tape.normal("noise", step, weights.shape[1]), x).index_select(1, here)
        if recorder is not None:
            recorder("batch", step=step, index=index, taken=taken)
            recorder("samples", step=step, index=index, taken=taken, norms=norms)
            recorder("update", step=step, clipped_sum=total[:, back], noise_std=sigma)
        weights.sub_(total, alpha=eta / config.batch_size).sub_(noise, alpha=eta * sigma)
    return weights[:, back]


def _clipped_sum(
    weights: torch.Tensor, x: torch.Tensor, squares: torch.Tensor, y: torch.Tensor, taken: torch.Tensor,
    clip_norm: float, config: Values, kept: Kept,
) -> tuple[torch.Tensor, torch.Tensor]:
    """The sums [M, P] of the clipped gradients of the records taken, and all norms [M, k].

    For records (x, 1) [M, k, d + 1] of squared lengths [M, k].
    """
    models, size, inputs = x.shape
    units = (models, size, config.hidden_units)
    hidden, second, last = torch.split(weights, [config.hidden_units * inputs, config.hidden_units, 1], dim=1)
    z = torch.bmm(x, hidden.view(models, inputs, config.hidden_units), out=kept("z", *units))
    a, square, slope = second[:, None], kept("square", *units), kept("slope", *units)
    if config.activation == "tanh":
        torch.square(tanh_(z), out=square)
        torch.addcmul(a, square, a, value=-1.0, out=slope)  # a phi'(u) = a (1 - z^2)
    else:
        torch.square(z.relu_(), out=square)
        torch.sign(z, out=slope).mul_(a)
    ones = weights.new_ones(config.hidden_units)
    # Products with ones, as short rows are slow to add up.
    norms = torch.mv(square.view(-1, config.hidden_units), ones).add_(1).view(models, size)
    lengths = torch.mv(torch.square(slope, out=square).view(-1, config.hidden_units), ones).view(models, size)
    # A row times a matrix is several times as fast as the matrix times a column.
    r = residual(config.loss, torch.baddbmm(last[:, None], a, z.mT)[:, 0], y)
    norms.addcmul_(lengths, squares).sqrt_().mul_(r.abs())
    r = (clip_norm / norms.clamp(min=clip_norm)).mul_(r).mul_(taken)
    products = torch.mul(r[:, :, None], x, out=kept("products", *x.shape))
    # The shorter side is transposed, which takes a third of the time.
    parts = (torch.bmm(products.mT, slope).flatten(1), torch.bmm(r[:, None], z)[:, 0], r.sum(dim=1, keepdim=True))
    return torch.cat(parts, dim=1), norms


def about_largest(records: int, config: Values) -> int:
    """About the size of the largest batch of a chunk; a larger one costs some memory, and nothing else."""
    size: int = config.batch_size
    return min(records, math.ceil(size + 4 * math.sqrt(size)))


def _entries(data: tuple[torch.Tensor, torch.Tensor], config: Values, tape: Tape) -> int:
    records, dimension = data[0].shape
    width: int = config.hidden_units
    entries = max(records, weights_count(width, dimension), about_largest(records, config) * max(width, dimension))
    # Fewer calls, in chunks twice as large, gain more than the cache loses.
    return -(-entries // 2) if data[0].device.type == "cpu" else entries


twin = Twin(_chunk, _entries)
