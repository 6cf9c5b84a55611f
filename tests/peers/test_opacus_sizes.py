"""Opacus' PrivacyEngine divides by a number that follows the data: found by the audit, and read off the optimizer.

Run by the gate session, where Opacus is installed. Budgets are small; a CONSISTENT training is called VIOLATION with
probability at most 1e-3 (the audit's confidence), and the seeds are fixed.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from empirical.gate.league.peer_trainings import TRAININGS, XFAIL, PeerTraining, claimed, opacus_make_private
from empirical.gate.xfail import load
from oracle.core.registry import bound

pytest.importorskip("opacus")


@pytest.mark.parametrize("training", TRAININGS, ids=lambda training: training.function.__name__)
def test_the_audit_finds_which_calls_keep_their_promise(training: PeerTraining, tmp_path: Path) -> None:
    result = training.job(tmp_path, budget=300).carry_out(load(XFAIL))
    broken = training.function is opacus_make_private
    assert result.verdict == ("VIOLATION" if broken else "CONSISTENT"), result.why
    assert result.exit_code == 0, "the violation is a known one"


@pytest.mark.parametrize(("records", "batch_size", "divisor"), [
    (2, 2, 2), (3, 2, 1), (4, 2, 2), (5, 2, 1), (6, 2, 2), (7, 2, 1), (999, 2, 1), (1000, 2, 2), (6399, 64, 63),
    (6400, 64, 64),
])
def test_the_divisor_of_the_engine_follows_the_number_of_records(records: int, batch_size: int, divisor: int) -> None:
    import torch
    from opacus import PrivacyEngine
    from torch.utils.data import DataLoader, TensorDataset

    model = torch.nn.Linear(1, 1)
    loader = DataLoader(TensorDataset(torch.zeros(records, 1)), batch_size=batch_size)
    _, optimizer, _ = PrivacyEngine().make_private(
        module=model, optimizer=torch.optim.SGD(model.parameters(), lr=1.0), data_loader=loader, noise_multiplier=1.0,
        max_grad_norm=1.0,
    )
    assert optimizer.expected_batch_size == divisor


def test_the_claim_is_one_for_adding_a_record() -> None:
    """The accountant's epsilon is above the least one of two Poisson steps at rate 1/2: the claim itself is sound."""
    least = bound("poisson-gaussian.epsilon").reference(
        sigma=2, sampling_rate="0.5", steps=2, delta="1e-5", neighbours="add_remove"
    )
    assert least.to_floats()[1] <= claimed() < 2 * least.to_floats()[1]
