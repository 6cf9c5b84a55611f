"""DP-SGD on many multi-layer ReLU networks at once: the batched sibling of `dp_sgd_multilayer`, on any torch device.

Only the records drawn are worked on, packed to the front as in `torch_dp_sgd_network`: the hidden layers of all models
are tensors [M, k, m]. A record's gradient is one outer product a layer, so that its norm is known without forming it,

    |gradient|^2 = r^2 sum_l |b_l|^2 |h_{l-1}|^2,    b_L = sqrt(m),

and a layer's clipped sum is one product. How far a layer may have moved is known without measuring, from the clipping
norm and the longest noise, so that distances are measured only when one may exceed the radius. The linearisation
carries the move of the weights forwards through the layers, where the reference and the training go backwards.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from oracle.registry import Values
from oracle.tape import LONGEST_PAIR, Tape
from oracle.training.dp_sgd import check
from oracle.training.dp_sgd_multilayer import shapes
from oracle.training.torch_dp_sgd_network import members
from oracle.training.torch_glm import drawn, in_chunks
from oracle.training.torch_minimiser import residual

Layers = list[torch.Tensor]


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
    """The average weights of all the tape's models, shape [M, P], on the device."""
    check(features, labels, config)
    x = torch.as_tensor(features, dtype=dtype, device=device)
    y = torch.as_tensor(labels, dtype=dtype, device=device)
    records, dimension = features.shape
    # About the largest batch of a chunk; a larger one costs some memory, and nothing else.
    largest = min(records, math.ceil(config.batch_size + 4 * math.sqrt(config.batch_size)))
    weights = sum(rows * columns for rows, columns in shapes(config, dimension))
    entries = max(records, weights, largest * max(config.width, dimension))
    return in_chunks(tape, entries, lambda part: _train_chunk(x, y, config, part, recorder), x, recorder)


def _initial(config: Values, tape: Tape, x: torch.Tensor) -> Layers:
    """The layers [M, rows, columns] that training starts from."""
    start = []
    for number, (rows, columns) in enumerate(shapes(config, x.shape[1]), start=1):
        variance = (1 if number == config.depth else 2) / config.width
        draws = drawn(tape.normal("initial", number, rows * columns), x)
        start.append(draws.view(-1, rows, columns).mul_(math.sqrt(variance)))
    return start


def layers_of(weights: torch.Tensor, config: Values, dimension: int) -> Layers:
    """The layers [M, rows, columns] of weights [M, P], as views."""
    sizes = shapes(config, dimension)
    parts = torch.split(weights, [rows * columns for rows, columns in sizes], dim=1)
    return [part.view(-1, rows, columns) for part, (rows, columns) in zip(parts, sizes, strict=True)]


def flat(layers: Layers) -> torch.Tensor:
    """The weights [M, P] of layers, copied."""
    return torch.cat([layer.flatten(1) for layer in layers], dim=1)


def network(layers: Layers, x: torch.Tensor) -> tuple[torch.Tensor, Layers]:
    """The outputs f [M, k] for features [M, k, d], and what enters each layer, h_0, ..., h_{L-1}."""
    inputs = [x]
    for layer in layers[:-1]:
        inputs.append(torch.bmm(inputs[-1], layer.mT).relu_())
    # This way round the product of a row and a matrix is several times as fast as that of the matrix and a column.
    return torch.bmm(layers[-1], inputs[-1].mT)[:, 0].mul_(math.sqrt(layers[-1].shape[2])), inputs


def linearised(layers: Layers, start: Layers, x: torch.Tensor) -> torch.Tensor:
    """f_ntk [M, k] around the start for features [M, k, d]."""
    scores, inputs = network(start, x)
    moves = torch.zeros_like(x)  # of what enters a layer; the features do not move
    for layer, first, signal in zip(layers, start, inputs, strict=True):
        moves = (moves * (signal > 0)) @ first.mT + signal @ (layer - first).mT
    return scores + moves[:, :, 0] * math.sqrt(start[-1].shape[2])


