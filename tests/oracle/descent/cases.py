"""Configurations, data and both ways to train, for the tests of gradient descent."""

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
SIZE: dict[str, Any] = {"dataset_size": 6, "neighbours": "replace"}
BASE: dict[str, dict[str, Any]] = {
    "gd": {"loss": "squared", "learning_rate": "0.3", "steps": 5, "initial_std": 1, "iterate": "average"},
    "dp-gd": {
        "loss": "squared", "learning_rate": "0.3", "clip_norm": "0.4", "noise_on_mean": "0.2", "steps": 5, **SIZE,
    },
    "dp-gd-projected": {
        "loss": "squared", "learning_rate": "0.3", "lipschitz": 2, "radius": "0.1", "noise_on_mean": "0.2",
        "steps": 5, **SIZE,
    },
    "dp-sgd": {
        "loss": "squared", "learning_rate": "0.3", "regularisation": "0.1", "clip_norm": "0.4", "noise_on_mean": "0.2",
        "batch_size": 2, "steps": 5, **SIZE,
    },
}
every = pytest.mark.parametrize("name", BASE)


def config(name: str, **changes: Any) -> Values:
    return oracle.algorithm(name).parse({**BASE[name], **changes})


def literal(name: str, features: Array, labels: Array, values: Values, tape: Tape, **kwargs: Any) -> Array:
    return np.asarray(oracle.algorithm(name).reference(features, labels, values, tape, **kwargs))


def batched(name: str, features: Array, labels: Array, values: Values, tape: Tape, **kwargs: Any) -> Array:
    return np.asarray(oracle.algorithm(name).train_batched(features, labels, values, tape, **kwargs))


def data(records: int = 6, dimension: int = 3, seed: int = 1) -> tuple[Array, Array]:
    return unit_data(np.random.default_rng(seed), records, dimension)
