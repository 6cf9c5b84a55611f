"""The runner: order, errors apart, processes that die, and findings that are resumed but never stale."""

from __future__ import annotations

import json
import os
from dataclasses import replace
from pathlib import Path

import pytest

from oracle.core.errors import DomainError, OracleError
from oracle.core.plain import plain
from oracle.running.fingerprint import Closure, installed
from tests.theorems import planted_run
from theorems import findings as store_module
from theorems.claim import Checked, Claim, claim, claims
from theorems.findings import Findings, code_of, from_json, places
from theorems.run import Done, Failed, run
from theorems.verdict import ALL, Evidence, Finding, Scope, Verdict, argued, computed

NAMES = [
    "sbcd/tighter-than-YS33", planted_run.RAISES, planted_run.SLOW, planted_run.DIES,
    "nonconvex-nn/lem-1-beyond",
]
FINDING = Finding(Verdict.REFUTED, Evidence.PROVED, "because", {"x": "1/2"}, Scope("points", 3, 2, {"x": "[0, 1]"}),
                  (computed("one", True), argued("two")))


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


@pytest.mark.full
def test_what_raises_or_kills_its_process_fails_alone(spread: tuple[list[Checked | Failed], list[Done]]) -> None:
    failed = {item.claim.id: item.error for item in spread[0] if isinstance(item, Failed)}
    assert failed == {
        planted_run.RAISES: "ValueError: a planted [error]",
        planted_run.DIES: "a worker process died 3 times at it, at last with exit code 7 (out of memory?)",
    }
    for item in spread[0]:
        if isinstance(item, Checked):
            assert f"pid {os.getpid()}" not in item.finding.summary


@pytest.mark.full
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
    def fails(says: object, given: object) -> Finding:
        raise ZeroDivisionError("planted")

    items = [replace(claim("cs208/gaussian-mechanism"), check=fails), claim("nonconvex-nn/lem-1")]
    first, second = run(items)
    assert first == Failed(items[0], "ZeroDivisionError: planted")
    assert isinstance(second, Checked)


def test_a_finding_survives_the_file() -> None:
    for finding in (FINDING, Finding(Verdict.HOLDS, Evidence.CITED, "said so"), replace(FINDING, scope=ALL)):
        assert from_json(json.loads(json.dumps(plain(finding)))) == finding


@pytest.mark.full
def test_findings_are_resumed_and_errors_are_not(tmp_path: Path) -> None:
    path = tmp_path / "deep" / "findings"
    with Findings(path, full=False) as store:
        outcomes = run(chosen(), workers=2, store=store, find=planted_run.find)
    again: list[Done] = []
    with Findings(path, full=False) as store:
        resumed = run(chosen(), store=store, progress=again.append)
    assert [done.name for done in again if done.seconds is not None] == [planted_run.RAISES, planted_run.DIES]
    for before, after in zip(outcomes, resumed, strict=True):
        if isinstance(before, Checked):
            assert before == after  # the summary holds the other process's number


def test_stale_findings_and_those_of_another_effort_or_claim_are_never_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path, name = tmp_path / "findings", "cs208/gaussian-mechanism"
    with Findings(path, full=False) as store:
        store.keep(name, FINDING)
        assert store.finding(name) == FINDING
        assert store.finding("cs208/gaussian-mechanism-repaired") is None
        with Findings(path, full=True) as full:
            assert full.finding(name) is None
        monkeypatch.setattr(store_module, "code_of", lambda _: "after a change of the sources")
        assert store.finding(name) is None


@pytest.mark.full
def test_what_a_finding_depends_on_is_the_module_of_its_claim() -> None:
    assert places().keys() == claims().keys()
    assert places()["cs208/gaussian-mechanism"] == ("theorems.cs208.mechanisms.gaussian",)
    for name, modules in list(places().items())[::20]:
        closure = Closure(installed(), modules, {})
        assert 0 < len(closure.modules) < 100, f"{name} depends on everything"
    assert code_of("cs208/gaussian-mechanism") != code_of("sbcd/cor-4.5-case1")


@pytest.mark.parametrize("content", ["# a page\n", '{"format": "other"}\n'])
def test_a_file_that_is_no_store_is_left_alone(tmp_path: Path, content: str) -> None:
    path = tmp_path / "README.md"
    path.write_text(content)
    with pytest.raises(DomainError, match="a store, or a new file"):
        Findings(path, full=False)
    assert path.read_text() == content
    with pytest.raises(OracleError, match=r"store = .*below cannot be used"):
        Findings(path / "below", full=False)
