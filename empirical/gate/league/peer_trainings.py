"""Opacus' DP-SGD as trainings that the gate can audit: fn(dataset, seed) -> weights, with the epsilon it claims.

A linear model without bias, one epoch of Poisson batches of two records on average, every random draw from torch's
generator. All is done by Opacus; what differs is only how it is asked:

- `opacus_make_private`: the documented way, a PrivacyEngine around model, optimizer and data loader. The sampling rate
  becomes 1 / len(loader), and the noisy sum is divided by int(len(dataset) * rate): 1 for three records, 2 for four.
  So the noise of the release tells how many records there are, whatever these are, while the accountant's epsilon is
  one for adding or removing a record.
- `opacus_sum`: the same with loss_reduction="sum", which divides by nothing; the rate still follows the data.
- `opacus_public_sizes`: rate and divisor are constants, given to the loader and the optimizer by hand.

`claimed` is what Opacus' own accountant says of them. torch and Opacus are imported where they are used.
"""

from __future__ import annotations

import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from empirical.gate import xfail
from empirical.gate.adapters import installed_version
from empirical.gate.league.league import TrainingRow
from empirical.gate.training_jobs import BUDGET, TrainingJob
from oracle.core.errors import TargetError

Array = NDArray[np.float64]
Dataset = tuple[Array, Array]

NOISE_MULTIPLIER = 2.0
CLIP_NORM = 1.0
BATCH_SIZE = 2
STEPS = 2  # an epoch of three records, and one of four
DELTA = 1e-5
ACCOUNTANT = "rdp"
XFAIL = Path(__file__).with_name("peer_trainings.xfail.toml")
"""What is known to be wrong with these trainings, in the gate's own form."""


def opacus_make_private(dataset: Dataset, seed: int) -> Array:
    """An epoch of the documented loop."""
    return _by_engine(dataset, seed, "mean")


def opacus_sum(dataset: Dataset, seed: int) -> Array:
    """The same for a loss that is summed over the batch."""
    return _by_engine(dataset, seed, "sum")


def _by_engine(dataset: Dataset, seed: int, reduction: str) -> Array:
    import torch
    from opacus import PrivacyEngine
    from torch.utils.data import DataLoader

    torch.manual_seed(seed)
    model, optimizer = _model(dataset)
    model, optimizer, loader = PrivacyEngine(accountant=ACCOUNTANT).make_private(
        module=model, optimizer=optimizer, data_loader=DataLoader(_records(dataset), batch_size=BATCH_SIZE),
        noise_multiplier=NOISE_MULTIPLIER, max_grad_norm=CLIP_NORM, loss_reduction=reduction,
    )
    return _trained(model, optimizer, loader, reduction)


def opacus_public_sizes(dataset: Dataset, seed: int) -> Array:
    """Opacus' parts put together by hand, with a sampling rate and a divisor that do not depend on the data."""
    import torch
    from opacus import GradSampleModule
    from opacus.data_loader import DPDataLoader
    from opacus.optimizers import DPOptimizer

    torch.manual_seed(seed)
    model, optimizer = _model(dataset)
    private = DPOptimizer(
        optimizer, noise_multiplier=NOISE_MULTIPLIER, max_grad_norm=CLIP_NORM, expected_batch_size=BATCH_SIZE
    )
    loader = DPDataLoader(_records(dataset), sample_rate=1 / STEPS)
    return _trained(GradSampleModule(model), private, loader, "mean")


def claimed(delta: float = DELTA) -> float:
    """The epsilon of STEPS steps by the accountant, as PrivacyEngine.get_epsilon reports it."""
    from opacus.accountants import create_accountant

    accountant = create_accountant(ACCOUNTANT)
    for _ in range(STEPS):
        accountant.step(noise_multiplier=NOISE_MULTIPLIER, sample_rate=1 / STEPS)
    return float(accountant.get_epsilon(delta=delta))


