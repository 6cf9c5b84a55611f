r"""Shifted interpolation and NoisyGD (Bok, Su and Altschuler 2024), on which Theorem 2.8 of document 000 leans.

The lemma turns a feasible sequence of shifts into a Gaussian-DP bound; its source text is not among the documents, so
it stands as cited. What is proved here is the value it gives for NoisyGD, and that no smaller value could be true,
because a quadratic loss attains it.
"""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from typing import Any

import sympy

from oracle.domain import positive_integer, unit_interval
from theorems.claim import ALL, Claim, Evidence, Finding, Flip, Scope, Verdict, cited
from theorems.shift_programme import at_contraction, exact_linear, optimum

_CONTRACTIONS = tuple(Fraction(v) for v in ("1/10", "1/2", "9/10", "99/100", "1"))
_STEPS = (1, 2, 3, 7, 20)


Squared = Callable[[Any, Any], Any]
"""(n sigma mu / L)^2 as a function of c and q = c^t."""


def squared(c: Any, q: Any) -> Any:
    """The claimed value."""
    return (1 - q) / (1 + q) * (1 + c) / (1 - c)


def value(says: Squared, contraction: Fraction, steps: int) -> Fraction:
    """A claimed (n sigma mu / L)^2 in exact rationals, its limit at c = 1 included."""
    return at_contraction(lambda c: says(c, c**steps), contraction)


def gd_identity_gap(says: Squared) -> sympy.Expr:
    """(sum c^{-i})^2 / sum c^{-2i} over i = 1..t, minus the claimed value; zero identically."""
    c, q = sympy.symbols("c q", positive=True)  # q stands for c^t
    total = (1 / c) * (1 - 1 / q) / (1 - 1 / c)
    weight = (1 / c**2) * (1 - 1 / q**2) / (1 - 1 / c**2)
    return sympy.simplify(total**2 / weight - says(c, q))


def check_noisy_gd(says: Squared) -> Finding:
    """The formula equals the programme's optimum and the exact value of a quadratic, in exact rationals."""
    for contraction in _CONTRACTIONS:
        for steps in _STEPS:
            touched = [1] * steps
            upper, lower = optimum(contraction, touched), exact_linear(contraction, touched)
            claimed = value(says, contraction, steps)
            if not lower == claimed == upper:
                return Finding(
                    Verdict.REFUTED, Evidence.PROVED, "formula, programme and exact law differ",
                    {
                        "contraction": str(contraction), "steps": str(steps), "claimed mu^2": str(claimed),
                        "programme": str(upper), "quadratic loss": str(lower),
                    },
                    ALL,
                )
    points = len(_CONTRACTIONS) * len(_STEPS)
    if gd_identity_gap(says) != 0:
        return Finding(Verdict.UNDECIDED, Evidence.CHECKED_AT_POINTS, "agrees at points; the identity was not shown",
                       scope=Scope("points", points, points))
    return Finding(
        Verdict.HOLDS, Evidence.PROVED,
        "the chord of the shift programme has this value for every c and t (computer algebra), and a quadratic loss "
        f"attains it (exact rationals at {points} points); validity rests on the cited lemma",
        scope=ALL,
    )


shifted_interpolation = Claim(
    id="background/shifted-interpolation",
    source="Bok, Su and Altschuler 2024, shifted interpolation",
    statement=(
        r"z_{i+1} = c z_i + s_{i+1} - a_{i+1} \ge 0,\ z_0 = z_T = 0 \implies \theta_T \text{ is }"
        r" \left(\tfrac{1}{\sigma}\sqrt{\textstyle\sum_i a_i^2}\right)\text{-GDP}"
    ),
    words="shifts that pay off the drift of a c-contractive noisy iteration give its Gaussian-DP parameter",
    hypotheses=(unit_interval("contraction"), positive_integer("steps")),
    says=None,
    check=cited(Verdict.HOLDS, "Bok, Su and Altschuler 2024, arXiv 2403.00278; text not at hand"),
)

noisy_gd = Claim(
    id="background/bok-gd",
    source="Bok, Su and Altschuler 2024, NoisyGD",
    statement=(
        r"\text{NoisyGD is } \mu\text{-GDP with } \mu = \frac{L}{n\sigma}\sqrt{\frac{1-c^t}{1+c^t}\,\frac{1+c}{1-c}},"
        r" \text{ and no smaller } \mu"
    ),
    words="the last iterate of NoisyGD has exactly this Gaussian-DP parameter in the worst case",
    hypotheses=(unit_interval("contraction"), positive_integer("steps")),
    says=squared,
    check=check_noisy_gd,
    flips=(
        Flip("the two factors' signs exchanged", lambda c, q: (1 - q) / (1 + q) * (1 - c) / (1 + c), Verdict.REFUTED),
        Flip("one step more", lambda c, q: squared(c, c * q), Verdict.REFUTED),
    ),
    uses=("background/shifted-interpolation",),
    rests_on=("background/shifted-interpolation",),
)
