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

from oracle.core.domain import positive_integer, unit_interval
from theorems.claim import Claim, Flip, Severity
from theorems.domain import Domain
from theorems.tools.cyclic_value import squared, value
from theorems.tools.exact_shift_programme import exact_linear, touched_steps
from theorems.verdict import Finding, Verdict, argued, proof, refuted, undecided

_CONTRACTIONS = tuple(Fraction(v) for v in ("1/10", "1/2", "9/10", "99/100", "1"))
_SHAPES = ((2, 1), (2, 2), (3, 3), (4, 5), (6, 2))


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


def identity_gap() -> sympy.Expr:
    """(alpha B + 1)^2 / (alpha^2 V + 1) minus the theorem's value, p = c^k and q = c^{k(E-1)}; zero identically."""
    c, p, q = sympy.symbols("c p q", positive=True)
    gap, variance = p / c * (1 - q) / (1 - p), (1 - q**2) / (1 - c**2)
    alpha = gap / variance
    theorem = 1 + p**2 / c**2 * (1 - c**2) / (1 - p) ** 2 * (1 - q) / (1 + q)
    return sympy.simplify((alpha * gap + 1) ** 2 / (alpha**2 * variance + 1) - theorem)


def judge(share: Fraction, given: Domain) -> Finding:
    """Whether `share` of the theorem's mu^2 is what losses reach at most: multipliers reach it, and nothing more."""
    least = Fraction(1)
    for c in _CONTRACTIONS:
        for k, epochs in _SHAPES:
            alpha, reached = attained(c, k, epochs)
            needed = share * value(squared, c, k, epochs)
            if not 0 <= alpha <= c or reached != needed:
                witness = {
                    "contraction": str(c), "batches": str(k), "epochs": str(epochs), "last multiplier": str(alpha),
                    "mu^2 reached": str(reached), "mu^2 asked for": str(needed),
                }
                if share > 1:
                    return refuted("by the theorem no losses reach more than its own value", witness)
                if 0 <= alpha <= c and reached > needed:
                    return refuted("losses reach more, exactly", witness)
                return undecided(f"these multipliers do not reach the value: {witness}", 1)
            linear = exact_linear(c, touched_steps(batches=k, epochs=epochs, position=k))
            least = min(least, linear / reached)
    if identity_gap() != 0:
        return undecided("reached at points; the identity was not shown", len(_SHAPES))
    return proof(argued(
        "the multipliers are admissible and reach the theorem's value for every c, k >= 2 and E (computer algebra, and "
        f"exact rationals at {len(_CONTRACTIONS) * len(_SHAPES)} points); quadratics of one curvature reach as little "
        f"as {float(least):.3f} of mu^2 there"
    ))


attained_value = Claim(
    id="relu-approx/thm-2.8-attained",
    source="000, Theorem 2.8 (can its value be improved?)",
    severity=Severity.UTILITY,
    statement=(
        r"\sup_{\text{convex, } 1/\eta\text{-smooth losses}} \mu = \frac{L}{b\sigma}\sqrt{1 + c^{2k-2}"
        r"\frac{1-c^2}{(1-c^k)^2}\,\frac{1-c^{k(E-1)}}{1+c^{k(E-1)}}} \quad (k \ge 2)"
    ),
    words="no smaller value holds for all smooth, (strongly) convex losses with step size 1/beta",
    hypotheses=(unit_interval("contraction"), positive_integer("batches"), positive_integer("epochs")),
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
