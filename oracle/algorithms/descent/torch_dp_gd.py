"""DP-GD for many models at once: the batched sibling of `dp_gd`, on any torch device."""

from __future__ import annotations

from typing import Any

import torch

from oracle.algorithms.shared.torch_glm import clipped, residual
from oracle.core.algorithm import Values
from oracle.core.tape import Tape
from oracle.core.torch_twin import Twin, drawn


def _chunk(data: tuple[torch.Tensor, torch.Tensor], config: Values, tape: Tape, recorder: Any) -> torch.Tensor:
    """The average iterates of a block of models, [m, d]."""
    x, y = data
    eta, clip_norm, sigma = (float(v) for v in (config.learning_rate, config.clip_norm, config.noise_on_mean))
    norms = torch.linalg.vector_norm(x, dim=1)
    theta = torch.zeros(tape.models, x.shape[1], dtype=x.dtype, device=x.device)
    mean = torch.zeros_like(theta)
    for step in range(config.steps):
        r = residual(config.loss, theta @ x.T, y)
        total = clipped(r, norms, clip_norm) @ x
        noise = sigma * drawn(tape.normal("noise", step, x.shape[1]), x)
        if recorder is not None:
            recorder("samples", step=step, norms=r.abs() * norms)
            recorder("update", step=step, clipped_sum=total, noise_std=sigma)
        theta = theta - eta * (total / config.dataset_size + noise)
        mean = mean + theta / config.steps
    return mean


twin = Twin(_chunk, entries=lambda data, config, tape: max(data[0].shape))
