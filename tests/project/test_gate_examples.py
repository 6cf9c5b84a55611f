"""The examples of accountants behind a pipe, in three languages, judged by the real gate."""

from __future__ import annotations

import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from empirical.gate import gate_run as gate
from empirical.gate import vector_files
from empirical.gate.gate_targets import GateCommand
from empirical.gate.verdicts import GateVerdict
from oracle import bound
from oracle.running.console import WRONG
from tests.commands import command
from tests.project.consoles import ROOT
from tests.waiting import PATIENCE

FOLDER = ROOT / "examples" / "gate"
LANGUAGES = {"target.py": sys.executable, "target.cpp": shutil.which("g++"), "target.js": shutil.which("node")}


@pytest.fixture(params=LANGUAGES)
def example(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    """A copy of an example; skipped where its language is not installed."""
    if LANGUAGES[request.param] is None:
        pytest.skip(f"no compiler or interpreter for {request.param} is installed")
    return Path(shutil.copy(FOLDER / request.param, tmp_path))


def started(example: Path) -> list[str]:
    """The words that start an example, built if need be."""
    program = LANGUAGES[example.name]
    assert program is not None
    if example.suffix != ".cpp":
        return [program, str(example)]
    built = example.with_suffix("")
    subprocess.run([program, "-O2", "-o", str(built), str(example)], check=True, timeout=PATIENCE)
    return [str(built)]


@pytest.mark.full
def test_the_gate_passes_the_example(example: Path) -> None:
    words = ["--cmd", shlex.join(started(example)), "--bound", "laplace.delta", "--search", "50"]
    done = command("gate", *words)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "TIGHT" in done.stdout


@pytest.mark.full
def test_the_gate_fails_the_example_with_a_bug(example: Path) -> None:
    text = example.read_text()
    assert text.count("-gap / 2)") == 1
    example.write_text(text.replace("-gap / 2)", "-gap / 2.0001)"))
    cases = vector_files.load("laplace.delta").cases
    result = gate.run(GateCommand(started(example)), bound("laplace.delta"), cases, search=0)
    assert result.exit_code == WRONG
    assert {outcome.judgement.verdict for outcome in result.failures} == {GateVerdict.UNSOUND}


@pytest.mark.parametrize("name", LANGUAGES)
def test_the_examples_are_short_and_say_how_they_are_run(name: str) -> None:
    text = (FOLDER / name).read_text()
    assert "dp-oracle gate --cmd" in text
    assert "--bound laplace.delta" in text
    assert text.count("\n") <= 36
