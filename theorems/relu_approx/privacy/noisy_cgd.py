r"""Theorem 2.8 of document 000: the Gaussian-DP parameter of NoisyCGD's last iterate.

Given shifted interpolation, a bound is valid when some feasible sequence of shifts has that cost. For the record in
the last batch the theorem's value is the cost of: nothing before step k, the chord from (W(k-1), 0) to (W(kE-1),
S(kE-1)), and a_T = 1. It is feasible for every c in (0, 1), k and E because the constraint binds only just before a
touched step, where S = (r^e - r)/(r - 1) and W = A r^{2e} + B with r = c^{-k}: S is concave in W, so it lies above the
chord. A record in an earlier batch sees the same sequence shifted in time, followed by steps that only contract.
"""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction

import sympy

from oracle.core.domain import positive_integer, real
from theorems.claim import Claim, Flip, Stake, Whose
from theorems.given import Domain
from theorems.tools.cyclic_value import Squared, identity_gap, squared, value
from theorems.tools.exact_shift_programme import exact_linear, optimum, touched_steps
from theorems.verdict import Finding, ProofStep, Verdict, argued, computed, proof, refuted

_MOST_STEPS = 24


def shapes(given: Domain) -> Iterator[tuple[Fraction, int, int]]:
    """Contractions, batches and epochs of the hypotheses, as far as the exact programme is cheap."""
    for point in given.points("contraction", "batches", "epochs"):
        if point["batches"] * point["epochs"] <= _MOST_STEPS:
            yield point["contraction"], point["batches"], point["epochs"]


def chord_steps(says: Squared) -> list[ProofStep]:
    """That the formula is the cost of the chord and of the last step, and that the chord stays below S.

    With r = c^{-k}, x = c^{-2} and u = r^e, just before touch e + 1: S = r (u - 1)/(r - 1), W = r^2 (u^2 - 1)/(x - 1).
    """
    r, x, u = (1 + sympy.Symbol(name, positive=True) for name in ("r_1", "x_1", "u_1"))
    free = sympy.Symbol("u", positive=True)
    touched, weight = r * (free - 1) / (r - 1), r**2 * (free**2 - 1) / (x - 1)
    slope = sympy.diff(touched, free) / sympy.diff(weight, free)
    bend = sympy.simplify(sympy.diff(slope, free) / sympy.diff(weight, free))
    epoch = (free * r) ** 2 * (r**2 - 1) / (x - 1)  # x^i over the k steps from x^i = (u r)^2 on, as x^k = r^2
    return [
        computed("the formula is the cost of the chord from (W(k-1), 0) to (W(kE-1), S(kE-1)), and 1 of the last step",
                 identity_gap(says) == 0),
        computed("just before touch e+1, with u = c^(-ke): S = r(u-1)/(r-1) and W = r^2(u^2-1)/(x-1), by induction",
                 sympy.simplify(touched.subs(free, free * r) - touched - free * r) == 0
                 and sympy.simplify(weight.subs(free, free * r) - weight - epoch) == 0
                 and touched.subs(free, 1) == 0 and weight.subs(free, 1) == 0),
        computed("S is concave in W there, for all c in (0, 1), k and E: it lies above the chord between its ends",
                 bend.subs(free, u).is_negative),
    ]


_BETWEEN = argued("between two touches S stays and the chord rises: the constraint binds only just before a touch")


def check(says: Squared, given: Domain) -> Finding:
    """Feasibility by computer algebra; the exact programme and linear laws at points, for every batch position."""
    tried = 0
    for contraction, batches, epochs in shapes(given):
        claimed = value(says, contraction, batches, epochs)
        tried += 1
        for position in range(1, batches + 1):
            steps = touched_steps(batches=batches, epochs=epochs, position=position)
            best, attained = optimum(contraction, steps), exact_linear(contraction, steps)
            if best > claimed or attained > claimed:
                return refuted(
                    "the claimed value lies below what is needed",
                    {"contraction": contraction, "batches": batches, "epochs": epochs, "position": position,
                     "claimed mu^2": claimed, "programme": best, "quadratic loss": attained},
                )
    return proof(
        *chord_steps(says), _BETWEEN,
        argued("a gradient step on the mean of lambda-strongly convex, beta-smooth losses is c-Lipschitz for eta in "
               "(0, 2/beta), as (0, 2/M) is read, and the steps of the two data sets differ by at most eta L/b"),
        argued("a record in an earlier batch sees the same shifts earlier, and the steps after its last touch are "
               "post-processing"),
        argued("c = 1 and c = 0 are limits, and shifted interpolation makes the cost of shifts a bound"),
        tried=tried,
    )


