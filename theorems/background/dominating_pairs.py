r"""Dominating pairs (Zhu, Dong and Wang 2022): which curves belong to a pair, and that every mechanism has a tight one.

A function h of the order belongs to a pair, h(x) = H_x(P, Q) for all x > 0, exactly when it is convex, falls, tends to
1 at 0 and is nowhere below max(0, 1 - x). For a broken line with knots r_1 < ... < r_k the pair is read off: Q puts the
jump of the slope at r_j on an outcome of its own and P r_j times as much; P puts h(infinity) where Q has nothing, and Q
puts 1 + h'(0+) where P has nothing. Summing (p - x q)_+ over r_j > x gives back h, whose slope at x is minus Q's mass
beyond x, and whose value at 0 is P's mass, 1.

The largest of several such functions is one of them, too. So every mechanism has a pair that dominates it with
equality, and pairs compose by relu-approx/thm-2.4.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import sympy

from oracle.core.domain import positive
from theorems.claim import Claim, Flip, Stake
from theorems.given import Domain
from theorems.tools.finite_laws import LawPair, dominates, hockey_stick, laws, shown
from theorems.tools.symbolic_signs import never_negative, vanishes
from theorems.verdict import Finding, Verdict, argued, computed, proof, refuted

Points = list[tuple[Any, Any]]
"""The vertices of a broken line, from (0, 1) to its last knot; beyond that it is constant."""


def pair_of(curve: Points) -> LawPair:
    """The pair of the module docstring."""
    slopes = [(y1 - y0) / (x1 - x0) for (x0, y0), (x1, y1) in itertools.pairwise(curve)] + [Fraction(0)]
    jumps = [(x, after - before) for (x, _), before, after in zip(curve[1:], slopes, slopes[1:], strict=False)]
    first = [x * q for x, q in jumps] + [curve[-1][1], Fraction(0)]
    second = [q for _, q in jumps] + [Fraction(0), 1 + slopes[0]]
    return tuple(first), tuple(second)


def upper_curve(pairs: list[LawPair]) -> Points:
    """The largest divergence of several finite pairs, as a broken line: with kinks at their ratios and crossings."""
    ratios = sorted({p / q for pair in pairs for p, q in zip(*pair, strict=True) if q > 0} | {Fraction(0)})
    knots = set(ratios)
    for low, high in itertools.pairwise(ratios):
        for one, other in itertools.combinations(pairs, 2):
            left, right = (hockey_stick(*one, x) - hockey_stick(*other, x) for x in (low, high))
            if left * right < 0:
                knots.add(low + (high - low) * left / (left - right))
    return [(x, max(hockey_stick(*pair, x) for pair in pairs)) for x in sorted(knots)]


def judge_pairs(says: Callable[[Points], tuple[tuple[Any, ...], tuple[Any, ...]]], given: Domain) -> Finding:
    """Build the pair of the largest curve of small mechanisms; it must be a pair of laws with exactly that curve."""
    tried = 0
    small = list(laws(2, 4))
    for mechanism in itertools.product(small, repeat=3):
        pairs: list[LawPair] = [(mechanism[0], mechanism[1]), (mechanism[0], mechanism[2])]  # the relation is one-sided
        if len(curve := upper_curve(pairs)) < 2:
            continue
        tried += 1
        pair = says(curve)
        sums = [sum(law, Fraction(0)) for law in pair]
        between = [(a + b) / 2 for (a, _), (b, _) in itertools.pairwise(curve)]
        wrong = [
            x for x in [*(x for x, _ in curve if x > 0), *between, curve[-1][0] + 1, *given.values("alpha")]
            if hockey_stick(*pair, x) != max(hockey_stick(*one, x) for one in pairs)
        ]
        if sums != [1, 1] or min(map(min, pair)) < 0 or wrong or not all(dominates(pair, one) for one in pairs):
            return refuted(
                "not a pair of laws, or not this curve",
                {"laws on the data sets": "; ".join(map(shown, mechanism)), "P": shown(pair[0]), "Q": shown(pair[1]),
                 "masses": shown(sums), "orders that differ": shown(wrong)},
            )
    # Knots r, r + s, r + s + t, jumps of the slope a, b, c there, and h(infinity) = y; (0, 1) is the first vertex.
    r, s, t, a, b, c = sympy.symbols("r s t a b c", positive=True)
    y, x = 1 - r * a - (r + s) * b - (r + s + t) * c, given.symbol("alpha", "x")
    line = [(0, sympy.Integer(1)), (r, y + s * (b + c) + t * c), (r + s, y + t * c), (r + s + t, y)]
    first, second = says(line)
    pieces = []  # between the knots: what P has more than x times Q beyond x, and the line
    for start, (x0, y0), (x1, y1) in zip(range(3), line, line[1:], strict=False):
        excess = sum(first[start:-1]) - x * sum(second[start:-1])
        pieces.append(excess - (y0 + (y1 - y0) / (x1 - x0) * (x - x0)))
    return proof(
        computed("for a line with three knots P and Q have mass 1",
                 len(first) == len(second) == 5 and vanishes(sum(first) - 1, sum(second) - 1)),
        computed("their masses are not negative: Q has the jumps of the slope and P so many times as the knot is, and "
                 "what is left over is h(infinity) >= 0 and 1 + h'(0+) >= 0",
                 never_negative(*first[:3], *second[:3]) and vanishes(first[3] - y, second[4] - (1 - a - b - c))
                 and x.is_positive is True),
        computed("their divergence is the line, between any two knots and beyond the last",
                 vanishes(*pieces, first[3] - y)),
        argued("a further knot adds a jump in the same way: induction over the knots; other convex h are limits of "
               "broken lines; and the largest of several such functions is one of them"),
        tried=tried,
    )


zhu = Claim(
    id="background/zhu",
    source="Zhu, Dong and Wang 2022, dominating pairs; text not at hand, proved here for broken lines",
    severity=Stake.PRIVACY,
    statement=(
        r"h \text{ convex, falling},\ h(0^+) = 1,\ h(x) \ge \max(0, 1 - x) \implies"
        r" h(x) = H_x(P \| Q) \text{ for a pair } (P, Q)"
    ),
    words="every mechanism has a pair that dominates it with equality",
    hypotheses=(positive("alpha"),),
    says=pair_of,
    check=judge_pairs,
    flips=(
        Flip("P and Q exchanged", lambda curve: pair_of(curve)[::-1], Verdict.REFUTED),
        Flip("what Q alone has is left out", lambda curve: (pair_of(curve)[0][:-1], pair_of(curve)[1][:-1]),
             Verdict.REFUTED),
    ),
    true_variants={"beyond argument 0.0.1*": "the first vertex is (0, 1)"},
    survivors={"beyond argument 0.length*": "for more than five vertices the proof stands in words only",
               "between: argument 0.4.*": "for more than three knots the proof stands in words only",
               "beyond argument 0.4.*": "for more than three knots the proof stands in words only"},
    expected="HOLDS ARGUED",
)
