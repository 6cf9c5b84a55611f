r"""Projected noisy SGD on a bounded set (after Altschuler and Talwar 2022): its Renyi divergence stops growing.

theta <- Pi(theta - eta (mean gradient of a batch + N(0, sigma^2 I))), T times from a fixed start; a batch is b of n
records, drawn afresh without replacement. Every record's loss is convex, L-Lipschitz and beta-smooth, eta <= 2/beta,
and Pi projects on a convex set of diameter D. The last iterate is released; a record is replaced. Let S(x) be the
Renyi DP of one such batch under noise x sigma: `wor-gaussian.rdp` at noise multiplier x b sigma/L. For any 0 < x < 1
and 1 <= m <= T,

    R_alpha <= m S(x) + alpha D^2 / (2 m eta^2 (1 - x^2) sigma^2),       and       R_alpha <= T S(1).

The second is composition. Proof of the first, with the R^z of `iteration`. m steps before the end both runs are in the
set, so R^D = 0. Claim: a step turns R^z into R^{z-a} at the price of S(x) + alpha a^2/(2 eta^2 (1-x^2) sigma^2), for
0 <= a <= z; then m shifts of D/m prove the bound. Let Y be within z of the first run's X, and let phi_B, phi'_B be the
two runs' gradient maps for a batch B. phi_B is 1-Lipschitz: under one B, phi_B(Y) is within z of phi_B(X), and some
V(X, Y, B) of length at most a takes it to within z - a. Split the noise into independent N_1, of deviation x eta sigma,
and N_2. The next Y is phi_B(Y) + V + N_1 + N_2, which is within z - a of the next X. Its divergence from the second
run's phi'_B(X') + N_1 + N_2 is at most that of the sequence Y, phi_B(Y) + N_1, V + N_2 from the sequence X',
phi'_B(X') + N_1, N_2. The first entries cost R^z; given that these agree, the second are one batch's release at a fixed
point, which costs S(x); given everything before, V + N_2 and N_2 are (mixtures of) Gaussians whose means are at most a
apart. The batch itself is never revealed, so V may depend on it. Pi is post-processing, and widens no distance.

The paper's text was not at hand; its theorem is alpha L^2/(n^2 sigma^2) min(T, D n/(L eta)) up to a constant, which has
the same shape. The value here is the least over m = 1, ..., T, over x = 0.7 and 0.9, and composition; it is 0 for D = 0
and composition for D = infinity. m S + A/m is convex in m: the best m is next to sqrt(A/S).

For Poisson sampling this is not proved: a batch may then hold more than b records, and its step, whose sum is divided
by b, need not be 1-Lipschitz.
"""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

from flint import arb, ctx

from oracle.bounds.hidden_state.iteration import squared
from oracle.bounds.renyi import zcdp
from oracle.bounds.sampling import wor_gaussian_arrays
from oracle.bounds.sampling.wor_gaussian import rdp as sampled
from oracle.core import vocabulary
from oracle.core.algorithm import Values
from oracle.core.arithmetic import enclose
from oracle.core.arrays import at_least, at_most, deflate, inflate, quotient
from oracle.core.attainment import one_sided
from oracle.core.domain import shown
from oracle.core.enclosure import Enclosure, ball
from oracle.core.errors import DomainError
from oracle.core.registry import Bound

_KEPT = (Fraction(7, 10), Fraction(9, 10))  # shares of the noise's deviation that hide the sampling
_LEAST_NOISE, _MOST_NOISE = Fraction(1, 5000), Fraction(10**6)  # where 0.7 times it is in the sampled bound's domain


def _check(values: Values) -> None:
    """A DomainError for a batch larger than the data, and for noise out of the sampled bound's reach."""
    if values.batch_size > values.dataset_size:
        raise DomainError(
            f"batch_size = {shown(values.batch_size)} is outside its domain: an integer in"
            f" [1, dataset_size = {shown(values.dataset_size)}]"
        )
    multiplier = values.batch_size * values.noise_on_mean / values.lipschitz
    if not _LEAST_NOISE <= multiplier <= _MOST_NOISE:
        raise DomainError(
            f"noise_on_mean = {shown(values.noise_on_mean)} is outside its domain: batch_size noise_on_mean"
            f" / lipschitz = {float(min(multiplier, 10**300)):.6g} must be in [{_LEAST_NOISE}, {_MOST_NOISE}]"
        )


