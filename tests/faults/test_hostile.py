"""A target that misbehaves is INVALID or judged rightly: never a wrong verdict, a traceback, or a process left."""

from __future__ import annotations

import ast
import json
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pytest
import typer

import empirical.cli
from oracle.running.console import run
from tests.commands import captured
from tests.faults.hostile import FUNCTIONS, HARMLESS, PROGRAMS, SAMPLE, function, program
from tests.faults.runs import MARK, marked
from tests.waiting import wait_until

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="processes are found by /proc")

APP = typer.Typer()
empirical.cli.register(APP)

WORDS = ("--epsilon", "1", "--delta", "1e-5", "--records", "4", "--dimension", "1", "--canary", "extremes",
         "--budget", "400", "--timeout", "5", "--memory", "500")
RIGHT = {3.0: "VIOLATION", 0.0: "CONSISTENT"}
"""The verdict that is right, of a training with such a leak."""
CODES = {"CONSISTENT": 0, "VIOLATION": 1, "INVALID": 2}


def verdict(folder: Path, monkeypatch: pytest.MonkeyPatch, *words: str) -> str:
    """The verdict of an audit, after all that must hold whatever it is."""
    file = folder / "audit.json"
    monkeypatch.setenv(MARK, str(folder))
    done = captured(lambda: run(APP, ["audit", *words, *WORDS, "--json", str(file)]))
    result = json.loads(file.read_text())
    assert done.returncode == CODES[result["verdict"]], done
    assert "Traceback" not in done.stderr + done.stdout
    assert (result["epsilon_lower"] is None) == (result["verdict"] == "INVALID")
    assert "\n" not in result["reason"]
    wait_until(lambda: not marked(f"{MARK}={folder}"))
    return str(result["verdict"])


def good(name: str, leak: float) -> tuple[str, ...]:
    """The verdicts that may be told of a kind."""
    return (RIGHT[leak],) if name in HARMLESS else (RIGHT[leak], "INVALID")


def cases(known: Iterable[str]) -> list[Any]:
    """All kinds, on either training; those of the sample on every pull request."""
    return [
        pytest.param(name, leak, marks=pytest.mark.full if name in SAMPLE and leak else pytest.mark.thorough)
        for name in known for leak in RIGHT
    ]


def test_there_are_many_kinds() -> None:
    assert len(FUNCTIONS) + len(PROGRAMS) >= 60
    assert not set(FUNCTIONS) & set(PROGRAMS)
    assert {*SAMPLE, *HARMLESS} <= {*FUNCTIONS, *PROGRAMS}
    for leak in RIGHT:  # what is no program at all would be INVALID for no reason of its own
        for trick in FUNCTIONS.values():
            ast.parse(function(trick, leak))
        for kind in PROGRAMS.values():
            ast.parse(program(*kind, leak))


@pytest.mark.parametrize(("name", "leak"), cases(FUNCTIONS))
def test_a_function(name: str, leak: float, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = tmp_path / "target.py"
    file.write_text(function(FUNCTIONS[name], leak))
    assert verdict(tmp_path, monkeypatch, f"{file}:fn") in good(name, leak)


@pytest.mark.parametrize(("name", "leak"), cases(PROGRAMS))
def test_a_program(name: str, leak: float, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = tmp_path / "target.py"
    file.write_text(program(*PROGRAMS[name], leak))
    assert verdict(tmp_path, monkeypatch, "--cmd", f"{sys.executable} {file}") in good(name, leak)


@pytest.mark.full
@pytest.mark.parametrize("leak", RIGHT)
def test_without_a_trick_the_verdict_is_right(leak: float, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "function.py").write_text(function("pass", leak))
    (tmp_path / "program.py").write_text(program("False", "pass", leak))
    assert verdict(tmp_path, monkeypatch, f"{tmp_path}/function.py:fn") == RIGHT[leak]
    assert verdict(tmp_path, monkeypatch, "--cmd", f"{sys.executable} {tmp_path}/program.py") == RIGHT[leak]
