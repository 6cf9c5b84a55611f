r"""The contour integral of `contour` in float64, vectorised over parameters, on the safe side.

The same sum, written for accuracy: with D_n = M(s_n)/M(c) - 1 = sum of weights (e^{i t L} - 1), the powers are
exp(T log1p(D_n)), so that errors count relative to |D_n| and not to 1, and T may be 10^7. An explicit budget covers
rounding (growing with T), the quadrature (the shifted-line bound, as in the reference) and what lies beyond the last
node; the images on both sides only raise the sum. A result is accepted when delta plus its budget is at most the
target in every direction; what no grid serves is left NaN for the reference.

The budget's integrals are themselves float64 quadratures on the same points (with a factor e^2 to spare), and the
window's tails, below e^{-45}, are not added: this is a budget held to the reference by tests, not a proof.
"""

from __future__ import annotations

import math
from typing import Any

from oracle.arrays import UNIT
from oracle.privacy.gaussian_arrays import certify

_LEVELS = ((32, 80, 1.0), (112, 224, 0.75), (448, 896, 0.75))  # contour nodes, quadrature nodes, part of the saddle
_TRIES = 10  # a budget above about 1e-8 is left to the next level, or to the reference
_GOAL = 30.0  # truncations aim at e^{-30} of delta
_CHUNK = 3_000_000
_SADDLE_STEPS = 12
_EXPONENTS = {"remove": (1.0, 1.0, 0.0, 0.0), "add": (0.0, -1.0, 0.0, 0.0), "replace": (1.0, 1.0, 0.0, -1.0)}
_LOG_ROOT_2PI = 0.5 * math.log(2 * math.pi)


