"""Samples of gradient descent, plain and private, on linear models and on networks."""

from __future__ import annotations

from typing import Any

import numpy as np

from tests.trainings.noisy_cgd import Sample, unit_data


def number(rng: np.random.Generator, low: int, high: int) -> int:
    """An integer from low to high, both included."""
    return int(rng.integers(low, high, endpoint=True))


def sized(rng: np.random.Generator, records: int) -> dict[str, Any]:
    """A relation and a constant n; where records come and go, n need not be how many there are."""
    if rng.random() < 0.5:
        return {"neighbours": "replace", "dataset_size": records}
    return {"neighbours": "add_remove", "dataset_size": max(1, records + number(rng, -1, 1))}


def loss(rng: np.random.Generator) -> str:
    return str(rng.choice(["linear", "squared", "logistic"]))


def noisy(rng: np.random.Generator) -> dict[str, Any]:
    return {
        "learning_rate": rng.uniform(0.001, 2), "clip_norm": rng.uniform(0.01, 1),
        "noise_on_mean": rng.uniform(0.001, 3), "steps": number(rng, 1, 6),
    }


def batched(rng: np.random.Generator, records: int) -> dict[str, Any]:
    """Poisson batches: of everyone now and then, empty more often, of a size that divides nothing."""
    size = sized(rng, records)
    return {**size, "batch_size": size["dataset_size"] if rng.random() < 0.2 else number(rng, 1, size["dataset_size"])}


def gd(rng: np.random.Generator) -> Sample:
    config = {
        "loss": loss(rng), "learning_rate": rng.uniform(0.001, 2), "steps": number(rng, 1, 6),
        "initial_std": rng.uniform(0.1, 3), "iterate": str(rng.choice(["average", "last"])),
    }
    return *unit_data(rng, number(rng, 1, 9), number(rng, 1, 5)), config


def dp_gd(rng: np.random.Generator) -> Sample:
    records = number(rng, 1, 9)
    config = {"loss": loss(rng), **noisy(rng), **sized(rng, records)}
    return *unit_data(rng, records, number(rng, 1, 5)), config


def dp_gd_projected(rng: np.random.Generator) -> Sample:
    """Features of norm at most 1 and labels of at most 1: radius + 1 bounds the gradients of all three losses."""
    records, radius = number(rng, 1, 9), rng.uniform(0.05, 3)
    config = {"loss": loss(rng), **noisy(rng), **sized(rng, records), "radius": radius, "lipschitz": radius + 1}
    del config["clip_norm"]
    dimension = number(rng, 1, 5)
    if dimension == 1 and config["steps"] % 2 == 0:
        config["steps"] += 1  # else iterates at both ends of the ball may average to 0, which has no relative error
    return *unit_data(rng, records, dimension), config


def dp_sgd(rng: np.random.Generator) -> Sample:
    records = number(rng, 1, 9)
    config = {"loss": loss(rng), "regularisation": rng.choice([0.0, 0.3]), **noisy(rng), **batched(rng, records)}
    return *unit_data(rng, records, number(rng, 1, 5)), config


def dp_sgd_network(rng: np.random.Generator) -> Sample:
    records = number(rng, 1, 9)
    config = {
        "loss": str(rng.choice(["squared", "logistic"])), "activation": str(rng.choice(["tanh", "relu"])),
        "hidden_units": number(rng, 1, 5), "initial_scale": rng.uniform(0.1, 2), **noisy(rng), **batched(rng, records),
    }
    return *unit_data(rng, records, number(rng, 1, 5)), config


SAMPLES = {
    "gd": gd, "dp-gd": dp_gd, "dp-gd-projected": dp_gd_projected, "dp-sgd": dp_sgd, "dp-sgd-network": dp_sgd_network,
}
