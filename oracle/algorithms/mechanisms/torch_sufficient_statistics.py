"""Linear regression from noisy moments for many models at once: four means, which all share, and noise for each."""

from __future__ import annotations

from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from oracle.algorithms.mechanisms.sufficient_statistics import check
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
    """The noisy moments, slopes and intercepts of all the tape's models, shape [M, 6], on the device."""
    check(features, labels)
    x = torch.as_tensor(features[:, 0], dtype=dtype, device=device).clamp(0.0, 1.0)
    y = torch.as_tensor(labels, dtype=dtype, device=device).clamp(0.0, 1.0)
    means = torch.stack([x.square(), x * y, x, y]).mean(dim=1)
    scale, floor = float(config.noise_scale), float(config.variance_floor)
    if recorder is not None:
        recorder("samples", step=0, batch=slice(0, len(y)), clipped=torch.stack([x, y], dim=1))
        recorder("release", exact=means, noise_scale=scale)

    def released(part: Tape) -> torch.Tensor:
        noisy = means + scale * drawn(part.laplace("noise", 0, 4), means)
        xx, xy, x_mean, y_mean = noisy.unbind(dim=1)
        slope = (xy - x_mean * y_mean) / (xx - x_mean.square()).clamp(min=floor)
        return torch.cat([noisy, torch.stack([slope, y_mean - slope * x_mean], dim=1)], dim=1)

    return in_chunks(tape, 6, released, means, recorder)
