"""The commands `claims` and `check`, from outside."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from theorems.claim import claims


def command(*words: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run([sys.executable, "-m", "reports.cli", *words], capture_output=True, text=True, check=False)


def test_check_command_writes_json_and_exits_0(tmp_path: Path) -> None:
    file = tmp_path / "deep" / "findings.json"
    done = command("check", "relu-approx/lem-3.2", "relu-approx/lem-3.2-repaired", "--json", str(file))
    assert done.returncode == 0, done.stderr
    assert "REFUTED" in done.stdout
    assert "2 of 2 verdicts as expected" in done.stdout
    rows = json.loads(file.read_text())
    assert [row["id"] for row in rows] == ["relu-approx/lem-3.2", "relu-approx/lem-3.2-repaired"]
    for row in rows:
        assert {"id", "verdict", "expected", "evidence", "witness", "repaired_by"} <= set(row)
    assert rows[0]["repaired_by"] == "relu-approx/lem-3.2-repaired"
    assert rows[0]["witness"]["largest curvature"] == "3"


@pytest.mark.parametrize(
    "words",
    [("check",), ("check", "no/such"), ("check", "--all", "relu-approx/lem-3.2"), ("claims", "--paper", "none"),
     ("check", "relu-approx/lem-3.2", "--json", "/proc/none/x.json")],
)
def test_bad_usage_exits_2_with_one_line(words: tuple[str, ...]) -> None:
    done = command(*words)
    assert done.returncode == 2
    assert done.stderr.startswith("error: ")
    assert done.stderr.count("\n") == 1


def test_claims_command_lists_every_claim() -> None:
    rows = json.loads(command("claims", "--json").stdout)
    assert [row["id"] for row in rows] == list(claims())
    table = command("claims", "--paper", "cs208").stdout
    assert "cs208/gaussian-mechanism" in table
    assert "relu-approx" not in table
