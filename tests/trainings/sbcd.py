"""Samples of SBCD and DP-SBCD."""

from __future__ import annotations

from typing import Any

import numpy as np

from tests.trainings.noisy_cgd import Sample


def network(rng: np.random.Generator) -> Sample:
    """A small network on unbounded features, some records zero now and then, without depth now and then."""
    batch, batches, outputs = (int(n) for n in rng.integers(1, 4, 3))
    records = batch * batches
    config: dict[str, Any] = {
        "layers": int(rng.integers(0, 4)), "hidden_units": int(rng.integers(1, 5)), "outputs": outputs,
        "learning_rate": rng.uniform(0.01, 0.5),
        "regulariser": str(rng.choice(["none", "l2", "l1"], p=[0.5, 0.25, 0.25])),
        "spectral_norm": "inf" if rng.random() < 0.25 else rng.uniform(0.3, 2), "batch_size": batch,
    }
    features = rng.normal(size=(records, int(rng.integers(1, 5))))
    if rng.random() < 0.3:
        features[0] = 0.0
    labels = rng.integers(0, outputs, records).astype(np.float64) if outputs > 1 else rng.normal(size=records)
    return features, labels, config


def sbcd(rng: np.random.Generator) -> Sample:
    features, labels, config = network(rng)
    return features, labels, {**config, "epochs": int(rng.integers(1, 4))}


def dp_sbcd(rng: np.random.Generator) -> Sample:
    features, labels, config = network(rng)
    noise = list(rng.uniform(0.001, 1, int(rng.integers(1, 4))))
    return features, labels, {
        **config, "noise_variances": noise, "clip_norm": "inf" if rng.random() < 0.2 else rng.uniform(0.01, 2),
    }


SAMPLES = {"sbcd": sbcd, "dp-sbcd": dp_sbcd}
