"""What people expect where they may carry on the work: CI, commit hooks, citation, templates, the way to disclose."""

from __future__ import annotations

import os
import re
import subprocess
import tomllib
from itertools import product
from pathlib import Path
from typing import Any

import pytest
import typer.main
import yaml
from packaging.specifiers import SpecifierSet

from empirical.mutants.mutant import mutants
from reports.cli import app
from tests.project.consoles import ROOT, blocks
from tests.project.gate_action import action
from tests.project.nox_sessions import sessions, sessions_named
from tests.waiting import PATIENCE

GITHUB = ROOT / ".github"
WORKFLOWS = sorted((GITHUB / "workflows").iterdir())
FORMS = sorted((GITHUB / "ISSUE_TEMPLATE").iterdir())
PAGES = [*FORMS, GITHUB / "pull_request_template.md", ROOT / "SECURITY.md", ROOT / "CITATION.cff"]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
CITATION_FIELDS = {  # of the Citation File Format 1.2.0
    "abstract", "authors", "cff-version", "commit", "contact", "date-released", "doi", "identifiers", "keywords",
    "license", "license-url", "message", "preferred-citation", "references", "repository", "repository-artifact",
    "repository-code", "title", "type", "url", "version",
}
each_workflow = pytest.mark.parametrize("path", WORKFLOWS, ids=lambda path: path.stem)
each_form = pytest.mark.parametrize("path", FORMS, ids=lambda path: path.stem)
each_page = pytest.mark.parametrize("path", PAGES, ids=lambda path: path.name)


def load(path: Path) -> dict[Any, Any]:
    loaded: dict[Any, Any] = yaml.safe_load(path.read_text(encoding="utf-8"))
    return loaded


def jobs(path: Path) -> list[dict[str, Any]]:
    return list(load(path)["jobs"].values())


def runs(path: Path) -> list[str]:
    """The commands of a workflow, once for each cell of its matrix."""
    commands = []
    for job in jobs(path):
        axes = {key: values for key, values in job["strategy"]["matrix"].items() if key != "exclude"}
        for cell in product(*axes.values()):
            for command in (step["run"] for step in job["steps"] if "run" in step):
                for key, value in zip(axes, cell, strict=True):
                    command = command.replace(f"${{{{ matrix.{key} }}}}", value)
                assert "${{" not in command, f"{command!r} takes more than the matrix"
                commands.append(command)
    return commands


def readme_command() -> str:
    (command,) = [text.strip() for text in blocks("README.md", "sh") if "nox -s tests" in text]
    return command


@pytest.mark.parametrize(("name", "event", "wanted"), [
    ("push", "push", {"lint", "quick"}),
    ("pull-request", "pull_request", {"lint", "tests"}),
    ("nightly", "schedule", {"thorough", "audit", "gate"}),
])
def test_a_workflow_runs_the_sessions_of_its_tier(name: str, event: str, wanted: set[str]) -> None:
    path = GITHUB / "workflows" / f"{name}.yml"
    started = load(path)[True]  # YAML reads the key `on` as true
    assert event in ({started} if isinstance(started, str) else started)
    commands = [command if command != ".ci/run" else readme_command() for command in runs(path)]
    assert set().union(*map(sessions_named, commands)) == wanted


def test_every_session_that_is_named_exists() -> None:
    pages = [ROOT / name for name in ("README.md", "CONTRIBUTING.md", "ARCHITECTURE.md", ".pre-commit-config.yaml")]
    named = sessions_named("\n".join(path.read_text(encoding="utf-8") for path in (*pages, *PAGES)))
    named |= set().union(*(sessions_named(command) for path in WORKFLOWS for command in runs(path)))
    assert {"lint", "quick", "tests", "thorough"} <= named
    assert named - set(sessions()) == set()


@each_workflow
def test_a_workflow_may_read_and_nothing_else(path: Path) -> None:
    assert load(path)["permissions"] == {"contents": "read"}
    for job in jobs(path):
        assert "permissions" not in job
        assert 0 < job["timeout-minutes"] <= 360
        (checkout,) = [step for step in job["steps"] if step.get("uses", "").startswith("actions/checkout@")]
        assert checkout["with"] == {"persist-credentials": False}
    assert "secrets." not in path.read_text(encoding="utf-8")


@each_workflow
def test_a_workflow_runs_on_the_pythons_that_the_project_allows(path: Path) -> None:
    allowed = SpecifierSet(PROJECT["requires-python"])
    (lowest,) = [item.version for item in allowed if item.operator == ">="]
    for job in jobs(path):
        versions = job["strategy"]["matrix"]["python"]
        assert lowest in versions
        assert len(versions) >= 2
        assert all(isinstance(version, str) and allowed.contains(version) for version in versions)


def test_actions_are_pinned_by_commit_each_to_one() -> None:
    text = "\n".join(path.read_text(encoding="utf-8") for path in (*WORKFLOWS, ROOT / "action.yml"))
    lines = [line.strip().removeprefix("- ") for line in text.splitlines() if "uses:" in line]
    pinned = [re.fullmatch(r"uses: (actions/[a-z-]+)@([0-9a-f]{40})  # v\d+\.\d+\.\d+(;.*)?", line) for line in lines]
    assert all(pinned), lines
    used = {(found[1], found[2]) for found in pinned if found}
    assert len({name for name, _ in used}) == len(used) >= 3
    steps = [step for path in WORKFLOWS for job in jobs(path) for step in job["steps"]] + action(ROOT)["runs"]["steps"]
    assert {step["uses"] for step in steps if "uses" in step} == {f"{name}@{commit}" for name, commit in used}


