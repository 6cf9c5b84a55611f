"""The multinomial kernel and its features for many records at once: the batched sibling of `multinomial`."""

from __future__ import annotations

from typing import NamedTuple

import torch

from oracle.algorithms.kernels.multinomial import exponents


class Table(NamedTuple):
    """The features of a degree: the exponents [features, inputs], and the roots of the coefficients."""

    degree: int
    exponents: torch.Tensor
    roots: torch.Tensor


def table(inputs: int, degree: int, like: torch.Tensor) -> Table:
    """The features of records that are where and as the tensor is."""
    powers = torch.as_tensor(exponents(inputs, degree).copy())
    # In float64 on the host, for a device that has none: the factorials leave float32 at degree 35.
    double = powers.to(torch.float64)
    logs = torch.lgamma(double.sum(dim=1) + 1) - torch.lgamma(double + 1).sum(dim=1)
    roots = (torch.exp(logs) / (degree + 1)).sqrt()
    return Table(degree, powers.to(like.device), roots.to(like.dtype).to(like.device))


def features(x: torch.Tensor, of: Table) -> torch.Tensor:
    """psi of all records, [n, features] for records [n, d]."""
    result = of.roots.expand(x.shape[0], -1)
    for coordinate in range(x.shape[1]):
        ladder = [torch.ones_like(x[:, coordinate])]
        for _ in range(of.degree):
            ladder.append(ladder[-1] * x[:, coordinate])
        result = result * torch.stack(ladder, dim=1)[:, of.exponents[:, coordinate]]
    return result


def kernel(x: torch.Tensor, other: torch.Tensor, degree: int) -> torch.Tensor:
    """K of all pairs, [n, k] for records [n, d] and [k, d], by Horner's rule."""
    inner = x @ other.T
    result = torch.ones_like(inner)
    for _ in range(degree):
        result = 1 + inner * result
    return result / (degree + 1)
