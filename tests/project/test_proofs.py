"""No step of a check is an assertion, which `python -O` would leave out."""

from __future__ import annotations

import ast
import json
import subprocess
import sys
from pathlib import Path

import pytest

from tests.waiting import PATIENCE

ROOT = Path(__file__).parents[2]
MODULES = sorted((ROOT / "theorems").rglob("*.py"))


def test_no_check_leans_on_an_assertion() -> None:
    found = {
        f"{path.relative_to(ROOT)}:{node.lineno}" for path in MODULES
        if "assert" in (text := path.read_text(encoding="utf-8"))
        for node in ast.walk(ast.parse(text)) if isinstance(node, ast.Assert)
    }
    assert found == set()


@pytest.mark.thorough  # without compiled files of the libraries it takes a quarter of a minute
def test_a_check_finds_the_same_without_assertions(tmp_path: Path) -> None:
    found = []
    for options in ((), ("-O",)):
        file = tmp_path / f"found{len(options)}.json"
        words = [sys.executable, *options, "-m", "reports.cli", "check", "sbcd/prox-l1", "--json", str(file)]
        subprocess.run(words, check=True, cwd=ROOT, capture_output=True, timeout=PATIENCE)
        found.append(json.loads(file.read_text()))
    assert found[0] == found[1]
