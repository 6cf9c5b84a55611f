"""Algorithm 9 by the kernel trick for many models at once: the batched sibling of `two_layer_kernel`.

The scores of all records and queries are the state, [M, n + q]: a step subtracts a multiple of a row of the kernel, and
a block of steps is one matrix product, as in `torch_phased_sgd`.
"""

from __future__ import annotations

import numpy as np
import torch
from numpy.typing import NDArray

from oracle.algorithms.kernels.torch_multinomial import kernel
from oracle.algorithms.kernels.torch_two_layer import link
from oracle.algorithms.kernels.two_layer_kernel import check, noise_root
from oracle.algorithms.phased.phased_sgd import sizes
from oracle.algorithms.phased.torch_phased_sgd import BLOCK
from oracle.core.algorithm import Values
from oracle.core.tape import Tape
from oracle.core.torch_twin import drawn, in_chunks


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
    rooted = torch.as_tensor(table, dtype=dtype, device=device)
    gram = kernel(x[: len(labels)], x, config.degree)
    return in_chunks(
        tape, max(rooted.shape), lambda part: _scores(gram, labels, rooted, config, part)[:, len(labels) :], gram
    )


def _scores(
    gram: torch.Tensor, labels: NDArray[np.float64], root: torch.Tensor, config: Values, tape: Tape
) -> torch.Tensor:
    sigma = float(config.noise_over_step)
    state = torch.zeros(tape.models, gram.shape[1], dtype=gram.dtype, device=gram.device)
    end = 0
    for i, size in enumerate(sizes(len(labels)), start=1):
        eta = float(config.base_learning_rate) / 4**i
        average = state.clone()
        first, end = end, end + size
        for start in range(first, end, BLOCK):
            rows = gram[start : min(start + BLOCK, end)]
            within = rows[:, start : start + len(rows)]
            before = state[:, start : start + len(rows)].T.contiguous()
            factors = torch.empty_like(before)  # [b, M]
            for s in range(len(rows)):
                score = torch.addmv(before[s], factors[:s].T, within[s, :s], alpha=-eta)
                factors[s] = link(config.link, score) - float(labels[start + s])
            later = torch.arange(end - start - 1, end - start - 1 - len(rows), -1, dtype=gram.dtype, device=gram.device)
            average.addmm_((factors * (later / size)[:, None]).T, rows, alpha=-eta)
            state.addmm_(factors.T, rows, alpha=-eta)
        state = average + sigma * eta * drawn(tape.normal("noise", i, root.shape[1]), gram) @ root.T
    return state
