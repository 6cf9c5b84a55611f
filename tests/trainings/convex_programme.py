"""Samples of the exact convex programme: tiny data, since all activation patterns are enumerated."""

from __future__ import annotations

import numpy as np

from tests.trainings.noisy_cgd import Sample


def convex_relu_exact(rng: np.random.Generator) -> Sample:
    """Up to four records in the plane or on a line, zeros and repetitions now and then; at times no neuron pays."""
    records, dimension = int(rng.integers(1, 5)), int(rng.integers(1, 3))
    features, labels = rng.normal(size=(records, dimension)), rng.normal(size=records)
    if rng.random() < 0.2:
        features[0] = 0.0
    if rng.random() < 0.3:
        features[-1] = features[0] * rng.choice([1.0, -2.0])
    return features, labels, {"group_penalty": float(np.exp(rng.uniform(-4, 1)))}


SAMPLES = {"convex-relu-exact": convex_relu_exact}
