r"""Many composed Laplace releases in float64, vectorised: the contour sum of `contour` with the moments in closed form.

In the notation of `laplace_composed`, with q = e^{-m-2ms} and v = 1/(2s+1), E e^{-sY} = phi(s) = ((1+q) + v(1-q))/2 and

    delta = (1/2 pi i) int_{Re s = c} phi(s)^k e^{sg} / (s (s+1)) ds,

summed over s_n = c + i n h, |n| <= N. The periodic images only raise the sum. Beyond T = N h, where |v| <= w and |q| is
constant, |1+q| + w |1-q| is largest at q > 0 or, if (1 + w^2)(1+q)^2 > 2 (1+q^2), where it is
sqrt(2 (1+q^2) (1+w^2)) (Cauchy-Schwarz, since |1+q|^2 + |1-q|^2 = 2 (1+|q|^2)); so what is cut off is at most
(that/2)^k e^{cg} / (pi T), which is added. The atoms of the loss keep phi from vanishing, so few releases (about
k m < 60, or deltas near the atom's 2^{-k}) are left to the splines of `laplace_arrays`.

Rounding: phi is a sum of terms of size at most 1, computed to a few units, and the power multiplies its relative error
by k; the phases k arg phi + t g are exact to their size in units. These budgets are added.
"""

from __future__ import annotations

import math
from typing import Any

from oracle.core.arrays import UNIT, anywhere, summed
from oracle.engines.gaussian_arrays import certify
from oracle.engines.laplace.laplace_arrays import TIGHT, gap_upper, log_phi, saddle

_LEVELS = (24, 48, 96, 192, 384, 768)  # nodes
_CELLS = 40_000  # numbers in an array of the working set
_GOAL = 29.0  # truncations aim at e^{-29} of delta
_TRIES = 10
_FEWEST_STEPS = 16.0
_MOST_STEPS = 1e9


class _Plan:
    """Where to put the nodes for columns m, k, shape [B], at a gap g."""

    def __init__(self, xp: Any, m: Any, steps: Any, gap: Any, c: Any, log_delta: Any) -> None:
        self.xp, self.m, self.steps, self.c, self.allowed = xp, m, steps, c, log_delta - _GOAL
        period = gap * 1.001  # at epsilon + g no loss is left at all
        for factor in (1.15, 1.4, 2.0, 3.0):
            b = c * factor
            log_bound = steps * log_phi(xp, m, b)[0] + b * gap + b * xp.log(b) - (b + 1.0) * xp.log1p(b)
            needed = (log_bound - self.allowed) / (b - c)
            period = xp.where(needed < period, needed, period)
        images = -self.allowed / c
        period = xp.where(period > images, period, images)
        self.h = 2.0 * math.pi / period
        self.log_peak = steps * log_phi(xp, m, c)[0]

    def log_cut(self, count: int) -> Any:
        """The log of a bound of everything beyond that many nodes, without e^{cg}."""
        xp, c = self.xp, self.c
        last = count * self.h
        q = xp.exp(-self.m * (1.0 + 2.0 * c))
        square = 1.0 / ((2.0 * c + 1.0) ** 2 + 4.0 * last * last)
        inside = (1.0 + square) * (1.0 + q) ** 2 <= 2.0 * (1.0 + q * q)
        rest = -xp.expm1(-self.m * (1.0 + 2.0 * c))
        size = xp.where(inside, 1.0 + q + xp.sqrt(square) * rest, xp.sqrt(2.0 * (1.0 + q * q) * (1.0 + square)))
        return self.steps * (xp.log(0.5 * size) + 16 * UNIT) - xp.log(math.pi * last)


