r"""Corollary 4.3 and Remark 5 of document 003: exponents of N.

lambda_i = i^-r: D_eff is of the order of (eta N)^{1/r}, D_pri of (eta N)^{(1+r)/r}; the start (bounded) contributes
1/(eta N), label noise D_eff/N, private noise f^2 D_pri/N. With eta = N^-h and f = N^-k the exponents are h - 1,
(1-h)/r - 1 and (1-h)(1+r)/r - 1 - 2k. For a fixed f (k = 0) h = (1+r)/(1+2r) makes the first and the last equal,
-r/(1+2r), the second one is below; without noise h = 1/(1+r) gives -r/(1+r) twice; and with f = 1/sqrt(N) (k = 1/2, a
fixed epsilon by Theorem 4.1's formula) the private exponent at h = 1/(1+r) is -1: the whole has -r/(1+r). The
corollary has 1/epsilon for f: an upper bound for Theorem 4.1's smaller f, and the right order for a fixed f.

lambda_i = e^-i: k* = ln(eta N), D_eff of that order, D_pri of order eta N; 1/(eta N), ln(eta N)/N and f^2 eta. The
corollary drops the logarithm: right for a tilde over O, which the scan may hide, and wrong for O: by thm-4.4 the risk
without private noise at a constant eta is at least (3/512)(1 - N^-2) sigma^2 k*/N, k* = floor(ln(eta N)), and no
multiple of 1/N.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import sympy
from flint import arb, ctx

from oracle.core.domain import Parameter
from theorems.claim import Claim, Flip, Repair, Stake, Whose
from theorems.given import Domain
from theorems.glmtron.utility.ground import rational
from theorems.tools.readings import reading
from theorems.tools.refutations import refuted_by
from theorems.tools.studied import study_step
from theorems.tools.symbolic_signs import never_negative, positive, vanishes
from theorems.verdict import Finding, ProofStep, Verdict, argued, computed, proof, refuted, sampled

_TERMS = "exponents of start, variance and private noise: h - 1, (1-h)/r - 1, (1-h)(1+r)/r - 1 - 2k"
Exponent = Callable[[Any], Any]


def exponents(r: Any, h: Any, k: Any) -> tuple[Any, Any, Any]:
    """The three exponents of N at eta = N^-h, f = N^-k."""
    return h - 1, (1 - h) / r - 1, (1 - h) * (1 + r) / r - 1 - 2 * k


def judge_rate(k: Fraction, cooling: Exponent, *studies: str) -> Callable[[Exponent, Domain], Finding]:
    """Whether the largest of the three exponents is says(r) at eta = N^-cooling(r), and no eta makes it smaller."""

    def judge(says: Exponent, given: Domain) -> Finding:
        tried = 0
        for r in given.values("r"):
            best = max(exponents(r, cooling(r), k))
            tried += 1
            if best != says(r):
                return refuted("another exponent", {"r": r, "f": f"N^-{k}", "eta": f"N^-{cooling(r)}", "exponent": best,
                    "claimed": says(r)})
        r_ = given.chart("r")
        bias, variance, private = exponents(r_, cooling(r_), rational(k))
        claimed = says(r_)
        other, equal = (private, variance) if k else (variance, private)
        return proof(
            computed(f"{_TERMS}: two are equal to what is claimed and the third is no larger",
                     vanishes(bias - claimed, equal - claimed) and never_negative(sympy.together(claimed - other))),
            argued("the first rises with h and the other two fall: where they meet the largest is least; sums over "
                   "the spectrum are of "
                   "the order of their integrals"),
            *[study_step(name) for name in studies], tried=tried,
        )

    return judge


def judge_formula(says: Callable[[Any, Any], Any], given: Domain) -> Finding:
    """Whether says(r, k) is the exponent of N^{-r/(1+r)} (f^2 N^{r/(1+r)})^{r/(1+2r)}, f = N^-k.

    The choice of the proof, eta = min(N^{-1/(1+r)}, N^{-(1+r)/(1+2r)} f^{-2r/(1+2r)}), makes 1/(eta N) that order.
    """
    tried = 0
    for point in given.points("r", "k"):
        r, k = point["r"], point["k"]
        h = (1 + r) / (1 + 2 * r) - 2 * r * k / (1 + 2 * r)
        true = exponents(r, h, k)[0]
        tried += 1
        if says(r, k) != true:
            return refuted("another exponent", {"r": r, "k": k, "exponent": true, "claimed": says(r, k)})
    r_, k_ = given.chart("r"), given.symbol("k")
    h_ = (1 + r_) / (1 + 2 * r_) - 2 * r_ * k_ / (1 + 2 * r_)
    bias, variance, private = exponents(r_, h_, k_)
    powers = -r_ / (1 + r_) + (r_ / (1 + r_) - 2 * k_) * r_ / (1 + 2 * r_)
    return proof(
        computed("the printed product of powers has that exponent", vanishes(says(r_, k_) - powers)),
        computed("start and private term meet there: h - 1 = (1-h)(1+r)/r - 1 - 2k", vanishes(bias - private,
            bias - powers)),
        computed("the variance is below while 2k <= r/(1+r)", vanishes(
            sympy.simplify(bias - variance - (r_ / (1 + r_) - 2 * k_) * (1 + r_) / (1 + 2 * r_)))),
        argued("beyond 2k = r/(1+r) the first step size is the smaller one, and N^{-r/(1+r)} the larger term; "
               "1/epsilon is at least the "
               "f of Theorem 4.1 up to a factor log(N/delta)/sqrt(N)"),
        *[study_step(f"glmtron-power-{r}-constant") for r in ("1.5", "2", "3")],
        *[study_step(f"glmtron-power-{r}-nonprivate") for r in ("1.5", "2", "3")], tried=tried,
    )


def judge_exponential(says: Any, given: Domain) -> Finding:
    """Whether the risk without private noise is at most O(N^-1 ln(N)^says) at a constant step size: 0 or 1."""
    sizes = given.values("N", most=10**12)
    with ctx.workprec(80):
        least = [(n, 3 * (1 - arb(1) / n**2) / 512 * (arb(n) / 6).log().floor() / (arb(n).log() ** int(says)))
            for n in sizes if n > 10]
    study = study_step("glmtron-exponential-nonprivate" if says >= 1 else "glmtron-exponential-nonprivate-printed")
    steps: tuple[ProofStep, ...]
    if says < 1:
        n, value = least[-1]
        steps = (
            sampled("(3/512)(1 - N^-2) floor(ln(eta N)), a lower bound of N times the risk at sigma = 1, rises along "
                     "the lengths tried",
                     all(bool(b >= a) for (_, a), (_, b) in itertools.pairwise(least))
                     and bool(value > 0)),
            sampled(study.words, study.passed is False),
            argued("by thm-4.4 the risk is at least that, and ln(eta N) has no bound"),
        )
        return refuted_by("N times the risk has no bound", {
            "lambda_i": "e^-i", "eta": "1/6", "sigma": 1, "N": n,
            "N times the risk, at least": f"{float(value.mid()):.4f}",
            "k*": int(float((arb(n) / 6).log().floor().mid()))}, *steps)
    return proof(
        sampled("the lower bound over ln N stays below 3/512", all(bool(value <= arb(3) / 512) for _, value in least)),
        argued("by thm-4.2-reading-fixed: bias 1/(eta N), variance 6 sigma^2 (k* + sum_{i > k*} (eta N)^2 e^(-2i))/N, "
               "k* <= ln(eta N), and "
               "the tail sum is at most e^2/(e^2 - 1)"),
        study, study_step("glmtron-exponential-constant"), study_step("glmtron-exponential-falling"), tried=len(least),
    )


def judge_budget(says: Callable[[Any], Any], given: Domain) -> Finding:
    """Whether Theorem 4.1 admits a budget of N^says(r): epsilon = O(sqrt(log(N/delta)/N)), exponent -1/2 up to logs."""
    tried = 0
    for r in given.values("r"):
        tried += 1
        if says(r) > Fraction(-1, 2):
            with ctx.workprec(60):
                n = arb(10) ** 12
                admitted = 1000 * (n.log() * arb("2.1") / n).sqrt()
            return refuted_by("Theorem 4.1 needs a smaller budget", {
                "r": r, "exponent of epsilon": says(r), "admitted": "-1/2", "N": "10^12", "delta": "N^-1.1",
                "1000 sqrt(log(N/delta)/N)": f"{float(admitted.mid()):.5f}"},
                computed("even with the constant 1000 the admitted budget is below 1 at N = 10^12", bool(admitted < 1)),
                argued("and it falls to 0, whatever the constant"))
    r_ = given.chart("r")
    bias = exponents(r_, (1 + r_) / (1 + 2 * r_), 0)[0]
    return proof(
        computed("the exponent of epsilon is at most -1/2", never_negative(-sympy.Rational(1, 2) - says(r_))),
        computed("f = log(N/delta)/(epsilon sqrt N) is then constant up to logs, and the rate N^{-r/(1+2r)}", vanishes(
            bias + r_ / (1 + 2 * r_))),
        argued("the condition of Theorem 4.1 up to logarithms"), tried=tried,
    )


def judge_algebra(says: tuple[Exponent, Exponent], given: Domain) -> Finding:
    """Whether Corollary 4.3 gives exponents says[0](r) at epsilon = 1 and says[1](r) at epsilon = N^{r/(2+2r)}."""
    tried = 0
    for r in given.values("r"):
        for claimed, k in zip(says, (Fraction(0), r / (2 + 2 * r)), strict=True):
            true = -r / (1 + r) + max(Fraction(0), (r / (1 + r) - 2 * k) * r / (1 + 2 * r))
            tried += 1
            if claimed(r) != true:
                return refuted("the corollary gives another exponent", {"r": r, "epsilon": f"N^{k}", "exponent": true,
                    "claimed": claimed(r)})
    r_ = given.chart("r")
    return proof(computed("-r/(1+r) + (r/(1+r) - 2k) r/(1+2r) at k = 0 and at k = r/(2+2r)", vanishes(
        says[0](r_) + r_ / (1 + r_) - r_ / (1 + r_) * r_ / (1 + 2 * r_), says[1](r_) + r_ / (1 + r_))), tried=tried)


def judge_monotone(says: tuple[Exponent, Exponent], given: Domain) -> Finding:
    """Whether both exponents of decay rise with r."""
    for rate in says:
        for r in given.values("r"):
            if not rate(r) < rate(r + 1):
                return refuted("it does not rise", {"r": r, "exponent": rate(r), "at r + 1": rate(r + 1)})
    r_ = given.chart("r")
    (free,) = r_.free_symbols
    true = (r_ / (1 + r_), r_ / (1 + 2 * r_))
    return proof(
        computed("their derivatives are positive", all(positive(sympy.together(sympy.diff(rate(r_), free)))
            for rate in says)),
        computed("they are r/(1+r) and r/(1+2r)", vanishes(*(rate(r_) - own for rate, own in zip(says, true,
            strict=True)))),
    )


_R = Parameter("r", low=Fraction(1), low_open=True)
_POLY = ("1. If the spectrum of H satisfies A\\, = k:_’\"jor some r > 1, then with probability at least\n1 — 1/N, the "
         "utility is upper bounded "
         "by O(N~ 7 (1 + (e 2N T ) 727 ).")
_EXP = ("2. If the spectrum of H satisfies \\, = e~ ¥, then with probability at least 1 — 1/N, the utility\nis upper "
        "bounded by O(N—1(1 4 "
        "(¢72N)z)).")
_REMARK = ("Specifically, a constant privacy\nbudget £ = O(1) can yield utility bounds of O(N~\"/(1+27)) for "
           "polynomial decay and O(N ~1/2)\nfor "
           "exponential decay.")
_NONPRIVATE: Exponent = lambda r: 1 / (1 + r)  # noqa: E731
_CONSTANT: Exponent = lambda r: (1 + r) / (1 + 2 * r)  # noqa: E731
_RESTS = ("glmtron/thm-4.2-reading-fixed", "glmtron/thm-4.4")

poly = Claim(
    id="glmtron/cor-4.3-poly", source="003, Corollary 4.3, part 1, f = 1/epsilon = N^-k", quote=_POLY,
    whose=Whose.PRINTED,
    severity=Stake.UTILITY, statement=r"O\left(N^{-r/(1+r)} \left(1 + (\varepsilon^{-2} "
                                      r"N^{r/(1+r)})^{r/(1+2r)}\right)\right)",
    words="for lambda_i = i^-r the risk is of the order N^(-r/(1+r)) (1 + (f^2 N^(r/(1+r)))^(r/(1+2r))) with "
          "1/epsilon for f: the right "
          "order for a fixed f, loose for that of Theorem 4.1",
    hypotheses=(_R, Parameter("k", low=Fraction(0))), says=lambda r, k: -r / (1 + 2 * r) - 2 * k * r / (1 + 2 * r),
    check=judge_formula,
    expected="HOLDS ARGUED", uses=("glmtron/thm-4.2",), rests_on=_RESTS,
    flips=(Flip("N^(-r/(1+r)) throughout", lambda r, k: -r / (1 + r), Verdict.REFUTED),),
    true_variants={"any k": "an identity of exponents"},
)
poly_fixed = Claim(
    id="glmtron/cor-4.3-poly-constant", source="003, Corollary 4.3, part 1, at a fixed f", quote=_POLY,
    whose=Whose.READING,
    severity=Stake.UTILITY, statement=r"f = \Theta(1),\ \eta = N^{-(1+r)/(1+2r)}: \quad N^{-r/(1+2r)}",
    words="for a fixed noise multiplier the best exponent is -r/(1+2r)", hypotheses=(_R,), says=lambda r: -r / (
        1 + 2 * r),
    check=judge_rate(Fraction(0), _CONSTANT, "glmtron-power-1.5-constant", "glmtron-power-2-constant",
        "glmtron-power-3-constant"),
    expected="HOLDS ARGUED", rests_on=_RESTS, flips=(Flip("-r/(1+r)", lambda r: -r / (1 + r), Verdict.REFUTED),),
)
target = Claim(
    id="glmtron/fitted-slope-target", source="003, Corollary 4.3 with Theorem 4.1's f at a fixed epsilon: f of order "
                                             "1/sqrt(N)",
    severity=Stake.UTILITY, statement=r"f = \Theta(N^{-1/2}),\ \eta = N^{-1/(1+r)}: \quad N^{-r/(1+r)}",
    words="for a noise multiplier that falls as 1/sqrt(N) the whole risk has the exponent -r/(1+r): the private part, "
          "1/N, is smaller",
    hypotheses=(_R,), says=lambda r: -r / (1 + r),
    check=judge_rate(Fraction(1, 2), _NONPRIVATE, "glmtron-power-1.5-falling", "glmtron-power-2-falling",
        "glmtron-power-3-falling"),
    expected="HOLDS ARGUED", rests_on=_RESTS, flips=(Flip("-2r/(1+2r)", lambda r: -2 * r / (1 + 2 * r),
        Verdict.REFUTED),),
)
exponential = Claim(
    id="glmtron/cor-4.3-exp", source="003, Corollary 4.3, part 2, without private noise", quote=_EXP,
    whose=Whose.PRINTED, severity=Stake.UTILITY,
    statement=r"O(N^{-1}(1 + (\varepsilon^{-2}N)^{1/2}))", hypotheses=(Parameter("N", kind="integer", low=Fraction(
        10**3)),), says=None, check=None,
    words="for lambda_i = e^-i the risk is O((1 + sqrt(N)/epsilon)/N), with a logarithm hidden or not",
    expected="AMBIGUOUS ARGUED",
    readings=("glmtron/cor-4.3-exp-reading-O", "glmtron/cor-4.3-exp-reading-tilde"),
)
plain = reading(
    exponential, "O", words="for lambda_i = e^-i and epsilon growing the risk is O(1/N), without a logarithm", says=0,
    check=judge_exponential,
    expected="REFUTED ARGUED", repaired_by="glmtron/cor-4.3-exp-reading-tilde", rests_on=("glmtron/thm-4.4",),
    flips=(Flip("with a logarithm", 1, Verdict.HOLDS),),
)
tilde = reading(
    exponential, "tilde", words="for lambda_i = e^-i and epsilon growing the risk is O(ln N/N)", says=1,
    check=judge_exponential,
    expected="HOLDS ARGUED", rests_on=_RESTS, flips=(Flip("without the logarithm", 0, Verdict.REFUTED),),
    true_variants={"one more": "another logarithm is weaker"},
    survivors={"any N": "the lengths are sampled; the argument is for all"},
)
budget = Claim(
    id="glmtron/remark-5", source="003, Remark 5: constant and growing budgets, for private DP-GLMtron", quote=_REMARK,
    whose=Whose.PRINTED,
    severity=Stake.UTILITY, statement=r"\varepsilon = O(1) \text{ and } \varepsilon = O(N^{r/(2+2r)}) \text{ are "
                                      r"admitted}",
    words="Corollary 4.3 may be used with a constant budget", hypotheses=(_R,), says=lambda r: 0 * r,
    check=judge_budget,
    expected="REFUTED ARGUED", uses=("glmtron/cor-4.3-poly",),
    repair=Repair(
        statement=r"\varepsilon = \Theta(N^{-1/2}) \text{ up to logs}: \quad N^{-r/(1+2r)}",
        words="the largest budget that Theorem 4.1 admits is N^(-1/2) up to logarithms; there f is constant and the "
              "rate is N^(-r/(1+2r))",
        says=lambda r: 0 * r - Fraction(1, 2), expected="HOLDS ARGUED", rests_on=("glmtron/cor-4.3-poly-constant",),
        true_variants={"1 % more": "a smaller budget is admitted, too", "1 -> 2 *": "likewise",
                       "any r": "no r enters the condition"},
    ),
)
algebra = Claim(
    id="glmtron/remark-5-algebra", source="003, Remark 5: the exponents that Corollary 4.3 gives", quote=_REMARK,
    whose=Whose.PRINTED,
    severity=Stake.UTILITY, statement=r"\varepsilon = 1: N^{-r/(1+2r)}; \quad \varepsilon = N^{r/(2+2r)}: N^{-r/(1+r)}",
    words="Corollary 4.3 gives N^(-r/(1+2r)) at epsilon = 1 and N^(-r/(1+r)) at epsilon = N^(r/(2+2r))", hypotheses=(_R,
        ),
    says=(lambda r: -r / (1 + 2 * r), lambda r: -r / (1 + r)), check=judge_algebra, expected="HOLDS PROVED",
    flips=(Flip("exchanged", (lambda r: -r / (1 + r), lambda r: -r / (1 + 2 * r)), Verdict.REFUTED),),
)
monotone = Claim(
    id="glmtron/remark-5-monotone", source="003, Remark 5: faster decay, smaller risk (as a statement about exponents)",
    whose=Whose.PRINTED,
    quote="Notably, faster eigenvalue decay (e.g. » = 2, 3) consistently resulted in lower\nexcess risk compared to "
          "slower decay",
    severity=Stake.UTILITY, statement=r"\frac{r}{1+r} \text{ and } \frac{r}{1+2r} \text{ rise with } r",
    words="the exponents r/(1+r) and r/(1+2r) rise with r: 2/3 and 2/5 at r = 2, 3/4 and 3/7 at r = 3", hypotheses=(_R,
        ),
    says=(lambda r: r / (1 + r), lambda r: r / (1 + 2 * r)), check=judge_monotone, expected="HOLDS PROVED",
    flips=(Flip("falling", (lambda r: 1 / (1 + r), lambda r: r / (1 + 2 * r)), Verdict.REFUTED),),
)
