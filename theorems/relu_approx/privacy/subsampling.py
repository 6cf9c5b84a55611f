r"""Equation (2.2) and Lemma 2.6 of document 000: DP-SGD's noise, and Poisson subsampling under substitution.

As printed the right side of Lemma 2.6 does not mention the pair (P, Q) that is said to dominate the mechanism, so any
mechanism that reveals more than a Gaussian one refutes it. Repaired: the mechanism adds N(0, sigma^2 I) to a sum of
vectors of norm at most 1. That is a theorem, for one step, and here is a proof.

The other records' sum is common to both sides, so by joint convexity it may be taken as fixed, and as 0. If alpha >= 1
the divergence of (1-q) N_0 + q N_g from (1-q) N_0 + q N_h is q times E [1 - sum_i k_i L_i]_+ under N_g, where L_i is
the likelihood ratio of N_{x_i} to N_g, x = (0, h), and k_i >= 0 do not depend on g and h. L_i = e^{G_i - C_ii/2} with
a centred Gaussian G of covariance C_ij = <x_i - g, x_j - g> / sigma^2. For a convex f, moving C along a segment changes
E f(sum_i k_i L_i) at the rate (1/2) sum_ij C'_ij k_i k_j E[f'' L_i L_j], so it grows with every entry of C. The entries
|g|^2, |g|^2 - <g, h>, |h - g|^2 are all largest, at once, at g = 1, h = -1 on a line: 1, 2, 4. For alpha < 1 exchange
the two sides (relu-approx/def-2.3).
"""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction

import sympy
from flint import ctx

from oracle.core.domain import positive, probability
from oracle.core.enclosure import Enclosure, ball
from oracle.engines.gaussian_curve import normal_upper_tail
from theorems.claim import Claim, Flip, Repair, Severity, Whose
from theorems.domain import Domain
from theorems.verdict import Finding, Verdict, argued, proof, refuted, undecided

_POINTS = tuple((Fraction(q), Fraction(sigma)) for q in ("1/2", "1/10", "9/10") for sigma in ("10", "1", "1/2"))


def total_variation(q: Fraction, sigma: Fraction, distance: Fraction) -> Enclosure:
    """The divergence at alpha = 1 of the sampled pair whose two means lie so far apart: q (1 - 2 Phi(-d/(2 sigma)))."""
    with ctx.workprec(100):
        tail = normal_upper_tail(ball(distance) / (2 * ball(sigma)))
        return Enclosure.of_ball(ball(q) * (1 - 2 * tail))


def growth_gap() -> sympy.Expr:
    """The rates of E f(k_1 L_1 + k_2 L_2) in C_11 and in C_12, minus the proof's, for f(s) = e^{ts}; zero for every t.

    d/dC_ij E F(G) is E F_ij for i != j and E F_ii / 2 for i = j, plus what F depends on C itself through -C_ii/2. The
    rates are linear in f' and f'', which e^{ts} tells apart (t and t^2), so they are right for every f.
    """
    g1, g2, c11, c22, k1, k2, t = sympy.symbols("G_1 G_2 C_11 C_22 k_1 k_2 t", positive=True)
    one, two = k1 * sympy.exp(g1 - c11 / 2), k2 * sympy.exp(g2 - c22 / 2)
    value = sympy.exp(t * (one + two))
    second = t**2 * value
    diagonal = sympy.diff(value, g1, 2) / 2 + sympy.diff(value, c11)
    mixed = sympy.diff(value, g1, g2)
    return sympy.simplify(diagonal - second * one**2 / 2) ** 2 + sympy.simplify(mixed - second * one * two) ** 2


def largest_entries(radius: Fraction) -> tuple[Fraction, Fraction, Fraction]:
    """The largest |g|^2, |g|^2 - <g, h> and |h - g|^2 for |g|, |h| <= radius: by Cauchy-Schwarz at h = -g."""
    return radius**2, 2 * radius**2, 4 * radius**2


def judge_domination(radius: Fraction | None, given: Domain) -> Finding:
    """Whether the pair (2.3) bounds every mechanism (None), or Gaussian ones on sums of vectors of that norm."""
    for q, sigma in _POINTS:
        claimed = total_variation(q, sigma, Fraction(2))
        if radius is None:
            # The mechanism that releases its record: D and D' differ in it, and it is sampled with probability q.
            true, what = Enclosure.between(ball(q), ball(q)), "the mechanism releases the sampled records as they are"
        else:
            true, what = total_variation(q, sigma, 2 * radius), f"Gaussian noise on vectors {radius} and -{radius}"
        if not true.possibly_le(claimed):
            return refuted(
                "the divergence at alpha = 1 exceeds the right side, certified",
                {
                    "mechanism": what, "q": str(q), "sigma": str(sigma), "alpha": "1", "divergence": str(true),
                    "right side": str(claimed),
                },
            )
    if radius is None or growth_gap() != 0 or largest_entries(radius) > largest_entries(Fraction(1)):
        return undecided("no point fails; not proved", len(_POINTS))
    return proof(argued(
        "E f(sum k_i L_i) grows with every covariance of the likelihood ratios (computer algebra), and |g|^2, "
        "|g|^2 - <g, h>, |h - g|^2 are largest together at g = 1, h = -1; one step, every alpha > 0"
    ))


