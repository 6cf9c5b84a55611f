"""The epsilon of a configuration: by a bound of any unit, through Python and through `dp-oracle account`."""

from __future__ import annotations

import json
from fractions import Fraction

import numpy as np
import pytest

import oracle
from oracle import bound
from oracle.core import registry
from oracle.core.accounting import epsilon_of, proved_epsilon
from oracle.core.errors import DomainError, OracleError
from tests.commands import Done, command
from tests.topics import gathered

DELTA = Fraction(1, 10**5)
QUADRATICS = (
    "loss=linear", "eta=0.1", "lam=1", "clip_norm=1", "sigma=0.15", "batch_size=50", "epochs=20", "feature_norm=1",
)
SAMPLES = gathered("SAMPLES", "tests.trainings")


def account(*words: str) -> Done:
    return command("account", *words)


def test_a_mu_and_its_epsilon_are_one() -> None:
    params = {"sensitivity": 2, "dataset_size": 50, "sigma": "0.15", "contraction": "0.9", "steps": 20}
    by_mu = epsilon_of("noisy-gd.mu", params, DELTA)
    by_epsilon = epsilon_of("noisy-gd.epsilon", {**params, "delta": DELTA}, DELTA)
    assert by_mu.overlaps(by_epsilon)
    assert by_mu.width() < 1e-10


def test_renyi_orders_cost_a_little_more_than_the_curve() -> None:
    exact = bound("gaussian-composed.epsilon").reference(sigma=15, sensitivity=2, steps=400, delta=DELTA)
    params = {"sigma": 15, "sampling_rate": 1, "steps": 400, "neighbours": "replace"}
    loose = epsilon_of("poisson-gaussian.rdp", params, DELTA)
    assert exact.certainly_le(loose)
    assert loose.certainly_le(exact.upper.to_fraction() * Fraction(11, 10))


def test_perfect_privacy_is_zero_and_a_risk_is_no_epsilon() -> None:
    nothing = epsilon_of("shifted.mu", {"drift": "", "contraction": "", "noise": "", "diameter": "inf"}, DELTA)
    assert nothing.contains(0)
    assert nothing.width() == 0
    with pytest.raises(OracleError, match="gives no epsilon"):
        epsilon_of("gaussian.sigma", {"sensitivity": 1, "epsilon": 1, "delta": DELTA}, DELTA)


def test_a_lower_bound_proves_nothing() -> None:
    """What a mechanism certainly costs must not be taken for what it costs at most."""
    with pytest.raises(OracleError, match="is a lower bound"):
        epsilon_of("poisson-tuning.lower", {"mu": 1, "mean": 20, "threshold": 0, "delta": DELTA}, DELTA)


@pytest.mark.parametrize("name", registry.algorithms())
def test_every_algorithm_has_an_epsilon_or_a_reason(name: str) -> None:
    """Over a few samples: an enclosure, or a DomainError, and not only those."""
    item = oracle.algorithm(name)
    if item.accounted_by is None:
        features, _, given = SAMPLES[name](np.random.default_rng(0))
        with pytest.raises(DomainError, match="has no guarantee"):
            proved_epsilon(item, item.parse(given), records=len(features), delta=DELTA)
        return
    answers = 0
    for seed in range(8):
        features, _, given = SAMPLES[name](np.random.default_rng(seed))
        try:
            value = proved_epsilon(item, item.parse(given), records=len(features), delta=DELTA)
        except DomainError:
            continue
        assert value.lower.compare(0) >= 0
        answers += 1
    assert answers


def test_the_command_tells_the_epsilon() -> None:
    done = account("noisy-cgd", *QUADRATICS, "--records", "50", "--delta", "1e-5", "--json")
    assert done.returncode == 0, done.stderr
    document = json.loads(done.stdout)
    direct = bound("noisy-gd.epsilon").reference(
        sensitivity=2, dataset_size=50, sigma="0.15", contraction="0.9", steps=20, delta="1e-5"
    )
    assert direct.possibly_le(Fraction(document["upper"]))
    assert not direct.certainly_le(Fraction(document["lower"]) - Fraction(1, 10**9))
    assert document["bound"] == "noisy-cgd.mu"
    assert "lower  4.523" in account("noisy-cgd", *QUADRATICS, "--records", "50", "--delta", "1e-5").stdout


@pytest.mark.parametrize(
    ("words", "reason"),
    [
        (("noisy-cgd", *(w.replace("eta=0.1", "eta=3") for w in QUADRATICS)), "steps of this loss expand"),
        (("gd", "loss=linear", "eta=1", "steps=3", "initial_std=0", "iterate=last"), "no bound accounts for it"),
    ],
)
def test_no_guarantee_is_an_answer(words: tuple[str, ...], reason: str) -> None:
    """Training with such a configuration is allowed; its accountant says that nothing is proved, and why."""
    done = account(*words, "--records", "50", "--delta", "1e-5")
    assert done.returncode == 3
    assert done.stdout.startswith("no guarantee: ")
    assert reason in done.stdout
    document = json.loads(account(*words, "--records", "50", "--delta", "1e-5", "--json").stdout)
    assert document["upper"] is None
    assert reason in document["reason"]


@pytest.mark.parametrize(
    ("words", "mentioned"),
    [
        (("noisy-cgd", *QUADRATICS, "--records", "0", "--delta", "1e-5"), "records = 0"),
        (("noisy-cgd", *QUADRATICS, "--records", "50", "--delta", "1"), "delta = 1"),
        (("noisy-cgd", *QUADRATICS[1:], "--records", "50", "--delta", "1e-5"), "noisy-cgd needs loss"),
        (("nope", "--records", "50", "--delta", "1e-5"), "algorithm = nope is unknown"),
    ],
)
def test_bad_input_is_exit_code_two(words: tuple[str, ...], mentioned: str) -> None:
    done = account(*words)
    assert (done.returncode, done.stdout) == (2, "")
    assert mentioned in done.stderr
    assert len(done.stderr.splitlines()) == 1
