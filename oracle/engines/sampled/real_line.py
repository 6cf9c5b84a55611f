r"""Moments of one sampled Gaussian step by trapezoidal sums on the real line, certified in balls.

In the notation of `sampled_gaussian`, f(z) = phi(z) u(z)^alpha u(-z)^beta is analytic for |Im z| < pi/a, and with
s = c + it, 0 <= t <= t_0, and any d in (0, pi/a) Poisson's formula, its terms moved up or down by d, gives

    |h sum f(hj) - int f| <= (I_+ + I_-) / (e^{2 pi d/h} - 1),        I_+- = int |f(y +- id)| dy.

Let theta = a d, r = q/(1-q) and v = arg u(y + id) = arg(1 + r w e^{i theta}). One of the two lines turns the loss into
decay, the other one into growth, of e^{tv} for u(y) and, when replacing, for u(-y).
- v = int_0^{rw} sin theta / (1 + 2x cos theta + x^2) dx <= kappa log(u/(1-q)), kappa sin theta times the largest
  (1 + x)/(1 + 2x cos theta + x^2), x >= 0. That is 1 up to theta = pi/3, and 1/(4g(1-g)), g = sin(theta/2), from there
  on (where x = 2g - 1); it is never less than 1, so that the second may always be taken. So e^{tv} is at most
  (u/(1-q))^{kappa t}, which is at least 1 and so serves both lines.
- |u(y + id)| <= u(y). With k = cos theta >= 0 it is at least (1-k)(1-q) + k u(y) >= (1-q)^{1-k} u(y)^k; beyond a right
  angle, and always, at least (1-q) sin theta: a negative exponent e becomes ke, at the price of a power of these.
- What exponents A and B of u(y) and u(-y) come out: negative ones cost (1-q)^A; for the others Hoelder's inequality
  gives int phi u(y)^A u(-y)^B <= G(A + B), G(p) = int phi u^p, which is 1 at most for p <= 1 (Jensen) and rises from
  there on; and G(m) = sum_k C(m,k) (1-q)^{m-k} q^k e^{a^2 k(k-1)/2} <= (1 - q + q e^{a^2 (m-1)/2})^m for an integer m.
Both lines count as e^{d^2/2} (from phi) times that.

What lies outside [-Z, Y], Z, Y > 0 nodes, is a sum over nodes of f_c = |f|, at most the integral from Y on of something
that falls. log u rises with a slope of at most a, and phi(Y + x) = phi(Y) e^{-Yx - x^2/2}, so that for alpha > 0

    sum over hj > Y of h f_c <= u(Y)^alpha (1-q)^beta phi(Y) / (Y - a alpha)                        if a alpha < Y,
    sum over hj < -Z of h f_c <= u(-Z)^alpha u(Z)^beta phi(Z) / Z,

as beta <= 0 then; for alpha <= 0 = beta they are at most u(Y)^alpha phi(Y) / Y and (1-q)^alpha phi(Z) / Z. On a line of
an angle theta below pi/2 the same holds, but for the factor that phi gets there, if q w is multiplied by cos theta
where u has a negative exponent.

Against the line of `SampledGaussian.moments`, which serves every t, there are half as many points, and they are real.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Protocol

from flint import acb, arb, ctx

from oracle.core.enclosure import ball
from oracle.engines.sampled.line_sums import turned_sums

_SHIFTS = (0.25, 0.4, 0.55, 0.7, 0.85, 1.0)
_WIDEST = 0.95  # of the strip
_PLANNED = 64
_STEPS_OUT = 40
_MOST_POINTS = 4000
_LARGEST = 600.0  # exponents that floats can hold


class Powers(Protocol):
    """What is asked of a step."""

    @property
    def sigma(self) -> Fraction:
        """The noise multiplier."""

    @property
    def rate(self) -> Fraction:
        """The sampling rate."""

    @property
    def slopes(self) -> tuple[int, int]:
        """How alpha and beta move with s."""

    def exponents(self, c: Any) -> tuple[Any, Any]:
        """(alpha, beta) at a real point."""

    def log_rest(self) -> arb:
        """log(1 - q)."""


@dataclass(frozen=True)
class RealPlan:
    """A sum on the real line: its distance, its nodes, and the shift that shows how much it errs. Not trusted."""

    step: float
    shift: float
    first: int
    last: int

    @property
    def points(self) -> int:
        """How many there are."""
        return self.last - self.first + 1


def real_plan(step: Powers, c: float, t: float, goal: float) -> RealPlan | None:
    """A plan with few points whose error is about e^{-goal} at c + it' for every t' <= t; None where none is in sight.

    A good shift d is at most 2 pi/h, at which phi alone would have the least error.
    """
    a = 1 / float(step.sigma)
    widest = min(_WIDEST * math.pi / a, math.sqrt(2 * goal))
    best = 0.0, 0.0
    with ctx.workprec(_PLANNED):
        lines = _Lines(step, arb(c), arb(t))
        for share in _SHIFTS:
            shift = share * widest
            log_size = float(lines.log_size(arb(shift)).mid())
            if log_size < _LARGEST:  # false for NaN, too
                best = max(best, (2 * math.pi * shift / (goal + 1 + log_size), shift))
    h, shift = best
    low, high = _ends(step, c, goal)
    if not (h > 0 and low < 0 < high and (high - low) / h < _MOST_POINTS):
        return None
    return RealPlan(h, shift, math.floor(low / h), math.ceil(high / h))


def _ends(step: Powers, c: float, goal: float) -> tuple[float, float]:
    """Where what lies outside is about e^{-goal} or less, by secants on its logarithm; (0, 0) where that is far."""
    a, q = 1 / float(step.sigma), float(step.rate)
    flat = math.log1p(-q)
    alpha, beta = step.exponents(c)
    pull = max(alpha, 0.0) * a

    def log_u(y: float) -> float:
        x = a * y - 0.5 * a * a
        if x > _LARGEST:
            return x + math.log(q)
        return math.log1p(q * math.expm1(x))

    high = math.sqrt(2 * goal)
    for _ in range(_STEPS_OUT):
        high = max(high, pull + 0.5)
        missing = alpha * log_u(high) + min(beta, 0.0) * flat - 0.5 * high * high - math.log(high - pull) + goal
        if missing <= 0:
            break
        high += missing / (high - pull) + 0.01
    else:
        return 0.0, 0.0
    least = math.sqrt(2 * (goal + min(alpha, 0.0) * flat))
    return -least, high


class _Lines:
    """log of e^{d^2/2} times the bound of int |f(y +- id)| / phi-shift, for both lines and every t' <= t."""

    def __init__(self, step: Powers, c: arb, t: arb) -> None:
        self.a, self.q, self.log_rest, self.t = ball(1 / step.sigma), ball(step.rate), step.log_rest(), t
        self.powers = tuple(zip(step.exponents(c), map(abs, step.slopes), strict=True))

    def log_size(self, shift: arb) -> arb:
        """That logarithm, at a shift d; not finite beyond the strip."""
        angle, zero = self.a * shift, arb(0)
        if not angle < arb.pi():
            return arb.nan()
        sine, cosine = angle.sin_cos()
        if 3 * angle < arb.pi():
            kappa = sine
        else:
            half_sine, half_cosine = (angle / 2).sin_cos()
            kappa = half_cosine / (2 * (1 - half_sine))
        steep = cosine > 0
        kept, turned, flat = cosine if steep else zero, kappa * self.t, self.log_rest
        total, power = shift * shift / 2, zero
        for exponent, slope in self.powers:
            left = exponent
            if exponent < 0:
                left = exponent * kept
                total += (exponent - left) * flat
                if not steep:
                    total += exponent * sine.log()
            if slope:
                left += slope * turned
                total -= slope * turned * flat
            total += flat * zero.min(left)
            power += zero.max(left)
        if not power <= 1:
            m = power.upper().ceil()
            total += m * (self.q * (self.a * self.a * (m - 1) / 2).expm1()).log1p()
        return total


