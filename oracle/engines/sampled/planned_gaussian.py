"""What floats say of one Poisson-sampled Gaussian step: moments, decay, lines and windows. Nothing here is trusted.

The notation is that of `sampled_gaussian`, whose balls judge what is planned here.
"""

from __future__ import annotations

import functools
import math
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
from flint import arb
from numpy.typing import NDArray

from oracle.core.enclosure import ball
from oracle.engines.sampled.real_line import RealPlan, real_plan

Array = NDArray[np.float64]

_EXPONENTS = {"remove": (1, 1, 0, 0), "add": (0, -1, 0, 0), "replace": (1, 1, 0, -1)}
_LOG_ROOT_2PI = 0.5 * math.log(2 * math.pi)
_FEWEST, _MOST = 48, 4000
_PLAN_STEP, _FINE_STEP = 0.3, 0.2  # between points of a plan, where u varies slowly and elsewhere
_AROUND, _MOVES = (0.6, 0.8, 1.0, 1.25, 1.6), 12  # in units of a guess of the angle; from where on it is moved
_LEAST_ANGLE = 1e-12
_LARGEST_ORDER = 3e4
_LEAST_GOAL, _NEVER_MORE = 5.0, 1.2  # points for each digit that the line for every t always needs


@dataclass(frozen=True)
class PlannedGaussian:
    """A Gaussian step with noise multiplier sigma on a Poisson sample of a given rate, in one direction."""

    sigma: Fraction
    rate: Fraction
    direction: str

    @functools.cached_property
    def _hashed(self) -> int:
        return hash((self.sigma, self.rate, self.direction))

    def __hash__(self) -> int:
        """Kept: the hash of a fraction takes as long as a look at what is cached."""
        return self._hashed

    @property
    def slopes(self) -> tuple[int, int]:
        """(alpha', beta'): the privacy loss is alpha' log u(y) + beta' log u(-y)."""
        return _EXPONENTS[self.direction][1], _EXPONENTS[self.direction][3]

    def exponents(self, c: Any) -> tuple[Any, Any]:
        """(alpha, beta) at a real point c > 0, as floats or balls."""
        alpha, alpha_slope, beta, beta_slope = _EXPONENTS[self.direction]
        return alpha + alpha_slope * c, beta + beta_slope * c

    def log_rest(self) -> arb:
        """log(1 - q) with all its digits, next to 0 and next to 1."""
        return ball(-self.rate).log1p() if 2 * self.rate < 1 else ball(1 - self.rate).log()

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
        a, least = 1 / float(self.sigma), min(self.exponents(c))
        step = _PLAN_STEP if a < 2.0 else _FINE_STEP
        step /= math.sqrt(1 + max(0.0, -least) * a * a / 4)  # a negative power of u makes the tilted law narrow
        return np.linspace(low, high, max(_FEWEST, min(_MOST, math.ceil((high - low) / step))))

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
        """About the least log bound of |M(c + i t')|, t' >= t, and the angle of the shift that gives it.

        A small angle gains t times the tilted mean of the loss's slope and loses angle^2/(2 a^2): that is a guess.
        """
        a = 1 / float(self.sigma)
        widest = min(1.15, 6 * a)
        guess, best = min(a * a * t * self._turning(c), widest), 0
        for _ in range(_MOVES):  # the mass has one valley
            angles = np.minimum(guess * np.asarray(_AROUND), widest)
            masses = self.shifted_log_mass(c, t, angles)
            best = int(np.argmin(masses))
            if 0 < best < len(angles) - 1 or not angles[best] < widest or not guess > _LEAST_ANGLE:
                break
            guess = float(angles[best])
        return float(masses[best]), float(angles[best])

    @functools.lru_cache(maxsize=64)  # noqa: B019 - a plan asks for the same orders again and again
    def _turning(self, c: float) -> float:
        """The tilted mean of the slope of the loss's imaginary part in the angle, at 0."""
        y = self._points(c)
        alpha, beta = self.exponents(c)
        exponent = alpha * self._log_u(y) + beta * self._log_u(-y) - 0.5 * y * y
        weight = np.exp(exponent - exponent.max())
        slope = np.exp(self._log_share(y))
        if self.slopes[1]:
            slope += np.exp(self._log_share(-y))
        return float(weight @ slope) / float(weight.sum())

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

    def points(self, c: float, goal: float, t: float = math.inf) -> float:
        """About the points of a trapezoidal sum that errs by e^{-goal} M(c), at c + it' for every t' <= t."""
        plan = self.on_real_line(c, goal, t) if t < math.inf else None
        if plan is not None:
            return plan.points
        low, high = self.window(c, goal)
        return (high - low) / self.line(c, goal)[0]

    def on_real_line(self, c: float, goal: float, t: float) -> RealPlan | None:
        """A sum on the real line that serves as `points` says, if it has the fewer points."""
        return self._on_real_line(c, goal, t)

    @functools.lru_cache(maxsize=16)  # noqa: B019 - what a plan's work is estimated by is used then
    def _on_real_line(self, c: float, goal: float, t: float) -> RealPlan | None:
        goal = max(goal - max(0.0, self.cumulants(c)[0]), _LEAST_GOAL)
        if not goal < math.inf:
            return None
        plan = real_plan(self, c, t, goal)
        if plan is None or plan.points < _NEVER_MORE * goal or plan.points <= self.points(c, goal):
            return plan
        return None
