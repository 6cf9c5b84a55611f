"""What bounds assume is data: declared by every bound, said in one place, decided by every guarantee, and printed."""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import fields, replace
from pathlib import Path
from typing import Any

import pytest

import oracle
from oracle.core import hypotheses
from oracle.core.algorithm import Condition, by_design, towards
from oracle.core.errors import OracleError
from oracle.core.hypotheses import HYPOTHESES, KINDS, MET, NOT_MET, UNKNOWN
from oracle.core.planning import Plan, plan, read
from oracle.core.registry import Bound, algorithm, algorithms, bounds
from tests.commands import output, parsed

ROOT = Path(oracle.__file__).parent
EXAMPLES = ROOT.parent / "examples"
PRIVACY = ("epsilon", "delta", "mu", "rdp", "sigma")
NUMBERS = {"glmtron.effective-dimension", "glmtron.private-dimension"}
"""Bounds that are about no mechanism and no data: a spectrum's dimensions. All others assume something."""
GUARANTEES = [(item.name, guarantee) for item in algorithms().values() for guarantee in (*item.guarantees, *item.risks)]
JUDGED = {
    "judged-average": "average_iterate", "judged-phase": "average_iterate", "judged-last": "last_iterate",
    "judged-draw": "output",
}
CLIPPING = ("clip_norm", "loss_range")


# --- declared, in one place


def test_every_bound_says_what_it_assumes() -> None:
    assert {name for name, item in bounds().items() if not item.hypotheses} == NUMBERS
    [declared] = [field for field in fields(Bound) if field.name == "assumes"]
    assert declared.default is declared.default_factory, "there is no default: whoever assumes nothing has to say so"


def test_every_hypothesis_has_one_name_one_sentence_and_an_owner() -> None:
    sentences = Counter(item.words for item in HYPOTHESES.values())
    assert max(sentences.values()) == 1
    assert {item.kind for item in HYPOTHESES.values()} == set(KINDS)
    assumed = {name for item in bounds().values() for name in item.assumes}
    assert assumed == set(HYPOTHESES), "a hypothesis of no bound is none"


def test_no_sentence_stands_a_second_time() -> None:
    """Neither a guarantee nor a command has words of its own for what a hypothesis says."""
    sources = {path: path.read_text(encoding="utf-8") for path in ROOT.rglob("*.py")}
    home = ROOT / "core" / "hypotheses.py"
    for item in HYPOTHESES.values():
        assert [path for path, text in sources.items() if f'"{item.words}"' in text and path != home] == []


@pytest.mark.parametrize("name", sorted(set(bounds()) - NUMBERS))
def test_hypotheses_agree_with_relation_release_and_unit(name: str) -> None:
    """What the record says in a word, the hypotheses say in a sentence."""
    item = bounds()[name]
    kinds = Counter(one.kind for one in item.hypotheses)
    if item.unit == "risk":
        assert len({"excess-empirical-risk", "excess-population-risk", "population-risk"} & set(item.assumes)) == 1
        [judged] = [one for one in item.assumes if one.startswith("judged-")]
        assert item.released == JUDGED[judged]
        return
    assert kinds["risk"] == 0
    if item.unit not in PRIVACY:
        return
    assert ("replace" in item.assumes) == (item.neighbours == "replace")
    assert ("add-remove" in item.assumes) == (item.neighbours == "add_remove")
    hidden = {"last-iterate", "phase-averages"} & set(item.assumes)
    assert bool(hidden) == (item.threat_model == "last_iterate")
    assert ("last-iterate" in hidden) == (item.released == "last_iterate")


@pytest.mark.parametrize("unclipped", [item for item in bounds().values() if item.unit == "risk"], ids=lambda b: b.name)
def test_a_risk_of_gradients_tells_whether_they_may_be_clipped(unclipped: Bound) -> None:
    """By the hypothesis itself, by updates that are said to be unclipped, or since data are bounded, not gradients."""
    told = {"unclipped", "relu-updates", "loss-range"} | {"bounded-labels"}
    assert told & set(unclipped.assumes)


def test_a_wrong_name_is_refused_at_once() -> None:
    item = bounds()["gaussian.epsilon"]
    with pytest.raises(OracleError, match=r"bound gaussian\.epsilon: l3-sensitivity is no hypothesis"):
        replace(item, assumes=("l3-sensitivity",))
    with pytest.raises(OracleError, match="has a hypothesis twice"):
        replace(item, assumes=("gaussian-noise", "gaussian-noise"))
    with pytest.raises(OracleError, match="a condition: no-such is no hypothesis"):
        Condition("no-such", lambda config: True)


# --- decided


@pytest.mark.parametrize(("name", "guarantee"), GUARANTEES, ids=lambda value: getattr(value, "bound", value))
def test_a_guarantee_decides_every_hypothesis_of_its_bound_and_no_other(name: str, guarantee: Any) -> None:
    assert {condition.decides for condition in guarantee.conditions} == set(bounds()[guarantee.bound].assumes)


def test_the_units_of_guarantees_and_of_risks() -> None:
    for item in algorithms().values():
        assert all(bounds()[guarantee.bound].unit != "risk" for guarantee in item.guarantees)
        assert all(bounds()[guarantee.bound].unit == "risk" for guarantee in item.risks)