def tails(step: Powers, c: arb, low: arb, high: arb, angle: arb) -> arb:
    """A bound of h times the sum of |f(y + i angle/a)| over the nodes beyond two nodes low < 0 < high, but for phi's
    factor e^{(angle/a)^2/2}; infinite where none is known.
    """
    a, q, flat = ball(1 / step.sigma), ball(step.rate), step.log_rest()
    (alpha, beta), cosine = step.exponents(c), angle.cos()
    pull = a * alpha if alpha > 0 else arb(0)
    if not (high > pull and low < 0 and cosine > 0):
        return arb.pos_inf()

    def log_u(y: arb, turned: arb | int = 1) -> arb:
        return (q * ((a * y - a * a / 2).exp() * turned - 1)).log1p()

    right = alpha * (log_u(high) if alpha > 0 else log_u(high, cosine)) - high * high / 2
    left = alpha * (log_u(low) if alpha > 0 else flat) - low * low / 2
    if beta < 0:
        right, left = right + beta * flat, left + beta * log_u(-low, cosine)
    return arb((right.exp() / (high - pull) - left.exp() / low) / (2 * arb.pi()).sqrt())


def real_moments(step: Powers, plan: RealPlan, c: arb, k: arb, count: int) -> list[acb]:
    """Balls around M(c + i n k) for n < count."""
    weights, losses, error = _sum(step, plan, c, k * (count - 1))
    sums = turned_sums(weights, losses, k, count)
    around = arb(0, error)
    return [value + acb(around, around) for value in sums]


