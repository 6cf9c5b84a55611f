r"""Privacy amplification by sampling in document 004: with and without replacement, Poisson, order, and secrecy.

Let a = e^epsilon and a' = 1 + p (a - 1). background/amplification-wor and -poisson have the proofs that the slides'
statement holds for unordered samples of a fixed size, a record replaced, and for Poisson samples, a record added or
removed. It fails, with a witness for each:

order. If the sample keeps the data's order and the base looks at it, a record that leaves moves the others. n = 3, two
rows, the base a randomised response on each of its two inputs: D = (0, 0, 1) against (1, 0, 1), outcome (1, 0): the
weights a^matches add up to a + 2 and a^2 + a + 1, a ratio above (1 + 2a)/3 by (a - 1)^2/(3 (a + 2)).

Poisson, replaced. A base that is private for replaced records only may tell how many it got: with n = 1 the outcome "a
record, answer 1" has the ratio a. If the base is private for a record less, too, joint convexity gives the statement:
P1 is compared with a mixture of P0 (a record less) and Q1 (a record replaced), each at divergence at most delta.

Published batches. Given the batch, a release with the record has the base's whole divergence H_a: the pair (batch,
release) has H_a = p H_a(base), at the same a: (epsilon, p delta), and for delta = 0 nothing is gained.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import sympy
from flint import ctx

from oracle.core.domain import Parameter, non_negative_integer, positive_integer, unit_interval
from oracle.core.enclosure import ball
from theorems.background.amplification import (
    batch_pairs,
    batch_steps,
    judge_amplification,
    mixed,
    order,
    poisson_pairs,
    poisson_steps,
)
from theorems.claim import Claim, Flip, Repair, Stake, Whose
from theorems.cs208.judging import Formula
from theorems.given import Domain
from theorems.tools.finite_laws import hockey_stick, laws, shown
from theorems.tools.symbolic_signs import never_negative, vanishes
from theorems.verdict import Finding, Verdict, argued, computed, proof, refuted, undecided

Amplified = tuple[Callable[[Any, Any], Any], Callable[[Any, Any], Any]]
"""e^{epsilon'} as a function of e^epsilon and p, and delta' as one of delta and p."""


def responses(rows: tuple[int, ...], odds: Fraction, outcome: tuple[int, ...]) -> Fraction:
    """The probability that randomised responses on the rows give the outcome."""
    matches = sum(one == other for one, other in zip(rows, outcome, strict=True))
    return odds**matches / (1 + odds) ** len(rows)


def judge_ordered(says: Amplified, given: Domain) -> Finding:
    """Whether samples of two of three rows, in the data's order, amplify so for a base of two randomised responses."""
    tried = 0
    for odds in (Fraction(8), *given.values("odds")):
        subsets = list(itertools.combinations(range(3), 2))
        claimed = says[0](odds, Fraction(2, 3))
        for data in itertools.product((0, 1), repeat=3):
            other = (1 - data[0], *data[1:])
            for outcome in itertools.product((0, 1), repeat=2):
                one, two = (sum((responses(tuple(rows[i] for i in subset), odds, outcome) for subset in subsets),
                                Fraction(0)) / len(subsets) for rows in (data, other))
                tried += 1
                if two > claimed * one:
                    return refuted("a base that looks at the order of its rows exceeds it", {
                        "e^epsilon": odds, "D": str(data), "D'": str(other), "outcome": str(outcome),
                        "claimed ratio": claimed, "ratio": two / one})
    return undecided("no outcome of this base is against it", tried)


def judge_replaced(says: tuple[Formula, Formula, bool], given: Domain) -> Finding:
    """Whether a Poisson sample of one record amplifies so, the record replaced, bases as says[2] allows.

    A base has three laws: without the record, with it, with the other one; with says[2] all are neighbours.
    """
    tried = 0
    empty = (Fraction(1), Fraction(0), Fraction(0))
    told = [(empty, (Fraction(0), a / (1 + a), 1 / (1 + a)), (Fraction(0), 1 / (1 + a), a / (1 + a)))
            for a in given.values("odds")]
    some = [*itertools.product(laws(2, 3), repeat=3)]
    some += [((Fraction(0), Fraction(1)), (d, 1 - d), (Fraction(0), Fraction(1))) for d in given.values("delta")]
    for p0, p1, q1 in [*told, *some]:
        for rate, odds in itertools.product(given.values("sampling_rate"), given.values("odds")):
            pairs = [(p1, q1), (q1, p1)] + [pair for one in (p1, q1) for pair in ((one, p0), (p0, one))] * says[2]
            delta = max(hockey_stick(*pair, odds) for pair in pairs)
            first, second = mixed(rate, p0, p1), mixed(rate, p0, q1)
            larger, claimed = Fraction(says[0](odds, rate)), Fraction(says[1](delta, rate))
            true = max(hockey_stick(first, second, larger), hockey_stick(second, first, larger))
            tried += 1
            if true > claimed:
                return refuted("a base that tells how many records it got exceeds it" if not says[2] else
                               "a sampled base exceeds it", {
                    "without": shown(p0), "with": shown(p1), "with the other": shown(q1), "p": rate, "e^epsilon": odds,
                    "delta": delta, "e^epsilon'": larger, "claimed delta'": claimed, "true delta'": true})
    rate, odds, delta = given.chart("sampling_rate"), given.chart("odds"), given.chart("delta")
    common, first_, second_ = sympy.symbols("p_0 p_1 q_1", nonnegative=True)
    larger, share = says[0](odds, rate), says[0](odds, rate) / odds
    left = (1 - rate) * common + rate * first_ - larger * ((1 - rate) * common + rate * second_)
    return proof(
        computed("P - a'Q = p (P1 - a ((1-b) P0 + b Q1)) with b = a'/a, outcome by outcome",
                 vanishes(left - rate * (first_ - odds * ((1 - share) * common + share * second_)))),
        computed("b and 1 - b are shares, and p delta is at most what is claimed", never_negative(
            share, sympy.simplify(1 - share), says[1](delta, rate) - rate * delta, delta, 1 - delta) and says[2]),
        argued("P1 is at divergence at most delta from P0 and from Q1, given who else was drawn; H of mixtures is at "
               "most the mixture of the H"),
        tried=tried,
    )


def judge_published(says: Amplified, given: Domain) -> Finding:
    """Whether a base whose batch is published has the divergence says[1](delta, p) at says[0](a, p), and no less."""
    tried = 0
    leaks = [((Fraction(0), Fraction(1)), (d, 1 - d)) for d in given.values("delta")]
    for without, alone in [*leaks, *itertools.product(laws(2, 4), repeat=2)]:
        for rate, odds in itertools.product(given.values("sampling_rate"), given.values("odds")):
            delta = hockey_stick(alone, without, odds)
            first = (*((1 - rate) * p for p in without), *(rate * p for p in alone))  # (drawn?, answer)
            second = (*((1 - rate) * p for p in without), *(rate * p for p in without))
            tried += 1
            true, claimed = hockey_stick(first, second, Fraction(says[0](odds, rate))), says[1](delta, rate)
            if true != claimed:
                return refuted("with the batch known the divergence is another", {
                    "without": shown(without), "with": shown(alone), "p": rate, "e^epsilon": odds, "delta": delta,
                    "claimed delta'": claimed, "true delta'": true})
    rate, odds, delta = given.chart("sampling_rate"), given.chart("odds"), given.chart("delta")
    common, first_ = sympy.symbols("p_0 p_1", nonnegative=True)
    larger = says[0](odds, rate)
    return proof(
        computed("with the record drawn, p P1 - a' p P0 = p (P1 - a P0): the base's at the same a",
                 vanishes(rate * first_ - larger * rate * common - rate * (first_ - odds * common))),
        computed("without it, [(1-p)(1 - a') P0]_+ is 0, as a' >= 1; and p delta is what is claimed",
                 never_negative(larger - 1, 1 - rate, delta, 1 - delta)
                 and vanishes(says[1](delta, rate) - rate * delta)),
        tried=tried,
    )


def judge_approximate(says: tuple[Fraction, Fraction | None], given: Domain) -> Finding:
    """Whether ln(1 + p (e^epsilon - 1)) lies between p epsilon and says[0] times it, for epsilon up to says[1].

    None for the latter: for all epsilon of the hypotheses.
    """
    factor, most = says
    for point in given.points("epsilon", "sampling_rate"):
        if most is not None and point["epsilon"] > most:
            continue
        with ctx.workprec(80):
            p, e = ball(point["sampling_rate"]), ball(point["epsilon"])
            ratio = (p * e.expm1()).log1p() / (p * e)
            if ratio > ball(factor) or ratio < ball(Fraction(999999, 10**6)):
                return refuted("the two differ by more", {**point, "claimed factor": factor, "factor": ratio.str(10)})
    largest = given["epsilon"].high if most is None else most
    if largest is None:
        return undecided("no largest epsilon", 1)
    x = sympy.symbols("x", nonnegative=True)
    with ctx.workprec(80):
        enough = largest > 0 and ball(largest).expm1() / ball(largest) < ball(factor)
    return proof(
        computed("ln(1 + x) <= x: the slope of the difference is x/(1 + x); so the ratio is at most (e^E - 1)/E",
                 vanishes(sympy.diff(x - sympy.log(1 + x), x) - x / (1 + x)) and never_negative(x / (1 + x))),
        computed("(e^E - 1)/E is below the factor at the largest epsilon, certified", enough),
        argued("(e^E - 1)/E = 1 + E/2 + ... rises; ln(1 + p (e^E - 1)) is concave in p, and E at p = 1: at least p E"),
    )


_RATE, _ODDS, _DELTA = unit_interval("sampling_rate", "p"), Parameter(
    "odds", low=Fraction(1), meaning="e^epsilon"), unit_interval("delta")
_OPEN = Parameter("sampling_rate", low=Fraction(0), low_open=True, high=Fraction(1), meaning="p")
_LEMMA = r"$M'(x) = M(S(x))$ is $(\ln(1 + (e^\epsilon - 1)p), p\delta)$ -DP."
_STATEMENT = r"\big(\ln(1 + (e^\varepsilon - 1)p),\ p\delta\big)\text{-DP}"
_PRINTED: Amplified = (order, lambda delta, p: p * delta)
_FLIPS = (Flip("half of the way", (lambda a, p: 1 + p * (a - 1) / 2, lambda delta, p: p * delta), Verdict.REFUTED),)
_POISSON = r"Poisson sampling: choosing each point independently with prob. $p = B/n$."

without = Claim(
    id="cs208/amp-wor", source="004, DP SGD: Improved Privacy Analysis: a random subset of pn rows", quote=_LEMMA,
    whose=Whose.PRINTED, severity=Stake.PRIVACY, statement=_STATEMENT,
    words="a sample without replacement amplifies so: handed on in the data's order, or to a base blind to it",
    hypotheses=(_ODDS, _DELTA, positive_integer("batch_size", "B"), non_negative_integer("left_out", "n - B")),
    says=None, check=None, readings=("cs208/amp-wor-reading-ordered", "cs208/amp-wor-repaired"),
    expected="AMBIGUOUS ARGUED",
    repair=Repair(
        statement=_STATEMENT + r",\ p = B/n \quad (B \text{ rows without replacement, unordered, a row replaced})",
        words="a sample without replacement amplifies so, a record replaced, for bases blind to the order of the rows",
        says=_PRINTED, check=judge_amplification(batch_pairs, batch_steps), expected="HOLDS ARGUED",
        source="004, DP SGD: Improved Privacy Analysis, for bases blind to the order",
        rests_on=("background/amplification-wor",), flips=_FLIPS,
    ),
)
ordered = Claim(
    id="cs208/amp-wor-reading-ordered", quote=_LEMMA, whose=Whose.READING, severity=Stake.PRIVACY,
    statement=_STATEMENT,
    source="004, DP SGD: Improved Privacy Analysis, read to the letter: M takes tuples, S keeps the rows' order",
    words="a sample without replacement, its rows in the data's order, amplifies so for every base",
    hypotheses=(_ODDS,), says=_PRINTED, check=judge_ordered, repaired_by="cs208/amp-wor-repaired",
    flips=(Flip("the base's own epsilon", (lambda a, p: a, lambda delta, p: p * delta), Verdict.UNDECIDED),),
    expected="REFUTED PROVED",
)
poisson = Claim(
    id="cs208/amp-poisson-addremove", source="004, DP SGD: Poisson sampling, a record added or removed", quote=_POISSON,
    whose=Whose.READING, severity=Stake.PRIVACY, statement=_STATEMENT + r" \text{ under Poisson sampling}",
    words="Poisson sampling amplifies so, a record added or removed", hypotheses=(_ODDS, _DELTA, _RATE), says=_PRINTED,
    check=judge_amplification(poisson_pairs, poisson_steps), flips=_FLIPS,
    rests_on=("background/amplification-poisson",), expected="HOLDS ARGUED",
)
replaced = Claim(
    id="cs208/amp-poisson-replace", source="004, DP SGD: Poisson sampling, a record replaced, as in X^n",
    quote=_POISSON, whose=Whose.READING, severity=Stake.PRIVACY,
    statement=_STATEMENT + r" \text{ under Poisson sampling, } x, x' \in X^n",
    words="Poisson sampling amplifies so, a record replaced, for every base that is private for replaced records",
    hypotheses=(_ODDS, _DELTA, _RATE), says=(*_PRINTED, False), check=judge_replaced, expected="REFUTED PROVED",
    repair=Repair(
        statement=_STATEMENT + r" \text{ for a base that is } (\varepsilon, \delta)\text{-DP for a record less, too}",
        words="Poisson sampling amplifies so, a record replaced, for bases private for replaced and removed records",
        says=(*_PRINTED, True), expected="HOLDS ARGUED", source="004, DP SGD: Poisson sampling, for such bases",
        rests_on=("background/joint-convexity",),
        true_variants={"[[]1[]] 1 % more": "a larger delta' will do", "[[]1[]] [*] -> + *": "a larger delta' will do"},
    ),
)
approximate = Claim(
    id="cs208/amp-approx", source="004, DP SGD: about p epsilon, read as up to a factor of 2 for every epsilon",
    quote=r"$\approx p\epsilon$", whose=Whose.READING, severity=Stake.UTILITY,
    statement=r"\ln(1 + (e^\varepsilon - 1)p) \approx p\varepsilon",
    words="the amplified epsilon is p epsilon up to a factor of 2, whatever epsilon is",
    hypotheses=(Parameter("epsilon", low=Fraction(0), low_open=True), _OPEN), says=(Fraction(2), None),
    check=judge_approximate,
    flips=(Flip("up to a factor of 5", (Fraction(5), None), Verdict.REFUTED),
           Flip("for epsilon up to 1 only", (Fraction(2), Fraction(1)), Verdict.HOLDS)),
    expected="REFUTED PROVED",
    repair=Repair(
        statement=r"p\varepsilon \le \ln(1 + (e^\varepsilon - 1)p) \le 1.06\, p\varepsilon,\quad"
                  r" \varepsilon \le \tfrac1{10}",
        words="the amplified epsilon is p epsilon up to 6 per cent, for epsilon up to 1/10",
        hypotheses=(Parameter("epsilon", low=Fraction(0), low_open=True, high=Fraction(1, 10)), _OPEN),
        says=(Fraction(106, 100), None), check=judge_approximate, expected="HOLDS ARGUED",
        source="004, DP SGD: Improved Privacy Analysis, for small epsilon",
        flips=(Flip("5 per cent", (Fraction(105, 100), None), Verdict.REFUTED),),
        true_variants={"[[]0[]] 1 % more": "a larger factor will do", "[[]0[]] one more": "a larger factor will do"},
    ),
)
secret = Claim(
    id="cs208/amp-secret", source="004, DP SGD: Improved Privacy Analysis: the batch must stay secret",
    quote="Keep S_t secret; use its randomness", whose=Whose.PRINTED, severity=Stake.PRIVACY,
    statement=r"(S, M(S)): \ H_{e^\varepsilon} = p\,\delta \text{ at the same } \varepsilon",
    words="with the batch published epsilon is not amplified: the release is (epsilon, p delta)-DP, exactly",
    hypotheses=(_ODDS, _DELTA, _OPEN), says=(lambda a, p: a, lambda delta, p: p * delta), check=judge_published,
    flips=(Flip("amplified all the same", _PRINTED, Verdict.REFUTED),), expected="HOLDS PROVED",
)
