"""The Gaussian privacy curve in float64, vectorised, on the safe side: what the fast paths of `gaussian` call.

With x = epsilon/mu - mu/2, y = x + mu, phi the normal density and R(t) = (1 - Phi(t)) / phi(t) the Mills ratio,

    delta = phi(x) (R(x) - R(y)),        1 - delta = phi(x) (R(-x) + R(y)),      d delta / d x = -mu phi(x) R(y).

R(x) - R(y) cancels when mu is small; it is then computed from a positive integrand:
- x <= 10: the integral of 1 - t R(t) over [x, y] by Gauss-Legendre;
- x > 10: R(x) - R(y) = int_0^inf e^{-xt - t^2/2} (1 - e^{-mu t}) dt by Gauss-Laguerre in u = x t.
Every result is inflated by a budget in unit roundoffs; the budgets are held to the certified reference by tests.
"""

from __future__ import annotations

import functools
import math
from typing import Any

import numpy as np

from oracle.core.arrays import LEAST, TINY, UNIT, erfcx, inflate

MILLS_BUDGET = 4096.0  # relative error of R(x) - R(y) in unit roundoffs: 110-fold cancellation times special functions
_NEWTON_STEPS = 40
_CERTIFY_TRIES = 16
_CONVERGED = 1e-9  # Newton squares the error, so the step after such a step is below the unit roundoff
_SQRT_HALF_PI = math.sqrt(math.pi / 2)
_INVERSE_SQRT_2PI = 1 / math.sqrt(2 * math.pi)


@functools.cache
def _legendre() -> tuple[list[float], list[float]]:
    nodes, weights = np.polynomial.legendre.leggauss(8)
    return [float(v) for v in (nodes + 1) / 2], [float(v) for v in weights / 2]


@functools.cache
def _laguerre() -> tuple[list[float], list[float]]:
    nodes, weights = np.polynomial.laguerre.laggauss(20)
    return [float(v) for v in nodes], [float(v) for v in weights]


def mills(xp: Any, t: Any) -> Any:
    """R(t) = (1 - Phi(t)) / phi(t)."""
    return _SQRT_HALF_PI * erfcx(xp, t * math.sqrt(0.5))


def mills_difference(xp: Any, x: Any, mu: Any) -> Any:
    """R(x) - R(x + mu) for x >= min(0, -mu/2), without cancellation, to MILLS_BUDGET unit roundoffs."""
    safe = xp.where(x > -30.0, x, -30.0)  # R overflows on the far left, where the caller uses 1 - delta instead
    direct = mills(xp, safe) - mills(xp, safe + mu)
    right = x > 10.0
    cancels = mu < xp.where(right, 0.5 * x, 0.5)
    if bool(xp.any(cancels & ~right)):
        near = xp.zeros_like(x)
        for node, weight in zip(*_legendre(), strict=True):
            t = safe + mu * node
            near = near + weight * (1.0 - t * mills(xp, t))
        direct = xp.where(cancels & ~right, mu * near, direct)
    if bool(xp.any(cancels & right)):
        large = xp.where(right, x, 10.0)
        far = xp.zeros_like(x)
        for node, weight in zip(*_laguerre(), strict=True):
            t = node / large
            far = far - weight * xp.exp(-0.5 * t * t) * xp.expm1(-mu * t)
        direct = xp.where(cancels & right, far / large, direct)
    return direct


def curve(xp: Any, x: Any, mu: Any) -> tuple[Any, Any]:
    """An upper bound of delta and a lower bound of 1 - delta at exact doubles x and mu."""
    y = x + mu
    # The exponent carries the rounding of x^2, so that it is absolute there and monotone in the budget.
    density_up = _INVERSE_SQRT_2PI * xp.exp(-0.5 * x * x * (1 - 8 * UNIT))
    density_low = _INVERSE_SQRT_2PI * xp.exp(-0.5 * x * x * (1 + 8 * UNIT))
    delta_right = inflate(density_up * mills_difference(xp, x, mu), MILLS_BUDGET)
    delta_right = xp.where(delta_right == 0.0, LEAST, delta_right + TINY)  # a 0 is less than one subnormal
    tail = mills(xp, xp.abs(x)) + mills(xp, xp.where(y > 0.0, y, 0.0))
    complement_left = density_low * tail * (1 - 64 * UNIT)
    left = (x < 0.0) & (mu >= 0.5)
    delta = xp.where(left, (1.0 - complement_left) + 4 * UNIT, delta_right)  # both roundings are below UNIT
    delta = xp.where(delta < 1.0, delta, 1.0)
    complement = xp.where(left, complement_left, (1.0 - delta) * (1 - 4 * UNIT))
    return delta, complement


def crossing(xp: Any, epsilon: Any, mu: Any) -> Any:
    """A double not above x = epsilon/mu - mu/2 (the curve decreases in x), and not below its least value -mu/2."""
    ratio, half = epsilon / mu, 0.5 * mu
    low = (ratio - half) - 4 * UNIT * (ratio + half)
    return xp.where(low > -half, low, -half)


