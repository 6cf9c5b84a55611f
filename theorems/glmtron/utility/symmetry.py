r"""Assumptions 3.6 and C.1, Lemma C.2, the drift and the risk of document 003: what x and -x of one law give.

Averaged over x and -x, with scores a = <w,x>, b = <w*,x>: (relu(a) - relu(b)) x is (a - b) x/2 for all signs; and
(relu(a) - relu(b))^2 is (a - b)^2/2 where a and b have one sign, (a^2 + b^2)/2 where not, which lies between
(a - b)^2/4 and (a - b)^2/2. No condition on {x : <w,x> = 0} is needed. Half of that is the excess risk.

Assumption C.1 follows from 3.6, and is no weaker: its parts 2 and 4 are 3.6. Part 1 is part 2 at v = u. Part 3: where
<x,v> is not 0, 1[<x,u> > 0] = 1[<x,u> > 0, <x,v> > 0] + 1[<x,u> > 0, <x,-v> > 0], and likewise with < 0; so part 4 at
(u, v) and at (u, -v) adds up to E[<x,v>^2 xx^T 1[<x,u> > 0]] = E[<x,v>^2 xx^T 1[<x,u> < 0]] for every v, and these
values at all v are those of the symmetric fourth tensor.
"""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from typing import Any

from oracle.core.domain import vector
from theorems.claim import Claim, Flip, Repair, Stake, Whose
from theorems.given import Domain
from theorems.glmtron.utility.ground import LAWS, LINES, Law, averaged, dot, moments, relu, scores
from theorems.tools.symbolic_signs import never_negative, vanishes
from theorems.verdict import Finding, Verdict, argued, computed, proof, refuted, sampled

Indicator = Callable[[Any, Any], Any]


def _weighed(law: Law, u: Any, v: Any, power: int, weight: Indicator, *, truths: bool = True) -> tuple[Any, Any, Any]:
    """E[b^power weight(a, b) xx^T], a = <x,u>, b = <x,v>."""
    def whole(x: Any) -> Any:
        value = weight(dot(x, u), dot(x, v))
        return dot(x, v) ** power * (bool(value) if truths else value)

    return moments(law, whole)


def judge_symmetric(says: Indicator, given: Domain) -> Finding:
    """Whether E[xx^T 1[a > 0, b > 0]] and E[b^2 xx^T 1[a > 0, b > 0]] are those with the indicator says(a, b)."""
    tried = 0
    for law in LAWS:
        for u in LINES:
            for v in LINES:
                for power in (0, 2):
                    left = _weighed(law, u, v, power, lambda a, b: a > 0 and b > 0)
                    right = _weighed(law, u, v, power, says)
                    tried += 1
                    if left != right:
                        return refuted("the two sides differ for a law that is that of -x", {
                            "law": law, "u": u, "v": v, "left": left, "right": right})
    cases = [(a, b) for a in (-2, 0, 3) for b in (-1, 0, 5)]
    return proof(
        sampled("-x is counted on the right exactly if x is on the left, in all nine patterns of signs",
                 all(bool(says(Fraction(-a), Fraction(-b))) is (a > 0 and b > 0) for a, b in cases)),
        argued("xx^T and b^2 xx^T are even in x, and x -> -x keeps the law"), tried=tried,
    )


def judge_relaxed(says: Callable[[Any, Any], Any], given: Domain) -> Finding:
    """Whether says(a, b), a sum of the indicators of 3.6, is 1[a > 0] wherever b is not 0."""
    for a in map(Fraction, ("-2", "-1/2", "0", "1/2", "3")):
        for b in map(Fraction, ("-1", "-1/2", "0", "1/2", "5")):
            if b**2 * says(a, b) != b**2 * (a > 0):
                return refuted("the indicators do not add up", {"<x,u>": a, "<x,v>": b, "sum": says(a, b)})
    same = [
        _weighed(law, u, v, 2, lambda a, b: a > 0) == _weighed(law, u, v, 2, lambda a, b: a < 0)
        for law in LAWS for u in LINES for v in LINES
    ]
    return proof(
        sampled("b^2 1[a > 0] = b^2 (1[a > 0, b > 0] + 1[a > 0, -b > 0]) at all pairs of five numbers, all signs "
                 "among them", True),
        sampled("part 3 of C.1 at three laws and all pairs of seven vectors", all(same)),
        argued("parts 2 and 4 are Assumption 3.6, part 1 is part 2 at v = u; a symmetric tensor is known from v, v"),
    )


