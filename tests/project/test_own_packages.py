"""A user's project that has packages of our names: judged as it is where it can be, otherwise one line names both."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

import numpy as np
import pytest

from oracle.core.rooms import ROOMS
from tests.project.consoles import ROOT
from tests.waiting import PATIENCE

LIBRARY = """
import math
from oracle.secret import MARGIN
import empirical, theorems, reports

assert {empirical.OWN, theorems.OWN, reports.OWN} == {True}

def delta(*, scale, sensitivity, epsilon):
    if not (0 < scale < math.inf and 0 < sensitivity < math.inf and 0 <= epsilon < math.inf):
        raise ValueError(f"bad: {scale}, {sensitivity}, {epsilon}")
    loss = sensitivity / scale
    return 0.0 if epsilon >= loss else -math.expm1((epsilon - loss) / 2) * MARGIN

def train(dataset, seeds):
    import numpy, oracle.late
    assert oracle.late.OWN
    return dataset[0].mean(axis=0) + numpy.random.default_rng(seeds).normal(size=(len(seeds), 4))

def train_to_file(dataset, seed):
    import numpy, tempfile
    path = tempfile.mkdtemp() + "/model.npy"
    numpy.save(path, dataset[0].mean(axis=0) + numpy.random.default_rng(seed).normal(size=4))
    return path
"""
COMMAND = """
import json, sys
from mylib import delta
for line in sys.stdin:
    request = json.loads(line)
    answer = {"id": request["id"]}
    try:
        answer["value"] = delta(**{key: float(value) for key, value in request["input"].items()})
    except ValueError as error:
        answer["refused"] = str(error)
    print(json.dumps(answer), flush=True)
"""
MIXED = """
import oracle.secret
from dp_oracle import bound
def delta(**given):
    return bound("laplace.delta").reference(**given).to_floats()[1]
"""
LATE = """
import oracle.secret
def delta(**given):
    import dp_oracle
    return dp_oracle.bound("laplace.delta").reference(**given).to_floats()[1]
def train(dataset, seeds):
    import dp_oracle
    return [[float(dp_oracle.bound("laplace.delta").unit == "delta")]] * len(seeds)