def _model(dataset: Dataset) -> tuple[Any, Any]:
    import torch

    model = torch.nn.Linear(dataset[0].shape[1], 1, bias=False)
    torch.nn.init.zeros_(model.weight)
    return model, torch.optim.SGD(model.parameters(), lr=1.0)


def _records(dataset: Dataset) -> Any:
    import torch
    from torch.utils.data import TensorDataset

    return TensorDataset(*(torch.as_tensor(part, dtype=torch.float32) for part in dataset))


def _trained(model: Any, optimizer: Any, loader: Any, reduction: str) -> Array:
    from torch.nn.functional import mse_loss

    for features, labels in loader:
        optimizer.zero_grad()
        loss: Any = mse_loss(model(features)[:, 0], labels, reduction=reduction)
        loss.backward()
        optimizer.step()
    return np.concatenate([part.detach().numpy().ravel() for part in model.parameters()]).astype(np.float64)


def empty_records(*, dimension: int = 8) -> dict[str, Array]:
    """Three records and four, all zero: gradients vanish, and only the number of records is left to tell."""
    return {
        "X0": np.zeros((3, dimension)), "y0": np.zeros(3), "X1": np.zeros((4, dimension)), "y1": np.zeros(4),
    }


def one_record_more(*, dimension: int = 8) -> dict[str, Array]:
    """Three records without a gradient, and a fourth whose gradient is clipped, on every coordinate alike."""
    pair = empty_records(dimension=dimension)
    pair["X1"][-1], pair["y1"][-1] = 1.0, 1.0
    return pair


@dataclass(frozen=True)
class PeerTraining:
    """A training to audit on a pair of data sets; `target` is what the gate is given."""

    library: str
    distribution: str
    function: Callable[[Dataset, int], Array]
    pair: Callable[[], dict[str, Array]]
    remark: str

    @property
    def target(self) -> str:
        """The "module:function" of the training."""
        return f"{self.function.__module__}:{self.function.__qualname__}"

    def job(self, folder: Path, *, budget: int = BUDGET) -> TrainingJob:
        """The audit of this training for what its accountant claims; the pair is written to the folder."""
        path, pair = folder / f"{self.function.__name__}.npz", self.pair()
        np.savez(path, X0=pair["X0"], y0=pair["y0"], X1=pair["X1"], y1=pair["y1"])
        return TrainingJob(
            training=self.target, epsilon=repr(claimed()), delta=repr(DELTA), pair=str(path), neighbours="add_remove",
            budget=budget,
        )

    def row(self) -> TrainingRow:
        """What the audit of this training finds."""
        with tempfile.TemporaryDirectory() as folder:
            job = self.job(Path(folder))
            result = job.carry_out(xfail.load(XFAIL))
        if result.verdict == "INVALID":
            raise TargetError(f"{self.target}: {result.reason}")
        return TrainingRow(
            library=self.library, version=self.version or "", training=self.function.__name__,
            claimed=float(job.epsilon or 0), delta=job.delta, verdict=result.verdict,
            epsilon_lower=result.audit["epsilon_lower"],
            confidence=job.confidence, models=job.budget, seconds=round(result.seconds, 1), as_expected=result.good,
            remark=self.remark,
        )

    @property
    def version(self) -> str | None:
        """The version that is installed, or None."""
        return installed_version(self.distribution)


TRAININGS = (
    PeerTraining(
        "Opacus", "opacus", opacus_make_private, empty_records,
        "make_private divides the noisy sum by int(len(dataset) * rate): the noise tells the number of records",
    ),
    PeerTraining(
        "Opacus", "opacus", opacus_sum, one_record_more,
        'the same with loss_reduction="sum": nothing is divided',
    ),
    PeerTraining(
        "Opacus", "opacus", opacus_public_sizes, one_record_more,
        "DPOptimizer and DPDataLoader by hand, with a public rate and divisor",
    ),
)
