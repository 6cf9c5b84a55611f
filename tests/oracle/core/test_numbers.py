"""The certified number of every registered bound: its second opinion lies inside, and the asked width is reached.

The points are those at which `tests/meta` plants errors, so that an error is caught where the truth passes.
"""

from __future__ import annotations

from fractions import Fraction

import pytest

import oracle
from empirical.gate.making.points import fixed_points
from oracle.core import registry
from tests.checks import check_second_opinion, check_width

POINTS = 12
every_bound = pytest.mark.parametrize("bound", registry.bounds().values(), ids=lambda item: item.name)


@every_bound
@pytest.mark.parametrize("part", [
    pytest.param(slice(3), id="a few points"),
    pytest.param(slice(3, POINTS), id="the others", marks=pytest.mark.full),
])
def test_the_second_opinion_agrees(bound: oracle.Bound, part: slice) -> None:
    chosen = fixed_points(bound, POINTS, seed=1)[part]
    assert chosen
    for params in chosen:
        check_second_opinion(bound, params)


@pytest.mark.full
@every_bound
def test_the_asked_width_is_reached(bound: oracle.Bound) -> None:
    for params in fixed_points(bound, POINTS, seed=1):
        check_width(bound, params, Fraction(1, 10**12))
