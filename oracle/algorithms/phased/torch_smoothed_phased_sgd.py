"""Phased SGD with a smoothed loss for many models at once: the batched sibling of `smoothed_phased_sgd`."""

from __future__ import annotations

from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from oracle.algorithms.phased import torch_moreau
from oracle.algorithms.phased.phased_sgd import LONGEST
from oracle.algorithms.phased.torch_phased_sgd import Slope, descended, descended_projected, prepared
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
    """The w_k of all the tape's models by Algorithm 5, shape [M, d], on the device."""
    x = prepared(features, labels, config, device=device, dtype=dtype)
    return descended(x, labels, config, tape, _slope(config, projected=False), recorder)


def train_projected(
    features: NDArray[np.float64],
    labels: NDArray[np.float64],
    config: Values,
    tape: Tape,
    *,
    device: str | torch.device = "cpu",
    dtype: torch.dtype = torch.float64,
    recorder: Any = None,
) -> torch.Tensor:
    """The Phi^T w_k of all the tape's models by Algorithm 6, shape [M, d], on the device."""
    x = prepared(features, labels, config, device=device, dtype=dtype)
    return descended_projected(x, labels, config, tape, _slope(config, projected=True), recorder)


def _slope(config: Values, *, projected: bool) -> Slope:
    return lambda scores, label: torch_moreau.derivative(config, scores, label, LONGEST[projected])
