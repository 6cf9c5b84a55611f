r"""Lemma 3 of document 002: the excess risk is at most 2G times the excess of the surrogate, and when it is equal.

Let u = <w*, x>, v = <w, x>, u < v (for v < u reflect both), and r = sigma(v) - sigma(u) >= 0. As E[y|x] = sigma(u),
the surrogate's excess given x is int_u^v (sigma(z) - sigma(u)) dz. The integrand is at least 0, since the link does not
fall, and at least r - G (v - z), since it is G-Lipschitz: at least their maximum, whose integral is r^2/(2G). The
excess risk given x is r^2, so L(w) - L(w*) <= 2G (l(w) - l(w*)).

Equality. Both sides are expectations over x of quantities of which one is never below the other, so equality means
equality for almost every x. There it means that two continuous functions, one never below the other, have the same
integral, so they agree on [u, v]: sigma(z) = sigma(u) + max(0, r - G (v - z)). So the bound is an equality if and only
if, for almost every x, the link is constant on the first part of the way from <w*, x> to <w, x> and has the slope G (in
size) on the rest. A clip link with all scores on its ramp has it for every w; sigmoid and tanh, whose slope is G at one
point only, never, unless the scores of w and w* agree for almost every x.

The document divides by sigma'(z) inside the integral, which is 0/0 where the link is flat; the argument above does not.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import sympy

from oracle.core.domain import non_negative_integer, positive, positive_integer, unit_interval
from theorems.claim import Claim, Flip, Stake, Whose
from theorems.given import Domain
from theorems.tools.leading_points import led
from theorems.tools.symbolic_signs import never_negative, vanishes
from theorems.verdict import Finding, Verdict, argued, computed, proof, refuted

Slopes = tuple[Fraction, ...]


def gaps(slopes: Slopes) -> tuple[Fraction, Fraction]:
    """The excess of the surrogate and of the risk, u = 0, for a link with these slopes on pieces of length 1."""
    level = surrogate = Fraction(0)
    for slope in slopes:
        surrogate += level + slope / 2
        level += slope
    return surrogate, level**2


def judge_factor(says: Callable[[Any], Any], given: Domain) -> Finding:
    """Whether the excess risk is at most says(G) times that of the surrogate, for every non-decreasing link."""
    tried = 0
    for steep in given.values("G"):
        for slopes in itertools.product((Fraction(0), steep / 2, steep), repeat=3):
            surrogate, risk = gaps(slopes)
            tried += 1
            if says(steep) * surrogate < risk:
                return refuted("a link has a larger excess risk", {
                    "G": steep, "slopes on pieces of length 1": ", ".join(map(str, slopes)),
                    "excess of the surrogate": surrogate, "excess risk": risk, "claimed factor": says(steep)})
    steep_, length = given.symbol("G"), sympy.symbols("p", positive=True)
    flat, (z, s, t, y) = sympy.symbols("q", nonnegative=True), sympy.symbols("z s t y", real=True)
    rise = steep_ * length / (1 + flat)  # r <= G p
    envelope = sympy.integrate(rise - steep_ * (length - z), (z, length - rise / steep_, length))
    excess = sympy.expand((s - y) ** 2 - (t - y) ** 2)
    return proof(
        computed("given x the excess risk is r^2: (s - y)^2 - (t - y)^2 is linear in y, and (s - t)^2 at y = t",
                 vanishes(excess.subs(y, t) - (s - t) ** 2, sympy.diff(excess, y, 2))),
        computed("max(0, r - G (v - z)) has the integral r^2/(2G), for every r <= G (v - u)",
                 vanishes(envelope - rise**2 / (2 * steep_))),
        computed("the claimed factor times that is at least r^2",
                 never_negative(says(steep_) * rise**2 / (2 * steep_) - rise**2)),
        argued("sigma(z) - sigma(u) is at least that maximum: the link does not fall, and rises no faster than G; "
               "expectations over x keep the order"),
        tried=tried,
    )


def judge_equality(says: Callable[[Any, Any, Any], Any], given: Domain) -> Finding:
    """Whether Lemma 3 is an equality exactly for the links sigma(z) = sigma(u) + says(v - z, r, G) between the scores.

    Links of four pieces of length 1 are compared with that one at the ends and the middles of their pieces.
    """
    tried = 0
    for steep in given.values("G"):
        for slopes in itertools.product((Fraction(0), steep / 3, steep), repeat=4):
            surrogate, risk = gaps(slopes)
            rise, half = sum(slopes, Fraction(0)), [slope / 2 for slope in slopes for _ in (0, 1)]
            levels = [*itertools.accumulate(half, initial=Fraction(0))]
            claimed = [says(Fraction(8 - at, 2), rise, steep) for at in range(9)]
            tried += 1
            if (levels == claimed) != (2 * steep * surrogate == risk):
                return refuted("another link has equality, or this one has not", {
                    "G": steep, "slopes on pieces of length 1": ", ".join(map(str, slopes)),
                    "2G times the surrogate's excess": 2 * steep * surrogate, "excess risk": risk})
    steep_, (rise_, more, left) = given.symbol("G"), sympy.symbols("r p q", positive=True)
    return proof(
        computed("the claimed link is flat further than r/G before the end, and has the slope G from there on",
                 vanishes(says(rise_ / steep_ + more, rise_, steep_),
                          says(rise_ / steep_ / (1 + left), rise_, steep_) - rise_ * left / (1 + left))),
        argued("equality for almost every x, and there of the integrals of two continuous functions one of which is "
               "never below the other: they agree"),
        tried=tried,
    )


def judge_display(says: Callable[[Any, Any], Any], given: Domain) -> Finding:
    """Whether says(slope, rise) is the integrand `rise` for every slope of the link that the assumption allows."""
    for slope in given.values("slope"):
        try:
            value = says(slope, Fraction(1))
        except ZeroDivisionError:
            return refuted("the integrand of the display is 0/0 where the link is flat", {
                "slope of the link": slope, "sigma(z) - sigma(<w*, x>)": 1, "numerator": 0, "denominator": slope})
        if value != 1:
            return refuted("another integrand", {"slope of the link": slope, "sigma(z) - sigma(<w*, x>)": 1,
                                                 "claimed": value})
    rise = sympy.symbols("r", real=True)
    return proof(computed("the integrand, on symbols", vanishes(says(given.chart("slope"), rise) - rise)))


def _axis(dimension: int, at: int) -> str:
    """A unit vector, or 0, as a witness writes it."""
    return f"({', '.join(str(int(i == at)) for i in range(dimension))})"


def judge_minimiser(says: Callable[[Any, Any], Any], given: Domain) -> Finding:
    """Whether w* is a minimiser of the surrogate, and the minimisers are a space of says(d, rank) dimensions.

    Records e_1, ..., e_rank in d dimensions and a link that rises at their scores: minimisers have those scores.
    """
    tried = 0
    for point in led(given, rank=1, more=1, most={"rank": 6, "more": 6}):
        rank, d = point["rank"], point["rank"] + point["more"]
        free = len(sympy.Matrix(rank, d, lambda i, j: int(i == j)).nullspace())
        tried += 1
        if says(d, rank) != free:
            return refuted("other models have the same scores, hence the same surrogate risk, and no others", {
                "x": _axis(d, 0), "records": f"e_1 to e_{rank}, here {rank}", "w*": _axis(d, -1), "w": _axis(d, d - 1),
                "dimensions of the minimisers": free, "claimed": says(d, rank)})
    slope, apart, step = sympy.symbols("s p h", nonnegative=True)
    rank_, more_ = given.chart("rank"), given.symbol("more")
    return proof(
        computed("on either side of <w*, x> the integrand sigma(z) - sigma(<w*, x>) has the sign of the way: the "
                 "excess is an integral of slope times distance", never_negative(slope * apart * step)),
        computed("d - rank is what is claimed, on symbols", vanishes(says(rank_ + more_, rank_) - more_)),
        argued("E[y|x] = sigma(<w*, x>), so that the excess given x is that integral; its mean over x is not negative, "
               "and 0 only if the scores agree almost surely: models apart by a vector orthogonal to all records"),
        tried=tried,
    )


lemma_3 = Claim(
    id="nonconvex-nn/lem-3", source="002, Lemma 3 (Kakade et al. 2011; proved here)",
    quote=(
        r"For any $w \in \mathbb{R}^d$, we have $L_{\mathcal{P}}(w) - L_{\mathcal{P}}(w^*) \leq "
        r"2G(L_{\mathcal{P}}^{\ell}(w) - L_{\mathcal{P}}^{\ell}(w^*))$."
    ),
    whose=Whose.PRINTED, severity=Stake.UTILITY,
    statement=r"L_{\mathcal{P}}(w) - L_{\mathcal{P}}(w^*) \le 2G(L^\ell_{\mathcal{P}}(w) - L^\ell_{\mathcal{P}}(w^*))",
    words="the excess risk is at most 2G times the excess of the surrogate, for every non-decreasing G-Lipschitz link",
    hypotheses=(positive("G"),), says=lambda steep: 2 * steep, check=judge_factor,
    flips=(Flip("G", lambda steep: steep, Verdict.REFUTED),
           Flip("199 G/100", lambda steep: Fraction(199, 100) * steep, Verdict.REFUTED)),
    uses=("nonconvex-nn/lem-3-division",),
    rests_on=("nonconvex-nn/asm-1-repaired", "nonconvex-nn/eq-1-noise-conditional"),
    true_variants={"1 % more": "a larger factor is one, too", "2 -> 3*": "a larger factor is one, too",
                   "any G": "no link has a negative Lipschitz constant"},
    expected="HOLDS ARGUED",
)
equality = Claim(
    id="nonconvex-nn/lem-3-equality", source="a finding of ours: when 002, Lemma 3 is an equality",
    statement=r"= \iff \text{a.e. } x:\ \sigma(z) = \sigma(u) + \max(0, r - G|v - z|) \text{ between } u ="
              r" \langle w^*,x\rangle \text{ and } v = \langle w,x\rangle,\ r = |\sigma(v) - \sigma(u)|",
    words="Lemma 3 is an equality if and only if, for almost every x, the link is flat on the first part of the way "
          "from <w*, x> to <w, x> and has the slope G on the rest",
    severity=Stake.UTILITY,
    hypotheses=(positive("G"),),
    says=lambda left, rise, steep: sympy.Max(0, rise - steep * left), check=judge_equality,
    flips=(
        Flip("half the slope", lambda left, rise, steep: sympy.Max(0, rise - steep * left / 2), Verdict.REFUTED),
        Flip("the slope G from the start", lambda left, rise, steep: rise - steep * left, Verdict.REFUTED),
    ),
    rests_on=("nonconvex-nn/lem-3",),
    expected="HOLDS ARGUED",
)
division = Claim(
    id="nonconvex-nn/lem-3-division", source="002, proof of Lemma 3: the integrand is multiplied and divided by sigma'",
    quote=(
        r"\int_{\langle w^*, x \rangle}^{\langle w, x \rangle} \frac{\sigma'(z)(\sigma(z) - \sigma(\langle w^*, x "
        r"\rangle))}{\sigma'(z)} dz"
    ),
    whose=Whose.PRINTED, severity=Stake.PROOF,
    statement=r"\sigma(z) - \sigma(u) = \frac{\sigma'(z)(\sigma(z) - \sigma(u))}{\sigma'(z)}",
    words="the integrand may be multiplied and divided by the link's slope, which may be 0 and need not exist",
    hypotheses=(unit_interval("slope", "of the link, over G"),), says=lambda slope, rise: slope * rise / slope,
    check=judge_display,
    flips=(Flip("the integrand itself", lambda slope, rise: rise, Verdict.HOLDS),),
    repaired_by="nonconvex-nn/lem-3",
    expected="REFUTED PROVED",
)
minimiser = Claim(
    id="nonconvex-nn/lem-3-minimiser", source="002, Section 4.1.1: w* is also the minimiser of the surrogate risk",
    quote=r"shows that the optimal parameter w^* is also the minimizer of $L_{\mathcal{P}}^\ell(\cdot)$.",
    whose=Whose.PRINTED, statement=r"w^* = \mathop{argmin}_w L^\ell_{\mathcal{P}}(w)",
    words="w* minimises the surrogate risk: as the only one, or as one of them",
    hypotheses=(positive_integer("rank", "of the records"), non_negative_integer("more", "d - rank")),
    says=None, check=None,
    readings=("nonconvex-nn/lem-3-minimiser-reading-only", "nonconvex-nn/lem-3-minimiser-reading-one"),
    expected="AMBIGUOUS ARGUED",
)
only = Claim(
    id="nonconvex-nn/lem-3-minimiser-reading-only",
    source="002, proof of Theorem 1: w_l* = w*, for w_l* the minimiser of the surrogate risk",
    quote=r"Note that by Lemma 3 we can see that $w_\ell^* = w^*$.", whose=Whose.READING,
    statement=r"\mathop{argmin}_w L^\ell_{\mathcal{P}}(w) = \{w^*\}",
    words="w* is the only minimiser of the surrogate risk",
    hypotheses=minimiser.hypotheses, says=lambda d, rank: 0 * d, check=judge_minimiser,
    flips=(Flip("not the only one", lambda d, rank: d - rank, Verdict.HOLDS),),
    repaired_by="nonconvex-nn/lem-3-minimiser-reading-one",
    expected="REFUTED PROVED",
)
one = Claim(
    id="nonconvex-nn/lem-3-minimiser-reading-one", source="002, Section 4.1.1, one minimiser of possibly many",
    quote=minimiser.quote, whose=Whose.READING,
    statement=r"\mathop{argmin}_w L^\ell_{\mathcal{P}}(w) = w^* + \{x_1, \ldots\}^\perp",
    words="w* is a minimiser of the surrogate risk, one of d - rank dimensions of them where the link rises: the proof "
          "may take w_l* = w*",
    hypotheses=minimiser.hypotheses, says=lambda d, rank: d - rank, check=judge_minimiser,
    flips=(Flip("the only one", lambda d, rank: 0 * d, Verdict.REFUTED),),
    rests_on=("nonconvex-nn/asm-1-repaired", "nonconvex-nn/eq-1-noise-conditional"),
    expected="HOLDS ARGUED",
)
