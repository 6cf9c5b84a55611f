"""The tiers hold what they promise: each inside the next, something of every room in the quickest, and no clock.

What is in a tier is read from the tests that this very run has collected, so these tests need the whole suite.
"""

from __future__ import annotations

import ast
from functools import cache
from pathlib import Path

import pytest
from hypothesis import settings

from oracle.core import registry
from tests.conftest import COLLECTED, EXAMPLES, FIRST
from tests.tiers import REPRESENTATIVES

ROOT = Path(__file__).parents[2]
MODULES = sorted(
    path for path in (ROOT / "tests").rglob("test_*.py") if path.parent.name != "peers"  # those of `nox -s gate`
)
OTHERS = {".".join(path.relative_to(ROOT).with_suffix("").parts) for path in MODULES}
CLOCKS = {"time", "timeit"}


def expressions() -> dict[str, str]:
    """The markers that each tier asks for, as noxfile.py has them (nox itself is not installed beside the tests)."""
    for node in ast.parse((ROOT / "noxfile.py").read_text(encoding="utf-8")).body:
        if isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == "TIERS":
            table: dict[str, str] = ast.literal_eval(node.value)
            return table
    raise AssertionError("noxfile.py has no TIERS")


Tiers = dict[str, list[pytest.Function]]


@pytest.fixture(name="tiers")
def chosen(request: pytest.FixtureRequest) -> Tiers:
    """The tests of each tier."""
    items = request.config.stash[COLLECTED]
    if {item.path for item in items} < set(MODULES):
        pytest.skip("a part of the suite tells nothing about its tiers")

    def within(item: pytest.Function, expression: str) -> bool:
        marked = {mark.name for mark in item.iter_markers()}
        return bool(eval(expression or "True", {}, {name: name in marked for name in ("full", "thorough")}))

    return {name: [item for item in items if within(item, words)] for name, words in expressions().items()}


def test_each_tier_is_inside_the_next(tiers: Tiers) -> None:
    quick, tests, thorough = (set(tiers[name]) for name in ("quick", "tests", "thorough"))
    assert quick < tests < thorough


def test_every_module_is_in_some_tier_and_every_folder_in_the_quickest(tiers: Tiers) -> None:
    assert {item.path for item in tiers["thorough"]} == set(MODULES)
    assert {item.path.parent for item in tiers["quick"]} == {path.parent for path in MODULES}


def test_quick_asks_every_bound_and_every_algorithm(tiers: Tiers) -> None:
    def asked(module: str, test: str, parameter: str) -> set[str]:
        found = [item for item in tiers["quick"] if (item.path.stem, item.originalname) == (module, test)]
        return {item.callspec.params[parameter].name for item in found}

    assert asked("test_numbers", "test_the_second_opinion_agrees", "bound") == set(registry.bounds())
    assert asked("test_fast", "test_sound_and_tight_on_a_quarter_of_the_spread", "bound") == set(registry.bounds())
    trained = {name for name, item in registry.algorithms().items() if item.can_train}
    assert asked("test_twins", "test_the_twins_agree", "item") == trained


def test_every_tier_has_its_number_of_examples_and_repeats_itself() -> None:
    assert list(EXAMPLES) == list(expressions())
    for name, count in EXAMPLES.items():
        assert settings.get_profile(name).max_examples == count
        assert settings.get_profile(name).derandomize


def test_the_representatives_are_of_every_kind() -> None:
    chosen = [registry.bound(name) for name in REPRESENTATIVES]
    every = registry.bounds().values()
    assert {item.unit for item in chosen} == {item.unit for item in every}
    assert {item.safe for item in chosen} == {item.safe for item in every}
    assert {p.kind for item in chosen for p in item.parameters} == {p.kind for item in every for p in item.parameters}
    assert {p.infinite for item in chosen for p in item.parameters} == {True, False}
    certified = {item.certify.__qualname__.startswith("closed_form.") for item in chosen}
    assert certified == {True, False}, "closed forms, and what is found by search or by a contour"


# --- what test modules import


@cache
def imported(path: Path) -> frozenset[str]:
    """The modules that a file imports, wherever it does so."""
    found = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module:
            found |= {node.module, *(f"{node.module}.{alias.name}" for alias in node.names)}
    return frozenset(found)


def test_no_test_knows_a_clock() -> None:
    """To sleep and to measure time is to depend on how busy the machine is; `tests.waiting` waits for processes."""
    assert [path.stem for path in MODULES if CLOCKS & imported(path)] == []


def test_the_files_that_go_first_exist() -> None:
    assert {ROOT / "tests" / name for name in FIRST} <= set(MODULES)


def test_nobody_is_given_up_early() -> None:
    """How long to wait for another process is said once, in `tests.waiting`: a slow machine must not fail a test."""
    early = [
        f"{path.relative_to(ROOT)}:{node.lineno}"
        for path in sorted((ROOT / "tests").rglob("*.py"))
        if "timeout" in (text := path.read_text(encoding="utf-8"))
        for node in ast.walk(ast.parse(text))
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute)
        for word in node.keywords if word.arg == "timeout" and isinstance(word.value, ast.Constant)
    ]
    assert early == []


def test_no_test_module_imports_another() -> None:
    """What tests share stands in a module of its own; tests/meta calls the very tests that must catch an error."""
    assert [path.stem for path in MODULES if path.parent.name != "meta" and OTHERS & imported(path)] == []
