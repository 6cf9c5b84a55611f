r"""One Poisson-sampled Gaussian step as a pair over a standard normal variable: planned in floats, evaluated in balls.

With a = 1/sigma, w(y) = e^{a y - a^2/2} and u(y) = 1 - q + q w(y), the three pairs (P, Q) have, under the standard
normal density phi,

    remove   P = phi u(y),  Q = phi           E_P e^{sL} = int phi u(y)^{s+1}
    add      P = phi,       Q = phi u(y)      E_P e^{sL} = int phi u(y)^{-s}
    replace  P = phi u(y),  Q = phi u(-y)     E_P e^{sL} = int phi u(y)^{s+1} u(-y)^{-s}

so every moment is M(s) = int phi u(y)^alpha u(-y)^beta dy with alpha, beta affine in s. Facts used by the proofs, with
theta = a d in (0, pi) the angle of a shift y -> y + i d:
- |u(y + i d)| <= u(y), and >= cos(theta/2) u(y);
- v(y, theta) = arg u(y + i d) = arg(1 - q + q w e^{i theta}) lies in [0, theta]; it rises in theta on [0, pi/2];
- u rises from 1-q on, log u is convex, and u^alpha <= (1-q) + q w^alpha for alpha >= 1 (Jensen): the tails.
"""

from __future__ import annotations

import functools
import itertools
import math
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, ClassVar

import numpy as np
from flint import acb, arb
from numpy.typing import NDArray

from oracle.core.enclosure import ball
from oracle.core.errors import PrecisionError
from oracle.engines.gaussian_curve import normal_upper_tail
from oracle.engines.sampled.line_sums import Line, turned_sums

Array = NDArray[np.float64]

_EXPONENTS = {"remove": (1, 1, 0, 0), "add": (0, -1, 0, 0), "replace": (1, 1, 0, -1)}
_LOG_ROOT_2PI = 0.5 * math.log(2 * math.pi)
_FEWEST, _MOST, _PLAN_STEP = 120, 4000, 0.2
_MOST_POINTS, _LARGEST_ORDER = 20_000, 3e4