class _Pair:
    """The steps of a column of parameters, shape [B], in one direction."""

    def __init__(self, xp: Any, sigma: Any, rate: Any, steps: Any, direction: str, nodes: int) -> None:
        self.xp, self.q, self.steps, self.nodes = xp, rate, steps, nodes
        self.a = 1.0 / sigma
        self.alpha0, self.alpha1, self.beta0, self.beta1 = _EXPONENTS[direction]
        self.log_q, self.log_rest = xp.log(rate), xp.log1p(-rate)
        self.unit = xp.asarray([i / (nodes - 1) for i in range(nodes)], dtype=xp.float64, device=rate.device)

    def window(self, c: Any) -> tuple[Any, Any]:
        """An interval that holds all but e^{-45} of the integrand, as in the reference."""
        xp, a = self.xp, self.a
        low, high = xp.zeros_like(c) - 9.5, xp.zeros_like(c) + 9.5
        for exponent, sign, moves in (
            (self.alpha0 + self.alpha1 * c, 1.0, self.alpha1 > 0), (self.beta0 + self.beta1 * c, -1.0, False),
        ):
            if moves:  # a positive exponent shifts the mass to a mean of exponent * a, with a small weight
                mean = sign * exponent * a
                weight = self.log_q + 0.5 * a * a * exponent * (exponent - 1.0)
                reach = xp.sqrt(2.0 * xp.clip(45.0 + weight, 1.0, math.inf))
                high = xp.where(mean + reach > high, mean + reach, high)
        if self.beta1:  # u(-y)^beta <= (1-q)^beta raises the weights by a constant
            extra = xp.sqrt(2.0 * self.beta1 * c * self.log_rest + 90.0) - math.sqrt(90.0)
            low, high = low - extra, high + extra
        if self.alpha1 < 0:
            low = low - (xp.sqrt(2.0 * self.alpha1 * c * self.log_rest + 90.0) - math.sqrt(90.0))
        return low, high

    def grid(self, c: Any) -> tuple[Any, Any]:
        """Quadrature points, shape [B, nodes], and their distance, shape [B]."""
        low, high = self.window(c)
        return low[:, None] + (high - low)[:, None] * self.unit[None, :], (high - low) / (self.nodes - 1)

    def log_u(self, y: Any) -> tuple[Any, Any]:
        """log u(y) = log1p(q (w - 1)), accurate where it is tiny, and its error in units of 4 UNIT."""
        xp = self.xp
        x = self.a[:, None] * y - 0.5 * (self.a * self.a)[:, None]
        near = self.q[:, None] * xp.expm1(xp.where(x < 30.0, x, 0.0))
        far = self.log_q[:, None] + x + xp.log1p(xp.exp(self.log_rest - self.log_q)[:, None] * xp.exp(-xp.abs(x)))
        value = xp.where(x < 30.0, xp.log1p(near), far)
        # x carries the rounding of a y and a^2/2; near is relatively exact but for that, and 1 + near may be small.
        slope = xp.where(x < 30.0, xp.abs(near) / (1.0 + near), 1.0)
        share = xp.where(x < 30.0, (near + self.q[:, None]) / (1.0 + near), 1.0)
        return value, xp.abs(value) + slope + share * (xp.abs(x) + (self.a * self.a)[:, None])

    def weights(self, c: Any) -> tuple[Any, Any, Any, Any]:
        """log M(c), the tilted probabilities of the points, their losses, and the distance of the points."""
        xp = self.xp
        y, h = self.grid(c)
        log_u, error = self.log_u(y)
        mirrored, mirrored_error = self.log_u(-y) if self.beta1 else (0.0, 0.0)
        self.loss_error = error + mirrored_error
        tilt = (self.alpha0 + self.alpha1 * c)[:, None] * log_u + (self.beta0 + self.beta1 * c)[:, None] * mirrored
        loss = self.alpha1 * log_u + self.beta1 * mirrored
        base = xp.exp(-0.5 * y * y - _LOG_ROOT_2PI) * h[:, None]
        # sum of base * (e^tilt - 1) keeps the digits of a tiny log M(c); elsewhere the peak is taken out.
        excess = xp.sum(base * xp.expm1(xp.where(tilt < 1.0, tilt, 0.0)), axis=1)
        small = xp.all(tilt < 1.0, axis=1)
        exponent = tilt - 0.5 * y * y - _LOG_ROOT_2PI
        top = xp.max(exponent, axis=1)
        mass = xp.exp(exponent - top[:, None])
        total = xp.sum(mass, axis=1)
        log_m = xp.where(small, xp.log1p(xp.where(small, excess, 0.0)), top + xp.log(total * h))
        return log_m, mass / total[:, None], loss, h

    def shifted(self, c: Any, t: Any, angle: Any) -> Any:
        """log int |integrand at Im y = angle/a| e^{-t v} dy, v the turn of the loss (t < 0: growth, not decay)."""
        xp = self.xp
        y, h = self.grid(c)
        sine, cosine = xp.sin(angle)[:, None], xp.cos(angle)[:, None]

        def parts(points: Any) -> tuple[Any, Any]:
            log_w = (self.log_q - self.log_rest)[:, None] + self.a[:, None] * points - 0.5 * (self.a * self.a)[:, None]
            w = xp.exp(xp.clip(log_w, -700.0, 300.0))
            real = 1.0 + w * cosine
            modulus = 0.5 * xp.log(real * real + (w * sine) ** 2) + xp.where(log_w > 300.0, log_w - 300.0, 0.0)
            return modulus + self.log_rest[:, None], xp.atan2(w * sine, real)

        log_u, turn = parts(y)
        exponent = (self.alpha0 + self.alpha1 * c)[:, None] * log_u - t[:, None] * abs(self.alpha1) * turn
        if self.beta1:
            log_u, turn = parts(-y)
            exponent = exponent + (self.beta0 + self.beta1 * c)[:, None] * log_u - t[:, None] * abs(self.beta1) * turn
        exponent = exponent - 0.5 * y * y - _LOG_ROOT_2PI
        top = xp.max(exponent, axis=1)
        mass = top + xp.log(xp.sum(xp.exp(exponent - top[:, None]), axis=1) * h)
        return mass + 0.5 * (angle / self.a) ** 2

    def saddle(self, *, log_delta: Any = None, epsilon: Any = None) -> tuple[Any, Any, Any]:
        """About the saddle point, its epsilon and log delta, by bisection in log c."""
        xp = self.xp
        low, high = xp.zeros_like(self.q) - 12.0, xp.zeros_like(self.q) + 18.0
        for _ in range(_SADDLE_STEPS):
            middle = 0.5 * (low + high)
            at_epsilon, at_log_delta = self.estimate(xp.exp(middle))
            beyond = at_epsilon > epsilon if epsilon is not None else at_log_delta < log_delta
            low, high = xp.where(beyond, low, middle), xp.where(beyond, middle, high)
        c = xp.exp(0.5 * (low + high))
        return c, *self.estimate(c)

    def estimate(self, c: Any) -> tuple[Any, Any]:
        """The epsilon whose saddle point is c, and about log delta there."""
        xp = self.xp
        log_m, probability, loss, _ = self.weights(c)
        mean = xp.sum(probability * loss, axis=1)
        variance = self.steps * xp.sum(probability * (loss - mean[:, None]) ** 2, axis=1)
        epsilon = self.steps * mean - 1 / c - 1 / (c + 1)
        spread = variance + 1 / c**2 + 1 / (c + 1) ** 2
        return epsilon, self.steps * log_m - c * epsilon - xp.log(c * (c + 1)) - 0.5 * xp.log(2 * math.pi * spread)


