r"""Poisson-sampled Gaussian steps (DP-SGD): certified epsilon, delta, and the noise and steps for a target.

A step adds N(0, sigma^2 C^2) to the sum of the sampled records' gradients, each clipped to norm C; every record is
sampled with probability q on its own. What is proved and what is cited of the pairs stands in `composition`. The noise
multiplier that meets a target is the zero of a falling function, and the number of steps the last at which a rising one
is met: both are decided by certified values on both sides.

One step, add or remove: epsilon = log(1 + q (e^{epsilon_0} - 1)) at delta = q delta_0, where (epsilon_0, delta_0) lies
on the Gaussian curve: q P - (e^epsilon - 1 + q) Q is the integrand of both. Adding is never worse: it is
h(1 - e^epsilon (1-q)) against h(q) for removing, with h(A) = sup_S (A P - (A + e^epsilon - 1) Q)(S), which rises in A.
"""

from __future__ import annotations

import math
from dataclasses import replace
from fractions import Fraction
from typing import Any

from flint import arb, ctx

from oracle.arithmetic import decreasing_root
from oracle.arrays import UNIT, at_least, inflate, quotient
from oracle.domain import choice, non_negative, non_negative_integer, positive, probability, unit_interval
from oracle.enclosure import Dyadic, Enclosure, ball
from oracle.errors import PrecisionError
from oracle.privacy import gaussian_arrays
from oracle.privacy.composition import DIRECTIONS, Composition, PoissonGaussian, compose
from oracle.privacy.contour_arrays import upper_bound
from oracle.privacy.gaussian_composed import composed_mu
from oracle.registry import Bound, Values

_SHIFT = {"add_remove": 1.0, "replace": 2.0}
_MOST_STEPS = 10**15


def _composition(values: Values, *, sigma: Fraction | None = None, steps: int | None = None) -> Composition:
    part = PoissonGaussian(values.sigma if sigma is None else sigma, values.sampling_rate)
    return compose([(part, values.steps if steps is None else steps)], neighbours=values.neighbours)


def _meets_without_noise(values: Values) -> bool:
    """Whether delta >= 1 - (1-q)^T: with probability (1-q)^T the record is never sampled and nothing differs."""
    if values.sampling_rate == 1:
        return False
    with ctx.workprec(256):
        return bool(1 - ball(1 - values.sampling_rate) ** values.steps <= ball(values.delta))


