"""NoisyCGD tuned by a Poisson number of runs, for many models at once: the batched sibling of `tuned_noisy_cgd`.

All runs of all models are one tensor [M, K, d], K the largest number of runs of the chunk's models. The runs that a
model does not have are trained, too, and never chosen: their score is minus infinity, and they come last.
"""

from __future__ import annotations

from typing import Any

import torch

from oracle.algorithms.shared.torch_glm import clipped, residual
from oracle.algorithms.tuning.tuned_noisy_cgd import protected
from oracle.core.algorithm import Values
from oracle.core.tape import Tape
from oracle.core.torch_twin import Twin, drawn


def _entries(data: tuple[torch.Tensor, torch.Tensor], config: Values, tape: Tape) -> int:
    most = int(tape.poisson("runs", 0, float(config.mean_runs)).max())
    return most * int(max(config.batch_size, config.validation_records, data[0].shape[1]))


def _chunk(data: tuple[torch.Tensor, torch.Tensor], config: Values, tape: Tape, recorder: Any) -> torch.Tensor:
    """What the tunings of a block of models release, [m, 1 + d]."""
    x, y = data
    kept = protected(config, x.shape[0])
    runs = torch.as_tensor(tape.poisson("runs", 0, float(config.mean_runs)), device=x.device)
    most = int(runs.max())
    numbers = torch.arange(most, device=x.device)
    theta = _trained(x[:kept], y[:kept], config, tape, most, recorder)
    scores = _scores(theta @ x[kept:].T, y[kept:], config)
    scores = torch.where((numbers < runs[:, None]) & ~scores.isnan(), scores, -torch.inf)
    if most:
        ties = scores == scores.amax(dim=1, keepdim=True)
        chosen = torch.where(ties, numbers, most).amin(dim=1)
        best = theta[torch.arange(tape.models, device=x.device), chosen]
    else:
        chosen, best = torch.zeros_like(runs), torch.zeros(tape.models, x.shape[1], dtype=x.dtype, device=x.device)
    some = (runs > 0).to(x.dtype)[:, None]
    if recorder is not None:
        recorder("release", runs=runs, run=torch.where(runs > 0, chosen, -1))
    return torch.cat([some, torch.where(some > 0, best, torch.zeros_like(best))], dim=1)


def _trained(x: torch.Tensor, y: torch.Tensor, config: Values, tape: Tape, most: int, recorder: Any) -> torch.Tensor:
    """The last iterates of the first `most` runs of every model, shape [M, most, d]."""
    theta = torch.zeros(tape.models, most, x.shape[1], dtype=x.dtype, device=x.device)
    if not most:
        return theta
    sigma, clip_norm, batch_size = float(config.noise_on_mean), float(config.clip_norm), config.batch_size
    candidates = len(config.learning_rates)
    uniform = torch.cat(
        [torch.as_tensor(tape.uniform("candidate", run, 1)) for run in range(most)], dim=1
    )
    index = (uniform * candidates).long().clamp(max=candidates - 1).to(x.device)
    grids = (config.learning_rates, config.regularisations)
    eta, lam = (drawn([float(entry) for entry in grid], x)[index][:, :, None] for grid in grids)
    norms = torch.linalg.vector_norm(x, dim=1)
    step = 0
    for _ in range(config.epochs):
        for start in range(0, x.shape[0], batch_size):
            batch = slice(start, start + batch_size)
            r = residual(config.loss, theta @ x[batch].T, y[batch])
            total = clipped(r, norms[batch], clip_norm) @ x[batch]
            draws = [drawn(tape.normal(f"run {run}/noise", step, x.shape[1]), x) for run in range(most)]
            if recorder is not None:
                recorder("samples", step=step, batch=batch, norms=r.abs() * norms[batch])
                recorder("update", step=step, clipped_sum=total, noise_std=sigma)
            theta = theta - eta * (total / batch_size + lam * theta + sigma * torch.stack(draws, dim=1))
            step += 1
    return theta


def _scores(values: torch.Tensor, y: torch.Tensor, config: Values) -> torch.Tensor:
    """The scores of models with these outputs [M, K, validation] on the public records, shape [M, K]."""
    if config.score == "accuracy":
        return ((values > 0) == (y == 1)).to(values.dtype).mean(dim=2)
    if config.loss == "linear":
        return values.mean(dim=2)
    if config.loss == "squared":
        return -(values - y).square().mean(dim=2) / 2
    return (y * values - torch.logaddexp(values, torch.zeros_like(values))).mean(dim=2)


twin = Twin(_chunk, entries=_entries)
