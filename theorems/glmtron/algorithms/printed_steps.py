"""Single steps of the algorithms as printed: the indices of (3), the entries of a histogram, the noises of an answer.

Step 7 of Algorithm 2 is damaged in the scan: an entry of the histogram is the share of the K batch means in a bin, or
their sum over K. A record moves one batch mean: two shares change by 1/K each, and sums by as much as the mean is.
"""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from typing import Any

import sympy

from oracle.core.domain import positive, positive_integer
from theorems.claim import Claim, Flip, Repair, Stake, Whose
from theorems.given import Domain
from theorems.glmtron.algorithms.tree_walk import digits_of
from theorems.tools.readings import reading
from theorems.tools.symbolic_signs import never_negative, vanishes
from theorems.verdict import Finding, Verdict, argued, computed, instance, proof, refuted, sampled


def judge_indices(says: tuple[int, int], given: Domain) -> Finding:
    """Whether w_t = w_{t-1} - ... for t = first, ..., N - last makes exactly w_1, ..., w_N from w_0 (N = 5)."""
    first, last = says
    records = 5
    known = [0]
    for t in range(first, records - last + 1):
        if t - 1 not in known:
            return refuted("the update asks for an iterate that does not exist", {
                "N": records, "t": t, "asked": f"w_{t - 1}", "known": ", ".join(f"w_{one}" for one in known)})
        known.append(t)
    if known[-1] != records:
        return refuted("the last iterate is another", {
            "N": records, "t": known[-1], "asked": f"w_{records}", "known": ", ".join(f"w_{one}" for one in known)})
    return instance("every iterate is made from the one before")


def judge_entries(entry: Callable[[Any], Any], given: Domain) -> Finding:
    """Whether a histogram of entries entry(mean)/K moves by at most 2/K in the 1-norm when a mean changes its bin."""
    tried = 0
    for point in given.points("mean", "other", "count", at_most=100):
        mean, other, count = point["mean"], point["other"], point["count"]
        tried += 1
        moved = (entry(mean) + entry(other)) / count
        if moved > Fraction(2, count):
            return refuted("one mean that goes to another bin moves the histogram by more than 2/K", {
                "mean": mean, "mean of the neighbour": other, "K": count, "moved": moved, "2/K": Fraction(2, count)})
    mean_, other_, count_ = (given.symbol(name) for name in ("mean", "other", "count"))
    return proof(
        computed("2/K is not exceeded, on symbols",
                 never_negative(2 / count_ - (entry(mean_) + entry(other_)) / count_)),
        argued("no other entry changes: a record is in one batch"), tried=tried)


def judge_noises(most: Callable[[int], int], given: Domain) -> Finding:
    """Whether the answer to k leaves has at most most(k) node noises, with equality where k is 2^j - 1."""
    tried = 0
    for k in (*given.values("leaves", most=40), 7, 63, 1023):
        noises = len(digits_of(k))
        tried += 1
        if noises > most(k) or (k & (k + 1) == 0 and noises < most(k)):
            return refuted("the answer has another number of noises", {"k": k, "noises": noises, "claimed": most(k)})
    j = sympy.Symbol("j", integer=True, nonnegative=True)
    total = sympy.summation(2**sympy.Symbol("i"), (sympy.Symbol("i"), 0, j - 1))
    return proof(
        computed("2^j - 1 has j ones, on symbols", vanishes(total - (2**j - 1))),
        sampled("the noises are the ones of k", tried > 0),
        argued("k has at most as many ones as digits, ceil(lg(k + 1))"), tried=tried)


_MEANS = (positive("mean"), positive("other", "mean of the neighbour"), positive_integer("count", "K"))

indices = Claim(
    id="glmtron/eq-3-index", source="003, (3): w_t from w_{t-1}, iterated from t = 0 to t = N",
    quote="where the algorithm commence from an initial point w( and iterate from ¢ = 0 to ¢ = N with stepsize 7.",
    whose=Whose.TYPO, severity=Stake.EDITORIAL, statement=r"w_t = w_{t-1} - \ldots,\ t = 0, \ldots, N",
    words="the updates (3) for t = 0, ..., N make w_1, ..., w_N from w_0", hypotheses=(), says=(0, 0),
    check=judge_indices, expected="REFUTED PROVED",
    repair=Repair(
        statement=r"w_t = w_{t-1} - \ldots,\ t = 1, \ldots, N",
        words="the updates (3) for t = 1, ..., N make w_1, ..., w_N from w_0", says=(1, 0), expected="HOLDS PROVED",
    ),
)
entries = Claim(
    id="glmtron/alg-2-step-7", source="003, Algorithm 2, step 7 (scanned: a share of means, or a sum of them)",
    quote="7: Compute dj, < ZjeDZ d?1(d} < (d})\")/| Dy, where Dy is the interval in Q7", whose=Whose.PRINTED,
    severity=Stake.PRIVACY, statement=r"\lVert \hat d(D) - \hat d(D') \rVert_1 \le 2/K",
    words="a record moves the histogram of step 7 by at most 2/K: of shares of the means, or of sums of them",
    hypotheses=_MEANS, says=None, check=None,
    readings=("glmtron/alg-2-step-7-reading-share", "glmtron/alg-2-step-7-reading-sum"), expected="AMBIGUOUS ARGUED",
)
share = reading(
    entries, "share", source="003, Algorithm 2, step 7, the share of the K batch means in a bin",
    words="a record moves the shares of the batch means in the bins by at most 2/K together",
    says=lambda mean: 1 + 0 * mean, check=judge_entries,
    flips=(Flip("the mean itself", lambda mean: mean, Verdict.REFUTED),),
    true_variants={"1 % less": "smaller entries move less", "any *": "the entry does not depend on the mean",
                   "sign": "minus the histogram moves as far", "squared": "1 squared", "+ -> - *": "1 - 0"},
    expected="HOLDS ARGUED",
)
total = reading(
    entries, "sum", source="003, Algorithm 2, step 7, the sum of the batch means in a bin over K",
    words="a record moves the sums of the batch means in the bins, over K, by at most 2/K together",
    says=lambda mean: mean, check=judge_entries, flips=(Flip("shares", lambda mean: 1 + 0 * mean, Verdict.HOLDS),),
    repaired_by="glmtron/alg-2-step-7-reading-share", expected="REFUTED PROVED",
)
noises = Claim(
    id="glmtron/alg-4-noises", source="003, Section 5: v is a combination of O(ceil(log2 t)) Gaussians (t = k leaves)",
    quote="and v is a combination of at most O([log, t]) Gaussian.", whose=Whose.PRINTED, severity=Stake.PROOF,
    statement=r"\nu_k \text{ has at most } \lceil\lg(k+1)\rceil \text{ node noises}",
    words="the answer to k leaves has at most ceil(lg(k + 1)) node noises, and as many for k = 2^j - 1",
    hypotheses=(positive_integer("leaves", "k"),), says=lambda k: k.bit_length(), check=judge_noises,
    flips=(Flip("one less", lambda k: k.bit_length() - 1, Verdict.REFUTED),),
    survivors={"*beyond*": "numbers of digits are counted, not computed on symbols: the rest of the proof is in words"},
    true_variants={"any leaves": "no answer has fewer than one leaf"},
    expected="HOLDS ARGUED",
)
