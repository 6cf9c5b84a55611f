"""Proving an inequality for all parameters of a box: ball arithmetic on pieces, the undecided ones cut in two.

Every parameter is a ball that covers its piece, so a positive lower end proves the inequality on the whole piece. A
piece whose midpoint certainly fails is a counterexample; one that stays undecided when the budget is spent leaves the
question open.
"""

from __future__ import annotations

import heapq
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from fractions import Fraction

from flint import arb, ctx

from oracle.enclosure import ball
from theorems.claim import Scope
from theorems.effort import points as effort

Box = Mapping[str, tuple[Fraction, Fraction]]


@dataclass(frozen=True)
class Boxed:
    """Whether the inequality is proved on the whole box; else a point where it fails, or neither."""

    proved: bool
    counterexample: Mapping[str, Fraction] | None
    scope: Scope


def prove(box: Box, gap: Callable[..., arb], *, pieces: int = 2000, precision: int = 100) -> Boxed:
    """Prove gap(**parameters) > 0 on a closed box; the gap is called with balls, and may return a NaN ball."""
    region = {name: f"[{low}, {high}]" for name, (low, high) in box.items()}
    names, scale = list(box), {name: (high - low) or Fraction(1) for name, (low, high) in box.items()}
    queue: list[tuple[float, int, dict[str, tuple[Fraction, Fraction]]]] = [(0.0, 0, dict(box))]
    seen, most = 0, effort(pieces)
    with ctx.workprec(precision):
        while queue and seen < most:
            _, _, piece = heapq.heappop(queue)
            seen += 1
            value = gap(**{name: _cover(*piece[name]) for name in names})
            if value > 0:
                continue
            middle = {name: (piece[name][0] + piece[name][1]) / 2 for name in names}
            if gap(**{name: ball(at) for name, at in middle.items()}) < 0:
                return Boxed(False, middle, Scope("box", seen, seen, region))
            widest = max(names, key=lambda name: (piece[name][1] - piece[name][0]) / scale[name])
            low, high = piece[widest]
            for count, half in enumerate(((low, middle[widest]), (middle[widest], high))):
                size = -float((high - low) / scale[widest])  # the largest pieces first
                heapq.heappush(queue, (size, 2 * seen + count, {**piece, widest: half}))
    return Boxed(not queue, None, Scope("box", seen, seen, region))


def _cover(low: Fraction, high: Fraction) -> arb:
    return ball(low).union(ball(high))
