"""ARCHITECTURE.md is true: it names every folder with code, only what exists, and the layers that are enforced."""

from __future__ import annotations

import ast
import re
import tomllib
from collections import Counter
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import pytest

from tests.project.consoles import ROOT, blocks
from tests.project.nox_sessions import sessions_named

PAGE = (ROOT / "ARCHITECTURE.md").read_text(encoding="utf-8")
ROOMS = ("oracle", "empirical", "theorems", "reports")
CONTRACTS = {"Parameter", "Enclosure", "Bound", "Algorithm", "Guarantee", "Claim", "Audit", "Study"}
ADDED = {"claim", "bound", "algorithm", "planted bug", "pair", "adapter", "study"}
_FOLDER = re.compile(r"(\w+)/(?=[\s,;:.)]|$)")


def folders_of(tree: str) -> set[str]:
    """The folders that a drawn tree names: rooms at the margin, their folders two further in, the rest below those."""
    named: set[str] = set()
    room, heads = "", [""]
    for line in tree.splitlines():
        found = _FOLDER.findall(line)
        if not line.startswith(" "):
            room = found[0]
            heads, inner = [room], found[1:]
        elif not line.startswith("   "):
            count = len(re.findall(r"\w+/", re.split(r"\s{2,}", line.strip())[0]))
            heads, inner = [f"{room}/{name}" for name in found[:count]], found[count:]
        else:
            inner = found
        assert len(heads) == 1 or not inner, f"{line!r}: which of {heads} holds {inner}?"
        named |= {*heads, *(f"{heads[0]}/{name}" for name in inner)}
    return named


def folders_with_code() -> set[str]:
    """The folders of the four packages that hold Python files."""
    return {str(path.parent.relative_to(ROOT)) for room in ROOMS for path in (ROOT / room).rglob("*.py")}


def untold(named: set[str], there: set[str]) -> set[str]:
    """The folders that are not named; a folder whose line names none of its sub-folders speaks for them all."""
    speaking = {name for name in named if name not in ROOMS and not any(str(Path(n).parent) == name for n in named)}
    return {folder for folder in there - named if not any(str(parent) in speaking for parent in Path(folder).parents)}


def chain(contract: Mapping[str, Any]) -> str:
    """The layers of a contract of import-linter, highest first, after the package in which all of them are."""
    inside, text = contract.get("containers", []), " -> ".join(contract["layers"])
    parents = {name.rpartition(".")[0] for name in re.findall(r"[\w.]+", text)}
    if not inside and parents != {""}:
        assert len(parents) == 1, f"{text} is in {parents}"
        inside, text = [*parents], text.replace(f"{min(parents)}.", "")
    return "".join(f"{package}: " for package in inside) + text


def test_the_page_names_every_folder_with_code() -> None:
    assert untold(folders_of(blocks("ARCHITECTURE.md", "text")[0]), folders_with_code()) == set()


def crowded(paths: Iterable[Path]) -> dict[str, int]:
    """The folders with more than twenty of these files, and how many they have."""
    counts = Counter(path.parent for path in paths)
    return {str(folder): count for folder, count in counts.items() if count > 20}


def test_no_folder_is_crowded() -> None:
    rooms = (*ROOMS, "tests", "benchmarks")
    assert crowded(path.relative_to(ROOT) for room in rooms for path in (ROOT / room).rglob("*.py")) == {}
    assert crowded(Path(f"oracle/core/{number}.py") for number in range(21)) == {"oracle/core": 21}


def test_every_folder_that_the_page_draws_exists() -> None:
    named = folders_of(blocks("ARCHITECTURE.md", "text")[0])
    assert set(ROOMS) <= named
    assert {folder for folder in named if not (ROOT / folder).is_dir()} == set()


def test_every_path_in_the_text_exists() -> None:
    paths = re.findall(r"(?:`|\]\()([\w./-]+(?:/|\.\w+))[`)]", PAGE)
    assert len(paths) > 10
    assert [path for path in paths if not (ROOT / path).exists()] == []
    assert [path for path in paths if path.endswith("/") and not (ROOT / path).is_dir()] == []


