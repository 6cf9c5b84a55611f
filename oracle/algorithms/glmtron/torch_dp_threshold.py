"""DP-Threshold for many models at once: the batched sibling of `dp_threshold`.

The histograms of all models are one tensor [M, bins]; logarithms find the bins, comparisons with exact powers of two
mend what they round.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from oracle.algorithms.glmtron.dp_threshold import BINS, REACH, check
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
    """What a call releases for all the tape's models, shape [M, 2], on the device."""
    check(features, labels, config)
    x = torch.as_tensor(features, dtype=dtype, device=device)
    y = torch.as_tensor(labels, dtype=dtype, device=device)
    scores = (x @ x.new_tensor([float(entry) for entry in config.weights]))[None]

    def released(part: Tape) -> torch.Tensor:
        speaks, s = thresholds(scores, y, config, part, 0, recorder)
        return torch.stack([speaks.to(dtype), torch.where(speaks, s, torch.zeros_like(s))], dim=1)

    return in_chunks(tape, max(BINS, features.shape[0]), released, x, recorder)


def thresholds(
    scores: torch.Tensor, y: torch.Tensor, config: Values, tape: Tape, step: int, recorder: Any = None
) -> tuple[torch.Tensor, torch.Tensor]:
    """Whether all histograms speak, and s where they do, both [M], for outputs [M, m], or [1, m] if all share them."""
    scale = float(2 / config.threshold_epsilon)
    lowest = 1 - scale * _log(config.threshold_delta)
    speaks = torch.ones(tape.models, dtype=torch.bool, device=y.device)
    largest = torch.zeros(tape.models, dtype=y.dtype, device=y.device)
    for which, squares in enumerate(((scores - y).square(), y.square()[None], scores.square())):
        means = squares.reshape(squares.shape[0], config.histogram_batches, -1).mean(dim=2)
        numbers = bins(means)
        counts = torch.zeros(means.shape[0], BINS, dtype=y.dtype, device=y.device)
        counts.scatter_add_(1, numbers, torch.ones_like(means))
        noisy = counts + scale * drawn(tape.laplace(f"histogram {which}", step, BINS), y)
        heard, chosen = torch.where(counts > 0, noisy, -torch.inf).max(dim=1)
        spoken = heard > lowest
        if recorder is not None:
            recorder("histograms", step=step, histogram=which, means=means, bin=torch.where(spoken, chosen, -1))
        speaks &= spoken & (chosen < BINS - 1)
        end = torch.exp2((chosen - 1 - REACH).to(y.dtype)) * (chosen > 0)
        largest = torch.maximum(largest, end + float(config.model_variance) if which == 2 else end)
    return speaks, (2 * largest).sqrt()


def _log(number: Any) -> float:
    return math.log(number.numerator) - math.log(number.denominator)


def bins(means: torch.Tensor) -> torch.Tensor:
    """The numbers of the bins of non-negative means; what is no number is beyond all bins."""
    inside = means.nan_to_num(nan=torch.inf).clamp(min=2.0 ** -(REACH + 1), max=2.0**REACH)
    exponent = inside.log2().floor()
    exponent = exponent - (inside < torch.exp2(exponent)).to(means.dtype)
    exponent = exponent + (inside >= torch.exp2(exponent + 1)).to(means.dtype)
    numbers = exponent.to(torch.int64) + 2 + REACH
    return torch.where(means == 0, torch.zeros_like(numbers), numbers)
