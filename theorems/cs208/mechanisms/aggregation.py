r"""Subsample and aggregate in document 004: its privacy, and how many blocks it wants.

k blocks of n/k records, k = n^kappa. Replacing a record changes one block's estimate, by at most the range w it is
clipped to, hence the mean by w/k: Laplace noise of scale b costs w/(k b).

Variance. Block estimates of variance c k/n have a mean of variance c/n. The noise adds 2 w^2/(epsilon k)^2; over c/n
that is of the order n w^2/k^2: n^(1 - 2 kappa) for a fixed range, which vanishes exactly for kappa > 1/2, and 1/k for a
range that shrinks like sqrt(k/n), where every kappa > 0 will do. "Variance c/(sample size)" is what an estimator has as
its sample grows: blocks must grow, kappa < 1. With k = n a block is one record: the median of one normal number has
the variance 1, and that of many c/m with c = pi/2.

Risk. A bias of the order m^-beta on m = n/k records survives the mean: n bias^2 has the exponent 1 - 2 beta (1 -
kappa), which is negative exactly for kappa < 1 - 1/(2 beta). With beta = 1, the bias of smooth functions of means,
that is kappa < 1/2, where the noise is too much: no number of blocks is right. exp(-mean) of normal numbers of
variance 1 has the relative bias e^(k/(2n)) - 1.
"""

from __future__ import annotations

from fractions import Fraction

import sympy
from flint import arb, ctx

from oracle.core.domain import Parameter, positive, positive_integer
from oracle.core.enclosure import Enclosure, ball
from theorems.claim import Checker, Claim, Flip, Repair, Stake, Whose
from theorems.cs208.judging import Formula, formula, unchecked
from theorems.given import Domain
from theorems.tools.printed import rounds_to
from theorems.tools.studied import study_step
from theorems.tools.symbolic_signs import vanishes
from theorems.verdict import Finding, ProofStep, Verdict, argued, computed, instance, proof, refuted


def privacy_steps(given: Domain) -> tuple[ProofStep, ...]:
    """Only one block holds the record."""
    return (argued("the blocks are disjoint and chosen without looking at the records: one estimate changes, whatever "
                   "the estimator is, and it stays in its range"),)


def moved_by_hand(width: Fraction, blocks: int, scale: Fraction) -> Fraction:
    """The mean of k estimates, one of which jumps from end to end, over the scale of the noise."""
    before = [Fraction(0)] * blocks
    after = [width, *before[1:]]
    return (sum(after, Fraction(0)) / blocks - sum(before, Fraction(0)) / blocks) / scale


def threshold(range_power: int) -> Checker:
    """The checker of the least kappa: n times the noise's variance vanishes just above it, and not just below.

    The range w has w^2 = (k/n)^range_power: 0 for a fixed range.
    """

    def judge(kappa: Fraction, given: Domain) -> Finding:
        def power(at: Fraction) -> Fraction:  # of n (k/n)^range_power / k^2 at k = n^at
            return 1 - 2 * at + range_power * (at - 1)

        for at, vanishing in ((kappa + Fraction(1, 1000), True), (kappa, False), (kappa - Fraction(1, 1000), False)):
            if (power(at) < 0) is not vanishing:
                return refuted("the noise's share of the variance behaves otherwise", {
                    "kappa": at, "claimed threshold": kappa, "w^2": "1" if not range_power else "k/n",
                    "power of n": power(at)})
        n, c, e, at_ = sympy.symbols("n c epsilon kappa", positive=True)
        k = n**at_
        share = (2 * (k / n) ** range_power / (e * k) ** 2) / (c / n)
        slope = sympy.simplify(sympy.diff(sympy.expand_log(sympy.log(share), force=True), n) * n)
        return proof(
            computed("the mean of k estimates of variance c k/n has the variance c/n",
                     vanishes((1 / k) * (c * k / n) - c / n)),
            computed("the noise's share of it is a power of n, negative exactly above the threshold",
                     vanishes(slope - (1 - 2 * at_ + range_power * (at_ - 1)))
                     and vanishes(slope.subs(at_, sympy.Rational(kappa.numerator, kappa.denominator)))),
        )

    return judge


