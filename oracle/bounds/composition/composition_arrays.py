"""Optimal composition in float64, vectorised, on the safe side: what `composition_theorems` calls.

The probability of l contrary responses, C(k,l) p^{k-l} q^l, is the exponential of a sum of logarithms whose rounding
error is bounded term by term (log n! comes from a table of exact factorials). D(E) is a sum of positive terms. The
inverse is computed twice, with every quantity rounded to either side; where the two answers differ by more than the
budget, and beyond the table, the result is NaN and the reference answers.
"""

from __future__ import annotations

import functools
import math
from typing import Any

from oracle.core.arrays import TINY, UNIT, inflate

MOST_STEPS = 2000  # the sums have half as many terms, one array operation each
_BUDGET = 3e-10  # relative distance of the two sides above which the reference answers
_UNDERFLOW = 2 * MOST_STEPS * TINY  # what all the terms that underflowed may add up to


@functools.cache
def _log_factorials() -> tuple[float, ...]:
    """log 0!, ..., log MOST_STEPS!, each within a unit in its last place: Python takes logarithms of exact integers."""
    values, factorial = [0.0], 1
    for n in range(1, MOST_STEPS + 1):
        factorial *= n
        values.append(math.log(factorial))
    return tuple(values)


class Laws:
    """The two laws of the number of contrary responses, for arrays of epsilon and k <= MOST_STEPS."""

    def __init__(self, xp: Any, epsilon: Any, steps: Any) -> None:
        self.xp, self.epsilon = xp, epsilon
        self.known = steps <= MOST_STEPS
        self.steps = xp.where(self.known, steps, 0.0)
        self._table = xp.asarray(_log_factorials(), dtype=xp.float64, device=epsilon.device)
        self._log_all = self._log_factorial(self.steps)
        self._log_p = self.steps * xp.log1p(xp.exp(-epsilon))  # -log p^k
        # The table's errors, the roundings of the sums and of k log p, each at most a few units of these magnitudes.
        self._error = 8 * UNIT * (self._log_all + self._log_p + 1.0)

    def _log_factorial(self, n: Any) -> Any:
        flat = self.xp.reshape(self.xp.astype(n, self.xp.int64), (-1,))
        return self.xp.reshape(self.xp.take(self._table, flat, axis=0), n.shape)

    def largest_index(self) -> int:
        """The largest l that matters: beyond k/2 the terms are not positive."""
        return int(self.xp.max(self.steps)) // 2 if self.steps.shape != (0,) and math.prod(self.steps.shape) else -1

    def coefficient(self, contrary: int) -> Any:
        """log(C(k, l) p^k), and -inf for l > k."""
        rest = self.steps - contrary
        inside = rest >= 0.0
        chosen = _log_factorials()[contrary] + self._log_factorial(self.xp.where(inside, rest, 0.0))
        return self.xp.where(inside, (self._log_all - chosen) - self._log_p, -math.inf)

    def term(self, contrary: int, distance: Any, *, up: bool) -> Any:
        """C(k, l) p^k e^{-distance epsilon}, rounded to the asked side."""
        damping = distance * self.epsilon
        error = self._error + 8 * UNIT * damping
        exponent = self.coefficient(contrary) - damping
        return self.xp.exp(exponent + error if up else exponent - error)


