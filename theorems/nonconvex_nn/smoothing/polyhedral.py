"""Convex piecewise linear functions of one number, their proxes and Moreau envelopes, exactly in rationals.

They are the surrogate losses of links that are step functions: the hardest ones for smoothing, and the only ones for
which nothing rounds.
"""

from __future__ import annotations

import itertools
from dataclasses import dataclass
from fractions import Fraction


@dataclass(frozen=True)
class Polyhedral:
    """A function with kinks (rising) and one slope more than kinks (rising), on [low, high] or on the whole line."""

    kinks: tuple[Fraction, ...]
    slopes: tuple[Fraction, ...]
    low: Fraction | None = None
    high: Fraction | None = None

    def value(self, u: Fraction) -> Fraction:
        """The function at u, 0 at 0."""
        low, high, sign = (Fraction(0), u, 1) if u >= 0 else (u, Fraction(0), -1)
        cuts = sorted({low, high, *(kink for kink in self.kinks if low < kink < high)})
        return sign * sum((self.slope((a + b) / 2) * (b - a) for a, b in itertools.pairwise(cuts)), Fraction(0))

    def slope(self, u: Fraction) -> Fraction:
        """The slope at u, at a kink the one on its right."""
        return self.slopes[sum(kink <= u for kink in self.kinks)]

    def prox(self, x: Fraction, beta: Fraction) -> Fraction:
        """Where f(u) + beta (u - x)^2/2 is least: a piece or a kink where its slope changes sign, cut to the ends."""
        found = x
        for i, slope in enumerate(self.slopes):
            u = x - slope / beta
            if i and u < self.kinks[i - 1]:
                found = self.kinks[i - 1]
                break
            found = u
            if i == len(self.kinks) or u <= self.kinks[i]:
                break
        found = found if self.low is None else max(self.low, found)
        return found if self.high is None else min(self.high, found)

    def envelope(self, x: Fraction, beta: Fraction) -> Fraction:
        """The Moreau envelope at x."""
        u = self.prox(x, beta)
        return self.value(u) + beta * (u - x) ** 2 / 2


def examples(size: Fraction) -> tuple[Polyhedral, ...]:
    """Functions on the line with slopes from -size to size: |u|, a line, a hinge and a staircase."""
    zero, one = Fraction(0), Fraction(1)
    return (
        Polyhedral((zero,), (-size, size)), Polyhedral((), (size,)), Polyhedral((one,), (zero, size)),
        Polyhedral((-one, zero, one / 2), (-size, -size / 3, size / 2, size)),
    )


def places(size: Fraction, beta: Fraction) -> tuple[Fraction, ...]:
    """Points on both sides of everything that happens at the kinks, in units of size/beta, and some of a plain grid."""
    unit = size / beta
    return tuple(sorted({part * unit for part in map(Fraction, ("-3", "-1", "-1/2", "0", "1/3", "1", "2"))}
                        | {Fraction(k, 2) for k in range(-3, 4)}))
