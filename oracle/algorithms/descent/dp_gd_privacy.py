r"""Gradient descent on clipped gradients with Gaussian noise at every step: DP-GD and DP-SGD in their own units.

DP-GD (document 004): T steps, each on the whole data,

    g_t = (1/n) sum_i clip(grad l(theta_{t-1} | x_i), C) + N(0, sigma^2 I),      clip(z, C) = z min(1, C/|z|).

The mean moves by 2C/n for a replaced record and, n being a constant, by C/n for one added or removed. The T releases
are chosen one after the other, and the worst pair of such a sequence is Gaussian (Dong, Roth and Su 2022, Cor. 3.3):
all noisy gradients together, and every function of them, such as all iterates, the last, or their average, are exactly
mu-GDP with mu = (2 or 1) C sqrt(T) / (n sigma). Neither convexity nor a step size is assumed: only the clipping.

(The slides clip by max(1, C/|z|), which leaves long gradients alone and lengthens short ones, use C/n for replaced
records, and call the sum of the iterates their average; none of that is private or meant.)

DP-SGD (document 004, batches of size B; here the batch is a Poisson sample, so that only its expected size is B):

    g_t = (1/B) sum_{i in S_t} clip(grad l(theta_{t-1} | x_i), C) + N(0, noise_on_mean^2 I),    P(i in S_t) = B/n.

The divisor is the constant B, not the number of records drawn. It is `poisson-gaussian.epsilon` with the noise
multiplier noise_on_mean B / C and the sampling rate B / n, which must be at most 1; the batches stay secret. Batches of
exactly B records drawn without replacement are `wor-gaussian.epsilon`.
"""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

from flint import ctx

from oracle.bounds.gaussian import gaussian_composed
from oracle.bounds.gaussian.gaussian_composed import composed_mu
from oracle.bounds.sampling import amplification_arrays, poisson_gaussian
from oracle.bounds.sampling.relation import NEIGHBOURS, TERMS
from oracle.core import vocabulary
from oracle.core.algorithm import Values
from oracle.core.arrays import deflate, inflate, quotient
from oracle.core.attainment import truth
from oracle.core.domain import shown
from oracle.core.enclosure import Enclosure, ball
from oracle.core.errors import DomainError
from oracle.core.registry import Bound
from oracle.engines import gaussian_arrays as arrays
from oracle.engines.gaussian_curve import CURVE, sigma_of


def _sensitivity(values: Values) -> Fraction:
    result: Fraction = TERMS[values.neighbours] * values.clip_norm / values.dataset_size
    return result


def _fast_sensitivity(xp: Any, values: Values) -> Any:
    return quotient(xp, TERMS[values.neighbours] * values.clip_norm, values.dataset_size)


def _epsilon(values: Values, width: Fraction) -> Enclosure:
    step = Values(sigma=values.noise_on_mean, sensitivity=_sensitivity(values), steps=values.steps, delta=values.delta)
    return gaussian_composed.epsilon.certify(step, width)


def _fast_epsilon(xp: Any, values: Values) -> Any:
    mu = composed_mu(xp, quotient(xp, _fast_sensitivity(xp, values), values.noise_on_mean), values.steps)
    return xp.where(values.steps > 0.0, arrays.epsilon_upper(xp, mu, values.delta), 0.0)


def _sigma(values: Values, width: Fraction) -> Enclosure:
    """sqrt(T) times the noise of one release."""
    if values.steps == 0:
        return Enclosure.exactly(0)
    with ctx.workprec(128):
        root = int(ball(values.steps).sqrt().upper().ceil().fmpz())
    # An error of w min(1, one) grows by at most `root`, the value by at least 1.
    one = sigma_of(_sensitivity(values), values.epsilon, values.delta, width / (4 * root))
    magnitude = max(0, one.upper.exponent + one.upper.mantissa.bit_length()) + root.bit_length()
    with ctx.workprec(128 + width.denominator.bit_length() + magnitude):
        factor = ball(values.steps).sqrt()
        return Enclosure.between(one.lower.ball * factor, one.upper.ball * factor)


def _fast_sigma(xp: Any, values: Values) -> Any:
    one = arrays.sigma_upper(xp, _fast_sensitivity(xp, values), values.epsilon, values.delta)
    return xp.where(values.steps > 0.0, inflate(one * xp.sqrt(values.steps), 2.0), 0.0)


def _sampled(values: Values) -> Values:
    """The parameters of `poisson-gaussian.epsilon`."""
    if values.batch_size > values.dataset_size:
        raise DomainError(
            f"batch_size = {shown(values.batch_size)} is above dataset_size = {shown(values.dataset_size)}:"
            " no such sampling rate"
        )
    return Values(
        sigma=values.noise_on_mean * values.batch_size / values.clip_norm,
        sampling_rate=Fraction(values.batch_size, values.dataset_size),
        steps=values.steps, delta=values.delta, neighbours=values.neighbours,
    )


