"""What the generic tests need to know of a family of bounds, one file a family; every file here is found by itself.

A file may export OPINIONS (second opinions, written without oracle code), DIRECTIONS (how a bound moves in its
parameters), RANGES, MAPS and CORNERS (where its parameters are drawn) and FEW_POINTS (bounds whose reference is slow).
They mean what the tables of the same name in `opinions`, `checks` and `samples` mean, which gather them.
"""

from __future__ import annotations

import importlib
import pkgutil
from typing import Any

RISES, FALLS = "rises", "falls"
TURNS = "turns"  # moves neither way throughout, or not at all


def gathered(table: str, package: str = __name__, files: str = "") -> dict[Any, Any]:
    """The tables of that name of all files of a package (whose name begins so), as one; a key twice is an error."""
    whole: dict[Any, Any] = {}
    for info in pkgutil.iter_modules(importlib.import_module(package).__path__, prefix=package + "."):
        if not info.name.startswith(f"{package}.{files}"):
            continue
        part = getattr(importlib.import_module(info.name), table, {})
        twice = whole.keys() & part.keys()
        assert not twice, f"{info.name} says again what another file said: {twice}"
        whole |= part
    return whole
