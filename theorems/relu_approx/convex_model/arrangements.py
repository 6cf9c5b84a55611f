r"""Section 3.1 of document 000: activation patterns, regions of the arrangement, cones, and how many there are.

D_X collects the patterns 1(Xu >= 0) over *all* u. A u on no hyperplane lies in one region, and regions have different
patterns, so generic u give exactly as many patterns as regions. But a u on a hyperplane can have a pattern of its own:
with the rows 1 and -1 the point u = 0 activates both, which no other u does. So it is for most data: u = 0 has the
pattern of all ones, which no region has as soon as the rows lie in no open half-space.

The count. 1(Xu >= 0) = 1(Xu + t > 0) for all small t > 0, so |D_X| is at most the number of regions of the affine
arrangement x_i^T u = -1 in the r dimensions of the rows, at most sum_{k<=r} C(n, k). As r/n <= 1, (r/n)^r times that
sum is at most sum_k C(n, k) (r/n)^k = (1 + r/n)^n <= e^r. So |D_X| <= (e n / r)^r, and the printed bound is 2 r
((n-1)/n)^r times that, where (n/(n-1))^r <= 2 r for n >= 2: for r = 1 it is n/(n-1) <= 2, for r >= 2 at most
(n/(n-1))^n <= 4, which falls with n. At n = 1 the printed bound is 0.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import sympy
from flint import arb, ctx

from oracle.core.domain import positive_integer, vector
from theorems.claim import Claim, Flip, Repair, Whose
from theorems.given import Domain
from theorems.verdict import Finding, Verdict, argued, computed, instance, proof, refuted, sampled, undecided

Rows = tuple[tuple[int, ...], ...]


def small_matrices() -> list[Rows]:
    """Small integer data, the simplest first: up to four rows in one and two dimensions, no row zero."""
    found: list[Rows] = []
    for dimension, count in ((1, 1), (1, 2), (2, 1), (2, 2), (2, 3), (2, 4)):
        rows = [row for row in itertools.product((1, 0, -1), repeat=dimension) if any(row)]
        found += itertools.combinations_with_replacement(rows, count)
    return found


def directions(dimension: int) -> list[tuple[int, ...]]:
    """Integer vectors that meet every face of an arrangement of hyperplanes with normals in {-1, 0, 1}^d, d <= 2."""
    return list(itertools.product(range(-3, 4), repeat=dimension))


def products(rows: Rows, u: tuple[int, ...]) -> tuple[int, ...]:
    """The inner products of the rows with a vector."""
    return tuple(sum(a * b for a, b in zip(row, u, strict=True)) for row in rows)


def patterns(rows: Rows, *, generic: bool) -> set[tuple[bool, ...]]:
    """The activation patterns 1(Xu >= 0), over all u or over those on no hyperplane."""
    values = (products(rows, u) for u in directions(len(rows[0])))
    return {tuple(v >= 0 for v in value) for value in values if not generic or all(value)}


def regions(normals: list[list[Fraction]]) -> int:
    """The regions of hyperplanes through 0, by deletion and restriction: r(A) = r(A - H) + r(A restricted to H).

    Nothing is sampled: a hyperplane cuts in two the regions that it meets, which are those of its own arrangement.
    """
    if not normals:
        return 1
    first, rest = normals[0], normals[1:]
    pivot = next(i for i, entry in enumerate(first) if entry)
    inside = []
    for row in rest:
        left = [a - row[pivot] / first[pivot] * b for a, b in zip(row, first, strict=True)]
        inside.append([entry for i, entry in enumerate(left) if i != pivot])
    if not all(any(row) for row in inside):
        return regions(rest)  # the same hyperplane again
    return regions(rest) + regions(inside)


def judge_count(generic: bool, given: Domain) -> Finding:
    """Whether the patterns of all u, or of generic u, are as many as the regions."""
    every = small_matrices()
    counted = [(rows, patterns(rows, generic=generic), regions([[Fraction(v) for v in row] for row in rows]))
               for rows in every]
    wrong = [case for case in counted if len(case[1]) != case[2]]
    if wrong:
        rows, found, cells = wrong[0]
        extra = max(found - patterns(rows, generic=True), default=())
        return refuted("there are more patterns than regions, by enumeration", {
            "X": [list(row) for row in rows], "patterns": len(found), "regions": cells,
            "a pattern of no region": [int(b) for b in extra]})
    if not generic:
        return undecided("no case fails", len(every))
    one, other, more = sympy.symbols("a b c", positive=True)
    share = more / (1 + more)  # strictly between 0 and 1
    return proof(
        sampled(f"as many in {len(every)} cases, the regions counted by deletion and restriction", not wrong),
        computed("two u of one sign vector are joined by a segment on which no product vanishes",
                 sympy.factor((1 - share) * one + share * other).is_positive),
        argued("two u of different sign vectors are separated by a hyperplane, so a region is the set of generic u of "
               "one sign vector, and 1(Xu >= 0) tells sign vectors without zeros apart"),
    )


def judge_cones(strict: bool, given: Domain) -> Finding:
    """Whether every u lies in exactly one cone C_i (strict), or in at least one, and off all hyperplanes in one."""
    every = small_matrices()
    for rows in every:
        cones = patterns(rows, generic=False)
        for u in directions(len(rows[0])):
            value = products(rows, u)
            inside = [
                cone for cone in cones if all((v if on else -v) >= 0 for v, on in zip(value, cone, strict=True))
            ]
            if not inside or (len(inside) != 1 and (strict or all(value))):
                return refuted("a point lies in several cones: they share their boundaries", {
                    "X": [list(row) for row in rows], "u": list(u), "cones that contain u": len(inside)})
    if strict:
        return undecided("no case fails", len(every))
    size = sympy.symbols("s", positive=True)
    table = {s: [on for on in (0, 1) if ((2 * on - 1) * s).is_nonnegative] for s in (size, -size, sympy.Integer(0))}
    return proof(
        computed("(2D - 1) x^T u >= 0 leaves a row D = 1 where x^T u > 0, D = 0 where it is < 0, and both at 0",
                 list(table.values()) == [[1], [0], [0, 1]]),
        argued("so u lies in the cone of its own pattern 1(Xu >= 0), and on no hyperplane in no other"),
        tried=len(every),
    )


Bound = Callable[[Any, Any, Any], Any]


def judge_bound(formula: Bound, given: Domain) -> Finding:
    """Whether formula(n, r, e) is at least |D_X| for all X with n rows of rank r <= n.

    In general position X has 2 sum_{k<r} C(n-1, k) regions (Cover), and |D_X| is no smaller.
    """
    tried, proved = 0, True
    with ctx.workprec(128):
        for n in range(min(given.values("n", most=39)), 40):
            for r in range(min(given.values("r", most=39)), n + 1):
                tried += 1
                bound = arb(formula(n, r, arb(1).exp()))
                least = 2 * sum(math.comb(n - 1, k) for k in range(r))
                if not bound >= least:
                    return refuted("points in general position have more patterns", {
                        "n": n, "r": r, "patterns at least": least, "bound": bound.str(8, radius=False)})
                proved = proved and bool(bound >= sum(math.comb(n, k) for k in range(r + 1)))
    n_, r_, x = given.chart("n"), given.symbol("r"), sympy.symbols("x", positive=True)
    falls = sympy.simplify(sympy.diff(sympy.log(1 + x) - x, x))  # log(1 + x) <= x for x >= 0
    log_bound = sympy.expand_log(sympy.log(formula(n_, r_, sympy.E)), force=True)
    parts = sympy.log(2 * r_) + r_ * (1 + sympy.log(n_) - sympy.log(r_)) + r_ * (sympy.log(n_ - 1) - sympy.log(n_))
    m = sympy.symbols("m", positive=True)
    power = m * (sympy.log(m) - sympy.log(m - 1))  # log of (m/(m-1))^m
    slope = sympy.simplify(sympy.diff(power, m) - (sympy.log(m / (m - 1)) - 1 / (m - 1)))
    return proof(
        argued("|D_X| <= sum_{k<=r} C(n, k), the regions of an affine arrangement, and (r/n)^r times that is at most "
               "(1 + r/n)^n by the binomial theorem, r <= n"),
        sampled(f"the bound is at least that sum at all {tried} pairs with n < 40, certified", proved),
        computed("log(1 + x) <= x, so (1 + r/n)^n <= e^r", falls.is_negative),
        computed("the bound is 2 r ((n-1)/n)^r (e n/r)^r",
                 sympy.simplify(sympy.expand_log(sympy.expand(log_bound - sympy.expand_log(parts, force=True)),
                                                 force=True)) == 0),
        computed("n/(n-1) <= 2 for n >= 2", sympy.factor(2 - n_ / (n_ - 1)).is_nonnegative),
        computed("(n/(n-1))^n falls with n, as log(1 + x) <= x at 1/(n-1), from 4 at n = 2, and 4 <= 2 r for r >= 2",
                 sympy.expand_log(slope, force=True) == 0 and Fraction(2, 1) ** 2 == 4),
    )


def judge_enormous(digits: int, given: Domain) -> Finding:
    """Whether 60000 points in general position of rank 784 (MNIST's sizes) have at least 10^digits regions (Cover)."""
    term = math.comb(59999, 783)  # the largest of the 784 summands
    most = 2 * 784 * term
    if 10**digits > most:
        return refuted("there are fewer, in integers", {"n": 60000, "r": 784, "regions below 10^": len(str(most))})
    if 10**digits > 2 * term:
        return undecided("between one summand and all of them", 1)
    return instance(f"2 C(59999, 783) regions at the least, a number of {len(str(2 * term))} digits")


def printed_bound(n: Any, r: Any, e: Any) -> Any:
    """2 r (e (n - 1) / r)^r, of numbers or of symbols."""
    return 2 * r * (e * (n - 1) / r) ** r


_DATA = (vector("X", "the rows of the data"),)

count = Claim(
    id="relu-approx/DX-regions", source="000, Section 3.1: |D_X| is the number of regions",
    quote=(
        r"Here $|\mathcal{D}_X|$ is the number of regions in a partition of $\mathbb{R}^d$ by hyperplanes that "
        "pass through origin and are perpendicular to the rows of X."
    ),
    whose=Whose.PRINTED,
    statement=r"|\mathcal{D}_X| = \#\{\text{regions of } \mathbb{R}^d \text{ cut by } x_i^\perp\}",
    words="the activation patterns over all u are as many as the regions of the arrangement, for every X",
    hypotheses=_DATA, says=False, check=judge_count,

    expected="REFUTED PROVED",
    repair=Repair(
        statement=r"|\{\mathrm{diag}(\mathbb{1}(Xu \ge 0)) : x_i^T u \ne 0\ \forall i\}| = \#\{\text{regions}\}",
        words="the activation patterns over u on no hyperplane are as many as the regions",
        says=True,
        expected="HOLDS ARGUED",
        source="000, Section 3.1, for u on no hyperplane and rows that are not zero",
    ),
)
cones = Claim(
    id="relu-approx/cones-partition", source="000, Section 3.1: the space is partitioned into the cones C_1, ..., C_M",
    quote=(
        "the parameter space is partitioned into convex cones "
        r"$C_1,\ldots,C_M,C_i=\{u\in\mathbb{R}^d:(2D_i-I)Xu\geq 0\}$"
    ),
    whose=Whose.PRINTED,
    statement=r"\mathbb{R}^d = \bigsqcup_i C_i,\quad C_i = \{u : (2D_i - I)Xu \ge 0\}",
    words="every u lies in exactly one cone C_i",
    hypotheses=_DATA, says=True, check=judge_cones,

    expected="REFUTED PROVED",
    repair=Repair(
        statement=r"\mathbb{R}^d = \bigcup_i C_i \text{ with disjoint interiors}",
        words="the cones C_i cover the space, and a u on no hyperplane lies in exactly one of them",
        says=False,
        expected="HOLDS ARGUED",
        source="000, Section 3.1, up to boundaries",
    ),
)
bound = Claim(
    id="relu-approx/DX-bound", source="000, Section 3.1 (Pilanci and Ergen 2020)",
    quote=r"|\mathcal{D}_X| \le 2r \left(\frac{\mathrm{e}(n-1)}{r}\right)^r",
    whose=Whose.PRINTED,
    statement=r"|\mathcal{D}_X| \le 2r\left(\frac{e(n-1)}{r}\right)^r",
    words="the number of patterns is at most 2 r (e (n-1)/r)^r for every n >= 1",
    hypotheses=(positive_integer("n"), positive_integer("r", "rank, at most n")), says=printed_bound, check=judge_bound,
    flips=(Flip("one more", lambda n, r, e: printed_bound(n + 1, r, e), Verdict.UNDECIDED),),

    expected="REFUTED PROVED",
    repair=Repair(
        statement=r"n \ge 2 \implies |\mathcal{D}_X| \le 2r\left(\frac{e(n-1)}{r}\right)^r",
        words="for n >= 2 the number of patterns is at most 2 r (e (n-1)/r)^r",
        says=printed_bound,
        check=judge_bound,
        hypotheses=(positive_integer("n").at_least(2), positive_integer("r", "rank, at most n")),
        true_variants={"beyond argument 2*": "the third argument is the number e"},
        expected="HOLDS ARGUED",
        source="000, Section 3.1, for two or more records",
        flips=(Flip("without the e", lambda n, r, e: printed_bound(n, r, e / e), Verdict.REFUTED),),
    ),
)
enormous = Claim(
    id="relu-approx/DX-enormous", source="000, Section 3.2, for data of MNIST's sizes in general position",
    quote=(
        r"Since $|\mathcal{D}_X|$ is generally an enormous number, stochastic approximations to the problem (3.3) have "
        "been considered"
    ),
    whose=Whose.READING,
    statement=r"n = 60000,\ r = 784 \implies |\mathcal{D}_X| \ge 2\binom{59999}{783} > 10^{1811}",
    words="60000 points in general position of rank 784 have more than 10^1811 patterns",
    hypotheses=(), says=1811, check=judge_enormous,
    flips=(Flip("10^2000", 2000, Verdict.REFUTED),),
    true_variants={"sign": "a smaller power is exceeded, too"},
    expected="HOLDS PROVED",
)
