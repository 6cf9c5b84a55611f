"""NoisyGD and NoisyCGD for many models at once: the batched sibling of `noisy_cgd`, on any torch device.

A step is two matrix products (see `torch_glm`).
"""

from __future__ import annotations

from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from oracle.algorithms.hidden_state.noisy_cgd import check
from oracle.algorithms.shared.torch_glm import clipped, drawn, in_chunks, residual
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


def _train_chunk(x: torch.Tensor, y: torch.Tensor, config: Values, tape: Tape, recorder: Any) -> torch.Tensor:
    eta, lam, sigma, clip_norm = (float(v) for v in (config.learning_rate, config.regularisation, config.noise_on_mean, config.clip_norm))
    batch_size = config.batch_size
    norms = torch.linalg.vector_norm(x, dim=1)
    theta = torch.zeros(tape.models, x.shape[1], dtype=x.dtype, device=x.device)
    step = 0
    for _ in range(config.epochs):
        for start in range(0, x.shape[0], batch_size):
            batch = slice(start, start + batch_size)
            r = residual(config.loss, theta @ x[batch].T, y[batch])
            total = clipped(r, norms[batch], clip_norm) @ x[batch]
            noise = sigma * drawn(tape.normal("noise", step, x.shape[1]), x)
            if recorder is not None:
                recorder("samples", step=step, batch=batch, norms=r.abs() * norms[batch])
                recorder("update", step=step, clipped_sum=total, noise_std=sigma)
            theta = theta - eta * (total / batch_size + lam * theta + noise)
            step += 1
    return theta
