"""Amplification by subsampling in float64, vectorised, on the safe side: what `amplification` calls.

Every result is a sum or product of positive terms with a budget in unit roundoffs; where float64 would cancel,
underflow or need too many terms the result is NaN and the reference answers.
"""

from __future__ import annotations

import math
from typing import Any

from oracle.core.algorithm import Values
from oracle.core.arrays import TINY, UNIT, inflate, positive_part, quotient

_LARGEST = 600.0  # an epsilon whose exponential is still far from overflow
_SMALLEST = 1e-290  # below, float64 loses relative accuracy
_LARGEST_SIZE = 1e280  # the reciprocal of a larger data set comes near the subnormals
_MOST_TERMS = 400  # of the mixture
_NEGLIGIBLE = 1e-12  # what the terms left out of the mixture may add, relatively


def amplified(xp: Any, epsilon: Any, rate: Any) -> Any:
    """log(1 + rate (e^epsilon - 1)) rounded up, for rates that are exact or rounded up already."""
    rate = xp.where(rate > 1.0, 1.0, rate)
    small = epsilon <= _LARGEST
    near = inflate(xp.log1p(inflate(rate * xp.expm1(xp.where(small, epsilon, 1.0)), 8.0) + TINY), 8.0) + TINY
    near = xp.where(near > epsilon, epsilon, near)  # sampling never costs privacy
    safe = xp.where(rate > _SMALLEST, rate, math.nan)
    log = xp.log(safe + (1.0 - safe) * xp.exp(-epsilon))
    far = positive_part(xp, epsilon + log, epsilon - log)
    result = xp.where(small, near, far)
    return xp.where((epsilon == 0.0) | (rate == 0.0), 0.0 * rate, result)  # what is NaN stays NaN


def scaled(xp: Any, rate: Any, delta: Any) -> Any:
    """rate * delta rounded up, exactly 0 where either is."""
    result = inflate(rate * delta, 1.0) + TINY
    result = xp.where(result < 1.0, result, 1.0 + 0.0 * result)
    return xp.where((delta == 0.0) | (rate == 0.0), 0.0 * rate, result)


def fraction(xp: Any, part: Any, whole: Any) -> Any:
    """part / whole rounded up and at most 1; NaN where the part is larger or the quotient tiny."""
    result = quotient(xp, part, whole)
    return xp.where(part < whole, result, xp.where(part == whole, 1.0, math.nan))


def _one_in(xp: Any, size: Any) -> Any:
    return fraction(xp, xp.ones_like(size), size)


def _unhit(xp: Any, values: Values) -> Any:
    """log of (1 - 1/n)^m; -inf for n = 1."""
    return values.draws * xp.log1p(-1.0 / values.dataset_size)


def replaced_epsilon(xp: Any, values: Values) -> Any:
    """epsilon' of draws with replacement, by either method."""
    if values.method == "mixture":
        missed = _unhit(xp, values)
        rate = inflate(-xp.expm1(missed), 16.0)
        return amplified(xp, values.base_epsilon, xp.where(values.dataset_size < _LARGEST_SIZE, rate, math.nan))
    one = amplified(xp, values.base_epsilon, _one_in(xp, values.dataset_size))
    return xp.where(one > 0.0, inflate(values.draws * one, 1.0), one)


def replaced_delta(xp: Any, values: Values) -> Any:
    """delta' of draws with replacement, by either method."""
    result = _mixture(xp, values) if values.method == "mixture" else _chain(xp, values)
    return xp.where(result < 1.0, result, xp.where(xp.isnan(result), math.nan, 1.0))


def _chain(xp: Any, values: Values) -> Any:
    """delta ((1 + (e^epsilon-1)/n)^m - 1) / (e^epsilon - 1)."""
    epsilon, delta = values.base_epsilon, values.base_delta
    one = _one_in(xp, values.dataset_size)
    moves = (epsilon > _SMALLEST) & (epsilon <= _LARGEST)
    gained = xp.expm1(xp.where(moves, epsilon, 1.0))
    total = inflate(values.draws * xp.log1p(inflate(gained * one, 4.0)), 16.0)
    total = xp.where(total <= _LARGEST, total, math.nan)
    grown = inflate(xp.expm1(total) / gained, 16.0)
    still = inflate(values.draws * one, 2.0)  # the limit at epsilon = 0
    result = inflate(delta * xp.where(moves, grown, xp.where(epsilon == 0.0, still, math.nan)), 1.0) + TINY
    return xp.where(delta > 0.0, result, 0.0 * delta)


def _mixture(xp: Any, values: Values) -> Any:
    """sum_k P(K = k) delta_k for as many terms as matter; NaN where these are too many."""
    n, m, delta = values.dataset_size, values.draws, values.base_delta
    y, gap = xp.exp(-values.base_epsilon), -xp.expm1(-values.base_epsilon)
    grow = xp.exp(xp.where(values.base_epsilon < _LARGEST, values.base_epsilon, _LARGEST))
    missed = _unhit(xp, values)
    usable = (n > 1.0) & (n < _LARGEST_SIZE) & (missed > -200.0) & ((delta == 0.0) | (delta > _SMALLEST))
    law = xp.exp(xp.where(usable, missed, math.nan))
    power, geometric, before = xp.ones_like(y), xp.zeros_like(y), xp.zeros_like(y)
    iterate, total, left = xp.zeros_like(y), xp.zeros_like(y), xp.full_like(y, math.inf)
    longest = int(xp.max(m)) if math.prod(m.shape) else 0
    for k in range(1, min(longest, _MOST_TERMS) + 1):
        rest = m - (k - 1.0)
        law = xp.where(rest > 0.0, law * (rest / (k * (n - 1.0))), 0.0 * law)
        steep = delta + iterate * grow
        flat = 1.0 - y * ((1.0 - delta) - iterate) * (1 - 4 * UNIT)
        iterate = xp.where(steep < flat, steep, flat) * (1 + 4 * UNIT)
        iterate = xp.where(iterate < 1.0, iterate, 1.0)
        if k % 2 == 0:
            power, geometric, before = power * y, 1.0 + y * geometric, geometric
            group = (1.0 - delta) * gap * (1.0 + 2.0 * y * before) / (1.0 + y) + 2.0 * delta * geometric
        else:
            group = gap * geometric + delta * power + delta * (1.0 + y) * geometric
        # Where there is no room the formula is above delta_k (its maximum lies at a negative s), so a doubt is safe.
        room = (1.0 - delta) * power * (1 + 64 * k * UNIT) >= delta * (1.0 + y) * geometric
        group = xp.where(room | (values.base_epsilon >= _LARGEST), group, iterate)
        total = total + law * xp.where(group < 1.0, group, 1.0)
        ratio = (m - k) / ((k + 1.0) * (n - 1.0))
        left = xp.where(ratio < 0.5, law * 2.0 * ratio, math.inf)
        if not bool(xp.any(usable & (left > 0.01 * _NEGLIGIBLE * total))):
            break
    budget = 64.0 * (8.0 + k + xp.abs(missed)) if longest else 0.0
    result = inflate(total + xp.where(left > 0.0, left, 0.0), budget) + 4 * _MOST_TERMS * TINY
    result = xp.where(left <= _NEGLIGIBLE * total, result, math.nan)
    return xp.where((delta == 0.0) & (values.base_epsilon == 0.0), 0.0 * delta, result)
