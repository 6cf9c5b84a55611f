"""DP-SGD on many multi-layer ReLU networks at once: the batched sibling of `dp_sgd_multilayer`, on any torch device.

Only the records drawn are worked on, packed to the front as in `torch_dp_sgd_network`: the hidden layers of all models
are tensors [M, k, m]. A record's gradient is one outer product a layer, so that its norm is known without forming it,

    |gradient|^2 = r^2 sum_l |b_l|^2 |h_{l-1}|^2,    b_L = sqrt(m),

and a layer's clipped sum is one product. The linearisation carries the move of the weights forwards through the layers,
where the reference and the training go backwards.
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
    return in_chunks(tape, entries, lambda part: _train_chunk(x, y, config, part, recorder), device)


def _initial(config: Values, tape: Tape, x: torch.Tensor) -> torch.Tensor:
    """The weights [M, P] that training starts from."""
    sizes = [rows * columns for rows, columns in shapes(config, x.shape[1])]
    variances = [2 / config.width] * (config.depth - 1) + [1 / config.width]
    layers = [drawn(tape.normal("initial", 1 + layer, size), x) for layer, size in enumerate(sizes)]
    return torch.cat([layer * math.sqrt(variance) for layer, variance in zip(layers, variances, strict=True)], dim=1)


def layers_of(weights: torch.Tensor, config: Values, dimension: int) -> Layers:
    """The layers [M, rows, columns] of weights [M, P], as views."""
    sizes = shapes(config, dimension)
    parts = torch.split(weights, [rows * columns for rows, columns in sizes], dim=1)
    return [part.view(-1, rows, columns) for part, (rows, columns) in zip(parts, sizes, strict=True)]


def network(layers: Layers, x: torch.Tensor) -> tuple[torch.Tensor, Layers]:
    """The outputs f [M, k] for features [M, k, d], and what enters each layer, h_0, ..., h_{L-1}."""
    inputs = [x]
    for layer in layers[:-1]:
        inputs.append((inputs[-1] @ layer.mT).relu())
    return (inputs[-1] @ layers[-1].mT)[:, :, 0] * math.sqrt(layers[-1].shape[2]), inputs


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
    dimension = x.shape[1]
    radius = float(config.radius) / (math.sqrt(config.width) if config.centre == "start" else 1)
    weights = _initial(config, tape, x)
    centre = weights.clone() if config.centre == "start" else torch.zeros_like(weights)
    mean, total, offset = torch.zeros_like(weights), torch.empty_like(weights), torch.empty_like(weights)
    for step in range(config.steps):
        index, taken = (
            torch.as_tensor(part, device=x.device) for part in members(tape.bernoulli("batch", step, len(x), rate))
        )
        layers = layers_of(weights, config, dimension)
        norms = clipped_sum(layers, x[index], y[index], taken, clip_norm, config.loss, into=total)
        noise = drawn(tape.normal("noise", step, weights.shape[1]), x)
        if recorder is not None:
            recorder("batch", step=step, index=index, taken=taken)
            recorder("samples", step=step, index=index, taken=taken, norms=norms)
            recorder("update", step=step, clipped_sum=total.clone(), noise_std=sigma)
        weights.sub_(total, alpha=eta / config.batch_size).sub_(noise, alpha=eta * sigma)
        torch.sub(weights, centre, out=offset)
        for part in layers_of(offset, config, dimension):
            part.mul_(radius / torch.linalg.matrix_norm(part, keepdim=True).clamp(min=radius))
        torch.add(centre, offset, out=weights)
        mean.add_(weights, alpha=1 / config.steps)
    return mean


def clipped_sum(
    layers: Layers, x: torch.Tensor, y: torch.Tensor, taken: torch.Tensor, clip_norm: float, loss: str, *,
    into: torch.Tensor,
) -> torch.Tensor:
    """All gradients' norms [M, k] for features [M, k, d]; the sums [M, P] of those taken, clipped, are put `into`."""
    scores, inputs = network(layers, x)
    r = residual(loss, scores, y)
    back = torch.full_like(r, math.sqrt(layers[-1].shape[2]))[:, :, None]
    backs = [back]
    for layer, output in zip(reversed(layers[1:]), reversed(inputs[1:]), strict=True):
        back = (back @ layer).mul_(output.sign())  # 1 or 0, and faster than the product with a comparison
        backs.insert(0, back)
    pairs = list(zip(backs, inputs, strict=True))
    norms: torch.Tensor = r.abs() * _lengths(torch.stack([_lengths(b) * _lengths(h) for b, h in pairs], dim=2))
    share = r * torch.where(norms > clip_norm, clip_norm / norms, torch.ones_like(norms)) * taken
    parts = torch.split(into, [layer[0].numel() for layer in layers], dim=1)
    for part, layer, (b, h) in zip(parts, layers, pairs, strict=True):
        # The shares go to the shorter side.
        scaled = (share[:, :, None] * b, h) if b.shape[2] < h.shape[2] else (b, share[:, :, None] * h)
        part.view(layer.shape).copy_(scaled[0].mT @ scaled[1])
    return norms


def _lengths(vectors: torch.Tensor) -> torch.Tensor:
    lengths: torch.Tensor = torch.linalg.vector_norm(vectors, dim=2)
    return lengths
