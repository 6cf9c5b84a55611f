"""The runner: order, errors apart, processes that die, and findings that are resumed but never stale."""

from __future__ import annotations

import json
import os
from dataclasses import replace
from pathlib import Path

import pytest

from oracle.core.errors import DomainError, OracleError
from tests.theorems import planted_run
from theorems import store as store_module
from theorems.claim import ALL, Checked, Claim, Evidence, Finding, Scope, Verdict, claim
from theorems.run import Done, Failed, run
from theorems.store import Store, as_json, from_json

NAMES = [
    "sbcd/tighter-than-YS33", planted_run.RAISES, planted_run.SLOW, planted_run.DIES,
    "nonconvex-nn/lem-1-beyond",
]
FINDING = Finding(Verdict.REFUTED, Evidence.PROVED, "because", {"x": "1/2"}, Scope("points", 3, 2, {"x": "[0, 1]"}))


def chosen() -> list[Claim]:
    return [claim(name) for name in NAMES]


@pytest.fixture(scope="module")
def spread() -> tuple[list[Checked | Failed], list[Done]]:
    told: list[Done] = []
    return run(chosen(), workers=2, full=True, progress=told.append, find=planted_run.find), told


@pytest.mark.full
def test_outcomes_come_in_the_order_asked(spread: tuple[list[Checked | Failed], list[Done]]) -> None:
    outcomes, told = spread
    assert [item.claim.id for item in outcomes] == NAMES
    assert sorted(done.name for done in told) == sorted(NAMES)


def test_what_raises_or_kills_its_process_fails_alone(spread: tuple[list[Checked | Failed], list[Done]]) -> None:
    failed = {item.claim.id: item.error for item in spread[0] if isinstance(item, Failed)}
    assert failed == {
        planted_run.RAISES: "ValueError: a planted [error]",
        planted_run.DIES: "the process that checked it died with exit code 7",
    }
    for item in spread[0]:
        if isinstance(item, Checked):
            assert f"pid {os.getpid()}" not in item.finding.summary


def test_workers_do_the_full_work(spread: tuple[list[Checked | Failed], list[Done]]) -> None:
    cited = spread[0][0]
    assert isinstance(cited, Checked)
    assert cited.finding.scope is not None
    assert cited.finding.scope.tried == 20


@pytest.mark.full
def test_one_worker_is_this_process_and_gives_the_same() -> None:
    names = ["cs208/gaussian-mechanism", "cs208/gaussian-mechanism-repaired"]
    items = [claim(name) for name in names]
    assert run(items) == run(items, workers=2)


def test_an_error_in_this_process_fails_alone() -> None:
    def fails(says: object) -> Finding:
        raise ZeroDivisionError("planted")

    items = [replace(claim("cs208/gaussian-mechanism"), check=fails), claim("nonconvex-nn/lem-1")]
    first, second = run(items)
    assert first == Failed(items[0], "ZeroDivisionError: planted")
    assert isinstance(second, Checked)


def test_a_finding_survives_the_file() -> None:
    for finding in (FINDING, Finding(Verdict.HOLDS, Evidence.CITED, "said so"), replace(FINDING, scope=ALL)):
        assert from_json(json.loads(json.dumps(as_json(finding)))) == finding


@pytest.mark.full
def test_findings_are_resumed_and_errors_are_not(tmp_path: Path) -> None:
    path = tmp_path / "deep" / "findings.jsonl"
    outcomes = run(chosen(), workers=2, store=Store(path, full=False), find=planted_run.find)
    again: list[Done] = []
    resumed = run(chosen(), store=Store(path, full=False), progress=again.append)
    assert [done.name for done in again if done.seconds is not None] == [planted_run.RAISES, planted_run.DIES]
    for before, after in zip(outcomes, resumed, strict=True):
        if isinstance(before, Checked):
            assert before == after  # the summary holds the other process's number


def test_a_line_cut_off_by_a_kill_counts_for_nothing(tmp_path: Path) -> None:
    path = tmp_path / "findings.jsonl"
    first = Store(path, full=False)
    first.add("a/one", FINDING)
    first.add("a/two", FINDING)
    path.write_text(path.read_text()[:-20])
    second = Store(path, full=False)
    assert list(second.findings) == ["a/one"]
    second.add("a/three", FINDING)
    assert list(Store(path, full=False).findings) == ["a/one", "a/three"]


@pytest.mark.parametrize("line", ["3", "null", "[]", '{"a": 1}', '"text"'])
def test_a_line_that_somebody_else_wrote_counts_for_nothing(line: str, tmp_path: Path) -> None:
    path = tmp_path / "findings.jsonl"
    Store(path, full=False).add("a/one", FINDING)
    path.write_text(f"{path.read_text()}{line}\n")
    assert Store(path, full=False).findings == {"a/one": FINDING}


def test_stale_findings_and_those_of_another_effort_are_never_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "findings.jsonl"
    Store(path, full=False).add("a/one", FINDING)
    assert Store(path, full=True).findings == {}
    monkeypatch.setattr(store_module, "fingerprint", lambda: "after a change of the sources")
    assert Store(path, full=False).findings == {}


def test_the_fingerprint_changes_with_any_source(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for room in ("oracle", "empirical", "theorems"):
        (tmp_path / room / "deep").mkdir(parents=True)
        (tmp_path / room / "deep" / "file.py").write_text("x = 1\n")
    fresh = store_module.fingerprint.__wrapped__

    def rooms(name: str) -> object:
        return type("Room", (), {"__path__": [str(tmp_path / name)]})

    monkeypatch.setattr(store_module.importlib, "import_module", rooms)
    seen = {fresh()}
    for room in ("oracle", "empirical", "theorems"):
        (tmp_path / room / "deep" / "file.py").write_text("x = 2\n")
        seen.add(fresh())
    (tmp_path / "oracle" / "deep" / "file.py").rename(tmp_path / "oracle" / "file.py")
    seen.add(fresh())
    (tmp_path / "theorems" / "table.csv").write_text("1,2\n")
    seen.add(fresh())
    assert len(seen) == 6
    assert fresh() in seen


@pytest.mark.parametrize("content", ["# a page\n", '{"format": "other"}\n'])
def test_a_file_that_is_no_store_is_left_alone(tmp_path: Path, content: str) -> None:
    path = tmp_path / "README.md"
    path.write_text(content)
    with pytest.raises(DomainError, match="no file of findings"):
        Store(path, full=False)
    assert path.read_text() == content
    with pytest.raises(OracleError, match="cannot be used"):
        Store(path / "below", full=False)
