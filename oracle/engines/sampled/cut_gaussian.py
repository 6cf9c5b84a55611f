r"""A sampled Gaussian step whose rare huge losses are cut off: where they, not what counts, govern every moment.

At a small rate the loss is about q w(y), w = e^{ay - a^2/2}: its tail is that of a lognormal variable, and long before
an order c of use is reached M(c) is all tail. A factor g(y) = e^{-v}, v = e^{H (y - y*)}, on both P and Q of every step
leaves measures whose curve delta_g is a pair's in everything but its mass: it has the transform M_g(s)^T/(s (s+1))
with M_g(s) = int phi u(y)^alpha u(-y)^beta g, it is at most 1, convex in e^epsilon and falls. With
1 - prod g <= sum (1 - g) and, for the first step (p, q) and the others (P', Q'),
p P' - e^epsilon q Q' = (p - q) P' + q (P' - e^epsilon Q'), and as fewer steps tell less,

    delta_g <= delta <= delta_g + T (A + B delta),     A = int (1-g) (p - q)_+,   B = int (1-g) q,

where 1 - g <= min(1, v) gives, for `remove` and `replace` alike (when adding a record no loss is huge),

    A <= q [Phi(-z) + e^{-H z + H^2/2} Phi(z - H)], z = y* - a,     B <= Phi(-y*) + e^{-H y* + H^2/2} Phi(y* - H).

On a line y + i d with H d < pi/2, |g| = e^{-v cos(H d)} <= 1, |u(y + i d)| <= u(y) and, up to a right angle,
|u(y + i d)| >= 1 - q + q w cos(a d). All of these are monotone in y, so that sums over slabs bound every integral; far
right H v cos(H d) >= alpha a q w/(1-q) holds for good, if H >= a, and phi u^alpha |g| falls.
"""

from __future__ import annotations

import functools
import itertools
import math
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from flint import acb, arb, ctx

from oracle.core.enclosure import ball
from oracle.core.errors import PrecisionError
from oracle.engines.gaussian_curve import normal_upper_tail
from oracle.engines.sampled.line_sums import Line
from oracle.engines.sampled.planned_gaussian import Array
from oracle.engines.sampled.sampled_gaussian import SampledGaussian

_LOG_ROOT_2PI = 0.5 * math.log(2 * math.pi)
_FINE, _COARSE = 0.25, 0.15  # widths of slabs: near the cut, in units of 1/H, and elsewhere
_TURNED = 1.4  # H times the height of the upper line: its cosine is still positive
_MOST_SLABS = 2000
_GENTLE, _STEEPER = 1.35, 1.5
_FARTHEST = 60.0  # a cut that is worth its points
_FADED = 100.0


def cut_for(step: SampledGaussian, count: int, log_delta: float, log_share: float) -> CutGaussian | None:
    """The step cut where T A is about that share of delta, with nearly the hazard of the normal tail there for H."""
    if step.direction == "add":
        return None
    a, log_q = 1 / float(step.sigma), math.log(step.rate)
    goal = log_delta + log_share - log_q - math.log(count)
    if not goal < -1:
        return None
    # With H = z/s and s > 1 most of A is e^{-H z + H^2/2}: a gentler cut lies a little farther, and is far quicker.
    z = math.sqrt(-2 * goal / (2 / _GENTLE - 1 / _GENTLE**2))
    if z + a > _FARTHEST:
        return None
    return CutGaussian(step.sigma, step.rate, step.direction, z + a, max(z / _GENTLE, _STEEPER * a))


