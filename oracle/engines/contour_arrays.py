r"""The contour integral of `contour` in float64, vectorised over parameters, on the safe side.

The same sum, written for accuracy: with D_n = M(s_n)/M(c) - 1 = sum of weights (e^{i t L} - 1), the powers are
exp(T log1p(D_n)), so that errors count relative to |D_n| and not to 1, and T may be 10^7. An explicit budget covers
rounding (growing with T), the quadrature and what lies beyond the last node (both from `contour_plan_arrays`); the
images on both sides only raise the sum. What needs too many nodes, or whose budget exceeds 10^-9, is left NaN.

The budget's integrals are float64 sums themselves: this is a budget held to the reference by tests, not a proof.
"""

from __future__ import annotations

import math
from bisect import bisect_left
from collections.abc import Iterator
from typing import Any

from oracle.core.arrays import LEAST, UNIT, at_least, at_most
from oracle.engines.contour_plan_arrays import FINEST, LOG_ROOT_2PI, ContourPlans, StepColumn, make_plan

_NODES = tuple(1 << p for p in range(4, 13))  # contour nodes, node 0 included
_POINTS = (32, 48, 64, 96, 128, 192, 256, 384, 512, 768, 1024, 1536, 2048, 3072)  # of the quadrature
_CHUNK = 100_000  # complex numbers in a table: what stays in cache
_PLAN_CHUNK = 1024
_TIGHT = 8e-10  # an answer with a larger relative excess is left to the reference


def shifted_powers(xp: Any, first: Any, count: int, axis: int) -> tuple[Any, Any]:
    """z^j - 1 for j = 0, ..., count - 1 along a new axis, given z - 1 with all its digits; and z^count - 1."""
    table, step = xp.expand_dims(xp.zeros_like(first), axis=axis), xp.expand_dims(first, axis=axis)
    while table.shape[axis] < count:
        table = xp.concat([table, table * step + table + step], axis=axis)
        step = step * step + 2.0 * step
    return table, xp.squeeze(step, axis=axis)


