r"""Gaussian releases in sequence, and the curve of Gaussian DP itself.

A mu-GDP mechanism is as hard to attack as telling N(mu, 1) from N(0, 1), whose curve is

    delta(epsilon) = Phi(mu/2 - epsilon/mu) - e^epsilon Phi(-mu/2 - epsilon/mu)          (Dong, Roth and Su, Cor. 2.13)

k Gaussian releases of sensitivity Delta with noise sigma, each query chosen after seeing the answers before it, are
(sqrt(k) Delta / sigma)-GDP, and no better (Dong, Roth and Su 2022, Cor. 3.3): the joint law of k releases whose means
all move by Delta is a Gaussian moved by sqrt(k) Delta, so the worst pair is again a Gaussian pair. Nothing is lost, and
the curve is exact for every k; for k = 0 nothing is released and epsilon and delta are 0.
"""

from __future__ import annotations

from typing import Any

from flint import arb

from oracle.core import vocabulary
from oracle.core.algorithm import Values
from oracle.core.arrays import inflate, quotient
from oracle.core.attainment import truth
from oracle.core.enclosure import Enclosure, ball
from oracle.core.registry import Bound, closed_form
from oracle.engines import gaussian_arrays as arrays
from oracle.engines.gaussian_curve import CURVE, delta_ball, epsilon_of_mu

_LARGEST_MU = 1e150  # beyond, mu^2 overflows: the reference answers


def _mu(values: Values) -> arb:
    return ball(values.sensitivity / values.sigma) * ball(values.steps).sqrt()


def _delta(values: Values) -> arb:
    return arb(0) if values.steps == 0 else delta_ball(ball(values.epsilon), _mu(values))


def composed_mu(xp: Any, ratio: Any, count: Any) -> Any:
    """ratio * sqrt(count) rounded up, and 1 where the count is 0 (the caller answers there); NaN where it overflows."""
    mu = inflate(ratio * xp.sqrt(count), 4.0)
    return xp.where(count > 0.0, xp.where(mu < _LARGEST_MU, mu, float("nan")), 1.0)


def _fast_mu(xp: Any, values: Values) -> Any:
    return composed_mu(xp, quotient(xp, values.sensitivity, values.sigma), values.steps)


_SIGMA = vocabulary.sigma
_SENSITIVITY = vocabulary.sensitivity
_STEPS = vocabulary.steps
_FORMULA = CURVE + r", \quad \mu = \frac{\Delta\sqrt{k}}{\sigma}"
_SOURCE = ("background/gdp-composition",)

gdp_delta = Bound(
    name="gdp.delta",
    unit="delta",
    tightness=truth("a Gaussian release is mu-GDP and has this curve"),
    summary="least delta for which every mu-GDP mechanism is (epsilon, delta)-DP",
    formula=CURVE,
    parameters=(vocabulary.mu, vocabulary.epsilon),
    assumes=("gaussian-dp",),
    neighbours="any",
    threat_model="all_iterates",
    source=("relu-approx/lem-2.5",),
    validity="argued",
    certify=closed_form(lambda v: delta_ball(ball(v.epsilon), ball(v.mu)), at_most=1),
    vectorised=lambda xp, v: arrays.delta_upper(
        xp, v.epsilon, xp.where((v.mu > 1 / _LARGEST_MU) & (v.mu < _LARGEST_MU), v.mu, float("nan"))
    ),
    example={"mu": "1", "epsilon": "1"},
)

delta = Bound(
    name="gaussian-composed.delta",
    unit="delta",
    tightness=truth("the same two values at every release reach the curve"),
    summary="least delta for which a number of Gaussian releases together are (epsilon, delta)-DP",
    formula=_FORMULA,
    parameters=(_SIGMA, _SENSITIVITY, _STEPS, vocabulary.epsilon),
    assumes=("l2-sensitivity", "gaussian-noise"),
    neighbours="any",
    threat_model="all_iterates",
    source=_SOURCE,
    validity="argued",
    certify=closed_form(_delta, at_most=1),
    vectorised=lambda xp, v: xp.where(
        v.steps > 0.0, arrays.delta_upper(xp, v.epsilon, _fast_mu(xp, v)), 0.0
    ),
    example={"sigma": "10", "sensitivity": "1", "steps": "100", "epsilon": "1"},
)

epsilon = Bound(
    name="gaussian-composed.epsilon",
    unit="epsilon",
    tightness=truth("the same two values at every release reach the curve"),
    summary="least epsilon for which a number of Gaussian releases together are (epsilon, delta)-DP",
    formula=_FORMULA,
    parameters=(_SIGMA, _SENSITIVITY, _STEPS, vocabulary.delta.open()),
    assumes=("l2-sensitivity", "gaussian-noise"),
    neighbours="any",
    threat_model="all_iterates",
    source=_SOURCE,
    validity="argued",
    certify=lambda v, width: (
        Enclosure.exactly(0) if v.steps == 0 else epsilon_of_mu(lambda: _mu(v), v.delta, width)
    ),
    vectorised=lambda xp, v: xp.where(v.steps > 0.0, arrays.epsilon_upper(xp, _fast_mu(xp, v), v.delta), 0.0),
    example={"sigma": "10", "sensitivity": "1", "steps": "100", "delta": "1e-5"},
)
