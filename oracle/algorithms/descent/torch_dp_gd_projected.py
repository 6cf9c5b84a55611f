"""Projected DP-GD for many models at once: the batched sibling of `dp_gd_projected`, on any torch device."""

from __future__ import annotations

from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from oracle.algorithms.descent.dp_gd_projected import check
from oracle.algorithms.shared.torch_glm import drawn, in_chunks, residual
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
    """The average iterates of all the tape's models, shape [M, d], on the device."""
    check(features, labels, config)
    x = torch.as_tensor(features, dtype=dtype, device=device)
    y = torch.as_tensor(labels, dtype=dtype, device=device)
    return in_chunks(tape, max(features.shape), lambda part: _train_chunk(x, y, config, part, recorder), x, recorder)


def _train_chunk(x: torch.Tensor, y: torch.Tensor, config: Values, tape: Tape, recorder: Any) -> torch.Tensor:
    eta, noise_std, radius = (float(v) for v in (config.learning_rate, config.noise_on_mean, config.radius))
    norms = torch.linalg.vector_norm(x, dim=1)
    theta = torch.zeros(tape.models, x.shape[1], dtype=x.dtype, device=x.device)
    mean = torch.zeros_like(theta)
    for step in range(config.steps):
        r = residual(config.loss, theta @ x.T, y)
        total = r @ x
        noise = noise_std * drawn(tape.normal("noise", step, x.shape[1]), x)
        if recorder is not None:
            recorder("samples", step=step, norms=r.abs() * norms)
            recorder("update", step=step, clipped_sum=total, noise_std=noise_std)
        moved = theta - eta * (total / config.dataset_size + noise)
        theta = moved * (radius / torch.linalg.vector_norm(moved, dim=1, keepdim=True).clamp(min=radius))
        mean = mean + theta / config.steps
    return mean
