"""The gate command end to end: exit codes, files, hostile targets, a configuration file, and trainings."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import jsonschema
import pytest

from empirical.gate import vector_files
from oracle.running.console import run
from reports.cli import app
from tests.waiting import PATIENCE, wait_until

ROOT = Path(__file__).parents[2]
SCHEMA = json.loads((ROOT / "empirical/gate/schemas/result.schema.json").read_text(encoding="utf-8"))
CASES = vector_files.load("laplace.delta").cases
VALID, INVALID = sum(case.valid for case in CASES), sum(not case.valid for case in CASES)
BOUND = ("--bound", "laplace.delta")

LIBRARY = """
import math, os, sys, time
calls = 0

def correct(*, scale, sensitivity, epsilon):
    if not (0 < scale < math.inf and 0 < sensitivity < math.inf and 0 <= epsilon < math.inf):
        raise ValueError(f"bad: {scale}, {sensitivity}, {epsilon}")
    loss = sensitivity / scale
    return 0.0 if epsilon >= loss else -math.expm1((epsilon - loss) / 2) * (1 + 4e-15)

def tenth(**given):
    return correct(**given) / 10

def every_tenth_call(trouble):
    def fn(**given):
        global calls
        calls += 1
        if calls % 10 == 0:
            trouble()
        return correct(**given)
    return fn

def hang():
    open(__file__ + ".hangs", "w").close()
    time.sleep(600)

def flood():
    while True:
        print("x" * 10**6, flush=True)

def allocate():
    x = []
    while True:
        x.append(bytearray(10**8))

def segfault():
    import ctypes
    ctypes.string_at(0)

aborting, exiting, segfaulting, hanging, flooding, allocating = map(
    every_tenth_call, (os.abort, lambda: os._exit(0), segfault, hang, flood, allocate)
)

def silent(**given):
    raise ValueError("nothing is supported")

def train(dataset, seed):
    import numpy as np
    return np.clip(dataset[0], -1, 1).mean(axis=0) + np.random.default_rng(seed).normal(scale=SCALE, size=4)
"""
COMMAND = """
import json, sys
sys.path.insert(0, {folder!r})
from library import correct
for line in sys.stdin:
    request = json.loads(line)
    answer = {{"id": request["id"]}}
    try:
        answer["value"] = correct(**{{key: float(value) for key, value in request["input"].items()}})
    except ValueError as error:
        answer["refused"] = str(error)
    print(json.dumps(answer), flush=True)
