"""No dead code: what stands at the top of a module is used by more than its tests, or the list says what it waits for.

Records (a bound, a claim, a pair) are found by standing there, and commands by their decorator; what is a plain
function, class or constant must be named by its own module, by another, or in a string "module:name".
"""

from __future__ import annotations

import ast
import re
from collections import defaultdict
from collections.abc import Iterator, Mapping

import pytest

from tests.project.consoles import ROOT

PUBLIC, ANY = "dp_oracle", "*"
PACKAGES = ("oracle", "empirical", "theorems", "reports")
FOUND = {"MUTANTS", "ADAPTERS", "serve", "main", "register"}  # by their names, wherever they stand
PLANTING = ("empirical.mutants.", "empirical.gate.ranges")  # for tests/planted too; tables that are gathered
_PLACE = re.compile(r"([\w.]+):(\w+)(?:\.\w+)*")
WAITING = {  # may only shrink
    "empirical.audits.audit_plan:PHASES": "the phases in their order, for whoever goes through them",
    "empirical.gate.making.points:corner_points": "points of tests that the gate's own may become",
    "empirical.gate.making.points:points_of_all_words": "points of tests that the gate's own may become",
    "oracle.core.hypotheses:KINDS": "what kinds of hypotheses there are, for whoever lists them",
    "oracle.algorithms.convex_relu.convex_relu:predict": "the utility of what is released",
    "oracle.algorithms.convex_relu.torch_convex_relu:predict": "the utility of what is released",
    "oracle.algorithms.kernels.multinomial:weights": "the claims on 002, Lemmas 16 and 17",
    "oracle.algorithms.kernels.torch_two_layer_kernel:scores": "the utility of 002, Algorithm 9",
    "oracle.algorithms.kernels.two_layer_kernel:scores": "the utility of 002, Algorithm 9",
    "oracle.algorithms.kernels.two_layer:choose": "002, Algorithm 9 itself",
    "oracle.algorithms.phased.phased_sgd:choose": "002, Algorithm 1 itself",
    "oracle.bounds.hidden_state.hidden_state_inverse:most_epochs": "plans that ask how long one may train",
    "oracle.bounds.hidden_state.hidden_state_inverse:most_steps": "plans that ask how long one may train",
    "oracle.bounds.sampling.poisson_gaussian:most_steps": "plans that ask how long one may train",
    "oracle.bounds.tuning.tuning:tuned_epsilon": "the tuned runs of DP-SGD in the tables of 000",
    "oracle.core.tape:LONGEST_PAIR": "what the tape promises of its normals",
    "oracle.core.tape:SINGLE_ERROR": "what the tape promises of its normals",
    "theorems.graph:RELATIONS": "that no claim leans on itself",
}


def modules() -> dict[str, ast.Module]:
    """The modules of the four packages and the public one, parsed."""
    files = [ROOT / "dp_oracle.py", *(path for package in PACKAGES for path in (ROOT / package).rglob("*.py"))]
    found = {}
    for path in files:
        words = path.relative_to(ROOT).with_suffix("").parts
        found[".".join(words[:-1] if words[-1] == "__init__" else words)] = ast.parse(path.read_text(encoding="utf-8"))
    return found


def used(known: Mapping[str, ast.Module]) -> dict[str, set[str]]:
    """Of each module, what others import from it, take of it or name in a string; ANY is one that nobody imports so."""
    found: dict[str, set[str]] = defaultdict(set)
    for tree in known.values():
        called: dict[str, str] = {}
        nodes = list(ast.walk(tree))
        for node in nodes:
            if isinstance(node, ast.ImportFrom) and node.module:
                found[node.module] |= {item.name for item in node.names}
                called |= {item.asname or item.name: f"{node.module}.{item.name}" for item in node.names}
            elif isinstance(node, ast.Import):
                called |= {item.asname or item.name: item.name for item in node.names}
        for node in nodes:
            if isinstance(node, ast.Attribute):
                found[called.get(_dotted(node.value), ANY)].add(node.attr)
            elif isinstance(node, ast.Constant) and (place := _PLACE.fullmatch(str(node.value))):
                found[place[1]].add(place[2])
    return found


def _dotted(node: ast.expr) -> str:
    """The name a.b.c of an expression that is one."""
    if isinstance(node, ast.Attribute):
        return f"{_dotted(node.value)}.{node.attr}"
    return node.id if isinstance(node, ast.Name) else ""


def declared(tree: ast.Module) -> Iterator[tuple[str, ast.stmt]]:
    """The functions, classes and constants at the top of a module that nobody finds by themselves."""
    for node in tree.body:
        if isinstance(node, ast.FunctionDef | ast.ClassDef) and not node.decorator_list:
            yield node.name, node
        elif isinstance(node, ast.Assign | ast.AnnAssign):
            for target in node.targets if isinstance(node, ast.Assign) else [node.target]:
                record = isinstance(node.value, ast.Call) and not ast.unparse(target).startswith("_")
                if isinstance(target, ast.Name) and not record:
                    yield target.id, node


def unused(known: Mapping[str, ast.Module]) -> set[str]:
    """What no code but its own names, as "module:name"."""
    outside, public = used(known), used({PUBLIC: known[PUBLIC]})[ANY]  # which loads our modules late, by their names
    found = set()
    for module, tree in known.items():
        if module == PUBLIC or module.startswith(PLANTING):
            continue
        inside = {node: set(_mentioned(node)) for node in tree.body}
        for name, node in declared(tree):
            elsewhere = outside[module] | public | FOUND
            elsewhere = elsewhere.union(*(names for other, names in inside.items() if other is not node))
            if name not in elsewhere and not name.startswith("__"):
                found.add(f"{module}:{name}")
    return found


def _mentioned(node: ast.AST) -> Iterator[str]:
    """The names in a statement, and the strings, which may be names."""
    for inner in ast.walk(node):
        if isinstance(inner, ast.Name):
            yield inner.id
        elif isinstance(inner, ast.Constant) and isinstance(inner.value, str):
            yield inner.value


@pytest.mark.full
def test_nothing_is_used_by_tests_alone() -> None:
    left = unused(modules())
    assert sorted(left - WAITING.keys()) == [], "nothing uses these: delete them"
    assert sorted(WAITING.keys() - left) == [], "these are used now, or gone: take them off the list"


def test_what_is_dead_is_found() -> None:
    text = "_LIMIT = 3\nUSED = 4\nOTHER = set()\n_other = set()\ndef idle(): return USED\ndef busy(): pass\n"
    files = {"oracle.a": text, "oracle.b": "from oracle import a\na.busy()\n", PUBLIC: ""}
    known = {name: ast.parse(text) for name, text in files.items()}
    assert unused(known) == {"oracle.a:_LIMIT", "oracle.a:_other", "oracle.a:idle"}
