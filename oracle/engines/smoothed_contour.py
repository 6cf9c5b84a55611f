r"""Many equal sampled Gaussian steps whose transform hardly decays: the contour integral of a smoothed curve.

With few steps, a small rate or little noise the loss is nearly discrete, M(c + it)^T stays large for every t, and the
sum of `contour` would need millions of nodes. f(x) = delta(log x) is convex. So for any random Z, with
K(s) = E e^{-sZ}, at every epsilon

    delta(epsilon) <= E delta(epsilon + Z)                                              if E e^Z <= 1     (Jensen),
    delta(epsilon) >= E [delta(epsilon + Z) + delta'(epsilon + Z) (e^{-Z} - 1)]         (a tangent lies below f),

and as delta' <= 0 and e^{-z} - 1 <= -z + l z^2/2 for |z| <= r, l = e^r, the last factor may be replaced by that. Both
right sides are contour integrals: M(s)^T e^{-s epsilon} times

    K(s) / (s (s+1))        and        [K(s)/s - K'(s) - l K''(s)/2] / (s+1).

Z is the sum of m uniform variables on [-w, w], so that K = Q(ws)^m with Q(z) = sinh(z)/z decays as t^{-m} and r = m w; it
is shifted by -m log Q(w) for the upper bound. The two bounds differ by the variance m w^2/3 times a second derivative.
Of the four errors of `contour` two remain as they are (images, quadrature). For the lower bound's images note that its
right side is at most delta everywhere. What is cut off at t >= Nk is bounded by |M| <= M(c) and the kernel's decay:
with C = cosh(wc), |Q| <= C/(wt), |Q'| <= 2C/(wt) and, for wt >= 1, |Q''| <= 5C/(wt). Where M decays by itself w = 0
will do: both bounds are then the plain integral, and what is cut off is bounded as in `contour`.

The nodes are float64, and nothing of libm is trusted. The points of the quadrature, their powers by 2^i, and all
exponentials are balls, rounded once; the rest is +, -, * and / with rounding errors known in advance (u = 2^-53):
- a complex product errs by at most sqrt(2) 2u/(1-2u) < 3u of its size, in any order and with or without fused
  operations; an inner product of n complex terms, as a real one of 2n, by sqrt(2) 2nu/(1-2nu) of the sum of sizes;
- entries below 1e-150 are made 0 and count as an absolute error; nothing overflows, because everything is at most 1.
So the terms are known up to a bound computed beside them. It limits the width to about T 10^-13; `contour` has no limit.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from flint import acb, arb, ctx
from numpy.typing import NDArray

from oracle.core.errors import PrecisionError
from oracle.engines.contour import Saddle, period_at
from oracle.engines.sampled_gaussian import Line, SampledGaussian

Complex = NDArray[np.complex128]
Array = NDArray[np.float64]

UNIT = 2.0**-53
SMOOTHNESS = 16  # m: a power of two
_PRECISION = 128
_QUADRATURE = 36.0  # the quadrature's error, as an exponent of e: at float64's own
_TALLEST = 1.6  # height of the line of integration: it costs a factor e^{1.28} of precision
_TINY = 1e-150
_ACCURACY = 60  # bits that a ball must have before it is rounded to a double
_PULLS = (1.0, 0.7, 0.5, 0.35)
_UNSMOOTHED = 22.0
_GOALS = (_UNSMOOTHED, 6.0, 8.0, 10.0, 13.0, 16.0, 19.0)
_NEAR, _TERMS = 0.5, 9  # below which Q is a power series, and of how many terms


@dataclass(frozen=True)
class SmoothedPlan:
    """Where to integrate and how much to smooth: proposed by floats, judged by the bounds."""

    c: float
    spacing: float
    nodes: int
    chernoff: float
    reach: float  # w; 0 for no smoothing
    parameter: float = 0.0  # with which the step proves its decay, where there is no smoothing

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


def smoothed_plan(
    step: SampledGaussian, count: int, saddle: Saddle, nodes: int, curvature: float = 0.0
) -> SmoothedPlan:
    """A plan with about that many nodes (one less than a power of two is best used), of the least error in sight.

    All errors but the smoothing's are about e^{-goal} of delta, and a smaller goal needs less smoothing; the smoothing's
    is its variance times the curvature of delta, in units of delta: at least c (c+1) or so.
    """
    curvature = max(curvature, saddle.c * (saddle.c + 1)) * SMOOTHNESS / 3
    plans = []
    for pull in _PULLS:
        for goal in _GOALS:
            plan, noise = _plan_at(step, count, saddle, nodes, pull, goal)
            plans.append((math.exp(-goal) + curvature * plan.reach**2 + noise, plan))
            if curvature * plan.reach**2 > 2 * math.exp(-goal) and goal < _UNSMOOTHED:
                break  # the next one is smoothed more
    return min(plans, key=lambda pair: pair[0])[1]


def _plan_at(
    step: SampledGaussian, count: int, saddle: Saddle, nodes: int, pull: float, goal: float
) -> tuple[SmoothedPlan, float]:
    """The plan of an order and a goal, and about the error of the floats."""
    c = saddle.c * pull
    period, chernoff = period_at([(step, count)], saddle, pull, goal)
    spacing = 2 * math.pi / period
    plan = SmoothedPlan(c, spacing, nodes, chernoff, 0.0)
    last = plan.last * spacing
    log_peak = count * step.cumulants(c)[0] - c * saddle.epsilon - saddle.log_delta
    noise = count * 4e-14 * math.exp(min(log_peak, 300.0)) / c
    if goal == _UNSMOOTHED:
        log_ceiling, parameter = step.decay(c, last)
        if count * log_ceiling - c * saddle.epsilon - saddle.log_delta - math.log(math.pi * last) < -goal:
            return replace(plan, parameter=parameter), noise
    exponent = (goal + max(0.0, log_peak)) / SMOOTHNESS
    return replace(plan, reach=math.exp(min(exponent, 300.0)) / last), noise


class SmoothedCurve:
    """Certified bounds of delta(epsilon) around the epsilon that was planned for."""

    def __init__(self, step: SampledGaussian, count: int, plan: SmoothedPlan, line: Line | None = None) -> None:
        self.plan, self.count, self.line = plan, count, line
        with ctx.workprec(_PRECISION):
            self.c, self.k, self.w = arb(plan.c), arb(plan.spacing), arb(plan.reach)
            self.b = arb(plan.chernoff)
            moment = step.moments(self.b, self.k, 1, log_error=-4 - math.log(count))[0].real
            self.log_chernoff = count * moment.log()
            powers, error, most = self._powers_of_moments(step)
            n = np.arange(plan.rows * plan.columns, dtype=np.float64).reshape(plan.rows, plan.columns)
            s = plan.c + 1j * (plan.spacing * n)
            if plan.reach:
                upper, lower, upper_error, lower_error = self._kernels(s)
                self.upper, self.upper_error = _times(powers, upper, error, most, upper_error)
                self.lower, self.lower_error = _times(powers, lower, error, most, lower_error)
                self._cut()
            else:
                plain = 1.0 / (s * (s + 1.0))
                self.upper, self.upper_error = _times(powers, plain, error, most, 20 * UNIT * _size(plain))
                self.lower, self.lower_error = self.upper, self.upper_error
                last = self.k * plan.last
                ceiling = step.ceiling(self.c, last, plan.parameter, top=self.top_above, log_error=-_QUADRATURE)
                cut = (count * ceiling.log() - self.log_top).exp() / (arb.pi() * last)
                self.upper_cut = self.lower_cut = cut

    # ---- M^T at the nodes

    def _powers_of_moments(self, step: SampledGaussian) -> tuple[Complex, float, float]:
        """(M(s_n)/top)^T, a bound of the error of each and one of their size; top is next to M(c)."""
        plan = self.plan
        if self.line is None:
            self.line = step.on_line(self.c, _QUADRATURE + math.log(self.count + 1), _TALLEST)
        line = self.line
        if not line.share < 1:
            raise PrecisionError("the quadrature of a step's moments does not converge in float64")
        start = sum((weight.real for weight in line.weights), arb(0))
        top = start.mid()
        if not top > 0:
            raise PrecisionError("a moment is not seen to be positive in float64")
        weights = [weight / top for weight in line.weights]
        turns = [(acb(0, self.k) * loss).exp() for loss in line.losses]
        far = [turn**plan.columns for turn in turns]
        left, many = _table(weights, far, plan.rows)
        right, more = _table([acb(1)] * len(turns), turns, plan.columns)
        sizes = _up(float(_size(_rounded(weights)).sum()), len(weights) + 9)
        moments = _product(left, right.T)
        inner = 2 * len(turns)
        error = sizes * ((many + more) * (1 + 1e-6) + 1.5 * inner) * UNIT * (1 + 1e-6) + 1e-140
        # Of the quadrature, as a share of M(c) <= (|sum| + outside)/(1 - share).
        rest = (line.outside + line.share * (abs(start) + line.outside) / (1 - line.share)) / top
        error += _above(rest)
        self.top_above = ((start + line.outside) / (1 - line.share)).upper()
        most = _above(self.top_above / top) + error  # |M|/top, as computed or in truth
        self.log_top = self.count * top.log()
        self.log_most = self.count * arb(most).log()
        amplified = _above(self.log_most.exp())
        powers = _power(moments, self.count)
        slack = self.count * error * amplified + (math.expm1(3.001 * self.count * UNIT) * 1.001 + 1e-140) * amplified
        if not slack < 1:
            raise PrecisionError("so many steps leave no digit in float64")
        return powers, slack * (1 + 1e-9), amplified + slack

    # ---- the kernels at the nodes

    def _turns(self, angle: arb, sign: int = 1) -> tuple[Complex, Complex]:
        """e^{i sign angle n} for the rows' and for the columns' part of n, each rounded once."""
        rows, columns = self.plan.rows, self.plan.columns
        down = [acb(0, sign * angle * (n * columns)).exp() for n in range(rows)]
        across = [acb(0, sign * angle * n).exp() for n in range(columns)]
        return _rounded(down), _rounded(across)

    def _kernels(self, s: Complex) -> tuple[Complex, Complex, Array, Array]:
        """The upper and the lower bound's factors at the nodes, and bounds of their errors.

        With env = cosh(wc) min(1, 1/|z|), |Q| <= env, |Q'| <= 2 env and |Q''| <= 5 env; computed they err by at most 50,
        150 and 800 units of env (below |z| = 1/2 by the series, whose rest is below 1e-22; above by cosh and sinh over z,
        which are known to 10 u cosh(wc)). Products of them follow, to first order with room to spare: K errs by 850 u
        env^m, K' by m w 1750 u env^m and K'' by w^2 10^6 u env^m.
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
        near = _size(z) < _NEAR
        value[near], first[near], second[near] = _series(z[near])
        fourteen = _power(value, m - 2)
        kernel = fourteen * value * value
        slope = (m * w) * (fourteen * value * first)
        bend = (w * w) * (m * (fourteen * value * second) + (m * (m - 1)) * (fourteen * first * first))
        stretch = _above((m * self.w).exp())
        self.stretch = stretch
        size = _size(s)
        envelope = grown * np.minimum(1.0, 1.0 / (w * size)) * (1 + 1e-10)
        for _ in range(m.bit_length() - 1):
            envelope = envelope * envelope
        upper = kernel / (s * (s + 1.0))
        lower = (kernel / s - slope - (0.5 * stretch) * bend) / (s + 1.0)
        units = 900.0 / size + (1800.0 * m) * w + 1.1e6 * stretch * w * w
        return upper, lower, 1000 * UNIT * envelope / (size * size), units * UNIT * envelope / size

    def _cut(self) -> None:
        """What all nodes beyond the last add up to, at most, before the factor top^T e^{-c epsilon}."""
        m, w, c = SMOOTHNESS, self.w, self.c
        last = self.k * self.plan.last
        if not w * last >= 1:
            raise PrecisionError("the smoothing is too weak for the nodes")
        decay = ((w * c).cosh() / (w * last)) ** m * self.log_most.exp() / arb.pi()
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

    def _certified(self, terms: Complex, error: float, cut: arb, epsilon: arb) -> tuple[arb, arb]:
        """Lower and upper bounds of the full sum at an exact epsilon."""
        value = self._sum(terms, self._turns(self.k * epsilon, -1))
        units = 8.0 * (self.plan.rows + self.plan.columns) + 40.0
        size = _up(float(_size(terms).sum()), terms.size + 9)
        slack = arb(_up(2 * error + units * UNIT * 2 * size, 9)) * self.k / (2 * arb.pi()) + cut
        sum_ = arb(value) * self.k / (2 * arb.pi())
        scale = (self.log_top - self.c * epsilon).exp()
        return (sum_ - slack) * scale, (sum_ + slack) * scale

    def delta(self, epsilon: arb) -> tuple[arb, arb]:
        """Balls whose bottom is a lower and whose top an upper bound of delta(epsilon), at an exact epsilon >= 0."""
        return self.delta_below(epsilon), self.delta_above(epsilon)

    def delta_above(self, epsilon: arb) -> arb:
        """A ball whose top is an upper bound of delta(epsilon)."""
        with ctx.workprec(_PRECISION):
            shift = SMOOTHNESS * (self.w.sinh() / self.w).log() if self.plan.reach else arb(0)
            at = (epsilon - shift).lower()  # delta falls
            return self._certified(self.upper, self.upper_error, self.upper_cut, at)[1].upper()

    def delta_below(self, epsilon: arb) -> arb:
        """A ball whose bottom is a lower bound of delta(epsilon)."""
        with ctx.workprec(_PRECISION):
            b, c = self.b, self.c
            period = 2 * arb.pi() / self.k
            left, ratio = (-c * period).exp(), (-(b - c) * period).exp()
            chernoff = (self.log_chernoff - b * epsilon + b * b.log() - (b + 1) * (b + 1).log()).exp()
            images = left / (1 - left) + chernoff * ratio / (1 - ratio)
            value = self._certified(self.lower, self.lower_error, self.lower_cut, epsilon)[0]
            return (value - images).lower()

    def about(self, epsilon: float, *, above: bool) -> float:
        """About the log of one bound, in floats; -inf where it is not positive. Not a proof."""
        plan, terms, k = self.plan, self.upper if above else self.lower, self.plan.spacing
        if above:
            epsilon -= SMOOTHNESS * plan.reach**2 / 6
        turns = (
            np.exp(-1j * (k * epsilon * plan.columns) * np.arange(plan.rows)),
            np.exp(-1j * (k * epsilon) * np.arange(plan.columns)),
        )
        value = self._sum(terms, turns)
        return math.log(value * k / (2 * math.pi)) + float(self.log_top) - plan.c * epsilon if value > 0 else -math.inf

    def curvature(self, epsilon: float) -> float:
        """About the second derivative of delta that the smoothing meets, in units of delta."""
        if not self.plan.reach:
            return 0.0
        above, below = (self.about(epsilon, above=side) for side in (True, False))
        return -math.expm1(below - above) * 3 / (SMOOTHNESS * self.plan.reach**2) if above > below else 0.0


