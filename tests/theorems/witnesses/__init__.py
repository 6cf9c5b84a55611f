"""Every counterexample again, by a route that shares nothing with the checker that found it.

Each module of this folder and those below has `WITNESSES`: by the id of a refuted claim, a function that reads the
witness's strings and says whether the claim fails there. `NOT_WITNESSES` may give, by the same id, a mapping at which
the claim holds.
"""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Callable, Mapping

Verifier = Callable[[Mapping[str, str]], bool]


def gather() -> tuple[dict[str, Verifier], dict[str, Mapping[str, str]]]:
    """What all modules of this folder and those below give; an id that stands in two of them is an error."""
    verifiers: dict[str, Verifier] = {}
    harmless: dict[str, Mapping[str, str]] = {}
    for info in pkgutil.walk_packages(__path__, prefix=f"{__name__}."):
        if info.ispkg:
            continue
        module = importlib.import_module(info.name)
        twice = verifiers.keys() & module.WITNESSES.keys()
        assert not twice, f"{sorted(twice)} are re-verified in two modules"
        verifiers |= module.WITNESSES
        harmless |= getattr(module, "NOT_WITNESSES", {})
    return verifiers, harmless
