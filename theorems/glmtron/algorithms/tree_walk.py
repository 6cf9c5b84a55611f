r"""Algorithm 4 as printed: which leaves its answer has, in how many nodes a leaf is, how answers differ; Algorithm 3.

The walk. A binary tree over 2^D leaves; on the path from the root to leaf n (counted from 0) the j-th step goes right
where the j-th of the D digits of n is 1, and the left sibling there has the leaves that share the digits before and
have a 0 in this place: all left siblings together tile the leaves 0, ..., n - 1. So the printed walk, with t from 0 as
in Algorithm 3, answers with l_0 + ... + l_{t-1}, without the current vector. With leaves counted from 1 and the digits
of t against the path of leaf t the siblings asked for need not exist. The walk to leaf t + 1 by the digits of t + 1, in
a tree with more than N leaves, has l_0, ..., l_t.

Nodes. Leaf n is in the nodes of 1, 2, 4, ... leaves whose first leaf is the multiple of their size below n: D + 1 in
the full tree. Of those that are complete by leaf N - 1 leaf 0 has the most, the powers of 2 up to N: ceil(lg(N + 1)).
"At most ceil(log t) + 1" is no bound for leaf t: the first leaf is in all of them.

Increments. The digits of k - 1 and k differ in the zeros at the end of k and the 1 before them: the answer to k leaves
has one node that is new, and the nodes of as many ones are gone: zeros + 1 <= floor(log2 k) + 1 noises in all.

Algorithm 3. argmin <w, l> + |w|^2/(2 eta) is -eta l (complete the square). With the sum of l_0, ..., l_t, no noise and
w_0 = 0 the iterates are w_{t+1} = w_t - eta l_t, those of Algorithm 1; with the printed walk they lag one step behind.
"""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from typing import Any

import sympy

from oracle.core.domain import positive, positive_integer, real
from theorems.claim import Claim, Flip, Repair, Stake, Whose
from theorems.given import Domain
from theorems.tools.symbolic_signs import vanishes
from theorems.verdict import Finding, Verdict, argued, computed, proof, refuted, sampled, undecided

Walk = tuple[Callable[[int], int], Callable[[int], int], Callable[[int], int]]
"""From t: the leaf that the path leads to, the number whose digits are read; and from N the depth of the tree."""

_MOST = 40


def ceil_log2(number: int) -> int:
    """The least d with 2^d >= number."""
    return (number - 1).bit_length()


def answer(walk: Walk, records: int, t: int) -> list[int] | None:
    """The leaves in the answer of step t (from 0), by the walk; None where a sibling or a leaf does not exist."""
    leaf, digits, depth = walk[0](t), walk[1](t), walk[2](records)
    if not 0 <= leaf < 2**depth or not 0 <= digits < 2 ** (depth + 1):
        return None
    found: list[int] = []
    for j in range(depth + 1):  # e_0 is the root; e_j is the node of 2^(depth - j) leaves on the path
        if digits >> (depth - j) & 1:
            place, size = leaf >> (depth - j), 2 ** (depth - j)
            if j == 0 or place % 2 == 0:
                return None
            found += range((place - 1) * size, place * size)
    return sorted(found)


def judge_prefix(walk: Walk, given: Domain) -> Finding:
    """Whether the answer of step t is the sum of l_0, ..., l_t, for every t < N."""
    tried = 0
    for records in given.values("records", most=_MOST):
        for t in range(records):
            tried += 1
            found = answer(walk, records, t)
            if found != list(range(t + 1)):
                return refuted("the answer has other leaves", {
                    "N": records, "t": t, "depth": walk[2](records), "leaf of the path": walk[0](t),
                    "digits of": walk[1](t), "leaves": "a sibling is missing" if found is None else
                    ", ".join(map(str, found)) or "none", "asked": ", ".join(map(str, range(t + 1)))})
    if _MOST not in given.values("records", most=_MOST):
        return undecided("not tried far enough", tried)
    n = sympy.Symbol("n", integer=True, nonnegative=True)
    return proof(
        computed("the path and the digits belong to t + 1, on symbols",
                 vanishes(walk[0](n) - n - 1, walk[1](n) - n - 1)),
        sampled("2^depth is above N, so that leaf t + 1 exists, for N up to 1000",
                all(2 ** walk[2](size) > size for size in range(1, 1001))),
        argued("left siblings on the path to leaf n tile the leaves before n: by digits, as in the docstring"),
        tried=tried,
    )


