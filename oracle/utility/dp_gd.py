r"""Noisy projected gradient descent on a convex loss: the excess empirical risk of the averaged iterate.

Algorithm 1 of 000: theta_0 given, theta_{t+1} = Pi_C[theta_t - eta (grad L(theta_t) + b_t)], b_t ~ N(0, sigma^2 I_p),
t = 0, ..., T-1; the average of theta_1, ..., theta_T is released. Let L be the mean of n losses, each convex and with
(sub)gradients of norm at most G on the convex set C, and theta* a minimiser over C with |theta_0 - theta*| <= D. Then

    E L(average) - L(theta*) <= D^2 / (2 eta T) + (T+1)/T * eta (G^2 + p sigma^2) / 2.

Proof. Projecting does not increase distances, b_t has mean 0 and is independent of theta_t, and L is convex, so

    E|theta_{t+1} - theta*|^2 <= E|theta_t - theta*|^2 - 2 eta E(L(theta_t) - L(theta*)) + eta^2 (G^2 + p sigma^2).

Sum over t = 0, ..., T, where step T is only imagined, leave out L(theta_0) - L(theta*) >= 0, and use Jensen's
inequality. The bound of the textbooks has eta/2 in place of (T+1)/T eta/2; that one is for the average of theta_0, ...,
theta_{T-1} (for which the above holds a fortiori) and false here: at D = 0, sigma = 0, T = 1 and L = G|theta| a
subgradient of norm G at the minimum leads to the risk eta G^2, which is the bound above exactly. Where C is the whole
space and all gradients lie in one subspace, noise across it changes no loss, and p may be that subspace's dimension.

Calibrated (replace one record): a gradient of the mean has sensitivity 2G/n, and T releases with
sigma = s 2G sqrt(T)/n are as private as one with s times its sensitivity, where s = s(epsilon, delta) is the least
noise of one Gaussian release of sensitivity 1 (`gaussian.sigma`). At the best step eta = D / sqrt((T+1)(G^2+p sigma^2))

    E L(average) - L(theta*) <= D G sqrt((T+1)/T) sqrt(1/T + 4 p s^2 / n^2),

which falls to 2 D G sqrt(p) s / n for many steps. For epsilon <= 1, s <= sqrt(2 log(1.25/delta)) / epsilon: this is
Theorem D.3 of 000 in expectation, with the constant 2 sqrt(2). That theorem's own form, "with probability 1 - beta,
at most G |theta_0 - theta*| sqrt(p log(1/delta) log(1/beta)) / (n epsilon)", is not used: it vanishes for beta -> 1.

The text of 000 was at hand; both proofs stand on their own.
"""

from __future__ import annotations

from fractions import Fraction
from typing import Any

from flint import arb, ctx

from oracle.arithmetic import PRECISION_LIMIT, is_narrow
from oracle.domain import non_negative, positive, positive_integer, probability
from oracle.enclosure import Enclosure, ball
from oracle.errors import PrecisionError
from oracle.privacy import gaussian, gaussian_arrays
from oracle.registry import Bound, Values, closed_form
from oracle.utility.rounding import rounded_up


def _risk(v: Values) -> arb:
    start = v.distance**2 / (2 * v.learning_rate * v.steps)
    second_moment = v.lipschitz**2 + v.dimension * v.sigma**2
    return ball(start + Fraction(v.steps + 1, v.steps) * v.learning_rate * second_moment / 2)


def _fast_risk(xp: Any, v: Values) -> Any:
    start = 0.5 * v.distance * v.distance / v.learning_rate / v.steps
    second_moment = v.lipschitz * v.lipschitz + v.dimension * v.sigma * v.sigma
    result = start + 0.5 * (v.steps + 1.0) / v.steps * v.learning_rate * second_moment
    return rounded_up(
        xp, result, v.distance, v.lipschitz, v.dimension, v.sigma, v.steps, v.learning_rate, units=16.0
    )


