"""Phased SGD for many models at once: the batched sibling of `phased_sgd`, on any torch device.

A phase is a loop over its records, which cannot be avoided; only the scores need it, though. Records go in blocks of b:
with R_r = h(score_r) the factors of the gradients of the block so far and K the inner products of its records,

    score_s = <w, x_s> - eta sum_{r < s} R_r K_rs,

so that w, and the average w^1 - eta sum_s (1 - s/n_i) R_s x_s of the phase, are brought up to date by one matrix
product a block. The factors are kept as [b, M], for rows that lie together in memory.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from typing import Any, Protocol

import torch

from oracle.algorithms.phased.phased_sgd import sizes
from oracle.algorithms.shared import torch_links
from oracle.core.algorithm import Values
from oracle.core.tape import Tape
from oracle.core.torch_twin import Twin, drawn

BLOCK = 32
"""The largest number of records whose scores are found between two matrix products."""

Data = tuple[torch.Tensor, list[float]]
"""The records [n, d] and their labels."""

Slope = Callable[[torch.Tensor, float], torch.Tensor]
"""The derivatives of a record's loss, for the scores [M] of all models and the record's label."""

Lifted = tuple[Callable[[torch.Tensor], torch.Tensor], int]
"""Features [b, D] of a block's records [b, d], formed when the block comes, and their number D."""


class Block(Protocol):
    """Records of one block, as the models see them."""

    @property
    def norms(self) -> torch.Tensor:
        """The lengths of the records, [b, 1] or [b, M]."""

    def scores(self, w: torch.Tensor) -> torch.Tensor:
        """<w, x_s>, [b, M]."""

    def score(self, s: int, before: torch.Tensor, factors: torch.Tensor, eta: float) -> torch.Tensor:
        """The score of record s, [M]: `before` the block, less eta sum_{r < s} R_r <x_r, x_s>."""

    def move_(self, w: torch.Tensor, factors: torch.Tensor, eta: float) -> None:
        """Take eta sum_s R_s x_s from w, in place."""


class Shared:
    """Records that are the same for all models, x [b, d]."""

    def __init__(self, x: torch.Tensor) -> None:
        self.x, self.gram = x, x @ x.T

    @property
    def norms(self) -> torch.Tensor:
        """The lengths of the records."""
        lengths: torch.Tensor = torch.linalg.vector_norm(self.x, dim=1, keepdim=True)
        return lengths

    def scores(self, w: torch.Tensor) -> torch.Tensor:
        """One product."""
        return self.x @ w.T

    def score(self, s: int, before: torch.Tensor, factors: torch.Tensor, eta: float) -> torch.Tensor:
        """One product with a row."""
        return torch.addmv(before, factors[:s].T, self.gram[s, :s], alpha=-eta)

    def move_(self, w: torch.Tensor, factors: torch.Tensor, eta: float) -> None:
        """One product."""
        w.addmm_(factors.T, self.x, alpha=-eta)


class Projected:
    """Records that every model has projected by a matrix of its own, phi [M, m, d], to [M, m, b]."""

    def __init__(self, x: torch.Tensor, phi: torch.Tensor) -> None:
        models, rows, inputs = phi.shape
        self.x = (phi.reshape(models * rows, inputs) @ x.T).reshape(models, rows, len(x))
        self.gram = (self.x.mT @ self.x).permute(1, 2, 0).contiguous()

    @property
    def norms(self) -> torch.Tensor:
        """The lengths of the projected records."""
        lengths: torch.Tensor = torch.linalg.vector_norm(self.x, dim=1)
        return lengths.T

    def scores(self, w: torch.Tensor) -> torch.Tensor:
        """One product a model."""
        return (w[:, None] @ self.x)[:, 0].T

    def score(self, s: int, before: torch.Tensor, factors: torch.Tensor, eta: float) -> torch.Tensor:
        """Every model has inner products of its own."""
        return before - eta * (self.gram[s, :s] * factors[:s]).sum(dim=0)

    def move_(self, w: torch.Tensor, factors: torch.Tensor, eta: float) -> None:
        """One product a model."""
        w[:, :, None].baddbmm_(self.x, factors.T[:, :, None], alpha=-eta)


def _slope(config: Values) -> Slope:
    bound = float(config.label_bound)
    return lambda scores, label: torch_links.value(config.link, scores, bound) - label


