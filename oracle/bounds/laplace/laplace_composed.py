r"""Laplace releases in sequence: the exact curve of their k-fold composition, and its inverse.

With m = sensitivity / scale, the loss of one release under the law of the shifted noise is m with probability 1/2, -m
with probability e^{-m}/2, and has the density e^{(l-m)/2}/4 between. Its complement Y = m - L is therefore 0 with
probability 1/2 and else an exponential variable of rate 1/2, cut off at 2m:

    E e^{-sY} = ((s+1) + s e^{-m-2ms}) / (2s+1).

A smaller shift has a smaller curve, so the pair of shift m dominates each release, and domination composes, adaptively
too (Zhu, Dong and Wang 2022); k equal shifts reach it. The loss of k releases is km - W with W a sum of k copies of Y,
so with g = km - epsilon

    delta(epsilon) = E max(0, 1 - e^{-(g - W)}),     whose Laplace transform in g is  (E e^{-sY})^k / (s (s+1)).

Its residues are a sum over delays (`laplace_residues`) that alternates and loses about k bits, which the working
precision wins back up to 400 releases. Many releases have
a contour integral where their moments decay (`laplace_step`, about k m > 100), else, beyond 400, counted atoms and
B-splines (`laplace_splines`). The fast path sums positive terms (`laplace_arrays`) or takes a contour, too.
"""

from __future__ import annotations

import contextlib
import math
from collections.abc import Callable
from fractions import Fraction
from typing import Any

from flint import arb, ctx

from oracle.core import vocabulary
from oracle.core.algorithm import Values
from oracle.core.arithmetic import decreasing_root, enclose
from oracle.core.arrays import TINY, UNIT, anywhere, inflate, nonzero, positive_part, quotient
from oracle.core.attainment import truth
from oracle.core.enclosure import Dyadic, Enclosure, ball
from oracle.core.errors import PrecisionError
from oracle.core.registry import Bound, closed_form
from oracle.engines.composed_pairs import Composition
from oracle.engines.contour import Saddle, saddle_for
from oracle.engines.gaussian_curve import certainly_negative
from oracle.engines.laplace.laplace_arrays import saddle, spline_delta, spline_epsilon
from oracle.engines.laplace.laplace_contour_arrays import contour_delta, contour_epsilon
from oracle.engines.laplace.laplace_residues import MOST_STEPS
from oracle.engines.laplace.laplace_residues import curve as residues
from oracle.engines.laplace.laplace_splines import curve as splines
from oracle.engines.laplace.laplace_step import LaplaceStep

_FEWEST_NODES = 64  # releases below which the residues are quicker than any plan
_RATIOS = (1e-300, 1e9)  # between which the float64 plan for more releases can place its points
_LARGEST_LOSS = 1e12
_AWAY = (0.05, 1.0, 16.0)  # how far a saddle point's epsilon may lie from the truth, in units of 1/c
_SPARE = 25.0  # how far below the asked width the contour must be able to cut, as an exponent of e
_SMALLEST_DELTA = 1e-280  # below, float64 leaves the sums to the reference


def _plan(ratio: Fraction, steps: int, **at: float) -> tuple[Saddle, float]:
    """The saddle point of an epsilon or log_delta, and how far below its delta the contour can cut."""
    step = LaplaceStep(ratio)
    saddle = saddle_for([(step, steps)], **at)
    floor = steps * step.decay(saddle.c, math.inf)[0] - saddle.c * saddle.epsilon
    return saddle, saddle.log_delta - floor


def _is_placed(ratio: Fraction, steps: int) -> bool:
    """Whether a float64 plan is possible, and worth it; more releases than the residues serve need one."""
    low, high = _RATIOS
    placed = low < ratio < high and steps * ratio < _LARGEST_LOSS
    if steps > MOST_STEPS and not placed:
        raise PrecisionError(
            f"more than {MOST_STEPS} releases are served for sensitivity / scale in ({low:.0e}, {high:.0e})"
            f" and a total loss up to {_LARGEST_LOSS:.0e}"
        )
    return placed and steps >= _FEWEST_NODES


def _composition(ratio: Fraction, steps: int) -> Composition:
    return Composition(([(LaplaceStep(ratio), steps)],))


