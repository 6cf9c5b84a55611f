"""What is proved of phased SGD: by another computation, up to the largest step, for the examples; refusals."""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy import optimize, stats

import oracle
from oracle.algorithms.phased import phased_sgd
from oracle.core.algorithm import Algorithm, Values
from oracle.core.errors import DomainError
from oracle.core.planning import DOES_NOT_APPLY, PROVED, plan, plan_of_training, proved_epsilon, read
from oracle.core.tape import Tape
from tests.oracle.phased.cases import BASE, config, data, every, literal

EXAMPLES = Path(__file__).parents[3] / "examples"


def gaussian_epsilon(mu: float, delta: float) -> float:
    def excess(epsilon: float) -> float:
        a, b = mu / 2 - epsilon / mu, -mu / 2 - epsilon / mu
        return float(stats.norm.cdf(a) - np.exp(epsilon + stats.norm.logcdf(b)) - delta)

    return float(optimize.brentq(excess, 0, 100))


@every
@pytest.mark.parametrize("records", [100, 1001])
def test_the_guarantee_is_that_of_one_gaussian_release(name: str, records: int) -> None:
    """mu = (4B + gamma (floor(n/2) + 1)) / sigma, 8B if projected, at the delta that the projection leaves."""
    smooth = {"oracle_error": "0.001"} if "smoothed" in name else {}
    rows = {"projected_dimension": 60} if "projected" in name else {}
    values = config(name, base_learning_rate=1, noise_over_step=20, label_bound="1.5", **smooth, **rows)
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
def test_nothing_is_proved_beyond_the_largest_step(name: str, changes: dict[str, Any], limit: Any) -> None:
    item, rows = oracle.algorithm(name), {"projected_dimension": 60} if "projected" in name else {}
    edge = config(name, **changes, **rows, base_learning_rate=limit)
    assert Fraction(given(item, edge, 50)["base_learning_rate"]) == limit
    assert proved_epsilon(item, edge, records=50, delta="1e-5").to_floats()[1] > 0
    beyond = config(name, **changes, **rows, base_learning_rate=limit * (1 + Fraction(1, 10**9)))
    slope = "envelope_smoothness" if "smoothed" in name else "link_lipschitz"
    most = 2 if rows else 8
    with pytest.raises(DomainError, match=rf"not met: no step expands: base_learning_rate \* {slope} <= {most}$"):
        proved_epsilon(item, beyond, records=50, delta="1e-5")
    assert np.isfinite(literal(name, data(), Values(**{**vars(beyond), "label_bound": Fraction(1)}), Tape(0))).all()


def given(item: Algorithm, values: Values, records: int) -> Mapping[str, str]:
    """What our training's guarantee gives to its bound."""
    return plan_of_training(item, values, records=records, delta="1e-5").judged[0].parameters


def test_of_a_jump_something_is_proved_only_where_it_is_smoothed() -> None:
    for name in ("phased-sgd", "phased-sgd-projected"):
        with pytest.raises(DomainError, match=r"not met: the link, .* has Lipschitz constant link_lipschitz$"):
            proved_epsilon(oracle.algorithm(name), config(name, link="sign"), records=50, delta="1e-5")


@pytest.mark.parametrize(("stated", "status"), [(2, PROVED), ("1.9999", DOES_NOT_APPLY), (3, PROVED)])
def test_a_plan_may_name_its_link_and_may_not_understate_it(stated: Any, status: str) -> None:
    """tanh with B = 2 has the Lipschitz constant 2; a jump has none, whatever is stated."""
    item, keys = read(EXAMPLES / "phased-sgd.toml")
    for name in ("link_lipschitz", "link_rises"):
        keys.pop(name)
    keys.update(label_bound=2, link="tanh")
    named = plan(item, keys).judged[0]
    assert (named.status, named.parameters["link_lipschitz"]) == (PROVED, "2")
    assert plan(item, {**keys, "link_lipschitz": stated}).judged[0].status == status
    assert plan(item, {**keys, "link_lipschitz": stated, "link": "sign"}).judged[0].status == DOES_NOT_APPLY


@every
def test_the_example_plans_are_configurations_of_these_algorithms(name: str) -> None:
    """Each of them is about (1, 1e-5)-DP; our training of the same keys is given the same parameters."""
    item, keys = read(EXAMPLES / f"{name}.toml")
    shared = {key: value for key, value in keys.items() if key in BASE[name]}
    values = config(name, **shared)
    planned = plan(item, keys).judged[0]
    assert planned.parameters == given(item, values, keys["dataset_size"])
    slope = "envelope_smoothness" if "smoothed" in name else "link_lipschitz"
    assert Fraction(planned.parameters["link_lipschitz"]) == keys[slope]
    assert Fraction(planned.parameters["oracle_error"]) == Fraction(keys.get("oracle_error", 0))
    proved = proved_epsilon(item, values, records=1024, delta=keys["delta"])
    assert proved == planned.epsilon
    assert proved.to_floats()[1] == pytest.approx(1, abs=0.06)


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
def test_data_that_no_guarantee_covers_are_refused_by_both(name: str) -> None:
    x, y = data()
    item = oracle.algorithm(name)
    for records, words in (
        ((x * 10, y), "above the declared feature_norm = 1"), ((x, y * 10), "above the declared label_bound = 1"),
        ((x[:1], y[:1]), "1 records make no phase"),
    ):
        for train in (item.reference, item.train_batched):
            with pytest.raises(DomainError, match=words):
                train(*records, config(name), Tape(0))
    with pytest.raises(DomainError, match="not met: there is a phase: dataset_size >= 2"):
        proved_epsilon(item, config(name), records=1, delta="1e-5")


@every
@pytest.mark.parametrize("changes", [
    {"noise_over_step": 0}, {"noise_over_step": -1}, {"base_learning_rate": 0}, {"label_bound": 0},
    {"initial_radius": -1}, {"link": "relu"},
])
def test_configurations_without_meaning_are_refused(name: str, changes: dict[str, Any]) -> None:
    with pytest.raises(DomainError, match="is outside its domain"):
        config(name, **changes)


@pytest.mark.parametrize("changes", [
    {"envelope_smoothness": 0}, {"oracle_error": 0}, {"gradient_oracle": "newton"}, {"projected_dimension": 0},
])
def test_smoothings_without_meaning_are_refused(changes: dict[str, Any]) -> None:
    with pytest.raises(DomainError, match="is outside its domain"):
        config("smoothed-phased-sgd-projected", **changes)
