"""A configuration and data for the tests of the convex model of a ReLU network."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

import oracle
from oracle.core.algorithm import Values

ALGORITHM = oracle.algorithm("noisy-cgd-convex-relu")
Array = NDArray[np.float64]
BASE: dict[str, Any] = {
    "loss": "softmax", "outputs": 3, "hyperplanes": 4, "learning_rate": "0.3", "regularisation": "0.1",
    "clip_norm": "0.5", "clipping": "record", "noise_on_mean": "0.2", "batch_size": 2, "epochs": 3, "feature_norm": 1,
}


def config(**changes: Any) -> Values:
    return ALGORITHM.parse({**BASE, **changes})


def data(outputs: int = 3, records: int = 6, dimension: int = 3, seed: int = 0) -> tuple[Array, Array]:
    """Features of norm at most 1, one of them zero, and classes (two for one output)."""
    rng = np.random.default_rng(seed)
    features = rng.normal(size=(records, dimension))
    features *= rng.random((records, 1)) / np.linalg.norm(features, axis=1, keepdims=True)
    features[0] = 0.0
    return features, rng.integers(0, max(2, outputs), records).astype(np.float64)
