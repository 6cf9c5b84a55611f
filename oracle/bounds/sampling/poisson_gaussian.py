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

from oracle.bounds.gaussian.gaussian_composed import composed_mu
from oracle.core import vocabulary
from oracle.core.algorithm import Values
from oracle.core.arithmetic import DEFAULT_WIDTH, decreasing_root, reaches
from oracle.core.arrays import LEAST, UNIT, Formula, anywhere, at_least, at_most, inflate, lent, nonzero, quotient
from oracle.core.attainment import truth
from oracle.core.domain import (
    Number,
    parse_all,
)
from oracle.core.enclosure import Dyadic, Enclosure, ball
from oracle.core.errors import PrecisionError
from oracle.core.registry import Bound
from oracle.engines import gaussian_arrays
from oracle.engines.bracket import bracket
from oracle.engines.composed_pairs import DIRECTIONS, Composition, PoissonGaussian, compose
from oracle.engines.contour_arrays import upper_bound
from oracle.engines.gaussian_curve import sigma_of
from oracle.engines.sampled.noise_guess import about_noise
from oracle.engines.sampled.noise_guess_arrays import about_log_noise
from oracle.engines.sampled.plain_bounds import meets_unnoised
from oracle.engines.sampled.sampled_gaussian import SampledGaussian

_SHIFT = {"add_remove": 1.0, "replace": 2.0}
_MOST_STEPS = 10**15
_SMALLEST = 1e-290  # below, float64 loses relative accuracy
_NARROWEST, _WIDENINGS = 0.004, 12  # of a bracket in log sigma: its first width, and how often it changes
_CHORDS = 9
_LARGEST_FLOAT = 10**300  # of an epsilon
_PAST, _FARTHER_PAST = 5e-13, 1e-9  # how far past the root of delta or epsilon an answer lies, in log sigma


def _composition(values: Values, *, sigma: Fraction | None = None, steps: int | None = None) -> Composition:
    part = PoissonGaussian(values.sigma if sigma is None else sigma, values.sampling_rate)
    return compose([(part, values.steps if steps is None else steps)], neighbours=values.neighbours)


def epsilon_soon(values: Values) -> Enclosure:
    """The least epsilon, as narrow as little work makes it; for bounds that rest on these steps, too."""
    return _composition(values).epsilon(values.delta, width=None)


_LEAST_SIGMA = arb(2) ** -4000
_LARGEST_SIGMA = 1e150
_LEAST_START, _LARGEST_START, _MANY_STEPS = 0.5, 1e11, 10**300  # of a search


def _needs_none(values: Values) -> bool:
    """Whether no noise at all is needed."""
    if values.steps == 0 or values.sampling_rate == 0:
        return True
    if values.sampling_rate == 1:
        return False
    return meets_unnoised(SampledGaussian(Fraction(1), values.sampling_rate, "remove"), values.steps, values.delta)


def sigma_soon(values: Values) -> Enclosure:
    """The least noise multiplier between certified values at two doubles, as close as few evaluations bring them.

    For bounds that rest on these steps, too.
    """
    if _needs_none(values):
        return Enclosure.exactly(0)

    def excess(sigma: float) -> tuple[float, float]:
        value = _composition(values, sigma=Fraction(sigma)).delta(values.epsilon, width=None)
        with ctx.workprec(128):
            target = ball(values.delta).log()
            lower, upper = (
                end.ball.log() - target if end.mantissa else arb.neg_inf() for end in (value.lower, value.upper)
            )
            return math.nextafter(float(lower.lower()), -math.inf), math.nextafter(float(upper.upper()), math.inf)

    low, high = bracket(excess, *_about_sigma(values), float(DEFAULT_WIDTH) / 2)
    if high < _LARGEST_SIGMA:
        return Enclosure(Dyadic.of(arb(low)), Dyadic.of(arb(high)))
    # No sampled step tells more than an unsampled one: the noise of that is enough.
    root = Fraction(math.isqrt(values.steps << 128) + 1, 1 << 64)
    plain = sigma_of(int(_SHIFT[values.neighbours]) * root, values.epsilon, values.delta, DEFAULT_WIDTH)
    return Enclosure(Dyadic.of(arb(low)), plain.upper)


