r"""DP-SGD for multi-layer networks (document 002, Algorithm 10), with the two repairs that make its privacy true.

A step samples every record with probability q on its own, clips each sampled gradient to norm C, and takes

    W <- Pi(W - eta (sum of the clipped gradients / M + N(0, sigma^2 I))),        M = divisor, a constant.

M is fixed beforehand (q n, as a rule). The paper divides by |B_t| and scales the noise with it: under add or remove the
scale of the noise, which many coordinates show, then gives away the size of the batch, whatever the constant in front;
and |B_t| = 0 is undefined. The paper's constants c_1, c_2 are not given: the noise here is that of the exact curve.

With z = sigma M / C, M (sum / M + noise) / C is a sum of vectors of norm at most 1 plus N(0, z^2 I): the sampled
Gaussian step of `poisson_gaussian` with noise multiplier z, for a record added or removed (it enters or not) or
replaced (another gradient of norm at most C takes its place in the same samples, up to 2C away). All T iterates may
be released; the projection Pi, the average that the paper returns and any start that does not depend on the data are
post-processing. The gradient may be that of any loss, C being the only hypothesis on it. The paper's text was at
hand; for the curve see `composition`."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

from flint import ctx

from oracle.bounds.gaussian.gaussian_composed import composed_mu
from oracle.bounds.sampling import poisson_gaussian
from oracle.core import vocabulary
from oracle.core.algorithm import Values
from oracle.core.arithmetic import enclose
from oracle.core.arrays import deflate, inflate, quotient
from oracle.core.attainment import truth
from oracle.core.enclosure import Enclosure, ball
from oracle.core.registry import Bound
from oracle.engines import gaussian_arrays

_SHIFT = {"add_remove": 1.0, "replace": 2.0}


def _sampled(values: Values, **changed: Any) -> Values:
    """What `poisson_gaussian` needs to know."""
    names = ("sampling_rate", "steps", "neighbours", *(name for name in ("epsilon", "delta") if hasattr(values, name)))
    return Values(**{name: getattr(values, name) for name in names}, **changed)


def _noise(values: Values) -> Fraction:
    return Fraction(values.noise_on_mean * values.divisor / values.clip_norm)


def _epsilon(values: Values, width: Fraction) -> Enclosure:
    return poisson_gaussian.epsilon.certify(_sampled(values, sigma=_noise(values)), width)


def _epsilon_fast(xp: Any, values: Values) -> Any:
    noise = deflate(values.noise_on_mean / values.clip_norm * values.divisor, 2.0)
    usable = (values.noise_on_mean / values.clip_norm > 1e-290) & (noise > 1e-290) & (noise < 1e290)
    result = poisson_gaussian.epsilon.vectorised(xp, _sampled(values, sigma=xp.where(usable, noise, 1.0)))
    return xp.where(usable, result, math.nan)


def _sigma(values: Values, width: Fraction) -> Enclosure:
    scale = values.clip_norm / values.divisor
    unit = poisson_gaussian.sigma.certify(_sampled(values), width / 4 / max(1, math.ceil(scale)))
    return enclose(lambda: ball(scale) * unit.ball, width=width)


def _sigma_soon(values: Values) -> Enclosure:
    unit = poisson_gaussian.sigma_soon(_sampled(values))
    with ctx.workprec(128):
        scale = ball(values.clip_norm / values.divisor)
        return Enclosure.between(scale * unit.lower.ball, scale * unit.upper.ball)


def _sigma_fast(xp: Any, values: Values) -> Any:
    """Without sampling at random the steps are one Gaussian release, of which more is known than of a root."""
    scale = quotient(xp, values.clip_norm, values.divisor)
    every = composed_mu(xp, xp.full_like(scale, _SHIFT[values.neighbours]), values.steps)
    plain = gaussian_arrays.sigma_upper(xp, every, values.epsilon, values.delta)
    noise = plain
    if bool(xp.any(values.sampling_rate < 1.0)):
        noise = xp.where(
            values.sampling_rate < 1.0, poisson_gaussian.sigma.vectorised(xp, _sampled(values)), plain
        )
    result = inflate(noise * scale, 1.0)
    return xp.where((values.steps > 0.0) & (values.sampling_rate > 0.0), result, 0.0)


_SETTING = (
    vocabulary.clip_norm.finite(),
    vocabulary.divisor,
    vocabulary.sampling_rate,
    vocabulary.steps,
)
_NEIGHBOURS = vocabulary.neighbours
_SOURCE = ("nonconvex-nn/thm-13-privacy-repaired", "relu-approx/lem-2.6-repaired")
_FORMULA = r"z = \frac{\sigma M}{C}: \quad "
_EXAMPLE = {
    "clip_norm": "1", "divisor": "100", "sampling_rate": "0.01", "steps": "1000", "neighbours": "add_remove",
}

_ASSUMES = (
    "short-gradients", "gaussian-noise", "only-noisy-gradients", "constant-size", "poisson-sampling", "secret-batches",
    "constant-divisor",
)

epsilon = Bound(
    name="dp-sgd-multilayer.epsilon",
    unit="epsilon",
    tightness=truth("any gradient of norm C is allowed, the others 0: the worst pair of the sampled Gaussian"),
    summary="least epsilon for which DP-SGD divided by a constant batch size is (epsilon, delta)-DP",
    formula=_FORMULA + poisson_gaussian.epsilon.formula.replace(r"\sigma", "z"),
    parameters=(
        vocabulary.noise_on_mean.above(0), *_SETTING, vocabulary.delta.open(),
        _NEIGHBOURS,
    ),
    assumes=_ASSUMES,
    neighbours="any",
    threat_model="all_iterates",
    released="all_iterates",
    source=_SOURCE,
    validity="argued",
    certify=_epsilon,
    soon=lambda v: poisson_gaussian.epsilon_soon(_sampled(v, sigma=_noise(v))),
    vectorised=_epsilon_fast,
    example={"noise_on_mean": "0.01", **_EXAMPLE, "delta": "1e-5"},
)

sigma = Bound(
    name="dp-sgd-multilayer.sigma",
    unit="sigma",
    tightness=truth("any gradient of norm C is allowed, the others 0: the worst pair of the sampled Gaussian"),
    summary="least noise on the mean gradient for which DP-SGD is (epsilon, delta)-DP",
    formula=_FORMULA + poisson_gaussian.epsilon.formula.replace(r"\sigma", "z"),
    parameters=(*_SETTING, vocabulary.epsilon, vocabulary.delta.open(), _NEIGHBOURS),
    assumes=_ASSUMES,
    neighbours="any",
    threat_model="all_iterates",
    released="all_iterates",
    source=_SOURCE,
    validity="argued",
    certify=_sigma,
    soon=_sigma_soon,
    vectorised=_sigma_fast,
    example={**_EXAMPLE, "epsilon": "2", "delta": "1e-5"},
)
