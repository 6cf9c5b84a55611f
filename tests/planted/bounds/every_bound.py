"""Bugs that any bound may have: enclosures too narrow or too wide, fast paths that are unsafe, loose, or no numbers."""

from __future__ import annotations

import math
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext
from fractions import Fraction
from functools import partial
from typing import Any

import pytest
import torch

from empirical.mutants.changes import certify, fast_path
from empirical.mutants.mutant import SLIP, Change, Mutant
from oracle.core.algorithm import Values
from oracle.core.enclosure import Dyadic, Enclosure
from oracle.core.registry import Bound, Certify, bounds
from tests.checks import sharpness
from tests.tiers import REPRESENTATIVES

EXACT = ("composition.basic",)
"""A product of doubles has no radius to drop."""

COVERED = ("poisson-gaussian.sigma",)
"""An inverse whose margin of 10^-12 is none of the budgets, and covers plain float64 as well."""


def shrunk(share: Fraction) -> Change:
    """Every enclosure shrunk around its midpoint to that share of its width (0: the radius dropped)."""

    def wrong(bound: Bound) -> Certify:
        def narrow(values: Values, width: Fraction) -> Enclosure:
            honest = bound.certify(values, width)
            unit = min(honest.lower.exponent, honest.upper.exponent) - 40
            lower, upper = (end.mantissa << (end.exponent - unit) for end in (honest.lower, honest.upper))
            middle, radius = (lower + upper) // 2, int((upper - lower) * share / 2)
            return Enclosure(Dyadic(middle - radius, unit), Dyadic(middle + radius, unit))

        return narrow

    return certify(wrong)


def widened(bound: Bound) -> Certify:
    """Enclosures that are 2^-38 = 3.6e-12 of the value wide, where 1e-12 is asked for."""

    def wide(values: Values, width: Fraction) -> Enclosure:
        honest = bound.certify(values, width)
        low, high = ((end.mantissa << 39, end.exponent - 39) for end in (honest.lower, honest.upper))
        return Enclosure(
            Dyadic(low[0] - honest.lower.mantissa, low[1]), Dyadic(high[0] + honest.upper.mantissa, high[1])
        )

    return wide


def moved(share: float) -> Change:
    """The fast path moved outward by a share of its value; inward, if that is negative."""

    def wrong(bound: Bound) -> Callable[[Any, Values], Any]:
        factor = 1 + share if bound.safe == "upper" else 1 - share
        return lambda xp, values: bound.vectorised(xp, values) * factor

    return fast_path(wrong)


def torch_differs(bound: Bound) -> Callable[[Any, Values], Any]:
    """A fast path that torch rounds elsewhere than numpy does."""

    def wrong(xp: Any, values: Values) -> Any:
        result = bound.vectorised(xp, values)
        return result * (1 + 10 * sharpness(bound)) if isinstance(result, torch.Tensor) else result

    return wrong


def leaking(bound: Bound) -> Bound:
    """A bound whose fast path gives a NaN."""

    class Leaky(Bound):
        def fast(self, **given: Any) -> Any:
            result = bound.fast(**given)
            result[7] = math.nan
            return result

    return Leaky(**{name: getattr(bound, name) for name in bound.__dataclass_fields__})


@contextmanager
def without_budgets(bound: Bound) -> Iterator[Bound]:
    """Every rounding budget set to nothing: plain float64, which is below the truth about as often as above."""
    with pytest.MonkeyPatch.context() as patch:
        dropped = 0
        for name, module in list(sys.modules.items()):
            for budget in ("UNIT", "TINY"):
                if name.startswith("oracle.") and hasattr(module, budget):
                    patch.setattr(module, budget, 0.0)
                    dropped += 1
        assert dropped >= 2, "there are no budgets of these names to drop"
        yield bound


SHARED = ("radius dropped", "enclosure shrunk", "fast path that leaks NaN", "libraries that differ", "budgets dropped",
          "loose fast path", "fast path rounded the wrong way")
"""Bugs whose check is the same for all bounds; that it sees a part in 10^12 of each is asked by day."""


def at_night(item: Mutant) -> bool:
    """Whether a representative of its bound stands for it before the night."""
    return item.title in SHARED and item.of not in REPRESENTATIVES and item in MUTANTS  # the last compares records


any_bound = partial(Mutant, origin=SLIP)
LEAK = Change("fast path", lambda honest: nullcontext(leaking(honest)))
NARROW = {"radius dropped": shrunk(Fraction(0)), "enclosure shrunk": shrunk(Fraction(1, 10**4))}

MUTANTS = (
    *(
        any_bound(name, title, change, severity="E", spared_by=("second opinion",)) if name in EXACT
        else any_bound(name, title, change, severity="C", caught_by=("second opinion",))
        for name in bounds() for title, change in NARROW.items()
    ),
    *(
        any_bound(name, title, change, severity=severity, caught_by=(check,), at={"words": words})
        for name in bounds() for title, change, severity, check, words in (
            ("enclosure too wide", certify(widened), "U", "width", "is wider than"),
            # By a part in 10^12, where a fast path's own excess is smaller than that at most points.
            ("fast path rounded the wrong way", moved(-1e-12), "N", "fast path", "UNSOUND"),
            ("loose fast path", moved(1e-8), "U", "fast path", "LOOSE"),
            ("fast path that leaks NaN", LEAK, "U", "fast path", "NaN"),
            ("libraries that differ", fast_path(torch_differs), "N", "libraries", "Not equal to tolerance"),
            ("budgets dropped", Change("engine", without_budgets), "N", "fast path", "UNSOUND"),
        )
        if not (title == "budgets dropped" and name in COVERED)
    ),
)
