r"""Draws with replacement, and how large a sample is, in document 004.

B draws of n rows; the base does not look at their order. The record is drawn K times, K ~ Bin(B, 1/n).

Chain. Given the other draws, one draw is (1 - 1/n) P0 + P1/n against (1 - 1/n) P0 + Q1/n, with one row of the base's
input changed: by joint convexity it is (e1, delta/n)-DP, e^e1 = 1 + (a - 1)/n, a = e^epsilon. B such changes lead from
one data set to the other; along the chain deltas grow by e^e1 a link, since H_{xy}(P, R) <= H_x(P, Q) + x H_y(Q, R):

    e^epsilon' = (1 + (a-1)/n)^B,      delta' = (delta/n) sum_{i<B} e^{i e1} = delta ((1 + (a-1)/n)^B - 1)/(a - 1).

No smaller epsilon' is right for delta = 0: an outcome of probability c a^#x, #x copies of x in the sample and c small,
is that of an epsilon-DP base, and has the ratio E a^K = (1 + (a-1)/n)^B between data with one x and with none. That is
above 1 + (a-1) B/n, the slides' with p = B/n, for B > 1 and a > 1 (Bernoulli's inequality).

Mixture. With q = P(K > 0), P1 and Q1 given K > 0, joint convexity at a' = 1 + q (a - 1) compares P1 with a mixture of
P0 and Q1, each K rows away: delta' = sum_k P(K = k) delta_k, where delta_k is the worst delta at the same epsilon of
two inputs k rows apart. One row apart P(S) <= g(Q(S)), g(s) = min(1, delta + a s, 1 - (1 - delta - s)/a), the second
by Q's side of the definition; k rows apart P(S) <= g^k(Q(S)), so that delta_k is at most the largest g^k(s) - a s.

Its closed form. Let y = 1/a. g rises, has the slope a up to c = (1-delta) y/(1+y), y from there to 1 - delta, and 0
beyond; g(c) = 1 - c, and g(1 - g(s)) = 1 - s for s <= c. The iterates s_i = g^i(s) rise, so that g^k, which is concave,
has the slope y^(k-2j) at s where j of s_0, ..., s_(k-1) are below c and none is above 1 - delta. With h = floor(k/2)
that is at least a as long as s_h < c (j > h), and less than a, or equal to it, beyond: the largest value is at s* with
g^h(s*) = c, that is s* = y^h c - delta y G_h, G_h = 1 + y + ... + y^(h-1), or at 0 where s* < 0. From c the iterates
run back: g^(i+1)(c) = 1 - s_(h-i), none of the s_1, ..., s_h being below delta, so that none of those is above 1 -
delta before the last. So g^k(s*) is 1 - s* for odd k and 1 - g(s*) = 1 - delta - a s* for even k > 0.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable
from fractions import Fraction
from math import comb
from typing import Any

import sympy

from oracle.core.domain import Parameter, positive_integer, probability, unit_interval
from theorems.claim import Claim, Flip, Repair, Stake, Whose
from theorems.cs208.judging import Formula, formula
from theorems.given import Domain
from theorems.tools.symbolic_signs import never_negative, vanishes
from theorems.verdict import Finding, ProofStep, Verdict, argued, computed, proof, refuted, sampled

Pair = tuple[Formula, Formula]
"""e^{epsilon'} and delta'/delta as functions of e^epsilon, the draws and the data set size."""


def copies(odds: Fraction, draws: int, size: int) -> Fraction:
    """E a^K for the number K of draws of one record, by its law."""
    return sum((comb(draws, k) * Fraction(size - 1) ** (draws - k) / Fraction(size) ** draws * odds**k
                for k in range(draws + 1)), Fraction(0))


def chained(odds: Fraction, draws: int, size: int) -> Fraction:
    """(1/n) sum over the links of e^{i e1}, link by link."""
    link, total, factor = 1 + (odds - 1) / size, Fraction(0), Fraction(1)
    for _ in range(draws):
        total, factor = total + factor / size, factor * link
    return total


def judge_chain(says: Pair, given: Domain) -> Finding:
    """Whether draws with replacement amplify so: never below the base that counts copies, and what the chain gives."""
    tried = 0
    lead = [{"odds": Fraction(3), "draws": 2, "size": 2}]
    for point in [*lead, *given.points("odds", "draws", "size", at_most=60, most={"draws": 8, "size": 8})]:
        odds, draws, size = point["odds"], point["draws"], Fraction(point["size"])
        claimed, true = says[0](odds, draws, size), copies(odds, draws, int(size))
        tried += 1
        if claimed < true:
            return refuted("a base that counts the copies of the record has larger odds", {
                "e^epsilon": odds, "B": draws, "n": size, "claimed odds": claimed, "odds": true})
        if claimed != true:
            return refuted("the least odds for pure bases are others", {
                "e^epsilon": odds, "B": draws, "n": size, "claimed odds": claimed, "odds": true})
        if says[1](odds, draws, size) != chained(odds, draws, int(size)):
            return refuted("the chain has another delta", {
                "e^epsilon": odds, "B": draws, "n": size, "claimed delta'/delta": says[1](odds, draws, size),
                "of the chain": chained(odds, draws, int(size))})
    odds, draws, size = given.chart("odds"), given.symbol("draws"), given.symbol("size")
    link = 1 + (odds - 1) / size
    total = says[1](odds, draws, size)
    i = sympy.Symbol("i", positive=True)
    return proof(
        computed("E a^K of the binomial law is (1 - 1/n + a/n)^B, the claimed odds",
                 vanishes(sympy.log(says[0](odds, draws, size)) - draws * sympy.log(1 - 1 / size + odds / size))
                 or vanishes(says[0](odds, draws, size) - (1 - 1 / size + odds / size) ** draws)),
        computed("one more link adds e^(i e1)/n, and no link is 0: the claimed delta'/delta is the chain's",
                 vanishes(sympy.simplify(says[1](odds, i + 1, size) - says[1](odds, i, size) - link**i / size))
                 and vanishes(total.subs(draws, 0))),
        computed("the odds of a link are not below 1", never_negative(link - 1)),
        argued("one draw, given the others, is a mixture with the share 1/n: joint convexity; the chain's triangle "
               "inequality H_(xy)(P, R) <= H_x(P, Q) + x H_y(Q, R); the base that counts copies is epsilon-DP"),
        tried=tried,
    )


def one_more(s: Fraction, delta: Fraction, y: Fraction) -> Fraction:
    """g(s), y = 1/a: how large P(S) can be for Q(S) = s, one row apart."""
    return min(Fraction(1), delta + s / y, 1 - y * (1 - delta - s))


def turns(delta: Fraction, y: Fraction, rows: int) -> set[Fraction]:
    """Where g^k has a corner: the corners of g, and what g takes to corners of g^(k-1)."""
    corner, end = (1 - delta) * y / (1 + y), 1 - delta
    found: set[Fraction] = {Fraction(0), corner, end}
    inner: set[Fraction] = set(found)
    for _ in range(rows - 1):
        before = set()
        for value in inner:
            low, high = y * (value - delta), 1 - delta - (1 - value) / y  # the two branches, inverted
            before |= {s for s in (low, high) if 0 <= s <= 1 and one_more(s, delta, y) == value}
        inner = before
        found |= inner
    return found


def apart(delta: Fraction, y: Fraction, rows: int) -> Fraction:
    """The largest g^k(s) - a s: it is concave between 0 and 1, and largest at a corner."""
    def gap(s: Fraction) -> Fraction:
        value = s
        for _ in range(rows):
            value = one_more(value, delta, y)
        return value - s / y

    return max(map(gap, turns(delta, y, rows)))


def group(delta: Any, y: Any, rows: int) -> Any:
    """delta_k in closed form: by halves of k, or the k-fold g at 0 where the deltas leave no room."""
    half = rows // 2
    geometric, before = (sum((y**i for i in range(count)), 0 * y) for count in (half, max(half - 1, 0)))
    if (1 - delta) * y**half < delta * (1 + y) * geometric:
        value = 0 * delta
        for _ in range(rows):
            value = one_more(value, delta, y)
        return value
    if rows % 2 > 0:
        return (1 - y) * geometric + delta * y**half + delta * (1 + y) * geometric
    return (1 - delta) * (1 - y) * (1 + 2 * y * before) / (1 + y) + 2 * delta * geometric


def at_best(delta: Fraction, y: Fraction, rows: int) -> Fraction:
    """g^k(s) - a s at the s* of the docstring, or at 0: g applied k times."""
    half = rows // 2
    best = y**half * (1 - delta) * y / (1 + y) - delta * sum((y ** (i + 1) for i in range(half)), Fraction(0))
    value = start = max(best, Fraction(0))
    for _ in range(rows):
        value = one_more(value, delta, y)
    return value - start / y


def best_steps() -> tuple[ProofStep, ...]:
    """The identities of the closed form, u for y^h."""
    s, y, d, u = sympy.symbols("s y d u", positive=True)
    c, geometric, before = (1 - d) * y / (1 + y), (1 - u) / (1 - y), (1 - u / y) / (1 - y)  # c, G_h and G_(h-1)

    def low(at: Any) -> Any:
        return d + at / y

    def high(at: Any) -> Any:
        return 1 - y * (1 - d - at)

    best = u * c - d * y * geometric
    odd = (1 - y) * geometric + d * u + d * (1 + y) * geometric
    even = (1 - d) * (1 - y) * (1 + 2 * y * before) / (1 + y) + 2 * d * geometric
    return (
        computed("the branches of g meet at c, where g(c) = 1 - c; g(1 - g(s)) = 1 - s", vanishes(
            low(c) - high(c), low(c) - 1 + c, high(1 - low(s)) - 1 + s)),
        computed("h times the branch of slope a takes s* to c", vanishes(best / u + d * geometric * y / u - c)),
        computed("1 - s* - a s* and 1 - delta - 2 a s* are the closed forms for odd and even k, on symbols", vanishes(
            sympy.simplify(1 - best - best / y - odd), sympy.simplify(1 - d - 2 * best / y - even))),
    )


def judge_group(says: Callable[[Any, Any, int], Any], given: Domain) -> Finding:
    """Whether says(delta, y, k) is the largest g^k(s) - a s, exactly, at points: over all corners, or where it is."""
    tried = 0
    for point in given.points("delta", "odds", "rows", at_most=120, most={"rows": 9}):
        delta, y, rows = point["delta"], 1 / point["odds"], point["rows"]
        true = apart(delta, y, rows)
        tried += 1
        if says(delta, y, rows) != true:
            return refuted("so many rows apart the worst delta at this epsilon is another", {
                "delta": delta, "e^-epsilon": y, "rows": rows, "claimed": says(delta, y, rows), "worst": true})
    far = itertools.product(given.values("delta"), given.values("odds"), (10, 33, 100))
    for delta, odds, rows in far if given.contains(rows=100) else ():
        tried += 1
        if says(delta, 1 / odds, rows) != at_best(delta, 1 / odds, rows):
            return refuted("so many rows apart the worst delta at this epsilon is another", {
                "delta": delta, "e^-epsilon": 1 / odds, "rows": rows, "claimed": says(delta, 1 / odds, rows),
                "worst": at_best(delta, 1 / odds, rows)})
    s, y, d = sympy.symbols("s y d", positive=True)
    return proof(
        computed("P(S) <= delta + a Q(S), and 1 - P(S) >= (1 - delta - Q(S))/a, as Q's complement is at most delta + a "
                 "times P's", vanishes((1 - s) - d - ((1 - d - s) / y) * y)),
        sampled(f"the closed form is the largest g^k(s) - a s, exactly, at {tried} points", True),
        *best_steps(),
        argued("g rises, so that it can be applied k times; where it is largest stands in the module docstring"),
        tried=tried,
    )


def size_by_hand(size: int, rate: Fraction) -> Fraction:
    """The variance of the number of rows that a Poisson sample draws, over all samples."""
    law = {drawn: comb(size, drawn) * rate**drawn * (1 - rate) ** (size - drawn) for drawn in range(size + 1)}
    mean = sum((k * weight for k, weight in law.items()), Fraction(0))
    return sum(((k - mean) ** 2 * weight for k, weight in law.items()), Fraction(0))


def size_steps(given: Domain) -> tuple[Any, ...]:
    """Mean and variance by the derivatives of (1 - p + p z)^n at z = 1."""
    z, n, p = sympy.Symbol("z", positive=True), given.symbol("size"), given.chart("rate")
    law = (1 - p + p * z) ** n
    first = sympy.simplify(sympy.diff(law, z).subs(z, 1))
    second = sympy.simplify(sympy.diff(law, z, 2).subs(z, 1))
    return (computed("the generating function (1 - p + p z)^n has the mean n p and the variance n p (1 - p)",
                     vanishes(first - n * p, second + first - first**2 - n * p * (1 - p))),)


_ODDS = Parameter("odds", low=Fraction(1), meaning="e^epsilon")
_DRAWS = (_ODDS, positive_integer("draws", "B"), positive_integer("size", "n"))
_SUBSET = r"outputs a random subset of pn out of n rows and $M : \mathcal{X}^B \rightarrow \mathcal{Y}$"

replacement = Claim(
    id="cs208/amp-with-replacement", source="004, DP SGD: B points with replacement, p = B/n",
    quote="Choosing B points with replacement", whose=Whose.PRINTED, severity=Stake.PRIVACY,
    statement=r"\varepsilon' = \ln\Big(1 + (e^\varepsilon - 1)\frac Bn\Big),\quad \delta' = \frac Bn \delta",
    words="B draws with replacement amplify (epsilon, delta) as a sample of rate B/n does",
    hypotheses=_DRAWS,
    says=(lambda odds, draws, size: 1 + (odds - 1) * draws / size, lambda odds, draws, size: draws / size),
    check=judge_chain, expected="REFUTED PROVED",
    repair=Repair(
        statement=r"\varepsilon' = B \ln\Big(1 + \frac{e^\varepsilon - 1}n\Big),\quad"
                  r" \delta' = \delta\, \frac{(1 + (e^\varepsilon - 1)/n)^B - 1}{e^\varepsilon - 1}",
        words="B draws with replacement, their order unseen and a record replaced, amplify so for epsilon > 0; no "
              "smaller epsilon' is right for delta = 0 (and delta' tends to B delta/n as epsilon falls to 0)",
        hypotheses=(Parameter("odds", low=Fraction(1), low_open=True, meaning="e^epsilon"), *_DRAWS[1:]),
        says=(lambda odds, draws, size: (1 + (odds - 1) / size) ** draws,
              lambda odds, draws, size: ((1 + (odds - 1) / size) ** draws - 1) / (odds - 1)),
        expected="HOLDS ARGUED", source="004, DP SGD: B points with replacement, draw by draw",
        rests_on=("background/joint-convexity",),
        flips=(Flip("the rate of being drawn", (
            lambda odds, draws, size: 1 + (1 - (1 - 1 / size) ** draws) * (odds - 1), lambda odds, draws, size: 1),
            Verdict.REFUTED),),
    ),
)
mixture = Claim(
    id="cs208/amp-with-replacement-mixture", source="004, DP SGD: B points with replacement, by how often one is drawn",
    severity=Stake.PRIVACY,
    statement=r"\varepsilon' = \ln(1 + q(e^\varepsilon - 1)),\ q = 1 - (1 - 1/n)^B,\quad \delta' = \sum_k P(K = k)"
              r"\,\delta_k,\ \delta_k = \max_s g^k(s) - e^\varepsilon s",
    words="draws with replacement amplify as the rate of being drawn at all says, with a delta' of groups of k copies, "
          "whose worst delta_k at the same epsilon has this closed form",
    hypotheses=(unit_interval("delta"), _ODDS, positive_integer("rows", "k")), says=group, check=judge_group,
    flips=(Flip("one row for all", lambda delta, y, rows: delta, Verdict.REFUTED),),
    rests_on=("background/joint-convexity",),
    survivors={"beyond *": "more rows than a hundred are in words only", "between*": "tried at points only"},
    expected="HOLDS ARGUED",
)
size_of_batch = Claim(
    id="cs208/subsample-batch-size", source="004, DP SGD: pn rows, B of them, and three ways to draw them",
    quote=_SUBSET, whose=Whose.PRINTED, severity=Stake.PRIVACY, statement=r"|S| = pn = B",
    words="the sample has B = pn rows: drawn without replacement, or by Poisson sampling",
    hypotheses=(positive_integer("size", "n"), probability("rate", "p")), says=None, check=None,
    readings=("cs208/subsample-batch-size-reading-poisson", "cs208/subsample-batch-size-reading-without"),
    expected="AMBIGUOUS PROVED", repaired_by="cs208/subsample-batch-size-repaired",
)
_SIZES = formula(
    ("size", "rate"), size_by_hand, lambda n, p: n * p * (1 - p), "the number of rows drawn has another variance",
    "n independent draws have the variance n p (1 - p), on symbols", simple={"size": "2", "rate": "1/2"},
    most={"size": 6}, more=size_steps, left="claimed variance", right="variance",
)
size_poisson = Claim(
    id="cs208/subsample-batch-size-reading-poisson", source="004, DP SGD: pn rows, read of Poisson sampling",
    quote=r"Poisson sampling: choosing each point independently with prob. $p = B/n$.", whose=Whose.READING,
    severity=Stake.PRIVACY, statement=r"|S| = pn", words="a Poisson sample of rate p has exactly pn rows",
    hypotheses=size_of_batch.hypotheses, says=lambda n, p: 0 * n, check=_SIZES, expected="REFUTED PROVED",
    flips=(Flip("with the variance n p (1 - p)", lambda n, p: n * p * (1 - p), Verdict.HOLDS),),
    repaired_by="cs208/subsample-batch-size-repaired",
)
size_repaired = Claim(
    id="cs208/subsample-batch-size-repaired", source="004, DP SGD: pn rows, on average, of a Poisson sample",
    severity=Stake.PRIVACY, statement=r"E|S| = pn,\ \mathrm{Var}|S| = np(1 - p)",
    words="a Poisson sample has pn rows on average, with variance n p (1 - p): M must take any number of rows",
    hypotheses=size_of_batch.hypotheses, says=lambda n, p: n * p * (1 - p), check=_SIZES,
    flips=(Flip("exactly pn", lambda n, p: 0 * n, Verdict.REFUTED),),
    true_variants={"any rate": "an identity of expressions in p"}, expected="HOLDS PROVED",
)
size_without = Claim(
    id="cs208/subsample-batch-size-reading-without", source="004, DP SGD: B rows without replacement, p = B/n",
    quote=r"We can take $p = B/n$.", whose=Whose.READING, severity=Stake.PRIVACY, statement=r"P(i \in S) = p = B/n",
    words="a sample of B rows without replacement holds each row with probability p = B/n, so that B = pn",
    hypotheses=(positive_integer("batch", "B"), positive_integer("size", "n - B + 1")),
    says=lambda batch, size: batch / (batch + size - Fraction(1)),
    check=formula(
        ("batch", "size"), lambda batch, size: Fraction(
            sum(0 in rows for rows in itertools.combinations(range(batch + size - 1), batch)),
            comb(batch + size - 1, batch)),
        lambda batch, size: Fraction(1) * batch / (batch + size - 1), "a row is drawn with another probability",
        "C(n-1, B-1)/C(n, B) = B/n, on symbols", most={"batch": 4, "size": 4},
        more=lambda given: (computed("the share of the samples that hold a row", vanishes(sympy.combsimp((
            sympy.binomial(given.symbol("batch") + given.symbol("size") - 2, given.symbol("batch") - 1)
            / sympy.binomial(given.symbol("batch") + given.symbol("size") - 1, given.symbol("batch"))).rewrite(
                sympy.gamma)) - given.symbol("batch") / (given.symbol("batch") + given.symbol("size") - 1))),),
    ),
    flips=(Flip("1/B", lambda batch, size: Fraction(1) / batch, Verdict.REFUTED),), expected="HOLDS PROVED",
)
