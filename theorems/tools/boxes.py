"""Proving an inequality for all parameters of a box: ball arithmetic on pieces, the undecided ones cut in two.

Every parameter is a ball that covers its piece, so a positive lower end proves the inequality on the whole piece. A
piece whose midpoint certainly fails is a counterexample; one that stays undecided when the budget is spent leaves the
question open. So does an equality somewhere in the box: divide out what vanishes, and prove the rest positive.
"""

from __future__ import annotations

import heapq
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from fractions import Fraction

from flint import arb, ctx

from oracle.core.enclosure import ball
from oracle.core.errors import DomainError
from theorems.tools.effort import points as effort
from theorems.verdict import Scope

Box = Mapping[str, tuple[Fraction, Fraction]]
Gap = Callable[..., arb | None]


@dataclass(frozen=True)
class Boxed:
    """Whether the inequality is proved on the whole box; else a point where it fails, or neither."""

    proved: bool
    counterexample: Mapping[str, Fraction] | None
    scope: Scope


def prove(box: Box, gap: Gap, *, pieces: int = 2000, precision: int = 100) -> Boxed:
    """Prove gap(**parameters) > 0 on a closed box.

    The gap is called with balls. It may return a NaN ball where it cannot tell, and None where certainly no point of
    the balls meets the hypotheses; such a piece is tried, but counts as not met.
    """
    for name, (low, high) in box.items():
        if low > high:
            raise DomainError(f"{name} = [{low}, {high}] is empty; expected a lower end and then an upper one")
    names, scale = list(box), {name: (high - low) or Fraction(1) for name, (low, high) in box.items()}
    queue: list[tuple[float, int, dict[str, tuple[Fraction, Fraction]]]] = [(0.0, 0, dict(box))]
    seen = met = 0
    counterexample: dict[str, Fraction] | None = None
    with ctx.workprec(precision):
        while queue and seen < effort(pieces) and counterexample is None:
            _, _, piece = heapq.heappop(queue)
            seen += 1
            value = gap(**{name: _cover(*piece[name]) for name in names})
            met += value is not None
            if value is None or value > 0:
                continue
            middle = {name: (piece[name][0] + piece[name][1]) / 2 for name in names}
            there = gap(**{name: ball(at) for name, at in middle.items()})
            if there is not None and there < 0:
                counterexample = middle
            widest = max(names, key=lambda name: (piece[name][1] - piece[name][0]) / scale[name])
            low, high = piece[widest]
            for count, half in enumerate(((low, middle[widest]), (middle[widest], high))):
                size = -float((high - low) / scale[widest])  # the largest pieces first
                heapq.heappush(queue, (size, 2 * seen + count, {**piece, widest: half}))
    region = {name: f"[{low}, {high}]" for name, (low, high) in box.items()}
    return Boxed(not queue, counterexample, Scope("box", seen, met, region))


def _cover(low: Fraction, high: Fraction) -> arb:
    return ball(low).union(ball(high))
