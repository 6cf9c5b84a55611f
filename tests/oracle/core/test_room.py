"""Configurations that leave a precision's room by themselves: refused before anything is drawn, or finite releases.

Every real key of every training is moved to the edges, one at a time, on ordinary data. An error after the training
would tell of the data: so there is none.
"""

from __future__ import annotations

import math
import warnings
from dataclasses import dataclass
from fractions import Fraction
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from oracle.core import records
from oracle.core.algorithm import Algorithm, Values
from oracle.core.errors import DomainError
from oracle.core.registry import algorithm, algorithms
from oracle.core.tape import Tape
from tests.topics import gathered
from tests.ways import WAYS, has_guarantee, trained

pytestmark = pytest.mark.full

SIZES = ("1e20", "1e40", "1e300", "1e320", "1e-300", "1e-320")
STEERING = ("gradient_oracle", "noise_formula", "regulariser", "correction")
"""Choices by which another step is computed, tried by day."""
SAMPLES = gathered("SAMPLES", "tests.trainings")
GUARDED = [item for item in algorithms().values() if item.can_train and item.guarantees]


@dataclass(frozen=True)
class Untouched(Tape):
    """A tape of which nothing may be drawn."""

    def stream(self, purpose: str, step: int, count: int) -> Any:
        raise AssertionError(f"{purpose} was drawn")

    def short_stream(self, purpose: str, step: int, count: int) -> Any:
        raise AssertionError(f"{purpose} was drawn")


def sample(item: Algorithm, **wanted: str) -> tuple[tuple[Any, Any], dict[str, Any]]:
    """Data and keys of the first configuration with a guarantee, and with these values of keys."""
    for seed in range(40):
        features, labels, given = SAMPLES[item.name](np.random.default_rng(seed))
        given = {**given, **wanted}
        if has_guarantee(item, item.parse(given), len(features)):
            return (features, labels), dict(given)
    raise AssertionError("no such sample")


def moved(item: Algorithm, given: dict[str, Any], name: str, value: str) -> Values | None:
    """The configuration with one key at an edge; None where that lies outside its domain."""
    if name == "noise_on_mean":
        given.pop("noise_multiplier", None)
    try:
        return item.parse({**given, name: value})
    except DomainError:
        return None


def outcome(item: Algorithm, way: str, data: tuple[Any, Any], config: Values) -> str:
    """What a training ends in: a refusal's text, or nothing where its releases are finite."""
    try:
        assert np.isfinite(trained(item, way, data, config, Tape(0, 2))).all()
    except DomainError as error:
        return str(error)
    return ""


def choices(item: Algorithm) -> list[Any]:
    """The algorithm by itself, and with every value of every key that has a few and leaves it a guarantee."""
    keys = [key for key in (*item.parameters, *item.training) if key.choices]
    found = [pytest.param(item, {}, id=item.name)]
    for name, value in [(key.name, value) for key in keys for value in key.choices]:
        try:
            sample(item, **{name: value})
        except (AssertionError, DomainError):
            continue
        by_day = [] if name in STEERING else [pytest.mark.thorough]
        found.append(pytest.param(item, {name: value}, id=f"{item.name} {value}", marks=by_day))
    return found


@pytest.mark.parametrize(("item", "wanted"), [case for item in GUARDED for case in choices(item)])
def test_a_configuration_is_refused_before_the_first_draw_or_gives_finite_releases(
    item: Algorithm, wanted: dict[str, str]
) -> None:
    data, given = sample(item, **wanted)
    for name in [key.name for key in (*item.parameters, *item.training) if key.kind == "real"]:
        for size in SIZES:
            config = moved(item, dict(given), name, size)
            for way in WAYS if config is not None else ():
                with warnings.catch_warnings():
                    warnings.simplefilter("ignore")
                    told = outcome(item, way, data, config)
                if told:
                    assert "\n" not in told
                    with pytest.raises(DomainError) as again:
                        trained(item, way, data, config, Untouched(0, 2))
                    assert str(again.value) == told


@pytest.mark.parametrize(("name", "key", "value", "way"), [
    ("noisy-cgd", "learning_rate", "1e40", "reference"), ("noisy-cgd", "regularisation", "1e20", "float32"),
    ("dp-sgd", "noise_on_mean", "1e40", "float64"), ("dp-glmtron", "clip_norm", "1e300", "float64"),
    ("dp-sgd-network", "initial_scale", "1e20", "float32"), ("phased-sgd", "base_learning_rate", "1e40", "float32"),
])
def test_what_is_refused_is_named(name: str, key: str, value: str, way: str) -> None:
    item = algorithm(name)
    data, given = sample(item)
    config = moved(item, given, key, value)
    assert config is not None
    with pytest.raises(DomainError, match=rf"^{key} = about 1e\+?{value[2:]} is outside its domain: .*(room|number)"):
        trained(item, way, data, config, Untouched(0, 2))


