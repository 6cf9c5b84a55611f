"""A Gaussian step for the contour engine: its moments are exact, M(s) = e^{mu^2 s (s+1) / 2}."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction

from flint import acb, arb

from oracle.core.enclosure import ball
from oracle.engines.gaussian_curve import delta_ball


@dataclass(frozen=True)
class GaussianStep:
    """The pair N(mu, 1), N(0, 1), given by mu^2 so that compositions stay exact."""

    squared_mu: Fraction

    @staticmethod
    def of(mu: Fraction) -> GaussianStep:
        """The step of a rational mu."""
        return GaussianStep(mu * mu)

    def mu(self) -> arb:
        """mu at the working precision."""
        return ball(self.squared_mu).sqrt()

    def largest_loss(self) -> None:
        """A Gaussian loss is unbounded."""

    def single_delta(self, epsilon: arb) -> arb:
        """delta(epsilon) in closed form."""
        return delta_ball(epsilon, self.mu())

    def cumulants(self, c: float) -> tuple[float, float, float]:
        """log M(c), and the mean and variance of the tilted loss."""
        square = float(self.squared_mu)
        return square * c * (c + 1) / 2, square * (c + 0.5), square

    def decay(self, c: float, t: float) -> tuple[float, float]:
        """The log of |M(c + it)|; there is nothing to choose."""
        return float(self.squared_mu) * (c * (c + 1) - t * t) / 2, 0.0

    def points(self, c: float, goal: float, t: float = math.inf) -> float:
        """The moments are exact."""
        return 0.0

    def moments(self, c: arb, k: arb, count: int, *, log_error: float) -> list[acb]:
        """M(c + i n k), exactly up to rounding."""
        half = ball(self.squared_mu) / 2
        points = [acb(c, k * n) for n in range(count)]
        return [(half * s * (s + 1)).exp() for s in points]

    def moment_above(self, c: arb, goal: float) -> arb:
        """M(c), rounded up."""
        return self.moments(c, arb(0), 1, log_error=-goal)[0].real.upper()

    def ceiling(self, c: arb, t: arb, parameter: float, *, top: arb, log_error: float) -> arb:
        """|M(c + it)|, which falls in t."""
        return (ball(self.squared_mu) * (c * (c + 1) - t * t) / 2).exp().upper()
