"""Moments on the real line: bounds of the proof by definition, moments by mpmath and by the line for every t."""

from __future__ import annotations

import itertools
import math
import random
from fractions import Fraction
from typing import Any

import mpmath
import numpy as np
import pytest
from flint import acb, arb, ctx

from oracle.engines.sampled import real_line
from oracle.engines.sampled.line_sums import turned_sums
from oracle.engines.sampled.real_line import RealPlan, _Lines, real_moment, real_moments, real_plan, tails
from oracle.engines.sampled.sampled_gaussian import SampledGaussian

DIRECTIONS = ("remove", "add", "replace")
STEPS = [
    SampledGaussian(Fraction(sigma), Fraction(rate), direction)
    for sigma, rate in (("15", "1/60"), ("1", "1/10"), ("2", "0.9"), ("0.6", "1e-3")) for direction in DIRECTIONS
]
ORDERS = (0.3, 3.0, 12.0)


def parts(step: SampledGaussian) -> tuple[Any, Any, Any]:
    """a, q and u, in mpmath."""
    a, q = 1 / mpmath.mpf(step.sigma.numerator) * step.sigma.denominator, mpmath.mpf(float(step.rate))
    return a, q, lambda z: 1 - q + q * mpmath.exp(a * z - a * a / 2)


def integrand(step: SampledGaussian, s: Any) -> Any:
    """phi(z) u(z)^alpha(s) u(-z)^beta(s), by its definition and with principal logarithms."""
    _, _, u = parts(step)
    (alpha, beta), (slope, mirrored) = step.exponents(mpmath.re(s)), step.slopes
    alpha, beta = alpha + 1j * slope * mpmath.im(s), beta + 1j * mirrored * mpmath.im(s)
    return lambda z: mpmath.exp(alpha * mpmath.log(u(z)) + beta * mpmath.log(u(-z)) - z * z / 2) / mpmath.sqrt(
        2 * mpmath.pi)


def by_halves(whole: Any, low: float, high: float) -> Any:
    return mpmath.quad(whole, [low + (high - low) * i / 24 for i in range(25)])


def far(step: SampledGaussian, order: float) -> float:
    """Beyond which nothing counts at 15 digits."""
    return 12 + max(step.exponents(order)[0], 0.0) / float(step.sigma)


def log_size(step: SampledGaussian, order: float, t: float, z: Any) -> Any:
    """log |integrand| at complex points, in floats."""
    a, q = 1 / float(step.sigma), float(step.rate)
    (alpha, beta), (slope, mirrored) = step.exponents(order), step.slopes
    size = np.real(-z * z / 2) - 0.5 * math.log(2 * math.pi)
    for exponent, turn, at in ((alpha, slope, z), (beta, mirrored, -z)):
        log_u = np.log(1 - q + q * np.exp(a * at - a * a / 2))
        size = size + exponent * log_u.real - turn * t * log_u.imag
    return size


@pytest.mark.full
@pytest.mark.parametrize("step", STEPS, ids=str)
def test_the_lines_above_and_below_weigh_no_more_than_is_claimed(step: SampledGaussian) -> None:
    for order, share, t in itertools.product((0.3, 3.0, 12.0), (0.1, 0.2, 0.35, 0.5, 0.65, 0.9), (0.0, 0.5, 20.0)):
        d = min(share * math.pi * float(step.sigma), 25.0)
        y = np.linspace(-far(step, order), far(step, order), 20_001)
        with ctx.workprec(64):
            bound = float(_Lines(step, arb(order), arb(t)).log_size(arb(d)).lower())
        for side in (1, -1):
            sizes = log_size(step, order, t, y + 1j * side * d)
            top = sizes.max()
            weight = float(top + np.log(np.trapezoid(np.exp(sizes - top), y)))
            assert weight <= bound + 1e-6


@pytest.mark.parametrize("step", STEPS, ids=str)
def test_tails_are_no_less_than_the_nodes_out_there(step: SampledGaussian) -> None:
    for order, angle, h in itertools.product(ORDERS, (0.0, 0.7, 1.5), (0.05, 0.25)):
        height = angle * float(step.sigma)
        low, high = -6.0, math.ceil(max(step.exponents(order)[0], 0.0) / float(step.sigma)) + 4.0
        with ctx.workprec(64):
            bound = float(tails(step, arb(order), arb(low), arb(high), arb(angle)).lower().log())
        beyond = h * np.arange(1, 400)
        nodes = np.concatenate([low - beyond, high + beyond])
        sizes = log_size(step, order, 0.0, nodes + 1j * height) - height**2 / 2  # phi's factor is not in the bound
        assert sizes.max() + math.log(h * np.exp(sizes - sizes.max()).sum()) <= bound + 1e-9


