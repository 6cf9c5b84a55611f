"""The optimal-shift programme in float64: one pass over the steps from the right, vectorised over the batch.

Blocks (B, V, R) are those of `shift_programme`: sums of positive terms, so that every quantity carries at most a few
roundings a step, and mu is inflated by that count. Which edges are joined is decided in float64; a wrong decision needs
slopes that agree to the rounding error r, and then changes the cost by its r^2 part, far below the budget.

A product R below the floor is replaced by the floor. That is harmless where the left block is not beyond 10^100 times
the right one (it then counts for less than 10^-40, as it does in truth); elsewhere, and where sizes leave the range in
which no product over- or underflows, the answer is left to the reference (NaN). So it is where the tangents from all
starts take more rounds than the references of the rows would (many edges and a large diameter: the reference finds
tangents by bisection).
"""

from __future__ import annotations

import math
from typing import Any

from oracle.core.arrays import at_least, at_most, inflate

_FLOOR = 1e-140
_NEGLIGIBLE = 1e100
_RANGE = 1e60
_UNITS_A_STEP = 16.0
_ROUNDS_A_STEP = 8


def _unusual(value: Any) -> Any:
    return (value != 0.0) & ((value < 1 / _RANGE) | (value > _RANGE))


class _Chains:
    """The minorants of one suffix of every row: stacks of edges, the leftmost on top, row 0 an end that never joins."""

    def __init__(self, xp: Any, rows: int, steps: int, like: Any) -> None:
        self.xp = xp
        self.rounds = (_ROUNDS_A_STEP + rows) * (steps + 100)
        self.rows = xp.arange(rows, device=like.device)
        self.top = xp.zeros_like(self.rows)
        self.drift, self.spread, self.memory, self.costs = (
            xp.zeros((rows, steps + 1), dtype=xp.float64, device=like.device) for _ in range(4)
        )
        self.bad = xp.zeros((rows,), dtype=xp.bool, device=like.device)

    def tangent(self, drift: Any, spread: Any, memory: Any) -> tuple[Any, Any, Any, Any]:
        """The edge that begins with a block in front of the chain, and the stack position of what follows it."""
        at = self.top
        while True:
            b, v, r = (stack[self.rows, at] for stack in (self.drift, self.spread, self.memory))
            joins = (at > 0) & (drift * v >= r * b * spread)
            if self.rounds == 0 or not bool(self.xp.any(joins)):
                return drift, spread, memory, at
            self.rounds -= 1
            faint = (r == _FLOOR) & ((drift > _NEGLIGIBLE * b) | (spread > _NEGLIGIBLE * v))
            self.bad = self.bad | (joins & faint)
            drift = self.xp.where(joins, r * drift + b, drift)
            spread = self.xp.where(joins, r * r * spread + v, spread)
            product = memory * r
            floored = self.xp.where(product > 0.0, at_least(self.xp, product, _FLOOR), product)
            memory = self.xp.where(joins, floored, memory)
            at = at - self.xp.astype(joins, at.dtype)
            self.bad = self.bad | _unusual(drift) | _unusual(spread) | (memory > _RANGE)

    def cost(self, drift: Any, spread: Any, at: Any) -> Any:
        """The cost of an edge and of all that follows it."""
        return drift * (drift / spread) + self.costs[self.rows, at]

    def push(self, drift: Any, spread: Any, memory: Any) -> Any:
        """Put a step in front of every chain; the cost of the longer chains."""
        drift, spread, memory, at = self.tangent(drift, spread, memory)
        cost, self.top = self.cost(drift, spread, at), at + 1
        for stack, value in (
            (self.drift, drift), (self.spread, spread), (self.memory, memory), (self.costs, cost),
        ):
            stack[self.rows, self.top] = value
        return cost


def _flat(xp: Any, schedule: Any) -> Any:
    return xp.reshape(schedule, (math.prod(schedule.shape[:-1]), schedule.shape[-1]))


def optimum_upper(xp: Any, drift: Any, contraction: Any, noise: Any, diameter: Any) -> Any:
    """mu of the programme, rounded up; NaN where float64 cannot serve."""
    shape, steps = drift.shape[:-1], drift.shape[-1]
    drifts, noises, factors = (_flat(xp, array) for array in (drift, noise, contraction))
    bound = xp.reshape(diameter, (-1,))
    whole = xp.zeros_like(bound)
    best = xp.full_like(bound, math.inf)
    bounded = bool(xp.any(bound < math.inf))
    chains = _Chains(xp, bound.shape[0], steps, bound)
    chains.bad = xp.any(_unusual(drifts) | _unusual(noises**2) | (factors > _RANGE), axis=-1)
    for i in reversed(range(steps)):
        spread = noises[:, i] ** 2
        # What is so small counts as the floor; `tangent` sees to it that it does not matter.
        memory = xp.where(factors[:, i] > 0.0, at_least(xp, factors[:, i], _FLOOR), factors[:, i])
        if bounded:
            reach = xp.where(bound < math.inf, drifts[:, i] + factors[:, i] * bound, 0.0)
            chains.bad = chains.bad | _unusual(reach)
            first, width, _, at = chains.tangent(reach, spread, memory)
            best = at_most(xp, best, xp.where(bound < math.inf, chains.cost(first, width, at), math.inf))
        whole = chains.push(drifts[:, i], spread, memory)
        if chains.rounds == 0 or (bounded and bool(xp.all(best < whole * (1 - 1e-6)))):
            break  # in the second case because an earlier start costs at least what this suffix costs by itself
    mu = inflate(xp.sqrt(at_most(xp, whole, best)), 64.0 + _UNITS_A_STEP * steps)
    return xp.reshape(xp.where(chains.bad | (chains.rounds == 0), math.nan, mu), shape)


def chord_upper(xp: Any, drift: Any, contraction: Any, noise: Any) -> Any:
    """mu of the single edge, rounded up; NaN where float64 cannot serve."""
    bad = xp.any(_unusual(drift) | _unusual(noise**2) | (contraction > _RANGE), axis=-1)
    gap = xp.sum(xp.zeros_like(drift), axis=-1)
    spread = gap
    for i in range(drift.shape[-1]):
        factor, before = contraction[..., i], gap
        gap = factor * gap + drift[..., i]
        spread = factor * factor * spread + noise[..., i] ** 2
        lost = (before > 0.0) & (factor > 0.0) & (gap < _FLOOR)
        bad = bad | lost | (gap > 1 / _FLOOR) | (spread > 1 / _FLOOR)
    steps = drift.shape[-1]
    mu = gap / xp.sqrt(spread) if steps else gap
    return xp.where(bad, math.nan, inflate(mu, 64.0 + _UNITS_A_STEP * steps))
