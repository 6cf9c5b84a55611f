r"""The contour integral of `contour` in float64, vectorised over parameters, on the safe side.

The same sum, written for accuracy: with D_n = M(s_n)/M(c) - 1 = sum of weights (e^{i t L} - 1), the powers are
exp(T log1p(D_n)), so that errors count relative to |D_n| and not to 1, and T may be 10^7. An explicit budget covers
rounding (growing with T), the quadrature and what lies beyond the last node (both from `contour_plan_arrays`); the
images on both sides only raise the sum. An answer is told to 10^-9, the rare one whose sum cancels much to 10^-6, and
what needs too many nodes or has a larger budget is left NaN. What a row is told depends on no other row.

The budget's integrals are float64 sums themselves: this is a budget held to the reference by tests, not a proof.
"""

from __future__ import annotations

import math
from bisect import bisect_left
from collections.abc import Callable, Iterator
from typing import Any

from oracle.core.arrays import LEAST, UNIT, anywhere, at_least, at_most, counted, largest, nonzero, summed
from oracle.engines.contour_plan_arrays import (
    FINEST,
    LOG_ROOT_2PI,
    Columns,
    ContourPlans,
    Scan,
    StepColumn,
    picked,
    plan_at,
)
from oracle.engines.contour_scan_arrays import SPARED, scan

_FEW, _MANY = (16, 24, 32, 48, 64, 96, 128, 192), (share << p for p in range(6, 10) for share in (4, 5, 6, 7))
_NODES = (*_FEW, *_MANY, 4096)  # contour nodes, node 0 included
_POINTS = tuple(nodes for nodes in _NODES if nodes >= 32)  # of the quadrature
_BLOCK = 64  # points whose products are added up at a time
_CHUNK = 100_000  # complex numbers in a table: what stays in cache
_PLAN_CHUNK = 256
_TIGHT = 8e-10  # an answer with a larger relative excess is tried again
_LOOSE = 1e-6  # and left to the reference beyond this
_CAREFUL = 0.5  # what cancelling weighs on a second try
_TRIES = (1.0, 1.0, 1.12)  # how far aside the orders are looked for on each: the last is between all others
_STEPS = 12
_ALIKE = 0.95  # epsilons of both directions by the saddle-point formula, good to a few percent
_CLOSE = 3e-4  # a cubic step of log delta that leaves nothing to do


def shifted_powers(xp: Any, first: Any, count: int) -> tuple[Any, Any]:
    """z^j - 1 for j = 0, ..., count - 1, a row each, given z - 1 with all its digits; and z^m - 1, m a power of 2."""
    rows, points = first.shape
    table = xp.zeros((rows, count, points), dtype=first.dtype, device=first.device)
    step, have = first[:, None, :], 1
    while have < count:
        more = min(have, count - have)
        part = table[:, :more, :] * (1.0 + step)
        part += step
        table[:, have : have + more, :] = part
        step, have = step * (2.0 + step), have + more
    return table, step[:, 0, :]


