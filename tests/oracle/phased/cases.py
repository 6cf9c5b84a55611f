"""Configurations, data and both ways to train, for the tests of phased descent."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

import oracle
from oracle.core.algorithm import Values
from oracle.core.tape import Tape
from tests.trainings.noisy_cgd import unit_data

Array = NDArray[np.float64]
PLAIN: dict[str, Any] = {
    "link": "tanh", "label_bound": 1, "base_learning_rate": 2, "noise_over_step": 3, "initial_radius": 0,
}
SMOOTHING: dict[str, Any] = {"envelope_smoothness": 2, "oracle_error": "1e-9", "gradient_oracle": "bisection"}
ROWS: dict[str, Any] = {"projected_dimension": 3}
BASE: dict[str, dict[str, Any]] = {
    "phased-sgd": PLAIN,
    "phased-sgd-projected": {**PLAIN, **ROWS},
    "smoothed-phased-sgd": {**PLAIN, **SMOOTHING},
    "smoothed-phased-sgd-projected": {**PLAIN, **SMOOTHING, **ROWS},
}
every = pytest.mark.parametrize("name", BASE)


def config(name: str, **changes: Any) -> Values:
    return oracle.algorithm(name).parse({**BASE[name], **changes})


def literal(name: str, data: tuple[Array, Array], values: Values, tape: Tape, **kwargs: Any) -> Array:
    return np.asarray(oracle.algorithm(name).reference(*data, values, tape, **kwargs))


def batched(name: str, data: tuple[Array, Array], values: Values, tape: Tape, **kwargs: Any) -> Array:
    return np.asarray(oracle.algorithm(name).train_batched(*data, values, tape, **kwargs))


def data(records: int = 20, dimension: int = 3, seed: int = 1) -> tuple[Array, Array]:
    """Features of norm at most 1, labels in [-1, 1]."""
    rng = np.random.default_rng(seed)
    return unit_data(rng, records, dimension)[0], rng.uniform(-1, 1, records)