def _nearly_one(ratio: Fraction, steps: int, gap: Fraction, width: Fraction) -> Enclosure | None:
    """[1 - E e^{-(g-W)/4}, 1] where that is narrow: 1 - delta = E min(1, e^{-(g-W)}), and E e^{Y/4} is a moment."""
    with ctx.workprec(128):
        rest = (steps * ((3 - (-ball(ratio) / 2).exp()) / 2).log() - ball(gap) / 4).exp()
        return Enclosure.between(1 - rest, arb(1)) if 4 * rest < ball(width) else None


def _delta(values: Values, width: Fraction) -> Enclosure:
    ratio: Fraction = values.sensitivity / values.scale
    steps, gap = values.steps, values.steps * ratio - values.epsilon
    if gap <= 0:
        return Enclosure.exactly(0)
    if steps > MOST_STEPS:
        extreme = _nearly_one(ratio, steps, gap, width)
        if extreme is not None:
            return extreme
    if _is_placed(ratio, steps):
        saddle, depth = _plan(ratio, steps, epsilon=float(values.epsilon))
        if depth > _SPARE + _digits(width):
            return _composition(ratio, steps).delta(values.epsilon, width=width)
        if steps > MOST_STEPS:
            return enclose(lambda: splines(ratio, steps, gap, saddle.c, saddle.log_delta), width=width).capped(1)
    return enclose(lambda: residues(((ratio, steps),), ball(gap)), width=width).capped(1)


def _digits(width: Fraction) -> float:
    """-log of a width or a delta."""
    with ctx.workprec(64):
        return float(-ball(width).log().mid())


def _epsilon(values: Values, width: Fraction) -> Enclosure:
    ratio: Fraction = values.sensitivity / values.scale
    steps, delta = values.steps, values.delta
    if steps == 0 or delta == 1:
        return Enclosure.exactly(0)
    largest = steps * ratio
    if delta == 0:
        return closed_form(lambda _: ball(largest))(values, width)
    about = None
    if _is_placed(ratio, steps):
        saddle, depth = _plan(ratio, steps, log_delta=-_digits(delta))
        about = saddle.epsilon, 1 / saddle.c
        if depth > _SPARE + _digits(width) + max(0.0, -math.log(min(saddle.c, 1.0))):
            return _composition(ratio, steps).epsilon(delta, width=width)
        if steps > MOST_STEPS:
            return _root(largest, delta, width, lambda epsilon: _splines_at(ratio, steps, epsilon), about)
    return _root(largest, delta, width, lambda epsilon: residues(((ratio, steps),), ball(largest) - epsilon), about)


def _splines_at(ratio: Fraction, steps: int, epsilon: arb) -> arb:
    exact = Dyadic.of(epsilon).to_fraction()
    saddle, _ = _plan(ratio, steps, epsilon=float(exact))
    return splines(ratio, steps, steps * ratio - exact, saddle.c, saddle.log_delta)


def _root(
    largest: Fraction, delta: Fraction, width: Fraction, at: Callable[[arb], arb],
    near: tuple[float, float] | None = None,
) -> Enclosure:
    """The least epsilon >= 0 with at(epsilon) <= delta, where at(largest) = 0; `near` is a guess and its distance."""

    def excess(epsilon: arb) -> arb:
        return arb(-1) if epsilon >= ball(largest) else at(epsilon).log() - ball(delta).log()

    with ctx.workprec(128):
        upper = ball(largest).upper()
    if near is not None:  # an evaluation far from the root costs more than all those near it
        for away in _AWAY:
            low, high = (arb(near[0] + side * away * near[1]) for side in (-1, 1))
            if low > 0 and high < upper:
                with contextlib.suppress(PrecisionError):  # the root lies elsewhere
                    return decreasing_root(excess, low, high, width=width)
    if certainly_negative(lambda: excess(arb(0))):
        return Enclosure.exactly(0)
    return decreasing_root(excess, arb(0), upper, width=width)


def _columns(xp: Any, values: Values, last: Any) -> tuple[Any, ...]:
    ratio = quotient(xp, values.sensitivity, values.scale)
    return tuple(xp.reshape(x, (-1,)) for x in (ratio, values.steps, last))