def _one_batch(values: Values, kept: Fraction) -> arb:
    """S(kept) at the working precision."""
    multiplier = kept * values.batch_size * values.noise_on_mean / values.lipschitz
    rate = Fraction(values.batch_size, values.dataset_size)
    one = Values(sigma=multiplier, sampling_rate=rate, steps=1, alpha=values.alpha, method="exact")
    return sampled.certify(one, Fraction(1, 2 ** (ctx.prec - 24))).ball


def _least(batch: arb, whole: arb, steps: int) -> arb:
    """The least m batch + whole/m over m = 1, ..., steps."""
    best = (whole / batch).sqrt()
    ends = []
    for end in (best.lower().floor(), best.upper().ceil()):
        ends.append(steps if end >= steps else max(1, int(end.fmpz())))
    if ends[1] - ends[0] > 3:
        return arb.nan()
    result: arb = arb.pos_inf()
    for m in range(ends[0], ends[1] + 1):
        result = result.min(m * batch + whole / m)
    return result


def _divergence(values: Values) -> arb:
    composed: arb = values.steps * _one_batch(values, Fraction(1))
    if values.diameter == math.inf:
        return composed
    result = composed
    for kept in _KEPT:
        distance = values.diameter / (values.learning_rate * values.noise_on_mean)
        whole = ball(values.alpha * distance**2 / (2 * (1 - kept**2)))
        # m S(kept) + whole/m >= 2 sqrt(S(1) whole): often that is enough to know that composition is better.
        if not composed * values.steps < 4 * whole:
            result = result.min(_least(_one_batch(values, kept), whole, values.steps))
    return result


def _tells_nothing(values: Values) -> bool:
    """Whether the last iterate is the start, or the only point there is."""
    return bool(values.steps == 0 or values.diameter == 0)


def _rdp(values: Values, width: Fraction) -> Enclosure:
    _check(values)
    if _tells_nothing(values):
        return Enclosure.exactly(0)
    return enclose(lambda: _divergence(values), width=width)


def _fast(xp: Any, values: Values) -> Any:
    """The bound rounded up; NaN where any part of it has to be left to the reference."""
    batch, size, steps, alpha, diameter = (
        values.batch_size, values.dataset_size, values.steps, values.alpha, values.diameter
    )
    noise = deflate(
        deflate(batch * values.noise_on_mean, 1.0) / values.lipschitz, 1.0,
    )  # rounded down: less noise costs more
    usable = (batch <= size) & (noise > float(_LEAST_NOISE)) & (noise < float(_MOST_NOISE) * (1 - 1e-12))
    usable = usable & (values.noise_on_mean > 1e-290) & (values.lipschitz < 1e290)
    noise = xp.where(usable, noise, 1.0)
    rate = xp.where(usable & (batch < size), at_most(xp, inflate(batch / size, 1.0), 1.0), 1.0)

    def one_batch(kept: float) -> Any:
        return wor_gaussian_arrays.rdp_upper(xp, deflate(kept * noise, 2.0), rate, xp.ones_like(noise), alpha)

    result = inflate(steps * one_batch(1.0), 1.0)
    bounded = (diameter > 0.0) & (diameter < math.inf)
    ratio = squared(xp, quotient(xp, xp.where(bounded, diameter, 1.0), values.learning_rate, values.noise_on_mean))
    for kept in _KEPT:
        sampling, whole = one_batch(float(kept)), inflate(0.5 * alpha * ratio / float(1 - kept**2), 4.0)
        m = at_least(xp, at_most(xp, xp.floor(xp.sqrt(whole / sampling)), steps), 1.0)
        for length in (m, at_most(xp, m + 1.0, at_least(xp, steps, 1.0))):
            shifted = inflate(length * sampling + whole / length, 3.0)
            unknown = bounded & ~(shifted < math.inf)
            result = xp.where(bounded & (shifted < result), shifted, xp.where(unknown, math.nan, result))
    nothing = usable & ((steps == 0.0) | (diameter == 0.0))
    return xp.where(nothing, xp.zeros_like(result), xp.where(usable, result, math.nan))


