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

import functools
import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Protocol

from flint import acb, acb_mat, arb, ctx

from oracle.core.enclosure import ball
from oracle.core.errors import PrecisionError

MOST_NODES = 200_000
_LEFT = (0.8, 0.6, 0.4)
_RIGHT = (1.5, 2.2, 3.2, 5.0, 8.0)
_FEW, _MANY = 60, 2000
_CHERNOFF = (0.6, 0.8, 0.9, 1.0, 1.15, 1.4, 2.0, 3.0)  # beyond its saddle point log M may take off
_LARGE = -3.0
_NEAR, _ROOM = 1.15, 1.01  # how close to the last node that is needed a plan comes
_SHARP = 4.0  # how far the error of a bound that is raised to the number of steps lies below it then, in the exponent


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

    def points(self, c: float, goal: float, t: float = math.inf) -> float:
        """About the points of the quadrature behind moments up to c + it, to e^{-goal}; 0 where they are exact."""

    def moments(self, c: arb, k: arb, count: int, *, log_error: float) -> list[acb]:
        """Balls around M(c + i n k), n < count, of radius about e^{log_error} M(c) or less."""

    def moment_above(self, c: arb, goal: float) -> arb:
        """An upper bound of M(c), about e^{-goal} of it too large."""

    def ceiling(self, c: arb, t: arb, parameter: float, *, top: arb, log_error: float) -> arb:
        """An upper bound of |M(c + i t')| for every t' >= t, given M(c) <= top."""


Stages = Sequence[tuple[Step, int]]


@dataclass(frozen=True)
class ContourPlan:
    """Where to integrate: proposed by floats, judged by balls."""

    epsilon: float
    goal: float
    c: float
    spacing: float
    nodes: int
    chernoff: float
    parameters: tuple[float, ...]
    falls: tuple[float, ...]
    log_delta: float
    log_peak: float

    @property
    def excess(self) -> float:
        """How far the errors of a term must lie below the largest one, in the exponent; all count relative to delta."""
        return max(0.0, self.log_peak - self.log_delta) + self.goal + 4

    @property
    def cost(self) -> float:
        """About the work: nodes, by points of the quadrature, by digits."""
        return self.nodes * (60 + self.excess) ** 2


@dataclass(frozen=True)
class Saddle:
    """About the best order c for an epsilon or a delta, and about the other of the two."""

    c: float
    epsilon: float
    log_delta: float


def total_cumulants(stages: Stages, c: float) -> tuple[float, float, float]:
    """log M(c), mean and variance of the whole composition."""
    rows = [(step.cumulants(c), count) for step, count in stages]
    log_m, mean, variance = (sum(count * row[i] for row, count in rows) for i in range(3))
    return log_m, mean, variance


def saddle_for(stages: Stages, *, epsilon: float | None = None, log_delta: float | None = None) -> Saddle:
    """The order that minimises Chernoff's bound log M(c) + c log c - (1+c) log(1+c) - c epsilon.

    Its derivative in c (for a delta: that of the bound on epsilon, times c^2) rises. It is bracketed from c = 1 on and
    halved: log M may take off so suddenly that Newton's method would creep.
    """
    low, high, x = -46.0, 46.0, 0.0
    log_delta = None if log_delta is None else min(log_delta, _LARGE)
    while high - low > 0.02:
        c = math.exp(x)
        log_m, mean, variance = total_cumulants(stages, c)
        log_share = -math.log1p(1 / c)  # log(c / (1 + c))
        entropy = c * log_share - math.log1p(c)
        if epsilon is not None:
            beyond = not mean + log_share <= epsilon
        else:
            beyond = not c * (mean + log_share) - log_m - entropy + (log_delta or 0.0) <= 0
        if not beyond or low == -46.0:  # where log M takes off, what stands before it says more
            saddle = c, log_m + entropy, variance, entropy
        low, high = (low, x) if beyond else (x, high)
        x = max(x - 2, 0.5 * (low + high)) if beyond else min(x + 2, 0.5 * (low + high))
    c, exponent, variance, entropy = saddle
    if epsilon is not None and exponent - c * epsilon > _LARGE and log_delta is None:
        # Left of the bulk the best order tends to 0, which helps no sum: take that of a smaller delta.
        other = saddle_for(stages, log_delta=_LARGE)
        return Saddle(other.c, epsilon, 0.0)
    # The saddle point's own estimate is sharper than Chernoff's bound; where it strays, a few units in the exponent.
    spread = variance + 1 / c**2 + 1 / (c + 1) ** 2
    sharper = -math.log(c * (c + 1)) - 0.5 * math.log(2 * math.pi * spread) - entropy
    exponent += max(-6.0, min(0.0, sharper))
    if epsilon is not None:
        return Saddle(c, epsilon, min(0.0, exponent - c * epsilon))
    return Saddle(c, max(0.0, (exponent - (log_delta or 0.0)) / c), log_delta or 0.0)


