"""Metropolis chains towards the exponential mechanism, many at once: the batched sibling of `exponential_sampler`."""

from __future__ import annotations

from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from oracle.algorithms.mechanisms.exponential_sampler import check
from oracle.algorithms.mechanisms.torch_exponential_mechanism import energies
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
    """The last states of all the tape's chains, shape [M, d], on the device."""
    check(features, labels, config)
    x = torch.as_tensor(features, dtype=dtype, device=device)
    y = torch.as_tensor(labels, dtype=dtype, device=device)
    return in_chunks(tape, max(x.shape), lambda part: _train_chunk(x, y, config, part, recorder), x, recorder)


def _train_chunk(x: torch.Tensor, y: torch.Tensor, config: Values, tape: Tape, recorder: Any) -> torch.Tensor:
    theta = torch.zeros(tape.models, x.shape[1], dtype=x.dtype, device=x.device)
    current = energies(x, y, config, theta)
    for step in range(config.steps):
        proposal = theta + float(config.proposal_std) * drawn(tape.normal("proposal", step, x.shape[1]), x)
        there = energies(x, y, config, proposal)
        log_ratio = (current - there) / float(config.temperature)
        accepted = drawn(np.log(tape.uniform("accept", step, 1)[:, 0]), x) < log_ratio
        theta = torch.where(accepted[:, None], proposal, theta)
        current = torch.where(accepted, there, current)
        if recorder is not None:
            recorder("update", step=step, log_ratio=log_ratio, accepted=accepted)
    return theta
