r"""Where the vectorised contour sum integrates: saddle point, spacing, nodes, quadrature and their error bounds.

Everything is a column of B settings, in float64, on a coarse grid of the standard normal variable y (`sampled_gaussian`
has the notation). Contour, spacing and numbers of nodes are choices: a bad one costs tightness. Two numbers are bounds:
`log_cut` for what lies beyond the last node and `log_growth` for the trapezoidal rule of M, both by shifting the line
of integration in y as in the reference. For `log_growth`, whose line may be a thousand wide, every factor is taken at
the worse end of each cell of the grid. For `log_cut` only the turn of the loss is: there the grid must be so fine that
the sum of a Gaussian is its integral, or there is no bound. A factor e^2 is added for the rest.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

from oracle.core.arrays import at_least, at_most

EXPONENTS = {"remove": (1.0, 1.0, 0.0, 0.0), "add": (0.0, -1.0, 0.0, 0.0), "replace": (1.0, 1.0, 0.0, -1.0)}
LOG_ROOT_2PI = 0.5 * math.log(2 * math.pi)
GOAL = 28.0  # truncations and images aim at e^{-28} of delta
_COARSE = 48
_LINE = 160  # points on a shifted line
FINEST = 1.0  # the widest distance at which a sum over a Gaussian is its integral, to 1e-8
_WIDE, _WIDE_POINTS = 24.0, 64  # windows beyond are looked at closely
_SADDLE_STEPS = 12
_PULLS = (0.8, 0.6)  # left of a steep saddle the images on the right are cheaper
_MANY = 200.0  # nodes, from which on a pull is tried: fewer cost less than another plan
_LARGE = -3.0
_CHERNOFF = (0.75, 0.88, 1.0, 1.15, 1.5, 2.5)  # beyond its saddle point log M may take off
_REACHES = ((1.0, 1.25), (1.6, 2.1, 2.8, 4.0), (6.0, 9.0, 14.0, 22.0), (35.0, 60.0, 100.0, 170.0, 300.0))
_ANGLES = (1.0, 0.4)  # shares of the widest turn of the line that are tried for what is cut off,
_SHIFTS = (0.4, 0.7, 1.0)  # and of its widest shift for the quadrature
_STILL = 0.25  # a step of log c that leaves a grid where it is


class ContourPlans(NamedTuple):
    """A column of plans: where to integrate, with how many nodes, what that leaves out and what the sum cancels."""

    c: Any
    epsilon: Any
    last: Any
    nodes: Any
    points: Any
    log_cut: Any
    log_growth: Any
    shift: Any
    cancelled: Any


class LossTable(NamedTuple):
    """A grid of y and its distance; there the exponent's part without c, the loss, and its slope over a."""

    y: Any
    h: Any
    constant: Any
    loss: Any
    slope: Any