def make_plan(
    stages: Stages, epsilon: float, goal: float, log_delta: float = 0.0, most: int = MOST_NODES
) -> ContourPlan:
    """A plan whose relative error in delta is about e^{-goal}, with few nodes; `log_delta` is what is known of it."""
    saddle = saddle_for(stages, epsilon=epsilon)
    saddle = replace(saddle, log_delta=min(saddle.log_delta, log_delta))
    best = _plan_at(stages, saddle, 1.0, goal, most)
    # Left of a steep saddle the images on the right are cheaper. On the right, at the price of digits, what does not
    # decay (unsampled steps with little noise, whose loss is all but discrete) shrinks beside what counts.
    for pulls, enough in ((_LEFT, _FEW), (_RIGHT, _MANY)):
        if most < MOST_NODES and pulls is _RIGHT:
            break  # where little work is allowed, the digits are too dear
        for pull in pulls:
            if best.nodes < enough:
                break
            best = min(best, _plan_at(stages, saddle, pull, goal, most), key=lambda plan: plan.cost)
    return best


def period_at(stages: Stages, saddle: Saddle, pull: float, goal: float) -> tuple[float, float]:
    """A period whose images add about e^{-goal} of delta to a sum at c = pull times the saddle's, and Chernoff's b."""
    c, epsilon, allowed = saddle.c * pull, saddle.epsilon, saddle.log_delta - goal
    period, chernoff = math.inf, 2 * c
    for factor in _CHERNOFF:
        b = saddle.c * factor * max(1.0, pull)
        if b < 1.1 * c:
            continue
        log_bound = total_cumulants(stages, b)[0] - b * epsilon + b * math.log(b) - (b + 1) * math.log1p(b)
        needed = (log_bound - allowed) / (b - c)
        if needed < period:
            period, chernoff = needed, b
    return max(period, -allowed / c, 1e-3 / c), chernoff


def _plan_at(stages: Stages, saddle: Saddle, pull: float, goal: float, most: int = MOST_NODES) -> ContourPlan:
    c, epsilon, allowed = saddle.c * pull, saddle.epsilon, saddle.log_delta - goal
    log_m, _, variance = total_cumulants(stages, c)
    period, chernoff = period_at(stages, saddle, pull, goal)
    spacing = 2 * math.pi / period

    def missing(t: float) -> tuple[float, list[tuple[float, float]]]:
        """By how much what lies beyond t is not negligible, and what the steps say of their decay there."""
        rows = [step.decay(c, t) for step, _ in stages]
        log_ceiling = sum(count * row[0] for (_, count), row in zip(stages, rows, strict=True))
        return log_ceiling - c * epsilon - math.log(math.pi * t) - allowed, rows

    low, t = 0.0, math.sqrt(2 * goal / (variance + 1e-300))
    high, more, last = math.inf, math.nan, most * spacing
    while True:
        left, rows = missing(t)
        if left <= 0:
            high, found = t, rows
        elif t > last:
            break
        elif low == 0.0 and most < MOST_NODES and missing(last + spacing)[0] > 0:
            t = last + spacing  # no plan within the allowed nodes: nobody needs to know how many there would be
            break
        else:
            low = t
        if high < _NEAR * low or (low == 0.0 and high < math.inf):
            t, rows = high, found
            break
        # A Gaussian's logarithm falls as the square: what is left of the fall tells where it ends.
        fall = log_m - c * epsilon - math.log(math.pi * t) - allowed - left
        more = t * math.sqrt(1 + left / fall) * _ROOM if fall > 0 else 2 * t
        t = min(more, 2 * t) if high == math.inf else math.sqrt(low * high)
    nodes = math.ceil(t / spacing) + 1
    peak = log_m - c * epsilon - math.log(2 * c)
    parameters = tuple(row[1] for row in rows)
    falls = tuple(step.cumulants(c)[0] - row[0] for (step, _), row in zip(stages, rows, strict=True))
    return ContourPlan(epsilon, goal, c, spacing, nodes, chernoff, parameters, falls, saddle.log_delta, peak)