"""


@pytest.fixture
def library(tmp_path: Path) -> Path:
    """A library under test."""
    path = tmp_path / "library.py"
    path.write_text(LIBRARY.replace("SCALE", "0.02"))
    return path


def gate(folder: Path, *words: str, code: int) -> dict[str, Any]:
    """The JSON document of a run that must end with an exit code."""
    file = folder / "result.json"
    assert run(app, ["gate", *words, "--json", str(file)]) == code
    document: dict[str, Any] = json.loads(file.read_text())
    jsonschema.Draft202012Validator(SCHEMA).validate(document)
    assert document["exitCode"] == code
    return document


def test_a_correct_function_passes(library: Path, capsys: pytest.CaptureFixture[str]) -> None:
    words = (f"{library}:correct", *BOUND, "--slack", "1.000001")
    (result,) = gate(library.parent, *words, code=0)["results"]
    assert result["counts"]["TIGHT"] == VALID
    assert result["counts"]["REFUSED"] == INVALID
    assert result["search"]["judged"] > 50
    beyond = result["search"]["judged"] + result["search"]["refused"]
    assert result["questions"] == {"judged": len(CASES) + beyond, "failed": 0, "undecided": 0}
    last = capsys.readouterr().out.splitlines()[-1]
    assert last == f"gate: passed; {len(CASES) + beyond} cases judged ({beyond} by the search), 0 failed"


def test_a_correct_command_passes(library: Path) -> None:
    program = library.parent / "program.py"
    program.write_text(COMMAND.format(folder=str(library.parent)))
    words = ("--cmd", f"{sys.executable} {program}", *BOUND, "--search", "30")
    (result,) = gate(library.parent, *words, code=0)["results"]
    assert result["counts"]["TIGHT"] == VALID
    assert result["counts"]["REFUSED"] == INVALID


@pytest.mark.full
def test_a_wrong_function_fails_with_every_file_written(library: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder = library.parent
    files = {name: folder / "new" / f"gate.{name}" for name in ("junit", "markdown", "write-xfail")}
    words = [word for name, path in files.items() for word in (f"--{name}", str(path))]
    document = gate(folder, f"{library}:tenth", *BOUND, *words, "--search", "30", code=1)
    failed = sum(not test["good"] for test in document["results"][0]["tests"])
    assert failed == document["results"][0]["counts"]["UNSOUND"] > 20
    (suite,) = ElementTree.parse(files["junit"]).getroot()
    assert int(suite.get("failures", "")) == failed + 1  # the search's
    assert "tenth(scale=1.0, sensitivity=1.0, epsilon=0.5)" in capsys.readouterr().out
    before = files["markdown"].read_text()
    known = folder / "known.toml"
    assert run(app, ["gate", f"{library}:tenth", *BOUND, "--xfail", str(files["write-xfail"])]) == 2  # a reason is TODO
    known.write_text(files["write-xfail"].read_text().replace("TODO", "it forgets a factor of ten"))
    gate(folder, f"{library}:tenth", *BOUND, *words, "--search", "30", "--xfail", str(known), code=0)
    assert files["markdown"].read_text().startswith(before)  # it is appended to
    gate(folder, f"{library}:correct", *BOUND, "--search", "30", "--xfail", str(known), code=1)


@pytest.mark.full
@pytest.mark.parametrize(
    ("name", "verdict", "words"),
    [
        ("aborting", "CRASH", "SIGABRT"), ("exiting", "CRASH", "exit status 0"), ("segfaulting", "CRASH", "SIGSEGV"),
        ("hanging", "TIMEOUT", "no answer within 2 s"), ("flooding", "TIMEOUT", "it last said: xxx"),
        ("allocating", "CRASH", "no more memory"),
    ],
)
def test_a_hostile_function_loses_only_the_cases_it_breaks(
    name: str, verdict: str, words: str, library: Path
) -> None:
    # Every tenth call of a process breaks it, and the count begins again with the next process.
    limits = ("--timeout", "2" if verdict == "TIMEOUT" else "60", "--memory", "600", "--search", "0")
    chosen = [str(case.tc_id) for case in CASES[:20]]
    picked = [word for tc_id in chosen for word in ("--case", tc_id)]
    (result,) = gate(library.parent, f"{library}:{name}", *BOUND, *limits, *picked, code=1)["results"]
    verdicts = [test["verdict"] for test in result["tests"]]
    assert [index for index, found in enumerate(verdicts, start=1) if found == verdict] == [10, 20]
    assert set(verdicts) <= {"TIGHT", "REFUSED", verdict}
    assert words in result["tests"][9]["detail"]


@pytest.mark.parametrize(
    ("target", "words"),
    [
        ("{library}:none", "has no none"), ("{library}:silent", "answered none of"), ("{folder}/none.py:fn", "none.py"),
        ("no_such_package_anywhere:fn", "ModuleNotFoundError"),
    ],
)
def test_a_target_that_cannot_be_used_has_no_verdict(target: str, words: str, library: Path) -> None:
    path = target.format(library=library, folder=library.parent)
    (result,) = gate(library.parent, path, *BOUND, code=2)["results"]
    assert words in result["unusable"]
    assert result["search"] is None


@pytest.mark.parametrize(
    ("words", "told"),
    [
        ((), "needs a TARGET"), (("{fn}",), "--bound"), (("{fn}", "--cmd", "cat", *BOUND), "not both"),
        (("{fn}", "--bound", "none"), "bound = none"), (("{fn}", *BOUND, "--bound", "gaussian.delta"), "one bound"),
        (("{fn}", *BOUND, "--slack", "0.5"), "slack = 0.5"), (("{fn}", *BOUND, "--rounding", "x"), "rounding = x"),
        (("{fn}", *BOUND, "--search", "-1"), "search = -1"), (("{fn}", *BOUND, "--timeout", "0"), "timeout = 0"),
        (("{fn}", *BOUND, "--case", "99999"), "case = 99999"), (("{fn}", *BOUND, "--xfail", "none.toml"), "none.toml"),
        (("{fn}", *BOUND, "--epsilon", "1"), "not both"), (("{fn}", *BOUND, "--budget", "9"), "budget = 9"),
        (("{fn}", "--epsilon", "1", "--slack", "2"), "slack = 2"), (("{fn}", "--epsilon", "-1"), "epsilon = -1"),
        (("fn", *BOUND), "target = fn"), (("--cmd", " ", *BOUND), "command is empty"),
        (("{fn}", *BOUND, "--junit", "/proc/none/x"), "cannot be written"), (("--config", "none.toml"), "none.toml"),
        (("{fn}", "--config", "{config}"), "target: not with --config"),
    ],
)
def test_bad_usage_is_one_line(
    words: tuple[str, ...], told: str, library: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    config = library.parent / "dp-oracle.toml"
    config.write_text("")
    made = [word.format(fn=f"{library}:correct", config=config) for word in words]
    assert run(app, ["gate", *made]) == 2
    error = capsys.readouterr().err
    assert error.startswith("error: ")
    assert told in error
    assert error.count("\n") == 1


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("", "no [[gate]]"), ("gate = 1", "no [[gate]]"), ("colour = 1", "the key colour"), ("[[gate", "no TOML"),
        ("[[gate]]\nbound = 'laplace.delta'", "[[gate]] 1: a gate needs a target"),
        ("[[gate]]\ntarget = 'a:b'\nbound = 'laplace.delta'\nbudget = 3", "budget is no key of a gate for a bound"),
        ("[[gate]]\ntraining = 'a:b'", "epsilon is needed"),
        ("[[gate]]\ntraining = 'a:b'\nepsilon = 1\nslack = 2", "slack is no key of a gate for a training"),
        ("xfail = 1\n[[gate]]\ntarget = 'a:b'\nbound = 'laplace.delta'", "xfail = 1"),
        ("[[gate]]\ntarget = 'a:b'\nbound = 'none'", "bound = none"),
    ],
)
def test_a_bad_configuration_is_told(
    text: str, told: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "dp-oracle.toml").write_text(text)
    assert run(app, ["gate", "--config", str(tmp_path / "dp-oracle.toml")]) == 2
    assert told in capsys.readouterr().err


@pytest.mark.full
def test_a_configuration_file_judges_everything_and_its_paths_are_its_own(library: Path, tmp_path: Path) -> None:
    (tmp_path / "xfail.toml").write_text(
        "[[xfail]]\nbound = 'laplace.delta'\nverdict = 'REFUSED'\nwhere = {epsilon = 0.5}\nreason = 'strange'\n"
        "[[xfail]]\ntraining = 'library.py:train'\nverdict = 'VIOLATION'\nreason = 'too little noise'\n"
    )
    (tmp_path / "dp-oracle.toml").write_text("""
