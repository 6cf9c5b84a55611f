"""Projected DP-GD for many models at once: the batched sibling of `dp_gd_projected`, on any torch device."""

from __future__ import annotations

from typing import Any

import torch

from oracle.algorithms.shared.torch_glm import residual
from oracle.core.algorithm import Values
from oracle.core.tape import Tape
from oracle.core.torch_twin import Twin, drawn


def _chunk(data: tuple[torch.Tensor, torch.Tensor], config: Values, tape: Tape, recorder: Any) -> torch.Tensor:
    """The average iterates of a block of models, [m, d]."""
    x, y = data
    eta, sigma, radius = (float(v) for v in (config.learning_rate, config.noise_on_mean, config.radius))
    norms = torch.linalg.vector_norm(x, dim=1)
    theta = torch.zeros(tape.models, x.shape[1], dtype=x.dtype, device=x.device)
    mean = torch.zeros_like(theta)
    for step in range(config.steps):
        r = residual(config.loss, theta @ x.T, y)
        total = r @ x
        noise = sigma * drawn(tape.normal("noise", step, x.shape[1]), x)
        if recorder is not None:
            recorder("samples", step=step, norms=r.abs() * norms)
            recorder("update", step=step, clipped_sum=total, noise_std=sigma)
        moved = theta - eta * (total / config.dataset_size + noise)
        theta = moved * (radius / torch.linalg.vector_norm(moved, dim=1, keepdim=True).clamp(min=radius))
        mean = mean + theta / config.steps
    return mean


twin = Twin(_chunk, entries=lambda data, config, tape: max(data[0].shape))
