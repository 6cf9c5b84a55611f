r"""Subsample and aggregate in document 004: the private median as an aggregator, and the dimension as a drawback.

Median. The score of theta is minus |#{estimates below theta} - k/2|. One estimate replaced changes the number by at
most 1, and the score no more, as ||a| - |b|| <= |a - b|: the exponential mechanism at epsilon/2 times the score is
epsilon-DP, each weight and the normaliser changing by a factor of e^{epsilon/2} at most.

Dimension. A mean of k estimates of d coordinates, each clipped to a range w, moves by up to d w/k in all: Laplace noise
of scale d w/(epsilon k) in each coordinate, of variance 2 (d w/(epsilon k))^2, d^2 times that of one coordinate.
"""

from __future__ import annotations

import itertools
from fractions import Fraction

import sympy

from oracle.core.domain import positive, positive_integer
from theorems.claim import Claim, Flip, Stake, Whose
from theorems.cs208.judging import formula
from theorems.given import Domain
from theorems.tools.symbolic_signs import vanishes
from theorems.verdict import Finding, Verdict, argued, computed, proof, refuted


def score(estimates: tuple[int, ...], theta: Fraction) -> Fraction:
    """How far theta is from having half of the estimates below it."""
    return abs(Fraction(sum(one < theta for one in estimates)) - Fraction(len(estimates), 2))


def judge_moved(says: Fraction, given: Domain) -> Finding:
    """Whether replacing one of k estimates changes the score by at most says."""
    tried = 0
    for count in given.values("blocks", most=4):
        for rows in itertools.product((0, 1, 2), repeat=min(count, 4)):
            for new, theta in itertools.product((0, 1, 2), (Fraction(1, 2), Fraction(1), Fraction(5, 2))):
                moved = abs(score(rows, theta) - score((new, *rows[1:]), theta))
                tried += 1
                if moved > says:
                    return refuted("one estimate moves the score by more", {
                        "estimates": str(rows), "with the first replaced by": new, "theta": theta, "moved": moved,
                        "claimed": says})
    a, b = sympy.symbols("a b", real=True)
    indicators = [abs(one - other) for one in (0, 1) for other in (0, 1)]
    return proof(
        computed("one indicator of two values changes by 1 at most, which is no more than what is claimed",
                 max(indicators) <= 1 <= says),
        computed("(|a| - |b|)^2 <= (a - b)^2: 2 |a||b| - 2ab >= 0", vanishes(
            (a - b) ** 2 - (a**2 + b**2 - 2 * sympy.Abs(a * b)) - 2 * (sympy.Abs(a * b) - a * b))),
        argued("|ab| >= ab; weights e^(-epsilon/2 score), and their sum, change by a factor of e^(epsilon/2) at most"),
        tried=tried,
    )


median = Claim(
    id="cs208/sa-median", source="004, Subsample & Aggregate: the private median, by the exponential mechanism",
    quote="Typical aggregators: DP (clipped) mean, DP median", whose=Whose.READING, severity=Stake.PRIVACY,
    statement=r"s(\theta) = -\big|\#\{\hat\theta_j < \theta\} - \tfrac k2\big|: \ |s - s'| \le 1",
    words="replacing one of k estimates changes the median's score by at most 1: drawing by e^(epsilon/2 score) is "
          "epsilon-DP", hypotheses=(positive_integer("blocks", "k"),), says=Fraction(1), check=judge_moved,
    flips=(Flip("a half", Fraction(1, 2), Verdict.REFUTED),),
    true_variants={"1 % more": "a larger bound is weaker", "one more": "likewise"}, expected="HOLDS ARGUED",
)
dimension = Claim(
    id="cs208/sa-drawbacks", source="004, Subsample & Aggregate: drawbacks, read of the dimension and Laplace noise",
    quote="Dependence on dimension, model parameters, distribution can be bad.", whose=Whose.READING,
    severity=Stake.UTILITY, statement=r"\mathrm{Var} = 2\Big(\frac{d\,w}{\varepsilon k}\Big)^2",
    words="the noise of each of d coordinates has d^2 times the variance of one coordinate's",
    hypotheses=(positive_integer("dimension", "d"), positive("width", "w"), positive_integer("blocks", "k"),
                positive("epsilon")),
    says=lambda d, w, k, e: 2 * (d * w / (k * e)) ** 2,
    check=formula(("dimension", "width", "blocks", "epsilon"),
                  lambda d, w, k, e: 2 * (sum((w for _ in range(d)), Fraction(0)) / k / e) ** 2,
                  lambda d, w, k, e: 2 * d**2 * w**2 / (k * e) ** 2, "the noise has another variance",
                  "2 b^2 with b = d w/(epsilon k)",
                  more=lambda given: (computed("it is d^2 times that of d = 1", vanishes(
                      2 * (given.symbol("dimension") * given.symbol("width")) ** 2
                      - given.symbol("dimension") ** 2 * (2 * given.symbol("width") ** 2))),)),
    flips=(Flip("d, not d^2", lambda d, w, k, e: 2 * d * (w / (k * e)) ** 2, Verdict.REFUTED),),
    true_variants={"any width": "an identity of products"},
    expected="HOLDS PROVED",
)
