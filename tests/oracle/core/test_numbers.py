"""The certified number of every registered bound: its second opinion lies inside, and the asked width is reached.

The points are those at which `tests/meta` plants errors, so that an error is caught where the truth passes; together
they have every word of every choice.
"""

from __future__ import annotations

from fractions import Fraction

import pytest

import oracle
from empirical.gate.making.points import points_of_all_words
from oracle.core import registry
from tests.checks import check_second_opinion, check_width

POINTS = 12
every_bound = pytest.mark.parametrize("bound", registry.bounds().values(), ids=lambda item: item.name)


@every_bound
@pytest.mark.parametrize("others", [
    pytest.param(False, id="a few points"),
    pytest.param(True, id="the others", marks=pytest.mark.full),
])
def test_the_second_opinion_agrees(bound: oracle.Bound, others: bool) -> None:
    few = len(points_of_all_words(bound, 3, seed=1))
    chosen = points_of_all_words(bound, POINTS, seed=1)[slice(few, None) if others else slice(few)]
    assert chosen
    for params in chosen:
        check_second_opinion(bound, params)


@pytest.mark.full
@every_bound
def test_the_asked_width_is_reached(bound: oracle.Bound) -> None:
    for params in points_of_all_words(bound, POINTS, seed=1):
        check_width(bound, params, Fraction(1, 10**12))


@every_bound
def test_a_few_points_have_every_word(bound: oracle.Bound) -> None:
    few = points_of_all_words(bound, 3, seed=1)
    assert few == points_of_all_words(bound, POINTS, seed=1)[: len(few)]
    for parameter in bound.parameters:
        if parameter.kind == "choice":
            assert {point[parameter.name] for point in few} == set(parameter.choices)
