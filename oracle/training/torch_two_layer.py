"""Phased SGD on multinomial features for many models at once: the batched sibling of `two_layer`, on any torch device.

A phase goes through its records in blocks. Within a block the scores of all its records are kept up to date through
their inner products, so a step touches a few numbers a model; the weights move once a block, by a matrix product. The
average of a phase's iterates is its first one plus each step's change times the share of iterates that come after it.
Features are formed a block at a time, whatever the number of records.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from oracle.registry import Values
from oracle.tape import Tape
from oracle.training import multinomial, torch_multinomial
from oracle.training.torch_glm import drawn, in_chunks
from oracle.training.two_layer import check, phases

_BLOCK = 32


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
    """The last releases of all the tape's models, shape [M, features], on the device."""
    check(features, labels, config)
    x = torch.as_tensor(features, dtype=dtype, device=device)
    y = torch.as_tensor(labels, dtype=dtype, device=device)
    entries = max(multinomial.size(x.shape[1], config.degree), _BLOCK)
    return in_chunks(tape, entries, lambda part: _phased(None, x, y, config, part, recorder))


def train_projected(
    features: NDArray[np.float64],
    labels: NDArray[np.float64],
    config: Values,
    tape: Tape,
    *,
    device: str | torch.device = "cpu",
    dtype: torch.dtype = torch.float64,
    recorder: Any = None,
) -> torch.Tensor:
    """The same on projected features, one projection a model, lifted back to shape [M, features]."""
    check(features, labels, config)
    x = torch.as_tensor(features, dtype=dtype, device=device)
    y = torch.as_tensor(labels, dtype=dtype, device=device)
    rows, columns = config.projected_dimension, multinomial.size(x.shape[1], config.degree)

    def chunk(part: Tape) -> torch.Tensor:
        phi = drawn(part.normal("projection", 0, rows * columns), x).reshape(-1, rows, columns) / rows**0.5
        w = _phased(phi, x, y, config, part, recorder)
        return torch.einsum("mk,mkd->md", w, phi)

    return in_chunks(tape, max(rows * columns, _BLOCK * max(rows, _BLOCK)), chunk)


def link(name: str, scores: torch.Tensor) -> torch.Tensor:
    """The link at scores of any shape."""
    if name == "one":
        return torch.ones_like(scores)
    return scores.clamp(0.0, 1.0) if name == "clip" else torch.sigmoid(scores)


def _phased(
    phi: torch.Tensor | None, x: torch.Tensor, y: torch.Tensor, config: Values, tape: Tape, recorder: Any
) -> torch.Tensor:
    learning_rate, sigma = float(config.learning_rate), float(config.sigma)
    dimension = multinomial.size(x.shape[1], config.degree) if phi is None else phi.shape[1]
    w = torch.zeros(tape.models, dimension, dtype=x.dtype, device=x.device)
    for i, (start, end) in enumerate(phases(x.shape[0]), start=1):
        eta = learning_rate / 4**i
        average = w
        for first in range(start, end, _BLOCK):
            batch = slice(first, min(first + _BLOCK, end))
            points = torch_multinomial.features(x[batch], config.degree)  # [b, D], or one such for each model
            if phi is not None:
                points = torch.einsum("bd,mkd->mbk", points, phi)
            r, gram = _residuals(w, points, y[batch], eta, config.link)
            if recorder is not None:
                norms = gram.diagonal(dim1=-2, dim2=-1).sqrt()
                recorder("samples", step=first, batch=batch, norms=r.abs() * norms)
            later = torch.arange(end - batch.start - 1, end - batch.stop - 1, -1, dtype=x.dtype, device=x.device)
            average = average - eta / (end - start) * _combined(r * later, points)
            w = w - eta * _combined(r, points)
        w = average + sigma * eta * drawn(tape.normal("noise", i, dimension), x)
        if recorder is not None:
            recorder("release", phase=i, average=average, noise_std=sigma * eta)
    return w


def _residuals(
    w: torch.Tensor, points: torch.Tensor, labels: torch.Tensor, eta: float, name: str
) -> tuple[torch.Tensor, torch.Tensor]:
    """link - label at every step through a block, [M, b], and the inner products of the block's points."""
    gram = points @ points.mT
    scores = w @ points.T if points.ndim == 2 else torch.einsum("mk,mbk->mb", w, points)
    residuals = []
    for t in range(len(labels)):
        r = link(name, scores[:, t]) - labels[t]
        residuals.append(r)
        scores = scores - eta * r[:, None] * gram[..., t, :]
    return torch.stack(residuals, dim=1), gram


def _combined(coefficients: torch.Tensor, points: torch.Tensor) -> torch.Tensor:
    """The sum of a block's points with coefficients [M, b]."""
    return coefficients @ points if points.ndim == 2 else torch.einsum("mb,mbk->mk", coefficients, points)
