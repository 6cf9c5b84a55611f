"""Samples of NoisyCGD tuned by a Poisson number of runs."""

from __future__ import annotations

from typing import Any

import numpy as np

from tests.trainings.noisy_cgd import Sample, unit_data


def poisson_tuning(rng: np.random.Generator) -> Sample:
    """Means at which no run is likely, and such with several; both scores, ties of accuracies among them."""
    batch, batches, validation, grid = (int(rng.integers(1, 5)) for _ in range(4))
    loss = str(rng.choice(["linear", "squared", "logistic"]))
    config: dict[str, Any] = {
        "loss": loss, "learning_rates": rng.uniform(0.001, 2, grid).tolist(),
        "regularisations": rng.uniform(0, 0.9, grid).tolist(),
        "clip_norm": rng.uniform(0.01, 1), "noise_on_mean": rng.uniform(0.001, 3), "batch_size": batch,
        "epochs": int(rng.integers(1, 4)), "feature_norm": 1, "mean_runs": rng.uniform(0.5, 6),
        "validation_records": validation,
        "score": str(rng.choice(["loss", "accuracy"])) if loss == "logistic" else "loss",
    }
    return *unit_data(rng, batch * batches + validation, int(rng.integers(1, 6))), config


SAMPLES = {"poisson-tuned-noisy-cgd": poisson_tuning}
