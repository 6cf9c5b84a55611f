"""NoisyCGD tuned by a Poisson number of runs: the law of what is released, the choice, the account, the errors."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
import torch
from numpy.typing import NDArray
from scipy import special, stats

import oracle
from oracle.algorithms.hidden_state import noisy_cgd
from oracle.algorithms.tuning import torch_tuned_noisy_cgd, tuned_noisy_cgd
from oracle.core.algorithm import Values
from oracle.core.errors import DomainError
from oracle.core.planning import JudgedGuarantee, plan_of_training, proved_epsilon
from oracle.core.tape import Tape
from tests.checks import check_twins

ALGORITHM = oracle.algorithm("poisson-tuned-noisy-cgd")
Array = NDArray[np.float64]
BASE: dict[str, Any] = {
    "loss": "logistic", "learning_rates": "0.3,0.1,0.8", "regularisations": "0.1,0.5,0", "clip_norm": "0.5",
    "noise_on_mean": "0.2",
    "batch_size": 2, "epochs": 2, "feature_norm": 1, "mean_runs": 4, "validation_records": 3, "score": "loss",
}


def config(**changes: Any) -> Values:
    return ALGORITHM.parse({**BASE, **changes})


def data(dimension: int = 3, seed: int = 0) -> tuple[Array, Array]:
    """Six protected records of norm at most 1, and three public ones that are longer."""
    rng = np.random.default_rng(seed)
    features = rng.normal(size=(9, dimension))
    features[:6] *= rng.random((6, 1)) / np.linalg.norm(features[:6], axis=1, keepdims=True)
    features[6:] *= 3
    return features, rng.integers(0, 2, 9).astype(np.float64)


def all_runs(features: Array, labels: Array, values: Values, tape: Tape) -> Array:
    """The last iterates of all runs of one model, by NoisyCGD on a tape whose names are spelled out here."""

    @dataclass(frozen=True)
    class Named(Tape):
        run: int = 0

        def normal(self, purpose: str, step: int, dimension: int) -> Any:
            return super().normal(f"run {self.run}/{purpose}", step, dimension)

    thetas = []
    for run in range(int(tape.poisson("runs", 0, float(values.mean_runs))[0])):
        index = int(tape.uniform("candidate", run, 1)[0, 0] * len(values.learning_rates))
        rate, ridge = values.learning_rates[index], values.regularisations[index]
        one = Values(**vars(values), learning_rate=rate, regularisation=ridge)
        own = Named(tape.seed, 1, tape.first_model, run)
        thetas.append(noisy_cgd.train(features[:6], labels[:6], one, own))
    return np.array(thetas).reshape(-1, features.shape[1])


SCORES: dict[str, Callable[[Array, Array], Array]] = {
    "linear": lambda s, y: s.sum(axis=1),
    "squared": lambda s, y: -((s - y) ** 2).sum(axis=1),
    "logistic": lambda s, y: special.log_expit((2 * y - 1) * s).sum(axis=1),
    "accuracy": lambda s, y: ((s > 0) == (y > 0.5)).sum(axis=1).astype(np.float64),
}


@pytest.mark.parametrize("kind", SCORES)
def test_the_best_run_is_released(kind: str) -> None:
    """All runs of 40 models trained one by one: the twin releases the first of the best, or zeros if there is none."""
    features, labels = data()
    values = config(mean_runs=2, **({"score": "accuracy"} if kind == "accuracy" else {"loss": kind}))
    tape = Tape(1, 40)
    released = np.asarray(ALGORITHM.train_batched(features, labels, values, tape))
    seen = set()
    for model in range(40):
        runs = all_runs(features, labels, values, tape.one(model))
        if not len(runs):
            np.testing.assert_array_equal(released[model], np.zeros(4))
            continue
        best = int(np.argmax(SCORES[kind](runs @ features[6:].T, labels[6:])))  # the first of equals
        seen.add(best)
        np.testing.assert_allclose(released[model], np.concatenate([[1], runs[best]]), rtol=1e-9)
    assert len(seen) > 2, "always the same run is best: the test is too easy"
    assert (released[:, 0] == 0).any()


@pytest.mark.parametrize("sign", [1.0, -1.0])
def test_the_release_has_its_closed_form_law(sign: float) -> None:
    """Linear loss, one dimension, a public record +-1: the best is the largest (smallest) of Poisson many thetas.

    A run is a mixture F of Gaussians in closed form, so P(nothing, or a release <= t) = exp(-m (1 - F(t))). 20000
    tunings of a fixed seed; a right one fails with probability < 1e-5: z at 5.5 standard errors, KS at 1e-6.
    """
    features, labels = np.array([[0.2], [0.9], [-0.3], [0.4], [sign]]), np.zeros(5)
    values = config(
        loss="linear", validation_records=1, mean_runs="1.5", learning_rates="0.4,0.1", regularisations="0.25,1",
    )
    released = np.asarray(ALGORITHM.train_batched(features, labels, values, Tape(12, 20_000)))
    slopes = -np.clip(features[:4, 0], -0.5, 0.5)
    parts = []
    for eta, lam in ((0.4, 0.25), (0.1, 1.0)):
        mean, variance = 0.0, 0.0
        for step in range(4):
            mean = (1 - eta * lam) * mean - eta * slopes[2 * (step % 2) :][:2].mean()
            variance = (1 - eta * lam) ** 2 * variance + (eta * 0.2) ** 2
        parts.append(stats.norm(mean, np.sqrt(variance)))
    nothing = np.exp(-1.5)
    share = float((released[:, 0] == 0).mean())
    assert abs(share - nothing) < 5.5 * np.sqrt(nothing * (1 - nothing) / 20_000)
    some = released[released[:, 0] == 1, 1]
    below = np.mean([part.cdf(some) if sign > 0 else part.sf(some) for part in parts], axis=0)
    uniform = (np.exp(-1.5 * (1 - below)) - nothing) / (1 - nothing)
    assert stats.kstest(uniform, "uniform").pvalue > 1e-6


def test_candidates_are_drawn_uniformly_and_anew_for_each_run() -> None:
    """The step sizes of 3000 models' first two runs, told by thetas of hardly any noise: chi-square at 1e-6."""
    features, labels = np.ones((2, 1)) / 2, np.zeros(2)
    values = config(
        loss="linear", noise_on_mean="1e-12", learning_rates="1,2,3", regularisations="0,0,0", batch_size=1,
        epochs=1, validation_records=1, mean_runs=30,
    )
    updates: list[Any] = []
    thetas = torch_tuned_noisy_cgd._trained(
        torch.tensor(features[:1]), torch.tensor(labels[:1]), values, Tape(3, 3000), 2,
        lambda kind, **facts: updates.append(kind),
    )
    chosen = np.rint(np.asarray(thetas[:, :, 0]) * 2).astype(int)
    table = np.zeros((3, 3))
    np.add.at(table, (chosen[:, 0] - 1, chosen[:, 1] - 1), 1)
    assert stats.chisquare(table.ravel()).pvalue > 1e-6
    assert updates == ["samples", "update"]


