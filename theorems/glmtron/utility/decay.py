r"""Spectra that decay, in document 003: dimensions that do not depend on d, and the second part of Corollary 4.3.

lambda_i = i^-r, kappa = (eta N)^{1/r} >= 1, k* = floor(kappa), K = k* + 1 > kappa. A falling function adds up to at
most its first term and its integral: with p = (kappa/K)^{2r} <= 1 the tail of D_eff is at most p (1 + K/(2r-1)), where
p K <= kappa as 2r >= 1; that of D_pri, with p = (kappa/K)^r kappa^r, at most kappa^r (1 + kappa/(r-1)); and the sum of
i^r up to k is at most k^r + k^{r+1}/(r+1). So for every d

    D_eff <= 1 + kappa 2r/(2r-1),    D_pri <= 2 kappa^r + kappa^{r+1} (1/(r+1) + 1/(r-1)).

lambda_i = e^-i: k* = floor(ln(eta N)), and eta N sum_{i > k*} e^-i = eta N e^{-k*-1}/(1 - 1/e) < e/(e-1) < 1.582. With
eta = N^-h, f = N^-k the start has the exponent h - 1, private noise f^2 D_pri/N, D_pri of the order eta N, has -h - 2k:
both are -1/2 - k at the proof's eta, 1/(f sqrt N), h = 1/2 - k; label noise has -1 and a logarithm.
"""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from typing import Any

import sympy
from flint import arb, ctx

from oracle.core.domain import Parameter, positive_integer
from oracle.core.enclosure import Enclosure, ball
from theorems.claim import Claim, Flip, Stake, Whose
from theorems.given import Domain
from theorems.glmtron.utility.ground import dimension
from theorems.tools.studied import study_step
from theorems.tools.symbolic_signs import never_negative, vanishes
from theorems.verdict import Finding, Verdict, argued, computed, instance, proof, refuted

Bound = Callable[[Any, Any], Any]


def judge_free(says: tuple[Bound, Bound], given: Domain) -> Finding:
    """Whether D_eff <= says[0](r, kappa) and D_pri <= says[1](r, kappa) for lambda_i = i^-r, whatever d is."""
    tried = 0
    for point in given.points("r", "kappa", "d", at_most=60, most={"r": 4, "d": 60, "kappa": 30}):
        r, kappa = point["r"], point["kappa"]
        spectrum = tuple(Fraction(1, i**r) for i in range(1, point["d"] + 1))
        for name, power, claimed in zip(("D_eff", "D_pri"), (0, 1), says, strict=True):
            true = dimension(spectrum, kappa**r, power)
            tried += 1
            if true > claimed(r, kappa):
                return refuted("the dimension is larger", {
                    "r": r, "(eta N)^(1/r)": kappa, "d": point["d"], name: true, "claimed": claimed(r, kappa)})
    r_, kappa_ = given.chart("r"), given.chart("kappa")
    power_ = sympy.Symbol("P", positive=True)  # kappa^r
    eff, pri = 1 + kappa_ + kappa_ / (2 * r_ - 1), 2 * power_ + power_ * kappa_ / (r_ + 1) + power_ * kappa_ / (r_ - 1)
    return proof(
        computed("kappa + 1 + kappa/(2r-1) is at most what is claimed of D_eff, on symbols",
                 never_negative(sympy.together(says[0](r_, kappa_) - eff))),
        computed("kappa^r + kappa^(r+1)/(r+1) + kappa^r + kappa^(r+1)/(r-1) is at most what is claimed of D_pri",
                 never_negative(sympy.expand(sympy.simplify(
                     sympy.expand(says[1](r_, kappa_)).subs(kappa_**r_, power_) / power_ - pri / power_)))
                 or vanishes(says[1](r_, kappa_) - pri.subs(power_, kappa_**r_))),
        argued("a falling function adds up to at most its first term and its integral, a rising one to its last term "
               "and its integral; (kappa/K)^s <= 1 for s >= 0"),
        tried=tried,
    )