class Sum:
    """The contour sums of rows that share their numbers of nodes and points, with their budgets."""

    def __init__(self, pair: StepColumn, plan: ContourPlans, nodes: int, points: int) -> None:
        xp, c, steps = pair.xp, plan.c, pair.steps
        self.xp, self.c, self.nodes = xp, c, nodes
        self.k = plan.last / (nodes - 1)
        weight, loss, rounding, loss_error, units, log_m, h = _tilted(pair, plan, points)
        log_peak = steps * log_m
        self.log_unit = log_peak + xp.log(self.k / (2 * math.pi))
        quadrature = xp.exp(at_most(xp, plan.log_growth - log_m - 2 * math.pi * plan.shift / h, 0.0))
        relative = steps * (rounding + 2.5 * quadrature + 4.0 * xp.exp(-pair.outside)) + 16 * UNIT * (
            xp.abs(log_peak) + xp.abs(c * plan.epsilon) + 68.0
        )
        index = counted(xp, nodes, c)[1:]
        self.t = self.k[:, None] * index[None, :]
        phase, self.size = self._terms(self._differences(weight, loss), steps)
        self.half_phase, self.half_t = 0.5 * phase, 0.5 * self.t
        # For the slope and the bend of the sum.
        self.turning, self.square = self.t * self.size, self.t * self.t
        self.head, self.total = 1.0 / (c * (c + 1.0)), summed(self.size)
        # The rounding of D_n, multiplied by the number of steps, on top of the common relative error.
        blocks = -(-points // _BLOCK)
        size = weight * xp.abs(loss)
        crossed = summed(size * at_most(xp, self._columns * self.k[:, None] * xp.abs(loss), 2.0))
        spread = summed(size * (72.0 + 5.0 * nodes.bit_length() + units))
        spread = UNIT * (spread + 3.0 * (points // blocks + blocks) * crossed) + loss_error
        cut = xp.exp(at_most(xp, plan.log_cut - log_peak, 700.0)) * 2 * math.pi / self.k
        self.fixed = (
            relative * (self.head + self.total) + 2.0 * steps * spread * summed(self.turning)
            + 8.0 * nodes * UNIT * self.total + 1.01 * cut
        )

    @property
    def _columns(self) -> int:
        return 1 << (self.nodes.bit_length() // 2)

    def _differences(self, weight: Any, loss: Any) -> Any:
        """D_n = sum of weight (e^{i n k L} - 1) for n = 1, ..., as one matrix product a row.

        With n = i m + j, x = e^{i m i k L} - 1 and y = e^{i j k L} - 1, e^{...} - 1 = x y + x + y: two short tables of
        accurate differences, so that D_n keeps its digits however small it is. Both start at 2 t (i - t) / (1 + t^2),
        t = tan(k L/2), and err by no more than t and some roundings. A table errs by 22 units of |n k L|, and 5 more
        each time it doubles; pairwise sums by some 30 of their terms; a product's sum by 3 for each of a block's
        points and for each block, but |x y| is at most min(2, m k |L|) |x|.
        """
        xp, columns, points = self.xp, self._columns, loss.shape[1]
        half = xp.tan(0.5 * self.k[:, None] * loss)
        baby, stride = shifted_powers(xp, 2.0 * half / (1.0 + half * half) * (1j - half), columns)
        giant, _ = shifted_powers(xp, stride, self.nodes // columns)
        weight = weight[:, None, :]
        alone = summed(weight * baby)
        giant *= weight
        first = summed(giant)
        blocks = -(-points // _BLOCK)
        left = xp.reshape(giant, (*giant.shape[:2], blocks, points // blocks))
        right = xp.reshape(baby, (*baby.shape[:2], blocks, points // blocks))
        product = xp.matmul(xp.permute_dims(left, (0, 2, 1, 3)), xp.permute_dims(right, (0, 2, 3, 1)))
        product = summed(product, axis=1) + (first[:, :, None] + alone[:, None, :])
        return xp.reshape(product, (loss.shape[0], self.nodes))[:, 1:]

    def _terms(self, differences: Any, steps: Any) -> tuple[Any, Any]:
        """The phase and the modulus of 2 (M(s_n)/M(c))^T / (s_n (s_n + 1))."""
        xp, c, t = self.xp, self.c[:, None], self.t
        d_real, d_imag = xp.real(differences), xp.imag(differences)
        log_size = 0.5 * xp.log1p(2.0 * d_real + d_real * d_real + d_imag * d_imag)
        phase = steps[:, None] * xp.atan2(d_imag, 1.0 + d_real)
        s_real, s_imag = c * (c + 1.0) - t * t, t * (2.0 * c + 1.0)
        size = 2.0 * xp.exp(at_most(xp, steps[:, None] * log_size, 0.0)) / xp.sqrt(s_real * s_real + s_imag * s_imag)
        return phase - xp.atan2(s_imag, s_real), size

    def value(self, epsilon: Any) -> tuple[Any, Any, Any, Any]:
        """The sum and its slope in epsilon, divided by the scale e^{T log M(c) - c epsilon} k/(2 pi); and two parts.

        Cosines and sines by the tangent of half the angle, one function instead of two, and a quicker one: if it errs
        by e relatively, they err by at most e, which the budget of the sum, 128 units and more, has room for.
        """
        half = self.xp.tan(self.half_phase - self.half_t * epsilon[:, None])
        square = half * half
        share = self.size / (1.0 + square)
        real = share * (1.0 - square)  # the cosine of the whole angle; its sine is 2 half / (1 + half^2)
        share *= half
        total, turned = self.head + summed(real), 4.0 * summed(self.half_t * share)
        return total, turned - self.c * total, turned, real

    def log_scale(self, epsilon: Any) -> Any:
        """The log of what `value` was divided by."""
        return self.log_unit - self.c * epsilon

    def excess(self, epsilon: Any) -> Any:
        """The whole budget of the sum at an epsilon, divided by the scale."""
        return self.fixed + (16.0 * UNIT * self.total) * self.xp.abs(self.t[:, -1] * epsilon)

    def solve(self, epsilon: Any, delta: Any, log_delta: Any) -> tuple[Any, Any]:
        """An epsilon at which the sum plus its budget is at most delta, and how much of it may be excess; else NaN."""
        xp, c = self.xp, self.c
        settled, farthest = epsilon < 0.0, 2.0 / c
        for _ in range(_STEPS):
            total, slope, turned, real = self.value(epsilon)
            bend = c * (c * total - 2.0 * turned) - summed(self.square * real)  # the second derivative
            good = (total > 0.0) & (slope < 0.0)
            rate = slope / total
            step = (log_delta - self.log_scale(epsilon) - xp.log(total)) / rate
            # log delta is nearly a parabola.
            step = step * (1.0 + at_least(xp, at_most(xp, 0.5 * step * (rate - bend / slope), 0.5), -0.5))
            step = xp.where(good, step, -0.5 * farthest)  # where the sum is lost in its noise, too far right
            step = step / at_least(xp, xp.abs(step) / farthest, 1.0)
            epsilon = xp.where(settled, epsilon, at_least(xp, epsilon + step, 0.0))
            settled = settled | (good & ((xp.abs(step * rate) <= _CLOSE) | (epsilon == 0.0)))
            if not anywhere(~settled):
                break
        # Step past the budget at once, and then verify; the sum's own curvature is far below the safety factor.
        total, slope, _, _ = self.value(epsilon)
        budget = self.excess(epsilon)
        behind = total + budget - xp.exp(log_delta - self.log_scale(epsilon))
        margin = xp.where(behind > 0.0, 1.05, 0.95) * behind / -slope + 4 * UNIT * epsilon
        upper = at_least(xp, epsilon + margin, 0.0)
        proved = settled & (self.delta(upper) <= delta)
        loose = (1.1 * budget + 0.1 * xp.abs(behind)) / -slope + 4 * UNIT * epsilon
        return xp.where(proved, upper, math.nan), xp.where(upper > 0.0, loose, 0.0)

    def delta(self, epsilon: Any) -> Any:
        """delta(epsilon) plus the whole budget."""
        xp = self.xp
        whole = (self.value(epsilon)[0] + self.excess(epsilon)) * (1.0 + 64 * UNIT)
        return (xp.exp(self.log_scale(epsilon)) + LEAST) * whole + LEAST  # what underflows is still not 0


def _tilted(pair: StepColumn, plan: ContourPlans, points: int) -> tuple[Any, ...]:
    """Tilted probabilities and losses of the points, errors of log M(c), a loss and a weight (units), log M(c), h."""
    xp, c = pair.xp, plan.c
    y, h = pair.points(plan.low, plan.high, points)

    def part(at: Any) -> tuple[Any, Any]:
        # log u carries its own rounding and that of x = a y - a^2/2.
        log_u, share, x = pair.log_u(at)
        return log_u, xp.abs(log_u) * 2.0 + share * (1.0 + xp.abs(x) + (pair.a * pair.a)[:, None])

    log_u, error = part(y)
    sign = pair.sign
    tilt, loss = (pair.alpha0 + sign * c)[:, None] * log_u, sign[:, None] * log_u
    if pair.mirrored:
        mirrored, more = part(-y)
        tilt, loss = tilt - c[:, None] * mirrored, loss - mirrored
        error = error + more
    base = -0.5 * y * y - LOG_ROOT_2PI
    exponent = tilt + base
    units = 2.0 * xp.abs(tilt) - 4.0 * base  # of a weight: the roundings of its exponent and of y
    top = largest(xp, exponent, axis=1)
    mass = xp.exp(exponent - top[:, None])
    total = summed(mass, axis=1)
    weight = mass / total[:, None]
    # M(c) - 1 as a sum of small terms keeps the digits of a tiny log M(c); where it overflows the peak is taken out.
    terms = xp.exp(base) * h[:, None] * xp.expm1(at_most(xp, tilt, 600.0))
    moderate = largest(xp, tilt, axis=1) < 600.0
    gain = summed(terms, axis=1)
    log_m = xp.where(moderate, xp.log1p(gain), top + xp.log(total * h))
    loss_error = 4 * UNIT * summed(weight * error, axis=1)
    spread = xp.where(
        moderate, summed(xp.abs(terms) * (64.0 + units), axis=1) / (1.0 + gain), (128 + points) * (1.0 + xp.abs(log_m))
    )
    return weight, loss, UNIT * spread + (1.0 + 2.0 * c) * loss_error, loss_error, units, log_m, h


def _classes(xp: Any, plan: ContourPlans) -> Iterator[tuple[int, int, Any]]:
    """Rows that share their numbers of nodes and points; what needs more than there are is in no class."""
    groups: dict[tuple[int, int], list[int]] = {}
    for row, (nodes, points) in enumerate(zip(plan.nodes.tolist(), plan.points.tolist(), strict=True)):
        if nodes + 1.0 <= _NODES[-1] and points <= _POINTS[-1]:
            key = _NODES[bisect_left(_NODES, nodes + 1.0)], _POINTS[bisect_left(_POINTS, points)]
            groups.setdefault(key, []).append(row)
    for (nodes, points), found in sorted(groups.items()):
        chunk = max(1, _CHUNK // (points * 2 * math.isqrt(nodes)))
        rows = xp.asarray(found, device=plan.c.device)
        yield from ((nodes, points, rows[i : i + chunk]) for i in range(0, len(found), chunk))


def _scanned(
    pair: StepColumn, log_delta: Any, epsilon: Any, weight: float = SPARED, *, moved: Any = None, aside: float = 1.0
) -> Scan:
    """The contours of all rows, few rows at a time."""

    def part(rows: Any) -> Scan:
        target, near, moves = (None if x is None else x[rows] for x in (log_delta, epsilon, moved))
        return scan(pair.take(rows), target, near, weight, moved=moves, aside=aside)

    return _in_parts(pair, part)


def _planned(pair: StepColumn, at: Scan) -> ContourPlans:
    """The plans of all rows, few rows at a time."""
    return _in_parts(pair, lambda rows: plan_at(pair.take(rows), picked(at, rows)))


def _in_parts(pair: StepColumn, compute: Callable[[Any], Columns]) -> Columns:
    xp, count = pair.xp, pair.q.shape[0]
    index = xp.arange(count, device=pair.q.device)
    if count <= _PLAN_CHUNK:
        return compute(index)
    parts = [compute(index[first : first + _PLAN_CHUNK]) for first in range(0, count, _PLAN_CHUNK)]
    return type(parts[0])(*(xp.concat(columns) for columns in zip(*parts, strict=True)))


def _epsilon(pair: StepColumn, delta: Any, log_delta: Any, at: Scan, partner: Any) -> Any:
    """Upper bounds of epsilon at a delta for one direction each, NaN where none is had.

    Partners, both directions of one question, are given the same numbers of nodes and points: one sum serves both.
    """
    xp = pair.xp
    result, near = pair.q * math.nan, at.epsilon * 1.0
    excess, rows = result + math.inf, xp.arange(result.shape[0], device=result.device)
    for again, aside in enumerate(_TRIES):
        part, log_target, target = pair.take(rows), log_delta[rows], delta[rows]
        if again:
            # The saddle-point formula may be off by much: its outcome places the second contour, to cancel less.
            at = _scanned(part, log_target, near[rows], weight=_CAREFUL, aside=aside)
        plan = _planned(part, at)
        if partner is not None and not again:
            plan = plan._replace(
                nodes=xp.maximum(plan.nodes, plan.nodes[partner]), points=xp.maximum(plan.points, plan.points[partner])
            )
        for nodes, points, some in _classes(xp, plan):
            here = picked(plan, some)
            one = Sum(part.take(some), here, nodes, points)
            value, margin = one.solve(here.epsilon, target[some], log_target[some])
            margin, where = margin / at_least(xp, value, LEAST), rows[some]
            # An epsilon far from where the images were bounded has too much of them in it, though no less than truth.
            margin = at_least(xp, margin, 0.0) + xp.where(xp.abs(value - here.epsilon) * here.c < 4.0, 0.0, 2 * _TIGHT)
            # Orders between the others rarely do better than those, unless they do well.
            better = (margin <= (_TIGHT if aside > 1.0 else _LOOSE)) & ~(margin >= excess[where])
            result[where] = xp.where(better, value, result[where])
            near[where] = xp.where(margin <= 1e-3, value, near[where])
            excess[where] = xp.where(better, margin, excess[where])
        rows = nonzero(xp, ~(excess <= (_LOOSE if again else _TIGHT)))
        if rows.shape[0] == 0:
            break
    return result


def _delta(pair: StepColumn, epsilon: Any, at: Scan) -> Any:
    """Upper bounds of delta at an epsilon for one direction each, NaN where none is had."""
    xp = pair.xp
    result = pair.q * math.nan
    excess, rows = result + math.inf, xp.arange(result.shape[0], device=result.device)
    for again, aside in enumerate(_TRIES):
        part, ends = pair.take(rows), epsilon[rows]
        if again:
            at = _scanned(part, None, ends, weight=_CAREFUL, aside=aside)
        plan = _planned(part, at)
        for nodes, points, some in _classes(xp, plan):
            one = Sum(part.take(some), picked(plan, some), nodes, points)
            total, where = one.value(ends[some])[0], rows[some]
            margin = xp.where(total > 0.0, one.excess(ends[some]) / total, math.nan)
            better = (margin <= (_TIGHT if aside > 1.0 else _LOOSE)) & ~(margin >= excess[where])
            result[where] = xp.where(better, one.delta(ends[some]), result[where])
            excess[where] = xp.where(better, margin, excess[where])
        rows = nonzero(xp, ~(excess <= (_LOOSE if again else _TIGHT)))
        if rows.shape[0] == 0:
            break
    return result


def _matters(pair: StepColumn, at: Scan, log_delta: Any, epsilon: Any) -> Any:
    """Where adding a record may exceed a delta at an epsilon below its largest loss: Chernoff's bound does not decide.

    log M(c) is good to far more than the 10^-3 that is asked here where the points are near enough: shifted by d the
    integrand grows by cos(a d/2)^{-c} and e^{d d/2} at most.
    """
    xp, c = pair.xp, at.c
    rough = math.inf + 0.0 * c
    for share in (0.4, 1.5):
        d = at_most(xp, share * pair.sigma, 9.0)
        rough = at_most(xp, 0.5 * d * d - c * xp.log(xp.cos(0.5 * pair.a * d)) - 2 * math.pi * d / at.h, rough)
    below = (at.chernoff - c * epsilon) * (1.0 - 1e-6) + 1e-3 < log_delta
    decided = below & (at.h <= FINEST) & (rough + xp.log(pair.steps) < -8.0)
    return ~decided


def upper_bound(
    xp: Any, sigma: Any, rate: Any, steps: Any, directions: tuple[str, ...], *, delta: Any = None, epsilon: Any = None
) -> Any:
    """Upper bounds of epsilon at `delta`, or of delta at `epsilon`, in the inputs' shape; NaN where none is had."""
    given = delta if epsilon is None else epsilon
    columns = tuple(x if x.ndim == 1 else xp.reshape(x, (-1,)) for x in (sigma, rate, steps, given))
    result = columns[3] * math.nan
    served = nonzero(xp, (columns[1] > 0.0) & (columns[1] < 1.0) & (columns[2] > 1.0))
    if served.shape[0] == columns[0].shape[0]:
        return xp.reshape(_largest(xp, list(columns), directions == ("replace",), epsilon is None), given.shape)
    if served.shape[0]:
        mirrored = directions == ("replace",)
        result[served] = _largest(xp, [column[served] for column in columns], mirrored, epsilon is None)
    return xp.reshape(result, given.shape)


def _largest(xp: Any, columns: list[Any], mirrored: bool, solving: bool) -> Any:
    """The larger of both directions: the records' removal, and their addition where that may matter."""
    count, ones = columns[0].shape[0], xp.ones_like(columns[0])
    sign = ones if mirrored else xp.concat([ones, -ones])
    sigma, rate, steps, given = columns if mirrored else (xp.concat([column, column]) for column in columns)
    pair = StepColumn(xp, sigma, rate, steps, sign, mirrored=mirrored)
    known = xp.log(given) if solving else given
    # What adding a record leads to rarely matters where a guess is bad: its order is searched for if it does.
    targets, ends, removed = (known, None, sign > 0.0) if solving else (None, known, sign > 0.0)
    at = _scanned(pair, targets, ends, moved=removed)

    def compute(rows: Any, partner: Any = None) -> Any:
        part, here = pair.take(rows), picked(at, rows)
        lost = nonzero(xp, ~(here.found | removed[rows]))
        if lost.shape[0]:
            target, end = (None if x is None else x[rows][lost] for x in (targets, ends))
            here = here._replace(**{name: column * 1 for name, column in here._asdict().items()})
            for column, new in zip(here, _scanned(part.take(lost), target, end), strict=True):
                column[lost] = new
        return _epsilon(part, given[rows], known[rows], here, partner) if solving else _delta(part, given[rows], here)

    every = xp.arange(count, device=given.device)
    if mirrored:
        return compute(every)
    # Both are computed at once where they seem alike; else addition only where a bound does not rule it out.
    largest_loss = -steps[count:] * pair.log_rest[count:]
    if solving:
        alike = at_most(xp, at.epsilon[count:], largest_loss) >= _ALIKE * at.epsilon[:count]
    else:
        alike = at.level[count:] >= at.level[:count] - 1.0
    both = nonzero(xp, alike)
    first, partner = xp.concat([every, count + both]), xp.concat([every, both])
    partner[both] = count + xp.arange(both.shape[0], device=given.device)
    result = pair.q * 0.0
    result[first] = compute(first, partner)
    best = result[:count]
    met = best if solving else known[:count]
    rest = count + nonzero(xp, ~alike & (best >= 0.0) & ~(met >= largest_loss * (1.0 + 1e-12)))
    if rest.shape[0]:
        found = best[rest - count]
        limits = (known[rest], found) if solving else (xp.log(found), known[rest])
        rest = rest[_matters(pair.take(rest), picked(at, rest), *limits)]
        if rest.shape[0]:
            result[rest] = compute(rest)
    return xp.maximum(best, result[count:])  # a NaN of either stays NaN
