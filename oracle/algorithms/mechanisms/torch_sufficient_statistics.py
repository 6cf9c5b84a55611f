"""Linear regression from noisy moments for many models at once: four means, which all share, and noise for each."""

from __future__ import annotations

from typing import Any

import torch

from oracle.core.algorithm import Values
from oracle.core.tape import Tape
from oracle.core.torch_twin import Twin, drawn


def _prepare(x: torch.Tensor, y: torch.Tensor, config: Values, recorder: Any) -> torch.Tensor:
    """The four means."""
    x, y = x[:, 0].clamp(0.0, 1.0), y.clamp(0.0, 1.0)
    means = torch.stack([x.square(), x * y, x, y]).mean(dim=1)
    if recorder is not None:
        recorder("samples", step=0, batch=slice(0, len(y)), clipped=torch.stack([x, y], dim=1))
        recorder("release", exact=means, noise_scale=float(config.noise_scale))
    return means


def _chunk(means: torch.Tensor, config: Values, tape: Tape, recorder: Any) -> torch.Tensor:
    """The noisy moments, slopes and intercepts of a block of models, [m, 6]."""
    noisy = means + float(config.noise_scale) * drawn(tape.laplace("noise", 0, 4), means)
    xx, xy, x_mean, y_mean = noisy.unbind(dim=1)
    slope = (xy - x_mean * y_mean) / (xx - x_mean.square()).clamp(min=float(config.variance_floor))
    return torch.cat([noisy, torch.stack([slope, y_mean - slope * x_mean], dim=1)], dim=1)


twin = Twin(_chunk, lambda means, config, tape: 6, _prepare)
