"""Every registered algorithm: its literal reference and its batched twin are one algorithm, on any tape, in any chunks.

The tests read the registry and the samples of `tests/trainings`: an algorithm without a twin or samples fails.
"""

from __future__ import annotations

import math
import os
import subprocess
import sys
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
import torch

import oracle
from oracle.core import registry, torch_twin
from oracle.core.algorithm import Algorithm, Values
from oracle.core.errors import DomainError
from oracle.core.hypotheses import MET, ROUNDED
from oracle.core.registry import Bound
from oracle.core.tape import Tape
from tests.checks import apart, check_twins
from tests.topics import gathered

SAMPLES = gathered("SAMPLES", "tests.trainings")
SINGLE = gathered("SINGLE", "tests.trainings")
ALGORITHMS = [item for item in registry.algorithms().values() if item.can_train]
every_algorithm = pytest.mark.parametrize("item", ALGORITHMS, ids=lambda item: item.name)
DEVICES = ["cuda"] * torch.cuda.is_available() + ["mps"] * torch.backends.mps.is_available()


def sample(item: Algorithm, seed: int) -> tuple[Any, Any, Values]:
    features, labels, given = SAMPLES[item.name](np.random.default_rng(seed))
    return features, labels, item.parse(given)


def test_every_algorithm_has_samples() -> None:
    assert set(SAMPLES) == {item.name for item in ALGORITHMS}


@every_algorithm
@pytest.mark.parametrize("seed", range(12))
def test_the_twins_agree(item: Algorithm, seed: int) -> None:
    features, labels, config = sample(item, seed)
    check_twins(item.reference, item.train_batched, (features, labels), config, Tape(seed, 3, 5 * seed))


@every_algorithm
def test_a_model_does_not_depend_on_its_block_or_chunk(item: Algorithm, monkeypatch: pytest.MonkeyPatch) -> None:
    """Products of another shape may round differently in the last bits, and nothing else may."""
    features, labels, config = sample(item, 1)
    whole = item.train_batched(features, labels, config, Tape(3, 7))
    part = item.train_batched(features, labels, config, Tape(3, 7).block(2, 3))
    assert apart(part, whole[2:5]) <= 1e-11
    monkeypatch.setattr(torch_twin, "CHUNK_ELEMENTS", 1)
    assert apart(item.train_batched(features, labels, config, Tape(3, 7)), whole) <= 1e-11


@every_algorithm
@pytest.mark.parametrize("dtype", [torch.float64, pytest.param(torch.float32, marks=pytest.mark.full)])
def test_the_number_of_threads_changes_no_bit(
    item: Algorithm, dtype: torch.dtype, monkeypatch: pytest.MonkeyPatch
) -> None:
    features, labels, config = sample(item, 1)
    monkeypatch.setattr(torch_twin, "CHUNK_ELEMENTS", 1)
    before, results = torch.get_num_threads(), []
    try:
        for threads in (1, 2, 3):
            torch.set_num_threads(threads)
            results.append(item.train_batched(features, labels, config, Tape(3, 7), dtype=dtype))
    finally:
        torch.set_num_threads(before)
    assert torch.equal(results[0], results[1])
    assert torch.equal(results[0], results[2])


_TWO_OF_OPENMP = """
import torch
from tests.oracle.core.test_twins import ALGORITHMS, Tape, sample, torch_twin
torch_twin.CHUNK_ELEMENTS = 1
item, = (item for item in ALGORITHMS if item.name == "two-layer-projected")
results = []
for threads in (1, 2, 3):
    torch.set_num_threads(threads)
    results.append(item.train_batched(*sample(item, 1), Tape(3, 7), dtype=torch.float32))
print(*(bool(torch.equal(results[0], other)) for other in results[1:]))
"""


@pytest.mark.full
def test_openmp_has_one_thread_in_every_thread_that_trains() -> None:
    """It counts for each thread of Python's apart, from the environment's number, which here would change last bits."""
    environment = {**os.environ, "OMP_NUM_THREADS": "2", "MKL_NUM_THREADS": "2"}
    told = subprocess.run(
        [sys.executable, "-c", _TWO_OF_OPENMP], env=environment, capture_output=True, text=True, check=True
    )
    assert told.stdout.split() == ["True", "True"]


@every_algorithm
def test_a_seed_repeats_bit_for_bit_and_models_differ(item: Algorithm) -> None:
    """Those of a deterministic algorithm are all equal, whatever the seed."""
    features, labels, config = sample(item, 2)
    once, again = (np.asarray(item.train_batched(features, labels, config, Tape(4, 6))) for _ in range(2))
    np.testing.assert_array_equal(once, again)
    assert (len({row.tobytes() for row in once}) == 1) == item.deterministic
    other = np.asarray(item.train_batched(features, labels, config, Tape(5, 6)))
    assert np.array_equal(once, other) == item.deterministic


