r"""The chain of `glmtron_recursion` over many steps, by blocks, in extended numbers with a proved error.

A direction has lambda, what is kept k = 1 - eta lambda + eta^2 lambda^2, remembered q = 1 - eta lambda/2, fed
f = eta^2 lambda/2 and fresh c. From a and b at the start of a block of n steps, with E_t = sum lambda_i a_{t,i},

    E = R u,   u_t = sum lambda k^t a + sum lambda c (1 + k + ... + k^{t-1}),   R the Toeplitz matrix of 1/(1 - V),
    a_n = k^n a + f sum_s k^{n-1-s} E_s + c (1 + ... + k^{n-1}),      V(z) = sum_i lambda_i f_i z / (1 - k_i z),
    b_n = q^n b + T_n a + f sum_s T_{n-1-s} E_s + c (T_0 + ... + T_{n-1}),      T_{j+1} = q (T_j + k^j), T_0 = 0:

what a = 1 has left in b after j steps is T_j. With S_j = T_0 + ... + T_{j-1}, the sum of b over the block is
(1 + ... + q^{n-1}) b + S_n a + f sum_s S_{n-1-s} E_s + c (S_0 + ... + S_{n-1}). Every number is >= 0.

The tables are computed in balls and rounded, to 2 units each. Errors in units, d directions, r those of a and b: u has
r + d + 3, E r + d + n + 5, and the next a and b at most r + d + 2n + 10, whatever the order in which products are
summed; a block's total has r + d + 2n + 12, and each block adds 1 to that of all.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import accumulate
from typing import Any

import numpy as np
from flint import arb, ctx

from oracle.core.enclosure import Enclosure, ball
from oracle.engines.extended import available, exact, extended, extended_of_balls, relative

_BLOCK = 64
_BITS = 192


@dataclass(frozen=True)
class Direction:
    """One eigenvector: lambda, a_0, and by what an a is kept, remembered, fed and refreshed in a step."""

    size: Fraction
    gap: Fraction
    kept: Fraction
    memory: Fraction
    fed: Fraction
    fresh: Fraction


class _OutOfRange(Exception):
    """A number that extended ones do not hold well."""


def _rounded(entries: Sequence[arb]) -> Any:
    """Balls of far more bits than an extended number has, as such numbers, to 2 units."""
    column = extended_of_balls(entries)
    if column is None:
        raise _OutOfRange
    return column


class _Block:
    """The tables of a block of so many steps."""

    def __init__(self, directions: Sequence[Direction], steps: int) -> None:
        with ctx.workprec(_BITS):
            rows = [_Row(direction, steps) for direction in directions]
            sums = [sum((row.size * row.fed * row.powers[j] for row in rows), arb(0)) for j in range(steps)]
            resolvent = [arb(1)]
            for n in range(1, steps):
                resolvent.append(sum((sums[j] * resolvent[n - 1 - j] for j in range(n)), arb(0)))
            flat = _rounded(resolvent)
            self.resolvent = np.array([[flat[t - s] if t >= s else 0 for s in range(steps)] for t in range(steps)])
            self.spread = np.stack([_rounded([row.size * power for power in row.powers]) for row in rows], axis=1)
            self.source = _rounded([
                sum((row.size * row.fresh * row.grown[t] for row in rows), arb(0)) for t in range(steps)
            ])
            self.kept = _rounded([row.kept**steps for row in rows])
            self.fed = np.stack([_rounded([row.fed * power for power in row.powers[::-1]]) for row in rows])
            self.fresh = _rounded([row.fresh * row.grown[steps] for row in rows])
            self.memory = _rounded([row.memory**steps for row in rows])
            self.left = _rounded([row.left[steps] for row in rows])
            self.left_fed = np.stack([_rounded([row.fed * left for left in row.left[steps - 1 :: -1]]) for row in rows])
            self.left_fresh = _rounded([row.fresh * row.lefts[steps] for row in rows])
            self.of_past = _rounded([row.size * row.remembered for row in rows])
            self.of_now = _rounded([row.size * row.lefts[steps] for row in rows])
            self.of_energy = _rounded([
                sum((row.size * row.fed * row.lefts[steps - 1 - s] for row in rows), arb(0)) for s in range(steps)
            ])
            self.of_fresh = _rounded([
                sum((row.size * row.fresh * sum(row.lefts[:steps], arb(0)) for row in rows), arb(0))
            ])[0]

    def walk(self, now: Any, past: Any) -> tuple[Any, Any, Any]:
        """The next a and b, and the sum of energy plus twice what is left over the block."""
        energy = self.resolvent @ (self.spread @ now + self.source)
        before = self.of_past @ past + self.of_now @ now + self.of_energy @ energy + self.of_fresh
        total = energy.sum() + 2 * before
        past = self.memory * past + self.left * now + self.left_fed @ energy + self.left_fresh
        return self.kept * now + self.fed @ energy + self.fresh, past, total


class _Row:
    """The powers and sums of one direction: k^j, 1 + ... + k^{j-1}, T_j and S_j for j up to the number of steps."""

    def __init__(self, direction: Direction, steps: int) -> None:
        self.size, self.kept, self.memory, self.fed, self.fresh = (
            ball(entry) for entry in (direction.size, direction.kept, direction.memory, direction.fed, direction.fresh)
        )
        self.powers = list(accumulate([self.kept] * (steps - 1), lambda power, k: power * k, initial=arb(1)))
        self.grown = list(accumulate(self.powers, initial=arb(0)))
        self.left = list(accumulate(self.powers, lambda left, power: self.memory * (left + power), initial=arb(0)))
        self.lefts = [arb(0), *accumulate(self.left[:-1])]
        self.remembered = sum((self.memory**j for j in range(steps)), arb(0))


def total(directions: Sequence[Direction], steps: int) -> Enclosure | None:
    """The sum over all steps of energy plus twice what is left; None where extended numbers do not serve."""
    if not available():
        return None
    now = extended(direction.gap for direction in directions)
    if now is None:
        return None
    past, result = np.zeros_like(now), np.longdouble(0.0)
    blocks, rest = divmod(steps, _BLOCK)
    with np.errstate(over="ignore", invalid="ignore"):
        try:
            for length, count in ((_BLOCK, blocks), (rest, min(rest, 1))):
                block = _Block(directions, length) if count else None
                for _ in range(count):
                    assert block is not None
                    now, past, part = block.walk(now, past)
                    result += part
        except _OutOfRange:
            return None
    if not np.isfinite(result):
        return None
    error = relative((blocks + 3) * (len(directions) + 2 * _BLOCK + 13))
    with ctx.workprec(128):
        value = exact(result)
        return Enclosure.between(value / (1 + ball(error)), value / (1 - ball(error)))
