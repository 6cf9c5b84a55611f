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

from oracle.core.arrays import TINY, UNIT

_CELLS = 60_000  # numbers in an array of the working set, which is about ten of them
MOST_DELAYS = 2000
_MOST_TERMS = 1500
_LARGEST_EXPONENT = 300.0  # of e^{mz}, which the sum divides out at the end
_GOAL = 33.0  # what is cut off aims at e^{-33} of delta
TIGHT = 3e-10  # relative budget above which float64 leaves the answer to the reference
_SADDLE_STEPS = 36
_NEWTON_STEPS = 24
_ORDERS = (1.1, 1.25, 1.5, 2.0, 3.0, 5.0, 10.0, 100.0, 1e4)


def log_phi(xp: Any, m: Any, c: Any) -> tuple[Any, Any, Any]:
    """log E e^{-cY}, and the mean and variance of Y under the law tilted by e^{-cY}; a proposal's accuracy."""
    q, rest = xp.exp(-m * (1.0 + 2.0 * c)), -xp.expm1(-m * (1.0 + 2.0 * c))
    v = 1.0 / (2.0 * c + 1.0)
    value = 1.0 + q + v * rest
    first = 2.0 * m * q * (1.0 - v) + 2.0 * v * v * rest
    second = 4.0 * m * m * q * (1.0 - v) - 8.0 * m * q * v * v + 8.0 * v**3 * rest
    mean = first / value
    return xp.log(0.5 * value), mean, second / value - mean * mean


def estimate(xp: Any, m: Any, steps: Any, c: Any) -> tuple[Any, Any]:
    """The gap g = k m - epsilon whose saddle point is c, and about log delta there."""
    log_value, mean, variance = log_phi(xp, m, c)
    gap = steps * mean + 1.0 / c + 1.0 / (c + 1.0)
    spread = steps * xp.where(variance > 0.0, variance, 0.0) + 1.0 / c**2 + 1.0 / (c + 1.0) ** 2
    return gap, steps * log_value + c * gap - xp.log(c * (c + 1.0)) - 0.5 * xp.log(2.0 * math.pi * spread)


def saddle(xp: Any, m: Any, steps: Any, *, gap: Any = None, log_delta: Any = None) -> tuple[Any, Any, Any]:
    """About the saddle point of a gap or of a delta, its gap and log delta, by bisection in log c."""
    low, high = xp.zeros_like(m) - 14.0, 60.0 + xp.log1p(1.0 / m)
    for _ in range(_SADDLE_STEPS):
        middle = 0.5 * (low + high)
        at_gap, at_log_delta = estimate(xp, m, steps, xp.exp(middle))
        beyond = at_gap < gap if gap is not None else at_log_delta < log_delta
        low, high = xp.where(beyond, low, middle), xp.where(beyond, middle, high)
    c = xp.exp(0.5 * (low + high))
    return c, *estimate(xp, m, steps, c)


def gap_upper(m: Any, steps: Any, epsilon: Any) -> Any:
    """A double not below k m - epsilon."""
    total = steps * m
    return (total - epsilon) + 4 * UNIT * (total + epsilon)


