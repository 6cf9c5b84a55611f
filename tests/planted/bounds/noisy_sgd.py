"""Wrong formulas for noisy SGD with hidden state: the second opinions must object."""

from __future__ import annotations

import math

from empirical.mutants.changes import parameters
from tests.planted import loose, wrong

MUTANTS = (
    wrong("noisy-sgd.epsilon", "C for 2C in noisy SGD", parameters(sensitivity=lambda v: v.sensitivity / 2)),
    wrong("noisy-sgd.epsilon", "the last step for free", parameters(steps=lambda v: max(0, v.steps - 1))),
    loose(
        "noisy-sgd.epsilon", "the projection forgotten",
        parameters(diameter=lambda v: math.inf if v.diameter else v.diameter),
    ),
    loose(
        "noisy-sgd.delta", "noise on the sum for noise on the mean",
        parameters(noise_on_mean=lambda v: v.noise_on_mean / 2),
    ),
    wrong("noisy-sgd.delta", "contraction squared", parameters(contraction=lambda v: v.contraction**2)),
)
