r"""The Renyi divergence of one sampled Gaussian step in float64, vectorised, on the safe side.

M - 1 is an integral of positive terms: with Q the second law of the pair and r = 1 + x the ratio of its densities,

    (M - 1)/(alpha - 1) = int Q G(x),     G(x) = ((1+x)^alpha - 1 - alpha x)/(alpha - 1) >= 0,

since int Q x = 0 (Bernoulli's inequality); here Q = phi, x = q (w - 1) for add_remove and Q = phi u(-y),
x = q (w(y) - w(-y))/u(-y) for replace. Near x = 0, G is summed as a series, so that nothing cancels however small q,
1/sigma or alpha - 1; the divergence is log1p((alpha - 1) int Q G)/(alpha - 1).

The trapezoidal rule's error is bounded as in `sampled_moment`, by the integral of the modulus over Im y = d: since
G = alpha x^2 int_0^1 (1-s)(1+sx)^{alpha-2} ds, Q|G| grows at most by e^{d^2/2}, by |x(y+id)|^2/x^2, by the powers of
|u(-y)| that remain and, for alpha < 2, by a power of cos(theta). These integrals are float64 sums over the same nodes
with e^2 to spare, the window leaves out what is below e^{-45} of the peak, and both are held to the reference by tests.
"""

from __future__ import annotations

import math
from typing import Any

import array_api_compat

from oracle.core.arrays import UNIT

_COARSE = 160  # points of the scan that places the window
_LEVELS = (48, 96, 192, 384, 768)  # nodes
_CELLS = 60_000  # numbers in an array of the working set
_DEPTH = 45.0  # the window ends where the integrand is e^{-45} of its peak
_TIGHT = 1e-10
_TERMS = 20
_LARGEST_POWER = 600.0
_LOG_ROOT_2PI = 0.5 * math.log(2.0 * math.pi)


