"""SBCD for many models at once: the batched sibling of `sbcd`, on any torch device.

Blocks are [M, outputs, inputs], auxiliary variables [M, n, width]; all models and all records of a batch are updated
together. Per-sample gradients are outer products, whose norms and clipped sums are those of their factors.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import torch

from oracle.algorithms.block_coordinate.sbcd import check_steps, shapes
from oracle.core.algorithm import Values
from oracle.core.tape import Tape
from oracle.core.torch_twin import Twin, drawn


def minimal_x(theta: torch.Tensor, u: torch.Tensor, before: torch.Tensor) -> torch.Tensor:
    """x_d of all records of a batch, [M, b, width]: the least squares of theta x = u and x = before."""
    gram = theta.mT @ theta
    gram.diagonal(dim1=-2, dim2=-1).add_(1.0)
    factor, lost = torch.linalg.cholesky_ex(gram)
    x: torch.Tensor = torch.cholesky_solve((u @ theta + before).mT, factor).mT
    models = lost.nonzero()[:, 0]
    if len(models) > 0:  # whose weights are so long that rounding has lost the 1: they are taken apart, by SVD
        eye = torch.eye(theta.shape[2], dtype=theta.dtype, device=theta.device).expand(len(models), -1, -1)
        inverse = torch.linalg.pinv(torch.cat([theta[models], eye], dim=1))
        x[models] = torch.cat([u, before], dim=2)[models] @ inverse.mT
    return x


def minimal_u(ahead: torch.Tensor, x_next: torch.Tensor) -> torch.Tensor:
    """The minimiser of F over U_d: which of the two half-lines holds it depends on where theta_d x_d (ahead) lies."""
    threshold = torch.where(x_next < 0, -x_next, (1.0 - math.sqrt(2.0)) * x_next)
    return torch.where(ahead <= threshold, ahead.clamp(max=0.0), (ahead + x_next) / 2)


def shortened(theta: torch.Tensor, rho: float) -> torch.Tensor:
    """Every block with its spectral norm cut down to rho."""
    if rho == math.inf:
        return theta
    norms = torch.linalg.matrix_norm(theta, ord=2, keepdim=True)
    return torch.where(norms > rho, theta * (rho / norms), theta)


def proximal(theta: torch.Tensor, eta: float, regulariser: str) -> torch.Tensor:
    """The proximal map of the regulariser."""
    if regulariser == "l2":
        return theta / (1.0 + eta)
    return torch.nn.functional.softshrink(theta, eta) if regulariser == "l1" else theta


def descend(
    data: tuple[torch.Tensor, torch.Tensor], config: Values, tape: Tape, recorder: Any, *, noise: Sequence[float],
    clip_norm: float,
) -> torch.Tensor:
    """Algorithms 1 and 2 for a block of models, [m, parameters]: `noise` has the o of each epoch."""
    inputs, wanted = data
    eta, rho, size = float(config.learning_rate), float(config.spectral_norm), config.batch_size
    theta = [
        drawn(tape.normal("initial", d, out * into), inputs).reshape(-1, out, into) / math.sqrt(into)
        for d, (out, into) in enumerate(shapes(inputs.shape[1], config))
    ]
    last = len(theta) - 1
    x = [inputs.expand(tape.models, -1, -1)]
    u = []
    for block in theta[:-1]:
        u.append(x[-1] @ block.mT)
        x.append(u[-1].clamp(min=0.0))
    u.append(wanted.expand(tape.models, -1, -1))

    update = 0
    for o in noise:
        std = math.sqrt(2.0 * eta * o)
        for start in range(0, len(inputs), size):
            batch = slice(start, start + size)
            for d in range(last + 1):
                if d > 0:
                    x[d][:, batch] = minimal_x(theta[d], u[d][:, batch], u[d - 1][:, batch].clamp(min=0.0))
                here = x[d][:, batch]
                if d < last:
                    u[d][:, batch] = minimal_u(here @ theta[d].mT, x[d + 1][:, batch])
                theta[d] = shortened(theta[d], rho)
                residual = here @ theta[d].mT - u[d][:, batch]
                norms = torch.linalg.vector_norm(residual, dim=-1) * torch.linalg.vector_norm(here, dim=-1)
                factors = torch.where(norms > clip_norm, clip_norm / norms, torch.ones_like(norms))
                total = (residual * factors[..., None]).mT @ here
                if recorder is not None:
                    recorder("samples", step=update, block=d, batch=batch, norms=norms)
                    recorder("update", step=update, block=d, clipped_sum=total, noise_std=std)
                moved = theta[d] - (eta / size) * total
                if std > 0:
                    moved = moved + std * drawn(tape.normal("noise", update, moved[0].numel()), moved).view_as(moved)
                theta[d] = proximal(moved, eta, config.regulariser)
                if clip_norm == math.inf:
                    check_steps(float(theta[d].abs().max()), torch.finfo(inputs.dtype).max ** 0.25, config)
                update += 1
    return torch.cat([block.flatten(1) for block in theta], dim=1)


def _chunk(data: tuple[torch.Tensor, torch.Tensor], config: Values, tape: Tape, recorder: Any) -> torch.Tensor:
    """All blocks of the last iterates of a block of models, [m, parameters]: Algorithm 1."""
    return descend(data, config, tape, recorder, noise=[0.0] * config.epochs, clip_norm=math.inf)


def _targets(x: torch.Tensor, y: torch.Tensor, config: Values, recorder: Any) -> tuple[torch.Tensor, torch.Tensor]:
    """The inputs [n, d] and the targets [n, outputs]: the label itself, or the unit vector of its class."""
    return x, y[:, None] if config.outputs == 1 else torch.nn.functional.one_hot(y.long(), config.outputs).to(x)


def _entries(data: tuple[torch.Tensor, torch.Tensor], config: Values, tape: Tape) -> int:
    sides = [side for shape in shapes(data[0].shape[1], config) for side in shape]
    return max(sides) * max(*sides, len(data[0]))


twin = Twin(_chunk, entries=_entries, prepare=_targets)
