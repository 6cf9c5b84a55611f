"""The pretended device itself: what a GPU would make its host wait for, refuse or be sent is seen where planted."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import torch

from oracle.core import registry
from oracle.core.tape import Tape
from oracle.core.tape.torch_tape import TorchTape
from tests.pretend_device import NAME, Crossings, Far, pretended
from tests.topics import gathered

Plant = Callable[[Any], Any]
SAMPLES = gathered("SAMPLES", "tests.trainings")
HERE = torch.tensor([[4.0, 1.0, 0.5], [1.0, 3.0, 0.2], [0.5, 0.2, 2.0]], dtype=torch.float64)


def put(x: Any, places: Any, entries: Any) -> None:
    x.clone()[places] = entries


READ: dict[str, Plant] = {
    "item": lambda x: x[0, 0].item(), "float": lambda x: float(x[0, 0]), "branch": lambda x: 1 if (x > 9).any() else 0,
    "range": lambda x: list(range((x[0] > 9).sum())), "root": lambda x: math.sqrt(x[0, 0]),
    "list": lambda x: x.tolist(), "cpu": lambda x: x.cpu(), "like": lambda x: x.to(torch.zeros(1)),
    "into": lambda x: torch.zeros(3, 3).copy_(x), "slice": lambda x: x[: (x[0] > 9).sum()],
    "nonzero": lambda x: torch.where(x > 1), "mask": lambda x: x[x > 1], "select": lambda x: x.masked_select(x > 1),
    "masked": lambda x: put(x, x > 1, x[0, :1]), "put": lambda x: x.index_put((x > 1,), x[0, 0]),
    "unique": lambda x: x.unique(), "rows": lambda x: x.unique(dim=0), "runs": lambda x: x.unique_consecutive(),
    "counts": lambda x: (x[0] > 1).long().bincount(), "equal": lambda x: torch.equal(x, x),
    "repeated": lambda x: x[0].repeat_interleave((x[0] > 0).long()), "close": lambda x: torch.allclose(x, x),
    "cholesky": torch.linalg.cholesky, "inverse": torch.linalg.inv, "solve": lambda x: torch.linalg.solve(x, x),
    "eigen": torch.linalg.eigh, "singular": torch.linalg.svdvals, "pinv": torch.linalg.pinv,
    "norm": lambda x: torch.linalg.matrix_norm(x, ord=2), "exponential": torch.linalg.matrix_exp,
    "factor": lambda x: torch.scalar_tensor(1.0).add(1.0, alpha=x[0, 0]),
}
SENT: dict[str, Plant] = {
    "number": lambda x: torch.tensor(1.0, device=x.device), "list": lambda x: torch.as_tensor([1.0], device=x.device),
    "array": lambda x: torch.as_tensor(np.ones(2), device=x.device), "new": lambda x: x.new_tensor([1.0]),
    "to": lambda x: torch.ones(2).to(x.device), "row": lambda x: put(x, 0, torch.ones(3)),
}
REFUSED: dict[str, Plant] = {
    "numpy": lambda x: x.numpy(), "asarray": np.asarray, "root": np.sqrt, "product": lambda x: x * np.ones(3),
    "sum": lambda x: x + torch.ones(3), "matrix": lambda x: x @ torch.ones(3, 3, dtype=x.dtype),
    "places": lambda x: x[torch.tensor([0, 1])], "of the host": lambda x: torch.ones(3)[(x[0] > 0).long()],
    "out": lambda x: torch.add(x, 1, out=torch.ones(3, 3, dtype=x.dtype)),
    "stack": lambda x: torch.stack([x[0, 0], torch.tensor(1.0, dtype=x.dtype)]),
    "sorted": lambda x: torch.searchsorted(x[0], torch.tensor(1.0, dtype=x.dtype)),
    "clamp": lambda x: x.clamp(torch.tensor(0.0, dtype=x.dtype)), "text": lambda x: f"{x[0, 0]:.3f}",
}
FREE: dict[str, Plant] = {
    "arithmetic": lambda x: 2.0**x + x @ x.T, "number": lambda x: x + torch.tensor(1.0),
    "choice": lambda x: torch.where(x > 1, x, torch.tensor(0.0, dtype=x.dtype)), "zeros": lambda x: put(x, x > 1, 0.0),
    "places": lambda x: x[(x[0] > 1).long()], "made": lambda x: torch.arange(3, device=x.device) * torch.rand_like(x),
    "factor": torch.linalg.cholesky_ex, "sorted": lambda x: x.sort(dim=1), "print": repr,
}


def planted(plant: Plant) -> Crossings:
    with pretended() as crossings:
        x = HERE.to(NAME)
        crossings.sent.clear()
        plant(x)
    return crossings


@pytest.mark.parametrize("name", READ)
def test_what_the_host_is_told_is_counted(name: str) -> None:
    assert planted(READ[name]).read


@pytest.mark.parametrize("name", SENT)
def test_what_the_host_sends_is_counted(name: str) -> None:
    assert planted(SENT[name]).counts == (0, 1)


@pytest.mark.parametrize("name", REFUSED)
def test_what_a_device_refuses_is_refused(name: str) -> None:
    with pytest.raises((RuntimeError, TypeError)):
        planted(REFUSED[name])


@pytest.mark.parametrize("name", FREE)
def test_what_stays_on_the_device_is_free(name: str) -> None:
    assert planted(FREE[name]).counts == (0, 0)


def test_printing_a_tensor_tells_nothing_of_its_values() -> None:
    assert repr(Far(HERE)) == "Far((3, 3), torch.float64)"


@pytest.mark.full
@pytest.mark.parametrize("plant", [*READ.values(), *SENT.values(), *REFUSED.values()], ids=[*READ, *SENT, *REFUSED])
def test_a_plant_in_a_step_of_a_training_shows(plant: Plant, monkeypatch: pytest.MonkeyPatch) -> None:
    """The very comparison of `test_device`: twice the steps cross more often, or the training fails."""
    draw = TorchTape.normal

    def normal(self: TorchTape, purpose: str, step: int, dimension: int) -> Any:
        plant(HERE[0, 0] * torch.ones_like(draw(self, purpose, step, 3)[:3, :3]) + torch.eye(3, device=self.device))
        return draw(self, purpose, step, dimension)

    def crossings(times: int) -> tuple[int, int]:
        item = registry.algorithm("dp-gd")
        features, labels, given = SAMPLES[item.name](np.random.default_rng(1))
        config = item.parse({**given, "steps": times})
        with pretended() as found:
            item.train_batched(features, labels, config, Tape(1, 3), device=NAME)
        return found.counts

    crossings(1)  # tables that are kept are sent once
    assert crossings(1) == crossings(2)
    monkeypatch.setattr(TorchTape, "normal", normal)
    try:
        assert crossings(1) != crossings(2)
    except (RuntimeError, TypeError):
        assert plant in REFUSED.values()
