r"""Is Theorem 2.8's value needed? It is: with eta = 1/beta, losses come as close to it as one likes.

Quadratics with one curvature reach less (`exact_linear`). The witness is an affine iteration
whose multipliers lie between 0 and c, and which NoisyCGD follows, but for an event of any small probability, on losses
that are smooth and convex and the same in every epoch: the multiplier depends on the place where a batch meets the
iterate, and a push moves that place from epoch to epoch (`adversaries` has the construction, and simulates
it). For a record in the last of k >= 2 batches, with q = c^{k(E-1)}, two multipliers differ from c: that of the first
touch is 0, which wipes out the noise from before, and that of the last touch is alpha = B/V, where the gap and the
variance that reach it are

    B = c^{k-1} (1-q)/(1-c^k),      V = (1-q^2)/(1-c^2).

Then mu^2 = (alpha B + 1)^2 / (alpha^2 V + 1) = 1 + B^2/V, the theorem's value. And 0 <= alpha <= c: this says
c^{k-2} (1-c^2) <= (1-c^k)(1+q), where c^{k-2} <= 1 <= 1+q and 1-c^2 <= 1-c^k, for k >= 2.
"""

from __future__ import annotations

from fractions import Fraction

import sympy

from oracle.core.domain import positive_integer, real
from theorems.claim import Claim, Flip, Severity
from theorems.domain import Domain
from theorems.relu_approx.privacy.noisy_cgd import shapes
from theorems.tools.cyclic_value import squared, value
from theorems.tools.exact_shift_programme import exact_linear, touched_steps
from theorems.tools.two_vectors import never_negative
from theorems.verdict import Finding, Step, Verdict, argued, computed, proof, refuted, undecided


def attained(c: Fraction, k: int, epochs: int) -> tuple[Fraction, Fraction]:
    """alpha, and mu^2 of the affine iteration with its multipliers, by direct recursion in rationals."""
    gap, variance, alpha = Fraction(0), Fraction(0), c
    steps = touched_steps(batches=k, epochs=epochs, position=k)
    for step, touched in enumerate(steps, start=1):
        multiplier = c
        if step == k:
            multiplier = Fraction(0)
        elif step == len(steps):
            multiplier = alpha = gap / variance
        gap, variance = multiplier * gap + touched, multiplier**2 * variance + 1
    return alpha, gap**2 / variance


def joined(share: Fraction) -> list[Step]:
    """(alpha B + 1)^2 / (alpha^2 V + 1) is that share of the theorem's value, and 0 <= alpha <= c, for all c, k, E."""
    less, q = (1 / (1 + sympy.Symbol(name, nonnegative=True)) for name in ("k_2", "q_1"))
    c = 1 / (1 + sympy.Symbol("c_1", positive=True))
    p = c**2 * less  # c^k for k >= 2; q = c^{k(E-1)}
    gap, variance = p / c * (1 - q) / (1 - p), (1 - q**2) / (1 - c**2)
    alpha = sympy.factor(sympy.cancel(gap / variance))
    reached = (alpha * gap + 1) ** 2 / (alpha**2 * variance + 1)
    wanted = sympy.Rational(share.numerator, share.denominator) * squared(c, p, q)
    return [
        computed("the multipliers 0, c, ..., c, alpha reach the theorem's value",
                 sympy.simplify(reached - wanted) == 0),
        computed("0 <= alpha <= c for all c in (0, 1), k >= 2 and E: they are those of convex, smooth losses",
                 alpha.is_nonnegative and never_negative(sympy.cancel(c / alpha - 1))),
    ]


def judge(share: Fraction, given: Domain) -> Finding:
    """Whether `share` of the theorem's mu^2 is what losses reach at most: multipliers reach it, and nothing more."""
    least, tried = Fraction(1), 0
    for c, k, epochs in shapes(given):
        tried += 1
        alpha, reached = attained(c, k, epochs)
        needed = share * value(squared, c, k, epochs)
        if not 0 <= alpha <= c or reached != needed:
            witness = {"contraction": c, "batches": k, "epochs": epochs, "last multiplier": alpha,
                       "mu^2 reached": reached, "mu^2 asked for": needed}
            if share > 1:
                return refuted("by the theorem no losses reach more than its own value", witness)
            if 0 <= alpha <= c and reached > needed:
                return refuted("losses reach more, exactly", witness)
            return undecided(f"these multipliers do not reach the value: {witness}", 1)
        least = min(least, exact_linear(c, touched_steps(batches=k, epochs=epochs, position=k)) / reached)
    return proof(
        *joined(share),
        argued("losses that are smooth, convex and the same in every epoch have these multipliers but for an event of "
               "small probability: the construction stands elsewhere and is only simulated"),
        argued("no losses reach more: thm-2.8-formula"),
        tried=tried, witness={"least share that quadratics of one curvature reach": f"{float(least):.3f}"},
    )


attained_value = Claim(
    id="relu-approx/thm-2.8-attained",
    source="000, Theorem 2.8 (can its value be improved?)",
    severity=Severity.UTILITY,
    statement=(
        r"\sup_{\text{convex, } 1/\eta\text{-smooth losses}} \mu = \frac{L}{b\sigma}\sqrt{1 + c^{2k-2}"
        r"\frac{1-c^2}{(1-c^k)^2}\,\frac{1-c^{k(E-1)}}{1+c^{k(E-1)}}} \quad (k \ge 2)"
    ),
    words="no smaller value holds for all smooth, (strongly) convex losses with step size 1/beta",
    hypotheses=(
        real("contraction").above(0).at_most(1), positive_integer("batches").at_least(2), positive_integer("epochs"),
    ),
    says=Fraction(1),
    check=judge,
    flips=(
        Flip("a thousandth more than the theorem's value", Fraction(1001, 1000), Verdict.REFUTED),
        Flip("a hundred-thousandth less", Fraction(99999, 100000), Verdict.REFUTED),
    ),
    uses=("relu-approx/thm-2.8-formula",),
    rests_on=("relu-approx/thm-2.8-formula",),
    expected="HOLDS ARGUED",
)
