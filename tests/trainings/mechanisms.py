"""Samples of the mechanisms of document 004: perturbation, exponential mechanism, blocks, noisy moments."""

from __future__ import annotations

from typing import Any

import numpy as np

from tests.trainings.noisy_cgd import Sample, unit_data


def _minimised(rng: np.random.Generator) -> tuple[Any, Any, dict[str, Any]]:
    """Data and configuration of a regularised risk; labels are 0 or 1, or any numbers where the loss allows it."""
    features, labels = unit_data(rng, int(rng.integers(1, 13)), int(rng.integers(1, 6)))
    loss = str(rng.choice(["linear", "logistic", "pseudo-huber"]))
    norm = rng.uniform(1, 3)
    if loss == "pseudo-huber":
        labels = rng.normal(size=len(labels)) * 10  # far away, where full Newton steps overshoot
    return features * norm, labels, {"loss": loss, "regularisation": rng.uniform(0.02, 1), "feature_norm": norm}


def output_perturbation(rng: np.random.Generator) -> Sample:
    features, labels, config = _minimised(rng)
    return features, labels, {**config, "noise_scale": rng.uniform(0.01, 3), "solver_error": "1e-9"}


def objective_perturbation(rng: np.random.Generator) -> Sample:
    """Targets on both sides of what the change of variables costs, so that ridge is added now and then."""
    features, labels, config = _minimised(rng)
    correction = str(rng.choice(["cms11", "sharp", "none"]))
    return features, labels, {**config, "epsilon": rng.uniform(0.1, 3), "correction": correction}


def _law(rng: np.random.Generator) -> dict[str, Any]:
    return {
        "loss": str(rng.choice(["squared", "logistic"])), "loss_range": rng.uniform(0.3, 2),
        "temperature": rng.uniform(0.2, 4), "regularisation": rng.uniform(0.01, 0.5),
    }


def exponential_mechanism(rng: np.random.Generator) -> Sample:
    """Fine grids, on which a slightly wrong law chooses another model, and coarse ones."""
    dimension = int(rng.integers(1, 4))
    features, labels = unit_data(rng, int(rng.integers(1, 13)), dimension)
    grid = {"grid_radius": rng.uniform(0.5, 5), "grid_points": int(rng.integers(2, (200, 15, 7)[dimension - 1]))}
    return features, labels, {**_law(rng), **grid, "regularisation": rng.choice([0, rng.uniform(0, 0.5)])}


def exponential_sampler(rng: np.random.Generator) -> Sample:
    features, labels = unit_data(rng, int(rng.integers(1, 13)), int(rng.integers(1, 4)))
    return features, labels, {**_law(rng), "proposal_std": rng.uniform(0.1, 3), "steps": int(rng.integers(1, 30))}


def subsample_aggregate(rng: np.random.Generator) -> Sample:
    """Blocks of one record or more, estimates on both sides of the interval, features that do not vary in a block."""
    size, blocks = int(rng.integers(1, 5)), int(rng.integers(1, 5))
    estimator = str(rng.choice(["mean", "median", "slope"]))
    features = rng.normal(size=(size * blocks, 1 if estimator == "slope" else int(rng.integers(1, 4))))
    features[:size] = 0.1
    low = rng.uniform(-1, 0.5)
    return features, rng.normal(size=size * blocks), {
        "estimator": estimator, "order": str(rng.choice(["given", "shuffled"])), "blocks": blocks, "estimate_low": low,
        "estimate_high": low + rng.uniform(0.1, 2), "noise_scale": rng.uniform(0.01, 2),
    }


def sufficient_statistics(rng: np.random.Generator) -> Sample:
    """Records in and out of the unit square, noise that pushes the variance below the floor now and then."""
    records = int(rng.integers(1, 40))
    features, labels = rng.uniform(-0.2, 1.2, (records, 1)), rng.uniform(-0.2, 1.2, records)
    return features, labels, {"noise_scale": rng.uniform(0.001, 0.2), "variance_floor": rng.uniform(0.01, 0.1)}


SAMPLES = {
    "output-perturbation": output_perturbation,
    "objective-perturbation": objective_perturbation,
    "exponential-mechanism": exponential_mechanism,
    "exponential-mechanism-sampler": exponential_sampler,
    "subsample-aggregate": subsample_aggregate,
    "sufficient-statistics": sufficient_statistics,
}