def delta_upper(xp: Any, epsilon: Any, delta: Any, steps: Any, total_epsilon: Any) -> Any:
    """An upper bound of 1 - (1-delta)^k (1 - D(E)), NaN beyond the table and where a gap cancels."""
    laws = Laws(xp, epsilon, steps)
    divergence, doubt = xp.zeros_like(epsilon), xp.zeros_like(epsilon)
    for contrary in range(laws.largest_index() + 1):
        loss = (laws.steps - 2.0 * contrary) * epsilon
        slack = 4 * UNIT * (loss + total_epsilon)
        gap = (loss - total_epsilon) + slack
        term = laws.term(contrary, float(contrary), up=True)
        used = (gap > 0.0) & (loss > 0.0)
        divergence = divergence + xp.where(used, -xp.expm1(-xp.where(used, gap, 0.0)) * term, 0.0)
        doubt = doubt + xp.where(used, xp.where(slack < 1.0, slack, 1.0) * term, 0.0)
    none = laws.steps * epsilon * (1 + 4 * UNIT) <= total_epsilon * (1 - 4 * UNIT)  # then no loss exceeds E
    divergence = xp.where(none, 0.0, inflate(divergence, 8.0 + laws.steps) + _UNDERFLOW)
    divergence = xp.where(divergence < 1.0, divergence, 1.0)
    certain = delta == 1.0
    kept = laws.steps * xp.log1p(-xp.where(certain, 0.5, delta))
    total = inflate(-xp.expm1(kept) + xp.exp(kept * (1 - 4 * UNIT)) * divergence, 16.0)
    total = xp.where(none & (delta == 0.0), total, total + _UNDERFLOW)
    total = xp.where(certain | (total > 1.0), 1.0, total)
    total = xp.where(laws.known & (doubt <= 0.1 * _BUDGET * total), total, math.nan)
    return xp.where(steps == 0.0, 0.0, total)


def remaining(xp: Any, delta: Any, steps: Any, total_delta: Any) -> tuple[Any, Any]:
    """t = 1 - (1 - total_delta)/(1 - delta)^k from below and from above."""
    wanted = xp.log1p(-xp.where(total_delta < 1.0, total_delta, 0.5))
    kept = steps * xp.log1p(-xp.where(delta < 1.0, delta, 0.5))
    slack = 8 * UNIT * (xp.abs(wanted) + xp.abs(kept))
    low, high = -xp.expm1((wanted - kept) + slack), -xp.expm1((wanted - kept) - slack)
    # A logarithm of a subnormal delta may be off by its last bit, which k multiplies.
    return low - 8 * UNIT * xp.abs(low) - _UNDERFLOW, high + 8 * UNIT * xp.abs(high) + _UNDERFLOW


def _side(xp: Any, laws: Laws, t: Any, *, up: bool) -> Any:
    """max_j log((A_j - t) / B_j) with every quantity rounded to the asked side; -inf where no A_j exceeds t."""
    sign = 1.0 if up else -1.0
    best = xp.full_like(t, -math.inf)
    mass, other = xp.zeros_like(t), xp.zeros_like(t)
    decay = xp.exp(-laws.epsilon) * (1 - sign * 8 * UNIT)
    for j in range(laws.largest_index() + 1):
        mass = (mass + laws.term(j, float(j), up=up)) * (1 + sign * 2 * UNIT)
        other = (other * decay + laws.term(j, 0.0, up=not up)) * (1 - sign * 4 * UNIT)
        above = mass + (_UNDERFLOW if up else 0.0) - t
        above = above + sign * 2 * UNIT * (mass + xp.abs(t))
        other_up = other if up else other + _UNDERFLOW
        usable = (above > 0.0) & (2.0 * j <= laws.steps)
        log = xp.log(xp.where(usable, above, 1.0)) - xp.log(other_up)
        scale = (laws.steps - j) * laws.epsilon
        candidate = scale + log + sign * 16 * UNIT * (scale + xp.abs(log) + 1.0)
        best = xp.where(usable & (candidate > best), candidate, best)
    return best


def epsilon_upper(xp: Any, epsilon: Any, delta: Any, steps: Any, total_delta: Any) -> Any:
    """An upper bound of the least E with delta_total(E) <= total_delta, or NaN (also where there is none)."""
    laws = Laws(xp, epsilon, steps)
    t_low, t_high = remaining(xp, delta, steps, total_delta)
    possible = laws.known & (t_low > 0.0) & (delta < 1.0) & (total_delta < 1.0)
    upper = _side(xp, laws, xp.where(possible, t_low, 0.5), up=True)
    lower = _side(xp, laws, xp.where(possible, t_high, 0.5), up=False)
    ceiling = inflate(steps * epsilon, 1.0)  # basic composition
    upper = xp.where(upper < ceiling, upper, ceiling)
    result = xp.where(upper - lower <= _BUDGET * upper, upper, math.nan)
    return xp.where(possible, xp.where(upper < 0.0, 0.0, result), math.nan)
