"""Newton's method for many regularised risks that differ by a linear term: the batched sibling of `minimiser`.

The scores of all models are one product [M, n], their Hessians another, with the outer products of the features (a part
of the records at a time where these would be too many).
"""

from __future__ import annotations

import torch

from oracle.algorithms.shared.minimiser import CURVATURE, MOST_HALVINGS, MOST_STEPS, rounding
from oracle.core import torch_twin
from oracle.core.errors import OracleError


def residual(loss: str, scores: torch.Tensor, labels: torch.Tensor) -> torch.Tensor:
    """The slopes r, [M, n]."""
    if loss == "linear":
        return torch.full_like(scores, -1.0)
    if loss == "logistic":
        return torch.sigmoid(scores) - labels
    return (scores - labels) * torch.rsqrt(1.0 + (scores - labels) ** 2)


def curvature(loss: str, scores: torch.Tensor, labels: torch.Tensor) -> torch.Tensor:
    """The derivatives of r, [M, n]."""
    if loss == "linear":
        return torch.zeros_like(scores)
    if loss == "logistic":
        return torch.sigmoid(scores) * torch.sigmoid(-scores)
    return torch.rsqrt(1.0 + (scores - labels) ** 2) ** 3


def minimise(
    x: torch.Tensor, y: torch.Tensor, loss: str, ridge: float, tilt: torch.Tensor, feature_norm: float
) -> tuple[torch.Tensor, torch.Tensor]:
    """The minimisers [M, d] for linear terms [M, d], and bounds [M] on the distances of these answers from them."""
    records, dimension = x.shape
    steep = float(CURVATURE[loss]) * feature_norm**2 + ridge
    spacing = torch.finfo(x.dtype).eps
    rows = max(1, torch_twin.CHUNK_ELEMENTS // dimension**2)
    eye = torch.eye(dimension, dtype=x.dtype, device=x.device)
    tilted = torch.linalg.vector_norm(tilt, dim=1)

    def gradient_at(theta: torch.Tensor) -> torch.Tensor:
        return residual(loss, theta @ x.T, y) @ x / records + ridge * theta + tilt

    def hessian_at(theta: torch.Tensor) -> torch.Tensor:
        weights = curvature(loss, theta @ x.T, y)
        total = torch.zeros(len(theta), dimension**2, dtype=x.dtype, device=x.device)
        for first in range(0, records, rows):
            part = x[first : first + rows]
            total += weights[:, first : first + rows] @ (part[:, :, None] * part[:, None, :]).flatten(1)
        return total.reshape(-1, dimension, dimension) / records + ridge * eye

    theta = torch.zeros_like(tilt)
    gradient = gradient_at(theta)
    for _ in range(MOST_STEPS):
        length = torch.linalg.vector_norm(gradient, dim=1)
        noise = rounding(
            spacing, (records, dimension), feature_norm, steep, torch.linalg.vector_norm(theta, dim=1), tilted
        )
        done = length <= noise
        if bool(done.all()):
            return theta, (length + noise) / ridge
        direction = torch.linalg.solve(hessian_at(theta), gradient[:, :, None])[:, :, 0]
        part = torch.where(done, 0.0, 1.0).to(x.dtype)  # who is there stays there
        for _ in range(MOST_HALVINGS):
            trial = theta - part[:, None] * direction
            after = gradient_at(trial)
            worse = ~done & (torch.linalg.vector_norm(after, dim=1) > (1.0 - part / 4.0) * length)
            if not bool(worse.any()):
                break
            part = torch.where(worse, part / 2.0, part)
        theta, gradient = trial, after
    raise OracleError(f"no minimiser within {MOST_STEPS} Newton steps: gradient norm {float(length.max()):.3g}")
