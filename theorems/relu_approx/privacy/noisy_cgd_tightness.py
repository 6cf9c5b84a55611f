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

from collections.abc import Callable
from fractions import Fraction
from typing import Any

import sympy
from flint import ctx

from oracle.core.domain import positive_integer, probability, real
from oracle.core.enclosure import Enclosure, ball
from oracle.core.registry import bound
from theorems.claim import Claim, Flip, Stake
from theorems.given import Domain
from theorems.relu_approx.certified_tables import all_round
from theorems.relu_approx.privacy.noisy_cgd import shapes
from theorems.tools.cyclic_value import squared, value
from theorems.tools.exact_shift_programme import exact_linear, touched_steps
from theorems.tools.two_vectors import never_negative
from theorems.verdict import Finding, ProofStep, Verdict, argued, computed, proof, refuted, undecided


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


def joined(share: Fraction) -> list[ProofStep]:
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


_DROPS = (Fraction("5.4e-5"), Fraction("1e-4"), Fraction("2e-4"))
_FACTORS = (("2.615", "2.366", "1.923"), ("2.426", "2.158", "1.663"))


def factors(batches: int, epochs: int) -> tuple[list[Enclosure], list[Enclosure]]:
    """The theorem's factor and the exact one of a quadratic loss at the three eta lambda of Figure 1, in balls."""
    upper, lower = [], []
    with ctx.workprec(200):
        for drop in _DROPS:
            c = 1 - ball(drop)
            powers = c, c**batches, c ** (batches * (epochs - 1))
            upper.append(Enclosure.of_ball(squared(*powers).sqrt()))
            lower.append(Enclosure.of_ball(quadratic(*powers).sqrt()))
    return upper, lower


def judge_tightness(printed: tuple[tuple[str, ...], tuple[str, ...]], given: Domain) -> Finding:
    """Whether the factors of the theorem and of a quadratic loss round to those numbers (k = 60, E = 400)."""
    rows = factors(60, 400)
    registered = bound("noisy-cgd.mu").reference(
        sensitivity=1, batch_size=1, noise_on_mean=1, contraction=1 - _DROPS[0], batches=60, epochs=400
    )
    if not registered.overlaps(rows[0][0]):
        return undecided("not the registered bound", 6)
    return all_round((
        ({"row": name, "eta lambda": f"{float(drop):g}"}, value, text)
        for name, texts, values in zip(("theorem", "quadratic"), printed, rows, strict=True)
        for drop, value, text in zip(_DROPS, values, texts, strict=True)
    ), "all six factors certified: the true mu lies between the two rows")


Quadratic = Callable[[Any, Any, Any], Any]
"""mu^2 of the last iterate on quadratics of one curvature, from c, q = c^k and Q = c^{k(E-1)}."""


def quadratic(c: Any, q: Any, big_q: Any) -> Any:
    """The gap (1 - c^{kE})/(1 - c^k), squared, over the variance (1 - c^{2kE})/(1 - c^2)."""
    return ((1 - q * big_q) / (1 - q)) ** 2 * (1 - c**2) / (1 - (q * big_q) ** 2)