@dataclass(frozen=True)
class SampledGaussian:
    """A Gaussian step with noise multiplier sigma on a Poisson sample of a given rate, in one direction."""

    sigma: Fraction
    rate: Fraction
    direction: str
    digits: ClassVar[float] = 24.0  # how far the errors of a float's sum shall lie below delta, in the exponent

    # ---- what both sides share

    @property
    def slopes(self) -> tuple[int, int]:
        """(alpha', beta'): the privacy loss is alpha' log u(y) + beta' log u(-y)."""
        return _EXPONENTS[self.direction][1], _EXPONENTS[self.direction][3]

    def exponents(self, c: Any) -> tuple[Any, Any]:
        """(alpha, beta) at a real point c > 0, as floats or balls."""
        alpha, alpha_slope, beta, beta_slope = _EXPONENTS[self.direction]
        return alpha + alpha_slope * c, beta + beta_slope * c

    def largest_loss(self) -> arb | None:
        """The supremum of the privacy loss where it is finite (adding a record), at the working precision."""
        return -self.log_rest() if self.direction == "add" else None

    def log_rest(self) -> arb:
        """log(1 - q) with all its digits, next to 0 and next to 1."""
        return ball(-self.rate).log1p() if 2 * self.rate < 1 else ball(1 - self.rate).log()

    def lost(self) -> tuple[arb, arb]:
        """A and B of `cut_gaussian`: here nothing is cut off."""
        return arb(0), arb(0)

    def single_delta(self, epsilon: arb) -> arb:
        """delta(epsilon) of one step in closed form: the loss is monotone in y, so one crossing decides.

        P > e^epsilon Q beyond the crossing (before it when adding); for replace it solves a quadratic in e^{a y}.
        """
        a, q, factor = ball(1 / self.sigma), ball(self.rate), epsilon.exp()
        if self.direction == "add":
            level = ((1 / factor - 1 + q) / q).log()
            y = (level + a * a / 2) / a
            below, mixed = normal_upper_tail(-y), (1 - q) * normal_upper_tail(-y) + q * normal_upper_tail(a - y)
            return below - factor * mixed
        if self.direction == "remove":
            y = (((factor - 1 + q) / q).log() + a * a / 2) / a
            other = normal_upper_tail(y)
        else:
            scale, gap = q * (-a * a / 2).exp(), (1 - q) * (factor - 1)
            y = ((gap + (gap * gap + 4 * factor * scale * scale).sqrt()) / (2 * scale)).log() / a
            other = (1 - q) * normal_upper_tail(y) + q * normal_upper_tail(y + a)
        return (1 - q) * normal_upper_tail(y) + q * normal_upper_tail(y - a) - factor * other

    # ---- planning, in floats: nothing here is trusted

    def _log_u(self, y: Array) -> Array:
        a, q = 1 / float(self.sigma), float(self.rate)
        x = a * y - 0.5 * a * a
        tiny = np.log1p(q * np.expm1(np.minimum(x, 1.0)))  # keeps the digits where there is much noise
        return np.where(x < 1.0, tiny, np.logaddexp(math.log1p(-q), math.log(q) + x))

    def _log_share(self, y: Array) -> Array:
        """The log of q w / u, the slope of log u over a."""
        a, q = 1 / float(self.sigma), float(self.rate)
        return -np.logaddexp(0.0, math.log1p(-q) - math.log(q) - a * y + 0.5 * a * a)

    def _slabs(self, c: float, goal: float) -> Array:
        """Edges from 0 to where Jensen's Gaussian of mean alpha a is below e^{-goal}; u varies little between them."""
        a, q = 1 / float(self.sigma), float(self.rate)
        alpha, beta = self.exponents(c)
        goal += min(beta, 0.0) * math.log1p(-q)
        steep = max(goal + math.log(q) + 0.5 * a * a * alpha * (alpha - 1), goal)
        end = alpha * a + math.sqrt(2 * steep) + 1
        close = np.arange(0.0, min(end, 40.0), min(0.5, 0.5 / a))
        far = np.arange(40.0, end, 0.5 / a)
        if 0.5 / a > 4.0 and end > 40.0:  # u hardly varies, but its power may
            far = np.geomspace(40.0, end, 2 + math.ceil(math.log(end / 40.0) / 0.1))[:-1]
        return np.concatenate([close, far, [end]])

    @functools.lru_cache(maxsize=256)  # noqa: B019 - a plan asks for the same orders again and again
    def window(self, c: float, goal: float) -> tuple[float, float]:
        """An interval outside which the integrand's mass is below about e^{-goal}."""
        a, flat = 1 / float(self.sigma), -math.log1p(-float(self.rate))
        alpha, beta = self.exponents(c)
        low = -math.sqrt(2 * (goal - min(alpha, 0.0) * flat))
        if alpha <= 0:
            y = np.linspace(-math.sqrt(2 * goal), low, 200)
            light = (-y > -alpha * a * np.exp(self._log_share(y))) & (alpha * self._log_u(y) - 0.5 * y * y < -goal)
            return float(y[np.argmax(light)]) if light.any() else low, math.sqrt(2 * goal)
        edges = self._slabs(c, goal)
        left, right = edges[:-1], edges[1:]
        slope = a * np.exp(self._log_share(right))
        peak = np.clip(alpha * slope, left, right)
        mass = alpha * (self._log_u(left) + slope * (peak - left)) - 0.5 * peak**2 + np.log(right - left + 1)
        mass += beta * self._log_u(-right)
        heavy = np.nonzero(np.logaddexp.accumulate(mass[::-1])[::-1] > -goal)[0]
        return low, float(right[heavy[-1]]) if len(heavy) else float(right[0])

    @functools.lru_cache(maxsize=64)  # noqa: B019 - see above
    def _points(self, c: float) -> Array:
        """Points across the window, close enough to see a Gaussian and every turn of u."""
        low, high = self.window(c, 36.0)
        return np.linspace(low, high, max(_FEWEST, min(_MOST, math.ceil((high - low) / _PLAN_STEP))))

    @functools.lru_cache(maxsize=1024)  # noqa: B019 - a plan asks for the same orders again and again
    def cumulants(self, c: float) -> tuple[float, float, float]:
        """log M(c), and the mean and variance of the loss under the tilted law; infinite where a plan is hopeless."""
        if self.slopes[0] > 0 and 1 + c > _LARGEST_ORDER * float(self.sigma) ** 2:
            return math.inf, math.inf, math.inf
        y = self._points(c)
        (alpha, beta), log_u, mirrored = self.exponents(c), self._log_u(y), self._log_u(-y)
        exponent = alpha * log_u + beta * mirrored - 0.5 * y * y - _LOG_ROOT_2PI
        loss = self.slopes[0] * log_u + self.slopes[1] * mirrored
        top, h = float(exponent.max()), float(y[1] - y[0])
        total = float((weight := np.exp(exponent - top)).sum())
        mean = float(weight @ loss) / total
        variance = float(weight @ (loss - mean) ** 2) / total
        tilt = alpha * log_u + beta * mirrored
        if tilt.max() < 1.0:  # M(c) - 1 may be tiny
            excess = h * float(np.exp(-0.5 * y * y - _LOG_ROOT_2PI) @ np.expm1(tilt))
            return math.log1p(max(excess, -0.5)), mean, variance
        return top + math.log(total * h), mean, variance

    def shifted_log_mass(self, c: float, t: float, angles: Array) -> Array:
        """log int |integrand at y + i angle/a| e^{-t v} dy for each angle (negative t: growth instead of decay)."""
        a, q = 1 / float(self.sigma), float(self.rate)
        y = self._points(c)
        alpha, beta = self.exponents(c)
        sine, cosine = np.sin(angles)[:, None], np.cos(angles)[:, None]

        def parts(points: Array) -> tuple[Array, Array]:
            log_w = math.log(q) - math.log1p(-q) + a * points - 0.5 * a * a
            w = np.exp(np.minimum(log_w, 300.0))[None, :]
            modulus = np.hypot(1 + w * cosine, w * sine)
            log_modulus = np.log(modulus) + np.maximum(log_w - 300.0, 0.0) + math.log1p(-q)
            return log_modulus, np.arctan2(w * sine, 1 + w * cosine)

        log_u, v = parts(y)
        exponent, slope = alpha * log_u, abs(self.slopes[0]) * v
        if self.slopes[1]:
            log_u, v = parts(-y)
            exponent, slope = exponent + beta * log_u, slope + abs(self.slopes[1]) * v
        exponent = exponent - t * slope - 0.5 * y * y - _LOG_ROOT_2PI
        top = exponent.max(axis=1, keepdims=True)
        mass = np.log(np.exp(exponent - top).sum(axis=1) * (y[1] - y[0])) + top[:, 0]
        return np.asarray(mass + 0.5 * (angles / a) ** 2)

    def decay(self, c: float, t: float) -> tuple[float, float]:
        """About the least log bound of |M(c + i t')|, t' >= t, and the angle of the shift that gives it."""
        a = 1 / float(self.sigma)
        angles = np.geomspace(1e-3 * min(1.0, a) / (1 + t), min(1.15, 6 * a), 12)
        for _ in range(2):  # the mass has one valley: around the least of a few angles more of them
            masses = self.shifted_log_mass(c, t, angles)
            best = int(np.argmin(masses))
            least = float(masses[best]), float(angles[best])
            angles = np.geomspace(angles[max(best - 1, 0)], angles[min(best + 1, len(angles) - 1)], 8)[1:-1]
        return least

    def _log_lift(self, c: float, angles: Array) -> Array:
        """About the log of `_lift`."""
        flat = np.where(angles < 0.5 * math.pi, (1 - np.cos(angles)) * math.log1p(-float(self.rate)), -math.inf)
        worst = np.maximum(np.log(np.cos(0.5 * angles)), flat)
        return np.asarray(sum((e * worst for e in self.exponents(c) if e < 0), np.zeros_like(angles)))

    def line(self, c: float, goal: float, tallest: float = math.inf) -> tuple[float, float]:
        """A step h and a height eta for which the trapezoidal rule on Im y = +-eta errs by e^{-goal} M(c) or less."""
        sigma = float(self.sigma)
        heights = np.linspace(0.03, 1.0, 60) * min(1.5 * sigma, math.sqrt(2 * goal), tallest)
        cost = 2 * heights**2 + self._log_lift(c, 2 * heights / sigma)
        steps = 2 * math.pi * heights / (goal + 2 + cost)
        best = int(np.argmax(steps))
        return float(steps[best]), float(heights[best])

    def points(self, c: float, goal: float) -> float:
        """About the points of a trapezoidal sum that errs by e^{-goal} M(c)."""
        low, high = self.window(c, goal)
        return (high - low) / self.line(c, goal)[0]

    # ---- evaluation, in balls: everything here is a proof

    def _outside(self, c: arb, low: arb, high: arb, h: arb, angle: arb, goal: float) -> arb:
        """A bound of the mass of phi(y) |u(z)^alpha u(-z)^beta| outside [low, high], low < 0 < high; z = y + i angle/a.

        It bounds the integral out there and the sum of distance h over the nodes beyond low and high, nodes themselves:
        beyond a node a falling function's sum is at most its integral. An interval between two edges has at most one
        node more than its length over h, and the last edge need not be one: there h times the value comes on top of an
        integral of about e^{-goal}. |u(z)| is at most u(y) and, up to a right angle, at least 1 - q + q w cos(angle);
        both rise, which settles the left and every negative exponent. On the right log u is convex of slope a q w/u, so
        between two edges it lies below a line, under which phi u^alpha is at most its value at a known point; beyond
        the last edge Jensen's bound is a sum of falling Gaussians.
        """
        a, q = ball(1 / self.sigma), ball(self.rate)
        alpha, beta = self.exponents(c)
        root, norm = arb(2).sqrt(), (2 * arb.pi()).sqrt()
        flat = (1 - q) ** beta

        def share(y: arb) -> arb:
            return 1 / (1 + (1 - q) / q * (a * a / 2 - a * y).exp())

        def log_u(y: arb) -> arb:
            return (1 - q + q * (a * y - a * a / 2).exp()).log()

        def log_least(y: arb) -> arb:
            return (1 - q + q * (a * y - a * a / 2).exp() * angle.cos()).log()

        left = (-low / root).erfc() / 2 * ((alpha * log_u(low)).exp() if alpha > 0 else (1 - q) ** alpha)
        if alpha < 0:
            # Further left the least modulus falls by a slope of at most a q w cos/(...) at `low`: a tilted Gaussian.
            w = q * (a * low - a * a / 2).exp() * angle.cos()
            tilt = -alpha * a * w / (1 - q + w)
            if low + tilt < 0:
                tail = (-(low + tilt) / root).erfc() / 2
                left = left.min((alpha * log_least(low) + tilt * low + tilt * tilt / 2).exp() * tail)
        left *= (beta * log_least(-low)).exp()
        if not alpha > 0:
            right = (high / root).erfc() / 2 * (alpha * log_least(high)).exp()
            return arb(left + right)
        edges = [high, *(arb(edge) for edge in self._slabs(float(c.mid()), goal) if edge > high)]
        right = arb(0)
        for start, end in itertools.pairwise(edges):
            slope = a * share(end)
            peak = (alpha * slope).max(start).min(end)
            exponent = alpha * (log_u(start) + slope * (peak - start)) - peak * peak / 2
            right += (end - start + h) * (exponent + beta * log_least(-end)).exp() / norm
        last, mean = edges[-1], alpha * a
        if not last > mean:
            return arb.pos_inf()
        steep = q * (a * a * alpha * (alpha - 1) / 2).exp()
        beyond = ((last / root).erfc() * (1 - q) + steep * ((last - mean) / root).erfc()) / 2
        node = h / norm * ((-last * last / 2).exp() * (1 - q) + steep * (-((last - mean) ** 2) / 2).exp())
        return arb(left + right + flat * (beyond + node))

    def _lift(self, c: arb, angle: arb) -> arb:
        """By how much int phi |u(y + id)|^alpha |u(-y - id)|^beta exceeds M(c) at most, angle = a d < pi.

        A negative exponent e costs cos(angle/2)^e since |u(y + id)| >= cos(angle/2) u(y); or, up to a right angle,
        (1-q)^{e (1 - k)}, k = cos(angle), since |u(y + id)| >= (1-k)(1-q) + k u(y) >= (1-q)^{1-k} u(y)^k, and by
        Hoelder's inequality int phi u^alpha u^{k beta} <= M(c)^k (int phi u^alpha)^{1-k} <= M(c): for `add` the last
        integral is 1 <= M(c); for `replace` u(-y)^beta has a mean of at least 1 under phi u^alpha, by Jensen.
        """
        q, result = ball(self.rate), arb(1)
        for exponent in self.exponents(c):
            if exponent < 0:
                cost = (angle / 2).cos() ** exponent
                if 2 * angle < arb.pi():
                    cost = cost.min((1 - q) ** (exponent * (1 - angle.cos())))
                result *= cost
        return result

    def _discretisation(self, c: arb, h: arb, eta: arb) -> arb:
        """The error of a trapezoidal sum of distance h on Im y = +-eta, as a share of M(c)."""
        lines = 1 + (2 * eta * eta).exp() * self._lift(c, 2 * eta / ball(self.sigma))
        return lines / ((2 * arb.pi() * eta / h).exp() - 1)

    def moments(self, c: arb, k: arb, count: int, *, log_error: float) -> list[acb]:
        """Balls around M(c + i n k) for n = 0, ..., count - 1, by trapezoidal sums on the line Im y = +-eta.

        The sign of eta is such that the loss turns the powers into decay: for every t >= 0 the integrand is then at
        most |phi u^alpha u^beta|(y) e^{-tV}, V >= 0, on every line from the real one (where its integral is M(c)) to
        twice the height (where it is at most e^{2 eta^2} lift M(c)). So the sum errs by at most
        M(c) (1 + e^{2 eta^2} lift) / (e^{2 pi eta/h} - 1), whatever t is, and few points are enough where the integrand
        on the real line would oscillate wildly.
        """
        line = self.on_line(c, -log_error)
        if not line.share < 1:
            return [acb(arb(0, "inf"), arb(0, "inf"))] * count
        sums = turned_sums(line, k, count)
        error = arb(0, (line.outside + line.share * (abs(sums[0]) + line.outside) / (1 - line.share)).upper())
        return [value + acb(error, error) for value in sums]

    def moment_above(self, c: arb, goal: float) -> arb:
        """An upper bound of M(c), about e^{-goal} of it too large; infinite where no quadrature is seen to converge."""
        line = self.on_line(c, goal)
        if not line.share < 1:
            return arb.pos_inf()
        return arb(((abs(sum(line.weights, acb(0))) + line.outside) / (1 - line.share)).upper())

    def on_line(self, c: arb, goal: float, tallest: float = math.inf, most: int = _MOST_POINTS) -> Line:
        """The points on a line of the height that lets them be few, for an error of about e^{-goal} M(c)."""
        near = float(c.mid())
        goal -= min(0.0, self.cumulants(near)[0])
        step, height = self.line(near, goal, tallest)
        low, high = self.window(near, goal + 0.5 * height**2)
        first, last = math.floor(low / step), math.ceil(high / step)
        if last - first > most:
            raise PrecisionError(f"a moment needs {last - first} points of quadrature")
        h, eta = arb(step), arb(height)  # the line lifts phi by e^{eta^2/2}
        outside = self._outside(c, h * first, h * last, h, eta / ball(self.sigma), goal) * (eta * eta / 2).exp()
        weights, losses = self._weights(c, h, eta, range(first, last + 1))
        return Line(weights, losses, self._discretisation(c, h, eta), outside)

    def _weights(self, c: arb, h: arb, eta: arb, indices: range) -> tuple[list[acb], list[acb]]:
        """The integrand times h and the loss at the points h n on the line of that height."""
        a, q = ball(1 / self.sigma), ball(self.rate)
        alpha, beta = self.exponents(c)
        half, norm = a * a / 2, (h / (2 * arb.pi()).sqrt()).log()
        slope, mirrored_slope = self.slopes
        weights, losses, height, rest = [], [], slope * eta, 1 - q
        y = acb(h * indices[0], height)
        w, mirrored, factor = q * (a * y - half).exp(), q * (-a * y - half).exp(), (a * h).exp()
        for index in indices:
            y = acb(h * index, height)
            log_u = (rest + w).log()
            exponent, loss = alpha * log_u, log_u if slope > 0 else -log_u
            if mirrored_slope:
                log_u = (rest + mirrored).log()
                exponent, loss = exponent + beta * log_u, loss + mirrored_slope * log_u
                mirrored /= factor
            weights.append((exponent - y * y / 2 + norm).exp())
            losses.append(loss)
            w *= factor
        return weights, losses

    def ceiling(self, c: arb, t: arb, angle: float, *, top: arb, log_error: float) -> arb:
        """An upper bound of |M(c + i t')| for every t' >= t, by moving the line of integration to Im y = angle/a.

        |M| <= e^{eta^2/2} int phi |u(y + i eta)|^alpha |u(-y - i eta)|^beta e^{-t' V} dy with V >= 0 the loss's
        imaginary part, which falls in t'. The integral is a trapezoidal sum; its own error is bounded on the lines
        Im y = +-d with angle + a d <= pi/2, where V is still monotone, by the lift of that angle times M(c) <= top.
        """
        a, q = ball(1 / self.sigma), ball(self.rate)
        goal = -log_error
        theta = arb(angle)
        eta = theta / a
        near = float(c.mid())
        reaches = np.linspace(0.03, 1.0, 40) * min((1.55 - angle) * float(self.sigma), 9.0)  # 1.55 < pi/2
        cost = 0.5 * reaches**2 + self._log_lift(near, angle + reaches / float(self.sigma))
        steps = 2 * math.pi * reaches / (goal + 4 + cost)
        step, reach = float(steps.max()), float(reaches[int(np.argmax(steps))])
        low, high = self.window(near, goal)
        first, last = math.floor(low / step), math.ceil(high / step)
        h, d = arb(step), arb(reach)
        sine, cosine = theta.sin_cos()
        alpha, beta = self.exponents(c)
        slope, mirrored_slope = (abs(value) for value in self.slopes)
        ratio, half = q / (1 - q), a * a / 2

        def at(y: arb) -> tuple[arb, arb]:
            w = ratio * (a * y - half).exp()
            point = acb(1 + w * cosine, w * sine)
            return abs(point).log(), point.arg()

        total = arb(0)
        for index in range(first, last + 1):
            y = h * index
            log_u, v = at(y)
            exponent = alpha * log_u - t * slope * v
            if mirrored_slope:
                log_u, v = at(-y)
                exponent += beta * log_u - t * mirrored_slope * v
            total += (exponent - y * y / 2).exp()
        total *= h / (2 * arb.pi()).sqrt() * (1 - q) ** (alpha + beta)
        widened = self._lift(c, theta + a * d) * (d * d / 2).exp() * top
        discretisation = 2 * widened / ((2 * arb.pi() * d / h).exp() - 1)
        outside = self._outside(c, h * first, h * last, h, theta, goal)
        bound: arb = (eta * eta / 2).exp() * (total + discretisation + outside)
        return bound.upper()