class _Pair:
    """Columns a = 1/sigma, q and alpha, shape [B, 1]."""

    def __init__(self, xp: Any, columns: tuple[Any, ...], *, replace: bool) -> None:
        self.xp, self.replace = xp, replace
        self.a, self.q, self.alpha = (column[:, None] for column in columns)
        self.log_q, self.rest = xp.log(self.q), 1.0 - self.q
        self.half = 0.5 * self.a * self.a

    def ratio(self, y: Any) -> tuple[Any, Any, Any, Any]:
        """x, log(1 + x), log Q(y) and the relative error of x in units, apart from a few."""
        xp, ay = self.xp, self.a * y
        t = ay - self.half
        far = t > 30.0
        near_t = xp.where(far, 0.0, t)
        log_far = self.log_q + t + xp.log1p(self.rest / self.q * xp.exp(-xp.abs(t)))
        if self.replace:
            below = self.rest + self.q * xp.exp(xp.clip(-ay - self.half, -700.0, 700.0))
            x = 2.0 * self.q * xp.exp(-self.half) * xp.sinh(xp.where(far, 0.0, ay)) / below
            log_q, log_far = xp.log(below) - 0.5 * y * y, log_far - xp.log(below)
            doubt = xp.abs(ay) / xp.tanh(xp.abs(ay) + 1e-300) + self.half + xp.abs(ay)
        else:
            x = self.q * xp.expm1(near_t)
            log_q = -0.5 * y * y
            doubt = (xp.abs(ay) + self.half) / (-xp.expm1(-xp.abs(near_t)) + 1e-300)
        log_ratio = xp.where(far, log_far, xp.log1p(x))
        x = xp.where(far, xp.exp(xp.clip(log_far, -700.0, _LARGEST_POWER)) - 1.0, x)
        return x, log_ratio, log_q - _LOG_ROOT_2PI, xp.where(far, xp.abs(ay) + self.half, doubt)

    def log_terms(self, y: Any) -> tuple[Any, Any]:
        """log(Q G), and its error in units."""
        xp, alpha = self.xp, self.alpha
        excess = alpha - 1.0
        x, log_ratio, log_q, doubt = self.ratio(y)
        small = xp.abs(x) * (1.0 + alpha) < 0.2
        tiny = xp.where(small, x, 0.0)
        series = xp.ones_like(tiny)
        for i in range(_TERMS, 0, -1):
            series = 1.0 + (alpha - (1.0 + i)) / (2.0 + i) * tiny * series
        power = xp.clip(excess * log_ratio, -700.0, 40.0)
        direct = (1.0 + x) * xp.expm1(power) / excess - x
        direct = xp.where(small, 0.5 * alpha * tiny * tiny * series, direct)
        log_g = xp.log(xp.where(direct > 0.0, direct, 5e-324))
        log_g = xp.where(excess * log_ratio > 40.0, alpha * log_ratio - xp.log(excess), log_g)
        log_g = xp.where((log_ratio > _LARGEST_POWER) & (excess * log_ratio < 40.0), math.nan, log_g)
        # G moves by at most 2 + alpha |x|/(1+x) times what x does, and the direct formula loses a digit or two.
        elasticity = 2.0 + alpha * xp.abs(x) * xp.exp(-log_ratio)
        units = 96.0 + 4.0 * elasticity * (2.0 + doubt) + 4.0 * (y * y + xp.abs(log_g))
        return log_q + log_g, units

    def growth(self, y: Any, theta: Any) -> Any:
        """The log of the factor by which Q|G| grows at most on the line Im y = theta/a, without e^{d^2/2}."""
        xp, alpha = self.xp, self.alpha
        ay = self.a * y
        short = xp.where(alpha < 2.0, 2.0 - alpha, 0.0)
        if not self.replace:
            sine = xp.sinh(xp.clip(0.5 * (ay - self.half), -300.0, 300.0))
            return xp.log1p((xp.sin(0.5 * theta) / (sine + 1e-150)) ** 2) - short * xp.log(xp.cos(0.5 * theta))
        sine = xp.sinh(xp.clip(ay, -300.0, 300.0))
        odds = xp.clip(self.log_q - xp.log(self.rest) - ay - self.half, -600.0, 600.0)
        mixing = 0.5 * (1.0 - xp.cos(theta)) / xp.cosh(0.5 * odds) ** 2
        turned = -0.5 * (alpha - 1.0) * xp.log1p(-mixing) - short * xp.log(xp.cos(theta))
        return xp.log1p((xp.sin(theta) / (sine + 1e-150)) ** 2) + turned

    def window(self) -> tuple[Any, Any]:
        """Ends, shape [B, 1], between which the integrand is above e^{-DEPTH} of its peak, by a coarse scan."""
        xp = self.xp
        low = xp.zeros_like(self.a) - 14.0
        high = (self.alpha * 2.0 - 1.0 if self.replace else self.alpha) * self.a + 14.0
        unit = xp.asarray([i / (_COARSE - 1.0) for i in range(_COARSE)], dtype=xp.float64, device=self.a.device)
        for _ in range(2):
            y = low + (high - low) * unit[None, :]
            value, _ = self.log_terms(y)
            value = xp.where(xp.isnan(value), -math.inf, value)
            inside = value > xp.max(value, axis=1)[:, None] - _DEPTH - 10.0
            step = (high - low) / (_COARSE - 1.0)
            first = xp.min(xp.where(inside, y, math.inf), axis=1)[:, None] - step
            last = xp.max(xp.where(inside, y, -math.inf), axis=1)[:, None] + step
            low, high = xp.where(first > low, first, low), xp.where(last < high, last, high)
        return low, high


