"""DP-Threshold for many models at once: the batched sibling of `dp_threshold`.

The histograms of all models are one tensor [M, bins]; logarithms find the bins, comparisons with exact powers of two
mend what they round.
"""

from __future__ import annotations

import math
from typing import Any

import torch

from oracle.algorithms.glmtron.dp_threshold import BINS, REACH
from oracle.core.algorithm import Values
from oracle.core.tape import Tape
from oracle.core.torch_twin import Twin, drawn


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


def _scores(x: torch.Tensor, y: torch.Tensor, config: Values, recorder: Any) -> tuple[torch.Tensor, torch.Tensor]:
    """The outputs of the model that all share, [1, m], and the labels."""
    return (x @ x.new_tensor([float(entry) for entry in config.weights]))[None], y


def _chunk(data: tuple[torch.Tensor, torch.Tensor], config: Values, tape: Tape, recorder: Any) -> torch.Tensor:
    """What a call releases for a block of models, [m, 2]."""
    scores, y = data
    speaks, s = thresholds(scores, y, config, tape, 0, recorder)
    return torch.stack([speaks.to(s), torch.where(speaks, s, torch.zeros_like(s))], dim=1)


twin = Twin(_chunk, entries=lambda data, config, tape: max(BINS, len(data[1])), prepare=_scores)
