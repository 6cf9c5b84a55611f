"""Bugs in phased SGD: in the batched twin, which the agreement shows; in both twins, which the closed forms show."""

from __future__ import annotations

from fractions import Fraction
from functools import partial
from typing import Any

import numpy as np

from empirical.mutants.changes import code, configuration, tape, times
from empirical.mutants.checks import Setting
from empirical.mutants.mutant import Change, Mutant
from empirical.mutants.tapes import reused, scaled, shared
from oracle.algorithms.phased import phased_sgd, torch_moreau
from oracle.core.algorithm import Values
from oracle.core.tape import Tape
from tests.oracle.phased import test_moreau as oracles
from tests.oracle.phased import test_phased_training as phased
from tests.planted import seen, unlike

PLAIN, PROJECTED, SMOOTHED = "phased-sgd", "phased-sgd-projected", "smoothed-phased-sgd"
BOTH = "smoothed-phased-sgd-projected"
CHANGES: dict[str, dict[str, Any]] = {
    PLAIN: {"initial_radius": 1}, PROJECTED: {}, SMOOTHED: {"oracle_error": "0.01"},
    BOTH: {"gradient_oracle": "subgradient", "oracle_error": 3},
}
SETTINGS = {
    name: Setting(phased.config(name, **given), phased.data(80), Tape(5, 3)) for name, given in CHANGES.items()
}
ROOM = "oracle.algorithms.phased"
TWIN, MOREAU = f"{ROOM}.torch_phased_sgd", f"{ROOM}.moreau"


def differs(of: str, title: str, changes: Change, severity: str) -> Mutant:
    return unlike(of, title, changes, severity, SETTINGS[of])


def part(place: str, wrong: Any) -> Change:
    """A part of the twin; counts of phases and steps are shared, so the literal results come first."""
    return code("twin", {place: wrong})


def stale(honest: Any) -> Any:
    """The score before the block: the records of a block do not see each other's steps."""
    return lambda block, s, before, factors, eta: before


def uphill(honest: Any) -> Any:
    """Steps up the loss."""
    return lambda block, w, factors, eta: w.addmm_(factors.T, block.x, alpha=eta)


def records_of_length_one(honest: Any) -> Any:
    """The error that the oracle makes for records of length one."""
    return lambda v, scores, label, longest: torch_moreau.subgradient(v, scores, label, v.oracle_error)


def late(honest: Any) -> Any:
    """The average over w^2, ..., w^{n_i + 1}: the last record of a phase has influence."""

    def descend(x: Any, y: Any, values: Values, given: Tape, slope: Any, recorder: Any) -> Any:
        w, first = phased_sgd.initial(values, given, x.shape[1]), 0
        for i, size in enumerate(phased_sgd.sizes(len(x)), start=1):
            eta, iterates = float(values.base_learning_rate) / 4**i, []
            for t in range(first, first + size):
                w = w - eta * slope(float(x[t] @ w), float(y[t])) * x[t]
                iterates.append(w)
            w = np.mean(iterates, axis=0) + float(
                values.noise_over_step
            ) * eta * given.normal("noise", i, x.shape[1])[0]
            first += size
        return w

    return descend


def shorter(count: int) -> Any:
    """So many steps of an oracle fewer than its error needs."""
    return lambda honest: lambda bound, error: honest(bound, error) - count


def both(place: str, wrong: Any) -> Change:
    return code("both twins", {place: wrong})


LAW = partial(seen, check="law")

MUTANTS = (
    differs(PLAIN, "no start", configuration(initial_radius=0), "U"),
    differs(PLAIN, "one start for all", tape(shared("initial")), "U"),
    differs(PROJECTED, "one projection for all", tape(shared("projection")), "U"),
    differs(PROJECTED, "a projection of half the variance", tape(scaled(0.5**0.5, "projection")), "U"),
    differs(SMOOTHED, "another oracle", configuration(gradient_oracle="subgradient", oracle_error=Fraction(1)), "U"),
    differs(SMOOTHED, "beta for 2 beta", times(envelope_smoothness=2), "C"),
    *(
        differs(name, title, change, severity)
        for name in CHANGES for title, change, severity in (
            ("noise reused", tape(reused("noise", first=1)), "C"),
            ("noise off by a part in 10^6", times(noise_over_step=1 + Fraction(1, 10**6)), "N"),
            (
                "learning rate off in the 8th digit",
                times(base_learning_rate=1 + Fraction(1, 10**7)), "N",
            ),
        )
    ),
    differs(PLAIN, "stale scores", part(f"{TWIN}:Shared.score", stale), "U"),
    differs(PROJECTED, "stale scores", part(f"{TWIN}:Projected.score", stale), "U"),
    differs(PLAIN, "uphill", part(f"{TWIN}:Shared.move_", uphill), "U"),
    differs(PLAIN, "the last iterate", part(f"{TWIN}:weights", lambda honest: lambda *a: honest(*a) * 0 + 1), "C"),
    differs(
        PLAIN, "the average after the steps",
        part(f"{TWIN}:weights", lambda honest: lambda *a: honest(*a) + 1 / a[2]), "C",
    ),
    differs(PLAIN, "a phase too few", part(f"{TWIN}:sizes", lambda honest: lambda n: honest(n)[:-1]), "C"),
    differs(PLAIN, "without the first phase", part(f"{TWIN}:sizes", lambda honest: lambda n: honest(n)[1:]), "U"),
    differs(SMOOTHED, "a halving too few", part(f"{MOREAU}:halvings", shorter(1)), "C"),
    differs(BOTH, "a step too few", part(f"{MOREAU}:steps", shorter(1)), "C"),
    differs(
        BOTH, "the error of records of length one", part(f"{ROOM}.torch_moreau:derivative", records_of_length_one), "C"
    ),
    LAW(
        PLAIN, "an average of the wrong iterates in both twins", both(f"{ROOM}.phased_sgd:descend", late),
        partial(phased.test_a_constant_link_has_its_closed_form, PLAIN, 20),
        partial(phased.test_who_has_influence, PLAIN),
    ),
    LAW(
        # k = ceil(log2 n): the last phase is empty, its average 0/0
        PLAIN, "the paper's number of phases", both(
            f"{ROOM}.phased_sgd:sizes",
            lambda honest: lambda n: [n >> i for i in range(1, (n - 1).bit_length() + 1)],
        ), phased.test_no_phase_is_empty_and_some_record_is_always_left_over, severity="U",
    ),
    LAW(
        PLAIN, "a link of twice the score", both(
            "oracle.algorithms.shared.links:value",
            lambda honest: lambda link, score, bound: honest(link, 2 * score, bound),
        ),
        partial(oracles.test_a_link_rises_within_its_bound_as_fast_as_it_says, "sigmoid"),
        partial(phased.test_the_average_is_that_of_the_iterates, PLAIN, "tanh"),
    ),
    LAW(
        SMOOTHED, "an algorithm 4 that is a step longer", both(f"{MOREAU}:steps", shorter(-1)),
        oracles.test_algorithm_4_takes_the_papers_steps,
        partial(oracles.test_the_first_steps_of_algorithm_4_are_those_by_hand, "tanh"), severity="U",
    ),
    LAW(
        SMOOTHED, "a bisection that stops early", both(f"{MOREAU}:halvings", shorter(2)),
        partial(oracles.test_bisection_finds_the_exact_derivative_up_to_the_error, "tanh", "1e-3"),
    ),
)
