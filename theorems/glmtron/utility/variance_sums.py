r"""The geometric sums in the variance bounds of Appendix D.2 of document 003: (10), and its counterpart below.

With x = eta lambda/2 and q = 1 - x: sum_{k<t} q^k = (1 - q^t)/x, so eta^2 sum_{k<t} q^k c = 2 eta c (1 - q^t)/lambda,
where (10) has eta c (1 - q^t)/lambda (its 4 eta Gamma^2 f^2 before the matrix). Below, sum_{k<t} q^{2k} = (1 -
q^{2t})/(2x - x^2), so eta^2 sum_{k<t} q^{2k} c = eta c (1 - q^{2t})/(lambda (1 - eta lambda/4)) >= eta c (1 -
q^{2t})/lambda: as printed.
"""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from typing import Any

import sympy

from oracle.core.domain import Parameter, positive_integer
from theorems.claim import Claim, Flip, Repair, Stake, Whose
from theorems.given import Domain
from theorems.tools.symbolic_signs import never_negative, vanishes
from theorems.verdict import Finding, Verdict, argued, computed, proof, refuted

Sum = Callable[[Any, Any], Any]
"""(eta lambda, q^t) -> what is claimed, over eta/lambda."""


def judge_sum(power: int, *, equal: bool) -> Callable[[Sum, Domain], Finding]:
    """Whether eta lambda sum_{k<t} q^(power k) is says(eta lambda, q^t), or at least that."""

    def judge(says: Sum, given: Domain) -> Finding:
        tried = 0
        for point in given.points("product", "t"):
            y, t = point["product"], point["t"]
            q = 1 - y / 2
            true = y * sum((q ** (power * k) for k in range(t)), Fraction(0))
            tried += 1
            if (true != says(y, q**t)) if equal else (true < says(y, q**t)):
                return refuted("the sum is another one", {
                    "eta lambda": y, "t": t, "power": power, "sum": true, "claimed": says(y, q**t)})
        y_, end, later = given.chart("product"), sympy.Symbol("Q", real=True), sympy.Symbol("R", nonnegative=True)
        q_ = 1 - y_ / 2
        own = y_ * (1 - end**power) / (1 - q_**power)
        after = own.subs(end, end * q_) - own - y_ * end**power
        bounded = 1 / (1 + later)  # q^t in (0, 1]
        gap = own - says(y_, end)
        return proof(
            computed("the closed form starts at 0 and grows by eta lambda q^(power t): it is the sum", vanishes(
                own.subs(end, 1), after)),
            computed("what is claimed is that" + ("" if equal else " or less"), vanishes(gap) if equal
                else never_negative(
                sympy.together(gap.subs(end, bounded)))),
            argued("induction on t"), tried=tried,
        )

    return judge


_PRODUCT = (Parameter("product", low=Fraction(0), high=Fraction(1), low_open=True, meaning="eta lambda"),
    positive_integer("t"))
upper_sum = Claim(
    id="glmtron/eq-10-sum", source="003, (10): the last equality, a sum of powers of I - eta H/2", whose=Whose.PRINTED,
    severity=Stake.PROOF,
    quote="477F2f2\n1 — n(atr(H))\n\n:L~(If(I—QH)t)+\n\n/- 1\n1 —n(atr(H)) 9 (I-(1I- §H) )-H",
    statement=r"\eta^2 \sum_{k<t} (1 - \tfrac{\eta\lambda}{2})^k = \frac{\eta}{\lambda}\left(1 - (1 - "
              r"\tfrac{\eta\lambda}{2})^t\right)",
    words="eta^2 times the sum of (1 - eta lambda/2)^k is eta/lambda times 1 - (1 - eta lambda/2)^t",
    hypotheses=_PRODUCT, says=lambda y, end: 1 - end, check=judge_sum(1, equal=True), expected="REFUTED PROVED",
    repair=Repair(
        statement=r"\eta^2 \sum_{k<t} (1 - \tfrac{\eta\lambda}{2})^k = \frac{2\eta}{\lambda}\left(1 - (1 - "
                  r"\tfrac{\eta\lambda}{2})^t\right)",
        words="eta^2 times the sum of (1 - eta lambda/2)^k is 2 eta/lambda times 1 - (1 - eta lambda/2)^t",
        says=lambda y, end: 2 * (1 - end), expected="HOLDS ARGUED",
        true_variants={"any product": "an identity of polynomials"},
    ),
)
lower_sum = Claim(
    id="glmtron/variance-lower-sum", source="003, Appendix D.2, lower bound for the variance error: the last step",
    whose=Whose.PRINTED,
    severity=Stake.PROOF, quote="where the last inequality comes from nI — %H =<l",
    statement=r"\eta^2 \sum_{k<t} (1 - \tfrac{\eta\lambda}{2})^{2k} \ge \frac{\eta}{\lambda}\left(1 - (1 - "
              r"\tfrac{\eta\lambda}{2})^{2t}\right)",
    words="eta^2 times the sum of (1 - eta lambda/2)^(2k) is at least eta/lambda times 1 - (1 - eta lambda/2)^(2t)",
    hypotheses=_PRODUCT, says=lambda y, end: 1 - end**2, check=judge_sum(2, equal=False), expected="HOLDS ARGUED",
    flips=(Flip("twice that", lambda y, end: 2 - 2 * end**2, Verdict.REFUTED),),
    true_variants={"1 % less": "a smaller lower bound is weaker", "sign": "likewise",
        "squared": "a share squared is smaller",
                   "?? -> ?* *": "1 - 2 q^t is smaller", "any t": "for t < 1 the right side is negative"},
)