def test_public_records_only_choose() -> None:
    """Other public records release another run of the same runs; they train nothing, and may be of any norm."""
    features, labels = data()
    changed = features.copy()
    changed[6:] *= -100
    tape = Tape(2)
    runs = all_runs(features, labels, config(loss="linear"), tape)
    outcomes = {
        ALGORITHM.reference(given, labels, config(loss="linear"), tape)[1:].tobytes() for given in (features, changed)
    }
    assert len(outcomes) == 2
    assert outcomes <= {row.tobytes() for row in runs}


def test_of_equal_scores_the_first_wins_in_both() -> None:
    features, labels = data()
    features[6:] = 0.0
    values = config(score="accuracy")
    tape = Tape(1, 10)
    check_twins(ALGORITHM.reference, ALGORITHM.train_batched, (features, labels), values, tape)
    for model in range(10):
        runs = all_runs(features, labels, values, tape.one(model))
        if len(runs):
            np.testing.assert_array_equal(ALGORITHM.reference(features, labels, values, tape.one(model))[1:], runs[0])


def test_a_run_that_diverges_is_never_preferred() -> None:
    """Of two candidates one grows and grows: wherever a model has another run, that is released, in both twins."""
    values = config(loss="squared", learning_rates="20,0.1", regularisations="20,0.1", epochs=3)
    tape = Tape(4, 40)
    alone = np.array([ALGORITHM.reference(*data(), values, tape.one(model)) for model in range(40)])
    together = np.asarray(ALGORITHM.train_batched(*data(), values, tape))
    counts = tape.poisson("runs", 0, 4.0)
    small = np.abs(alone).max(axis=1) < 100
    for model, count in enumerate(counts):
        sane = any(tape.one(model).uniform("candidate", run, 1)[0, 0] >= 0.5 for run in range(count))
        assert small[model] == (sane or count == 0)
        np.testing.assert_allclose(together[model], alone[model], rtol=1e-9)
    assert small.sum() >= 6
    assert not small.all()


def test_a_candidate_that_overflows_is_refused_before_training() -> None:
    values = config(loss="squared", learning_rates="1e200,0.1", regularisations="1e200,0.1", epochs=3)
    for train in (ALGORITHM.reference, ALGORITHM.train_batched):
        with pytest.raises(DomainError, match=r"learning_rates = .* is outside its domain"):
            train(*data(), values, Tape(4))


def test_the_recorder_hears_of_every_run_and_the_release() -> None:
    tape = Tape(7, 5)
    together: list[tuple[str, dict[str, Any]]] = []
    ALGORITHM.train_batched(*data(), config(), tape, recorder=lambda kind, **facts: together.append((kind, facts)))
    updates = [facts for kind, facts in together if kind == "update"]
    release = together[-1]
    assert release[0] == "release"
    assert len(updates) == 6
    for model in range(5):
        alone: list[tuple[str, dict[str, Any]]] = []
        ALGORITHM.reference(*data(), config(), tape.one(model), recorder=lambda k, a=alone, **f: a.append((k, f)))
        assert alone[-1] == ("release", {name: int(release[1][name][model]) for name in ("runs", "run")})
        for facts in (facts for kind, facts in alone if kind == "update"):
            expected = np.asarray(updates[facts["step"]]["clipped_sum"])[model, facts["run"]]
            np.testing.assert_allclose(facts["clipped_sum"], expected, rtol=1e-9, atol=1e-14)