def _epsilon(values: Values, width: Fraction) -> Enclosure:
    _check(values)
    if _tells_nothing(values):
        return Enclosure.exactly(0)

    def converted() -> arb:
        fine = Fraction(1, 2 ** (ctx.prec - 24))
        divergence, ends = _rdp(values, fine), []
        for end in (divergence.lower, divergence.upper):
            one = Values(alpha=values.alpha, rdp=end.to_fraction(), delta=values.delta, conversion="canonne")
            ends.append(zcdp.rdp_epsilon.certify(one, fine).ball)
        return ends[0].union(ends[1])  # epsilon rises with the divergence

    return enclose(converted, width=width)


def _epsilon_fast(xp: Any, values: Values) -> Any:
    divergence = _fast(xp, values)
    known = divergence >= 0.0
    one = Values(
        alpha=values.alpha, rdp=xp.where(known, divergence, 1.0), delta=values.delta, conversion="canonne"
    )
    result = zcdp.rdp_epsilon.vectorised(xp, one)
    # A small difference of large terms carries the divergence's error: the reference answers.
    sharp = known & ((result == 0.0) | (result > 0.1 * divergence))
    return xp.where(divergence == 0.0, xp.zeros_like(result), xp.where(sharp, result, math.nan))


_TRAINING = (
    vocabulary.lipschitz,
    vocabulary.dataset_size,
    vocabulary.batch_size,
    vocabulary.noise_on_mean.above(0),
    vocabulary.learning_rate,
    vocabulary.diameter,
    vocabulary.steps.at_most(1000000000000),
    vocabulary.alpha.at_most(1000000),
)
_FORMULA = (
    r"\min\left(T S_\alpha\left(\tfrac{b}{n}, \tfrac{b\sigma}{L}\right),\ \min_{x,\ 1 \le m \le T} m S_\alpha"
    r"\left(\tfrac{b}{n}, \tfrac{xb\sigma}{L}\right) + \frac{\alpha D^2}{2m\eta^2(1 - x^2)\sigma^2}\right),"
    r" \quad x \in \{0.7,\ 0.9\},\ S_\alpha \text{ of one batch without replacement}"
)
_EXAMPLE = {
    "lipschitz": "1", "dataset_size": "1000", "batch_size": "50", "noise_on_mean": "0.1", "learning_rate": "0.5",
    "diameter": "1",
    "steps": "10000", "alpha": "8",
}

_ASSUMES = (
    "replace", "last-iterate", "lipschitz-losses", "no-expansion", "gaussian-noise", "independent-start",
    "without-replacement", "secret-batches", "bounded-set",
)

rdp = Bound(
    name="projected-noisy-sgd.rdp",
    unit="rdp",
    tightness=one_sided("no losses are known whose last iterate attains it"),
    summary="Renyi DP of the last iterate of projected noisy SGD on smooth convex losses and a bounded set",
    formula=_FORMULA,
    parameters=_TRAINING,
    assumes=_ASSUMES,
    neighbours="replace",
    threat_model="last_iterate",
    released="last_iterate",
    source=("background/at22", "background/amplification-wor"),
    validity="argued",
    certify=_rdp,
    vectorised=_fast,
    example=_EXAMPLE,
)

epsilon = Bound(
    name="projected-noisy-sgd.epsilon",
    unit="epsilon",
    tightness=one_sided("no losses are known whose last iterate attains it"),
    summary="an epsilon of the last iterate of projected noisy SGD on a bounded set, by way of one Renyi order",
    formula=(
        r"\max\left(0,\ R_\alpha + \log\frac{\alpha - 1}{\alpha} - \frac{\log\delta + \log\alpha}{\alpha - 1}\right)"
        r" \text{, or } 0 \text{ for } R_\alpha = 0, \quad R_\alpha = " + _FORMULA
    ),
    parameters=(*_TRAINING, vocabulary.delta.open()),
    assumes=_ASSUMES,
    neighbours="replace",
    threat_model="last_iterate",
    released="last_iterate",
    source=("background/at22", "background/amplification-wor", "background/rdp-conversion"),
    validity="argued",
    certify=_epsilon,
    vectorised=_epsilon_fast,
    example={**_EXAMPLE, "delta": "1e-5"},
)