def judge_half(says: Callable[[Any], Any], given: Domain) -> Finding:
    """Whether E[weight xx^T] = H/2 and E[weight x^(4)] = M/2 for every u, with weight = says(<x,u>)."""
    tried = 0
    for law in LAWS:
        for u in LINES:
            for power in (0, 2):
                v = (Fraction(1), Fraction(2))
                left = _weighed(law, u, v, power, lambda a, b: says(a), truths=False)
                right = tuple(entry / 2 for entry in _weighed(law, u, v, power, lambda a, b: True))
                tried += 1
                if left != right:
                    return refuted("half of the mass is not on the side where <x,u> > 0", {
                        "law": " ".join(f"{share}:({x[0]},{x[1]})" for share, x in law), "u": f"{u[0]},{u[1]}",
                        "left": ", ".join(map(str, left)), "half": ", ".join(map(str, right))})
    return proof(
        sampled("the weights of x and -x add up to 1 for <x,u> positive, zero and negative",
                 all(says(Fraction(a)) + says(Fraction(-a)) == 1 for a in (0, 1, 3, -2))),
        argued("xx^T and the fourth tensor are even in x, and x -> -x keeps the law"), tried=tried,
    )


def judge_drift(says: Callable[[Any, Any], Any], given: Domain) -> Finding:
    """Whether (relu(a) - relu(b)) x is on average over x and -x says(a, b) x."""
    def step(a: Any, b: Any) -> Any:
        return relu(a) - relu(b)

    tried = 0
    for law in LAWS:
        for w in LINES:
            for v in LINES:
                for i in (0, 1):
                    left = sum((m * step(dot(x, w), dot(x, v)) * x[i] for m, x in law), Fraction(0))
                    right = sum((m * says(dot(x, w), dot(x, v)) * x[i] for m, x in law), Fraction(0))
                    tried += 1
                    if left != right:
                        return refuted("the drift is another one", {"w": w, "w*": v, "drift": left, "claimed": right})
    return proof(
        computed("(relu(a) - relu(b) - relu(-a) + relu(-b))/2 in all four patterns of signs, zeros included",
                 all(vanishes((step(a, b) - step(-a, -b)) / 2 - says(a, b)) for a, b in scores())),
        argued("the mean over x is that over the pairs x, -x"), tried=tried,
    )


def judge_sandwich(says: tuple[Fraction, Fraction], given: Domain) -> Finding:
    """Whether the excess risk is between says[0] and says[1] times |w - w*|_H^2."""
    low, high = says
    loss = lambda a, b: (relu(a) - relu(b)) ** 2 / 2  # noqa: E731
    for a, b in ((Fraction(1), Fraction(-1)), (Fraction(1), Fraction(0))):
        risk = averaged(loss, a, b)
        if not low * (a - b) ** 2 <= risk <= high * (a - b) ** 2:
            return refuted("x = +-1: the risk lies outside", {
                "w": a, "w*": b, "risk": risk, "lower": low * (a - b) ** 2, "upper": high * (a - b) ** 2})
    cases = [(averaged(loss, a, b), (a - b) ** 2, a * b, (a + b) ** 2) for a, b in scores()]
    same, differ = [cases[0], cases[3]], [cases[1], cases[2]]
    return proof(
        computed("scores of one sign: the averaged risk is (a - b)^2/4, and the claims are below and above a quarter",
                 all(vanishes(risk - square / 4) for risk, square, _, _ in same) and low <= Fraction(1, 4) <= high),
        computed("of two signs: it is (a - b)^2/8 + (a + b)^2/8, and the lower claim is at most an eighth",
                 all(vanishes(risk - square / 8 - total / 8) for risk, square, _, total in differ)
                 and low <= Fraction(1, 8)),
        computed("of two signs: it is (a - b)^2/4 less -ab/2 >= 0", all(
            vanishes(square / 4 - risk + product / 2) and never_negative(-product) for risk, square, product,
            _ in differ)),
        argued("the mean over x is that over the pairs x, -x"),
    )


_36 = ("Exx\" - 1[x\"u>0,x\"v>0]] =Exx\"-1[x u<0,x v <0]\n\nE[(x\"v)?xx\" -1[x\"u>0,x\"v>0]] =E[(x\"v)’xx\" - "
       "1[x'u<0,x\"v <0].")
_SIGNS = {"beyond *": "the indicators are asked about some numbers of each sign, not about all"}

