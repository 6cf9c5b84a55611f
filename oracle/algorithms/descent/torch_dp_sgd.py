"""DP-SGD for many models at once: the batched sibling of `dp_sgd`, on any torch device.

Every model has its own batch, a mask [M, n]. Gradients are taken for all records, and those not drawn are multiplied by
zero: a step is two matrix products and a few passes over [M, n], at any sampling rate. That is two to three times what
drawing the masks costs, so that little is to be gained by packing small batches.
"""

from __future__ import annotations

from typing import Any

import torch

from oracle.algorithms.shared.torch_glm import clipped, residual
from oracle.core.algorithm import Values
from oracle.core.tape import Tape
from oracle.core.torch_twin import Twin, drawn


def _chunk(data: tuple[torch.Tensor, torch.Tensor], config: Values, tape: Tape, recorder: Any) -> torch.Tensor:
    """The last iterates of a block of models, [m, d]."""
    x, y = data
    eta, lam, clip_norm = (float(v) for v in (config.learning_rate, config.regularisation, config.clip_norm))
    sigma = float(config.noise_on_mean)
    records, dimension = x.shape
    rate = config.batch_size / config.dataset_size
    norms = torch.linalg.vector_norm(x, dim=1)
    theta = torch.zeros(tape.models, dimension, dtype=x.dtype, device=x.device)
    for step in range(config.steps):
        mask = torch.as_tensor(tape.bernoulli("batch", step, records, rate), device=x.device)
        r = residual(config.loss, theta @ x.T, y)
        total = (clipped(r, norms, clip_norm) * mask) @ x
        noise = sigma * drawn(tape.normal("noise", step, dimension), x)
        if recorder is not None:
            recorder("batch", step=step, mask=mask)
            recorder("samples", step=step, mask=mask, norms=r.abs() * norms)
            recorder("update", step=step, clipped_sum=total, noise_std=sigma)
        theta = theta - eta * (total / config.batch_size + lam * theta + noise)
    return theta


twin = Twin(_chunk, entries=lambda data, config, tape: max(data[0].shape))
