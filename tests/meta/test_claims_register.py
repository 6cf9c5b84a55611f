"""Break the register of claims and require that it is noticed: dangling ids and ids given twice."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import pytest

from oracle.core.errors import OracleError
from theorems import claim as module
from theorems.claim import Claim, Expectation, claim, claims, expectations
from theorems.verdict import Evidence, Verdict

ESTABLISHED = Expectation(Verdict.HOLDS, Evidence.PROVED)
registered: Callable[[], dict[str, Claim]] = claims.__wrapped__
read: Callable[[], dict[str, Expectation]] = expectations.__wrapped__


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
