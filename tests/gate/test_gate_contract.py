"""VECTORS.md says what is so: its file is valid, its loop works, and it names every verdict and every kind."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import jsonschema
import pytest

from empirical.gate import vector_files
from empirical.gate.making import extremes, schema
from empirical.gate.making.cases import certified
from empirical.gate.making.flags import BUG_TYPES, GENERAL
from empirical.gate.making.known_bugs import KNOWN
from empirical.gate.verdicts import GateVerdict
from oracle.core.registry import UNITS, bound
from tests.project.consoles import ROOT, blocks

PAGE = (ROOT / "VECTORS.md").read_text(encoding="utf-8")


def test_its_file_follows_the_schema() -> None:
    (text,) = blocks("VECTORS.md", "json")
    document = json.loads(text)
    jsonschema.Draft202012Validator(schema.of("epsilon")).validate(document)
    assert list(document) == [*vector_files.load("gaussian.epsilon").header, "tests"]
    assert document["vectorsVersion"] == vector_files.VERSION


def test_it_names_every_verdict_unit_and_bug_type() -> None:
    for name in (*GateVerdict, *UNITS, *BUG_TYPES):
        assert f"`{name}`" in PAGE


def truth(**given: float) -> float:
    return float(bound("gaussian.epsilon").fast(**given))


def accepts_everything(**given: float) -> float:
    return 1e300


def too_low(**given: float) -> float:
    return 0.99 * truth(**given)


def loop(monkeypatch: pytest.MonkeyPatch, my_epsilon: Callable[..., float]) -> None:
    (code,) = blocks("VECTORS.md", "python")
    monkeypatch.chdir(vector_files.SHIPPED)
    names: dict[str, Any] = {"my_epsilon": my_epsilon}
    exec(code, names)


def test_its_loop_passes_what_is_right(monkeypatch: pytest.MonkeyPatch) -> None:
    loop(monkeypatch, truth)


@pytest.mark.parametrize("wrong", [accepts_everything, too_low])
def test_its_loop_catches_what_is_wrong(monkeypatch: pytest.MonkeyPatch, wrong: Callable[..., float]) -> None:
    with pytest.raises(AssertionError):
        loop(monkeypatch, wrong)


def test_every_flag_is_said_once_and_used() -> None:
    names = [flag.name for flag in (*GENERAL, *(bug.flag for bug in KNOWN))]
    assert len(names) == len(set(names))
    used = {flag for name in vector_files.names() for flag in vector_files.load(name).notes}
    assert used == set(names)


def test_every_known_bug_says_where_it_was_seen() -> None:
    assert all(bug.flag.links for bug in KNOWN)


KNOWN_AT = {
    "CltApproximation": ("poisson-gaussian.epsilon", {"sigma": "0.5", "sampling_rate": "0.001", "steps": "5000"}),
    "ReplaceOne": ("poisson-gaussian.epsilon", {"sigma": "1", "sampling_rate": "1", "neighbours": "replace"}),
    "FullSampling": ("poisson-gaussian.epsilon", {"sigma": "1", "sampling_rate": "1", "steps": "1"}),
    "TinyDelta": ("poisson-gaussian.epsilon", {"steps": "100", "delta": "1e-14"}),
    "LargeDelta": ("poisson-gaussian.epsilon", {"delta": "0.5"}),
    "ManySteps": ("poisson-gaussian.epsilon", {"sigma": "100", "steps": "1000000"}),
    "RareSampling": ("poisson-gaussian.rdp", {"sampling_rate": "1e-6", "alpha": "1.1"}),
    "OrderNearOne": ("rdp.epsilon", {"alpha": "1.00000001"}),
    "SmallNoise": ("gaussian.epsilon", {"sigma": "0.001"}),
    "ClassicalFormula": ("gaussian.sigma", {"epsilon": "10"}),
}


@pytest.mark.parametrize("flag", KNOWN_AT)
def test_a_known_bug_is_asked_for_where_it_was_seen(flag: str) -> None:
    name, part = KNOWN_AT[flag]
    there = [case for case in vector_files.load(name).cases if case.valid and part.items() <= case.input.items()]
    assert there
    assert all(flag in case.flags for case in there)
    assert any(flag not in case.flags for case in vector_files.load(name).cases if case.valid)


def test_the_search_keeps_the_largest_and_the_smallest_answer_it_found() -> None:
    found = extremes.find(bound("composition.basic"), kept=1)
    answers = {why: certified(bound("composition.basic"), given) for given, why in found}
    least, most = answers.pop("the smallest answer found"), answers.pop("the largest answer found")
    assert answers
    assert all(least.possibly_le(other) and other.possibly_le(most) for other in answers.values())
    assert not most.possibly_le(least)