[[gate]]
target = "library:correct"
bound = "laplace.delta"
slack = 1.05
search = 10

[[gate]]
training = "library.py:train"
epsilon = 0.1
delta = 1e-5
budget = 400
canary = "extremes"
""")
    words = ("--config", str(tmp_path / "dp-oracle.toml"), "--search", "0")
    document = gate(tmp_path, *words, code=1)
    bound, training = document["results"]
    assert (bound["exitCode"], bound["slack"], bound["search"]["asked"]) == (0, "21/20", 10)
    assert (training["exitCode"], training["verdict"]) == (1, "VIOLATION")
    (tmp_path / "dp-oracle.toml").write_text("xfail = 'xfail.toml'\n" + (tmp_path / "dp-oracle.toml").read_text())
    bound, training = gate(tmp_path, *words, code=1)["results"]
    assert bound["exitCode"] == 1  # it does not refuse what is expected
    assert "xfail.toml, line 1, came out TIGHT" in json.dumps(bound)
    assert (training["exitCode"], training["expectedFailure"]["reason"]) == (0, "too little noise")


@pytest.mark.full
def test_a_training_is_audited(library: Path) -> None:
    # The mean of 20 records moves by 0.1 when one of norm 1 becomes its opposite, and the noise is 0.02: mu = 5, and
    # epsilon is 33 at delta = 1e-5. The lower bound exceeds that with probability at most 0.001, and did not.
    words = (f"{library}:train", "--budget", "400", "--canary", "extremes")
    (result,) = gate(library.parent, *words, "--epsilon", "1", code=1)["results"]
    assert result["verdict"] == "VIOLATION"
    assert result["audit"]["plan"]["confidence"] == 0.999
    (result,) = gate(library.parent, *words, "--epsilon", "60", code=0)["results"]
    assert result["verdict"] == "CONSISTENT"
    (result,) = gate(library.parent, f"{library}:tenth", "--epsilon", "1", "--canary", "extremes", code=2)["results"]
    assert result["verdict"] == "INVALID"


@pytest.mark.full
@pytest.mark.skipif(sys.platform != "linux", reason="interrupts are sent to a process group")
def test_an_interrupted_run_tells_what_it_did(library: Path) -> None:
    file = library.parent / "result.json"
    words = [f"{library}:hanging", *BOUND, "--timeout", "600", "--json", str(file)]
    code = f"import sys, tests.gate.test_gate_command as t; sys.exit(t.run(t.app, ['gate', *{words!r}]))"
    process = subprocess.Popen(
        [sys.executable, "-c", code], cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
    )
    wait_until(Path(f"{library}.hangs").exists, process)  # as the tenth case does
    process.send_signal(signal.SIGINT)
    told, _ = process.communicate(timeout=PATIENCE)
    assert process.returncode == 130
    assert "interrupted after 9 cases" in told
    assert json.loads(file.read_text())["exitCode"] == 130


@pytest.mark.full
def test_the_gate_works_without_torch(library: Path) -> None:
    code = f"""
import sys
class NoTorch:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] == "torch":
            raise ModuleNotFoundError("No module named 'torch'", name="torch")
sys.meta_path.insert(0, NoTorch())
from oracle import bound
from empirical.gate import output, vector_files
from empirical.gate.gate_run import run
from empirical.gate.gate_targets import GateFunction
cases = vector_files.load("laplace.delta").cases
result = run(GateFunction({f"{library}:correct"!r}), bound("laplace.delta"), cases, search=5)
output.print_results([result])
sys.exit(result.exit_code)
"""
    assert subprocess.run([sys.executable, "-c", code], cwd=ROOT, check=False, timeout=PATIENCE).returncode == 0
