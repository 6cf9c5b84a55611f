"""A refutation by an instance that needs an argument: why the instance is against the statement, step by step."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from theorems.verdict import Evidence, Finding, ProofStep, refuted, undecided


def refuted_by(summary: str, witness: Mapping[str, object], *steps: ProofStep) -> Finding:
    """Refuted at the witness by these steps: PROVED only if all are computed; UNDECIDED if a computed one failed."""
    failed = [step.words for step in steps if step.passed is False]
    if failed:
        return undecided(f"this step of the refutation fails: {failed[0]}", 1)
    evidence = Evidence.PROVED if all(step.computed for step in steps) else Evidence.ARGUED
    return replace(refuted(summary, witness), evidence=evidence, steps=steps)
