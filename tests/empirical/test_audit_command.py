"""The audit command: its examples, its options, and one line for every kind of bad usage."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import typer

import empirical.cli
from oracle.core.planning import plan, read
from oracle.running.console import run
from tests.empirical.trainings import NOISY_CGD

ROOT = Path(__file__).parents[2]
APP = typer.Typer()
empirical.cli.register(APP)
FUNCTION = f"{ROOT / 'examples' / 'audit_target.py'}:train"
BATCHED = (f"{FUNCTION}_many", "--batched")
PYTHON = f"{sys.executable} {ROOT / 'examples' / 'audit_command.py'}"
NODE = f"node {ROOT / 'examples' / 'audit_command.js'}"
SMALL = ("--budget", "2000", "--dimension", "2", "--canary", "extremes")


def audit(folder: Path, *words: str, code: int) -> dict[str, Any]:
    """The JSON object of an audit that must end with an exit code."""
    file = folder / "audit.json"
    assert run(APP, ["audit", *words, "--json", str(file)]) == code
    result: dict[str, Any] = json.loads(file.read_text())
    return result


@pytest.mark.parametrize("words", [
    pytest.param((FUNCTION,), id="one by one", marks=pytest.mark.full), pytest.param(BATCHED, id="batched"),
])
def test_the_example_function_violates_epsilon_one(tmp_path: Path, words: tuple[str, ...]) -> None:
    # mu = 1 on the built pair, epsilon = 4.38 at delta = 1e-5; the lower bound exceeds that with probability <= 5 %.
    result = audit(tmp_path, *words, "--epsilon", "1", *SMALL, code=1)
    assert result["verdict"] == "VIOLATION"
    assert 1 < result["epsilon_lower"] < 4.38
    assert audit(tmp_path, *words, "--epsilon", "4.38", *SMALL, code=0)["verdict"] == "CONSISTENT"


@pytest.mark.full
@pytest.mark.parametrize("command", [PYTHON, pytest.param(NODE, marks=pytest.mark.skipif(
    shutil.which("node") is None, reason="the JavaScript example needs node, which is not installed"
))], ids=["python", "node"])
def test_the_example_command_keeps_epsilon_one_and_violates_a_half(tmp_path: Path, command: str) -> None:
    # Laplace noise of scale 1/n: epsilon is 1; the lower bound exceeds it with probability at most 5 %, and did not.
    words = ("--cmd", command, "--budget", "6000", "--canary", "extremes")
    assert 0.5 < audit(tmp_path, *words, "--epsilon", "1", code=0)["epsilon_lower"] < 1
    audit(tmp_path, *words, "--epsilon", "0.5", code=1)


def test_the_examples_say_how_they_are_run() -> None:
    for name in ("audit_target.py", "audit_command.py", "audit_command.js"):
        text = (ROOT / "examples" / name).read_text()
        for line in re.findall(r"dp-oracle (audit .*)", text):
            words = re.findall(r'"[^"]*"|\S+', line)
            assert name in line
            assert "--epsilon" in words
    assert len((ROOT / "examples" / "audit_command.py").read_text().split('"""')[2].strip().splitlines()) <= 20


@pytest.mark.thorough
def test_the_installed_command_takes_the_first_example(tmp_path: Path) -> None:
    line = re.search(r"dp-oracle (audit .*)", (ROOT / "examples" / "audit_target.py").read_text())
    assert line is not None
    words = [*line[1].split(), "--budget", "3000"]
    done = subprocess.run(
        [sys.executable, "-m", "reports.cli", *words], capture_output=True, text=True, check=False, cwd=ROOT
    )
    assert done.returncode == 1, done.stderr
    assert "VIOLATION: epsilon >= " in done.stdout