RUNAWAYS: dict[str, dict[str, Any]] = {
    "adaptive-batched-gd": {"learning_rate": 50, "noise_over_sensitivity": 50, "batch_size": 1},
    "dp-glmtron-adaptive": {"learning_rate": 50, "noise_over_sensitivity": 50, "threshold_scale": "1e30"},
}
"""Steps that follow the weights, and carry them away."""


def test_the_runaways_are_all_whose_weights_are_cut() -> None:
    """A training with no reach of its own, or none that its data could not exceed, is one of them, or cannot run."""
    cut = [item.name for item in GUARDED if "FARTHEST" in item.reference.literal.__globals__]  # type: ignore[union-attr]
    assert sorted(cut) == sorted(RUNAWAYS)


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("formula", ["exact", "printed-variance", "printed-std"])
def test_iterates_that_run_away_are_cut_to_the_room(formula: str, way: str) -> None:
    """Forty records, a step each, by which weights grow a thousandfold, or are squared: the release is at the cut."""
    item = algorithm("adaptive-batched-gd")
    rng = np.random.default_rng(3)
    features = rng.normal(size=(40, 3))
    features /= np.linalg.norm(features, axis=1, keepdims=True)
    config = item.parse({
        **RUNAWAYS[item.name], "noise_formula": formula, "feature_norm": 1, "label_bound": 1,
    })
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        released = trained(item, way, (features, np.ones(40)), config, Tape(5, 3))
    farthest = records.FARTHEST[way == "float32"]
    assert np.isfinite(released).all()
    assert np.abs(released).max() == farthest
    assert (np.abs(released) <= farthest).all()


@pytest.mark.parametrize("way", WAYS)
def test_thresholds_that_feed_back_are_held(way: str) -> None:
    item = algorithm("dp-glmtron-adaptive")
    data, given = sample(item)
    config = item.parse({**given, **{key: v for key, v in RUNAWAYS[item.name].items() if key != "threshold_scale"}})
    far = item.parse({**given, **RUNAWAYS[item.name]})
    for tried in (config, far) if way != "float32" else (config,):
        released = trained(item, way, data, tried, Tape(5, 3))
        assert np.isfinite(released).all()
        assert np.abs(released).max() <= records.FARTHEST[way == "float32"]


@pytest.mark.parametrize("name", ["smoothed-phased-sgd", "smoothed-phased-sgd-projected"])
@pytest.mark.parametrize(("key", "value"), [("oracle_error", "1e-12"), ("label_bound", "1e12")])
def test_a_descent_that_nobody_can_wait_for_is_refused(name: str, key: str, value: str) -> None:
    item = algorithm(name)
    data, given = sample(item, gradient_oracle="subgradient")
    config = moved(item, given, key, value)
    assert config is not None
    for way in WAYS:
        with pytest.raises(DomainError, match=r"^oracle_error = .*label_bound = .* 2\^\d+ steps .* 2\^32 are the most"):
            trained(item, way, data, config, Untouched(0, 2))


def test_the_reach_bounds_the_worst_steps_and_no_more() -> None:
    """Steps that all go one way, with the largest draws, from the farthest start: by hand, and of any size."""
    for factor in (1, 3):
        far = records.reach(
            steps=3, learning_rate=Fraction(1, 2), gradient=Fraction(4), noise=Fraction(1), start=Fraction(7),
            factor=Fraction(factor),
        )
        weight = 7.0
        for _ in range(3):
            weight = factor * weight + 0.5 * (4 + records.LARGEST_DRAW)
        assert math.log2(weight) - 1e-9 <= far <= math.log2(weight) + 3 * math.log2(factor) + 1e-9
    assert records.reach(steps=10**6, learning_rate=Fraction(10) ** 400, gradient=Fraction(1), noise=Fraction(0)) > 1000
    assert records.log2(0) == -math.inf


def test_a_shrinking_step_of_any_number_is_within_reach() -> None:
    config = SimpleNamespace(
        learning_rate=Fraction(1, 2), clip_norm=Fraction(1), noise_on_mean=Fraction(10), regularisation=Fraction(1)
    )
    from oracle.algorithms.shared import glm

    assert glm.reach(config, 10**5) < records.ROOM[True]
    assert glm.reach(SimpleNamespace(**{**vars(config), "regularisation": Fraction(8)}), 10**5) > records.ROOM[False]