class StepColumn:
    """The steps of a column of settings in one direction: u, the tilted law and its first cumulants."""

    def __init__(self, xp: Any, sigma: Any, rate: Any, steps: Any, direction: str) -> None:
        self.xp, self.sigma, self.q, self.steps, self.direction = xp, sigma, rate, steps, direction
        self.a = 1.0 / sigma
        self.alpha0, self.alpha1, self.beta0, self.beta1 = EXPONENTS[direction]
        self.log_q, self.log_rest = xp.log(rate), xp.log1p(-rate)
        self.outside = 38.0 + xp.log(steps)  # the window holds all but e^{-outside} of the tilted mass

    def take(self, rows: Any) -> StepColumn:
        """The same for some of the rows."""
        return StepColumn(self.xp, self.sigma[rows], self.q[rows], self.steps[rows], self.direction)

    def window(self, c: Any, extra: Any) -> tuple[Any, Any]:
        """An interval that holds all but e^{-extra} M(c) of the integrand, by its envelope of Gaussians."""
        xp, a = self.xp, self.a
        alpha, flat, floor = self.alpha0 + self.alpha1 * c, 0.0, 0.0
        if self.beta1 != 0.0 or self.alpha1 < 0.0:
            flat = at_most(xp, alpha, self.beta0 + self.beta1 * c) * self.log_rest
        near = xp.sqrt(2.0 * (extra + flat))
        low, high = -near, near
        if self.alpha1 > 0:
            # u^alpha <= 1 - q + q w^alpha: a second Gaussian at alpha a; and M(c) >= q^alpha e^{a^2 alpha (alpha-1)/2}.
            steep = 0.5 * a * a * alpha * (alpha - 1.0)
            if self.beta1 == 0.0:
                floor = at_least(xp, alpha * self.log_q + steep, 0.0)
            weight = self.log_q + steep + flat - floor
            high = at_least(xp, alpha * a + xp.sqrt(2.0 * at_least(xp, extra + weight, 0.5)), high)
            low = -xp.sqrt(2.0 * at_least(xp, extra + flat - floor, 0.5))
            rows = xp.nonzero(high > _WIDE)[0]
            if rows.shape[0]:
                high[rows] = self.take(rows)._right_end(c[rows], (extra + 0.0 * c)[rows], high[rows])
        return low, high

    def _right_end(self, c: Any, extra: Any, high: Any) -> Any:
        """Where the integrand falls below e^{-extra} for good; `high`, where its second peak near alpha a is above.

        alpha log u - y^2/2 has at most two maxima, since the slope of log u is a sigmoid.
        """
        xp = self.xp
        alpha, beta = self.alpha0 + self.alpha1 * c, self.beta0 + self.beta1 * c
        index = xp.arange(_WIDE_POINTS, dtype=xp.float64, device=c.device)
        step = _WIDE / (_WIDE_POINTS - 1)
        y = xp.concat([0.0 * c[:, None] + step * index[None, :], (alpha * self.a)[:, None]], axis=1)
        exponent = alpha[:, None] * self.log_u(y)[0] - 0.5 * y * y
        if self.beta1:
            exponent = exponent + beta[:, None] * self.log_u(-y)[0]
        heavy = exponent > -extra[:, None] - 6.0
        last = xp.max(xp.where(heavy[:, :-1], y[:, :-1], 0.0), axis=1) + step
        return xp.where(heavy[:, -1] | heavy[:, -2], high, last)

    def grid(self, c: Any, nodes: int, extra: Any) -> tuple[Any, Any]:
        """Points y, shape [B, nodes], and their distance, shape [B]."""
        xp = self.xp
        low, high = self.window(c, extra)
        h = (high - low) / (nodes - 1)
        index = xp.arange(nodes, dtype=xp.float64, device=c.device)
        return low[:, None] + h[:, None] * index[None, :], h

    def log_u(self, y: Any) -> tuple[Any, Any, Any]:
        """log u(y) = log1p(q (w - 1)), accurate where it is tiny; u's share q w / u; and x = log w."""
        xp = self.xp
        x = self.a[:, None] * y - 0.5 * (self.a * self.a)[:, None]
        near = self.q[:, None] * xp.expm1(xp.where(x < 30.0, x, 0.0))
        far = self.log_q[:, None] + x + xp.log1p(xp.exp((self.log_rest - self.log_q)[:, None] - xp.abs(x)))
        return (
            xp.where(x < 30.0, xp.log1p(near), far),
            xp.where(x < 30.0, (near + self.q[:, None]) / (1.0 + near), 1.0), x,
        )

    def table(self, c: Any) -> LossTable:
        """The loss on a coarse grid that suits c."""
        y, h = self.grid(c, _COARSE, self.outside)
        log_u, slope, _ = self.log_u(y)
        constant, loss = self.alpha0 * log_u - 0.5 * y * y - LOG_ROOT_2PI, self.alpha1 * log_u
        if self.beta1:
            mirrored, more, _ = self.log_u(-y)
            constant = constant + self.beta0 * mirrored
            loss, slope = loss + self.beta1 * mirrored, slope + more
        return LossTable(y, h, constant, loss, slope)

    def cumulants(self, c: Any, table: LossTable | None = None) -> tuple[Any, Any, Any, Any]:
        """About log M(c), and the tilted law's mean and variance of the loss and mean slope of the loss in y."""
        xp = self.xp
        _, h, constant, loss, slope = self.table(c) if table is None else table
        exponent = constant + c[:, None] * loss
        top = xp.max(exponent, axis=1)
        mass = xp.exp(exponent - top[:, None])
        total = xp.sum(mass, axis=1)
        mean = xp.sum(mass * loss, axis=1) / total
        variance = xp.sum(mass * (loss - mean[:, None]) ** 2, axis=1) / total
        return top + xp.log(total * h), mean, variance, self.a * xp.sum(mass * slope, axis=1) / total

    def many_steps(self, c: Any) -> Any:
        """About the log of M(c)^T."""
        return self.steps * self.cumulants(c)[0]

    def shifted(
        self, c: Any, t: Any, angle: Any, sign: float, *, safe: bool, grid: tuple[Any, Any] | None = None
    ) -> Any:
        """log int |integrand at Im y = angle/a| e^{-sign t V} dy, V >= 0 the turn of the loss; a bound where safe.

        A growing one (sign < 0) is a bound cell by cell: |u| rises in y, and so does the turn.
        """
        xp, a = self.xp, self.a
        turns = abs(self.alpha1) + abs(self.beta1)
        extra = self.outside + (t * angle * turns if sign < 0 else 0.0)
        y, h = self.grid(c, _LINE if safe else _COARSE, extra) if grid is None else grid
        sine, cosine = xp.sin(angle)[:, None], xp.cos(angle)[:, None]
        offset = (self.log_q - self.log_rest)[:, None] - 0.5 * (a * a)[:, None]

        half = 0.5 * h[:, None] if sign < 0 else 0.0 * h[:, None]
        # Towards the worse end of a cell w is larger (growth) or smaller (decay) by this factor.
        worse = xp.exp(-sign * a * h)[:, None] if safe else 1.0

        def parts(points: Any, power: float) -> tuple[Any, Any]:
            log_w = offset + a[:, None] * (points + math.copysign(1.0, power) * half)
            w = xp.exp(at_most(xp, log_w, 300.0))
            modulus = 0.5 * xp.log1p(w * (2.0 * cosine + w)) + xp.where(log_w > 300.0, log_w - 300.0, 0.0)
            w = xp.exp(at_most(xp, offset + a[:, None] * points, 300.0)) * worse
            return modulus + self.log_rest[:, None], xp.atan2(w * sine, 1.0 + w * cosine)

        log_u, turn = parts(y, self.alpha1)
        exponent = (self.alpha0 + self.alpha1 * c)[:, None] * log_u
        if self.beta1:
            log_u, more = parts(-y, self.beta1)
            exponent, turn = exponent + (self.beta0 + self.beta1 * c)[:, None] * log_u, turn + more
        least = at_least(xp, xp.abs(y) - half, 0.0)
        exponent = exponent - (sign * t)[:, None] * turn - 0.5 * least * least - LOG_ROOT_2PI
        top = xp.max(exponent, axis=1)
        line = top + xp.log(xp.sum(xp.exp(exponent - top[:, None]), axis=1) * h) + 0.5 * (angle / a) ** 2
        return line if sign < 0 or not safe else xp.where(h <= FINEST, line, math.inf)

    def saddle(
        self, log_delta: Any, epsilon: Any, close: float = 0.02, start: Any | None = None
    ) -> tuple[Any, Any]:
        """About the saddle point for a delta (or, where given, for an epsilon), and what it gains on Chernoff's bound.

        Newton's method on log(-log delta), or on the log of the mean loss, in log c (both are nearly straight there),
        kept in a bracket.
        """
        xp, c = self.xp, start
        if c is None:
            spread = self.steps * self.q**2 * xp.expm1(at_most(xp, self.a * self.a, 30.0))
            c = xp.sqrt(60.0 / spread)
            if self.alpha1 > 0:
                c = at_most(xp, c, 0.5 + xp.sqrt(8.0 - 2.0 * self.log_q) / self.a)
        x, table = xp.log(c), self.table(c)
        low, high = 0.0 * x - 28.0, 0.0 * x + 28.0
        for _ in range(_SADDLE_STEPS):
            log_m, mean, variance, _ = self.cumulants(c, table)
            lift = 1.0 / c + 1.0 / (c + 1.0)
            spread = self.steps * variance + 1.0 / c**2 + 1.0 / (c + 1.0) ** 2
            at = self.steps * mean - lift
            log_value = self.steps * log_m - c * at - xp.log(c * (c + 1.0)) - 0.5 * xp.log(2 * math.pi * spread)
            if epsilon is None:
                current, target = at_least(xp, -log_value, 0.1), at_least(xp, -log_delta, 0.1)
                step = xp.log(target / current) * current / (c * c * spread)
            else:
                current, target = self.steps * mean, epsilon + lift
                power = c * self.steps * variance / current + 1.0 / (c * target)
                step = xp.log(target / current) / power
            beyond = log_value < log_delta if epsilon is None else at > epsilon
            low, high = xp.where(beyond, low, x), xp.where(beyond, x, high)
            step = at_most(xp, at_least(xp, xp.where(xp.isfinite(step), step, 0.0), -1.5), 1.5)
            inside = (x + step > low) & (x + step < high)
            moved = xp.where(inside, step, 0.5 * (low + high) - x)
            x = x + moved
            c, farthest = xp.exp(x), float(xp.max(xp.abs(moved)))
            if farthest < close:
                break
            if not farthest < _STILL:
                table = self.table(c)
        # log delta less the exponent of Chernoff's bound; where it strays, a few units.
        sharper = (c + 1.0) * xp.log1p(c) - c * xp.log(c) - xp.log(c * (c + 1.0)) - 0.5 * xp.log(2 * math.pi * spread)
        return c, at_most(xp, at_least(xp, sharper, -6.0), 0.0)


