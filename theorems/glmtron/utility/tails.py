r"""Definition 3.5 of document 003 and what is made of it: tails of <x,v>, of |x|^2, and the clipping norm.

E exp(T) <= 1 with T >= 0 forces T = 0: no random vector but 0 has such tails. For x ~ N(0, 1), a = 1/2 and T = x^2/C^2,
E exp(T) = (1 - 2/C^2)^{-1/2}, which is at most 2 from C^2 = 8/3 on; and by Markov's inequality E e^T <= 2 gives
P(T > log(2/b)) <= b. The norm: for x ~ N(0, 1) and L = log(1/b), P(x^2 > L^2) = erfc(L/sqrt 2) is at most
e^{-L^2/2} <= e^{-L} = b from L = 2 on, and below by balls from L = log 2 on.
"""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from typing import Any

import sympy
from flint import arb, ctx

from oracle.core.domain import Parameter
from oracle.core.enclosure import Enclosure, ball
from theorems.claim import Claim, Flip, Repair, Stake, Whose
from theorems.given import Domain
from theorems.tools.boxes import prove
from theorems.tools.readings import reading
from theorems.tools.symbolic_signs import never_negative, vanishes
from theorems.verdict import Finding, Verdict, argued, computed, proof, refuted, undecided


def judge_orlicz(says: Callable[[Any], Any], given: Domain) -> Finding:
    """Whether E exp(x^2/C^2) <= says(C^2) for x ~ N(0, 1): with k the claim, k^2 (1 - 2/C^2) >= 1."""
    tried = 0
    for square in given.values("square"):
        k = says(square)
        tried += 1
        if k <= 0 or k**2 * (1 - 2 / square) < 1:
            return refuted("a Gaussian has larger moments", {
                "C^2": square, "claimed": k, "1/(1 - 2/C^2), the square of the moment": 1 / (1 - 2 / square)})
    square_ = given.chart("square")
    k_ = says(square_)
    x = sympy.Symbol("x", real=True)
    return proof(
        computed("exp(x^2/C^2 - x^2/2) is exp(-x^2 (1 - 2/C^2)/2), whose integral is sqrt(2 pi/(1 - 2/C^2))",
                 vanishes(x**2 / square_ - x**2 / 2 + x**2 * (1 - 2 / square_) / 2)),
        computed("the claim's square times 1 - 2/C^2 is at least 1",
                 never_negative(k_) and never_negative(k_**2 * (1 - 2 / square_) - 1)),
        argued("Markov's inequality: P(T > log(k/b)) <= b for E e^T <= k"), tried=tried,
    )


def judge_norm(a: Fraction, given: Domain) -> Finding:
    """Whether P(x^2 > log(1/b)^(2a)) <= b for x ~ N(0, 1)."""
    with ctx.workprec(100):
        for b in given.values("b"):
            level = (-ball(b).log()) ** arb(ball(a))
            true = (level / arb(2).sqrt()).erfc()
            if true > ball(b):
                return refuted("a Gaussian is larger more often", {
                    "a": a, "b": b, "P(x^2 > log(1/b)^(2a))": Enclosure.of_ball(true)})
    if given["b"].high is None or given["b"].high > Fraction(1, 2) or a != 1:  # b <= 1/2 is L >= log 2 = 0.693...
        return undecided("no proof for this range of b or this a", 1)
    found = prove({"level": (Fraction(69, 100), Fraction(3))},
                  lambda level: (-level).exp() - (level / arb(2).sqrt()).erfc())
    return proof(
        computed("erfc(L/sqrt 2) < e^-L for 0.69 <= L <= 3, by balls; log 2 > 0.69",
                 found.proved and bool(arb(2).log() > arb("0.69"))),
        argued("for L >= 2 Chernoff's bound e^(-L^2/2) is at most e^-L"),
    )


