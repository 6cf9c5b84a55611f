"""No command line ends in a traceback, in a code that is no answer, or in silence for long."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.faults.command_lines import Lines, TooLate, answer, no_work, prepare, wrong_with

A_CASE = 10_000


def failures(folder: Path, numbers: range) -> list[str]:
    """Every line of these numbers that is answered wrongly, and how."""
    prepare(folder)
    lines, found = Lines(folder), []
    with no_work():
        for number in numbers:
            words = lines.line(number)
            try:
                done = answer(words)
            except TooLate:
                found.append(f"{number} {words}: no answer in time")
                continue
            wrong = wrong_with(words, done)
            if wrong is not None:
                found.append(f"{number} {words}: {wrong}: {done.stderr[:300]}")
    return found


@pytest.mark.full
def test_three_hundred_command_lines(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    assert failures(tmp_path, range(300)) == []


@pytest.mark.thorough
@pytest.mark.parametrize("part", range(10))
def test_a_hundred_thousand_command_lines(part: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    assert failures(tmp_path, range(part * A_CASE, (part + 1) * A_CASE)) == []
