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

import functools
import math

import numpy as np
from flint import acb, arb, ctx

from oracle.core.errors import PrecisionError
from oracle.engines.sampled.float_tables import (
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
    size,
    total,
    up,
)
from oracle.engines.sampled.line_sums import Line
from oracle.engines.sampled.sampled_gaussian import SampledGaussian
from oracle.engines.sampled.smoothed_plan import SMOOTHNESS, SmoothedPlan
from oracle.engines.sampled.smoothed_sums import TALLEST, SmoothedSums, nodes_of, plain_kernel, smoothed_kernels

_PRECISION = 128
_MOST_POINTS = 6000


class SmoothedCurve(SmoothedSums):
    """Certified bounds of delta(epsilon) around the epsilon that was planned for."""

    def __init__(self, step: SampledGaussian, count: int, plan: SmoothedPlan) -> None:
        self.step, self.plan, self.count = step, plan, count
        with ctx.workprec(_PRECISION), np.errstate(all="ignore"):
            self.c, self.k, self.w, self.b = arb(plan.c), arb(plan.spacing), arb(plan.reach), arb(plan.chernoff)
            line = step.on_line(self.c, plan.accuracy, TALLEST, _MOST_POINTS)
            self.lost, self.share_lost = (count * part for part in step.lost())
            s = nodes_of(plan)
            self._bound_moment(line)
            powers, error = self._beside_one(line) if plan.beside_one else self._powers(line)
            if plan.reach:
                upper, lower, upper_error, lower_error = self._kernels(s)
                self.upper, self.upper_error = products(powers, upper, error, upper_error)
                self.lower, self.lower_error = products(powers, lower, error, lower_error)
                if plan.beside_one:
                    self.alone = {True: (upper, total(upper_error)), False: (lower, total(lower_error))}
            else:
                plain = plain_kernel(s)
                plain_error = 20 * UNIT * size(plain)
                self.upper, self.upper_error = products(powers, plain, error, plain_error)
                if plan.beside_one:
                    self.alone = dict.fromkeys((True, False), (plain, total(plain_error)))
                self.lower, self.lower_error = self.upper, self.upper_error
            if not math.isfinite(self.upper_error + self.lower_error):
                raise PrecisionError("the terms overflow in float64")

    # ---- what only a proof needs

    @functools.cached_property
    def log_chernoff(self) -> arb:
        """log M(b)^T, from above."""
        with ctx.workprec(_PRECISION):
            return self.count * self.step.moment_above(self.b, 4 + math.log(self.count)).log()

    @functools.cached_property
    def cuts(self) -> tuple[arb, arb]:
        """What all nodes beyond the last add to the upper and the lower bound, before top^T e^{-c epsilon}."""
        plan = self.plan
        with ctx.workprec(_PRECISION):
            last = self.k * plan.last
            if plan.reach:
                return self._smoothed_cuts(last)
            ceiling = self.step.ceiling(self.c, last, plan.parameter, top=self.moment, log_error=-plan.decay_accuracy)
            cut = (self.count * ceiling.log() - self.log_top).exp() / (arb.pi() * last)
            return cut, cut

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
        far_off, many = deviation_table(far, plan.rows)
        near_off, few = deviation_table(turns, plan.columns)
        near, more = 1.0 + near_off, 2 * few + 4  # few units of at most 2, and a rounding
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
        x = self.w * self.c
        down, across = self._turns(self.w * self.k)
        turn = np.outer(down, across)
        grown, shrunk = float(x.cosh()), float(x.sinh())
        sinh, cosh = shrunk * turn.real + 1j * (grown * turn.imag), grown * turn.real + 1j * (shrunk * turn.imag)
        stretch = above((m * self.w).exp())
        self.stretch = stretch
        length = size(s)
        envelope = grown * np.minimum(1.0, 1.0 / (w * length)) * (1 + 1e-10)
        for _ in range(m.bit_length() - 1):
            envelope = envelope * envelope
        upper, lower = smoothed_kernels(s, w, sinh, cosh, stretch)
        units = 900.0 / length + (1800.0 * m) * w + 1.1e6 * stretch * w * w
        return upper, lower, 1000 * UNIT * envelope / (length * length), units * UNIT * envelope / length

    def _smoothed_cuts(self, last: arb) -> tuple[arb, arb]:
        m, w, c = SMOOTHNESS, self.w, self.c
        if not w * last >= 1:
            raise PrecisionError("the smoothing is too weak for the nodes")
        most = self.log_most.exp() + (1 if self.plan.beside_one else 0)
        decay = ((w * c).cosh() / (w * last)) ** m * most / arb.pi()
        stretch = arb(self.stretch)
        lower = decay * (1 / ((m + 1) * last) + 2 * w + (4 * m + 1) * stretch * w * w / 2)
        return decay / ((m + 1) * last), lower

    # ---- evaluation

    @functools.lru_cache(maxsize=4)  # noqa: B019 - a curve is short-lived, and asked again and again
    def _slack(self, *, above: bool, alone: bool) -> arb:
        """A bound of what the sum of the terms misses."""
        terms, error = self._terms(above=above, alone=alone)
        units = self.plan.rows + 1.5 * self.plan.columns + 40.0
        known = arb(up(2 * error + units * UNIT * 2 * total(size(terms)), 9)) * self.k / (2 * arb.pi())
        return known + self.cuts[0 if above else 1]

    def _certified(self, epsilon: arb, *, above: bool) -> arb:
        """A bound of the full sum at an exact epsilon, from the asked side."""
        alone = self.plan.beside_one and not (self.plan.reach and epsilon >= SMOOTHNESS * self.w)
        terms, slack = self._terms(above=above, alone=alone)[0], self._slack(above=above, alone=alone)
        value = self._sum(terms, self._turns(self.k * epsilon, -1))
        full = arb(value) * self.k / (2 * arb.pi()) + (slack if above else -slack)
        bound: arb = full * (self.log_top - self.c * epsilon).exp()
        return bound

    def delta(self, epsilon: arb) -> tuple[arb, arb]:
        """Balls whose bottom is a lower and whose top an upper bound of delta(epsilon), at an exact epsilon >= 0."""
        return self.delta_below(epsilon), self.delta_above(epsilon)

    def delta_above(self, epsilon: arb) -> arb:
        """A ball whose top is an upper bound of delta(epsilon).

        Where the steps are cut, delta_g less the curve of steps that tell nothing is at least the mass that is lost,
        -T (A + B), left of 0: so much the images may lack.
        """
        with ctx.workprec(_PRECISION):
            shift = SMOOTHNESS * (self.w.sinh() / self.w).log() if self.plan.reach else arb(0)
            at = (epsilon - shift).lower()  # delta falls
            value = self._certified(at, above=True)
            if not self.lost > 0:
                return value.upper()
            if not self.share_lost < 1:
                return arb(1)
            left = (-self.c * 2 * arb.pi() / self.k).exp()
            value += left / (1 - left) * (self.lost + self.share_lost)
            return ((value + self.lost) / (1 - self.share_lost)).upper()

    def delta_below(self, epsilon: arb) -> arb:
        """A ball whose bottom is a lower bound of delta(epsilon)."""
        with ctx.workprec(_PRECISION):
            b, c = self.b, self.c
            value = self._certified(epsilon, above=False)
            if not value > 0:
                return arb(0)  # whatever the images are
            period = 2 * arb.pi() / self.k
            left, ratio = (-c * period).exp(), (-(b - c) * period).exp()
            chernoff = (self.log_chernoff - b * epsilon + b * b.log() - (b + 1) * (b + 1).log()).exp()
            images = left / (1 - left) + chernoff * ratio / (1 - ratio)
            if self.plan.beside_one and self.plan.reach:
                r = SMOOTHNESS * self.w
                if not epsilon - period + r + (1 + r + r.exp() * r * r / 2).log() < 0:
                    return arb(0)  # the images of the steps that tell nothing might be negative
            return (value - images).lower()

    def uncertainty(self, epsilon: float, log_delta: float, *, above: bool) -> float:
        """About by how much one certified bound misses its sum near a delta, in units of it, in floats."""
        plan = self.plan
        alone = plan.beside_one and (not plan.reach or epsilon < SMOOTHNESS * plan.reach)
        error = float(self._slack(above=above, alone=alone).mid())
        off = math.exp(min(math.log(error) + float(self.log_top) - plan.c * epsilon - log_delta, 300.0))
        if above:
            off += float(self.lost) * math.exp(-log_delta) + float(self.share_lost)
        return off if above else off + math.exp(-2 * math.pi * plan.c / plan.spacing - log_delta)