def delta_upper(xp: Any, epsilon: Any, mu: Any) -> Any:
    """An upper bound of delta(epsilon) for a mu-GDP Gaussian pair."""
    return curve(xp, crossing(xp, epsilon, mu), mu)[0]


def _meets(xp: Any, epsilon: Any, mu: Any, delta: Any) -> Any:
    """Whether delta(epsilon) <= delta is certain, judged by 1 - delta where delta is above a half."""
    upper, complement = curve(xp, crossing(xp, epsilon, mu), mu)
    return xp.where(delta > 0.5, complement >= 1.0 - delta, upper <= delta)  # 1 - delta is exact for delta >= 1/2


def epsilon_upper(xp: Any, mu: Any, delta: Any) -> Any:
    """An upper bound of the least epsilon >= 0 with delta(epsilon) <= delta; NaN where float64 cannot certify one.

    Newton's method in x proposes (log delta is concave in x, so it converges from the right); the certificate is the
    curve's own upper bound at the result, so a bad proposal can cost tightness but not soundness.
    """
    half = 0.5 * mu
    high = delta > 0.5
    rest = xp.where(high, 1.0 - delta, delta)
    start = xp.sqrt(-2.0 * xp.log(rest))
    x = xp.where(high, -start, start)
    x = xp.where(x > -half, x, -half)
    converged = delta < 0.0  # a converged row stays, whatever its neighbours do
    for _ in range(_NEWTON_STEPS):
        value, complement = curve(xp, x, mu)
        slope = mu * _INVERSE_SQRT_2PI * xp.exp(-0.5 * x * x) * mills(xp, xp.where(x + mu > 0.0, x + mu, 0.0))
        safe = xp.where(slope > 0.0, slope, 1.0)
        step = xp.where(
            high, complement * xp.log(rest / complement) / safe, value * xp.log(value / rest) / safe
        )
        moved = x + xp.where(slope > 0.0, xp.clip(step, -4.0, 4.0), 0.0)
        moved = xp.where(moved > -half, moved, -half)  # epsilon >= 0
        moved = xp.where(converged, x, moved)
        converged = xp.abs(moved - x) <= _CONVERGED * (xp.abs(x) + 1e-3)
        x = moved
        if bool(xp.all(converged)):
            break
    proposal = xp.where(x > -half, mu * (x + half), 0.0)
    return certify(xp, proposal, mu * (xp.abs(x) + half), lambda epsilon: _meets(xp, epsilon, mu, delta))


def certify(xp: Any, proposal: Any, scale: Any, accepted: Any, *, tries: int = _CERTIFY_TRIES) -> Any:
    """The least of 0, the proposal and its rising inflations that `accepted` certifies; NaN where none is."""
    zero = xp.zeros_like(proposal)  # an array: torch makes a choice between two plain numbers single precision
    result = xp.where(accepted(zero), zero, math.nan)
    margin = 2.0 * UNIT
    for _ in range(tries):
        open_ = xp.isnan(result)
        if not bool(xp.any(open_)):
            break
        candidate = proposal + margin * scale
        result = xp.where(open_ & accepted(candidate), candidate, result)
        margin *= 6.0
    return result


def sigma_upper(xp: Any, sensitivity: Any, epsilon: Any, delta: Any) -> Any:
    """An upper bound of the least sigma for which the Gaussian mechanism is (epsilon, delta)-DP, or NaN.

    Newton's method in log mu (d delta / d mu = phi(x)); the certificate is the curve at mu = sensitivity / sigma.
    """
    high = delta > 0.5
    rest = xp.where(high, 1.0 - delta, delta)
    z = xp.sqrt(-2.0 * xp.log(delta))
    log_mu = xp.log(2.0 * epsilon / (xp.sqrt(z * z + 2.0 * epsilon) + z) + 2.5 * delta)
    open_rows = delta >= 0.0
    for _ in range(2 * _NEWTON_STEPS):
        mu = xp.exp(log_mu)
        x = crossing(xp, epsilon, mu)
        value, complement = curve(xp, x, mu)
        slope = mu * _INVERSE_SQRT_2PI * xp.exp(-0.5 * x * x)
        safe = xp.where(slope > 0.0, slope, 1.0)
        step = xp.where(
            high, complement * xp.log(complement / rest) / safe, value * xp.log(rest / value) / safe
        )
        step = xp.where(slope > 0.0, xp.clip(step, -1.0, 1.0), xp.where(value > delta, -1.0, 1.0))
        log_mu = xp.where(open_rows, log_mu + step, log_mu)
        open_rows = open_rows & (xp.abs(step) > _CONVERGED)
        if not bool(xp.any(open_rows)):
            break
    proposal = sensitivity / xp.exp(log_mu)

    def accepted(sigma: Any) -> Any:
        positive = sigma > 0.0
        mu = inflate(sensitivity / xp.where(positive, sigma, 1.0), 1.0)
        return positive & _meets(xp, epsilon, mu, delta)

    return certify(xp, proposal, proposal, accepted)
