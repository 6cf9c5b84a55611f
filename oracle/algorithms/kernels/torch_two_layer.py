"""Phased SGD on multinomial features for many models at once: the batched sibling of `two_layer`, on any torch device.

Features are formed a block of records at a time, so that their memory does not grow with the number of records; the
rest is `torch_phased_sgd`.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from oracle.algorithms.kernels import multinomial, torch_multinomial
from oracle.algorithms.kernels.two_layer import check, from_zero
from oracle.algorithms.phased.torch_phased_sgd import Lifted, Slope, descended, descended_projected
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
    """The last releases of all the tape's models, shape [M, features], on the device."""
    check(features, labels, config)
    x = torch.as_tensor(features, dtype=dtype, device=device)
    return descended(x, labels, from_zero(config), tape, _slope(config), recorder, _lifted(x, config))


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
    """The same on projected features, one projection a model, lifted back to shape [M, features]."""
    check(features, labels, config)
    x = torch.as_tensor(features, dtype=dtype, device=device)
    return descended_projected(x, labels, from_zero(config), tape, _slope(config), recorder, _lifted(x, config))


def link(name: str, scores: torch.Tensor) -> torch.Tensor:
    """The link at scores of any shape."""
    if name == "constant":
        return torch.ones_like(scores)
    return scores.clamp(0.0, 1.0) if name == "clip" else torch.sigmoid(scores)


def _slope(config: Values) -> Slope:
    return lambda scores, label: link(config.link, scores) - label


def _lifted(x: torch.Tensor, config: Values) -> Lifted:
    size = multinomial.size(x.shape[1], config.degree)
    return lambda block: torch_multinomial.features(block, config.degree), size
