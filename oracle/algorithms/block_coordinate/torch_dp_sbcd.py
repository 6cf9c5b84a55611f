"""DP-SBCD for many models at once: the batched sibling of `dp_sbcd`, on any torch device (see `torch_sbcd`)."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import torch

from oracle.algorithms.block_coordinate import torch_sbcd
from oracle.core.algorithm import Values
from oracle.core.tape import Tape


def _chunk(data: tuple[torch.Tensor, torch.Tensor], config: Values, tape: Tape, recorder: Any) -> torch.Tensor:
    """All blocks of the last iterates of a block of models, [m, parameters]: Algorithm 2."""
    noise = [float(entry) for entry in config.noise_variances]
    return torch_sbcd.descend(data, config, tape, recorder, noise=noise, clip_norm=float(config.clip_norm))


twin = replace(torch_sbcd.twin, chunk=_chunk)
