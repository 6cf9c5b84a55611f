"""Every twin and every torch fast path on a device that is not there: no silent copy, no wait for the host in a step.

Where there is no GPU, `tests.pretend_device` stands for one: tensors of two devices do not mix, numpy reads none of the
device's, and what crosses between host and device is counted. A run of twice the steps may cross no more often.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import torch

from oracle.core import registry, torch_twin
from oracle.core.algorithm import Algorithm
from oracle.core.errors import DomainError
from oracle.core.registry import Bound
from oracle.core.tape import Tape, torch_tape
from oracle.core.tape.aes_words import AesWords
from tests.checks import apart
from tests.pretend_device import NAME, Crossings, Far, pretended, values
from tests.samples import numbers
from tests.topics import gathered

SAMPLES = gathered("SAMPLES", "tests.trainings")
ALGORITHMS = [item for item in registry.algorithms().values() if item.can_train]

LENGTHS = ("steps", "epochs")
SIZES = ("dataset_size", "validation_records")
SOLVERS = ("convex-relu-exact", "objective-perturbation", "output-perturbation")
READS_IN_A_STEP = {
    "sbcd": "whether a factorisation was lost to rounding, and whether unclipped weights grow without end",
    "dp-sbcd": "whether a factorisation was lost to rounding",
}
"""Trainings that wait for the device in every step, with what they must know."""


@pytest.fixture(autouse=True)
def quick_words(monkeypatch: pytest.MonkeyPatch) -> None:
    """Words by the generators of the host: `test_torch_tape` holds the device's to them, and to reading nothing."""

    def philox(key: tuple[int, int], first: int, counters: int, device: torch.device) -> torch.Tensor:
        stream = np.random.Philox(key=np.array(key, dtype=np.uint64), counter=first)
        return there(stream.random_raw(4 * counters).view(np.int64).reshape(-1, 4))

    def aes(key: bytes, first: int, blocks: int, device: torch.device) -> torch.Tensor:
        return there(AesWords(key, first).random_raw(2 * blocks).view(np.int32).reshape(-1, 4))

    def there(words: Any) -> torch.Tensor:
        return Far(torch.from_numpy(words))

    monkeypatch.setattr(torch_tape, "philox", philox)
    monkeypatch.setattr(torch_tape, "aes", aes)


class Unlent(torch.Tensor):
    """A tensor of the processor that is not lent to numpy: what a device computes, bit for bit."""


PASSES = ("dp-glmtron", "dp-taglmtron", "phased-sgd", "adaptive-batched-gd")
"""Representatives of trainings that step through their records."""
THOROUGH = pytest.mark.thorough
every_algorithm = pytest.mark.parametrize("item", ALGORITHMS, ids=lambda item: item.name)


def trained(item: Algorithm, seed: int, times: int) -> tuple[torch.Tensor, torch.Tensor, Crossings]:
    """What a sample's training of so many times the steps releases on the device and here, and what crosses."""
    features, labels, given = SAMPLES[item.name](np.random.default_rng(seed))
    longer = {key: int(given[key]) * times for key in LENGTHS if key in given}
    data, config = (features, labels), item.parse({**given, **longer})
    with pretended() as crossings:
        released = item.train_batched(*data, config, Tape(1, 3), device=NAME)
    return values(released), item.train_batched(*data, config, Tape(1, 3)), crossings


@every_algorithm
@pytest.mark.parametrize("seed", [1, pytest.param(2, marks=THOROUGH), pytest.param(3, marks=THOROUGH)])
def test_a_twin_trains_on_the_device_what_it_trains_here(item: Algorithm, seed: int) -> None:
    released, here, _ = trained(item, seed, 1)
    assert released.dtype == here.dtype == torch.float64
    assert apart(released, here) <= 1e-11


@every_algorithm
def test_no_step_waits_for_the_host(item: Algorithm) -> None:
    trained(item, 1, 1)  # tables that are kept are sent once
    once, twice = (trained(item, 1, times)[2] for times in (1, 2))
    if item.name in READS_IN_A_STEP:
        assert len(twice.sent) == len(once.sent)
        assert len(once.read) > 1
    else:
        assert twice.counts == once.counts, (once, twice)


@pytest.mark.parametrize("item", [pytest.param(item, id=item.name, marks=[] if item.name in PASSES else THOROUGH)
                                  for item in ALGORITHMS])
