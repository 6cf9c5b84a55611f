"""Trapezoidal sums on a line of integration, at many orders at once, in balls."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from flint import acb, acb_mat, arb

Values = Sequence[acb | arb]


@dataclass(frozen=True)
class Line:
    """Points of a trapezoidal sum: weights and losses, its error as a share of M(c), and the mass outside of it."""

    weights: list[acb]
    losses: list[acb]
    share: arb
    outside: arb


def turned_sums(weights: Values, losses: Values, k: arb, count: int) -> list[acb]:
    """sum_j weight_j e^{i n k loss_j} for n < count, as one product of two tables.

    n = columns * i + j splits a power into two table entries, so that no exponential for each (n, y) is needed.
    """
    turns = [(acb(0, k) * loss).exp() for loss in losses]
    columns = math.isqrt(count - 1) + 1
    rows = -(-count // columns)
    left = acb_mat(_powers(weights, [turn**columns for turn in turns], rows))
    right = acb_mat(_powers([acb(1)] * len(turns), turns, columns)).transpose()
    product = left * right
    return [product[n // columns, n % columns] for n in range(count)]


def _powers(start: Values, factors: Sequence[acb], count: int) -> list[Values]:
    """start * factor^n, a row for each n < count, by doubling: the balls of a long chain would grow with every link."""
    table: list[Values] = [start]
    step = factors
    while len(table) < count:
        more = table[: count - len(table)]
        table = table + [[factor * x for x, factor in zip(row, step, strict=True)] for row in more]
        step = [factor * factor for factor in step]
    return table
