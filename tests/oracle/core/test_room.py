"""Configurations that leave a precision's room by themselves: refused before anything is drawn, or finite releases.

Every real key of every training is moved to the edges, one at a time, on ordinary data. An error after the training
would tell of the data: so there is none, but where how far the weights go depends on them step by step.
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
from oracle.core.errors import DomainError, OracleError
from oracle.core.registry import algorithm, algorithms
from oracle.core.tape import Tape
from tests.topics import gathered
from tests.ways import WAYS, has_guarantee, trained

pytestmark = pytest.mark.full

SIZES = ("1e20", "1e40", "1e300", "1e-300")
FOLLOWS = {
    "adaptive-batched-gd": "each step's noise and gradient grow with the weights, by how much the data decide",
    "dp-glmtron-adaptive": "records are clipped to thresholds that follow their own sizes",
}
"""Whose weights no configuration bounds: a release that is not finite stays an error after the training."""
WORK = {"oracle_error", "label_bound"}
"""What asks the inner solver of smoothed trainings for more steps than a test can wait for."""
SAMPLES = gathered("SAMPLES", "tests.trainings")
GUARDED = [item for item in algorithms().values() if item.can_train and item.guarantees]


@dataclass(frozen=True)
class Untouched(Tape):
    """A tape of which nothing may be drawn."""

    def stream(self, purpose: str, step: int, count: int) -> Any:
        raise AssertionError(f"{purpose} was drawn")

    def short_stream(self, purpose: str, step: int, count: int) -> Any:
        raise AssertionError(f"{purpose} was drawn")


def sample(item: Algorithm) -> tuple[tuple[Any, Any], dict[str, Any]]:
    """Data and keys of the first configuration with a guarantee."""
    for seed in range(40):
        features, labels, given = SAMPLES[item.name](np.random.default_rng(seed))
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
    except OracleError:
        if item.name not in FOLLOWS:
            raise
    return ""


@pytest.mark.parametrize("item", GUARDED, ids=lambda item: item.name)
def test_a_configuration_is_refused_before_the_first_draw_or_gives_finite_releases(item: Algorithm) -> None:
    data, given = sample(item)
    names = [key.name for key in (*item.parameters, *item.training) if key.kind == "real"]
    names = [name for name in names if name not in WORK or not item.name.startswith("smoothed")]
    for name in names:
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
