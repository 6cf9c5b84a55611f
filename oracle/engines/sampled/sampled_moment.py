r"""One real moment of a Poisson-sampled Gaussian step, in balls, at any order and noise.

With a = 1/sigma, w(y) = e^{ay - a^2/2} and u = 1 - q + q w as in `sampled_gaussian`, this encloses

    M = int phi(y) u(y)^alpha u(-y)^beta dy,        beta = 0 (a record removed) or 1 - alpha (replaced), alpha > 1,

relative to M itself, which may be e^{10^10}, by a trapezoidal sum. The line is cut into cells of integer ends. There
alpha log u(y), convex, lies below its chord, and beta log u(-y), concave, below a tangent, so the logarithm of the
integrand lies below a line minus y^2/2, whose maximum is known. Cells where that is negligible are skipped, and what
was skipped is added as a ball; beyond the first and last cell, u^alpha <= 1-q + q w^alpha (Jensen; also for
negative exponents) leaves tails of Gaussians.

The sum with step h differs from the integral by at most 2 N(d) / (e^{2 pi d/h} - 1), N(d) a bound of the integral of
the modulus over Im y = +-d, for every d with theta = ad < pi, where u has no zero. There |phi| = e^{d^2/2} phi,
|u| <= u(Re y), and |u|^2 = u(Re y)^2 (1 - 2 s (1 - cos theta)), s = x/(1+x)^2, x = q w/(1-q): so N(d) is a sum over the
cells of their largest integrand times the largest (1 - 2 s (1 - cos theta))^{beta/2}.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction

from flint import arb, ctx

from oracle.core.enclosure import Dyadic, ball
from oracle.core.errors import PrecisionError

_MOST_NODES = 200_000
_SKIPPED = 12.0  # cells are skipped below e^{-12} of the goal, for there are many of them
_ANGLES = 16


@dataclass(frozen=True)
class Cell:
    """Integer ends, a bound of the integrand's logarithm minus the top, and the largest s of u(-y) in it."""

    low: int
    high: int
    log_bound: arb
    mixing: arb
    kept: bool


