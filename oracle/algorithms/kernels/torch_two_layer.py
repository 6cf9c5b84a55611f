"""Phased SGD on multinomial features for many models at once: the batched sibling of `two_layer`, on any torch device.

Features are formed a block of records at a time, so that their memory does not grow with the number of records; the
rest is `torch_phased_sgd`.
"""

from __future__ import annotations

from typing import Any

import torch

from oracle.algorithms.kernels import multinomial, torch_multinomial
from oracle.algorithms.kernels.two_layer import from_zero
from oracle.algorithms.phased.torch_phased_sgd import (
    Data,
    Lifted,
    Slope,
    descended,
    descended_projected,
    entries,
    prepared,
    projected_entries,
)
from oracle.core.algorithm import Values
from oracle.core.tape import Tape
from oracle.core.torch_twin import Twin


def link(name: str, scores: torch.Tensor) -> torch.Tensor:
    """The link at scores of any shape."""
    if name == "constant":
        return torch.ones_like(scores)
    return scores.clamp(0.0, 1.0) if name == "clip" else torch.sigmoid(scores)


def _slope(config: Values) -> Slope:
    return lambda scores, label: link(config.link, scores) - label


def _lifted(x: torch.Tensor, config: Values) -> Lifted:
    table = torch_multinomial.table(x.shape[1], config.degree, x)
    return lambda block: torch_multinomial.features(block, table), _width(x, config)


def _width(x: torch.Tensor, config: Values) -> int:
    return multinomial.size(x.shape[1], config.degree)


def _chunk(data: Data, config: Values, tape: Tape, recorder: Any) -> torch.Tensor:
    """The last releases of a block of models, [m, features]."""
    return descended(data, from_zero(config), tape, _slope(config), recorder, _lifted(data[0], config))


def _projected_chunk(data: Data, config: Values, tape: Tape, recorder: Any) -> torch.Tensor:
    """The same on projected features, one projection a model, lifted back to [m, features]."""
    return descended_projected(data, from_zero(config), tape, _slope(config), recorder, _lifted(data[0], config))


twin = Twin(_chunk, entries=lambda data, config, tape: entries(_width(data[0], config)), prepare=prepared)
twin_projected = Twin(
    _projected_chunk,
    entries=lambda data, config, tape: projected_entries(config.projected_dimension, _width(data[0], config)),
    prepare=prepared,
)
