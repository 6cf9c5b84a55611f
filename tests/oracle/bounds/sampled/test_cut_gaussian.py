"""Steps whose rare huge losses are cut off: integrals by mpmath, curves of two and three steps by their definition."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

import mpmath
import numpy as np
import pytest
from flint import acb, arb, ctx
from scipy.special import ndtr

from oracle.engines.contour import saddle_for
from oracle.engines.sampled.cut_gaussian import CutGaussian, cut_for
from oracle.engines.sampled.plain_bounds import exceeded_delta, exceeded_epsilon, plain_delta
from oracle.engines.sampled.sampled_bounds import SampledDelta, SampledEpsilon, smoothed_delta, smoothed_epsilon
from oracle.engines.sampled.sampled_gaussian import SampledGaussian
from oracle.engines.sampled.smoothed_contour import SmoothedCurve
from oracle.engines.sampled.smoothed_plan import Work, smoothed_plan
from oracle.engines.sampled.smoothed_sums import SmoothedScout

pytestmark = pytest.mark.full


def cut(sigma: str, rate: str, direction: str, count: int, delta: str, share: float = 1e-4) -> CutGaussian:
    step = SampledGaussian(Fraction(sigma), Fraction(rate), direction)
    result = cut_for(step, count, math.log(Fraction(delta)), math.log(share))
    assert result is not None
    return result


# ---- one step, by mpmath


def integral(step: CutGaussian, integrand: Any) -> Any:
    """int phi(y) integrand(u(y), u(-y), g(y)) dy, piece by piece."""
    a, q = 1 / mpmath.mpf(float(step.sigma)), mpmath.mpf(step.rate.numerator) / step.rate.denominator

    def u(y: Any) -> Any:
        return 1 - q + q * mpmath.exp(a * y - a * a / 2)

    def whole(y: Any) -> Any:
        g = mpmath.exp(-mpmath.exp(step.steepness * (y - step.cut)))
        return mpmath.exp(-y * y / 2) / mpmath.sqrt(2 * mpmath.pi) * integrand(u(y), u(-y), g)

    edges = sorted({*range(-14, math.floor(step.cut)), step.cut - 0.5, step.cut, step.cut + 0.5, step.cut + 1.5})
    return mpmath.quad(whole, edges)


@pytest.mark.parametrize(("sigma", "rate", "direction", "count", "delta", "order"), [
    ("1", "1e-6", "replace", 5, "1e-8", 4e4),
    pytest.param("2", "1e-5", "remove", 30, "1e-15", 2e4, marks=pytest.mark.thorough),
    pytest.param("1/2", "1e-4", "remove", 2, "1e-6", 30.0, marks=pytest.mark.thorough),
])
def test_moments_on_the_line(
    sigma: str, rate: str, direction: str, count: int, delta: str, order: float
) -> None:
    step = cut(sigma, rate, direction, count, delta)
    slope, mirrored = step.slopes

    def moment(s: Any) -> Any:
        return integral(step, lambda u, v, g: u * g * u ** (slope * s) * v ** (mirrored * s))

    with ctx.workprec(128), mpmath.workdps(20):
        line, top = step.on_line(arb(order), 30.0), moment(mpmath.mpf(order))
        error = float(line.outside) + float(line.share) * top
        assert error < 1e-10 * max(1, top)
        for turns, truth in ((0.0, top), (3.0, moment(mpmath.mpc(order, 3 * order)))):
            s, weights = acb(0, turns * order), zip(line.weights, line.losses, strict=True)
            told = sum((weight * (s * loss).exp() for weight, loss in weights), acb(0))
            assert abs(mpmath.mpc(complex(told)) - truth) <= error + 1e-14 * top


@pytest.mark.parametrize("direction", ["remove", "replace"])
def test_what_a_cut_loses(direction: str) -> None:
    step = cut("1", "1e-5", direction, 10, "1e-9")
    with mpmath.workdps(20), ctx.workprec(128):
        first, second = (float(part) for part in step.lost())
        if direction == "remove":
            gap, mass = (integral(step, f) for f in (lambda u, v, g: (1 - g) * max(u - 1, 0), lambda u, v, g: 1 - g))
        else:
            gap, mass = (integral(step, f) for f in (
                lambda u, v, g: (1 - g) * max(u - v, 0), lambda u, v, g: (1 - g) * v))
    assert 0.3 * first < gap <= first
    assert 0.3 * second < mass <= second


# ---- two and three steps, by the definition


def losses(step: SampledGaussian, y: Any) -> tuple[Any, Any]:
    """The loss and P's density at points y."""
    a, q = 1 / float(step.sigma), float(step.rate)
    log_u = np.log1p(q * np.expm1(a * y - a * a / 2))
    away = np.log1p(q * np.expm1(-a * y - a * a / 2)) if step.direction == "replace" else 0.0
    return log_u - away, np.exp(log_u - y * y / 2) / math.sqrt(2 * math.pi)


