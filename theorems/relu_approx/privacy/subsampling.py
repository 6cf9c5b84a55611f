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
from typing import Any

import sympy
from flint import ctx

from oracle.core.domain import positive, positive_integer, real
from oracle.core.enclosure import Enclosure, ball
from oracle.engines.gaussian_curve import normal_upper_tail
from theorems.claim import Claim, Flip, Repair, Stake, Whose
from theorems.given import Domain
from theorems.relu_approx.convex_model.reformulation import judge_dimension
from theorems.tools.finite_laws import hockey_stick
from theorems.tools.two_vectors import never_negative, opposite, two_vectors
from theorems.verdict import Finding, ProofStep, Verdict, argued, computed, proof, refuted


def total_variation(q: Fraction, sigma: Fraction, distance: Fraction) -> Enclosure:
    """The divergence at alpha = 1 of the sampled pair whose two means lie so far apart: q (1 - 2 Phi(-d/(2 sigma)))."""
    with ctx.workprec(100):
        tail = normal_upper_tail(ball(distance) / (2 * ball(sigma)))
        return Enclosure.of_ball(ball(q) * (1 - 2 * tail))


def reduction(given: Domain) -> ProofStep:
    """The two mixtures' difference is q N_g (1 - k_0 L_0 - k_h L_h), with k_0, k_h >= 0 that do not depend on g, h."""
    q, t = given.chart("q"), sympy.Symbol("t", nonnegative=True)
    alpha = 1 + t
    zero, g, h = sympy.symbols("N_0 N_g N_h", positive=True)
    one, other = sympy.simplify((1 - q) * (alpha - 1) / q), alpha
    gap = (1 - q) * zero + q * g - alpha * ((1 - q) * zero + q * h) - q * g * (1 - one * zero / g - other * h / g)
    return computed(
        "for alpha >= 1 the divergence is q E [1 - k_0 L_0 - k_h L_h]_+ under N_g, k_0 = (1 - q)(alpha - 1)/q >= 0 and "
        "k_h = alpha",
        sympy.simplify(gap) == 0 and one.is_nonnegative is True and other.is_positive is True,
    )


def growth() -> ProofStep:
    """The rates of E f(k_1 L_1 + k_2 L_2) in C_11 and in C_12, for f(s) = e^{ts}.

    d/dC_ij E F(G) is E F_ij for i != j and E F_ii / 2 for i = j, plus what F depends on C itself through -C_ii/2. The
    rates are linear in f' and f'', which e^{ts} tells apart (t and t^2), so they are right for every f.
    """
    g1, g2, c11, c22, k1, k2, t = sympy.symbols("G_1 G_2 C_11 C_22 k_1 k_2 t", positive=True)
    one, two = k1 * sympy.exp(g1 - c11 / 2), k2 * sympy.exp(g2 - c22 / 2)
    value = sympy.exp(t * (one + two))
    second = t**2 * value
    diagonal = sympy.diff(value, g1, 2) / 2 + sympy.diff(value, c11)
    mixed = sympy.diff(value, g1, g2)
    return computed(
        "the rates of E f(k_1 L_1 + k_2 L_2) in the covariances are E f'' L_i L_j k_i k_j, halved on the diagonal, for "
        "f(s) = e^(ts): none is negative",
        sympy.simplify(diagonal - second * one**2 / 2) == 0 and sympy.simplify(mixed - second * one * two) == 0,
    )


def entries(radius: Fraction) -> ProofStep:
    """|g|^2, |g|^2 - <g, h> and |h - g|^2 are at most 1, 2 and 4, those of the pair (2.3), and all reach them."""
    gg, gh, hh = two_vectors(sympy.Rational(radius.numerator, radius.denominator))
    room = (1 - gg, 2 - (gg - gh), 4 - (gg - 2 * gh + hh))
    return computed(
        "|g|^2, |g|^2 - <g, h> and |h - g|^2 are at most 1, 2 and 4, as g = 1 and h = -1 have them, and reach them",
        radius > 0 and all(never_negative(gap) and opposite(gap) == 0 for gap in room),
    )


