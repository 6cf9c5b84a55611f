"""What an installation contains: a wheel is built from a copy of the sources, and looked into."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

from tests.project.consoles import ROOT

ROOMS = ("oracle", "empirical", "theorems", "reports")


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> zipfile.ZipFile:
    folder = tmp_path_factory.mktemp("sources")
    for room in ROOMS:
        shutil.copytree(ROOT / room, folder / room, ignore=shutil.ignore_patterns("__pycache__"))
    shutil.copytree(ROOT / ".github", folder / ".github")
    for path in ROOT.iterdir():
        if path.is_file() and path.suffix in (".py", ".md", ".toml", ".yaml", ".cff", "") and path.name != ".git":
            shutil.copy(path, folder)
    code = "from setuptools.build_meta import build_wheel; build_wheel('dist')"
    environment = {key: value for key, value in os.environ.items() if key != "PYTHONPATH"}
    subprocess.run([sys.executable, "-c", code], cwd=folder, check=True, capture_output=True, env=environment)
    (built,) = (folder / "dist").glob("*.whl")
    return zipfile.ZipFile(built)


def data_files(folder: str) -> set[str]:
    return {str(Path(folder) / path.name) for path in (ROOT / folder).iterdir() if path.is_file()}


@pytest.mark.full
def test_a_wheel_has_every_vector_file_and_schema(wheel: zipfile.ZipFile) -> None:
    names = set(wheel.namelist())
    for folder in ("empirical/gate/vectors", "empirical/gate/schemas"):
        assert data_files(folder) <= names
    assert sum(name.startswith("empirical/gate/vectors/") for name in names) > 100


@pytest.mark.full
def test_a_wheel_has_the_other_data_and_no_tests(wheel: zipfile.ZipFile) -> None:
    names = set(wheel.namelist())
    assert data_files("reports/templates") | {"empirical/studies/record.jsonl", "reports/variants.json"} <= names
    assert not any(name.startswith(("tests", "benchmarks")) for name in names)


@pytest.mark.full
def test_a_wheel_has_none_of_the_files_that_are_for_contributors(wheel: zipfile.ZipFile) -> None:
    tops = {name.split("/")[0] for name in wheel.namelist()}
    assert {name for name in tops if not name.endswith(".dist-info")} == {*ROOMS, "dp_oracle.py"}
    # The metadata carry the licence and the README's text, and no other page.
    assert {Path(name).name for name in wheel.namelist() if ".dist-info/" in name} == {
        "METADATA", "WHEEL", "RECORD", "LICENSE", "top_level.txt", "entry_points.txt",
    }


@pytest.mark.full
def test_a_wheel_installs_quickly(wheel: zipfile.ZipFile) -> None:
    assert sum(info.compress_size for info in wheel.infolist()) < 5_000_000