def single(step: SampledGaussian, epsilon: Any) -> Any:
    """delta_1 at any epsilon, also a negative one, from the crossing of both densities."""
    a, q = 1 / float(step.sigma), float(step.rate)
    rise = np.expm1(epsilon)
    if step.direction == "remove":
        inside = rise > -q
        at = np.log(np.where(inside, (rise + q) / q, 1.0)) / a + a / 2
        return np.where(inside, q * ndtr(a - at) - (rise + q) * ndtr(-at), -rise)
    scale, gap = q * math.exp(-a * a / 2), (1 - q) * rise
    root = np.sqrt(gap * gap + 4 * (1 + rise) * scale * scale)
    other = 4 * (1 + rise) * scale * scale / np.where(gap > 0, 1.0, root - gap)
    at = np.log(np.where(gap > 0, gap + root, other) / (2 * scale)) / a
    return q * ndtr(a - at) - rise * (1 - q) * ndtr(-at) - (1 + rise) * q * ndtr(-at - a)


def defined(step: SampledGaussian, count: int, epsilon: float, points: int) -> float:
    """delta of two or three steps: the mean of one step's delta at epsilon less the losses of the others."""
    y = np.linspace(-10.0, 11.0 + 1 / float(step.sigma), points)
    loss, density = losses(step, y)
    weight = density * (y[1] - y[0])
    if count == 2:
        return float(weight @ single(step, epsilon - loss))
    return float(sum(w * (weight @ single(step, epsilon - one - loss)) for w, one in zip(weight, loss, strict=True)))


FEW = [
    ("1", "1e-6", "replace", 2, "1e-5"), ("0.4", "1e-6", "remove", 2, "1e-5"), ("2", "1e-5", "remove", 3, "1e-4"),
    ("1", "1e-4", "replace", 3, "2e-3"),
]
MORE = [
    ("0.4", "1e-6", "replace", 3, "2e-5"), ("1", "1e-6", "remove", 3, "3e-5"), ("3", "1e-5", "replace", 3, "4e-5"),
    ("0.7", "1e-5", "remove", 3, "1e-5"), ("1", "1e-3", "remove", 3, "0.02"), ("0.5", "1e-2", "replace", 3, "1.5"),
    ("2", "0.1", "remove", 3, "0.5"), ("1", "0.3", "replace", 3, "2"),
]


def holds(sigma: str, rate: str, direction: str, count: int, epsilon: str) -> None:
    """What is answered, what a cut and what plain tests say hold the sum, as exact as its last refinement tells."""
    step, at = SampledGaussian(Fraction(sigma), Fraction(rate), direction), Fraction(epsilon)
    points = (200_000, 400_000) if count == 2 else (1000, 1500)
    about, truth = (defined(step, count, float(at), some) for some in points)
    off = 1e-6 + 10 * abs(about / truth - 1)  # a kink of delta_1 may slow the sum down
    assert off < 1e-3
    question = SampledDelta(step, count, at)
    answers = [plain_delta(step, count, at), question.smoothed(question.suited(), 16383, Work())]
    cutting = cut_for(step, count, math.log(truth), math.log(1e-3))
    if cutting is not None:
        answers.append(smoothed_delta(cutting, count, at, 16383))
    for value in answers:
        assert value.lower.compare(Fraction(truth * (1 + off))) <= 0, (str(value), truth)
        assert value.upper.compare(Fraction(truth * (1 - off))) >= 0, (str(value), truth)
    inverse = SampledEpsilon(step, count, Fraction(truth))
    value = inverse.smoothed(inverse.suited(), 16383, Work())
    assert value.lower.compare(at * Fraction(1 + 10 * off)) <= 0, str(value)
    assert value.upper.compare(at * Fraction(1 - 10 * off)) >= 0, str(value)