def test_a_pair_of_a_file_is_audited(tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    features, labels = rng.normal(size=(20, 2)), np.zeros(20)
    features /= np.linalg.norm(features, axis=1, keepdims=True)
    np.savez(tmp_path / "pair.npz", X0=features, y0=labels, X1=np.delete(features, 4, axis=0), y1=labels[:-1])
    words = (*BATCHED, "--pair", str(tmp_path / "pair.npz"), "--epsilon", "5", "--budget", "500")
    result = audit(tmp_path, *words, code=0)
    assert result["plan"]["pair"]["neighbours"] == "add_remove"
    assert result["plan"]["pair"]["path"] == str(tmp_path / "pair.npz")
    audit(tmp_path, *words, "--neighbours", "add_remove", code=0)
    assert run(APP, ["audit", *words, "--neighbours", "replace"]) == 2


@pytest.mark.full
@pytest.mark.parametrize("canary", ["extremes", "orthogonal", "label-flip"])
@pytest.mark.parametrize("neighbours", ["replace", "add_remove"])
def test_a_domain_is_told_and_used(tmp_path: Path, canary: str, neighbours: str) -> None:
    words = ("--canary", canary, "--neighbours", neighbours, "--records", "7", "--dimension", "3")
    words += ("--feature-norm", "0.5", "--labels", "-2", "3")
    file = tmp_path / "seen.py"
    file.write_text(
        "import numpy as np\ndef fn(dataset, seed):\n    x, y = dataset\n"
        "    return [len(x), x.shape[1], np.linalg.norm(x, axis=1).max(), y.min(), y.max(), seed % 9]"
    )
    result = audit(tmp_path, f"{file}:fn", "--epsilon", "9", "--budget", "200", *words, code=0)
    assert result["plan"]["pair"] == {
        "kind": "built", "name": canary, "records": 7, "dimension": 3, "feature_norm": "0.5", "label_low": "-2",
        "label_high": "3", "neighbours": neighbours,
    }


LOGISTIC = """
import numpy as np

def fn(dataset, seeds):
    x, y = dataset
    noise = np.random.default_rng(seeds).normal(size=(3, len(seeds), x.shape[1]))
    w = np.zeros((len(seeds), x.shape[1]))
    for step in range(3):
        w = w - (1 / (1 + np.exp(-w @ x.T)) - y) @ x + 0.3 * noise[step]
    return w
"""


@pytest.mark.full
def test_the_worst_pair_is_found(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    # At zero the logistic gradients of (x, 1) and (-x, 0) are equal, so that opposite ends of the domain show little.
    (tmp_path / "target.py").write_text(LOGISTIC)
    words = (f"{tmp_path / 'target.py'}:fn", "--batched", "--epsilon", "1", "--budget", "2000")
    missed = audit(tmp_path, *words, "--canary", "extremes", code=0)
    found = audit(tmp_path, *words, code=1)
    assert found["plan"]["pair"]["name"] != "extremes"
    assert found["epsilon_lower"] > 1 > 0.5 > missed["epsilon_lower"]
    assert f"data sets: {found['plan']['pair']['name']} (" in capsys.readouterr().out
    named = audit(tmp_path, *words, "--canary", found["plan"]["pair"]["name"], code=1)
    assert named["epsilon_lower"] == found["epsilon_lower"]  # the pilots left no trace


@pytest.mark.full
def test_the_same_audit_again_and_in_two_processes_is_the_same(tmp_path: Path) -> None:
    words = (*BATCHED, "--epsilon", "1", *SMALL, "--shard", "300")
    first = audit(tmp_path, *words, code=1)
    store = ("--store", str(tmp_path / "kept.sqlite"))
    assert audit(tmp_path, *words, *store, "--workers", "2", code=1) == first
    assert audit(tmp_path, *words, *store, code=1) == first
    assert audit(tmp_path, *words, "--seed", "1", code=1)["epsilon_lower"] != first["epsilon_lower"]


def test_options_reach_the_plan(tmp_path: Path) -> None:
    words = ("--epsilon", "5", "--delta", "1e-3", "--confidence", "0.9", "--estimator", "credible", "--seed", "4")
    words += ("--attack", "projection", "--attack", "mean-distance", "--timeout", "7", "--memory", "900")
    plan = audit(tmp_path, *BATCHED, *words, *SMALL, "--shard", "500", code=0)["plan"]
    assert (plan["claimed"], plan["delta"], plan["confidence"], plan["estimator"]) == ("5", "1e-3", 0.9, "credible")
    assert (plan["seed"], plan["shard"], plan["budget"]) == (4, 500, 2000)
    assert plan["attacks"] == ["projection", "mean-distance"]
    assert (plan["target"]["timeout"], plan["target"]["memory"], plan["target"]["batched"]) == (7.0, 900, True)


@pytest.mark.parametrize(("claimed", "code"), [("1", 0), ("0.5", 1)])
def test_pure_privacy_is_a_claim_at_delta_zero(tmp_path: Path, claimed: str, code: int) -> None:
    """Laplace noise of scale 2 on a sum with sensitivity 2: epsilon is 1; a bound is above it in 5 % of all seeds."""
    file = tmp_path / "laplace.py"
    file.write_text(
        "import numpy as np\ndef fn(dataset, seeds):\n"
        "    return dataset[0].sum() + np.stack([np.random.default_rng(s).laplace(scale=2) for s in seeds])"
    )
    words = (f"{file}:fn", "--batched", "--epsilon", claimed, "--delta", "0", *SMALL)
    assert 0.5 < audit(tmp_path, *words, code=code)["epsilon_lower"] <= 1.0


def test_an_algorithm_is_configured_by_a_file(tmp_path: Path) -> None:
    file = tmp_path / "cgd.toml"
    lines = [f"{key} = {json.dumps(value)}" for key, value in NOISY_CGD.items()]
    file.write_text("\n".join([*lines, "records = 9", "[pair]", "batch = 2"]))
    words = ("noisy-cgd", "--config", str(file), "--budget", "500")
    result = audit(tmp_path, *words, code=0)
    assert result["plan"]["pair"] | {"records": 9, "batch": 2} == result["plan"]["pair"]
    assert result["plan"]["estimator"] == "gdp"  # the law is Gaussian by theory
    assert result["proved"] is not None
    assert audit(tmp_path, *words, "--records", "6", code=0)["plan"]["pair"]["records"] == 6
    assert audit(tmp_path, *words, "--neighbours", "replace", "--estimator", "curve", code=0)["exact"] is not None


def test_the_file_of_a_plan_configures_an_audit_too(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """One file, the same keys: what only a plan says must be what our training does."""
    file = tmp_path / "plan.toml"
    lines = [f"{key} = {json.dumps(value)}" for key, value in NOISY_CGD.items() if key != "noise_on_mean"]
    lines += ["noise_multiplier = 0.6", 'algorithm = "noisy-cgd"', "dataset_size = 12", "delta = 1e-5", "convex = true"]
    file.write_text("\n".join([*lines, 'neighbours = "replace"', 'released = "last_iterate"']))
    words = ("noisy-cgd", "--config", str(file), "--records", "12", "--budget", "500")
    planned = plan(*read(file)).best
    assert planned is not None
    assert planned.epsilon is not None
    assert audit(tmp_path, *words, code=0)["proved"] == list(planned.epsilon.to_decimals())
    for wrong, told in (
        ("all_iterates", "released = all_iterates is not what the training of noisy-cgd does: last_iterate"),
        ('last_iterate"\nalgorithm = "dp-gd', "no TOML file"),
    ):
        (tmp_path / "wrong.toml").write_text(file.read_text().replace("last_iterate", wrong))
        assert run(APP, ["audit", "noisy-cgd", "--config", str(tmp_path / "wrong.toml"), *words[3:]]) == 2
        assert told in capsys.readouterr().err
    assert run(APP, ["audit", "dp-gd", *words[1:]]) == 2
    assert "is outside its domain: dp-gd, which is to be audited" in capsys.readouterr().err


GOOD = (FUNCTION, "--epsilon", "1", "--budget", "200")


@pytest.mark.parametrize(
    ("words", "told"),
    [
        ((), "TARGET or --cmd"),
        ((FUNCTION, "--cmd", "cat", "--epsilon", "1"), "TARGET or --cmd"),
        (("no-such", "--epsilon", "1"), "algorithm = no-such is unknown"),
        (("gd",), "config is needed"),
        (("noisy-cgd", "--batched"), "batched"),
        (("--cmd", "cat", "--batched", "--epsilon", "1"), "batched"),
        ((*GOOD, "--config", "x.toml"), "config"),
        (("noisy-cgd", "--config", "no-such.toml"), "cannot be read"),
        ((FUNCTION,), "epsilon is needed"),
        (("--cmd", "cat"), "epsilon is needed"),
        (("no/such.py:fn", "--epsilon", "1"), "there is no file no/such.py"),
        (("no.such:fn", "--epsilon", "1"), "there is no package no"),
        ((*GOOD, "--epsilon", "-1"), "epsilon = -1"),
        ((*GOOD, "--epsilon", "nan"), "epsilon = nan"),
        ((*GOOD, "--delta", "2"), "delta = 2"),
        ((*GOOD, "--budget", "3"), "budget = 3"),
        ((*GOOD, "--budget", "x"), "budget"),
        ((*GOOD, "--confidence", "1"), "confidence = 1"),
        ((*GOOD, "--estimator", "best"), "estimator = best"),
        ((*GOOD, "--estimator", "gdp"), "Gaussian by theory"),
        ((*GOOD, "--attack", "magic"), "magic"),
        ((*GOOD, "--seed", "-1"), "seed = -1"),
        ((*GOOD, "--shard", "0"), "shard = 0"),
        ((*GOOD, "--workers", "0"), "workers = 0"),
        ((*GOOD, "--timeout", "0"), "timeout = 0"),
        ((*GOOD, "--memory", "0"), "memory = 0"),
        ((*GOOD, "--neighbours", "friends"), "neighbours = friends"),
        ((*GOOD, "--canary", "yellow"), "canary = yellow"),
        ((*GOOD, "--records", "0"), "records = 0"),
        ((*GOOD, "--dimension", "0"), "dimension = 0"),
        ((*GOOD, "--feature-norm", "-1"), "feature_norm = -1"),
        ((*GOOD, "--labels", "a", "1"), "label_low = a"),
        ((*GOOD, "--labels", "1"), "labels"),
        ((*GOOD, "--pair", "no-such.npz"), "no-such.npz cannot be read"),
        ((*GOOD, "--pair", "no-such.npz", "--records", "3"), "takes no records"),
        ((*GOOD, "--pair", "no-such.npz", "--canary", "extremes"), "takes no canary"),
        (("noisy-cgd", "--neighbours", "add_remove"), "neighbours by replace"),
        (("noisy-cgd", "--feature-norm", "3"), "feature_norm"),
        ((*GOOD, "--colour", "blue"), "--colour"),
        (("train.py", "--epsilon", "1"), "name the function, too, train.py:fn"),
        ((*GOOD, "--epsilon", "1e400"), "epsilon = 1e400"),
        ((*GOOD, "--timeout", "1e300"), "timeout = 1e+300"),
        ((*GOOD, "--memory", "99999999999999999999"), "memory = 99999999999999999999"),
        ((*GOOD, "--feature-norm", "1e400"), "feature_norm = 1e400"),
        (("noisy-cgd", "--delta", "0"), "delta = 0"),
        (("--all", "--confidence", "0.9"), "confidence = 0.9 is not for --all"),
        (("--all", "--delta", "1e-3"), "delta = 1e-3 is not for --all"),
        (("--all", "--records", "9"), "records = 9 is not for --all"),
    ],
)
def test_bad_usage_is_one_line(words: tuple[str, ...], told: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(APP, ["audit", *words]) == 2
    printed = capsys.readouterr()
    assert printed.out == ""
    assert printed.err.startswith("error: ")
    assert printed.err.count("\n") == 1
    assert told in printed.err


@pytest.mark.parametrize(
    ("name", "text", "told"),
    [
        ("convex-relu-exact", "", "deterministic"),
        (
            "gd", 'loss = "linear"\nlearning_rate = "0.5"\nsteps = 2\ninitial_std = "1"\niterate = "last"',
            "gd has no guarantee",
        ),
        ("noisy-cgd", "learning_rate = 1", "noisy-cgd needs"),
        ("noisy-cgd", "not toml", "no TOML file"),
        ("noisy-cgd", "pair = 3", "pair = 3"),
    ],
)
def test_a_bad_configuration_is_one_line(
    tmp_path: Path, name: str, text: str, told: str, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "plan.toml"
    file.write_text(text)
    assert run(APP, ["audit", name, "--config", str(file)]) == 2
    printed = capsys.readouterr()
    assert printed.err.startswith("error: ")
    assert printed.err.count("\n") == 1
    assert told in printed.err