@every_algorithm
def test_single_precision_is_close(item: Algorithm) -> None:
    for seed in range(4):
        features, labels, config = sample(item, seed)
        single = item.train_batched(features, labels, config, Tape(1, 3), dtype=torch.float32)
        assert single.dtype == torch.float32
        double = item.train_batched(features, labels, config, Tape(1, 3))
        assert double.dtype == torch.float64
        assert apart(single, double) <= SINGLE.get(item.name, 1e-3)


@every_algorithm
@pytest.mark.parametrize("device", DEVICES)
def test_the_same_code_runs_on_a_device(item: Algorithm, device: str) -> None:
    features, labels, config = sample(item, 1)
    result = item.train_batched(features, labels, config, Tape(1, 3), device=device, dtype=torch.float32)
    assert result.device.type == device
    host = item.train_batched(features, labels, config, Tape(1, 3))
    assert apart(result.cpu(), host) <= SINGLE.get(item.name, 1e-3)


@every_algorithm
def test_a_recorder_changes_nothing_and_hears_something(item: Algorithm) -> None:
    features, labels, config = sample(item, 3)
    heard: list[str] = []
    alone = item.reference(features, labels, config, Tape(2).one(0))
    np.testing.assert_array_equal(
        alone, item.reference(features, labels, config, Tape(2), recorder=lambda kind, **facts: heard.append(kind))
    )
    assert heard
    heard.clear()
    together = item.train_batched(features, labels, config, Tape(2, 2))
    again = item.train_batched(features, labels, config, Tape(2, 2), recorder=lambda kind, **facts: heard.append(kind))
    np.testing.assert_array_equal(np.asarray(together), np.asarray(again))
    assert heard


@every_algorithm
@pytest.mark.parametrize(
    "broken",
    [
        lambda x, y: (x[:, 0], y), lambda x, y: (x, y[:-1]), lambda x, y: (np.where(x == x.max(), np.nan, x), y),
        lambda x, y: (x, np.where(y == y.max(), np.inf, y)), lambda x, y: (x[:0], y[:0]),
    ],
    ids=["no matrix", "a label short", "NaN", "infinite", "empty"],
)
def test_what_is_no_data_is_refused_by_both(item: Algorithm, broken: Any) -> None:
    features, labels, config = sample(item, 1)
    bad = broken(features, labels)
    for train in (item.reference, item.train_batched):
        with pytest.raises(DomainError):
            train(*bad, config, Tape(0))


@every_algorithm
def test_the_guarantees_suit_their_bounds_or_say_why_not(item: Algorithm) -> None:
    """Where all its hypotheses are met, a guarantee has parameters, which its bound takes; some training has one."""
    answered = 0
    for seed in range(12):
        features, _, config = sample(item, seed)
        trained = item.as_trained(config, records=len(features), delta=Fraction(1, 10**5))
        for guarantee in item.guarantees:
            if any(condition.status(trained) not in (MET, ROUNDED) for condition in guarantee.conditions):
                continue
            parameters = guarantee.parameters(trained)
            assert parameters is not None
            proving = oracle.bound(guarantee.bound)
            proving.parse({**_absent(proving), **parameters})
            answered += 1
    assert answered or not item.guarantees, "no sample has a guarantee at all"


def _absent(proving: Bound) -> dict[str, Any]:
    """What a guarantee leaves open: where the curve is asked."""
    names = {parameter.name for parameter in proving.parameters}
    asked = {"delta": "1e-5", "alpha": 8}
    return {name: value for name, value in asked.items() if name in names}


@pytest.mark.parametrize(("dtype", "error"), [(torch.float64, 1e-15), (torch.float32, 5e-7)])
def test_tangents_are_taken_in_place_edges_and_views_too(dtype: torch.dtype, error: float) -> None:
    exact = torch.cat([torch.linspace(-25, 25, 1001), torch.logspace(-40, 2, 500)]).to(torch.float64).tanh()
    given = torch.cat([torch.linspace(-25, 25, 1001), torch.logspace(-40, 2, 500)]).to(dtype)
    table = torch.stack([given, given], dim=1)
    assert torch_twin.tanh_(table[:, 1]).data_ptr() == table[:, 1].data_ptr()
    assert torch.equal(table[:, 0], given)
    torch.testing.assert_close(table[:, 1].to(torch.float64), exact, rtol=error, atol=1e-44)
    edges = torch.tensor([math.inf, -math.inf, math.nan, 0.0, -0.0], dtype=dtype)
    assert str(torch_twin.tanh_(edges).tolist()) == "[1.0, -1.0, nan, 0.0, -0.0]"
