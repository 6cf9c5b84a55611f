r"""What a training may still do within a target: the least regularisation for a mu, the most steps for an epsilon.

`noisy-cgd.step` is the least u = 1 - c (eta lambda, for eta <= 2/(lambda + beta)) whose NoisyCGD meets a target mu. mu
rises strictly with c, from L/(b sigma) at c = 0 to L/(b sigma) sqrt(1 + (E-1)/k) at c = 1, so that the answer is 0 at
or above the latter and there is none below the former. (With mu alone fixed, document 000 tunes c this way.)

`most_steps` and `most_epochs` count. With c < 1 mu converges as training goes on,

    mu^2 -> (L/(n sigma))^2 (1+c)/(1-c)     and     (L/(b sigma))^2 (1 + c^{2k-2} (1-c^2)/(1-c^k)^2),

from below and without reaching it: a target at or above the limit is never exceeded, and the answer is infinity.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Callable
from fractions import Fraction
from typing import Any

from flint import arb

from oracle.bounds.hidden_state.hidden_state import (
    ASSUMES,
    BATCHES,
    CONTRACTION,
    SENSITIVITY,
    SIGMA,
    cgd_mu,
    cgd_square,
    cgd_squares,
    gd_mu,
)
from oracle.core import vocabulary
from oracle.core.algorithm import Values
from oracle.core.arithmetic import decreasing_root
from oracle.core.arrays import UNIT, inflate, quotient
from oracle.core.attainment import one_sided
from oracle.core.domain import Number, parse_all
from oracle.core.enclosure import Dyadic, Enclosure, ball
from oracle.core.errors import DomainError, PrecisionError
from oracle.core.registry import Bound
from oracle.engines.gaussian_curve import certainly_negative, logit_ball
from oracle.engines.geometric import BUDGET, BallPowers, GapPowers

_HALVINGS = 72  # of the range of log u, 700 long, to the rounding of log u
_SMALLEST_LOG = -700.0
_APART = 2e-2  # relative distance of the target from both ends; nearer, rounding would show: the reference answers


def _unreachable(target: float) -> DomainError:
    return DomainError(
        f"mu = {target:.6g} is outside its domain: a real number >= sensitivity / (batch_size * noise_on_mean),"
        " which no contraction goes below"
    )


def _step(values: Values, width: Fraction) -> Enclosure:
    square = (values.mu * values.batch_size * values.noise_on_mean / values.sensitivity) ** 2
    k, epochs = values.batches, values.epochs
    if square < 1:
        raise _unreachable(float(min(values.mu, Fraction(10) ** 300)))
    if square >= 1 + Fraction(epochs - 1, k):
        return Enclosure.exactly(0)
    if square == 1:
        return Enclosure.exactly(1)

    def excess(step: arb) -> arb:
        contraction = 1 - Dyadic.of(step).to_fraction()
        return cgd_square(Values(contraction=contraction, batches=k, epochs=epochs)) - ball(square)

    return decreasing_root(excess, arb(0), arb(1), width=width)


def _step_upper(xp: Any, values: Values) -> Any:
    """Bisection of log u on certain acceptance, so that the upper end is sound at every stage.

    A target that nothing reaches is left to the reference, which says so, and takes no other row with it.
    """
    k, epochs = values.batches, values.epochs
    # L/(b sigma) rounded up, so that the target in its units is rounded down.
    share = values.mu / quotient(xp, values.sensitivity, values.batch_size, values.noise_on_mean)
    square, most = share * share * (1 - 8 * UNIT), 1.0 + (epochs - 1.0) / k
    low, high = xp.full_like(square, _SMALLEST_LOG), xp.zeros_like(square)
    for _ in range(_HALVINGS):
        middle = 0.5 * (low + high)
        factor = inflate(cgd_squares(xp, xp.exp(middle), k, epochs, GapPowers(xp)), 2 * BUDGET)
        low, high = xp.where(factor <= square, low, middle), xp.where(factor <= square, middle, high)
    served = (square > 1.0 + _APART) & (square < most * (1.0 - _APART)) & (high > _SMALLEST_LOG / 2)
    return xp.where(
        square > most * (1.0 + 1e-12), xp.zeros_like(square), xp.where(served, xp.exp(high), math.nan)
    )


def _within(mu: Callable[[], arb], epsilon: Fraction, delta: Fraction) -> bool:
    """Whether mu-GDP is certainly (epsilon, delta)-DP, or certainly not."""
    try:
        return certainly_negative(lambda: logit_ball(ball(epsilon), mu()) - (ball(delta) / ball(1 - delta)).log())
    except PrecisionError:
        raise PrecisionError("the target lies too close to the epsilon of some number of steps to decide") from None


def _most(mu_of: Callable[[int], arb], limit: Callable[[], arb] | None, values: Values) -> int | float:
    """The largest count whose mu is within the target, by doubling and bisection; infinity where the limit is."""
    if limit is not None and _within(limit, values.epsilon, values.delta):
        return math.inf

    def allowed(count: int) -> bool:
        return _within(functools.partial(mu_of, count), values.epsilon, values.delta)

    most, excluded = 0, 1
    while allowed(excluded):
        most, excluded = excluded, 2 * excluded
    while excluded - most > 1:
        middle = (most + excluded) // 2
        most, excluded = (middle, excluded) if allowed(middle) else (most, middle)
    return most


_TARGET = (vocabulary.epsilon, vocabulary.delta.open())
_GD = (SENSITIVITY, vocabulary.dataset_size, SIGMA, CONTRACTION, *_TARGET)
_CGD = (SENSITIVITY, vocabulary.batch_size, SIGMA, CONTRACTION, BATCHES, *_TARGET)


def most_steps(**params: Number) -> int | float:
    """The largest number of NoisyGD steps whose last iterate is (epsilon, delta)-DP, or math.inf; certified.

    Takes sensitivity, dataset_size, sigma, contraction, epsilon and delta.
    """
    values = Values(**parse_all("most_steps", _GD, params))
    c, ratio = values.contraction, values.sensitivity / (values.dataset_size * values.noise_on_mean)
    return _most(
        lambda steps: gd_mu(Values(**vars(values), steps=steps)),
        None if c == 1 else lambda: ball(ratio) * ball((1 + c) / (1 - c)).sqrt(),
        values,
    )


def most_epochs(**params: Number) -> int | float:
    """The largest number of NoisyCGD epochs whose last iterate is (epsilon, delta)-DP, or math.inf; certified.

    Takes sensitivity, batch_size, sigma, contraction, batches, epsilon and delta.
    """
    values = Values(**parse_all("most_epochs", _CGD, params))
    c, k, ratio = values.contraction, values.batches, values.sensitivity / (values.batch_size * values.noise_on_mean)

    def limit() -> arb:
        if k == 1:
            return ball(ratio) * ball((1 + c) / (1 - c)).sqrt()
        memory = BallPowers().power(c, k - 1) / BallPowers().geometric_sum(c, k)
        return ball(ratio) * (1 + memory**2 * ball((1 + c) / (1 - c))).sqrt()

    return _most(lambda epochs: cgd_mu(Values(**vars(values), epochs=epochs)), None if c == 1 else limit, values)


noisy_cgd_step = Bound(
    name="noisy-cgd.step",
    unit="step_size",
    tightness=one_sided("the inverse of an upper bound"),
    summary="least learning rate times regularisation, eta lambda = 1 - c, for which NoisyCGD meets a target mu",
    formula=(
        r"\min\left\{u \in [0, 1] : \frac{L}{b\sigma}\sqrt{1 + c^{2k-2}\,\frac{1-c^2}{(1-c^k)^2}\,"
        r"\frac{1-c^{k(E-1)}}{1+c^{k(E-1)}}} \le \mu,\ c = 1 - u\right\}\quad (\text{NoisyGD for } k = 1)"
    ),
    parameters=(
        SENSITIVITY, vocabulary.batch_size, SIGMA, BATCHES, vocabulary.epochs.at_least(1),
        vocabulary.mu,
    ),
    assumes=(*ASSUMES, "cyclic-batches"),
    neighbours="replace",
    threat_model="last_iterate",
    released="last_iterate",
    source=("relu-approx/thm-2.8-formula", "relu-approx/tuning-monotone"),
    validity="proved",
    certify=_step,
    vectorised=_step_upper,
    example={
        "sensitivity": "2", "batch_size": "1", "noise_on_mean": "15", "batches": "60", "epochs": "400", "mu": "0.3",
    },
)
