"""Fingerprints: an edit that can change a result changes its fingerprint, wherever it is; any other edit does not."""

from __future__ import annotations

import shutil
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

import oracle
from empirical.audits.audit_plan import AuditPlan
from empirical.audits.campaigns import DEFAULT
from empirical.audits.plan_code import code_of as code_of_plan
from empirical.gate.adapters import Adapter
from empirical.gate.league import league_run
from oracle.core.errors import OracleError
from oracle.core.registry import algorithms, bounds
from oracle.running.fingerprint import PUBLIC, ROOMS, Closure, Graph, fingerprint, installed
from theorems.claim import claim, judge
from theorems.findings import code_of as code_of_claim
from theorems.findings import places

ROOT = Path(oracle.__file__).parents[1]
AUDIT = DEFAULT["NoisyCGD, canary in the last batch"]
CLAIM = "relu-approx/fig-1-noisycgd"  # its checker looks up bounds by name
ADAPTER = Adapter("OpenDP", "", "gaussian.delta", "empirical.gate.adapters.opendp_maps:none", "numpy")


@pytest.fixture(scope="module")
def unedited(tmp_path_factory: pytest.TempPathFactory) -> Graph:
    """A copy of our packages, to be edited; each test leaves it as it was."""
    root = tmp_path_factory.mktemp("copy")
    for room in ROOMS:
        shutil.copytree(ROOT / room, root / room, ignore=shutil.ignore_patterns("__pycache__"))
    shutil.copy(ROOT / f"{PUBLIC}.py", root)
    return Graph(root)


@pytest.fixture
def edited(unedited: Graph, monkeypatch: pytest.MonkeyPatch) -> Callable[..., bool]:
    """Whether a fingerprint changes when a file of the copy does."""

    def changes(code: Callable[[], str], place: str, edit: Callable[[str], str]) -> bool:
        def now(graph: Graph) -> str:
            monkeypatch.setattr("oracle.running.fingerprint.installed", lambda: graph)
            return code()

        path, before = unedited.root / place, now(unedited)
        text = path.read_text(encoding="utf-8")
        assert edit(text) != text
        path.write_text(edit(text), encoding="utf-8")
        fresh = Graph(unedited.root)
        fresh._sources = {name: one for name, one in unedited._sources.items() if unedited.files[name] != path}
        try:
            return now(fresh) != before
        finally:
            path.write_text(text, encoding="utf-8")

    return changes


def code(text: str) -> str:
    return f"{text}\nADDED = 1\n"


def comment(text: str) -> str:
    return f"# a comment\n\n{text}  # and another\n"


def docstring(text: str) -> str:
    return text.replace('"""', '"""Otherwise said. ', 1)


def of_audit() -> str:
    return code_of_plan(AUDIT)


def of_claim() -> str:
    return code_of_claim(CLAIM)


@pytest.mark.parametrize("place", [
    "oracle/algorithms/hidden_state/noisy_cgd.py",  # the algorithm
    "oracle/algorithms/hidden_state/torch_noisy_cgd.py",  # its sibling, named in a string
    "oracle/algorithms/shared/torch_glm.py",  # what the sibling uses
    "oracle/core/tape/__init__.py", "oracle/core/tape/aes_words.py",  # the tape and its engine
    "oracle/core/enclosure.py",  # imported by what is imported by what the algorithm imports
    "oracle/__init__.py",
    "empirical/pairs/descent.py", "empirical/pairs/laws.py",  # the pair's builder, found in a registry, and a helper
    "empirical/attacks/discriminants.py", "empirical/audits/audit_plan.py", "empirical/audits/shard_training.py",
])
def test_a_related_edit_makes_an_audit_stale_and_a_comment_does_not(edited: Callable[..., bool], place: str) -> None:
    assert edited(of_audit, place, code)
    assert not edited(of_audit, place, comment)
    assert not edited(of_audit, place, docstring)


