r"""Noisy mini-batch gradient descent with hidden state by a recursion on Renyi divergences (Ye and Shokri 2022).

theta <- theta - eta (mean of b gradients) + N(0, 2 eta sigma^2 I) over k fixed disjoint batches in cyclic order, E
times, from a start whose law does not depend on the data. Every step's map is c-Lipschitz; replacing a record, which
is in the batch of one known position, moves the *sum* of that batch's gradients by at most S. Let rho = R_alpha/alpha,
and let 1/v be a log-Sobolev constant of the law of theta from a fixed start. From rho = v = 0 a step makes
v' = c^2 v + 2 eta sigma^2 and

    without the record    rho' = rho c^2 v / v'  =  rho / (1 + 2 eta sigma^2 / (c^2 v)),
    with the record       rho' = rho + eta S^2 / (4 sigma^2 b^2).

Their text was not at hand; the recursion stands on its own, without log-Sobolev inequalities, by the shifts of
`iteration`. Let tau^2 = 2 eta sigma^2 and s = eta S/b, and let V_t(z) be the least cost, sum of a_i^2/(2 tau^2), of
shifts that leave a distance z >= 0 after t steps: V_T(0) bounds R_alpha/alpha. Claim:

    V_t(z) <= max(0, Delta_t - z)^2 / (2 v_t)     with     Delta_t^2 = 2 v_t rho_t,     so that     V_t(0) <= rho_t.

Without the record, V_{t+1}(z) = min over a of V_t((z+a)/c) + a^2/(2 tau^2) is at most, by the claim and completing the
square, max(0, c Delta_t - z)^2 / (2 (c^2 v_t + tau^2)), and c Delta_t = Delta_{t+1}. With the record, V_{t+1}(z) is the
minimum over a >= s - z of V_t((z+a-s)/c) + a^2/(2 tau^2). Where the condition does not bind, that is at most
max(0, c Delta_t + s - z)^2/(2 v_{t+1}), and c Delta_t + s <= Delta_{t+1} by Cauchy and Schwarz. It binds for z below
some z* <= s: there a = s - z costs rho_t + (s-z)^2/(2 tau^2). This less (Delta_{t+1} - z)^2/(2 v_{t+1}) is convex in z,
since v_{t+1} >= tau^2; it is 0 at z = 0, and at z*, where the condition ceases to bind, it is not positive: nor is it
between. (For c = 0 or v_t = 0 the distance before the step does not matter, V_{t+1}(z) = max(0, s - z)^2/(2 tau^2).)

So the best shifts for the record's own position, and for the last one `noisy-cgd.mu`, are never above this recursion.
For two linear-Gaussian runs a step without the record is exact. With one batch nothing is ever forgotten: plain
composition, where `noisy-gd.mu` is far better. c = 1 - eta lambda for lambda-strongly convex and beta-smooth losses and
eta <= 2/(lambda + beta); c = 1 for convex ones and eta <= 2/beta.

In closed form: with G(m) = 1 + c^2 + ... + c^{2(m-1)}, v after t steps is tau^2 G(t), and m steps without the record
after the t-th multiply rho by c^{2m} G(t)/G(t+m). The cost is one such factor an epoch.
"""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

from flint import arb, fmpz

from oracle.bounds.hidden_state.hidden_state import ASSUMES
from oracle.bounds.hidden_state.iteration import ALPHA, scaled, squared, within
from oracle.bounds.renyi.zcdp import epsilon_of_rho, fast_epsilon_of_rho
from oracle.core import vocabulary
from oracle.core.algorithm import Values
from oracle.core.arrays import inflate, quotient
from oracle.core.attainment import one_sided
from oracle.core.enclosure import ball
from oracle.core.registry import Bound, closed_form

_BUDGET = 2500.0  # unit roundoffs of the last power of c, whose exponent is at most 745 before it underflows


def _decay(c: Fraction, since: int, missed: int) -> arb:
    """What `missed` steps without the record after the step number `since` leave: c^{2m} G(t)/G(t+m)."""
    if c == 1:
        return ball(Fraction(since, since + missed))
    square = ball(c * c)
    return square ** fmpz(missed) * (1 - square ** fmpz(since)) / (1 - square ** fmpz(since + missed))


def _fast_decay(xp: Any, log: Any, since: Any, missed: Any) -> Any:
    """The same in float64, for log = 2 log c."""
    below = xp.where(log < 0.0, log, -1.0)
    kept = xp.exp(missed * below) * (xp.expm1(since * below) / xp.expm1((since + missed) * below))
    return xp.where(log < 0.0, kept, since / (since + missed))


def _touches(values: Values) -> arb:
    """rho over what one touch adds, by the recursion from touch to touch."""
    c, k, first = values.contraction, values.batches, values.batch_position
    total = arb(0)
    for epoch in range(values.epochs):
        if epoch > 0:
            total *= _decay(c, (epoch - 1) * k + first, k - 1)
        total += 1
    return total * _decay(c, (values.epochs - 1) * k + first, k - first)