def make_plan(pair: StepColumn, log_delta: Any, epsilon: Any, cancelled: float) -> ContourPlans:
    """Plans for a column: for a delta, for an epsilon, or for a delta whose epsilon is about known.

    A contour left of the saddle point is taken only if its largest term is at most e^cancelled times the sum.
    """
    xp = pair.xp
    saddle, sharper = pair.saddle(None if log_delta is None else at_most(xp, log_delta, _LARGE), epsilon)
    if epsilon is not None:
        # Left of the bulk the best order tends to 0, which helps no sum: take that of a smaller delta.
        least, _ = pair.saddle(0.0 * epsilon + _LARGE, None)
        saddle = at_least(xp, saddle, least)
    # log M(b) + b log b - (1 + b) log(1 + b), the exponent of Chernoff's bound of delta e^{b epsilon}.
    each, factors = _each(xp, saddle, _CHERNOFF)
    b = saddle[each] * factors
    exponent = pair.take(each).many_steps(b) + b * xp.log(b) - (b + 1.0) * xp.log1p(b)
    b, exponent = (xp.reshape(one, (-1, len(_CHERNOFF))) for one in (b, exponent))
    if epsilon is None:
        epsilon = at_least(xp, _least(xp, (exponent + (sharper - log_delta)[:, None]) / b), 0.0)
    level = log_delta
    if level is None:
        level = at_most(xp, _least(xp, exponent + sharper[:, None] - b * epsilon[:, None]), 0.0)
    bounds = [(factor, b[:, i], exponent[:, i]) for i, factor in enumerate(_CHERNOFF)]
    beyond = [(b, exponent) for factor, b, exponent in bounds if factor > 1.1]
    plan = _plan_at(pair, saddle, epsilon, level, beyond, None)
    rows = xp.nonzero(plan.nodes > _MANY)[0]
    if rows.shape[0]:
        each, pull = _each(xp, rows, _PULLS)
        at = rows[each]
        far = 4.0 * saddle[at]  # where the exponent is infinite, no bound is had from: it must lie right of the pull
        beyond = [
            (xp.where(factor > 1.1 * pull, b[at], far), xp.where(factor > 1.1 * pull, exponent[at], math.inf))
            for factor, b, exponent in bounds
        ]
        ones = _plan_at(pair.take(at), saddle[at] * pull, epsilon[at], level[at], beyond, 0.8 * plan.last[at])
        for i in range(len(_PULLS)):
            one = ContourPlans(*(xp.reshape(column, (-1, len(_PULLS)))[:, i] for column in ones))
            better = (one.nodes < plan.nodes[rows]) & (one.cancelled < cancelled)
            for column, other in zip(plan, one, strict=True):
                column[rows] = xp.where(better, other, column[rows])
    return plan


