"""The everyday domain of DP-SGD: every question has an answer, it is certified, and it moves as it must.

The grid is that of benchmarks/everyday.py: a few of its points in every tier, all of them at night. Nothing here looks
at a clock: the work is bounded by counts.
"""

from __future__ import annotations

import contextlib
import itertools
import math
import random
import sys
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from flint import arb, ctx
from scipy.special import ndtr

from oracle.core.arithmetic import reaches
from oracle.core.enclosure import Enclosure
from oracle.core.errors import PrecisionError
from oracle.core.registry import bound
from oracle.engines.composed_curve import contour_epsilon
from oracle.engines.composed_pairs import Composition, PoissonGaussian, compose
from oracle.engines.sampled import sampled_bounds, small_noise
from oracle.engines.sampled.plain_bounds import plain_delta, plain_epsilon
from oracle.engines.sampled.sampled_bounds import smoothed_delta, smoothed_epsilon
from oracle.engines.sampled.sampled_gaussian import SampledGaussian
from oracle.engines.sampled.smoothed_contour import SmoothedCurve
from oracle.engines.sampled.smoothed_plan import SmoothedPlan

sys.path.append(str(Path(__file__).parents[3] / "benchmarks"))
from everyday import GRID, RELATIONS

pytestmark = pytest.mark.full

SAMPLE, MOVED = 40, 4


def epsilon(point: dict[str, str], **changes: str) -> Enclosure:
    return bound("poisson-gaussian.epsilon").reference(**{**point, **changes})


def answered(point: dict[str, str]) -> Enclosure:
    """The answer, which is an enclosure of a number that is not negative."""
    value = epsilon(point)
    assert value.lower.compare(value.upper) <= 0, point
    assert value.lower.compare(0) >= 0, point
    return value


def moves(point: dict[str, str]) -> None:
    """More noise, fewer steps or a larger delta are never certainly worse."""
    value = answered(point)
    assert epsilon(point, sigma=str(2 * Fraction(point["sigma"]))).possibly_le(value)
    assert epsilon(point, steps=str(math.ceil(int(point["steps"]) / 2))).possibly_le(value)
    assert value.possibly_le(epsilon(point, delta=str(Fraction(point["delta"]) / 10)))


def test_the_grid_has_twenty_thousand_points() -> None:
    assert len(GRID) >= 20_000
    assert len({tuple(point.items()) for point in GRID}) == len(GRID)


@pytest.mark.parametrize("start", range(0, SAMPLE, 10))
def test_everyday_questions_are_answered(start: int) -> None:
    for point in GRID[start : start + 10]:
        answered(point)


def test_answers_move_as_they_must() -> None:
    for point in GRID[:MOVED]:
        moves(point)


@pytest.mark.thorough
@pytest.mark.parametrize("start", range(MOVED, 600, 50))
def test_answers_move_as_they_must_at_night(start: int) -> None:
    for point in GRID[start : start + 50]:
        moves(point)


@pytest.mark.thorough
@pytest.mark.parametrize("start", range(SAMPLE, len(GRID), 500))
def test_every_everyday_question_is_answered(start: int) -> None:
    for point in GRID[start : start + 500]:
        answered(point)


NAMED = [
    ("epsilon", {"sigma": "1", "sampling_rate": "0.001", "steps": "2", "delta": "1e-5"}, "1e-3"),
    ("epsilon", {"sigma": "0.5", "sampling_rate": "1e-5", "steps": "100", "delta": "1e-5"}, "2e-2"),
    ("epsilon", {"sigma": "0.4", "sampling_rate": "0.0001", "steps": "10", "delta": "1e-5"}, "1e-2"),
    ("epsilon", {"sigma": "0.1", "sampling_rate": "1e-5", "steps": "976563", "delta": "1e-5"}, "1e-2"),
    ("sigma", {"sampling_rate": "0.001", "steps": "25", "epsilon": "1", "delta": "1e-5"}, "1e-6"),
    ("sigma", {"sampling_rate": "0.01", "steps": "100", "epsilon": "20", "delta": "1e-5"}, "1e-6"),
]


@pytest.mark.parametrize(("name", "given", "width"), NAMED)
def test_what_was_refused_or_slow_has_a_narrow_answer(name: str, given: dict[str, str], width: str) -> None:
    value = bound(f"poisson-gaussian.{name}").reference(**given, neighbours="add_remove")
    assert reaches(value, Fraction(width)), str(value)


FEW_STEPS = list(itertools.product(
    ("1e-4", "1e-3", "1e-2"), ("0.4", "0.5", "0.7", "1"), ("2", "5", "10", "25", "100"), RELATIONS
))
random.Random(59).shuffle(FEW_STEPS)