def real_moment(step: Powers, plan: RealPlan, c: arb) -> arb:
    """A ball around M(c)."""
    weights, _, error = _sum(step, plan, c, arb(0))
    return sum(weights, arb(0)) + arb(0, error)


def _sum(step: Powers, plan: RealPlan, c: arb, t: arb) -> tuple[list[arb], list[arb], arb]:
    """h f_c and the loss at the nodes, and a bound of what their sum misses at c + it' for t' <= t."""
    h, d = arb(plan.step), arb(plan.shift)
    lines = _Lines(step, c, t).log_size(d)
    discrete = 2 * lines.exp() / ((2 * arb.pi() * d / h).exp() - 1)
    error = discrete + tails(step, c, h * plan.first, h * plan.last, arb(0))
    error = error.upper() if error.is_finite() else arb.pos_inf()
    weights, losses = _nodes(step, c, h, plan.first, plan.last)
    return weights, losses, error


def _nodes(step: Powers, c: arb, h: arb, first: int, last: int) -> tuple[list[arb], list[arb]]:
    """h f_c and the loss at h j, first <= j <= last: log u(-y) is log u of another node."""
    a, q = ball(1 / step.sigma), ball(step.rate)
    (alpha, beta), (slope, mirrored) = step.exponents(c), step.slopes
    reach = max(last, -first) if mirrored else 0
    start, end = min(first, -reach), max(last, reach)
    rest, factor, w = 1 - q, (a * h).exp(), q * (a * h * start - a * a / 2).exp()
    logs = []
    for _ in range(start, end + 1):
        logs.append((rest + w).log())
        w *= factor
    half, norm = h * h / 2, (h / (2 * arb.pi()).sqrt()).log()
    places = range(first, last + 1)
    if not mirrored:
        chosen = logs[first - start : last + 1 - start]
        weights = [(alpha * log_u + (norm - half * (j * j))).exp() for j, log_u in zip(places, chosen, strict=True)]
        return weights, chosen if slope > 0 else [-log_u for log_u in chosen]
    weights, losses = [], []
    for j in places:
        near, far = logs[j - start], logs[-j - start]
        weights.append((alpha * near + beta * far + (norm - half * (j * j))).exp())
        losses.append(slope * near + mirrored * far)
    return weights, losses
