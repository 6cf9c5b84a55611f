r"""The optimal-shift programme behind the hidden-state bounds, solved exactly in rationals.

Minimise sum a_i^2 subject to z_{i+1} = c z_i + s_{i+1} - a_{i+1} >= 0, z_0 = z_T = 0. Unrolled and with
a_i = c^{-i} l_i, the cumulative A(t) = sum_{i<=t} c^{-2i} l_i must stay at or below S(t) = sum_{i<=t} c^{-i} s_i and
meet it at T, at cost sum c^{-2i} l_i^2. That is a taut string: l is the slope of the greatest convex minorant of the
points (W(t), S(t)), W(t) = sum_{i<=t} c^{-2i}, and the optimum is the sum of (dS)^2 / dW over its segments.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import sympy

Point = tuple[Fraction, Fraction]


def touched_steps(*, batches: int, epochs: int, position: int) -> list[int]:
    """The indicator s_1, ..., s_T of the steps that use the batch at a position (1 to `batches`)."""
    return [1 if batch == position else 0 for _ in range(epochs) for batch in range(1, batches + 1)]


def optimum(contraction: Fraction, steps: list[int]) -> Fraction:
    """The least sum of squared shifts, exactly; the contraction must be positive."""
    weight, total = Fraction(0), Fraction(0)
    points: list[Point] = [(weight, total)]
    power = Fraction(1)
    for touched in steps:
        power /= contraction
        weight += power * power
        total += power * touched
        points.append((weight, total))
    hull = convex_minorant(points)
    return sum(((y1 - y0) ** 2 / (x1 - x0) for (x0, y0), (x1, y1) in itertools.pairwise(hull)), Fraction(0))


def at_contraction(formula: Callable[[Any], Any], contraction: Fraction) -> Fraction:
    """A rational formula in c, exactly; at c = 1, where it may read 0/0, its limit."""
    if contraction != 1:
        return Fraction(formula(contraction))
    c = sympy.symbols("c")
    limit = sympy.Rational(sympy.cancel(formula(c)).subs(c, 1))
    return Fraction(int(limit.p), int(limit.q))


def convex_minorant(points: list[Point]) -> list[Point]:
    """The vertices of the greatest convex minorant of points sorted by their first coordinate."""
    hull: list[Point] = []
    for point in points:
        while len(hull) >= 2 and _not_below(hull[-2], hull[-1], point):
            hull.pop()
        hull.append(point)
    return hull


def _not_below(a: Point, b: Point, c: Point) -> bool:
    """Whether b lies on or above the chord from a to c."""
    return (b[1] - a[1]) * (c[0] - a[0]) >= (c[1] - a[1]) * (b[0] - a[0])


def exact_linear(multiplier: Fraction, steps: list[int]) -> Fraction:
    """mu^2 of the last iterate of theta <- m theta + s_i + N(0, 1), exactly: a lower bound for any valid theorem."""
    gap, variance = Fraction(0), Fraction(0)
    for touched in steps:
        gap = multiplier * gap + touched
        variance = multiplier**2 * variance + 1
    return gap**2 / variance
