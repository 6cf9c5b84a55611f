"""Metropolis chains towards the exponential mechanism, many at once: the batched sibling of `exponential_sampler`."""

from __future__ import annotations

from typing import Any

import torch

from oracle.algorithms.mechanisms.torch_exponential_mechanism import energies
from oracle.core.algorithm import Values
from oracle.core.tape import Tape
from oracle.core.torch_twin import Twin, drawn


def _chunk(data: tuple[torch.Tensor, torch.Tensor], config: Values, tape: Tape, recorder: Any) -> torch.Tensor:
    """The last states of a block of chains, [m, d]."""
    x, y = data
    theta = torch.zeros(tape.models, x.shape[1], dtype=x.dtype, device=x.device)
    current = energies(x, y, config, theta)
    for step in range(config.steps):
        proposal = theta + float(config.proposal_std) * drawn(tape.normal("proposal", step, x.shape[1]), x)
        there = energies(x, y, config, proposal)
        log_ratio = (current - there) / float(config.temperature)
        accepted = drawn(torch.as_tensor(tape.uniform("accept", step, 1)[:, 0]).log(), x) < log_ratio
        theta = torch.where(accepted[:, None], proposal, theta)
        current = torch.where(accepted, there, current)
        if recorder is not None:
            recorder("update", step=step, log_ratio=log_ratio, accepted=accepted)
    return theta


twin = Twin(_chunk, entries=lambda data, config, tape: max(data[0].shape))
