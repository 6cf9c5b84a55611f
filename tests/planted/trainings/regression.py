"""Bugs in the batched trainings of ReLU regression by projected and by batched descent."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np

from empirical.mutants.changes import configuration, tape, times
from empirical.mutants.checks import Setting
from empirical.mutants.mutant import Change, Mutant
from empirical.mutants.tapes import scaled, shared
from oracle.core.tape import Tape
from tests.oracle.phased.test_relu_regression_training import adaptive, data, pgd
from tests.planted import unlike


def within_bounds() -> tuple[Any, Any]:
    """Within the changed bounds, too, so that it is not the check of data that differs."""
    features, labels = data()
    return features / 2, np.clip(labels, -0.5, 0.5)


PGD, ADAPTIVE = (Setting(values, within_bounds(), Tape(5, 3)) for values in (pgd(), adaptive()))


def differs(of: str, title: str, changes: Change, severity: str) -> Mutant:
    return unlike(of, title, changes, severity, {"dp-pgd": PGD, "adaptive-batched-gd": ADAPTIVE}[of])


MUTANTS = (
    differs("dp-pgd", "projected on W", times(weight_bound=Fraction(1, 2)), "U"),
    differs("dp-pgd", "not projected", configuration(weight_bound=Fraction(10**9)), "C"),
    differs("dp-pgd", "a step short", configuration(steps=lambda v: v.steps - 1), "U"),
    differs("dp-pgd", "noise on the sum", times(noise_on_mean=Fraction(1, 6)), "C"),
    differs("dp-pgd", "learning rate off in the 8th digit", times(learning_rate=1 + Fraction(1, 10**8)), "N"),
    differs("dp-pgd", "projection without 1/sqrt(m)", tape(scaled(3**0.5, "projection")), "C"),
    differs("dp-pgd", "one projection for all", tape(shared("projection")), "U"),
    differs("adaptive-batched-gd", "the text's noise", configuration(noise_formula="printed-variance"), "C"),
    differs("adaptive-batched-gd", "B for 2B", times(label_bound=Fraction(1, 2)), "C"),
    differs("adaptive-batched-gd", "other batches", configuration(batch_size=3), "C"),
    differs("adaptive-batched-gd", "one noise for all", tape(shared("noise")), "C"),
)
