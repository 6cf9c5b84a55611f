"""Subsample and aggregate for many models at once: the blocks of all models are one tensor [M, k, m]."""

from __future__ import annotations

from typing import Any

import torch

from oracle.core.algorithm import Values
from oracle.core.tape import Tape
from oracle.core.torch_twin import Twin, drawn


def _estimates(estimator: str, x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
    """The estimates [M, k] of blocks [M, k, m]."""
    if estimator == "mean":
        return y.mean(dim=2)
    if estimator == "median":
        ordered, size = y.sort(dim=2).values, y.shape[2]
        return 0.5 * (ordered[:, :, (size - 1) // 2] + ordered[:, :, size // 2])
    flat = x.amax(dim=2) == x.amin(dim=2)
    power = x.abs().amax(dim=2, keepdim=True).frexp().exponent
    half = torch.div(power, 2, rounding_mode="floor")  # two steps, since 2^-power itself may be no number
    steps = [torch.exp2(-part.to(x.dtype)) for part in (half, power - half)]
    x = x * steps[0] * steps[1]  # no square of what varies underflows then
    centred = x - x.mean(dim=2, keepdim=True)
    spread = centred.square().sum(dim=2)
    # The centred x alone would make the slope, were it not that what rounding leaves of them grows with y.
    slope = (centred * (y - y.mean(dim=2, keepdim=True))).sum(dim=2) / torch.where(flat, 1.0, spread)
    return torch.where(flat, 0.0, slope * steps[0][:, :, 0] * steps[1][:, :, 0])


def _chunk(data: tuple[torch.Tensor, torch.Tensor], config: Values, tape: Tape, recorder: Any) -> torch.Tensor:
    """The noisy means of a block of models, [m, 1]."""
    x, y = data
    if config.order == "given":
        places = torch.arange(len(y), device=y.device)[None]  # all models share the blocks
    else:
        places = torch.as_tensor(tape.permutation("blocks", 0, len(y)), device=y.device)
    blocks = places.reshape(len(places), config.blocks, -1)
    answers = _estimates(config.estimator, x[blocks], y[blocks])
    mean = answers.clamp(float(config.estimate_low), float(config.estimate_high)).mean(dim=1, keepdim=True)
    if recorder is not None:
        recorder("batch", step=0, batch=blocks, estimate=answers)
        recorder("release", exact=mean, noise_scale=float(config.noise_scale))
    return mean + float(config.noise_scale) * drawn(tape.laplace("noise", 0, 1), y)


twin = Twin(
    _chunk,
    entries=lambda data, config, tape: len(data[1]),
    prepare=lambda x, y, config, recorder: (x[:, 0], y),
)
