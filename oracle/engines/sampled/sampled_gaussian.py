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

import itertools
import math
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from flint import acb, arb

from oracle.core.enclosure import ball
from oracle.core.errors import PrecisionError
from oracle.engines.gaussian_curve import normal_upper_tail
from oracle.engines.sampled.line_sums import Line, turned_sums
from oracle.engines.sampled.planned_gaussian import PlannedGaussian
from oracle.engines.sampled.real_line import real_moment, real_moments, tails

_MOST_POINTS = 20_000


@dataclass(frozen=True)
class SampledGaussian(PlannedGaussian):
    """A Gaussian step with noise multiplier sigma on a Poisson sample of a given rate, in one direction."""

    __hash__ = PlannedGaussian.__hash__
    digits: ClassVar[float] = 24.0  # how far the errors of a float's sum shall lie below delta, in the exponent

    def largest_loss(self) -> arb | None:
        """The supremum of the privacy loss where it is finite (adding a record), at the working precision."""
        return -self.log_rest() if self.direction == "add" else None

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

    # ---- moments: everything here is a proof

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
        on the real line would oscillate wildly. Up to a given t the real line itself may do (`real_line`).
        """
        real = self.on_real_line(float(c.mid()), -log_error, float(k.mid()) * (count - 1))
        if real is not None:
            return real_moments(self, real, c, k, count)
        line = self.on_line(c, -log_error)
        if not line.share < 1:
            return [acb(arb(0, "inf"), arb(0, "inf"))] * count
        sums = turned_sums(line.weights, line.losses, k, count)
        error = arb(0, (line.outside + line.share * (abs(sums[0]) + line.outside) / (1 - line.share)).upper())
        return [value + acb(error, error) for value in sums]

    def moment_above(self, c: arb, goal: float) -> arb:
        """An upper bound of M(c), about e^{-goal} of it too large; infinite where no quadrature is seen to converge."""
        real = self.on_real_line(float(c.mid()), goal, 0.0)
        if real is not None:
            return real_moment(self, real, c).upper()
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
        goal = -log_error + 0.5 * (angle * float(self.sigma)) ** 2  # phi's factor raises every error
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
        outside = tails(self, c, h * first, h * last, theta)
        if not outside < math.exp(1 - goal):
            outside = outside.min(self._outside(c, h * first, h * last, h, theta, goal))
        bound: arb = (eta * eta / 2).exp() * (total + discretisation + outside)
        return bound.upper()
