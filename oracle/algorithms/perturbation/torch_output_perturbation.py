"""Output perturbation for many models at once: one minimiser, which all share, and a noise for each.

The minimiser and the sums are computed on the host in double precision (see `output_perturbation`), then rounded to the
precision and moved to the device asked for.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from oracle.algorithms.perturbation.output_perturbation import certify, check
from oracle.algorithms.shared.torch_glm import drawn, in_chunks
from oracle.algorithms.shared.torch_minimiser import minimise
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
    """The noisy minimisers of all the tape's models, shape [M, d], on the device."""
    check(features, labels, config)
    x, y = (torch.as_tensor(given, dtype=torch.float64) for given in (features, labels))
    scale = float(config.noise_scale)
    theta, distance = minimise(
        x, y, config.loss, float(config.regularisation), torch.zeros_like(x[:1]), float(config.feature_norm)
    )
    certify(float(distance), config)
    if recorder is not None:
        recorder("release", exact=theta[0], distance=float(distance), noise_scale=scale)

    def released(part: Tape) -> torch.Tensor:
        noise = drawn(part.exponential_norm("noise", 0, x.shape[1]), x)
        return (theta + scale * noise).to(device=device, dtype=dtype)

    return in_chunks(tape, x.shape[1], released, x, recorder)
