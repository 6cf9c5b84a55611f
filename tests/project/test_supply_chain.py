"""What is installed: the lock beside the ranges, and the bill of materials of a release."""

from __future__ import annotations

import json
import re
import subprocess
import sys
import tomllib
from importlib import metadata
from pathlib import Path

import pytest
import yaml
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from tests.project.consoles import ROOT
from tests.project.nox_sessions import sessions

LOCKS = {"dev": ("dev",), "peers": ("dev", "peers")}
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]


def lock(name: str) -> dict[str, str]:
    head, *lines = (ROOT / "requirements" / f"{name}.txt").read_text(encoding="utf-8").splitlines()
    assert head.startswith("# ")
    assert "nox -s lock" in head
    pairs = [re.fullmatch(r"([a-z0-9._-]+)==([0-9][\w.]*)", line) for line in lines]
    assert all(pairs), lines  # a name and a version: no address, no path, no local build
    assert lines == sorted(lines)
    return {canonicalize_name(found[1]): found[2] for found in pairs if found}


@pytest.mark.parametrize("name", LOCKS)
def test_the_hashes_are_of_the_locked_versions(name: str) -> None:
    lines = (ROOT / "requirements" / "hashed" / f"{name}.txt").read_text(encoding="utf-8").splitlines()
    form = re.compile(r"([a-z0-9._-]+)==(\S+) --hash=sha256:[0-9a-f]{64}")
    found = [form.fullmatch(line) for line in lines if not line.startswith("#")]
    assert all(found), lines  # no address and no path either
    assert {canonicalize_name(one[1]): one[2] for one in found if one} == lock(name)
    assert re.search(r"for \w+ 3\.\d+ on \w+ \w+", lines[0])


def ranges(*extras: str) -> list[Requirement]:
    """The requirements of the project with these extras, and with those that they name in turn."""
    found, left, seen = [Requirement(text) for text in PROJECT["dependencies"]], [*extras], set()
    while left:
        extra = left.pop()
        if extra not in seen:
            seen.add(extra)
            for item in map(Requirement, PROJECT["optional-dependencies"][extra]):
                if item.name == PROJECT["name"]:
                    left += item.extras
                else:
                    found.append(item)
    return found


@pytest.mark.parametrize("name", LOCKS)
def test_the_lock_has_a_version_in_every_range(name: str) -> None:
    locked = lock(name)
    for item in ranges(*LOCKS[name]):
        assert item.specifier.contains(locked[canonicalize_name(item.name)]), item


@pytest.mark.parametrize("name", LOCKS)
def test_the_lock_has_what_the_locked_need(name: str) -> None:
    locked, needed = lock(name), 0
    for one in locked:
        try:
            found = metadata.distribution(one)
        except metadata.PackageNotFoundError:
            continue
        if found.version.partition("+")[0] == locked[one]:
            for item in map(Requirement, found.requires or ()):
                if item.marker is None or item.marker.evaluate({"extra": "", "python_version": "3.11"}):
                    needed += 1
                    assert item.specifier.contains(locked[canonicalize_name(item.name)], prereleases=True), (one, item)
    assert name == "peers" or needed > 50


def test_the_sessions_take_the_lock_when_asked_and_reviews_ask() -> None:
    text = (ROOT / "noxfile.py").read_text(encoding="utf-8")
    assert {"lock", "sbom"} <= set(sessions())
    for line in re.findall(r"session\.install\(.*", text):
        wanted = "*PEERS" if "peers]" in line else "*CONSTRAINTS"
        assert wanted in line or '"pip>=' in line, line
    assert all(f"requirements/{name}.txt" in text for name in LOCKS)
    torch = re.search(r"^torch==(\S+)", (ROOT / "constraints.txt").read_text(encoding="utf-8"), re.MULTILINE)
    assert torch is not None
    assert all(lock(name)["torch"] == torch[1] for name in LOCKS)
    for path in (ROOT / ".github" / "workflows").iterdir():
        for job in yaml.safe_load(path.read_text(encoding="utf-8"))["jobs"].values():
            assert (job.get("env", {}).get("DP_ORACLE_LOCKED") == "1") == (path.stem != "nightly")


def test_the_bill_of_materials_has_all_that_is_needed(tmp_path: Path) -> None:
    for _ in range(2):
        done = subprocess.run(
            [sys.executable, ROOT / ".ci" / "sbom.py", "dp-oracle", tmp_path / "sbom.json"], capture_output=True,
            text=True,
        )
        assert done.returncode == 0, done.stderr
    bill = json.loads((tmp_path / "sbom.json").read_text(encoding="utf-8"))
    assert (bill["bomFormat"], bill["specVersion"], bill["version"]) == ("CycloneDX", "1.5", 1)
    assert bill["metadata"]["component"]["name"] == "dp-oracle"
    parts = {item["name"]: item for item in bill["components"]}
    wanted = {canonicalize_name(Requirement(text).name) for text in PROJECT["dependencies"]}
    assert wanted <= set(parts)
    for name, item in parts.items():
        assert item["purl"] == item["bom-ref"] == f"pkg:pypi/{name}@{metadata.version(name)}"
    refs = {item["bom-ref"] for item in (*bill["components"], bill["metadata"]["component"])}
    assert {item["ref"] for item in bill["dependencies"]} == refs
    assert {one for item in bill["dependencies"] for one in item["dependsOn"]} <= refs
    workflow = (ROOT / ".github" / "workflows" / "release.yml").read_text(encoding="utf-8")
    assert "nox -s lint sbom" in workflow
    assert "out/sbom.json" in workflow
