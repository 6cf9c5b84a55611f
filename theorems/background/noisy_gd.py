r"""NoisyGD and NoisyCGD (Bok, Su and Altschuler 2024), and that no smaller value could be true.

For NoisyGD a quadratic loss attains the bound. For NoisyCGD (Theorem 2.8 of document 000) it does not: the optimum of
the shift programme has several edges, and an affine iteration that contracts by c at every step adds the noise of the
earlier edges to the later ones. But a step may contract by less. If two runs of steps have drifts B_1, B_2 and
variances V_1, V_2 and the later one keeps R of what was before, let its first step contract by the further factor
gamma = (B_1/V_1)/(R B_2/V_2), which is below 1 because slopes of a convex minorant increase. Then

    (gamma R B_1 + B_2)^2 / (gamma^2 R^2 V_1 + V_2) = B_1^2/V_1 + B_2^2/V_2,

so an affine iteration with multipliers in [0, c] attains the optimum, for every schedule.

The formula is the optimum for k >= 2: the broken line 0, then the chord to step kE-1, then the last step lies below all
points (`theorems/tools/cyclic_value.py`) and is convex, because with x = c^{-2}, r = c^{-k} >= x and Q = c^{-kE} the
chord is no steeper than the last step when x - 1 <= (r - 1)(1 + r/Q).
"""

from __future__ import annotations

import itertools
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import sympy

from oracle.core.domain import Parameter, positive_integer
from theorems.claim import Claim, Flip, Stake, Whose
from theorems.given import Domain
from theorems.tools.cyclic_value import Squared as CyclicSquared
from theorems.tools.cyclic_value import curvature, identity_gap
from theorems.tools.cyclic_value import squared as cyclic_squared
from theorems.tools.cyclic_value import value as cyclic_value
from theorems.tools.exact_shift_programme import at_contraction, convex_minorant, exact_linear, optimum, touched_steps
from theorems.tools.symbolic_signs import never_negative, positive, vanishes
from theorems.verdict import Finding, Verdict, argued, computed, proof, refuted

Squared = Callable[[Any, Any], Any]
"""(n sigma mu / L)^2 as a function of c and q = c^t."""


def squared(c: Any, q: Any) -> Any:
    """The claimed value."""
    return (1 - q) / (1 + q) * (1 + c) / (1 - c)


def value(says: Squared, contraction: Fraction, steps: int) -> Fraction:
    """A claimed (n sigma mu / L)^2 in exact rationals, its limit at c = 1 included."""
    return at_contraction(lambda c: says(c, c**steps), contraction)


def check_noisy_gd(says: Squared, given: Domain) -> Finding:
    """The formula equals the programme's optimum and the exact value of a quadratic, in exact rationals."""
    tried = 0
    for contraction, steps in itertools.product(given.values("contraction"), given.values("steps", most=20)):
        tried += 1
        touched = [1] * steps
        upper, lower = optimum(contraction, touched), exact_linear(contraction, touched)
        claimed = value(says, contraction, steps)
        if not lower == claimed == upper:
            return refuted(
                "formula, programme and exact law differ",
                {"contraction": contraction, "steps": steps, "claimed mu^2": claimed, "programme": upper,
                 "quadratic loss": lower},
            )
    c, q = given.symbol("contraction"), sympy.symbols("q", positive=True)  # q stands for c^t
    total = (1 / c) * (1 - 1 / q) / (1 - 1 / c)
    weight = (1 / c**2) * (1 - 1 / q**2) / (1 - 1 / c**2)
    gap, variance = (1 - q) / (1 - c), (1 - q**2) / (1 - c**2)
    return proof(
        computed("S(t) is concave in W(t), so that the chord from 0 to T is allowed; 0 < c <= 1",
                 curvature().is_negative is True and positive(given.chart("contraction"))
                 and never_negative(1 - given.chart("contraction")) and given["steps"].low == 1),
        computed("the chord's cost (sum c^-i)^2 / sum c^-2i is the formula, for all c and t",
                 vanishes(total**2 / weight - says(c, q))),
        argued("shifts along the chord give a valid mu (background/shifted-interpolation), and c = 1 is the limit"),
        computed("a quadratic's last iterates are gap (1 - c^t)/(1 - c) apart, of variance (1 - c^2t)/(1 - c^2), by "
                 "induction over t, and gap^2/variance is the formula: no smaller mu",
                 vanishes(gap.subs(q, c * q) - c * gap - 1, variance.subs(q, c * q) - c**2 * variance - 1,
                          gap.subs(q, 1), variance.subs(q, 1), gap**2 / variance - says(c, q))),
        tried=tried,
    )


