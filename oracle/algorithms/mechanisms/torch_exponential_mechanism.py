"""The exponential mechanism on a grid for many models at once: one table of probabilities, which all share.

The table is made in double precision on the host: single precision would change the law, not only round the result.
"""

from __future__ import annotations

from typing import Any

import torch
from torch.nn.functional import softplus

from oracle.core import torch_twin
from oracle.core.algorithm import Values
from oracle.core.tape import Tape


def clipped_losses(loss: str, scores: torch.Tensor, labels: torch.Tensor, loss_range: float) -> torch.Tensor:
    """The losses [M, n], clipped to [0, B]."""
    if loss == "squared":
        return (0.5 * (scores - labels).square()).clamp(max=loss_range)
    return softplus((1.0 - 2.0 * labels) * scores, threshold=40.0).clamp(max=loss_range)


def energies(x: torch.Tensor, y: torch.Tensor, config: Values, theta: torch.Tensor) -> torch.Tensor:
    """The sums of the clipped losses plus n R, [M] for models [M, d]."""
    losses = clipped_losses(config.loss, theta @ x.T, y, float(config.loss_range))
    return losses.sum(dim=1) + 0.5 * len(x) * float(config.regularisation) * theta.square().sum(dim=1)


Data = tuple[torch.Tensor, torch.Tensor, torch.Tensor]


def _prepare(x: torch.Tensor, y: torch.Tensor, config: Values, recorder: Any) -> Data:
    """The grid [K, d], its law, and the distribution function."""
    radius = float(config.grid_radius)
    places = 2 * torch.arange(config.grid_points) - (config.grid_points - 1)  # in integers, so that the middle is 0
    axis = radius * places.to(torch.float64) / (config.grid_points - 1)
    grid = torch.cartesian_prod(*[axis] * x.shape[1]).reshape(-1, x.shape[1])
    rows = max(1, torch_twin.CHUNK_ELEMENTS // len(x))
    parts = [energies(x, y, config, grid[first : first + rows]) for first in range(0, len(grid), rows)]
    law = torch.softmax(torch.cat(parts) / -float(config.temperature), dim=0)
    table = law.cumsum(dim=0)
    table[-1] = 1.0  # no uniform lies beyond the last model, whatever the sum is rounded to
    return grid, law, table


def _chunk(data: Data, config: Values, tape: Tape, recorder: Any) -> torch.Tensor:
    """The models of a block of the tape, [m, d]."""
    grid, law, table = data
    chosen = torch.searchsorted(table, torch.as_tensor(tape.uniform("model", 0, 1)[:, 0]))
    if recorder is not None:
        recorder("release", chosen=chosen, probabilities=law)
    return grid[chosen]


twin = torch_twin.Twin(_chunk, lambda data, config, tape: data[0].shape[1], _prepare, double=True)
