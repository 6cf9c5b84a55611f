"""A report says what differs: verdicts, mutants, exit codes, and errors in one line."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from empirical.mutants import mutant as mutants
from empirical.mutants.mutant import NOTHING, Check, Detection, Mutant
from oracle.core.errors import MissingExtraError, OracleError
from oracle.core.extras import EXTRAS
from oracle.running.outputs import Outputs
from reports import command
from reports.cli import command_of
from reports.model import ReportScope, collect
from tests.reports.pages import Page, nothing, page_of, run_here
from theorems.claim import Claim, Expectation
from theorems.verdict import INSTANCE, Evidence, Finding, Verdict


@pytest.fixture
def plant() -> Callable[[Verdict, Verdict], ReportScope]:
    """A report's scope with one claim that comes out in one way and is expected in another."""

    def scope(verdict: Verdict, expected: Verdict) -> ReportScope:
        item = Claim(
            id="planted/claim", source="nowhere", statement=r"1 < 2", words="one & <two>", hypotheses=(), says=None,
            check=lambda says, given: Finding(verdict, Evidence.PROVED, "because", {"x": "1"}, INSTANCE),
            expected=str(Expectation(expected, Evidence.PROVED)),
        )
        return replace(nothing(), claims=(item,))

    return scope


@pytest.mark.full
@pytest.mark.parametrize(
    ("verdict", "expected"),
    [(Verdict.REFUTED, Verdict.HOLDS), (Verdict.HOLDS, Verdict.REFUTED), (Verdict.UNDECIDED, Verdict.HOLDS)],
)
def test_an_unexpected_verdict_is_not_ok(
    verdict: Verdict, expected: Verdict, plant: Callable[[Verdict, Verdict], ReportScope]
) -> None:
    report = collect(plant(verdict, expected))
    assert not report.ok
    assert report.totals.unexpected == ("planted/claim",)
    assert command.validated(report)["ok"] is False
    shown = page_of(report)
    assert "Not everything is as expected" in shown
    assert "one &amp; &lt;two&gt;" in shown
    assert Page(shown).open == []


@pytest.mark.full
def test_undecided_claims_are_listed_with_their_reason(plant: Callable[[Verdict, Verdict], ReportScope]) -> None:
    report = collect(plant(Verdict.UNDECIDED, Verdict.UNDECIDED))
    assert report.ok
    assert report.totals.undecided == ("planted/claim",)
    assert "because" in page_of(report).split('id="undecided"')[1].split("</section>")[0]


EVIL = (
    "<script>alert(1)</script>\x1b[31m\x9b\u202e\u2066\x00\ud800\uffff\\[/bold]{{ 7 * 7 }}\"'>"
    "<img src=x onerror=y>&lt;"
)


def test_what_names_bring_is_shown_on_the_page_and_not_obeyed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    item = Claim(
        id="planted/claim", source=EVIL, statement=r"1 < 2", words=EVIL, hypotheses=(), says=None, quote=EVIL,
        check=lambda says, given: Finding(Verdict.HOLDS, Evidence.PROVED, EVIL, {EVIL: EVIL}, INSTANCE),
        expected=str(Expectation(Verdict.HOLDS, Evidence.PROVED)),
    )
    monkeypatch.setattr(command, "everything", lambda: replace(nothing(), claims=(item,)))
    assert run_here("--out", str(tmp_path)) == 0
    page = (tmp_path / "report.html").read_text(encoding="utf-8")
    for text in (page, (tmp_path / "report.json").read_text(encoding="utf-8")):
        assert not set(text) & set("\x1b\x9b\u202e\u2066\x00\uffff")
    assert "<script" not in page
    assert "<img src=x" not in page
    assert "&lt;script&gt;alert(1)&lt;/script&gt;\ufffd[31m" in page
    assert "{{ 7 * 7 }}" in page
    assert Page(page).open == []


def test_a_claim_without_a_finding_makes_no_report(plant: Callable[[Verdict, Verdict], ReportScope]) -> None:
    scope = plant(Verdict.HOLDS, Verdict.HOLDS)
    broken = replace(scope.claims[0], check=lambda says, given: 1 // 0)
    with pytest.raises(OracleError, match=r"planted/claim \(ZeroDivisionError"):
        collect(replace(scope, claims=(broken,)))


def test_a_refuted_claim_that_was_expected_is_ok(plant: Callable[[Verdict, Verdict], ReportScope]) -> None:
    assert collect(plant(Verdict.REFUTED, Verdict.REFUTED)).ok


@pytest.mark.full
@pytest.mark.parametrize(("severity", "flagged", "ok"), [("C", True, True), ("C", False, False), ("E", True, False)])
def test_a_misjudged_mutant_is_not_ok(
    severity: str, flagged: bool, ok: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    known = {"a check": Check("a check", lambda item: Detection(flagged, "seen"))}
    monkeypatch.setattr(mutants, "checks", lambda: known)
    judge = {"spared_by" if severity == "E" else "caught_by": ("a check",)}
    bug = Mutant("gdp.delta", "a bug", NOTHING, id="X1", severity=severity, origin="here", **judge)
    report = collect(replace(nothing(), mutants=(bug,)))
    assert report.ok is ok
    assert ("Everything is as expected" in page_of(report)) is ok


def test_exit_code_is_1_when_something_differs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str],
    plant: Callable[[Verdict, Verdict], ReportScope],
) -> None:
    scope = plant(Verdict.HOLDS, Verdict.REFUTED)
    monkeypatch.setattr(command, "everything", lambda: scope)
    assert run_here("--out", str(tmp_path)) == 1
    assert "0 of 1 verdicts as expected" in capsys.readouterr().out
    assert (tmp_path / "report.html").exists()


@pytest.mark.full
def test_open_opens_the_page(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    opened: list[str] = []
    monkeypatch.setattr(command, "everything", nothing)
    monkeypatch.setattr("webbrowser.open", opened.append)
    assert run_here("--out", str(tmp_path), "--open") == 0
    assert opened == [(tmp_path / "report.html").as_uri()]


def test_a_report_that_breaks_its_schema_is_an_error(tmp_path: Path) -> None:
    broken = replace(collect(nothing()), seed=-1)
    with pytest.raises(OracleError, match=r"\$\.seed"):
        command.write(broken, Outputs({"page": tmp_path / "page", "data": tmp_path / "data"}))
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    "arguments",
    [["--out", "FILE"], ["--out", "FILE/below"], ["--budget", "99"], ["--seed", "-1"], ["--budget", "many"]],
)
def test_bad_usage_is_one_line_and_2(
    arguments: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("FILE").touch()
    assert run_here(*arguments) == 2
    shown = capsys.readouterr()
    assert re.fullmatch(r"error: [^\n]+\n", shown.err)
    assert shown.out == ""
    assert [path.name for path in tmp_path.iterdir()] == ["FILE"]


def test_missing_libraries_are_told_before_a_report_is_begun(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(EXTRAS, "report", ("json", "no_such_library"))
    told = "report needs no_such_library: pip install 'dp-oracle[report]'"
    with pytest.raises(MissingExtraError, match=re.escape(told)):
        command_of.__wrapped__("reports.command")
