r"""Amplification by shuffling in float64, vectorised, on the safe side: what the fast paths of `shuffle` call.

The sums are those of `shuffle_pairs`, relative to the mass at the first edge, whose logarithm is a sum of positive
deviances (Loader 2000), x log(x/m) + m - x, so that its absolute error is a few units of |x - m| and not of log n!.
Every step multiplies by a ratio; what the roundings add up to is a slack in unit roundoffs times the number of steps.
An edge is moved outwards by more than its rounding error: an outcome too many costs next to nothing there. Where the
slack is not small against the result, where the sums are long, and for an extreme epsilon0, the answer is NaN: the
reference's.
"""

from __future__ import annotations

import functools
import math
from typing import Any, NamedTuple

from flint import arb, ctx

from oracle.bounds.renyi.zcdp import fast_log_inverse
from oracle.core.arrays import TINY, UNIT, inflate

_MOST_TERMS = 4000  # of a sum, one pass of a dozen array operations each
_SMALLEST_EPSILON0, _LARGEST_EPSILON0 = 1e-140, 300.0  # beyond, products under- or overflow
_SMALLEST = 1e-290  # below, float64 loses relative accuracy
_BUDGET = 3e-10  # relative slack above which the reference answers
_LOG_TAIL = 50.0  # the clones left out have at most 2 e^-50 of the tilted mass
_NEWTON_STEPS = 60
_EXACT_STIRLING = 32  # from here on four terms of Stirling's series are exact in float64


class ShuffleCurve(NamedTuple):
    """delta(epsilon) up to `slack` either way, and -d delta / d epsilon."""

    value: Any
    slack: Any
    slope: Any

    @property
    def upper(self) -> Any:
        """An upper bound of delta(epsilon)."""
        return self.value + self.slack


@functools.cache
def _stirling_table() -> tuple[float, ...]:
    """log n! - (n + 1/2) log n + n - log(2 pi)/2 for small n, and 0 at 0, where the formula leaves it out."""
    with ctx.workprec(120):
        half_log = (2 * arb.pi()).log() / 2
        values = [arb(n + 1).lgamma() - (arb(n) + 0.5) * arb(n).log() + n - half_log for n in range(1, _EXACT_STIRLING)]
        return (0.0, *(float(value) for value in values))


def _stirling(xp: Any, n: Any) -> Any:
    table = xp.asarray(_stirling_table(), dtype=xp.float64, device=n.device)
    small = xp.where(n < _EXACT_STIRLING, n, 0.0)
    inverse = 1.0 / xp.where(n < _EXACT_STIRLING, 1.0 * _EXACT_STIRLING, n)
    square = inverse * inverse
    series = inverse * (1 / 12 - square * (1 / 360 - square * (1 / 1260 - square / 1680)))
    return xp.where(n < _EXACT_STIRLING, xp.take(table, xp.astype(small, xp.int64), axis=0), series)


def _deviance(xp: Any, x: Any, mean: Any) -> Any:
    """x log(x/mean) + mean - x >= 0."""
    some = x > 0.0
    far = (x - mean) / mean
    return xp.where(some, x * xp.log1p(xp.where(some, far, 0.0)) - (x - mean), mean)


def _log_mass(xp: Any, trials: Any, successes: Any, mean: Any, rest: Any) -> tuple[Any, Any]:
    """The logarithm of a binomial mass, `mean` + `rest` = trials, and a bound of its absolute error."""
    failures = trials - successes
    deviance = _deviance(xp, successes, mean) + _deviance(xp, failures, rest)
    inside = (successes > 0.0) & (failures > 0.0)
    product = xp.where(inside, successes, 1.0) * (xp.where(inside, failures, 1.0) / xp.where(inside, trials, 1.0))
    correction = _stirling(xp, trials) - _stirling(xp, successes) - _stirling(xp, failures)
    correction = xp.where(inside, correction - 0.5 * xp.log(2 * math.pi * product), 0.0)
    error = 32 * UNIT * (xp.abs(successes - mean) + xp.abs(failures - rest) + deviance + xp.abs(correction) + 1.0)
    return xp.where(trials > 0.0, correction - deviance, 0.0), xp.where(trials > 0.0, error, 0.0)


