"""Objective perturbation for many models at once: Newton's method on all perturbed objectives together."""

from __future__ import annotations

import math
from typing import Any

import torch

from oracle.algorithms.shared.minimiser import CURVATURE
from oracle.algorithms.shared.torch_minimiser import minimise
from oracle.core.algorithm import Values
from oracle.core.tape import Tape
from oracle.core.torch_twin import Twin, drawn

_FACTORS = {"cms11": 2, "sharp": 1, "none": 0}


def _perturbation(config: Values, records: int) -> tuple[float, float]:
    """The scale of b and the ridge, from log(1 + 2 t + t^2) = 2 log(1 + t), in exact rationals up to the logarithm."""
    steep, factor = CURVATURE[config.loss] * config.feature_norm**2, _FACTORS[config.correction]
    remains = float(config.epsilon) - factor * math.log1p(steep / (records * config.regularisation))
    if remains > 0:
        return float(2 * config.feature_norm) / remains, float(config.regularisation)
    ridge = float(steep / records) / math.expm1(config.epsilon / (2 * factor))
    return float(4 * config.feature_norm / config.epsilon), ridge


Data = tuple[torch.Tensor, torch.Tensor, float, float]


def _prepare(x: torch.Tensor, y: torch.Tensor, config: Values, recorder: Any) -> Data:
    return x, y, *_perturbation(config, len(x))


def _chunk(data: Data, config: Values, tape: Tape, recorder: Any) -> torch.Tensor:
    """The minimisers of a block of models, [m, d]."""
    x, y, scale, ridge = data
    tilt = drawn(scale / len(x) * tape.exponential_norm("noise", 0, x.shape[1]), x)
    theta, distance = minimise(x, y, config.loss, ridge, tilt, float(config.feature_norm))
    if recorder is not None:
        recorder("release", exact=theta, distance=distance, noise_scale=scale, ridge=ridge)
    return theta


twin = Twin(_chunk, lambda data, config, tape: max(len(data[0]), data[0].shape[1] ** 2), _prepare)
