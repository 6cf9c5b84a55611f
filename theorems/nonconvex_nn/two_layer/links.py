"""Links in exact numbers for the checks of Section 5 of document 002: ramps, and their surrogate losses."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction


@dataclass(frozen=True)
class Ramp:
    """The link min(1, max(0, 1/2 + G z)): rising, in [0, 1], steepest with slope G."""

    slope: Fraction

    def at(self, z: Fraction) -> Fraction:
        """The link's value."""
        return min(Fraction(1), max(Fraction(0), Fraction(1, 2) + self.slope * z))

    def integral(self, low: Fraction, high: Fraction) -> Fraction:
        """The link's integral from low to high."""
        return self._from_zero(high) - self._from_zero(low)

    def _from_zero(self, z: Fraction) -> Fraction:
        reach = 1 / (2 * self.slope)  # where the ramp ends
        inner = min(reach, max(-reach, z))
        beyond = z - inner if z > reach else Fraction(0)
        return inner / 2 + self.slope * inner**2 / 2 + beyond


def surrogate_gap(link: Ramp, here: Fraction, target: Fraction, model_error: Fraction) -> Fraction:
    """E_y l at the score `here` less that at `target`, where E[y|x] = link(target + model_error)."""
    mean = link.at(target + model_error)
    return link.integral(target, here) - mean * (here - target)


def excess(link: Ramp, here: Fraction, target: Fraction, model_error: Fraction) -> Fraction:
    """The squared distance of the link at `here` from the mean of the label."""
    return (link.at(here) - link.at(target + model_error)) ** 2