def certain(value: Enclosure, relative: Fraction) -> bool:
    """Whether both ends are as near as that, relative to the lower one."""
    return value.upper.compare(value.lower.to_fraction() * (1 + relative)) <= 0


def narrow(points: list[tuple[str, str, str, str]]) -> None:
    """Few steps of small rates, most of which were refused once, to a hundredth and mostly to far less."""
    for rate, sigma, steps, relation in points:
        point = {"sampling_rate": rate, "sigma": sigma, "steps": steps, "delta": "1e-5", "neighbours": relation}
        value = epsilon(point)
        assert certain(value, Fraction(1, 100)), (point, str(value))


def test_few_steps_of_small_rates_have_narrow_answers() -> None:
    narrow(FEW_STEPS[:16])


@pytest.mark.thorough
def test_all_few_steps_of_small_rates_have_narrow_answers() -> None:
    narrow(FEW_STEPS[16:])


WIDE = [
    ("1e-6", "1", "5", "1e-8", "replace"), ("1e-6", "30", "10", "1e-15", "replace"),
    ("1e-6", "10", "30", "1e-15", "add_remove"), ("1e-6", "1.7", "100000", "1e-15", "replace"),
    ("0.3", "0.1", "10000000", "1e-6", "add_remove"), ("0.1", "0.3", "10000000", "1e-6", "add_remove"),
    ("1e-5", "0.4", "100000", "1e-6", "replace"),
]


@pytest.mark.parametrize(("rate", "sigma", "steps", "delta", "relation"), WIDE)
def test_what_was_wide_is_narrow(rate: str, sigma: str, steps: str, delta: str, relation: str) -> None:
    point = {"sampling_rate": rate, "sigma": sigma, "steps": steps, "delta": delta, "neighbours": relation}
    assert certain(epsilon(point), Fraction(1, 1000))


def test_a_noise_far_beyond_everyday_is_narrow() -> None:
    value = bound("poisson-gaussian.sigma").reference(
        sampling_rate="0.01", steps=100, epsilon="1e-9", delta="1e-15", neighbours="replace"
    )
    assert certain(value, Fraction(1, 10**9))


EXTREME = [
    ("epsilon", {"sampling_rate": "0.99999999999999999", "sigma": "1", "steps": "10", "delta": "1e-5"}),
    ("epsilon", {"sampling_rate": "0.01", "sigma": "1e-160", "steps": "10", "delta": "1e-5"}),
    ("epsilon", {"sampling_rate": "0.01", "sigma": "1e300", "steps": "10", "delta": "1e-5"}),
    ("epsilon", {"sampling_rate": "0.01", "sigma": "1e-4000", "steps": "10", "delta": "1e-5"}),
    ("epsilon", {"sampling_rate": "1e-4000", "sigma": "1", "steps": "10", "delta": "1e-5"}),
    ("delta", {"sampling_rate": "0.99999999999999999", "sigma": "1", "steps": "10", "epsilon": "1"}),
    ("delta", {"sampling_rate": "0.01", "sigma": "1e-160", "steps": "10", "epsilon": "1"}),
    ("delta", {"sampling_rate": "0.01", "sigma": "1e300", "steps": "10", "epsilon": "1"}),
    ("delta", {"sampling_rate": "0.01", "sigma": "1e4000", "steps": "10", "epsilon": "1"}),
    ("delta", {"sampling_rate": "0.01", "sigma": "1", "steps": "1000", "epsilon": "1e6"}),
    ("delta", {"sampling_rate": "1e-4000", "sigma": "1", "steps": "10", "epsilon": "1"}),
    ("sigma", {"sampling_rate": "1e-4000", "steps": "10", "epsilon": "1", "delta": "1e-5"}),
    ("sigma", {"sampling_rate": "1e-400", "steps": "10", "epsilon": "1", "delta": "1e-4000"}),
]


@pytest.mark.parametrize("relation", RELATIONS)
@pytest.mark.parametrize(("name", "given"), EXTREME)
def test_what_no_double_can_hold_is_answered(name: str, given: dict[str, str], relation: str) -> None:
    value = bound(f"poisson-gaussian.{name}").reference(**given, neighbours=relation)
    assert value.lower.compare(value.upper) <= 0
    assert value.lower.compare(0) >= 0


def test_a_rate_next_to_one_is_nearly_no_sampling() -> None:
    given = {"sigma": "1", "steps": "10", "delta": "1e-5", "neighbours": "replace"}
    item = bound("poisson-gaussian.epsilon")
    value, plain = (item.reference(**given, sampling_rate=rate) for rate in ("0.99999999999999999", "1"))
    assert value.possibly_le(plain)
    assert reaches(value, Fraction(1, 10**6))


# ---- second opinions


