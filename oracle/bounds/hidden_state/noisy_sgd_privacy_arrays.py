"""Noisy SGD with hidden state in float64, vectorised, on the safe side: what the fast paths of `noisy_sgd` call.

The candidates of `noisy_sgd` are array axes: [rows, lengths, orders] for each share of the noise. Moments come from
`wor_gaussian_arrays`; where one of them cannot be trusted and might have been the best (judged by log M >= t L/t at a
smaller order), the row is NaN and the reference answers.
"""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

from oracle.bounds.renyi.zcdp import fast_log_inverse
from oracle.bounds.sampling import wor_gaussian_arrays as moments
from oracle.core.algorithm import Values
from oracle.core.arrays import TINY, UNIT, inflate, positive_part, quotient
from oracle.core.errors import DomainError
from oracle.engines import gaussian_arrays

LENGTHS = (1, 2, 3, *(k * 2**i for i in range(28) for k in (4, 5, 6)))
"""The numbers m of last steps that are paid for step by step; T itself is tried, too."""
SHARES = (Fraction(1), Fraction(31, 32), Fraction(13, 16))
"""The shares s of the noise (of its standard deviation) that hide the sampled record; the rest hides the shifts."""
ORDERS = tuple(Fraction(k, 2) * Fraction(2) ** j for j in range(-1, 10) for k in (2, 3))
"""The t = alpha - 1 of the Renyi divergences."""
LEAST_RATIO, LARGEST_RATIO = Fraction(1, 10**5), Fraction(10**4)

_POWERS = 1024.0  # unit roundoffs: the worst term is c^m with an exponent error m log c, at most 745 before underflow
_LONGEST_EXPONENT = 1e5  # of delta, whose relative error it magnifies
_ROWS = 16  # whose candidates are in memory at once


def ratio_message(ratio: float) -> str:
    """What is wrong with a ratio of sensitivity and noise."""
    return (
        f"sensitivity / (batch_size * sigma) = {ratio:.6g} is outside its domain: a real number in"
        f" [{float(LEAST_RATIO):g}, {float(LARGEST_RATIO):g}]"
    )


def rough_log_moments(xp: Any, b: Any, rate: Any, t: Any) -> Any:
    """About log M, for columns: a proposal."""
    near = moments.moments(xp, b, rate, t, panels=moments.ROUGH)
    return moments.log_moment(xp, near.top, near.zeroth)


def _check(xp: Any, values: Values, ratio: Any) -> None:
    """The DomainErrors of the reference."""
    flat = {name: xp.reshape(vars(values)[name] + 0.0, (-1,)) for name in ("batch_size", "dataset_size")}
    for batch, size in zip(flat["batch_size"].tolist(), flat["dataset_size"].tolist(), strict=True):
        if batch > size:
            raise DomainError(f"batch_size = {batch} is outside its domain: an integer <= dataset_size = {size}")
    # Within rounding of the ends the reference decides, and where a ratio is not known (NaN).
    for value in xp.reshape(ratio, (-1,)).tolist():
        if value < float(LEAST_RATIO) * (1 - 1e-12) or value > float(LARGEST_RATIO) * (1 + 1e-12):
            raise DomainError(ratio_message(min(value, 1e300)))


def _geometric_sum(xp: Any, c: Any, k: Any) -> Any:
    gap = xp.where(c < 1.0, 1.0 - c, 1.0)
    return xp.where(c < 1.0, -xp.expm1(_log_power(xp, c, k)) / gap, k)


def _log_power(xp: Any, c: Any, k: Any) -> Any:
    """log c^k; 1 - c is exact for c >= 1/2, so nothing cancels as c -> 1."""
    inside = xp.where(c > 0.0, c, 0.5)
    return xp.where(k > 0.0, xp.where(c > 0.0, k * xp.log1p(inside - 1.0), -1e4), 0.0)


def _lengths(xp: Any, steps: Any) -> Any:
    """[rows, lengths]: the m up to T, filled up with T."""
    longest = float(xp.max(steps))
    table = [float(m) for m in LENGTHS if m < longest] + [longest]
    m = xp.asarray(table, dtype=xp.float64, device=steps.device)[None, :] + 0.0 * steps
    return xp.where(m < steps, m, steps)


def _shifts(xp: Any, ratio: Any, diameter: Any, c: Any, steps: Any) -> tuple[Any, Any, Any]:
    """m, B_m and the least mu_m, rounded up: [rows, lengths] twice, and a column."""
    m = _lengths(xp, steps)
    drift = ratio * _geometric_sum(xp, c, steps - m)
    drift = xp.where(drift < diameter, drift, diameter)
    moved, squares = xp.exp(_log_power(xp, c, m)) * drift, _geometric_sum(xp, c, 2.0 * m) / (1.0 + c)
    mu = (moved + ratio * _geometric_sum(xp, c, m)) / xp.sqrt(squares)
    return m, inflate(moved * moved / squares, 4 * _POWERS), inflate(xp.min(mu, axis=1, keepdims=True), 2 * _POWERS)