def test_twice_the_records_cross_no_more_often(item: Algorithm) -> None:
    """A pass over records is a loop of steps, too; solvers, which stop when they are done, ask how far they are."""
    features, labels, given = SAMPLES[item.name](np.random.default_rng(4))
    counts = []
    for times in (1, 1, 2):
        sizes = {key: int(given[key]) * times for key in SIZES if key in given}
        data = np.concatenate([features] * times), np.concatenate([labels] * times)
        with pretended() as crossings:
            item.train_batched(*data, item.parse({**given, **sizes}), Tape(1, 3), device=NAME)
        counts.append(crossings.counts)
    assert counts[1] == counts[2] or item.name in READS_IN_A_STEP or item.name in SOLVERS


def test_chunks_are_trained_one_after_the_other_on_the_device(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(torch_twin, "ACCELERATOR_CHUNK_ELEMENTS", 1)
    released, here, _ = trained(registry.algorithm("dp-sgd"), 1, 1)
    assert apart(released, here) <= 1e-11


class Halved(Tape):
    """A tape whose normals are planted: a device's own draws would not be."""

    def normal(self, purpose: str, step: int, dimension: int) -> Any:
        return 0.5 * np.asarray(super().normal(purpose, step, dimension))


@pytest.mark.parametrize("item", [pytest.param(item, id=item.name, marks=[] if item.name in PASSES else THOROUGH)
                                  for item in ALGORITHMS])
@pytest.mark.parametrize("dtype", ["float64", "float32"])
def test_a_tape_of_another_class_keeps_its_draws_on_the_device(item: Algorithm, dtype: str) -> None:
    features, labels, given = SAMPLES[item.name](np.random.default_rng(1))
    data, config = (features, labels), item.parse(given)
    here = item.train_batched(*data, config, Halved(1, 3), dtype=dtype)
    with pretended():
        there = item.train_batched(*data, config, Halved(1, 3), device=NAME, dtype=dtype)
    assert values(there).dtype == here.dtype
    assert apart(values(there).double(), here.double()) <= (1e-11 if dtype == "float64" else 0.02)


def test_tensors_of_two_devices_are_refused() -> None:
    """One of them would be copied, and the answer stand where the first parameter happens to be."""
    sigma, epsilon = torch.ones(3, dtype=torch.float64), torch.tensor(1.0, dtype=torch.float64)
    bound = registry.bound("gaussian.delta")
    with pretended() as crossings:
        for given in ({"sigma": sigma.to(NAME), "sensitivity": sigma}, {"sigma": sigma, "sensitivity": sigma.to(NAME)}):
            with pytest.raises(DomainError, match=r"are on several devices: sigma on .*, sensitivity on"):
                bound.fast(**given, epsilon=1.0)
        there = [
            bound.fast(sigma=sigma.to(NAME), sensitivity=1.0, epsilon=epsilon),  # numbers go along
            bound.fast(sigma=epsilon, sensitivity=sigma.to(NAME), epsilon=np.ones(1)),
        ]
    assert crossings.read.count("aten._to_copy.default") == 0
    here = bound.fast(sigma=sigma, sensitivity=1.0, epsilon=1.0)
    assert all(torch.equal(values(one), here) for one in there)


@pytest.mark.parametrize("name", ["poisson-gaussian.delta", "dp-sgd-multilayer.epsilon"])
def test_a_tensor_that_is_not_lent_keeps_those_beside_it(name: str) -> None:
    bound = registry.bound(name)
    table = numbers(bound, 2)
    plain = {key: v if isinstance(v, str) else torch.as_tensor(v) for key, v in table.items()}
    all_unlent = {key: v if isinstance(v, str) else v.as_subclass(Unlent) for key, v in plain.items()}
    expected = bound.fast(**all_unlent).as_subclass(torch.Tensor)
    for key in plain:
        if not isinstance(plain[key], str):
            answer = bound.fast(**{**plain, key: all_unlent[key]})
            assert torch.equal(answer.as_subclass(torch.Tensor), expected)


@pytest.mark.full
@pytest.mark.parametrize("bound", [pytest.param(item, id=item.name) for item in registry.bounds().values()])
def test_a_fast_path_answers_where_its_numbers_are(bound: Bound) -> None:
    columns = numbers(bound, 2)
    kept = {name: v if isinstance(v, str) else torch.as_tensor(v).as_subclass(Unlent) for name, v in columns.items()}
    here = bound.fast(**kept).as_subclass(torch.Tensor)
    with pretended():
        far: dict[str, Any] = {
            name: v if isinstance(v, str) else torch.as_tensor(v).to(NAME) for name, v in columns.items()
        }
        there = bound.fast(**far)
    assert isinstance(there, Far)
    np.testing.assert_array_equal(values(there), here)