@pytest.mark.parametrize("place", [
    "oracle/algorithms/descent/dp_gd.py", "oracle/algorithms/descent/torch_dp_gd.py",  # another algorithm
    "oracle/algorithms/hidden_state/noisy_cgd_projected.py", "empirical/pairs/perturbation.py",
    "oracle/bounds/tuning/tuning.py", "oracle/engines/shuffle_pairs.py",
    "oracle/cli.py", "empirical/cli.py", "reports/cli.py", "theorems/cli.py", "oracle/running/console.py",  # commands
    "oracle/running/store.py", "oracle/running/pool.py", "oracle/running/places.py", "empirical/audits/compute.py",
    "empirical/estimators/estimators.py",
    "theorems/relu_approx/experiments/figure_1.py", "empirical/gate/gate_run.py",
])
def test_an_unrelated_edit_costs_an_audit_nothing(edited: Callable[..., bool], place: str) -> None:
    assert not edited(of_audit, place, code)


@pytest.mark.parametrize(("place", "related"), [
    ("theorems/relu_approx/experiments/figure_1.py", True), ("theorems/claim.py", True),
    ("oracle/bounds/hidden_state/hidden_state_epsilon.py", True),  # of a bound that it names
    ("oracle/engines/contour.py", True),  # the engine of the other
    ("theorems/relu_approx/convex_model/smoothness.py", False), ("theorems/cli.py", False), ("theorems/run.py", False),
    ("theorems/findings.py", False), ("oracle/bounds/shuffling/shuffle.py", False),
    ("oracle/algorithms/hidden_state/torch_noisy_cgd.py", False), ("empirical/audits/audit.py", False),
])
def test_a_finding_depends_on_its_checker_and_on_the_bounds_that_it_names(
    edited: Callable[..., bool], place: str, related: bool
) -> None:
    assert edited(of_claim, place, code) is related
    assert not edited(of_claim, place, comment) or place.endswith(".toml")


@pytest.mark.full
@pytest.mark.parametrize(("place", "related"), [
    ("empirical/gate/verdicts.py", True), ("empirical/gate/ranges/__init__.py", True),
    ("empirical/gate/league/bound_rows.py", True), ("empirical/gate/function_worker.py", True),
    ("oracle/bounds/gaussian/gaussian.py", True), ("empirical/gate/adapters/opendp_maps.py", True),
    ("empirical/gate/adapters/opacus_prv.py", False), ("empirical/gate/vectors/gdp.delta.json", False),
    ("oracle/bounds/shuffling/shuffle.py", False), ("empirical/gate/gate_cli.py", False),
    ("empirical/gate/league/league_run.py", False), ("empirical/audits/audit.py", False),
])
def test_a_row_of_the_league_depends_on_who_asks_and_judges(
    edited: Callable[..., bool], place: str, related: bool
) -> None:
    assert edited(lambda: league_run.code_of(ADAPTER), place, code) is related


