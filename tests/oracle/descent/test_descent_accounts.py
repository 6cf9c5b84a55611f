"""Gradient descent, plain and private: what is proved of it, checked without our accountants, and what is refused."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy import optimize, stats

import oracle
from oracle.cli import list_algorithms
from oracle.core.errors import DomainError
from oracle.core.planning import plan, plan_of_training, proved_epsilon, read
from oracle.core.tape import Tape
from tests.oracle.descent.cases import BASE, batched, config, data, literal
from tests.pld import composed_delta

every_private = pytest.mark.parametrize("name", ["dp-gd", "dp-gd-projected", "dp-sgd"])


def epsilon_of(name: str, delta: str, **changes: Any) -> float:
    return proved_epsilon(oracle.algorithm(name), config(name, **changes), records=6, delta=delta).to_floats()[1]


@pytest.mark.parametrize(("neighbours", "terms"), [("replace", 2), ("add_remove", 1)])
@pytest.mark.parametrize(("name", "length"), [("dp-gd", 0.4), ("dp-gd-projected", 2.0)])
def test_full_batch_accounts_are_the_gaussian_curve(name: str, length: float, neighbours: str, terms: int) -> None:
    """Against scipy's root of delta = Phi(mu/2 - e/mu) - e^e Phi(-mu/2 - e/mu), mu = terms C sqrt(T) / (n sigma)."""
    mu = terms * length * np.sqrt(5) / (6 * 2.0)

    def excess(epsilon: float) -> float:
        inner = stats.norm.cdf(mu / 2 - epsilon / mu) - np.exp(epsilon) * stats.norm.cdf(-mu / 2 - epsilon / mu)
        return float(inner) - 1e-5

    expected = optimize.brentq(excess, 1e-9, 50, xtol=1e-13)
    assert epsilon_of(name, "1e-5", noise_on_mean=2, neighbours=neighbours) == pytest.approx(expected, rel=1e-7)


@pytest.mark.parametrize(("neighbours", "direction"), [("add_remove", "remove"), ("replace", "replace")])
def test_the_sampled_account_is_that_of_a_grid_of_losses(neighbours: str, direction: str) -> None:
    """noise_on_mean b / C = 2.5 and q = 1/3 in five steps, composed by convolution: delta(epsilon) brackets 1e-3."""
    epsilon = epsilon_of("dp-sgd", "1e-3", noise_on_mean="0.5", neighbours=neighbours)
    low, high = composed_delta(direction, 2.5, 1 / 3, 5, epsilon, grid=1e-4)
    assert low <= 1e-3 <= high
    assert high - low < 1e-4
    if neighbours == "add_remove":
        low, _ = composed_delta("add", 2.5, 1 / 3, 5, epsilon, grid=1e-4)
        assert low <= 1e-3


@every_private
def test_the_size_is_a_constant_of_the_mechanism(name: str) -> None:
    """Replaced records: exactly n. Added or removed: any number, and what is proved stays that of n."""
    item = oracle.algorithm(name)
    for records in (5, 7):
        with pytest.raises(DomainError, match="not met: where a record is replaced, the data have dataset_size rec"):
            proved_epsilon(item, config(name), records=records, delta="1e-5")
        for train in (literal, batched):
            with pytest.raises(DomainError, match=f"dataset_size = 6 is not the number of records, {records}"):
                train(name, *data(records), config(name), Tape(0))
        loose = config(name, neighbours="add_remove")
        found, same = (plan_of_training(item, loose, records=number, delta="1e-5") for number in (records, 6))
        assert [judged.parameters for judged in found.judged] == [judged.parameters for judged in same.judged]
        assert found.best is not None
        assert np.isfinite(batched(name, *data(records), loose, Tape(0))).all()


def test_what_has_no_sampling_rate_is_refused() -> None:
    values = config("dp-sgd", batch_size=7)
    for train in (literal, batched):
        with pytest.raises(DomainError, match="batch_size = 7 is above dataset_size = 6"):
            train("dp-sgd", *data(), values, Tape(0))
    found = plan_of_training(oracle.algorithm("dp-sgd"), values, records=6, delta="1e-5")
    assert found.best is None
    assert all("batch_size is at most dataset_size" in judged.reason for judged in found.judged)
    assert epsilon_of("dp-sgd", "1e-5", batch_size=5) > 0  # need not divide


