"""Readings of words that can be taken in more than one way: claims of their own, made of the ambiguous one."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from theorems.claim import Checker, Claim, Whose


def reading(of: Claim, name: str, *, words: str, says: Any, check: Checker, expected: str, **own: Any) -> Claim:
    """One way to read an ambiguous claim: what is not given is that of the claim; false, it has the claim's repair.

    The reading that is the repair is called "repaired".
    """
    inherited: Mapping[str, Any] = {
        "readings": (), "repair": None, "uses": (),
        "repaired_by": f"{of.id}-repaired" if expected.startswith("REFUTED") else None,
    }
    full = f"{of.id}-{'' if name == 'repaired' else 'reading-'}{name}"
    return replace(
        of, id=full, whose=Whose.READING, words=words, says=says, check=check, expected=expected,
        **{**inherited, **own},
    )
