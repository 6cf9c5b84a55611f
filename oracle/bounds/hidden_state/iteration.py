r"""Privacy amplification by iteration (Feldman, Mironov, Talwar and Thakurta 2018): Renyi DP of the last iterate.

The iteration X_t = psi_t(X_{t-1}) + N(0, noise_t^2 I) starts where the data do not matter. On neighbouring data its
maps are c-Lipschitz and differ by at most drift_t at every point. For shifts a_t >= 0 that pay off the drift,

    z_0 = 0,  z_t = max(0, c z_{t-1} + drift_t - a_t),  z_T = 0     imply     R_alpha <= alpha/2 sum_t (a_t/noise_t)^2

between the last iterates. Proof. Let R^z(X, X') be the least R_alpha(Y, X') over all Y that can be coupled with X at
distance at most z. A pair of maps turns R^z into R^{c z + drift} at no cost: psi'(Y) is that close to psi(X), and
post-processing is free. Noise of deviation tau turns R^z into R^{z-a} at the price of alpha a^2/(2 tau^2), 0 <= a <= z:
move Y by some V of length at most a towards X before the noise N is added; the divergence of Y + V + N from X' + N is
at most that of (Y, V + N) from (X', N), where divergences add, and given Y the noise sees two means at most a apart. A
shift above what is left may be replaced by what is left, which costs less: hence the max.

A map after the noise (a projection, say) belongs to the next step, or is post-processing at the end; a random start
that does not depend on the data is averaged over, which does no harm. The paper has c = 1 and shifts that never exceed
what is left. With the best shifts for c < 1 this is alpha/2 times the mu^2 of `hidden_state`.

iteration-sgd: one pass of projected noisy SGD over n records in a fixed order, one record a step,

    theta <- Pi(theta - eta (grad f_t(theta) + N(0, sigma^2 I))),

each loss convex, L-Lipschitz and beta-smooth, eta <= 2/beta: the steps are 1-Lipschitz. Replacing the record at
position t moves one step by at most 2 eta L, the noise being eta sigma; an equal shift of 2 eta L/(n+1-t) at each of
the steps t, ..., n pays it off, whatever eta is:

    R_alpha <= alpha (2L)^2 / (2 sigma^2 (n + 1 - t)).

The last record has no amplification at all. The paper's text was not at hand: both statements are derived here.
"""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

from oracle.bounds.renyi.zcdp import fast_epsilon_of_rho, zcdp_epsilon
from oracle.core import vocabulary
from oracle.core.algorithm import Values
from oracle.core.arrays import TINY, UNIT, deflate, inflate, quotient
from oracle.core.attainment import one_sided
from oracle.core.domain import shown
from oracle.core.enclosure import ball
from oracle.core.errors import DomainError
from oracle.core.registry import Bound, closed_form

_SQUARABLE = 1e140  # a number between its inverse and it has an ordinary square
_LARGE = Fraction(10**300)  # what an error message may call a number that no double holds
ALPHA = vocabulary.alpha


def squared(xp: Any, x: Any) -> Any:
    """x^2 rounded up, for x > 0; NaN (for the reference) where it nears the ends of the doubles."""
    return xp.where((x > 1 / _SQUARABLE) & (x < _SQUARABLE), inflate(x * x, 1.0), math.nan)


def ordinary(xp: Any, x: Any) -> Any:
    """x where it has all its digits, else NaN (for the reference)."""
    return xp.where((x > 1e-290) & (x < math.inf), x, math.nan)


def scaled(xp: Any, alpha: Any, rho: Any) -> Any:
    """alpha rho rounded up; nothing stays nothing."""
    return xp.where(rho == 0.0, xp.zeros_like(rho), ordinary(xp, inflate(alpha * rho, 1.0)))


# --- given drift, noise and shifts


def _unpaid(values: Values) -> Fraction:
    """The distance z_T that is left at the end, exactly."""
    left = Fraction(0)
    for drift, shift in zip(values.drift, values.shift, strict=True):
        left = max(Fraction(0), values.contraction * left + drift - shift)
    return left


