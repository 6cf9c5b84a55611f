"""A Laplace step for the contour engine: its moments are exact, and its atoms keep them from vanishing.

In the notation of `laplace_composed`, M(s) = e^{sm} ((1+q) + v(1-q))/2 with q = e^{-m-2ms} and v = 1/(2s+1).
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction

from flint import acb, arb

from oracle.core.enclosure import ball


@dataclass(frozen=True)
class LaplaceStep:
    """A Laplace release whose sensitivity is `ratio` times its scale."""

    ratio: Fraction

    def largest_loss(self) -> arb:
        """The loss is at most m."""
        return ball(self.ratio)

    def single_delta(self, epsilon: arb) -> arb:
        """delta(epsilon) of one release, epsilon < m."""
        return -((epsilon - ball(self.ratio)) / 2).expm1()

    def cumulants(self, c: float) -> tuple[float, float, float]:
        """log M(c), and the mean and variance of the tilted loss."""
        m, v = float(self.ratio), 1 / (2 * c + 1)
        q, rest = math.exp(-m * (1 + 2 * c)), -math.expm1(-m * (1 + 2 * c))
        value = 1 + q + v * rest
        first = (2 * m * q * (1 - v) + 2 * v * v * rest) / value
        second = (4 * m * m * q * (1 - v) - 8 * m * q * v * v + 8 * v**3 * rest) / value
        return c * m + math.log(value / 2), m - first, max(second - first * first, 0.0)

    def decay(self, c: float, t: float) -> tuple[float, float]:
        """About the log of the ceiling; there is nothing to choose."""
        m = float(self.ratio)
        q, square = math.exp(-m * (1 + 2 * c)), 1 / ((2 * c + 1) ** 2 + 4 * t * t)
        near = (1 + square) * (1 + q) ** 2 <= 2 * (1 + q * q)
        size = 1 + q + math.sqrt(square) * (1 - q) if near else math.sqrt(2 * (1 + q * q) * (1 + square))
        return c * m + math.log(size / 2), 0.0

    def points(self, c: float, goal: float, t: float = math.inf) -> float:
        """The moments are exact."""
        return 0.0

    def moments(self, c: arb, k: arb, count: int, *, log_error: float) -> list[acb]:
        """M(c + i n k), exactly up to rounding."""
        m = ball(self.ratio)
        points = [acb(c, k * n) for n in range(count)]
        return [((s + 1) * (s * m).exp() + s * (-(s + 1) * m).exp()) / (2 * s + 1) for s in points]

    def moment_above(self, c: arb, goal: float) -> arb:
        """M(c), rounded up."""
        return self.moments(c, arb(0), 1, log_error=-goal)[0].real.upper()

    def ceiling(self, c: arb, t: arb, parameter: float, *, top: arb, log_error: float) -> arb:
        """An upper bound of |M(c + i t')| for every t' >= t, where |v| <= w = |v(t)| and |q| does not move.

        |1+q| + w|1-q| <= sqrt(2 (1+|q|^2) (1+w^2)) by Cauchy-Schwarz, as |1+q|^2 + |1-q|^2 = 2 (1+|q|^2). Along that
        circle the sum rises with |1+q| up to |1+q|^2 = 2 (1+|q|^2)/(1+w^2); where the largest |1+q| = 1+|q| comes
        first, it is at most (1+|q|) + w (1-|q|).
        """
        q = (-ball(self.ratio) * (1 + 2 * c)).exp()
        square = 1 / ((2 * c + 1) ** 2 + 4 * t * t)
        if (1 + square) * (1 + q) ** 2 <= 2 * (1 + q * q):
            size = 1 + q + square.sqrt() * (1 - q)
        else:
            size = (2 * (1 + q * q) * (1 + square)).sqrt()
        bound: arb = (c * ball(self.ratio)).exp() * size / 2
        return bound.upper()