def _below(xp: Any, trials: Any, successes: Any, inverse_odds: Any) -> tuple[Any, Any]:
    """The binomial mass below a point over the mass there, and how many terms were needed; NaN if too many."""
    total, term, terms = xp.zeros_like(trials), xp.ones_like(trials), xp.zeros_like(trials)
    open_ = successes > 0.0
    for step in range(_MOST_TERMS):
        if not bool(xp.any(open_)):
            break
        at = xp.where(successes > step, successes - step, 0.0)
        ratio = at * inverse_odds / (trials - at + 1.0)
        term = term * ratio
        total = total + term
        terms = terms + xp.where(open_, 1.0, 0.0)
        open_ = open_ & (term * ratio > 1e-18 * (1.0 - ratio) * total)  # the ratios fall: the rest is geometric
    return xp.where(open_, math.nan, total), terms


# --- clones


def _window(xp: Any, epsilon0: Any, others: Any, z: Any) -> tuple[Any, Any, Any]:
    """The first and last c that count, and a bound of the sum of F(c, v) Bin(c; m, k) over the others."""
    log_z, log_rest = xp.log(z), xp.log1p(-z)
    log_chernoff = -z * log_z - (1.0 - z) * log_rest - math.log(2.0)
    weight = xp.exp(log_chernoff - epsilon0)
    tilted = weight / (weight - xp.expm1(-epsilon0))
    mean = others * tilted
    reach = _LOG_TAIL / 3 + xp.sqrt(_LOG_TAIL**2 / 9 + 2.0 * _LOG_TAIL * mean * (1.0 - tilted))  # Bernstein
    low, high = xp.floor(mean - reach), xp.ceil(mean + reach)
    total = others * xp.log1p(xp.exp(-epsilon0) * xp.expm1(xp.where(log_chernoff < 0.0, log_chernoff, 0.0)))
    # Twice what Bernstein leaves, for the roundings of this bound itself.
    outside = 4.0 * xp.exp(total - _LOG_TAIL + z * (log_rest - log_z))
    return xp.where(low > 0.0, low, 0.0), xp.where(high < others, high, others), outside


def _clones(xp: Any, epsilon0: Any, users: Any, epsilon: Any) -> ShuffleCurve:
    others, gap = users - 1.0, -xp.expm1(epsilon - epsilon0)
    kept, inverse_odds, rest = xp.exp(-epsilon0), xp.expm1(epsilon0), -xp.expm1(-epsilon0)
    growth = xp.expm1(epsilon)
    z = gap / (rest * (2.0 + growth))
    z = xp.where(z < 0.5, z, 0.5) * (1 + 32 * UNIT)
    low, high, outside = _window(xp, epsilon0, others, xp.where(z < 0.5, z, 0.5))
    steps = high - low
    long = steps > _MOST_TERMS
    c, v = high, xp.ceil(z * (high + 1.0)) - 1.0
    log_outer, error_outer = _log_mass(xp, others, high, others * kept, others * rest)
    log_inner, error_inner = _log_mass(xp, high, v, 0.5 * high, 0.5 * high)
    ratio, terms = _below(xp, high, v, xp.ones_like(z))
    weight, edge, beyond, doubt = xp.ones_like(z), xp.zeros_like(z), xp.zeros_like(z), xp.zeros_like(z)
    count = xp.where(long, 0.0, steps)
    for _ in range(int(xp.max(count)) + 1):
        inside = c >= low
        edge = edge + xp.where(inside, weight, 0.0)
        beyond = beyond + xp.where(inside, weight * ratio, 0.0)
        doubt = doubt + xp.where(inside & (v > 0.0), weight * (1.0 + ratio), 0.0)  # at v = 0, F(c, v-1) = 0 exactly
        safe = xp.where(c > 1.0, c, 1.0)
        after = xp.ceil(z * safe) - 1.0
        stays = after == v
        share = v / safe
        factor = xp.where(stays, 2.0 * (safe - v), 2.0 * v) / safe
        ratio = xp.where(after > 0.0, xp.where(stays, ratio + share, ratio - share) / factor, 0.0)
        weight = weight * factor * (safe / (others - safe + 1.0)) * inverse_odds
        c, v = c - 1.0, after
    scale, error = xp.exp(log_outer + log_inner), error_outer + error_inner
    first = gap / (1.0 + kept)
    value = first * edge - growth * beyond
    slack = UNIT * (128.0 + 24.0 * steps + 8.0 * terms) * (first * edge + growth * doubt) + error * xp.abs(value)
    slope = (1.0 + growth) * (kept / (1.0 + kept) * edge + beyond) * scale
    return ShuffleCurve(xp.where(long, math.nan, value * scale), slack * scale + first * outside, slope)


# --- responses


