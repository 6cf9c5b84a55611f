"""DP-PGD for ReLU regression for many models at once: the batched sibling of `dp_pgd`, on any torch device.

Every model has its own projection [m, d], and no model projects its records: <w, Phi x> = <Phi^T w, x>, so that a step
lifts the iterates, takes two products with the features that all models share, and projects one gradient a model.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from oracle.algorithms.regression.dp_pgd import check
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
) -> torch.Tensor:
    """The lifted average iterates of all the tape's models, shape [M, d], on the device."""
    check(features, labels, config)
    x = torch.as_tensor(features, dtype=dtype, device=device)
    y = torch.as_tensor(labels, dtype=dtype, device=device)
    rows = config.projected_dimension
    entries = max(rows * features.shape[1], features.shape[0] * (1 if recorder is None else rows))
    return in_chunks(tape, entries, lambda part: _train_chunk(x, y, config, part, recorder), x, recorder)


def _train_chunk(x: torch.Tensor, y: torch.Tensor, config: Values, tape: Tape, recorder: Any) -> torch.Tensor:
    eta, sigma, radius = float(config.learning_rate), float(config.noise_on_mean), 2 * float(config.weight_bound)
    records, dimension = x.shape
    rows = config.projected_dimension
    phi = drawn(tape.normal("projection", 0, rows * dimension), x).view(-1, rows, dimension) / math.sqrt(rows)
    w = torch.zeros(tape.models, 1, rows, dtype=x.dtype, device=x.device)
    mean = torch.zeros_like(w)
    for step in range(config.steps):
        mean = mean + w / config.steps
        r = ((w @ phi)[:, 0] @ x.T).relu() - y
        total = (r @ x)[:, None] @ phi.mT
        noise = sigma * drawn(tape.normal("noise", step, rows), x)[:, None]
        if recorder is not None:
            recorder("samples", step=step, norms=r.abs() * torch.linalg.vector_norm(x @ phi.mT, dim=2))
            recorder("update", step=step, clipped_sum=total[:, 0], noise_std=sigma)
        moved = w - eta * (total / records + noise)
        w = moved * (radius / torch.linalg.vector_norm(moved, dim=2, keepdim=True).clamp(min=radius))
    return (mean @ phi)[:, 0]