def two_steps(sigma: float, rate: float, epsilon: float, direction: str) -> float:
    """delta of two steps, from the definition: int phi u(y) delta_1(epsilon - L(y)) dy, a fine sum of closed forms."""
    a, q = 1 / sigma, rate
    y = np.linspace(-14.0, 14.0 + 2 * a, 800_001)

    def log_u(points: Any) -> Any:
        return np.log1p(q * np.expm1(a * points - a * a / 2))

    losses = log_u(y) - (log_u(-y) if direction == "replace" else 0.0)
    rise = np.expm1(epsilon - losses)  # e^x - 1
    if direction == "remove":
        inside = rise > -q
        at = np.log(np.where(inside, (rise + q) / q, 1.0)) / a + a / 2
        single = np.where(inside, q * ndtr(a - at) - (rise + q) * ndtr(-at), -rise)
    else:
        scale, gap = q * np.exp(-a * a / 2), (1 - q) * rise
        at = np.log((gap + np.sqrt(gap * gap + 4 * (1 + rise) * scale * scale)) / (2 * scale)) / a
        single = q * ndtr(a - at) - rise * (1 - q) * ndtr(-at) - (1 + rise) * q * ndtr(-at - a)
    return float((np.exp(log_u(y) - y * y / 2) * single).sum() * (y[1] - y[0]) / math.sqrt(2 * math.pi))


@pytest.mark.parametrize(("sigma", "rate", "epsilon", "direction"), [
    ("1", "0.001", "0.0124", "remove"), ("1", "0.001", "0.5", "replace"), ("0.5", "0.0001", "1", "remove"),
    ("2", "0.01", "0.02", "replace"), ("0.7", "0.3", "1.5", "remove"),
])
def test_two_steps_against_the_definition(sigma: str, rate: str, epsilon: str, direction: str) -> None:
    step = SampledGaussian(Fraction(sigma), Fraction(rate), direction)
    truth = Fraction(two_steps(float(sigma), float(rate), float(epsilon), direction))
    for value in (smoothed_delta(step, 2, Fraction(epsilon), 8191), plain_delta(step, 2, Fraction(epsilon))):
        assert value.lower.compare(truth * (1 + Fraction(1, 10**6))) <= 0, (str(value), float(truth))
        assert value.upper.compare(truth * (1 - Fraction(1, 10**6))) >= 0, (str(value), float(truth))


def drawn(count: int, seed: int) -> list[tuple[SampledGaussian, int, Fraction]]:
    draw = random.Random(seed)
    result = []
    for _ in range(count):
        sigma, rate = (Fraction(f"{10 ** draw.uniform(*range_):.3g}") for range_ in ((-0.5, 1.5), (-5, -0.1)))
        step = SampledGaussian(sigma, rate, draw.choice(["remove", "add", "replace"]))
        count_, delta = round(10 ** draw.uniform(0.4, 5)), Fraction(f"{10 ** draw.uniform(-14, -3):.3g}")
        result.append((step, count_, delta))
    return result


def agrees(step: SampledGaussian, count: int, delta: Fraction, nodes: int) -> bool:
    """Whether all cheap bounds hold what the exact contour says; False where that has no answer."""
    try:
        truth = contour_epsilon([(step, count)], delta, Fraction(1, 10**9), 300_000.0)
    except sampled_bounds.UNPLANNED:
        return False
    others = [plain_epsilon(step, count, delta)]
    with contextlib.suppress(*sampled_bounds.UNPLANNED):
        others += [smoothed_epsilon(step, count, delta, size) for size in (nodes, 4 * nodes + 3)]
    for other in others:
        assert other.overlaps(truth), (step, count, delta, str(other), str(truth))
    return True


def test_cheap_bounds_hold_the_exact_contour() -> None:
    assert sum(agrees(*question, nodes=1023) for question in drawn(12, seed=1)) >= 6


@pytest.mark.thorough
@pytest.mark.parametrize("seed", range(2, 12))
def test_cheap_bounds_hold_the_exact_contour_at_night(seed: int) -> None:
    assert sum(agrees(*question, nodes=4095) for question in drawn(40, seed)) >= 15


def test_more_nodes_never_contradict_fewer() -> None:
    step = SampledGaussian(Fraction(1), Fraction(1, 1000), "remove")
    values = [smoothed_epsilon(step, 3, Fraction(1, 10**5), nodes) for nodes in (1023, 8191, 65535)]
    for coarse, fine in itertools.pairwise(values):
        assert coarse.overlaps(fine)
        assert fine.width() < coarse.width() / 4


# ---- what is said of the width