def _responses(xp: Any, epsilon0: Any, users: Any, epsilon: Any) -> ShuffleCurve:
    others, gap = users - 1.0, -xp.expm1(epsilon - epsilon0)
    kept, rest, growth = xp.exp(-epsilon0), -xp.expm1(-epsilon0), xp.expm1(epsilon)
    nudge = (32.0 + 8.0 * epsilon0) * UNIT  # the edges' rounding errors, and more
    square = -xp.expm1(-2.0 * epsilon0)
    many = users * (xp.exp(-2.0 * epsilon0) * xp.expm1(epsilon + epsilon0) / square)
    few = users * (xp.expm1(epsilon0 - epsilon) / xp.expm1(2.0 * epsilon0))
    most, least = xp.floor(many * (1.0 - nudge)), xp.ceil(few * (1.0 + nudge)) - 1.0
    most, least = xp.where(most < others, most, others), xp.where(least < others, least, others)
    mean, silent = others * (kept / (1.0 + kept)), others / (1.0 + kept)
    curves = []
    for edge, successes, inverse_odds in ((most, others - most, kept), (least, least, xp.exp(epsilon0))):
        log, error = _log_mass(xp, others, edge, mean, silent)
        ratio, terms = _below(xp, others, successes, inverse_odds)
        mass, first = xp.exp(log), gap / (1.0 + kept)
        value = first - growth * ratio
        size = first + growth * xp.where(ratio > 0.0, 1.0 + ratio, 0.0)
        # The nudge may have added an outcome, which costs at most 2 nudge (1 - k) of the mass at the edge.
        slack = UNIT * (128.0 + 8.0 * terms) * size + 4.0 * nudge * rest + error * xp.abs(value)
        slope = (1.0 + growth) * (kept / (1.0 + kept) + ratio)
        curves.append(ShuffleCurve(mass * value, mass * slack, mass * slope))
    one, two = curves
    larger = one.value > two.value
    spread = xp.where(one.upper > two.upper, one.upper, two.upper)
    value = xp.where(larger, one.value, two.value)
    return ShuffleCurve(value, spread - value + 4 * UNIT * spread, xp.where(larger, one.slope, two.slope))


_CURVES = {"upper": _clones, "lower": _responses}


# --- delta and epsilon


def _served(epsilon0: Any) -> Any:
    return (epsilon0 > _SMALLEST_EPSILON0) & (epsilon0 < _LARGEST_EPSILON0)


def delta_upper(xp: Any, epsilon0: Any, users: Any, epsilon: Any, method: str) -> Any:
    """An upper bound of the curve, or NaN."""
    served = _served(epsilon0) & (epsilon < epsilon0)
    flat = [xp.where(served, array, other) for array, other in ((epsilon0, 1.0), (users, 1.0), (epsilon, 0.5))]
    shape = epsilon0.shape
    if 0 in shape:
        return xp.zeros_like(epsilon0)
    curve = _CURVES[method](xp, *(xp.reshape(array, (-1,)) for array in flat))
    sound = (curve.slack <= _BUDGET * curve.value) & (curve.value > _SMALLEST)
    upper = xp.where(sound, inflate(curve.upper, 4.0) + TINY, math.nan)
    upper = xp.reshape(xp.where(upper < 1.0, upper, xp.where(sound, 1.0, math.nan)), shape)
    return xp.where(epsilon >= epsilon0, 0.0, xp.where(served, upper, math.nan))


def epsilon_upper(xp: Any, epsilon0: Any, users: Any, delta: Any, method: str) -> Any:
    """An upper bound of the bound by that method, or NaN."""
    if method == "closed-form":
        return _closed(xp, epsilon0, users, delta)
    if 0 in epsilon0.shape:
        return xp.zeros_like(epsilon0)
    served = _served(epsilon0) & (delta > _SMALLEST)
    least = xp.tanh(0.5 * epsilon0) * (1 + 8 * UNIT) + TINY <= delta  # epsilon is 0: one report leaks no more
    least = least | (delta_upper(xp, epsilon0, users, xp.zeros_like(epsilon0), method) <= delta)
    asked = served & ~least
    flat = [xp.where(asked, array, other) for array, other in ((epsilon0, 1.0), (users, 1.0), (delta, 0.1))]
    one, many, small = (xp.reshape(array, (-1,)) for array in flat)
    result = _inverse(xp, one, many, small, method)
    result = xp.where(served, xp.reshape(result, epsilon0.shape), math.nan)
    result = xp.where(xp.isnan(result) & _nothing_gained(xp, epsilon0, users, delta, method), epsilon0, result)
    return xp.where(least, xp.zeros_like(epsilon0), result)


