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
DEAR = (
    "poisson-gaussian.delta", "poisson-gaussian.epsilon", "poisson-gaussian.rdp", "poisson-gaussian.sigma",
    "noisy-sgd.delta", "noisy-sgd.epsilon", "projected-noisy-sgd.rdp",
)
"""Half a second a point and more: by day a few points."""
BOUNDS = list(registry.bounds().values())
every_bound = pytest.mark.parametrize("bound", BOUNDS, ids=lambda item: item.name)


@pytest.mark.parametrize(("bound", "others"), [
    *(pytest.param(item, False, id=f"a few points-{item.name}") for item in BOUNDS),
    *(pytest.param(item, True, id=f"the others-{item.name}", marks=pytest.mark.full)
      for item in BOUNDS if item.name not in DEAR),
    *(pytest.param(item, True, id=f"the others-{item.name}", marks=pytest.mark.thorough)
      for item in BOUNDS if item.name in DEAR),
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
    for params in points_of_all_words(bound, 3 if bound.name in DEAR else POINTS, seed=1):
        check_width(bound, params, Fraction(1, 10**12))


@pytest.mark.thorough
@pytest.mark.parametrize("name", DEAR)
def test_the_asked_width_is_reached_at_more_points(name: str) -> None:
    item = oracle.bound(name)
    for params in points_of_all_words(item, POINTS, seed=1)[len(points_of_all_words(item, 3, seed=1)) :]:
        check_width(item, params, Fraction(1, 10**12))


@every_bound
def test_a_few_points_have_every_word(bound: oracle.Bound) -> None:
    few = points_of_all_words(bound, 3, seed=1)
    assert few == points_of_all_words(bound, POINTS, seed=1)[: len(few)]
    for parameter in bound.parameters:
        if parameter.kind == "choice":
            assert {point[parameter.name] for point in few} == set(parameter.choices)
