r"""One Poisson-sampled Gaussian step as a pair over a standard normal variable: planned in floats, evaluated in balls.

With a = 1/sigma, w(y) = e^{a y - a^2/2} and u(y) = 1 - q + q w(y), the three pairs (P, Q) have, under the standard
normal density phi,

    remove   P = phi u(y),  Q = phi           E_P e^{sL} = int phi u(y)^{s+1}
    add      P = phi,       Q = phi u(y)      E_P e^{sL} = int phi u(y)^{-s}
    replace  P = phi u(y),  Q = phi u(-y)     E_P e^{sL} = int phi u(y)^{s+1} u(-y)^{-s}

so every moment is M(s) = int phi u(y)^alpha u(-y)^beta dy with alpha, beta affine in s. Facts used by the proofs, with
theta = a d in (0, pi) the angle of a shift y -> y + i d:
- |u(y + i d)| <= u(y), and >= cos(theta/2) u(y);
- v(y, theta) = arg u(y + i d) = arg(1 - q + q w e^{i theta}) lies in [0, theta] and rises in theta on [0, pi/2];
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
_PLAN_NODES = 240
_CELLS = 48


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

    def cumulants(self, c: float) -> tuple[float, float, float]:
        """log M(c), and the mean and variance of the loss under the tilted law."""
        y = np.linspace(*self.window(c, 36.0), _PLAN_NODES)
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
        y = np.linspace(*self.window(c, 36.0), _PLAN_NODES // 2)
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

    def grid(self, c: float, t: float, goal: float) -> tuple[float, float]:
        """A step h and a shift d for which the trapezoidal rule's error for all |t'| <= t is below about e^{-goal}."""
        a = 1 / float(self.sigma)
        # Beyond a right angle the loss turns fast near the zeros of u, which the proof's cells would not resolve.
        widest = 0.9 * math.pi if t * a < 5 else 0.48 * math.pi
        shifts = np.linspace(0.1, 1.0, 12) * min(9.0, widest / a)
        growth = self.shifted_log_mass(c, -t, a * shifts)
        steps = 2 * math.pi * shifts / (goal + 10 + np.maximum(growth, 0.0))  # 10: the proof works with coarse cells
        best = int(np.argmax(steps))
        return float(steps[best]), float(shifts[best])

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

    def _growth(self, c: arb, d: arb, t: arb, low: arb, high: arb) -> arb:
        """An upper bound of int |integrand of M(c + i t')| over Im y = +-d, for every |t'| <= t, cell by cell."""
        a, q = ball(1 / self.sigma), ball(self.rate)
        angle = a * d
        sine, cosine = angle.sin_cos()
        alpha, beta = self.exponents(c)
        first, second = (abs(slope) for slope in self.slopes)
        most = (first + second) * angle

        floor = ((1 - q) * sine) ** 2

        def at(y: arb, exponent: arb) -> tuple[arb, arb]:
            """The largest exponent * log |u(y + id)| on a cell, and the largest turn of u there."""
            w = q * (a * y - a * a / 2).exp()
            real, square = 1 - q + w * cosine, (1 - q) ** 2 + 2 * (1 - q) * w * cosine + w * w
            # |u|^2 >= floor always, which a coarse cell does not see by itself.
            modulus = square.upper().max(floor) if exponent > 0 else square.lower().max(floor)
            return exponent * modulus.log() / 2, (acb(real, w * sine).arg() if real > 0 else angle)

        # Up to a right angle |dv/dy| and |d log u/dy| are at most a: these cells let the exponent move by a few units.
        rise = (high - low) * a * (t * (first + second) + abs(alpha) + abs(beta))
        cells = _CELLS + min(20 * _CELLS, math.ceil(float((rise / 8).mid())))
        total, width = arb(0), (high - low) / cells
        for cell in range(cells):
            y = (low + cell * width).union(low + (cell + 1) * width)
            exponent, v = at(y, alpha)
            turn = first * v
            if second:
                more, v = at(-y, beta)
                exponent, turn = exponent + more, turn + second * v
            turn = turn.upper().min(most) if turn.is_finite() else most
            total += (exponent - y * y / 2 + t * turn).exp().upper()
        inside = total * width / (2 * arb.pi()).sqrt()
        outside = self._outside(c, low, high) * (t * most).exp()
        return (d * d / 2).exp() * (inside + self._shift_factor(c, angle) * outside)

    def moments(self, c: arb, k: arb, count: int, *, log_error: float) -> list[acb]:
        """Balls around M(c + i n k) for n = 0, ..., count - 1: trapezoidal sums plus truncation and discretisation."""
        t, near = k * (count - 1), float(c.mid())
        goal = -log_error - min(0.0, self.cumulants(near)[0])
        step, shift = self.grid(near, float(t.mid()), goal)
        h, d = arb(step), arb(shift)
        low, high = self.window(near, goal)
        first, last = math.floor(low / step), math.ceil(high / step)
        sums = self._sums(c, k, count, h, first, last)
        outside = self._outside(c, h * first, h * last)
        rate = (2 * arb.pi() * d / h).exp() - 1
        # The tails of the shifted integrand carry a factor e^{t angle}, so its cells reach further out.
        turns = float((t * d / ball(self.sigma)).mid()) * sum(abs(slope) for slope in self.slopes)
        low, high = self.window(near, goal + turns)
        discretisation = 2 * self._growth(c, d, t, arb(low), arb(high)) / rate
        error = arb(0, (outside + discretisation).upper())
        return [value + acb(error, error) for value in sums]

    def _sums(self, c: arb, k: arb, count: int, h: arb, first: int, last: int) -> list[acb]:
        """h sum_j phi(y_j) u(y_j)^alpha u(-y_j)^beta e^{i n k L(y_j)} as one matrix product of two phase tables.

        n = rows * i + j splits a phase into two table entries, each a short product of rotations, so that neither an
        exponential for each (n, y) is needed nor a long chain of rotations, whose balls would grow.
        """
        a, q = ball(1 / self.sigma), ball(self.rate)
        alpha, beta = self.exponents(c)
        half, norm = a * a / 2, h / (2 * arb.pi()).sqrt()
        slope, mirrored_slope = self.slopes
        weights, turns = [], []
        for index in range(first, last + 1):
            y = h * index
            log_u = (1 - q + q * (a * y - half).exp()).log()
            exponent, loss = alpha * log_u, slope * log_u
            if mirrored_slope:
                log_u = (1 - q + q * (-a * y - half).exp()).log()
                exponent, loss = exponent + beta * log_u, loss + mirrored_slope * log_u
            weights.append((exponent - y * y / 2).exp() * norm)
            sine, cosine = (k * loss).sin_cos()
            turns.append(acb(cosine, sine))
        columns = math.isqrt(count - 1) + 1
        rows = -(-count // columns)
        table = [[acb(1)] * len(turns)]
        for _ in range(columns):
            table.append([x * turn for x, turn in zip(table[-1], turns, strict=True)])
        strides = table.pop()
        giants = [[acb(weight) for weight in weights]]
        for _ in range(rows - 1):
            giants.append([x * stride for x, stride in zip(giants[-1], strides, strict=True)])
        left = acb_mat(rows, len(turns), [x for row in giants for x in row])
        right = acb_mat(columns, len(turns), [x for row in table for x in row]).transpose()
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