def _train_chunk(x: torch.Tensor, y: torch.Tensor, config: Values, tape: Tape, recorder: Any) -> torch.Tensor:
    eta, clip_norm, sigma = (float(v) for v in (config.eta, config.clip_norm, config.sigma))
    rate = config.batch_size / config.dataset_size
    weights = _initial(config, tape, x)
    size = sum(layer[0].numel() for layer in weights)
    ball = _Ball(weights, config)
    means, totals = [torch.zeros_like(layer) for layer in weights], [torch.empty_like(layer) for layer in weights]
    for step in range(config.steps):
        index, taken = (
            torch.as_tensor(part, device=x.device) for part in members(tape.bernoulli("batch", step, len(x), rate))
        )
        norms = clipped_sums(weights, _rows(x, index), _rows(y, index), taken, clip_norm, config.loss, into=totals)
        if recorder is not None:
            recorder("batch", step=step, index=index, taken=taken)
            recorder("samples", step=step, index=index, taken=taken, norms=norms)
            recorder("update", step=step, clipped_sum=flat(totals), noise_std=sigma)
        for models, draws in tape.normals("noise", step, size):  # a part of the models, while its draws are at hand
            noise = layers_of(drawn(draws, x), config, x.shape[1])
            for layer, total, z in zip(weights, totals, noise, strict=True):
                layer[models].sub_(total[models], alpha=eta / config.batch_size).sub_(z, alpha=eta * sigma)
        longest = LONGEST_PAIR * math.sqrt(-(-size // 2))
        ball.keep(weights, eta * (clip_norm * index.shape[1] / config.batch_size + sigma * longest))
        for mean, layer in zip(means, weights, strict=True):
            mean.add_(layer, alpha=1 / config.steps)
    return flat(means)


class _Ball:
    """The projection of every layer around its centre; distances are measured only when they may exceed the radius."""

    def __init__(self, start: Layers, config: Values) -> None:
        around = config.centre == "start"
        self.radius = float(config.radius) / (math.sqrt(config.width) if around else 1)
        self.centre = [layer.clone() if around else torch.zeros_like(layer) for layer in start]
        self.reach = 0.0 if around else math.inf  # no layer of any model is farther away

    def keep(self, weights: Layers, moved: float) -> None:
        """Project the layers [M, rows, columns], none of which has moved farther than so much."""
        self.reach = 1.001 * (self.reach + moved)  # far more than sums in single precision lose
        if self.reach <= self.radius:
            return
        self.reach = 0.0
        for layer, middle in zip(weights, self.centre, strict=True):
            offset = layer - middle
            lengths = torch.linalg.matrix_norm(offset)
            outside = (lengths > self.radius).nonzero()[:, 0]  # the others keep every bit, whoever shares their chunk
            if len(outside) > 0:
                share = (self.radius / lengths[outside])[:, None, None]
                layer[outside] = middle[outside] + offset[outside] * share
            self.reach = max(self.reach, min(self.radius, float(lengths.max())))


def _rows(table: torch.Tensor, index: torch.Tensor) -> torch.Tensor:
    """The rows of a table [n, ...] at an index [M, k], as table[index], in less time."""
    return table.index_select(0, index.view(-1)).view(*index.shape, *table.shape[1:])


def clipped_sums(
    layers: Layers, x: torch.Tensor, y: torch.Tensor, taken: torch.Tensor, clip_norm: float, loss: str, *, into: Layers
) -> torch.Tensor:
    """All gradients' norms [M, k] for features [M, k, d]; the layers' sums of those taken, clipped, are put `into`."""
    scores, inputs = network(layers, x)
    r = residual(loss, scores, y)
    last = layers[-1] * math.sqrt(layers[-1].shape[2])
    backs: Layers = []
    for number in range(len(layers) - 1, 0, -1):
        back = last if number == len(layers) - 1 else backs[0] @ layers[number]
        backs.insert(0, inputs[number].sign().mul_(back))  # 1 or 0, and faster than the product with a comparison
    squares = [(_lengths(b) * _lengths(h)).square_() for b, h in zip(backs, inputs[:-1], strict=True)]
    squares.append(_lengths(inputs[-1]).square_().mul_(last.shape[2]))
    norms = r.abs().mul_(sum(squares[1:], squares[0]).sqrt_())
    share = (clip_norm / norms.clamp(min=clip_norm)).mul_(r).mul_(taken)
    for total, b, h in zip(into, backs, inputs[:-1], strict=False):
        # The shares go to the shorter side.
        scaled = (share[:, :, None] * b, h) if b.shape[2] < h.shape[2] else (b, share[:, :, None] * h)
        torch.bmm(scaled[0].mT, scaled[1], out=total)
    torch.bmm(share.mul_(math.sqrt(last.shape[2]))[:, None], inputs[-1], out=into[-1])
    return norms


def _lengths(vectors: torch.Tensor) -> torch.Tensor:
    lengths: torch.Tensor = torch.linalg.vector_norm(vectors, dim=2)
    return lengths
