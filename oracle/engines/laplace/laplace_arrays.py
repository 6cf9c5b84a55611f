r"""The curve of k composed Laplace releases in float64, vectorised, on the safe side: what `laplace_composed` calls.

In the notation there, let z = g/(2m), so that an atom of Y moves z by 1, and delta = e^{-mz} E(z). With S the shift
z -> z - 1 and I integration from 0, one release maps E to (1+S)/2 E + (m/2)(1-S) I E, and no release has
E = 2 sinh(mz), z > 0. Expanded in the number r of continuous losses and in the powers of sinh,

    delta = 2 e^{-mz} sum_{n >= 2} sum_{i >= 0} G_n(i) B_n(z - i),         B_n the cardinal B-spline of order n,
    G_{n+2} = (1-S)^{-2} (m^2 G_n + m^{n+1} 2^{-k} C(k,n) (1+S)^{k-n}),    G_0 = G_1 = 0, as power series in S,

because (1-S) I turns B_n into B_{n+1}. Every term is positive, (1-S)^{-1} is a cumulative sum and the B-splines of all
orders at z, z-1, ... follow from n B_{n+1}(x) = x B_n(x) + (n+1-x) B_n(x-1): nothing cancels, so the rounding error is
at most the number of operations in a row, which is the budget. The terms beyond order N are at most
L^{1-N} e^{sz} ((1 + e^{-s})/2 + L m (1 - e^{-s})/(2s))^k for every L >= 1 and s >= L m (Chernoff's bound on the order)
and are added. That sum takes about k m terms of k/2 delays; `laplace_contour_arrays` is cheaper where it serves.
"""

from __future__ import annotations

import math
from typing import Any

from oracle.core.arrays import TINY, UNIT, at_least, at_most, constants, counted, least, nonzero, stacked, summed

_CELLS = 60_000  # numbers in a table of orders and delays, of which there are about ten
_KEPT = 64  # tables that do not change while a row is solved
MOST_DELAYS = 2000
_MOST_TERMS = 1500
_LARGEST_EXPONENT = 300.0  # of e^{mz}, which the sum divides out at the end
_GOAL = 30.0  # what is cut off aims at e^{-30} of delta
TIGHT = 3e-10  # relative budget above which float64 leaves the answer to the reference
_SADDLE_PARTS, _SADDLE_ROUNDS = 32, 2
_SADDLE_SHARES = tuple(i / _SADDLE_PARTS for i in range(_SADDLE_PARTS + 1))
_NEWTON_STEPS = 24
_NEAR, _FINEST = 3e-11, 1e-13  # of epsilon and of z, a step that leaves nothing to do
_LEFT = 1e-3  # of the fourth power of a step in log delta, the most that is left after it
_FACTORS = (1.0, 1.5, 2.5)
_ORDERS = (1.1, 1.25, 1.5, 2.0, 3.0, 5.0, 10.0, 100.0, 1e4)
_TRIED, _TIMES = tuple(order for order in _ORDERS for _ in _FACTORS), _FACTORS * len(_ORDERS)
_LOGS = tuple(math.log(order) for order in _TRIED)


def log_phi(xp: Any, m: Any, c: Any) -> tuple[Any, Any, Any]:
    """log E e^{-cY}, and the mean and variance of Y under the law tilted by e^{-cY}; a proposal's accuracy."""
    width = 2.0 * c + 1.0
    rest, v = -xp.expm1(-m * width), 1.0 / width
    q, square = 1.0 - rest, v * v  # q stands beside 1 only
    value = 1.0 + q + v * rest
    turned = 2.0 * m * q
    first = turned * (1.0 - v) + 2.0 * square * rest
    second = turned * (2.0 * m * (1.0 - v) - 4.0 * square) + 8.0 * v * square * rest
    mean = first / value
    return xp.log(0.5 * value), mean, second / value - mean * mean


def estimate(xp: Any, m: Any, steps: Any, c: Any) -> tuple[Any, Any]:
    """The gap g = k m - epsilon whose saddle point is c, and about log delta there."""
    log_value, mean, variance = log_phi(xp, m, c)
    near, far = 1.0 / c, 1.0 / (c + 1.0)
    gap = steps * mean + near + far
    spread = steps * at_least(xp, variance, 0.0) + near * near + far * far
    return gap, steps * log_value + c * gap - xp.log(c * (c + 1.0)) - 0.5 * xp.log(2.0 * math.pi * spread)