def judge_quadratic(says: Callable[[Any, Any], Any], given: Domain) -> Finding:
    """Whether <x,v>^2 <= C^2 says(v^T H v, |H|) log(2/b) with probability >= 1 - b, a = 1/2, C = 2, for laws of 3.5.

    x = (+-1, y), y = +-1 with probability p and else 0, v = e2: v^T H v = p, |H| = 1, and E exp(<x,u>^2/4) <=
    exp(1/2) <= 2 for every unit u, as |<x,u>|^2 <= 2. At b = p/2 the event y^2 = 1 is more likely than b.
    """
    tried = 0
    with ctx.workprec(100):
        for p in given.values("p"):
            bound = 4 * ball(says(p, Fraction(1))) * (4 / ball(p)).log()
            tried += 1
            if bound < 1:
                return refuted("Definition 3.5 holds with C = 2, a = 1/2, and the smaller bound does not", {
                    "p = v^T H v": p, "|H|": 1, "b": p / 2, "P(<x,v>^2 = 1)": p, "bound": Enclosure.of_ball(bound)})
    h = given.chart("p")
    largest = sympy.Symbol("h", positive=True)
    return proof(
        computed("the claim is at least |H||v|^2", never_negative(says(h * largest, largest) - largest)),
        argued("Markov's inequality for T = <x,v>^2/(C^2 |H|), E e^T <= 2"), tried=tried,
    )


def judge_markov(says: Callable[[Any, Any], Any], given: Domain) -> Finding:
    """Whether P(T > log(says(k, b))) <= b whenever E e^T <= k; at points T is log(k/b) or nearly 0."""
    tried = 0
    for point in given.points("moment", "b"):
        k, b = point["moment"], point["b"]
        level = says(k, b)
        true = k / level if level > 0 else Fraction(1)  # the largest probability that E e^T <= k leaves to e^T = level
        tried += 1
        if true > b:
            return refuted("more often", {"E e^T": k, "b": b, "level": level, "probability": true})
    k_, b_ = given.chart("moment"), given.chart("b")
    return proof(computed("k over the level is at most b, on symbols", never_negative(sympy.together(b_ - k_ / says(k_,
        b_)))),
                 argued("Markov's inequality for e^T"), tried=tried)