def attained(contraction: Fraction, steps: list[int]) -> Fraction:
    """mu^2 of the affine iteration whose multipliers are those of the module docstring, from its own law."""
    power = [contraction**-i for i in range(len(steps) + 1)]
    weights = list(itertools.accumulate((p * p for p in power[1:]), initial=Fraction(0)))
    totals = list(itertools.accumulate((p * s for p, s in zip(power[1:], steps, strict=True)), initial=Fraction(0)))
    points = list(zip(weights, totals, strict=True))
    hull = convex_minorant(points)
    slopes = [(y1 - y0) / (x1 - x0) for (x0, y0), (x1, y1) in itertools.pairwise(hull)]
    first_steps = {weights.index(vertex[0]): (before, after)
                   for vertex, (before, after) in zip(hull[1:-1], itertools.pairwise(slopes), strict=True)}
    gap, variance = Fraction(0), Fraction(0)
    for i, touched in enumerate(steps):
        before, after = first_steps.get(i, (Fraction(1), Fraction(1)))
        multiplier = contraction * before / after
        gap, variance = multiplier * gap + touched, multiplier**2 * variance + 1
    return gap**2 / variance


def joining_gap() -> sympy.Expr:
    """The identity of the module docstring, left side minus right side."""
    b1, b2, v1, v2, r = sympy.symbols("B_1 B_2 V_1 V_2 R", positive=True)
    gamma = (b1 / v1) / (r * b2 / v2)
    joined = (gamma * r * b1 + b2) ** 2 / (gamma**2 * r**2 * v1 + v2)
    return sympy.simplify(joined - b1**2 / v1 - b2**2 / v2)


def convexity_gaps() -> dict[str, sympy.Expr]:
    """What must vanish for the chord to be no steeper than the last step, k >= 2; w = r - x >= 0."""
    x, w, big_q, r = sympy.symbols("x w Q r", positive=True)
    chord = ((big_q - r) / (r - 1)) / ((big_q**2 - r**2) / (x - 1))
    last = big_q / big_q**2
    return {
        "the comparison": sympy.simplify((x - 1) / ((r - 1) * (1 + r / big_q)) - chord / last),
        "it is positive": sympy.expand(((r - 1) * (1 + r / big_q) - (x - 1)).subs(r, x + w)
                                       - (w + (x + w - 1) * (x + w) / big_q)),
    }


def check_noisy_cgd(says: CyclicSquared, given: Domain) -> Finding:
    """For two or more batches the formula is the programme's optimum, and an affine iteration attains it."""
    tried = 0
    for point in given.points("contraction", "batches", "epochs", most={"batches": 6, "epochs": 5}):
        contraction, batches, epochs = point["contraction"], point["batches"], point["epochs"]
        tried += 1
        steps = touched_steps(batches=batches, epochs=epochs, position=batches)
        claimed = cyclic_value(says, contraction, batches, epochs)
        upper, lower = optimum(contraction, steps), attained(contraction, steps)
        if not lower == claimed == upper:
            return refuted(
                "formula, programme and exact law differ",
                {**point, "claimed mu^2": claimed, "programme": upper, "worst affine iteration": lower},
            )
    w, x = sympy.symbols("w", nonnegative=True), 1 + sympy.symbols("y", nonnegative=True)  # x = c^-2, r = c^-k = x + w
    big_q = sympy.symbols("Q", positive=True)
    return proof(
        computed("the chord's cost and the last step's are the formula, for all c, k and E",
                 vanishes(identity_gap(says)) and given["epochs"].low == 1),
        computed("S is concave in W along the steps of one batch: their points lie above the chord",
                 curvature().is_negative is True),
        computed("for k >= 2 and c <= 1 the chord is no steeper than the last step: the line is convex",
                 all(gap == 0 for gap in convexity_gaps().values())
                 and never_negative(w + (x + w - 1) * (x + w) / big_q)
                 and given["batches"].low == 2 and positive(given.chart("contraction"))
                 and never_negative(1 - given.chart("contraction"))),
        argued("a convex line through points of the programme and below the others is its greatest convex minorant, so "
               "that its cost is the optimum; it is valid by background/shifted-interpolation, and c = 1 is the limit"),
        computed("a run whose first step contracts by the further factor gamma adds its edge: (gamma R B1 + B2)^2 / "
                 "(gamma^2 R^2 V1 + V2) = B1^2/V1 + B2^2/V2", vanishes(joining_gap())),
        argued("edge after edge, an affine iteration with multipliers in [0, c] so attains the optimum"),
        tried=tried,
    )