@dataclass(frozen=True)
class CutGaussian(SampledGaussian):
    """A sampled Gaussian step with the factor e^{-v}, v = e^{steepness (y - cut)}; steepness >= 1/sigma."""

    cut: float
    steepness: float
    __hash__ = SampledGaussian.__hash__
    digits: ClassVar[float] = 12.0

    def lost(self) -> tuple[arb, arb]:
        """Bounds of A and B, at the working precision."""
        a, h = ball(1 / self.sigma), arb(self.steepness)

        def beyond(z: arb) -> arb:
            return normal_upper_tail(z) + (h * h / 2 - h * z).exp() * normal_upper_tail(h - z)

        y = arb(self.cut)
        return (ball(self.rate) * beyond(y - a)).upper(), beyond(y).upper()

    # ---- planning, in floats: nothing here is trusted

    def _log_cut(self, y: Array, turned: float = 0.0) -> Array:
        return -np.exp(np.minimum(self.steepness * (y - self.cut), 600.0)) * math.cos(turned)

    def _log_integrand(self, c: float, y: Array, height: float = 0.0) -> Array:
        """About the logarithm of the bound of the integrand on a line of some height."""
        alpha, beta = self.exponents(c)
        a, q = 1 / float(self.sigma), float(self.rate)
        result = alpha * self._log_u(y) + self._log_cut(y, self.steepness * height) - 0.5 * y * y - _LOG_ROOT_2PI
        if beta:
            least = np.log1p(q * (np.exp(np.minimum(-a * y - 0.5 * a * a, 600.0)) * math.cos(a * height) - 1))
            result += beta * least
        return np.asarray(result + 0.5 * height**2)

    @functools.lru_cache(maxsize=256)  # noqa: B019 - a plan asks for the same orders again and again
    def window(self, c: float, goal: float) -> tuple[float, float]:
        """An interval outside which the integrand's mass is below about e^{-goal}."""
        y = np.linspace(self.cut - 4.0, self.cut + 4.0, 400)
        heavy = np.nonzero(self._log_integrand(c, y, 0.5 * _TURNED / self.steepness) > -goal)[0]
        return -math.sqrt(2 * goal), float(y[min(heavy[-1] + 1, 399)]) if len(heavy) else float(y[0])

    @functools.lru_cache(maxsize=64)  # noqa: B019 - see above
    def _points(self, c: float) -> Array:
        return np.concatenate([np.arange(-9.0, self.cut - 2, 0.1), np.arange(self.cut - 2, self.cut + 2, 0.02)])

    @functools.lru_cache(maxsize=1024)  # noqa: B019 - see above
    def cumulants(self, c: float) -> tuple[float, float, float]:
        """log M_g(c), and the mean and variance of the loss under the tilted law."""
        y = self._points(c)
        h = np.gradient(y)
        alpha, beta = self.exponents(c)
        log_u, mirrored = self._log_u(y), self._log_u(-y)
        tilt = alpha * log_u + beta * mirrored + self._log_cut(y)
        base = -0.5 * y * y - _LOG_ROOT_2PI
        loss = self.slopes[0] * log_u + self.slopes[1] * mirrored
        top = float((tilt + base).max())
        weight = np.exp(tilt + base - top) * h
        total = float(weight.sum())
        mean = float(weight @ loss) / total
        variance = float(weight @ (loss - mean) ** 2) / total
        excess = float((h * np.exp(base)) @ np.expm1(np.minimum(tilt, 600.0)))
        if excess < 1.0:  # M(c) - 1 may be tiny
            return math.log1p(max(excess, -0.5)), mean, variance
        return top + math.log(total), mean, variance

    def decay(self, c: float, t: float) -> tuple[float, float]:
        """No ceiling is proved for it: it is always smoothed."""
        return math.inf, 0.0

    def on_real_line(self, c: float, goal: float, t: float) -> None:
        """Its bounds know nothing of a cut."""

    def line(self, c: float, goal: float, tallest: float = math.inf) -> tuple[float, float]:
        """A step h and a height eta for which the trapezoidal rule on Im y = +-eta errs by about e^{-goal}."""
        y, best = self._points(c), (0.0, 0.0)
        for share in (0.35, 0.5, 0.65, 0.8, 0.9, 1.0):
            height = share * min(0.5 * _TURNED / self.steepness, tallest)
            log_mass = float((self._log_integrand(c, y, 2 * height)).max()) + 3
            best = max(best, (2 * math.pi * height / (goal + 2 + max(0.0, log_mass)), height))
        return best

    # ---- evaluation, in balls: everything here is a proof

    def _above(self, c: arb, edges: list[float], angle: arb, h: arb) -> arb:
        """A bound of the integral between edges of phi |u^alpha u(-y)^beta g| at y + i angle, and of h times its sum.

        phi is at most its value at the end nearer to 0, u(y)^alpha and |u(-y)|^beta that on the right, g on the left.
        """
        a, q = ball(1 / self.sigma), ball(self.rate)
        alpha, beta = self.exponents(c)
        steep, cosine, turned = arb(self.steepness), (a * angle).cos(), (arb(self.steepness) * angle).cos()
        if not (cosine > 0 and turned > 0):
            raise PrecisionError("a line of integration is too high for what cuts off the tail")
        total, half, rest = arb(0), a * a / 2, 1 - q
        for left, right in itertools.pairwise(edges):
            near, end = arb(0.0 if left < 0 < right else min(abs(left), abs(right))), arb(right)
            exponent = alpha * (rest + q * (a * end - half).exp()).log()
            if self.slopes[1]:
                exponent += beta * (rest + q * (-a * end - half).exp() * cosine).log()
            exponent -= (steep * (arb(left) - self.cut)).exp() * turned + near * near / 2
            total += (end - arb(left) + h) * exponent.exp()
        return total / (2 * arb.pi()).sqrt() * (angle * angle / 2).exp()

    def _tails(self, c: arb, low: float, high: float, angle: arb, h: arb) -> arb:
        """The same beyond both ends, high to the right of where the integrand falls; infinite if it is not."""
        a, q = ball(1 / self.sigma), ball(self.rate)
        alpha, beta = self.exponents(c)
        steep, cosine, turned = arb(self.steepness), (a * angle).cos(), (arb(self.steepness) * angle).cos()
        half, rest = a * a / 2, 1 - q
        norm, raised = (2 * arb.pi()).sqrt(), (angle * angle / 2).exp()
        left, right = arb(low), arb(high)
        w = q * (a * right - half).exp()
        v = (steep * (right - self.cut)).exp() * turned
        if not (steep * v >= alpha * a * w / rest and steep >= a and low < 0 and high > 0):
            return arb.pos_inf()
        flat = rest**beta if self.slopes[1] else arb(1)
        beyond = normal_upper_tail(right) + h / norm * (-right * right / 2).exp()
        far = (alpha * (rest + w).log() - v).exp() * flat * beyond
        before = normal_upper_tail(-left) + h / norm * (-left * left / 2).exp()
        near = alpha * (rest + q * (a * left - half).exp()).log()
        if self.slopes[1]:
            near += beta * (rest + q * (-a * left - half).exp() * cosine).log()
        return arb(raised * (far + near.exp() * before))

    def _edges(self, c: float, low: float, high: float, angle: float) -> list[float]:
        """Edges from low to high, and on to where the integrand is negligible."""
        fine, edges = _FINE / self.steepness, [low]
        faded = -_FADED - self.exponents(c)[1] * math.log1p(-float(self.rate))
        a, pull = 1 / float(self.sigma), self.exponents(c)[0] * float(self.rate) / (1 - float(self.rate))
        while len(edges) < _MOST_SLABS:
            last = edges[-1]
            falls = self.steepness * -float(self._log_cut(np.array(last), self.steepness * angle))
            falls -= 1.01 * pull * a * math.exp(min(a * last - 0.5 * a * a, 600.0))
            if last >= high and falls > 0 and self._log_integrand(c, np.array([last]), angle)[0] < faded:
                break
            ahead = last + (_COARSE if last < self.cut - 12 / self.steepness else fine)
            edges.append(high if last < high < ahead else ahead)
        return edges

    def on_line(self, c: arb, goal: float, tallest: float = math.inf, most: int = 20_000) -> Line:
        """The points on a line, and what their sum misses of M_g(c + it) for every t >= 0.

        The sum errs by at most the integrals on the real line, M_g(c), and at twice the height, over e^{2 pi eta/h}-1.
        """
        near = float(c.mid())
        step, height = self.line(near, goal, tallest)
        low, high = self.window(near, goal + 0.5 * height**2)
        first, last = math.floor(low / step), math.ceil(high / step)
        if last - first > most:
            raise PrecisionError(f"a moment needs {last - first} points of quadrature")
        h, eta = arb(step), arb(height)
        with ctx.workprec(64):
            start, end = float(step * first), float(step * last)
            whole = self._edges(near, start, end, 2 * height)
            upper = self._above(c, whole, 2 * eta, h) + self._tails(c, start, whole[-1], 2 * eta, h)
            right = self._edges(near, end, end, height)
            outside = self._above(c, right, eta, h) + self._tails(c, start, right[-1], eta, h)
            share = 1 / ((2 * arb.pi() * eta / h).exp() - 1)
        weights, losses = self._weights(c, h, eta, range(first, last + 1))
        return Line(weights, losses, share.upper(), (outside + upper * share).upper())

    def _weights(self, c: arb, h: arb, eta: arb, indices: range) -> tuple[list[acb], list[acb]]:
        """As without a cut, times g."""
        weights, losses = super()._weights(c, h, eta, indices)
        steep = arb(self.steepness)
        v = acb(steep * (h * indices[0] - self.cut), self.slopes[0] * steep * eta).exp()
        factor = (steep * h).exp()
        for place in range(len(weights)):
            weights[place] *= (-v).exp()
            v *= factor
        return weights, losses
