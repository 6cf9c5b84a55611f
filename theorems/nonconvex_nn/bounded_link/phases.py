r"""Algorithms 1 and 2 of document 002: which algorithm runs, how the records are divided, and what one of them moves.

Sensitivity of a phase of n steps of size eta (G eta <= 2), one record replaced. Before that record both runs agree. Its
step takes them apart by at most 4B eta, two gradients being no longer than 2B each. A later record, the same in both,
maps the difference u to u - eta s <u, x> x with 0 <= s <= G, |x| <= 1, and

    |u - eta s <u, x> x|^2 = |u|^2 - eta s <u, x>^2 (2 - eta s |x|^2) <= |u|^2.

The average over w^1, ..., w^n has the iterates after the t-th record with weight (n - t)/n, most for the first record:
4B eta (n - 1)/n. A constant link B with first record (1, -B) against (-1, -B), and (1, B) for all the others, which
do not move w, attains it.
"""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from typing import Any

import sympy

from oracle.core.domain import non_negative_integer, positive, positive_integer
from theorems.claim import Claim, Flip, Repair, Stake, Whose
from theorems.given import Domain
from theorems.tools.symbolic_signs import never_negative, vanishes
from theorems.tools.symbolic_signs import positive as certainly_positive
from theorems.tools.two_vectors import opposite, two_vectors
from theorems.verdict import Finding, Verdict, computed, proof, refuted

Phases = Callable[[Any, Any], Any]


def judge_switch(says: Callable[[Any, Any], Any], given: Domain) -> Finding:
    """Whether says(theta, n) is the epsilon at which sqrt(theta)/(n eps) and (n eps)^(-2/3) are equal.

    Above it the first is the smaller one: their ratio sqrt(theta) (n eps)^(-1/3) falls in epsilon.
    """
    tried = 0
    for point in given.points("root", "n"):
        root, n = sympy.sympify(point["root"]), point["n"]
        budget = says(root**2, n) * n
        tried += 1
        if budget**2 != root**6:  # sqrt(theta)/b = b^(-2/3) means b = theta^(3/2)
            return refuted("the two terms are not equal at the switch", {
                "theta": root**2, "n": n, "claimed epsilon": says(root**2, n),
                "epsilon of equality": root**3 / n})
    root_, n_, b = given.symbol("root"), given.symbol("n"), sympy.symbols("b", positive=True)
    ratio = root_ / b / b ** sympy.Rational(-2, 3)
    return proof(
        computed("at n epsilon = theta^(3/2) the ratio of the two terms is 1",
                 vanishes(ratio.subs(b, says(root_**2, n_) * n_) - 1)),
        computed("and it falls in n epsilon", certainly_positive(-sympy.diff(ratio, b) * b ** sympy.Rational(4, 3))),
        tried=tried,
    )


