"""Lemmas D.4, D.5, D.6, the induction on C_t and the step sizes of document 003, as claims; proofs are in `moments`."""

from __future__ import annotations

from fractions import Fraction

from oracle.core.domain import Parameter, non_negative, non_negative_integer, positive, positive_integer, unit_interval
from theorems.claim import Claim, Flip, Repair, Stake, Whose
from theorems.glmtron.utility.moments import (
    judge_average,
    judge_clipped,
    judge_inverse_moment,
    judge_order,
    judge_recursion,
    judge_step_size,
    judge_variance,
)
from theorems.tools.readings import reading
from theorems.verdict import Verdict

_STEP = (positive("eta"), non_negative("variance", "sigma^2"), non_negative("clip", "Gamma"), non_negative("multiplier",
    "f"))
_D4 = ("e A, <A, — g(HAt—l + At_lH) + 7]2./\\/1 oA, 1+ 7]202H + 47]2F2f21\ne Ay - A,y — L(HA,  + A, H) + LMo Ay "
       "+n20%H + "
       "4PT2 21\nwhere Ay :=E(w; — w.)(w; —w,) |, >0")
_RELU = ("glmtron/drift-identity", "glmtron/def-3.2-well-specified")
_ETA = Parameter("eta", low=Fraction(0), high=Fraction(1), low_open=True, high_open=True)
_SYMMETRIC = {
    "any variance": "sigma^2 enters on both sides alike", "any clip": "only its square enters",
    "any multiplier": "only its square enters", "any eta": "eta enters on both sides alike, and by its square",
}

