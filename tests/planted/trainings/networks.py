"""Bugs in the batched DP-SGD on multi-layer networks."""

from __future__ import annotations

from fractions import Fraction
from functools import partial
from typing import Any

import torch

from empirical.mutants.changes import code, configuration, tape, times
from empirical.mutants.checks import Setting
from empirical.mutants.mutant import Change, Mutant
from empirical.mutants.tapes import shared
from oracle.core.tape import Tape
from tests.oracle.networks.test_multilayer_training import config, data
from tests.planted import unlike

SETTING = Setting(config(layer_radius=2, hidden_units=8), data(), Tape(5, 3))


def differs(title: str, changes: Change, severity: str) -> Mutant:
    return unlike("dp-sgd-multilayer", title, changes, severity, SETTING)


def summing(wrong: Any) -> Change:
    """Another sum over the records; `wrong` takes the honest one first."""
    place = "oracle.algorithms.networks.torch_dp_sgd_multilayer:add_clipped_sums"
    return code("twin", {place: lambda honest: partial(wrong, honest)})


def by_layer(
    honest: Any, layers: list[torch.Tensor], x: torch.Tensor, y: torch.Tensor, clip_norm: float, loss: str, *,
    into: list[torch.Tensor], times: float, kept: Any,
) -> None:
    """Every layer clipped to C on its own, by way of the sums of single records."""
    totals = [torch.zeros_like(part) for part in into]
    for record in range(x.shape[1]):
        at, one = slice(record, record + 1), [torch.zeros_like(part) for part in into]
        honest(layers, x[:, at], y[:, at], 1e9, loss, into=one, times=1.0, kept=kept)
        for total, part in zip(totals, one, strict=True):
            total += part * clip_norm / part.norm(dim=(1, 2), keepdim=True).clamp(min=clip_norm)
    for part, total in zip(into, totals, strict=True):
        part.add_(total, alpha=times)


def by_count(
    honest: Any, layers: list[torch.Tensor], x: torch.Tensor, *rest: Any, into: list[torch.Tensor], times: float,
    kept: Any,
) -> None:
    """Divided by |B|: times b / |B| here, before the division by b."""
    totals = [torch.zeros_like(part) for part in into]
    honest(layers, x, *rest, into=totals, times=times, kept=kept)
    for part, total in zip(into, totals, strict=True):
        part.add_(total.mul_(2 / x.any(dim=2).sum(dim=1)[:, None, None].clamp(min=1)))


MUTANTS = (
    differs("clipped by layer", summing(by_layer), "C"),
    differs("divided by |B|", summing(by_count), "C"),
    differs("not clipped", configuration(clip_norm=Fraction(10**9)), "C"),
    differs("projected around 0", configuration(centre="origin"), "U"),
    differs("projected on R", times(layer_radius=2), "U"),
    differs("a step short", configuration(steps=lambda v: v.steps - 1), "U"),
    differs("noise on the sum", configuration(noise_on_mean=lambda v: v.noise_on_mean / v.batch_size), "C"),
    differs("learning rate off in the 8th digit", times(learning_rate=1 + Fraction(1, 10**8)), "N"),
    differs("another loss", configuration(loss="pseudo-huber"), "U"),
    differs("one batch for all", tape(shared("batch")), "C"),
    differs("one noise for all", tape(shared("noise")), "C"),
)
