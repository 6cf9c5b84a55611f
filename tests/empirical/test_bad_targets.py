"""Targets that do not work, through the command line: INVALID with a precise reason, exit code 2, never an epsilon."""

from __future__ import annotations

import json
import re
import sys
from pathlib import Path

import pytest
import typer

import empirical.cli
from empirical.audits.foreign import foreign
from oracle.running.console import run

APP = typer.Typer()
empirical.cli.register(APP)

HEAD = """
import os, sys, time
import numpy as np

def noisy(dataset, seed):
    return dataset[0].mean(axis=0) + np.random.default_rng(seed).normal(size=dataset[0].shape[1])
"""

BAD_FUNCTIONS = {
    "raises": ("def fn(dataset, seed):\n    raise ZeroDivisionError('no\\nluck')", "ZeroDivisionError: no luck"),
    "exits": ("def fn(dataset, seed):\n    sys.exit('enough')", "SystemExit: enough"),
    "vanishes": ("def fn(dataset, seed):\n    print('bye', flush=True)\n    os._exit(7)", "status 7.*last said: bye"),
    "segfaults": ("import ctypes\ndef fn(dataset, seed):\n    ctypes.string_at(0)", "SIGSEGV"),
    "nan": ("def fn(dataset, seed):\n    return np.array([0.0, np.nan])", "seed [0-9]+ released nan.*finite"),
    "inf": ("def fn(dataset, seed):\n    return -np.inf", "seed [0-9]+ released -inf"),
    "nan on one data set": (
        "def fn(dataset, seed):\n    return noisy(dataset, seed) / (dataset[1].sum() > 9)", "released -?(nan|inf)",
    ),
    "changing shape": (
        "def fn(dataset, seed):\n    return np.random.default_rng(seed).normal(size=1 + seed % 3)", "must not change",
    ),
    "shape by data set": (
        "def fn(dataset, seed):\n    return np.random.default_rng(seed).normal(size=int(dataset[1].sum()))",
        r"shape \(10,\) after shape \(9,\)",
    ),
    "empty": ("def fn(dataset, seed):\n    return []", "empty"),
    "constant": ("def fn(dataset, seed):\n    return np.ones(3)", "is a constant: all [0-9]+ releases are equal"),
    "ignores its seed": ("def fn(dataset, seed):\n    return noisy(dataset, 1)", "ignores its seed"),
    "clock": ("def fn(dataset, seed):\n    return time.perf_counter()", "not reproducible: asked again"),
    "process": (
        "def fn(dataset, seed):\n    return noisy(dataset, seed) + os.getpid()", "not reproducible.*fresh process",
    ),
    "own generator": (
        "rng = np.random.default_rng()\ndef fn(dataset, seed):\n    return rng.normal()", "not reproducible",
    ),
    "input": ("def fn(dataset, seed):\n    return float(input('number? '))", "reads standard input"),
    "stdin": ("def fn(dataset, seed):\n    return [float(line) for line in sys.stdin]", "reads standard input"),
    "import error": ("import no_such_module_anywhere", "ModuleNotFoundError.*no_such_module_anywhere"),
    "syntax error": ("def fn(:", "SyntaxError"),
    "no such function": ("def other(dataset, seed):\n    return 0", "has no fn"),
    "not callable": ("fn = 3", "no function but int"),
    "wrong signature": ("def fn(dataset):\n    return 0", "TypeError.*fn"),
    "none": ("def fn(dataset, seed):\n    pass", "release is None"),
    "text": ("def fn(dataset, seed):\n    return 'a model'", "path of a saved model"),
    "object": ("def fn(dataset, seed):\n    return object()", "no array of real numbers but object"),
    "complex": ("def fn(dataset, seed):\n    return np.array([1j])", "no array of real numbers.*complex128"),
    "too large": ("def fn(dataset, seed):\n    return 10**400 + seed", "integers that no double holds"),
    "masked": ("def fn(dataset, seed):\n    return np.ma.masked_array([1.0, 2.0], [False, True])", "masked array"),
    "ragged": ("def fn(dataset, seed):\n    return [[1.0], [1.0, 2.0]]", "no array"),
    "memory": ("def fn(dataset, seed):\n    return np.ones(10**8)[:3]", "MemoryError.*no more memory"),
}

BAD_BATCHED = {
    "too few": ("def fn(dataset, seeds):\n    return np.zeros((2, 2))[:1]", r"shape \(1, 2\) for 3 models"),
    "one number": ("def fn(dataset, seeds):\n    return 1.0", r"shape \(\) for 3 models"),
    "nan": ("def fn(dataset, seeds):\n    return np.full((len(seeds), 2), np.nan)", "released nan"),
    "a generator of its own": (
        "def fn(dataset, seeds):\n    return dataset[0].sum() + np.random.default_rng(0).normal(size=(len(seeds), 2))",
        "ignores its seeds: two calls with different seeds released the same 24 models",
    ),
    "one noise for all": (
        "def fn(dataset, seeds):\n    return np.tile(noisy(dataset, seeds[0]), (len(seeds), 1))",
        "one noise for a whole call: its 24 models are equal",
    ),
}

