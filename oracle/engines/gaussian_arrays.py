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

from oracle.core.arrays import LEAST, TINY, UNIT, anywhere, at_least, at_most, erfcx, inflate

MILLS_BUDGET = 4096.0  # relative error of R(x) - R(y) in unit roundoffs: 110-fold cancellation times special functions
_NEWTON_STEPS = 40
_CERTIFY_TRIES = 16
_CONVERGED = 1e-9  # Newton squares the error, so the step after such a step is below the unit roundoff
_NEAR = 1e-5  # and so it is after such a step of a parabola, which cubes the error
_NEXT_TO_NOTHING = 1e-6  # the share of its scale below which a proposal may stand for 0
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


def _mills_difference(xp: Any, x: Any, mu: Any, near: Any, far: Any) -> Any:
    """R(x) - R(x + mu) for x >= min(0, -mu/2), without cancellation, to MILLS_BUDGET unit roundoffs.

    Given R(|x|) and R(x + mu). Left of 0 it is told for mu < 0.5 only, elsewhere the caller uses 1 - delta instead.
    """
    direct = near - far
    right = x > 10.0
    cancels = mu < xp.where(right, 0.5 * x, 0.5)
    if anywhere(cancels):
        close, distant = cancels & ~right, cancels & right
        if anywhere(close):
            integral = xp.zeros_like(x)
            for node, weight in zip(*_legendre(), strict=True):
                t = x + mu * node
                integral = integral + weight * (1.0 - t * mills(xp, t))
            direct = xp.where(close, mu * integral, direct)
        if anywhere(distant):
            large = xp.where(right, x, 10.0)
            integral = xp.zeros_like(x)
            for node, weight in zip(*_laguerre(), strict=True):
                t = node / large
                integral = integral - weight * xp.exp(-0.5 * t * t) * xp.expm1(-mu * t)
            direct = xp.where(distant, integral / large, direct)
    return direct


def curve(xp: Any, x: Any, mu: Any) -> tuple[Any, Any]:
    """An upper bound of delta and a lower bound of 1 - delta at exact doubles x >= -mu/2 and mu."""
    return _curve(xp, x, mu)[:2]


def _curve(xp: Any, x: Any, mu: Any) -> tuple[Any, Any, Any, Any]:
    """What `curve` tells; and phi(x) and R(x + mu), about."""
    y, square = x + mu, -0.5 * x * x
    # The exponent carries the rounding of x^2, so that it is absolute there and monotone in the budget.
    density = _INVERSE_SQRT_2PI * xp.exp(square * (1 - 8 * UNIT))
    near, far = mills(xp, xp.abs(x)), mills(xp, y)
    delta = inflate(density * _mills_difference(xp, x, mu, near, far), MILLS_BUDGET)
    delta = xp.where(delta == 0.0, LEAST, delta + TINY)  # a 0 is less than one subnormal
    delta = xp.where(delta < 1.0, delta, 1.0)
    complement = (1.0 - delta) * (1 - 4 * UNIT)
    left = (x < 0.0) & (mu >= 0.5)
    if anywhere(left):
        tail = _INVERSE_SQRT_2PI * xp.exp(square * (1 + 8 * UNIT)) * (near + far) * (1 - 64 * UNIT)
        complement = xp.where(left, tail, complement)
        rest = (1.0 - tail) + 4 * UNIT  # both roundings are below UNIT
        delta = xp.where(left, xp.where(rest < 1.0, rest, 1.0), delta)
    return delta, complement, density, far


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

    The logarithm of delta (or of 1 - delta, above a half) is nearly a parabola in x, whose zero is the next x: with

        d delta / dx = -s,   d^2 delta / dx^2 = s (1/R(y) - mu),      s = mu phi(x) R(y),

    an error e becomes about e^3. It starts at phi(x) mu / ((x + 1) (y + 1)) = delta. This proposes; the certificate is
    the curve's own upper bound at the result, so a bad proposal can cost tightness but not soundness.
    """
    half = 0.5 * mu
    high = delta > 0.5
    rest, side = xp.where(high, 1.0 - delta, delta), xp.where(high, -1.0, 1.0)
    square = -2.0 * xp.log(rest)
    start = xp.sqrt(square)
    nearer = square - 2.0 * xp.log((start + 1.0) * (start + mu + 1.0) / (_INVERSE_SQRT_2PI * mu))
    x = xp.where(high, -start, xp.sqrt(at_least(xp, nearer, 0.0)))
    x = xp.where(x > -half, x, -half)
    converged = delta < 0.0  # a converged row stays, whatever its neighbours do
    for _ in range(_NEWTON_STEPS):
        value, complement, density, far = _curve(xp, x, mu)
        known = xp.where(high, complement, value)
        slope = mu * density * far
        good = slope > 0.0
        each = known / xp.where(good, slope, 1.0)  # d x / d log known
        excess = xp.log(known / rest)
        bend = 1.0 - side * each * (1.0 / far - mu)
        step = 2.0 * excess * each / (1.0 + xp.sqrt(at_least(xp, 1.0 + 2.0 * bend * excess, 0.0)))
        step = at_most(xp, at_least(xp, xp.where(good, side * step, 0.0), -4.0), 4.0)
        moved = x + step
        moved = xp.where(moved > -half, moved, -half)  # epsilon >= 0
        moved = xp.where(converged, x, moved)
        converged = xp.abs(moved - x) <= _NEAR * (xp.abs(x) + 1e-3)
        x = moved
        if not anywhere(~converged):
            break
    scale = mu * (xp.abs(x) + half)
    proposal = xp.where(x > -half, mu * (x + half), 0.0)
    # The rounding of x from epsilon, by `crossing`, is always to be made up for.
    return certify(xp, proposal + 8.0 * UNIT * scale, scale, lambda epsilon: _meets(xp, epsilon, mu, delta))


def certify(xp: Any, proposal: Any, scale: Any, accepted: Any, *, tries: int = _CERTIFY_TRIES) -> Any:
    """The least of 0, the proposal and its rising inflations that `accepted` certifies; NaN where none is.

    0 is looked at where the proposal is next to it, or is none.
    """
    zero = xp.zeros_like(proposal)  # an array: torch makes a choice between two plain numbers single precision
    result, close = zero + math.nan, ~(proposal > _NEXT_TO_NOTHING * scale)
    if anywhere(close):
        result = xp.where(close & accepted(zero), zero, result)
    margin = 2.0 * UNIT
    for _ in range(tries):
        open_ = xp.isnan(result)
        if not anywhere(open_):
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
