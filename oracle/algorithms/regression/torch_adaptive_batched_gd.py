"""Adaptive DP batched gradient descent for many models at once: the sibling of `adaptive_batched_gd`, on any device."""

from __future__ import annotations

from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from oracle.algorithms.regression.adaptive_batched_gd import check
from oracle.algorithms.shared.torch_glm import drawn, in_chunks
from oracle.core.registry import Values
from oracle.core.tape import Tape


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
    """The last iterates of all the tape's models, shape [M, d], on the device."""
    check(features, labels, config)
    x = torch.as_tensor(features, dtype=dtype, device=device)
    y = torch.as_tensor(labels, dtype=dtype, device=device)
    entries = max(config.batch_size, features.shape[1])
    return in_chunks(tape, entries, lambda part: _train_chunk(x, y, config, part, recorder), x, recorder)


def _noise_std(config: Values, w: torch.Tensor) -> torch.Tensor:
    """The noise of the next step, [M, 1]."""
    lengths: torch.Tensor = torch.linalg.vector_norm(w, dim=1, keepdim=True)
    r, bound = float(config.feature_norm), float(config.label_bound)
    scale = float(config.noise_over_sensitivity) / float(config.batch_size)
    if config.noise_formula == "exact":
        return (lengths * r**2 + 2 * r * bound) * scale
    printed = (lengths * r + bound) * (2 * scale)
    return printed if config.noise_formula == "printed-variance" else printed.square()


def _train_chunk(x: torch.Tensor, y: torch.Tensor, config: Values, tape: Tape, recorder: Any) -> torch.Tensor:
    eta = float(config.learning_rate)
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
    return w
