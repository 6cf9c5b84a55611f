"""Adaptive DP batched gradient descent for many models at once: the sibling of `adaptive_batched_gd`, on any device."""

from __future__ import annotations

from typing import Any

import torch

from oracle.core.algorithm import Values
from oracle.core.records import FARTHEST
from oracle.core.tape import Tape
from oracle.core.torch_twin import Twin, drawn


def _noise_std(config: Values, w: torch.Tensor) -> torch.Tensor:
    """The noise of the next step, [M, 1]."""
    lengths: torch.Tensor = torch.linalg.vector_norm(w, dim=1, keepdim=True)
    r, bound = float(config.feature_norm), float(config.label_bound)
    scale = float(config.noise_over_sensitivity) / float(config.batch_size)
    if config.noise_formula == "exact":
        return (lengths * r**2 + 2 * r * bound) * scale
    printed = (lengths * r + bound) * (2 * scale)
    return printed if config.noise_formula == "printed-variance" else printed.square()


def _chunk(data: tuple[torch.Tensor, torch.Tensor], config: Values, tape: Tape, recorder: Any) -> torch.Tensor:
    """The last iterates of a block of models, [m, d]."""
    x, y = data
    eta, far = float(config.learning_rate), FARTHEST[x.dtype == torch.float32]
    norms = torch.linalg.vector_norm(x, dim=1)
    w = torch.zeros(tape.models, x.shape[1], dtype=x.dtype, device=x.device)
    for step in range(len(x) // config.batch_size):
        batch = slice(step * config.batch_size, (step + 1) * config.batch_size)
        r = (w @ x[batch].T).relu() - y[batch]
        total = r @ x[batch]
        std = _noise_std(config, w)
        if recorder is not None:
            recorder("samples", step=step, batch=batch, norms=r.abs() * norms[batch])
            recorder("update", step=step, clipped_sum=total, noise_std=std[:, 0])
        w = w - eta * (total / config.batch_size + std * drawn(tape.normal("noise", step, x.shape[1]), x))
        w.clamp_(-far, far)
    return w


twin = Twin(_chunk, entries=lambda data, config, tape: max(config.batch_size, data[0].shape[1]))
