"""Moments of the without-replacement Gaussian pair in float64, vectorised: what the fast paths of `wor_gaussian` call.

With the names of `wor_gaussian`, the integrand of M - 1 and those of M' and M'' are, up to one factor,

    e^{alpha l - y^2/2} times   (1 - e^{-alpha l}) (1 - e^{-t l}),   l (1 - e^{-(2t+1) l}),   l^2 (1 + e^{-(2t+1) l}).

A coarse look at the first finds where it matters (within e^-42 of its top); Gauss-Legendre panels integrate there. The
rule is fine where a panel is short against the normal density's unit and against the distance pi/b of the nearest zero
of u from the real line; where it is not, or where roundings are magnified, the result is NaN and the reference answers.
Every result is inflated by a budget in unit roundoffs, which tests hold to the certified reference.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from oracle.core.arrays import UNIT, inflate, positive_part

_REACH = 11.0  # beyond the last peak, in standard deviations
_DEPTH = 42.0  # what lies e^-42 below the top is left out
_HIDDEN = 34.0  # a rule may be coarse where the integrand lies e^-34 below the top
_LOOK = (96, 64, 48, 48)  # points of the coarse look: everywhere, at the bottom, at the low peak, at the high peak
_CLIMBS = 40
_ORDER = 16  # nodes a panel
FINE, ROUGH = 32, 8  # panels
_BUDGET = 2048.0  # unit roundoffs of the sum itself
_WORST = 1e-10  # relative error above which the reference answers
_BLOCK = 1 << 18  # numbers an array holds at once
_SMALLEST_RATE = 1e-130  # whose square times b^2 is still far from the subnormals
_SEARCH_STEPS = 200
_CONVERGED = 1e-9  # of log t; the minimum is flat, so its error is the square
_MOST_TERMS = 2000  # of the sum over integer orders


@functools.cache
def _rule(panels: int) -> tuple[tuple[float, ...], tuple[float, ...]]:
    """Nodes and weights of the composite Gauss-Legendre rule on [0, 1]."""
    nodes, weights = np.polynomial.legendre.leggauss(_ORDER)
    places = (np.arange(panels)[:, None] + (nodes[None, :] + 1) / 2) / panels
    return tuple(places.ravel().tolist()), tuple(np.tile(weights / (2 * panels), panels).tolist())


@dataclass
class Moments:
    """M - 1, M' and M'' times e^-top, the relative rounding error of the first, and whether the rule can be trusted."""

    top: Any
    zeroth: Any
    first: Any
    second: Any
    error: Any
    trusted: Any
    peak: Any


def _loss(xp: Any, x: Any, rate: Any) -> Any:
    """log(1 + rate (e^x - 1)) for x > 0, to a few times (1 + min(x, log 1/rate)) unit roundoffs."""
    # log1p loses nothing for small x; for large x e^x overflows, and e^-x cannot hurt.
    log_odds = xp.log((1.0 - rate) / rate)
    right = x > xp.where(log_odds > 1.0, log_odds, 1.0)
    near = xp.log1p(rate * xp.expm1(xp.where(right, 1.0, x)))
    far = x + xp.log(rate) + xp.log1p((1.0 - rate) / rate * xp.exp(-x))
    return xp.where(right, far, near)


def _around(xp: Any, b: Any, rate: Any, alpha: Any, start: Any, end: Any) -> tuple[Any, Any, Any]:
    """An interval of z around the top of alpha l - y^2/2 reached from y = start, and whether it was reached.

    At a top y = alpha b p with p = gamma w/u, an equation with at most two stable solutions; iterating it from below or
    from above is monotone, and the curvature there is alpha b^2 p (1-p) - 1.
    """
    y, share, moved = start, 0.0 * start, 0.0 * start
    for _ in range(_CLIMBS):
        share = 1.0 / (1.0 + (1.0 - rate) / rate * xp.exp(b * (0.5 * b - y)))
        moved, y = y, alpha * b * share
    flat = 1.0 - alpha * b * b * share * (1.0 - share)
    reach = (_REACH + 3.0) / xp.sqrt(xp.where(flat > 0.02, flat, 0.02))
    centre = y - 0.5 * b
    left, right = centre - reach, centre + reach
    left = xp.where(left > 0.0, left, 0.0 * left)
    left = xp.where(left < end, left, 0.0 * left)
    right = xp.where(right > _REACH, right, 0.0 * right + _REACH)
    return left, xp.where(right < end, right, end), xp.abs(moved - y) < 0.5


