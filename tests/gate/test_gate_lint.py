"""The linter of the vectors: the shipped files pass; every kind of defect, planted in a copy, is named."""

from __future__ import annotations

import copy
import json
from collections.abc import Callable, Sequence
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

from empirical.gate import vector_files
from empirical.gate.making.invalid import invalid_inputs, is_outside
from empirical.gate.making.lint import lint
from oracle.core.registry import bound, bounds
from oracle.running.console import run
from reports.cli import app
from tests.tiers import REPRESENTATIVES

NAME = "gaussian-classical.sigma"
Document = dict[str, Any]


def first(document: Document, result: str) -> Document:
    """The first test of that kind."""
    return next(test for test in document["tests"] if test["result"] == result)


def moved(text: str, factor: Fraction) -> str:
    """A decimal of 16 digits that many times another."""
    return f"{float(Fraction(text) * factor):.15g}"


def lower_too_high(document: Document) -> None:
    test = first(document, "valid")
    test["expected"] = {"lower": moved(test["expected"]["upper"], Fraction(1001, 1000)),
                        "upper": moved(test["expected"]["upper"], Fraction(1002, 1000))}


def upper_cuts(document: Document) -> None:
    """An enclosure that overlaps the truth's but leaves out half of what is possible."""
    test = first(document, "valid")
    test["input"] |= {"epsilon": "0.1", "delta": "0.3"}  # the two readings differ
    test["expected"] = dict.fromkeys(("lower", "upper"), "16.89403")


def change(path: tuple[str, ...], value: Any, result: str = "") -> Callable[[Document], None]:
    """Set one entry of the document, or of its first test of that kind."""

    def plant(document: Document) -> None:
        place = first(document, result) if result else document
        for key in path[:-1]:
            place = place[key]
        place[path[-1]] = value

    return plant


def drop(path: tuple[str, ...], result: str = "") -> Callable[[Document], None]:
    def plant(document: Document) -> None:
        place = first(document, result) if result else document
        for key in path[:-1]:
            place = place[key]
        del place[path[-1]]

    return plant


def swapped(document: Document) -> None:
    document["tests"][0], document["tests"][1] = document["tests"][1], document["tests"][0]


def same_number(document: Document) -> None:
    document["tests"][1]["tcId"] = document["tests"][0]["tcId"]


def same_input(document: Document) -> None:
    document["tests"][1]["input"] = dict(document["tests"][0]["input"])


def reordered(document: Document) -> None:
    test = first(document, "valid")
    test["input"] = dict(reversed(test["input"].items()))


def ends_swapped(document: Document) -> None:
    test = next(test for test in document["tests"] if test["result"] == "valid"
                and test["expected"]["lower"] != test["expected"]["upper"])
    test["expected"] = {"lower": test["expected"]["upper"], "upper": test["expected"]["lower"]}


DEFECTS: dict[str, tuple[Callable[[Document], None], str]] = {
    "an unknown key": (change(("colour",), "red"), "Additional properties are not allowed"),
    "an unknown key of a test": (change(("colour",), "red", "valid"), "against the schema"),
    "a missing key": (drop(("safe",)), "'safe' is a required property"),
    "a number instead of a decimal string": (change(("expected", "lower"), 4.2, "valid"), "against the schema"),
    "a negative sigma expected": (change(("expected", "lower"), "-1", "valid"), "against the schema"),
    "a valid test without an answer": (drop(("expected",), "valid"), "against the schema"),
    "an invalid test with an answer": (
        change(("expected",), {"lower": "1", "upper": "1"}, "invalid"), "against the schema",
    ),
    "an unknown bug type": (change(("notes", "NearBoundary", "bugType"), "ODD"), "against the schema"),
    "a link that is none": (change(("notes", "NearBoundary", "links"), ["issue 3"]), "against the schema"),
    "a wrong unit": (change(("unit",), "epsilon"), "against the schema"),
    "a test without a flag": (change(("flags",), [], "valid"), "against the schema"),
    "a flag without a note": (change(("flags",), ["Odd"], "valid"), "flag Odd has no note"),
    "a note that nobody uses": (
        change(("notes", "Odd"), {"bugType": "BASIC", "description": "x", "effect": "x", "links": []}),
        "note Odd is not used",
    ),
    "a note that says something else": (
        change(("notes", "NearBoundary", "effect"), "none"), "note NearBoundary is not what the code says",
    ),
    "a flag that nobody knows": (
        change(("notes", "Odd"), {"bugType": "BASIC", "description": "x", "effect": "x", "links": []}),
        "note Odd is not what the code says",
    ),
    "numbers that fall": (swapped, "its number does not rise"),
    "a number twice": (same_number, "its number does not rise"),
    "an input twice": (same_input, "its input stands in the file twice"),
    "a wrong count": (change(("numberOfTests",), 1), "numberOfTests = 1"),
    "a last number that was passed": (change(("lastTcId",), 1), "lastTcId = 1"),
    "another version": (change(("vectorsVersion",), "0.9.0"), "under version 0.9.0"),
    "another maker": (change(("generator", "name"), "somebody"), "made by somebody"),
    "another formula": (change(("formula",), "x"), "formula is not what the registry says"),
    "another safe side": (change(("safe",), "lower"), "safe is not what the registry says"),
    "other parameters": (
        change(("parameters",), [{"name": "x", "kind": "real", "domain": "x", "meaning": "x", "unit": ""}]),
        "parameters is not what the registry says",
    ),
    "another bound": (change(("bound",), "gaussian.sigma"), "bound is not what the registry says"),
    "a parameter too few": (drop(("input", "delta"), "valid"), "the bound takes"),
    "a parameter too many": (change(("input", "steps"), "1", "valid"), "the bound takes"),
    "parameters in another order": (reordered, "the bound takes"),
    "a valid input that is refused": (change(("input", "delta"), "2", "valid"), "is called valid, but is refused"),
    "an invalid input that has an answer": (
        change(("input",), {"sensitivity": "1", "epsilon": "0.5", "delta": "1e-4"}, "invalid"), "is called invalid",
    ),
    "an invalid input at an open end": (
        change(("input",), {"sensitivity": "1", "epsilon": "0.5", "delta": "0"}, "invalid"), "is called invalid",
    ),
    "ends the wrong way round": (ends_swapped, "its lower end lies above the upper one"),
    "a wrong answer": (lower_too_high, "excludes the truth"),
    "an answer that is cut off": (upper_cuts, "excludes the truth"),
    "an answer that no double tells": (
        change(("input",), {"sensitivity": "1e-310", "epsilon": "0.5", "delta": "0.1"}, "valid"), "no double tells",
    ),
}
OF_ANSWERS = ("its lower end lies above", "excludes the truth", "no double tells")  # the others are seen without them