def judge_domination(radius: Fraction | None, given: Domain) -> Finding:
    """Whether the pair (2.3) bounds every mechanism (None), or Gaussian ones on sums of vectors of that norm."""
    points = list(given.points("q", "sigma"))
    for q, sigma in sorted(((point["q"], point["sigma"]) for point in points), key=lambda at: abs(at[1] - 1)):
        claimed = total_variation(q, sigma, Fraction(2))
        if radius is None:
            # The record x or x' is released if it is sampled: outcomes nothing, x, x'; ((1, 0), (0, 1)) dominates that.
            told = hockey_stick((1 - q, q, Fraction(0)), (1 - q, Fraction(0), q), Fraction(1))
            true = Enclosure.between(ball(told), ball(told))
            what = "the mechanism releases the sampled records as they are"
        else:
            true, what = total_variation(q, sigma, 2 * radius), f"Gaussian noise on vectors {radius} and -{radius}"
        if not true.possibly_le(claimed):
            return refuted(
                "the divergence at alpha = 1 exceeds the right side, certified",
                {"mechanism": what, "q": q, "sigma": sigma, "alpha": 1, "divergence": true, "right side": claimed},
            )
    return proof(
        reduction(given), growth(), entries(radius or Fraction(0)),
        argued("the other records' sum is the same on both sides and may be fixed, as 0: H is jointly convex"),
        argued("the rates, linear in f' and f'', hold for every convex f and, by approximation, for (1 - s)_+"),
        argued("along the segment to the largest covariances every entry grows, and with it the expectation"),
        argued("alpha < 1 by exchanging the two sides (def-2.3)"),
        tried=len(points),
    )


Variance = Callable[[Any, Any, Any], Any]


def noise_variance(clip: Any, sigma: Any, batch: Any) -> Any:
    """The variance of (2.2)'s noise on the mean gradient."""
    return clip**2 * sigma**2 / batch**2


def judge_noise(variance: Variance, given: Domain) -> Finding:
    """Whether (2.2)'s noise, in units of one record's largest share C/b of the mean, is the sigma of the pair (2.3)."""
    points = list(given.points("clip_norm", "sigma", "batch_size"))
    for point in points:
        clip, sigma, batch = point.values()
        if variance(clip, sigma, batch) / (clip / batch) ** 2 != sigma**2:
            return refuted(
                "the noise is not sigma times one record's share",
                {"C": clip, "sigma": sigma, "b": batch, "(noise over C/b)^2": variance(*point.values())
                 / (clip / batch) ** 2},
            )
    clip, sigma, batch = (given.symbol(name) for name in ("clip_norm", "sigma", "batch_size"))
    noise = sympy.sqrt(variance(clip, sigma, batch))
    return proof(
        computed("the noise's standard deviation is sigma times C/b, a clipped gradient's largest share of the mean",
                 sympy.simplify(noise / (clip / batch) - sigma) == 0),
        computed("substituting a record moves the mean by at most C/b - (-C/b), which over the noise is 2/sigma, the "
                 "distance of the means 1 and -1 of (2.3) over its noise",
                 sympy.simplify((clip - (-clip)) / batch / noise - (1 - (-1)) / sigma) == 0),
        tried=len(points),
    )


def judge_reached(share: Fraction, given: Domain) -> Finding:
    """Whether a sampled record of a linear loss moves a step by that share of the distance of the means of (2.3)."""
    for point in given.points("clip_norm", "sigma", "batch_size"):
        clip, sigma, batch = point.values()
        squared = ((clip - (-clip)) / batch) ** 2 / noise_variance(clip, sigma, batch)
        if squared != (share * 2 / sigma) ** 2:
            return refuted("another distance", {**point, "(distance over noise)^2": squared, "claimed share": share})
    clip, sigma, batch = (given.symbol(name) for name in ("clip_norm", "sigma", "batch_size"))
    reached = (clip - (-clip)) / batch / sympy.sqrt(noise_variance(clip, sigma, batch))
    return proof(
        computed("gradients C and -C of one record, 0 of the others, whatever theta: sampled, they lie as far apart as "
                 "the means of (2.3)",
                 sympy.simplify(reached - sympy.Rational(share.numerator, share.denominator) * 2 / sigma) == 0),
        argued("the steps are independent and theta tells each of them, so that all iterates together have the laws of "
               "the product of the pairs (2.3), in one order or the other: Theorem 2.4's bound is attained"),
    )


def judge_norm(count: Callable[[Any, Any, Any], Any], given: Domain) -> Finding:
    """Whether the noise's mean squared norm over C^2 sigma^2 / b^2 is count(d, P, k), and grows with P."""
    found = judge_dimension(count, given)
    if found.verdict is not Verdict.HOLDS:
        return found
    x, patterns = sympy.symbols("x", real=True), given.symbol("P")
    normal = sympy.exp(-(x**2) / 2) / sympy.sqrt(2 * sympy.pi)
    return proof(
        *found.steps,
        computed("each coordinate of the noise adds its variance",
                 sympy.integrate(x**2 * normal, (x, -sympy.oo, sympy.oo)) == 1),
        computed("that grows with P, while a clipped gradient stays below C",
                 sympy.diff(count(given.symbol("d"), patterns, given.symbol("k")), patterns).is_positive),
    )


_HYPOTHESES = (real("q").above(0).at_most(1), positive("sigma"), positive("alpha"))
_STEP = (positive("clip_norm"), positive("sigma"), positive("batch_size"))
_AT_ONE = {"alpha": "the points are tried at alpha = 1; the steps are for every alpha"}

