"""What is wrong with a claim's flips, in words: the meta-test runs it on every claim and on planted ones."""

from __future__ import annotations

from theorems.claim import Claim, Expectation, judge
from theorems.verdict import Evidence


def lacking(item: Claim, expected: Expectation) -> str:
    """Why the claim's flips, as declared, could not show that its checker looks at what it is given; empty if fine."""
    if item.check is None or expected.evidence is Evidence.CITED:  # ambiguous words: their readings have flips
        return ""
    if all(flip.verdict is expected.verdict for flip in item.flips):
        return f"{item.id} has no flip that must come out otherwise than {expected.verdict.value}"
    return ""


def misjudged(item: Claim, index: int) -> str:
    """How a flip came out otherwise than it must; empty if it did not."""
    flip = item.flips[index]
    finding = judge(item, flip.says)
    if finding.verdict is flip.verdict:
        return ""
    return f"{item.id}, {flip.what}: {finding.verdict.value} instead of {flip.verdict.value} ({finding.summary})"
