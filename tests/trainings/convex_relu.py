"""Samples of NoisyCGD on the convex ReLU model."""

from __future__ import annotations

from typing import Any

import numpy as np

from tests.trainings.noisy_cgd import Sample, unit_data


def convex_relu(rng: np.random.Generator) -> Sample:
    """Every loss with one output and with several, both ways of clipping, real labels for a squared loss of one."""
    batch, batches, dimension, planes = (int(rng.integers(1, 5)) for _ in range(4))
    loss = str(rng.choice(["squared", "softmax", "logistic"]))
    outputs = int(rng.integers(1 + (loss == "softmax"), 5))
    config: dict[str, Any] = {
        "loss": loss, "outputs": outputs, "hyperplanes": planes, "learning_rate": rng.uniform(0.001, 1),
        "regularisation": rng.uniform(0, 1), "clip_norm": rng.uniform(0.01, 1),
        "clipping": str(rng.choice(["record", "output"])), "noise_on_mean": rng.uniform(0.001, 3),
        "batch_size": batch, "epochs": int(rng.integers(1, 4)), "feature_norm": 1,
    }
    features, labels = unit_data(rng, batch * batches, dimension)
    if outputs > 1:
        labels = rng.integers(0, outputs, batch * batches).astype(np.float64)
    elif loss == "squared":
        labels = rng.normal(size=batch * batches)
    return features, labels, config


SAMPLES = {"noisy-cgd-convex-relu": convex_relu}
