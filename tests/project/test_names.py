"""One name, one meaning: no two classes share a name, nor two modules of the packages that are no namesakes.

And one idea, one place: no two functions on one side are the same but for their names. A checker repeats a formula on
purpose, without calling what it checks, so that packages, theorems and tests are looked at apart; small functions may
be alike, and `duplicates` finds what is alike without being the same.

A module may be the namesake of another where its folder says what sets it apart: a document's claims on a topic, the
ranges of the gate for a topic, bugs planted in a topic, and the commands of a package.
"""

from __future__ import annotations

import ast
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from functools import cache
from pathlib import PurePosixPath

from tests.project.consoles import ROOT

PACKAGES = ("oracle", "empirical", "theorems", "reports")
BESIDE = ("tests", "benchmarks")
SHARED_CLASSES: set[str] = set()  # may only shrink
DOCUMENTS = ("background", "relu_approx", "sbcd", "nonconvex_nn", "glmtron", "cs208")
SMALL = 150  # letters: a line or two
BY_ITSELF = PurePosixPath("empirical/gate/adapters")  # each says on its own what a user of a library calls
TOPICAL = ("empirical/gate/ranges", "empirical/mutants", *(f"theorems/{name}" for name in DOCUMENTS))


@cache
def everything() -> dict[PurePosixPath, str]:
    """The text of every module, those of tests and benchmarks too."""
    files = (path for folder in (*PACKAGES, *BESIDE) for path in (ROOT / folder).rglob("*.py"))
    return {PurePosixPath(path.relative_to(ROOT).as_posix()): path.read_text(encoding="utf-8") for path in files}


def sources() -> dict[PurePosixPath, str]:
    """The text of every module of the four packages."""
    return {path: text for path, text in everything().items() if path.parts[0] in PACKAGES}


def side(path: PurePosixPath) -> str:
    """Who must not repeat whom."""
    return path.parts[0] if path.parts[0] in ("tests", "benchmarks", "theorems") else "packages"


@cache
def shared() -> tuple[dict[str, list[str]], list[list[str]]]:
    """The classes that share a name, and the functions that stand twice."""
    return shared_in(everything())


def shared_in(modules: Mapping[PurePosixPath, str]) -> tuple[dict[str, list[str]], list[list[str]]]:
    """The places of every name that more than one class has, and of every body that more than one function has."""
    classes: dict[str, list[str]] = defaultdict(list)
    bodies: dict[tuple[str, str], list[str]] = defaultdict(list)
    for path, text in modules.items():
        lines = text.splitlines()
        for node in statements(ast.parse(text)):
            place = f"{path}:{node.lineno}"
            if isinstance(node, ast.ClassDef):
                classes[node.name].append(place)
            elif isinstance(node, ast.FunctionDef) and not path.is_relative_to(BY_ITSELF):
                first = node.body[bool(ast.get_docstring(node, clean=False))] if len(node.body) > 1 else node.body[0]
                body = "".join("".join(lines[first.lineno - 1 : node.end_lineno]).split())
                if len(body) > SMALL:
                    bodies[side(path), body].append(f"{place} {node.name}")
    return (
        {name: found for name, found in classes.items() if len(found) > 1},
        [found for found in bodies.values() if len(found) > 1],
    )


def statements(tree: ast.AST) -> Iterator[ast.stmt]:
    """All statements below a node: not what they say, which is most of the tree."""
    for part in ("body", "orelse", "finalbody", "handlers"):
        for node in getattr(tree, part, ()):
            if isinstance(node, ast.stmt):
                yield node
            yield from statements(node)


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
    assert {name: found for name, found in shared()[0].items() if name not in SHARED_CLASSES} == {}


def test_no_function_stands_twice() -> None:
    assert shared()[1] == []


def test_the_list_of_shared_class_names_only_shrinks() -> None:
    assert set(shared()[0]) >= SHARED_CLASSES, "a name has one class now: take it off the list"


def test_no_two_modules_share_a_name() -> None:
    assert shared_modules(sources()) == {}


def test_the_folders_of_namesakes_exist() -> None:
    assert [folder for folder in TOPICAL if not (ROOT / folder).is_dir()] == []


def test_a_second_class_of_a_name_is_seen() -> None:
    one, other = PurePosixPath("oracle/a.py"), PurePosixPath("theorems/b.py")
    found = shared_in({one: "class Plan: ...", other: "def f():\n    class Plan: ..."})
    assert found == ({"Plan": ["oracle/a.py:1", "theorems/b.py:2"]}, [])
    assert shared_in({one: "class Plan: ...", other: "class Audit: ..."}) == ({}, [])


def test_a_function_that_stands_twice_is_seen() -> None:
    body = "    return " + " + ".join(f"sorted(a, key=b)[{place}]" for place in range(9)) + "\n"
    one, other = f'def f(a, b):\n    """What it does."""\n{body}', f"if True:\n  def g(a, b):\n{body}"
    files = [PurePosixPath(name) for name in ("oracle/a.py", "empirical/b.py", "theorems/c.py", "tests/d.py")]
    assert shared_in({files[0]: one, files[1]: other})[1] == [["oracle/a.py:1 f", "empirical/b.py:2 g"]]
    assert shared_in({files[0]: one, files[2]: other, files[3]: other}) == ({}, [])
    assert shared_in({files[0]: "def f(a): return a", files[1]: "def g(a): return a"}) == ({}, [])


def test_a_second_module_of_a_name_is_seen() -> None:
    home = PurePosixPath("oracle/bounds/tuning.py")
    for path in ("oracle/algorithms/tuning.py", "theorems/tuning.py", "empirical/gate/tuning.py"):
        assert shared_modules([home, PurePosixPath(path)]) == {"tuning": [str(home), path]}
    for path in ("theorems/relu_approx/tuning.py", "empirical/gate/ranges/tuning.py", "oracle/tuning/__init__.py"):
        assert shared_modules([home, PurePosixPath(path)]) == {}
    assert shared_modules(map(PurePosixPath, ("oracle/cli.py", "reports/cli.py"))) == {}
    assert "cli" in shared_modules(map(PurePosixPath, ("oracle/core/cli.py", "empirical/gate/cli.py")))