def _each(xp: Any, rows: Any, values: tuple[float, ...]) -> tuple[Any, Any]:
    """The places of the rows, every one as often as there are values, and these beside them.

    Few large arrays in place of many small ones: a single question is nearly all overhead.
    """
    places = xp.arange(rows.shape[0] * len(values), device=rows.device) // len(values)
    return places, xp.tile(xp.asarray(values, dtype=xp.float64, device=rows.device), (rows.shape[0],))


def _least(xp: Any, table: Any) -> Any:
    """The least of each row, whatever is no number left out."""
    return xp.min(xp.where(xp.isnan(table), math.inf, table), axis=1)


def _plan_at(
    pair: StepColumn, c: Any, epsilon: Any, level: Any, bounds: list[tuple[Any, Any]], start: Any
) -> ContourPlans:
    """The plan at a given c, for a delta of about e^level."""
    xp, steps = pair.xp, pair.steps
    table = pair.table(c)
    log_m, _, variance, slope = pair.cumulants(c, table)
    period = c * math.inf
    for b, exponent in bounds:
        period = at_most(xp, (exponent - b * epsilon - level + GOAL) / (b - c), period)
    period = at_least(xp, period, (GOAL - level) / c)
    cancelled = steps * log_m - c * epsilon - xp.log(c * (c + 1.0) * period) - level
    if start is None:
        start = xp.sqrt(2 * GOAL / (steps * variance))
    last, log_cut = _reach(pair, c, c * epsilon + level - GOAL, start, slope, table)
    shift, log_growth, points = _quadrature(pair, c, last, log_m)
    nodes = last * period / (2 * math.pi)
    return ContourPlans(c, epsilon * 1.0, last, nodes, points, log_cut, log_growth, shift, cancelled)


