"""Bugs in what checkers compute with: a wrong number refutes what is true, and an open identity proves nothing."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import sympy

from empirical.mutants.changes import code
from empirical.mutants.mutant import SLIP, Mutant
from oracle.core.enclosure import Dyadic, Enclosure
from theorems.tools.exact_shift_programme import exact_linear, touched_steps

GAUSSIAN, TIGHTNESS = "theorems.tools.exact_gaussian_curve", "theorems.relu_approx.privacy.noisy_cgd_tightness"
SBCD = "theorems.sbcd.privacy"


def misjudged(claim: str, title: str, place: str, wrong: Any, verdict: str, severity: str = "C") -> Mutant:
    """What makes the checker of a true claim say something else, and what."""
    return Mutant(
        place.partition(":")[0], title, code("machinery", {place: wrong}), severity=severity, origin=SLIP,
        caught_by=("verdict",), at={"claim": claim, "words": verdict},
    )


def shifted(honest: Any) -> Any:
    """A quadrature that is off by one part in 2^40."""

    def quadrature(mu: Fraction, epsilon: Fraction) -> Enclosure:
        moved = honest(mu, epsilon).lower.to_fraction() * (1 + Fraction(1, 2**40))
        dyadic = Dyadic(moved.numerator, -(moved.denominator.bit_length() - 1))
        return Enclosure(dyadic, dyadic)

    return quadrature


MUTANTS = (
    misjudged("relu-approx/lem-2.5", "a shifted quadrature", f"{GAUSSIAN}:hockey_stick_integral", shifted, "REFUTED"),
    misjudged(
        "relu-approx/lem-2.5", "an open identity", f"{GAUSSIAN}:symbolic_gaps",
        lambda honest: lambda says: {"planted": sympy.Symbol("x")}, "UNDECIDED",
    ),
    misjudged(
        "relu-approx/thm-2.8-attained", "a witness with one curvature throughout", f"{TIGHTNESS}:attained",
        lambda honest: lambda c, k, epochs: (c, exact_linear(c, touched_steps(batches=k, epochs=epochs, position=k))),
        "UNDECIDED",
    ),
    misjudged(
        "sbcd/thm-4.6-repaired", "an open identity", f"{SBCD}.closed_form:telescoping_gap",
        lambda honest: lambda: sympy.Symbol("x"), "UNDECIDED",
    ),
    misjudged(
        "sbcd/thm-4.6-mix", "an open convexity", f"{SBCD}.mixture:hessian_gap",
        lambda honest: lambda: sympy.Matrix([[sympy.Symbol("x")]]), "UNDECIDED",
    ),
)