_SQUARE = Parameter("square", low=Fraction(8, 3), meaning="C_2^2")
orlicz = Claim(
    id="glmtron/def-3.5-tail", source="003, Definition 3.5, second condition (a = 1/2, Gaussian)", whose=Whose.PRINTED,
    quote="¢ We have,\n\n|(x, v)[? 1/2\nmax Elexp((=5==—)\"7“\")] <1,", severity=Stake.UTILITY,
    statement=r"\max_v E \exp\left( \left( \frac{\langle x, v \rangle^2}{C_2^2 \|H\|_2} \right)^{1/2a} \right) \le 1",
    words="a Gaussian vector has E exp(<x,v>^2/(C_2^2 |H|)) at most 1 for unit v", hypotheses=(_SQUARE,),
    says=lambda square: 1, check=judge_orlicz, expected="REFUTED PROVED",
    repair=Repair(
        statement=r"E \exp(\langle x, v \rangle^2 / (C_2^2 \|H\|_2)) \le 2, \quad C_2^2 \ge 8/3",
        words="a Gaussian vector has E exp(<x,v>^2/(C_2^2 |H|)) at most 2 for unit v and C_2^2 >= 8/3",
        says=lambda square: 2, expected="HOLDS ARGUED",
        flips=(Flip("at most 19/10", lambda square: Fraction(19, 10), Verdict.REFUTED),),
        true_variants={"1 % more": "a larger bound is weaker", "squared": "likewise", "2 -> 3 *": "likewise"},
    ),
)
norm = Claim(
    id="glmtron/def-3.5-norm-tail", source="003, Definition 3.5, first condition, \"Gaussian-like\"",
    whose=Whose.PRINTED, severity=Stake.UTILITY,
    quote="* Ja > 0 s.t. with probability > 1 — b,\n%[5 < E[||x[|3] - log**(1/0), )",
    statement=r"\exists a > 0: \|x\|_2^2 \le E\|x\|_2^2 \log^{2a}(1/b) \text{ with probability} \ge 1 - b",
    words="a Gaussian has |x|^2 <= E|x|^2 log^(2a)(1/b) with probability at least 1 - b, for some a",
    hypotheses=(Parameter("b", low=Fraction(0), high=Fraction(1, 2), low_open=True),), says=None, check=None,
    expected="AMBIGUOUS ARGUED",
    readings=("glmtron/def-3.5-norm-tail-reading-half", "glmtron/def-3.5-norm-tail-reading-one"),
)
norm_half = reading(
    norm, "half", words="a scalar Gaussian has x^2 <= log(1/b), the exponent of Gaussian tails, with probability 1 - b",
    says=Fraction(1, 2), check=judge_norm, expected="REFUTED PROVED",
    repaired_by="glmtron/def-3.5-norm-tail-reading-one", flips=(Flip("a = 1", Fraction(1), Verdict.HOLDS),),
)
norm_one = reading(
    norm, "one", words="a scalar Gaussian has x^2 <= log^2(1/b), a = 1, with probability at least 1 - b, b <= 1/2",
    says=Fraction(1), check=judge_norm, expected="HOLDS ARGUED",
    flips=(Flip("a = 1/2", Fraction(1, 2), Verdict.REFUTED),),
)
mismatch = Claim(
    id="glmtron/tail-mismatch", source="003, proof of Lemma D.3, from Definition 3.5 (a = 1/2)", whose=Whose.PRINTED,
    severity=Stake.PROOF,
    quote="* Ja > 0 s.t. with probability > 1 — b,,, such that (x, v)? < C3v \" Hv log(1/b,).",
    statement=r"\langle x, v \rangle^2 \le C_2^2\, v^\top H v \log^{2a}(1/b)",
    words="Definition 3.5 bounds <x,v>^2 by a multiple of v^T H v",
    hypotheses=(Parameter("p", low=Fraction(0), high=Fraction(1), low_open=True),),
    says=lambda quadratic, largest: quadratic, check=judge_quadratic, expected="REFUTED PROVED",
    repair=Repair(
        statement=r"\langle x, v \rangle^2 \le C_2^2 \|H\|_2 \|v\|^2 \log^{2a}(2/b)",
        words="Definition 3.5 (with 2 for 1) bounds <x,v>^2 by a multiple of |H| |v|^2, with log(2/b)",
        says=lambda quadratic, largest: largest, expected="HOLDS ARGUED",
        true_variants={"1 % more": "a larger bound is weaker"},
    ),
)
markov = Claim(
    id="glmtron/def-3.5-tail-markov", source="003, Definition 3.5: \"That is, for any fixed v, with probability > 1 - "
                                             "b\"",
    quote="That is, for any fixed v, with probability > 1 — b :\n((x,v))? < C3[H]}2[[v]* log™*(1/b).",
    whose=Whose.PRINTED,
    severity=Stake.UTILITY, statement=r"E e^T \le k \Rightarrow P(T > \log(k/b)) \le b",
    words="the tail bound follows from the exponential moment: with log(1/b) for a moment of 1, with log(2/b) for one "
          "of 2",
    hypotheses=(Parameter("moment", low=Fraction(1)), Parameter("b", low=Fraction(0), high=Fraction(1), low_open=True)),
    says=lambda moment, b: moment / b, check=judge_markov, expected="HOLDS ARGUED",
    flips=(Flip("log(1/b) whatever the moment", lambda moment, b: 1 / b, Verdict.REFUTED),),
    true_variants={"1 % more": "a higher level is weaker", "squared": "k/b >= 1, so its square is higher"},
)