def test_an_asked_width_is_reached_where_little_work_does_not() -> None:
    question = compose([(PoissonGaussian(1, "0.001"), 2)])
    quick, asked = question.epsilon("1e-5", width=None), question.epsilon("1e-5", width="1e-6")
    assert not reaches(quick, Fraction(1, 10**12))
    assert reaches(asked, Fraction(1, 10**6))
    assert quick.overlaps(asked)


def test_a_width_out_of_reach_is_refused_with_what_is_known(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sampled_bounds, "_NODES", (4095, 8191))
    monkeypatch.setattr("oracle.engines.contour.MOST_NODES", 100)
    with pytest.raises(PrecisionError, match=r"known so far: .*; ask for a wider width, or for none"):
        compose([(PoissonGaussian(1, "0.001"), 2)]).epsilon("1e-5", width="1e-20")


# ---- the two gaps of the proofs


def test_beyond_the_last_edge_a_node_counts_as_well() -> None:
    """With one coarse edge only, the first node beyond it may carry more than the integral from there on."""
    step = SampledGaussian(Fraction(1), Fraction(1, 2), "remove")
    with ctx.workprec(128):
        c, h = arb(3), arb(8)  # a step so wide that a single node outweighs the tail's integral
        low, high = arb(-8), arb(8)
        bounded = step._outside(c, low, high, h, arb(0), 40.0)
        last = [edge for edge in step._slabs(3.0, 40.0) if edge > 8][-1]
        node = h * (-(arb(last) ** 2) / 2).exp() / (2 * arb.pi()).sqrt() * (
            (1 + (arb(last) - arb(1) / 2).exp()) / 2) ** 4
        assert bounded > node


def test_the_lower_tail_is_cut_only_where_it_falls() -> None:
    """At epsilon = 0 under replace the level is negative: no term below the start may be left out."""
    step = SampledGaussian(Fraction(1, 40), Fraction(1, 10), "replace")
    value = compose([(PoissonGaussian("1/40", "0.1"), 5)], neighbours="replace").delta(0, width="1e-9")
    assert reaches(value, Fraction(1, 10**9))
    with ctx.workprec(256):
        assert small_noise.delta(step, 5, arb(0)).overlaps(value.ball)


# ---- what little work may cost


TINY = [
    ("3e-6", "3", "10000000", "0.5", "replace"), ("3e-4", "1.7", "10", "2", "replace"),
    ("1e-6", "1", "2", "5", "remove"), ("1e-6", "1", "10000", "0.5", "replace"),
]


@pytest.mark.parametrize(("rate", "sigma", "steps", "epsilon", "relation"), TINY)
def test_a_tiny_delta_costs_no_more_than_others(
    monkeypatch: pytest.MonkeyPatch, rate: str, sigma: str, steps: str, epsilon: str, relation: str
) -> None:
    """Whose quadrature has thousands of points, at which no float64 sum would see it: counted, not timed."""
    spent = []

    def counting(step: SampledGaussian, count: int, plan: SmoothedPlan) -> SmoothedCurve:
        spent.append(step.points(plan.c, plan.accuracy))
        return SmoothedCurve(step, count, plan)

    monkeypatch.setattr(sampled_bounds, "SmoothedCurve", counting)
    step = SampledGaussian(Fraction(sigma), Fraction(rate), relation)
    question = sampled_bounds.SampledDelta(step, int(steps), Fraction(epsilon))

    def refused(width: Fraction, work: float) -> Enclosure:
        raise PrecisionError("no exact contour")

    quick = sampled_bounds.narrowest(refused, question, None)
    assert sum(spent) < 4000
    told = plain_delta(step, int(steps), Fraction(epsilon))
    assert quick.lower.compare(told.lower) >= 0
    assert quick.upper.compare(told.upper) <= 0


@pytest.mark.parametrize(("rate", "steps", "epsilon", "delta", "relation"), [
    ("0.01", "1000", "2", "1e-5", "add_remove"), ("0.7", "10", "0.1", "1e-5", "replace"),
    ("1e-4", "30", "2", "1e-15", "replace"), ("0.003", "100", "1", "1e-8", "add_remove"),
])
def test_a_noise_takes_few_certified_values(
    monkeypatch: pytest.MonkeyPatch, rate: str, steps: str, epsilon: str, delta: str, relation: str
) -> None:
    """Floats place it well enough that two or three values on both sides of it are all: counted, not timed."""
    asked = []
    delta_of = Composition.delta

    def counting(self: Composition, *given: Any, **named: Any) -> Enclosure:
        asked.append(given)
        return delta_of(self, *given, **named)

    monkeypatch.setattr(Composition, "delta", counting)
    found = bound("poisson-gaussian.sigma").reference(
        sampling_rate=rate, steps=steps, epsilon=epsilon, delta=delta, neighbours=relation
    )
    assert reaches(found, Fraction(1, 1000))
    assert len(asked) <= 4