@pytest.mark.full
def test_a_row_of_the_league_depends_on_its_vectors(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    shutil.copy(ROOT / "empirical/gate/vectors/gaussian.delta.json", tmp_path)
    monkeypatch.setattr("empirical.gate.vector_files.SHIPPED", tmp_path)
    before = league_run.code_of(ADAPTER)
    (tmp_path / "gaussian.delta.json").write_text("[]", encoding="utf-8")
    assert league_run.code_of(ADAPTER) != before


@pytest.mark.full
def test_a_foreign_function_depends_on_what_its_files_import_of_ours(tmp_path: Path) -> None:
    file, beside = tmp_path / "mine.py", tmp_path / "beside.py"
    plan = AuditPlan({"kind": "function", "path": f"{file}:train"}, {"kind": "built", "name": "extremes"})
    seen = []
    for text, helper in (
        ("import numpy\n", ""), ("import beside\n", ""), ("import beside\n", "from oracle import bound\n"),
        ("import beside\n", "from oracle.engines import contour\n"),
        ("import beside\n", "import importlib\nx = importlib.import_module(str())\n"), ("this is no Python", ""),
    ):
        file.write_text(text, encoding="utf-8")
        beside.write_text(helper, encoding="utf-8")
        seen.append(code_of_plan(plan))
    assert len(set(seen)) == len(seen)


@pytest.mark.full
def test_a_foreign_command_depends_on_all_that_it_could_call(edited: Callable[..., bool]) -> None:
    plan = AuditPlan({"kind": "command", "command": "prog"}, {"kind": "file", "path": "pair.npz"})
    assert edited(lambda: code_of_plan(plan), "reports/cli.py", code)


@pytest.mark.full
def test_no_checker_runs_code_that_its_fingerprint_does_not_cover() -> None:
    """Whatever the analysis of the sources may miss, a run shows: here are checkers that reach far."""
    graph = Graph(ROOT)
    modules = {str(path): module for module, path in graph.files.items()}
    assert bounds()
    assert algorithms()  # the registries load every module; what is meant is what runs afterwards
    for name in ("relu-approx/fig-1-noisycgd", "sbcd/cor-4.5-case1", "cs208/gaussian-mechanism", "relu-approx/lem-3.2"):
        ran: set[str] = set()

        def note(frame: object, event: str, _: object, ran: set[str] = ran) -> None:
            ran.add(frame.f_code.co_filename)  # type: ignore[attr-defined]

        item, before = claim(name), sys.getprofile()
        sys.setprofile(note)
        try:
            judge(item, item.says)
        finally:
            sys.setprofile(before)
        covered = Closure(graph, places()[name], {}).modules
        assert {modules[file] for file in ran if file in modules} <= covered, name


REGISTRY = (ROOT / "oracle/core/registry.py").read_text(encoding="utf-8")


def tree(root: Path, files: dict[str, str]) -> Graph:
    """A house of a few files; packages get an empty `__init__`."""
    for place, text in files.items():
        path = root / place
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
        for parent in path.relative_to(root).parents:
            if parent.parts and not (root / parent / "__init__.py").exists():
                (root / parent / "__init__.py").write_text("", encoding="utf-8")
    return Graph(root)


HOSTILE = {
    "conditional": "try:\n    import oracle.far\nexcept ImportError:\n    pass\n",
    "in a function": "def f():\n    def g():\n        import oracle.far as x\n        return x\n",
    "of a name": "from oracle.far import VALUE\n",
    "of a submodule": "from oracle import far\n",
    "star of the module": "from oracle.far import *\n",
    "star of the package": "from oracle import *\n",
    "relative": "from . import far\n",
    "relative name": "from .far import VALUE as other\n",
    "two levels up": "from ..oracle import far\n",
    "by a literal": "import importlib\nx = importlib.import_module('oracle.far')\n",
    "by a literal, renamed": "from importlib import import_module as load\ndef f(): return load('oracle.far')\n",
    "by a relative literal": "import importlib\nx = importlib.import_module('.far', __package__)\n",
    "by dunder import": "x = __import__('oracle.far')\n",
    "by a computed name": "import importlib\ndef f(x): return importlib.import_module(x)\n",
    "by a loader that is handed on": "import importlib\nload = importlib.import_module\n",
    "by a library that is handed on": "import importlib\nx = getattr(importlib, 'import_' + 'module')\n",
    "by a chain of attributes": "import oracle\ndef f(): return oracle.far.VALUE\n",
    "by exec": "def f(): exec('import ' + 'oracle.' + 'far')\n",
    "by a string": "TARGET = 'oracle.far'\n",
    "by a string with a function": "TARGET = {'batched': 'oracle.far:VALUE'}\n",
    "by the beginning of a string": "def f(x): return f'oracle.{x}'\n",
    "by a sum of strings": "def f(x): return 'oracle.' + x\n",
    "by a format": "def f(x): return 'oracle.%s' % x\n",
    "by a worker's words": "WORDS = ['python', '-m', 'oracle.far']\n",
    "for types only": "from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    import oracle.far\n",
    "in a class": "class C:\n    def m(self):\n        from oracle.far import VALUE\n        return VALUE\n",
}


@pytest.mark.parametrize("way", HOSTILE)
def test_every_way_to_import_is_seen(way: str, tmp_path: Path) -> None:
    middle = {"oracle/near.py": HOSTILE[way], "oracle/start.py": "from oracle import near\nx = vars(near)\n"}
    seen = []
    for far in ("VALUE = 1\n", "VALUE = 2\n"):
        graph = tree(tmp_path, {**middle, "oracle/far.py": far, "oracle/apart.py": far})
        assert "oracle.far" in Closure(graph, ["oracle.start"], {}).modules
        seen.append(fingerprint("oracle.start", graph=graph))
    assert seen[0] != seen[1]


def test_what_is_not_imported_is_not_taken(tmp_path: Path) -> None:
    words = '"""Read oracle.far."""\nimport oracle.near\nfrom oracle import near\nx = "it is in oracle.far, I think"\n'
    graph = tree(tmp_path, {"oracle/start.py": words, "oracle/near.py": "", "oracle/far.py": ""})
    assert Closure(graph, ["oracle.start"], {}).modules == {"oracle", "oracle.start", "oracle.near"}


def test_a_package_counts_with_its_init_and_a_new_module_is_seen(tmp_path: Path) -> None:
    start = "try:\n    from oracle.a.b import deep, late\nexcept ImportError: ...\n"
    files = {"oracle/a/b/deep.py": "", "oracle/start.py": start}
    first = fingerprint("oracle.start", graph=tree(tmp_path, files))
    second = fingerprint("oracle.start", graph=tree(tmp_path, {**files, "oracle/a/__init__.py": "x = 1\n"}))
    third = fingerprint("oracle.start", graph=tree(tmp_path, {**files, "oracle/a/b/late.py": ""}))
    assert len({first, second, third}) == 3


REGISTERED = {
    "oracle/core/registry.py": REGISTRY, "oracle/bounds/one.py": "x = Bound(name='one')\nfrom oracle import helper\n",
    "oracle/bounds/two.py": "from functools import partial\n_b = partial(Bound, u=1)\nx = _b(name='two')\n",
    "oracle/bounds/odd.py": "def made(n): return Bound(name=f'{n}-odd')\nx = made('very')\n", "oracle/helper.py": "",
}
ALL_BOUNDS = {"oracle.bounds.one", "oracle.bounds.two", "oracle.bounds.odd"}


@pytest.mark.parametrize(("uses", "expected"), [
    ("x = bound('one')", {"oracle.bounds.one"}), ("def f(): return bound('two').at()", {"oracle.bounds.two"}),
    ("x = bounds()['one']", {"oracle.bounds.one"}), ("x = bound('very-odd')", ALL_BOUNDS), ("", set()),
    ("def f(n): return bound(n)", ALL_BOUNDS), ("x = map(bound, ['one'])", ALL_BOUNDS), ("x = bounds()", ALL_BOUNDS),
    ("x = bound(name='one')", ALL_BOUNDS), ("x = discover(Bound, 'oracle.bounds')", ALL_BOUNDS),
])
def test_a_name_in_a_registry_is_told_where_it_can_be(uses: str, expected: set[str], tmp_path: Path) -> None:
    start = f"from oracle.core.registry import Bound, bound, bounds, discover\n{uses}\n"
    graph = tree(tmp_path, {**REGISTERED, "oracle/start.py": start})
    found = Closure(graph, ["oracle.start"], {}).modules
    assert found & ALL_BOUNDS == expected
    assert ("oracle.helper" in found) is ("oracle.bounds.one" in expected)


def test_what_is_told_counts_for_the_module_that_asks(tmp_path: Path) -> None:
    asks = "from oracle.core.registry import bound\ndef f(n): return bound(n)\n"
    graph = tree(tmp_path, {**REGISTERED, "oracle/start.py": asks, "oracle/other.py": asks})
    told = {"oracle.start:Bound": ["two"]}
    assert Closure(graph, ["oracle.start"], told).modules & ALL_BOUNDS == {"oracle.bounds.two"}
    assert Closure(graph, ["oracle.start", "oracle.other"], told).modules >= ALL_BOUNDS


def test_a_function_that_searches_costs_those_who_call_it(tmp_path: Path) -> None:
    graph = tree(tmp_path, {
        **REGISTERED, "oracle/tools.py": "from oracle.core.registry import bounds\n"
        "def plain(): return 1\ndef every(): return list(bounds())\ndef more(): return every()\n",
        "oracle/calls.py": "from oracle import tools\nx = lambda: tools.more()\n",
        "oracle/spares.py": "from oracle.tools import plain\nx = plain()\n",
    })
    assert Closure(graph, ["oracle.calls"], {}).modules >= ALL_BOUNDS
    assert not Closure(graph, ["oracle.spares"], {}).modules & ALL_BOUNDS
    assert "oracle.tools" in Closure(graph, ["oracle.spares"], {}).modules


@pytest.mark.parametrize(("reads", "seen"), [
    ("from pathlib import Path\nHERE = Path(__file__).parent\n", True),
    ("from importlib import resources\ndef f(): return resources.files('oracle.a')\n", True),
    ("from importlib.resources import files\ndef f(package): return files(package)\n", True),
    ("from pathlib import Path\nHERE = Path(__file__).parents[0]\n", True), ("HERE = 1\n", False),
    ("import oracle.a\nHERE = oracle.a.__file__\n", True),
    ("from pathlib import Path\nHERE = Path(__file__).parent  # told: given as data\n", False),
])
def test_data_beside_a_module_counts_where_it_is_read(reads: str, seen: bool, tmp_path: Path) -> None:
    found = []
    for number in ("1", "2"):
        graph = tree(tmp_path, {"oracle/a/start.py": reads, "oracle/a/table.csv": number, "oracle/b/start.py": ""})
        found.append((fingerprint("oracle.a.start", graph=graph), fingerprint("oracle.b.start", graph=graph)))
    assert (found[0][0] != found[1][0]) is seen
    assert found[0][1] == found[1][1]


def test_data_that_is_given_counts_and_must_be_there(tmp_path: Path) -> None:
    graph, file = tree(tmp_path / "house", {"oracle/start.py": ""}), tmp_path / "data"
    file.write_text("1")
    before = fingerprint("oracle.start", data=[file], graph=graph)
    assert before != fingerprint("oracle.start", graph=graph)
    file.write_text("2")
    assert fingerprint("oracle.start", data=[file], graph=graph) != before
    with pytest.raises(OracleError, match="cannot be read"):
        fingerprint("oracle.start", data=[tmp_path / "none"], graph=graph)
    with pytest.raises(OracleError, match=r"module = oracle\.none"):
        fingerprint("oracle.none", graph=graph)


def test_docstrings_count_for_whoever_reads_them(tmp_path: Path) -> None:
    for reads, seen in (("x = 1\n", False), ("import oracle.far\nx = oracle.far.__doc__\n", True)):
        found = set()
        for words in ("one", "two"):
            files = {"oracle/start.py": f"import oracle.far\n{reads}", "oracle/far.py": f'"""{words}"""'}
            graph = tree(tmp_path, files)
            found.add(fingerprint("oracle.start", graph=graph))
        assert (len(found) == 2) is seen


def test_versions_of_imported_libraries_and_of_python_count(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def now(module: str, versions: str = "1", python: str = "3") -> str:
        monkeypatch.setattr("oracle.running.fingerprint._version", lambda name: versions)
        monkeypatch.setattr("platform.python_version", lambda: python)
        files = {"oracle/start.py": "def f():\n    import numpy.linalg\n", "oracle/bare.py": "import json\n"}
        return fingerprint(module, graph=tree(tmp_path, files))

    assert now("oracle.start") != now("oracle.start", versions="2")
    assert now("oracle.bare") == now("oracle.bare", versions="2")
    assert now("oracle.bare") != now("oracle.bare", python="4")


def test_a_foreign_file_that_knows_its_place_depends_on_no_data_of_ours(tmp_path: Path) -> None:
    """What lies beside our packages, as stores and caches do, changes while it is audited."""
    file = tmp_path / "mine.py"
    file.write_text("from pathlib import Path\nHERE = Path(__file__).parent\n", encoding="utf-8")
    assert Closure(installed(), (file,), {}).data == set()
    assert list(installed().data("")) == []
    assert list(installed().data("theorems"))