def test_pull_requests_run_the_test_command_of_the_readme(tmp_path: Path) -> None:
    assert ".ci/run" in runs(GITHUB / "workflows" / "pull-request.yml")
    fake = tmp_path / "python"
    fake.write_text('#!/bin/sh\necho "python $*"\n', encoding="utf-8")
    fake.chmod(0o755)
    path = f"{tmp_path}{os.pathsep}{os.environ['PATH']}"
    done = subprocess.run(
        [ROOT / ".ci" / "run"], env={**os.environ, "PATH": path}, capture_output=True, text=True, check=True,
        timeout=PATIENCE,
    )
    said, *called = done.stdout.splitlines()
    assert said == f"+ {readme_command()}"
    assert called == readme_command().split(" && ")


def test_the_hooks_run_ruff_and_the_quick_tier_with_what_is_installed() -> None:
    (repository,) = load(ROOT / ".pre-commit-config.yaml")["repos"]
    assert repository["repo"] == "local"
    hooks = {hook["id"]: hook for hook in repository["hooks"]}
    assert set(hooks) == {"ruff", "quick"}
    for hook in hooks.values():
        assert hook["language"] == "system"
        assert "additional_dependencies" not in hook
    assert hooks["ruff"]["entry"].split()[:2] == ["ruff", "check"]
    assert " -R " in hooks["quick"]["entry"]  # the environment as it is: nothing is installed
    assert sessions_named(hooks["quick"]["entry"]) == {"quick"}
    assert "`pre-commit install`" in (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")


def test_the_citation_is_one_and_of_this_version() -> None:
    cited = load(ROOT / "CITATION.cff")
    assert {"authors", "cff-version", "message", "title"} <= set(cited) <= CITATION_FIELDS
    assert (cited["cff-version"], cited["type"]) == ("1.2.0", "software")
    assert cited["authors"] == [{"name": "The dp-oracle authors"}]
    assert {key: cited[key] for key in ("version", "license", "keywords")} == {
        key: PROJECT[key] for key in ("version", "license", "keywords")
    }
    name, subject = cited["title"].split(": ")
    assert (name, subject.lower()) == (PROJECT["name"], PROJECT["description"].lower())


@each_form
def test_an_issue_form_asks_for_what_is_needed(path: Path) -> None:
    form = load(path)
    assert set(form) == {"name", "description", "title", "body"}
    asked = [item for item in form["body"] if item["type"] != "markdown"]
    assert all(item["type"] in ("textarea", "input", "dropdown", "checkboxes") for item in asked)
    for unique in ([item["id"] for item in asked], [item["attributes"]["label"] for item in asked]):
        assert len(set(unique)) == len(unique)
    assert all(len(item["attributes"]["options"]) >= 1 for item in asked if item["type"] in ("dropdown", "checkboxes"))
    assert sum(item.get("validations", {}).get("required", False) for item in asked) >= 3


def test_there_is_a_form_for_each_complaint() -> None:
    assert [load(path)["name"] for path in FORMS] == [
        "A wrong number", "A refusal or a crash", "A library judged unfairly", "A claim judged wrongly",
        "A new claim or bound",
    ]


def test_the_pull_request_template_has_the_rules_of_the_project() -> None:
    page = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8").split("\n## ")[0]
    rules = [" ".join(rule.split()) for rule in re.findall(r"^- (.*(?:\n  .*)*)", page, re.MULTILINE)]
    template = (GITHUB / "pull_request_template.md").read_text(encoding="utf-8")
    assert len(rules) >= 4
    assert [rule for rule in rules if f"- [ ] {rule}\n" not in template] == []
    assert sessions_named(template) == {"lint", "tests"}


@each_page
def test_a_page_names_files_and_commands_that_exist_and_no_address(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    assert re.findall(r"https?://|\b[\w.+-]+@\w+\.\w+", text) == []
    files = re.findall(r"[\w./-]*\w\.(?:md|py|toml)\b", text)
    assert [name for name in files if not (ROOT / name).exists()] == []
    commands = set(re.findall(r"`dp-oracle ([a-z-]+)|: dp-oracle ([a-z-]+)", text))
    assert {one or other for one, other in commands} <= set(typer.main.get_group(app).commands)


def test_the_way_to_disclose_is_private_and_its_classes_are_ours() -> None:
    text = " ".join((ROOT / "SECURITY.md").read_text(encoding="utf-8").split())
    assert text.count("repository's private vulnerability reporting") == 2  # ours, and a library's
    waits = dict(re.findall(r"\| ([A-Z]), [a-z ]+ \| [^|]+ \| ([^|]+) \|", text))
    assert {item.severity for item in mutants().values()} - {"E"} <= set(waits)  # an equivalent one is no defect
    assert [kind for kind, wait in waits.items() if re.fullmatch(r"\d+ days", wait)] == ["C", "T"]
