r"""Noisy projected gradient descent on a convex loss: the excess empirical risk of the averaged iterate.

Algorithm 1 of 000: theta_0 given, theta_{t+1} = Pi_C[theta_t - eta (grad L(theta_t) + b_t)], b_t ~ N(0, sigma^2 I_p),
t = 0, ..., T-1; the average of theta_1, ..., theta_T is released. Let L be the mean of n losses, each convex and with
(sub)gradients of norm at most G on the convex set C, and theta* a minimiser over C with |theta_0 - theta*| <= D. Then

    E L(average) - L(theta*) <= D^2 / (2 eta T) + eta/2 ((T+1)/T G^2 + p sigma^2).

Proof. Projecting does not increase distances, so with u_t = theta_t - eta grad L(theta_t) - theta* and by convexity

    |theta_{t+1} - theta*|^2 <= |theta_t - theta*|^2 - 2 eta (L(theta_t) - L(theta*)) + eta^2 G^2
                                - 2 eta <b_t, u_t> + eta^2 |b_t|^2.                                              (1)

The mean of <b_t, u_t> is 0. Sum over t = 0, ..., T, where step T is only imagined (and needs no noise), leave out
L(theta_0) - L(theta*) >= 0, and use Jensen's inequality. The bound of the textbooks has G^2 in place of (T+1)/T G^2;
that one is for the average of theta_0, ..., theta_{T-1} (for which the above holds a fortiori) and false here: at
D = 0, sigma = 0, T = 1 and L = G|theta| a subgradient of norm G at the minimum leads to the risk eta G^2, which is the
bound above exactly. Where C is the whole space and all gradients lie in one subspace, noise across it changes no loss,
and p may be that subspace's dimension.

Tail. If moreover |theta - theta*| <= R on C, then |u_t| <= R + eta G, the sum of the <b_t, u_t> is sub-Gaussian with
variance sigma^2 T (R + eta G)^2, and sum |b_t|^2 / sigma^2 is chi^2 with pT degrees of freedom, above pT + 2 sqrt(pTx)
+ 2x with probability at most e^-x (Laurent and Massart 2000, Lemma 1). With x = log(2/beta), with probability 1 - beta,

    L(average) - L(theta*) <= D^2/(2 eta T) + eta/2 (T+1)/T G^2 + eta sigma^2/2 (p + 2 sqrt(px/T) + 2x/T)
                              + (R + eta G) sigma sqrt(2x/T).

Calibrated (replace one record): a gradient of the mean has sensitivity 2G/n, and T releases with
sigma = s 2G sqrt(T)/n are as private as one with s times its sensitivity, where s = s(epsilon, delta) is the least
noise of one Gaussian release of sensitivity 1 (`gaussian.sigma`). At the best step, eta = D / sqrt((T+1) G^2 + T p
sigma^2),

    E L(average) - L(theta*) <= D G sqrt((T+1)/T^2 + 4 p s^2 / n^2),

which falls to 2 D G sqrt(p) s / n for many steps. For epsilon <= 1, s <= sqrt(2 log(1.25/delta)) / epsilon: this is
Theorem D.3 of 000 in expectation, with the constant 2 sqrt(2). That theorem's own form, "with probability 1 - beta,
at most G |theta_0 - theta*| sqrt(p log(1/delta) log(1/beta)) / (n epsilon)", is not used: it vanishes for beta -> 1.

The text of 000 was at hand; the proofs stand on their own.
"""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

from flint import arb, ctx

from oracle.core import vocabulary
from oracle.core.algorithm import Values
from oracle.core.arithmetic import PRECISION_LIMIT, is_narrow
from oracle.core.attainment import one_sided
from oracle.core.enclosure import Enclosure, ball
from oracle.core.errors import PrecisionError
from oracle.core.registry import Bound, closed_form
from oracle.engines import gaussian_arrays, gaussian_curve
from oracle.engines.rounding import rounded_up


def _risk(v: Values) -> arb:
    return ball(_descent(v) + v.learning_rate * v.dimension * v.noise_on_mean**2 / 2)


