r"""Theorem 2.8 of document 000: the Gaussian-DP parameter of NoisyCGD's last iterate.

Given shifted interpolation, a bound is valid when some feasible sequence of shifts has that cost. For the record in
the last batch the theorem's value is the cost of: nothing before step k, the chord from (W(k-1), 0) to (W(kE-1),
S(kE-1)), and a_T = 1. It is feasible for every c in (0, 1), k and E because the constraint binds only just before a
touched step, where S = (r^e - r)/(r - 1) and W = A r^{2e} + B with r = c^{-k}: S is concave in W, so it lies above the
chord. A record in an earlier batch sees the same sequence shifted in time, followed by steps that only contract.
"""

from __future__ import annotations

from fractions import Fraction

from oracle.core.domain import positive, positive_integer, unit_interval
from theorems.claim import Claim, Flip, Severity, Whose
from theorems.domain import Domain
from theorems.tools.cyclic_value import Squared, curvature, identity_gap, squared, value
from theorems.tools.exact_shift_programme import exact_linear, optimum, touched_steps
from theorems.verdict import Finding, Scope, Verdict, argued, at_points, proof, refuted, undecided

_CONTRACTIONS = tuple(Fraction(v) for v in ("1/10", "1/2", "9/10", "99/100", "1"))
_SHAPES = ((1, 1), (1, 4), (2, 1), (2, 2), (3, 3), (4, 5), (6, 2))


def check(says: Squared, given: Domain) -> Finding:
    """Feasibility by computer algebra; the exact programme and linear laws at points, for every batch position."""
    for contraction in _CONTRACTIONS:
        for batches, epochs in _SHAPES:
            claimed = value(says, contraction, batches, epochs)
            for position in range(1, batches + 1):
                steps = touched_steps(batches=batches, epochs=epochs, position=position)
                best, attained = optimum(contraction, steps), exact_linear(contraction, steps)
                if best > claimed or attained > claimed:
                    return refuted(
                        "the claimed value lies below what is needed",
                        {
                            "contraction": str(contraction), "batches": str(batches), "epochs": str(epochs),
                            "position": str(position), "claimed mu^2": str(claimed), "programme": str(best),
                            "quadratic loss": str(attained),
                        },
                    )
    if identity_gap(says) != 0 or not curvature().is_negative:
        return undecided("no point fails; the identity was not shown", len(_CONTRACTIONS) * len(_SHAPES))
    loose = value(says, Fraction(1, 2), 1, 5) / optimum(Fraction(1, 2), [1] * 5)
    return proof(argued(
        "the shifts are feasible for every c in (0, 1), k and E (computer algebra) and cost the theorem's value; "
        f"validity is shifted interpolation. One batch is loose: mu^2 is {float(loose):.3f} times NoisyGD's at c = 1/2 "
        "and E = 5. The range (0, 2/M) of the step size is read as (0, 2/beta)"
    ))


def check_optimal(says: Squared, given: Domain) -> Finding:
    """For two or more batches no shifts do better for the last batch: equality with the exact programme at points."""
    for contraction in _CONTRACTIONS:
        for batches, epochs in _SHAPES:
            steps = touched_steps(batches=batches, epochs=epochs, position=batches)
            claimed, best = value(says, contraction, batches, epochs), optimum(contraction, steps)
            if batches >= 2 and claimed != best:
                return refuted(
                    "the programme has a smaller optimum",
                    {
                        "contraction": str(contraction), "batches": str(batches), "epochs": str(epochs),
                        "claimed mu^2": str(claimed), "programme": str(best),
                    },
                )
    met = sum(k >= 2 for k, _ in _SHAPES) * len(_CONTRACTIONS)
    return at_points(
        f"equal in exact rationals at {met} points",
        Scope("points", len(_SHAPES) * len(_CONTRACTIONS), met, {
            "c": ", ".join(map(str, _CONTRACTIONS)), "(k, E)": ", ".join(map(str, _SHAPES)),
        }),
    )


_HYPOTHESES = (
    positive("sensitivity"), positive("sigma"), unit_interval("contraction"), positive_integer("batches"),
    positive_integer("epochs"),
)

theorem_2_8 = Claim(
    id="relu-approx/thm-2.8-formula",
    source="000, Theorem 2.8 (Bok, Su and Altschuler 2024, Thm. 4.5)",
    quote=(
        r"-strongly convex, $\beta$ -smooth loss functions with gradient sensitivity L. Then, for any $\eta "
        r"\in (0, 2/M)$ , NoisyCGD is $\mu$ -GDP for $$\mu = \frac{L}{b\sigma} \sqrt{1 + c^{2k-2} \frac{1 "
        r"- c^2}{(1 - c^k)^2} \frac{1 - c^{k(E-1)}}{1 + c^{k(E-1)}}},$$"
    ),
    whose=Whose.PRINTED,
    severity=Severity.PRIVACY,
    statement=(
        r"\mu = \frac{L}{b\sigma}\sqrt{1 + c^{2k-2}\frac{1-c^2}{(1-c^k)^2}\,\frac{1-c^{k(E-1)}}{1+c^{k(E-1)}}},"
        r"\quad c = \max\{|1-\eta\lambda|, |1-\eta\beta|\}"
    ),
    words="NoisyCGD over k fixed batches for E epochs is mu-GDP in its last iterate",
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
    severity=Severity.UTILITY,
    statement=r"\mu^2 = \frac{L^2}{b^2\sigma^2}\,\min_a \sum_i a_i^2 \quad (k \ge 2,\ \text{last batch})",
    words="for two or more batches the theorem's value is the optimum of the shift programme",
    hypotheses=_HYPOTHESES,
    says=squared,
    check=check_optimal,
    flips=(
        Flip("a little more", lambda c, q, big_q: squared(c, q, big_q) + Fraction(1, 100), Verdict.REFUTED),
        Flip("c^(2k) for c^(2k-2)", lambda c, q, big_q: 1 + c**2 * (squared(c, q, big_q) - 1), Verdict.REFUTED),
    ),
    uses=("background/shifted-interpolation",),
    expected="HOLDS CHECKED_AT_POINTS",
)
