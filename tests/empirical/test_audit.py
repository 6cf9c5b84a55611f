"""Audits end to end: theory and audit agree; violations, bad targets and bad plans are told."""

from __future__ import annotations

import json
from dataclasses import replace
from decimal import Decimal
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import empirical.audits.audit as audit_module
from empirical.audits.audit import run
from empirical.audits.audit_plan import AuditPlan
from empirical.audits.campaigns import DEFAULT
from empirical.audits.targets import make_target
from empirical.mutants.checks import Planted
from empirical.pairs.pair import default_pair, make_pair
from oracle.core.errors import DomainError
from oracle.core.planning import epsilon_of_exact_arithmetic, plan_of_training
from oracle.core.registry import algorithm, algorithms, bound
from oracle.core.tape import Tape
from tests.empirical.pairs.pair_cases import CASES, PairCase
from tests.empirical.trainings import noisy_sums, plan_of

GD = replace(DEFAULT["NoisyGD on quadratics"], budget=5000, held=0.2, estimator="gdp")
CGD = replace(DEFAULT["NoisyCGD, canary in the last batch"], budget=5000, held=0.2, estimator="gdp")
TUNED = replace(DEFAULT["tuned NoisyCGD"], budget=500, estimator="clopper-pearson")
FIRST_CASES = list({case.algorithm: case for case in reversed(CASES)}.values())


def configured(plan: AuditPlan, **changes: Any) -> AuditPlan:
    return replace(plan, target={**plan.target, "config": {**plan.target["config"], **changes}})


def test_noisy_gd_theory_equals_the_exact_law() -> None:
    result = run(replace(GD, budget=1000))
    assert result.proved is not None
    assert result.exact is not None
    ends = [float(end) for end in (*result.proved, *result.exact)]
    assert max(ends) - min(ends) < 1e-11


@pytest.mark.parametrize("estimator", ["gdp", "clopper-pearson"])
def test_default_audits_are_consistent_and_below_the_exact_epsilon(estimator: str) -> None:
    for plan in (GD, CGD):
        result = run(replace(plan, estimator=estimator))
        assert result.verdict == "CONSISTENT"
        assert result.exact is not None
        assert result.limit is not None
        assert result.epsilon_lower is not None
        assert result.models == plan.budget
        # One fixed seed; the bound exceeds the exact value with probability at most 5 %, and did not.
        assert 0.3 * float(result.exact[0]) < result.epsilon_lower <= float(result.exact[1])
        assert result.tightness == result.epsilon_lower / result.claimed


@pytest.mark.parametrize("case", FIRST_CASES, ids=lambda case: case.algorithm)
def test_every_algorithm_is_audited_against_what_is_proved_of_it(case: PairCase) -> None:
    # 300 models, confidence 0.999 and fixed seeds: a false violation among all of them has probability below 3 %.
    target = {"kind": "algorithm", "name": case.algorithm, "config": dict(case.config)}
    pair = {**default_pair(make_target(target)), **case.pair}
    result = run(AuditPlan(target, pair, delta="1e-3", budget=300, confidence=0.999))
    assert result.verdict == "CONSISTENT", result.reason
    item = algorithm(case.algorithm)
    records = max(map(len, make_pair(pair, make_target(target)).features))
    known = plan_of_training(item, item.parse(case.config), records=records, delta="1e-3")
    # Of two nothing is proved but for exact arithmetic; they are held to that.
    assert (known.best is None) == (case.algorithm in ("objective-perturbation", "exponential-mechanism"))
    assert result.proved == (None if known.best is None else known.best.epsilon.to_decimals())
    assert result.claimed == pytest.approx(epsilon_of_exact_arithmetic(known).to_floats()[1], rel=1e-15)


def test_every_algorithm_with_a_guarantee_is_among_them() -> None:
    assert {case.algorithm for case in FIRST_CASES} == {
        name for name, item in algorithms().items() if item.can_train and item.guarantees
    }


def test_a_claim_is_judged_exactly() -> None:
    result = run(replace(GD, claimed="2"))
    assert result.verdict == "VIOLATION"
    assert result.claimed == 2.0
    assert result.proved is not None
    assert result.epsilon_lower is not None
    # A double is a finite decimal: the bound itself does not exceed it, and exceeds the same less its last digit.
    exactly = Decimal(result.epsilon_lower)
    assert run(replace(GD, claimed=str(exactly))).verdict == "CONSISTENT"
    assert run(replace(GD, claimed=str(exactly)[:-1])).verdict == "VIOLATION"


def test_a_credible_bound_is_not_called_a_confidence_bound() -> None:
    assert "with credible probability 0.95" in run(replace(GD, estimator="credible", budget=500)).reason
    assert "with confidence 0.95" in run(replace(GD, estimator="curve", budget=500)).reason


def test_delta_is_rounded_to_the_safe_side() -> None:
    for text in ("1e-5", "0.1", "1e-3", "0.25", "1e-9"):
        rounded = Fraction(audit_module._delta(replace(GD, delta=text)))
        assert 0 <= rounded - Fraction(text) <= rounded * Fraction(2) ** -52


def test_the_two_sides_use_different_draws() -> None:
    seen: dict[int, list[tuple[int, int]]] = {0: [], 1: []}
    pair = make_pair(GD.pair, make_target(GD.target))

    def spy(features: Any, labels: Any, config: Any, tape: Tape) -> Any:
        side = int(np.array_equal(features, pair.features[1]))
        seen[side].append((tape.first_model, tape.first_model + tape.models))
        return tape.normal("noise", 0, 4)

    run(GD, target=Planted(GD, spy))
    trial = (0, 3)
    ranges = [sorted(set(seen[side]) - {trial}) for side in (0, 1)]
    assert ranges[0][0][0] == 0
    assert ranges[0][-1][1] == ranges[1][0][0] == GD.budget
    assert ranges[1][-1][1] == 2 * GD.budget


