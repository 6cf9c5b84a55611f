"""Models in chunks: their sizes, their order, and the threads that train them."""

from __future__ import annotations

import math
import threading
from collections.abc import Iterator

import pytest
import torch

from oracle.core import torch_twin
from oracle.core.errors import DomainError
from oracle.core.tape import Tape
from oracle.core.tape.torch_tape import TorchTape
from tests.waiting import PATIENCE


@pytest.fixture(autouse=True)
def two_threads(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Two threads of torch's, and chunks of two of the models below, who have five entries each."""
    monkeypatch.setattr(torch_twin, "CHUNK_ELEMENTS", 10)
    monkeypatch.setattr(torch_twin, "ACCELERATOR_CHUNK_ELEMENTS", 25)
    before = torch.get_num_threads()
    torch.set_num_threads(2)
    yield
    torch.set_num_threads(before)


def numbers(part: Tape) -> torch.Tensor:
    return torch.arange(part.first_model, part.first_model + part.models)[:, None]


@pytest.mark.parametrize(("device", "sizes"), [("cpu", [1, 2, 2, 2]), ("meta", [3, 4])])
@pytest.mark.parametrize("recorder", [None, print])
def test_chunks_are_larger_on_an_accelerator_and_results_stand_in_order(
    device: str, sizes: list[int], recorder: object
) -> None:
    seen: list[Tape] = []

    def seeing(part: Tape) -> torch.Tensor:
        seen.append(part)
        return numbers(part)

    together = torch_twin.in_chunks(Tape(0, 7, 30), 5, seeing, torch.empty(0, device=device), recorder)
    assert together[:, 0].tolist() == list(range(30, 37))
    assert [part.models for part in sorted(seen, key=lambda part: part.first_model)] == sizes
    if device == "cpu":
        assert {part.library for part in seen} == {"torch"}
    else:
        assert {part.device for part in seen if isinstance(part, TorchTape)} == {torch.device(device)}


@pytest.mark.parametrize("limit", [1, 3, 8])
@pytest.mark.parametrize("models", [1, 2, 3, 4, 5, 6, 7, 9, 10, 50, 51, 99])
def test_no_core_waits_for_another(models: int, limit: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where one chunk is not enough there is an even number of them, as large but for a model, none far too large."""
    monkeypatch.setattr(torch_twin, "CHUNK_ELEMENTS", limit * 5)
    seen: list[int] = []

    def seeing(part: Tape) -> torch.Tensor:
        seen.append(part.models)
        return numbers(part)

    torch_twin.in_chunks(Tape(0, models), 5, seeing, torch.empty(0), print)
    assert sum(seen) == models
    assert max(seen) - min(seen) <= 1
    assert max(seen) <= math.ceil(1.25 * limit)
    assert len(seen) == 1 if models <= limit else len(seen) % 2 == 0 or len(seen) == models


def test_draws_have_the_precision_of_the_models() -> None:
    for dtype, single in ((torch.float64, False), (torch.float32, True), (torch.bfloat16, True)):
        seen: list[bool] = []

        def seeing(part: Tape, seen: list[bool] = seen) -> torch.Tensor:
            seen.append(part.single)
            return numbers(part)

        torch_twin.in_chunks(Tape(0, 3), 5, seeing, torch.empty(0, dtype=dtype))
        assert seen == [single, single]


def test_as_many_chunks_are_trained_at_a_time_as_torch_has_threads() -> None:
    """Nobody passes the barrier alone; each has one thread of torch's, which has as many as before in the end."""
    barrier = threading.Barrier(2)

    def meeting(part: Tape) -> torch.Tensor:
        barrier.wait(timeout=PATIENCE)
        assert torch.get_num_threads() == 1
        return numbers(part)

    assert torch_twin.in_chunks(Tape(0, 8), 5, meeting, torch.empty(0))[:, 0].tolist() == list(range(8))
    assert torch.get_num_threads() == 2


def test_a_recorder_hears_the_chunks_in_order_from_one_thread() -> None:
    heard: list[tuple[int, int]] = []

    def telling(part: Tape) -> torch.Tensor:
        heard.append((part.first_model, threading.get_ident()))
        return numbers(part)

    torch_twin.in_chunks(Tape(0, 7), 5, telling, torch.empty(0), print)
    assert heard == [(first, threading.get_ident()) for first in (0, 1, 3, 5)]


def test_an_error_of_a_chunk_is_raised_and_the_threads_are_given_back() -> None:
    def failing(part: Tape) -> torch.Tensor:
        if part.first_model == 3:
            raise DomainError(f"model {part.first_model}")
        return numbers(part)

    with pytest.raises(DomainError, match="model 3"):
        torch_twin.in_chunks(Tape(0, 7), 5, failing, torch.empty(0))
    assert torch.get_num_threads() == 2


def test_kept_memory_is_that_of_its_name_and_grows() -> None:
    kept = torch_twin.Kept(torch.empty(0, dtype=torch.float32))
    first = kept("a", 3, 4)
    assert (first.shape, first.dtype, first.is_contiguous()) == ((3, 4), torch.float32, True)
    assert kept("a", 2, 5).data_ptr() == first.data_ptr() != kept("b", 2, 5).data_ptr()
    first.fill_(7)
    assert kept("a", 5, 4).shape == (5, 4)
    assert (first == 7).all()  # what is larger is elsewhere
    assert kept("a", 0, 4).shape == (0, 4)


@pytest.mark.parametrize("kind", [torch.float64, torch.float32, torch.bfloat16, torch.int64, torch.bool])
@pytest.mark.parametrize("shape", [(), (3,), (2, 5), (0,)])
def test_results_keep_their_type_and_shape(kind: torch.dtype, shape: tuple[int, ...]) -> None:
    """Whatever memory they are put into: their own, which others can write to and add to."""
    def ones(part: Tape) -> torch.Tensor:
        return torch.ones(part.models, *shape).to(kind)

    together = torch_twin.in_chunks(Tape(0, 7), 5, ones, torch.empty(0))
    assert (together.dtype, together.shape) == (kind, (7, *shape))
    assert bool((together == 1).all())
    together[3] = 0
    assert together.clone().sum() == 6 * math.prod(shape)