class Sum:
    """The contour sums of rows that share their numbers of nodes and points, with their budgets."""

    def __init__(self, pair: StepColumn, plan: ContourPlans, nodes: int, points: int) -> None:
        xp, c, steps = pair.xp, plan.c, pair.steps
        self.xp, self.c, self.nodes = xp, c, nodes
        self.k = plan.last / (nodes - 1)
        weight, loss, rounding, loss_error, log_m, h = _tilted(pair, c, points)
        self.log_peak = steps * log_m
        quadrature = xp.exp(at_most(xp, plan.log_growth - log_m - 2 * math.pi * plan.shift / h, 0.0))
        self.log_cut = plan.log_cut
        self.relative = steps * (rounding + 2.5 * quadrature + 4.0 * xp.exp(-pair.outside)) + 16 * UNIT * (
            xp.abs(self.log_peak) + xp.abs(c * plan.epsilon) + 64.0
        )
        index = xp.arange(1, nodes, dtype=xp.float64, device=c.device)
        self.t = self.k[:, None] * index[None, :]
        self.phase, self.size = self._terms(self._differences(weight, loss), steps)
        # The rounding of D_n, multiplied by the number of steps, on top of the common relative error.
        spread = (128 + points) * UNIT * xp.sum(weight * xp.abs(loss), axis=1) + loss_error
        self.spread = steps * spread * xp.sum(self.size * self.t, axis=1)
        self.total = xp.sum(self.size, axis=1)

    def _differences(self, weight: Any, loss: Any) -> Any:
        """D_n = sum of weight (e^{i n k L} - 1) for n = 1, ..., as one matrix product a row.

        With n = i m + j, x = e^{i m i k L} - 1 and y = e^{i j k L} - 1, e^{...} - 1 = x y + x + y: two short tables of
        accurate differences, so that D_n keeps its digits however small it is.
        """
        xp = self.xp
        columns = 1 << (self.nodes.bit_length() // 2)
        half = 0.5 * self.k[:, None] * loss
        sine, cosine = xp.sin(half), xp.cos(half)
        baby, stride = shifted_powers(xp, -2.0 * sine * sine + 2j * sine * cosine, columns, 2)
        giant, _ = shifted_powers(xp, stride, self.nodes // columns, 1)
        weighted = weight[:, None, :] * giant
        alone = xp.matmul(xp.astype(weight, baby.dtype)[:, None, :], baby)
        product = xp.matmul(weighted, baby) + xp.sum(weighted, axis=2)[:, :, None] + alone
        return xp.reshape(product, (loss.shape[0], self.nodes))[:, 1:]

    def _terms(self, differences: Any, steps: Any) -> tuple[Any, Any]:
        """The phase and the modulus of 2 (M(s_n)/M(c))^T / (s_n (s_n + 1))."""
        xp, c, t = self.xp, self.c[:, None], self.t
        d_real, d_imag = xp.real(differences), xp.imag(differences)
        log_size = 0.5 * xp.log1p(2.0 * d_real + d_real * d_real + d_imag * d_imag)
        phase = steps[:, None] * xp.atan2(d_imag, 1.0 + d_real)
        s_real, s_imag = c * (c + 1.0) - t * t, t * (2.0 * c + 1.0)
        size = 2.0 * xp.exp(at_most(xp, steps[:, None] * log_size, 0.0)) / xp.sqrt(s_real**2 + s_imag**2)
        return phase - xp.atan2(s_imag, s_real), size

    def value(self, epsilon: Any) -> tuple[Any, Any]:
        """The sum and its slope in epsilon, both divided by the scale e^{T log M(c) - c epsilon} k/(2 pi)."""
        xp = self.xp
        angle = self.phase - self.t * epsilon[:, None]
        total = 1.0 / (self.c * (self.c + 1.0)) + xp.sum(self.size * xp.cos(angle), axis=1)
        return total, xp.sum(self.t * self.size * xp.sin(angle), axis=1) - self.c * total

    def log_scale(self, epsilon: Any) -> Any:
        """The log of what `value` was divided by."""
        return self.log_peak - self.c * epsilon + self.xp.log(self.k / (2 * math.pi))

    def excess(self, epsilon: Any) -> Any:
        """The whole budget of the sum at an epsilon, divided by the scale."""
        xp = self.xp
        size = 1.0 / (self.c * (self.c + 1.0)) + self.total
        turning = UNIT * (16.0 * xp.abs(self.t[:, -1] * epsilon) + 8.0 * self.nodes) * self.total
        cut = xp.exp(at_most(xp, self.log_cut - self.log_peak, 700.0)) * 2 * math.pi / self.k
        return (self.relative + 64 * UNIT) * size + 2 * self.spread + turning + 1.01 * cut

    def solve(self, epsilon: Any, log_delta: Any) -> tuple[Any, Any]:
        """An epsilon at which the sum plus its budget is at most delta, and how much of it is excess; else NaN."""
        xp = self.xp
        settled = epsilon < 0.0
        for _ in range(12):
            total, slope = self.value(epsilon)
            good = (total > 0.0) & (slope < 0.0)
            total, slope = xp.where(good, total, 1.0), xp.where(good, slope, -1.0)
            step = xp.where(good, (xp.log(total) + self.log_scale(epsilon) - log_delta) * total / -slope, 0.0)
            epsilon = at_least(xp, epsilon + at_most(xp, at_least(xp, step, -2.0 / self.c), 2.0 / self.c), 0.0)
            settled = good & ((xp.abs(step) <= 1e-10 * epsilon) | (epsilon == 0.0))
            if bool(xp.all(settled)):
                break
        # Step past the budget at once, and then verify; the sum's own curvature is far below the safety factor.
        total, slope = self.value(epsilon)
        behind = at_least(xp, total + self.excess(epsilon) - xp.exp(log_delta - self.log_scale(epsilon)), 0.0)
        margin = 1.05 * behind / -slope + 4 * UNIT * epsilon
        upper = xp.where(behind > 0.0, epsilon + margin, epsilon)
        proved = settled & (xp.log(self.delta(upper)) <= log_delta)
        return xp.where(proved, upper, math.nan), xp.where(behind > 0.0, margin, 0.0)

    def delta(self, epsilon: Any) -> Any:
        """delta(epsilon) plus the whole budget."""
        xp = self.xp
        total, _ = self.value(epsilon)
        whole = (total + self.excess(epsilon)) * (1.0 + 64 * UNIT)
        return (xp.exp(self.log_scale(epsilon)) + LEAST) * whole + LEAST  # what underflows is still not 0


def _tilted(pair: StepColumn, c: Any, points: int) -> tuple[Any, ...]:
    """Tilted probabilities and losses of the points, error units of log M(c) and of a loss, log M(c), the distance."""
    xp = pair.xp
    y, h = pair.grid(c, points, pair.outside)

    def part(at: Any) -> tuple[Any, Any]:
        # log u carries its own rounding and that of x = a y - a^2/2.
        log_u, share, x = pair.log_u(at)
        return log_u, xp.abs(log_u) * 2.0 + share * (1.0 + xp.abs(x) + (pair.a * pair.a)[:, None])

    log_u, error = part(y)
    tilt, loss = (pair.alpha0 + pair.alpha1 * c)[:, None] * log_u, pair.alpha1 * log_u
    if pair.beta1:
        mirrored, more = part(-y)
        tilt, loss = tilt + (pair.beta0 + pair.beta1 * c)[:, None] * mirrored, loss + pair.beta1 * mirrored
        error = error + more
    base = -0.5 * y * y - LOG_ROOT_2PI
    exponent = tilt + base
    top = xp.max(exponent, axis=1)
    mass = xp.exp(exponent - top[:, None])
    total = xp.sum(mass, axis=1)
    weight = mass / total[:, None]
    # M(c) - 1 as a sum of small terms keeps the digits of a tiny log M(c); where it overflows the peak is taken out.
    terms = xp.exp(base) * h[:, None] * xp.expm1(at_most(xp, tilt, 600.0))
    moderate = xp.max(tilt, axis=1) < 600.0
    gain = xp.sum(terms, axis=1)
    log_m = xp.where(moderate, xp.log1p(gain), top + xp.log(total * h))
    loss_error = 4 * UNIT * xp.sum(weight * error, axis=1)
    spread = xp.where(moderate, xp.sum(xp.abs(terms), axis=1) / (1.0 + gain), 1.0 + xp.abs(log_m))
    return weight, loss, (128 + points) * UNIT * spread + (1.0 + 2.0 * c) * loss_error, loss_error, log_m, h


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


def _epsilon(pair: StepColumn, log_delta: Any) -> tuple[Any, Any]:
    """Upper bounds of epsilon at a delta for one direction, NaN where none is had; and where its first contour lay."""
    xp = pair.xp
    result, near, c = pair.q * math.nan, None, None
    # The saddle-point formula may be off by much: its outcome then places the second contour, which may cancel less.
    for cancelled in (7.0, 3.0):
        wanted = xp.nonzero(xp.isnan(result))[0]
        if wanted.shape[0] == 0:
            break
        plan = make_plan(pair.take(wanted), log_delta[wanted], None if near is None else near[wanted], cancelled)
        near, c = result * math.nan if near is None else near, plan.c if c is None else c
        near[wanted] = plan.epsilon
        for nodes, points, rows in _classes(xp, plan):
            part, at = ContourPlans(*(column[rows] for column in plan)), wanted[rows]
            value, margin = Sum(pair.take(at), part, nodes, points).solve(part.epsilon, log_delta[at])
            result[at] = xp.where(margin <= _TIGHT * value, value, math.nan)
            near[at] = xp.where(margin <= 1e-3 * value, value, part.epsilon)
    return result, c


def _delta(pair: StepColumn, epsilon: Any) -> tuple[Any, Any]:
    """Upper bounds of delta at an epsilon for one direction, NaN where none is had; and where its contour lay."""
    xp = pair.xp
    result = pair.q * math.nan
    plan = make_plan(pair, None, epsilon, 5.0)
    for nodes, points, rows in _classes(xp, plan):
        one, at = Sum(pair.take(rows), ContourPlans(*(column[rows] for column in plan)), nodes, points), epsilon[rows]
        tight = one.excess(at) <= _TIGHT * one.value(at)[0]
        result[rows] = xp.where(tight, one.delta(at), math.nan)
    return result, plan.c


def _matters(pair: StepColumn, log_delta: Any, epsilon: Any, near: Any) -> Any:
    """Where a direction may exceed a delta at an epsilon: Chernoff's bound at about its saddle point does not decide.

    The search for that begins at `near`, where the first direction integrated.
    log M(c) is good to far more than the 10^-3 that is asked here, unless the points are too far apart.
    """
    xp = pair.xp
    c, _ = pair.saddle(None, at_least(xp, epsilon, 0.0), close=0.1, start=near)
    *_, log_m, h = _tilted(pair, c, 256)
    chernoff = pair.steps * log_m + c * xp.log(c) - (c + 1.0) * xp.log1p(c) - c * epsilon
    return ~((chernoff * (1.0 - 1e-6) + 1e-3 < log_delta) & (h <= FINEST))


def upper_bound(
    xp: Any, sigma: Any, rate: Any, steps: Any, directions: tuple[str, ...], *, delta: Any = None, epsilon: Any = None
) -> Any:
    """Upper bounds of epsilon at `delta`, or of delta at `epsilon`, in the inputs' shape; NaN where none is had."""
    given = delta if epsilon is None else epsilon
    shape = given.shape
    columns = tuple(xp.reshape(x, (-1,)) for x in (sigma, rate, steps, given))
    result = columns[3] * math.nan
    served = xp.nonzero((columns[1] > 0.0) & (columns[1] < 1.0) & (columns[2] > 1.0))[0]
    for first in range(0, served.shape[0], _PLAN_CHUNK):
        rows = served[first : first + _PLAN_CHUNK]
        result[rows] = _largest(xp, [column[rows] for column in columns], directions, epsilon is None)
    return xp.reshape(result, shape)


def _largest(xp: Any, columns: list[Any], directions: tuple[str, ...], solving: bool) -> Any:
    """The largest of all directions; those after the first only where they may matter."""
    sigma, rate, steps, given = columns
    compute = _epsilon if solving else _delta
    known = xp.log(given) if solving else given
    best, c = compute(StepColumn(xp, sigma, rate, steps, directions[0]), known)
    for direction in directions[1:]:
        pair = StepColumn(xp, sigma, rate, steps, direction)
        rows = xp.nonzero(_matters(pair, *((known, best) if solving else (xp.log(best), known)), c))[0]
        if rows.shape[0]:
            best[rows] = xp.maximum(best[rows], compute(pair.take(rows), known[rows])[0])  # a NaN of either stays NaN
    return best
