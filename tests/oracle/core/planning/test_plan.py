"""`dp-oracle plan`: every example, every status, every fault of a file, and guarantees that promise too much."""

from __future__ import annotations

import json
from dataclasses import replace
from decimal import Decimal
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

from oracle.core import vocabulary
from oracle.core.algorithm import by_design
from oracle.core.domain import positive
from oracle.core.errors import DomainError, OracleError
from oracle.core.hypotheses import MET, NOT_MET, UNKNOWN
from oracle.core.planning import CONDITIONAL, DOES_NOT_APPLY, PROVED, judge, plan, read
from oracle.core.registry import algorithm, algorithms, bound, bounds
from tests.commands import command

EXAMPLES = Path(__file__).parents[4] / "examples"
FILES = sorted(EXAMPLES.glob("*.toml"))
NOISY_CGD: dict[str, Any] = {
    "dataset_size": 60000, "batch_size": 1000, "epochs": 400, "clip_norm": 1, "noise_multiplier": 15,
    "learning_rate": Decimal("0.01"), "regularisation": Decimal("0.01"), "delta": Decimal("1e-5"),
    "neighbours": "replace", "released": "last_iterate",
}
ALL = {"smoothness": 32, "convex": "true", "scalar_output": "true"}


def plan_of(**keys: Any) -> Any:
    return plan(algorithm("noisy-cgd"), {**NOISY_CGD, **keys})


# --- every example


def test_every_private_algorithm_has_an_example_and_every_example_an_algorithm() -> None:
    used = {read(path)[0].name for path in FILES}
    assert used == {name for name, item in algorithms().items() if item.guarantees}


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_an_example_is_judged(path: Path) -> None:
    """Each guarantee has a status that follows from its hypotheses, and an epsilon exactly where it has parameters."""
    found_plan = plan(*read(path))
    assert found_plan.judged
    for item in found_plan.judged:
        found = {one.status for one in item.hypotheses}
        assert item.hypotheses, f"{item.guarantee.bound} assumes nothing at all?"
        if item.status == PROVED:
            assert found == {MET}
            assert item.epsilon is not None
        if NOT_MET in found:
            assert item.status == DOES_NOT_APPLY
            assert item.epsilon is None
    if found_plan.best is None:
        assert "no guarantee" in path.read_text(), "an example of which nothing is proved says so"


def test_guarantees_name_bounds_that_give_an_epsilon() -> None:
    for item in algorithms().values():
        for guarantee in item.guarantees:
            assert bounds()[guarantee.bound].unit in ("epsilon", "mu", "rdp")
            assert bounds()[guarantee.bound].safe == "upper"


# --- what is proved, and when


def test_figure_1_of_document_000() -> None:
    found = plan_of(**ALL)
    assert [item.status for item in found.judged] == [PROVED, PROVED]
    assert found.best.guarantee.bound == "noisy-cgd.mu"
    assert abs(float(found.best.epsilon.upper.to_fraction()) - 1.1963) < 5e-5
    composed = bound("gaussian-composed.epsilon").reference(sigma=15, sensitivity=2, steps=400, delta="1e-5")
    assert found.judged[1].epsilon == composed


@pytest.mark.parametrize("missing", ALL)
def test_what_the_file_does_not_say_is_unknown(missing: str) -> None:
    """The hidden-state bound is then conditional, and what is proved is composition."""
    found = plan_of(**{key: value for key, value in ALL.items() if key != missing})
    assert found.judged[0].status == CONDITIONAL
    assert UNKNOWN in {one.status for one in found.judged[0].hypotheses}
    assert found.best.guarantee.bound == "gaussian-composed.epsilon"


@pytest.mark.parametrize(
    "change",
    [
        {"convex": "false"}, {"scalar_output": "false"}, {"smoothness": 201}, {"released": "all_iterates"},
        {"released": "average_iterate"},
    ],
    ids=str,
)
def test_a_hypothesis_that_fails_takes_the_guarantee_with_it(change: dict[str, Any]) -> None:
    found = plan_of(**{**ALL, **change})
    assert found.judged[0].status == DOES_NOT_APPLY
    assert found.judged[0].epsilon is None
    assert found.best.guarantee.bound == "gaussian-composed.epsilon"


@pytest.mark.parametrize("change", [{"neighbours": "add_remove"}, {"batch_size": 7}], ids=str)
def test_nothing_may_be_proved(change: dict[str, Any]) -> None:
    found = plan_of(**{**ALL, **change})
    assert found.best is None
    assert {item.status for item in found.judged} == {DOES_NOT_APPLY}


def test_the_step_size_may_lie_on_the_edge_exactly() -> None:
    """eta = 2/beta is c = 1; anything beyond, by however little, is not."""
    assert plan_of(**{**ALL, "smoothness": 200}).judged[0].status == PROVED
    assert plan_of(**{**ALL, "smoothness": 200 + Fraction(1, 10**30)}).judged[0].status == DOES_NOT_APPLY


def test_a_claim_is_proved_or_not() -> None:
    assert plan_of(**ALL).claim_is_proved is None
    assert plan_of(**ALL, claimed_epsilon="1.1964").claim_is_proved is True
    assert plan_of(**ALL, claimed_epsilon="1.1962").claim_is_proved is False
    assert plan_of(claimed_epsilon="2").claim_is_proved is False, "a conditional guarantee proves nothing"


