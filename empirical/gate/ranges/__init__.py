"""Where the parameters of each bound are drawn, one file a family of bounds; every file here is found by itself.

A file may export RANGES (decimal exponents between which a parameter is drawn), MAPS (maps from the unit interval for
domains of their own, and for parameters that must suit each other), CORNERS (the far values of a parameter),
FEW_POINTS (bounds whose reference takes long: at most so many points), EVERYDAY (a narrower everyday range than
`everyday_ranges` has) and DIRECTIONS (how a bound moves in each parameter). `points`, `partition` and `neighbours`
gather them; a bound needs an entry only where its parameters' domains alone do not say enough.
"""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Callable
from typing import Any

Ranges = dict[tuple[str, str], tuple[float, float]]
Maps = dict[tuple[str, str], Callable[[float], Any]]
Edges = tuple[float, ...]
Corners = dict[tuple[str, str], tuple[float, ...]]

LARGEST = 1.7976931348623157e308
SMALLEST = 5e-324

# The far corners of the doubles; the integers are doubles all, since both paths must see one number.
CORNER_REALS = (SMALLEST, 2.5e-323, 1e-310, 1e-300, 1e-160, 1e-30, 1e-8, 1.0, 3.0, 1e8, 1e30, 1e160, 1e300, LARGEST)
CORNER_INTEGERS = (1, 2, 3, 10**6, 2**53, int(1e100), int(1e300))
CORNER_UNITS = (0.0, SMALLEST, 1e-300, 1e-17, 1e-8, 0.5, 1 - 1e-8, 1 - 2**-53, 1.0)
CORNER_PROBABILITIES = (SMALLEST, 1e-310, 1e-300, 1e-100, 1e-15, 1e-5, 0.3, 0.5, 0.5000000001, 0.9, 1 - 2**-53)


def logarithmic(u: float, logs: tuple[float, float]) -> float:
    """The number at the position u in [0, 1] between two decimal exponents."""
    return float(10.0 ** (logs[0] + u * (logs[1] - logs[0])))


def gathered(table: str, package: str = __name__, files: str = "") -> dict[Any, Any]:
    """The tables of that name of all files of a package (whose name begins so), as one; a key twice is an error."""
    whole: dict[Any, Any] = {}
    root = importlib.import_module(package)  # told: this package, or one that the caller names in a string
    for info in pkgutil.iter_modules(root.__path__, prefix=package + "."):
        if not info.name.startswith(f"{package}.{files}"):
            continue
        part = getattr(importlib.import_module(info.name), table, {})  # told: as above
        twice = whole.keys() & part.keys()
        assert not twice, f"{info.name} says again what another file said: {twice}"
        whole |= part
    return whole
