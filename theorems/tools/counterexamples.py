"""Looking for the smallest counterexample: hypothesis draws and shrinks, and what was drawn is counted.

A search that finds nothing is evidence at points, never a proof. It is repeatable: a fixed seed, no database, and
nothing taken from whichever modules happen to be loaded. What is counted are the draws up to and including the first
counterexample; the steps that then make it smaller are no evidence and are not counted.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from theorems.tools.effort import points as effort
from theorems.verdict import Scope

if TYPE_CHECKING:  # slow to import, and most claims draw nothing
    from hypothesis import strategies as st

_SEED = 20240607


@dataclass(frozen=True)
class CounterexampleSearch:
    """The smallest counterexample found, or None, and how much was tried."""

    counterexample: Mapping[str, Any] | None
    scope: Scope


def search(
    domain: Mapping[str, st.SearchStrategy[Any]], fails: Callable[..., bool], *,
    meets: Callable[..., bool] = lambda **_: True, points: int = 200, region: Mapping[str, str] | None = None,
) -> CounterexampleSearch:
    """Draw points of a domain, keep those that meet the hypotheses, and shrink one where the statement fails.

    `region` says in words where the points come from, if the strategies do not say it well themselves.
    """
    from hypothesis import HealthCheck, Phase, find, settings
    from hypothesis import strategies as st
    from hypothesis.errors import NoSuchExample, Unsatisfiable

    tried = met = 0
    shrinking = False

    def violates(point: dict[str, Any]) -> bool:
        nonlocal tried, met, shrinking
        tried += not shrinking
        if not meets(**point):
            return False
        met += not shrinking
        failed = fails(**point)
        shrinking = shrinking or failed
        return failed

    strategy = st.fixed_dictionaries(dict(domain))
    chosen = settings(
        max_examples=effort(points), database=None, deadline=None, suppress_health_check=list(HealthCheck),
        phases=(Phase.generate, Phase.shrink),
    )
    try:
        with _own_constants():
            found: Mapping[str, Any] | None = find(strategy, violates, settings=chosen, random=random.Random(_SEED))
    except (NoSuchExample, Unsatisfiable):  # the latter: the strategies' own filters left nothing, and nothing was met
        found = None
    described = {name: repr(drawn) for name, drawn in domain.items()} if region is None else region
    return CounterexampleSearch(found, Scope("points", tried, met, described))


@contextmanager
def _own_constants() -> Iterator[None]:
    """Keep hypothesis from drawing the constants that stand in loaded modules: a check must not depend on them."""
    from unittest.mock import patch

    from hypothesis.internal.conjecture import providers

    with ExitStack() as stack:
        if hasattr(providers, "_get_local_constants"):  # older versions draw no such constants
            stack.enter_context(patch.object(providers, "_get_local_constants", type(providers.GLOBAL_CONSTANTS)))
            stack.enter_context(patch.object(providers, "CONSTANTS_CACHE", type(providers.CONSTANTS_CACHE)(1024)))
        yield