"""
GATE = ("--bound", "laplace.delta", "--search", "5")
AUDIT = ("--batched", "--epsilon", "3", "--canary", "extremes", "--budget", "400", "--shard", "200")

pytestmark = pytest.mark.full  # real processes in projects of their own


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """A project whose library uses its own packages oracle, empirical, theorems and reports."""
    folder = tmp_path / "project"
    for room in ROOMS:
        (folder / room).mkdir(parents=True)
        (folder / room / "__init__.py").write_text("OWN = True\n")
    (folder / "oracle" / "secret.py").write_text("MARGIN = 1 + 4e-15\n")
    (folder / "oracle" / "late.py").write_text("OWN = True\n")
    (folder / "oracle" / "core.py").write_text("raise RuntimeError('nobody asked for this one')\n")
    (folder / "mylib.py").write_text(LIBRARY)
    (folder / "oracle" / "library.py").write_text(LIBRARY)
    (folder / "mixed.py").write_text(MIXED)
    (folder / "program.py").write_text(COMMAND)
    (tmp_path / "elsewhere").mkdir()
    return folder


def python(folder: Path, *words: str, path: tuple[Path, ...] = (ROOT,)) -> subprocess.CompletedProcess[str]:
    """Run Python in a folder, with a path of its own: `-m` and `-c` put the folder before it, as a script its own."""
    environment: Mapping[str, str] = {**os.environ, "PYTHONPATH": os.pathsep.join(map(str, path))}
    return subprocess.run(
        [sys.executable, *words], cwd=folder, env=environment, capture_output=True, text=True, check=False,
        timeout=PATIENCE,
    )


def dp_oracle(folder: Path, *words: str, path: tuple[Path, ...] = (ROOT,)) -> subprocess.CompletedProcess[str]:
    """The command, started as roughly as possible: the current folder goes before everything."""
    return python(folder, "-m", "dp_oracle", *words, path=path)


def assert_names_both(text: str, project: Path, room: str = "oracle") -> None:
    """One line has both paths and says what to do."""
    (line,) = [line for line in text.splitlines() if "dp-oracle needs its own" in line]
    assert f"its own {room} ({ROOT / room})" in line
    assert f"stands for {project / room} here: rename it, take it off Python's path" in line


@pytest.mark.parametrize("target", ["mylib:delta", "oracle/library.py:delta"])
def test_a_function_is_judged_in_its_project(project: Path, target: str) -> None:
    done = dp_oracle(project, "gate", target, *GATE)
    assert (done.returncode, done.stderr) == (0, ""), done.stdout
    assert "gate: passed" in done.stdout


def test_a_function_is_judged_with_its_project_on_the_path(project: Path) -> None:
    done = dp_oracle(project.parent / "elsewhere", "gate", "oracle.library:delta", *GATE, path=(project, ROOT))
    assert (done.returncode, done.stderr) == (0, ""), done.stdout


def test_a_function_beside_such_packages_is_judged_from_elsewhere(project: Path) -> None:
    done = dp_oracle(project.parent / "elsewhere", "gate", f"{project}/mylib.py:delta", *GATE)
    assert (done.returncode, done.stderr) == (0, ""), done.stdout


def test_a_command_is_judged_in_its_project(project: Path) -> None:
    done = dp_oracle(project, "gate", "--cmd", f"{sys.executable} program.py", *GATE)
    assert (done.returncode, done.stderr) == (0, ""), done.stdout


@pytest.mark.parametrize(("folder", "target"), [
    ("elsewhere", "oracle.library:train"), pytest.param("project", "mylib:train", marks=pytest.mark.thorough),
])
def test_a_training_is_audited_in_two_processes(project: Path, folder: str, target: str) -> None:
    path = (ROOT,) if folder == "project" else (project, ROOT)
    done = dp_oracle(project.parent / folder, "audit", target, *AUDIT, "--workers", "2", path=path)
    assert (done.returncode, done.stderr) == (0, ""), done.stdout
    assert "CONSISTENT" in done.stdout


def test_a_training_that_saves_models_is_audited(project: Path) -> None:
    words = [word for word in AUDIT if word != "--batched"]
    done = dp_oracle(project, "audit", "mylib:train_to_file", *words)
    assert (done.returncode, done.stderr) == (0, ""), done.stdout


def test_claims_are_checked_in_processes_in_such_a_project(project: Path) -> None:
    done = dp_oracle(project, "check", "relu-approx/lem-2.5", "relu-approx/lem-3.2", "--workers", "2")
    assert (done.returncode, done.stderr) == (0, ""), done.stdout


@pytest.mark.parametrize("words", [
    ("gate", "mixed:delta", *GATE), ("gate", "late:delta", *GATE),
    pytest.param(("gate", "--cmd", f"{sys.executable} both.py", *GATE), marks=pytest.mark.thorough),
    pytest.param(("audit", "late:train", *AUDIT), marks=pytest.mark.thorough),
    ("audit", "late:train", *AUDIT, "--workers", "2"),
], ids=["at import", "at a call", "a command", "a training", "a training in processes"])
def test_a_target_that_needs_both_is_told_in_one_line(project: Path, words: tuple[str, ...]) -> None:
    """Whenever it asks for ours, and however it is run: no table, no verdict, no crash a case."""
    (project / "late.py").write_text(LATE)
    (project / "both.py").write_text("import mixed\n")
    done = dp_oracle(project, *words)
    assert (done.returncode, done.stdout) == (2, "")
    assert len(done.stderr.splitlines()) == 1
    assert done.stderr.startswith("error: dp-oracle needs its own ")
    assert_names_both(done.stderr, project)


def test_long_paths_are_told_to_their_end(tmp_path: Path) -> None:
    """A message of a target is cut, this one is not: it would name half a path."""
    folder = tmp_path.joinpath(*("a" * 200 for _ in range(3)))
    (folder / "oracle").mkdir(parents=True)
    (folder / "oracle" / "__init__.py").write_text("")
    (folder / "oracle" / "secret.py").write_text("")
    (folder / "late.py").write_text(LATE)
    done = dp_oracle(folder, "gate", "late:delta", *GATE)
    assert (done.returncode, len(done.stderr.splitlines())) == (2, 1)
    assert_names_both(done.stderr, folder)


def test_packages_that_are_loaded_before_the_command_are_told_in_one_line(project: Path) -> None:
    done = python(project, "-c", "import theorems, dp_oracle; dp_oracle.main()", path=(project, ROOT))
    assert (done.returncode, done.stdout) == (2, "")
    assert len(done.stderr.splitlines()) == 1
    assert_names_both(done.stderr, project, "theorems")


def test_a_module_without_a_file_is_told_too(tmp_path: Path) -> None:
    code = "import sys, types; sys.modules['oracle'] = types.ModuleType('oracle'); import dp_oracle; dp_oracle.main()"
    done = python(tmp_path, "-c", code)
    assert done.returncode == 2
    assert "stands for a module without a file" in done.stderr


@pytest.mark.parametrize("code", ["dp_oracle.bound('laplace.delta')", "dp_oracle.check('relu-approx/lem-2.5')"])
def test_calls_in_such_a_project_say_which_package_is_in_the_way(project: Path, code: str) -> None:
    done = python(project, "-c", f"import dp_oracle; {code}")
    assert done.returncode == 1
    assert done.stderr.splitlines()[-1].startswith("dp_oracle_errors.NameTakenError: dp-oracle needs")
    assert_names_both(done.stderr, project)
    for kind in ("dp_oracle.OracleError", "ImportError"):
        caught = f"import dp_oracle\ntry:\n    {code}\nexcept {kind} as error:\n    print(error.name, error.path)"
        assert python(project, "-c", caught).stdout == f"oracle {project / 'oracle'}\n"


def test_what_is_raised_is_an_oracle_error_where_oracle_is_ours_too(project: Path) -> None:
    (project / "oracle").rename(project / "orakel")
    code = """
