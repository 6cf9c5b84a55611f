"""The light core: what a plain installation brings, what a start may import, and what is told of each extra."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tomllib
from collections.abc import Iterable
from pathlib import Path

import pytest

from empirical.gate.adapters import installed
from oracle.core.errors import MissingExtraError, OracleError
from oracle.core.extras import EXTRAS, missing, told
from reports.cli import COMMANDS, NEEDS
from tests.project.consoles import ROOT
from tests.tiers import later
from tests.waiting import PATIENCE

sys.path.append(str(ROOT / "benchmarks"))
import start

CORE = {
    "numpy", "scipy", "python-flint", "array-api-compat", "typer", "rich", "hypothesis", "threadpoolctl", "jsonschema",
}
ABSENT = (*(library for group in EXTRAS.values() for library in group), "mpmath", "yaml")
OURS = ("oracle", "empirical", "theorems", "reports")
TYPER = {  # what typer, rich and compiled libraries import, in one version or another
    "typer", "click", "rich", "pygments", "markdown_it", "mdurl", "shellingham", "annotated_doc", "annotated_types",
    "pydantic", "pydantic_core", "typing_extensions", "typing_inspection", "attr", "attrs", "colorama",
    "cython_runtime",
}
STARTS = {  # what each may import that is not of Python, and the modules of ours
    ("--help",): ({"flint"}, {"oracle.core", "oracle.running", "oracle.running.console", "reports.cli"}),
    ("bound", "gaussian.epsilon", "sigma=1", "sensitivity=1", "delta=1e-5"): (
        {"flint", "numpy", "array_api_compat"}, {"oracle.core", "oracle.running", "oracle.running.console",
        "oracle.cli", "oracle.bounds", "oracle.engines", "oracle.algorithms", "reports.cli"},
    ),
    ("gate", "--help"): (
        {"flint", "numpy", "array_api_compat"},
        {"oracle.core", "oracle.running", "empirical.gate", "reports.cli"},
    ),
}
WORKS, TRAINING, THEORY, REPORT = "works", "training", "theory", "report"
LINES = {  # a line of every command, and what it does where only the core is installed
    "bounds": WORKS, "bound gdp.delta mu=1 epsilon=1": WORKS, "algorithms": WORKS, "plan examples/noisy-gd.toml": WORKS,
    "audit noisy-cgd --budget 100": TRAINING, "audit noisy-cgd --budget 100 --workers 2 --shard 100": TRAINING,
    "audit examples/audit_target.py:train --epsilon 9 --delta 1e-5 --budget 200 --pair PAIR": WORKS,
    "one-run noisy-cgd": TRAINING, "mutants": TRAINING,
    "gate TARGET --bound gdp.delta --search 3": WORKS,
    "holes --bound gdp.delta --count 1 --json OUT": WORKS, "league": "peers", "claims": THEORY,
    "check relu-approx/lem-2.5": THEORY, "false-claims --list": THEORY, "rates": WORKS, "report": REPORT,
    "vectors lint --bound gdp.delta": WORKS, "verify OUT --key OUT": TRAINING, "audit --all": TRAINING,
    "rates --all": TRAINING, "check --help": WORKS, "report --help": WORKS,
}
AT_NIGHT = (  # others of the same outcome stand for them by day
    "bounds", "algorithms", "audit noisy-cgd --budget 100 --workers 2 --shard 100",
    "audit examples/audit_target.py:train --epsilon 9 --delta 1e-5 --budget 200 --pair PAIR", "mutants",
    "false-claims --list", "vectors lint --bound gdp.delta", "audit --all", "check --help",
)
NEEDED = {"check": "theory", "report": "report"}  # by what their help could list
WITHOUT_TRAINING = ("mutants", "audit --all", "false-claims", "rates --all", "one-run noisy-cgd")

OWN = """
import dp_oracle
def delta(mu, epsilon):
    return float(dp_oracle.bound("gdp.delta").fast(mu=mu, epsilon=epsilon))
"""


@pytest.fixture(scope="module")
def core_only(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """The environment of processes, theirs too, in which no library of an extra can be found."""
    return lacking(tmp_path_factory.mktemp("core"), ABSENT)


def lacking(folder: Path, absent: tuple[str, ...]) -> dict[str, str]:
    """The environment of processes that find none of these libraries."""
    (folder / "sitecustomize.py").write_text(f"""
