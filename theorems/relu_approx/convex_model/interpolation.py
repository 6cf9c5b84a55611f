r"""Section 4 and Appendix D of document 000: when does the convex problem fit the labels exactly?

Let A = (D_1 X, ..., D_P X), so that sum_i D_i X v_i = A v and A A^T = sum_i D_i X X^T D_i.

Zero optimum. Problem (3.6) is |A v - y|^2 / (2n) + lambda |v|^2 / 2. At v = A^T (S + n lambda)^{-1} y, S = A A^T, its
gradient and its value are functions of S between y's, so that two identities in an eigenvalue s give both: the gradient
is 0, and the minimum is (lambda/2) y^T (S + n lambda)^{-1} y, positive unless y = 0. Only lambda = 0 can give zero.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import sympy

from oracle.core.domain import non_negative, positive, positive_integer
from theorems.claim import Claim, Flip, Repair, Stake, Whose
from theorems.given import Domain
from theorems.tools.refutations import refuted_by
from theorems.verdict import Finding, Verdict, argued, computed, proof, refuted

Optimum = Callable[[Any, Any, Any], Any]
"""(s, n, lambda) -> what the square of y's part in a direction of eigenvalue s of A A^T contributes to the minimum."""

# Directions of u, one in each of the eight sectors between the multiples of 45 degrees, all equally likely.
DIRECTIONS = ((2, 1), (1, 2), (-1, 2), (-2, 1), (-2, -1), (-1, -2), (1, -2), (2, -1))
DATA: tuple[tuple[tuple[int, int], ...], ...] = (
    ((1, 0),), ((1, 0), (-1, 0)), ((1, 0), (0, 1)), ((1, 0), (1, 1)), ((1, 0), (1, 1), (0, 1)),
    ((1, 0), (1, 1), (0, 1), (-1, 1)),
)
Rows = tuple[tuple[int, ...], ...]


def pattern(rows: Rows, direction: tuple[int, ...]) -> tuple[int, ...]:
    """Which rows lie on the positive side."""
    return tuple(int(sum(a * b for a, b in zip(row, direction, strict=True)) >= 0) for row in rows)


def gram(rows: Rows, patterns: tuple[tuple[int, ...], ...]) -> list[list[int]]:
    """The sum of D X X^T D over the patterns."""
    return [
        [sum(p[i] * p[j] for p in patterns) * sum(a * b for a, b in zip(one, two, strict=True))
         for j, two in enumerate(rows)]
        for i, one in enumerate(rows)
    ]


# --- problem (3.6) and its optimum


def solved(rows: Rows, patterns: tuple[tuple[int, ...], ...], y: list[int], lam: Fraction) -> Fraction:
    """The minimum of (3.6) by solving the normal equations and evaluating the loss."""
    features = sympy.Matrix([[p[i] * entry for p in patterns for entry in row] for i, row in enumerate(rows)])
    label, ridge = sympy.Matrix(y), sympy.Rational(lam.numerator, lam.denominator)
    n, size = features.shape
    best, free = (features.T * features + n * ridge * sympy.eye(size)).gauss_jordan_solve(features.T * label)
    best = best.subs(dict.fromkeys(free, 0))
    rest = features * best - label
    value = (rest.T * rest)[0] / (2 * n) + ridge / 2 * (best.T * best)[0]
    return Fraction(int(value.p), int(value.q))


def judge_optimum(says: Optimum, given: Domain) -> Finding:
    """Hold a formula for the optimum of (3.6) against solved instances, and against an eigenvalue of A A^T.

    The instances have the unit vectors as rows, then rows of zeros, all active: A A^T = diag(P, ..., P, 0, ..., 0).
    """
    tried = 0
    for point in given.points("n", "d", "P", at_most=40, most={"n": 3, "d": 2, "P": 2}):
        n, d, count = point["n"], point["d"], point["P"]
        if n < d:
            continue
        rows = tuple(tuple(int(c == j) for c in range(d)) for j in range(n))
        for lam in (Fraction(1), *given.values("lam")):
            tried += 1
            true = solved(rows, ((1,) * n,) * count, [1] * n, lam)
            claimed = d * says(Fraction(count), n, lam) + (n - d) * says(Fraction(0), n, lam)
            if claimed != true:
                everywhere = (argued("so it is for every X and P, with y != 0 and lambda > 0"),) if claimed == 0 else ()
                return refuted_by("the minimum of (3.6) is another number, exactly", {
                    "X": [list(row) for row in rows], "u": [[1] * d] * count, "y": [1] * n, "lambda": lam,
                    "claimed minimum": claimed, "minimum": true},
                    computed("the normal equations, solved exactly, have a positive minimum", true > 0), *everywhere)
    s, n_, lam_ = sympy.symbols("s", nonnegative=True), given.symbol("n"), given.symbol("lam", "lambda")
    weight = 1 / (s + n_ * lam_)  # of v = A^T (S + n lambda)^-1 y
    return proof(
        argued("at v = A^T (S + n lambda)^-1 y gradient and loss are functions of S, so an eigenvalue s decides; the "
               "loss is convex, so a point without gradient is a minimum"),
        computed("the gradient (s w - 1)/n + lambda w is 0 for w = 1/(s + n lambda)",
                 sympy.simplify((s * weight - 1) / n_ + lam_ * weight) == 0),
        computed("the loss (s w - 1)^2/(2n) + (lambda/2) s w^2 is the claimed number, for every n, s and lambda",
                 sympy.simplify((s * weight - 1) ** 2 / (2 * n_) + lam_ / 2 * s * weight**2 - says(s, n_, lam_)) == 0),
        computed("which is positive, as lambda > 0", sympy.factor(says(s, n_, lam_)).is_positive),
        tried=tried,
    )