HANGING = {
    "at once": "def fn(dataset, seed):\n    time.sleep(60)",
    "later": (
        "calls = []\ndef fn(dataset, seed):\n    calls.append(seed)\n    time.sleep(60 * (len(calls) > 20))\n"
        "    return noisy(dataset, seed)"
    ),
    "in its import": "time.sleep(60)",
    "with a child that holds the pipes": (
        "import subprocess\ndef fn(dataset, seed):\n    subprocess.run(['sleep', '60'])"
    ),
}

ANSWER = """
import json, math, os, sys, time
def say(releases, **other):
    request = json.loads(input())
    told = releases(request['seeds']) if callable(releases) else releases
    print(json.dumps({'id': request['id'], 'dataset': request['dataset'], 'releases': told, **other}), flush=True)
"""

BAD_COMMANDS = {
    "ends": ("", "ended with exit status 0 before it answered"),
    "crashes": ("raise RuntimeError('no\\nluck')", "exit status 1.*last said: luck"),
    "garbage": ("input()\nprint('epoch 1 of 10')", "no JSON object: 'epoch 1 of 10'"),
    "tells an error": ("input()\nprint(json.dumps({'error': 'no GPU'}))", "does not work: no GPU"),
    "another object": ("request = json.loads(input())\nprint(json.dumps({'models': []}))", "mixes up its answers"),
    "no releases": ("say(7)", "expected releases, a list"),
    "too few": ("say([1])", "for 3 models"),
    "ragged": ("say([[1], [1, 2], [1]])", "no array"),
    "text": ("say(['a', 'b', 'c'])", "path of a saved model"),
    "nan": ("say([1, math.nan, 2])", "released nan.*model 1 of 3"),
    "endless": ("input()\nwhile True:\n    os.write(1, bytes(10**6))", "answers without end: more than 60 MB"),
    "no text": ("input()\nos.write(1, bytes([255, 254, 10]))", "no JSON"),
    "constant": (
        "while True:\n    say(lambda seeds: [1] * len(seeds))",
        "is a constant",
    ),
    "a generator of its own": (
        "import random\nwhile True:\n    draws = random.Random(1)\n"
        "    say(lambda seeds: [draws.random() for _ in seeds])",
        "not reproducible",  # the second seed of a request is the first of another
    ),
}

WORDS = ("--epsilon", "1", "--budget", "200", "--dimension", "2", "--canary", "extremes")


def judged(capsys: pytest.CaptureFixture[str], folder: Path, *words: str) -> str:
    """The reason of an audit that must be INVALID, after checking all that must then be so."""
    file = folder / "audit.json"
    assert run(APP, ["audit", *words, *WORDS, "--json", str(file)]) == 2
    result = json.loads(file.read_text())
    assert result["verdict"] == "INVALID"
    assert result["epsilon_lower"] is None
    assert result["tightness"] is None
    printed = capsys.readouterr()
    assert printed.out.splitlines()[-1] == f"INVALID: {result['reason']}"
    assert "\n" not in result["reason"]
    return str(result["reason"])


@pytest.mark.full
@pytest.mark.parametrize("name", BAD_FUNCTIONS)
def test_a_bad_function_is_invalid(name: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    body, reason = BAD_FUNCTIONS[name]
    file = tmp_path / "target.py"
    file.write_text(HEAD + body)
    text = judged(capsys, tmp_path, f"{file}:fn", "--memory", "600")
    assert re.search(reason, text), text


def test_a_bad_function_is_invalid_where_the_pair_is_searched_for(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "target.py"
    file.write_text(f"with open({str(tmp_path / 'calls')!r}, 'a') as calls:\n    calls.write('x')\nfail")
    assert run(APP, ["audit", f"{file}:fn", "--epsilon", "1"]) == 2
    assert "INVALID: " in capsys.readouterr().out
    assert (tmp_path / "calls").read_text() == "xx"  # one pilot, one audit: not every pair is tried in vain


@pytest.mark.full
@pytest.mark.parametrize("name", HANGING)
def test_a_hanging_function_is_invalid(
    name: str, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(foreign, "LOADING", 2.0)
    file = tmp_path / "target.py"
    file.write_text(HEAD + HANGING[name])
    assert re.search("hangs: no answer within (0.5|2) s", judged(capsys, tmp_path, f"{file}:fn", "--timeout", "0.5"))


def test_a_command_that_does_not_read_is_invalid(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(foreign, "LOADING", 1.0)
    # More data than a pipe holds: sending them must not block either.
    words = ("--cmd", "sleep 60", "--timeout", "0.5", "--records", "5000")
    assert "hangs: no answer within 0.5 s" in judged(capsys, tmp_path, *words)


@pytest.mark.full
@pytest.mark.parametrize("name", BAD_BATCHED)
def test_a_bad_batched_function_is_invalid(name: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    body, reason = BAD_BATCHED[name]
    file = tmp_path / "target.py"
    file.write_text(HEAD + body)
    text = judged(capsys, tmp_path, f"{file}:fn", "--batched")
    assert re.search(reason, text), text


@pytest.mark.full
@pytest.mark.parametrize("name", BAD_COMMANDS)
def test_a_bad_command_is_invalid(name: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    body, reason = BAD_COMMANDS[name]
    file = tmp_path / "target.py"
    file.write_text(ANSWER + body)
    text = judged(capsys, tmp_path, "--cmd", f"{sys.executable} {file}", "--memory", "60")
    assert re.search(reason, text), text