def _descent(v: Values) -> Fraction:
    """What is left without noise."""
    start: Fraction = v.distance**2 / (2 * v.learning_rate * v.steps)
    steps: Fraction = Fraction(v.steps + 1, v.steps) * v.learning_rate * v.lipschitz**2 / 2
    return start + steps


def _fast_descent(v: Values) -> Any:
    start = 0.5 * v.distance * v.distance / v.learning_rate / v.steps
    return start + 0.5 * (v.steps + 1.0) / v.steps * v.learning_rate * v.lipschitz * v.lipschitz


def _fast_risk(xp: Any, v: Values) -> Any:
    result = _fast_descent(v) + 0.5 * v.learning_rate * v.dimension * v.noise_on_mean * v.noise_on_mean
    return rounded_up(
        xp, result, v.distance, v.lipschitz, v.dimension, v.noise_on_mean, v.steps, v.learning_rate, units=16.0
    )


def _tail(v: Values) -> arb:
    x = (2 / ball(v.failure_probability)).log()
    share = x / v.steps
    lengths = v.dimension + 2 * (v.dimension * share).sqrt() + 2 * share
    noise: arb = ball(v.learning_rate * v.noise_on_mean**2 / 2) * lengths
    drift: arb = ball((v.constraint_radius + v.learning_rate * v.lipschitz) * v.noise_on_mean) * (2 * share).sqrt()
    return ball(_descent(v)) + noise + drift


def _fast_tail(xp: Any, v: Values) -> Any:
    share = (math.log(2.0) - xp.log(v.failure_probability)) / v.steps
    lengths = v.dimension + 2.0 * xp.sqrt(v.dimension * share) + 2.0 * share
    noise = 0.5 * v.learning_rate * v.noise_on_mean * v.noise_on_mean * lengths
    drift = (v.constraint_radius + v.learning_rate * v.lipschitz) * v.noise_on_mean * xp.sqrt(2.0 * share)
    return rounded_up(
        xp, _fast_descent(v) + noise + drift, v.distance, v.constraint_radius, v.lipschitz, v.dimension,
        v.noise_on_mean, v.steps, v.learning_rate, units=32.0,
    )


def _calibrated(v: Values, width: Fraction) -> Enclosure:
    """The noise is an enclosure itself: it is asked for more closely until the risk is narrow."""
    asked = width / 4
    while asked.denominator.bit_length() < PRECISION_LIMIT:
        noise = gaussian_curve.sigma_of(Fraction(1), v.epsilon, v.delta, asked)
        with ctx.workprec(64 + asked.denominator.bit_length() - asked.numerator.bit_length()):
            s = noise.lower.ball.union(noise.upper.ball)
            share = ball(Fraction(4 * v.dimension, v.dataset_size**2))
            spread = ball(Fraction(v.steps + 1, v.steps**2)) + share * s * s
            risk = ball(v.distance * v.lipschitz) * spread.sqrt()
            if is_narrow(risk, width):
                return Enclosure.of_ball(risk)
        asked = asked * asked / 16
    raise PrecisionError(f"width {float(width):.3g} not reached at {PRECISION_LIMIT} bits")


def _fast_calibrated(xp: Any, v: Values) -> Any:
    s = gaussian_arrays.sigma_upper(xp, xp.ones_like(v.epsilon), v.epsilon, v.delta)
    share = 2.0 * s / v.dataset_size
    spread = (v.steps + 1.0) / v.steps / v.steps + v.dimension * share * share
    result = v.distance * v.lipschitz * xp.sqrt(spread)
    return rounded_up(
        xp, result, v.distance, v.lipschitz, v.dimension, v.dataset_size, v.steps, s, units=20.0
    )


_DISTANCE = vocabulary.distance.above(0)
_LIPSCHITZ = vocabulary.lipschitz
_DIMENSION = vocabulary.dimension
_STEPS = vocabulary.steps.at_least(1)
_SIGMA = vocabulary.noise_on_mean
_RATE = vocabulary.learning_rate

