r"""Noisy gradient descent as a Langevin diffusion (Chourasia, Ye and Shokri 2021): Renyi DP of the last iterate.

theta <- Pi(theta - eta (mean of n gradients) + N(0, 2 eta sigma^2 I)), K times, with or without a projection on a
convex set, from a start whose law does not depend on the data (the paper's is N(0, 2 sigma^2/lambda I)). Every loss is
lambda-strongly convex and beta-smooth; replacing a record moves the *sum* of the gradients by at most S. Then

    R_alpha <= alpha S^2 / (lambda sigma^2 n^2) (1 - e^{-lambda eta K/2}).

The paper's text was not at hand, and its proof (by log-Sobolev inequalities) is not needed: `iteration` implies the
statement. Let h = eta lambda. For eta <= 2/(lambda + beta), which the paper's eta < 1/beta implies, a gradient step
contracts by c = 1 - h, 0 <= c < 1. Its drift is eta S/n and its noise has variance 2 eta sigma^2. With the best shifts,
in proportion to c^{K-t}, R_alpha <= alpha mu^2/2 with the mu of `noisy-gd.mu`:

    mu^2/2 = (eta S/n)^2/(4 eta sigma^2) (1+c)/(1-c) (1-c^K)/(1+c^K) = S^2/(lambda sigma^2 n^2) g(K),
    g(K) = (2-h)/4 (1-c^K)/(1+c^K) = (2-h)/4 tanh(y K/2),     y = -log(1-h).

g is concave in K >= 0 with g(0) = 0 and g(1) = h/4, so g(K) <= h K/4 for K >= 1; and g(K) < 1/2. With v = h K/2 it
remains that min(v/2, 1/2) <= 1 - e^{-v}: the right side is concave, so at least (1 - 1/e) v on [0, 1], and at least
1 - 1/e beyond. (At h = 1, c = 0 and g(K) = 1/4 for K >= 1: the same two bounds.)

So `noisy-gd.mu` is always the better of the two, by a factor of at least 1/0.8 (at v = 1), and about 2 at either end.
This bound is here because people cite it.
"""

from __future__ import annotations

import math
from typing import Any

from flint import arb

from oracle.bounds.hidden_state.iteration import ALPHA, scaled, squared
from oracle.bounds.renyi.zcdp import epsilon_of_rho, fast_epsilon_of_rho
from oracle.core import vocabulary
from oracle.core.algorithm import Values
from oracle.core.arrays import inflate, quotient
from oracle.core.attainment import one_sided
from oracle.core.domain import shown
from oracle.core.enclosure import ball
from oracle.core.errors import DomainError
from oracle.core.registry import Bound, closed_form


def _suits(learning_rate: Any, strong_convexity: Any, smoothness: Any) -> bool:
    """Whether gradient steps contract by 1 - eta lambda."""
    return bool(strong_convexity <= smoothness and learning_rate * (strong_convexity + smoothness) <= 2)


def _check(learning_rate: Any, strong_convexity: Any, smoothness: Any) -> None:
    if not _suits(learning_rate, strong_convexity, smoothness):
        raise DomainError(
            f"learning_rate = {shown(learning_rate)} is outside its domain: at most 2 / (strong_convexity + smoothness)"
            f" with strong_convexity = {shown(strong_convexity)} <= smoothness = {shown(smoothness)}"
        )


def _rho(values: Values) -> arb:
    """R_alpha / alpha."""
    lam = values.strong_convexity
    forgotten = -ball(-lam * values.learning_rate * values.steps / 2).expm1()
    return ball((values.sensitivity / (values.diffusion * values.dataset_size)) ** 2 / lam) * forgotten


def _certified_rho(values: Values) -> arb:
    _check(values.learning_rate, values.strong_convexity, values.smoothness)
    return _rho(values)


def _fast_rho(xp: Any, values: Values) -> Any:
    """R_alpha / alpha rounded up; NaN where the reference must answer, which decides the conditions exactly."""
    lam, eta = values.strong_convexity, values.learning_rate
    suits = (lam <= values.smoothness) & (inflate(eta * inflate(lam + values.smoothness, 1.0), 1.0) <= 2.0)
    exponent = 0.5 * (lam * eta) * values.steps
    exponent = xp.where((lam * eta > 1e-290) & (exponent < 1e300), exponent, math.nan)
    scale = squared(xp, quotient(xp, values.sensitivity, values.dataset_size, values.diffusion))
    rho = quotient(xp, inflate(scale * -xp.expm1(-exponent), 16.0), lam)
    rho = xp.where(suits, rho, math.nan)
    return xp.where(suits & (values.steps == 0.0), xp.zeros_like(rho), rho)


_TRAINING = (
    vocabulary.sensitivity,
    vocabulary.dataset_size,
    vocabulary.diffusion,
    vocabulary.strong_convexity,
    vocabulary.smoothness,
    vocabulary.learning_rate,
    vocabulary.steps,
)
_FORMULA = r"\frac{S^2}{\lambda\sigma^2 n^2}\left(1 - e^{-\lambda\eta K/2}\right)"
_EXAMPLE = {
    "sensitivity": "2", "dataset_size": "1000", "diffusion": "0.02", "strong_convexity": "0.1", "smoothness": "1",
    "learning_rate": "0.5", "steps": "100",
}

_ASSUMES = (
    "replace", "last-iterate", "gradient-sensitivity", "gaussian-noise", "strongly-convex-losses", "independent-start",
    "full-batches",
)

rdp = Bound(
    name="langevin.rdp",
    unit="rdp",
    tightness=one_sided("by way of Renyi divergences; no losses are known whose last iterate attains it"),
    summary="Renyi DP of the last iterate of noisy gradient descent on strongly convex losses, as Langevin diffusion",
    formula=r"\alpha\," + _FORMULA,
    parameters=(*_TRAINING, ALPHA),
    assumes=_ASSUMES,
    neighbours="replace",
    threat_model="last_iterate",
    released="last_iterate",
    source=("background/chourasia21",),
    validity="argued",
    certify=closed_form(lambda v: ball(v.alpha) * _certified_rho(v)),
    vectorised=lambda xp, v: scaled(xp, v.alpha, _fast_rho(xp, v)),
    example={**_EXAMPLE, "alpha": "8"},
)

epsilon = Bound(
    name="langevin.epsilon",
    unit="epsilon",
    tightness=one_sided("by way of Renyi divergences; no losses are known whose last iterate attains it"),
    summary="an epsilon of the last iterate of noisy gradient descent as Langevin diffusion, at the best Renyi order",
    formula=r"\varepsilon_{\mathrm{zCDP}}(\rho, \delta), \quad \rho = " + _FORMULA,
    parameters=(*_TRAINING, vocabulary.delta.open()),
    assumes=_ASSUMES,
    neighbours="replace",
    threat_model="last_iterate",
    released="last_iterate",
    source=("background/chourasia21", "background/zcdp-conversion"),
    validity="argued",
    certify=lambda v, width: epsilon_of_rho(lambda: _certified_rho(v), v.delta, width),
    vectorised=lambda xp, v: fast_epsilon_of_rho(xp, _fast_rho(xp, v), v.delta),
    example={**_EXAMPLE, "delta": "1e-5"},
)