def prepared(x: torch.Tensor, y: torch.Tensor, config: Values, recorder: Any) -> Data:
    """Labels are read one by one, on the host."""
    return x, y.tolist()


def entries(width: int) -> int:
    """What a model needs: weights, and the factors of a block."""
    return max(BLOCK, width)


def projected_entries(rows: int, inputs: int) -> int:
    """What a model needs: a matrix [m, d], and blocks of m by at most b entries."""
    return max(rows * inputs, BLOCK * max(rows, BLOCK))


def descended(
    data: Data, config: Values, tape: Tape, slope: Slope, recorder: Any, lifted: Lifted | None = None
) -> torch.Tensor:
    """w_k of a block of models, [m, D]."""
    lift, width = lifted or (_as_they_are, data[0].shape[1])
    return _descend(lambda block: Shared(lift(block)), data, config, tape, slope, recorder, width=width)


def descended_projected(
    data: Data, config: Values, tape: Tape, slope: Slope, recorder: Any, lifted: Lifted | None = None
) -> torch.Tensor:
    """Phi^T w_k of a block of models, [m, D], every model with a matrix of its own."""
    x, rows = data[0], config.projected_dimension
    lift, inputs = lifted or (_as_they_are, x.shape[1])
    phi = drawn(tape.normal("projection", 0, rows * inputs), x).reshape(-1, rows, inputs) / math.sqrt(rows)
    w = _descend(lambda block: Projected(lift(block), phi), data, config, tape, slope, recorder, width=rows)
    return (w[:, None] @ phi)[:, 0]


def _as_they_are(x: torch.Tensor) -> torch.Tensor:
    return x


def _start(config: Values, tape: Tape, like: torch.Tensor, width: int) -> torch.Tensor:
    if config.initial_radius == 0:
        return torch.zeros(tape.models, width, dtype=like.dtype, device=like.device)
    towards = torch.nn.functional.normalize(drawn(tape.normal("initial", 0, width), like), dim=1)
    return towards * (drawn(tape.uniform("initial/length", 0, 1), like) ** (1 / width) * float(config.initial_radius))


def _blocks(first: int, size: int) -> Iterator[slice]:
    for start in range(first, first + size, BLOCK):
        yield slice(start, min(start + BLOCK, first + size))


def weights(batch: slice, first: int, size: int, like: torch.Tensor) -> torch.Tensor:
    """(n_i - s)/n_i for the records of a block, [b, 1]: the share of the averaged iterates that come after record s."""
    later = torch.arange(first + size - 1 - batch.start, first + size - 1 - batch.stop, -1, device=like.device)
    return later.to(like.dtype)[:, None] / size


def _descend(
    see: Callable[[torch.Tensor], Block], data: Data, config: Values, tape: Tape, slope: Slope, recorder: Any, *,
    width: int,
) -> torch.Tensor:
    x, labels = data
    w = _start(config, tape, x, width)
    first = 0
    for i, size in enumerate(sizes(len(x)), start=1):
        eta = float(config.base_learning_rate) * 0.25**i
        average = w.clone()
        for batch in _blocks(first, size):
            block = see(x[batch])
            scores = block.scores(w)
            factors = torch.empty_like(scores)
            for s, label in enumerate(labels[batch]):
                factors[s] = slope(block.score(s, scores[s], factors, eta), label)
            block.move_(average, factors * weights(batch, first, size, x), eta)
            block.move_(w, factors, eta)
            if recorder is not None:
                recorder("samples", step=i, batch=batch, norms=(factors.abs() * block.norms).T)
        noise_std = float(config.noise_over_step) * eta
        w = torch.add(average, drawn(tape.normal("noise", i, width), x), alpha=noise_std)
        if recorder is not None:
            recorder("release", step=i, average=average, noise_std=noise_std, released=w.clone())
        first += size
    return w


twin = Twin(
    lambda data, config, tape, recorder: descended(data, config, tape, _slope(config), recorder),
    entries=lambda data, config, tape: entries(data[0].shape[1]),
    prepare=prepared,
)
twin_projected = Twin(
    lambda data, config, tape, recorder: descended_projected(data, config, tape, _slope(config), recorder),
    entries=lambda data, config, tape: projected_entries(config.projected_dimension, data[0].shape[1]),
    prepare=prepared,
)
