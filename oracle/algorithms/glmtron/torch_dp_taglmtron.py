"""DP-TAGLMtron and its baseline DP-FTRL for many models at once: the batched sibling of `dp_taglmtron`.

All models see the same record at a step; a step costs one matrix-vector product and the noise of one node a model.
"""

from __future__ import annotations

import functools
from dataclasses import replace
from typing import Any

import torch

from oracle.algorithms.glmtron.torch_glmtron import clipped, factors
from oracle.algorithms.glmtron.torch_tree import PrefixNoise
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


twin = Twin(_chunk, entries=lambda data, config, tape: int(data[0].shape[1]))
twin_gradient = replace(twin, chunk=functools.partial(_chunk, indicator=True))