import sys
class Absent:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in {absent!r}:
            raise ModuleNotFoundError(f"No module named {{name!r}}", name=name)
sys.meta_path.insert(0, Absent())
""", encoding="utf-8")
    return {**os.environ, "PYTHONPATH": os.pathsep.join((str(folder), str(ROOT)))}


def run(environment: dict[str, str], *words: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, *words], cwd=ROOT, env=environment, capture_output=True, text=True, timeout=PATIENCE,
        check=False,
    )


def project() -> dict[str, object]:
    with (ROOT / "pyproject.toml").open("rb") as file:
        found: dict[str, object] = tomllib.load(file)["project"]
    return found


def names(requirements: Iterable[str]) -> set[str]:
    return {re.split(r"[^\w-]", item)[0] for item in requirements}


def test_a_plain_installation_is_light() -> None:
    dependencies = project()["dependencies"]
    assert isinstance(dependencies, list)
    assert names(dependencies) == CORE
    sizes = start.core()
    assert set(sizes) >= CORE
    assert sum(sizes.values()) + start.own() <= start.LARGEST, sizes


def test_the_extras_are_those_of_the_installation() -> None:
    extras = project()["optional-dependencies"]
    assert isinstance(extras, dict)
    for extra, libraries in EXTRAS.items():
        assert names(extras[extra]) - {"dp-oracle"} == set(libraries)
    assert extras["all"] == [f"dp-oracle[{','.join(EXTRAS)}]"]
    assert set(extras) == {*EXTRAS, "all", "peers", "dev"}
    assert extras["report"][0] == "dp-oracle[training,theory]"
    assert set(NEEDS["reports.command"]) == {"report", "training", "theory"}


@pytest.mark.parametrize("words", STARTS, ids=lambda words: words[0])
def test_a_start_imports_no_more_than_it_may(words: tuple[str, ...]) -> None:
    libraries, modules = STARTS[words]
    code = f"""
import sys
before = set(sys.modules)
sys.argv[1:] = {list(words)!r}
from dp_oracle import main
try:
    main()
finally:
    print(*(set(sys.modules) - before), file=sys.stderr)
"""
    done = run({**os.environ, "PYTHONPATH": str(ROOT)}, "-c", code)
    assert done.returncode == 0, done.stderr
    loaded = set(done.stderr.split())
    ours = {name for name in loaded if name.partition(".")[0] in OURS and "." in name}
    assert {name for name in ours if not any(name == one or name.startswith(one + ".") for one in modules)} == set()
    rest = {name.partition(".")[0] for name in loaded} - {*OURS, "dp_oracle"} - sys.stdlib_module_names
    assert {name for name in rest if name[0] != "_"} - TYPER - libraries == set()


def test_a_bound_loads_its_own_module_and_no_other_bound() -> None:
    code = "import sys, dp_oracle; dp_oracle.bound('gaussian.epsilon'); print(*sys.modules)"
    loaded = run({**os.environ, "PYTHONPATH": str(ROOT)}, "-c", code).stdout.split()
    assert {name for name in loaded if name.startswith("oracle.bounds.") and name.count(".") == 3} == {
        "oracle.bounds.gaussian.gaussian",
    }


@pytest.mark.full
def test_a_line_of_every_command_is_tried_without_the_extras() -> None:
    assert {line.split()[0] for line in LINES} == {name for group in COMMANDS.values() for name in group}


@pytest.mark.full
@pytest.mark.parametrize("line", later(list(LINES), AT_NIGHT.__contains__, "thorough"))
def test_without_the_extras_a_command_works_or_says_which_it_needs(
    line: str, core_only: dict[str, str], tmp_path: Path
) -> None:
    if line == "league" and installed():
        pytest.skip("libraries that are judged are installed here")
    (tmp_path / "mine.py").write_text(OWN, encoding="utf-8")
    given = {"OUT": f"{tmp_path}/out.json", "PAIR": str(pair(tmp_path)), "TARGET": f"{tmp_path}/mine.py:delta"}
    done = run(core_only, "-m", "dp_oracle", *(given.get(word, word) for word in line.split()))
    if LINES[line] == WORKS:
        assert done.returncode == 0, done.stderr
        assert done.stdout
        assert "--help" not in line or f"'dp-oracle[{NEEDED[line.split()[0]]}]'" in done.stdout
    else:
        assert done.returncode == 2
        assert re.fullmatch(rf"error: [^\n]*pip install 'dp-oracle\[{LINES[line]}\]'\n", done.stderr), done.stderr


@pytest.mark.full
@pytest.mark.parametrize("line", WITHOUT_TRAINING)
def test_without_training_a_campaign_says_so_before_it_begins(line: str, tmp_path: Path) -> None:
    done = run(lacking(tmp_path, EXTRAS["training"]), "-m", "dp_oracle", *line.split())
    assert (done.returncode, done.stdout) == (2, "")
    assert re.fullmatch(r"error: [^\n]* needs torch: pip install 'dp-oracle\[training\]'\n", done.stderr), done.stderr


@pytest.mark.full
def test_torch_without_the_library_of_random_words_trains_or_says_so(tmp_path: Path) -> None:
    for line, code in (("audit noisy-cgd --budget 100", 0), ("audit dp-sgd-multilayer --budget 100", 2)):
        done = run(lacking(tmp_path, ("cryptography",)), "-m", "dp_oracle", *line.split())
        assert done.returncode == code, done.stderr
        told = "error: this needs cryptography: pip install 'dp-oracle[training]'\n"
        assert done.stderr == (told if code else "")


def test_a_group_without_a_command_says_what_it_lacks() -> None:
    done = run({**os.environ, "PYTHONPATH": str(ROOT)}, "-m", "dp_oracle", "vectors")
    assert (done.returncode, done.stderr) == (2, "error: vectors needs a command: its help lists them\n")


def pair(folder: Path) -> Path:
    """Two neighbouring data sets in a file."""
    import numpy as np

    features, labels = np.eye(3), np.array([0.0, 1.0, 1.0])
    other = features.copy()
    other[2] = -other[2]
    np.savez(folder / "pair.npz", X0=features, y0=labels, X1=other, y1=labels)
    return folder / "pair.npz"


@pytest.mark.full
def test_without_the_extras_python_is_told_the_same(core_only: dict[str, str]) -> None:
    code = """