def judge_upper(kappa: Fraction, given: Domain) -> Finding:
    """Whether k = n^kappa blocks have the variance (1 + o(1)) c/n for every estimator of asymptotic variance c/m."""
    if kappa > 1 or kappa <= Fraction(1, 2):
        return refuted("no such blocks, or too much noise",
                       {"kappa": kappa, "power of the noise's share": 1 - 2 * kappa})
    if kappa == 1:
        with ctx.workprec(80):
            share = 2 / arb.pi()
            return refuted("blocks of one record: the median of one normal number has the variance 1, not c = pi/2", {
                "k": "n", "estimator": "median", "c": "pi/2", "n variance/c": Enclosure.of_ball(share)})
    x = sympy.symbols("x", real=True)
    density = sympy.exp(-(x**2) / 2) / sympy.sqrt(2 * sympy.pi)
    return proof(
        computed("the asymptotic variance of the median, 1/(4 f(0)^2), is pi/2, and that of one number is 1", vanishes(
            1 / (4 * density.subs(x, 0) ** 2) - sympy.pi / 2,
            sympy.integrate(x**2 * density, (x, -sympy.oo, sympy.oo)) - 1)),
        computed("blocks of n^(1 - kappa) records grow, and the noise's share vanishes",
                 1 - kappa > 0 and 1 - 2 * kappa < 0),
        argued("so the block estimates reach their asymptotic variance, by what asymptotic means"),
    )


def judge_risk(says: tuple[Fraction, Fraction], given: Domain) -> Finding:
    """Whether n times noise and squared bias vanish at k = n^kappa, the bias of the order m^-beta; says is both."""
    kappa, beta = says
    noise, bias = 1 - 2 * kappa, 1 - 2 * beta * (1 - kappa)
    if noise >= 0 or bias >= 0:
        with ctx.workprec(80):
            grown = [arb(n) * ((arb(n) ** ball(kappa - 1)) / 2).expm1() ** 2 for n in (10**4, 10**8)]
        return refuted("the noise or the squared bias is not small against c/n", {
            "kappa": kappa, "beta": beta, "power of the noise's share": noise, "power of n bias^2": bias,
            "n bias^2 of exp(-mean) at n = 10^4": grown[0].str(6), "at n = 10^8": grown[1].str(6)})
    n, k, b = sympy.symbols("n kappa beta", positive=True)
    slope = sympy.simplify(n * sympy.diff(sympy.expand_log(sympy.log(n * (n ** (k - 1)) ** (2 * b)), force=True), n))
    return proof(
        computed("n (k/n)^(2 beta) has the power 1 - 2 beta (1 - kappa) of n", vanishes(slope - 1 + 2 * b * (1 - k))),
        computed("here it and that of the noise, 1 - 2 kappa, are negative", noise < 0 and bias < 0),
        argued("a bias survives the mean over blocks; the risk is variance and squared bias"),
    )


def judge_rates(says: tuple[Formula, Formula], given: Domain) -> Finding:
    """Whether noise and squared bias, times n, have these powers of n at k = n^kappa: n = 2^q and then 2^(2q)."""
    for kappa in given.values("kappa"):
        p, q = kappa.numerator, kappa.denominator
        noise, bias = q - 2 * p, q + 2 * (p - q)  # log2 of the growth of n/k^2 and of n (k/n)^2
        if (says[0](kappa) * q, says[1](kappa) * q) != (noise, bias):
            return refuted("other powers of n", {"kappa": kappa, "claimed": f"{says[0](kappa)}, {says[1](kappa)}",
                                                 "true": f"{Fraction(noise, q)}, {Fraction(bias, q)}"})
    n, k = sympy.symbols("n", positive=True), given.chart("kappa")
    slopes = [sympy.simplify(n * sympy.diff(sympy.expand_log(sympy.log(value), force=True), n))
              for value in (n / n ** (2 * k), n * (n**k / n) ** 2)]
    return proof(
        computed("n/k^2 and n (k/n)^2 have these powers of n", vanishes(
            *(slope - one(k) for slope, one in zip(slopes, says, strict=True)))),
        computed("between 1/2 and 1 the first falls and the second rises", given["kappa"].low == Fraction(1, 2)),
        study_step("subsample-aggregate-3-5"), study_step("subsample-aggregate-3-4"),
        study_step("subsample-aggregate-bias", "SLOWER"),
    )


def judge_large(says: str, given: Domain) -> Finding:
    """Whether the least n at which noise is a tenth of the variance is this number: 8 n^(-1/5)/c = 1/10, c = 24/25."""
    least = Fraction(8 * 10 * 25, 24) ** 5
    found = rounds_to(Enclosure.of_ball(ball(least)), says)
    if found is not True:
        return refuted("another number of records", {"claimed": says, "least n": least})
    return instance("so many records until the noise is a tenth of the variance", {"least n": least})


_SA = r"$$(1/k) \cdot (c_\theta \cdot k/n) + O(1/\varepsilon k)^2 = (1 + o(1)) \cdot c_\theta/n$$"
_IF = r"if $k = \omega(\sqrt{n})$."
_TRUE = dict.fromkeys(("[[]*[]] 1 % *", "[[]1[]] one more"), "a point of the same region")

