"""Looking for the smallest counterexample: hypothesis draws and shrinks, and what was drawn is counted.

A search that finds nothing is evidence at points, never a proof. It is deterministic: a fixed seed and no database.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from hypothesis import HealthCheck, Phase, find, settings
from hypothesis import strategies as st
from hypothesis.errors import NoSuchExample

from theorems.claim import Scope
from theorems.effort import points as effort

_SEED = 20240607


@dataclass(frozen=True)
class Searched:
    """The smallest counterexample found, or None, and how much was tried."""

    counterexample: Mapping[str, Any] | None
    scope: Scope


def search(
    domain: Mapping[str, st.SearchStrategy[Any]], fails: Callable[..., bool], *,
    meets: Callable[..., bool] = lambda **_: True, points: int = 200,
) -> Searched:
    """Draw points of a domain, keep those that meet the hypotheses, and shrink one where the statement fails."""
    tried = met = 0

    def violates(point: dict[str, Any]) -> bool:
        nonlocal tried, met
        tried += 1
        if not meets(**point):
            return False
        met += 1
        return fails(**point)

    strategy = st.fixed_dictionaries(dict(domain))
    chosen = settings(
        max_examples=effort(points), database=None, deadline=None, suppress_health_check=list(HealthCheck),
        phases=(Phase.generate, Phase.shrink),
    )
    try:
        found: Mapping[str, Any] | None = find(strategy, violates, settings=chosen, random=random.Random(_SEED))
    except NoSuchExample:
        found = None
    return Searched(found, Scope("points", tried, met, {name: repr(drawn) for name, drawn in domain.items()}))
