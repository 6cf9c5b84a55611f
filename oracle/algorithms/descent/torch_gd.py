"""Gradient descent from many initial points at once: the batched sibling of `gd`, on any torch device."""

from __future__ import annotations

from typing import Any

import torch

from oracle.algorithms.shared.torch_glm import residual
from oracle.core.algorithm import Values
from oracle.core.tape import Tape
from oracle.core.torch_twin import Twin, drawn


def _chunk(data: tuple[torch.Tensor, torch.Tensor], config: Values, tape: Tape, recorder: Any) -> torch.Tensor:
    """The outputs of a block of models, [m, d]."""
    x, y = data
    norms = torch.linalg.vector_norm(x, dim=1)
    theta = float(config.initial_std) * drawn(tape.normal("initial", 0, x.shape[1]), x)
    mean = torch.zeros_like(theta)
    for step in range(config.steps):
        r = residual(config.loss, theta @ x.T, y)
        total = r @ x
        if recorder is not None:
            recorder("samples", step=step, norms=r.abs() * norms)
            recorder("update", step=step, clipped_sum=total, noise_std=0.0)
        theta = theta - (float(config.learning_rate) / x.shape[0]) * total
        mean = mean + theta / config.steps
    return mean if config.iterate == "average" else theta


twin = Twin(_chunk, entries=lambda data, config, tape: max(data[0].shape))