def judge_nested(sign: int, given: Domain) -> Finding:
    """Whether one more pattern never raises (-1), or never lowers (1), the optimal training loss of (3.6)."""
    tried = 0
    for rows, lam in itertools.product(DATA[:5], given.values("lam")):
        y = [(-1) ** i for i in range(len(rows))]
        losses = [solved(rows, tuple(pattern(rows, u) for u in DIRECTIONS[:count]), y, lam)
                  for count in given.values("P", most=4) if count >= 1]
        for before, after in itertools.pairwise(losses):
            tried += 1
            if sign * (after - before) < 0:
                return refuted("it moves the other way, exactly", {
                    "X": [list(row) for row in rows], "lambda": lam, "loss": before, "loss with more patterns": after})
    on, x, new, score, y_, square = sympy.symbols("D x v f y V", real=True)
    lam_ = given.symbol("lam")
    loss = (score + on * x * new - y_) ** 2 / 2 + lam_ / 2 * (square + new**2)  # a record's, with one weight more
    return proof(
        computed("with v_(P+1) = 0 a record's loss is what it was with P patterns",
                 sympy.expand(loss.subs(new, 0) - ((score - y_) ** 2 / 2 + lam_ / 2 * square)) == 0),
        argued("so every value of the loss is one of the larger problem, whose minimum cannot be higher"),
        computed("that is the direction claimed", sign == -1),
        tried=tried,
    )


zero_optimum = Claim(
    id="relu-approx/zero-optimum-3.6",
    source="000, Section 4: with enough hyperplanes the stochastic problem (3.6) has zero global optimum",
    quote=(
        r"we get zero global optimum for the stochastic problem (3.6) with probability at least $1 - \gamma - "
        r"\frac{1}{(2n)^8}$ ."
    ),
    whose=Whose.PRINTED,
    severity=Stake.UTILITY,
    statement=r"\min_v \frac{1}{2n}\lVert\sum_i D_i X v_i - y\rVert^2 + \frac{\lambda}{2}\sum_i \|v_i\|^2 = 0",
    words="with enough random hyperplanes the strongly convex problem (3.6), lambda > 0, has optimum zero",
    hypotheses=(positive_integer("n"), positive_integer("d"), positive_integer("P"), positive("lam")),
    says=lambda s, n, lam: 0,
    check=judge_optimum,
    uses=("relu-approx/lem-D.1", "relu-approx/lem-D.2"),
    rests_on=("relu-approx/zero-optimum-3.6-repaired",),
    expected="REFUTED ARGUED",
    repair=Repair(
        statement=(
            r"\min_v \mathcal{L} = \frac{\lambda}{2}\, y^T (A A^T + n\lambda I)^{-1} y,\ A = (D_1 X, \dots, D_P"
            r" X)"
        ),
        words="the optimum of (3.6) is (lambda/2) y^T (A A^T + n lambda I)^-1 y, zero only for y = 0 or in the limit "
              "lambda = 0",
        says=lambda s, n, lam: lam / (2 * (s + n * lam)),
        expected="HOLDS ARGUED",
        source="000, Section 4, problem (3.6) for every lambda > 0",
        flips=(Flip("without n", lambda s, n, lam: lam / (2 * (s + lam)), Verdict.REFUTED),),
    ),
)

nested = Claim(
    id="relu-approx/fig-4-nested",
    source="000, Appendix E.1: the approximability of the stochastic dual problem increases with P (its training loss)",
    quote=(
        "This comparison shows that the approximability of the stochastic dual problem increases with increasing "
        "P."
    ),
    whose=Whose.READING,
    severity=Stake.UTILITY,
    statement=r"\min_v \mathcal{L}_{P+1} \le \min_v \mathcal{L}_{P}",
    words="more random hyperplanes, the earlier ones kept, never raise the optimal training loss of (3.6)",
    hypotheses=(positive_integer("P"), non_negative("lam")),
    says=-1,
    check=judge_nested,
    flips=(Flip("never lower it", 1, Verdict.REFUTED),),
    true_variants={"any P": "there is no number of patterns below 1"},
    expected="HOLDS ARGUED",
)