symmetric = Claim(
    id="glmtron/assumption-3.6", source="003, Assumption 3.6 and Remark 2", whose=Whose.PRINTED, severity=Stake.UTILITY,
    quote=_36 + "\n\nRemark 2. Here we require that both the second and fourth moments of x remain symmetric. It "
                "can\n\nbe "
          "shown that Assumption[3.6]is satisfied when x and —x follow the same distribution",
    statement=r"x \sim -x \Rightarrow E[xx^\top 1[x^\top u > 0, x^\top v > 0]] = E[xx^\top 1[x^\top u < 0, x^\top v < "
              r"0]]",
    words="features of the same law as their negatives meet Assumption 3.6",
    hypotheses=(vector("u"), vector("v")), says=lambda a, b: max(a, b) < 0, check=judge_symmetric,
    expected="HOLDS ARGUED",
    flips=(Flip("with zeros", lambda a, b: max(a, b) <= 0, Verdict.REFUTED),), survivors=_SIGNS,
)
relaxed = Claim(
    id="glmtron/C-1-vs-3.6", source="003, Appendix C: Assumption C.1", whose=Whose.PRINTED, severity=Stake.EDITORIAL,
    quote="Here, we provide some relaxation for Assumption [3.6",
    statement=r"\text{Assumption 3.6} \Rightarrow \text{Assumption C.1}",
    words="Assumption C.1 asks for no more than Assumption 3.6 (nor for less: its parts 2 and 4 are 3.6)",
    hypotheses=(vector("u"), vector("v")),
    says=lambda a, b: (a > 0) * (b > 0) + (a > 0) * (b < 0), check=judge_relaxed, expected="HOLDS ARGUED",
    flips=(Flip("one indicator only", lambda a, b: (a > 0) * (b > 0), Verdict.REFUTED),), survivors=_SIGNS,
    true_variants={"squared": "a sum of two disjoint indicators is its own square"},
)
half = Claim(
    id="glmtron/lemma-C.2", source="003, Lemma C.2", whose=Whose.PRINTED, severity=Stake.PROOF,
    quote="1. Under Assumption[C.1] it holds that: for every vector u € Hi,\n\n1 1\n\n2. Under Assumption|[C_1] it "
          "holds "
          "that: for every vector u € H,\n\nEx®* . 1[x\"u> 0] = 1 Ex®Y = =M",
    statement=r"E[xx^\top 1[x^\top u > 0]] = \tfrac12 H, \quad E[x^{\otimes 4} 1[x^\top u > 0]] = \tfrac12 M \quad "
              r"\forall u",
    words="half of the second and of the fourth moments lie where <x,u> > 0, for every vector u",
    hypotheses=(vector("u"),), says=lambda a: 1 if a > 0 else 0, check=judge_half, expected="REFUTED PROVED",
    uses=("glmtron/C-1-vs-3.6",),
    repair=Repair(
        statement=r"E[xx^\top (1[x^\top u > 0] + \tfrac12 1[x^\top u = 0])] = \tfrac12 H",
        words="half of the moments lie where <x,u> > 0 if half of those where <x,u> = 0 are counted with them",
        says=lambda a: Fraction((1 if a > 0 else 0) + (1 if a >= 0 else 0), 2), expected="HOLDS ARGUED",
        survivors=_SIGNS,
    ),
)
drift = Claim(
    id="glmtron/drift-identity", source="003, proof of Lemma D.5", whose=Whose.PRINTED, severity=Stake.UTILITY,
    quote="=E[(I - nl[x; wi_1 > 0]xsx; ) (Wi_1 — W) | wi_1]\n\n—(I— JH)(wi1 —w.)",
    statement=r"E[x(\mathrm{ReLU}(x^\top w) - \mathrm{ReLU}(x^\top v))] = \tfrac12 H (w - v)",
    words="the mean of x (relu(<w,x>) - relu(<v,x>)) is H(w - v)/2 for symmetric features, with no condition on atoms",
    hypotheses=(vector("w"), vector("v")), says=lambda a, b: (a - b) / 2, check=judge_drift, expected="HOLDS ARGUED",
    flips=(Flip("without the half", lambda a, b: a - b, Verdict.REFUTED),),
)
sandwich = Claim(
    id="glmtron/risk-sandwich", source="003, Appendix D.2: from |w - w*|_H^2 to the risk", whose=Whose.PRINTED,
    severity=Stake.UTILITY, quote="E(H, (Wy — w.)®2)",
    statement=r"\tfrac18 \|w - w_*\|_H^2 \le \mathcal{L}(w) - \mathcal{L}(w_*) \le \tfrac14 \|w - w_*\|_H^2",
    words="the excess risk is between an eighth and a quarter of |w - w*|_H^2 for symmetric features",
    hypotheses=(vector("w"), vector("w_star")), says=(Fraction(1, 8), Fraction(1, 4)), check=judge_sandwich,
    expected="HOLDS ARGUED", rests_on=("glmtron/def-3.2-well-specified",),
    flips=(Flip("at least a quarter", (Fraction(1, 4), Fraction(1, 4)), Verdict.REFUTED),
           Flip("at most an eighth", (Fraction(1, 8), Fraction(1, 8)), Verdict.REFUTED)),
    true_variants={"?0? 1 % less": "a smaller lower bound is weaker", "?0? sign": "likewise",
                   "?1? 1 % more": "a larger upper bound is weaker", "?1? one more": "likewise"},
)
