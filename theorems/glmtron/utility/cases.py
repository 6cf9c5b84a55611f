r"""What the simplified cases of Section 4 of document 003 come to, and what of its utility part rests on other papers.

The private term is f^2 Gamma^2 D_pri/N with f^2 = log^2(N/delta)/(epsilon^2 N) (Theorem 4.1). First case: Gamma
constant, D_pri <= N: log^2/(epsilon^2 N); start and label noise at eta = N^(-1/2): 1/(eta N) = D_eff/N = N^(-1/2).
Second case: Gamma^2 of order d, D_pri = d: d^2 log^2/(epsilon^2 N^2), beside d/N. The scan shows the factors of both
sums in part only.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from oracle.core.domain import positive, positive_integer
from theorems.claim import Claim, Flip, Stake, Whose, citing
from theorems.given import Domain
from theorems.tools.symbolic_signs import vanishes
from theorems.verdict import Finding, Verdict, computed, proof, refuted

_NAMES = ("log", "epsilon", "N", "d")
Private = Callable[..., Any]


def judge_case(clip: Private, dimension: Private) -> Callable[[Private, Domain], Finding]:
    """Whether says(log, epsilon, N, d) is f^2 Gamma^2 D_pri/N for Gamma^2 = clip(N, d), D_pri = dimension(N, d)."""

    def private(log: Any, epsilon: Any, n: Any, d: Any) -> Any:
        return log**2 / (epsilon**2 * n) * clip(n, d) * dimension(n, d) / n

    def judge(says: Private, given: Domain) -> Finding:
        tried = 0
        for point in given.points(*_NAMES, at_most=80):
            values = tuple(point[name] for name in _NAMES)
            tried += 1
            if says(*values) != private(*values):
                return refuted("the private term is another one", {
                    **point, "claimed": says(*values), "private term": private(*values)})
        symbols = tuple(given.symbol(name) for name in _NAMES)
        return proof(computed("the product of the factors, on symbols", vanishes(says(*symbols) - private(*symbols))),
            tried=tried)

    return judge


def unchecked(name: str, source: str, words: str, quote: str, reason: str) -> Claim:
    """A statement that rests on other papers."""
    return Claim(f"glmtron/{name}", f"003, {source}", r"\text{no formula}", words, (), None, citing(
        Verdict.NOT_CHECKABLE, reason),
                 "NOT_CHECKABLE CITED", quote=quote, whose=Whose.PRINTED, severity=Stake.UTILITY)


_CASE = (positive("log", "log(N/delta)"), positive("epsilon"), positive_integer("N"), positive_integer("d"))
bounded = Claim(
    id="glmtron/simplified-case-1-utility", source="003, Section 4, first simplified case: its private term",
    whose=Whose.PRINTED,
    severity=Stake.UTILITY, quote="Therefore, the total utility is O(ﬁ tr](\\,l;leg ).",
    statement=r"\frac{f^2\Gamma^2 D_{pri}}{N} = \frac{\log^2(N/\delta)}{\varepsilon^2 N}, \quad \Gamma = 1,\ D_{pri} "
              r"= N",
    words="in the first simplified case the private term is log^2(N/delta)/(N epsilon^2), beside 1/sqrt(N)",
    hypotheses=_CASE,
    says=lambda log, epsilon, n, d: log**2 / (epsilon**2 * n), check=judge_case(lambda n, d: 1, lambda n, d: n),
    expected="HOLDS PROVED", rests_on=("glmtron/simplified-case-1",),
    flips=(Flip("over N^2", lambda log, epsilon, n, d: log**2 / (epsilon * n) ** 2, Verdict.REFUTED),),
    true_variants={"any *": "an identity of products"},
)
gaussian = Claim(
    id="glmtron/simplified-case-2-utility", source="003, Section 4, second simplified case: its private term",
    whose=Whose.PRINTED,
    severity=Stake.UTILITY, quote="Moreover the clipping threshold contributes a factor of d, leading to a total "
                                  "utility\n\nbound of O( + Nd; 5).",
    statement=r"\frac{f^2\Gamma^2 D_{pri}}{N} = \frac{d^2 \log^2(N/\delta)}{\varepsilon^2 N^2}, \quad \Gamma^2 = d,\ "
              r"D_{pri} = d",
    words="in the second simplified case the private term is d^2 log^2(N/delta)/(N^2 epsilon^2), beside d/N",
    hypotheses=_CASE,
    says=lambda log, epsilon, n, d: d**2 * log**2 / (epsilon**2 * n**2), check=judge_case(lambda n, d: d, lambda n,
        d: d),
    expected="HOLDS PROVED", rests_on=("glmtron/simplified-case-2",),
    flips=(Flip("d for d^2", lambda log, epsilon, n, d: d * log**2 / (epsilon * n) ** 2, Verdict.REFUTED),),
    true_variants={"any *": "an identity of products"},
)
_TEXTS = "what other papers prove; their texts are not among the documents, and what is needed is proved here instead: "
literature = unchecked(
    "remark-5-literature", "Remark 5: the rates match those of [49, 48]", "the rates match those of non-private and "
    "linear regression",
    "improves utility\nbounds to O(N~\"/(1+7)) and O(N 1), respectively, matching non-private and linear "
    "regression\nscenario results [49, 48]].",
    _TEXTS + "fitted-slope-target; to settle it, compare with the theorems of those two papers",
)
bias_source = unchecked(
    "lemma-D.6-source", "before Lemma D.6: the bias by Theorem B.5 of [49]", "the bias bounds are those of Theorem "
    "B.5 of [49]",
    "According to Theorem B.5 in [49]], the upper and lower bounds on the bias error can be directly\nderived:",
    _TEXTS + "lemma-D.6-repaired and thm-4.4; to settle it, read the step size that Theorem B.5 asks for",
)
tails_source = unchecked(
    "def-3.5-literature", "after Definition 3.5: it is widely used [41, 29, 27]", "Definition 3.5 is widely used for "
    "sub-Gaussian data",
    "Note that Definition [3.3]is widely used in the recent literature on DP analysis for the sub-Gaussian\ntype of "
    "data such as [41} 29, 27].",
    _TEXTS + "def-3.5-tail-repaired; to settle it, compare the definitions of those papers",
)
