r"""The privacy curve of a composition by a contour integral, certified in balls.

For stages of T_i independent steps with moments M_i(s) = E_P e^{sL}, and M = prod M_i^{T_i},

    delta(epsilon) = (1/2 pi i) int_{Re s = c} M(s) e^{-s epsilon} / (s (s+1)) ds            for every c > 0,

because int delta(x) e^{sx} dx = M(s) / (s (s+1)). The integral is replaced by a sum over s_n = c + i n k, |n| <= N.
Four errors, each bounded in balls and added:
- the sum over all n equals, by Poisson's formula with period p = 2 pi/k, sum_m e^{c m p} delta(epsilon + m p). All
  terms are positive; those with m < 0 add up to at most e^{-cp}/(1 - e^{-cp}) since delta <= 1; those with m > 0 to at
  most C e^{-b epsilon} r/(1 - r) with r = e^{-(b-c)p}, by Chernoff's bound delta(x) <= C e^{-bx},
  C = M(b) b^b/(1+b)^{1+b}, at any b > c. So the sum can only be too large, by a known amount;
- beyond N: |M(c + it)| stays below a ceiling B for t >= Nk (each step proves its own), and 1/|s(s+1)| <= 1/t^2, so
  what is cut off is at most B e^{-c epsilon} / (pi N k);
- the quadrature of each M_i, and rounding: carried by the balls that the steps return.
A float64 plan chooses c, k, N and the quadrature; a bad plan costs width, never soundness.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Protocol

from flint import acb, arb, ctx

from oracle.enclosure import ball
from oracle.errors import PrecisionError

MOST_NODES = 60_000
_SADDLE_STEPS = 60


class Step(Protocol):
    """What the engine needs of one step: a plan in floats, and proofs in balls."""

    def largest_loss(self) -> arb | None:
        """The supremum of the loss, where it is finite."""

    def single_delta(self, epsilon: arb) -> arb:
        """delta(epsilon) of one step in closed form."""

    def cumulants(self, c: float) -> tuple[float, float, float]:
        """log M(c), and the mean and variance of the loss under the tilted law, in floats."""

    def decay(self, c: float, t: float) -> tuple[float, float]:
        """About the log of the ceiling at t, and the parameter with which `ceiling` attains it."""

    def moments(self, c: arb, k: arb, count: int, *, log_error: float) -> list[acb]:
        """Balls around M(c + i n k), n < count, of radius about e^{log_error} M(c) or less."""

    def ceiling(self, c: arb, t: arb, parameter: float, *, top: arb, log_error: float) -> arb:
        """An upper bound of |M(c + i t')| for every t' >= t, given M(c) <= top."""


Stages = Sequence[tuple[Step, int]]


@dataclass(frozen=True)
class Plan:
    """Where to integrate: proposed by floats, judged by balls."""

    c: float
    spacing: float
    nodes: int
    chernoff: float
    parameters: tuple[float, ...]
    log_delta: float
    log_peak: float


def total_cumulants(stages: Stages, c: float) -> tuple[float, float, float]:
    """log M(c), mean and variance of the whole composition."""
    rows = [(step.cumulants(c), count) for step, count in stages]
    log_m, mean, variance = (sum(count * row[i] for row, count in rows) for i in range(3))
    return log_m, mean, variance


def saddle_estimate(stages: Stages, c: float) -> tuple[float, float]:
    """The epsilon whose saddle point is c, and about log delta there."""
    log_m, mean, variance = total_cumulants(stages, c)
    epsilon = mean - 1 / c - 1 / (c + 1)
    spread = variance + 1 / c**2 + 1 / (c + 1) ** 2
    return epsilon, log_m - c * epsilon - math.log(c * (c + 1)) - 0.5 * math.log(2 * math.pi * spread)


def saddle_for(stages: Stages, *, epsilon: float | None = None, log_delta: float | None = None) -> float:
    """About the saddle point c for an epsilon or for a delta (both are monotone in c)."""

    def beyond(c: float) -> bool:
        at_epsilon, at_log_delta = saddle_estimate(stages, c)
        return at_epsilon > epsilon if epsilon is not None else at_log_delta < (log_delta or 0.0)

    low = high = 1.0
    for _ in range(_SADDLE_STEPS):
        if beyond(high):
            break
        high *= 3.0
    for _ in range(_SADDLE_STEPS):
        if not beyond(low):
            break
        low /= 3.0
    while high / low > 1.01:
        middle = math.sqrt(low * high)
        low, high = (low, middle) if beyond(middle) else (middle, high)
    return math.sqrt(low * high)


def make_plan(stages: Stages, epsilon: float, goal: float) -> Plan:
    """A plan whose relative error in delta is about e^{-goal}, with few nodes."""
    saddle = saddle_for(stages, epsilon=epsilon)
    log_delta = min(0.0, saddle_estimate(stages, saddle)[1])
    best: Plan | None = None
    for factor in (1.0, 0.7):  # left of a steep saddle the images on the right are cheaper
        candidate = _plan_at(stages, saddle * factor, epsilon, log_delta, goal)
        if best is None or candidate.nodes < best.nodes:
            best = candidate
        if candidate.nodes < 40:
            break
    assert best is not None
    return best


def _plan_at(stages: Stages, c: float, epsilon: float, log_delta: float, goal: float) -> Plan:
    log_m, _, variance = total_cumulants(stages, c)
    allowed = log_delta - goal
    period, chernoff = math.inf, 2 * c
    for factor in (1.15, 1.4, 2.0, 3.0):
        b = c * factor
        log_bound = total_cumulants(stages, b)[0] - b * epsilon + b * math.log(b) - (b + 1) * math.log1p(b)
        needed = (log_bound - allowed) / (b - c)
        if needed < period:
            period, chernoff = needed, b
    period = max(period, -allowed / c, 1e-3 / c)
    spacing = 2 * math.pi / period
    t = math.sqrt(2 * goal / (variance + 1e-300))
    while True:
        rows = [step.decay(c, t) for step, _ in stages]
        log_ceiling = sum(count * row[0] for (_, count), row in zip(stages, rows, strict=True))
        nodes = math.ceil(t / spacing) + 1
        if log_ceiling - c * epsilon - math.log(math.pi * t) <= allowed or nodes > MOST_NODES:
            break
        t *= 1.2
    peak = log_m - c * epsilon - math.log(2 * c)
    return Plan(c, spacing, nodes, chernoff, tuple(row[1] for row in rows), log_delta, peak)


class Curve:
    """A certified evaluator of delta(epsilon) around the epsilon it was planned for."""

    def __init__(self, stages: Stages, epsilon: float, goal: float) -> None:
        plan = make_plan(stages, epsilon, goal)
        if plan.nodes > MOST_NODES:
            raise PrecisionError(
                f"the contour needs more than {MOST_NODES} nodes at epsilon = {epsilon:.6g} (few steps, slow decay)"
            )
        # Errors count relative to delta, but arise relative to the peak of the integrand.
        excess = max(0.0, plan.log_peak - plan.log_delta) + goal
        steps = sum(count for _, count in stages)
        self.plan = plan
        self.precision = 64 + math.ceil((excess + math.log(steps + 1)) / math.log(2)) + 2 * plan.nodes.bit_length()
        with ctx.workprec(self.precision):
            self.c, self.k = arb(plan.c), arb(plan.spacing)
            self._evaluate(stages, -(excess + math.log(steps + 1)))

    def _evaluate(self, stages: Stages, log_error: float) -> None:
        plan, c, k = self.plan, self.c, self.k
        values = [acb(1)] * (plan.nodes + 1)
        self.log_ceiling, self.log_chernoff = arb(0), arb(0)
        self.b = arb(plan.chernoff)
        for (step, count), parameter in zip(stages, plan.parameters, strict=True):
            moments = step.moments(c, k, plan.nodes + 1, log_error=log_error)
            values = [value * moment**count for value, moment in zip(values, moments, strict=True)]
            top = moments[0].real.upper()
            ceiling = step.ceiling(c, k * plan.nodes, parameter, top=top, log_error=log_error)
            self.log_ceiling += count * ceiling.log()
            self.log_chernoff += count * step.moments(self.b, k, 1, log_error=log_error)[0].real.log()
        points = [acb(c, k * n) for n in range(plan.nodes + 1)]
        self.terms = [value / (s * (s + 1)) for value, s in zip(values, points, strict=True)]

    def sums(self, epsilon: arb) -> tuple[arb, arb]:
        """The trapezoidal sums for delta and for its derivative in epsilon."""
        scale = (-self.c * epsilon).exp() * self.k / (2 * arb.pi())
        delta, slope = self.terms[0].real, -(self.terms[0].real * self.c)
        for n in range(1, len(self.terms)):
            t = self.k * n
            sine, cosine = (t * epsilon).sin_cos()
            rotated = self.terms[n] * acb(cosine, -sine)
            delta += 2 * rotated.real
            slope -= 2 * (rotated.real * self.c - rotated.imag * t)
        return delta * scale, slope * scale

    def delta(self, epsilon: arb) -> tuple[arb, arb]:
        """Balls whose bottom is a lower and whose top an upper bound of delta(epsilon), at an exact epsilon."""
        with ctx.workprec(self.precision):
            value, _ = self.sums(epsilon)
            period = 2 * arb.pi() / self.k
            left = (-self.c * period).exp()
            ratio = (-(self.b - self.c) * period).exp()
            b = self.b
            chernoff = (self.log_chernoff - b * epsilon + b * b.log() - (b + 1) * (b + 1).log()).exp()
            cut = (self.log_ceiling - self.c * epsilon).exp() / (arb.pi() * self.k * (len(self.terms) - 1))
            images = left / (1 - left) + chernoff * ratio / (1 - ratio)
            return value - images - cut, value + cut

    def propose_epsilon(self, log_delta: arb, start: float) -> arb:
        """About the epsilon at which the sum reaches a delta, by Newton's method on its logarithm; not a proof."""
        epsilon = arb(start)
        for _ in range(30):
            value, slope = self.sums(epsilon)
            if not (value.mid() > 0 and slope.mid() < 0):
                raise PrecisionError("the contour sum is not positive and falling near the proposed epsilon")
            step = (value.mid() * (value.mid().log() - log_delta) / -slope.mid()).mid()
            epsilon = (epsilon + step).mid()
            if abs(step) < ball(Fraction(1, 10**18)) * (1 + abs(epsilon)):
                break
        return epsilon