import dp_oracle, oracle
assert dp_oracle.OracleError is oracle.core.errors.OracleError
try:
    dp_oracle.claims()
except oracle.core.errors.OracleError as error:
    print(error.name)
"""
    assert python(project, "-c", code).stdout == "empirical\n"


def test_calls_mind_only_the_packages_that_they_need(project: Path) -> None:
    (project / "oracle").rename(project / "orakel")
    code = "import dp_oracle; print(dp_oracle.bound('laplace.delta').name); import reports; print(reports.OWN)"
    done = python(project, "-c", code)
    assert (done.stdout, done.stderr) == ("laplace.delta\nTrue\n", "")
    done = python(project, "-c", "import dp_oracle; dp_oracle.claims()")
    assert_names_both(done.stderr, project, "empirical")


PYTEST = ("-m", "pytest", "-q", "-p", "dp_oracle", "-p", "no:cacheprovider", "-o", "addopts=")


def test_pytest_with_the_plugin_leaves_such_a_project_alone(project: Path) -> None:
    (project / "test_it.py").write_text("import mylib, oracle\ndef test_it():\n    assert oracle.OWN\n")
    done = python(project, *PYTEST)
    assert done.returncode == 0, done.stdout
    assert "1 passed" in done.stdout


@pytest.mark.parametrize("test", [
    "import dp_oracle, mylib\ntest_it = dp_oracle.conformance('laplace.delta', mylib.delta)\n",
    "from dp_oracle import conformance\n",
    "import pytest\n@pytest.mark.dp_oracle('laplace.delta')\ndef test_it(scale, sensitivity, epsilon):\n    pass\n",
], ids=["conformance", "import", "marker"])
def test_pytest_tells_in_one_line_that_a_test_needs_both(project: Path, test: str) -> None:
    (project / "test_it.py").write_text(test)
    done = python(project, *PYTEST)
    assert done.returncode == 2, done.stdout
    assert "Traceback" not in done.stdout + done.stderr
    report = done.stdout.partition("short test summary")[0]
    assert_names_both(report, project)


def test_a_mere_folder_of_such_a_name_hides_nothing(tmp_path: Path) -> None:
    (tmp_path / "reports").mkdir()
    (tmp_path / "oracle").mkdir()
    np.save(tmp_path / "reports" / "numbers.npy", np.zeros(1))
    done = dp_oracle(tmp_path, "bound", "laplace.delta", "scale=1", "sensitivity=1", "epsilon=0.5")
    assert (done.returncode, done.stderr) == (0, "")
    done = python(tmp_path, "-c", "import dp_oracle; print(dp_oracle.bound('laplace.delta').name)")
    assert (done.stdout, done.stderr) == ("laplace.delta\n", "")