@pytest.mark.parametrize(("key", "value"), [
    ("noise_on_mean", 0), ("noise_on_mean", "-1"), ("steps", 0), ("learning_rate", 0), ("dataset_size", 0),
    ("neighbours", "any"), ("loss", "hinge"), ("noise_on_mean", float("nan")),
])
@every_private
def test_a_configuration_outside_its_domain_is_refused(name: str, key: str, value: Any) -> None:
    with pytest.raises(DomainError, match=key):
        config(name, **{key: value})


@pytest.mark.parametrize(("changes", "stretch"), [({"lipschitz": "1.9"}, 1.0), ({}, 1.1), ({"radius": "1.1"}, 1.0)])
def test_records_with_longer_gradients_than_declared_are_refused(changes: dict[str, Any], stretch: float) -> None:
    """|x| = 1, y = -1 and radius 1: gradients of the squared loss reach 2 on the ball, though not at the iterates."""
    features, labels = np.eye(6)[:, :3] + np.eye(6, 3, -3), -np.ones(6)
    literal("dp-gd-projected", features, labels, config("dp-gd-projected", radius=1), Tape(0))
    values = config("dp-gd-projected", **{"radius": 1, **changes})
    for train in (literal, batched):
        with pytest.raises(DomainError, match="above lipschitz = "):
            train("dp-gd-projected", stretch * features, labels, values, Tape(0))


def test_what_is_released_and_what_may_be_proved_of_it() -> None:
    items = [oracle.algorithm(name) for name in BASE]
    assert {item.name: (item.released, [guarantee.bound for guarantee in item.guarantees]) for item in items} == {
        "gd": ("output", []), "dp-gd": ("average_iterate", ["dp-gd.epsilon"]),
        "dp-gd-projected": ("average_iterate", ["dp-gd.epsilon"]),
        "dp-sgd": ("last_iterate", ["dp-sgd.epsilon", "wor-gaussian.epsilon", "gaussian-composed.epsilon"]),
    }


@pytest.mark.parametrize("name", ["dp-gd", "dp-gd-projected", "dp-sgd"])
def test_a_training_proves_what_the_plan_of_the_example_says(name: str) -> None:
    """With the same keys our own training, which says nothing of itself, has the guarantees that the example states."""
    item, given = read(Path(__file__).parents[3] / "examples" / f"{name}.toml")
    planned = plan(item, given)
    shared = {key.name: getattr(planned.config, key.name) for key in item.parameters}
    trained = plan_of_training(
        item, config(name, **shared), records=planned.config.dataset_size, delta=planned.config.delta
    )
    assert [(judged.status, judged.parameters) for judged in trained.judged] == [
        (judged.status, judged.parameters) for judged in planned.judged
    ]
    assert planned.best is not None


@pytest.mark.parametrize("name", ["dp-gd", "dp-gd-projected", "dp-sgd"])
def test_a_plan_asks_for_no_learning_rate_and_no_loss(name: str) -> None:
    item = oracle.algorithm(name)
    asked = {key.name for key in (*item.parameters, *item.setting)}
    assert not asked & {"learning_rate", "loss", "regularisation", "radius"}


def test_the_noise_multiplier_may_stand_for_the_noise_on_the_mean() -> None:
    """noise_on_mean = noise_multiplier clip_norm / batch_size, or / n on full batches; not where nothing is clipped."""
    for name, size in (("dp-sgd", 2), ("dp-gd", 6)):
        given = {key: value for key, value in BASE[name].items() if key != "noise_on_mean"}
        found = oracle.algorithm(name).parse({**given, "noise_multiplier": 3})
        assert found.noise_on_mean == 3 * found.clip_norm / size
    for extra in ({}, {"clip_norm": 1}):
        with pytest.raises(DomainError, match="dp-gd-projected has no parameter"):
            config("dp-gd-projected", noise_multiplier=3, **extra)


def test_what_is_not_private_is_listed_with_a_dash(capsys: pytest.CaptureFixture[str]) -> None:
    list_algorithms()
    lines = {line.split()[0]: line for line in capsys.readouterr().out.splitlines()}
    assert " output " in lines["gd"]
    assert " - " in lines["gd"]
    assert " dp-gd.epsilon " in lines["dp-gd"]


def test_what_is_not_private_is_not_audited() -> None:
    with pytest.raises(DomainError, match="algorithm = gd has no guarantee"):
        proved_epsilon(oracle.algorithm("gd"), config("gd"), records=6, delta="1e-5")
