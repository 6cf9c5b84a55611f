"""Bugs in the batched NoisyCGD."""

from __future__ import annotations

from fractions import Fraction

from empirical.mutants.changes import configuration, tape, times
from empirical.mutants.checks import Setting
from empirical.mutants.tapes import reused, shared
from oracle.core.tape import Tape
from tests.oracle.hidden_state.test_noisy_cgd_training import config, data
from tests.planted import unlike

NAME, SETTING = "noisy-cgd", Setting(config(loss="linear"), data(), Tape(5, 3))

MUTANTS = (
    unlike(NAME, "no noise", configuration(noise_on_mean=Fraction(0)), "C", SETTING),
    unlike(
        NAME, "noise on the sum", configuration(noise_on_mean=lambda v: v.noise_on_mean / v.batch_size), "C", SETTING,
    ),
    unlike(NAME, "no clipping", configuration(clip_norm=Fraction(10**9)), "C", SETTING),
    unlike(NAME, "clipped to 2C", times(clip_norm=2), "C", SETTING),
    unlike(NAME, "no regularisation", configuration(regularisation=Fraction(0)), "C", SETTING),
    unlike(NAME, "one epoch short", configuration(epochs=lambda v: v.epochs - 1), "U", SETTING),
    unlike(NAME, "whole data a batch", configuration(batch_size=6), "C", SETTING),
    unlike(NAME, "learning rate off in the 8th digit", times(learning_rate=1 + Fraction(1, 10**8)), "N", SETTING),
    unlike(NAME, "noise reused at every step", tape(reused("noise")), "C", SETTING),
    unlike(NAME, "noise shared by the models", tape(shared("noise")), "C", SETTING),
)