upper = Claim(
    id="glmtron/lemma-D.4", source="003, Lemma D.4, upper recursion, for steps that clip nothing", quote=_D4,
    whose=Whose.PRINTED, severity=Stake.UTILITY,
    statement=r"A_t \preceq A_{t-1} - \tfrac{\eta}{2}(HA_{t-1} + A_{t-1}H) + \eta^2 M \circ A_{t-1} + \eta^2\sigma^2 H"
              r" + 4\eta^2\Gamma^2 f^2 I",
    words="a step without clipping: second moments are at most those of the upper recursion, with the whole of eta^2 "
          "M o A",
    hypotheses=_STEP, says=lambda eta, v, clip, f: (1, -eta / 2, eta**2, eta**2 * v, 4 * eta**2 * clip**2 * f**2),
    check=judge_recursion(upper=True), expected="HOLDS ARGUED", uses=("glmtron/lemma-C.2", "glmtron/assumption-3.6"),
    rests_on=_RELU, true_variants={**_SYMMETRIC, "4 -> 5 *": "more noise is weaker"},
    flips=(Flip("a quarter of M o A", lambda eta, v, clip, f: (
        1, -eta / 2, eta**2 / 4, eta**2 * v, 4 * eta**2 * clip**2 * f**2), Verdict.REFUTED),
           Flip("a half of the noise", lambda eta, v, clip, f: (
               1, -eta / 2, eta**2, eta**2 * v, 2 * eta**2 * clip**2 * f**2), Verdict.REFUTED)),
)
halved = Claim(
    id="glmtron/lemma-D.4-half", source="003, Lemma D.4, upper recursion, sharpened", severity=Stake.UTILITY,
    statement=r"A_t \preceq A_{t-1} - \tfrac{\eta}{2}(HA_{t-1} + A_{t-1}H) + \tfrac{\eta^2}{2} M \circ A_{t-1}"
              r" + \eta^2\sigma^2 H + 4\eta^2\Gamma^2 f^2 I",
    words="a step without clipping: second moments are at most those of the recursion with half of eta^2 M o A",
    hypotheses=_STEP, says=lambda eta, v, clip, f: (1, -eta / 2, eta**2 / 2, eta**2 * v, 4 * eta**2 * clip**2 * f**2),
    check=judge_recursion(upper=True), expected="HOLDS ARGUED", rests_on=_RELU,
    true_variants={**_SYMMETRIC, "4 -> 5 *": "more noise is weaker", "/ -> ?* (operator 3)": "twice M o A is weaker"},
    flips=(Flip("a third of M o A", lambda eta, v, clip, f: (
        1, -eta / 2, eta**2 / 3, eta**2 * v, 4 * eta**2 * clip**2 * f**2), Verdict.REFUTED),),
)
lower = Claim(
    id="glmtron/lemma-D.4-lower", source="003, Lemma D.4, lower recursion, for steps that clip nothing", quote=_D4,
    whose=Whose.PRINTED, severity=Stake.UTILITY,
    statement=r"A_t \succeq A_{t-1} - \tfrac{\eta}{2}(HA_{t-1} + A_{t-1}H) + \tfrac{\eta^2}{4} M \circ A_{t-1}"
              r" + \eta^2\sigma^2 H + 4\eta^2\bar\Gamma^2 f^2 I",
    words="a step without clipping: second moments are at least those of the lower recursion, with a quarter of eta^2 "
          "M o A",
    hypotheses=_STEP, says=lambda eta, v, clip, f: (1, -eta / 2, eta**2 / 4, eta**2 * v, 4 * eta**2 * clip**2 * f**2),
    check=judge_recursion(upper=False), expected="HOLDS ARGUED", uses=("glmtron/lemma-C.2", "glmtron/assumption-3.6"),
    rests_on=_RELU, true_variants=_SYMMETRIC,
    flips=(Flip("a half of M o A", lambda eta, v, clip, f: (
        1, -eta / 2, eta**2 / 2, eta**2 * v, 4 * eta**2 * clip**2 * f**2), Verdict.REFUTED),),
)
clipping = Claim(
    id="glmtron/lemma-D.4-clipping", source="003, Lemma D.4 as stated, for DP-GLMtron with its clipping", quote=_D4,
    whose=Whose.PRINTED, severity=Stake.PROOF,
    statement=r"x = \pm 1,\ w_* = 0: \quad A_t \le (1 - \eta + \eta^2) A_{t-1} \text{ where gradients are clipped}",
    words="the upper recursion holds for steps whose gradients are clipped",
    hypotheses=(Parameter("kept", low=Fraction(0), high=Fraction(1), low_open=True,
        meaning="share of a gradient that is kept"), _ETA),
    says=lambda eta: 1 - eta + eta**2, check=judge_clipped, expected="REFUTED PROVED",
    flips=(Flip("a clipped step does not expand", lambda eta: 1 + 0 * eta, Verdict.HOLDS),),
    repair=Repair(
        statement=r"x = \pm 1,\ w_* = 0: \quad A_t \le (1 - \eta + \eta^2) A_{t-1} \text{ where nothing is clipped}",
        words="the upper recursion holds in one dimension for steps whose gradients are not clipped",
        hypotheses=(Parameter("kept", low=Fraction(1), high=Fraction(1)), _ETA), says=lambda eta: 1 - eta + eta**2,
        check=judge_clipped, expected="HOLDS PROVED",
        flips=(Flip("1 - eta", lambda eta: 1 - eta, Verdict.REFUTED),),
        true_variants={"1 % more": "a larger factor is weaker", "1 -> 2 *": "likewise", "?* -> + *": "likewise",
                       "- -> + *": "likewise", "?? -> ?* (operator 2)": "likewise",
                       "any eta": "eta^2/2 >= 0 for any eta"},
    ),
)
average = Claim(
    id="glmtron/lemma-D.5", source="003, Lemma D.5; its constants cannot be read in the scan", whose=Whose.PRINTED,
    severity=Stake.UTILITY,
    quote="For W defined in Equation (9), we have that\nN-1N-1\n\n. 1 n _\n_ ®2 < _ k—t\nN—-1N-1 1\nE(H, (Wy — w.)®2) "
          "> (1— TH)*tH, "
          "A,).\nt=0 k=t 27]N2",
    statement=r"\frac{1}{N^2} \sum_{t<N} \sum_{k=t}^{N-1} \langle (I - \tfrac{\eta}{2}H)^{k-t} H, A_t \rangle \le"
              r" E\langle H, (\bar w_N - w_*)^{\otimes 2} \rangle \le \frac{2}{N^2} \sum_{t<N} \sum_{k=t}^{N-1} \cdots",
    words="the second moment of the mean iterate is between 1/N^2 and 2/N^2 of the double sum, for eta lambda_1 <= 2",
    hypotheses=(unit_interval("q", "an eigenvalue of I - eta H/2"), non_negative_integer("later", "N - 1 - t")),
    says=(Fraction(2), Fraction(1)), check=judge_average, expected="HOLDS ARGUED", rests_on=("glmtron/drift-identity",),
    flips=(Flip("1/N^2 above", (Fraction(1), Fraction(1)), Verdict.REFUTED),
           Flip("3/2 below", (Fraction(2), Fraction(3, 2)), Verdict.REFUTED)),
    true_variants={"?0? 1 % more": "a larger upper bound is weaker", "?0? one more": "likewise",
                   "?1? 1 % less": "a smaller lower bound is weaker", "?1? sign": "likewise",
                   "any later": "a negative count of later iterates is none"},
)
average_one = reading(
    average, "one", words="the upper constant is 1/N^2, as far as the scan shows a numerator 1", says=(Fraction(1),
        Fraction(1)),
    check=judge_average, expected="REFUTED PROVED", repaired_by="glmtron/lemma-D.5", rests_on=(),
    flips=(Flip("2/N^2 above", (Fraction(2), Fraction(1)), Verdict.HOLDS),), true_variants={},
)
average_eta = reading(
    average, "eta", words="the lower constant is 1/(2 eta N^2), as the scan seems to show, here at eta = 1/10",
    says=(Fraction(10), Fraction(5)), check=judge_average, expected="REFUTED PROVED", repaired_by="glmtron/lemma-D.5",
    flips=(Flip("1/N^2 below", (Fraction(10), Fraction(1)), Verdict.HOLDS),), rests_on=(), true_variants={},
)
induction = Claim(
    id="glmtron/variance-induction", source="003, Appendix D.2: the step of the induction on C_t", whose=Whose.PRINTED,
    severity=Stake.PROOF,
    quote="where the last inequality is due to the fact that M is aPSD mapping. Then by the iteration of "
          "variance,\nwe have for "
          "all ¢ > 0,",
    statement=r"M \circ H^{-1} \preceq \alpha\, tr(H)\, I", words="M o H^(-1) is at most alpha tr(H) I",
    hypotheses=(Parameter("low", low=Fraction(0), high=Fraction(1), low_open=True), positive_integer("d")),
    says=lambda alpha, trace, d, lam: alpha * trace, check=judge_inverse_moment, expected="REFUTED PROVED",
    repair=Repair(
        statement=r"M \circ H^{-1} \preceq \alpha\, d\, H", words="M o H^(-1) is at most alpha d H",
        says=lambda alpha, trace, d, lam: alpha * d * lam, expected="HOLDS ARGUED",
        true_variants={"1 % more": "a larger bound is weaker"},
    ),
)
conclusion = Claim(
    id="glmtron/variance-induction-conclusion", source="003, Appendix D.2: the bound on C_t (sigma = 0, 4 Gamma^2 f^2 "
                                                       "= 1)",
    quote="no? . 4nD2 2 \" o2 4nD2 2\n\n(T\n=S T haam) T TS (e am@) e T @)Y", whose=Whose.PRINTED, severity=Stake.PROOF,
    statement=r"C_t \preceq \frac{4\eta\Gamma^2 f^2}{1 - \eta\alpha\, tr(H)} H^{-1}",
    words="the private part of C_t is at most 4 eta Gamma^2 f^2/(1 - eta alpha tr(H)) H^(-1)",
    hypotheses=(Parameter("low", low=Fraction(1, 1000), high=Fraction(1, 100)),),
    says=lambda eta, alpha, trace, lam: eta / ((1 - eta * alpha * trace) * lam), check=judge_variance,
    expected="REFUTED PROVED", uses=("glmtron/variance-induction",), repaired_by="glmtron/thm-4.2-private-repaired",
    flips=(Flip("50 times that, 50 being the dimension", lambda eta, alpha, trace, lam: (
        50 * eta / ((1 - eta * alpha * trace) * lam)), Verdict.UNDECIDED),),
)
bias = Claim(
    id="glmtron/lemma-D.6", source="003, Lemma D.6, upper bound", whose=Whose.PRINTED, severity=Stake.PROOF,
    quote="Lemma D.6. Suppose Assumptionholds and the step size satisfies 1 < 1/\\1, then it holds that:",
    statement=r"\eta < 1/\lambda_1 \Rightarrow \text{bias} \lesssim \ldots", words="the bias bound holds for every "
    "step size below 1/lambda_1",
    hypotheses=(positive_integer("d"),), says=lambda alpha, trace, first: 1 / first, check=judge_step_size,
    expected="REFUTED PROVED",
    repair=Repair(
        statement=r"\eta \le 1/(\alpha\, tr(H)) \Rightarrow \text{bias} \lesssim \ldots",
        words="the bias bound holds for every step size up to 1/(alpha tr(H))", says=lambda alpha, trace, first: 1 / (
            alpha * trace),
        expected="HOLDS ARGUED", rests_on=("glmtron/thm-4.2-private-repaired",),
        survivors={"1 % more": "at H = I twice that step size would do", "1 -> 2 *": "at H = I twice that step size "
            "would do",
                   "1 % less": "a smaller step size is a stronger condition",
                   "squared": "a smaller step size is a stronger condition",
                   "?* -> + *": "judged at H = I, alpha = 3 only",
                   "beyond *": "judged at H = I, alpha = 3 only"},
    ),
)
order = Claim(
    id="glmtron/step-size-conditions", source="003, step sizes of Theorem 4.2 and Lemma D.6", severity=Stake.PROOF,
    statement=r"\alpha\, tr(H) \ge \lambda_1: \quad \eta < 1/(\alpha\, tr(H)) \Rightarrow \eta < 1/\lambda_1",
    words="a step size below 1/(alpha tr(H)), Theorem 4.2's, is one below 1/lambda_1, Lemma D.6's, and not conversely",
    hypotheses=(Parameter("alpha", low=Fraction(1)), non_negative("rest", "tr(H) - lambda_1"), positive("first",
        "lambda_1")),
    says=lambda alpha, trace: alpha * trace, check=judge_order, expected="HOLDS PROVED",
    flips=(Flip("half of it", lambda alpha, trace: alpha * trace / 2, Verdict.REFUTED),),
    true_variants={"1 % more": "larger still", "?* -> + *": "alpha + tr(H) is above lambda_1, too"},
)