def _fast_sampled(xp: Any, values: Values) -> Any:
    """The same with the noise rounded down and the rate up: epsilon falls in the one and rises in the other."""
    noise = deflate(values.noise_on_mean * values.batch_size / values.clip_norm, 2.0)
    rate = amplification_arrays.fraction(xp, values.batch_size, values.dataset_size)
    result = poisson_gaussian.epsilon.vectorised(xp, Values(
        sigma=noise, sampling_rate=xp.where(rate > 1.0, 1.0, rate), steps=values.steps, delta=values.delta,
        neighbours=values.neighbours,
    ))
    # No answer where the noise nears the subnormals or overflows, or the batch is larger than the data.
    return xp.where((noise > 1e-290) & (noise < 1e290) & (rate > 0.0), result, math.nan)


_CLIP = vocabulary.clip_norm.finite()
_SIZE = vocabulary.dataset_size
_STEPS = vocabulary.steps
_FORMULA = CURVE + (
    r", \quad \mu = \frac{kC\sqrt{T}}{n\sigma}, \quad k = 2 \text{ (replace) or } 1 \text{ (add or remove)}"
)
_SOURCE = ("cs208/dp-gd-sensitivity-repaired", "background/gdp-composition")
_EXAMPLE = {"clip_norm": "1", "dataset_size": "10000", "steps": "100", "delta": "1e-5", "neighbours": "add_remove"}

_ASSUMES = ("short-gradients", "gaussian-noise", "only-noisy-gradients", "constant-size")

epsilon = Bound(
    name="dp-gd.epsilon",
    unit="epsilon",
    tightness=truth("a linear loss has the same clipped gradient at every step"),
    summary="least epsilon for which full-batch descent on clipped gradients with noise is (epsilon, delta)-DP",
    formula=_FORMULA,
    parameters=(
        _CLIP, _SIZE, vocabulary.noise_on_mean.above(0), _STEPS,
        vocabulary.delta.open(), NEIGHBOURS,
    ),
    assumes=(*_ASSUMES, "full-batches"),
    neighbours="any",
    threat_model="all_iterates",
    released="all_iterates",
    source=_SOURCE,
    validity="argued",
    certify=_epsilon,
    vectorised=_fast_epsilon,
    example={**_EXAMPLE, "noise_on_mean": "0.004"},
)

sigma = Bound(
    name="dp-gd.sigma",
    unit="sigma",
    tightness=truth("a linear loss has the same clipped gradient at every step"),
    summary="least noise on the mean gradient that makes full-batch clipped gradient descent (epsilon, delta)-DP",
    formula=_FORMULA,
    parameters=(_CLIP, _SIZE, _STEPS, vocabulary.epsilon, vocabulary.delta.open(), NEIGHBOURS),
    assumes=(*_ASSUMES, "full-batches"),
    neighbours="any",
    threat_model="all_iterates",
    released="all_iterates",
    source=_SOURCE,
    validity="argued",
    certify=_sigma,
    vectorised=_fast_sigma,
    example={**_EXAMPLE, "epsilon": "1"},
)

sgd_epsilon = Bound(
    name="dp-sgd.epsilon",
    unit="epsilon",
    tightness=truth("a linear loss has the same clipped gradient at every step, the others 0"),
    summary="least epsilon for which descent on Poisson batches of clipped gradients with noise is (epsilon, delta)-DP",
    formula=(
        poisson_gaussian.epsilon.formula
        + r", \quad \sigma = \frac{\sigma_{\mathrm{abs}} B}{C}, \quad q = \frac{B}{n}"
    ),
    parameters=(
        _CLIP, _SIZE, vocabulary.batch_size,
        vocabulary.noise_on_mean.above(0), _STEPS,
        vocabulary.delta.open(), NEIGHBOURS,
    ),
    assumes=(*_ASSUMES, "poisson-sampling", "secret-batches", "constant-divisor"),
    neighbours="any",
    threat_model="all_iterates",
    released="all_iterates",
    source=("cs208/dp-sgd-repaired", "relu-approx/lem-2.6-repaired"),
    validity="argued",
    certify=lambda v, width: poisson_gaussian.epsilon.certify(_sampled(v), width),
    soon=lambda v: poisson_gaussian.epsilon_soon(_sampled(v)),
    vectorised=_fast_sampled,
    example={**_EXAMPLE, "batch_size": "100", "noise_on_mean": "0.01"},
)
