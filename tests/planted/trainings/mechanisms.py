"""Bugs in the batched mechanisms of document 004: perturbed minimisers, the exponential mechanism, blocks, moments."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

from empirical.mutants.changes import code, configuration, tape, times
from empirical.mutants.checks import Setting
from empirical.mutants.tapes import gaussian_norms, reused, shared
from oracle.core.algorithm import Values
from oracle.core.tape import Tape
from tests.oracle.perturbation import test_mechanisms_training as mechanisms
from tests.oracle.perturbation import test_perturbation_training as perturbation
from tests.oracle.perturbation.test_mechanisms_training import blocks, chain, grid, moments
from tests.oracle.perturbation.test_perturbation_training import objective, output
from tests.planted import unlike

OUTPUT, OBJECTIVE = "output-perturbation", "objective-perturbation"
GRID, CHAIN = "exponential-mechanism", "exponential-mechanism-sampler"
BLOCKS, MOMENTS = "subsample-aggregate", "sufficient-statistics"
ROOM = "oracle.algorithms.mechanisms"


def at(values: Values) -> Setting:
    """Eight models, so that a wrong law of a fine grid chooses another of its models at least once."""
    return Setting(values, mechanisms.data(), Tape(5, 8))


def perturbed(values: Values) -> Setting:
    return Setting(values, perturbation.data(), Tape(5, 8))


def mean_for_sum(module: str) -> dict[str, Any]:
    return {f"{ROOM}.{module}:energies": lambda honest: lambda x, *given: honest(x, *given) / len(x)}


PLAIN_OUTPUT, PLAIN_OBJECTIVE = perturbed(output()), perturbed(objective())
FINE_GRID, CHAIN_20 = at(grid(grid_points=101)), at(chain(steps=20))
PLAIN_BLOCKS, MEDIANS, PLAIN_MOMENTS = at(blocks()), at(blocks(estimator="median")), at(moments())

MUTANTS = (
    unlike(OUTPUT, "half the noise", times(noise_scale=Fraction(1, 2)), "C", PLAIN_OUTPUT),
    unlike(
        OUTPUT, "a ridge without its half", times(regularisation=2), "U",
        PLAIN_OUTPUT,
    ),
    unlike(OBJECTIVE, "the sharp correction", configuration(correction="sharp"), "U", PLAIN_OBJECTIVE),
    unlike(OBJECTIVE, "no correction", configuration(correction="none"), "C", PLAIN_OBJECTIVE),
    unlike(
        OBJECTIVE, "no added ridge", configuration(correction="none", epsilon=lambda v: v.epsilon / 2), "C",
        perturbed(objective(epsilon="0.1")),
    ),
    unlike(GRID, "no regulariser", configuration(regularisation=0), "U", FINE_GRID),
    unlike(GRID, "double temperature", times(temperature=2), "C", FINE_GRID),
    unlike(GRID, "no clipping", configuration(loss_range=10**9), "C", FINE_GRID),
    unlike(CHAIN, "a step too few", configuration(steps=lambda v: v.steps - 1), "T", CHAIN_20),
    unlike(CHAIN, "no clipping", configuration(loss_range=10**9), "C", CHAIN_20),
    unlike(BLOCKS, "no clipping", configuration(estimate_high=10**9), "C", at(blocks(estimate_high="0.4"))),
    unlike(BLOCKS, "too few", configuration(blocks=2, estimator="median"), "C", PLAIN_BLOCKS),
    unlike(BLOCKS, "shuffled", configuration(order="shuffled"), "U", MEDIANS),
    unlike(MOMENTS, "noise on one sum", times(noise_scale=Fraction(1, 12)), "C", PLAIN_MOMENTS),
    unlike(MOMENTS, "no floor", configuration(variance_floor=1e-9), "U", at(moments(variance_floor="0.5"))),
    unlike(OUTPUT, "Gaussian noise", tape(gaussian_norms), "C", PLAIN_OUTPUT),
    unlike(OUTPUT, "one noise for all", tape(shared()), "C", PLAIN_OUTPUT),
    unlike(OBJECTIVE, "one noise for all", tape(shared()), "C", PLAIN_OBJECTIVE),
    unlike(GRID, "one draw for all", tape(shared()), "C", at(grid(temperature=100))),
    unlike(CHAIN, "the same proposal at every step", tape(reused("proposal")), "T", CHAIN_20),
    unlike(BLOCKS, "one noise for all", tape(shared()), "C", PLAIN_BLOCKS),
    unlike(MOMENTS, "one noise for all", tape(shared()), "C", PLAIN_MOMENTS),
    unlike(
        # a twin that takes a gradient of 1e-5 for zero is no twin
        OBJECTIVE, "an early stop",
        code("twin", {"oracle.algorithms.shared.torch_minimiser:rounding": lambda honest: lambda *given: 1e-5}), "N",
        perturbed(objective(epsilon=30)),
    ),
    unlike(GRID, "a mean for a sum", code("twin", mean_for_sum("torch_exponential_mechanism")), "U", FINE_GRID),
    unlike(CHAIN, "a mean for a sum", code("twin", mean_for_sum("torch_exponential_sampler")), "U", CHAIN_20),
)
