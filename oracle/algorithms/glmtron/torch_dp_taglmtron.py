"""DP-TAGLMtron and its baseline DP-FTRL for many models at once: the batched sibling of `dp_taglmtron`.

All models see the same record at a step; a step costs one matrix-vector product and the noise of one node a model.
"""

from __future__ import annotations

import functools
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from oracle.algorithms.glmtron.dp_glmtron import check
from oracle.algorithms.glmtron.torch_glmtron import clipped, factors
from oracle.algorithms.glmtron.torch_tree import PrefixNoise
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
        tape, features.shape[1], lambda part: _train_chunk(x, y, config, part, recorder, indicator), x, recorder
    )


train_gradient = functools.partial(train, indicator=True)


def _train_chunk(
    x: torch.Tensor, y: torch.Tensor, config: Values, tape: Tape, recorder: Any, indicator: bool
) -> torch.Tensor:
    records, dimension = x.shape
    eta, gamma = float(config.learning_rate), float(config.clip_norm)
    noise_std = float(config.noise_multiplier) * gamma
    norms = torch.linalg.vector_norm(x, dim=1)
    noise = PrefixNoise()
    start = float(config.initial_std) * drawn(tape.normal("initial", 0, dimension), x)
    moved = start.clone()  # the initial point and the steps so far, without noise
    w = start.clone()
    mean = torch.zeros_like(w)
    for t in range(records):
        r = factors(w @ x[t], y[t], indicator=indicator)
        leaves = clipped(r, norms[t], gamma, config.clip)[:, None] * x[t]
        if recorder is not None:
            recorder("samples", step=t, batch=slice(t, t + 1), norms=(r.abs() * norms[t])[:, None])
            recorder("update", step=t, clipped_sum=leaves, noise_std=noise_std)
        moved.sub_(leaves, alpha=eta)
        prefix = noise.add(drawn(tape.normal("node", t, dimension), x))
        torch.sub(moved, prefix, alpha=eta * noise_std, out=w)
        mean.add_(w, alpha=1 / records)
    return mean
