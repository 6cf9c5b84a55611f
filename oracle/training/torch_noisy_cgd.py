"""NoisyGD and NoisyCGD for many models at once: the batched sibling of `noisy_cgd`, on any torch device.

One tensor theta[M, d]; the per-sample gradients r x of a GLM are clipped analytically (|r x| = |r| |x|), so a step is
two matrix products. Memory is bounded by splitting the models into chunks; the tape makes the split invisible.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from oracle.registry import Values
from oracle.tape import Tape
from oracle.training.noisy_cgd import check_data

_CHUNK_ELEMENTS = 1 << 24  # largest [models, batch] or [models, dimension] tensor held at once


def _residual(loss: str, scores: torch.Tensor, labels: torch.Tensor) -> torch.Tensor:
    if loss == "linear":
        return -torch.ones_like(scores)
    if loss == "squared":
        return scores - labels
    return torch.sigmoid(scores) - labels


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
    check_data(features, labels, config)
    widest = max(config.batch_size, features.shape[1])
    chunk = max(1, _CHUNK_ELEMENTS // widest)
    x = torch.as_tensor(features, dtype=dtype, device=device)
    y = torch.as_tensor(labels, dtype=dtype, device=device)
    parts = [
        _train_chunk(x, y, config, tape.block(first, min(chunk, tape.models - first)), recorder)
        for first in range(0, tape.models, chunk)
    ]
    return torch.cat(parts)


def _train_chunk(x: torch.Tensor, y: torch.Tensor, config: Values, tape: Tape, recorder: Any) -> torch.Tensor:
    eta, lam, sigma, clip_norm = (float(v) for v in (config.eta, config.lam, config.sigma, config.clip_norm))
    batch_size = config.batch_size
    norms = torch.linalg.vector_norm(x, dim=1)
    theta = torch.zeros(tape.models, x.shape[1], dtype=x.dtype, device=x.device)
    step = 0
    for _ in range(config.epochs):
        for start in range(0, x.shape[0], batch_size):
            batch = slice(start, start + batch_size)
            r = _residual(config.loss, theta @ x[batch].T, y[batch])
            norm = r.abs() * norms[batch]
            scale = torch.where(norm > clip_norm, clip_norm / norm, torch.ones_like(norm))
            total = (r * scale) @ x[batch]
            noise = sigma * torch.as_tensor(tape.normal("noise", step, x.shape[1]), dtype=x.dtype, device=x.device)
            if recorder is not None:
                recorder("samples", step=step, batch=batch, norms=norm)
                recorder("update", step=step, clipped_sum=total, noise_std=sigma)
            theta = theta - eta * (total / batch_size + lam * theta + noise)
            step += 1
    return theta
