"""What the gate writes: JSON under its schema, JUnit XML that adds up, Markdown, and a table with the exact calls."""

from __future__ import annotations

import json
import math
from collections import Counter
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import jsonschema
import pytest

from empirical.gate.gate_run import run
from empirical.gate.gate_targets import LocalTarget
from empirical.gate.output import document, junit, markdown, print_results, verdict_line
from empirical.gate.result import AnyResult, Result, TrainingResult
from empirical.gate.xfail import Xfail, load
from tests.gate_targets import BOUND, BUGS, CASES, correct

SCHEMA_FILE = Path(__file__).parents[2] / "empirical/gate/schemas/result.schema.json"
SCHEMA = json.loads(SCHEMA_FILE.read_text(encoding="utf-8"))
ENTRY = Xfail("mylib:train", "VIOLATION", "the noise is too small", "xfail.toml, line 1")


def results(folder: Path) -> list[AnyResult]:
    """Everything that can happen: passes, failures, excuses, no verdict, interruption, trainings."""
    path = folder / "xfail.toml"
    path.write_text(
        "[[xfail]]\nbound = 'laplace.delta'\nverdict = 'UNSOUND'\ncases = [1, 2, 3]\nreason = 'known'\n"
        "[[xfail]]\nbound = 'laplace.delta'\nverdict = 'CRASH'\nsearch = true\nreason = 'rare'\n"
    )

    def rude(**given: Any) -> float:
        if given["epsilon"] == 0:
            raise RuntimeError("\x00 <b>|\ud800 bad & worse")
        return correct(**given) * 7

    def judged(function: Any, name: str, **options: Any) -> Result:
        return run(LocalTarget(function, name), BOUND, CASES, **{"search": 30, **options})

    return [
        judged(correct, "correct"), judged(BUGS["delta / 10"], "tenth", xfail=load(path)), judged(rude, "rude | <b>"),
        judged(lambda **_: math.nan, "nan"), judged(lambda **_: math.inf, "inf", search=0),
        TrainingResult("mylib:train", "CONSISTENT", "fine", "(1, 1e-5)-DP", {}),
        TrainingResult("mylib:train", "VIOLATION", "epsilon >= 2", "(1, 1e-5)-DP", {"epsilon_lower": 2.0}),
        TrainingResult("mylib:train", "VIOLATION", "epsilon >= 2", "(1, 1e-5)-DP", {}, ENTRY),
        TrainingResult("mylib:train", "CONSISTENT", "epsilon >= 0", "(1, 1e-5)-DP", {}, ENTRY),
        TrainingResult("mylib:train", "INVALID", "it hangs", "(1, 1e-5)-DP", {}),
    ]


def test_json_is_valid_under_its_schema(tmp_path: Path) -> None:
    jsonschema.Draft202012Validator.check_schema(SCHEMA)
    validator = jsonschema.Draft202012Validator(SCHEMA)
    found = results(tmp_path)
    written = json.loads(json.dumps(document(found), allow_nan=False))
    validator.validate(written)
    assert written["exitCode"] == 2
    assert [item["exitCode"] for item in written["results"]] == [item.exit_code for item in found]
    assert [item.exit_code for item in found] == [0, 1, 1, 2, 1, 0, 1, 0, 1, 2]
    for spoiled in ({**written, "colour": 1}, {**written, "exitCode": 7}, {"results": []}):
        assert not validator.is_valid(spoiled)
    for part, key in ((written["results"][0], "tests"), (written["results"][5], "verdict")):
        assert not validator.is_valid({**written, "results": [{k: v for k, v in part.items() if k != key}]})


def test_decimals_in_json_are_the_certified_ends(tmp_path: Path) -> None:
    written = document(results(tmp_path))["results"][0]["tests"]
    for test, case in zip(written, CASES, strict=True):
        if case.expected is None:
            assert test["expected"] is None
        else:
            assert type(case.expected).parse(**test["expected"]) == case.expected


def test_junit_adds_up(tmp_path: Path) -> None:
    found = results(tmp_path)
    root = ElementTree.fromstring(junit(found))
    assert root.tag == "testsuites"
    assert len(root) == len(found)
    for suite, result in zip(root, found, strict=True):
        kinds = Counter(child.tag for case in suite for child in case)
        assert {name: int(suite.get(name, "")) for name in ("failures", "errors", "skipped", "tests")} == {
            "failures": kinds["failure"], "errors": kinds["error"], "skipped": kinds["skipped"], "tests": len(suite),
        }
        assert float(suite.get("time", "")) >= 0
        failed = len(result.failures) if isinstance(result, Result) else result.exit_code == 1
        assert kinds["failure"] == failed
        assert (kinds["error"] > 0) == (result.exit_code == 2)
        if isinstance(result, Result):
            names = [case.get("name") for case in suite]
            assert names[-1 - len(CASES) - (result.searched is None) :]
            assert set(names) >= {outcome.case.name for outcome in result.outcomes}
            assert kinds["skipped"] == len(result.expected_failures)


def test_markdown_names_every_kind_of_failure(tmp_path: Path) -> None:
    text = markdown(results(tmp_path))
    assert text.startswith("### dp-oracle gate: no verdict")
    table = [line for line in text.splitlines() if line.startswith("|")]
    assert len({line.replace(r"\|", "").count("|") for line in table}) == 1  # no cell breaks the table
    assert "rude \\| &lt;b>" in text
    assert "<lambda>" not in text
    for words in ("expected UNSOUND by", "answered none of 6 valid cases", "it hangs", "epsilon >= 2", "search: "):
        assert words in text
    assert text.endswith("\n")


def test_the_table_tells_the_exact_call(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    found = results(tmp_path)
    print_results([found[2]])
    told = capsys.readouterr().out
    assert "rude | <b>(scale=1.0, sensitivity=1.0, epsilon=0.0)" in told
    assert "CRASH  laplace.delta/2 (an example)" in told
    assert told.splitlines()[-1] == verdict_line([found[2]])
    print_results([found[1]])
    told = capsys.readouterr().out
    assert "certified  [0.63212" not in told  # an expected failure is counted, not listed
    assert "line 1: known" in told
    assert "CRASH is expected of the search by" in told
    print_results([found[0]])
    searched = found[0].searched
    assert searched is not None
    beyond, last = searched.judged + searched.refused, capsys.readouterr().out.splitlines()[-1]
    assert last == f"gate: passed; {10 + beyond} cases judged ({beyond} by the search), 0 failed"


def test_many_failures_are_not_all_printed(capsys: pytest.CaptureFixture[str]) -> None:
    many = tuple(CASES[0] for _ in range(40))
    result = run(LocalTarget(BUGS["delta / 10"]), BOUND, many, search=0)
    print_results([result])
    told = capsys.readouterr().out
    assert told.count("call ") == 10
    assert "and 30 more failures" in told
    assert "and 30 more failures" in markdown([result])
    assert len(document([result])["results"][0]["tests"]) == 40