_CONTRACTION = Parameter("contraction", low=Fraction(0), high=Fraction(1), low_open=True)

noisy_gd = Claim(
    id="background/bok-gd",
    source="Bok, Su and Altschuler 2024, NoisyGD",
    severity=Stake.PRIVACY,
    statement=(
        r"\text{NoisyGD is } \mu\text{-GDP with } \mu = \frac{L}{n\sigma}\sqrt{\frac{1-c^t}{1+c^t}\,\frac{1+c}{1-c}},"
        r" \text{ and no smaller } \mu"
    ),
    words="the last iterate of NoisyGD has exactly this Gaussian-DP parameter in the worst case",
    hypotheses=(_CONTRACTION, positive_integer("steps")),
    says=squared,
    check=check_noisy_gd,
    flips=(
        Flip("the two factors' signs exchanged", lambda c, q: (1 - q) / (1 + q) * (1 - c) / (1 + c), Verdict.REFUTED),
        Flip("one step more", lambda c, q: squared(c, c * q), Verdict.REFUTED),
    ),
    uses=("background/shifted-interpolation",),
    rests_on=("background/shifted-interpolation",),
    expected="HOLDS ARGUED",
)

noisy_cgd = Claim(
    id="background/bok-cgd",
    source="Bok, Su and Altschuler 2024, Thm 4.5 (numbered as in document 000), NoisyCGD: validity and optimality",
    quote=(
        r"-strongly convex, $\beta$ -smooth loss functions with gradient sensitivity L. Then, for any $\eta "
        r"\in (0, 2/M)$ , NoisyCGD is $\mu$ -GDP for $$\mu = \frac{L}{b\sigma} \sqrt{1 + c^{2k-2} \frac{1 "
        r"- c^2}{(1 - c^k)^2} \frac{1 - c^{k(E-1)}}{1 + c^{k(E-1)}}},$$"
    ),
    whose=Whose.PRINTED,
    severity=Stake.PRIVACY,
    statement=(
        r"\mu = \frac{L}{b\sigma}\sqrt{1 + c^{2k-2}\frac{1-c^2}{(1-c^k)^2}\,\frac{1-c^{k(E-1)}}{1+c^{k(E-1)}}},"
        r"\ k \ge 2, \text{ and no smaller } \mu \text{ for all } c\text{-contractive steps}"
    ),
    words="NoisyCGD's parameter is valid, and contractive steps exist that attain it",
    hypotheses=(
        _CONTRACTION, Parameter("batches", kind="integer", low=Fraction(2)), positive_integer("epochs"),
    ),
    says=cyclic_squared,
    check=check_noisy_cgd,
    flips=(
        Flip("c^(2k) for c^(2k-2)", lambda c, q, big_q: 1 + c**2 * (cyclic_squared(c, q, big_q) - 1), Verdict.REFUTED),
        Flip("the value of a quadratic loss",
             lambda c, q, big_q: ((1 - q * big_q) / (1 - q)) ** 2 * (1 - c**2) / (1 - (q * big_q) ** 2),
             Verdict.REFUTED),
    ),
    uses=("background/shifted-interpolation",),
    rests_on=("background/shifted-interpolation", "relu-approx/thm-2.8-formula"),
    expected="HOLDS ARGUED",
)
