"""The links of `links` on tensors."""

from __future__ import annotations

import torch

from oracle.core.torch_twin import tanh_


def value(link: str, scores: torch.Tensor, bound: float) -> torch.Tensor:
    """The link at every score."""
    if link == "tanh":
        return tanh_(scores.clone()) * bound
    if link == "sigmoid":
        return torch.sigmoid(scores) * bound
    if link == "clip":
        return scores.clamp(-bound, bound)
    return torch.full_like(scores, bound) if link == "constant" else torch.sign(scores) * bound