class _Sum:
    """The sum over some rows of a plan, with that many nodes."""

    def __init__(self, plan: _Plan, rows: Any, count: int) -> None:
        self.xp = plan.xp
        self.m, self.steps, self.c, self.h = plan.m[rows], plan.steps[rows], plan.c[rows], plan.h[rows]
        self.log_peak, self.log_cut = plan.log_peak[rows], plan.log_cut(count)[rows]
        self._evaluate(count)

    def _evaluate(self, count: int) -> None:
        """2 (phi(s_n)/phi(c))^k / (s_n (s_n + 1)) as modulus and phase, and what rounding may add to the sum."""
        xp, m, c, k = self.xp, self.m[:, None], self.c[:, None], self.steps[:, None]
        index = xp.asarray([float(n) for n in range(1, count + 1)], dtype=xp.float64, device=self.c.device)
        t = self.t = self.h[:, None] * index[None, :]
        q = xp.exp(-m * (1.0 + 2.0 * c))
        angle = 2.0 * m * t
        q_real, q_imag = q * xp.cos(angle), -q * xp.sin(angle)
        norm = (2.0 * c + 1.0) ** 2 + 4.0 * t * t
        v_real, v_imag = (2.0 * c + 1.0) / norm, -2.0 * t / norm
        real = 1.0 + q_real + v_real * (1.0 - q_real) + v_imag * q_imag
        imag = q_imag - v_real * q_imag + v_imag * (1.0 - q_real)
        level = 1.0 + q - xp.expm1(-m * (1.0 + 2.0 * c)) / (2.0 * c + 1.0)
        square = (real * real + imag * imag) / (level * level)
        log_ratio = 0.5 * xp.log(xp.where(square > 1e-30, square, 1e-30))
        s_real, s_imag = c * (c + 1.0) - t * t, t * (2.0 * c + 1.0)
        self.size = xp.exp(k * log_ratio) * 2.0 / xp.sqrt(s_real * s_real + s_imag * s_imag)
        self.phase = k * xp.atan2(imag, real) - xp.atan2(s_imag, s_real)
        self.total = xp.sum(self.size, axis=1)
        # Errors of phi relative to phi(c), of which a small |phi| makes relatively more, times k; then the phases.
        turning = UNIT * (12.0 * k + 4.0 * k * angle * q) * xp.exp(-log_ratio)
        self.doubt = xp.sum(self.size * turning, axis=1) + UNIT * (8.0 * self.steps + 64.0) * self.total

    def value(self, gap: Any) -> tuple[Any, Any]:
        """The sum and its slope in g, both divided by e^{k log phi(c) + cg} h/(2 pi)."""
        xp = self.xp
        half = xp.tan(0.5 * (self.phase + self.t * gap[:, None]))  # one function instead of a cosine and a sine
        square = half * half
        share = self.size / (1.0 + square)
        total = 1.0 / (self.c * (self.c + 1.0)) + summed(share * (1.0 - square))
        return total, self.c * total - 2.0 * summed(self.t * share * half)

    def upper(self, gap: Any) -> tuple[Any, Any]:
        """delta plus the whole budget, and that budget relative to delta."""
        xp = self.xp
        total, _ = self.value(gap)
        head = 1.0 / (self.c * (self.c + 1.0))
        exponent = self.log_peak + self.c * gap
        common = UNIT * (8.0 * self.steps + 4.0 * (self.c * gap + xp.abs(self.log_peak)) + 128.0) * (head + self.total)
        turning = 4 * UNIT * xp.sum(self.size * self.t, axis=1) * gap
        budget = common + self.doubt + turning
        cut = 2.0 * math.pi / self.h * xp.exp(self.log_cut - self.log_peak)
        return xp.exp(exponent) * self.h / (2.0 * math.pi) * (total + budget + 1.01 * cut), (budget + cut) / total

    def newton(self, gap: Any, log_delta: Any, most: Any) -> tuple[Any, Any]:
        """About the gap, at most `most`, at which the sum reaches a delta, and where the search has settled."""
        xp, settled = self.xp, gap < 0.0
        for _ in range(16):
            total, slope = self.value(gap)
            good = (total > 0.0) & (slope > 0.0)
            total, slope = xp.where(good, total, 1.0), xp.where(good, slope, 1.0)
            log_value = xp.log(total * self.h / (2.0 * math.pi)) + self.log_peak + self.c * gap
            step = xp.where(good, (log_delta - log_value) * total / slope, 0.0)
            moved = gap + xp.clip(step, -2.0 / self.c, 2.0 / self.c)
            gap = xp.where(settled, gap, xp.where(moved < most, moved, most))
            settled = settled | (good & ((xp.abs(step) <= 1e-13 * most) | ((gap == most) & (step > 0.0))))
            if bool(xp.all(settled)):
                break
        return gap, settled


