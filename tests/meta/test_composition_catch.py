"""Drop an error term of the contour engine, or a direction, and require the containment checks to fail.

The plans are made coarse on purpose, so that every error term is large enough to matter: with all terms the enclosure
contains the truth, with one term missing it does not.
"""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from typing import Any

import pytest
from flint import arb, ctx

import oracle.engines.contour as contour
from oracle.engines.composed_pairs import Composition, PoissonGaussian, compose
from oracle.engines.contour import ContourCurve
from oracle.engines.sampled.sampled_gaussian import SampledGaussian

STEP = SampledGaussian(Fraction(5), Fraction(1, 60), "remove")
STAGES = [(STEP, 24000)]
EPSILON = 2.0


@pytest.fixture(scope="module")
def truth() -> arb:
    curve = ContourCurve(STAGES, contour.make_plan(STAGES, EPSILON, 40.0))
    low, high = curve.delta(arb(EPSILON))
    with ctx.workprec(200):
        middle = (low.lower() + high.upper()) / 2
        assert (high.upper() - low.lower()) < middle * arb(10) ** -14
        return middle.mid()


def coarse(**changes: float) -> ContourCurve:
    """A curve whose plan has its spacing or its number of nodes multiplied."""
    good = contour.make_plan(STAGES, EPSILON, 30.0)
    bad = replace(
        good, spacing=good.spacing * changes.get("spacing", 1.0), nodes=int(good.nodes * changes.get("nodes", 1.0))
    )
    return ContourCurve(STAGES, bad)


def contains(ends: tuple[arb, arb], value: arb) -> bool:
    return bool(ends[0].lower() <= value and value <= ends[1].upper())


def test_the_images_are_needed(truth: arb) -> None:
    curve = coarse(spacing=3.0)
    assert contains(curve.delta(arb(EPSILON)), truth)
    with ctx.workprec(curve.precision):
        value, _ = curve.sums(arb(EPSILON))
        assert not contains((value, value), truth)


def test_the_right_images_are_needed(truth: arb) -> None:
    # With the contour far to the right the left images vanish and the right ones are all that is wrong.
    good = contour.make_plan(STAGES, EPSILON, 30.0)
    bad = replace(good, c=good.c * 3, chernoff=good.c * 6, spacing=good.spacing * 5, nodes=good.nodes * 2)
    curve = ContourCurve(STAGES, replace(bad, goal=60.0))
    assert contains(curve.delta(arb(EPSILON)), truth)
    curve.log_chernoff = arb(-10_000)
    assert not contains(curve.delta(arb(EPSILON)), truth)


def test_what_lies_beyond_the_last_node_is_needed(truth: arb) -> None:
    curve = coarse(nodes=0.35)
    assert contains(curve.delta(arb(EPSILON)), truth)
    curve.log_ceiling = arb(-10_000)
    assert not contains(curve.delta(arb(EPSILON)), truth)


def test_a_rough_upper_bound_needs_what_is_cut_off(truth: arb) -> None:
    short = 0
    for share in (0.2, 0.25, 0.3, 0.35, 0.4, 0.45, 0.5):  # what is cut off may have either sign
        curve = coarse(nodes=share)
        assert curve.above(arb(EPSILON)) > truth
        curve.log_ceiling = arb(-10_000)
        short += not curve.above(arb(EPSILON)) > truth
    assert short


@pytest.mark.parametrize(("kept", "direction"), [(1, "add"), (0, "remove")])
def test_dropping_a_direction_is_seen_where_it_is_the_larger(kept: int, direction: str) -> None:
    whole = compose([(PoissonGaussian(1, "1/60"), 2400)])
    part: Any = Composition((whole.directions[kept],))
    full, single = whole.epsilon("1e-5"), part.epsilon("1e-5")
    if direction == "add":
        assert single.certainly_le(full)
        assert not full.overlaps(single)
    else:
        assert full.overlaps(single)