import dp_oracle
from oracle.core.tape import Tape
tried = {
    "claims": lambda: dp_oracle.claims(), "check": lambda: dp_oracle.check("relu-approx/lem-2.5"),
    "audit": lambda: dp_oracle.audit("noisy-cgd", budget=100),
    "draws": lambda: Tape(0).short_normal("noise", 0, 4),
    "torch": lambda: Tape(0).by("torch").normal("noise", 0, 4),
}
for name, what in tried.items():
    try:
        what()
    except ImportError as error:
        assert isinstance(error, dp_oracle.OracleError)
        print(f"{name}: {error}")
"""
    done = run(core_only, "-c", code)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.splitlines() == [
        "claims: this needs sympy: pip install 'dp-oracle[theory]'",
        "check: this needs sympy: pip install 'dp-oracle[theory]'",
        "audit: this needs torch: pip install 'dp-oracle[training]'",
        "draws: this needs cryptography: pip install 'dp-oracle[training]'",
        "torch: this needs torch: pip install 'dp-oracle[training]'",
    ]


@pytest.mark.full
def test_without_the_extras_the_pytest_plugin_judges(core_only: dict[str, str], tmp_path: Path) -> None:
    (tmp_path / "test_mine.py").write_text(
        OWN + "test_delta = dp_oracle.conformance('gdp.delta', delta)\n", encoding="utf-8"
    )
    done = run(core_only, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-p", "dp_oracle", "--rootdir", str(tmp_path),
               "--dp-oracle-budget", "20", str(tmp_path))
    assert "20 passed" in done.stdout, done.stdout + done.stderr


def test_what_is_absent_is_told_and_nothing_else() -> None:
    lacking = missing(ModuleNotFoundError("No module named 'torch.nn'", name="torch.nn"))
    assert isinstance(lacking, MissingExtraError)
    assert isinstance(lacking, OracleError)
    assert str(lacking) == "this needs torch: pip install 'dp-oracle[training]'"
    runner = missing(ModuleNotFoundError("No module named 'pytest'", name="pytest"))
    assert str(runner) == "this needs pytest: pip install 'pytest'"
    for other in (ModuleNotFoundError("x", name="torchvision"), ImportError("x", name="torch"), ValueError("torch")):
        assert missing(other) is None
    with pytest.raises(ModuleNotFoundError, match="no_such_module"), told():
        __import__("no_such_module")
