"""The commands `claims` and `check`, from outside."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest

from oracle.running.console import run
from reports.cli import app
from tests.commands import command
from theorems.claim import claims, expectations
from theorems.findings import Findings
from theorems.verdict import Finding

KEYS = {
    "id", "source", "quote", "statement", "words", "whose", "severity", "hypotheses", "verdict", "expected",
    "as_expected", "difference", "evidence", "expected_evidence", "capped_by", "summary", "witness", "scope", "steps",
    "repaired_by", "readings", "uses", "rests_on", "used_by", "falls", "survives",
}
"""Readers of the file rely on these: a key may be added here, never renamed."""
GAUSSIAN = ("cs208/gaussian-mechanism", "cs208/gaussian-mechanism-repaired")


def evidence_of(name: str) -> str:
    return expectations()[name].evidence.value


def test_check_command_writes_json_and_exits_0(tmp_path: Path) -> None:
    file = tmp_path / "deep" / "findings.json"
    done = command("check", "relu-approx/lem-3.2", "relu-approx/lem-3.2-repaired", "--json", str(file))
    assert done.returncode == 0, done.stderr
    assert "REFUTED" in done.stdout
    assert "2 of 2 verdicts as expected" in done.stdout
    rows = json.loads(file.read_text())
    assert [row["id"] for row in rows] == ["relu-approx/lem-3.2", "relu-approx/lem-3.2-repaired"]
    for row in rows:
        assert set(row) == KEYS
    assert rows[0]["repaired_by"] == "relu-approx/lem-3.2-repaired"
    assert rows[0]["witness"]["largest curvature"] == "3"


@pytest.mark.parametrize(
    "words",
    [("check",), ("check", "no/such"), ("check", "--all", "relu-approx/lem-3.2"), ("claims", "--paper", "none"),
     ("check", "relu-approx/lem-3.2", "--json", "/proc/none/x.json"), ("check", "--paper", "none"),
     ("check", "--paper", "cs208", "--all"), ("check", "--all", "--workers", "0"),
     ("check", "relu-approx/lem-3.2", "--store", "/proc/none/x"),
     ("check", "relu-approx/lem-3.2", "--store", __file__)],
)
def test_bad_usage_exits_2_with_one_line(words: tuple[str, ...], capsys: pytest.CaptureFixture[str]) -> None:
    assert run(app, words) == 2
    shown = capsys.readouterr().err
    assert shown.startswith("error: ")
    assert shown.count("\n") == 1


def test_a_file_that_cannot_be_written_is_told_before_the_work(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("theorems.cli.run", None)  # nothing is checked
    assert run(app, ["check", "--all", "--json", "/proc/none/x.json"]) == 2
    assert "json = /proc/none/x.json cannot be written" in capsys.readouterr().err


def test_claims_command_lists_every_claim(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(app, ["claims", "--json"]) == 0
    rows = json.loads(capsys.readouterr().out)
    assert [row["id"] for row in rows] == list(claims())
    assert run(app, ["claims", "--paper", "cs208"]) == 0
    table = capsys.readouterr().out
    assert "cs208/gaussian-mechanism" in table
    assert "relu-approx" not in table


def test_a_page_says_all_that_is_known(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(app, ["check", "sbcd/cor-4.5-case1"]) == 0
    lines = [" ".join(line.split()) for line in capsys.readouterr().out.splitlines()]
    for start in (
        "REFUTED sbcd/cor-4.5-case1 (001, Corollary 4.5, case 1) evidence: PROVED", "claims a step without",
        "formally \\frac", "given alpha: a real number > 1", "because linear maps", "witness eta = 1/2",
        "scope one instance, which refutes", "whose ",
        f"repair sbcd/cor-4.5-case1-repaired (HOLDS, {evidence_of('sbcd/cor-4.5-case1-repaired')})",
    ):
        assert any(line.startswith(start) for line in lines), start
    for start in ("used by ", "falls "):  # other claims may stand beside it
        listed = [line for line in lines if line.startswith(start)]
        assert any("sbcd/thm-4.6-eq-11 (REFUTED, " in line for line in listed), start
    assert run(app, ["check", "relu-approx/thm-2.8-optimal"]) == 0
    shown = capsys.readouterr().out
    assert f"background/shifted-interpolation (HOLDS, {evidence_of('background/shifted-interpolation')})" in shown
    assert run(app, ["check", "relu-approx/lem-2.6-vs-fig-6-repaired"]) == 0
    assert "5 of 5 points met the hypotheses (epsilon: " in capsys.readouterr().out


def test_a_paper_is_checked_with_counts_and_resumed_from_its_store(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("theorems.cli.claims", lambda: {name: claims()[name] for name in GAUSSIAN})  # a small paper
    words = ["check", "--paper", "cs208", "--workers", "1", "--store", str(tmp_path / "findings")]
    assert run(app, words) == 0
    first = capsys.readouterr().out
    assert "cs208        1 HOLDS 1 REFUTED | " in first
    assert "UNDECIDED    none" in first
    monkeypatch.setattr("theorems.run.judge", None)  # nothing is checked again
    assert run(app, words) == 0
    assert capsys.readouterr().out == first


def test_a_changed_verdict_is_told_and_exits_1(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    name = "cs208/gaussian-mechanism"
    monkeypatch.setitem(claims(), name, replace(claims()[name], expected="HOLDS CITED"))
    assert run(app, ["check", name]) == 1
    shown = capsys.readouterr().out
    change = "verdict: expected HOLDS, found REFUTED; evidence: expected CITED, found PROVED"
    assert f"CHANGED      {name}: {change}" in shown
    assert "0 of 1 verdicts as expected" in shown


def test_an_error_is_told_with_its_claim_and_exits_1_after_the_others(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def fails(item: object, says: object) -> Finding:
        raise ValueError("planted")

    store = Findings(tmp_path / "findings", full=False)
    expected = expectations()["cs208/gaussian-mechanism-repaired"]
    store.keep("cs208/gaussian-mechanism-repaired", Finding(expected.verdict, expected.evidence, "read, not checked"))
    monkeypatch.setattr("theorems.run.judge", fails)
    file = tmp_path / "out.json"
    words = ["check", *GAUSSIAN, "--workers", "1", "--store", str(store.path), "--json", str(file)]
    assert run(app, words) == 1
    shown = capsys.readouterr().out
    assert "ERROR        cs208/gaussian-mechanism: ValueError: planted" in shown
    assert "read, not checked" in shown
    assert "1 of 2 verdicts as expected" in shown
    failed = json.loads(file.read_text())[0]
    assert failed.keys() == {"id", "error", "traceback"}
    assert (failed["id"], failed["error"]) == ("cs208/gaussian-mechanism", "ValueError: planted")
    assert 'raise ValueError("planted")' in failed["traceback"]
