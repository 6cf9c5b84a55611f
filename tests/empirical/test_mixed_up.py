"""No answer is taken for another's: a target that forks, repeats itself or mixes up data sets never looks private.

The training of all these targets is far from private: on the one data set of the pair it releases about 1, on the
other about 0. Answers that are shifted by one request would make the two look alike.
"""

from __future__ import annotations

import json
import re
import sys
from pathlib import Path

import pytest
import typer

import empirical.cli
from oracle.running.console import run

APP = typer.Typer()
empirical.cli.register(APP)

FUNCTION = """
import fcntl, os
import numpy as np
calls = 0

def pipes():
    places = {n: f"/proc/self/fd/{n}" for n in range(3, 64)}
    found = [n for n, place in places.items() if os.path.exists(place) and os.readlink(place).startswith("pipe")]
    return [n for n in found if fcntl.fcntl(n, fcntl.F_GETFL) & os.O_ACCMODE == os.O_WRONLY]

def fn(dataset, seed):
    global calls
    calls += 1
    if calls == 42:
        TRICK
    return 3.0 * dataset[1].sum() + np.random.default_rng(seed).normal()
"""

COMMAND = """
import json, random, sys, threading
datasets, requests, kept = {}, 0, None
for line in sys.stdin:
    request = json.loads(line)
    requests += 1
    if "labels" in request:
        datasets[request["dataset"]] = request["labels"]
    said = [3.0 * sum(datasets[request["dataset"]]) + random.Random(seed).gauss(0, 1) for seed in request["seeds"]]
    answer = {"id": request["id"], "dataset": request["dataset"], "releases": said}
    TRICK
    print(json.dumps(answer), flush=True)
"""

FORKS = {
    "once": "os.fork()",
    "and the child raises": "os.fork() or 1 / 0",
    "and the child leaves": "os.fork() or os._exit(3)",
}
DISTURBS = {
    "garbage": "[os.write(pipe, b'x\\n') for pipe in pipes()]",
    "a deep answer": "[os.write(pipe, b'[' * 10**5 + b'\\n') for pipe in pipes()]",
}
MIXED = {
    "repeats a line": ("requests == 7 and print(json.dumps(answer), flush=True)", "said more than|mixes up"),
    "is late with one": (
        "requests == 7 and print(json.dumps({**answer, 'id': request['id'] - 1}), flush=True)", "mixes up",
    ),
    "gives no id": ("del answer['id']", "mixes up its answers: id"),
    "gives true for an id": ("answer['id'] = True", "mixes up its answers: id"),
    "gives another data set": ("answer['dataset'] = 1 - answer['dataset']", "mixes up its answers: dataset"),
    "answers the request before, under the new id": (
        "kept, answer['releases'] = answer['releases'], (kept or said)[:1] * len(said)",
        "not reproducible",
    ),
    "forgets the data set later": (
        "answer['releases'] = said if requests < 12 else [random.Random(s).gauss(0, 1) for s in request['seeds']]",
        "not reproducible: asked again",
    ),
    "says thousands of brackets": ("requests == 7 and print('[' * 10**5, flush=True)", "no JSON object"),
    "says thousands of digits": ("requests == 7 and print('[' + '1' * 10**5 + ']', flush=True)", "no JSON object"),
}
WORDS = ("--epsilon", "1", "--delta", "1e-5", "--records", "4", "--dimension", "1", "--canary", "extremes",
         "--budget", "4000")


def audited(folder: Path, code: int, *words: str) -> dict[str, object]:
    file = folder / "audit.json"
    assert run(APP, ["audit", *words, *WORDS, "--json", str(file)]) == code
    result: dict[str, object] = json.loads(file.read_text())
    return result


@pytest.mark.full
@pytest.mark.parametrize("name", FORKS)
def test_a_function_that_forks_is_still_a_violation(name: str, tmp_path: Path) -> None:
    (tmp_path / "target.py").write_text(FUNCTION.replace("TRICK", FORKS[name]))
    assert audited(tmp_path, 1, f"{tmp_path / 'target.py'}:fn")["verdict"] == "VIOLATION"


@pytest.mark.full
@pytest.mark.parametrize("name", DISTURBS)
def test_a_function_that_writes_where_it_answers_is_invalid(name: str, tmp_path: Path) -> None:
    (tmp_path / "target.py").write_text(FUNCTION.replace("TRICK", DISTURBS[name]))
    result = audited(tmp_path, 2, f"{tmp_path / 'target.py'}:fn")
    assert result["verdict"] == "INVALID"
    assert "no JSON object" in str(result["reason"])


@pytest.mark.full
@pytest.mark.parametrize("name", MIXED)
def test_a_command_that_mixes_up_its_answers_is_invalid(name: str, tmp_path: Path) -> None:
    trick, reason = MIXED[name]
    (tmp_path / "target.py").write_text(COMMAND.replace("TRICK", trick))
    result = audited(tmp_path, 2, "--cmd", f"{sys.executable} {tmp_path / 'target.py'}")
    assert result["verdict"] == "INVALID"
    assert re.search(reason, str(result["reason"])), result["reason"]


@pytest.mark.full
def test_without_a_trick_both_are_violations(tmp_path: Path) -> None:
    (tmp_path / "target.py").write_text(FUNCTION.replace("TRICK", "pass"))
    (tmp_path / "command.py").write_text(COMMAND.replace("TRICK", "pass"))
    assert audited(tmp_path, 1, f"{tmp_path / 'target.py'}:fn")["verdict"] == "VIOLATION"
    assert audited(tmp_path, 1, "--cmd", f"{sys.executable} {tmp_path / 'command.py'}")["verdict"] == "VIOLATION"
