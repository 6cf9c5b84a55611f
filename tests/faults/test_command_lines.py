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
def test_a_hundred_and_fifty_command_lines(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    assert failures(tmp_path, range(150)) == []


@pytest.mark.parametrize("line", [
    "plan {}", "audit {}.py:fn --epsilon 1", "audit --cmd {} --epsilon 1", "gate {}.py:fn --bound gdp.delta",
    "gate --config {}", "audit noisy-cgd --config {}", "audit noisy-cgd --pair {}", "holes --json {}", "verify {}",
    "audit noisy-cgd --store {}", "check --all --store {}", "bound {}", "vectors lint --folder {}",
])
def test_a_name_that_no_system_bears_is_told_in_one_line(line: str) -> None:
    words = line.format("x" * 5000).split()
    with no_work():
        done = answer(words)
    assert wrong_with(words, done) is None, done
    assert done.returncode in (1, 2, 130), done


@pytest.mark.thorough
@pytest.mark.parametrize("part", range(10))
def test_a_hundred_thousand_command_lines(part: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    assert failures(tmp_path, range(part * A_CASE, (part + 1) * A_CASE)) == []