def _level(xp: Any, columns: tuple[Any, ...], ends: tuple[Any, Any], count: int, *, replace: bool) -> Any:
    """Upper bounds of the divergence by that many nodes; NaN where the budget is too large."""
    pair = _Pair(xp, columns, replace=replace)
    alpha, a = pair.alpha[:, 0], pair.a[:, 0]
    low, high = ends
    unit = xp.asarray([i / (count - 1.0) for i in range(count)], dtype=xp.float64, device=a.device)
    y = low + (high - low) * unit[None, :]
    h = (high - low)[:, 0] / (count - 1.0)
    log_terms, units = pair.log_terms(y)
    top = xp.max(log_terms, axis=1)
    terms = xp.exp(log_terms - top[:, None])
    total = xp.sum(terms, axis=1)
    rounding = UNIT * (xp.sum(terms * units, axis=1) / total + count + 64.0)
    log_error = xp.zeros_like(a) + math.inf
    # The bound for replace and alpha < 2 needs an acute angle, all others one below pi.
    widest = xp.where(alpha < 2.0, 0.45 * math.pi if replace else 0.92 * math.pi, 0.92 * math.pi + 0.0 * a)
    wanted = a * 2.0 * math.pi / h
    largest = xp.where(wanted < widest, wanted, widest)
    for fraction in (1.0, 0.7, 0.45, 0.25, 0.12, 0.05):
        theta = fraction * largest
        shift = theta / a
        grown = log_terms - top[:, None] + pair.growth(y, theta[:, None])
        peak = xp.max(grown, axis=1)
        mass = peak + xp.log(xp.sum(xp.exp(grown - peak[:, None]), axis=1) / total)
        bound = mass + 0.5 * shift * shift - 2.0 * math.pi * shift / h + 2.7  # log 2, and e^2 to spare
        log_error = xp.where(bound < log_error, bound, log_error)
    edges = xp.where(terms[:, 0] > terms[:, -1], terms[:, 0], terms[:, -1]) / total
    budget = rounding + xp.exp(log_error) + 16.0 * edges + math.exp(-_DEPTH + 8.0)
    log_excess = top + xp.log(total * h * (alpha - 1.0))  # of M - 1
    small = xp.exp(xp.where(log_excess < 30.0, log_excess, 0.0))
    log_m = xp.where(log_excess < 30.0, xp.log1p(small), log_excess + xp.exp(-xp.abs(log_excess)))
    # M - 1 is off by a share of itself, which moves log M by less than the same share and than the budget.
    slack = budget * xp.where(log_m < 1.0, log_m, 1.0) + 16 * UNIT * log_m
    good = (budget < _TIGHT) & (log_m > 1e-250)
    return xp.where(good, (log_m + slack) / (alpha - 1.0) * (1.0 + 4 * UNIT), math.nan)


def divergence(xp: Any, sigma: Any, rate: Any, alpha: Any, wanted: Any, *, replace: bool) -> Any:
    """Upper bounds of the divergence of one step, in the shape of the inputs; NaN where not wanted or not served."""
    shape = sigma.shape
    a = 1.0 / sigma
    served = wanted & (a > 1e-60) & (a < 1e3) & (rate > 1e-60) & (a * alpha < 2e3) & (alpha - 1.0 > 1e-12)
    columns = tuple(xp.reshape(column, (-1,)) for column in (a, rate, alpha))
    result = columns[0] * math.nan
    rows = xp.nonzero(xp.reshape(served, (-1,)))[0]
    pieces = [rows[first : first + _CELLS // _COARSE] for first in range(0, rows.shape[0], _CELLS // _COARSE)]
    for piece in pieces:
        ends = _Pair(xp, tuple(column[piece] for column in columns), replace=replace).window()
        left = xp.arange(piece.shape[0], device=array_api_compat.device(piece))
        for count in _LEVELS:
            for first in range(0, left.shape[0], _CELLS // count):
                part = left[first : first + _CELLS // count]
                at = tuple(column[piece[part]] for column in columns)
                result[piece[part]] = _level(xp, at, (ends[0][part], ends[1][part]), count, replace=replace)
            left = left[xp.isnan(result[piece[left]])]
            if left.shape[0] == 0:
                break
    return xp.reshape(result, shape)
