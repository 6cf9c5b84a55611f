r"""Theorem 4.4 and Remark 6 of document 003 for steps that clip nothing and fixed noise.

With lemma-D.4-lower and Assumption 3.4(B), along the eigenvectors of H, a_{t+1,i} >= q_i^2 a_{t,i} + eta^2 lambda_i
(beta S_t/4 + sigma^2) + eta^2 s^2, q = 1 - x, x = eta lambda/2: E[<d,x>^2 xx^T]/4 has at least (lambda_i^2 a_i + beta
lambda_i S)/4 on the diagonal, and 1 - eta lambda + eta^2 lambda^2/4 = q^2. By lemma-D.5 and risk-sandwich, risk >=
1/(8N^2) sum_t sum_i lambda_i a_{t,i} (1 - q_i^{N-t})/x_i = 1/(4 eta N^2) sum_t sum_i a_{t,i} (1 - q_i^{N-t}). For N =
4n, z = N eta lambda:

Noise c a step: sum_t sum_{u<t} q^{2(t-u-1)} (1 - q^{N-t}) = sum_t (1 - q^{2t})/(1 - q^2) (1 - q^{N-t}), where 1 - q^2
<= 2x and 1 - q^{2t} >= 1 - q^t; sum_t (1 - q^t)(1 - q^{N-t}) rises in x, and for x <= 1/(2N) each factor is at least
3/4 of its first term (Bonferroni): it is at least (3/128)(N - 1/N) min(1, z^2), as sum t (N-t) = (N^3 - N)/6. That
gives (3/512)(1 - N^-2) c/(eta^2 lambda) min(1, z^2)/N, for c = eta^2 lambda sigma^2 and eta^2 s^2.
Start: for t < N/2, sum q^{2t} >= (1 - e^{-Nx})/(2x) and 1 - q^{N-t} >= 1 - e^{-Nx/2}, and 1 - e^{-bz} >= (1 - e^{-b})
min(1, z) by concavity: at least B g min(1/(N^2 eta^2 lambda), lambda), B = (1 - e^{-1/4})(1 - e^{-1/2})/4.
Feedback: of the disturbance eta^2 lambda_i beta S_u/4 at a step u < N/4 keep u < t <= N/2: at least N/4 + 1 of them,
so that sum q^{2j} >= (1 - e^{-Nx/2})/(2x): at least beta S_u (1 - e^{-1/4})^2 min(1, z_i^2)/(16 N^2), and sum_{u <
N/4} S_u >= (1 - e^{-1/4}) sum_j g_j min(1/eta, N lambda_j). Altogether beta K (D_eff/N) sum g min(1/(N eta), lambda),
K = (1 - e^{-1/4})^3/16.

Noise of steps that differ: all of this rises with s, so min gamma_t serves below and max gamma_t above, and these two
are not a constant apart.
"""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import sympy
from flint import arb, ctx

from oracle.core.domain import Parameter, positive_integer
from oracle.core.enclosure import Enclosure, ball
from theorems.claim import Claim, Flip, Repair, Stake, Whose
from theorems.given import Domain
from theorems.glmtron.utility.ground import chain, dimension
from theorems.glmtron.utility.upper import RUN, Run, highest, runs
from theorems.tools.studied import study_step
from theorems.tools.symbolic_signs import never_negative, vanishes
from theorems.verdict import Finding, Verdict, argued, computed, proof, refuted, undecided


def lowest(run: Run) -> arb:
    """The risk by the lower chain, c = 1/4, Gaussian features."""
    total, _ = chain(run.spectrum, run.gaps, run.records, run.rate, Fraction(1, 4), run.label, run.noise)
    return total / (8 * run.records**2)


def judge_lower(says: tuple[Any, Any, Any], given: Domain) -> Finding:
    """Whether the risk is at least the terms of Theorem 4.4 with these constants of start, feedback and noise."""
    start, feedback, noise = says
    tried = 0
    with ctx.workprec(100):
        for run in runs(given, "quarter"):
            reach, n = run.reach, run.records
            head, own = dimension(run.spectrum, reach, 0), dimension(run.spectrum, reach, 1)
            pairs = list(zip(run.gaps, run.spectrum, strict=True))
            claimed = start * sum(g * min(1 / (reach**2 * lam), lam) for g, lam in pairs)
            claimed += feedback * head / n * sum(g * min(1 / reach, lam) for g, lam in pairs)
            claimed += noise * (1 - Fraction(1, n**2)) * (run.label * head + run.noise * own) / n
            tried += 1
            if highest(run) < ball(claimed):
                return refuted("even the upper chain is smaller", {
                    "spectrum": ", ".join(map(str, run.spectrum)), "N": n, "eta": run.rate, "sigma^2": run.label,
                    "s^2": run.noise, "gap": run.gaps[0], "claimed": claimed, "upper chain": Enclosure.of_ball(highest(
                        run))})
            if not lowest(run) >= ball(claimed):
                return undecided("the lower chain is smaller, and the upper one is not", tried)
        short = 1 - (-arb(1) / 4).exp()
        constants = ball(start) <= short * (1 - (-arb(1) / 2).exp()) / 4 and ball(feedback) <= short**3 / 16
    t, size, x = sympy.Symbol("t"), sympy.Symbol("n", positive=True), sympy.Symbol("x", positive=True)
    eta, lam = sympy.symbols("eta l", positive=True)
    return proof(
        computed("1 - eta lambda + eta^2 lambda^2/4 = q^2, and 1 - q^2 <= 2x", vanishes(
            (1 - eta * lam / 2) ** 2 - 1 + eta * lam - eta**2 * lam**2 / 4) and never_negative(2 * x - 1 + (
                1 - x) ** 2)),
        computed("sum_t t (N - t) = (N^3 - N)/6", vanishes(
            sympy.summation(t * (size - t), (t, 0, size - 1)) - (size**3 - size) / 6)),
        computed("(9/16)(z/2N)^2 (N^3 - N)/6 = (3/128)(N - 1/N) z^2, and with 1/(4 eta N^2)/(2x) it is 3/512; at most "
                 "that is claimed",
                 vanishes(sympy.Rational(9, 16) * (x / (2 * size)) ** 2 * (size**3 - size) / 6
                          - sympy.Rational(3, 128) * (size - 1 / size) * x**2,
                          sympy.Rational(3, 128) / (4 * eta) / (eta * lam) - sympy.Rational(6, 1024) / (eta**2 * lam))
                 and noise <= Fraction(3, 512)),
        computed("start and feedback are at most (1 - e^(-1/4))(1 - e^(-1/2))/4 and (1 - e^(-1/4))^3/16", bool(
            constants)),
        study_step("glmtron-lower-bound"), study_step("glmtron-private-term"),
        argued("Bonferroni's inequality, concavity of 1 - e^(-bz), and the sums of the module's proof"), tried=tried,
    )


