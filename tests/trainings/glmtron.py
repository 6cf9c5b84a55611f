"""Samples of ReLU regression (document 003): one pass, shuffled or on prefix sums, and clipping thresholds."""

from __future__ import annotations

from typing import Any

import numpy as np

from tests.trainings.descent import number
from tests.trainings.noisy_cgd import Sample


def relu_data(rng: np.random.Generator, records: int, dimension: int) -> tuple[Any, Any]:
    """Records of many lengths, one of them zero now and then; labels of either sign."""
    features = rng.normal(size=(records, dimension)) * rng.uniform(0.1, 3, (records, 1))
    if rng.random() < 0.3:
        features[number(rng, 0, records - 1)] = 0.0
    return features, np.maximum(features @ rng.normal(size=dimension), 0) + rng.normal(size=records)


def one_pass(rng: np.random.Generator) -> Sample:
    """Vectors on both sides of the clipping norm, from zero and from elsewhere, the misprint now and then."""
    config = {
        "learning_rate": rng.uniform(0.01, 0.5), "clip_norm": rng.uniform(0.1, 3),
        "noise_over_sensitivity": rng.uniform(0.1, 3), "initial_std": rng.choice([0.0, rng.uniform(0.1, 2)]),
        "clip": str(rng.choice(["shorten", "printed-max"], p=[0.8, 0.2])),
    }
    return *relu_data(rng, number(rng, 2, 20), number(rng, 1, 6)), config


def tree(rng: np.random.Generator) -> Sample:
    """The same, the noise named by the clipping norm."""
    features, labels, config = one_pass(rng)
    config["noise_multiplier"] = config.pop("noise_over_sensitivity")
    return features, labels, {**config, "neighbours": str(rng.choice(["replace", "add_remove"]))}


def alike(rng: np.random.Generator, records: int, dimension: int) -> tuple[Any, Any]:
    """Records whose squares fall into a bin or two; one record is far away."""
    sizes = rng.uniform(0.97, 1.03, records) ** rng.choice([0, 1])
    features, labels = rng.normal(size=dimension) * sizes[:, None], rng.normal() * sizes
    labels[number(rng, 0, records - 1)] *= 100
    return features, labels


def histograms(rng: np.random.Generator) -> dict[str, Any]:
    """Noise and a bar of a few counts, and a few batches more than the bar needs: failures and successes."""
    epsilon, delta = rng.uniform(1, 2), 10 ** -rng.uniform(6, 7)
    return {
        "threshold_epsilon": epsilon, "threshold_delta": delta, "model_variance": rng.choice([0.0, 0.3]),
        "histogram_batches": int(2 + 2 / epsilon * np.log(1 / delta)) + number(rng, 1, 3),
    }


def threshold(rng: np.random.Generator) -> Sample:
    config, dimension = histograms(rng), number(rng, 1, 5)
    features, labels = alike(rng, config["histogram_batches"] * number(rng, 1, 4), dimension)
    weights = [0.0] * dimension if rng.random() < 0.2 else list(rng.normal(size=dimension))
    return features, labels, {**config, "weights": weights}


def adaptive(rng: np.random.Generator) -> Sample:
    """A few steps, whose thresholds speak or fail; the step before decides where they fail."""
    features, labels, config = one_pass(rng)
    steps, bins = number(rng, 2, 6), histograms(rng)
    features, labels = features[:steps], labels[:steps]
    estimation = bins["histogram_batches"] * number(rng, 1, 3)
    others = alike(rng, estimation, features.shape[1])
    return np.concatenate([features, others[0]]), np.concatenate([labels, others[1]]), {
        **config, **bins, "threshold_records": estimation, "threshold_scale": rng.uniform(0.1, 1),
    }


SAMPLES = {
    "dp-glmtron": one_pass, "glm-dp-sgd": one_pass, "dp-taglmtron": tree, "dp-ftrl": tree, "dp-threshold": threshold,
    "dp-glmtron-adaptive": adaptive,
}
