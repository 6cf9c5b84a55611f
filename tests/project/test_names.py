"""One name, one meaning: no two classes of the four packages share a name, nor two modules that are no namesakes.

A module may be the namesake of another where its folder says what sets it apart: a document's claims on a topic, the
ranges of the gate for a topic, bugs planted in a topic, and the commands of a package.
"""

from __future__ import annotations

import ast
from collections import defaultdict
from collections.abc import Iterable
from functools import cache
from pathlib import PurePosixPath

from tests.project.consoles import ROOT

PACKAGES = ("oracle", "empirical", "theorems", "reports")
SHARED_CLASSES: set[str] = set()  # may only shrink
DOCUMENTS = ("background", "relu_approx", "sbcd", "nonconvex_nn", "glmtron", "cs208")
TOPICAL = ("empirical/gate/ranges", "empirical/mutants", *(f"theorems/{name}" for name in DOCUMENTS))


def sources() -> dict[PurePosixPath, str]:
    """The text of every module of the four packages."""
    files = (path for package in PACKAGES for path in (ROOT / package).rglob("*.py"))
    return {PurePosixPath(path.relative_to(ROOT).as_posix()): path.read_text(encoding="utf-8") for path in files}


@cache
def shared() -> dict[str, list[str]]:
    """The classes of the four packages that share a name."""
    return shared_classes(sources())


def shared_classes(modules: dict[PurePosixPath, str]) -> dict[str, list[str]]:
    """The places of every name that more than one class has."""
    places: dict[str, list[str]] = defaultdict(list)
    for path, text in modules.items():
        for node in ast.walk(ast.parse(text)):
            if isinstance(node, ast.ClassDef):
                places[node.name].append(f"{path}:{node.lineno}")
    return {name: found for name, found in places.items() if len(found) > 1}


def shared_modules(paths: Iterable[PurePosixPath]) -> dict[str, list[str]]:
    """The places of every name that more than one module has whose folder does not set it apart."""
    places: dict[str, list[str]] = defaultdict(list)
    for path in paths:
        topical = any(path.is_relative_to(folder) for folder in TOPICAL)
        commands = path.name == "cli.py" and len(path.parts) == 2
        if path.name != "__init__.py" and not topical and not commands:
            places[path.stem].append(str(path))
    return {name: found for name, found in places.items() if len(found) > 1}


def test_no_two_classes_share_a_name() -> None:
    assert {name: found for name, found in shared().items() if name not in SHARED_CLASSES} == {}


def test_the_list_of_shared_class_names_only_shrinks() -> None:
    assert set(shared()) >= SHARED_CLASSES, "a name has one class now: take it off the list"


def test_no_two_modules_share_a_name() -> None:
    assert shared_modules(sources()) == {}


def test_the_folders_of_namesakes_exist() -> None:
    assert [folder for folder in TOPICAL if not (ROOT / folder).is_dir()] == []


def test_a_second_class_of_a_name_is_seen() -> None:
    one, other = PurePosixPath("oracle/a.py"), PurePosixPath("theorems/b.py")
    found = shared_classes({one: "class Plan: ...", other: "def f():\n    class Plan: ..."})
    assert found == {"Plan": ["oracle/a.py:1", "theorems/b.py:2"]}
    assert shared_classes({one: "class Plan: ...", other: "class Audit: ..."}) == {}


def test_a_second_module_of_a_name_is_seen() -> None:
    home = PurePosixPath("oracle/bounds/tuning.py")
    for path in ("oracle/algorithms/tuning.py", "theorems/tuning.py", "empirical/gate/tuning.py"):
        assert shared_modules([home, PurePosixPath(path)]) == {"tuning": [str(home), path]}
    for path in ("theorems/relu_approx/tuning.py", "empirical/gate/ranges/tuning.py", "oracle/tuning/__init__.py"):
        assert shared_modules([home, PurePosixPath(path)]) == {}
    assert shared_modules(map(PurePosixPath, ("oracle/cli.py", "reports/cli.py"))) == {}
    assert "cli" in shared_modules(map(PurePosixPath, ("oracle/core/cli.py", "empirical/gate/cli.py")))
