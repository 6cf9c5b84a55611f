"""Audits in one run: the p-values at known points, fair coins, and the command. Coverage is in test_coverage.py."""

from __future__ import annotations

import json
import math
from pathlib import Path

import numpy as np
import pytest
from scipy import stats
from typer.testing import CliRunner

from empirical.audits.one_run import (
    Canaries,
    axis_canaries,
    epsilon_low,
    guess,
    judge_guesses,
    mu_low,
    one_run_audit,
    p_value,
)
from empirical.audits.targets import make_target
from oracle.core.errors import DomainError, TargetError
from oracle.core.tape import Tape
from reports.cli import app

RUNNER = CliRunner()

# One step on 100 canaries, +-e_i: the release moves by 2 eta / 100 along e_i in noise eta sigma: mu = 2 / (100 sigma).
CONFIG = {
    "loss": "linear", "learning_rate": "1", "regularisation": "0", "clip_norm": "1", "noise_on_mean": "0.01",
    "batch_size": 100, "epochs": 1, "feature_norm": "1",
}
TARGET = {"kind": "algorithm", "name": "noisy-cgd", "config": CONFIG}
NOTHING = np.zeros((0, 100)), np.zeros(0)


def test_p_values_without_delta_are_binomial_tails() -> None:
    for correct, epsilon in ((75, math.log(3)), (60, 0.0), (100, 2.0)):
        expected = stats.binom.sf(correct - 1, 100, 1 / (1 + math.exp(-epsilon)))
        found = p_value(canaries=400, guesses=100, correct=correct, epsilon=epsilon, delta=0.0)
        assert found == pytest.approx(expected, rel=1e-9)
    assert p_value(canaries=10, guesses=5, correct=0, epsilon=1.0, delta=0.1) == 1.0


def test_delta_adds_the_steepest_mean_of_the_masses_just_below() -> None:
    canaries, guesses, correct, epsilon, delta = 50, 6, 5, 0.7, 1e-3
    law = stats.binom(guesses, 1 / (1 + math.exp(-epsilon)))
    steepest = max(sum(law.pmf(correct - j) for j in range(1, i + 1)) / i for i in range(1, correct + 1))
    expected = law.sf(correct - 1) + 2 * canaries * delta * steepest
    found = p_value(canaries=canaries, guesses=guesses, correct=correct, epsilon=epsilon, delta=delta)
    assert found == pytest.approx(expected, rel=1e-9)


def test_the_bound_is_the_last_rejected_epsilon() -> None:
    low = epsilon_low(canaries=1000, guesses=100, correct=75, delta=1e-4, confidence=0.95)
    assert p_value(canaries=1000, guesses=100, correct=75, epsilon=low, delta=1e-4) < 0.05
    assert p_value(canaries=1000, guesses=100, correct=75, epsilon=low + 0.005, delta=1e-4) >= 0.05


def test_one_canary_is_the_best_test_of_a_gaussian_pair() -> None:
    # One fair coin is guessed from N(0, 1) or N(mu, 1) with probability Phi(mu/2) at best: mu >= 2 Phi^-1(alpha).
    low = mu_low(canaries=1, guesses=1, correct=1, confidence=0.1)
    assert low == pytest.approx(2 * stats.norm.ppf(0.9), abs=1e-6)
    assert mu_low(canaries=1, guesses=1, correct=1, confidence=0.6) == 0.0
    assert mu_low(canaries=100, guesses=50, correct=25, confidence=0.95) == 0.0


def test_the_highest_scores_are_guessed_in_and_the_lowest_out() -> None:
    scores, coins = np.array([3.0, -2.0, 0.1, 5.0, -4.0]), np.array([1.0, 0.0, 1.0, 0.0, 0.0])
    assert guess(scores, coins, 2) == 1
    assert guess(scores, coins, 4) == 3
    with pytest.raises(DomainError, match="guesses"):
        guess(scores, coins, 6)


def test_replaced_and_removed_canaries() -> None:
    replaced = axis_canaries(2, 3, norm=2.0)
    features, labels = replaced.among(np.zeros((1, 3)), np.zeros(1), np.array([1.0, 0.0]))
    assert np.array_equal(features, [[0, 0, 0], [0, 2, 0], [0, 0, -2]])
    assert np.array_equal(labels, [0, 1, 1])
    removed = axis_canaries(2, 3, norm=2.0, neighbours="add_remove")
    assert np.array_equal(removed.among(np.zeros((1, 3)), np.zeros(1), np.array([0.0, 1.0]))[0], [[0, 0, 0], [0, 0, 2]])
    with pytest.raises(DomainError, match="canaries = 4"):
        axis_canaries(4, 3, norm=1.0)
    with pytest.raises(DomainError, match="lengths"):
        Canaries(np.zeros((2, 3)), np.zeros(3), np.zeros((2, 3)))


