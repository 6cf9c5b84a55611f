r"""The rate of Algorithm 1 of document 002 (introduction, abstract, Remark 3), and rates that it is compared with."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from typing import Any

import sympy

from oracle.core.domain import positive
from oracle.core.registry import bound
from theorems.claim import Claim, Flip, Stake, Whose
from theorems.given import Domain
from theorems.tools.studied import study_step
from theorems.tools.symbolic_signs import never_negative, vanishes
from theorems.tools.symbolic_signs import positive as certainly_positive
from theorems.verdict import Finding, Verdict, argued, computed, proof, refuted


def judge_chosen(says: Callable[[Any, Any], Any], given: Domain) -> Finding:
    """Whether says(a, b) is the rate of Algorithm 1, a = sqrt(theta)/(n eps) of Algorithm 2, b of Algorithm 3.

    n epsilon = s^3 and sqrt(theta) = root: Algorithm 2 runs if s > root.
    """
    tried = 0
    for point in given.points("root", "s"):
        root, s = point["root"], point["s"]
        first, second = root / s**3, 1 / s**2
        chosen = first if s > root else second
        tried += 1
        if says(first, second) != chosen:
            return refuted("the algorithm that runs has another rate", {
                "theta": root**2, "n epsilon": s**3, "claimed": says(first, second), "rate": chosen})
    root_, (more, a, gap) = given.symbol("root"), sympy.symbols("p a q", positive=True)
    above, below = root_ + more, root_ / (1 + more)
    return proof(
        computed("for s > sqrt(theta) the rate of Algorithm 2 is the smaller one, for s <= sqrt(theta) that of 3",
                 certainly_positive(1 / above**2 - root_ / above**3)
                 and never_negative(root_ / below**3 - 1 / below**2)),
        computed("what is claimed is the smaller of the two", vanishes(says(a, a + gap) - a, says(a + gap, a) - a)),
        argued("Algorithm 1 runs one of the two: its rate is that of Theorem 1 or of Theorem 2"),
        tried=tried,
    )


def judge_exponents(says: tuple[Fraction, Fraction], given: Domain) -> Finding:
    """Whether b^-first <= b^-second for every b = n epsilon of the hypotheses."""
    first, second = says
    budgets = given.values("budget")
    for budget in budgets:
        left, right = (sympy.sympify(budget) ** (-sympy.Rational(str(part))) for part in says)
        if bool(sympy.N(left - right, 30) > 0):
            return refuted("the rate is the larger one", {"n epsilon": budget, "exponents": f"{-first} and {-second}",
                                                          "rate": sympy.N(left, 10), "other": sympy.N(right, 10)})
    least = given["budget"].low
    return proof(computed("the exponent is at least the other, and n epsilon at least 1",
                          first >= second and least is not None and least >= 1), tried=len(budgets))


def judge_rank(says: Callable[[Any], Any], given: Domain) -> Finding:
    """Whether the rate with theta is at most that with says(theta) in its place, for theta <= d."""
    tried = 0
    for point in given.points("theta", "more"):
        d = point["theta"] + point["more"]
        tried += 1
        if says(d) < point["theta"]:
            return refuted("the rate with theta is larger", {"theta": point["theta"], "d": d, "claimed": says(d)})
    theta, more = given.symbol("theta"), given.symbol("more")
    return proof(
        computed("d - theta >= 0, and sqrt and min keep the order", never_negative(says(theta + more) - theta)),
        tried=tried,
    )


def judge_absolute(says: Callable[[Any], Any], given: Domain) -> Finding:
    """Whether |t| needs a smoothness of at least says(h) at the scale h: (|h| + |-h| - 2|0|)/h^2."""
    tried = 0
    for h in given.values("h"):
        needed = (abs(h) + abs(-h) - 2 * abs(Fraction(0))) / h**2
        tried += 1
        if says(h) != needed:
            return refuted("another curvature", {"h": h, "claimed": says(h), "needed": needed})
    h_ = given.symbol("h")
    return proof(computed("2/h, which has no bound as h falls to 0", vanishes(says(h_) - (h_ + h_) / h_**2)
                          and sympy.limit(says(h_), h_, 0, "+") == sympy.oo), tried=tried)


def judge_dimension(says: str, given: Domain) -> Finding:
    """Whether the excess risk of Algorithm 3 does not depend on the dimension: its bound, and the study so named."""
    asked = {item.name for item in bound("phased-sgd-projected.risk").parameters}
    return proof(
        computed("the bound of Theorem 2 asks for the number of rows, and for no dimension",
                 "projected_dimension" in asked and "dimension" not in asked),
        argued("the bound holds for records in any dimension, which enters neither m nor the step"),
        study_step(says),
    )


_RATE = (
    r"$\tilde{O}(\frac{1}{\sqrt{n}} + \min\{\frac{1}{(n\epsilon)^{\frac{2}{3}}}, \frac{\sqrt{\theta}}{n\epsilon}\})$."
)
_SCALES = (positive("root", "the square root of theta"), positive("s", "the cube root of n epsilon"))
_RESTS = ("nonconvex-nn/alg-1", "nonconvex-nn/thm-1-utility", "nonconvex-nn/thm-2-utility")

remark_3 = Claim(
    id="nonconvex-nn/rem-3", source="002, Remark 3: the rate of Algorithm 1",
    quote=(
        r"The output of Algorithm 1 achieves an error of $\tilde{O}(n^{-\frac{1}{2}} + "
        r"\min\{\sqrt{\theta}(n\epsilon)^{-1}, (n\epsilon)^{-\frac{2}{3}}\})$."
    ),
    whose=Whose.PRINTED, severity=Stake.UTILITY,
    statement=r"\tilde O(n^{-1/2} + \min\{\sqrt\theta(n\epsilon)^{-1}, (n\epsilon)^{-2/3}\})",
    words="Algorithm 1 has the smaller of the rates of Theorems 1 and 2 (private parts, parameters of the right order)",
    hypotheses=_SCALES, says=lambda a, b: sympy.Min(a, b), check=judge_chosen,
    flips=(Flip("the larger one", lambda a, b: sympy.Max(a, b), Verdict.REFUTED),),
    uses=_RESTS, rests_on=_RESTS,
    expected="HOLDS ARGUED",
)
introduction = replace(
    remark_3, id="nonconvex-nn/intro-1", source="002, introduction, item 1: the rate for bounded links", quote=_RATE,
    statement=r"\tilde O(n^{-1/2} + \min\{(n\epsilon)^{-2/3}, \sqrt\theta/(n\epsilon)\})",
    words="for bounded links an (epsilon, delta)-DP algorithm has the smaller of the two rates",
)
dimension = Claim(
    id="nonconvex-nn/abstract-dimension", source="002, abstract: an excess risk that does not vary with the dimension",
    quote="the feasibility of achieving an excess population risk that remains invariant to the data dimension.",
    whose=Whose.PRINTED, severity=Stake.UTILITY,
    statement=r"\mathbb{E} L(\hat w) - L(w^*) \text{ is bounded independently of } d",
    words="for bounded links the bound on the excess risk does not depend on the dimension",
    hypotheses=(), says="projected-phased-sgd-dimension", check=judge_dimension,
    flips=(Flip("a study that came out otherwise", "noise-energy-printed", Verdict.UNDECIDED),),
    rests_on=("nonconvex-nn/thm-2-utility",),
    expected="HOLDS ARGUED",
)
better = Claim(
    id="nonconvex-nn/rem-3-better", source="002, Remark 3: the rate appears to be better than (n epsilon)^(-1/2)",
    quote="This rate appears to be better than the lower bound for DP convex and Lipschitz Generalized Linear loss",
    whose=Whose.PRINTED, severity=Stake.UTILITY,
    statement=r"(n\epsilon)^{-2/3} \le (n\epsilon)^{-1/2},\ n\epsilon \ge 1",
    words="(n epsilon)^(-2/3) is at most (n epsilon)^(-1/2) once n epsilon >= 1",
    hypotheses=(positive("budget", "n epsilon").at_least(1),), says=(Fraction(2, 3), Fraction(1, 2)),
    check=judge_exponents,
    flips=(Flip("exchanged", (Fraction(1, 2), Fraction(2, 3)), Verdict.REFUTED),),
    true_variants={"[[]0] 1 % *": "2/3 is well above 1/2", "[[]0] one more": "2/3 is well above 1/2",
                   "[[]1] 1 % *": "1/2 is well below 2/3", "[[]1] sign": "1/2 is well below 2/3"},
    expected="HOLDS PROVED",
)
consistent = Claim(
    id="nonconvex-nn/rem-3-consistent", source="002, Remark 3: not contradictory to the smooth rate with d",
    quote=r"Again, these results are not contradictory to ours.", whose=Whose.PRINTED, severity=Stake.UTILITY,
    statement=r"\min\{(n\epsilon)^{-2/3}, \sqrt\theta/(n\epsilon)\} \le \min\{(n\epsilon)^{-2/3},"
              r" \sqrt d/(n\epsilon)\}",
    words="the rate is the quoted optimal one with theta <= d in place of d: equal for data of full rank, smaller else",
    hypotheses=(positive("theta"), positive("more", "d - theta").at_least(0)), says=lambda d: d, check=judge_rank,
    flips=(Flip("half of d", lambda d: d / 2, Verdict.REFUTED),),
    true_variants={"1 % more": "a larger number is, too", "any theta": "the order does not ask for a sign"},
    expected="HOLDS PROVED",
)
absolute = Claim(
    id="nonconvex-nn/rem-3-abs-smooth", source="a finding of ours: the loss of the quoted lower bound is not smooth",
    statement=r"\frac{|h| + |-h| - 2|0|}{h^2} = \frac{2}{h} \to \infty",
    words="the absolute loss, of which the lower bound is said to be, has no finite smoothness; 002's surrogates have",
    hypotheses=(positive("h"),), says=lambda h: 2 / h, check=judge_absolute,
    flips=(Flip("a constant", lambda h: 2 + 0 * h, Verdict.REFUTED),),
    expected="HOLDS PROVED",
)