class _Sum:
    """The contour sum of one direction, planned at an epsilon, with its budget."""

    def __init__(self, pair: _Pair, c: Any, epsilon: Any, log_delta: Any, count: int) -> None:
        xp, steps = pair.xp, pair.steps
        self.xp, self.c = xp, c
        log_m, probability, loss, h = pair.weights(c)
        self.log_peak = steps * log_m
        loss_error = 4 * UNIT * xp.sum(probability * pair.loss_error, axis=1)
        allowed = log_delta - _GOAL
        period = c * math.inf
        for factor in (1.15, 1.4, 2.0, 3.0):
            b = c * factor
            log_bound = steps * pair.weights(b)[0] + b * xp.log(b) - (b + 1) * xp.log1p(b)
            needed = (log_bound - b * epsilon - allowed) / (b - c)
            period = xp.where(needed < period, needed, period)
        period = xp.where(period > -allowed / c, period, -allowed / c)
        self.k = 2 * math.pi / period
        last = count * self.k
        # What is cut off beyond the last node, by the best of a few shifted lines.
        cut = c * math.inf
        largest = xp.where(6 * pair.a < 1.15, 6 * pair.a, 1.15)
        for power in range(9):
            angle = largest * 4.0**-power
            bound = steps * pair.shifted(c, last, angle) - xp.log(math.pi * last)
            cut = xp.where(bound < cut, bound, cut)
        self.log_cut = cut
        # The quadrature's error, by the best of a few shifted lines, relative to M(c) and times the number of steps.
        quadrature = c * math.inf
        for fraction in (0.3, 0.6, 0.95):
            shift = fraction * xp.where(0.48 * math.pi / pair.a < 9.0, 0.48 * math.pi / pair.a, 9.0)
            bound = pair.shifted(c, -last, pair.a * shift) - 2 * math.pi * shift / h - log_m + 2.0
            quadrature = xp.where(bound < quadrature, bound, quadrature)
        rounding = 16 * UNIT * (xp.abs(self.log_peak) + xp.abs(c * epsilon) + 64.0) + steps * (2 * c + 1) * loss_error
        self.relative = rounding + steps * xp.exp(xp.clip(quadrature, -700.0, 700.0))
        index = xp.asarray([float(n) for n in range(1, count + 1)], dtype=xp.float64, device=c.device)
        self.t = self.k[:, None] * index[None, :]
        self.real, self.imag, size = self._terms(probability, loss, steps)
        # The rounding of D_n, multiplied by the number of steps, on top of the common relative error.
        spread = xp.sum(probability * xp.abs(loss), axis=1) * (16 + pair.nodes) * UNIT + loss_error
        self.spread = xp.sum(size * steps[:, None] * self.t * spread[:, None], axis=1)
        self.total = xp.sum(size, axis=1)

    def _terms(self, probability: Any, loss: Any, steps: Any) -> tuple[Any, Any, Any]:
        """2 (M(s_n)/M(c))^T / (s_n (s_n + 1)) as real and imaginary parts, and its modulus."""
        xp, c = self.xp, self.c[:, None]
        d_real, d_imag = self._differences(probability, loss)
        log_size = 0.5 * xp.log1p(2.0 * d_real + d_real * d_real + d_imag * d_imag)
        phase = xp.atan2(d_imag, 1.0 + d_real)
        t = self.t
        s_real, s_imag = c * (c + 1.0) - t * t, t * (2.0 * c + 1.0)
        norm = s_real * s_real + s_imag * s_imag
        size = xp.exp(xp.clip(steps[:, None] * log_size, -700.0, 0.0))
        g_real, g_imag = size * xp.cos(steps[:, None] * phase), size * xp.sin(steps[:, None] * phase)
        real = 2.0 * (g_real * s_real + g_imag * s_imag) / norm
        imag = 2.0 * (g_imag * s_real - g_real * s_imag) / norm
        return real, imag, 2.0 * size / xp.sqrt(norm)

    def _differences(self, probability: Any, loss: Any) -> tuple[Any, Any]:
        """D_n = sum of probability (e^{i n k L} - 1) for n = 1, ..., count, as one matrix product a point.

        With n = i m + j, x = e^{i m i k L} - 1 and y = e^{i j k L} - 1, e^{...} - 1 = x y + x + y: two short tables of
        accurate differences, so that D_n keeps its digits however small it is.
        """
        xp, count = self.xp, self.t.shape[1]
        columns = math.isqrt(count) + 1
        rows = -(-(count + 1) // columns)

        def table(first: int, size: int) -> tuple[Any, Any]:
            factors = xp.asarray([float(first * i) for i in range(size)], dtype=xp.float64, device=loss.device)
            angle = (self.k[:, None] * factors[None, :])[:, :, None] * loss[:, None, :]
            half = xp.sin(0.5 * angle)
            return -2.0 * half * half, xp.sin(angle)

        x_real, x_imag = table(columns, rows)
        y_real, y_imag = table(1, columns)
        weight = probability[:, None, :]
        px_real, px_imag = weight * x_real, weight * x_imag
        ty_real, ty_imag = xp.matrix_transpose(y_real), xp.matrix_transpose(y_imag)
        alone_x, alone_y = xp.sum(px_real, axis=2)[:, :, None], xp.sum(weight * y_real, axis=2)[:, None, :]
        real = xp.matmul(px_real, ty_real) - xp.matmul(px_imag, ty_imag) + alone_x + alone_y
        alone_x, alone_y = xp.sum(px_imag, axis=2)[:, :, None], xp.sum(weight * y_imag, axis=2)[:, None, :]
        imag = xp.matmul(px_real, ty_imag) + xp.matmul(px_imag, ty_real) + alone_x + alone_y
        shape = (loss.shape[0], rows * columns)
        return xp.reshape(real, shape)[:, 1 : count + 1], xp.reshape(imag, shape)[:, 1 : count + 1]

    def value(self, epsilon: Any) -> tuple[Any, Any]:
        """The sum and its slope in epsilon, both divided by the scale e^{T log M(c) - c epsilon} k/(2 pi)."""
        xp = self.xp
        angle = self.t * epsilon[:, None]
        cosine, sine = xp.cos(angle), xp.sin(angle)
        real = self.real * cosine + self.imag * sine
        imag = self.imag * cosine - self.real * sine
        total = 1.0 / (self.c * (self.c + 1.0)) + xp.sum(real, axis=1)
        slope = -1.0 / (self.c + 1.0) - xp.sum(self.c[:, None] * real - self.t * imag, axis=1)
        return total, slope

    def upper(self, epsilon: Any) -> Any:
        """delta(epsilon) plus the whole budget."""
        xp = self.xp
        total, _ = self.value(epsilon)
        head = 1.0 / (self.c * (self.c + 1.0))
        size = head + self.total
        turning = 8 * UNIT * xp.abs(self.t[:, -1] * epsilon) * self.total
        budget = (self.relative + 64 * UNIT) * size + 2 * self.spread + turning
        scale = xp.exp(xp.clip(self.log_peak - self.c * epsilon, -740.0, 700.0)) * self.k / (2 * math.pi)
        cut = xp.exp(xp.clip(self.log_cut - self.c * epsilon, -740.0, 700.0))
        value = scale * (total + budget) + 1.01 * cut
        # Chernoff's bound at c is always there, and settles a direction that is far from the larger one.
        exponent = self.log_peak + self.c * xp.log(self.c) - (self.c + 1.0) * xp.log1p(self.c) - self.c * epsilon
        chernoff = xp.exp(xp.clip(exponent, -740.0, 700.0)) * (1.0 + 4 * self.relative)
        return xp.where(value < chernoff, value, chernoff)

    def newton(self, epsilon: Any, log_delta: Any) -> tuple[Any, Any]:
        """About the epsilon at which the sum reaches a delta, and where the search has settled."""
        xp, settled = self.xp, epsilon < 0.0
        for _ in range(12):
            total, slope = self.value(epsilon)
            good = (total > 0.0) & (slope < 0.0)
            total, slope = xp.where(good, total, 1.0), xp.where(good, slope, -1.0)
            log_value = xp.log(total * self.k / (2 * math.pi)) + self.log_peak - self.c * epsilon
            step = xp.where(good, (log_value - log_delta) * total / -slope, 0.0)
            epsilon = epsilon + xp.clip(step, -2.0 / self.c, 2.0 / self.c)
            epsilon = xp.where(epsilon > 0.0, epsilon, 0.0)
            settled = good & ((xp.abs(step) <= 1e-11 * (1.0 + epsilon)) | (epsilon == 0.0))
            if bool(xp.all(settled)):
                break
        return epsilon, settled


def _solve(xp: Any, columns: tuple[Any, ...], directions: tuple[str, ...], level: tuple[int, int, float]) -> Any:
    """Certified upper bounds of epsilon for a chunk of points, NaN where this level does not serve."""
    sigma, rate, steps, delta = columns
    count, nodes, pull = level
    log_delta = xp.log(delta)
    sums, epsilon = [], xp.zeros_like(delta)
    for index, direction in enumerate(directions):
        pair = _Pair(xp, sigma, rate, steps, direction, nodes)
        if index == 0:
            c, at, estimate = pair.saddle(log_delta=log_delta)
            epsilon = xp.where(at > 0.0, at, 0.0)
        else:
            c, at, estimate = pair.saddle(epsilon=epsilon)
        # Left of a steep saddle the images on the right are cheaper, which harder problems need.
        one = _Sum(pair, c * pull, epsilon, xp.where(estimate < log_delta, estimate, log_delta), count)
        if index == 0:
            epsilon, settled = one.newton(epsilon, log_delta)
        sums.append(one)

    def accepted(candidate: Any) -> Any:
        good = settled | (candidate == 0.0)
        for one in sums:
            good = good & (one.upper(candidate) <= delta)
        return good

    return certify(xp, epsilon, xp.where(epsilon > 1e-3, epsilon, 1e-3), accepted, tries=_TRIES)


def epsilon_upper(xp: Any, sigma: Any, rate: Any, steps: Any, delta: Any, directions: tuple[str, ...]) -> Any:
    """Upper bounds of epsilon, in the shape of the inputs; NaN where float64 cannot serve."""
    shape = delta.shape
    columns = tuple(xp.reshape(x, (-1,)) for x in (sigma, rate, steps, delta))
    result = xp.zeros_like(columns[3]) * math.nan
    served = (columns[1] > 0.0) & (columns[1] < 1.0) & (columns[2] > 1.0)
    for level in _LEVELS:
        wanted = xp.nonzero(served & xp.isnan(result))[0]
        chunk = max(1, _CHUNK // (4 * math.isqrt(level[0]) * level[1]))
        for first in range(0, wanted.shape[0], chunk):
            rows = wanted[first : first + chunk]
            result[rows] = _solve(xp, tuple(x[rows] for x in columns), directions, level)
    return xp.reshape(result, shape)