def _sigma(values: Values, width: Fraction) -> Enclosure:
    """The least noise multiplier: delta falls in it (more noise is post-processing)."""
    if values.steps == 0 or values.sampling_rate == 0 or _meets_without_noise(values):
        return Enclosure.exactly(0)

    def excess(sigma: arb) -> arb:
        composition = _composition(values, sigma=Dyadic.of(sigma).to_fraction())
        value = composition.delta(values.epsilon, width=Fraction(1, 1 << (ctx.prec // 2)))
        if not value.upper.mantissa:
            return arb(-1)
        return value.lower.ball.union(value.upper.ball).log() - ball(values.delta).log()

    with ctx.workprec(128):
        low = high = arb(1)
        while not excess(high) < 0:
            low, high = high, 2 * high
        while not excess(low) > 0:
            low, high = low / 2, low
    return decreasing_root(excess, low, high, width=width)


def _meets(values: Values, steps: int) -> bool:
    """Whether a number of steps is (epsilon, delta)-DP, for certain."""
    for digits in (6, 15, 30, 60):
        value = _composition(values, steps=steps).delta(values.epsilon, width=Fraction(1, 10**digits))
        if value.certainly_le(values.delta):
            return True
        if not value.possibly_le(values.delta):
            return False
    raise PrecisionError(f"delta after {steps} steps is the target to 60 digits: undecided")


def _steps(values: Values, width: Fraction) -> Enclosure:
    """The largest number of steps, by doubling and halving; `width` is moot, for the answer is an integer."""
    low, high = 0, 1
    while _meets(values, high):
        low, high = high, 2 * high
        if high > _MOST_STEPS:
            raise PrecisionError(f"more than {_MOST_STEPS} steps meet the target")
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if _meets(values, middle) else (low, middle)
    return Enclosure.exactly(low)


def _sigma_fast(xp: Any, values: Values) -> Any:
    """The noise at which the vectorised delta meets the target: a bracket, chords in log sigma, and a last check."""
    def excess(sigma: Any) -> Any:
        at = Values(**{**vars(values), "sigma": sigma})
        return xp.log(_delta_fast(xp, at)) - xp.log(values.delta)

    low, high = xp.ones_like(values.epsilon), xp.ones_like(values.epsilon)
    at_low = at_high = excess(low)
    for _ in range(24):
        if bool(xp.all((at_low > 0.0) & (at_high <= 0.0) | xp.isnan(at_low + at_high))):
            break
        low, high = xp.where(at_low > 0.0, low, 0.5 * low), xp.where(at_high <= 0.0, high, 2.0 * high)
        at_low, at_high = excess(low), excess(high)
    for attempt in range(40):
        chord = at_low / (at_low - at_high)
        share = xp.where(xp.isfinite(chord), chord, 0.5) if attempt % 3 < 2 else 0.5 + 0.0 * chord
        # A little beyond the chord, so that both ends close in.
        share = xp.where(share < 0.5, share + 1e-3 * (share + 1e-9), share - 1e-3 * (1.0 - share + 1e-9))
        middle = low * xp.exp(share * xp.log(high / low))
        at_middle = excess(middle)
        above = at_middle > 0.0
        low, at_low = xp.where(above, middle, low), xp.where(above, at_middle, at_low)
        high, at_high = xp.where(above, high, middle), xp.where(above, at_high, at_middle)
        if bool(xp.all((high - low <= 1e-10 * high) | xp.isnan(at_middle))):
            break
    proved = (at_high <= -64 * UNIT) & (high - low <= 4e-10 * high)
    return xp.where(proved, high, math.nan)


def _steps_fast(xp: Any, values: Values) -> Any:
    """An integer is exact on either side: the reference answers."""
    return values.epsilon * math.nan


def _merge(xp: Any, values: Values, plain: Any, single: Any, many: Any) -> Any:
    """No steps or no sampling, no sampling at random, one step, many steps."""
    result = xp.where(values.sampling_rate == 1.0, plain, xp.where(values.steps == 1.0, single, many))
    return xp.where((values.steps > 0.0) & (values.sampling_rate > 0.0), result, 0.0)


def _mu(xp: Any, values: Values, steps: Any) -> Any:
    shift = xp.full_like(values.sigma, _SHIFT[values.neighbours])
    return composed_mu(xp, quotient(xp, shift, values.sigma), steps)


def _epsilon_fast(xp: Any, values: Values) -> Any:
    q, delta, ones = values.sampling_rate, values.delta, xp.ones_like(values.steps)
    sampled = xp.where(q > 0.0, q, 1.0)
    base_delta = delta / sampled * (1.0 - 4 * UNIT)
    free = base_delta >= 1.0
    base = gaussian_arrays.epsilon_upper(xp, _mu(xp, values, ones), xp.where(free, 0.5, base_delta))
    near = xp.log1p(inflate(sampled * xp.expm1(xp.where(base < 30.0, base, 0.0)), 8.0))
    far = base + xp.log(sampled) + xp.log1p((1.0 - sampled) / sampled * xp.exp(-base))
    single = xp.where(base < 30.0, inflate(near, 8.0), far + 16 * UNIT * (base + xp.abs(xp.log(sampled)) + 1.0))
    single = xp.where(free, 0.0, xp.where(single > 1e-290, single, math.nan))
    if values.neighbours == "replace":
        single = single * math.nan
    plain = gaussian_arrays.epsilon_upper(xp, _mu(xp, values, values.steps), delta)
    many = upper_bound(xp, values.sigma, q, values.steps, DIRECTIONS[values.neighbours], delta=delta)
    return _merge(xp, values, plain, single, many)


def _delta_fast(xp: Any, values: Values) -> Any:
    q, epsilon, ones = values.sampling_rate, values.epsilon, xp.ones_like(values.steps)
    sampled = xp.where(q > 0.0, q, 1.0)
    base = xp.log1p(xp.expm1(epsilon) / sampled)  # infinite where e^epsilon overflows: left to the reference
    base = xp.where(base < 700.0, at_least(xp, base * (1.0 - 16 * UNIT), 0.0), math.nan)
    single = inflate(sampled * gaussian_arrays.delta_upper(xp, base, _mu(xp, values, ones)), 4.0)
    if values.neighbours == "replace":
        single = single * math.nan
    plain = gaussian_arrays.delta_upper(xp, epsilon, _mu(xp, values, values.steps))
    many = upper_bound(xp, values.sigma, q, values.steps, DIRECTIONS[values.neighbours], epsilon=epsilon)
    return _merge(xp, values, plain, single, xp.where(many < 1.0, many, math.nan))


_SIGMA = positive("sigma", "noise multiplier: noise standard deviation over the bound on a record's norm")
_RATE = unit_interval("sampling_rate", "probability with which each record enters a step")
_SOME_RATE = replace(_RATE, low_open=True)  # where nothing is sampled, any number of steps will do
_STEPS = non_negative_integer("steps", "number of steps")
_NEIGHBOURS = choice(
    "neighbours", "add_remove", "replace", meaning="whether a record is added or removed, or replaced"
)
_FORMULA = (
    r"\delta(\varepsilon) = \frac{1}{2\pi i}\int_{c-i\infty}^{c+i\infty}"
    r" M(s)^T \frac{e^{-s\varepsilon}}{s(s+1)}\,ds, \quad"
    r" M(s) = \int\varphi\,u(y)^{s+1},\ \int\varphi\,u(y)^{-s} \text{ (add or remove) or }"
    r" \int\varphi\,u(y)^{s+1}u(-y)^{-s} \text{ (replace)}, \quad u(y) = 1 - q + q\,e^{y/\sigma - 1/(2\sigma^2)}"
)
_SOURCE = ("relu-approx/lem-2.6",)
_EXAMPLE = {"sampling_rate": "0.01", "steps": "1000", "neighbours": "add_remove"}

epsilon = Bound(
    name="poisson-gaussian.epsilon",
    unit="epsilon",
    summary="least epsilon for which Poisson-sampled Gaussian steps (DP-SGD) are (epsilon, delta)-DP",
    formula=_FORMULA,
    parameters=(_SIGMA, _RATE, _STEPS, probability("delta"), _NEIGHBOURS),
    neighbours="any",
    threat_model="all_iterates",
    source=_SOURCE,
    certify=lambda v, width: _composition(v).epsilon(v.delta, width=width),
    vectorised=_epsilon_fast,
    example={**_EXAMPLE, "sigma": "1", "delta": "1e-5"},
)

delta = Bound(
    name="poisson-gaussian.delta",
    unit="delta",
    summary="least delta for which Poisson-sampled Gaussian steps (DP-SGD) are (epsilon, delta)-DP",
    formula=_FORMULA,
    parameters=(_SIGMA, _RATE, _STEPS, non_negative("epsilon"), _NEIGHBOURS),
    neighbours="any",
    threat_model="all_iterates",
    source=_SOURCE,
    certify=lambda v, width: _composition(v).delta(v.epsilon, width=width),
    vectorised=_delta_fast,
    example={**_EXAMPLE, "sigma": "1", "epsilon": "2"},
)

sigma = Bound(
    name="poisson-gaussian.sigma",
    unit="sigma",
    summary="least noise multiplier for which Poisson-sampled Gaussian steps are (epsilon, delta)-DP",
    formula=_FORMULA,
    parameters=(_RATE, _STEPS, non_negative("epsilon"), probability("delta"), _NEIGHBOURS),
    neighbours="any",
    threat_model="all_iterates",
    source=_SOURCE,
    certify=_sigma,
    vectorised=_sigma_fast,
    example={**_EXAMPLE, "epsilon": "2", "delta": "1e-5"},
)

steps = Bound(
    name="poisson-gaussian.steps",
    unit="steps",
    summary="most Poisson-sampled Gaussian steps that are (epsilon, delta)-DP",
    formula=_FORMULA,
    parameters=(_SIGMA, _SOME_RATE, non_negative("epsilon"), probability("delta"), _NEIGHBOURS),
    neighbours="any",
    threat_model="all_iterates",
    source=_SOURCE,
    certify=_steps,
    vectorised=_steps_fast,
    example={"sigma": "1", "sampling_rate": "0.01", "epsilon": "2", "delta": "1e-5", "neighbours": "add_remove"},
)