def test_the_layers_are_those_that_are_enforced() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    contracts = [item for item in project["tool"]["importlinter"]["contracts"] if item["type"] == "layers"]
    told = blocks("ARCHITECTURE.md", "text")[1].splitlines()
    assert sorted(told) == sorted(map(chain, contracts))


@pytest.mark.parametrize(("contract", "told"), [
    ({"layers": ["reports", "oracle"]}, "reports -> oracle"),
    ({"containers": ["oracle"], "layers": ["cli", "bounds | algorithms"]}, "oracle: cli -> bounds | algorithms"),
    ({"layers": ["theorems.one | theorems.two", "theorems.claim"]}, "theorems: one | two -> claim"),
])
def test_a_contract_is_told_in_one_line(contract: Mapping[str, Any], told: str) -> None:
    assert chain(contract) == told


def test_each_contract_is_a_class_of_its_module() -> None:
    told = dict(re.findall(r"\*\*(\w+)\*\*\s+\(`([\w/.]+)`\)", PAGE))
    assert set(told) == CONTRACTS
    for name, path in told.items():
        tree = ast.parse((ROOT / path).read_text(encoding="utf-8"))
        assert name in {node.name for node in tree.body if isinstance(node, ast.ClassDef)}, f"{path} has no {name}"


def test_the_page_says_where_everything_is_added() -> None:
    assert set(re.findall(r"^\| ([a-z ]+) \| .*`\w+/", PAGE, re.MULTILINE)) == ADDED


def test_the_page_tells_the_tiers() -> None:
    assert {"quick", "tests", "thorough"} <= sessions_named(PAGE)


def test_the_page_is_one_screen() -> None:
    assert len(PAGE.splitlines()) <= 75
    assert max(map(len, PAGE.splitlines())) <= 100


def makers_of_processes(text: str) -> set[str]:
    """What a module imports, anywhere in it, that starts worker processes by another way than our pool."""
    found = set()
    for node in ast.walk(ast.parse(text)) if re.search("multiprocessing|futures|joblib", text) else ():
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and not node.level:
            found |= {f"{node.module}.{alias.name}" for alias in node.names}
    pools = ("concurrent.futures.ProcessPoolExecutor", "concurrent.futures.process")
    return {name for name in found if name.split(".")[0] in ("multiprocessing", "joblib") or name.startswith(pools)}


def test_there_is_one_pool() -> None:
    files = [path for room in (*ROOMS, "benchmarks") for path in (ROOT / room).rglob("*.py")]
    others = {str(path.relative_to(ROOT)): makers_of_processes(path.read_text(encoding="utf-8")) for path in files}
    assert {path: names for path, names in others.items() if names and not path.startswith("oracle/running/")} == {}
    assert others["oracle/running/pool.py"]
    for text in (
        "from concurrent.futures import ProcessPoolExecutor", "def f():\n    import multiprocessing.pool",
        "from multiprocessing import Pool",
    ):
        assert makers_of_processes(text)
    assert not makers_of_processes("from concurrent.futures import ThreadPoolExecutor\nfrom .multiprocessing import x")


def test_a_tree_is_read_as_it_is_drawn() -> None:
    tree = "\n".join((
        "oracle/      what is true", "  core/      numbers", "  bounds/    by topic: gaussian/ laplace/,",
        "             renyi/", "theorems/    claims", "  one/ two/  documents", "reports/     pages (templates/)",
    ))
    named = folders_of(tree)
    assert named == {
        "oracle", "oracle/core", "oracle/bounds", "oracle/bounds/gaussian", "oracle/bounds/laplace",
        "oracle/bounds/renyi", "theorems", "theorems/one", "theorems/two", "reports", "reports/templates",
    }
    covered = {"oracle/core/deep", "theorems/one/claims/deep", "oracle/bounds"}
    assert untold(named, covered | {"oracle/bounds/new", "theorems/three"}) == {"oracle/bounds/new", "theorems/three"}
