"""DP-SBCD for many models at once: the batched sibling of `dp_sbcd`, on any torch device (see `torch_sbcd`)."""

from __future__ import annotations

from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from oracle.algorithms.block_coordinate.torch_sbcd import descend, prepared
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
    """All blocks of the last iterates of all the tape's models, shape [M, parameters], on the device."""
    data = prepared(features, labels, config, dtype=dtype, device=device)
    noise = [float(entry) for entry in config.noise_variances]
    return descend(*data, config, tape, noise=noise, clip_norm=float(config.clip_norm), recorder=recorder)
