"""Powers and geometric sums of a contraction factor, in balls and in float64: what the hidden-state formulas share.

The formulas are written once, over any object with these three functions; G(c, t) = 1 + c + ... + c^{t-1} has no
singularity at c = 1, and the sum of squares 1 + c^2 + ... + c^{2t-2} is G(c, 2t) / (1 + c).
"""

from __future__ import annotations

from fractions import Fraction
from typing import Any, Protocol

from flint import arb, fmpz

from oracle.core.enclosure import ball

BUDGET = 1024.0  # unit roundoffs; the worst term is c^m with an exponent error m log c, at most 745 before underflow


class PowerFunctions(Protocol):
    """The functions of c that the formulas need, in balls or in arrays."""

    def number(self, c: Any) -> Any:
        """c itself."""

    def power(self, c: Any, t: Any) -> Any:
        """c^t."""

    def geometric_sum(self, c: Any, t: Any) -> Any:
        """1 + c + ... + c^{t-1}."""


def square_sum(c: Any, t: Any, powers: PowerFunctions) -> Any:
    """1 + c^2 + ... + c^{2t-2}."""
    return powers.geometric_sum(c, 2 * t) / (1 + powers.number(c))


class BallPowers:
    """Exact branches at c = 0 and c = 1 are decided on the rational; elsewhere precision beats the cancellation."""

    def number(self, c: Fraction) -> arb:
        """c itself."""
        return ball(c)

    def power(self, c: Fraction, t: int) -> arb:
        """c^t."""
        return ball(c) ** fmpz(t)

    def geometric_sum(self, c: Fraction, t: int) -> arb:
        """1 + c + ... + c^{t-1}."""
        return ball(t) if c == 1 else (1 - self.power(c, t)) / ball(1 - c)


class ArrayPowers:
    """c^t by exp(t log c), with log1p(c - 1) for c >= 1/2, where 1 - c is exact and nothing cancels as c -> 1."""

    def __init__(self, xp: Any) -> None:
        self.xp = xp

    def number(self, c: Any) -> Any:
        """c itself."""
        return c

    def _log_power(self, c: Any, t: Any) -> Any:
        return self.xp.where(t > 0.0, self.xp.where(c > 0.0, t * self.log(c), -1e4), 0.0)

    def log(self, c: Any) -> Any:
        """log c, and any finite number where c is 0."""
        near = self.xp.where(c >= 0.5, c, 0.5)
        far = self.xp.where((c > 0.0) & (c < 0.5), c, 0.5)
        return self.xp.where(c >= 0.5, self.xp.log1p(near - 1.0), self.xp.log(far))

    def power(self, c: Any, t: Any) -> Any:
        """c^t."""
        return self.xp.exp(self._log_power(c, t))

    def geometric_sum(self, c: Any, t: Any) -> Any:
        """1 + c + ... + c^{t-1}."""
        gap = self.xp.where(c < 1.0, 1.0 - c, 1.0)
        return self.xp.where(c < 1.0, -self.xp.expm1(self._log_power(c, t)) / gap, t)


class GapPowers(ArrayPowers):
    """The same functions of the gap u = 1 - c in (0, 1], for gaps that 1 - c would round away."""

    def number(self, c: Any) -> Any:
        """1 - u."""
        return 1.0 - c

    def _log_power(self, c: Any, t: Any) -> Any:
        inside = self.xp.where(c < 1.0, c, 0.5)
        return self.xp.where(t > 0.0, self.xp.where(c < 1.0, t * self.xp.log1p(-inside), -1e4), 0.0)

    def geometric_sum(self, c: Any, t: Any) -> Any:
        """1 + c + ... + c^{t-1}."""
        return -self.xp.expm1(self._log_power(c, t)) / c
