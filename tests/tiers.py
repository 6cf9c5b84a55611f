"""The tiers of the tests: `quick` before a commit, `tests`, `thorough` at night (noxfile.py), and who stands for whom.

A test without a marker is in every tier; `full` keeps it out of `quick`, `thorough` out of `tests` as well. The marker
stands at the test, or at the cases of it that are dear. Numbers are asked of every bound in every tier. What all
bounds share (shapes, types, errors, the way to the reference) is asked of the bounds in `REPRESENTATIVES`; the others
are asked at night.
"""

from __future__ import annotations

import zlib
from collections.abc import Callable, Collection, Sequence
from typing import Any

import pytest
from hypothesis import settings

from oracle.core.registry import Bound

TIERS = ("full", "thorough")

REPRESENTATIVES = {
    "gdp.epsilon": "a root of two real numbers, which most bounds end in",
    "gaussian.delta": "a closed form that cancels, and underflows",
    "gaussian.sigma": "a noise that is found by inversion",
    "noisy-cgd.mu": "integers, and powers with huge exponents",
    "noisy-cgd.step": "a step size that rounds up, by search",
    "noisy-cgd-projected.mu": "a parameter that may be infinite",
    "shifted.mu": "lists beside a parameter that may be infinite",
    "glmtron.risk": "a risk of two lists",
    "glmtron.effective-dimension": "a dimension that is counted",
    "sbcd.rdp": "a Renyi divergence of one list among numbers and integers",
    "convex-relu.step": "two words, and the safe side below",
    "convex-relu.smoothness": "a word before the numbers",
    "convex-relu.contraction": "a contraction",
    "poisson-tuning.lower": "an epsilon whose safe side is below",
    "poisson-gaussian.delta": "a contour integral, slow, with a word",
    "shuffle.epsilon": "an inverse over integers, with a word",
}


def examples(share: float, **more: Any) -> settings:
    """That share of the tier's number of examples, for a test whose examples are dear: it too has more at night."""
    return settings(max_examples=round(share * settings.default.max_examples), **more)


def one_of(count: int, name: str) -> bool:
    """Whether a thing is one of the share of 1/count, always the same ones, that stands for all before the night."""
    return zlib.crc32(name.encode()) % count == 0


def later(items: Sequence[Any], dear: Callable[[Any], bool], tier: str, ids: Callable[[Any], str] = str) -> list[Any]:
    """The cases of a parametrised test, those that are dear marked for a later tier."""
    marker = getattr(pytest.mark, tier)
    return [pytest.param(item, id=ids(item), marks=[marker] * dear(item)) for item in items]


def named(items: Sequence[Any], dear: Collection[str], tier: str) -> list[Any]:
    """The cases of a test over things with names, those of the given names marked for a later tier."""
    assert set(dear) <= {item.name for item in items}, "a name that nothing has"
    return later(items, lambda item: item.name in dear, tier, lambda item: item.name)


def represented(bounds: Sequence[Bound]) -> list[Any]:
    """Every bound, those for which a representative stands at night only."""
    return named(bounds, {item.name for item in bounds} - set(REPRESENTATIVES), "thorough")