def judge_tail(says: Any, given: Domain) -> Finding:
    """Whether eta N times the sum of e^-i beyond k* = floor(ln(eta N)) is at most says."""
    tried = 0
    with ctx.workprec(100):
        for reach in given.values("reach"):
            cut = int(float(ball(reach).log().floor().mid()))
            true = ball(reach) * (-arb(cut + 1)).exp() / (1 - arb(-1).exp())
            tried += 1
            if true > ball(Fraction(says)):
                return refuted("the tail is larger", {
                    "eta N": reach, "k*": cut, "eta N times the tail": Enclosure.of_ball(true), "claimed": says})
        most = 1 / (1 - arb(-1).exp())
        enough = bool(most <= ball(Fraction(says)))
    q, cut_ = sympy.symbols("q k", positive=True)
    return proof(
        computed("q^(k+1)/(1-q) less q^(k+1) is q^(k+2)/(1-q): it is the sum of the powers beyond k, q = 1/e",
                 vanishes(q ** (cut_ + 1) / (1 - q) - q ** (cut_ + 1) - q ** (cut_ + 2) / (1 - q))),
        computed("eta N < e^(k*+1): it is below 1/(1 - 1/e), which is at most what is claimed, certified", enough),
        tried=tried,
    )


def judge_exponent(says: Callable[[Any], Any], given: Domain) -> Finding:
    """Whether start and private noise have the exponent says(k) at eta = 1/(f sqrt N), f = N^-k, lambda_i = e^-i."""
    tried = 0
    for k in given.values("k"):
        h = Fraction(1, 2) - k
        tried += 1
        if not h - 1 == -h - 2 * k == says(k):
            return refuted("another exponent", {
                "f": f"N^-{k}", "eta": f"N^-{h}", "exponent": h - 1, "claimed": says(k)})
    k_ = given.chart("k")
    h_ = sympy.Rational(1, 2) - k_
    return proof(
        computed("h - 1 = -h - 2k = -1 + (1 - 2k)/2 at h = 1/2 - k, which is what is claimed", vanishes(
            h_ - 1 + h_ + 2 * k_, h_ - 1 - says(k_), h_ - 1 + 1 - (1 - 2 * k_) / 2)),
        computed("label noise, -1, is no larger for k up to 1/2", never_negative(sympy.together(h_))),
        argued("D_pri is of the order of eta N and D_eff of its logarithm, sums of a geometric series; the start is "
               "1/(eta N) by thm-4.2-reading-fixed"),
        study_step("glmtron-exponential-constant"), study_step("glmtron-exponential-falling"), tried=tried,
    )


def judge_algebra(says: tuple[Any, Any], given: Domain) -> Finding:
    """Whether N^-1 (1 + (epsilon^-2 N)^(1/2)) has the exponents says[0] at epsilon = 1 and says[1] at N^(1/2)."""
    for claimed, k in zip(says, (Fraction(0), Fraction(1, 2)), strict=True):
        true = -1 + max(Fraction(0), (1 - 2 * k) / 2)
        if claimed != true:
            return refuted("another exponent", {"epsilon": f"N^{k}", "exponent": true, "claimed": claimed})
    return instance("-1 + max(0, (1 - 2k)/2) at k = 0 and at k = 1/2", {"exponents": says})


_FREE = (Parameter("r", kind="integer", low=Fraction(2)), Parameter("kappa", low=Fraction(1), meaning="(eta N)^(1/r)"),
         positive_integer("d"))
