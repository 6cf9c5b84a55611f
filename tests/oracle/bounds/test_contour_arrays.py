"""The vectorised contour sum: never below the certified epsilon, close to it where it answers, NaN where it cannot."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

import array_api_compat.numpy as numpy_namespace
import numpy as np
import pytest
import torch

from oracle.engines.composed_pairs import PoissonGaussian, compose
from oracle.engines.contour_arrays import upper_bound

DIRECTIONS = {"add_remove": ("remove", "add"), "replace": ("replace",)}


def fast(points: list[tuple[float, float, float, float]], neighbours: str) -> Any:
    columns = [np.array(column) for column in zip(*points, strict=True)]
    with np.errstate(all="ignore"):
        return upper_bound(numpy_namespace, *columns[:3], DIRECTIONS[neighbours], delta=columns[3])


def drawn(count: int) -> list[tuple[float, float, float, float]]:
    """Everyday settings, fixed by a seed."""
    rng = np.random.default_rng(11)
    return [
        (
            float(10 ** rng.uniform(-0.1, 1.3)), float(10 ** rng.uniform(-3, -0.5)),
            float(math.floor(10 ** rng.uniform(2.3, 5))), float(10 ** rng.uniform(-9, -2)),
        )
        for _ in range(count)
    ]


@pytest.mark.full
@pytest.mark.parametrize("neighbours", DIRECTIONS)
def test_sound_and_close_on_everyday_settings(neighbours: str) -> None:
    points = drawn(24)
    values = fast(points, neighbours)
    answered = 0
    for (sigma, rate, steps, delta), value in zip(points, values, strict=True):
        if math.isnan(value):
            continue
        answered += 1
        part = PoissonGaussian(Fraction(sigma), Fraction(rate))
        lower, upper = compose([(part, int(steps))], neighbours=neighbours).epsilon(Fraction(delta)).to_floats()
        assert value >= lower, f"unsound at {(sigma, rate, steps, delta)}: {value} < {lower}"
        assert value <= upper * (1 + 1e-9), f"loose at {(sigma, rate, steps, delta)}: {value} > {upper}"
    assert answered >= 22


def test_numpy_and_torch_agree() -> None:
    points = drawn(8)
    columns = [torch.tensor(column, dtype=torch.float64) for column in zip(*points, strict=True)]
    import array_api_compat.torch as torch_namespace

    other = upper_bound(torch_namespace, *columns[:3], DIRECTIONS["add_remove"], delta=columns[3]).numpy()
    np.testing.assert_allclose(other, fast(points, "add_remove"), rtol=1e-8)


def test_what_float64_does_not_serve_is_nan() -> None:
    # One step, no sampling, and a composition of two steps whose characteristic function decays too slowly.
    values = fast([(1.0, 0.01, 1.0, 1e-5), (1.0, 1.0, 100.0, 1e-5), (1.0, 0.01, 2.0, 1e-5)], "add_remove")
    assert np.isnan(values).all()
