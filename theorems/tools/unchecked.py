"""Claims about which nothing is computed: what other papers show, experiments that were not run, opinions."""

from __future__ import annotations

from theorems.claim import Claim, Stake, Whose, citing
from theorems.verdict import Verdict


def unchecked_claim(
    paper: str, document: str, name: str, source: str, words: str, quote: str, reason: str, *,
    statement: str = r"\text{no formula}", severity: Stake = Stake.UTILITY, whose: Whose = Whose.PRINTED,
    uses: tuple[str, ...] = (),
) -> Claim:
    """A claim of the document about which nothing is computed; the reason says why, and what would settle it."""
    return Claim(
        f"{paper}/{name}", f"{document}, {source}", statement, words, (), None, citing(Verdict.NOT_CHECKABLE, reason),
        "NOT_CHECKABLE CITED", quote=quote, whose=whose, severity=severity, uses=uses,
    )
