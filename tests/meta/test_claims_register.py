"""Break the register of claims and require that it is noticed: dropped, renamed, dangling and misplaced ids."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from oracle.core.errors import OracleError
from theorems import claim as module
from theorems.claim import Claim, Evidence, Expectation, Verdict, claim, claims, expectations

ESTABLISHED = Expectation(Verdict.HOLDS, Evidence.PROVED)
registered: Callable[[], dict[str, Claim]] = claims.__wrapped__
read: Callable[[], dict[str, Expectation]] = expectations.__wrapped__


def test_a_claim_that_is_dropped_or_renamed_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(expectations(), "sbcd/once-there", ESTABLISHED)
    with pytest.raises(OracleError, match=r"expected, but not registered: \['sbcd/once-there'\]"):
        registered()


def test_a_claim_without_an_expectation_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delitem(expectations(), "sbcd/thm-4.6-mix")
    with pytest.raises(OracleError, match=r"without an expected verdict: \['sbcd/thm-4.6-mix'\]"):
        registered()


@pytest.mark.parametrize("field", ["uses", "rests_on", "repaired_by"])
def test_a_name_that_leads_nowhere_is_noticed(field: str, monkeypatch: pytest.MonkeyPatch) -> None:
    others = [item for item in claims().values() if item.id != "sbcd/thm-4.6-mix"]
    value = "no/such" if field == "repaired_by" else ("no/such",)
    broken = replace(claim("sbcd/thm-4.6-mix"), **{field: value})
    monkeypatch.setattr(module, "discover", lambda package, kind: [*others, broken])
    with pytest.raises(OracleError, match="names no/such, which is not registered"):
        registered()


def test_two_claims_of_one_id_are_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    twice = [*claims().values(), replace(claim("sbcd/thm-4.6-mix"), source="elsewhere")]
    monkeypatch.setattr(module, "discover", lambda package, kind: twice)
    with pytest.raises(OracleError, match=r"sbcd/thm-4\.6-mix"):
        registered()


@pytest.mark.parametrize(("text", "complaint"), [
    ('"sbcd/one" = "HOLDS PROVED"\n', "the file of another paper"),
    ('"cs208/one" = "HOLDS"\n', "not enough values"),
    ('"cs208/one" = "TRUE PROVED"\n', "TRUE"),
    ('"cs208/one" = "HOLDS PROVED"\n"cs208/one" = "REFUTED PROVED"\n', "overwrite"),
])
def test_an_expectation_that_is_wrong_in_its_file_is_noticed(
    text: str, complaint: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "expected").mkdir()
    (tmp_path / "expected" / "cs208.toml").write_text(text)
    monkeypatch.setattr(module.resources, "files", lambda package: tmp_path)
    with pytest.raises((OracleError, ValueError), match=complaint):
        read()
