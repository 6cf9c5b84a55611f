"""What the batched trainings of generalised linear models share: per-sample gradients r x, clipped analytically.

|r x| = |r| |x|, so that a step is two matrix products.
"""

from __future__ import annotations

import torch


def residual(loss: str, scores: torch.Tensor, labels: torch.Tensor) -> torch.Tensor:
    """The scalars r of the gradients r x, [M, b] for scores [M, b]."""
    if loss == "linear":
        return -torch.ones_like(scores)
    if loss == "squared":
        return scores - labels
    return torch.sigmoid(scores) - labels


def clipped(r: torch.Tensor, norms: torch.Tensor, clip_norm: float) -> torch.Tensor:
    """The r of the clipped gradients, for feature norms [b]: |r| |x| <= C is -C/|x| <= r <= C/|x|."""
    most = clip_norm / norms
    return r.clamp(-most, most)