class Moment:
    """The evaluator of M for exact parameters, 0 < q < 1, at the working precision of each call."""

    def __init__(self, sigma: Fraction, rate: Fraction, alpha: Fraction, *, replace: bool) -> None:
        self.a, self.q, self.alpha = ball(1 / sigma), ball(rate), ball(alpha)
        self.p = ball(1 - rate)
        self.log_q, self.log_p = self.q.log(), self.p.log()
        self.beta = 1 - self.alpha if replace else arb(0)

    def log_u(self, y: arb) -> arb:
        """log u(y), whatever the size of w(y)."""
        t = self.a * y - self.a * self.a / 2
        if t > 0:
            return self.log_q + t + (self.p / self.q * (-t).exp()).log1p()
        less = self.q * t.expm1()
        # Next to q = 1 the difference has no digits left, and next to u = 1 the sum has none to spare.
        return less.log1p() if less > -0.5 else (self.p + self.q * t.exp()).log()

    def log_integrand(self, y: arb) -> arb:
        """alpha log u(y) + beta log u(-y) - y^2/2."""
        value = self.alpha * self.log_u(y) - y * y / 2
        return value if self.beta.is_zero() else value + self.beta * self.log_u(-y)

    def _odds(self, y: arb) -> arb:
        """log of q w(y) / (1 - q)."""
        return self.log_q - self.log_p + self.a * y - self.a * self.a / 2

    def _envelope(self) -> list[tuple[arb, arb]]:
        """Gaussians as (log mass, mean) whose sum bounds phi u^alpha u^beta."""

        def factor(exponent: arb, sign: int) -> list[tuple[arb, arb]]:
            if exponent.is_zero():
                return [(arb(0), arb(0))]
            return [(self.log_p, arb(0)), (self.log_q - exponent * self.a * self.a / 2, sign * exponent * self.a)]

        pairs = [(u + v, s + t) for u, s in factor(self.alpha, 1) for v, t in factor(self.beta, -1)]
        return [(weight + mean * mean / 2, mean) for weight, mean in pairs]

    def _top(self) -> arb:
        """About log M, and not above it but for rounding: the largest of the integrand at its likely peaks and of 1."""
        peaks = [arb(0), self.alpha * self.a, (self.alpha - self.beta) * self.a]
        best = arb(0)
        for peak in peaks:
            best = best.max(self.log_integrand(peak.mid()).mid())
        return best.mid()

    def _bound(self, low: int, high: int) -> arb:
        """An upper bound of the integrand's logarithm between two integers."""
        left = self.alpha * self.log_u(arb(low))
        slope = (self.alpha * self.log_u(arb(high)) - left) / (high - low)
        if not self.beta.is_zero():
            middle = (arb(low) + high) / 2
            share = 1 / (1 + (-self._odds(-middle)).exp())
            tilt = -self.beta * self.a * share
            slope += tilt
            left += self.beta * self.log_u(-middle) - tilt * (middle - low)
        if slope <= low:
            return (left - arb(low) ** 2 / 2).upper()
        if slope >= high:
            return (left + slope * (high - low) - arb(high) ** 2 / 2).upper()
        return (left - slope * low + slope * slope / 2).upper()

    def _mixing(self, low: arb, high: arb) -> arb:
        """The largest s = x/(1+x)^2 of u(-y) for y in a cell: 1/4 at x = 1."""
        left, right = self._odds(-low), self._odds(-high)  # falls in y
        if not (right > 0 or left < 0):
            return arb(1) / 4
        nearest = right if right > 0 else left
        return 1 / (4 * (nearest / 2).cosh() ** 2)

    def _cells(self, top: arb, goal: float) -> tuple[list[Cell], arb]:
        """The cells and the log of what the envelope leaves outside them, both relative to e^top."""
        low, high = arb(-1), arb(1)
        for log_mass, mean in self._envelope():
            reach = (2 * (log_mass - top + goal + 4).max(arb(1))).sqrt()
            low, high = low.min(mean - reach), high.max(mean + reach)
        first, last = (int(Dyadic.of(end.mid()).to_fraction()) for end in (low, high))
        first, last = first - 3, last + 3
        stack, cells = [(first, last)], []
        while stack:
            left, right = stack.pop()
            bound = self._bound(left, right) - top
            negligible = bool(bound + math.log(right - left) < -goal - _SKIPPED)
            if negligible or right - left == 1:
                cells.append(Cell(left, right, bound, self._mixing(arb(left), arb(right)), not negligible))
            else:
                middle = (left + right) // 2
                stack += [(middle, right), (left, middle)]
        outside, root = arb(0), arb(2).sqrt()
        for log_mass, mean in self._envelope():  # a node beyond an end is covered by the step that leads to it
            above, below = (arb(last - 1) - mean) / root, (mean - (first + 1)) / root
            if not (above > 0 and below > 0):
                raise PrecisionError("the window of the sampled Gaussian moment does not hold its envelope")
            outside += (log_mass - top).exp() * (above.erfc() + below.erfc()) / 2
        return cells, outside

    def _shifted(self, cells: list[Cell], outside: arb, theta: arb) -> arb:
        """N(d) e^{-top}, a bound of the integral of the modulus over the line Im y = theta/a."""
        turn, half = 1 - theta.cos(), self.beta / 2
        total = outside * (1 - turn / 2) ** half
        norm = 1 / (2 * arb.pi()).sqrt()
        for cell in cells:
            growth = half * (1 - 2 * cell.mixing * turn).log() if not half.is_zero() else arb(0)
            total += norm * (cell.high - cell.low) * (cell.log_bound + growth).exp()
        shift = theta / self.a
        bound: arb = (shift * shift / 2).exp() * total
        return bound.upper()

    def _grid(self, cells: list[Cell], outside: arb, goal: float) -> tuple[Fraction, arb, arb]:
        """The widest step for which the trapezoidal rule is good to e^{-goal}, its angle and N."""
        best: tuple[float, arb, arb] | None = None
        largest = float((3.0 * arb(1)).min(self.a * 2 * math.sqrt(goal)).mid())
        for index in range(_ANGLES):
            theta = arb(largest * 0.7**index)
            mass = self._shifted(cells, outside, theta)
            step = float((2 * arb.pi() * theta / self.a / (goal + mass.log().max(arb(0)))).mid())
            if best is None or step > best[0]:
                best = (step, theta, mass)
        assert best is not None
        mantissa, exponent = math.frexp(min(best[0], 0.999))  # the tails outside the cells count on steps below 1
        return Fraction(math.floor(mantissa * 256)) * Fraction(2) ** (exponent - 8), best[1], best[2]

    def log_moment(self, goal: float) -> arb:
        """A ball around log M of radius about e^{-goal}; the working precision must suit it."""
        top = self._top()
        cells, outside = self._cells(top, goal)
        step, theta, mass = self._grid(cells, outside, goal)
        h = ball(step)
        if sum(cell.kept for cell in cells) > _MOST_NODES * step:
            raise PrecisionError(
                f"the sampled Gaussian moment needs more than {_MOST_NODES} nodes (little noise, or a high order)"
            )
        total, skipped = arb(0), outside
        for cell in cells:
            if cell.kept:
                for index in range(math.ceil(cell.low / step), math.ceil(cell.high / step)):
                    total += (self.log_integrand(h * index) - top).exp()
            else:
                skipped += (cell.high - cell.low + h) * cell.log_bound.exp()
        rate = (2 * arb.pi() * theta / (self.a * h)).exp() - 1
        error = (2 * mass / rate).upper()
        value = total * h / (2 * arb.pi()).sqrt() + skipped.union(arb(0)) + arb(0, error)
        return top + value.log()


def log_moment(sigma: Fraction, rate: Fraction, alpha: Fraction, *, replace: bool, goal: float) -> arb:
    """log M to about e^{-goal}, at a working precision that suits the size of the integrand's logarithm."""
    with ctx.workprec(64):
        logs = abs(ball(rate).log()) + abs(ball(1 - rate).log())
        size = ball(alpha / sigma) ** 2 + ball(alpha) * logs + ball(1 / sigma) + 2
        bits = int((size.log() / arb(2).log()).upper().ceil().upper().fmpz())
    with ctx.workprec(64 + 2 * bits + math.ceil(goal / math.log(2))):
        return Moment(sigma, rate, alpha, replace=replace).log_moment(goal)
