"""DP-GLMtron and its baseline DP-SGD for many models at once: the batched sibling of `dp_glmtron`.

Every model has its own order: step t gathers a record a model. Most of the time goes into the noise of the tape.
"""

from __future__ import annotations

import functools
from dataclasses import replace
from typing import Any

import torch

from oracle.algorithms.glmtron.torch_glmtron import clipped, factors
from oracle.core.algorithm import Values
from oracle.core.tape import Tape
from oracle.core.torch_twin import Twin, drawn


def _chunk(
    data: tuple[torch.Tensor, torch.Tensor], config: Values, tape: Tape, recorder: Any, *, indicator: bool = False
) -> torch.Tensor:
    """The average iterates of a block of models, [m, d]."""
    x, y = data
    records, dimension = x.shape
    eta, gamma = float(config.learning_rate), float(config.clip_norm)
    noise_std = 2 * float(config.noise_over_sensitivity) * gamma
    order = torch.as_tensor(tape.permutation("order", 0, records), device=x.device)
    norms = torch.linalg.vector_norm(x, dim=1)
    w = float(config.initial_std) * drawn(tape.normal("initial", 0, dimension), x)
    mean = torch.zeros_like(w)
    for t in range(records):
        mean.add_(w, alpha=1 / records)
        chosen = order[:, t]
        rows = x[chosen]
        r = factors((rows * w).sum(dim=1), y[chosen], indicator=indicator)
        rows *= clipped(r, norms[chosen], gamma, config.clip)[:, None]
        if recorder is not None:
            recorder("samples", step=t, batch=chosen, norms=r.abs() * norms[chosen])
            recorder("update", step=t, clipped_sum=rows.clone(), noise_std=noise_std)
        rows.add_(drawn(tape.normal("noise", t, dimension), x), alpha=noise_std)
        w.sub_(rows, alpha=eta)
    return mean


twin = Twin(_chunk, entries=lambda data, config, tape: max(data[0].shape))
twin_gradient = replace(twin, chunk=functools.partial(_chunk, indicator=True))
