"""The multinomial kernel and its features for many records at once: the batched sibling of `multinomial`."""

from __future__ import annotations

import torch

from oracle.algorithms.kernels.multinomial import exponents


def features(x: torch.Tensor, degree: int) -> torch.Tensor:
    """psi of all records, [n, features] for records [n, d]."""
    table = torch.as_tensor(exponents(x.shape[1], degree).copy())
    # In float64 on the host, for a device that has none: the factorials leave float32 at degree 35.
    powers = table.to(torch.float64)
    logs = torch.lgamma(powers.sum(dim=1) + 1) - torch.lgamma(powers + 1).sum(dim=1)
    result = (torch.exp(logs) / (degree + 1)).sqrt().to(x.dtype).to(x.device).expand(x.shape[0], -1)
    table = table.to(x.device)
    for coordinate in range(x.shape[1]):
        ladder = [torch.ones_like(x[:, coordinate])]
        for _ in range(degree):
            ladder.append(ladder[-1] * x[:, coordinate])
        result = result * torch.stack(ladder, dim=1)[:, table[:, coordinate]]
    return result


def kernel(x: torch.Tensor, other: torch.Tensor, degree: int) -> torch.Tensor:
    """K of all pairs, [n, k] for records [n, d] and [k, d], by Horner's rule."""
    inner = x @ other.T
    result = torch.ones_like(inner)
    for _ in range(degree):
        result = 1 + inner * result
    return result / (degree + 1)
