"""What the batched trainings of ReLU regression share: the clipped vectors of a record a model, as factors of x.

A record's vector is r x with a scalar r, so that |r x| = |r| |x| and clipping is a factor of r.
"""

from __future__ import annotations

import torch

from oracle.algorithms.glmtron.glmtron import PRINTED_MAX


def factors(scores: torch.Tensor, y: torch.Tensor, *, indicator: bool) -> torch.Tensor:
    """The r of the vectors r x, [M] for scores <x, w> [M], before clipping."""
    r = torch.relu(scores) - y
    return torch.where(scores > 0, r, torch.zeros_like(r)) if indicator else r


def clipped(
    r: torch.Tensor, norms: torch.Tensor, clip_norm: float | torch.Tensor, clip: str
) -> torch.Tensor:
    """The r of the clipped vectors, for norms |x| [M] and one clipping norm, or one a model."""
    length = r.abs() * norms
    scale = clip_norm / torch.where(length > 0, length, torch.ones_like(length))
    scale = scale.clamp(min=1.0) if clip == PRINTED_MAX else scale.clamp(max=1.0)
    return torch.where(length > 0, r * scale, torch.zeros_like(r))
