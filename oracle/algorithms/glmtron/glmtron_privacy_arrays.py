"""DP-GLMtron in float64, vectorised, on the safe side: what the fast paths of `glmtron` call.

epsilon is `shuffle`'s at an epsilon0 rounded up, which it rises in. For the least noise a root search proposes the
largest epsilon0, a point just below it is certified by `shuffle`'s own upper bound, and one just above it must fail:
then the proposal is as sharp as it is sound. What is not is NaN: the reference's.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

from oracle.bounds.renyi.zcdp import fast_log_inverse
from oracle.bounds.shuffling import shuffle_arrays
from oracle.core.arrays import deflate, quotient
from oracle.engines import gaussian_arrays

_SMALLEST = 1e-290  # below, float64 loses relative accuracy
_LEAST_SHARE = 1e-3  # of delta: a smaller epsilon is a difference of deltas with too few digits left
_SHARP = 2e-10  # relative distance to the root within which a point must fail
_JUMP = 1e-10  # relative distance to the end of the closed form's condition that float64 leaves to the reference
_CLEARLY = 1.0 + 1e-6  # by which one guarantee must be the smaller for the other not to be computed
_STEPS = 60
_TRIES = 7
_NEAREST = 1e-15  # relative distance below the root of the first point tried; the next are 8 times as far each


def _local_delta(xp: Any, records: Any, delta: Any) -> Any:
    """The delta0 of one step, rounded down (every epsilon falls in delta), or NaN."""
    delta0 = deflate(delta / (2.0 * (2.0 * records - 1.0)), 4.0)
    return xp.where(delta0 > _SMALLEST, delta0, math.nan)


def _condition(xp: Any, records: Any, delta: Any) -> Any:
    """The largest epsilon0 for which the closed form holds at delta / 2."""
    return xp.log(records / (16.0 * (fast_log_inverse(xp, delta) + math.log(4.0))))


def epsilon_upper(xp: Any, noise: Any, records: Any, delta: Any, method: str) -> Any:
    """An upper bound of the smaller of the two guarantees, or NaN."""
    mu = quotient(xp, xp.ones_like(noise), noise)
    alone = gaussian_arrays.epsilon_upper(xp, mu, delta)
    delta0 = _local_delta(xp, records, delta)
    epsilon0 = gaussian_arrays.epsilon_upper(xp, mu, delta0)
    served = (epsilon0 == 0.0) | (epsilon0 > _LEAST_SHARE * delta0)
    if method == "closed-form":
        end = _condition(xp, records, delta)
        served = served & (xp.abs(epsilon0 - end) > _JUMP * (1.0 + xp.abs(end)))
    shuffled = shuffle_arrays.epsilon_upper(xp, xp.where(served, epsilon0, 1.0), records, 0.5 * delta, method)
    served = served & ((shuffled == 0.0) | (shuffled > _LEAST_SHARE * delta))
    smaller = xp.where(alone < shuffled, alone, shuffled)
    return xp.where(alone == 0.0, alone, xp.where(served & xp.isfinite(alone), smaller, math.nan))


# --- the least noise


def _root(xp: Any, level: Callable[[Any], Any], low: Any, high: Any) -> Any:
    """About where a rising level crosses 0 between two points: chords, and halving where these stall."""
    at_low, at_high = level(low), level(high)
    kept = xp.zeros_like(low)  # how often in a row the same end has stayed
    moving = low < math.inf  # a row that has arrived stays, whatever its neighbours do
    for _ in range(_STEPS):
        share = at_low / (at_low - at_high)
        inside = (share > 0.0) & (share < 1.0) & (xp.abs(kept) < 3.0)
        point = low + xp.where(inside, share, 0.5) * (high - low)
        value = level(point)
        below = ~(value > 0.0)
        step = xp.where(below, point - low, high - point)
        end = xp.where(below, xp.where(kept > 0.0, kept + 1.0, 1.0), xp.where(kept < 0.0, kept - 1.0, -1.0))
        # The end that stays pretends to be half as far away (Illinois), so that the chord crosses it next time.
        news = (
            xp.where(below, point, low), xp.where(below, high, point), end,
            xp.where(below, value, at_low * xp.where(end < -1.0, 0.5, 1.0)),
            xp.where(below, at_high * xp.where(end > 1.0, 0.5, 1.0), value),
        )
        olds = (low, high, kept, at_low, at_high)
        low, high, kept, at_low, at_high = (xp.where(moving, new, old) for new, old in zip(news, olds, strict=True))
        moving = moving & (step > 1e-12) & (high - low > 1e-13) & ~(value == 0.0)
        if not bool(xp.any(moving)):
            break
    return xp.where(xp.abs(at_low) < xp.abs(at_high), low, high)


def _largest_shuffled(xp: Any, epsilon: Any, records: Any, delta: Any) -> tuple[Any, Callable[[Any], Any]]:
    """A proposal for the largest epsilon0, and the test of one: by what an upper bound of delta exceeds delta / 2.

    delta(epsilon) is at most epsilon0 - epsilon, and above delta/2 where 1 - delta exceeds 7 e^{epsilon - epsilon0} n.
    """
    half = 0.5 * delta

    def curve(epsilon0: Any) -> Any:
        return shuffle_arrays.delta_upper(xp, epsilon0, records, epsilon, "upper")

    def level(log_gap: Any) -> Any:
        value = curve(epsilon + xp.exp(log_gap))
        return xp.where(value > 0.0, xp.log(xp.where(value > 0.0, value, 1.0) / half), -math.inf)

    high = xp.log(xp.log(records) + 3.0 - xp.log1p(-half))
    return epsilon + xp.exp(_root(xp, level, xp.log(half), high)), lambda epsilon0: curve(epsilon0) - half


def _largest_by_formula(xp: Any, epsilon: Any, records: Any, delta: Any) -> tuple[Any, Callable[[Any], Any]]:
    """A proposal for the largest epsilon0 where the formula counts, and the test of one: its excess over epsilon."""

    def closed(epsilon0: Any) -> Any:
        return shuffle_arrays.epsilon_upper(xp, epsilon0, records, 0.5 * delta, "closed-form")

    logs = fast_log_inverse(xp, delta) + math.log(8.0)
    end = _condition(xp, records, delta)
    some = (end > epsilon) & (epsilon > 0.0)
    high = xp.log(xp.where(some, end, 1.0))
    # The formula is at most 4 epsilon0 (sqrt(e logs / n) + e / n) up to epsilon0 = 1.
    slope = 4.0 * (xp.sqrt(math.e * logs / records) + math.e / records)
    low = xp.log(xp.where(some, epsilon, 1.0)) - xp.log(1.0 + slope)
    low = xp.where(low < 0.0, low, 0.0)
    low = xp.where(low < high, low, high)

    def level(log: Any) -> Any:
        spread = xp.exp(xp.exp(log)) / records
        size = xp.tanh(0.5 * xp.exp(log)) * (8.0 * xp.sqrt(spread * logs) + 8.0 * spread)
        return xp.log(xp.log1p(size)) - xp.log(xp.where(some, epsilon, 1.0))

    root = xp.where(level(high) > 0.0, _root(xp, level, low, high), high)
    return xp.where(some, xp.exp(root), epsilon), lambda epsilon0: closed(epsilon0) - epsilon


_LARGEST = {"upper": _largest_shuffled, "closed-form": _largest_by_formula}


def sigma_upper(xp: Any, records: Any, epsilon: Any, delta: Any, method: str) -> Any:
    """An upper bound of the least noise for which the smaller guarantee is at most epsilon, or NaN."""
    one = xp.ones_like(epsilon)
    alone = gaussian_arrays.sigma_upper(xp, one, epsilon, delta)
    if 0 in epsilon.shape:
        return alone
    proposal, excess = _LARGEST[method](xp, epsilon, records, delta)
    delta0 = _local_delta(xp, records, delta)
    largest, margin = xp.full_like(epsilon, math.nan), _NEAREST
    for _ in range(_TRIES):
        open_ = xp.isnan(largest)
        if not bool(xp.any(open_)):
            break
        candidate = proposal * (1.0 - margin)
        largest = xp.where(open_ & (excess(candidate) <= 0.0), candidate, largest)
        margin *= 8.0
    sharp = excess(proposal * (1.0 + _SHARP)) > 0.0
    largest = xp.where(sharp, largest, math.nan)
    shuffled = gaussian_arrays.sigma_upper(xp, one, largest, delta0)
    smaller = xp.where(alone < shuffled, alone, shuffled)
    result = xp.where(xp.isfinite(alone) & xp.isfinite(shuffled), smaller, math.nan)
    # With the noise that one release needs, a step leaks more than delta0 at the largest epsilon0: no gain.
    leaks = gaussian_arrays.delta_upper(xp, proposal * _CLEARLY, 1.0 / alone) > delta0 * _CLEARLY
    return xp.where(leaks & sharp, alone, result)