def _nothing_gained(xp: Any, epsilon0: Any, users: Any, delta: Any, method: str) -> Any:
    """Where delta is so small that epsilon is next to epsilon0: the lower end of `shuffle`'s bracket says so."""
    kept = xp.exp(-epsilon0)
    alone = xp.exp((users - 1.0) * (xp.log1p(-kept) if method == "upper" else -xp.log1p(kept)))
    lost = -xp.log1p(-delta * (1.0 + kept) / alone)
    return lost <= 0.1 * _BUDGET * epsilon0


def _inverse(xp: Any, epsilon0: Any, users: Any, delta: Any, method: str) -> Any:
    """Newton's method on log delta, kept in a bracket, proposes; the curve's upper bound a little above certifies."""

    def curve(epsilon: Any) -> ShuffleCurve:
        return _CURVES[method](xp, epsilon0, users, epsilon)

    kept, tanh = xp.exp(-epsilon0), xp.tanh(0.5 * epsilon0)
    low, high = xp.zeros_like(epsilon0), epsilon0
    guess = 2.0 * tanh / xp.sqrt(users * kept + 1.0) * xp.sqrt(2.0 * fast_log_inverse(xp, delta))
    x = xp.where(guess < 0.9 * epsilon0, guess, 0.9 * epsilon0)
    settled = epsilon0 < 0.0  # a row that has arrived stays, whatever its neighbours do
    for _ in range(_NEWTON_STEPS):
        at = curve(x)
        above = at.value > delta
        low, high = xp.where(above & (x > low), x, low), xp.where(above | (x > high), high, x)
        logs = x + xp.log(xp.where(at.value > 0.0, at.value, 1.0) / delta) * at.value / at.slope
        plain = x + xp.log1p((at.value - delta) / at.slope)  # the set's own bound: never above the root
        low = xp.where(plain > low, plain, low)
        inside = (logs > low) & (logs < high) & (at.value > 0.0)
        moved = xp.where(inside, logs, 0.5 * (low + high))
        moved = xp.where(delta > 0.5, low, moved)  # log delta is flat there; from the left `low` converges by itself
        moved = xp.where(settled, x, moved)
        settled = settled | (xp.abs(moved - x) <= 1e-8 * x) | (high - low <= 4 * UNIT * high) | xp.isnan(at.value)
        x = moved
        if bool(xp.all(settled)):
            break
    result = xp.full_like(x, math.nan)
    at = curve(x)
    x = x + xp.log1p((at.value - delta) / at.slope)  # a last step, exact up to rounding if the set is the best one
    margin = 2.0 * at.slack / at.slope + 8 * UNIT * x
    for _ in range(3):
        if not bool(xp.any(xp.isnan(result))):
            break
        candidate = x + margin
        capped = xp.where(candidate < epsilon0, candidate, epsilon0)
        there = curve(xp.where(candidate < epsilon0, candidate, 0.5 * epsilon0))
        accepted = (capped >= epsilon0) | (there.upper * (1 + 4 * UNIT) <= delta)
        lowest = capped + xp.log1p((there.value - delta) / there.slope)
        tight = xp.where(candidate < epsilon0, capped - lowest, margin) <= _BUDGET * x
        accepted = accepted & tight
        result = xp.where(xp.isnan(result) & accepted, capped, result)
        margin = 4.0 * margin
    return result


def _closed(xp: Any, epsilon0: Any, users: Any, delta: Any) -> Any:
    logs = fast_log_inverse(xp, delta)
    threshold = xp.log(users / (16.0 * (logs + math.log(2.0))))
    doubt = 16 * UNIT * (1.0 + xp.abs(threshold) + epsilon0)
    inside, outside = epsilon0 + doubt < threshold, epsilon0 > threshold + doubt
    spread = xp.exp(xp.where(inside, epsilon0, 0.0)) / users
    size = xp.tanh(0.5 * epsilon0) * (8.0 * xp.sqrt(spread * (logs + math.log(4.0))) + 8.0 * spread)
    formula = inflate(xp.log1p(size), 32.0) + TINY
    formula = xp.where(formula < epsilon0, formula, epsilon0)
    result = xp.where(inside, formula, xp.where(outside, epsilon0, math.nan))
    return xp.where(epsilon0 > 0.0, result, xp.zeros_like(epsilon0))