# --- the guarantee


def judged(values: Values, records: int) -> JudgedGuarantee:
    [found] = plan_of_training(ALGORITHM, values, records=records, delta="1e-5").judged
    return found


def test_the_guarantee_is_that_of_the_worst_candidate() -> None:
    """mu by the formula of Theorem 2.8 in doubles, for each candidate; rounded up, hence a hair above."""
    def mu(eta: float, lam: float) -> float:
        c, k, epochs = max(abs(1 - eta * lam), abs(1 - eta * (lam + 0.25))), 3, 2
        if c == 1:
            return 2 * 0.5 / (2 * 0.2) * np.sqrt(1 + (epochs - 1) / k)
        before = c ** (k * (epochs - 1))
        grown = c ** (2 * k - 2) * (1 - c**2) / (1 - c**k) ** 2 * (1 - before) / (1 + before)
        return float(2 * 0.5 / (2 * 0.2) * np.sqrt(1 + grown))

    found = judged(config(), 9)
    worst = Fraction(found.parameters["base_mu"])
    assert found.parameters["mean_runs"] == "4"
    assert float(worst) == pytest.approx(max(mu(0.3, 0.1), mu(0.1, 0.5), mu(0.8, 0)), rel=1e-12)
    fewer = judged(config(learning_rates="0.3,0.1", regularisations="0.1,0.5"), 9)
    assert Fraction(fewer.parameters["base_mu"]) < worst
    truth = oracle.bound("noisy-cgd.mu").reference(
        width=Fraction(1, 10**30), sensitivity=1, batch_size=2, noise_on_mean="0.2", contraction=1, batches=3, epochs=2,
    )
    assert truth.certainly_le(worst)
    single = oracle.bound("gdp.epsilon").reference(mu=worst, delta="1e-5")
    assert found.epsilon is not None
    assert single.certainly_le(found.epsilon)


@pytest.mark.parametrize(("changes", "records", "message"), [
    ({"learning_rates": "0.3,9,0.1"}, 9, "for every candidate: every step contracts"),  # one bad one spoils it
    ({"learning_rates": "", "regularisations": ""}, 9, r"learning_rates = \[\] is outside its domain"),
    ({}, 3, "validation_records = 3 is outside its domain: less than the 3 records"),
    ({}, 8, "for every candidate: the batches are disjoint and of one size"),
    ({"loss": "squared", "score": "accuracy"}, 9, "score = accuracy .* squared loss has no classes"),
])
def test_nothing_is_proved_where_there_is_no_guarantee(changes: dict[str, Any], records: int, message: str) -> None:
    with pytest.raises(DomainError, match=message):
        proved_epsilon(ALGORITHM, config(**changes), records=records, delta="1e-5")


# --- errors, and bugs that must not pass


@pytest.mark.parametrize(("changes", "broken", "message"), [
    ({}, lambda x, y: (x[:8], y[:8]), "batch_size = 2 .* divisor of the 5 records"),
    ({}, lambda x, y: (x[:3], y[:3]), "less than the 3 records"),
    ({}, lambda x, y: (x[::-1], y[::-1]), "above the declared feature_norm"),
    ({}, lambda x, y: (x, y + 0.5), "must be 0 or 1"),
    ({}, lambda x, y: (np.where(x == x[8, 0], np.nan, x), y), "not finite"),  # a public one
    ({"learning_rates": [], "regularisations": []}, lambda x, y: (x, y), "learning_rates = "),
    ({"loss": "linear", "score": "accuracy"}, lambda x, y: (x, y), "score = accuracy"),
])
def test_data_that_do_not_fit_are_refused_by_both(changes: dict[str, Any], broken: Any, message: str) -> None:
    for train in (ALGORITHM.reference, ALGORITHM.train_batched):
        with pytest.raises(DomainError, match=message):
            train(*broken(*data()), config(**changes), Tape(0))


@pytest.mark.parametrize("changes", [
    {"mean_runs": 0}, {"mean_runs": -1}, {"learning_rates": "0.1,0,0.2"}, {"regularisations": "0,0"},
    {"regularisations": "0,0,-1"}, {"validation_records": 0}, {"noise_on_mean": 0}, {"score": "best"},
])
def test_a_configuration_outside_its_domain_is_refused(changes: dict[str, Any]) -> None:
    with pytest.raises(DomainError, match=r"is outside its domain|must have one length"):
        config(**changes)


def test_a_diverged_model_has_the_worst_score() -> None:
    features, labels = data()
    with np.errstate(invalid="ignore"):
        assert tuned_noisy_cgd.quality(features[6:], labels[6:], config(), np.full(3, np.nan)) == -np.inf