def _hull(xp: Any, z: Any, gap: Any, kept: Any, end: Any) -> tuple[Any, Any]:
    """The interval of [0, end] that holds the kept points with a gap on either side."""
    low = xp.min(xp.where(kept, z - gap, end), axis=1, keepdims=True)
    high = xp.max(xp.where(kept, z + gap, 0.0), axis=1, keepdims=True)
    return xp.where(low > 0.0, low, xp.zeros_like(low)), xp.where(high < end, high, end)


def moments(xp: Any, b: Any, rate: Any, t: Any, *, panels: int) -> Moments:
    """The sums at orders 1 + t, for columns (shape [n, 1]) of b, rate > 0 and t > 0; each result has that shape."""
    alpha, half = 1.0 + t, 0.5 * b

    def height_at(z: Any) -> Any:
        loss = _loss(xp, b * z, rate)
        factors = xp.log(-xp.expm1(-alpha * loss)) + xp.log(-xp.expm1(-t * loss))
        return alpha * loss - 0.5 * (half + z) ** 2 + factors

    end = (t + 0.5) * b + _REACH
    low_left, low_right, low_sure = _around(xp, b, rate, alpha, 2.0 * b + 1.0, end)
    high_left, high_right, high_sure = _around(xp, b, rate, alpha, alpha * b, end)
    bottom = 1.5 * b + _REACH
    bottom = xp.where(bottom < end, bottom, end)
    low_end = xp.where(low_right > bottom, low_right, bottom)

    places, gaps = [], []
    for count, left, right in zip(
        _LOOK, (0.0 * end, 0.0 * end, low_left, high_left), (end, bottom, low_right, high_right), strict=True
    ):
        share = xp.asarray([(i + 0.5) / count for i in range(count)], dtype=xp.float64, device=b.device)[None, :]
        places.append(left + (right - left) * share)
        gaps.append((right - left) / count + 0.0 * share)
    z, gap = xp.concat(places, axis=1), xp.concat(gaps, axis=1)
    height = height_at(z)
    top = xp.max(height, axis=1, keepdims=True)
    kept = height > top - _DEPTH
    peak = xp.max(xp.where(height == top, z, 0.0), axis=1, keepdims=True)
    low, high = _hull(xp, z, gap, kept, end)
    # Two tops far apart are two pieces; one top is two pieces that touch.
    between = (z >= low_end) & (z <= high_left)
    apart = (low_end < high_left) & ~xp.any(kept & between, axis=1, keepdims=True)
    apart = apart & xp.any(kept & (z < low_end), axis=1, keepdims=True)
    apart = apart & xp.any(kept & (z > high_left), axis=1, keepdims=True)
    middle = 0.5 * (low + high)
    inner = xp.where(apart, _hull(xp, z, gap, kept & (z < low_end), end)[1], middle)
    outer = xp.where(apart, _hull(xp, z, gap, kept & (z > high_left), end)[0], middle)

    nodes, weights = (xp.asarray(part, dtype=xp.float64, device=b.device)[None, :] for part in _rule(panels // 2))
    first_length, second_length = inner - low, high - outer
    z = xp.concat((low + first_length * nodes, outer + second_length * nodes), axis=1)
    loss = _loss(xp, b * z, rate)
    weight = xp.concat((first_length * weights, second_length * weights), axis=1) * (1 / math.sqrt(2 * math.pi))
    density = weight * xp.exp(alpha * loss - 0.5 * (half + z) ** 2 - top)
    other = (2.0 * t + 1.0) * loss
    sums = (
        xp.expm1(-alpha * loss) * xp.expm1(-t * loss), -loss * xp.expm1(-other), loss * loss * (1.0 + xp.exp(-other))
    )
    zeroth, first, second = (xp.sum(density * part, axis=1, keepdims=True) for part in sums)

    # What a unit roundoff in each operation does to the exponent, weighted by what each node contributes.
    x, depth = b * z, -xp.log(rate)
    carried = xp.where(x < depth, alpha * loss * (2.0 + x), alpha * (2.0 + x + depth)) + (half + z) ** 2
    doubt = xp.sum(density * sums[0] * carried, axis=1, keepdims=True) / zeroth
    error = (_BUDGET + 8.0 * doubt) * UNIT

    width = xp.where(first_length > second_length, first_length, second_length) / panels
    kink = xp.log((1.0 - rate) / rate) / b
    beside = xp.concat((kink, kink + 2.0 * width, kink - 2.0 * width), axis=1)
    beside = xp.where(beside > 0.0, beside, 1e-3 * width)
    unseen = xp.max(height_at(beside), axis=1, keepdims=True) < top - _HIDDEN
    away = (kink < low - 4.0 * width) | (kink > high + 4.0 * width)
    smooth = (b * width < 2.0) | away | unseen
    seen = (end < 6.0 * _LOOK[0]) | ((bottom < 6.0 * _LOOK[1]) & low_sure & high_sure)
    trusted = smooth & seen & (width < 1.6)
    return Moments(top, zeroth, first, second, error, trusted, peak)


def log_moment(xp: Any, top: Any, mass: Any) -> Any:
    """log(1 + mass e^top)."""
    small = top < 0.0
    near = xp.log1p(mass * xp.exp(xp.where(small, top, 0.0)))
    far = top + xp.log(mass + xp.exp(-xp.where(small, 0.0, top)))
    return xp.where(small, near, far)


def _cumulant_upper(xp: Any, top: Any, mass: Any, error: Any, trusted: Any) -> Any:
    """An upper bound of log(1 + mass e^top) for a mass known to a relative error; NaN where it would be loose."""
    plain = log_moment(xp, top, mass)
    # A relative error e of M - 1 is at most e min(1, log M) in log M, since d log M = dM/M and 1 - 1/M <= log M.
    added = error * xp.where(plain < 1.0, plain, 1.0)
    good = trusted & (added < _WORST * plain) & (plain > 1e-290)
    return xp.where(good, inflate(plain + added, 16.0), math.nan)


def step_upper(xp: Any, b: Any, rate: Any, t: Any) -> Any:
    """An upper bound of log M(t), for columns; or NaN."""
    values = moments(xp, b, rate, t, panels=FINE)
    return _cumulant_upper(xp, values.top, values.zeroth, values.error, values.trusted)


def in_blocks(xp: Any, compute: Callable[..., Any], *columns: Any) -> Any:
    """`compute` on columns of equal shape, a block of rows at a time, so that the nodes of all rows fit in memory."""
    shape = columns[0].shape
    flat = [xp.reshape(column + 0.0, (-1, 1)) for column in columns]  # a sum is contiguous, which torch asks for
    rows = max(1, _BLOCK // (_ORDER * FINE))
    parts = [compute(*(c[i : i + rows, :] for c in flat)) for i in range(0, flat[0].shape[0], rows)]
    return xp.reshape(xp.concat(parts, axis=0), shape) if parts else 0.0 * columns[0]


def _b_up(xp: Any, sigma: Any) -> Any:
    """2 / sigma rounded up; every moment rises with it."""
    return inflate(2.0 / sigma, 1.0)


def rdp_upper(xp: Any, sigma: Any, rate: Any, steps: Any, alpha: Any) -> Any:
    """An upper bound of steps / (alpha - 1) log M(alpha - 1), or NaN."""
    usable, whole = rate > _SMALLEST_RATE, rate == 1.0
    b, t = _b_up(xp, sigma), alpha - 1.0
    q = xp.where(usable & ~whole, rate, 0.5)
    bound = inflate(in_blocks(xp, functools.partial(step_upper, xp), b, q, t) * (steps / t), 4.0)
    bound = xp.where(whole, inflate(0.5 * steps * alpha * b * b, 8.0), xp.where(usable, bound, math.nan))
    return xp.where((rate > 0.0) & (steps > 0.0), bound, xp.zeros_like(bound))


def best_order(xp: Any, b: Any, rate: Any, steps: Any, log: Any) -> Any:
    """About the t > 0 at which steps (t L' - L) + log(1 + t) = log, L = log M, for columns: a proposal.

    The left side rises. Newton's method in s = log t, kept inside a bracket of s that every evaluation narrows.
    """
    low, high = xp.log(log) - 60.0, xp.where(log < 700.0, log, 700.0)  # log(1 + t) >= log at the right end
    low = xp.where(low < high - 1.0, low, high - 1.0)
    # Before the high peak counts, M grows like e^{(gamma b t)^2/2}; it counts from about t = 2 log(1/gamma)/b^2 on.
    slow = 0.5 * (xp.log(log) - xp.log(steps) - xp.log(0.5 * (rate * b) ** 2))
    turn = xp.log(1.0 - 2.0 * xp.log(rate) / (b * b))
    s = xp.where(slow < turn, slow, turn)
    s = xp.where((s > low) & (s < high), s, 0.5 * (low + high))
    settled = xp.zeros_like(s) > 0.0
    for _ in range(_SEARCH_STEPS):
        t = xp.exp(s)
        values = moments(xp, b, rate, t, panels=ROUGH)
        mass = values.zeroth + xp.exp(-values.top)
        mean = values.first / mass
        spread = values.second / mass - mean * mean
        value = steps * (t * mean - log_moment(xp, values.top, values.zeroth)) + xp.log1p(t)
        slope = t * (steps * t * spread + 1.0 / (1.0 + t)) / value  # of the value's logarithm, nearly a line
        above = ~(value < log)  # an overflow is above
        high, low = xp.where(above, s, high), xp.where(above, low, s)
        off = xp.log(value / log)
        step = off / slope
        settled = settled | ((xp.abs(step) < _CONVERGED) & (xp.abs(off) < 1e-3))
        inside = (s - step > low) & (s - step < high)
        s = xp.where(settled, s, xp.where(inside, s - step, 0.5 * (low + high)))
        settled = settled | (high - low < 1e-15 * xp.abs(s))
        if bool(xp.all(settled)):
            break
    return xp.exp(s)


def epsilon_upper(xp: Any, sigma: Any, rate: Any, steps: Any, log: Any) -> Any:
    """An upper bound of the least converted epsilon over all orders, for 0 < rate < 1 and steps > 0, or NaN.

    Any order gives a valid epsilon, so the search need not be trusted.
    """

    def one(b: Any, q: Any, k: Any, wanted: Any) -> Any:
        t = best_order(xp, b, q, k, wanted)
        cost = inflate(k * step_upper(xp, b, q, t), 1.0)
        spent, saved = (cost + wanted) / t, xp.log1p(1.0 / t) + xp.log1p(t) / t
        return positive_part(xp, spent - saved, spent + saved)

    usable = rate > _SMALLEST_RATE
    bound = in_blocks(xp, one, _b_up(xp, sigma), xp.where(usable, rate, 0.5), steps, log)
    return xp.where(usable, bound, math.nan)


def wbk_upper(xp: Any, sigma: Any, rate: Any, steps: Any, alpha: Any) -> Any:
    """An upper bound of Wang, Balle and Kasiviswanathan's sum, its logarithm over alpha - 1 times steps; or NaN."""
    known = (alpha >= 2.0) & (alpha <= _MOST_TERMS) & (alpha == xp.floor(alpha))
    usable = known & (rate > _SMALLEST_RATE)
    q, a = xp.where(usable, rate, 0.5), xp.where(usable, alpha, 2.0)
    b = _b_up(xp, sigma)
    square, log_q = b * b, xp.log(q)
    log = xp.log(0.5 * a * (a - 1.0)) + 2.0 * log_q + square  # log of C(alpha, j) q^j e^{j(j-1) b^2/2}, j = 2
    least = 4.0 * -xp.expm1(-square)
    top = log + xp.log(xp.where(least < 2.0, least, 2.0))
    magnitude = xp.abs(log) + xp.abs(log_q) + square  # whose roundings the logarithm of a term carries
    total, doubt = xp.ones_like(top), magnitude
    longest = int(xp.max(a)) if math.prod(a.shape) else 0
    for j in range(3, longest + 1):
        inside = a >= j
        log = log + xp.where(inside, xp.log((a - (j - 1.0)) / j), 0.0) + log_q + (j - 1.0) * square
        term = xp.where(inside, log + math.log(2.0), -math.inf)
        magnitude = magnitude + xp.abs(log) + xp.abs(log_q) + (j - 1.0) * square + 1.0
        higher = xp.where(term > top, term, top)
        kept, added = xp.exp(top - higher), xp.exp(term - higher)
        total, doubt, top = total * kept + added, doubt * kept + magnitude * added, higher
    error = (64.0 + 8.0 * a + 8.0 * doubt / total) * UNIT
    bound = inflate(_cumulant_upper(xp, top, total, error, usable) * (steps / (a - 1.0)), 4.0)
    return xp.where(known & ((rate == 0.0) | (steps == 0.0)), xp.zeros_like(bound), bound)
