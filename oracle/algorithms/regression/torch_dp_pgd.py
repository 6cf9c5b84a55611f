"""DP-PGD for ReLU regression for many models at once: the batched sibling of `dp_pgd`, on any torch device.

Every model has its own projection [m, d], and no model projects its records: <w, Phi x> = <Phi^T w, x>, so that a step
lifts the iterates, takes two products with the features that all models share, and projects one gradient a model.
"""

from __future__ import annotations

import math
from typing import Any

import torch

from oracle.core.algorithm import Values
from oracle.core.tape import Tape
from oracle.core.torch_twin import Twin, drawn


def _prepared(
    x: torch.Tensor, y: torch.Tensor, config: Values, recorder: Any
) -> tuple[torch.Tensor, torch.Tensor, bool]:
    return x, y, recorder is not None


def _entries(data: tuple[torch.Tensor, torch.Tensor, bool], config: Values, tape: Tape) -> int:
    """A projection, and an entry a record; only a recorder wants the projected records."""
    (records, dimension), rows = data[0].shape, int(config.projected_dimension)
    return max(rows * dimension, records * (rows if data[2] else 1))


def _chunk(
    data: tuple[torch.Tensor, torch.Tensor, bool], config: Values, tape: Tape, recorder: Any
) -> torch.Tensor:
    """The lifted average iterates of a block of models, [m, d]."""
    x, y, _ = data
    eta, sigma, radius = float(config.learning_rate), float(config.noise_on_mean), 2 * float(config.weight_bound)
    records, dimension = x.shape
    rows = config.projected_dimension
    phi = drawn(tape.normal("projection", 0, rows * dimension), x).view(-1, rows, dimension) / math.sqrt(rows)
    w = torch.zeros(tape.models, 1, rows, dtype=x.dtype, device=x.device)
    mean = torch.zeros_like(w)
    for step in range(config.steps):
        mean = mean + w / config.steps
        r = ((w @ phi)[:, 0] @ x.T).relu() - y
        total = (r @ x)[:, None] @ phi.mT
        noise = sigma * drawn(tape.normal("noise", step, rows), x)[:, None]
        if recorder is not None:
            recorder("samples", step=step, norms=r.abs() * torch.linalg.vector_norm(x @ phi.mT, dim=2))
            recorder("update", step=step, clipped_sum=total[:, 0], noise_std=sigma)
        moved = w - eta * (total / records + noise)
        w = moved * (radius / torch.linalg.vector_norm(moved, dim=2, keepdim=True).clamp(min=radius))
    return (mean @ phi)[:, 0]


twin = Twin(_chunk, entries=_entries, prepare=_prepared)
