"""NoisyCGD on the convex ReLU model for many models at once: the batched sibling of `convex_relu`, on any torch device.

The wide features of the literal text are never built: with the activations 1(u_i^T x_j >= 0) as an array [M, P, n], a
step is two matrix products of the weights [M, k, P, d] with the batch, and |gradient| = |r| sqrt(active) |x|.
"""

from __future__ import annotations

import math
from typing import Any

import torch

from oracle.core.algorithm import Values
from oracle.core.tape import Tape
from oracle.core.torch_twin import Twin, drawn

Data = tuple[torch.Tensor, torch.Tensor]


def _prepared(x: torch.Tensor, y: torch.Tensor, config: Values, recorder: Any) -> Data:
    if config.outputs > 1:  # the unit vectors of the classes
        y = (y == torch.arange(config.outputs, dtype=x.dtype, device=x.device)[:, None]).to(x.dtype)
    return x, y


def _entries(data: Data, config: Values, tape: Tape) -> int:
    records, dimension = data[0].shape
    return int(config.hyperplanes * max(records, config.outputs * max(config.batch_size, dimension)))


def hyperplanes(config: Values, tape: Tape, like: torch.Tensor) -> torch.Tensor:
    """The normals of all the tape's models for features like these, shape [M, P, d]."""
    shape = (tape.models, config.hyperplanes, like.shape[-1])
    return drawn(tape.normal("hyperplanes", 0, math.prod(shape[1:])), like).reshape(shape)


def active(x: torch.Tensor, u: torch.Tensor) -> torch.Tensor:
    """1(u_i^T x_j >= 0) as numbers, shape [M, P, n] for features [n, d] and hyperplanes [M, P, d]."""
    return (u @ x.T >= 0).to(x.dtype)


def predict(x: torch.Tensor, u: torch.Tensor, v: torch.Tensor) -> torch.Tensor:
    """The inference model of every model at every x, shape [M, k, n]."""
    return _outputs(x, active(x, u), v)


def _outputs(x: torch.Tensor, gates: torch.Tensor, v: torch.Tensor) -> torch.Tensor:
    return ((v @ x.T) * gates[:, None]).sum(dim=2)


def residual(loss: str, outputs: torch.Tensor, target: torch.Tensor) -> torch.Tensor:
    """The derivatives of the losses in the outputs, both [M, k, b]."""
    if loss == "squared":
        return outputs - target
    return (torch.sigmoid(outputs) if loss == "logistic" else torch.softmax(outputs, dim=1)) - target


def _chunk(data: Data, config: Values, tape: Tape, recorder: Any) -> torch.Tensor:
    """The last iterates of a block of models, [m, k, P, d]."""
    x, y = data
    eta, lam, clip_norm = (float(v) for v in (config.learning_rate, config.regularisation, config.clip_norm))
    sigma = float(config.noise_on_mean)
    jointly = config.clipping == "record"
    limit = clip_norm if jointly else clip_norm / math.sqrt(config.outputs)
    gates = active(x, hyperplanes(config, tape, x))
    lengths = torch.linalg.vector_norm(x, dim=1) * gates.sum(dim=1).sqrt()
    shape = (tape.models, config.outputs, config.hyperplanes, x.shape[1])
    v = torch.zeros(shape, dtype=x.dtype, device=x.device)
    step = 0
    for _ in range(config.epochs):
        for start in range(0, x.shape[0], config.batch_size):
            batch = slice(start, start + config.batch_size)
            r = residual(config.loss, _outputs(x[batch], gates[:, :, batch], v), y[..., batch])
            long = torch.linalg.vector_norm(r, dim=1, keepdim=True)
            parts = (long if jointly else r.abs()) * lengths[:, None, batch]
            r = r * torch.where(parts > limit, limit / parts, torch.ones_like(parts))
            total = (r[:, :, None] * gates[:, None, :, batch]) @ x[batch]
            noise = sigma * drawn(tape.normal("noise", step, math.prod(shape[1:])), x).reshape(shape)
            if recorder is not None:
                recorder("samples", step=step, batch=batch, norms=long[:, 0] * lengths[:, batch])
                recorder("update", step=step, clipped_sum=total, noise_std=sigma)
            v = v - eta * (total / config.batch_size + lam * v + noise)
            step += 1
    return v


twin = Twin(_chunk, entries=_entries, prepare=_prepared)