def _series(z: Complex) -> tuple[Complex, Complex, Complex]:
    """Q, Q' and Q'' for |z| < 1/2 by their power series sum z^{2i}/(2i+1)! and its derivatives."""
    square = z * z
    value, first, second = np.zeros_like(z), np.zeros_like(z), np.zeros_like(z)
    for i in reversed(range(_TERMS)):
        factor = 1.0 / math.factorial(2 * i + 1)
        value = value * square + factor
        if i:
            first = first * square + 2 * i * factor
            second = second * square + 2 * i * (2 * i - 1) * factor
    return value, first * z, second


def _table(start: list[acb], factors: list[acb], count: int) -> tuple[Complex, float]:
    """start * factor^n, a row for each n < count, by doubling, and how many units of roundoff an entry errs by.

    The factors by which rows are doubled are balls rounded once (2 units), every product errs by 3 more.
    """
    table, step, units = _rounded(start)[None, :], factors, 2.0
    while len(table) < count:
        more = table[: count - len(table)] * _rounded(step)[None, :]
        more[_size(more) < _TINY] = 0.0
        table = np.concatenate([table, more])
        step = [factor * factor for factor in step]
        units += 5.1
    return table, units


def _rounded(values: list[acb]) -> Complex:
    """The doubles next to balls: off by at most 2 units of the size, which the balls' accuracy is checked to allow."""
    for value in values:
        if value.rel_accuracy_bits() < _ACCURACY and not abs(value) < _TINY:
            raise PrecisionError("a ball is too wide to be rounded to a double")
    result = np.array([complex(value.mid()) for value in values], dtype=np.complex128)
    result[_size(result) < _TINY] = 0.0
    return result


