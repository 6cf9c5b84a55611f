"""Networks again: the tangent model, and what both trainings tell a recorder, the same step by step."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from oracle.algorithms.networks import dp_sgd_multilayer
from oracle.core.algorithm import Algorithm, Values
from oracle.core.tape import Tape

Array = NDArray[np.float64]


def linearised(layers: list[Array], start: list[Array], x: Array) -> float:
    """f_ntk(W, x) around W(0), affine in W (002, Definition 8)."""
    slopes = dp_sgd_multilayer.network_gradient(start, x)
    moved = sum(float(np.sum(s * (w - w0))) for s, w, w0 in zip(slopes, layers, start, strict=True))
    return dp_sgd_multilayer.network(start, x) + moved


def check_records(
    algorithm: Algorithm, data: tuple[Array, Array], values: Values, *, rtol: float
) -> None:
    """Require the third of three models to be told the same alone and among the others; four steps, noise 0.2."""
    tape = Tape(8, 3)
    alone: list[tuple[str, dict[str, Any]]] = []
    together: list[tuple[str, dict[str, Any]]] = []
    algorithm.reference(*data, values, tape.one(2), recorder=lambda k, **f: alone.append((k, f)))
    algorithm.train_batched(*data, values, tape, recorder=lambda k, **f: together.append((k, f)))
    for step in range(4):
        here = [(kind, facts) for kind, facts in alone if facts["step"] == step]
        there = {kind: facts for kind, facts in together if facts["step"] == step}
        taken = there["samples"]["taken"][2]
        [batch] = [facts["members"] for kind, facts in here if kind == "batch"]
        np.testing.assert_array_equal(there["batch"]["index"][2][taken], batch)
        norms = [facts["norm"] for kind, facts in here if kind == "sample"]
        np.testing.assert_allclose(there["samples"]["norms"][2][taken], norms, rtol=rtol)
        [update] = [facts for kind, facts in here if kind == "update"]
        sums = there["update"]["clipped_sum"][2]
        np.testing.assert_allclose(sums, update["clipped_sum"], rtol=10 * rtol, atol=1e-14)
        assert update["noise_std"] == there["update"]["noise_std"] == 0.2