def _calibrated(v: Values, width: Fraction) -> Enclosure:
    """The noise is an enclosure itself: it is asked for more closely until the risk is narrow."""
    asked = width / 4
    while asked.denominator.bit_length() < PRECISION_LIMIT:
        noise = gaussian.sigma_of(Fraction(1), v.epsilon, v.delta, asked)
        with ctx.workprec(64 + asked.denominator.bit_length() - asked.numerator.bit_length()):
            s = noise.lower.ball.union(noise.upper.ball)
            spread = ball(Fraction(1, v.steps)) + ball(Fraction(4 * v.dimension, v.dataset_size**2)) * s * s
            risk = ball(v.distance * v.lipschitz) * (ball(Fraction(v.steps + 1, v.steps)) * spread).sqrt()
            if is_narrow(risk, width):
                return Enclosure.of_ball(risk)
        asked = asked * asked / 16
    raise PrecisionError(f"width {float(width):.3g} not reached at {PRECISION_LIMIT} bits")


def _fast_calibrated(xp: Any, v: Values) -> Any:
    s = gaussian_arrays.sigma_upper(xp, xp.ones_like(v.epsilon), v.epsilon, v.delta)
    share = 2.0 * s / v.dataset_size
    spread = 1.0 / v.steps + v.dimension * share * share
    result = v.distance * v.lipschitz * xp.sqrt((v.steps + 1.0) / v.steps * spread)
    return rounded_up(
        xp, result, v.distance, v.lipschitz, v.dimension, v.dataset_size, v.steps, s, units=20.0
    )


_DISTANCE = positive("distance", "distance of the start from the minimiser, at most")
_LIPSCHITZ = positive("lipschitz", "largest norm of a record's gradient")
_DIMENSION = positive_integer("dimension", "number of parameters, or of directions in which gradients lie")
_STEPS = positive_integer("steps", "number of gradient steps")

risk = Bound(
    name="dp-gd.risk",
    unit="risk",
    summary="excess empirical risk, in expectation, of the averaged iterate of noisy projected gradient descent",
    formula=(
        r"\mathbb{E}\,L(\bar\theta) - L(\theta^*) \le \frac{D^2}{2\eta T}"
        r" + \frac{T+1}{T}\cdot\frac{\eta\,(G^2 + p\sigma^2)}{2}"
    ),
    parameters=(
        _DISTANCE, _LIPSCHITZ, _DIMENSION, non_negative("sigma", "standard deviation of the noise on the mean gradient"),
        _STEPS, positive("learning_rate", "step size"),
    ),
    neighbours="any",
    threat_model="all_iterates",
    source=("relu-approx/thm-D.3",),
    certify=closed_form(_risk),
    vectorised=_fast_risk,
    example={
        "distance": "1", "lipschitz": "1", "dimension": "100", "sigma": "0.1", "steps": "1000", "learning_rate": "0.02",
    },
    released="average_iterate",
)

calibrated = Bound(
    name="dp-gd-calibrated.risk",
    unit="risk",
    summary="excess empirical risk of noisy gradient descent at (epsilon, delta)-DP, at the best step size",
    formula=(
        r"\mathbb{E}\,L(\bar\theta) - L(\theta^*) \le D G \sqrt{\frac{T+1}{T}}"
        r"\sqrt{\frac{1}{T} + \frac{4 p\, s(\varepsilon, \delta)^2}{n^2}}"
    ),
    parameters=(
        _DISTANCE, _LIPSCHITZ, _DIMENSION, positive_integer("dataset_size", "number of records"), _STEPS,
        non_negative("epsilon"), probability("delta"),
    ),
    neighbours="replace",
    threat_model="all_iterates",
    source=("relu-approx/thm-D.3",),
    certify=_calibrated,
    vectorised=_fast_calibrated,
    example={
        "distance": "1", "lipschitz": "1", "dimension": "100", "dataset_size": "10000", "steps": "10000",
        "epsilon": "1", "delta": "1e-5",
    },
    released="average_iterate",
)
