"""Bugs planted in NoisyCGD: in its noise, which an audit shows, and in its accounting."""

from __future__ import annotations

import math
from typing import Any

from empirical.mutants.changes import accountant, configuration, tape
from empirical.mutants.checks import audited
from empirical.mutants.mutant import Mutant
from empirical.mutants.tapes import scaled

_AUDITED = audited("NoisyCGD, canary in the last batch", budget=20_000, held=0.2, estimator="gdp")
_ACCOUNTED = {
    "points": [
        {
            "sensitivity": 2, "batch_size": 1, "noise_on_mean": 1, "contraction": contraction, "batches": batches,
            "epochs": epochs,
        }
        for contraction in (0.5, 0.9, 0.99)
        for batches, epochs in ((2, 2), (5, 20), (60, 400))
    ]
}


def _memory(*, contraction: float, batches: int, epochs: int, **_: Any) -> float:
    """The square of the theorem's factor without its leading 1, in plain floats."""
    decay = contraction ** (batches * (epochs - 1))
    geometric = (1 - contraction**2) / (1 - contraction**batches) ** 2
    return contraction ** (2 * batches - 2) * geometric * (1 - decay) / (1 + decay)


MUTANTS = (
    Mutant(
        "noisy-cgd", "noise short by the batch-size factor",
        configuration(noise_on_mean=lambda v: v.noise_on_mean / v.batch_size), id="M10",
        severity="C", origin="Tramer et al., arXiv 2202.12219", caught_by=("audit",), at=_AUDITED,
    ),
    Mutant(
        "noisy-cgd.mu", "replace-one accounted with sensitivity C instead of 2C",
        accountant(lambda **given: math.sqrt(1 + _memory(**given))), id="M13", severity="C",
        origin="google/differential-privacy #378, #464", caught_by=("safe side",), at=_ACCOUNTED,
    ),
    Mutant(
        "noisy-cgd.mu", "mu^2 * mu^2 / l where mu^2 + mu^2 / l is meant",
        accountant(lambda **given: 2 * math.sqrt(1 * _memory(**given))), id="M57", severity="C",
        origin="plotting code of Bok, Su and Altschuler 2024", caught_by=("safe side",), at=_ACCOUNTED,
    ),
    Mutant(
        "noisy-cgd", "noise subtracted instead of added", tape(scaled(-1.0, "noise")), id="E01", severity="E",
        origin="a harmless rewriting, planted to catch false alarms", spared_by=("audit",), at=_AUDITED,
    ),
)