def _rho(values: Values) -> arb:
    """R_alpha / alpha, or a DomainError where there is no such batch."""
    within(values, "batch_position", "batches")
    if values.epochs == 0:
        return arb(0)
    ratio = values.sensitivity / (values.batch_size * values.diffusion)
    return ball(values.learning_rate * ratio**2 / 4) * _touches(values)


def _units(epochs: Any) -> Any:
    """The rounding budget of rho in unit roundoffs."""
    return _BUDGET + 32.0 * epochs


def _fast_rho(xp: Any, values: Values) -> Any:
    """R_alpha / alpha rounded up; NaN where it nears the ends of the doubles."""
    c, k, first, epochs = values.contraction, values.batches, values.batch_position, values.epochs
    # c - 1 is exact for c >= 1/2, so that nothing cancels as c -> 1; c = 0 forgets everything in one step.
    near = xp.log1p(xp.where(c < 0.5, 0.5, c) - 1.0)
    log = 2.0 * xp.where(c < 0.5, xp.log(xp.where(c > 0.0, c, 0.5)), near)
    log = xp.where(c > 0.0, log, -1e9)
    total = xp.zeros_like(c)
    for epoch in range(int(xp.max(epochs)) if math.prod(epochs.shape) else 0):
        if epoch > 0:
            decayed = total * _fast_decay(xp, log, (epoch - 1.0) * k + first, k - 1.0)
            total = xp.where(epoch < epochs, decayed, total)
        total = xp.where(epoch < epochs, total + 1.0, total)
    some = epochs > 0.0
    total = total * _fast_decay(xp, log, xp.where(some, (epochs - 1.0) * k, 0.0 * k) + first, k - first)
    scale = squared(xp, quotient(xp, values.sensitivity, values.batch_size, values.diffusion))
    # Each epoch's factor is off by a few unit roundoffs, and by its exponent's, which only count as far as it is kept.
    rho = inflate(scale * (0.25 * values.learning_rate) * total, _units(epochs))
    usable = (rho > 1e-290) & (rho < math.inf) & (values.learning_rate > 1e-290) & (total > 1e-290)
    nothing = ~some | ((c == 0.0) & (k > first))
    rho = xp.where(nothing, xp.zeros_like(rho), xp.where(usable, rho, math.nan))
    return xp.where(first <= k, rho, math.nan)  # no such position: the reference says so


_TRAINING = (
    vocabulary.sensitivity,
    vocabulary.batch_size,
    vocabulary.diffusion,
    vocabulary.learning_rate,
    vocabulary.contraction,
    vocabulary.batches,
    vocabulary.epochs.at_most(10000),
    vocabulary.batch_position,
)
_FORMULA = (
    r"\rho_{kE}, \quad \rho_t = \rho_{t-1} + \frac{\eta S^2}{4\sigma^2 b^2} \text{ with the record, else }"
    r" \rho_t = \rho_{t-1}\,\frac{c^2 v_{t-1}}{v_t},\ v_t = c^2 v_{t-1} + 2\eta\sigma^2"
)
_EXAMPLE = {  # Figure 1 of document 000 at eta lambda = 1e-4: noise of deviation 15 times half the sensitivity
    "sensitivity": "2", "batch_size": "1", "diffusion": "15", "learning_rate": "2", "contraction": "0.9999",
    "batches": "60",
    "epochs": "400", "batch_position": "60",
}

rdp = Bound(
    name="noisy-minibatch.rdp",
    unit="rdp",
    tightness=one_sided("by way of Renyi divergences; no losses are known whose last iterate attains it"),
    summary="Renyi DP of the last iterate of noisy cyclic mini-batch gradient descent, by recursion over the steps",
    formula=r"\alpha\," + _FORMULA,
    parameters=(*_TRAINING, ALPHA),
    assumes=(*ASSUMES, "cyclic-batches", "record-in-batch"),
    neighbours="replace",
    threat_model="last_iterate",
    released="last_iterate",
    source=("background/ye-shokri22", "sbcd/cor-4.5-case2"),
    validity="argued",
    certify=closed_form(lambda v: ball(v.alpha) * _rho(v)),
    vectorised=lambda xp, v: scaled(xp, v.alpha, _fast_rho(xp, v)),
    example={**_EXAMPLE, "alpha": "8"},
)

epsilon = Bound(
    name="noisy-minibatch.epsilon",
    unit="epsilon",
    tightness=one_sided("by way of Renyi divergences; no losses are known whose last iterate attains it"),
    summary="an epsilon of the last iterate of noisy cyclic mini-batch gradient descent, at the best Renyi order",
    formula=r"\varepsilon_{\mathrm{zCDP}}(\rho_{kE}, \delta), \quad " + _FORMULA,
    parameters=(*_TRAINING, vocabulary.delta.open()),
    assumes=(*ASSUMES, "cyclic-batches", "record-in-batch"),
    neighbours="replace",
    threat_model="last_iterate",
    released="last_iterate",
    source=("background/ye-shokri22", "background/zcdp-conversion"),
    validity="argued",
    certify=lambda v, width: epsilon_of_rho(lambda: _rho(v), v.delta, width),
    vectorised=lambda xp, v: fast_epsilon_of_rho(xp, _fast_rho(xp, v), v.delta, _units(v.epochs)),
    example={**_EXAMPLE, "delta": "1e-5"},
)
