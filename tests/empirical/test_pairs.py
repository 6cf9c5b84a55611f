"""Pairs and their exact laws: admissible neighbours, laws that simulations meet, never above what is proved."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

from empirical.neighbours import Pair, builders, default_pair, make_pair
from empirical.targets import Target, make_target
from oracle.accounting import proved_epsilon
from oracle.registry import algorithm, algorithms
from oracle.tape import Tape
from tests.empirical.pair_cases import CASES, Case

DELTA = "1e-3"
ERROR = 1e-7  # probability that one side of one simulation fails although the law is right


def _made(case: Case) -> tuple[Target, Pair, dict[str, Any]]:
    target = make_target({"kind": "algorithm", "name": case.algorithm, "config": case.config})
    spec = {**({} if "name" in case.pair else default_pair(target)), "kind": "built", **case.pair}
    return target, make_pair(spec, target), spec


def _proved(case: Case, pair: Pair) -> Any:
    item = algorithm(case.algorithm)
    return proved_epsilon(item, item.parse(case.config), records=len(pair.features[1]), delta=DELTA)


def test_every_algorithm_with_a_guarantee_has_a_worst_case() -> None:
    private = {name for name, item in algorithms().items() if item.accounted_by is not None}
    assert {case.algorithm for case in CASES} == private
    assert {name for builder in builders().values() for name in builder.algorithms} == private


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.id)
def test_the_pair_is_admissible_and_its_law_is_as_expected(case: Case) -> None:
    target, pair, _ = _made(case)
    for side in (0, 1):
        released = target.releases(pair.features[side], pair.labels[side], Tape(0, 3))
        assert pair.direction is None or pair.direction.size == math.prod(released.shape[1:])
        if pair.law is not None:
            assert pair.law.score(released).shape == (3,)
    assert (None if pair.law is None else type(pair.law).__name__) == case.law
    if pair.law is not None:
        assert pair.law.gaussian == (case.law == "GaussianLaw")
    if pair.direction is not None:
        assert np.linalg.norm(pair.direction) == pytest.approx(1.0)


@pytest.mark.parametrize("case", [case for case in CASES if case.law], ids=lambda case: case.id)
def test_the_exact_epsilon_is_positive_and_not_above_the_proved_one(case: Case) -> None:
    _, pair, _ = _made(case)
    assert pair.law is not None
    exact = pair.law.epsilon(DELTA)
    assert exact.possibly_le(_proved(case, pair))
    assert exact.to_floats()[0] > 0


@pytest.mark.parametrize("case", [case for case in CASES if case.law], ids=lambda case: case.id)
def test_simulated_scores_have_the_law(case: Case) -> None:
    """DKW: an empirical distribution is nowhere sqrt(log(2/ERROR) / (2 n)) off or more, but with probability ERROR."""
    target, pair, _ = _made(case)
    assert pair.law is not None
    allowed = math.sqrt(math.log(2 / ERROR) / (2 * case.models))
    for side in (0, 1):
        tape = Tape(7, case.models, side * case.models)
        scores = np.sort(pair.law.score(target.releases(pair.features[side], pair.labels[side], tape)))
        above = 1.0 - np.searchsorted(scores, scores, side="right") / case.models
        assert np.abs(above - pair.law.rates(scores)[side]).max() < allowed
