"""Bugs in the batched tuning by a Poisson number of runs."""

from __future__ import annotations

from fractions import Fraction

from empirical.mutants.changes import code, configuration, tape, times
from empirical.mutants.checks import Setting
from empirical.mutants.mutant import Change, Mutant
from empirical.mutants.tapes import confused, never_zero, reused
from oracle.core.tape import Tape
from tests.oracle.tuning.test_poisson_tuning_training import config, data
from tests.planted import unlike

SETTING = Setting(config(), data(), Tape(5, 60))


def differs(title: str, changes: Change, severity: str) -> Mutant:
    return unlike("poisson-tuned-noisy-cgd", title, changes, severity, SETTING)


MUTANTS = (
    differs("one noise for all runs", tape(confused("run 0/noise", *(f"run {run}" for run in range(100)))), "C"),
    differs("one candidate for all runs", tape(reused("candidate")), "C"),
    differs("never no run", tape(never_zero), "C"),
    differs("another score", configuration(score="accuracy"), "U"),
    differs("one mean for another", times(mean_runs=Fraction(1, 2)), "U"),
    differs("a grid in another order", configuration(learning_rates=lambda v: v.learning_rates[::-1]), "U"),
    differs("lambda of the first for all", configuration(regularisations=lambda v: v.regularisations[:1] * 3), "U"),
    differs("trained on a public batch", configuration(validation_records=1, feature_norm=Fraction(100)), "U"),
    differs("one epoch short", configuration(epochs=lambda v: v.epochs - 1), "U"),
    differs(
        "the worst for the best", code("twin", {
            "oracle.algorithms.tuning.torch_tuned_noisy_cgd:_scores": lambda honest: lambda *given: -honest(*given),
        }), "U",
    ),
)
