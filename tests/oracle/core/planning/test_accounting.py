"""The epsilon of a configuration: by a bound of any unit, through Python and through `dp-oracle plan --trained`."""

from __future__ import annotations

import json
from fractions import Fraction

import numpy as np
import pytest

import oracle
from oracle import bound
from oracle.core import registry
from oracle.core.errors import DomainError, OracleError
from oracle.core.planning import plan_of_training, proved_epsilon
from oracle.core.planning.accounting import epsilon_of
from tests.commands import command, output, parsed
from tests.topics import gathered

DELTA = Fraction(1, 10**5)
QUADRATICS = (
    "loss=linear", "learning_rate=0.1", "regularisation=1", "clip_norm=1", "noise_on_mean=0.15", "batch_size=50",
    "epochs=20", "feature_norm=1", "dataset_size=50", "delta=1e-5",
)
SAMPLES = gathered("SAMPLES", "tests.trainings")


def test_a_mu_and_its_epsilon_are_one() -> None:
    params = {"sensitivity": 2, "dataset_size": 50, "noise_on_mean": "0.15", "contraction": "0.9", "steps": 20}
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
    nothing = epsilon_of("shifted.mu", {"drift": "", "contractions": "", "iterate_noise": "", "diameter": "inf"}, DELTA)
    assert nothing.contains(0)
    assert nothing.width() == 0
    with pytest.raises(OracleError, match="gives no epsilon"):
        epsilon_of("gaussian.sigma", {"sensitivity": 1, "epsilon": 1, "delta": DELTA}, DELTA)


def test_a_lower_bound_proves_nothing() -> None:
    """What a mechanism certainly costs must not be taken for what it costs at most."""
    with pytest.raises(OracleError, match="is a lower bound"):
        epsilon_of("poisson-tuning.lower", {"base_mu": 1, "mean_runs": 20, "rank_threshold": 0, "delta": DELTA}, DELTA)


@pytest.mark.parametrize("name", [name for name, item in registry.algorithms().items() if item.can_train])
def test_every_training_has_an_epsilon_or_a_reason(name: str) -> None:
    """Over a few samples: an enclosure, or a DomainError, and not only those, but for what rounding alone spoils."""
    item = oracle.algorithm(name)
    answers = 0
    for seed in range(8):
        features, _, given = SAMPLES[name](np.random.default_rng(seed))
        found = plan_of_training(item, item.parse(given), records=len(features), delta=DELTA)
        if found.best is None:
            with pytest.raises(DomainError, match="has no guarantee"):
                proved_epsilon(item, item.parse(given), records=len(features), delta=DELTA)
            answers += found.best_of_exact_arithmetic is not None
            continue
        value = proved_epsilon(item, item.parse(given), records=len(features), delta=DELTA)
        assert value.lower.compare(0) >= 0
        answers += 1
    assert bool(answers) == bool(item.guarantees)


def test_the_command_tells_the_epsilon() -> None:
    best = parsed("plan", "noisy-cgd", *QUADRATICS, "--trained", "--json")["best"]
    direct = bound("noisy-gd.epsilon").reference(
        sensitivity=2, dataset_size=50, noise_on_mean="0.15", contraction="0.9", steps=20, delta="1e-5"
    )
    assert direct.possibly_le(Fraction(best["epsilon"]["upper"]))
    assert not direct.certainly_le(Fraction(best["epsilon"]["lower"]) - Fraction(1, 10**9))
    assert best["bound"] == "noisy-cgd.mu"
    assert "proved: epsilon <= 4.523" in output("plan", "noisy-cgd", *QUADRATICS, "--trained")


def test_a_noise_multiplier_says_as_much_as_the_noise_on_the_mean() -> None:
    """0.15 on the mean of 50 clipped to 1 is the multiplier 7.5, exactly; both at once are refused."""
    given = dict(word.split("=") for word in QUADRATICS if word.split("=")[0] not in ("dataset_size", "delta"))
    item = oracle.algorithm("noisy-cgd")
    other = {**given, "noise_multiplier": "7.5"}
    with pytest.raises(DomainError, match=r"noise_multiplier = 7.5 and noise_on_mean = 0.15 are both given"):
        item.parse(other)
    del other["noise_on_mean"]
    assert item.parse(other) == item.parse(given)
    del other["clip_norm"]
    with pytest.raises(DomainError, match="noisy-cgd needs clip_norm and batch_size to read noise_multiplier"):
        item.parse(other)


def test_a_pure_guarantee_needs_no_delta() -> None:
    words = ("loss=squared", "loss_range=1", "temperature=2", "regularisation=1", "grid_radius=1", "grid_points=5")
    told = command("plan", "exponential-mechanism", *words, "dataset_size=10", "--trained", "--json")
    assert told.returncode == 3, "floating point meets it up to rounding only"
    (judged,) = json.loads(told.stdout)["guarantees"]
    assert (judged["epsilon"]["upper"], judged["delta"]) == ("1", "0")


@pytest.mark.parametrize(
    ("words", "reason"),
    [
        (("noisy-cgd", *(w.replace("rate=0.1", "rate=3") for w in QUADRATICS)), "every step contracts"),
        (
            ("gd", "loss=linear", "learning_rate=1", "steps=3", "initial_std=0", "iterate=last", "dataset_size=50",
             "delta=1e-5"),
            "nothing is proved",
        ),
    ],
)
def test_no_guarantee_is_an_answer(words: tuple[str, ...], reason: str) -> None:
    """Training with such a configuration is allowed; its plan says that the last-iterate bound does not apply."""
    assert reason in command("plan", *words, "--trained").stdout
    document = json.loads(command("plan", *words, "--trained", "--json").stdout)
    assert "noisy-cgd.mu" not in str(document["best"])


@pytest.mark.parametrize(
    ("words", "mentioned"),
    [
        (("noisy-cgd", *QUADRATICS[:-2], "dataset_size=0", "delta=1e-5"), "dataset_size = 0"),
        (("noisy-cgd", *QUADRATICS[:-2], "dataset_size=50", "delta=1"), "delta = 1"),
        (("noisy-cgd", *QUADRATICS[1:]), "noisy-cgd needs loss"),
        (("noisy-cgd", *QUADRATICS, "eta=1"), "noisy-cgd has no parameter eta (got 1)"),
        (("nope", "dataset_size=50", "delta=1e-5"), "algorithm = nope is unknown"),
        (("noisy-gd", "dataset_size=50", "delta=1e-5"), "noisy-gd can be planned, but is not implemented here"),
    ],
)
def test_bad_input_is_exit_code_two(words: tuple[str, ...], mentioned: str) -> None:
    done = command("plan", *words, "--trained")
    assert (done.returncode, done.stdout) == (2, "")
    assert mentioned in done.stderr
    assert len(done.stderr.splitlines()) == 1