def saddle(xp: Any, m: Any, steps: Any, *, gap: Any = None, log_delta: Any = None) -> tuple[Any, Any, Any]:
    """About the saddle point of a gap or of a delta, its gap and log delta; a search in log c, many at a time."""
    wanted = (gap if gap is not None else log_delta)[:, None]
    low, high = xp.zeros_like(m) - 14.0, 60.0 + xp.log1p(1.0 / m)
    shares, rows = constants(xp, _SADDLE_SHARES, m), xp.arange(m.shape[0], device=m.device)
    column, count = (m[:, None], steps[:, None]), _SADDLE_PARTS
    for _ in range(_SADDLE_ROUNDS):
        part = (high - low) / count
        at_gap, at_log_delta = estimate(xp, *column, xp.exp(low[:, None] + (high - low)[:, None] * shares))
        excess = (at_gap if gap is not None else at_log_delta) - wanted
        right = summed(~(excess[:, 1:-1] < 0.0)) + 1  # both fall in c
        low = low + part * (right - 1)
        high = low + part
    # Nearly straight between its neighbours.
    above, below = excess[rows, right - 1], excess[rows, right]
    share = above / (above - below)
    c = xp.exp(low + part * xp.where((share >= 0.0) & (share <= 1.0), share, 0.5))
    return c, *estimate(xp, m, steps, c)


def gap_upper(m: Any, steps: Any, epsilon: Any) -> Any:
    """A double not below k m - epsilon."""
    total = steps * m
    return (total - epsilon) + 4 * UNIT * (total + epsilon)


