"""Speed as ratios measured in one run: every fast path against its certified reference.

    python benchmarks/run.py [--points 10000 --json FILE]

`nox -s bench` runs it before accountants.py and trainings.py, which compare with other libraries.
"""

from __future__ import annotations

import argparse
import json
import time
from collections.abc import Callable
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import torch

from oracle.core.domain import Parameter
from oracle.core.registry import bound, bounds

REFERENCE_POINTS = 100  # at most
FEW = 3  # points that tell how long all would take
BUDGET = 0.5  # seconds for the points of a run


def draw(parameter: Parameter, example: str, points: int, rng: np.random.Generator) -> Any:
    """Values of a parameter around a bound's example, as an array.

    Only numbers vary: counts and schedules may be limited by each other, as a record's position is by their number.
    """
    if parameter.kind == "choice":
        return example
    if parameter.kind == "schedule":
        return np.tile([float(Fraction(entry)) for entry in example.split(",")], (points, 1))
    if parameter.kind == "integer" or example == "inf":
        return np.full(points, float(example if example == "inf" else Fraction(example)))
    values = float(Fraction(example)) * 10 ** rng.uniform(-0.03, 0.03, points)
    return values if parameter.high is None else np.minimum(values, float(parameter.high) * (1 - 1e-6))


def seconds(work: Callable[[], object], repeats: int = 3) -> float:
    """The best of a few runs, so that a busy machine hurts less."""
    best = float("inf")
    for _ in range(repeats):
        start = time.perf_counter()
        work()
        best = min(best, time.perf_counter() - start)
    return best


def first(count: int, arrays: dict[str, Any]) -> dict[str, Any]:
    """The first points of all."""
    return {key: value if isinstance(value, str) else value[:count] for key, value in arrays.items()}


def bench_bound(name: str, points: int) -> dict[str, Any]:
    rng = np.random.default_rng(0)
    item = bound(name)
    assert item.example is not None, name
    arrays = {p.name: draw(p, item.example[p.name], points, rng) for p in item.parameters}

    def affordable(work: Callable[[], object], done: int, most: int) -> int:
        return min(most, max(done, int(done * BUDGET / seconds(work, 1))))

    # A path that leans on the reference is slow: it gets as many points as its time allows.
    few = first(FEW, arrays)
    arrays = first(affordable(lambda: item.fast(**few), FEW, points), arrays)
    points = max(len(value) for value in arrays.values() if not isinstance(value, str))
    tensors = {key: value if isinstance(value, str) else torch.tensor(value) for key, value in arrays.items()}
    singles = [
        {key: value if isinstance(value, str) else value[i].tolist() for key, value in arrays.items()}
        for i in range(min(points, REFERENCE_POINTS))
    ]
    singles = singles[: affordable(lambda: item.reference(**singles[0]), 1, len(singles))]
    reference = seconds(lambda: [item.reference(**point) for point in singles], 1) / len(singles)
    numpy_time = seconds(lambda: item.fast(**arrays)) / points
    torch_time = seconds(lambda: item.fast(**tensors)) / points
    return {
        "bound": name, "reference_ms": 1e3 * reference, "numpy_per_second": 1 / numpy_time,
        "torch_per_second": 1 / torch_time, "numpy_over_reference": reference / numpy_time,
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--points", type=int, default=10_000)
    parser.add_argument("--json", type=Path)
    options = parser.parse_args()
    print(f"{'bound':28}{'reference':>14}{'numpy/s':>14}{'torch/s':>14}{'numpy : reference':>20}")
    rows = []
    for name in bounds():
        rows.append(row := bench_bound(name, options.points))
        print(
            f"{row['bound']:28}{row['reference_ms']:>11.3f} ms{row['numpy_per_second']:>14,.0f}"
            f"{row['torch_per_second']:>14,.0f}{row['numpy_over_reference']:>18,.0f} x", flush=True,
        )
    if options.json:
        options.json.write_text(json.dumps({"bounds": rows}, indent=2) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
