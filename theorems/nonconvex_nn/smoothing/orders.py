r"""Theorems 4 and 5 of document 002 with O read as what it is, an upper bound; and the factors in W.

eta. With eta = 1/n^2, which is O(min(epsilon/sqrt(theta log(1/delta)), 1/sqrt(n))) at epsilon = theta = 1, nothing is
learnt: gradients are at most 2B, so that from w_0 = 0 the iterates stay within 2 sum_i n_i eta_i <= 2 eta n/7, but for
the noise.

m. With m = 1, which is O(log(n/delta) (n epsilon)^(2/3)), the release is c (a, b) for d = 2, Phi = (a, b). Records e_1
and e_2 with probability 1/2 each, w* = (7/10, -7/10): with probability 1/2 a and b have the same sign, so that one of
the two predictions has the wrong sign, whatever c is, and costs at least tanh(7/10)^2/2."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from typing import Any

import sympy
from flint import ctx

from oracle.core.domain import Parameter, positive, positive_integer
from oracle.core.enclosure import Enclosure, ball
from theorems.claim import Claim, Flip, Stake, Whose
from theorems.given import Domain
from theorems.tools.refutations import refuted_by
from theorems.tools.symbolic_signs import never_negative
from theorems.verdict import Finding, Verdict, argued, computed, proof, refuted, undecided

One = Callable[[Any], Any]


def judge_step(says: One, given: Domain) -> Finding:
    """Whether the step says(n) can bring the risk down: x = 1, y = tanh(1), w_0 = 0, epsilon = 1, log(1/delta) = 16."""
    tried = 0
    for n in (10**12, *given.values("n", most=10**6)):
        eta, tried = says(Fraction(n)), tried + 1
        moved = abs(eta) * n * 2 / 7 + abs(eta) * 100
        with ctx.workprec(80):
            left = (ball(1).tanh() - ball(Fraction(1, 10)).tanh()) ** 2
        if moved < Fraction(1, 10):
            return refuted_by(
                "the stated order allows a step so short that nothing is learnt",
                {"n": n, "eta": eta, "link": "tanh", "x": 1, "y": "tanh(1)", "w_0": 0, "|w_k|, at most": moved,
                 "excess risk, at least": Enclosure.of_ball(left)},
                computed("(tanh(1) - tanh(1/10))^2 > 2/5, certified", bool(left > ball(Fraction(2, 5)))),
                argued("gradients are at most 2 and sum n_i eta_i <= eta n/7; the noise adds less than 100 eta, ten "
                       "of its "
                       "deviations, but for a probability below 1e-20: no constant times 1/sqrt(n) covers that"),
            )
    return undecided("a step that moves the model", tried)


def judge_rows(says: One, given: Domain) -> Finding:
    """Whether a projection to says(n) rows leaves a vanishing risk: d = 2, tanh link, w* = (7/10, -7/10)."""
    tried = 0
    for n in (10**12, *given.values("n", most=10**6)):
        rows, tried = says(n), tried + 1
        if rows == 1:
            with ctx.workprec(80):
                risk = ball(Fraction(7, 10)).tanh() ** 2 / 4
            return refuted_by(
                "with one row the release lies on a random line, and half the time on a wrong one",
                {"n": n, "m": rows, "d": 2, "link": "tanh", "w*": "7/10, -7/10", "records": "e_1, e_2",
                 "excess risk, at least": Enclosure.of_ball(risk)},
                computed("(tanh(7/10)^2/2)/2 > 9/100, certified", bool(risk > ball(Fraction(9, 100)))),
                argued("with probability 1/2 the entries of Phi have one sign, and a prediction the wrong one"),
            )
    return undecided("more than one row", tried)


def judge_scaling(says: tuple[One, One], given: Domain) -> Finding:
    """Whether the two factors in W are within a factor 2 of one another for all W of the hypotheses."""
    tried = 0
    for w in given.values("W"):
        one, other = (Fraction(form(w)) for form in says)
        tried += 1
        if not (one <= 2 * other and other <= 2 * one):
            return refuted("no constant relates them as W varies", {"W": w, "Theorem 4": one, "Theorem 1": other})
    w_ = given.chart("W")
    one_, other_ = (form(w_) for form in says)
    return proof(computed("each is at most twice the other", never_negative(
        sympy.simplify(2 - one_ / other_), sympy.simplify(2 - other_ / one_))), tried=tried)


_N = positive_integer("n").at_least(3)
_FACTORS: tuple[One, One] = (lambda w: w**2, lambda w: w)
_LAST = r"\leq O(W^2 B)\left(\frac{\sqrt{\theta \log \frac{1}{\delta}}}{n\epsilon} + \frac{1}{\sqrt{n}}\right)."

literal_4 = Claim(
    id="nonconvex-nn/big-O-parameters-thm-4", source="002, Theorem 4: every eta = O(...), an upper bound",
    quote=r"Moreover, when $\eta = O(\min\{\frac{\epsilon}{\sqrt{\theta \log \frac{1}{\delta}}}, \frac{1}{\sqrt{n}}\}) "
          r"\leq \frac{2}{\beta}$", whose=Whose.PRINTED, severity=Stake.UTILITY,
    statement=r"\eta = n^{-2} = O(n^{-1/2}) \Rightarrow (3)",
    words="(3) holds for every eta of at most the stated order",
    hypotheses=(_N,), says=lambda n: 1 / n**2, check=judge_step,
    flips=(Flip("1/100, which is above the order", lambda n: Fraction(1, 100), Verdict.UNDECIDED),),
    repaired_by="nonconvex-nn/thm-4-utility", expected="REFUTED ARGUED",
)
literal_5 = Claim(
    id="nonconvex-nn/big-O-parameters-thm-5", source="002, Theorem 5: every m = O(...), an upper bound",
    quote=r"Under Assumption 1 and let $m = O(\log(\frac{n}{\delta})(n\epsilon)^{\frac{2}{3}})$", whose=Whose.PRINTED,
    severity=Stake.UTILITY, statement=r"m = 1 = O(\log(n/\delta)(n\epsilon)^{2/3}) \Rightarrow \text{Theorem 5}",
    words="Theorem 5's risk holds for every m of at most the stated order", hypotheses=(_N,), says=lambda n: 1,
    check=judge_rows, flips=(Flip("n rows", lambda n: n, Verdict.UNDECIDED),),
    repaired_by="nonconvex-nn/thm-5-utility", expected="REFUTED ARGUED",
)
scaling = Claim(
    id="nonconvex-nn/thm-4-W-scaling",
    source="002, proof of Theorem 4: W^2 B, where Theorem 1 has B W, for the same bound",
    quote=_LAST, whose=Whose.PRINTED, severity=Stake.PROOF, statement=r"O(GW^2B) \text{ against } O(GBW)",
    words="Theorems 1 and 4 have the same bound: with W a constant they have, with W explicit they have not",
    hypotheses=(), says=None, check=None,
    readings=("nonconvex-nn/thm-4-W-scaling-reading-constant", "nonconvex-nn/thm-4-W-scaling-reading-explicit"),
    expected="AMBIGUOUS PROVED",
)
scaling_constant = Claim(
    id="nonconvex-nn/thm-4-W-scaling-reading-constant", source="002, proof of Theorem 4, W = O(1): between 1/2 and 2",
    quote=_LAST, whose=Whose.READING, severity=Stake.PROOF, statement=r"W^2 \le 2W,\ W \le 2W^2",
    words="for W between 1/2 and 2 the factors W^2 and W are the same up to a factor 2",
    hypotheses=(Parameter("W", low=Fraction(1, 2), high=Fraction(2)),), says=_FACTORS, check=judge_scaling,
    flips=(Flip("W^3", (lambda w: w**3, lambda w: w), Verdict.REFUTED),), expected="HOLDS PROVED",
    true_variants={"[[]0[]] [*][*] -> *": "2W and W are within a factor 2", "[[]1[]] squared": "both are W^2",
                   "* beyond *": "W is at most 2"},
)
scaling_explicit = Claim(
    id="nonconvex-nn/thm-4-W-scaling-reading-explicit", source="002, proof of Theorem 4, W as a variable",
    quote=_LAST, whose=Whose.READING, severity=Stake.PROOF, statement=r"W^2 = \Theta(W)",
    words="the factors W^2 and W are the same up to a factor 2 for all W", hypotheses=(positive("W"),), says=_FACTORS,
    check=judge_scaling, repaired_by="nonconvex-nn/thm-4-W-scaling-reading-constant",
    flips=(Flip("W in both", (lambda w: w, lambda w: w), Verdict.HOLDS),), expected="REFUTED PROVED",
)
