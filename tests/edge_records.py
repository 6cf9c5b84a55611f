"""Records at the edges of float32 and float64, put into a data set: what no training may stumble over.

Of every sample of `tests.trainings` one record becomes one of these, in its features, its label or both, or all of them
do: the largest number, its root, powers of ten beyond float32 and beyond the root of float64, the least positive
number, zeros, and both signs in turn.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from typing import Any

import numpy as np

SIZES = {
    f"{kind} of {name}": value
    for name, limits in (("float32", np.finfo(np.float32)), ("float64", np.finfo(np.float64)))
    for kind, value in (
        ("largest", float(limits.max)), ("root of the largest", float(limits.max) ** 0.5),
        ("least", float(limits.smallest_subnormal)), ("least normal", float(limits.tiny)),
    )
} | {"1e20": 1e20, "1e40": 1e40, "1e155": 1e155, "1e300": 1e300, "zero": 0.0}


FEW = ("1e20", "1e40", "largest of float64", "least of float64")
"""Where one of each kind is enough."""


def edged(
    features: Any, labels: Any, *, sizes: Collection[str] = tuple(SIZES), every: bool = False
) -> Iterator[tuple[str, Any, Any]]:
    """The data with records at an edge, each with its name; `every` is for all records, and else it is the first."""
    rows = slice(None) if every else slice(0, 1)
    signs = np.resize([1.0, -1.0], features.shape[1])
    first = np.eye(features.shape[1])[0]
    for name in sizes:
        size = SIZES[name]
        for shape, entries in (("all entries", np.ones_like(signs)), ("signs in turn", signs), ("one entry", first)):
            moved = features.copy()
            moved[rows] = size * entries
            yield f"features, {shape}: {name}", moved, labels
        for sign in (1.0, -1.0):
            other, both = labels.copy(), features.copy()
            other[rows], both[rows] = sign * size, size * signs
            yield f"label: {'-' if sign < 0 else ''}{name}", features, other
            yield f"both: {'-' if sign < 0 else ''}{name}", both, other
