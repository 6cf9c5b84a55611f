"""Speed as ratios measured in one run: every fast path against its certified reference, and the training twins.

    nox -s bench [-- --points 10000 --json FILE]
"""

from __future__ import annotations

import argparse
import json
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import torch

from oracle import algorithm, bound, bounds
from oracle.domain import Parameter
from oracle.tape import Tape

REFERENCE_POINTS = 100


def draw(parameter: Parameter, points: int, rng: np.random.Generator) -> Any:
    """Everyday values of a parameter, as an array."""
    if parameter.kind == "choice":
        return parameter.choices[0]
    if parameter.kind == "integer":
        return np.floor(10 ** rng.uniform(0, 3, points))
    if parameter.high is not None:
        return 10 ** rng.uniform(-8, -0.01, points)
    return 10 ** rng.uniform(-0.5, 0.5, points)


def seconds(work: Callable[[], object], repeats: int = 3) -> float:
    """The best of a few runs, so that a busy machine hurts less."""
    best = float("inf")
    for _ in range(repeats):
        start = time.perf_counter()
        work()
        best = min(best, time.perf_counter() - start)
    return best


def bench_bound(name: str, points: int) -> dict[str, Any]:
    rng = np.random.default_rng(0)
    item = bound(name)
    arrays = {parameter.name: draw(parameter, points, rng) for parameter in item.parameters}
    tensors = {key: value if isinstance(value, str) else torch.tensor(value) for key, value in arrays.items()}
    singles = [
        {key: value if isinstance(value, str) else float(value[i]) for key, value in arrays.items()}
        for i in range(REFERENCE_POINTS)
    ]
    reference = seconds(lambda: [item.reference(**point) for point in singles], 1) / REFERENCE_POINTS
    numpy_time = seconds(lambda: item.fast(**arrays)) / points
    torch_time = seconds(lambda: item.fast(**tensors)) / points
    return {
        "bound": name, "reference_ms": 1e3 * reference, "numpy_per_second": 1 / numpy_time,
        "torch_per_second": 1 / torch_time, "numpy_over_reference": reference / numpy_time,
    }


def bench_training(models: int = 2000) -> dict[str, Any]:
    item = algorithm("noisy-cgd")
    config = item.parse({
        "loss": "logistic", "eta": "0.1", "lam": "0.1", "clip_norm": "1", "sigma": "0.1", "batch_size": 40,
        "epochs": 20, "feature_norm": "1",
    })
    rng = np.random.default_rng(0)
    features = rng.normal(size=(200, 10))
    features /= np.linalg.norm(features, axis=1, keepdims=True)
    labels = (rng.random(200) < 0.5).astype(float)
    tape = Tape(0, models)
    batched = seconds(lambda: item.train_batched(features, labels, config, tape)) / models
    literal = seconds(lambda: item.reference(features, labels, config, tape.one(0)), 1)
    return {"algorithm": item.name, "batched_models_per_second": 1 / batched, "batched_over_literal": literal / batched}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--points", type=int, default=10_000)
    parser.add_argument("--json", type=Path)
    options = parser.parse_args()
    rows = [bench_bound(name, options.points) for name in bounds()]
    training = bench_training()
    print(f"{'bound':20}{'reference':>14}{'numpy/s':>14}{'torch/s':>14}{'numpy : reference':>20}")
    for row in rows:
        print(
            f"{row['bound']:20}{row['reference_ms']:>11.3f} ms{row['numpy_per_second']:>14,.0f}"
            f"{row['torch_per_second']:>14,.0f}{row['numpy_over_reference']:>18,.0f} x"
        )
    print(
        f"{training['algorithm']}: {training['batched_models_per_second']:,.0f} models/s batched, "
        f"{training['batched_over_literal']:,.0f} x the literal reference"
    )
    if options.json:
        options.json.write_text(json.dumps({"bounds": rows, "training": training}, indent=2) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
