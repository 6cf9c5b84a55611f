"""A refutation with steps is as strong as they are, and none if one of them fails."""

from __future__ import annotations

import pytest

from theorems.tools.refutations import refuted_by
from theorems.verdict import Evidence, ProofStep, Verdict, argued, broken_rule, computed


@pytest.mark.parametrize(
    ("steps", "verdict", "evidence"),
    [
        ((computed("one", True),), Verdict.REFUTED, Evidence.PROVED),
        ((computed("one", True), argued("two")), Verdict.REFUTED, Evidence.ARGUED),
        ((computed("one", False), argued("two")), Verdict.UNDECIDED, Evidence.CHECKED_AT_POINTS),
    ],
)
def test_a_refutation_is_as_strong_as_its_steps(
    steps: tuple[ProofStep, ...], verdict: Verdict, evidence: Evidence
) -> None:
    found = refuted_by("against it", {"x": 1}, *steps)
    assert (found.verdict, found.evidence) == (verdict, evidence)
    assert broken_rule(found) == ""