def _product(left: Complex, right: Complex) -> Complex:
    """A complex matrix product as two real ones, whose error bound holds for every order of summation."""
    both = np.concatenate([left.real, left.imag], axis=1)
    real = both @ np.concatenate([right.real, -right.imag], axis=0)
    return np.asarray(real + 1j * (both @ np.concatenate([right.imag, right.real], axis=0)))


def _power(values: Complex, exponent: int) -> Complex:
    """values^exponent by squaring: exponent - 1 products along the tree of each entry; what is tiny becomes 0."""
    result: Any = None
    while True:
        if exponent & 1:
            result = values if result is None else result * values
        exponent >>= 1
        if not exponent:
            return np.asarray(result)
        values = values * values
        values = np.where(_size(values) < _TINY, 0.0, values)


def _times(powers: Complex, kernel: Complex, error: float, most: float, kernel_error: Array) -> tuple[Complex, float]:
    """The products of both, and a bound of the sum of their errors; the powers are at most `most`, the true ones too."""
    terms = powers * kernel
    errors = float(kernel_error.sum())
    sizes = float(_size(kernel).sum()) + errors
    return terms, _up((error + 4 * UNIT * most) * sizes + most * errors, terms.size + 99)


def _size(values: Complex) -> Array:
    """|z|, to 2 units; by a square root, which IEEE 754 rounds well."""
    return np.asarray(np.sqrt(values.real * values.real + values.imag * values.imag))


def _up(value: float, units: float) -> float:
    """A sum of that many doubles >= 0, rounded up."""
    return value * (1 + 2 * units * UNIT) + 1e-140


def _above(value: arb) -> float:
    """A double above a ball."""
    return math.nextafter(float(value.upper()), math.inf)
