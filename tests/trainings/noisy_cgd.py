"""Samples of NoisyGD and NoisyCGD."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

Sample = tuple[NDArray[np.float64], NDArray[np.float64], dict[str, Any]]


def unit_data(rng: np.random.Generator, records: int, dimension: int) -> tuple[Any, Any]:
    """Features of norm at most 1, one of them zero now and then, and labels 0 or 1."""
    features = rng.normal(size=(records, dimension))
    features *= rng.random((records, 1)) / np.linalg.norm(features, axis=1, keepdims=True)
    if rng.random() < 0.3:
        features[0] = 0.0
    return features, rng.integers(0, 2, records).astype(np.float64)


def noisy_cgd(rng: np.random.Generator) -> Sample:
    batch, batches = (int(rng.integers(1, 5)) for _ in range(2))
    config = {
        "loss": str(rng.choice(["linear", "squared", "logistic"])), "learning_rate": rng.uniform(0.001, 2),
        "regularisation": rng.uniform(0, 1), "clip_norm": rng.uniform(0.01, 1), "noise_on_mean": rng.uniform(0.001, 3),
        "batch_size": batch, "epochs": int(rng.integers(1, 4)), "feature_norm": 1,
    }
    return *unit_data(rng, batch * batches, int(rng.integers(1, 6))), config


SAMPLES = {"noisy-cgd": noisy_cgd}
