r"""The Gaussian mechanism: its exact privacy curve and both inverses (`oracle.engines.gaussian_curve`).

For noise N(0, sigma^2 I) on a query of l2-sensitivity Delta, with mu = Delta / sigma, the tight curve is

    delta(epsilon) = Phi(mu/2 - epsilon/mu) - e^epsilon Phi(-mu/2 - epsilon/mu)          (Balle and Wang 2018, Thm 8)

which is also the curve that defines mu-GDP (Dong, Roth and Su 2022, Cor. 2.13; document 000, Lemma 2.5).
"""

from __future__ import annotations

from typing import Any

from flint import arb

from oracle.core import vocabulary
from oracle.core.algorithm import Values
from oracle.core.arrays import quotient
from oracle.core.attainment import truth
from oracle.core.enclosure import ball
from oracle.core.registry import Bound, closed_form
from oracle.engines import gaussian_arrays as arrays
from oracle.engines.gaussian_curve import CURVE, delta_ball, epsilon_of_mu, sigma_of

MECHANISM = CURVE + r", \quad \mu = \frac{\Delta}{\sigma}"


def _mu(values: Values) -> arb:
    return ball(values.sensitivity) / ball(values.sigma)


def _fast_mu(xp: Any, values: Values) -> Any:
    return quotient(xp, values.sensitivity, values.sigma)


_SIGMA = vocabulary.sigma
_SENSITIVITY = vocabulary.sensitivity
_SOURCE = ("relu-approx/lem-2.5",)

delta = Bound(
    name="gaussian.delta",
    unit="delta",
    tightness=truth("two values at that distance reach the Gaussian curve"),
    summary="least delta for which one Gaussian release is (epsilon, delta)-DP",
    formula=MECHANISM,
    parameters=(_SIGMA, _SENSITIVITY, vocabulary.epsilon),
    assumes=("l2-sensitivity", "gaussian-noise"),
    neighbours="any",
    threat_model="all_iterates",
    source=_SOURCE,
    validity="argued",
    certify=closed_form(lambda v: delta_ball(ball(v.epsilon), _mu(v)), at_most=1),
    vectorised=lambda xp, v: arrays.delta_upper(xp, v.epsilon, _fast_mu(xp, v)),
    example={"sigma": "1", "sensitivity": "1", "epsilon": "1"},
)

epsilon = Bound(
    name="gaussian.epsilon",
    unit="epsilon",
    tightness=truth("two values at that distance reach the Gaussian curve"),
    summary="least epsilon for which one Gaussian release is (epsilon, delta)-DP",
    formula=MECHANISM,
    parameters=(_SIGMA, _SENSITIVITY, vocabulary.delta.open()),
    assumes=("l2-sensitivity", "gaussian-noise"),
    neighbours="any",
    threat_model="all_iterates",
    source=_SOURCE,
    validity="argued",
    certify=lambda v, width: epsilon_of_mu(lambda: _mu(v), v.delta, width),
    vectorised=lambda xp, v: arrays.epsilon_upper(xp, _fast_mu(xp, v), v.delta),
    example={"sigma": "1", "sensitivity": "1", "delta": "1e-5"},
)

sigma = Bound(
    name="gaussian.sigma",
    unit="sigma",
    tightness=truth("two values at that distance reach the Gaussian curve"),
    summary="least noise standard deviation that makes one Gaussian release (epsilon, delta)-DP",
    formula=MECHANISM,
    parameters=(_SENSITIVITY, vocabulary.epsilon, vocabulary.delta.open()),
    assumes=("l2-sensitivity", "gaussian-noise"),
    neighbours="any",
    threat_model="all_iterates",
    source=_SOURCE,
    validity="argued",
    certify=lambda v, width: sigma_of(v.sensitivity, v.epsilon, v.delta, width),
    vectorised=lambda xp, v: arrays.sigma_upper(xp, v.sensitivity, v.epsilon, v.delta),
    example={"sensitivity": "1", "epsilon": "1", "delta": "1e-5"},
)

gdp_epsilon = Bound(
    name="gdp.epsilon",
    unit="epsilon",
    tightness=truth("a Gaussian release is mu-GDP and has this curve"),
    summary="least epsilon for which every mu-GDP mechanism is (epsilon, delta)-DP",
    formula=CURVE,
    parameters=(vocabulary.mu, vocabulary.delta.open()),
    assumes=("gaussian-dp",),
    neighbours="any",
    threat_model="all_iterates",
    source=_SOURCE,
    validity="argued",
    certify=lambda v, width: epsilon_of_mu(lambda: ball(v.mu), v.delta, width),
    vectorised=lambda xp, v: arrays.epsilon_upper(xp, v.mu, v.delta),
    example={"mu": "1", "delta": "1e-5"},
)