def judge_constant(says: Any, given: Domain) -> Finding:
    """Whether the upper over the lower private term, Gamma^2/min gamma_t^2, is at most says(ratio)."""
    tried = 0
    for ratio in given.values("ratio"):
        tried += 1
        if ratio**2 > says(ratio):
            return refuted("the private terms differ by the square of the largest over the smallest clipping norm", {
                "Gamma over the smallest clipping norm": ratio, "upper over lower": ratio**2, "claimed": says(ratio)})
    ratio_ = given.chart("ratio")
    return proof(computed("the ratio of the terms is at most what is claimed", never_negative(says(
        ratio_) - ratio_**2)), tried=tried)


_QUARTER = (RUN[0], positive_integer("quarter", "N/4"))
lower = Claim(
    id="glmtron/thm-4.4", source="003, Theorem 4.4, for steps that clip nothing and fixed noise; beta = 1",
    whose=Whose.PRINTED,
    severity=Stake.UTILITY,
    quote="Theorem 4.4 (Utility Guarantee Lower). Consider a dataset D = {(x;,y;)}Y_;, where each x; is\n\ndrawn from "
          "a distribution D "
          "satisfying (H, Cy, a, b)-Tail and the distribution of the inherent noise\nz satisfies (02, Cy, a,b)-Tail. "
          "Given Assumptions "
          "and if we set the same parameters as in\nTheorem then with a probability of 1 — 1/N, the output "
          "ofAlgorithmwill satisfy:\n\n"
          "E[L(Wn)] — L(w.) 2 bias + variance + privacy,",
    statement=r"E\mathcal{L} - \mathcal{L}_* \ge 0.0217 \sum_i g_i \min\left(\frac{1}{N^2\eta^2\lambda_i}, "
              r"\lambda_i\right) + 0.00067 \beta"
              r" \frac{D_{eff}}{N} \sum_i g_i \min\left(\frac{1}{N\eta}, \lambda_i\right) + \frac{3}{512}(1 - N^{-2}) "
              r"\frac{\sigma^2 D_{eff}"
              r" + s^2 D_{pri}}{N}",
    words="without clipping and with fixed noise the terms of Theorem 4.4 are lower bounds, with constants (N a "
          "multiple of 4)",
    hypotheses=_QUARTER, says=(Fraction(217, 10000), Fraction(67, 100000), Fraction(3, 512)), check=judge_lower,
    expected="HOLDS ARGUED",
    uses=("glmtron/lemma-D.4-lower", "glmtron/lemma-D.5", "glmtron/eq-14-series"),
    rests_on=("glmtron/lemma-D.4-lower", "glmtron/lemma-D.5", "glmtron/risk-sandwich",
        "glmtron/assumption-3.4-gaussian"),
    flips=(Flip("all constants 1", (Fraction(1), Fraction(1), Fraction(1)), Verdict.REFUTED),
           Flip("the noise terms whole", (Fraction(217, 10000), Fraction(67, 100000), Fraction(2)), Verdict.REFUTED)),
    true_variants={"*1 % less": "a smaller lower bound is weaker", "*sign": "likewise"},
)
constants = Claim(
    id="glmtron/remark-6", source="003, Remark 6", whose=Whose.PRINTED, severity=Stake.UTILITY,
    quote="Notably, our lower bound aligns with the upper bound, differing only by absolute constants.",
    statement=r"\Gamma^2/\bar\Gamma^2 = O(1)", words="upper and lower private terms differ by an absolute constant, "
                                                     "say 1000",
    hypotheses=(Parameter("ratio", low=Fraction(1), meaning="largest over smallest clipping norm"),),
    says=lambda ratio: 1000,
    check=judge_constant, expected="REFUTED PROVED",
    repair=Repair(
        statement=r"\frac{\text{upper}}{\text{lower}} = O\left(\frac{\Gamma^2}{\bar\Gamma^2}\right)",
        words="upper and lower private terms differ by the squared ratio of the largest and the smallest clipping "
              "norm, up to a constant",
        says=lambda ratio: ratio**2, expected="HOLDS PROVED",
        true_variants={"1 % more": "a larger factor is weaker", "squared": "likewise", "2 -> 3 *": "likewise",
                       "any ratio": "below 1 the roles are exchanged, and the formula is the same"},
    ),
)
