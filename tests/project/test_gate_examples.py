"""The examples of accountants behind a pipe, in three languages, judged by the real gate."""

from __future__ import annotations

import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.project.consoles import ROOT, run

FOLDER = ROOT / "examples" / "gate"
LANGUAGES = {"target.py": sys.executable, "target.cpp": shutil.which("g++"), "target.js": shutil.which("node")}


@pytest.fixture(params=LANGUAGES)
def example(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    """A copy of an example; skipped where its language is not installed."""
    if LANGUAGES[request.param] is None:
        pytest.skip(f"no compiler or interpreter for {request.param} is installed")
    return Path(shutil.copy(FOLDER / request.param, tmp_path))


def judge(example: Path, *options: str) -> subprocess.CompletedProcess[str]:
    """Run the gate on an example."""
    program = LANGUAGES[example.name]
    assert program is not None
    words = [program, str(example)]
    if example.suffix == ".cpp":
        built = example.with_suffix("")
        subprocess.run([program, "-O2", "-o", str(built), str(example)], check=True, timeout=120)
        words = [str(built)]
    return run(ROOT, "-m", "reports.cli", "gate", "--cmd", shlex.join(words), "--bound", "laplace.delta", *options)


def test_the_gate_passes_the_example(example: Path) -> None:
    done = judge(example, "--search", "50")
    assert done.returncode == 0, done.stdout + done.stderr
    assert "TIGHT" in done.stdout


def test_the_gate_fails_the_example_with_a_bug(example: Path) -> None:
    text = example.read_text()
    assert text.count("-gap / 2)") == 1
    example.write_text(text.replace("-gap / 2)", "-gap / 2.0001)"))
    done = judge(example, "--search", "0")
    assert done.returncode == 1, done.stdout + done.stderr
    assert "UNSOUND" in done.stdout


@pytest.mark.parametrize("name", LANGUAGES)
def test_the_examples_are_short_and_say_how_they_are_run(name: str) -> None:
    text = (FOLDER / name).read_text()
    assert "dp-oracle gate --cmd" in text
    assert "--bound laplace.delta" in text
    assert text.count("\n") <= 36