class Splines:
    """The sums of the module's docstring for columns m and k, shape [B]: what a row is told depends on no other row."""

    def __init__(self, xp: Any, m: Any, steps: Any, c: Any, log_delta: Any) -> None:
        self.xp, self.m, self.steps, self.c, self.log_delta = xp, m, steps, c, log_delta
        self._kept: dict[tuple[int, ...], tuple[Any, Any, Any]] = {}

    def upper(self, z: Any, rows: Any) -> tuple[Any, ...]:
        """For some rows an upper bound of delta at z [rows], its relative budget, three derivatives of log delta or so.

        z is taken for exact. NaN where float64 does not serve.
        """
        xp = self.xp
        result = tuple(z * math.nan for _ in range(5))
        bounds, log_orders, terms = self._plan(z, rows)
        served = (terms <= _MOST_TERMS) & (self.m[rows] * z < _LARGEST_EXPONENT)
        groups: dict[tuple[int, int], list[int]] = {}
        for i, (good, orders, far) in enumerate(zip(served.tolist(), terms.tolist(), z.tolist(), strict=True)):
            if good:
                key = _class(math.ceil(orders) + 1), _class(max(1, math.floor(far) + 1))
                groups.setdefault(key, []).append(i)
        for (most, delays), found in sorted(groups.items()):
            size = max(1, _CELLS // (most * delays))
            for first in range(0, len(found), size):
                some = xp.asarray(found[first : first + size], device=z.device)
                exponents = bounds[some] + (1.0 - most) * log_orders + 24 * UNIT * most
                log_cut = least(xp, exponents)
                for column, value in zip(result, self._sum(z[some], rows[some], most, delays, log_cut), strict=True):
                    column[some] = value
        return xp.where(served & (result[1] < TIGHT), result[0], math.nan), *result[1:]

    def _plan(self, z: Any, rows: Any) -> tuple[Any, Any, Any]:
        """Chernoff's bounds of the orders beyond 1, their log L, and how many orders leave e^{-GOAL} of delta."""
        xp, m, steps, c = self.xp, self.m[rows], self.steps[rows], self.c[rows]
        target = self.log_delta[rows] + m * z - _GOAL
        orders, factors, log_orders = (constants(xp, numbers, m) for numbers in (_TRIED, _TIMES, _LOGS))
        s = (m * (2.0 * c + 1.0))[:, None] * factors
        lowest = m[:, None] * orders
        s = xp.where(s > lowest, s, lowest * (1 + 4 * UNIT))
        log_base = xp.log(0.5 * (1.0 + xp.exp(-s)) - 0.5 * lowest * xp.expm1(-s) / s)
        sz, each = s * z[:, None], steps[:, None]
        bounds = sz + each * log_base + 16 * UNIT * (sz + each * (1.0 + xp.abs(log_base)) + 1.0)
        needed = 1.0 + (bounds - target[:, None]) / log_orders
        return bounds, log_orders, at_least(xp, least(xp, needed), 4.0)

    def _weights(self, rows: Any, terms: int, delays: int) -> tuple[Any, Any, Any]:
        """(1-S)^2 G_n, (1-S) G_n and G_n, n = 2, ..., at all delays: they depend on no z, and are kept."""
        key = (terms, delays, *rows.tolist())
        if key in self._kept:
            return self._kept[key]
        xp, m, steps = self.xp, self.m[rows], self.steps[rows][:, None]
        scale, square, index = m[:, None], (m * m)[:, None], counted(xp, delays, m)
        # m 2^{-k} C(k,i), a chain of ratios from i = 0; and from one order to the next (k + 2 - n - i) m / (n - 1)
        ratios = xp.concat([xp.ones_like(scale), (steps - index[:-1]) / (index[:-1] + 1.0)], axis=1)
        source = scale * xp.exp2(-steps) * xp.cumulative_prod(at_least(xp, ratios, 0.0), axis=1)
        pairs = terms // 2
        n = (counted(xp, 2 * pairs + 1, m)[2:])[:, None, None]
        raised = at_least(xp, (steps - index + 2.0)[None, :, :] - n, 0.0) * (scale / (n - 1.0))
        sources = xp.cumulative_prod(xp.concat([source[None, :, :], raised], axis=0), axis=0)
        # Even and odd orders go side by side.
        none, once, twice = [], [], [0.0]
        for pair in xp.reshape(sources, (pairs, 2, *source.shape)):
            none.append(square * twice[-1] + pair)
            once.append(none[-1].cumsum(axis=2))
            twice.append(once[-1].cumsum(axis=2))
        none, once, twice = (xp.reshape(stacked(xp, x), sources.shape)[: terms - 1] for x in (none, once, twice[1:]))
        self._kept = {key: (none, once, twice)} | (self._kept if len(self._kept) < _KEPT else {})
        return self._kept[key]

    def _sum(self, z: Any, rows: Any, terms: int, delays: int, log_cut: Any) -> tuple[Any, ...]:
        """What `upper` tells, for rows that share their numbers of orders and delays."""
        xp, m = self.xp, self.m[rows]
        none, once, twice = self._weights(rows, terms, delays)
        x = z[:, None] - counted(xp, delays, m)  # exact: the difference of a double and a smaller integer
        n = (counted(xp, terms + 1, m)[2:])[:, None, None]
        here, beyond = x / (n - 1.0), (n - x) / (n - 1.0)
        # The B-splines of order n - 1, a column of zeros behind them.
        splines = xp.zeros((terms, x.shape[0], delays + 1), dtype=x.dtype, device=x.device)
        splines[0, :, :-1] = xp.where((x >= 0.0) & (x < 1.0), 1.0 + 0.0 * x, 0.0)
        last = splines[0]
        for left, right, following in zip(here, beyond, splines[1:], strict=True):
            spline = left * last[:, :-1]
            spline += right * last[:, 1:]
            following[:, :-1] = spline
            last = following
        total = _added(twice * splines[1:, :, :-1])
        slope = _added(once * splines[:-1, :, :-1]) / total
        second = _added(none[1:] * splines[:-2, :, :-1]) / total
        third = _added(none[2:] * (splines[:-3, :, :-1] - splines[:-3, :, 1:])) / total
        damping, largest = xp.exp(-m * z), xp.max(twice[:, :, -1], axis=0)
        # A row of operations: each order two sums over the delays and a few products; the splines and the sources.
        units = terms * (delays + 24.0) + 4.0 * delays + 4.0 * m * z + 64.0
        lost = TINY * float(terms) ** 3 * delays * (largest + (1.0 + m + 1.0 / m) / damping)  # what underflowed
        cut = xp.exp(log_cut) + lost
        return (
            2.0 * damping * (total * (1.0 + units * UNIT) + cut), units * UNIT + cut / total, slope - m,
            second - slope * slope, third + slope * (2.0 * slope * slope - 3.0 * second),
        )


def _added(table: Any) -> Any:
    """The sum of a table [orders, rows, delays] for each row, one order after the other whatever rows there are."""
    return summed(table).cumsum(axis=0)[-1]


def _class(count: int) -> int:
    """The least of 1, 2, 3, 4, 6, 8, 12, 16, ... that is no less than a count."""
    step = 1 << max(0, (count - 1).bit_length() - 2)
    return -(-count // step) * step


def _position(m: Any, gap: Any) -> Any:
    """A double not below z = g / (2m)."""
    return gap / (2.0 * m) * (1.0 + 4 * UNIT)


def _served(xp: Any, m: Any, steps: Any, gap: Any) -> Any:
    return (m > 1e-100) & (m < 1e100) & (steps >= 2.0) & (steps <= 1000.0) & (gap > 0.0) & (gap < 2 * MOST_DELAYS * m)


def spline_delta(xp: Any, m: Any, steps: Any, epsilon: Any) -> Any:
    """Upper bounds of delta for columns of shape [B]; NaN where this sum does not serve."""
    gap = gap_upper(m, steps, epsilon)
    result = m * math.nan
    rows = xp.nonzero(_served(xp, m, steps, gap))[0]
    if rows.shape[0]:
        at, k, g = m[rows], steps[rows], gap[rows]
        c, _, log_delta = saddle(xp, at, k, gap=g)
        value = Splines(xp, at, k, c, log_delta).upper(_position(at, g), _every(xp, at))[0]
        doubt = c * 16 * UNIT * (k * at + epsilon[rows])  # the roundings of g and z, by their effect on delta
        result[rows] = xp.where(doubt < TIGHT, value, math.nan)
    return result


def spline_epsilon(xp: Any, m: Any, steps: Any, delta: Any, *start: Any) -> Any:
    """Upper bounds of the least epsilon for columns of shape [B]; NaN where this sum does not serve."""
    result = m * math.nan
    c, gap, _ = start or saddle(xp, m, steps, log_delta=xp.log(delta))
    total = steps * m
    gap = xp.where(gap < total, gap, total)
    rows = xp.nonzero(_served(xp, m, steps, gap))[0]
    if rows.shape[0]:
        result[rows] = _solve(xp, m[rows], steps[rows], delta[rows], c[rows], gap[rows])
    return result


def _every(xp: Any, column: Any) -> Any:
    return xp.arange(column.shape[0], device=column.device)


def _solve(xp: Any, m: Any, steps: Any, delta: Any, c: Any, gap: Any) -> Any:
    """The least epsilon whose sum is at most delta, by cubics of log delta in z.

    Every point is an epsilon and may be the answer: the sum there, rounded up, certifies it. The next one aims a little
    beyond delta, by what a cubic may leave.
    """
    total, top, log_delta = steps * m, 0.5 * steps, xp.log(delta)

    splines = Splines(xp, m, steps, c, log_delta)
    z = xp.where(gap < total, gap, total) / (2.0 * m)
    low, high, last = xp.zeros_like(z), top + 0.0, xp.zeros_like(z) + math.inf
    result = m * math.nan
    rows = nonzero(xp, z > 0.0)
    for _ in range(_NEWTON_STEPS):
        here, each, whole = z[rows], m[rows], total[rows]
        epsilon = at_least(xp, whole - 2.0 * each * here, 0.0)
        at = _position(each, gap_upper(each, steps[rows], epsilon))
        value, budget, slope, bend, third = splines.upper(at, rows)
        left = log_delta[rows] - xp.log(value)
        step = left / slope
        below = value <= delta[rows]
        excess = 2.0 * each * (xp.abs(step) + 2.0 * budget / xp.abs(slope))  # of epsilon over the truth
        near = (xp.abs(step) <= _FINEST * here) | (excess <= _NEAR * epsilon)
        found = below & (near & (excess + 24 * UNIT * whole <= TIGHT * epsilon) | (epsilon == 0.0))
        result[rows] = xp.where(found, epsilon, math.nan)
        open_rows = nonzero(xp, ~(found | xp.isnan(value)))
        if open_rows.shape[0] == 0:
            break
        low[rows], high[rows] = xp.where(below, here, low[rows]), xp.where(below, high[rows], here)
        lowest, highest = low[rows], high[rows]
        bent = -0.5 * step * bend / slope
        bent = bent + 2.0 * bent * bent - step * step * third / (6.0 * slope)
        step = step * (1.0 + at_least(xp, at_most(xp, bent, 0.5), -0.5))
        step = step - (_LEFT * left * left * left * left + 16 * UNIT) / slope - 4 * UNIT * whole / each
        inside = (here + step > lowest) & (here + step < highest)
        # The curve has kinks at the delays, between which the search may swing: then the bracket is halved.
        stalled = xp.abs(step) > 0.5 * last[rows]
        middle = 0.5 * (lowest + highest)
        half = xp.where(lowest > 0.25 * highest, middle, xp.where(below, 4.0, 0.125) * here)
        half = xp.where(below & (highest == top[rows]), top[rows], half)
        z[rows] = xp.where(inside, xp.where(stalled, middle, here + step), half)
        last[rows] = xp.where(inside & ~stalled, xp.abs(step), math.inf)
        rows = rows[open_rows]
    return result