def _first(xp: Any, solvers: tuple[Any, ...], columns: tuple[Any, ...], wanted: Any) -> Any:
    """For the wanted rows the answer of the first solver that has one."""
    result = columns[0] * math.nan
    for solve in solvers:
        rows = nonzero(xp, wanted & xp.isnan(result))
        if rows.shape[0]:
            result[rows] = solve(xp, *(column[rows] for column in columns))
    return result


def _delta_fast(xp: Any, values: Values) -> Any:
    total = values.steps * (values.sensitivity / values.scale + TINY)
    gap = (total - values.epsilon) + 8 * UNIT * (total + values.epsilon) + TINY  # an upper bound of k m - epsilon
    one = inflate(-xp.expm1(-0.5 * gap), 16.0) + TINY
    columns = _columns(xp, values, values.epsilon)
    many = _first(xp, (contour_delta, spline_delta), columns, xp.isfinite(columns[0]) & (columns[1] > 1.0))
    result = xp.where(values.steps == 1.0, one, xp.reshape(many, one.shape))
    result = xp.where(result > 1.0, 1.0, result)
    return xp.where((gap > 0.0) & (values.steps > 0.0), result, 0.0)


def _epsilon_fast(xp: Any, values: Values) -> Any:
    free, once = (values.steps == 0.0) | (values.delta == 1.0), values.steps == 1.0
    m, steps, delta = columns = _columns(xp, values, values.delta)
    wanted = xp.isfinite(m) & (steps > 1.0) & (delta > _SMALLEST_DELTA) & (delta < 1.0)
    start = saddle(xp, m, steps, log_delta=xp.log(delta))
    many = _first(xp, (contour_epsilon, spline_epsilon), (*columns, *start), wanted)
    many = many if many.shape == free.shape else xp.reshape(many, free.shape)
    if anywhere(once):
        ratio = quotient(xp, values.sensitivity, values.scale)
        saved = -2.0 * xp.log1p(-xp.where(free, 0.5, values.delta))  # one release: m + 2 log(1 - delta)
        many = xp.where(once, positive_part(xp, ratio - saved, ratio + saved), many)
    return xp.where(free, 0.0, many)


_PARAMETERS = (
    vocabulary.scale,
    vocabulary.sensitivity,
    vocabulary.steps,
)
_FORMULA = (
    r"\delta(\varepsilon) = \mathbb{E}\max\left(0,\ 1 - e^{\varepsilon - L_1 - \dots - L_k}\right), \quad"
    r" \mathbb{E}e^{sL_i} = \frac{(s+1)e^{sm} + s\,e^{-(s+1)m}}{2s+1}, \quad m = \frac{\Delta}{b}"
)
_SOURCE = ("background/laplace-curve",)

_ASSUMES = ("real-queries", "laplace-noise")

delta = Bound(
    name="laplace-composed.delta",
    unit="delta",
    tightness=truth("the same two numbers at every release reach the curve"),
    summary="least delta for which a number of Laplace releases together are (epsilon, delta)-DP",
    formula=_FORMULA,
    parameters=(*_PARAMETERS, vocabulary.epsilon),
    assumes=_ASSUMES,
    neighbours="any",
    threat_model="all_iterates",
    source=_SOURCE,
    validity="proved",
    certify=_delta,
    vectorised=_delta_fast,
    example={"scale": "10", "sensitivity": "1", "steps": "100", "epsilon": "4"},
)

epsilon = Bound(
    name="laplace-composed.epsilon",
    unit="epsilon",
    tightness=truth("the same two numbers at every release reach the curve"),
    summary="least epsilon for which a number of Laplace releases together are (epsilon, delta)-DP",
    formula=_FORMULA,
    parameters=(*_PARAMETERS, vocabulary.delta),
    assumes=_ASSUMES,
    neighbours="any",
    threat_model="all_iterates",
    source=_SOURCE,
    validity="proved",
    certify=_epsilon,
    vectorised=_epsilon_fast,
    example={"scale": "10", "sensitivity": "1", "steps": "100", "delta": "1e-5"},
)
