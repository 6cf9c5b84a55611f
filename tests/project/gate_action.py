"""The GitHub action, run here: its steps as the runner would execute them, with the same variables."""

from __future__ import annotations

import os
import re
import subprocess
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

from tests.waiting import PATIENCE

_INPUT = re.compile(r"\$\{\{ inputs\.([\w-]+) \}\}")


@dataclass(frozen=True)
class StepDone:
    """What a step left: its exit code, what it printed, the summary and the outputs it wrote."""

    code: int
    printed: str
    summary: str
    outputs: str


def action(folder: Path) -> dict[str, Any]:
    """The action of a folder."""
    loaded: dict[str, Any] = yaml.safe_load((folder / "action.yml").read_text(encoding="utf-8"))
    return loaded


def shell_steps(folder: Path) -> list[dict[str, Any]]:
    """The steps that run a script."""
    return [step for step in action(folder)["runs"]["steps"] if "run" in step]


def run_step(
    folder: Path, name: str, inputs: Mapping[str, str], *, workspace: Path, scratch: Path,
    environment: Mapping[str, str],
) -> StepDone:
    """Run one step of the action in a folder, as GitHub does: inputs with their defaults, bash with -eo pipefail."""
    (step,) = [item for item in shell_steps(folder) if item["name"] == name]
    given = {key: value["default"] for key, value in action(folder)["inputs"].items()}
    unknown = set(inputs) - set(given)
    assert not unknown, f"the action has no inputs {unknown}"
    given.update(inputs)

    def filled(text: str) -> str:
        return _INPUT.sub(lambda found: given[found[1]], text)

    summary, outputs = scratch / "summary.md", scratch / "outputs.txt"
    for file in (summary, outputs):
        file.write_text("")
    variables = {
        "GITHUB_ACTION_PATH": str(folder), "GITHUB_STEP_SUMMARY": str(summary), "GITHUB_OUTPUT": str(outputs),
        **{key: filled(value) for key, value in step["env"].items()},
    }
    done = subprocess.run(
        ["bash", "--noprofile", "--norc", "-eo", "pipefail", "-c", step["run"]],
        cwd=workspace / filled(step["working-directory"]), env={**os.environ, **environment, **variables},
        stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False, timeout=PATIENCE,
    )
    return StepDone(done.returncode, done.stdout, summary.read_text(), outputs.read_text())