@pytest.mark.full
@pytest.mark.parametrize(
    ("train", "reason"),
    [
        (lambda features, labels, config, tape: np.full((tape.models, 4), np.nan), "finite"),
        (lambda features, labels, config, tape: np.zeros((3, 3, 3))[: tape.models - 1], "shape"),
        (lambda features, labels, config, tape: np.zeros((tape.models, 4)), "constant"),
        (lambda features, labels, config, tape: np.tile(features.sum(axis=0), (tape.models, 1)), "ignores its seed"),
        (lambda features, labels, config, tape: tape.normal("x", 0, 2 + (tape.models > 10)), "shape"),
        (lambda features, labels, config, tape: np.random.default_rng().normal(size=(tape.models, 4)), "reproducible"),
        (lambda features, labels, config, tape: None, "None"),
    ],
    ids=["nan", "too few", "constant", "data only", "changing shape", "not reproducible", "nothing"],
)
@pytest.mark.parametrize("estimator", ["gdp", "clopper-pearson"])
def test_releases_that_cannot_be_judged_are_invalid_never_an_epsilon(train: Any, reason: str, estimator: str) -> None:
    plan = replace(GD, estimator=estimator)
    result = run(plan, target=Planted(plan, train))
    assert result.verdict == "INVALID"
    assert reason in result.reason
    assert result.epsilon_lower is result.attack is result.models is result.tightness is None
    assert json.loads(json.dumps(result.to_json(), allow_nan=False))["verdict"] == "INVALID"


def test_an_error_of_our_own_stays_an_error() -> None:
    def broken(*_: object) -> object:
        raise RuntimeError("broken")

    with pytest.raises(RuntimeError, match="broken"):
        run(GD, target=Planted(GD, broken))


@pytest.mark.parametrize(
    ("plan", "word"),
    [
        (lambda: replace(GD, estimator="best"), "estimator"),
        (lambda: replace(GD, target={**GD.target, "name": "none"}), "algorithm"),
        (lambda: replace(GD, target={"kind": "none"}), "kind"),
        (lambda: replace(GD, pair={"kind": "built", "name": "none"}), "pair"),
        (lambda: configured(GD, learning_rate="-1"), "learning_rate"),
        (lambda: configured(TUNED, learning_rates=["50"]), "learning_rate"),
        (lambda: configured(GD, loss="squared"), "Gaussian by theory"),
        (lambda: replace(GD, pair={**GD.pair, "records": 7}), "batch_size"),
        (lambda: replace(GD, attacks=("quadratic-discriminant",)), "attacks"),
    ],
)
def test_bad_plans_name_the_argument(plan: Any, word: str) -> None:
    with pytest.raises(DomainError, match=word):
        run(plan())


def test_gdp_is_refused_where_the_release_is_not_gaussian_but_clopper_pearson_works() -> None:
    plan = replace(configured(CGD, loss="squared"), budget=1000)
    with pytest.raises(DomainError, match="Gaussian by theory"):
        run(plan)
    assert run(replace(plan, estimator="clopper-pearson")).verdict == "CONSISTENT"


def test_without_a_guarantee_there_must_be_a_claim() -> None:
    plan = configured(TUNED, learning_rates=["50"])
    with pytest.raises(DomainError, match="learning_rate"):
        run(plan)
    result = run(replace(plan, claimed="3"))
    assert result.proved is None
    assert result.claimed == 3.0


def test_a_step_that_expands_is_held_to_composition() -> None:
    plan = replace(configured(CGD, learning_rate="50"), budget=500, estimator="clopper-pearson")
    sigma, sensitivity = Fraction(plan.target["config"]["noise_on_mean"]), Fraction(2, 10)
    composed = bound("gaussian-composed.epsilon").reference(
        sigma=sigma, sensitivity=sensitivity, steps=plan.target["config"]["epochs"], delta=plan.delta
    )
    assert run(plan).proved == composed.to_decimals()


def test_a_proof_for_another_relation_does_not_count(tmp_path: Path) -> None:
    features = np.zeros((10, 4))
    features[9, 0] = 1.0
    np.savez(tmp_path / "pair.npz", X0=features[:9], y0=np.zeros(9), X1=features, y1=np.zeros(10))
    plan = replace(CGD, pair={"kind": "file", "path": str(tmp_path / "pair.npz")})
    plan = replace(configured(plan, batch_size=1), budget=500, estimator="clopper-pearson")
    with pytest.raises(DomainError, match="neighbours = add_remove"):
        run(plan)
    assert run(replace(plan, claimed="100")).proved is None


def test_an_exception_never_becomes_epsilon_zero() -> None:
    def failing(*_: object) -> object:
        raise ArithmeticError("planted")

    with pytest.raises(ArithmeticError, match="planted"):
        run(GD, target=Planted(GD, failing))


def test_the_code_is_read_where_a_store_or_a_worker_asks_for_it_only(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    plan = plan_of(noisy_sums(tmp_path))
    read: list[AuditPlan] = []
    monkeypatch.setattr(audit_module, "code_of", lambda plan: read.append(plan) or "code")  # type: ignore[func-returns-value]
    found = run(plan)
    assert read == []
    assert run(plan, store=tmp_path / "store").to_json() == found.to_json()
    assert len(read) == 1
