r"""The rank theta in document 002: an expected rank here, the rank of an expectation there, and what bounds it.

theta is "an upper bound on the expected rank of the data matrix" (introduction, Section 4.1.1) and "the rank of the
expectation of the data matrix" (related work, of Song et al. 2021). For x = e_j with probability p_j the rank of
sum_{i<=n} x_i x_i^T is the number of different atoms that were drawn: its mean is sum_j (1 - (1 - p_j)^n), and the rank
of E x x^T is the number of atoms. In general the records lie in the range of E x x^T almost surely, and n of them span
at most n dimensions: E rank <= min(n, rank E x x^T). What the proof of Theorem 1 needs is the first.

"A matrix whose columns are an eigenbasis for sum x_i x_i^T" has rank d, since an eigenbasis spans R^d; what is meant
are the eigenvectors of the eigenvalues that are not 0.
"""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from typing import Any

import sympy

from oracle.core.domain import positive_integer
from theorems.claim import Claim, Flip, Repair, Stake, Whose
from theorems.given import Domain
from theorems.tools.leading_points import led
from theorems.tools.symbolic_signs import never_negative, vanishes
from theorems.verdict import Finding, Verdict, argued, computed, proof, refuted


def expected_rank(atoms: int, n: int) -> Fraction:
    """The mean rank of n records that are unit vectors of so many equally likely axes."""
    return atoms * (1 - (1 - Fraction(1, atoms)) ** n)


def judge_theta(says: Callable[[Any, Any], Any], given: Domain) -> Finding:
    """Whether says(n, rank E x x^T) bounds the expected rank, and is never above n or the rank of the expectation."""
    tried = 0
    for point in led(given, n=20, d=100, most={"n": 60, "d": 200}):
        true = expected_rank(point["d"], point["n"])
        claimed = says(point["n"], point["d"])
        tried += 1
        if claimed < true or claimed > min(point["n"], point["d"]):
            return refuted("the expected rank is another number", {
                "x": f"uniform on {point['d']} axes", "n": point["n"], "claimed": claimed,
                "expected rank": sympy.N(sympy.sympify(true), 8), "rank of the expectation": point["d"]})
    n, d = given.symbol("n"), given.symbol("d")
    p, count = sympy.symbols("p", positive=True), sympy.symbols("j", integer=True, nonnegative=True)
    keep = 1 / (1 + p)  # 1 - p_j
    return proof(
        computed("1 - (1-p)^n <= 1 and, step by step in n, <= n p: one more record adds p (1-p)^n <= p",
                 vanishes((1 - keep ** (count + 1)) - (1 - keep**count) - keep**count * (1 - keep))
                 and never_negative(1 - keep)),
        computed("what is claimed is the minimum of n and the rank of the expectation",
                 vanishes(says(n, n + d) - n, says(n + d, d) - d)),
        argued("records lie in the range of E x x^T almost surely, and n of them span at most n dimensions"),
        tried=tried,
    )


def judge_eigenbasis(says: Callable[[Any, Any], Any], given: Domain) -> Finding:
    """Whether the rank of V, by says(n, d) eigenvectors of n records e_1, e_2, ... in R^d, is at most n."""
    tried = 0
    for point in led(given, n=2, d=3, most={"n": 60, "d": 200}):
        n, d = point["n"], point["d"]
        tried += 1
        if says(n, d) > n:
            return refuted("an eigenbasis of a d x d matrix has d columns, whatever n is", {
                "n": n, "d": d, "rank of V": says(n, d), "records": ", ".join(f"e_{i + 1}" for i in range(min(n, d)))})
        if says(n, d) != min(n, d):
            return refuted("another number of eigenvectors has an eigenvalue that is not 0", {
                "n": n, "d": d, "rank of V": says(n, d), "records": ", ".join(f"e_{i + 1}" for i in range(min(n, d)))})
    n_, d_ = given.symbol("n"), given.symbol("d")
    return proof(
        computed("min(n, d), whichever is smaller", vanishes(says(n_, n_ + d_) - n_, says(n_ + d_, d_) - d_)),
        argued("the eigenvectors of eigenvalues that are not 0 span what the records span: at most n dimensions, and "
               "e_1, ..., e_n have so many"),
        tried=tried,
    )


_SIZES = (positive_integer("n"), positive_integer("d"))

two_definitions = Claim(
    id="nonconvex-nn/theta-two-definitions", source="002, Sections 1 and 4.1.1 against Section 2: what theta is",
    quote=r"where θ is the rank of the expectation of the data matrix.", whose=Whose.READING, severity=Stake.UTILITY,
    statement=r"\mathbb{E}\,\mathrm{rank}\Big(\sum_i x_i x_i^T\Big) = \mathrm{rank}(\mathbb{E} xx^T)",
    words="the expected rank of the data matrix is the rank of its expectation",
    hypotheses=_SIZES, says=lambda n, d: d, check=judge_theta,
    expected="REFUTED PROVED",
    repair=Repair(
        statement=r"\mathbb{E}\,\mathrm{rank}\Big(\sum_i x_i x_i^T\Big) \le \min(n, \mathrm{rank}\,\mathbb{E} xx^T)",
        words="the expected rank of n records is at most n and at most the rank of the expectation",
        says=lambda n, d: sympy.Min(n, d), expected="HOLDS ARGUED", source="002, theta, as an inequality",
    ),
)
eigenbasis = Claim(
    id="nonconvex-nn/rem-theta-eigenbasis", source="002, Section 4.1.1: V is an eigenbasis of sum x_i x_i^T",
    quote=r"where V is a matrix whose columns are an eigenbasis for $\sum_{i=1}^n x_i x_i^T$.", whose=Whose.TYPO,
    statement=r"\mathrm{rank}(V) = d \le n",
    words="a matrix whose columns are an eigenbasis of sum x_i x_i^T has rank at most n",
    hypotheses=_SIZES, says=lambda n, d: d, check=judge_eigenbasis,
    repaired_by="nonconvex-nn/rem-theta",
    flips=(Flip("eigenvalues that are not 0", lambda n, d: sympy.Min(n, d), Verdict.HOLDS),),
    expected="REFUTED PROVED",
)
at_most_n = Claim(
    id="nonconvex-nn/rem-theta", source="002, Section 4.1.1: the expected rank is at most n",
    quote=r"Note that we always have $\mathbb{E}_{D \sim \mathcal{P}^n}[\text{Rank}(V)] \leq n$.", whose=Whose.PRINTED,
    severity=Stake.UTILITY,
    statement=r"\mathbb{E}\,\mathrm{rank}(V) \le \min(n, d)",
    words="the span of the records, of eigenvectors with eigenvalues that are not 0, has dimension at most n (and d)",
    hypotheses=_SIZES, says=lambda n, d: sympy.Min(n, d), check=judge_eigenbasis,
    flips=(Flip("d", lambda n, d: d, Verdict.REFUTED),),
    expected="HOLDS ARGUED",
)