def _reach(
    pair: StepColumn, c: Any, wanted: Any, start: Any, slope: Any, table: LossTable
) -> tuple[Any, Any]:
    """How far to integrate, from `start` on, and the log of a bound of what lies beyond, about `wanted` or less."""
    xp = pair.xp
    last, angle = start * _REACHES[-1][-1], 0.0 * c
    open_rows = xp.nonzero(c > 0.0)[0]
    for reaches in _REACHES:
        each, factor = _each(xp, open_rows, tuple(reach for reach in reaches for _ in _ANGLES))
        _, share = _each(xp, open_rows, _ANGLES * len(reaches))
        rows = open_rows[each]
        part, t = pair.take(rows), start[rows] * factor
        angles = at_most(xp, at_most(xp, t * slope[rows], 1.15 * part.sigma), 6.0) * part.a * share
        line = part.shifted(c[rows], t, angles, 1.0, safe=False, grid=(table.y[rows], table.h[rows]))
        line, t, angles = (xp.reshape(one, (-1, len(reaches), len(_ANGLES))) for one in (line, t, angles))
        narrower = line[:, :, 1] < line[:, :, 0]
        t, angles = t[:, :, 0], xp.where(narrower, angles[:, :, 1], angles[:, :, 0])
        line = xp.where(narrower, line[:, :, 1], line[:, :, 0])
        short = ~(pair.steps[open_rows][:, None] * line - xp.log(math.pi * t) <= wanted[open_rows][:, None])
        # The first that reaches far enough, or the last.
        found, at_last, at_angle = ~short[:, -1], t[:, -1], angles[:, -1]
        for i in range(len(reaches) - 2, -1, -1):
            enough = ~short[:, i]
            found = found | enough
            at_last, at_angle = xp.where(enough, t[:, i], at_last), xp.where(enough, angles[:, i], at_angle)
        last[open_rows], angle[open_rows] = at_last, at_angle
        open_rows = open_rows[~found]
        if open_rows.shape[0] == 0:
            break
    last = 1.1 * last  # the bound on the line is a little above its estimate
    line = pair.shifted(c, last, angle, 1.0, safe=True)
    return last, pair.steps * line + 2.0 - xp.log(math.pi * last)


def _quadrature(pair: StepColumn, c: Any, last: Any, log_m: Any) -> tuple[Any, Any, Any]:
    """The shift of the line, the log of a bound of the integral there, and the number of points to take."""
    xp = pair.xp
    low, high = pair.window(c, pair.outside)
    widest = at_most(xp, 0.48 * math.pi * pair.sigma, 9.0)

    def reach(d: Any, log_mass: Any) -> Any:
        needed = GOAL + 4.0 + xp.log(pair.steps) + at_least(xp, log_mass - log_m, 0.0)
        return 2 * math.pi * d / needed

    each, share = _each(xp, c, _SHIFTS)
    part, wide = pair.take(each), share * widest[each]
    lines = part.shifted(c[each], last[each], part.a * wide, -1.0, safe=False)
    lines, wide = (xp.reshape(one, (-1, len(_SHIFTS))) for one in (lines, wide))
    step, shift = 0.0 * c, widest
    for i in range(len(_SHIFTS)):
        here = reach(wide[:, i], lines[:, i])
        shift, step = xp.where(here > step, wide[:, i], shift), at_least(xp, here, step)
    growth = pair.shifted(c, last, pair.a * shift, -1.0, safe=True) + 2.0
    return shift, growth, (high - low) / reach(shift, growth) + 2.0