@pytest.mark.parametrize("question", FEW, ids=str)
def test_few_steps_against_the_definition(question: tuple[str, str, str, int, str]) -> None:
    holds(*question)


@pytest.mark.thorough
@pytest.mark.parametrize("question", MORE, ids=str)
def test_more_questions_against_the_definition(question: tuple[str, str, str, int, str]) -> None:
    holds(*question)


# ---- tests that a single large y decides


@pytest.mark.parametrize("direction", ["remove", "replace"])
def test_the_largest_y_tells_what_its_chances_say(direction: str) -> None:
    """At the delta that it reaches at an epsilon, it reaches that epsilon; of an added record it tells nothing."""
    step = SampledGaussian(Fraction(1), Fraction(1, 10**6), direction)
    delta = exceeded_delta(step, 1000, Fraction(1, 1000))
    assert delta > 0
    assert abs(exceeded_epsilon(step, 1000, Fraction(float(delta))) - arb(1) / 1000) < 1e-6
    assert exceeded_delta(SampledGaussian(Fraction(1), Fraction(1, 10**6), "add"), 1000, Fraction(1, 1000)).is_zero()


def test_heavy_tails_have_narrow_answers() -> None:
    """Where Chernoff's bound is a thousand times too large."""
    step = SampledGaussian(Fraction(1), Fraction(1, 10**6), "replace")
    question = SampledEpsilon(step, 5, Fraction(1, 10**8))
    chosen = question.suited()
    assert isinstance(chosen, CutGaussian)
    value = question.smoothed(chosen, 32767, Work())
    assert value.upper.compare(value.lower.to_fraction() * Fraction(1001, 1000)) <= 0
    assert question.chernoff(step).upper.compare(1000 * value.upper.to_fraction()) > 0
    assert smoothed_epsilon(cut("1", "1e-6", "replace", 5, "1e-8", 1e-2), 5, Fraction(1, 10**8), 8191).overlaps(value)


# ---- the scout in floats


@pytest.mark.parametrize(("sigma", "rate", "direction", "count", "epsilon", "is_cut"), [
    ("1", "0.001", "remove", 100, 0.05, False), ("2", "0.01", "replace", 1000, 0.5, False),
    ("1", "1e-5", "remove", 10, 0.0005, True), ("0.1", "0.3", "replace", 1000, 30000.0, False),
    ("0.5", "0.01", "add", 30, 0.05, False),
])
def test_a_scout_sees_what_the_certified_curve_does(
    sigma: str, rate: str, direction: str, count: int, epsilon: float, is_cut: bool
) -> None:
    """It proves nothing, but a scout that strays would cost all the work that is placed by it."""
    step = SampledGaussian(Fraction(sigma), Fraction(rate), direction)
    chosen = cut(sigma, rate, direction, count, "1e-9") if is_cut else step
    saddle = saddle_for([(chosen, count)], epsilon=epsilon)
    plan = smoothed_plan(chosen, count, saddle, 8191)
    scout, curve = SmoothedScout(chosen, count, plan), SmoothedCurve(chosen, count, plan)
    for above in (True, False):
        assert scout.about(epsilon, above=above) == pytest.approx(curve.about(epsilon, above=above), abs=1e-6)
    low, high = (float(end.log()) for end in curve.delta(arb(epsilon)))
    assert low - 1e-6 <= scout.about(epsilon, above=True) <= high + 1e-6


def test_where_a_scout_sees_nothing_the_certified_curve_is_asked() -> None:
    step = SampledGaussian(Fraction("1.657"), Fraction("3.376e-5"), "remove")
    question = SampledDelta(step, 20, Fraction("3.355"))
    value, told = question.smoothed(question.suited(), 32767, Work()), plain_delta(step, 20, Fraction("3.355"))
    assert value.overlaps(told)
    assert value.certainly_le(Fraction(1, 10**112))