def check_optimal(says: Squared, given: Domain) -> Finding:
    """For two or more batches no shifts do better for the last batch: the formula is the exact programme's optimum."""
    tried = 0
    for contraction, batches, epochs in shapes(given):
        tried += 1
        steps = touched_steps(batches=batches, epochs=epochs, position=batches)
        claimed, best = value(says, contraction, batches, epochs), optimum(contraction, steps)
        if claimed != best:
            return refuted(
                "the programme has another optimum",
                {"contraction": contraction, "batches": batches, "epochs": epochs, "claimed mu^2": claimed,
                 "programme": best},
            )
    x = 1 + sympy.Symbol("x_1", positive=True)
    r = x + sympy.Symbol("w", nonnegative=True)  # c^{-k} >= c^{-2}
    last = r * (1 + sympy.Symbol("Q_1", nonnegative=True))  # c^{-k(E-1)}, from two epochs on
    chord = ((last - 1) * r / (r - 1)) / ((last**2 - 1) * r**2 / (x - 1))
    final = (last * r) / (last * r) ** 2  # the last touch: S rises by c^{-kE} and W by its square
    room = sympy.factor(sympy.simplify(final / chord - 1))
    return proof(
        *chord_steps(says),
        computed("the last step is at least as steep as the chord, as c^(-k) >= c^(-2) for k >= 2",
                 given["batches"].low is not None and given["batches"].low >= 2 and room.is_nonnegative),
        _BETWEEN,
        argued("a convex broken line below all points of S over W, its vertices among them, is their greatest convex "
               "minorant, and its cost is the optimum"),
        tried=tried,
    )


_HYPOTHESES = (real("contraction").above(0).at_most(1), positive_integer("batches"), positive_integer("epochs"))
_TWO = (_HYPOTHESES[0], positive_integer("batches").at_least(2), _HYPOTHESES[2])

theorem_2_8 = Claim(
    id="relu-approx/thm-2.8-formula",
    source="000, Theorem 2.8 (Bok, Su and Altschuler 2024, Thm. 4.5)",
    quote=(
        r"-strongly convex, $\beta$ -smooth loss functions with gradient sensitivity L. Then, for any $\eta "
        r"\in (0, 2/M)$ , NoisyCGD is $\mu$ -GDP for $$\mu = \frac{L}{b\sigma} \sqrt{1 + c^{2k-2} \frac{1 "
        r"- c^2}{(1 - c^k)^2} \frac{1 - c^{k(E-1)}}{1 + c^{k(E-1)}}},$$"
    ),
    whose=Whose.PRINTED,
    severity=Stake.PRIVACY,
    statement=(
        r"\mu = \frac{L}{b\sigma}\sqrt{1 + c^{2k-2}\frac{1-c^2}{(1-c^k)^2}\,\frac{1-c^{k(E-1)}}{1+c^{k(E-1)}}},"
        r"\quad c = \max\{|1-\eta\lambda|, |1-\eta\beta|\}"
    ),
    words="NoisyCGD over k fixed batches for E epochs is mu-GDP in its last iterate (checked in units of L/(b sigma))",
    hypotheses=_HYPOTHESES,
    says=squared,
    check=check,
    flips=(
        Flip("c^(2k) for c^(2k-2)", lambda c, q, big_q: 1 + c**2 * (squared(c, q, big_q) - 1), Verdict.REFUTED),
        Flip("one epoch forgotten", lambda c, q, big_q: squared(c, q, big_q / q), Verdict.REFUTED),
        Flip("the last step forgotten", lambda c, q, big_q: squared(c, q, big_q) - 1, Verdict.REFUTED),
    ),
    uses=("background/shifted-interpolation",),
    rests_on=("background/shifted-interpolation",),
    expected="HOLDS ARGUED",
)

theorem_2_8_optimal = Claim(
    id="relu-approx/thm-2.8-optimal",
    source="000, Theorem 2.8 (is its value the best that shifts can give?)",
    severity=Stake.UTILITY,
    statement=r"\mu^2 = \frac{L^2}{b^2\sigma^2}\,\min_a \sum_i a_i^2 \quad (k \ge 2,\ \text{last batch})",
    words="for two or more batches the theorem's value is the optimum of the shift programme",
    hypotheses=_TWO,
    says=squared,
    check=check_optimal,
    flips=(
        Flip("a little more", lambda c, q, big_q: squared(c, q, big_q) + Fraction(1, 100), Verdict.REFUTED),
        Flip("c^(2k) for c^(2k-2)", lambda c, q, big_q: 1 + c**2 * (squared(c, q, big_q) - 1), Verdict.REFUTED),
    ),
    uses=("background/shifted-interpolation",),
    expected="HOLDS ARGUED",
)
