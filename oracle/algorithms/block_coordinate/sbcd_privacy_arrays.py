r"""DP-SBCD's recursion, in balls as well as on arrays, and its fast paths.

All terms are positive, so rounding errors are relative and add up. What moves most is q^m = e^{m l}: an error of l, of
relative size a few units in each of log L_F and log L_T, counts m times, but for q < 1 never more than 800 / |l| times:
beyond, the power is nothing beside the noise that follows (whose range is bounded here) or the result is below the
doubles that have digits, and the reference answers. An epoch has three such powers, and the rounding of `end` is handed
on from epoch to epoch: hence the linear and the quadratic term of the budget.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from oracle.bounds.renyi.zcdp import zcdp_epsilon
from oracle.core.algorithm import Values
from oracle.core.arrays import UNIT, inflate, quotient
from oracle.core.errors import DomainError
from oracle.engines import gaussian_arrays

_MOST = 4e-10  # relative budget above which the reference answers
_SMALL = 1e-290  # products stay between this and its inverse
_WIDE = 1e100  # noise stays between this and its inverse
_LARGEST_GROWTH = 230.0  # V grows by less than e^230 = 10^100
_NEGLIGIBLE = 800.0  # e^-800 is no double
LARGE_EXPONENT = 30.0  # above, e^x is kept out of a mean of exponentials


@dataclass(frozen=True)
class EpochPowers:
    """Powers of q and geometric sums of them, for N batches an epoch of which j come before the one with the record."""

    ratio: Any  # q
    before: Any  # q^j
    before_sum: Any  # 1 + ... + q^{j-1}
    epoch: Any  # q^N
    epoch_sum: Any  # 1 + ... + q^{N-1}
    others: Any  # q^{N-1}
    after: Any  # q^{N-1-j}


def decayed(noises: Sequence[Any], powers: EpochPowers) -> Any:
    """The sum of 1/o_k, each times what is left of it at the end, in balls or in arrays."""
    total = end = at = 0 * powers.ratio
    for index, noise in enumerate(noises):
        before = powers.before * end + powers.before_sum * noise
        if index:
            total = total * (powers.others * at / before)
        total = total + 1 / noise
        at = powers.ratio * before + noise
        end = powers.epoch * end + powers.epoch_sum * noise
    return total * (powers.after * at / end)


def scaled(xp: Any, first: Any, *factors: Any) -> Any:
    """A product of positive factors, rounded up; NaN (for the reference) where one nears the ends of the doubles."""
    result = xp.where(first > _SMALL, first, math.nan)
    for factor in factors:
        result = inflate(result * factor, 1.0)
        result = xp.where((factor > _SMALL) & (result > _SMALL) & (result < 1 / _SMALL), result, math.nan)
    return result


def or_nothing(compute: Callable[[Any, Values], Any]) -> Callable[[Any, Values], Any]:
    """The same fast path, and 0 where the schedules are empty: nothing is released that depends on the data."""
    return lambda xp, values: compute(xp, values) if values.noise_variances.shape[-1] else 0.0 * values.learning_rate


# --- one block, hidden state


def _shares(xp: Any, values: Values, before: Any, most: float) -> Any:
    """rho for the record behind that many batches (a last axis), rounded up by at most that relative budget, or NaN."""
    noise, epochs, batches = values.noise_variances, values.noise_variances.shape[-1], values.batches[..., None]
    before = before + 0.0 * batches
    logs = [xp.log(factor)[..., None] for factor in (values.lipschitz_gradient, values.lipschitz_prox)]
    log, size = 2.0 * (logs[0] + logs[1]), xp.abs(logs[0]) + xp.abs(logs[1])
    steep = xp.where(log == 0.0, 1.0, log)

    def power(exponent: Any) -> Any:
        return xp.exp(exponent * log)

    def geometric_sum(exponent: Any) -> Any:
        return xp.where(log == 0.0, exponent, xp.expm1(exponent * log) / xp.expm1(steep))

    total = decayed([noise[..., k, None] for k in range(epochs)], EpochPowers(
        xp.exp(log), power(before), geometric_sum(before), power(batches), geometric_sum(batches),
        power(batches - 1.0), power(batches - 1.0 - before),
    ))
    counted = xp.where(log < 0.0, xp.minimum(batches, -_NEGLIGIBLE / steep), batches)
    units = epochs * (36.0 * counted * size + 64.0) + 16.0 * epochs * epochs
    safe = (
        (units * UNIT < most) & (batches < 2.0**53)
        & (epochs * batches * log < _LARGEST_GROWTH)  # no V overflows
        & ((xp.min(noise, axis=-1) > 1 / _WIDE) & (xp.max(noise, axis=-1) < _WIDE))[..., None]
    )
    shift = quotient(xp, values.sensitivity, values.batch_size)
    scale = scaled(xp, 0.25 * values.learning_rate, shift, shift)[..., None]
    return inflate(scaled(xp, scale, xp.where(safe, total, math.nan)), units)


def one(xp: Any, values: Values) -> Any:
    """alpha rho at one position."""
    beyond = values.batch_position > values.batches
    if bool(xp.any(beyond)):
        at = int(xp.argmax(xp.astype(xp.reshape(beyond, (-1,)), xp.int8)))
        position, batches = (float(xp.reshape(v, (-1,))[at]) for v in (values.batch_position, values.batches))
        raise DomainError(f"batch_position = {position} is above batches = {batches}: there is no such batch")
    return scaled(xp, values.alpha, _shares(xp, values, values.batch_position[..., None] - 1.0, _MOST)[..., 0])


def _every_position(xp: Any, values: Values, most: float) -> tuple[Any, Any]:
    """rho at every position along a last axis, and whether there is such a position (else it is the first's rho)."""
    batches = values.batches[..., None]
    longest = int(xp.max(batches)) if math.prod(batches.shape) else 1
    before = xp.arange(longest, dtype=xp.float64, device=batches.device)
    there = before < batches
    return _shares(xp, values, xp.where(there, before, 0.0), most), there


def mixed(xp: Any, values: Values) -> Any:
    """The log of the mean of exponentials, which is at most 31 times as sensitive to a relative error as they are.

    Its relative condition is mean(x e^x) / (mean(e^x) log mean(e^x)); with x e^x <= (1 + x) (e^x - 1) and
    1 - 1/y <= log y it is at most 1 + max x, which serves below 30. Above, log mean(e^x) >= max x - log N, that is more
    than (2/3) max x for the at most 10^4 batches.
    """
    alpha, count = values.alpha, values.batches
    share, there = _every_position(xp, values, _MOST / 40.0)
    exponent = scaled(xp, scaled(xp, alpha, alpha - 1.0)[..., None], share)
    top = xp.max(exponent, axis=-1)

    def mean(terms: Any) -> Any:
        return xp.sum(xp.where(there, terms, 0.0), axis=-1) / count

    low = xp.log1p(mean(xp.expm1(exponent)))
    high = top + xp.log(mean(xp.exp(exponent - top[..., None])))
    log = inflate(xp.where(top < LARGE_EXPONENT, low, high), 2.0 * count + 128.0)
    return quotient(xp, log, alpha - 1.0)


def epsilon(xp: Any, values: Values) -> Any:
    """zCDP's epsilon at the largest rho; NaN where it moves so fast that the budget of rho would show."""
    rho = xp.max(_every_position(xp, values, _MOST)[0], axis=-1)
    known = xp.where(rho > 0.0, rho, 1.0)
    result, beside = (
        zcdp_epsilon.vectorised(xp, Values(rho=at, delta=values.delta)) for at in (known, known * (1.0 + 1e-6))
    )
    return xp.where((rho > 0.0) & (beside - result <= 2e-6 * result), result, math.nan)


# --- all iterates of all blocks


def composed(xp: Any, values: Values) -> Any:
    """rho of all updates together, rounded up."""
    shift = quotient(xp, values.sensitivities, values.batch_size[..., None])
    terms = quotient(xp, scaled(xp, shift, shift), values.noise_variances)
    total = inflate(xp.sum(terms, axis=-1), 1.0 * terms.shape[-1])
    return scaled(xp, 0.25 * values.learning_rate, total)


def composed_rdp(xp: Any, values: Values) -> Any:
    """alpha rho."""
    return scaled(xp, values.alpha, composed(xp, values))


def composed_epsilon(xp: Any, values: Values) -> Any:
    """The Gaussian curve's epsilon at mu = sqrt(2 rho)."""
    return gaussian_arrays.epsilon_upper(xp, inflate(xp.sqrt(2.0 * composed(xp, values)), 2.0), values.delta)
