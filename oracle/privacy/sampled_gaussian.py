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
- u^alpha <= (1-q) + q w^alpha for alpha >= 1 or alpha <= 0 (Jensen), and u^alpha <= (1-q)^alpha for alpha <= 0.
The last line bounds the integrand by a sum of Gaussians (the *envelope*), whose tails are known.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
from flint import acb, acb_mat, arb
from numpy.typing import NDArray

from oracle.enclosure import ball
from oracle.privacy.gaussian import normal_upper_tail

Array = NDArray[np.float64]

_EXPONENTS = {"remove": (1, 1, 0, 0), "add": (0, -1, 0, 0), "replace": (1, 1, 0, -1)}
_LOG_ROOT_2PI = 0.5 * math.log(2 * math.pi)
_FEWEST, _MOST, _PLAN_STEP = 120, 4000, 0.2


@dataclass(frozen=True)
class SampledGaussian:
    """A Gaussian step with noise multiplier sigma on a Poisson sample of a given rate, in one direction."""

    sigma: Fraction
    rate: Fraction
    direction: str

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
        return -ball(1 - self.rate).log() if self.direction == "add" else None

    def _is_flat(self, exponent: float) -> bool:
        """Whether (1-q)^alpha is the smaller of the two bounds of u^alpha, alpha < 0; a choice, not a proof."""
        a, q = 1 / float(self.sigma), float(self.rate)
        return exponent < 0 and exponent * math.log1p(-q) < math.log(q) + 0.5 * a * a * exponent * (exponent - 1)

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
        return np.logaddexp(math.log1p(-q), math.log(q) + a * y - 0.5 * a * a)

    def _envelope(self, c: float) -> list[tuple[float, float]]:
        """The envelope's Gaussians as (log weight, mean)."""
        a, q = 1 / float(self.sigma), float(self.rate)

        def factor(exponent: float, sign: int) -> list[tuple[float, float]]:
            if exponent == 0:
                return [(0.0, 0.0)]
            if self._is_flat(exponent):
                return [(exponent * math.log1p(-q), 0.0)]
            return [(math.log1p(-q), 0.0), (math.log(q) - 0.5 * exponent * a * a, sign * exponent * a)]

        alpha, beta = self.exponents(c)
        pairs = [(u + v, s + t) for u, s in factor(alpha, 1) for v, t in factor(beta, -1)]
        return [(weight + 0.5 * mean * mean, mean) for weight, mean in pairs]

    def window(self, c: float, goal: float) -> tuple[float, float]:
        """An interval outside which the envelope's mass is below about e^{-goal}."""
        low, high = 0.0, 0.0
        for weight, mean in self._envelope(c):
            reach = math.sqrt(2 * max(goal + weight, 1.0))
            low, high = min(low, mean - reach), max(high, mean + reach)
        return low, high

    def _points(self, c: float) -> Array:
        """Points across the window, close enough to see a Gaussian and every turn of u."""
        low, high = self.window(c, 36.0)
        return np.linspace(low, high, max(_FEWEST, min(_MOST, math.ceil((high - low) / _PLAN_STEP))))

    def cumulants(self, c: float) -> tuple[float, float, float]:
        """log M(c), and the mean and variance of the loss under the tilted law."""
        y = self._points(c)
        alpha, beta = self.exponents(c)
        log_u, mirrored = self._log_u(y), self._log_u(-y)
        exponent = alpha * log_u + beta * mirrored - 0.5 * y * y - _LOG_ROOT_2PI
        loss = self.slopes[0] * log_u + self.slopes[1] * mirrored
        top = float(exponent.max())
        weight = np.exp(exponent - top)
        total = float(weight.sum())
        mean = float(weight @ loss) / total
        variance = float(weight @ (loss - mean) ** 2) / total
        return top + math.log(total * float(y[1] - y[0])), mean, variance

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
        angles = np.geomspace(1e-3 * min(1.0, a) / (1 + t), min(1.15, 6 * a), 40)
        masses = self.shifted_log_mass(c, t, angles)
        best = int(np.argmin(masses))
        return float(masses[best]), float(angles[best])

    def line(self, c: float, goal: float) -> tuple[float, float]:
        """A step h and a height eta for which the trapezoidal rule on Im y = +-eta errs by e^{-goal} M(c) or less."""
        sigma = float(self.sigma)
        heights = np.linspace(0.03, 1.0, 60) * min(1.5 * sigma, math.sqrt(2 * goal))
        negative = -sum(exponent for exponent in self.exponents(c) if exponent < 0)
        cost = 2 * heights**2 - negative * np.log(np.cos(heights / sigma))
        steps = 2 * math.pi * heights / (goal + 2 + cost)
        best = int(np.argmax(steps))
        return float(steps[best]), float(heights[best])

    # ---- evaluation, in balls: everything here is a proof

    def _terms(self, c: arb) -> list[tuple[arb, arb]]:
        """The envelope's Gaussians as (mass, mean): phi u^alpha u^beta <= sum of mass * density of N(mean, 1)."""
        a, q = ball(1 / self.sigma), ball(self.rate)

        def factor(exponent: arb, sign: int) -> list[tuple[arb, arb]]:
            if exponent.is_zero():
                return [(arb(1), arb(0))]
            if self._is_flat(float(exponent.mid())):
                return [((1 - q) ** exponent, arb(0))]
            return [(1 - q, arb(0)), (q * (-exponent * a * a / 2).exp(), sign * exponent * a)]

        alpha, beta = self.exponents(c)
        pairs = [(u * v, s + t) for u, s in factor(alpha, 1) for v, t in factor(arb(beta), -1)]
        return [(weight * (mean * mean / 2).exp(), mean) for weight, mean in pairs]

    def _outside(self, c: arb, low: arb, high: arb) -> arb:
        """The mass of the envelope outside [low, high], which must lie around all its means.

        It bounds both the integral out there and the trapezoidal sum over nodes beyond the end nodes low and high.
        """
        root, total = arb(2).sqrt(), arb(0)
        for mass, mean in self._terms(c):
            if not (low < mean and mean < high):
                return arb.pos_inf()
            total += mass * (((high - mean) / root).erfc() + ((mean - low) / root).erfc()) / 2
        return total

    def _shift_factor(self, c: arb, angle: arb) -> arb:
        """What to multiply the envelope by to bound |integrand| at Im y = +-angle/a: 1 but for negative exponents.

        There a flat factor (1-q)^alpha needs |u| >= (1-q) sin(angle), or >= 1-q up to a right angle; another one needs
        |u(y + id)| >= cos(angle/2) u(y).
        """
        result = arb(1)
        for exponent in self.exponents(c):
            if exponent < 0 and not self._is_flat(float(exponent.mid())):
                result *= (angle / 2).cos() ** exponent
            elif exponent < 0 and not 2 * angle < arb.pi():
                result *= angle.sin() ** exponent
        return result

    def moments(self, c: arb, k: arb, count: int, *, log_error: float) -> list[acb]:
        """Balls around M(c + i n k) for n = 0, ..., count - 1, by trapezoidal sums on the line Im y = +-eta.

        The sign of eta is such that the loss turns the powers into decay: for every t >= 0 the integrand is then at
        most |phi u^alpha u^beta|(y) e^{-tV}, V >= 0, on every line from the real one (where its integral is M(c)) to
        twice the height (where it is at most e^{2 eta^2} cos(a eta)^negative M(c), negative the sum of the negative
        exponents). So the sum errs by at most M(c) (1 + e^{2 eta^2} cos(a eta)^negative) / (e^{2 pi eta/h} - 1),
        whatever t is, and few points are enough where the integrand on the real line would oscillate wildly.
        """
        near = float(c.mid())
        goal = -log_error - min(0.0, self.cumulants(near)[0])
        step, height = self.line(near, goal)
        h, eta = arb(step), arb(height)
        angle = eta / ball(self.sigma)
        raised = self._shift_factor(c, angle) * (eta * eta / 2).exp()  # by which the line lifts the envelope
        low, high = self.window(near, goal + float(raised.log().mid()))
        first, last = math.floor(low / step), math.ceil(high / step)
        sums = self._sums(c, k, count, h, eta, first, last)
        outside = self._outside(c, h * first, h * last) * raised
        widened = (2 * eta * eta).exp()
        for exponent in self.exponents(c):
            if exponent < 0:
                widened *= angle.cos() ** exponent
        share = (1 + widened) / ((2 * arb.pi() * eta / h).exp() - 1)
        if not share < 1:
            return [acb(arb(0, "inf"), arb(0, "inf"))] * count
        error = arb(0, (outside + share * (abs(sums[0]) + outside) / (1 - share)).upper())
        return [value + acb(error, error) for value in sums]

    def _sums(self, c: arb, k: arb, count: int, h: arb, eta: arb, first: int, last: int) -> list[acb]:
        """h sum_j phi u(y_j)^alpha u(-y_j)^beta e^{i n k L(y_j)}, y_j = j h +- i eta, as one product of two tables.

        n = columns * i + j splits a power into two table entries, so that no exponential for each (n, y) is needed.
        """
        a, q = ball(1 / self.sigma), ball(self.rate)
        alpha, beta = self.exponents(c)
        half, norm = a * a / 2, (h / (2 * arb.pi()).sqrt()).log()
        slope, mirrored_slope = self.slopes
        i = acb(0, 1)
        weights, turns = [], []
        for index in range(first, last + 1):
            y = acb(h * index, slope * eta)
            log_u = (1 - q + q * (a * y - half).exp()).log()
            exponent, loss = alpha * log_u, slope * log_u
            if mirrored_slope:
                log_u = (1 - q + q * (-a * y - half).exp()).log()
                exponent, loss = exponent + beta * log_u, loss + mirrored_slope * log_u
            weights.append((exponent - y * y / 2 + norm).exp())
            turns.append((i * k * loss).exp())
        columns = math.isqrt(count - 1) + 1
        rows = -(-count // columns)
        left = acb_mat(_powers(weights, [turn**columns for turn in turns], rows))
        right = acb_mat(_powers([acb(1)] * len(turns), turns, columns)).transpose()
        product = left * right
        return [product[n // columns, n % columns] for n in range(count)]

    def ceiling(self, c: arb, t: arb, angle: float, *, top: arb, log_error: float) -> arb:
        """An upper bound of |M(c + i t')| for every t' >= t, by moving the line of integration to Im y = angle/a.

        |M| <= e^{eta^2/2} int phi |u(y + i eta)|^alpha |u(-y - i eta)|^beta e^{-t' V} dy with V >= 0 the loss's
        imaginary part, which falls in t'. The integral is a trapezoidal sum; its own error is bounded on the lines
        Im y = +-d with angle + a d <= pi/2, where V is still monotone and |u| lies between cos(angle/2) u(y) and u(y),
        so that the integral there is at most a constant times M(c) <= top.
        """
        a, q = ball(1 / self.sigma), ball(self.rate)
        goal = -log_error
        theta = arb(angle)
        eta = theta / a
        reach = min((1.55 - angle) * float(self.sigma), 9.0)  # 1.55 < pi/2
        near = float(c.mid())
        negative = -sum(exponent for exponent in self.exponents(near) if exponent < 0)
        loss = -negative * math.log(math.cos(0.5 * (angle + reach / float(self.sigma))))
        step = 2 * math.pi * reach / (goal + 4 + 0.5 * reach**2 + loss)
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
        shrunk = arb(1)
        for exponent in (alpha, beta):
            if exponent < 0:
                shrunk *= ((theta + a * d) / 2).cos() ** exponent
        widened = shrunk * (d * d / 2).exp() * top
        discretisation = 2 * widened / ((2 * arb.pi() * d / h).exp() - 1)
        outside = self._outside(c, h * first, h * last) * self._shift_factor(c, theta)
        bound: arb = (eta * eta / 2).exp() * (total + discretisation + outside)
        return bound.upper()


def _powers(start: list[acb], factors: list[acb], count: int) -> list[list[acb]]:
    """start * factor^n for n = 0, ..., count - 1, a row for each n.

    By doubling: every entry is a product of few factors. The balls of a long chain of rotations would grow by up to
    sqrt(2) with every link.
    """
    table, step = [start], factors
    while len(table) < count:
        more = table[: count - len(table)]
        table = table + [[x * factor for x, factor in zip(row, step, strict=True)] for row in more]
        step = [factor * factor for factor in step]
    return table
