"""Output perturbation for many models at once: one minimiser, which all share, and a noise for each.

The minimiser and the sums are computed on the host in double precision (see `output_perturbation`), then rounded to the
precision and moved to the device asked for.
"""

from __future__ import annotations

from typing import Any

import torch

from oracle.algorithms.shared.torch_minimiser import minimise
from oracle.core.algorithm import Values
from oracle.core.tape import Tape
from oracle.core.torch_twin import Twin, drawn


def _prepare(x: torch.Tensor, y: torch.Tensor, config: Values, recorder: Any) -> torch.Tensor:
    """The minimiser, [1, d]."""
    theta, distance = minimise(
        x, y, config.loss, float(config.regularisation), torch.zeros_like(x[:1]), float(config.feature_norm)
    )
    if recorder is not None:
        recorder("release", exact=theta[0], distance=float(distance), noise_scale=float(config.noise_scale))
    return theta


def _chunk(theta: torch.Tensor, config: Values, tape: Tape, recorder: Any) -> torch.Tensor:
    """The noisy minimisers of a block of models, [m, d]."""
    noise = drawn(tape.exponential_norm("noise", 0, theta.shape[1]), theta)
    return theta + float(config.noise_scale) * noise


twin = Twin(_chunk, lambda theta, config, tape: theta.shape[1], _prepare, double=True)
