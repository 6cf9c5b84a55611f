"""Samples of phased SGD: plain, projected, smoothed."""

from __future__ import annotations

from typing import Any

import numpy as np

from tests.trainings.descent import number
from tests.trainings.noisy_cgd import Sample, unit_data


def phased(rng: np.random.Generator) -> Sample:
    """Any number of records, in one block and in several; labels in the bound, on its ends now and then."""
    records, bound = number(rng, 2, 12) if rng.random() < 0.7 else number(rng, 64, 90), rng.uniform(0.3, 2)
    features, ends = unit_data(rng, records, number(rng, 1, 5))
    labels = np.where(rng.random(records) < 0.2, 2 * ends - 1, rng.uniform(-1, 1, records)) * bound
    config: dict[str, Any] = {
        "link": str(rng.choice(["tanh", "sigmoid", "clip", "constant", "sign"])), "label_bound": bound,
        "base_learning_rate": rng.uniform(0.1, 4), "noise_over_step": rng.uniform(0.1, 10),
        "initial_radius": rng.choice([0.0, 3.0]),
    }
    return features, labels, config


def projected(rng: np.random.Generator) -> Sample:
    """To fewer dimensions than the records have, and to more."""
    features, labels, config = phased(rng)
    # Few rows, whose long projections use up any delta, or enough of them for a guarantee.
    rows = number(rng, 24, 30) if rng.random() < 0.5 else number(rng, 1, 8)
    return features, labels, {**config, "projected_dimension": rows}


def smoothing(rng: np.random.Generator, bound: float) -> dict[str, Any]:
    """Algorithm 4 takes up to 150 steps a record, or 600."""
    oracle = str(rng.choice(["bisection", "subgradient"]))
    gamma = rng.uniform(1, 13) * bound if oracle == "subgradient" else 10 ** rng.uniform(-8, 0)
    return {"envelope_smoothness": rng.uniform(0.5, 5), "oracle_error": gamma, "gradient_oracle": oracle}


def smoothed(rng: np.random.Generator) -> Sample:
    features, labels, config = phased(rng)
    return features, labels, {**config, **smoothing(rng, config["label_bound"])}


def smoothed_projected(rng: np.random.Generator) -> Sample:
    features, labels, config = projected(rng)
    return features, labels, {**config, **smoothing(rng, config["label_bound"])}


SAMPLES = {
    "phased-sgd": phased, "phased-sgd-projected": projected, "smoothed-phased-sgd": smoothed,
    "smoothed-phased-sgd-projected": smoothed_projected,
}