def nodes_of(leaf: int, records: int, *, complete: bool) -> int:
    """In how many nodes of the tree a leaf is; or in how many that are complete with leaf N - 1."""
    sizes = [2**j for j in range(ceil_log2(records) + 1)]
    return sum(not complete or (leaf // size + 1) * size <= records for size in sizes)


def judge_nodes(says: tuple[Callable[[int, int], int], bool], given: Domain) -> Finding:
    """Whether says(t, N) is at least the number of nodes of leaf t (from 1), and reached by some leaf of every N."""
    most, complete = says
    tried = 0
    for records in given.values("records", most=_MOST):
        counts = [nodes_of(leaf, records, complete=complete) for leaf in range(records)]
        for leaf, count in enumerate(counts):
            tried += 1
            if count > most(leaf + 1, records):
                return refuted("the leaf is in more nodes", {
                    "N": records, "t": leaf + 1, "nodes": count, "claimed": most(leaf + 1, records),
                    "sizes": ", ".join(str(2**j) for j in range(ceil_log2(records) + 1))})
        largest = max(most(leaf + 1, records) for leaf in range(records))
        if max(counts) < largest:
            return refuted("no leaf is in as many", {
                "N": records, "t": counts.index(max(counts)) + 1, "nodes": max(counts), "claimed": largest})
    for records in (10**3, 2**20 - 1, 2**20, 2**20 + 1, 10**9):  # far ones: some leaves, the first has the most
        first = nodes_of(0, records, complete=complete)
        for leaf in (0, 1, records // 2, records - 1):
            count = nodes_of(leaf, records, complete=complete)
            tried += 1
            if count > most(leaf + 1, records) or first < most(leaf + 1, records):
                return refuted("the leaf is in more nodes, or none in as many", {
                    "N": records, "t": leaf + 1, "nodes": count, "claimed": most(leaf + 1, records),
                    "nodes of the first": first})
    depth = sympy.Symbol("D", integer=True, positive=True)
    total = sympy.summation(2 ** sympy.Symbol("j", integer=True), (sympy.Symbol("j", integer=True), 0, depth))
    return proof(
        computed("a tree over 2^D leaves has 2^(D + 1) - 1 nodes: the levels add up, on symbols",
                 vanishes(total - (2 ** (depth + 1) - 1))),
        argued("a leaf has one node on each level; complete are those up to the largest power of 2 below N + 1"),
        tried=tried,
    )


def digits_of(number: int) -> set[tuple[int, int]]:
    """The nodes (first leaf, size) that tile the first `number` leaves."""
    first, nodes = 0, set()
    for j in reversed(range(number.bit_length())):
        if number >> j & 1:
            nodes.add((first, 2**j))
            first += 2**j
    return nodes


def judge_increment(most: Callable[[int], int], given: Domain) -> Finding:
    """Whether the answers to k - 1 and k leaves differ by at most most(k) node noises, with equality at powers of 2."""
    tried = 0
    for k in (*given.values("leaves", most=_MOST), 4, 8, 64, 1024):
        noises = len(digits_of(k) ^ digits_of(k - 1))
        tried += 1
        zeros = (k & -k).bit_length() - 1
        if noises > most(k) or (k & (k - 1) == 0 and noises < most(k)):
            return refuted("the answers differ by another number of noises", {
                "k": k, "new nodes": len(digits_of(k) - digits_of(k - 1)),
                "nodes gone": len(digits_of(k - 1) - digits_of(k)), "noises": noises, "claimed": most(k)})
        if noises != zeros + 1:
            return undecided(f"the count of the docstring fails at k = {k}", tried)
    return proof(
        sampled("the noises are one more than the zeros at the end of k", tried > 0),
        argued("2^zeros divides k, so that zeros <= log2 k; k - 1 has ones where k has these zeros"),
        tried=tried,
    )


def judge_argmin(solution: Callable[[Any, Any], Any], given: Domain) -> Finding:
    """Whether solution(l, eta) minimises w l + w^2/(2 eta), coordinate by coordinate."""
    tried = 0
    for point in given.points("vector", "eta", at_most=60):
        value, eta = point["vector"], point["eta"]
        tried += 1
        if solution(value, eta) != -eta * value:
            return refuted("the derivative is not 0 there", {
                "l": value, "eta": eta, "w": solution(value, eta), "derivative": value + solution(value, eta) / eta})
    value_, eta_, w = given.symbol("vector"), given.symbol("eta"), sympy.Symbol("w", real=True)
    here = solution(value_, eta_)
    gap = w * value_ + w**2 / (2 * eta_) - (here * value_ + here**2 / (2 * eta_))
    return proof(computed("the objective exceeds its value there by (w - w*)^2/(2 eta), on symbols",
                          vanishes(gap - (w - here) ** 2 / (2 * eta_)) and eta_.is_positive is True), tried=tried)


def judge_equivalent(includes: Callable[[int], int], given: Domain) -> Finding:
    """Whether the iterates -eta (l_0 + ... up to includes(t) leaves) are those of w - eta l_t, from w_0 = 0.

    One dimension, x = 1, y = 1, eta = 1/2: l = relu(w) - 1, no clipping and no noise.
    """
    tried, eta = 0, Fraction(1, 2)
    for records in given.values("records", most=_MOST):
        steps, sums, w, v = [], [], Fraction(0), Fraction(0)
        for t in range(records):
            steps.append(max(w, Fraction(0)) - 1)
            w -= eta * steps[-1]
            sums.append(max(v, Fraction(0)) - 1)
            v = -eta * sum(sums[:includes(t)], Fraction(0))
            tried += 1
            if v != w:
                return refuted("the iterates differ", {
                    "N": records, "t": t, "x": 1, "y": 1, "eta": eta, "w_{t+1} of Algorithm 1": w,
                    "w_{t+1} of Algorithm 3": v, "leaves in the sum": includes(t)})
    t_ = sympy.Symbol("t", integer=True, nonnegative=True)
    return proof(
        computed("the sum of step t has t + 1 leaves, on symbols: one more than that of the step before",
                 vanishes(includes(t_) - t_ - 1)),
        argued("w_{t+1} - w_t = -eta l_t by subtraction, from w_0 = 0: by induction both have the same iterates and "
               "the same l_t, records in one order"),
        tried=tried,
    )


_RECORDS = (positive_integer("records", "N"),)
_COUNTED = {"*beyond*": "numbers of digits are counted, not computed on symbols: the rest of the proof is in words"}
_SIBLING = "I, < U, + e;, where e; is the value in left sibling of e; node."

prefix = Claim(
    id="glmtron/alg-4-prefix", source="003, Algorithm 4, steps 5 to 12, called with t = 0, ..., N - 1 (Algorithm 3)",
    quote=_SIBLING, whose=Whose.PRINTED, severity=Stake.UTILITY,
    statement=r"l'_{\le t} = \sum_{i=0}^{t} l_i + \nu_t",
    words="the left siblings on the path to leaf t, by the digits of t, sum up to l_0 + ... + l_t",
    hypotheses=_RECORDS, says=(lambda t: t, lambda t: t, ceil_log2), check=judge_prefix,
    expected="REFUTED PROVED",
    repair=Repair(
        statement=r"\text{left siblings on the path to leaf } t+1 \text{ by the digits of } t+1: \sum_{i=0}^{t} l_i",
        words="in a tree with more than N leaves the left siblings on the path to leaf t + 1 sum up to l_0 + ... + l_t",
        says=(lambda t: t + 1, lambda t: t + 1, lambda n: ceil_log2(n + 1)), expected="HOLDS ARGUED",
        flips=(Flip("leaves counted from 1: the path of leaf t, the digits of t + 1",
                    (lambda t: t, lambda t: t + 1, lambda n: ceil_log2(n + 1)), Verdict.REFUTED),),
        true_variants={**dict.fromkeys(("[[]2[]] 1 -> 2 *", "[[]2[]] beyond *"),
                                       "a larger tree has the same siblings"),
                       "any records": "without records there are no steps"},
    ),
)
nodes = Claim(
    id="glmtron/alg-4-nodes", source="003, Section 5 and Algorithm 4: 2^(ceil(log2 N) + 1) - 1 nodes",
    quote="At the beginning of training, we construct a binary tree consisting of (2“03;2 NI+ _ 1) nodes, "
          "corresponding to N leaves.",
    whose=Whose.PRINTED, severity=Stake.PRIVACY,
    statement=r"2^{\lceil\log_2 N\rceil + 1} - 1 \text{ nodes},\ \lceil\log_2 N\rceil + 1 \text{ of them above a leaf}",
    words="the tree has 2^(ceil(log2 N) + 1) - 1 nodes, and a leaf is in ceil(log2 N) + 1 of them",
    hypotheses=_RECORDS, says=(lambda t, n: ceil_log2(n) + 1, False), check=judge_nodes,
    flips=(Flip("without the root", (lambda t, n: ceil_log2(n), False), Verdict.REFUTED),), survivors=_COUNTED,
    expected="HOLDS ARGUED",
)
released = Claim(
    id="glmtron/alg-4-nodes-released", source="003, Lemma E.1 and Theorem 5.1: ceil(lg(N + 1))",
    quote="(2“03;2 NI+ _ 1) nodes, corresponding to N leaves.", whose=Whose.READING, severity=Stake.PRIVACY,
    statement=r"\max_t \#\{\text{complete nodes of leaf } t\} = \lceil\lg(N+1)\rceil",
    words="no leaf is in more than ceil(lg(N + 1)) nodes that are complete, and so released, and one is in as many",
    hypotheses=_RECORDS, says=(lambda t, n: ceil_log2(n + 1), True), check=judge_nodes,
    flips=(Flip("ceil(log2 N) + 1", (lambda t, n: ceil_log2(n) + 1, True), Verdict.REFUTED),), survivors=_COUNTED,
    expected="HOLDS ARGUED",
)
nodes_prose = Claim(
    id="glmtron/alg-4-nodes-logt", source="003, Section 5: at most ceil(log t) + 1 nodes",
    quote="Therefore, each I; influences only its ancestor nodes, affecting at most [log¢] 4+ 1 nodes.",
    whose=Whose.PRINTED, severity=Stake.PRIVACY,
    statement=r"\#\{\text{nodes of } l_t\} \le \lceil\log_2 t\rceil + 1",
    words="l_t is in at most ceil(log2 t) + 1 nodes", hypotheses=_RECORDS,
    says=(lambda t, n: ceil_log2(t) + 1, False), check=judge_nodes, repaired_by="glmtron/alg-4-nodes",
    flips=(Flip("ceil(log2 N) + 1", (lambda t, n: ceil_log2(n) + 1, False), Verdict.HOLDS),),
    expected="REFUTED PROVED",
)
increment = Claim(
    id="glmtron/alg-4-increment", source="003, proof of Lemma E.5 (t the number of leaves in the answer)",
    quote="it implies that I'; is a combination of at most [log, ¢ + 1] random Gaussian vectors",
    whose=Whose.PRINTED, severity=Stake.PROOF,
    statement=r"\nu_k - \nu_{k-1} \text{ has at most } \lfloor\log_2 k\rfloor + 1 \text{ node noises}",
    words="the answers to k - 1 and to k leaves differ by the new vector and at most floor(log2 k) + 1 node noises",
    hypotheses=(positive_integer("leaves", "k"),), says=lambda k: k.bit_length(), check=judge_increment,
    flips=(Flip("one less", lambda k: k.bit_length() - 1, Verdict.REFUTED),
           Flip("always one, as if only the new node counted", lambda k: 1, Verdict.REFUTED)), survivors=_COUNTED,
    expected="HOLDS ARGUED",
)
argmin = Claim(
    id="glmtron/alg-3-closed-form", source="003, Section 5, the update of step 9",
    quote="Therefore, for the given problem at step 9, we have the following update:", whose=Whose.PRINTED,
    severity=Stake.UTILITY,
    statement=r"\mathop{argmin}_w \langle w, l' \rangle + \tfrac{1}{2\eta}\lVert w \rVert^2 = -\eta l'",
    words="the minimiser of <w, l'> + |w|^2/(2 eta) is -eta l'",
    hypotheses=(real("vector", "l'"), positive("eta")), says=lambda value, eta: -eta * value, check=judge_argmin,
    flips=(Flip("-eta l'/2", lambda value, eta: -eta * value / 2, Verdict.REFUTED),),
    expected="HOLDS PROVED",
)
equivalent = Claim(
    id="glmtron/alg-3-no-noise-equivalence", source="003, Section 5, with Algorithm 4 as printed",
    quote="if the initialization is set to wo = 0, then the update rule of w can be considered equivalent to the one "
          "presented here, provided that the variance of the noise and the clipping threshold are disregarded.",
    whose=Whose.PRINTED, severity=Stake.UTILITY,
    statement=r"w_{t+1} = -\eta\, l'_{\le t} = w_t - \eta\, l_t",
    words="without noise and clipping Algorithm 3 has the iterates of Algorithm 1 from w_0 = 0",
    hypotheses=_RECORDS, says=lambda t: t, check=judge_equivalent,
    uses=("glmtron/alg-4-prefix", "glmtron/alg-3-closed-form"),
    expected="REFUTED PROVED",
    repair=Repair(
        statement=r"w_{t+1} = -\eta \sum_{i=0}^{t} l_i = w_t - \eta\, l_t",
        words="with the sum of l_0, ..., l_t for the answer Algorithm 3 has, without noise and clipping, the iterates "
              "of Algorithm 1 from w_0 = 0",
        says=lambda t: t + 1, expected="HOLDS ARGUED", source="003, Section 5, with the prefix sum that it asks for",
        rests_on=("glmtron/alg-4-prefix-repaired", "glmtron/alg-3-closed-form"),
        true_variants={"any records": "without records there are no steps"},
    ),
)