def judge_between(says: Quadratic, given: Domain) -> Finding:
    """Whether a formula is the exact law of quadratics, and at most the theorem's value, for all c, k and E."""
    tried = 0
    for c, k, epochs in shapes(given):
        tried += 1
        true = exact_linear(c, touched_steps(batches=k, epochs=epochs, position=k))
        claimed, most = says(c, c**k, c ** (k * (epochs - 1))), value(squared, c, k, epochs)
        if claimed != true or true > most:
            return refuted("another law, or more than the theorem's value",
                           {"c": c, "batches": k, "epochs": epochs, "claimed": claimed, "law": true, "theorem": most})
    c = 1 / (1 + sympy.Symbol("c_1", positive=True))
    less, big_q = (1 / (1 + sympy.Symbol(name, nonnegative=True)) for name in ("k_1", "Q_1"))
    q = c * less  # c^k, and less = c^{k-1}
    gap = less * (1 - big_q) / (1 - q)  # B, what reaches the last step
    before = (1 - (q * big_q / c) ** 2) / (1 - c**2)  # V', the variance that does
    chord = (1 - big_q**2) / (1 - c**2)  # V
    at = sympy.Symbol("at", positive=True)
    touched, spread = (1 - at) / (1 - q), (1 - at) / (1 - c**2)
    b, v, m = sympy.symbols("B V m", positive=True)
    return proof(
        computed("k steps multiply the gap by c^k and a touch adds 1, a step multiplies the variance by c^2 and adds "
                 "1: (1 - c^(kE))/(1 - c^k) and (1 - c^(2t))/(1 - c^2), by induction",
                 sympy.simplify(q * touched + 1 - touched.subs(at, at * q)) == 0
                 and sympy.simplify(c**2 * spread + 1 - spread.subs(at, at * c**2)) == 0),
        computed("the formula is the squared gap over the variance after the last step, (cB + 1)^2/(c^2 V' + 1)",
                 sympy.simplify(says(c, q, big_q) - (c * gap + 1) ** 2 / (c**2 * before + 1)) == 0),
        computed("(c^2 V' + 1)(B^2/V' + 1) - (cB + 1)^2 is a square: it is at most 1 + B^2/V'",
                 sympy.simplify((m**2 * v + 1) * (b**2 / v + 1) - (m * b + 1) ** 2 - (b - m * v) ** 2 / v) == 0),
        computed("V' >= V, and 1 + B^2/V is the theorem's value",
                 never_negative(sympy.cancel(before - chord))
                 and sympy.simplify(1 + gap**2 / chord - squared(c, q, big_q)) == 0),
        tried=tried,
    )


attained_value = Claim(
    id="relu-approx/thm-2.8-attained",
    source="000, Theorem 2.8 (can its value be improved?)",
    severity=Stake.UTILITY,
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


tightness = Claim(
    id="relu-approx/thm-2.8-tightness",
    source="000, Theorem 2.8 (how far from the truth it can be, k = 60, E = 400; ours)",
    severity=Stake.UTILITY,
    statement=(
        r"2.426,\ 2.158,\ 1.663 \le \frac{b\sigma\mu}{L} \le 2.615,\ 2.366,\ 1.923 \quad (\eta\lambda ="
        r" 5.4 \cdot 10^{-5},\ 10^{-4},\ 2 \cdot 10^{-4})"
    ),
    words="the true factor lies between 2.426, 2.158, 1.663 and 2.615, 2.366, 1.923 at Figure 1's three eta lambda",
    hypotheses=(),
    says=_FACTORS,
    check=judge_tightness,
    flips=(
        Flip("the rows exchanged", _FACTORS[::-1], Verdict.REFUTED),
        Flip("one digit changed", (("2.615", "2.366", "1.924"), _FACTORS[1]), Verdict.REFUTED),
    ),
    rests_on=("relu-approx/thm-2.8-formula", "relu-approx/thm-2.8-tightness-all"),
    expected="HOLDS ARGUED",
)

between = Claim(
    id="relu-approx/thm-2.8-tightness-all",
    source="000, Theorem 2.8 (quadratics of one curvature never reach more; ours)",
    severity=Stake.UTILITY,
    statement=(
        r"\left(\frac{1-c^{kE}}{1-c^k}\right)^2 \frac{1-c^2}{1-c^{2kE}} \le"
        r" 1 + c^{2k-2}\frac{1-c^2}{(1-c^k)^2}\,\frac{1-c^{k(E-1)}}{1+c^{k(E-1)}}"
    ),
    words="the exact mu of quadratics of one curvature is at most Theorem 2.8's, for all c, k and E",
    hypotheses=(probability("contraction"), positive_integer("batches"), positive_integer("epochs")),
    says=quadratic,
    check=judge_between,
    flips=(Flip("one epoch more", lambda c, q, big_q: quadratic(c, q, big_q * q), Verdict.REFUTED),),
    expected="HOLDS PROVED",
)
