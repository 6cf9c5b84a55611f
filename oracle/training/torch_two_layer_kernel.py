"""Algorithm 9 by the kernel trick for many models at once: the batched sibling of `two_layer_kernel`.

The scores of all records and queries are the state, [M, n + q]: a step subtracts a multiple of a row of the kernel.
"""

from __future__ import annotations

import numpy as np
import torch
from numpy.typing import NDArray

from oracle.registry import Values
from oracle.tape import Tape
from oracle.training.torch_glm import drawn, in_chunks
from oracle.training.torch_multinomial import kernel
from oracle.training.torch_two_layer import link
from oracle.training.two_layer import phases
from oracle.training.two_layer_kernel import check, noise_root


def scores(
    features: NDArray[np.float64],
    labels: NDArray[np.float64],
    queries: NDArray[np.float64],
    config: Values,
    tape: Tape,
    *,
    root: NDArray[np.float64] | None = None,
    device: str | torch.device = "cpu",
    dtype: torch.dtype = torch.float64,
) -> torch.Tensor:
    """The scores at the queries for all the tape's models, shape [M, q], on the device."""
    points = check(features, labels, queries)
    # Rounding decides what a root does with eigenvalues of 0, so the twins take the same one.
    table = noise_root(points, config.degree) if root is None else root
    x = torch.as_tensor(points, dtype=dtype, device=device)
    y = torch.as_tensor(labels, dtype=dtype, device=device)
    rooted = torch.as_tensor(table, dtype=dtype, device=device)
    gram = kernel(x[: len(y)], x, config.degree)
    return in_chunks(tape, max(rooted.shape), lambda part: _scores(gram, y, rooted, config, part)[:, len(y) :])


def _scores(gram: torch.Tensor, y: torch.Tensor, root: torch.Tensor, config: Values, tape: Tape) -> torch.Tensor:
    learning_rate, sigma = float(config.learning_rate), float(config.sigma)
    state = torch.zeros(tape.models, gram.shape[1], dtype=gram.dtype, device=gram.device)
    for i, (start, end) in enumerate(phases(len(y)), start=1):
        eta = learning_rate / 4**i
        total = torch.zeros_like(state)
        for t in range(start, end):
            total += state
            state = state - eta * (link(config.link, state[:, t]) - y[t])[:, None] * gram[t]
        state = total / (end - start) + sigma * eta * drawn(tape.normal("noise", i, root.shape[1]), gram) @ root.T
    return state
