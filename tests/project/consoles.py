"""Console blocks of a Markdown page: the command after the prompt, and lines that its output must start with."""

from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Protocol

from tests.waiting import PATIENCE

ROOT = Path(__file__).resolve().parents[2]
_BLOCK = re.compile(r"^```(\w+)\n(.*?)^```$", re.MULTILINE | re.DOTALL)


class Shown(Protocol):
    """What a command leaves, in this process or in another."""

    returncode: int
    stdout: str
    stderr: str


def blocks(page: str, language: str) -> list[str]:
    """The fenced blocks of a language on a page of the project."""
    return [text for name, text in _BLOCK.findall((ROOT / page).read_text(encoding="utf-8")) if name == language]


def run(folder: Path, *words: str) -> subprocess.CompletedProcess[str]:
    """Run Python in a folder, which is first on its path."""
    return subprocess.run(
        [sys.executable, *words], cwd=folder, capture_output=True, text=True, check=False, timeout=PATIENCE
    )


def prompt(block: str) -> str:
    """The command of a block, as a name for it."""
    return block.split("\n")[0].removeprefix("$ ")


def in_a_process(folder: Path) -> Callable[..., Shown]:
    """The command as a process of its own, in a folder whose rooms are the ones that run."""
    return lambda *words: run(folder, "-m", "reports.cli", *words)


def check_console(command: Callable[..., Shown], block: str) -> None:
    """Require the command of a block to succeed and to print the lines that follow it (white space folded).

    `; echo $?` after the command shows the exit code, which the last line then says.
    """
    _, *expected = block.rstrip("\n").split("\n")
    code = int(expected.pop()) if prompt(block).endswith("; echo $?") else 0
    words = prompt(block).removeprefix("dp-oracle ").removesuffix("; echo $?").split()
    done = command(*words)
    assert done.returncode == code, done.stderr
    printed = [" ".join(line.split()) for line in done.stdout.split("\n")]
    for line in expected:
        wanted = " ".join(line.split())
        assert any(text.startswith(wanted) for text in printed), f"{wanted!r} not in\n{done.stdout}"