def linted(tmp_path: Path, plant: Callable[[Document], None], sample: int | None = None) -> list[str]:
    """What the linter says of a copy with that defect, certifying so many of its answers again, or all."""
    document = copy.deepcopy(vector_files.read(vector_files.SHIPPED / f"{NAME}.json"))
    plant(document)
    vector_files.save(tmp_path / f"{NAME}.json", document)
    return [str(problem) for problem in lint(NAME, tmp_path, sample)]


def test_an_honest_copy_passes(tmp_path: Path) -> None:
    assert linted(tmp_path, lambda document: None) == []


@pytest.mark.parametrize("defect", DEFECTS)
def test_a_planted_defect_is_named(tmp_path: Path, defect: str) -> None:
    plant, why = DEFECTS[defect]
    problems = linted(tmp_path, plant, None if why.startswith(OF_ANSWERS) else 0)
    assert any(why in problem for problem in problems), problems
    assert all(problem.startswith(NAME) and "\n" not in problem for problem in problems)


def test_a_broken_or_missing_file_is_a_problem(tmp_path: Path) -> None:
    (tmp_path / f"{NAME}.json").write_text("{")
    assert "is not JSON" in str(lint(NAME, tmp_path)[0])
    assert "cannot be read" in str(lint("gaussian.epsilon", tmp_path)[0])
    (tmp_path / "odd.json").write_text("{}")
    assert "there is no bound odd" in str(lint("odd", tmp_path)[0])


def test_another_layout_is_a_problem(tmp_path: Path) -> None:
    document = vector_files.read(vector_files.SHIPPED / f"{NAME}.json")
    (tmp_path / f"{NAME}.json").write_text(json.dumps(document), encoding="utf-8")
    assert [problem.what for problem in lint(NAME, tmp_path, 0)] == ["is not written as `vectors make` writes it"]


OTHERS = sorted(bounds().keys() - REPRESENTATIVES)


@pytest.mark.parametrize("names", [
    pytest.param(tuple(REPRESENTATIVES), id="a few"),
    pytest.param(OTHERS[::4], id="a quarter of the others", marks=pytest.mark.full),
    pytest.param([name for place, name in enumerate(OTHERS) if place % 4], id="the rest", marks=pytest.mark.thorough),
])
def test_the_shipped_files_have_no_problem_of_form(names: Sequence[str]) -> None:
    assert [str(problem) for name in names for problem in lint(name, sample=0)] == []


@pytest.mark.parametrize("name", ["gaussian.epsilon", "rdp.epsilon", "tree.epsilon", "sbcd.rdp", "glmtron.risk"])
def test_the_shipped_answers_are_certified_again(name: str) -> None:
    assert [str(problem) for problem in lint(name, sample=6)] == []


@pytest.mark.thorough
@pytest.mark.parametrize("first", range(4))
def test_what_the_command_lints_has_no_problem(first: int) -> None:
    """With the command's own sample: what is attained goes stale unseen where an engine changes."""
    assert [str(problem) for name in sorted(bounds())[first::4] for problem in lint(name)] == []


def test_the_command_counts_problems(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    document = vector_files.read(vector_files.SHIPPED / f"{NAME}.json")
    vector_files.save(tmp_path / f"{NAME}.json", document)
    words = ["vectors", "lint", "--bound", NAME, "--folder", str(tmp_path)]
    assert run(app, words) == 0
    assert "1 files, 0 problems" in capsys.readouterr().out
    vector_files.save(tmp_path / f"{NAME}.json", {**document, "numberOfTests": 1})
    assert run(app, [*words, "--json"]) == 1
    told = json.loads(capsys.readouterr().out)
    assert [problem["where"] for problem in told["problems"]] == [NAME]


def test_what_is_invalid_is_outside_the_closure() -> None:
    classical = bound(NAME)
    base = {"sensitivity": "1", "epsilon": "0.5", "delta": "1e-5"}
    flags = {comment: flag.name for _, flag, comment in invalid_inputs(classical, base)}
    assert flags["epsilon is above 1"] == "BeyondTheTheorem"  # the one calibration that is proved up to 1 only
    assert all(is_outside(classical, given) for given, _, _ in invalid_inputs(classical, base))
    for name, text in (("delta", "0"), ("delta", "1"), ("epsilon", "0"), ("sensitivity", "0"), ("epsilon", "1")):
        assert not is_outside(classical, {**base, name: text})
    # Limits of this project's own code are no reason to call an input invalid.
    steps = {"base_epsilon": "0.1", "base_delta": "0", "steps": "100001", "delta": "1e-5"}
    assert not is_outside(bound("composition.optimal"), steps)
