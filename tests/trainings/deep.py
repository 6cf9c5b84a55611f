"""Samples of document 002's ReLU regressions and of its multi-layer networks."""

from __future__ import annotations

import numpy as np

from tests.trainings.descent import batched, number
from tests.trainings.noisy_cgd import Sample, unit_data


def dp_pgd(rng: np.random.Generator) -> Sample:
    """Labels of both signs; projections from one row to more than there are features; balls that are left and not."""
    features, _ = unit_data(rng, number(rng, 1, 9), number(rng, 1, 6))
    bound = rng.uniform(0.1, 2)
    return features, rng.uniform(-bound, bound, len(features)), {
        "learning_rate": rng.uniform(0.01, 1), "noise_on_mean": rng.uniform(0.01, 2),
        "weight_bound": rng.uniform(0.05, 2), "label_bound": bound,
        "projected_dimension": number(rng, 2, 5) if rng.random() < 0.5 else number(rng, 20, 25),
        "steps": number(rng, 2, 6),
    }


def adaptive_batched_gd(rng: np.random.Generator) -> Sample:
    """One batch and several; every reading of the noise; features longer and shorter than 1."""
    size = number(rng, 1, 4)
    features, _ = unit_data(rng, size * number(rng, 1, 4), number(rng, 1, 5))
    norm, bound = rng.uniform(0.3, 3), rng.uniform(0.1, 2)
    return features * norm, rng.uniform(-bound, bound, len(features)), {
        "noise_formula": str(rng.choice(["exact", "printed-variance", "printed-std"])),
        "learning_rate": rng.uniform(0.01, 0.5), "noise_over_sensitivity": rng.uniform(0.1, 3),
        "feature_norm": norm, "label_bound": bound, "batch_size": size,
    }


def dp_sgd_multilayer(rng: np.random.Generator) -> Sample:
    """Two to four layers, balls that are left in some layers and not in others, labels that suit the loss."""
    records = number(rng, 1, 9)
    features, labels = unit_data(rng, records, number(rng, 1, 5))
    loss = str(rng.choice(["logistic", "pseudo-huber"]))
    if loss == "pseudo-huber":
        labels = rng.normal(size=records) * 2
    return features, labels, {
        "loss": loss, "depth": number(rng, 2, 4), "hidden_units": number(rng, 1, 6),
        "learning_rate": rng.uniform(0.001, 1), "layer_radius": rng.uniform(0.05, 3),
        "centre": str(rng.choice(["start", "origin"])), "clip_norm": rng.uniform(0.05, 3),
        "noise_on_mean": rng.uniform(0.001, 1), "steps": number(rng, 1, 6), **batched(rng, records),
    }


SAMPLES = {
    "dp-pgd": dp_pgd, "adaptive-batched-gd": adaptive_batched_gd, "dp-sgd-multilayer": dp_sgd_multilayer,
}