def _groups(xp: Any, plan: _Plan, served: Any, gap: Any) -> list[tuple[Any, int]]:
    """The rows that each level serves and no cheaper one, in pieces that fit the working set."""
    result = []
    # A bound at the last level is the least: where it does not reach, no level does.
    left = served & xp.isfinite(plan.h) & (plan.log_cut(_LEVELS[-1]) + plan.c * gap <= plan.allowed)
    for count in _LEVELS:
        if not bool(xp.any(left)):
            break
        wanted = left & (plan.log_cut(count) + plan.c * gap <= plan.allowed)
        left = left & ~wanted
        rows, size = xp.nonzero(wanted)[0], max(1, _CELLS // count)
        result += [(rows[first : first + size], count) for first in range(0, rows.shape[0], size)]
    return result


def _many(m: Any, steps: Any) -> Any:
    return (steps >= _FEWEST_STEPS) & (steps <= _MOST_STEPS) & (m > 1e-12) & (m < 1e12)


def _reachable(xp: Any, m: Any, steps: Any, c: Any, gap: Any, allowed: Any) -> Any:
    """Whether any number of nodes may leave that little: |phi| falls to (1+q)/2 only, and no node is farther."""
    farthest = 2.0 * math.pi * _LEVELS[-1] * c / -allowed
    return steps * xp.log(0.5 + 0.5 * xp.exp(-m * (1.0 + 2.0 * c))) - xp.log(math.pi * farthest) + c * gap <= allowed


def contour_delta(xp: Any, m: Any, steps: Any, epsilon: Any) -> Any:
    """Upper bounds of delta for columns of shape [B]; NaN where the contour does not serve."""
    gap = gap_upper(m, steps, epsilon)
    served = _many(m, steps) & (gap > 0.0)
    gap = xp.where(served, gap, 1.0)
    c, _, log_delta = saddle(xp, m, steps, gap=gap)
    plan = _Plan(xp, m, steps, gap, c, xp.where(log_delta < 0.0, log_delta, 0.0))
    result = m * math.nan
    for rows, count in _groups(xp, plan, served, gap):
        value, budget = _Sum(plan, rows, count).upper(gap[rows])
        doubt = c[rows] * 16 * UNIT * (steps[rows] * m[rows] + epsilon[rows])  # the rounding of g
        result[rows] = xp.where(budget + doubt < TIGHT, value, math.nan)
    return result


def contour_epsilon(xp: Any, m: Any, steps: Any, delta: Any, *start: Any) -> Any:
    """Upper bounds of the least epsilon for columns of shape [B]; NaN where the contour does not serve."""
    log_delta, most, result = xp.log(delta), steps * m, m * math.nan
    c, gap, _ = start or saddle(xp, m, steps, log_delta=log_delta)
    gap = xp.where(gap < most, gap, most)
    served = _many(m, steps) & _reachable(xp, m, steps, c, gap, log_delta - _GOAL)
    if not anywhere(served):
        return result
    plan = _Plan(xp, m, steps, gap, c, log_delta)
    for rows, count in _groups(xp, plan, served, gap):
        result[rows] = _solve(xp, _Sum(plan, rows, count), gap[rows], delta[rows], most[rows])
    return result


def _solve(xp: Any, one: _Sum, gap: Any, delta: Any, most: Any) -> Any:
    """Newton's method proposes; the sum plus its budget certifies."""
    found, settled = one.newton(gap, xp.log(delta), most)
    epsilon = most - found

    def accepted(candidate: Any) -> Any:
        value, _ = one.upper(gap_upper(one.m, one.steps, candidate))
        return settled & (value <= delta)

    proposal = certify(xp, xp.where(epsilon > 0.0, epsilon, 0.0 * epsilon), most, accepted, tries=_TRIES)
    tight = (proposal == 0.0) | (proposal - epsilon <= TIGHT * proposal)
    return xp.where(tight, proposal, math.nan)
