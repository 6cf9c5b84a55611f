"""What both trainings of a network tell a recorder: the same batches, norms and clipped sums, step by step."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from oracle.core.algorithm import Algorithm, Values
from oracle.core.tape import Tape


def check_records(
    algorithm: Algorithm, data: tuple[NDArray[np.float64], NDArray[np.float64]], values: Values, *, rtol: float
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
