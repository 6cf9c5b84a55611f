"""DP-GLMtron and its baseline DP-SGD for many models at once: the batched sibling of `dp_glmtron`.

Every model has its own order: step t gathers a record a model. Most of the time goes into the noise of the tape.
"""

from __future__ import annotations

import functools
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from oracle.algorithms.glmtron.dp_glmtron import check
from oracle.algorithms.glmtron.torch_glmtron import clipped, factors
from oracle.algorithms.shared.torch_glm import drawn, in_chunks
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
    indicator: bool = False,
) -> torch.Tensor:
    """The average iterates of all the tape's models, shape [M, d], on the device."""
    check(features, labels)
    x = torch.as_tensor(features, dtype=dtype, device=device)
    y = torch.as_tensor(labels, dtype=dtype, device=device)
    return in_chunks(
        tape, max(features.shape), lambda part: _train_chunk(x, y, config, part, recorder, indicator), x, recorder
    )


train_gradient = functools.partial(train, indicator=True)


def _train_chunk(
    x: torch.Tensor, y: torch.Tensor, config: Values, tape: Tape, recorder: Any, indicator: bool
) -> torch.Tensor:
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