privacy = Claim(
    id="cs208/sa-privacy", source="004, Subsample & Aggregate: why it is private", quote="Q: Why is this",
    whose=Whose.PRINTED, severity=Stake.PRIVACY, statement=r"\varepsilon = \frac w{kb}",
    words="the mean of k block estimates in a range of length w moves by at most w/k when a record is replaced, "
          "whatever the estimator, so that Laplace noise of scale b costs w/(k b)",
    hypotheses=(positive("width", "w"), positive_integer("blocks", "k"), positive("scale", "b")),
    says=lambda width, blocks, scale: width / (blocks * scale),
    check=formula(("width", "blocks", "scale"), moved_by_hand, lambda w, k, b: w / (k * b), "the mean moves otherwise",
                  "one of k estimates moves the mean by w/k", more=privacy_steps),
    flips=(Flip("overlapping blocks, two with the record", lambda w, k, b: 2 * w / (k * b), Verdict.REFUTED),),
    rests_on=("background/laplace-curve",), true_variants={"any *": "an identity of expressions"},
    expected="HOLDS ARGUED",
)
variance = Claim(
    id="cs208/sa-variance", source="004, Subsample & Aggregate: the variance, for a fixed clipping range", quote=_SA,
    whose=Whose.PRINTED, severity=Stake.UTILITY,
    statement=(
        r"\frac1k \cdot \frac{c k}n + \frac{2w^2}{(\varepsilon k)^2} = (1 + o(1)) \frac cn \iff k = \omega(\sqrt n)"
    ),
    words="with block estimates of variance c k/n the noise is o(1) of the variance c/n exactly for k above sqrt n",
    hypotheses=(), says=Fraction(1, 2), check=threshold(0), flips=(Flip("n^(1/3)", Fraction(1, 3), Verdict.REFUTED),),
    expected="HOLDS PROVED",
)
risk = Claim(
    id="cs208/sa-variance-risk", source="004, Subsample & Aggregate: optimal convergence rates, read of the risk",
    quote="Can give optimal asymptotic convergence rates", whose=Whose.READING, severity=Stake.UTILITY,
    statement=r"E(\hat\theta - \theta)^2 = (1 + o(1)) \frac cn,\quad k = n^{3/4},\ \mathrm{bias} = \Theta(1/m)",
    words="the risk is (1 + o(1)) c/n for k above sqrt n, here n^(3/4), for estimators with a bias of the order 1/m",
    hypotheses=(), says=(Fraction(3, 4), Fraction(1)), check=judge_risk,
    flips=(Flip("n^(2/5) blocks", (Fraction(2, 5), Fraction(1)), Verdict.REFUTED),), uses=("cs208/sa-variance",),
    expected="REFUTED PROVED",
    repair=Repair(
        statement=(
            r"\tfrac12 < \kappa < 1 - \frac1{2\beta},\quad k = n^\kappa,\ \mathrm{bias} = O(m^{-\beta}),\ \beta > 1"
        ),
        words="the risk is (1 + o(1)) c/n for k = n^kappa, 1/2 < kappa < 1 - 1/(2 beta), where the bias is O(m^-beta) "
              "with beta > 1; here kappa = 3/5 and beta = 2",
        says=(Fraction(3, 5), Fraction(2)), expected="HOLDS ARGUED",
        source="004, Subsample & Aggregate, for estimators of little bias", true_variants=_TRUE,
    ),
)
upper = Claim(
    id="cs208/sa-k-upper", source="004, Subsample & Aggregate: k above sqrt n, without an upper limit", quote=_IF,
    whose=Whose.READING, severity=Stake.UTILITY,
    statement=r"k = \omega(\sqrt n) \implies \mathrm{Var} = (1 + o(1)) \frac cn",
    words="every k above sqrt n has the variance (1 + o(1)) c/n, so k = n, too", hypotheses=(), says=Fraction(1),
    check=judge_upper, expected="REFUTED PROVED",
    repair=Repair(
        statement=r"k = \omega(\sqrt n),\ k = o(n) \implies \mathrm{Var} = (1 + o(1)) \frac cn",
        words="k between sqrt n and n, here n^(3/4), has the variance (1 + o(1)) c/n", says=Fraction(3, 4),
        expected="HOLDS ARGUED", source="004, Subsample & Aggregate, with blocks that grow",
        true_variants={"1 % *": "every power between 1/2 and 1 will do"},
    ),
)
rates = Claim(
    id="cs208/sa-rates", source="004, Subsample & Aggregate: how fast noise vanishes and bias stays", quote=_SA,
    whose=Whose.READING, severity=Stake.UTILITY,
    statement=r"k = n^\kappa:\ \frac{n\,\mathrm{Var}}c - 1 = \Theta(n^{1 - 2\kappa}),\ n\,\mathrm{bias}^2 ="
              r" \Theta(n^{2\kappa - 1}) \text{ for a bias } \Theta(1/m)",
    words="with k = n^kappa blocks the noise's share falls like n^(1 - 2 kappa), and n bias^2 of an estimator with "
          "bias of the order 1/m grows like n^(2 kappa - 1)",
    hypotheses=(Parameter("kappa", low=Fraction(1, 2), high=Fraction(1), low_open=True, high_open=True),),
    says=(lambda kappa: 1 - 2 * kappa, lambda kappa: 2 * kappa - 1), check=judge_rates,
    flips=(Flip("n^(-kappa)", (lambda kappa: -kappa, lambda kappa: 2 * kappa - 1), Verdict.REFUTED),),
    rests_on=("cs208/sa-variance",), expected="HOLDS ARGUED",
)
clip_range = Claim(
    id="cs208/sa-clip-range", source="004, Subsample & Aggregate: the range behind O(1/(epsilon k))^2", quote=_IF,
    whose=Whose.PRINTED, severity=Stake.UTILITY, statement=r"k = \omega(\sqrt n) \text{ is what is needed}",
    words="k above sqrt n is needed: for estimates clipped to a fixed range, or to one that shrinks with the blocks",
    hypotheses=(), says=None, check=None,
    readings=("cs208/sa-clip-range-reading-fixed", "cs208/sa-clip-range-reading-shrinking"),
    repaired_by="cs208/sa-clip-range-repaired", expected="AMBIGUOUS PROVED",
)
range_fixed = Claim(
    id="cs208/sa-clip-range-reading-fixed", source="004, Subsample & Aggregate, for a fixed range", quote=_IF,
    whose=Whose.READING, severity=Stake.UTILITY, statement=r"w = O(1): \ k = \omega(\sqrt n)", hypotheses=(),
    words="for estimates clipped to a fixed range k must be above sqrt n", says=Fraction(1, 2), check=threshold(0),
    flips=(Flip("any growth", Fraction(0), Verdict.REFUTED),), expected="HOLDS PROVED",
)
range_shrinking = Claim(
    id="cs208/sa-clip-range-reading-shrinking", source="004, Subsample & Aggregate, range sqrt(k/n)", quote=_IF,
    whose=Whose.READING, severity=Stake.UTILITY, statement=r"w = O(\sqrt{k/n}): \ k = \omega(\sqrt n)", hypotheses=(),
    words="for estimates clipped to a range of the order of their spread k must be above sqrt n", says=Fraction(1, 2),
    check=threshold(1), flips=(Flip("any growth", Fraction(0), Verdict.HOLDS),),
    repaired_by="cs208/sa-clip-range-repaired", expected="REFUTED PROVED",
)
range_repaired = Claim(
    id="cs208/sa-clip-range-repaired", source="004, Subsample & Aggregate, range sqrt(k/n): any growth will do",
    severity=Stake.UTILITY, statement=r"w = O(\sqrt{k/n}): \ k = \omega(1)", hypotheses=(),
    words="for estimates clipped to a range of the order of their spread, which must be known, any power of n will do",
    says=Fraction(0), check=threshold(1), flips=(Flip("sqrt n", Fraction(1, 2), Verdict.REFUTED),),
    expected="HOLDS PROVED",
)
large = Claim(
    id="cs208/sa-large-sample", source="004, Subsample & Aggregate: how large a sample, for +-1 labels",
    quote="Often takes very large sample size to kick in.", whose=Whose.READING, severity=Stake.UTILITY,
    statement=r"\frac{8 n^{-1/5}}c = \frac1{10} \text{ at } n = 4.02 \cdot 10^9",
    words="with n^(3/5) blocks of +-1 labels of mean 1/5 and epsilon = 1 the noise is a tenth of the variance only at "
          "4.02e9 records", hypotheses=(), says="4.02e9", check=judge_large,
    flips=(Flip("a million", "1.00e6", Verdict.REFUTED),), expected="HOLDS PROVED",
)
pate = unchecked(
    "pate", "Subsample & Aggregate: PATE", "PATE uses subsample and aggregate just to label a public data set",
    "Use S&A just to label a public dataset", "what another paper does; its text is not among the documents",
    severity=Stake.EDITORIAL,
)