def test_an_algorithm_that_forgets_a_hypothesis_is_seen_in_its_verdict() -> None:
    """Hypotheses are the bound's: whoever decides none proves nothing, and only one who lies proves anything."""
    item = algorithm("noisy-cgd")
    forgetful = replace(item, guarantees=tuple(replace(g, conditions=()) for g in item.guarantees))
    lying = replace(
        item, guarantees=tuple(replace(g, conditions=by_design(*bound(g.bound).assumes)) for g in item.guarantees)
    )
    config = item.parse_plan({**NOISY_CGD, **ALL, "convex": "false"})
    assert judge(forgetful, config).judged[0].status == CONDITIONAL
    assert judge(lying, config).judged[0].status == PROVED
    assert judge(item, config).judged[0].status == DOES_NOT_APPLY


def test_what_follows_from_a_named_loss_need_not_be_stated() -> None:
    """The logistic loss on |x| <= 2 has curvature 4/4, ridge added; what is stated all the same counts."""
    named = plan_of(loss="logistic", feature_norm=2)
    assert named.config.smoothness == 1 + Fraction("0.01")
    assert named.judged[0].status == PROVED
    assert plan_of(loss="logistic", feature_norm=2, convex="false").judged[0].status == DOES_NOT_APPLY
    assert plan_of(loss="logistic").judged[0].status == CONDITIONAL, "the curvature is not known without the norm"


def test_an_algorithm_of_our_own_is_held_to_the_vocabulary() -> None:
    item = algorithm("noisy-cgd")
    with pytest.raises(OracleError, match="eta is no name of the vocabulary"):
        replace(item, parameters=(positive("eta", "step size"),))
    with pytest.raises(OracleError, match="an owner may narrow its domain, and no more"):
        replace(item, parameters=(replace(vocabulary.learning_rate, meaning="another"),))
    with pytest.raises(OracleError, match="clip_norm among its keys twice"):
        replace(item, stated=(vocabulary.clip_norm,))


# --- faults of a file


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "has no key algorithm: one of"),
        ("algorithm = 'noisy-dgc'", "algorithm = noisy-dgc is unknown; known:"),
        ("algorithm = 'noisy-cgd'", "noisy-cgd needs learning_rate: a real number > 0"),
        ("algorithm = 'noisy-cgd'\nsigma = 3", "has no parameter sigma (got 3): its name is noise_on_mean now"),
        ("algorithm = 'noisy-cgd'\n[data]\nsize = 3", "data is a table"),
        ("algorithm = ", "is no TOML file"),
        ("algorithm = 'a'\nalgorithm = 'b'", "is no TOML file"),
        ("\xff", "is no text in UTF-8"),
    ],
)
def test_a_bad_file_is_a_clear_error(tmp_path: Path, text: str, message: str) -> None:
    path = tmp_path / "plan.toml"
    path.write_bytes(text.encode("latin-1"))
    with pytest.raises(DomainError) as caught:
        plan(*read(path))
    assert message in str(caught.value)


@pytest.mark.parametrize(
    ("key", "value", "message"),
    [
        ("epochs", "0", "epochs = 0 is outside its domain: an integer >= 1"),
        ("delta", "1.5", "delta = 1.5 is outside its domain"),
        ("neighbours", "'both'", "neighbours = both is outside its domain: one of replace, add_remove"),
        ("noise_multiplier", "-1", "noise_multiplier = -1 is outside its domain"),
        ("noise_multiplier", "nan", "noise_multiplier = NaN is not a number"),
        ("convex", "'maybe'", "convex = maybe is outside its domain: one of true, false"),
        ("clip_norm", "[1]", "clip_norm = [1] is not a number"),
    ],
)
def test_a_bad_value_is_named(tmp_path: Path, key: str, value: str, message: str) -> None:
    lines = [line for line in (EXAMPLES / "noisy-cgd.toml").read_text().splitlines() if not line.startswith(key)]
    path = tmp_path / "plan.toml"
    path.write_text("\n".join([*lines, f"{key} = {value}"]))
    with pytest.raises(DomainError) as caught:
        plan(*read(path))
    assert message in str(caught.value)


def test_decimals_of_a_file_are_exact() -> None:
    assert plan(*read(EXAMPLES / "noisy-cgd.toml")).config.delta == Fraction(1, 10**5)


# --- the command


def test_the_command_prints_what_is_proved() -> None:
    shown = command("plan", str(EXAMPLES / "noisy-cgd.toml"))
    assert shown.returncode == 0, shown.stderr
    assert "proved: epsilon <= 1.1963" in shown.stdout
    document = json.loads(command("plan", str(EXAMPLES / "noisy-cgd.toml"), "--json").stdout)
    assert document["best"]["bound"] == "noisy-cgd.mu"
    assert Decimal(document["best"]["epsilon"]["lower"]) <= Decimal(document["best"]["epsilon"]["upper"])
    assert document["claim_is_proved"] is None


def test_the_command_lists_algorithms_and_has_exit_codes(tmp_path: Path) -> None:
    assert "noisy-cgd" in command("plan").stdout
    missing = command("plan", str(tmp_path / "none.toml"))
    assert (missing.returncode, missing.stderr.count("\n")) == (2, 1)
    nothing = tmp_path / "plan.toml"
    nothing.write_text((EXAMPLES / "noisy-cgd.toml").read_text().replace('"replace"', '"add_remove"'))
    assert command("plan", str(nothing)).returncode == 3