@pytest.mark.parametrize("step", STEPS[:6], ids=str)
def test_moments_are_those_of_mpmath(step: SampledGaussian) -> None:
    for order, k in ((0.3, 0.2), (3.0, 0.5)):
        plan = real_plan(step, order, 3 * k, 28.0)
        assert plan is not None
        with ctx.workprec(100):
            found = real_moments(step, plan, arb(order), arb(k), 4)
            alone = real_moment(step, plan, arb(order))
        for n in (0, 3):
            truth = by_halves(integrand(step, mpmath.mpc(order, n * k)), -far(step, order), far(step, order))
            for part, value in ((found[n].real, truth.real), (found[n].imag, truth.imag)):
                assert abs(float(part.mid()) - float(value)) <= float(part.rad()) + 1e-11 * abs(truth)
            if n == 0:
                assert abs(float(alone.mid()) - float(truth.real)) <= float(alone.rad()) + 1e-11 * truth.real
        assert found[0].real.rad() < 1e-11


def drawn(count: int) -> list[tuple[SampledGaussian, float, float]]:
    rng = random.Random(24)
    return [
        (SampledGaussian(Fraction(10 ** rng.uniform(-0.5, 2)), Fraction(min(0.999, 10 ** rng.uniform(-5, 0))),
                         rng.choice(DIRECTIONS)), 10 ** rng.uniform(-1.5, 2), 10 ** rng.uniform(-2, 1.5))
        for _ in range(count)
    ]


def test_both_lines_enclose_the_same_moments() -> None:
    """Wherever both serve, at random parameters: ten orders each, as far as the plan goes."""
    served = 0
    for step, order, t in drawn(120):
        plan = real_plan(step, order, t, 30.0)
        if plan is None or plan.points > 300 or step.points(order, 30.0) > 400:
            continue
        with ctx.workprec(160):
            c, k = arb(order), arb(t / 9)
            real = real_moments(step, plan, c, k, 10)
            line = step.on_line(c, 45.0)
            sums = turned_sums(line.weights, line.losses, k, 10)
            error = arb(0, (line.outside + line.share * (abs(sums[0]) + line.outside) / (1 - line.share)).upper())
            every = [value + acb(error, error) for value in sums]
        assert all(one.overlaps(other) for one, other in zip(real, every, strict=True)), (step, order, t)
        served += real[0].real.rel_accuracy_bits() > 30
    assert served > 40


def test_beyond_the_planned_orders_the_bound_grows() -> None:
    """A sum that is planned for t = 0 tells nothing false far up: its ball holds the truth there, too, or is huge."""
    step = SampledGaussian(Fraction(1), Fraction(1, 10), "remove")
    plan = real_plan(step, 3.0, 0.0, 30.0)
    assert plan is not None
    with ctx.workprec(160):
        high = real_moments(step, plan, arb(3), arb(40), 2)[1]
        truth = step.on_line(arb(3), 60.0)
        value = turned_sums(truth.weights, truth.losses, arb(40), 2)[1]
        assert high.overlaps(value)
        assert high.real.rad() > 1


@pytest.mark.parametrize("lost", ["lines", "tails"])
def test_each_error_is_needed(lost: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """With a coarse plan the enclosure holds, and without one of its errors it does not."""
    step = SampledGaussian(Fraction(5), Fraction(1, 10), "remove")
    fine = real_plan(step, 20.0, 10.0, 60.0)
    assert fine is not None
    coarse = (
        RealPlan(5 * fine.step, fine.shift / 5, fine.first // 5 - 1, fine.last // 5 + 1) if lost == "lines"
        else RealPlan(fine.step, fine.shift, fine.first // 4, fine.last // 4 + 3)
    )
    with ctx.workprec(200):
        truth = real_moments(step, fine, arb(20), arb(5), 3)[2]
        assert real_moments(step, coarse, arb(20), arb(5), 3)[2].overlaps(truth)
        if lost == "lines":
            monkeypatch.setattr(_Lines, "log_size", lambda *_: arb(-200))
        else:
            monkeypatch.setattr(real_line, "tails", lambda *_: arb(0))
        assert not real_moments(step, coarse, arb(20), arb(5), 3)[2].overlaps(truth)


def test_outside_of_the_strip_and_left_of_the_peak_nothing_is_known() -> None:
    step = SampledGaussian(Fraction(1, 2), Fraction(1, 10), "remove")
    with ctx.workprec(64):
        assert not _Lines(step, arb(1), arb(0)).log_size(arb(2)).is_finite()  # theta = 4 > pi
        assert not tails(step, arb(9), arb(-5), arb(15), arb(0)).is_finite()  # the integrand still rises up to 20
        assert not real_moment(step, RealPlan(0.1, 2.0, -100, 300), arb(1)).is_finite()


@pytest.mark.parametrize("step", [step for step in STEPS if step.sigma > 1], ids=str)
def test_a_ceiling_errs_by_no_more_than_it_is_asked_to(step: SampledGaussian) -> None:
    """However high its line is: the factor that phi gets there is no excuse."""
    for order, t in ((3.0, 4.0), (30.0, 60.0)):
        _, angle = step.decay(order, t)
        with ctx.workprec(128):
            top = step.moment_above(arb(order), 40.0)
            rough, sharp = (
                step.ceiling(arb(order), arb(t), angle, top=top, log_error=error) for error in (-18.0, -45.0)
            )
            assert rough - sharp <= math.exp(-15) * top