dimension_free = Claim(
    id="glmtron/abstract-dimension-free", source="003, abstract, Sections 1 and 4: independent of d, here for i^-r",
    quote="Notably, our findings suggest that the utility bound could be independent\nof the dimension d, even when "
          "d > N.",
    whose=Whose.PRINTED, severity=Stake.UTILITY,
    statement=r"\lambda_i = i^{-r},\ \kappa = (\eta N)^{1/r}: \quad D_{eff} \le 1 + \tfrac{2r}{2r-1}\kappa,\quad "
              r"D^{pri}_{eff} \le 2\kappa^r + \kappa^{r+1}\left(\tfrac1{r+1} + \tfrac1{r-1}\right) \text{ for all } d",
    words="on a spectrum i^-r both effective dimensions are bounded by functions of eta N and r alone, whatever d is",
    hypotheses=_FREE, says=(lambda r, kappa: 1 + kappa * 2 * r / (2 * r - 1),
                            lambda r, kappa: 2 * kappa**r + kappa**r * kappa / (r + 1) + kappa**r * kappa / (r - 1)),
    check=judge_free, expected="HOLDS ARGUED", rests_on=("glmtron/effective-dimensions",),
    flips=(Flip("D_eff at most kappa/2", (lambda r, kappa: kappa / 2, lambda r, kappa: 3 * kappa ** (2 * r)),
                Verdict.REFUTED),),
    true_variants={"?0? 1 % more": "a weaker bound", "?0? squared": "a weaker bound", "?0? 1 -> 2 *": "a weaker bound",
                   "?0? * -> + (operator 3)": "a weaker bound", "?0? / -> * (operator 5)": "a weaker bound",
                   "any d": "no d enters the bound"},
)
tail = Claim(
    id="glmtron/cor-4.3-exp-tail", source="003, proof of Corollary 4.3, part 2: k* = log(N eta) and the tail sum",
    quote="2. If A\\, = e~%, we have k* = log(N7), then:", whose=Whose.PRINTED, severity=Stake.PROOF,
    statement=r"N\eta \sum_{i > k^*} e^{-i} \le 2,\quad k^* = \lfloor\ln(N\eta)\rfloor",
    words="N eta times the sum of e^-i beyond k*, the integer part of ln(N eta), is at most 2",
    hypotheses=(Parameter("reach", low=Fraction(1), meaning="eta N"),), says=Fraction(2), check=judge_tail,
    expected="HOLDS PROVED", flips=(Flip("one", Fraction(1), Verdict.REFUTED),),
    true_variants={"1 % *": "1.582 would do", "one more": "a larger bound is weaker"},
)
private = Claim(
    id="glmtron/cor-4.3-exp-private", source="003, Corollary 4.3, part 2: the private term at the proof's step size",
    quote="If we choose the following step size 77 ~ min{1, TN f} then we complete our results:", whose=Whose.PRINTED,
    severity=Stake.UTILITY,
    statement=r"\lambda_i = e^{-i},\ f = N^{-k},\ \eta = 1/(f\sqrt N): \quad \tfrac{1}{\eta N},\ f^2 D_{pri}/N = "
              r"\Theta(N^{-1/2-k}) = \Theta(N^{-1}(f^2N)^{1/2})",
    words="for lambda_i = e^-i and f = N^-k, k up to 1/2, start and private noise have the exponent -1/2 - k at eta = "
          "1/(f sqrt N), that of N^-1 (f^2 N)^(1/2)",
    hypotheses=(Parameter("k", low=Fraction(0), high=Fraction(1, 2)),), says=lambda k: -k - Fraction(1, 2),
    check=judge_exponent, expected="HOLDS ARGUED", rests_on=("glmtron/thm-4.2-reading-fixed",),
    flips=(Flip("-1/2 for every f", lambda k: -Fraction(1, 2), Verdict.REFUTED),),
)
algebra = Claim(
    id="glmtron/remark-5-algebra-exp", source="003, Remark 5: the exponents of Corollary 4.3, part 2",
    whose=Whose.PRINTED,
    quote="Specifically, a constant privacy\nbudget £ = O(1) can yield utility bounds of O(N~\"/(1+27)) for polynomial "
          "decay and O(N ~1/2)\nfor exponential decay.", severity=Stake.UTILITY,
    statement=r"\varepsilon = 1: N^{-1/2}; \quad \varepsilon = N^{1/2}: N^{-1}",
    words="the second part of Corollary 4.3 gives N^(-1/2) at epsilon = 1 and N^(-1) at epsilon = N^(1/2)",
    hypotheses=(), says=(-Fraction(1, 2), Fraction(-1)), check=judge_algebra, expected="HOLDS PROVED",
    flips=(Flip("exchanged", (Fraction(-1), -Fraction(1, 2)), Verdict.REFUTED),),
)