def noise_variance(clip: sympy.Expr, sigma: sympy.Expr, batch: sympy.Expr) -> sympy.Expr:
    """The variance of (2.2)'s noise on the mean gradient."""
    return clip**2 * sigma**2 / batch**2


def judge_noise(variance: Callable[[sympy.Expr, sympy.Expr, sympy.Expr], sympy.Expr], given: Domain) -> Finding:
    """Whether (2.2)'s noise, in units of one record's largest share C/b of the mean, is the sigma of the pair (2.3)."""
    clip, sigma, batch = sympy.symbols("C sigma b", positive=True)
    ratio = sympy.sqrt(variance(clip, sigma, batch)) / (clip / batch)
    gap = sympy.simplify(ratio - sigma)
    if gap == 0:
        return proof(argued(
            "a clipped gradient moves the mean by at most C/b, and the noise's standard deviation is sigma times that; "
            "substituting a record moves it by 2 C/b, which is the distance 2 of the pair (2.3)"
        ))
    at = {clip: 3, sigma: 2, batch: 4}
    return refuted(
        "the noise is not sigma times one record's share",
        {"C": "3", "sigma": "2", "b": "4", "noise over C/b": str(ratio.subs(at))},
    )


_HYPOTHESES = (probability("q"), positive("sigma"), positive("alpha"))

lemma_2_6 = Claim(
    id="relu-approx/lem-2.6",
    source="000, Lemma 2.6 and (2.3)",
    quote=(
        r"Then, for all neighbouring datasets (under the $\sim$ -neighbouring relation) X and Y, "
        r"$$H_{\alpha}(\widetilde{\mathcal{M}}(X)||\widetilde{\mathcal{M}}(Y))$$ $$\leq "
        r"H_{\alpha}((1-q)\cdot\mathcal{N}(0,\sigma^{2})+q\cdot\mathcal{N}(1,\sigma^{2})||(1-q)"
        r"\cdot\mathcal{N}(0,\sigma^{2})+q\cdot\mathcal{N}(-1,\sigma^{2}))$$ "
        r"(2.3) for all $\alpha \geq 0$ ."
    ),
    whose=Whose.PRINTED,
    severity=Severity.PRIVACY,
    statement=(
        r"(P, Q) \succeq \mathcal{M} \implies H_\alpha(\widetilde{\mathcal{M}}(X) \| \widetilde{\mathcal{M}}(Y)) \le"
        r" H_\alpha\big((1-q)\mathcal{N}(0,\sigma^2) + q\mathcal{N}(1,\sigma^2) \,\|\,"
        r" (1-q)\mathcal{N}(0,\sigma^2) + q\mathcal{N}(-1,\sigma^2)\big)"
    ),
    words="any Poisson-subsampled mechanism with a dominating pair is dominated by the subsampled Gaussian pair",
    hypotheses=_HYPOTHESES,
    says=None,
    check=judge_domination,
    expected="REFUTED PROVED",
    repair=Repair(
        statement=(
            r"\mathcal{M}(X) = \textstyle\sum_i x_i + \mathcal{N}(0, \sigma^2 I),\ \lVert x_i \rVert \le 1"
            r" \implies (2.3)"
        ),
        words="the Poisson-subsampled Gaussian mechanism under substitution is dominated by the pair (2.3)",
        says=Fraction(1),
        expected="HOLDS ARGUED",
        source="000, Lemma 2.6, for the Gaussian mechanism on a sum of vectors of norm at most 1 (Lebeda et al. 2024)",
        flips=(Flip("vectors of norm 2", Fraction(2), Verdict.REFUTED),),
        rests_on=("relu-approx/def-2.3",),
    ),
)

equation_2_2 = Claim(
    id="relu-approx/eq-2.2",
    source="000, equation (2.2) and the law of Z_j after it",
    quote=r"$Z_j \sim \mathcal{N}(0, \frac{C^2\sigma^2}{b^2}I_d)$ the noise vector.",
    whose=Whose.READING,
    severity=Severity.PRIVACY,
    statement=(
        r"Z_j \sim \mathcal{N}\left(0, \tfrac{C^2\sigma^2}{b^2} I_d\right) "
        r"\text{ is the noise } \sigma \text{ of (2.3)}"
    ),
    words="DP-SGD's noise on the mean gradient is sigma times one record's largest share, as the accounting assumes",
    hypotheses=(positive("clip_norm"), positive("sigma"), positive("batch_size")),
    says=noise_variance,
    check=judge_noise,
    flips=(
        Flip("divided by b once", lambda clip, sigma, batch: clip**2 * sigma**2 / batch, Verdict.REFUTED),
        Flip("the clip norm to the fourth power", lambda clip, sigma, batch: (clip**2 * sigma / batch) ** 2 * clip,
             Verdict.REFUTED),
    ),
    expected="HOLDS ARGUED",
)
