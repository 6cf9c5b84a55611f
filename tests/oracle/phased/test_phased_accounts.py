"""The accounts of phased SGD: by another computation, up to the largest step, for the example plans; refusals."""

from __future__ import annotations

import tomllib
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy import optimize, stats

import oracle
from oracle.algorithms.phased import phased_sgd
from oracle.core.planning import proved_epsilon
from oracle.core.errors import DomainError
from oracle.core.registry import Values
from oracle.core.tape import Tape
from tests.oracle.phased.cases import config, data, every, literal


def gaussian_epsilon(mu: float, delta: float) -> float:
    def excess(epsilon: float) -> float:
        a, b = mu / 2 - epsilon / mu, -mu / 2 - epsilon / mu
        return float(stats.norm.cdf(a) - np.exp(epsilon + stats.norm.logcdf(b)) - delta)

    return float(optimize.brentq(excess, 0, 100))


@every
@pytest.mark.parametrize("records", [100, 1001])
def test_the_account_is_that_of_one_gaussian_release(name: str, records: int) -> None:
    """mu = (4B + gamma (floor(n/2) + 1)) / sigma, 8B if projected, at the delta that the projection leaves."""
    smooth = {"gamma": "0.001"} if "smoothed" in name else {}
    rows = {"projected_dimension": 60} if "projected" in name else {}
    values = config(name, learning_rate=1, sigma=20, label_bound="1.5", **smooth, **rows)
    gradient = 1.5 * (8 if rows else 4) + (0.001 * (records // 2 + 1) if smooth else 0)
    delta = 1e-5
    if rows:
        delta -= (records + 1) * np.exp(-60 * (3 - np.log(4)) / 2) / (3 * np.sqrt(np.pi * 60))
        assert delta < 1e-5
    found = proved_epsilon(oracle.algorithm(name), values, records=records, delta="1e-5")
    assert found.to_floats()[1] == pytest.approx(gaussian_epsilon(gradient / 20, delta), rel=1e-7)


@pytest.mark.parametrize(("name", "changes", "limit"), [
    ("phased-sgd", {"link": "tanh"}, 8), ("phased-sgd", {"link": "tanh", "label_bound": 2}, 4),
    ("phased-sgd", {"link": "sigmoid"}, 32), ("phased-sgd", {"link": "clip", "label_bound": 7}, 8),
    ("phased-sgd-projected", {"link": "tanh"}, 2), ("phased-sgd-projected", {"link": "sigmoid"}, 8),
    ("smoothed-phased-sgd", {"link": "sign"}, 4), ("smoothed-phased-sgd", {"envelope_smoothness": 16}, Fraction(1, 2)),
    ("smoothed-phased-sgd-projected", {"link": "sign"}, 1),
])
def test_the_account_ends_at_the_largest_step(name: str, changes: dict[str, Any], limit: Any) -> None:
    item = oracle.algorithm(name)
    assert item.account is not None
    assert item.account(config(name, **changes, learning_rate=limit), 50)["base_learning_rate"] == limit
    beyond = config(name, **changes, learning_rate=limit * (1 + Fraction(1, 10**9)))
    with pytest.raises(DomainError, match=r"learning_rate = .* is outside its domain: a real number in \(0, "):
        item.account(beyond, 50)
    assert np.isfinite(literal(name, data(), Values(**{**vars(beyond), "label_bound": Fraction(1)}), Tape(0))).all()


def test_a_jump_has_an_account_only_where_it_is_smoothed() -> None:
    for name in ("phased-sgd", "phased-sgd-projected"):
        with pytest.raises(DomainError, match="link = sign is outside its domain"):
            oracle.algorithm(name).account(config(name, link="sign"), 50)  # type: ignore[misc]


@pytest.mark.parametrize(("name", "example"), [
    ("phased-sgd", "phased-sgd"), ("phased-sgd-projected", "phased-sgd-projected-tanh"),
    ("smoothed-phased-sgd", "phased-sgd-smoothed"), ("smoothed-phased-sgd-projected", "phased-sgd-projected"),
])
def test_the_example_plans_are_configurations_of_these_algorithms(name: str, example: str) -> None:
    """Each of them is about (1, 1e-5)-DP; smoothed, the plan's smoothness is beta, its oracle_error gamma."""
    plan = tomllib.loads((Path(__file__).parents[3] / "examples" / f"{example}.toml").read_text(encoding="utf-8"))
    keys = {"sigma", "label_bound", "learning_rate", "projected_dimension"} & set(plan)
    smooth = {"envelope_smoothness": plan["smoothness"], "oracle_error": str(plan["oracle_error"])} if "smoothed" in name else {}
    values = config(name, **{key: str(plan[key]) for key in keys}, **smooth)
    item = oracle.algorithm(name)
    given = item.account(values, plan["dataset_size"])  # type: ignore[misc]
    assert {key: float(value) for key, value in given.items()} == {key: plan[key] for key in given}
    assert keys | {"smoothness", "dataset_size", "oracle_error"} == set(given)
    assert proved_epsilon(item, values, records=1024, delta=plan["delta"]).to_floats()[1] == pytest.approx(1, abs=0.06)


def test_algorithm_1_compares_exactly() -> None:
    assert phased_sgd.choose(records=1000, epsilon=1, theta=99) == "phased-sgd"
    assert phased_sgd.choose(records=1000, epsilon=1, theta=100) == "phased-sgd-projected"  # equal: "otherwise"
    assert phased_sgd.choose(records=1000, epsilon=1, theta="99.9999999999999999999") == "phased-sgd"
    assert phased_sgd.choose(records=1000, epsilon="0.001", theta=2) == "phased-sgd-projected"
    for theta in (1.5, 7, 60):  # the smaller of sqrt(theta)/(n epsilon) and (n epsilon)^(-2/3)
        for epsilon in (0.01, 0.1, 1):
            plain = theta**0.5 / (500 * epsilon) < (500 * epsilon) ** (-2 / 3)
            assert (phased_sgd.choose(records=500, epsilon=epsilon, theta=theta) == "phased-sgd") == plain
    for wrong in ({"records": 0}, {"epsilon": 0}, {"theta": -1}):
        with pytest.raises(DomainError, match="is outside its domain"):
            phased_sgd.choose(**{"records": 5, "epsilon": 1, "theta": 1, **wrong})  # type: ignore[arg-type]


# --- refusals


@every
def test_data_that_the_account_does_not_cover_are_refused_by_both(name: str) -> None:
    x, y = data()
    item = oracle.algorithm(name)
    for records, words in (
        ((x * 10, y), "above the declared feature_norm = 1"), ((x, y * 10), "above the declared label_bound = 1"),
        ((x[:1], y[:1]), "1 records make no phase"),
    ):
        for train in (item.reference, item.train_batched):
            with pytest.raises(DomainError, match=words):
                train(*records, config(name), Tape(0))
    with pytest.raises(DomainError, match="1 records make no phase"):
        item.account(config(name), 1)  # type: ignore[misc]


@every
@pytest.mark.parametrize("changes", [
    {"sigma": 0}, {"sigma": -1}, {"learning_rate": 0}, {"label_bound": 0}, {"initial_radius": -1}, {"link": "relu"},
])
def test_configurations_without_meaning_are_refused(name: str, changes: dict[str, Any]) -> None:
    with pytest.raises(DomainError, match="is outside its domain"):
        config(name, **changes)


@pytest.mark.parametrize("changes", [{"beta": 0}, {"gamma": 0}, {"oracle": "newton"}, {"projected_dimension": 0}])
def test_smoothings_without_meaning_are_refused(changes: dict[str, Any]) -> None:
    with pytest.raises(DomainError, match="is outside its domain"):
        config("smoothed-phased-sgd-projected", **changes)