def _sigma(values: Values, width: Fraction) -> Enclosure:
    """The least noise multiplier: delta falls in it (more noise is post-processing)."""
    soon = sigma_soon(values)
    if reaches(soon, width):
        return soon

    def excess(sigma: arb) -> arb:
        composition = _composition(values, sigma=Dyadic.of(sigma).to_fraction())
        value = composition.delta(values.epsilon, width=Fraction(1, 1 << (ctx.prec // 2)))
        if not value.upper.mantissa:
            return arb(-1)
        return value.lower.ball.union(value.upper.ball).log() - ball(values.delta).log()

    with ctx.workprec(128):
        low, high, step = soon.lower.ball, soon.upper.ball, arb(2)
        if low.is_zero():
            low = high
            while not excess(low) > 0:
                low, high, step = (low / step).mid(), low, (step * step).min(arb(4))
                if low < _LEAST_SIGMA:
                    raise PrecisionError("delta is too close to 1 - (1-q)^T, which no noise at all meets")
    return decreasing_root(excess, low, high, width=width)


def _about_sigma(values: Values) -> tuple[float, float]:
    """About the noise multiplier and the slope of log delta there, by floats that look at one direction; not trusted.

    To first order the steps are one Gaussian release of sensitivity s q sqrt(T).
    """
    log_delta = math.log(values.delta) if values.delta > 1e-300 else -690.0
    largest = min(values.epsilon, _LARGEST_FLOAT)
    epsilon = float(largest)
    if 1 - values.sampling_rate < 1e-9 and values.sampling_rate < 1:  # next to no sampling, for a float
        values = Values(**{**vars(values), "sampling_rate": Fraction(1)})
    like = _SHIFT[values.neighbours] * float(values.sampling_rate) * math.sqrt(min(values.steps, _MANY_STEPS))
    z = math.sqrt(-2 * log_delta)
    mu = 2 * epsilon / (math.sqrt(z * z + 2 * epsilon) + z) + 2.5 * math.exp(log_delta)
    start = min(max(like / mu, _LEAST_START), _LARGEST_START)
    return about_noise(
        lambda sigma: _composition(values, sigma=sigma).directions[0], largest, log_delta, start
    )


def _meets(values: Values, steps: int) -> bool:
    """Whether a number of steps is (epsilon, delta)-DP, for certain."""
    for digits in (6, 15, 30, 60):
        value = _composition(values, steps=steps).delta(values.epsilon, width=Fraction(1, 10**digits))
        if value.certainly_le(values.delta):
            return True
        if not value.possibly_le(values.delta):
            return False
    raise PrecisionError(f"delta after {steps} steps is the target to 60 digits: undecided")


def most_steps(
    *, sigma: Number, sampling_rate: Number, epsilon: Number, delta: Number, neighbours: str = "add_remove"
) -> int:
    """The largest number of steps that is (epsilon, delta)-DP, for certain: one more is certainly not."""
    given = {"sigma": sigma, "sampling_rate": sampling_rate, "epsilon": epsilon, "delta": delta}
    parameters = (_SIGMA, _SOME_RATE, vocabulary.epsilon, vocabulary.delta.open(), _NEIGHBOURS)
    values = Values(**parse_all("most_steps", parameters, {**given, "neighbours": neighbours}))
    low, high = 0, 1
    while _meets(values, high):
        low, high = high, 2 * high
        if high > _MOST_STEPS:
            raise PrecisionError(f"more than {_MOST_STEPS} steps meet the target")
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if _meets(values, middle) else (low, middle)
    return low


@lent
def _sigma_fast(xp: Any, values: Values) -> Any:
    """The noise at which the vectorised delta meets the target; where no delta is had, that at which epsilon does."""
    # To first order the steps are one Gaussian release of sensitivity s q sqrt(T).
    like = _SHIFT[values.neighbours] * values.sampling_rate * xp.sqrt(values.steps) + UNIT
    start = xp.log(at_least(xp, gaussian_arrays.sigma_upper(xp, like, values.epsilon, values.delta), 0.6))
    many = (values.sampling_rate > 0.0) & (values.sampling_rate < 1.0) & (values.steps > 1.0)
    rate, steps = xp.where(many, values.sampling_rate, 0.5), xp.where(many, values.steps, 2.0)
    mirrored = DIRECTIONS[values.neighbours] == ("replace",)
    about = about_log_noise(xp, start, rate, steps, values.epsilon, values.delta, mirrored=mirrored)
    start = xp.where(many, about, start)
    result = _searched(xp, values, _delta_fast, "delta", start, _PAST)
    rows = nonzero(xp, many & xp.isnan(result))
    if rows.shape[0]:
        result[rows] = _searched(xp, _some(values, rows), _epsilon_fast, "epsilon", start[rows], _FARTHER_PAST)
    return xp.where((values.steps > 0.0) & (values.sampling_rate > 0.0), result, 0.0)


def _some(values: Values, rows: Any) -> Values:
    """Some of the rows."""
    return Values(**{name: v if isinstance(v, str) else v[rows] for name, v in vars(values).items()})


def _searched(xp: Any, values: Values, curve: Formula, name: str, start: Any, past: float) -> Any:
    """The noise at which a vectorised curve falls to the value of its name: a bracket in log sigma, chords, a check.

    Every row goes its own way, whatever stands beside it: once a row is settled it stays. An answer lies `past` the
    root, and no farther than a hundred times that past where the curve was seen above its goal.
    """
    goal = vars(values)[name]

    def at(x: Any, rows: Any) -> Any:
        """The curve for some of the rows of a column; NaN for the others."""
        result = x * math.nan
        if rows.shape[0]:
            here = _some(values, rows)
            result[rows] = curve(xp, Values(**{**vars(here), "sigma": xp.exp(x[rows])}))
        return result

    def excess(x: Any, rows: Any) -> Any:
        value = at(x, rows)
        return xp.log(xp.where(value < 1e-300, 1e-300, value)) - xp.log(goal)

    low, high, at_low = start, start + 0.0, excess(start, xp.arange(start.shape[0], device=start.device))
    at_high, width = at_low + 0.0, 0.0 * start + _NARROWEST
    for _ in range(_WIDENINGS):
        short, long = ~(at_low > 0.0) & ~xp.isnan(at_low), ~(at_high <= 0.0) & ~xp.isnan(at_high)
        rows = nonzero(xp, short | long)
        if rows.shape[0] == 0:
            break
        new = xp.where(short, low - width, high + width)
        at_new = excess(new, rows)
        known = ~xp.isnan(at_new)
        width = width * xp.where(known, 3.0, 0.2)  # where nothing is had, not so far
        # One end moves on, and the other follows to where it was.
        ahead, behind = known & long, known & short
        low, at_low, high, at_high = (
            xp.where(behind, new, xp.where(ahead, high, low)),
            xp.where(behind, at_new, xp.where(ahead, at_high, at_low)),
            xp.where(ahead, new, xp.where(behind, low, high)),
            xp.where(ahead, at_new, xp.where(behind, at_low, at_high)),
        )
    (before, at_before), (root, at_root) = (low, at_low), (high, at_high)
    held = (at_low > 0.0) & (at_high <= 0.0)
    moved = held
    for _ in range(_CHORDS):  # the curves are nearly straight in logarithms: chords through the last two points
        point = root - at_root * (root - before) / (at_root - at_before)
        point = at_most(xp, at_least(xp, point, low), high)
        goes, moved = moved, moved & (xp.abs(point - root) > 2.0 * past)  # a settled row stays, but for the last chord
        before, at_before = xp.where(moved, root, before), xp.where(moved, at_root, at_before)
        root = xp.where(goes, point, root)
        rows = nonzero(xp, moved)
        if rows.shape[0] == 0:
            break
        at_root = xp.where(moved, excess(root, rows), at_root)
    upper, rows = root + past, nonzero(xp, held)
    proved = (at(upper, rows) <= goal) & (excess(root - 100 * past, rows) > 0.0)
    return xp.where(proved, xp.exp(upper) * (1.0 + 8 * UNIT * (1.0 + xp.abs(upper))), math.nan)


def _merge(xp: Any, values: Values, plain: Formula, single: Formula, many: Any) -> Any:
    """No steps or no sampling, no sampling at random, one step, many steps; a formula is computed where it counts."""
    always, once = values.sampling_rate == 1.0, values.steps == 1.0
    for rows, formula in ((once & ~always, single), (always, plain)):
        if anywhere(rows):
            many = xp.where(rows, formula(xp, values), many)
    return xp.where((values.steps > 0.0) & (values.sampling_rate > 0.0), many, 0.0)


def _mu(xp: Any, values: Values, steps: Any) -> Any:
    shift = xp.full_like(values.sigma, _SHIFT[values.neighbours])
    return composed_mu(xp, quotient(xp, shift, values.sigma), steps)


def _epsilon_once(xp: Any, values: Values) -> Any:
    q, delta, ones = values.sampling_rate, values.delta, xp.ones_like(values.steps)
    sampled = xp.where(q > 0.0, q, 1.0)
    base_delta = delta / sampled * (1.0 - 4 * UNIT)
    free = base_delta >= 1.0
    base = gaussian_arrays.epsilon_upper(xp, _mu(xp, values, ones), xp.where(free, 0.5, base_delta))
    near = xp.log1p(inflate(sampled * xp.expm1(xp.where(base < 30.0, base, 0.0)), 8.0))
    far = base + xp.log(sampled) + xp.log1p((1.0 - sampled) / sampled * xp.exp(-base))
    single = xp.where(base < 30.0, inflate(near, 8.0), far + 16 * UNIT * (base + xp.abs(xp.log(sampled)) + 1.0))
    lost = (single <= _SMALLEST) | (delta < _SMALLEST)  # a subnormal delta / q may have been rounded up
    single = xp.where(free, 0.0, xp.where(lost, math.nan, single))
    return single * math.nan if values.neighbours == "replace" else single


def _epsilon_plain(xp: Any, values: Values) -> Any:
    return gaussian_arrays.epsilon_upper(xp, _mu(xp, values, values.steps), values.delta)


@lent
def _epsilon_fast(xp: Any, values: Values) -> Any:
    directions = DIRECTIONS[values.neighbours]
    many = upper_bound(xp, values.sigma, values.sampling_rate, values.steps, directions, delta=values.delta)
    return _merge(xp, values, _epsilon_plain, _epsilon_once, many)


def _delta_once(xp: Any, values: Values) -> Any:
    q, epsilon, ones = values.sampling_rate, values.epsilon, xp.ones_like(values.steps)
    sampled = xp.where(q > 0.0, q, 1.0)
    base = xp.log1p(xp.expm1(epsilon) / sampled)  # infinite where e^epsilon overflows: left to the reference
    base = xp.where(base < 700.0, at_least(xp, base * (1.0 - 16 * UNIT), 0.0), math.nan)
    single = inflate(sampled * gaussian_arrays.delta_upper(xp, base, _mu(xp, values, ones)), 4.0) + LEAST
    return single * math.nan if values.neighbours == "replace" else single


def _delta_plain(xp: Any, values: Values) -> Any:
    return gaussian_arrays.delta_upper(xp, values.epsilon, _mu(xp, values, values.steps))


@lent
def _delta_fast(xp: Any, values: Values) -> Any:
    directions = DIRECTIONS[values.neighbours]
    many = upper_bound(xp, values.sigma, values.sampling_rate, values.steps, directions, epsilon=values.epsilon)
    return _merge(xp, values, _delta_plain, _delta_once, xp.where(many > 1.0, 1.0, many))  # no delta exceeds 1


_SIGMA = vocabulary.sigma
_RATE = vocabulary.sampling_rate
_SOME_RATE = replace(_RATE, low_open=True)  # where nothing is sampled, any number of steps will do
_STEPS = vocabulary.steps
_NEIGHBOURS = vocabulary.neighbours
_FORMULA = (
    r"\delta(\varepsilon) = \frac{1}{2\pi i}\int_{c-i\infty}^{c+i\infty}"
    r" M(s)^T \frac{e^{-s\varepsilon}}{s(s+1)}\,ds, \quad"
    r" M(s) = \int\varphi\,u(y)^{s+1},\ \int\varphi\,u(y)^{-s} \text{ (add or remove) or }"
    r" \int\varphi\,u(y)^{s+1}u(-y)^{-s} \text{ (replace)}, \quad u(y) = 1 - q + q\,e^{y/\sigma - 1/(2\sigma^2)}"
)
_SOURCE = ("relu-approx/lem-2.6-repaired",)
_EXAMPLE = {"sampling_rate": "0.01", "steps": "1000", "neighbours": "add_remove"}

_ASSUMES = ("short-terms", "gaussian-noise", "poisson-sampling", "secret-batches", "constant-divisor")

epsilon = Bound(
    name="poisson-gaussian.epsilon",
    unit="epsilon",
    tightness=truth("one record of norm C among zeros (C for -C, if replaced) is the worst pair, at every step"),
    summary="least epsilon for which Poisson-sampled Gaussian steps (DP-SGD) are (epsilon, delta)-DP",
    formula=_FORMULA,
    parameters=(_SIGMA, _RATE, _STEPS, vocabulary.delta.open(), _NEIGHBOURS),
    assumes=_ASSUMES,
    neighbours="any",
    threat_model="all_iterates",
    source=_SOURCE,
    validity="argued",
    certify=lambda v, width: _composition(v).epsilon(v.delta, width=width),
    soon=epsilon_soon,
    vectorised=_epsilon_fast,
    example={**_EXAMPLE, "sigma": "1", "delta": "1e-5"},
)

delta = Bound(
    name="poisson-gaussian.delta",
    unit="delta",
    tightness=truth("one record of norm C among zeros (C for -C, if replaced) is the worst pair, at every step"),
    summary="least delta for which Poisson-sampled Gaussian steps (DP-SGD) are (epsilon, delta)-DP",
    formula=_FORMULA,
    parameters=(_SIGMA, _RATE, _STEPS, vocabulary.epsilon, _NEIGHBOURS),
    assumes=_ASSUMES,
    neighbours="any",
    threat_model="all_iterates",
    source=_SOURCE,
    validity="argued",
    certify=lambda v, width: _composition(v).delta(v.epsilon, width=width).capped(1),
    soon=lambda v: _composition(v).delta(v.epsilon, width=None).capped(1),
    vectorised=_delta_fast,
    example={**_EXAMPLE, "sigma": "1", "epsilon": "2"},
)

sigma = Bound(
    name="poisson-gaussian.sigma",
    unit="sigma",
    tightness=truth("one record of norm C among zeros (C for -C, if replaced) is the worst pair, at every step"),
    summary="least noise multiplier for which Poisson-sampled Gaussian steps are (epsilon, delta)-DP",
    formula=_FORMULA,
    parameters=(_RATE, _STEPS, vocabulary.epsilon, vocabulary.delta.open(), _NEIGHBOURS),
    assumes=_ASSUMES,
    neighbours="any",
    threat_model="all_iterates",
    source=_SOURCE,
    validity="argued",
    certify=_sigma,
    soon=sigma_soon,
    vectorised=_sigma_fast,
    example={**_EXAMPLE, "epsilon": "2", "delta": "1e-5"},
)
