"""What a terminal of 80 columns shows: nothing runs over its edge but a word that is longer, and no name is cut."""

from __future__ import annotations

import io

import pytest
from rich.console import Console

from oracle.core.registry import algorithms, bounds
from oracle.running import console
from oracle.running.console import print_line, print_table
from tests.commands import output

COLUMNS = 80


@pytest.fixture
def screen(monkeypatch: pytest.MonkeyPatch) -> io.StringIO:
    """What such a terminal shows."""
    shown = io.StringIO()
    wide = Console(file=shown, width=COLUMNS, force_terminal=True, color_system=None, highlight=False)
    monkeypatch.setattr(console, "terminal", lambda: wide)
    return shown


def too_long(text: str) -> list[str]:
    """The lines that run over the edge, though each of their words would have had room."""
    return [line for line in text.splitlines() if len(line) > COLUMNS and len(line.split()) > 2]


@pytest.mark.parametrize(("command", "names"), [("bounds", bounds), ("algorithms", algorithms)])
def test_a_list_fits_and_cuts_no_name(screen: io.StringIO, command: str, names: object) -> None:
    assert callable(names)
    output(command)
    shown = screen.getvalue()
    assert too_long(shown) == []
    assert "…" not in shown
    assert set(names()) <= set(shown.split())


def test_the_page_of_a_claim_is_folded_below_its_text(screen: io.StringIO) -> None:
    output("check", "relu-approx/lem-3.2")
    assert too_long(screen.getvalue()) == []
    assert "\n            " in screen.getvalue()


def test_a_table_that_has_room_is_a_table(screen: io.StringIO) -> None:
    print_table(("name", "number"), [("a", "1"), ("b" * 60, "2")])
    assert screen.getvalue().splitlines()[0].split() == ["name", "number"]
    print_table(("name", "number"), [("c" * 60, "3" * 30)])
    assert screen.getvalue().splitlines()[-2:] == ["c" * 60, f"  number  {'3' * 30}"]


def test_a_pipe_gets_whole_lines_and_no_terminal_is_obeyed(capsys: pytest.CaptureFixture[str]) -> None:
    print_line("lead  ", "word " * 100 + "\x1b[31m\u202e")
    told = capsys.readouterr().out
    assert len(told.splitlines()) == 1
    assert told.startswith("lead  word word")
    assert not set(told) & set("\x1b\u202e")