def judge_phases(says: Phases, given: Domain) -> Finding:
    """Whether says(j, r), for n = 2^j + r and 0 <= r < 2^j, is the most phases none of which is without records."""
    tried = 0
    for point in given.points("j", "r", most={"j": 20, "r": 10**6}):
        j, r = point["j"], point["r"]
        if r >= 2**j:
            continue
        n, count = 2**j + r, says(j, r)
        tried += 1
        if n // 2**count < 1 or n // 2 ** (count + 1) >= 1:
            return refuted("the last phase has no record, or another phase could have one", {
                "n": n, "phases": count, "records of the last phase": n // 2**count})
    j_, r_, s = given.symbol("j"), given.symbol("r"), sympy.symbols("s", integer=True, nonnegative=True)
    last = (2**j_ + r_) / 2 ** says(j_, r_)
    beyond = sympy.simplify(((2**j_ + (2**j_ - 1 - s)) / 2 ** (says(j_, 2**j_ - 1 - s) + 1)) * 2 ** (j_ + 1))
    return proof(
        computed("n/2^k >= 1 for every r >= 0: the last phase has a record",
                 never_negative(sympy.expand(sympy.simplify((last - 1) * 2**j_)))),
        computed("n/2^(k+1) < 1 for every r < 2^j: no further phase has one",
                 vanishes(beyond - (2 ** (j_ + 1) - 1 - s))),
        tried=tried,
    )


def judge_partition(says: Callable[[int], int], given: Domain) -> Finding:
    """Whether the phases floor(n/2^i) use says(number of ones of n in binary) records fewer than n."""
    tried = 0
    for n in given.values("n"):
        used = sum(n >> i for i in range(1, n.bit_length()))
        tried += 1
        if n - used != says(n.bit_count()):
            return refuted("another number of records is in no phase", {
                "n": n, "sizes": ", ".join(str(n >> i) for i in range(1, n.bit_length())), "in no phase": n - used,
                "claimed": says(n.bit_count())})
    k, ones = sympy.symbols("k", integer=True, nonnegative=True), sympy.symbols("s", integer=True, positive=True)
    return proof(
        computed("the bit 2^k of n is counted 2^(k-1) + ... + 1 = 2^k - 1 times: one record a bit is left",
                 vanishes(sympy.summation(2 ** sympy.Symbol("i", integer=True), (sympy.Symbol("i", integer=True), 0,
                                                                                  k - 1)) - (2**k - 1))),
        computed("what is claimed is one record for each of s bits", vanishes(says(ones) - ones)),
        tried=tried,
    )


def judge_weight(says: Callable[[Any, Any], Any], given: Domain) -> Finding:
    """Whether says(n, t) is the part of w^1, ..., w^n that the step of the t-th record is in."""
    tried = 0
    for n in given.values("n"):
        for t in range(1, n + 1):
            steps = [Fraction(1) if s == t else Fraction(0) for s in range(1, n + 1)]
            iterates = [sum(steps[: s - 1], Fraction(0)) for s in range(1, n + 1)]
            tried += 1
            if says(n, t) != sum(iterates) / n:
                return refuted("the step has another weight in the average", {
                    "n_i": n, "t": t, "claimed": says(n, t), "weight": sum(iterates) / n})
    n_, t_, s = given.symbol("n"), sympy.symbols("t", integer=True, positive=True), sympy.Symbol("s", integer=True)
    return proof(
        computed("w^s has it for s = t + 1, ..., n: n - t of n iterates",
                 vanishes(sympy.summation(1, (s, t_ + 1, n_)) / n_ - says(n_, t_))),
        computed("for the last record that is 0", vanishes(says(n_, n_))),
        tried=tried,
    )


def judge_sensitivity(says: Callable[[Any, Any, Any], Any], given: Domain) -> Finding:
    """Whether says(B, eta, n) is the most by which the average of a phase moves, if one record is replaced."""
    tried = 0
    for point in given.points("B", "eta", "n"):
        bound, eta, n = point["B"], point["eta"], point["n"]
        runs = []
        for first in (1, -1):  # x of the first record, d = 1, link B, label -B; then n - 1 records (1, B)
            w, total = Fraction(0), Fraction(0)
            for t in range(n):
                total += w
                w -= eta * ((bound + bound) * first if t == 0 else bound - bound)
            runs.append(total / n)
        tried += 1
        if says(bound, eta, n) != abs(runs[0] - runs[1]):
            return refuted("a pair of data sets moves the average by another amount", {
                "B": bound, "eta_i": eta, "n_i": n, "claimed": says(bound, eta, n), "moved": abs(runs[0] - runs[1])})
    bound_, eta_, n_ = (given.symbol(name) for name in ("B", "eta", "n"))
    first, inner, second = two_vectors(2 * bound_)
    a, q, t = sympy.symbols("a q t", nonnegative=True)
    curved = 2 / (1 + a) / (1 + q)  # eta s |x|^2 <= 2: G eta <= 2 and |x| <= 1
    square, along, step, length = sympy.symbols("u2 ux z x2", real=True)  # |u|^2, <u, x>, eta s, |x|^2
    after = square - 2 * step * along * along + (step * along) ** 2 * length  # |u - eta s <u, x> x|^2
    return proof(
        computed("two gradients of length at most 2B are at most 4B apart, and opposite ones are",
                 never_negative((4 * bound_) ** 2 - (first - 2 * inner + second))
                 and vanishes(opposite(first - 2 * inner + second) - (4 * bound_) ** 2)),
        computed("a step on the same record takes no two runs apart: |u|^2 falls by eta s <u, x>^2 (2 - eta s |x|^2)",
                 vanishes(after - square + step * along**2 * (2 - step * length)) and never_negative(t * (2 - curved))),
        computed("so the iterates after the record are 4B eta apart at most, and the average has them with the weight "
                 "(n - t)/n, most for t = 1", never_negative((n_ - 1) / n_ - (n_ - 1 - a) / n_)
                 and vanishes(says(bound_, eta_, n_) - 4 * bound_ * eta_ * (n_ - 1) / n_)),
        tried=tried,
    )


_PHASES = (
    r"Set $k = \lceil \log_2(n) \rceil$, partite the whole dataset S into k subsets $\{D_1, \dots, D_k\}$. Denote n_i "
    r"as the number of samples in D_i , i.e., $|D_i| = n_i$ where $n_i = \lfloor 2^{-i}n \rfloor$."
)
_SIZE = (positive_integer("j", "n = 2^j + r"), non_negative_integer("r", "less than 2^j"))

switch = Claim(
    id="nonconvex-nn/alg-1", source="002, Algorithm 1: Algorithm 2 runs if epsilon > theta^(3/2)/n",
    quote=r"If $\epsilon > \frac{\theta^{\frac{3}{2}}}{n}$, run Algorithm 2. Otherwise, run Algorithm 3.",
    whose=Whose.PRINTED, severity=Stake.UTILITY,
    statement=r"\frac{\sqrt\theta}{n\epsilon} < (n\epsilon)^{-2/3} \iff \epsilon > \frac{\theta^{3/2}}{n}",
    words="Algorithm 1 runs the algorithm with the smaller of the two rates, constants and logarithms aside",
    hypotheses=(positive("root", "the square root of theta"), positive_integer("n")),
    says=lambda theta, n: theta ** sympy.Rational(3, 2) / n, check=judge_switch,
    flips=(Flip("theta/n", lambda theta, n: theta / n, Verdict.REFUTED),),
    expected="HOLDS PROVED",
)
empty = Claim(
    id="nonconvex-nn/alg-2-empty-phase", source="002, Algorithm 2, line 2: k = ceil(log2 n) phases",
    quote=_PHASES, whose=Whose.PRINTED, severity=Stake.UTILITY,
    statement=r"n_k = \lfloor 2^{-k} n\rfloor \ge 1 \text{ for } k = \lceil \log_2 n\rceil",
    words="none of the ceil(log2 n) phases is empty, whose average would be 0/0",
    hypotheses=_SIZE, says=lambda j, r: j + (1 if r > 0 else 0), check=judge_phases,
    expected="REFUTED PROVED",
    repair=Repair(
        statement=r"n_k \ge 1 > 2^{-(k+1)} n \text{ for } k = \lfloor \log_2 n\rfloor",
        words="floor(log2 n) is the largest number of phases none of which is empty",
        says=lambda j, r: j, expected="HOLDS PROVED", source="002, Algorithm 2, with k = floor(log2 n)",
        true_variants={"any j": "n is at least 1 for every j >= 0"},
    ),
)
partition = Claim(
    id="nonconvex-nn/alg-2-partition", source="002, Algorithm 2, line 2: the phases are all of the data",
    quote=_PHASES, whose=Whose.PRINTED,
    statement=r"\sum_i \lfloor 2^{-i} n\rfloor = n",
    words="the phases use every record",
    hypotheses=(positive_integer("n").at_least(2),), says=lambda ones: 0 * ones, check=judge_partition,
    expected="REFUTED PROVED",
    repair=Repair(
        statement=r"\sum_i \lfloor 2^{-i} n\rfloor = n - s_2(n),\ s_2(n) \text{ the ones of } n \text{ in binary}",
        words="the phases leave out as many records as n has ones in binary, at least one",
        says=lambda ones: ones, expected="HOLDS PROVED", source="002, Algorithm 2: what the sizes add up to",
    ),
)
last_sample = Claim(
    id="nonconvex-nn/alg-2-last-sample", source="a finding of ours: 002, Algorithm 2, line 8 averages w^1 to w^(n_i)",
    statement=r"\bar w_i = w_i^1 - \eta_i \sum_t \frac{n_i - t}{n_i} \nabla\ell(w_i^t; x_i^t, y_i^t)",
    words="the t-th record's step has the weight (n_i - t)/n_i in the average: the last one of a phase has none",
    hypotheses=(positive_integer("n"),), says=lambda n, t: (n - t) / sympy.sympify(n), check=judge_weight,
    flips=(Flip("(n - t + 1)/n, an average over w^2, ..., w^(n+1)",
                lambda n, t: (n - t + 1) / sympy.sympify(n), Verdict.REFUTED),),
    true_variants={"any n": "a phase without records has no last one"},
    expected="HOLDS PROVED",
)
sensitivity = Claim(
    id="nonconvex-nn/alg-2-sensitivity", source="a finding of ours: what one record moves in 002, Algorithm 2",
    statement=r"\Delta_2(\bar w_i) = 4B\eta_i \frac{n_i - 1}{n_i} \text{ if } \eta_i \le 2/G",
    words="if eta_i <= 2/G, replacing a record moves its phase's average by at most 4B eta_i (n_i - 1)/n_i, attained",
    severity=Stake.PRIVACY,
    hypotheses=(positive("B"), positive("eta"), positive_integer("n")),
    says=lambda bound, eta, n: 4 * bound * eta * (n - 1) / n, check=judge_sensitivity,
    flips=(
        Flip("4B eta", lambda bound, eta, n: 4 * bound * eta, Verdict.REFUTED),
        Flip("2B eta (n - 1)/n", lambda bound, eta, n: 2 * bound * eta * (n - 1) / n, Verdict.REFUTED),
    ),
    rests_on=("nonconvex-nn/lem-2",),
    expected="HOLDS PROVED",
)
