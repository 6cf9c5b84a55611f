"""Newton's method for many regularised risks that differ by a linear term: the batched sibling of `minimiser`.

The scores of all models are one product [M, n], their Hessians another, with the n outer products of the features.
"""

from __future__ import annotations

import torch

from oracle.errors import OracleError
from oracle.training.minimiser import CURVATURE, MOST_HALVINGS, MOST_STEPS, rounding


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
    outer = (x[:, :, None] * x[:, None, :]).reshape(records, dimension * dimension)
    eye = torch.eye(dimension, dtype=x.dtype, device=x.device)
    tilted = torch.linalg.vector_norm(tilt, dim=1)

    def gradient_at(theta: torch.Tensor) -> torch.Tensor:
        return residual(loss, theta @ x.T, y) @ x / records + ridge * theta + tilt

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
        weighted = curvature(loss, theta @ x.T, y) @ outer / records
        hessian = weighted.reshape(-1, dimension, dimension) + ridge * eye
        direction = torch.linalg.solve(hessian, gradient[:, :, None])[:, :, 0]
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
