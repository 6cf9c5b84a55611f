"""Definition 2.7 of document 000 and the remark after it: gradient sensitivity of Lipschitz losses and of k outputs."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import sympy

from oracle.core.domain import positive, positive_integer
from theorems.claim import Claim, Flip, Repair, Severity, Whose
from theorems.domain import Domain
from theorems.tools.finite_laws import shown
from theorems.verdict import Finding, Verdict, argued, proof, refuted, undecided


def judge_sensitivity(relation: str, given: Domain) -> Finding:
    """Whether the gradient sensitivity of L-Lipschitz h_i + r stands in that relation ("=" or "<=") to 2L.

    Linear functions on the line decide "=": gradients are slopes of size at most L. For "<=" the gradients of h_i and
    h_j at one point have norm at most L each and the regulariser's cancel: the triangle inequality is the proof.
    """
    slopes = tuple(Fraction(v, 2) for v in (2, -2, 1, 0))  # L = 1
    tried = 0
    for size in (1, 2, 3):
        for family in itertools.combinations(slopes, size):
            tried += 1
            sensitivity = max(abs(a - b) for a, b in itertools.product(family, repeat=2))
            if (relation == "=" and sensitivity != 2) or sensitivity > 2:
                return refuted(
                    "a family of 1-Lipschitz losses has another sensitivity than 2",
                    {"L": "1", "slopes of h_i": shown(family), "sensitivity": str(sensitivity)},
                )
    attained = max(abs(a - b) for a, b in itertools.product(slopes, repeat=2))
    a, b = sympy.symbols("a b", real=True)  # |a - b| <= |a| + |b|, squared: 2 (|a||b| + a b) >= 0
    slack = sympy.expand((abs(a) + abs(b)) ** 2 - (a - b) ** 2 - 2 * (abs(a * b) + a * b))
    if relation != "<=" or attained != 2 or sympy.simplify(slack.subs(abs(a) ** 2, a**2).subs(abs(b) ** 2, b**2)) != 0:
        return undecided("not shown", tried)
    return proof(argued(
        "the regulariser cancels and two gradients of norm at most L differ by at most 2L (triangle inequality); "
        "attained by the slopes L and -L, so 2L is the sensitivity of the family of all L-Lipschitz losses"
    ))


def judge_outputs(squared: Callable[[Any], Any], given: Domain) -> Finding:
    """Whether k gradients, one an output and each clipped to norm 1, have together a squared sensitivity squared(k).

    k blocks of norm 1 against their negatives are attained; no more is possible, as each block moves by at most 2.
    """
    for outputs in (1, 2, 10):
        moved = sum(Fraction(1 - (-1)) ** 2 for _ in range(outputs))
        if squared(outputs) < moved:
            return refuted(
                "all outputs' gradients turn round at once",
                {"outputs": str(outputs), "C": "1", "squared distance": str(moved),
                            "claimed": str(squared(outputs))},
            )
    outputs_ = sympy.symbols("k", integer=True, positive=True)
    if sympy.simplify(squared(outputs_) - 4 * outputs_).is_nonnegative is not True:
        return undecided("enough for three k", 3)
    return proof(argued("each of the k blocks moves by at most 2C, and the squares add up"))


definition_2_7 = Claim(
    id="relu-approx/def-2.7",
    source="000, the sentence after Definition 2.7",
    quote=(
        "As an example relevant to our analysis, for a family of loss functions of the form $h_i+r$ , where "
        "$h_i$ 's are L-Lipschitz loss functions and r is a regularization function, the sensitivity equals 2L."
    ),
    whose=Whose.READING,
    statement=r"\sup_{i, j} \lVert \nabla (h_i + r) - \nabla (h_j + r) \rVert = 2L \quad (h_i\ L\text{-Lipschitz})",
    words="losses h_i + r with L-Lipschitz h_i have gradient sensitivity equal to 2L",
    hypotheses=(positive("L"),),
    says="=",
    check=judge_sensitivity,
    expected="REFUTED PROVED",
    repair=Repair(
        statement=r"\sup_{i, j} \lVert \nabla (h_i + r) - \nabla (h_j + r) \rVert \le 2L, \text{ and no smaller bound}",
        words="losses h_i + r with L-Lipschitz h_i have gradient sensitivity at most 2L, attained by some families",
        says="<=",
        expected="HOLDS ARGUED",
        source="000, the sentence after Definition 2.7, with at most",
    ),
)

outputs = Claim(
    id="relu-approx/clip-per-output",
    source="000, Sections 3.3 and 3.4: k independent linear models, read as one clip for each of them, 2C-sensitive",
    quote=(
        "In case of k-dimensional outputs and k-dimensional labels, we will simply use k independent linear "
        "models parallely meaning that the overall model has a dimension"
    ),
    whose=Whose.READING,
    severity=Severity.PRIVACY,
    statement=r"\lVert g_i \rVert, \lVert g_i' \rVert \le C\ (i \le k) \implies"
              r" \sup \lVert (g_1 - g_1', \dots, g_k - g_k') \rVert = 2C",
    words="k independent models, each with its gradient clipped to C, have the gradient sensitivity 2C together",
    hypotheses=(positive("C"), positive_integer("k")),
    says=lambda k: 4,
    check=judge_outputs,
    expected="REFUTED PROVED",
    repair=Repair(
        statement=r"\lVert g_i \rVert, \lVert g_i' \rVert \le C\ (i \le k) \implies"
                  r" \sup \lVert (g_1 - g_1', \dots, g_k - g_k') \rVert = 2C\sqrt{k}",
        words="k independent models, each with its gradient clipped to C, have the sensitivity 2C sqrt(k) together",
        says=lambda k: 4 * k,
        expected="HOLDS ARGUED",
        source="000, Sections 3.3 and 3.4, one clip for each output: the reading that keeps the clipped losses convex",
        flips=(Flip("2C sqrt(k - 1)", lambda k: 4 * (k - 1), Verdict.REFUTED),),
    ),
)
