r"""Section 3.1 of document 000: activation patterns, regions of the arrangement, cones, and how many there are.

D_X collects the patterns 1(Xu >= 0) over *all* u. A u on no hyperplane lies in one region, and regions have different
patterns, so generic u give exactly as many patterns as regions. But a u on a hyperplane can have a pattern of its own:
with the rows 1 and -1 the point u = 0 activates both, which no other u does.

The count of regions is at most 2 sum_{k<r} C(n-1, k) (Cover). With m = n - 1 and r <= m: (r/m)^r sum_{k<r} C(m, k) <=
sum C(m, k) (r/m)^k <= (1 + r/m)^m <= e^r. For r = m + 1 the sum is 2^m, and (m/(m+1))^{m+1} >= 1/4 for m >= 1, so
(m+1) e^{m+1} / 4 >= 2^m is enough. At n = 1 the printed bound is 0.
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
from theorems.domain import Domain
from theorems.verdict import Finding, Verdict, argued, proof, refuted, undecided

Rows = tuple[tuple[int, ...], ...]


def small_matrices() -> list[Rows]:
    """Small integer data, the simplest first: up to three rows in one and two dimensions, no row zero."""
    found: list[Rows] = []
    for dimension, count in ((1, 1), (1, 2), (2, 1), (2, 2), (2, 3)):
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


def regions(rows: Rows) -> int:
    """The number of regions: different sign vectors without a zero."""
    values = (products(rows, u) for u in directions(len(rows[0])))
    return len({tuple(v > 0 for v in value) for value in values if all(value)})


def judge_count(generic: bool, given: Domain) -> Finding:
    """Whether the patterns of all u, or of generic u, are as many as the regions."""
    every = small_matrices()
    for rows in every:
        found, cells = patterns(rows, generic=generic), regions(rows)
        if len(found) != cells:
            return refuted(
                "there are more patterns than regions, by enumeration",
                {"X": str([list(row) for row in rows]), "patterns": str(len(found)), "regions": str(cells),
                 "a pattern of no region": str([int(b) for b in max(found - patterns(rows, generic=True))])},
            )
    if not generic:
        return undecided("no case fails", len(every))
    return proof(argued(
        "for rows that are not zero a region is the set of generic u of one sign vector, and 1(Xu >= 0) tells sign "
        f"vectors without zeros apart; enumerated for {len(every)} matrices"
    ))


def judge_cones(strict: bool, given: Domain) -> Finding:
    """Whether every u lies in exactly one cone C_i (strict), or in at least one, with disjoint interiors."""
    every = small_matrices()
    for rows in every:
        cones = patterns(rows, generic=False)
        for u in directions(len(rows[0])):
            value = products(rows, u)
            inside = [
                cone for cone in cones if all((v if on else -v) >= 0 for v, on in zip(value, cone, strict=True))
            ]
            interior = [cone for cone in inside if all(value)]
            if not inside or len(interior) > 1 or (strict and len(inside) != 1):
                return refuted(
                    "a point lies in several cones: they share their boundaries",
                    {"X": str([list(row) for row in rows]), "u": str(list(u)),
                     "cones that contain u": str(len(inside))},
                )
    if strict:
        return undecided("no case fails", len(every))
    return proof(argued(
        "u lies in the cone of its own pattern, and a generic u in no other, since (2D - I)Xu >= 0 fixes "
        f"the sign of every product; enumerated for {len(every)} matrices"
    ))


def judge_bound(says: tuple[int, Callable[[Any, Any, Any], Any]], given: Domain) -> Finding:
    """Whether a bound of |D_X| by n and the rank r is at least Cover's count for all n from a least one, r <= n."""
    least, formula = says
    tried = 0
    with ctx.workprec(128):
        def bound(n: int, r: int) -> arb:
            return arb(formula(n, r, arb(1).exp()))

        for n in range(least, 40):
            for r in range(1, n + 1):
                tried += 1
                count = 2 * sum(math.comb(n - 1, k) for k in range(r))
                if not bound(n, r) >= count:
                    return refuted(
                        "points in general position have more regions",
                        {"n": str(n), "r": str(r), "regions": str(count),
                         "bound": bound(n, r).str(8, radius=False)},
                    )
        # What the proof for all n uses beyond algebra: (m/(m+1))^{m+1} rises from 1/4, and e > 2.
        rises = all(
            Fraction(m, m + 1) ** (m + 1) <= Fraction(m + 1, m + 2) ** (m + 2) for m in range(1, 40)
        ) and arb(1).exp() > 2
    n_, r_ = sympy.symbols("n r", integer=True, positive=True)
    same = sympy.simplify(formula(n_ + 1, r_, sympy.E) - printed_bound(n_ + 1, r_, sympy.E)) == 0
    if least < 2 or not rises or not same:
        return undecided("no case fails; not the bound that is proved", tried)
    return proof(argued(
        "(r/m)^r sum_{k<r} C(m,k) <= (1 + r/m)^m <= e^r for r <= m = n - 1, and 2^m <= (m+1) e^{m+1}/4 for r = n; "
        f"certified at all {tried} pairs with n < 40"
    ))


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
    hypotheses=(positive_integer("n"), positive_integer("r")), says=(1, printed_bound), check=judge_bound,

    expected="REFUTED PROVED",
    repair=Repair(
        statement=r"n \ge 2 \implies \#\{\text{regions}\} \le 2r\left(\frac{e(n-1)}{r}\right)^r",
        words="for n >= 2 the number of regions is at most 2 r (e (n-1)/r)^r",
        says=(2, printed_bound),
        expected="HOLDS ARGUED",
        source="000, Section 3.1, for two or more records",
        flips=(Flip("without the e", (2, lambda n, r, e: printed_bound(n, r, e / e)), Verdict.REFUTED),),
    ),
)
