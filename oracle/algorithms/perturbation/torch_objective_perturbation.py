"""Objective perturbation for many models at once: Newton's method on all perturbed objectives together."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from oracle.algorithms.perturbation.objective_perturbation import check
from oracle.algorithms.shared.minimiser import CURVATURE
from oracle.algorithms.shared.torch_glm import drawn, in_chunks
from oracle.algorithms.shared.torch_minimiser import minimise
from oracle.core.registry import Values
from oracle.core.tape import Tape

_FACTORS = {"cms11": 2, "sharp": 1, "none": 0}


def _perturbation(config: Values, records: int) -> tuple[float, float]:
    """The scale of b and the ridge, from log(1 + 2 t + t^2) = 2 log(1 + t), in exact rationals up to the logarithm."""
    steep, factor = CURVATURE[config.loss] * config.feature_norm**2, _FACTORS[config.correction]
    remains = float(config.epsilon) - factor * math.log1p(steep / (records * config.regularisation))
    if remains > 0:
        return float(2 * config.feature_norm) / remains, float(config.regularisation)
    ridge = float(steep / records) / math.expm1(config.epsilon / (2 * factor))
    return float(4 * config.feature_norm / config.epsilon), ridge


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
    """The minimisers of all the tape's models, shape [M, d], on the device."""
    check(features, labels, config)
    x = torch.as_tensor(features, dtype=dtype, device=device)
    y = torch.as_tensor(labels, dtype=dtype, device=device)
    scale, ridge = _perturbation(config, len(features))

    def released(part: Tape) -> torch.Tensor:
        tilt = drawn(scale / len(features) * part.exponential_norm("noise", 0, x.shape[1]), x)
        theta, distance = minimise(x, y, config.loss, ridge, tilt, float(config.feature_norm))
        if recorder is not None:
            recorder("release", exact=theta, distance=distance, noise_scale=scale, ridge=ridge)
        return theta

    return in_chunks(tape, max(x.shape[0], x.shape[1] ** 2), released, x, recorder)