def _rho(values: Values) -> Fraction:
    """R_alpha / alpha, or a DomainError where the shifts do not pay off the drift."""
    left = _unpaid(values)
    if left > 0:
        raise DomainError(
            f"shift = {shown([str(entry) for entry in values.shift])} leaves a distance of"
            f" {float(min(left, _LARGE)):.6g} after the last step (drift ="
            f" {shown([str(entry) for entry in values.drift])}, contraction = {shown(values.contraction)});"
            " expected shifts that pay it off"
        )
    squares = ((a / tau) ** 2 for a, tau in zip(values.shift, values.iterate_noise, strict=True))
    return sum(squares, Fraction(0)) / 2


def _fast_rho(xp: Any, values: Values) -> Any:
    """R_alpha / alpha rounded up; NaN where float64 does not prove that the shifts pay: exact payment is one case."""
    used = values.shift > 0.0
    ratios = squared(xp, quotient(xp, xp.where(used, values.shift, 1.0), xp.where(used, values.iterate_noise, 1.0)))
    steps = values.shift.shape[-1]
    rho = inflate(0.5 * xp.sum(xp.where(used, ratios, xp.zeros_like(ratios)), axis=-1), 2.0 + steps)
    left = xp.zeros_like(values.contraction)
    for step in range(steps):
        kept = inflate(values.contraction * left, 1.0) + TINY
        owed = xp.where(left > 0.0, inflate(kept + values.drift[..., step], 1.0), values.drift[..., step])
        left = owed - values.shift[..., step]
        left = xp.where(left > 0.0, left, xp.zeros_like(left)) * (1.0 + 2 * UNIT)
    return xp.where(left > 0.0, math.nan, rho)


_SCHEDULES = (
    vocabulary.drift,
    vocabulary.iterate_noise,
    vocabulary.shift,
    vocabulary.contraction,
)
_SHIFTED = (
    r"\frac{1}{2}\sum_{t=1}^{T}\frac{a_t^2}{\tau_t^2}, \quad z_t = \max(0,\ c z_{t-1} + s_t - a_t),\ z_0 = z_T = 0"
)

_ASSUMES = ("last-iterate", "lipschitz-maps", "bounded-drift", "gaussian-noise", "independent-start")

rdp = Bound(
    name="iteration.rdp",
    unit="rdp",
    tightness=one_sided("for the given shifts, which need not be the best"),
    summary="Renyi DP of the last iterate of a contractive noisy iteration, for given shifts",
    formula=r"\alpha\cdot" + _SHIFTED,
    parameters=(*_SCHEDULES, ALPHA),
    assumes=_ASSUMES,
    neighbours="any",
    threat_model="last_iterate",
    released="last_iterate",
    source=("background/fmit18",),
    validity="argued",
    certify=closed_form(lambda v: ball(v.alpha * _rho(v))),
    vectorised=lambda xp, v: scaled(xp, v.alpha, _fast_rho(xp, v)),
    example={
        "drift": "0.2,0,0,0", "iterate_noise": "0.1,0.1,0.1,0.1", "shift": "0.05,0.05,0.05,0.05", "contraction": "1",
        "alpha": "8",
    },
)

epsilon = Bound(
    name="iteration.epsilon",
    unit="epsilon",
    tightness=one_sided("for the given shifts, which need not be the best"),
    summary="an epsilon of the last iterate of a contractive noisy iteration, for given shifts, at the best order",
    formula=r"\varepsilon_{\mathrm{zCDP}}(\rho, \delta), \quad \rho = " + _SHIFTED,
    parameters=(*_SCHEDULES, vocabulary.delta.open()),
    assumes=_ASSUMES,
    neighbours="any",
    threat_model="last_iterate",
    released="last_iterate",
    source=("background/fmit18", "background/zcdp-conversion"),
    validity="argued",
    certify=lambda v, width: zcdp_epsilon.certify(Values(rho=_rho(v), delta=v.delta), width),
    vectorised=lambda xp, v: fast_epsilon_of_rho(xp, _fast_rho(xp, v), v.delta),
    example={
        "drift": "0.2,0,0,0", "iterate_noise": "0.1,0.1,0.1,0.1", "shift": "0.05,0.05,0.05,0.05", "contraction": "1",
        "delta": "1e-5",
    },
)


