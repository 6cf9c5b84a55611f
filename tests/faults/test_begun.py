"""Whoever starts what may take long hears at once that it has begun, and on what: before the first step that costs."""

from __future__ import annotations

import io
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from unittest import mock

import pytest

import reports.cli
from oracle.running import opening
from oracle.running.console import INTERRUPTED
from tests.commands import captured
from tests.faults.command_lines import grammar, no_work, prepare

ALONE = {(name,) for name in ("algorithms", "bound", "bounds", "claims", "gate", "one-run", "plan", "verify")}
"""Commands that answer soon, or judge one target, whose failure is one line: terminals hear of them, logs do not."""

WORK = {
    "audit": ("--all",),
    "check": ("--all", "--paper sbcd", "--all --variants"),
    "false-claims": ("",),
    "holes": ("", "--bound gdp.delta --json {folder}/new.json"),
    "league": ("--library toy",),
    "mutants": ("",),
    "rates": ("--calibrate 3",),  # studies are announced with their seconds
    "report": ("--out {folder}/page",),
    "vectors make": ("--out {folder}/new",),
    "vectors fill": ("--bound gdp.delta",),
    "vectors describe": ("--bound gdp.delta",),
    "vectors lint": ("",),
}
"""Of every other command, words that come to its work."""


@pytest.fixture(autouse=True)
def no_long_work() -> Iterator[None]:
    """All that takes long is interrupted at once, here with what a log must have heard before."""
    steps = ("empirical.gate.making.make.described", "empirical.gate.making.cells.fill",
             "empirical.gate.searching.holes_cli.by_name", "empirical.gate.league.league_cli.carry_out",
             "reports.rates_command.carry_out")
    peer = mock.Mock(library="toy", bound="gdp.delta")
    with no_work(), mock.patch("empirical.gate.league.league_cli.peers", return_value=[peer]):
        patches = [mock.patch(step, side_effect=KeyboardInterrupt) for step in steps]
        for one in patches:
            one.start()
        yield
        for one in patches:
            one.stop()


def lines() -> list[str]:
    return [f"{name} {words}".strip() for name, known in WORK.items() for words in known]


def test_every_command_is_known_here() -> None:
    assert {tuple(name.split()) for name in WORK} | ALONE == set(grammar())


def begun(line: str, folder: Path, monkeypatch: pytest.MonkeyPatch) -> tuple[str, int, str]:
    """The line as it was given, its exit code, and what standard error heard."""
    (folder / "folder").exists() or prepare(folder)
    words = line.format(folder=folder).split()
    monkeypatch.setattr(sys, "argv", ["dp-oracle", *words])

    def main() -> int:
        with pytest.raises(SystemExit) as ended:
            reports.cli.main()
        assert isinstance(ended.value.code, int)
        return ended.value.code

    done = captured(main)
    return " ".join(words), done.returncode, done.stderr


@pytest.mark.parametrize("line", lines())
def test_a_log_hears_of_it_before_the_work(line: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    given, code, said = begun(line, tmp_path, monkeypatch)
    assert code == INTERRUPTED, said
    assert said.splitlines()[0] == f"{given}: begun", said


@pytest.mark.parametrize("line", [
    "rates no-such-study", "rates --all --workers 0", "false-claims --workers 0", "audit --all --workers 0", "check",
    "holes --bound none", "audit no.such:fn --epsilon 1", "one-run no.such:fn --epsilon 1",
])
def test_what_is_refused_is_still_one_line(line: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    _, code, said = begun(line, tmp_path, monkeypatch)
    assert code == 2
    assert said.startswith("error: ")
    assert said.count("\n") == 1


class Terminal(io.StringIO):
    """A terminal, as far as whoever writes there can tell."""

    def isatty(self) -> bool:
        """It is one."""
        return True

    def seen(self) -> str:
        """What stands in its last line."""
        shown: list[str] = []
        for part in self.getvalue().rpartition("\n")[2].split("\r"):
            shown[: len(part)] = part
        return "".join(shown).rstrip()


def test_a_terminal_hears_of_it_before_anything_is_loaded(monkeypatch: pytest.MonkeyPatch) -> None:
    terminal, seen = Terminal(), []

    def load(*_: Any) -> None:
        seen.append(terminal.seen())
        raise RuntimeError("planted")

    monkeypatch.setattr(sys, "stderr", terminal)
    monkeypatch.setattr(reports.cli, "command_of", load)
    monkeypatch.setattr("oracle.running.console.tempfile.mkstemp", mock.Mock(side_effect=OSError))
    names = [name for known in reports.cli.COMMANDS.values() for name in known]
    for name in names:
        monkeypatch.setattr(sys, "argv", ["dp-oracle", name, "--x", "\x1b[31m"])
        with pytest.raises(SystemExit):
            reports.cli.main()
        assert terminal.seen() == ""
        assert "begun" not in terminal.getvalue().splitlines()[-1].rpartition("\r")[2]
    assert seen == [f"{name} --x \ufffd[31m: begun" for name in names]
    assert "\x1b" not in terminal.getvalue()


@pytest.mark.parametrize("step", ["conflicting_owners", "needed", "command_of", "run"])
def test_an_interruption_is_heard_while_it_is_loaded(step: str, monkeypatch: pytest.MonkeyPatch) -> None:
    terminal = Terminal()
    monkeypatch.setattr(sys, "stderr", terminal)
    monkeypatch.setattr(sys, "argv", ["dp-oracle", "plan", "x" * 50])
    monkeypatch.setattr(reports.cli, step, mock.Mock(side_effect=KeyboardInterrupt))
    with pytest.raises(SystemExit) as ended:
        reports.cli.main()
    assert ended.value.code == INTERRUPTED
    assert terminal.getvalue().endswith("interrupted\n")
    assert terminal.seen() == ""


def test_the_line_is_gone_when_the_command_says_something(monkeypatch: pytest.MonkeyPatch) -> None:
    terminal = Terminal()
    monkeypatch.setattr(sys, "stderr", terminal)
    opening.begin(["plan", "x" * 1000])
    assert terminal.seen().endswith(": begun")
    assert len(terminal.seen()) < 200
    opening.tell()  # the terminal has heard it
    opening.end()
    assert terminal.seen() == ""
    assert "\n" not in terminal.getvalue()