lemma_2_6 = Claim(
    id="relu-approx/lem-2.6",
    untested=dict.fromkeys(("alpha",), "what a flip of it says holds by words, for every value"),
    source="000, Lemma 2.6 and (2.3)",
    quote=(
        r"Then, for all neighbouring datasets (under the $\sim$ -neighbouring relation) X and Y, "
        r"$$H_{\alpha}(\widetilde{\mathcal{M}}(X)||\widetilde{\mathcal{M}}(Y))$$ $$\leq "
        r"H_{\alpha}((1-q)\cdot\mathcal{N}(0,\sigma^{2})+q\cdot\mathcal{N}(1,\sigma^{2})||(1-q)"
        r"\cdot\mathcal{N}(0,\sigma^{2})+q\cdot\mathcal{N}(-1,\sigma^{2}))$$ "
        r"(2.3) for all $\alpha \geq 0$ ."
    ),
    whose=Whose.PRINTED,
    severity=Stake.PRIVACY,
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
        words=(
            "the Poisson-subsampled Gaussian mechanism under substitution is dominated by the pair (2.3), which it "
            "attains"
        ),
        says=Fraction(1),
        expected="HOLDS ARGUED",
        source="000, Lemma 2.6, for the Gaussian mechanism on a sum of vectors of norm at most 1 (Lebeda et al. 2024)",
        flips=(Flip("vectors of norm 2", Fraction(2), Verdict.REFUTED),),
        untested=_AT_ONE,
        true_variants={"any alpha": "for alpha <= 0 both sides are 1 - alpha"},
        rests_on=("relu-approx/def-2.3", "relu-approx/eq-2.1-densities"),
    ),
)

equation_2_2 = Claim(
    id="relu-approx/eq-2.2",
    source="000, equation (2.2) and the law of Z_j after it",
    quote=r"$Z_j \sim \mathcal{N}(0, \frac{C^2\sigma^2}{b^2}I_d)$ the noise vector.",
    whose=Whose.READING,
    severity=Stake.PRIVACY,
    statement=(
        r"Z_j \sim \mathcal{N}\left(0, \tfrac{C^2\sigma^2}{b^2} I_d\right) "
        r"\text{ is the noise } \sigma \text{ of (2.3)}"
    ),
    words="DP-SGD's noise on the mean gradient is sigma times one record's largest share, as the accounting assumes",
    hypotheses=_STEP,
    says=noise_variance,
    check=judge_noise,
    flips=(
        Flip("divided by b once", lambda clip, sigma, batch: clip**2 * sigma**2 / batch, Verdict.REFUTED),
        Flip("the clip norm to the fourth power", lambda clip, sigma, batch: (clip**2 * sigma / batch) ** 2 * clip,
             Verdict.REFUTED),
    ),
    expected="HOLDS PROVED",
)

tight = Claim(
    id="relu-approx/composition-tight",
    source="000, Section 7: composition analysis of DP-SGD, whose adversary sees all iterates",
    quote="as the composition analysis of DP-SGD cannot likely be improved a lot.",
    whose=Whose.PRINTED,
    severity=Stake.UTILITY,
    statement=r"\text{linear losses: } \theta_1, \dots, \theta_T \text{ have the laws of } (P, Q)^T \text{ of (2.3)}",
    words="DP-SGD with linear losses attains the composed pair (2.3): with all iterates seen no accounting is better",
    hypotheses=_STEP,
    says=Fraction(1),
    check=judge_reached,
    flips=(Flip("1 % more", Fraction(101, 100), Verdict.REFUTED), Flip("half of it", Fraction(1, 2), Verdict.REFUTED)),
    uses=("relu-approx/lem-2.6", "relu-approx/thm-2.4"),
    rests_on=("relu-approx/lem-2.6-repaired", "relu-approx/thm-2.4"),
    expected="HOLDS ARGUED",
)

noise_grows = Claim(
    id="relu-approx/fig-5-noise",
    source="000, Appendix E.2: why P should not be too large (the accuracies are fig-5)",
    quote="as increasing the dimension starts means that the adverse effect of the DP noise becomes larger.",
    whose=Whose.READING,
    severity=Stake.UTILITY,
    statement=r"\mathbb{E}\|Z_j\|^2 = \frac{C^2\sigma^2}{b^2}\, d P k",
    words="the noise of a step has a mean squared norm proportional to d P k: it grows with P, a clipped gradient not",
    hypotheses=(positive_integer("d"), positive_integer("P"), positive_integer("k")),
    says=lambda d, p, k: d * p * k,
    check=judge_norm,
    flips=(Flip("without P", lambda d, p, k: d * k, Verdict.REFUTED),),
    expected="HOLDS PROVED",
)