class Splines:
    """The sum of the module's docstring for columns m, k and z, shape [B], which it takes for exact."""

    def __init__(self, xp: Any, m: Any, steps: Any, z: Any, c: Any, log_delta: Any) -> None:
        self.xp, self.m, self.steps, self.z = xp, m, steps, z
        self._plan(c, log_delta)
        self.served = (self.terms <= _MOST_TERMS) & (m * z < _LARGEST_EXPONENT)

    def _plan(self, c: Any, log_delta: Any) -> None:
        """How many orders leave e^{-GOAL} of delta, by the best of a few Chernoff bounds, and what they leave."""
        xp, m, steps, z = self.xp, self.m, self.steps, self.z
        target = log_delta + m * z - _GOAL
        self._bounds, terms = [], xp.zeros_like(m) + math.inf
        for order in _ORDERS:
            for factor in (1.0, 1.5, 2.5):
                s = m * (2.0 * c + 1.0) * factor
                s = xp.where(s > order * m, s, order * m * (1 + 4 * UNIT))
                base = 0.5 * (1.0 + xp.exp(-s)) - 0.5 * order * m * xp.expm1(-s) / s
                log_bound = s * z + steps * xp.log(base)
                log_bound = log_bound + 16 * UNIT * (s * z + steps * (1.0 + xp.abs(xp.log(base))) + 1.0)
                needed = 1.0 + (log_bound - target) / math.log(order)
                self._bounds.append((order, log_bound))
                terms = xp.where(needed < terms, needed, terms)
        self.terms = xp.where(terms > 4.0, terms, 4.0)

    def _cut(self, terms: int) -> Any:
        """A bound of everything beyond that many orders."""
        xp, best = self.xp, self.m * 0.0 + math.inf
        for order, log_bound in self._bounds:
            exponent = log_bound + (1.0 - terms) * math.log(order) + 4 * UNIT * terms
            best = xp.where(exponent < best, exponent, best)
        return xp.exp(best)

    def upper(self) -> tuple[Any, Any, Any]:
        """An upper bound of delta, its relative budget, and about its logarithmic derivative in z."""
        xp, m, steps, z = self.xp, self.m, self.steps, self.z
        terms = math.ceil(float(xp.max(xp.where(self.served, self.terms, 4.0)))) + 1
        delays = max(1, math.floor(float(xp.max(z))) + 1)
        index = xp.asarray([float(i) for i in range(delays)], dtype=xp.float64, device=m.device)[None, :]
        x = z[:, None] - index  # exact: the difference of a double and a smaller integer
        square, scale = (m * m)[:, None], m[:, None]
        spline = xp.astype((x >= 0.0) & (x < 1.0), xp.float64)
        # m 2^{-k} C(k,i), a chain of ratios from i = 0
        ratios = xp.concat([xp.ones_like(scale), (steps[:, None] - index[:, :-1]) / (index[:, :-1] + 1.0)], axis=1)
        ratios = xp.where(ratios > 0.0, ratios, 0.0)
        source = scale * xp.exp2(-steps)[:, None] * xp.cumulative_prod(ratios, axis=1)
        left = steps[:, None] - index  # k - n - i
        zero = xp.zeros_like(x)
        pair, total, slope, largest = [zero, zero], xp.zeros_like(m), xp.zeros_like(m), xp.zeros_like(m)
        for n in range(2, terms + 1):
            previous = spline
            beyond = xp.concat([spline[:, 1:], zero[:, :1]], axis=1)
            spline = (x * spline + (float(n) - x) * beyond) * (1.0 / (n - 1.0))
            once = xp.cumulative_sum(square * pair[0] + source, axis=1)
            twice = xp.cumulative_sum(once, axis=1)
            total = total + xp.sum(twice * spline, axis=1)
            slope = slope + xp.sum(once * previous, axis=1)
            largest = xp.where(twice[:, -1] > largest, twice[:, -1], largest)
            pair = [pair[1], twice]
            source = source * (xp.where(left > 0.0, left, 0.0) * (scale / (n - 1.0)))
            left = left - 1.0
        damping = xp.exp(-m * z)
        # A row of operations: each order two sums over the delays and a few products; the splines and the sources.
        units = terms * (delays + 24.0) + 4.0 * delays + 4.0 * m * z + 64.0
        lost = TINY * terms**3 * delays * (largest + (1.0 + m + 1.0 / m) / damping)  # what may have underflowed
        cut = self._cut(terms) + lost
        result = 2.0 * damping * (total * (1.0 + units * UNIT) + cut)
        budget = units * UNIT + cut / total
        result = xp.where(self.served & (budget < TIGHT), result, math.nan)
        return result, budget, slope / total - m


def _chunks(xp: Any, wanted: Any, delays: Any, work: Any) -> list[Any]:
    """The wanted rows in groups of like size whose arrays fit the working set."""
    if wanted.shape[0] == 0:
        return []
    order = wanted[xp.argsort(work[wanted])]
    rows, groups, first = [int(d) for d in delays[order]], [], 0
    while first < len(rows):
        last, widest = first, 1
        while last < len(rows) and (last - first + 1) * max(widest, rows[last]) <= max(_CELLS, rows[last]):
            widest = max(widest, rows[last])
            last += 1
        groups.append(order[first:last])
        first = last
    return groups


def _position(m: Any, gap: Any) -> Any:
    """A double not below z = g / (2m)."""
    return gap / (2.0 * m) * (1.0 + 4 * UNIT)


def _served(xp: Any, m: Any, steps: Any, gap: Any) -> Any:
    return (m > 1e-100) & (m < 1e100) & (steps >= 2.0) & (steps <= 1000.0) & (gap > 0.0) & (gap < 2 * MOST_DELAYS * m)