def _costs(xp: Any, ratio: Any, rate: Any, m: Any, shifts: Any, steps: Any) -> tuple[Any, Any]:
    """V for every share and order, [rows, shares * orders]: an upper bound (or NaN), and about a lower one."""
    t = xp.asarray([float(order) for order in ORDERS], dtype=xp.float64, device=ratio.device)[None, :]
    upper: list[Any] = []
    lower: list[Any] = []
    for share in SHARES:
        b = inflate(ratio / float(share), 1.0)
        grids = [xp.reshape(part + 0.0 * (b + t), (-1, 1)) for part in (b, rate, t)]
        log = xp.reshape(moments.step_upper(xp, *grids), (b.shape[0], len(ORDERS)))
        slope, at_least = 0.0 * b[:, 0], []
        for index, order in enumerate(ORDERS):
            known = ~xp.isnan(log[:, index])
            at_least.append(xp.where(known, log[:, index], slope * float(order)))
            slope = xp.where(known, log[:, index] / float(order) * (1 - 1e-9), slope)
        for log_moment, into in ((log, upper), (xp.stack(at_least, axis=1), lower)):
            if share == 1:
                into.append(inflate(steps * log_moment, 1.0))
                continue
            factor = 0.5 * t * (1.0 + t) / float(1 - share**2)
            each = m[:, :, None] * log_moment[:, None, :] + factor[:, None, :] * shifts[:, :, None]
            into.append(inflate(xp.min(each, axis=1), 8.0))
    return xp.concat(upper, axis=1), xp.concat(lower, axis=1)


def _best(xp: Any, upper: Any, lower: Any, size: Any) -> tuple[Any, Any]:
    """The least of the upper values and its magnitude, columns; NaN where an unknown candidate might be lower."""
    known = xp.where(xp.isnan(upper), math.inf, upper)
    best = xp.min(known, axis=1, keepdims=True)
    doubt = xp.any(xp.isnan(upper) & ~(lower > best), axis=1, keepdims=True)
    magnitude = xp.max(xp.where(known == best, size, 0.0), axis=1, keepdims=True)
    return xp.where(doubt, math.nan, best), magnitude


def _in_rows(xp: Any, compute: Any, values: Values, given: Any) -> Any:
    """`compute(ratio, rate, m, shifts, mu, steps, given)` a few rows at a time; the trivial rows are 0."""
    ratio = quotient(xp, values.sensitivity, values.batch_size, values.noise_on_mean)
    # Beyond all doubles it is certainly too large, where a double may stand for what is not known.
    beyond = values.sensitivity / values.batch_size / values.noise_on_mean == math.inf
    _check(xp, values, xp.where(beyond, math.inf, ratio))
    endless = values.diameter == math.inf
    diameter = quotient(xp, xp.where(endless | (values.diameter == 0.0), 1.0, values.diameter), values.learning_rate,
                        values.noise_on_mean)
    diameter = xp.where(endless, math.inf, diameter)
    live = (values.steps > 0.0) & (values.diameter > 0.0)
    rate = values.batch_size / values.dataset_size
    shape = ratio.shape
    steps = xp.where(live & (values.contraction > 0.0), values.steps, 1.0)
    columns = [
        xp.reshape(part + 0.0, (-1, 1)) for part in (ratio, diameter, values.contraction, rate, steps, given)
    ]
    parts = []
    for start in range(0, columns[0].shape[0], _ROWS):
        r, d, c, q, steps, asked = (column[start : start + _ROWS, :] for column in columns)
        m, shifts, mu = _shifts(xp, r, d, c, steps)
        sampled = q < 1.0
        upper, lower = _costs(xp, r, xp.where(sampled, inflate(q, 1.0), 0.5), m, shifts, steps)
        parts.append(compute(upper, lower, mu, sampled, asked))
    result = xp.reshape(xp.concat(parts, axis=0), shape) if parts else 0.0 * ratio
    return xp.where(live, result, 0.0 * ratio)  # NaN where the ratio is not known: it may be outside its domain


def _order_row(xp: Any, like: Any) -> Any:
    return xp.asarray([float(order) for order in ORDERS] * len(SHARES), dtype=xp.float64, device=like.device)[None, :]


def epsilon_upper(xp: Any, values: Values) -> Any:
    """An upper bound of the least candidate epsilon, or NaN."""

    def least(upper: Any, lower: Any, mu: Any, sampled: Any, delta: Any) -> Any:
        t, log = _order_row(xp, mu), fast_log_inverse(xp, delta)
        saved = xp.log1p(1.0 / t) + xp.log1p(t) / t
        spent, at_least = (upper + log) / t, (lower + log) / t
        best, size = _best(xp, spent - saved, at_least - saved, spent + saved)
        whole = gaussian_arrays.epsilon_upper(xp, mu, delta)
        renyi = positive_part(xp, best, size)
        return xp.where(sampled & ~(renyi > whole), renyi, whole)

    return _in_rows(xp, least, values, values.delta)


def delta_upper(xp: Any, values: Values) -> Any:
    """An upper bound of the least candidate delta, or NaN."""

    def least(upper: Any, lower: Any, mu: Any, sampled: Any, epsilon: Any) -> Any:
        t = _order_row(xp, mu)
        saved = t * xp.log1p(1.0 / t) + xp.log1p(t) + t * epsilon
        best, size = _best(xp, upper - saved, lower - saved, upper + saved)
        whole = gaussian_arrays.delta_upper(xp, epsilon, mu)
        usable = (size < _LONGEST_EXPONENT) | (best > 1.0)
        exponent = xp.where(usable, best + 32 * UNIT * size, math.nan)
        renyi = inflate(xp.exp(xp.where(exponent > 0.0, 0.0, exponent)), 8.0) + TINY
        renyi = xp.where(renyi > 1.0, 1.0, xp.where(renyi > 1e-290, renyi, math.nan))  # NaN stays NaN
        return xp.where(sampled & ~(renyi > whole), renyi, whole)

    return _in_rows(xp, least, values, values.epsilon)
