"""DP-SGD for many models at once: the batched sibling of `dp_sgd`, on any torch device.

Every model has its own batch, a mask [M, n]. Gradients are taken for all records, and those not drawn are multiplied by
zero: a step is two matrix products and a few passes over [M, n], at any sampling rate. That is two to three times what
drawing the masks costs, so that little is to be gained by packing small batches.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from oracle.algorithms.descent.dp_sgd import check
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
    return in_chunks(tape, max(features.shape), lambda part: _train_chunk(x, y, config, part, recorder), x, recorder)


def _train_chunk(x: torch.Tensor, y: torch.Tensor, config: Values, tape: Tape, recorder: Any) -> torch.Tensor:
    eta, lam, clip_norm, noise_std = (float(v) for v in (config.learning_rate, config.regularisation, config.clip_norm, config.noise_on_mean))
    records, dimension = x.shape
    rate = config.batch_size / config.dataset_size
    norms = torch.linalg.vector_norm(x, dim=1)
    theta = torch.zeros(tape.models, dimension, dtype=x.dtype, device=x.device)
    for step in range(config.steps):
        mask = torch.as_tensor(tape.bernoulli("batch", step, records, rate), device=x.device)
        r = residual(config.loss, theta @ x.T, y)
        total = (clipped(r, norms, clip_norm) * mask) @ x
        noise = noise_std * drawn(tape.normal("noise", step, dimension), x)
        if recorder is not None:
            recorder("batch", step=step, mask=mask)
            recorder("samples", step=step, mask=mask, norms=r.abs() * norms)
            recorder("update", step=step, clipped_sum=total, noise_std=noise_std)
        theta = theta - eta * (total / config.batch_size + lam * theta + noise)
    return theta