def _digits(stages: Stages, plan: ContourPlan) -> float:
    """How far the errors of a moment must lie below it, in the exponent."""
    return plan.excess + math.log(sum(count for _, count in stages) + 1)


def _precision(stages: Stages, plan: ContourPlan) -> int:
    return 64 + math.ceil(_digits(stages, plan) / math.log(2)) + 2 * plan.nodes.bit_length()


def work(stages: Stages, plan: ContourPlan) -> float:
    """About the work of a plan: that of a node is 8, of a point of the quadrature 20, of a pair of them 1/14.

    At 160 bits of precision, that is; a unit is about a microsecond, but it is counted, not measured.
    """
    points = sum(step.points(plan.c, _digits(stages, plan), plan.spacing * plan.nodes) for step, _ in stages)
    return (400 + 8 * plan.nodes + 20 * points + plan.nodes * points / 14) * max(1.0, _precision(stages, plan) / 160)


def least_work(stages: Stages, order: float) -> float:
    """About the work of the points alone, at an order and few digits."""
    return 20 * sum(step.points(order, 30.0, 0.0) for step, _ in stages)


class ContourCurve:
    """A certified evaluator of delta(epsilon) around the epsilon it was planned for."""

    def __init__(self, stages: Stages, plan: ContourPlan, most: float = math.inf) -> None:
        """Evaluate the transform at all nodes; refused where they, or the work for them, are too many."""
        if plan.nodes > MOST_NODES or work(stages, plan) > most:
            raise PrecisionError(
                f"the contour needs {plan.nodes} nodes at epsilon = {plan.epsilon:.6g} (few steps, slow decay)"
            )
        self.stages, self.plan = stages, plan
        self.precision = _precision(stages, plan)
        with ctx.workprec(self.precision):
            self.c, self.k = arb(plan.c), arb(plan.spacing)
            self._evaluate(stages, -_digits(stages, plan))

    def _evaluate(self, stages: Stages, log_error: float) -> None:
        plan, c, k = self.plan, self.c, self.k
        values = [acb(1)] * (plan.nodes + 1)
        self.log_ceiling, self.b = arb(0), arb(plan.chernoff)
        total = math.log(sum(count for _, count in stages) + 1)
        for (step, count), parameter, fall in zip(stages, plan.parameters, plan.falls, strict=True):
            moments = step.moments(c, k, plan.nodes + 1, log_error=log_error)
            values = [value * moment**count for value, moment in zip(values, moments, strict=True)]
            top = moments[0].real.upper()
            sharp = max(log_error, -(total + max(fall, 0.0) + _SHARP))  # enough for all steps together
            ceiling = step.ceiling(c, k * plan.nodes, parameter, top=top, log_error=sharp)
            self.log_ceiling += count * ceiling.log()
        points = [acb(c, k * n) for n in range(plan.nodes + 1)]
        terms = [value / (s * (s + 1)) for value, s in zip(values, points, strict=True)]
        self.head = terms[0].real
        columns = math.isqrt(plan.nodes) + 1
        terms += [acb(0)] * (-len(terms) % columns)
        self.terms = acb_mat(len(terms) // columns, columns, terms)
        self.weighted = acb_mat(len(terms) // columns, columns, [n * term for n, term in enumerate(terms)])

    @functools.cached_property
    def log_chernoff(self) -> arb:
        """log M(b), from above."""
        total = math.log(sum(count for _, count in self.stages) + 1)
        above = [count * step.moment_above(self.b, total + _SHARP).log() for step, count in self.stages]
        return sum(above, arb(0))

    def sums(self, epsilon: arb) -> tuple[arb, arb]:
        """The trapezoidal sums for delta and for its derivative in epsilon.

        e^{-i n k epsilon} is the product of two exponentials, of a row and of a column of the terms.
        """
        scale = (-self.c * epsilon).exp() * self.k / (2 * arb.pi())
        rows, columns = self.terms.nrows(), self.terms.ncols()
        unit = acb(0, -self.k * epsilon)
        across = acb_mat(columns, 1, [(unit * n).exp() for n in range(columns)])
        down = acb_mat(1, rows, [(unit * (n * columns)).exp() for n in range(rows)])
        delta = 2 * (down * (self.terms * across))[0, 0].real - self.head
        slope = 2 * self.k * (down * (self.weighted * across))[0, 0].imag - self.c * delta
        return delta * scale, slope * scale

    def _with_cut(self, epsilon: arb) -> tuple[arb, arb]:
        """The sum, and a bound of what its cut-off nodes would add."""
        cut = (self.log_ceiling - self.c * epsilon).exp() / (arb.pi() * self.k * self.plan.nodes)
        return self.sums(epsilon)[0], cut

    def above(self, epsilon: arb) -> arb:
        """A ball whose top is an upper bound of delta(epsilon), at an exact epsilon."""
        with ctx.workprec(self.precision):
            value, cut = self._with_cut(epsilon)
            return value + cut

    def delta(self, epsilon: arb) -> tuple[arb, arb]:
        """Balls whose bottom is a lower and whose top an upper bound of delta(epsilon), at an exact epsilon."""
        with ctx.workprec(self.precision):
            value, cut = self._with_cut(epsilon)
            period = 2 * arb.pi() / self.k
            left = (-self.c * period).exp()
            ratio = (-(self.b - self.c) * period).exp()
            b = self.b
            chernoff = (self.log_chernoff - b * epsilon + b * b.log() - (b + 1) * (b + 1).log()).exp()
            images = left / (1 - left) + chernoff * ratio / (1 - ratio)
            return value - images - cut, value + cut

    def propose_epsilon(self, log_delta: arb, start: float, tolerance: arb) -> arb:
        """The epsilon >= 0 at which the sum reaches a delta, to a relative tolerance or so; not a proof.

        Newton's method on the sum's logarithm, kept in a bracket: far from the plan the sum is noise around 0.
        """
        epsilon, low, high = arb(start), arb(0), arb.pos_inf()
        for attempt in range(100):
            value, slope = (part.mid() for part in self.sums(epsilon))
            ratio = value.log() - log_delta if value > 0 else arb.neg_inf()
            low, high = (epsilon, high) if ratio > 0 else (low, epsilon)
            step = (value * ratio / -slope).mid() if value > 0 and slope < 0 else arb.nan()
            point = (epsilon + step).mid()
            if abs(step) < tolerance * epsilon:
                return point.max(arb(0))
            if not (point > low and point < high and attempt % 4 < 3):
                point = ((low + high) / 2).mid() if high.is_finite() else (2 * epsilon + 4 / self.c).mid()
            if low.is_zero() and point < ball(Fraction(1, 1000)) / self.c and not (self.sums(low)[0].log() > log_delta):
                return low
            epsilon = point
        return epsilon
