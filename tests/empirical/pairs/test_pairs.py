"""Pairs and their exact laws: admissible neighbours, laws that simulations meet, never above what is proved."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from empirical.audits.targets import AuditTarget, make_target
from empirical.pairs.pair import Pair, builders, default_pair, make_pair
from oracle.core.errors import DomainError
from oracle.core.planning import epsilon_of_exact_arithmetic, plan_of_training
from oracle.core.registry import algorithm, algorithms
from oracle.core.tape import Tape
from tests.empirical.pairs.pair_cases import BLOCKS, CASES, CLOCKED, CYCLIC, SBCD, TREE, PairCase

DELTA = "1e-3"
ERROR = 1e-7  # probability that one side of one simulation fails although the law is right


def _made(case: PairCase) -> tuple[AuditTarget, Pair, dict[str, Any]]:
    target = make_target({"kind": "algorithm", "name": case.algorithm, "config": case.config})
    spec = {**({} if "name" in case.pair else default_pair(target)), "kind": "built", **case.pair}
    return target, make_pair(spec, target), spec


def _proved(case: PairCase, pair: Pair) -> Any:
    item = algorithm(case.algorithm)
    config = item.parse(case.config)
    return epsilon_of_exact_arithmetic(plan_of_training(item, config, records=len(pair.features[1]), delta=DELTA))


def test_every_algorithm_with_a_guarantee_has_a_worst_case() -> None:
    private = {name for name, item in algorithms().items() if item.can_train and item.guarantees}
    assert {case.algorithm for case in CASES} == private
    assert {name for builder in builders().values() for name in builder.algorithms} == private


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.id)
def test_the_pair_is_admissible_and_its_law_is_as_expected(case: PairCase) -> None:
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
def test_the_exact_epsilon_is_positive_and_not_above_the_proved_one(case: PairCase) -> None:
    _, pair, _ = _made(case)
    assert pair.law is not None
    exact = pair.law.epsilon(DELTA)
    assert exact.possibly_le(_proved(case, pair))
    assert exact.to_floats()[0] > 0


@pytest.mark.full
@pytest.mark.parametrize("case", [case for case in CASES if case.law], ids=lambda case: case.id)
def test_simulated_scores_have_the_law(case: PairCase) -> None:
    """DKW: an empirical distribution is nowhere sqrt(log(2/ERROR) / (2 n)) off or more, but with probability ERROR."""
    target, pair, _ = _made(case)
    assert pair.law is not None
    allowed = math.sqrt(math.log(2 / ERROR) / (2 * case.models))
    for side in (0, 1):
        tape = Tape(7, case.models, side * case.models)
        scores = np.sort(pair.law.score(target.releases(pair.features[side], pair.labels[side], tape)))
        above = 1.0 - np.searchsorted(scores, scores, side="right") / case.models
        assert np.abs(above - pair.law.rates(scores)[side]).max() < allowed


def test_a_wrong_law_would_be_seen() -> None:
    """The simulation above has power: the law of another batch, 6 % away in mu, is told apart."""
    case = next(case for case in CASES if case.pair.get("batch") == 4)
    target, pair, _ = _made(case)
    _, other, _ = _made(replace(case, pair={"batch": 3}))
    assert pair.law is not None
    assert other.law is not None
    models = 200_000
    allowed = math.sqrt(math.log(2 / ERROR) / (2 * models))
    scores = np.sort(pair.law.score(target.releases(pair.features[1], pair.labels[1], Tape(7, models))))
    above = 1.0 - np.arange(1, models + 1) / models
    assert np.abs(above - pair.law.rates(scores)[1]).max() < allowed
    assert np.abs(above - other.law.rates(scores)[1]).max() > allowed


def test_better_losses_beat_linear_ones_and_stay_below_the_bound() -> None:
    _, better, _ = _made(PairCase("noisy-cgd", CLOCKED, None, {"name": "clocked-canary", "records": 300}))
    _, linear, _ = _made(PairCase("noisy-cgd", {**CLOCKED, "loss": "linear"}, None, {"records": 300, "batch": 3}))
    assert better.law is not None
    assert linear.law is not None
    proved = _proved(PairCase("noisy-cgd", CLOCKED, None), better)
    assert linear.law.epsilon(DELTA).certainly_le(better.law.epsilon(DELTA))
    assert better.law.epsilon(DELTA).certainly_le(proved)
    once = {**CLOCKED, "epochs": 1}
    _, tight, _ = _made(PairCase("noisy-cgd", once, None, {"name": "clocked-canary", "records": 300}))
    assert tight.law is not None
    assert tight.law.epsilon(DELTA).overlaps(_proved(PairCase("noisy-cgd", once, None), tight))  # one epoch: attained


@pytest.mark.parametrize(
    ("algorithm_name", "config", "pair", "message"),
    [
        ("noisy-cgd", CYCLIC, {"name": "cyclic-canary", "batch": 5}, "batch = 5 is outside its domain"),
        ("noisy-cgd", CYCLIC, {"name": "cyclic-canary", "records": 41}, "records = 41 is outside its domain"),
        ("noisy-cgd", CYCLIC, {"name": "clocked-canary"}, "loss = linear is outside its domain"),
        ("noisy-cgd", {**CLOCKED, "batch_size": 10}, {"name": "clocked-canary"}, "batch_size = 10 is outside"),
        ("noisy-cgd", CYCLIC, {"name": "tree-canary"}, "pair = tree-canary is not for this target"),
        ("noisy-cgd", CYCLIC, {"name": "no-such"}, "pair = no-such is unknown"),
        ("dp-taglmtron", TREE, {"name": "tree-canary", "place": 17}, "place = 17 is outside its domain"),
        ("subsample-aggregate", BLOCKS, {"name": "block-canary", "records": 7}, "a divisor of the 7 records"),
        ("dp-sbcd", {**SBCD, "clip_norm": "2e6"}, {"name": "label-canary"}, "clip_norm = 2000000 is outside"),
    ],
)
def test_pairs_that_make_no_sense_are_refused(
    algorithm_name: str, config: dict[str, Any], pair: dict[str, Any], message: str
) -> None:
    with pytest.raises(DomainError, match=message):
        _made(PairCase(algorithm_name, config, None, pair))


def test_an_algorithm_without_a_guarantee_has_no_worst_case() -> None:
    config = {"loss": "linear", "learning_rate": "0.5", "steps": 2, "initial_std": "1", "iterate": "last"}
    with pytest.raises(DomainError, match="no worst case"):
        default_pair(make_target({"kind": "algorithm", "name": "gd", "config": config}))