def test_an_audit_in_few_runs_is_below_the_exact_epsilon_and_not_far() -> None:
    # mu = 2: epsilon = 10.05 at delta 1e-5. Fixed seed; each bound exceeds it with probability at most 5 %.
    canaries = axis_canaries(100, 100, norm=1.0)
    free = one_run_audit(make_target(TARGET), *NOTHING, canaries, delta=1e-5, runs=10, seed=1)
    assert (free.canaries, free.guesses) == (1000, 333)
    assert 2.5 < free.epsilon < 10.05
    law = one_run_audit(make_target(TARGET), *NOTHING, canaries, delta=1e-5, runs=10, seed=1, gaussian=True)
    assert free.epsilon < law.epsilon < 10.05
    assert one_run_audit(make_target(TARGET), *NOTHING, canaries, delta=1e-5, runs=10, seed=1) == free


def test_the_coins_are_fair_and_their_own_in_every_run() -> None:
    # 20,000 coins: the frequency is within 5 standard errors of a half, P(fail) < 1e-6.
    coins = np.stack([Tape(0, 1, run).bernoulli("one-run/coins", 0, 200, 0.5)[0] for run in range(100)])
    assert abs(coins.mean() - 0.5) < 5 * 0.5 / math.sqrt(coins.size)
    assert len(np.unique(coins, axis=0)) == 100


def test_scores_that_are_no_numbers_and_releases_of_another_size_are_errors() -> None:
    with pytest.raises(TargetError, match="not finite"):
        judge_guesses(np.array([0.0, np.nan]), np.array([0.0, 1.0]), guesses=1, delta=0.0, confidence=0.95)
    canaries = axis_canaries(100, 100, norm=1.0)
    wide = Canaries(canaries.features, canaries.labels, np.ones((100, 7)), canaries.instead)
    with pytest.raises(DomainError, match="directions of length 7"):
        one_run_audit(make_target(TARGET), *NOTHING, wide, delta=1e-5)


def test_the_command_holds_one_run_to_a_claim(tmp_path: Path) -> None:
    config, file = tmp_path / "gd.toml", tmp_path / "out.json"
    config.write_text("\n".join(f"{key} = {json.dumps(value)}" for key, value in CONFIG.items()))
    words = ("one-run", "noisy-cgd", "--config", str(config), "--models", "10")
    done = RUNNER.invoke(app, [*words, "--json", str(file)])
    assert done.exit_code == 0, done.output
    assert json.loads(file.read_text())["one_run"]["canaries"] == 1000
    assert RUNNER.invoke(app, [*words, "--epsilon", "1"]).exit_code == 1
    for option, value, refusal in (
        ("--records", "50", "records = 50"), ("--epsilon", "-1", "epsilon = -1"), ("--delta", "2", "delta"),
        ("--canaries", "-1", "canaries = -1"), ("--models", "0", "models = 0"), ("--feature-norm", "0", "feature_norm"),
    ):
        assert refusal in str(RUNNER.invoke(app, [*words, option, value]).exception)


def test_a_function_that_ignores_its_seed_is_invalid(tmp_path: Path) -> None:
    file, out = tmp_path / "sums.py", tmp_path / "out.json"
    file.write_text("def fn(dataset, seed):\n    return dataset[0].sum(axis=0)")
    words = ["one-run", f"{file}:fn", "--epsilon", "1", "--canaries", "5", "--json", str(out)]
    assert RUNNER.invoke(app, words).exit_code == 2
    assert json.loads(out.read_text())["one_run"] is None
    assert "ignores its seed" in json.loads(out.read_text())["reason"]


def test_the_gaussian_version_is_refused_where_theory_does_not_declare_it(tmp_path: Path) -> None:
    config = tmp_path / "gd.toml"
    words = CONFIG | {"loss": "logistic"}
    config.write_text("\n".join(f"{key} = {json.dumps(value)}" for key, value in words.items()))
    refused = RUNNER.invoke(app, ["one-run", "noisy-cgd", "--config", str(config), "--gaussian"])
    assert isinstance(refused.exception, DomainError)
    assert "Gaussian by theory" in str(refused.exception)
