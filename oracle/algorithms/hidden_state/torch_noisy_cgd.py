"""NoisyGD and NoisyCGD for many models at once: the batched sibling of `noisy_cgd`, on any torch device.

A step is two matrix products (see `torch_glm`).
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
    sigma, batch_size = float(config.noise_on_mean), config.batch_size
    lengths = torch.linalg.vector_norm(x, dim=1)
    theta = torch.zeros(tape.models, x.shape[1], dtype=x.dtype, device=x.device)
    places = [slice(start, start + batch_size) for start in range(0, x.shape[0], batch_size)]
    batches = [(batch, x[batch], y[batch], lengths[batch]) for batch in places]
    for step, (batch, records, labels, norms) in enumerate(batches * config.epochs):
        r = residual(config.loss, theta @ records.T, labels)
        total = clipped(r, norms, clip_norm) @ records
        noise = drawn(tape.normal("noise", step, x.shape[1]), x)
        if recorder is not None:
            recorder("samples", step=step, batch=batch, norms=r.abs() * norms)
            recorder("update", step=step, clipped_sum=total, noise_std=sigma)
        theta.mul_(1 - eta * lam).sub_(total, alpha=eta / batch_size).sub_(noise, alpha=eta * sigma)
    return theta


twin = Twin(_chunk, entries=lambda data, config, tape: max(config.batch_size, data[0].shape[1]))