def spline_delta(xp: Any, m: Any, steps: Any, epsilon: Any) -> Any:
    """Upper bounds of delta for columns of shape [B]; NaN where this sum does not serve."""
    gap = gap_upper(m, steps, epsilon)
    result = m * math.nan
    served = _served(xp, m, steps, gap)
    delays = xp.floor(xp.where(served, gap / m * 0.5, 0.0)) + 2.0
    for rows in _chunks(xp, xp.nonzero(served)[0], delays, delays * (steps * m + 40.0)):
        at, k, g = m[rows], steps[rows], gap[rows]
        c, _, log_delta = saddle(xp, at, k, gap=g)
        value, _, _ = Splines(xp, at, k, _position(at, g), c, log_delta).upper()
        doubt = c * 16 * UNIT * (k * at + epsilon[rows])  # the roundings of g and z, by their effect on delta
        result[rows] = xp.where(doubt < TIGHT, value, math.nan)
    return result


def spline_epsilon(xp: Any, m: Any, steps: Any, delta: Any) -> Any:
    """Upper bounds of the least epsilon for columns of shape [B]; NaN where this sum does not serve."""
    result = m * math.nan
    log_delta = xp.log(delta)
    c, gap, _ = saddle(xp, m, steps, log_delta=log_delta)
    total = steps * m
    gap = xp.where(gap < total, gap, total)
    served = _served(xp, m, steps, gap)
    delays = xp.floor(xp.where(served, gap / m * 0.5, 0.0)) + 2.0
    for rows in _chunks(xp, xp.nonzero(served)[0], delays, delays * (total * 1.0 + 40.0)):
        result[rows] = _solve(xp, m[rows], steps[rows], delta[rows], c[rows], gap[rows])
    return result


def _solve(xp: Any, m: Any, steps: Any, delta: Any, c: Any, gap: Any) -> Any:
    """Newton's method in z on log delta proposes; the sum itself, a budget further on, certifies."""
    total, top, log_delta = steps * m, 0.5 * steps, xp.log(delta)

    def at(z: Any, rows: Any) -> tuple[Any, Any, Any]:
        return Splines(xp, m[rows], steps[rows], z, c[rows], log_delta[rows]).upper()

    z = xp.where(gap < total, gap, total) / (2.0 * m)
    low, high, last = xp.zeros_like(z), top + 0.0, xp.zeros_like(z) + math.inf
    margin, worst = m * math.nan, 0.0
    rows = xp.nonzero(z > 0.0)[0]
    for _ in range(_NEWTON_STEPS):
        here = z[rows]
        value, budget, slope = at(here, rows)
        worst = max(worst, float(xp.max(xp.where(budget < TIGHT, budget, 0.0))))
        step = (log_delta[rows] - xp.log(value)) / slope
        below = step > 0.0
        low[rows], high[rows] = xp.where(below, here, low[rows]), xp.where(below, high[rows], here)
        left, right = low[rows], high[rows]
        inside = (here + step > left) & (here + step < right)
        # The curve has kinks at the delays, between which Newton's method may swing: then the bracket is halved.
        stalled = xp.abs(step) > 0.5 * last[rows]
        half = xp.where(left > 0.25 * right, 0.5 * (left + right), xp.where(below, 4.0, 0.125) * here)
        half = xp.where(below & (right == top[rows]), top[rows], half)
        moved = xp.where(inside & ~stalled, here + step, xp.where(inside, 0.5 * (left + right), half))
        last[rows] = xp.where(inside & ~stalled, xp.abs(step), math.inf)
        settled = (xp.abs(step) < 1e-12 * (here + 1.0 / xp.abs(slope))) | (below & (here == top[rows]))
        z[rows] = xp.where(settled & inside, here + step, xp.where(settled, here, moved))
        margin[rows] = xp.where(settled, 4.0 * m[rows] * (worst + 1e-15) / xp.abs(slope), math.nan)
        rows = rows[~settled & ~xp.isnan(value)]
        if rows.shape[0] == 0:
            break
    epsilon = total - 2.0 * m * z
    margin = margin + 24 * UNIT * total  # also the roundings of epsilon, g and z
    found = xp.nonzero(margin <= xp.where(z == top, math.inf, TIGHT * epsilon))[0]
    candidate = xp.where(z == top, 0.0 * z, epsilon + margin)
    result = m * math.nan
    if found.shape[0] == 0:
        return result
    value, _, _ = at(_position(m, gap_upper(m, steps, candidate))[found], found)
    result[found] = xp.where(value <= delta[found], candidate[found], math.nan)
    return result
