"""Bugs in studies: generators and plans beyond the theorem's hypotheses, and reductions without the twin's law."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from empirical.mutants.changes import code
from empirical.mutants.mutant import SLIP, Mutant
from empirical.studies.nonconvex_nn import polynomial_degree, relu_descent, wide_network
from tests.planted import seen
from tests.studies import test_projected_rates as projected
from tests.studies import test_span_descent as span

STUDIES = "empirical.studies.nonconvex_nn"


def refused(module: str, title: str, place: str, wrong: Any, study: str, words: str) -> Mutant:
    """What makes a study break a hypothesis of its theorem, which its premises must say."""
    return Mutant(
        f"{STUDIES}.{module}", title, code("machinery", {f"{STUDIES}.{module}:{place}": wrong}), severity="C",
        origin=SLIP, caught_by=("premises",), at={"study": study, "words": words},
    )


def labels_of_one(honest: Any) -> Any:
    def drawn(plan: Any, generator: np.random.Generator) -> Any:
        return honest(plan, generator)[0], np.ones(plan.records)

    return drawn


MUTANTS = (
    refused(
        "linear_twin", "a generator with other means", "drawn", labels_of_one, "phased-sgd-epsilon",
        r"breaks a hypothesis of the theorem \(\|x\| <= 1",
    ),
    refused(
        "relu_descent", "a quarter of the noise", "plan",
        lambda honest: lambda spot: replace(honest(spot), noise=honest(spot).noise / 4), relu_descent.private.name,
        "epsilon, delta",
    ),
    refused(
        "polynomial_degree", "half of the noise", "_FACTOR", lambda honest: honest / 2, polynomial_degree.network.name,
        "noise",
    ),
    refused(
        "wide_network", "a network too narrow", "sizes", lambda honest: lambda spot: (spot["T"] ** 6, 10**6),
        wide_network.rate.name, r"T\^7",
    ),
    seen(
        f"{STUDIES}.span_descent", "noise off the span forgotten", code("machinery", {
            f"{STUDIES}.span_descent:_noise": lambda honest: lambda generators, steps, dimension, off: honest(
                generators, steps, dimension, 0
            ),
        }), span.test_the_reduction_has_the_twins_law,
    ),
    seen(
        f"{STUDIES}.smoothed_rates", "a step that is not rescaled",
        code("machinery", {f"{STUDIES}.smoothed_rates:_rescaled": lambda honest: lambda plan, beta: plan}),
        projected.test_a_rescaled_step_is_the_other_one, severity="U",
    ),
)