_ASSUMES = (
    "excess-empirical-risk", "judged-average", "lipschitz-losses", "unclipped", "gaussian-noise", "full-batches",
    "convex-set", "start-at-distance",
)

risk = Bound(
    name="dp-gd.risk",
    unit="risk",
    tightness=one_sided("an inequality on the risk; no problem is known that attains it"),
    summary="excess empirical risk, in expectation, of the averaged iterate of noisy projected gradient descent",
    formula=(
        r"\mathbb{E}\,L(\bar\theta) - L(\theta^*) \le \frac{D^2}{2\eta T}"
        r" + \frac{\eta}{2}\left(\frac{T+1}{T} G^2 + p\sigma^2\right)"
    ),
    parameters=(_DISTANCE, _LIPSCHITZ, _DIMENSION, _SIGMA, _STEPS, _RATE),
    assumes=(*_ASSUMES, "counted-directions"),
    neighbours="any",
    threat_model="all_iterates",
    source=("background/noisy-descent-risk",),
    validity="argued",
    certify=closed_form(_risk),
    vectorised=_fast_risk,
    example={
        "distance": "1", "lipschitz": "1", "dimension": "100", "noise_on_mean": "0.1", "steps": "1000",
        "learning_rate": "0.02",
    },
    released="average_iterate",
)

tail = Bound(
    name="dp-gd-tail.risk",
    unit="risk",
    tightness=one_sided("an inequality on the risk; no problem is known that attains it"),
    summary="excess empirical risk, but for a given probability, of the averaged iterate of noisy gradient descent",
    formula=(
        r"\frac{D^2}{2\eta T} + \frac{\eta (T+1) G^2}{2T} + \frac{\eta\sigma^2}{2}\left(p + 2\sqrt{\frac{p x}{T}}"
        r" + \frac{2x}{T}\right) + (R + \eta G)\,\sigma\sqrt{\frac{2x}{T}}, \quad x = \log(2/\beta)"
    ),
    parameters=(
        _DISTANCE, vocabulary.constraint_radius,
        _LIPSCHITZ, _DIMENSION, _SIGMA, _STEPS, _RATE, vocabulary.failure_probability,
    ),
    assumes=(*_ASSUMES, "constraint-radius", "all-directions"),
    neighbours="any",
    threat_model="all_iterates",
    source=("background/noisy-descent-tail",),
    validity="argued",
    certify=closed_form(_tail),
    vectorised=_fast_tail,
    example={
        "distance": "1", "constraint_radius": "2", "lipschitz": "1", "dimension": "100", "noise_on_mean": "0.1",
        "steps": "1000", "learning_rate": "0.02", "failure_probability": "0.01",
    },
    released="average_iterate",
)

calibrated = Bound(
    name="dp-gd-calibrated.risk",
    unit="risk",
    tightness=one_sided("an inequality on the risk; no problem is known that attains it"),
    summary="excess empirical risk of noisy gradient descent at (epsilon, delta)-DP, at the best step size",
    formula=(
        r"\mathbb{E}\,L(\bar\theta) - L(\theta^*) \le D G"
        r"\sqrt{\frac{T+1}{T^2} + \frac{4 p\, s(\varepsilon, \delta)^2}{n^2}}"
    ),
    parameters=(
        _DISTANCE, _LIPSCHITZ, _DIMENSION, vocabulary.dataset_size, _STEPS,
        vocabulary.epsilon, vocabulary.delta.open(),
    ),
    assumes=(*_ASSUMES, "counted-directions", "calibrated", "replace"),
    neighbours="replace",
    threat_model="all_iterates",
    source=("background/noisy-descent-risk", "background/noisy-descent-best-step", "background/gdp-composition"),
    validity="argued",
    certify=_calibrated,
    vectorised=_fast_calibrated,
    example={
        "distance": "1", "lipschitz": "1", "dimension": "100", "dataset_size": "10000", "steps": "10000",
        "epsilon": "1", "delta": "1e-5",
    },
    released="average_iterate",
)
