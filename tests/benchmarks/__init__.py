"""The benchmarks that `nox -s bench` runs."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any


def missed(goals: Sequence[dict[str, Any]]) -> list[str]:
    """The goals that are not met, in words."""
    return [goal["goal"] for goal in goals if not goal["met"]]


def check_missed(goals: Sequence[dict[str, Any]], words: Sequence[str]) -> None:
    """Fail unless the goals that are not met are those with these words, one after the other."""
    found = missed(goals)
    assert len(found) == len(words)
    assert all(word in goal for word, goal in zip(words, found, strict=True))