# --- one pass of noisy SGD


def within(values: Values, position: str, count: str) -> None:
    """A DomainError unless the position of that name is at most the count of that name."""
    at, most = getattr(values, position), getattr(values, count)
    if at > most:
        raise DomainError(f"{position} = {shown(at)} is outside its domain: an integer in [1, {count} = {shown(most)}]")


def _sgd_rho(values: Values) -> Fraction:
    within(values, "record_position", "dataset_size")
    steps = values.dataset_size + 1 - values.record_position
    return Fraction(2 * (values.lipschitz / values.noise_on_mean) ** 2 / steps)


def _sgd_fast_rho(xp: Any, values: Values) -> Any:
    steps = (values.dataset_size - values.record_position) + 1.0  # at most one rounding each: both are integers
    rho = quotient(xp, 2.0 * squared(xp, quotient(xp, values.lipschitz, values.noise_on_mean)), deflate(steps, 2.0))
    return xp.where(steps >= 1.0, rho, math.nan)  # no such position: the reference says so


_SGD = (
    vocabulary.lipschitz,
    vocabulary.noise_on_mean.above(0),
    vocabulary.dataset_size,
    vocabulary.record_position,
)
_SGD_ASSUMES = (
    "replace", "last-iterate", "lipschitz-losses", "no-expansion", "gaussian-noise", "independent-start", "one-pass",
    "record-at-position",
)
_ONE_PASS = r"\frac{(2L)^2}{2\sigma^2 (n + 1 - t)}"

sgd_rdp = Bound(
    name="iteration-sgd.rdp",
    unit="rdp",
    tightness=one_sided("for shifts in closed form, which need not be the best"),
    summary="Renyi DP of the last iterate of one pass of noisy SGD in a fixed order, smooth convex losses",
    formula=r"\alpha\," + _ONE_PASS,
    parameters=(*_SGD, ALPHA),
    assumes=_SGD_ASSUMES,
    neighbours="replace",
    threat_model="last_iterate",
    released="last_iterate",
    source=("background/fmit18",),
    validity="argued",
    certify=closed_form(lambda v: ball(v.alpha * _sgd_rho(v))),
    vectorised=lambda xp, v: scaled(xp, v.alpha, _sgd_fast_rho(xp, v)),
    example={"lipschitz": "1", "noise_on_mean": "4", "dataset_size": "1000", "record_position": "900", "alpha": "8"},
)

sgd_epsilon = Bound(
    name="iteration-sgd.epsilon",
    unit="epsilon",
    tightness=one_sided("for shifts in closed form, which need not be the best"),
    summary="an epsilon of the last iterate of one pass of noisy SGD in a fixed order, at the best Renyi order",
    formula=r"\varepsilon_{\mathrm{zCDP}}(\rho, \delta), \quad \rho = " + _ONE_PASS,
    parameters=(*_SGD, vocabulary.delta.open()),
    assumes=_SGD_ASSUMES,
    neighbours="replace",
    threat_model="last_iterate",
    released="last_iterate",
    source=("background/fmit18", "background/zcdp-conversion"),
    validity="argued",
    certify=lambda v, width: zcdp_epsilon.certify(Values(rho=_sgd_rho(v), delta=v.delta), width),
    vectorised=lambda xp, v: fast_epsilon_of_rho(xp, _sgd_fast_rho(xp, v), v.delta),
    example={"lipschitz": "1", "noise_on_mean": "4", "dataset_size": "1000", "record_position": "900", "delta": "1e-5"},
)
