"""Numbers printed, by the document or by us, against certified values: one checker for all such tables."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from oracle.core.enclosure import Enclosure
from theorems.tools.printed import rounds_to
from theorems.verdict import Finding, instance, refuted, undecided

Entry = tuple[Mapping[str, object], Enclosure, str]
"""Where a number stands, its certified value, and what is claimed of it."""


def all_round(entries: Iterable[Entry], summary: str = "certified to the last digit") -> Finding:
    """Whether every value rounds to the number that is claimed."""
    tried = 0
    for place, value, text in entries:
        tried += 1
        rounds = rounds_to(value, text)
        if rounds is None:
            return undecided(f"{value} is too wide to tell", 1)
        if not rounds:
            return refuted("another number, certified", {**place, "claimed": text, "value": value})
    return instance(summary) if tried else undecided("nothing is claimed", 1)
