r"""Many equal sampled Gaussian steps whose transform hardly decays: the contour integral of a smoothed curve.

With few steps, a small rate or little noise the loss is nearly discrete, M(c + it)^T stays large for every t, and the
sum of `contour` would need millions of nodes. f(x) = delta(log x) is convex. So for any random Z, with
K(s) = E e^{-sZ}, at every epsilon

    delta(epsilon) <= E delta(epsilon + Z)                                              if E e^Z <= 1     (Jensen),
    delta(epsilon) >= E [delta(epsilon + Z) + delta'(epsilon + Z) (e^{-Z} - 1)]         (a tangent lies below f),

and as delta' <= 0 and e^{-z} - 1 <= -z + l z^2/2 for |z| <= r, l = e^r, the last factor may be replaced by that. Both
right sides are contour integrals: M(s)^T e^{-s epsilon} times

    K(s) / (s (s+1))        and        [K(s)/s - K'(s) - l K''(s)/2] / (s+1).

Z is the sum of m uniform variables on [-w, w], so that K = Q(ws)^m with Q(z) = sinh(z)/z decays as t^{-m} and r = m w;
it is shifted by -m log Q(w) for the upper bound. The bounds differ by the variance m w^2/3 times a second derivative.
Of the four errors of `contour` two remain as they are (images, quadrature). For the lower bound's images note that its
right side is at most delta everywhere. What is cut off at t >= Nk is bounded by |M| <= M(c) and the kernel's decay:
with C = cosh(wc), |Q| <= C/(wt), |Q'| <= 2C/(wt) and, for wt >= 1, |Q''| <= 5C/(wt). Where M decays by itself w = 0
will do: both bounds are then the plain integral, and what is cut off is bounded as in `contour`.

Where M(c)^T is of order 1 and delta is tiny, M^T - 1 takes the place of M^T: what is left out is the curve (1 - e^x)_+
of steps that tell nothing. It is at most delta, so the argument about the images stands; its own smoothed value is 0
from epsilon = r on, and is added before. tau^n - 1 is built by (1+x)(1+y) - 1 = xy + x + y, whose error is a few units
of min(2, n |tau - 1|), as |tau| <= 1: so the bulk of the loss, which hardly moves, costs no digits.

The nodes are float64 with error bounds known in advance (`float_tables`), so the terms are known up to a bound computed
beside them. It limits the width to about T 10^-13; `contour` has no limit.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import numpy as np
from flint import acb, arb, ctx

from oracle.core.errors import PrecisionError
from oracle.engines.contour import Saddle, period_at
from oracle.engines.sampled.float_tables import (
    NEAR,
    UNIT,
    Array,
    Complex,
    above,
    deviation_table,
    matrix_product,
    most_deviation,
    power,
    power_beside_one,
    power_table,
    products,
    rounded,
    sinh_over,
    size,
    total,
    up,
)
from oracle.engines.sampled.sampled_gaussian import Line, SampledGaussian

SMOOTHNESS = 16  # m: a power of two
_PRECISION = 128
_MOST_ACCURATE = 80.0
_BESIDE_ONE = 3.0  # log M(c)^T up to which M^T - 1 is summed
_TALLEST = 1.6  # height of the line of integration: it costs a factor e^{1.28} of precision
_WIDEST = 1.0  # of a smoothing, in units of 1/c and in log x
_FEW_POINTS, _MANY_POINTS, _MOST_POINTS = 150, 900, 6000
_PULLS = (1.0, 0.7, 0.5, 0.35)
_UNSMOOTHED = 22.0
_GOALS = (_UNSMOOTHED, 6.0, 8.0, 10.0, 13.0, 16.0, 19.0)


@dataclass(frozen=True)
class SmoothedPlan:
    """Where to integrate and how much to smooth: proposed by floats, judged by the bounds."""

    c: float
    spacing: float
    nodes: int
    chernoff: float
    reach: float  # w; 0 for no smoothing
    parameter: float  # with which the step proves its decay, where there is no smoothing
    accuracy: float  # the quadrature's error, as an exponent of e, in units of the largest term
    beside_one: bool  # whether M^T - 1 is summed in place of M^T

    @property
    def columns(self) -> int:
        """Columns of the table of nodes, a power of two."""
        return 1 << (max(self.nodes.bit_length(), 2) + 1) // 2

    @property
    def rows(self) -> int:
        """Rows of the table of nodes, of which the last is full."""
        return -(-(self.nodes + 1) // self.columns)

    @property
    def last(self) -> int:
        """The last node of the table."""
        return self.rows * self.columns - 1


def affordable_nodes(step: SampledGaussian, order: float, nodes: int) -> int:
    """Twice as many nodes where the quadrature has few points, half as many where it has many."""
    points = step.points(order, 40.0)
    return 2 * nodes + 1 if points < _FEW_POINTS else nodes // 2 if points > _MANY_POINTS else nodes


def smoothed_plan(
    step: SampledGaussian, count: int, saddle: Saddle, nodes: int, curvature: float = 0.0
) -> SmoothedPlan:
    """A plan with about that many nodes (one less than a power of two is best used), of the least error in sight.

    All errors but the smoothing's are about e^{-goal} of delta, and a smaller goal needs less smoothing. That of the
    smoothing is its variance times the curvature of delta, in units of delta: at least c (c+1) or so.
    """
    curvature = max(curvature, saddle.c * (saddle.c + 1)) * SMOOTHNESS / 3
    plans = []
    for pull in _PULLS:
        for goal in _GOALS:
            plan, noise = _plan_at(step, count, saddle, nodes, pull, goal)
            plans.append((math.exp(-goal) + curvature * plan.reach**2 + noise, plan))
            if curvature * plan.reach**2 > 2 * math.exp(-goal) and goal < _UNSMOOTHED:
                break  # the next one is smoothed more
    best = min(plans, key=lambda pair: pair[0])[1]
    if best.reach * max(1.0, best.c) > _WIDEST:
        raise PrecisionError("too few nodes: the smoothing would blur everything")
    return best


def _plan_at(
    step: SampledGaussian, count: int, saddle: Saddle, nodes: int, pull: float, goal: float
) -> tuple[SmoothedPlan, float]:
    """The plan of an order and a goal, and about the error of the floats."""
    c = saddle.c * pull
    period, chernoff = period_at([(step, count)], saddle, pull, goal)
    spacing = 2 * math.pi / period
    log_m = count * step.cumulants(c)[0]
    log_peak = log_m - c * saddle.epsilon - saddle.log_delta
    accuracy = min(24 + max(0.0, log_peak), _MOST_ACCURATE) + math.log(count + 1)
    plan = SmoothedPlan(c, spacing, nodes, chernoff, 0.0, 0.0, accuracy, False)
    last = plan.last * spacing
    beside_one = log_m < _BESIDE_ONE
    peak = math.exp(min(log_peak, 300.0)) / c
    noise = count * (4e-16 if beside_one else 4e-14) * peak
    if goal == _UNSMOOTHED:
        log_ceiling, parameter = step.decay(c, last)
        if count * log_ceiling - c * saddle.epsilon - saddle.log_delta - math.log(math.pi * last) < -goal:
            return replace(plan, parameter=parameter, beside_one=beside_one), noise + 3e-14 * peak
    exponent = (goal + max(0.0, log_peak)) / SMOOTHNESS
    return replace(plan, reach=math.exp(min(exponent, 300.0)) / last, beside_one=beside_one), noise


class SmoothedCurve:
    """Certified bounds of delta(epsilon) around the epsilon that was planned for."""

    def __init__(self, step: SampledGaussian, count: int, plan: SmoothedPlan, line: Line | None = None) -> None:
        self.plan, self.count, self.line = plan, count, line
        with ctx.workprec(_PRECISION), np.errstate(all="ignore"):
            self.c, self.k, self.w = arb(plan.c), arb(plan.spacing), arb(plan.reach)
            line = step.on_line(self.c, plan.accuracy, _TALLEST, _MOST_POINTS) if line is None else line
            self.b = arb(plan.chernoff)
            moment = step.moments(self.b, self.k, 1, log_error=-4 - math.log(count))[0].real
            self.log_chernoff = count * moment.log()
            n = np.arange(plan.rows * plan.columns, dtype=np.float64).reshape(plan.rows, plan.columns)
            s: Complex = np.asarray(plan.c + 1j * (plan.spacing * n), dtype=np.complex128)
            self.line = line
            self._bound_moment(line)
            powers, error = self._beside_one(line) if plan.beside_one else self._powers(line)
            if plan.reach:
                upper, lower, upper_error, lower_error = self._kernels(s)
                self.upper, self.upper_error = products(powers, upper, error, upper_error)
                self.lower, self.lower_error = products(powers, lower, error, lower_error)
                if plan.beside_one:
                    self.alone = {True: (upper, total(upper_error)), False: (lower, total(lower_error))}
                self._cut()
            else:
                plain: Complex = np.asarray(1.0 / (s * (s + 1.0)), dtype=np.complex128)
                plain_error = 20 * UNIT * size(plain)
                self.upper, self.upper_error = products(powers, plain, error, plain_error)
                if plan.beside_one:
                    self.alone = dict.fromkeys((True, False), (plain, total(plain_error)))
                self.lower, self.lower_error = self.upper, self.upper_error
                last = self.k * plan.last
                ceiling = step.ceiling(self.c, last, plan.parameter, top=self.moment, log_error=-plan.accuracy)
                cut = (count * ceiling.log() - self.log_top).exp() / (arb.pi() * last)
                self.upper_cut = self.lower_cut = cut
            known = self.upper_error + self.lower_error + total(size(self.upper)) + total(size(self.lower))
            if not math.isfinite(known):
                raise PrecisionError("the terms overflow in float64")

    # ---- M^T at the nodes

    def _bound_moment(self, line: Line) -> None:
        """Bounds of M(c) <= (sum + outside)/(1 - share), and of the quadrature's error at every node, a share of it."""
        if not line.share < 1:
            raise PrecisionError("the quadrature of a step's moments does not converge in float64")
        self.start = sum((weight.real for weight in line.weights), arb(0))
        if not self.start > 0:
            raise PrecisionError("a moment is not seen to be positive in float64")
        self.moment = ((self.start + line.outside) / (1 - line.share)).upper()
        self.rest = (line.outside + line.share * self.moment).upper()

    def _turned(self, line: Line) -> tuple[list[acb], list[acb]]:
        """e^{ikL} at the points, and its powers by the number of columns."""
        turns = [(acb(0, self.k) * loss).exp() for loss in line.losses]
        return turns, [turn**self.plan.columns for turn in turns]

    def _powers(self, line: Line) -> tuple[Complex, Array]:
        """(M(s_n)/top)^T, and a bound of the error of each; top is next to M(c)."""
        plan, top = self.plan, self.start.mid()
        weights = [weight / top for weight in line.weights]
        turns, far = self._turned(line)
        left, many = power_table(weights, far, plan.rows)
        right, more = power_table([acb(1)] * len(turns), turns, plan.columns)
        sizes = total(size(rounded(weights)))
        moments = matrix_product(left, right.T)
        error = sizes * ((many + more) * (1 + 1e-6) + 3.0 * len(turns)) * UNIT * (1 + 1e-6) + 1e-29 * sizes
        error += above(self.rest / top)
        most = above(self.moment / top) + error  # |M|/top, as computed or in truth
        self.log_top, self.log_most = self.count * top.log(), self.count * arb(most).log()
        amplified = above(self.log_most.exp())
        rounding = 3.001 * self.count * UNIT  # (1 + 3u)^T - 1 <= 3uT/(1 - 3uT)
        slack = (self.count * error + rounding / (1 - rounding) + 1e-140) * amplified * (1 + 1e-9)
        if not 0 < slack < 1:
            raise PrecisionError("so many steps leave no digit in float64")
        return power(moments, self.count), np.full((plan.rows, plan.columns), slack)

    def _beside_one(self, line: Line) -> tuple[Complex, Array]:
        """M(s_n)^T - 1, and a bound of the error of each.

        M - 1 = sum_j w_j (far^a - 1) near^b + sum_j w_j (near^b - 1) + (M(c) - 1), n = columns a + b. An error e of it
        becomes T A e, with A >= M(c)^T and 1. On the way |M^k - 1| <= k A |M - 1|; a squaring or a product that leads
        to it errs by at most 12 u k A^2 |M - 1|, which later ones raise T A/k times; there are two for each bit.
        """
        plan = self.plan
        turns, far = self._turned(line)
        weights = rounded(line.weights)
        near, more = power_table([acb(1)] * len(turns), turns, plan.columns)
        far_off, many = deviation_table(far, plan.rows)
        near_off, few = deviation_table(turns, plan.columns)
        first = float((self.start - 1).mid())
        moments = matrix_product(weights * far_off, near.T) + matrix_product(weights[None, :], near_off.T) + first
        sizes, inner = size(weights), 3.0 * len(turns)
        rows = (sizes * most_deviation(far, plan.rows)).sum(axis=1) * (many + more + inner + 20)
        columns = (sizes * most_deviation(turns, plan.columns)).sum(axis=1) * (few + inner + 20)
        rounding = (rows[:, None] + columns[None, :] + 8 * abs(first)) * UNIT * (1 + 1e-6)
        error = rounding + (1e-28 * (1 + total(sizes)) + above(self.rest))
        self.log_top, self.log_most = arb(0), self.count * (self.moment + arb(float(error.max()))).log()
        amplified = max(1.0, above(self.log_most.exp()))
        sizes = size(moments) + error
        slack = self.count * amplified * (error + 24 * self.count.bit_length() * UNIT * amplified * amplified * sizes)
        return power_beside_one(moments, self.count), slack * (1 + 1e-6)

    # ---- the kernels at the nodes

    def _turns(self, angle: arb, sign: int = 1) -> tuple[Complex, Complex]:
        """e^{i sign angle n} for the rows' and for the columns' part of n, each rounded once."""
        rows, columns = self.plan.rows, self.plan.columns
        down = [acb(0, sign * angle * (n * columns)).exp() for n in range(rows)]
        across = [acb(0, sign * angle * n).exp() for n in range(columns)]
        return rounded(down), rounded(across)

    def _kernels(self, s: Complex) -> tuple[Complex, Complex, Array, Array]:
        """The upper and the lower bound's factors at the nodes, and bounds of their errors.

        With env = cosh(wc) min(1, 1/|z|), |Q| <= env, |Q'| <= 2 env and |Q''| <= 5 env; computed they err by at most
        50, 150 and 800 units of env (below |z| = 1/2 by the series, whose rest is below 1e-22; above by cosh and sinh
        over z, which are known to 10 u cosh(wc)). Products of them follow, to first order with room to spare: K errs by
        850 u env^m, K' by m w 1750 u env^m and K'' by w^2 10^6 u env^m.
        """
        m, w = SMOOTHNESS, self.plan.reach
        z = w * s
        x = self.w * self.c
        down, across = self._turns(self.w * self.k)
        turn = np.outer(down, across)
        grown, shrunk = float(x.cosh()), float(x.sinh())
        sinh, cosh = shrunk * turn.real + 1j * (grown * turn.imag), grown * turn.real + 1j * (shrunk * turn.imag)
        with np.errstate(all="ignore"):
            inverse = 1.0 / z
            value = sinh * inverse
            first = (cosh - value) * inverse
            second = value - 2.0 * first * inverse
        near = size(z) < NEAR
        value[near], first[near], second[near] = sinh_over(z[near])
        fourteen = power(value, m - 2)
        kernel = fourteen * value * value
        slope = (m * w) * (fourteen * value * first)
        bend = (w * w) * (m * (fourteen * value * second) + (m * (m - 1)) * (fourteen * first * first))
        stretch = above((m * self.w).exp())
        self.stretch = stretch
        length = size(s)
        envelope = grown * np.minimum(1.0, 1.0 / (w * length)) * (1 + 1e-10)
        for _ in range(m.bit_length() - 1):
            envelope = envelope * envelope
        upper = kernel / (s * (s + 1.0))
        lower = (kernel / s - slope - (0.5 * stretch) * bend) / (s + 1.0)
        units = 900.0 / length + (1800.0 * m) * w + 1.1e6 * stretch * w * w
        return upper, lower, 1000 * UNIT * envelope / (length * length), units * UNIT * envelope / length

    def _cut(self) -> None:
        """What all nodes beyond the last add up to, at most, before the factor top^T e^{-c epsilon}."""
        m, w, c = SMOOTHNESS, self.w, self.c
        last = self.k * self.plan.last
        if not w * last >= 1:
            raise PrecisionError("the smoothing is too weak for the nodes")
        most = self.log_most.exp() + (1 if self.plan.beside_one else 0)
        decay = ((w * c).cosh() / (w * last)) ** m * most / arb.pi()
        self.upper_cut = decay / ((m + 1) * last)
        stretch = arb(self.stretch)
        self.lower_cut = decay * (1 / ((m + 1) * last) + 2 * w + (4 * m + 1) * stretch * w * w / 2)

    # ---- evaluation

    def _sum(self, terms: Complex, turns: tuple[Complex, Complex]) -> float:
        """2 Re sum_n term_n e^{-i n k epsilon} - term_0, in floats."""
        down, across = turns
        real = terms.real @ across.real - terms.imag @ across.imag
        imaginary = terms.real @ across.imag + terms.imag @ across.real
        return float(2.0 * (down.real @ real - down.imag @ imaginary) - terms[0, 0].real)

    def _certified(self, epsilon: arb, *, above: bool) -> arb:
        """A bound of the full sum at an exact epsilon, from the asked side."""
        terms, error, cut = (
            (self.upper, self.upper_error, self.upper_cut) if above else (self.lower, self.lower_error, self.lower_cut)
        )
        if self.plan.beside_one and not (self.plan.reach and epsilon >= SMOOTHNESS * self.w):
            terms, error = terms + self.alone[above][0], error + self.alone[above][1]
        value = self._sum(terms, self._turns(self.k * epsilon, -1))
        units = self.plan.rows + 1.5 * self.plan.columns + 40.0
        slack = arb(up(2 * error + units * UNIT * 2 * total(size(terms)), 9)) * self.k / (2 * arb.pi()) + cut
        full = arb(value) * self.k / (2 * arb.pi()) + (slack if above else -slack)
        return full * (self.log_top - self.c * epsilon).exp()

    def delta(self, epsilon: arb) -> tuple[arb, arb]:
        """Balls whose bottom is a lower and whose top an upper bound of delta(epsilon), at an exact epsilon >= 0."""
        return self.delta_below(epsilon), self.delta_above(epsilon)

    def delta_above(self, epsilon: arb) -> arb:
        """A ball whose top is an upper bound of delta(epsilon)."""
        with ctx.workprec(_PRECISION):
            shift = SMOOTHNESS * (self.w.sinh() / self.w).log() if self.plan.reach else arb(0)
            at = (epsilon - shift).lower()  # delta falls
            return self._certified(at, above=True).upper()

    def delta_below(self, epsilon: arb) -> arb:
        """A ball whose bottom is a lower bound of delta(epsilon)."""
        with ctx.workprec(_PRECISION):
            b, c = self.b, self.c
            period = 2 * arb.pi() / self.k
            left, ratio = (-c * period).exp(), (-(b - c) * period).exp()
            chernoff = (self.log_chernoff - b * epsilon + b * b.log() - (b + 1) * (b + 1).log()).exp()
            images = left / (1 - left) + chernoff * ratio / (1 - ratio)
            if self.plan.beside_one and self.plan.reach:
                r = SMOOTHNESS * self.w
                if not epsilon - period + r + (1 + r + r.exp() * r * r / 2).log() < 0:
                    return arb(0)  # the images of the steps that tell nothing might be negative
            return (self._certified(epsilon, above=False) - images).lower()

    def about(self, epsilon: float, *, above: bool) -> float:
        """About the log of one bound, in floats; -inf where it is not positive. Not a proof."""
        plan, terms, k = self.plan, self.upper if above else self.lower, self.plan.spacing
        if above:
            epsilon -= SMOOTHNESS * plan.reach**2 / 6
        turns = (
            np.exp(-1j * (k * epsilon * plan.columns) * np.arange(plan.rows)),
            np.exp(-1j * (k * epsilon) * np.arange(plan.columns)),
        )
        if plan.beside_one and (not plan.reach or epsilon < SMOOTHNESS * plan.reach):
            terms = terms + self.alone[above][0]
        value = self._sum(terms, turns)
        return math.log(value * k / (2 * math.pi)) + float(self.log_top) - plan.c * epsilon if value > 0 else -math.inf

    def curvature(self, epsilon: float) -> float:
        """About the second derivative of delta that the smoothing meets, in units of delta."""
        if not self.plan.reach:
            step = epsilon / 8 + 1e-2 / self.plan.c
            before, here, after = (self.about(epsilon + side * step, above=True) for side in (-1, 0, 1))
            if not abs(before - here) + abs(after - here) < 100:
                return 0.0
            return max(math.expm1(before - here) + math.expm1(after - here), 0.0) / step**2
        above, below = (self.about(epsilon, above=side) for side in (True, False))
        return -math.expm1(below - above) * 3 / (SMOOTHNESS * self.plan.reach**2) if above > below else 0.0
