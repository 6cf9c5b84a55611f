"""Samples of phased SGD on multinomial features."""

from __future__ import annotations

from typing import Any

import numpy as np

from tests.trainings.descent import number
from tests.trainings.noisy_cgd import Sample, unit_data


def setting(rng: np.random.Generator) -> dict[str, Any]:
    """Learning rates below and above what the bounds allow; noise that does not drown the training."""
    return {
        "link": str(rng.choice(["sigmoid", "clip", "constant"])), "degree": number(rng, 1, 4),
        "base_learning_rate": rng.uniform(0.1, 12), "noise_over_step": rng.uniform(0.001, 2),
    }


def data(rng: np.random.Generator) -> tuple[Any, Any]:
    """Up to 75 records, so that the first phase may take more than one block; labels anywhere in [0, 1]."""
    records = number(rng, 2, 75) if rng.random() < 0.4 else number(rng, 2, 12)
    features, _ = unit_data(rng, records, number(rng, 1, 4))
    return features, rng.random(records)


def plain(rng: np.random.Generator) -> Sample:
    return *data(rng), setting(rng)


def projected(rng: np.random.Generator) -> Sample:
    """Few rows, whose long projections use up any delta, or enough of them for a guarantee."""
    rows = number(rng, 18, 24) if rng.random() < 0.5 else number(rng, 1, 7)
    return *data(rng), {**setting(rng), "projected_dimension": rows}


SAMPLES = {"two-layer": plain, "two-layer-projected": projected}