def test_an_algorithm_that_clips_never_meets_no_clipping_by_design() -> None:
    """It is decided by what is declared of the losses, or not met at all."""
    seen = set()
    for item in algorithms().values():
        if not {key.name for key in item.keys} & set(CLIPPING):
            continue
        for guarantee in item.risks:
            for condition in guarantee.conditions:
                if condition.decides == "unclipped":
                    seen.add(item.name)
                    bare = plan(item, _example(item.name)).config
                    assert condition.status(bare) in (UNKNOWN, NOT_MET)
    assert seen == {"dp-gd", "dp-glmtron"}


def _example(name: str) -> Any:
    for path in sorted(EXAMPLES.glob("*.toml")):
        item, given = read(path)
        if item.name == name:
            return given
    raise AssertionError(name)


def test_conditions_are_put_together_from_the_worst() -> None:
    assert hypotheses.together([MET, UNKNOWN, NOT_MET]) == NOT_MET
    assert hypotheses.together([MET, UNKNOWN]) == UNKNOWN
    assert hypotheses.together([MET, MET]) == MET
    assert hypotheses.together([]) == UNKNOWN
    [moved] = towards("l2-sensitivity", *by_design("replace"))
    assert (moved.decides, moved.text) == ("l2-sensitivity", HYPOTHESES["replace"].words)


def test_parameters_settle_what_they_can() -> None:
    """Without a diameter nothing has to be projected; with one it is not said whether it is."""
    given = ("bound", "shifted.mu", "drift=1", "contractions=1", "iterate_noise=1")
    for diameter, status in (("inf", MET), ("3", UNKNOWN)):
        found = {one["name"]: one["status"] for one in parsed(*given, f"diameter={diameter}", "--json")["hypotheses"]}
        assert found.pop("bounded-set") == status
        assert set(found.values()) == {UNKNOWN}
    given = ("bound", "exponential-mechanism.epsilon", "loss_range=1", "temperature=2")
    for relation, status in (("replace", MET), ("add_remove", UNKNOWN)):
        found = {one["name"]: one["status"] for one in parsed(*given, f"neighbours={relation}", "--json")["hypotheses"]}
        assert found["constant-size"] == status


# --- told


def _words(text: str) -> str:
    return " ".join(text.split())


@pytest.mark.parametrize("name", ["gaussian.epsilon", "dp-gd-tail.risk", "noisy-cgd.mu", "glmtron.risk"])
def test_an_answer_tells_what_it_assumes_in_80_columns(name: str) -> None:
    item = bounds()[name]
    assert item.example is not None
    lines = output("bound", name, *(f"{key}={value}" for key, value in item.example.items())).splitlines()
    assert max(map(len, lines[3:])) <= 80
    told = _words("\n".join(lines).partition("  assumes ")[2])
    assert told == " ".join(one.words for one in item.hypotheses)


def test_an_answer_that_assumes_nothing_says_so() -> None:
    told = output("bound", "glmtron.effective-dimension", "spectrum=1", "dataset_size=10", "learning_rate=0.1")
    assert told.splitlines()[-1] == "  assumes   none beyond its parameters"


RISKY = (
    "plan", "dp-gd", "clip_norm=1", "noise_on_mean=0.1", "steps=10", "dataset_size=100", "neighbours=replace",
    "delta=1e-5", "released=average_iterate", "clipped=true", "learning_rate=0.1", "distance=1", "dimension=4",
    "convex_lipschitz=true",
)


def test_a_plan_tells_every_hypothesis_in_80_columns() -> None:
    printed = output(*RISKY, "lipschitz=2")
    assert max(map(len, printed.splitlines())) <= 80
    document = parsed(*RISKY, "lipschitz=2", "--json")
    [risk] = document["risks"]
    assert (risk["bound"], risk["status"]) == ("dp-gd.risk", "CONDITIONAL")
    for judged in (*document["guarantees"], risk):
        assert [one["name"] for one in judged["hypotheses"]] == list(bounds()[judged["bound"]].assumes)
        for one in judged["hypotheses"]:
            assert f"{one['status']} {one['words']}" in _words(printed)
            assert one["status"] in (MET, NOT_MET, UNKNOWN)
            for condition in one["conditions"]:
                assert condition["words"] in _words(printed)
    assert re.search(r"unknown +no gradient is clipped", printed)


def test_a_risk_that_is_not_asked_for_is_not_printed() -> None:
    without = output(*RISKY)
    assert "dp-gd.risk" not in without
    [risk] = parsed(*RISKY, "--json")["risks"]
    assert (risk["status"], risk["risk"]) == ("CONDITIONAL", None)


def test_an_unclipped_run_is_told_from_a_clipped_one() -> None:
    """Clipping is idle where lipschitz, of the losses as they are, is at most clip_norm: then the risk is proved."""
    keys = dict(word.split("=") for word in RISKY[2:])

    def found(**more: str) -> Plan:
        return plan(algorithm("dp-gd"), {**keys, **more})

    statuses = [
        found(**more).risks[0].status
        for more in ({"lipschitz": "1"}, {"lipschitz": "1.01"}, {"lipschitz": "1", "convex_lipschitz": "false"})
    ]
    assert statuses == ["PROVED", "CONDITIONAL", "DOES NOT APPLY"]
