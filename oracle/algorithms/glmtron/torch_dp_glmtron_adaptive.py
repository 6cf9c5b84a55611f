"""DP-GLMtron with thresholds from DP-Threshold for many models at once: the sibling of `dp_glmtron_adaptive`.

Every model has its own order and its own clipping norm; a step's thresholds are one matrix product [M, m].
"""

from __future__ import annotations

from typing import Any

import torch

from oracle.algorithms.glmtron.dp_threshold import BINS
from oracle.algorithms.glmtron.torch_dp_threshold import thresholds
from oracle.algorithms.glmtron.torch_glmtron import clipped, factors
from oracle.core.algorithm import Values
from oracle.core.records import FARTHEST
from oracle.core.tape import Tape
from oracle.core.torch_twin import Twin, drawn


def _chunk(data: tuple[torch.Tensor, torch.Tensor], config: Values, tape: Tape, recorder: Any) -> torch.Tensor:
    """The average iterates of a block of models, [m, d]."""
    x, y = data
    records, dimension = len(x) - config.threshold_records, x.shape[1]
    eta, far = float(config.learning_rate), FARTHEST[x.dtype == torch.float32]
    order = torch.as_tensor(tape.permutation("order", 0, records), device=x.device)
    norms = torch.linalg.vector_norm(x, dim=1)
    others = x[records:].T
    w = float(config.initial_std) * drawn(tape.normal("initial", 0, dimension), x)
    gamma = torch.full_like(w[:, 0], float(config.clip_norm))
    mean = torch.zeros_like(w)
    for t in range(records):
        mean.add_(w, alpha=1 / records)
        speaks, s = thresholds(w @ others, y[records:], config, tape, t, recorder)
        gamma = torch.where(speaks, float(config.threshold_scale) * s, gamma)
        chosen = order[:, t]
        rows = x[chosen]
        r = factors((rows * w).sum(dim=1), y[chosen], indicator=False)
        rows *= clipped(r, norms[chosen], gamma, config.clip)[:, None]
        noise_std = 2 * float(config.noise_over_sensitivity) * gamma
        if recorder is not None:
            recorder("samples", step=t, batch=chosen, norms=r.abs() * norms[chosen])
            recorder("update", step=t, clipped_sum=rows.clone(), noise_std=noise_std)
        rows.addcmul_(drawn(tape.normal("noise", t, dimension), x), noise_std[:, None])
        w.sub_(rows, alpha=eta).clamp_(-far, far)
    return mean


twin = Twin(_chunk, entries=lambda data, config, tape: max(*data[0].shape, BINS))
