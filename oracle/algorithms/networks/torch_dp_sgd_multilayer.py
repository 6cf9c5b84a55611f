"""DP-SGD on many multi-layer ReLU networks at once: the batched sibling of `dp_sgd_multilayer`, on any torch device.

Only the records drawn are worked on, packed to the front as in `torch_dp_sgd_network`: the hidden layers of all models
are tensors [M, k, m]. Places that no record takes hold one of zeros, which has no gradient. Layers stand transposed
here, W_l^T as [M, columns, rows]: that is the order of the draws, and the one in which products of such shapes are
fastest. A record's gradient is one outer product a layer, so that its norm is known without forming it; with
c_l = b_l / sqrt(m),

    |gradient|^2 = m r^2 (|h_{L-1}|^2 + sum_{l<L} |c_l|^2 |h_{l-1}|^2),    |c_{L-1}|^2 = <c_{L-1}, W_L>,

and a layer's clipped sum is one product, which goes straight into the weights, as the products of radii with cosines
and sines do that are the noise. How far a layer may have moved is known without measuring, from the clipping norm and
the longest noise, so that distances are measured only when one may exceed the radius. The linearisation carries the
move of the weights forwards through the layers, where the reference and the training go backwards.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import torch

from oracle.algorithms.networks.dp_sgd_multilayer import shapes, weights_count
from oracle.algorithms.networks.torch_dp_sgd_network import about_largest, drawn_batches
from oracle.algorithms.shared.torch_minimiser import residual
from oracle.core.algorithm import Values
from oracle.core.tape import LONGEST_SHORT_PAIR, Tape
from oracle.core.torch_twin import Kept, Twin, drawn

Layers = list[torch.Tensor]


def initial(config: Values, tape: Tape, dimension: int, like: torch.Tensor) -> Layers:
    """The layers that training starts from, where and as the tensor is."""
    start = [like.new_zeros(tape.models, columns, rows) for rows, columns in shapes(config, dimension)]
    hidden = math.sqrt(2 / config.hidden_units)
    _add_normals(start, [hidden] * (config.depth - 1) + [math.sqrt(1 / config.hidden_units)], tape, "initial", 0)
    return start


def _add_normals(layers: Layers, scales: Sequence[float], tape: Tape, purpose: str, step: int) -> None:
    """Each layer gets its draws of the tape, times its scale."""
    size = sum(layer[0].numel() for layer in layers)
    halves = _halves(layers, -(-size // 2))
    for models, *parts in tape.short_pairs(purpose, step, size):  # a part of the models, while its draws are at hand
        radius, *turns = (drawn(part, layers[0]) for part in parts)
        for half, turn in zip(halves, turns, strict=True):
            for number, weights, columns in half:
                weights[models].addcmul_(radius[:, columns], turn[:, columns], value=scales[number])


def _halves(layers: Layers, half: int) -> list[list[tuple[int, torch.Tensor, slice]]]:
    """The first weights, which get cosines, and the others, which get sines.

    As parts [M, ...] of layers, each with the number of its layer and the columns that it takes of its half.
    """
    halves: list[list[tuple[int, torch.Tensor, slice]]] = [[], []]
    first = 0
    for number, layer in enumerate(layers):
        weights = layer.view(len(layer), -1)
        last = first + weights.shape[1]
        for place, (begin, end) in zip(halves, ((0, half), (half, 2 * half)), strict=True):
            low, high = max(first, begin), min(last, end)
            if low < high:
                place.append((number, weights[:, low - first : high - first], slice(low - begin, high - begin)))
        first = last
    return halves


def flat(layers: Layers) -> torch.Tensor:
    """The weights [M, P] of layers in the order of the reference, copied."""
    sizes = [layer[0].numel() for layer in layers]
    together = layers[0].new_empty(len(layers[0]), sum(sizes))
    for part, layer in zip(torch.split(together, sizes, dim=1), layers, strict=True):
        part.view(len(layer), layer.shape[2], layer.shape[1]).copy_(layer.mT)
    return together


def network(layers: Layers, x: torch.Tensor, kept: Kept | None = None) -> tuple[torch.Tensor, Layers]:
    """The outputs f [M, k] for features [M, k, d], and what enters each layer, h_0, ..., h_{L-1}."""
    inputs = [x]
    for number, layer in enumerate(layers[:-1]):
        out = None if kept is None else kept(f"h{number}", *x.shape[:2], layer.shape[2])
        inputs.append(torch.bmm(inputs[-1], layer, out=out).relu_())
    return _products(layers[-1], inputs[-1]).mul_(math.sqrt(layers[-1].shape[1])), inputs


def _row(last: torch.Tensor) -> torch.Tensor:
    """The last layer [M, m, 1] as [M, 1, m]: unlike its transpose, a view that products know as a row, and are fast."""
    return last.view(len(last), 1, -1)


def _products(last: torch.Tensor, vectors: torch.Tensor) -> torch.Tensor:
    """The products [M, k] of the last layer [M, m, 1] with vectors [M, k, m]."""
    # This way round the product of a row and a matrix is several times as fast as that of the matrix and a column.
    return torch.bmm(_row(last), vectors.mT)[:, 0]


def _chunk(data: tuple[torch.Tensor, torch.Tensor], config: Values, tape: Tape, recorder: Any) -> torch.Tensor:
    """The average weights of a block of models, [m, P]."""
    x, y = data
    eta, clip_norm, sigma = (float(v) for v in (config.learning_rate, config.clip_norm, config.noise_on_mean))
    weights = initial(config, tape, x.shape[1], x)
    longest = LONGEST_SHORT_PAIR * math.sqrt(-(-weights_count(config, x.shape[1]) // 2))
    ball, kept = _Ball(config, tape, x.shape[1]), Kept(x)
    means = [torch.zeros_like(layer) for layer in weights]
    features, labels = torch.cat([x, x.new_zeros(1, x.shape[1])]), torch.cat([y, y.new_zeros(1)])
    for step, (index, taken) in enumerate(drawn_batches(tape, config, x, absent=len(x))):
        if recorder is not None:
            totals = [torch.zeros_like(layer) for layer in weights]
            batch = _rows(features, index), _rows(labels, index), clip_norm, config.loss
            norms = add_clipped_sums(weights, *batch, into=totals, times=1.0, kept=kept)
            recorder("batch", step=step, index=index, taken=taken)
            recorder("samples", step=step, index=index, taken=taken, norms=norms)
            recorder("update", step=step, clipped_sum=flat(totals), noise_std=sigma)
        _descend(weights, features, labels, index, config, kept)
        _add_normals(weights, [-eta * sigma] * config.depth, tape, "noise", step)
        ball.keep(weights, eta * (clip_norm * index.shape[1] / config.batch_size + sigma * longest))
        for mean, layer in zip(means, weights, strict=True):
            mean.add_(layer, alpha=1 / config.steps)
    return flat(means)


def _descend(
    weights: Layers, features: torch.Tensor, labels: torch.Tensor, index: torch.Tensor, config: Values, kept: Kept
) -> None:
    """The clipped gradients of the records [M, k] are taken from the weights.

    Few models have many more records than is usual: theirs beyond that number are worked on apart, so that the others
    have fewer places to fill; not on a device, which would have to tell the host which models these are.
    """
    absent, usual = len(features) - 1, math.ceil(config.batch_size + math.sqrt(config.batch_size) / 2)
    first, rest = index[:, :usual].contiguous(), index[:, usual:]

    def descend(layers: Layers, records: torch.Tensor, into: Layers) -> None:
        batch = _rows(features, records), _rows(labels, records), float(config.clip_norm), config.loss
        add_clipped_sums(layers, *batch, into=into, times=-float(config.learning_rate) / config.batch_size, kept=kept)

    if features.device.type != "cpu":
        descend(weights, index.contiguous(), weights)
        return
    crowded = (rest[:, :1] != absent).nonzero()[:, 0]
    before = [layer.index_select(0, crowded) for layer in weights]
    descend(weights, first, weights)
    if len(crowded) > 0:
        after = [layer.index_select(0, crowded) for layer in weights]
        descend(before, rest.index_select(0, crowded), after)
        for layer, part in zip(weights, after, strict=True):
            layer.index_copy_(0, crowded, part)


class _Ball:
    """The projection of every layer around its centre; distances are measured only when they may exceed the radius."""

    def __init__(self, config: Values, tape: Tape, dimension: int) -> None:
        around = config.centre == "start"
        self.radius = float(config.layer_radius) / (math.sqrt(config.hidden_units) if around else 1)
        self.start = (lambda like: initial(config, tape, dimension, like)) if around else None
        self.centre: Layers = []  # made when it is needed: most trainings stay near their start
        self.reach = 0.0 if around else math.inf  # no layer of any model is farther away

    def keep(self, weights: Layers, moved: float) -> None:
        """Project the layers, none of which has moved farther than so much."""
        self.reach = 1.001 * (self.reach + moved)  # far more than sums in single precision lose
        if self.reach <= self.radius:
            return
        self.reach = 0.0
        self.centre = self.centre or (
            self.start(weights[0]) if self.start else [torch.zeros_like(layer) for layer in weights]
        )
        local = weights[0].device.type == "cpu"
        for layer, middle in zip(weights, self.centre, strict=True):
            offset = layer - middle
            lengths = torch.linalg.matrix_norm(offset)
            if not local:  # the host is told nothing
                lengths = lengths[:, None, None]
                layer.copy_(torch.where(lengths > self.radius, middle + offset * (self.radius / lengths), layer))
                self.reach = self.radius
                continue
            outside = (lengths > self.radius).nonzero()[:, 0]  # the others keep every bit, whoever shares their chunk
            if len(outside) > 0:
                share = (self.radius / lengths[outside])[:, None, None]
                layer[outside] = middle[outside] + offset[outside] * share
            self.reach = max(self.reach, min(self.radius, float(lengths.max())))


def _rows(table: torch.Tensor, index: torch.Tensor) -> torch.Tensor:
    """The rows of a table [n, ...] at an index [M, k], as table[index], in less time."""
    return table.index_select(0, index.view(-1)).view(*index.shape, *table.shape[1:])


def add_clipped_sums(
    layers: Layers, x: torch.Tensor, y: torch.Tensor, clip_norm: float, loss: str, *,
    into: Layers, times: float, kept: Kept,
) -> torch.Tensor:
    """All gradients' norms [M, k] for features [M, k, d]; the clipped ones' sums, so many `times`, are added `into`."""
    scores, inputs = network(layers, x, kept)
    r, last = residual(loss, scores, y), _row(layers[-1])
    backs: Layers = []  # the c_l
    for number in range(len(layers) - 2, -1, -1):
        slope = last.expand_as(inputs[-1]) if number == len(layers) - 2 else backs[0] @ layers[number + 1].mT
        back = kept(f"b{number}", *slope.shape)
        torch.ops.aten.threshold_backward.grad_input(slope, inputs[number + 1], 0, grad_input=back)  # 0 where h_l is 0
        backs.insert(0, back)
    squares = _lengths(inputs[-1]).square_().addcmul_(_products(layers[-1], backs[-1]), _lengths(inputs[-2]).square_())
    for b, h in zip(backs[:-1], inputs[:-2], strict=True):
        squares.add_((_lengths(b) * _lengths(h)).square_())
    norms = squares.sqrt_().mul_(r.abs()).mul_(math.sqrt(last.shape[2]))
    share, times = r.div_(norms.clamp(min=clip_norm)), times * clip_norm * math.sqrt(last.shape[2])
    for total, b, h in zip(into, backs, inputs[:-1], strict=False):
        # The shares go to the shorter side.
        scaled = (h, share[:, :, None] * b) if b.shape[2] < h.shape[2] else (share[:, :, None] * h, b)
        total.baddbmm_(scaled[0].mT, scaled[1], alpha=times)
    _row(into[-1]).baddbmm_(share[:, None], inputs[-1], alpha=times)
    return norms


def _lengths(vectors: torch.Tensor) -> torch.Tensor:
    lengths: torch.Tensor = torch.linalg.vector_norm(vectors, dim=2)
    return lengths


def _entries(data: tuple[torch.Tensor, torch.Tensor], config: Values, tape: Tape) -> int:
    records, dimension = data[0].shape
    width: int = config.hidden_units
    weights, units = weights_count(config, dimension), about_largest(records, config) * max(width, dimension)
    if data[0].device.type == "cpu":
        # There are many calls a step: fewer of them, in chunks four to eight times as large, gain more than the cache
        # loses, which the weights ask more of than what leaves a layer.
        weights, units = -(-weights // 4), -(-units // 8)
    return max(records, weights, units)


twin = Twin(_chunk, _entries)
