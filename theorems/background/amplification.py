r"""Privacy amplification by subsampling (Balle, Barthe and Gaboardi 2018): joint convexity, Poisson, no replacement.

Joint convexity. Let P = (1-q) P0 + q P1 and Q = (1-q) P0 + q Q1 share the part P0, let a >= 1, a' = 1 + q (a - 1) and
b = a'/a. Then P - a' Q = q (P1 - a ((1-b) P0 + b Q1)) as measures, so H_{a'}(P, Q) = q H_a(P1, (1-b) P0 + b Q1). And
H_a of mixtures is at most the mixture of the H_a, since [x + y]_+ <= [x]_+ + [y]_+.

Poisson, a record added or removed: given who else is in the sample, P1 has one record more than P0, and Q = P0.

Without replacement, a record replaced: m of n, q = m/n. P1 is the mean over sets T of m - 1 other records of the base
on T and the record, Q1 that with the other record, P0 the mean over sets of m others. Add to T one of the n - m others
that are not in it: every set of m others comes from m of the T, so that P0 is the mean over T and the one added, each a
neighbour of T with the record. The base must not look at the order of its input.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator
from fractions import Fraction
from math import comb
from typing import Any

import sympy

from oracle.core.domain import Parameter, non_negative_integer, positive_integer, unit_interval
from theorems.claim import Checker, Claim, Flip, Stake
from theorems.given import Domain
from theorems.tools.finite_laws import Law, LawPair, hockey_stick, laws, shown
from theorems.tools.symbolic_signs import never_negative, vanishes
from theorems.verdict import Finding, ProofStep, Verdict, argued, computed, proof, refuted

Convexity = tuple[Callable[[Any, Any], Any], Callable[[Any, Any], Any]]
"""a' and b as functions of a and q."""

Sampled = tuple[str, Fraction, Fraction, Fraction, list[LawPair]]
Amplified = tuple[Callable[[Any, Any], Any], Callable[[Any, Any], Any]]
"""e^{epsilon'} as a function of e^epsilon and q, and delta' as one of delta and q."""


def order(a: Any, q: Any) -> Any:
    """The order a' at which the mixtures are compared."""
    return 1 + q * (a - 1)


def share(a: Any, q: Any) -> Any:
    """The share b of Q1 in what P1 is compared with."""
    return order(a, q) / a


def mixed(weight: Fraction, one: Law, other: Law) -> Law:
    """(1 - weight) one + weight other."""
    return tuple((1 - weight) * p + weight * q for p, q in zip(one, other, strict=True))


def convexity_steps(says: Convexity, given: Domain) -> list[ProofStep]:
    """P - a' Q = q (P1 - a ((1-b) P0 + b Q1)) as measures, b is a share, and a factor q >= 0 comes out of [.]_+."""
    common, first, second, size = sympy.symbols("p_0 p_1 q_1 x", nonnegative=True)
    a, q = given.chart("odds"), given.chart("sampling_rate")
    larger, part = (formula(a, q) for formula in says)
    left = (1 - q) * common + q * first - larger * ((1 - q) * common + q * second)
    return [
        computed("P - a'Q = q (P1 - a ((1-b) P0 + b Q1)), outcome by outcome",
                 vanishes(left - q * (first - a * ((1 - part) * common + part * second)))),
        computed("q and b are shares: neither they nor what is left to 1 is negative",
                 never_negative(q, 1 - q, part, 1 - part)),
        computed("[q x]_+ = q [x]_+ for both signs of x", never_negative(q * size)),
    ]


def judge_convexity(says: Convexity, given: Domain) -> Finding:
    """The identity by computer algebra, and in exact rationals for small laws."""
    tried = 0
    rates, orders = given.values("sampling_rate"), given.values("odds")
    for common, first, second in itertools.product(laws(2, 3), repeat=3):
        for q, a in itertools.product(rates, orders):
            tried += 1
            larger, part = (Fraction(formula(a, q)) for formula in says)
            left = hockey_stick(mixed(q, common, first), mixed(q, common, second), larger)
            right = q * hockey_stick(first, mixed(part, common, second), a)
            if left != right:
                return refuted(
                    "the two divergences differ",
                    {"P0": shown(common), "P1": shown(first), "Q1": shown(second), "q": q, "a": a, "left side": left,
                     "right side": right},
                )
    return proof(*convexity_steps(says, given), tried=tried)


def poisson_pairs(given: Domain) -> Iterator[Sampled]:
    """A base in words, q, a, the base's delta, and the sampled laws in both orders, a record added or removed."""
    surely: LawPair = (Fraction(0), Fraction(1)), (Fraction(1), Fraction(0))
    bases = [*itertools.product(laws(2, 4), repeat=2), *((surely[0], (d, 1 - d)) for d in given.values("delta"))]
    for without, alone in bases:
        for q, a in itertools.product(given.values("sampling_rate"), given.values("odds")):
            delta = max(hockey_stick(alone, without, a), hockey_stick(without, alone, a))
            sampled = mixed(q, without, alone)
            yield f"{shown(without)}; {shown(alone)}", q, a, delta, [(sampled, without), (without, sampled)]


def counted(base: tuple[Law, ...], ones: int, size: int) -> Law:
    """The law of a base that sees how many ones are in a sample without replacement, of that many ones."""
    batch = len(base) - 1
    weights = [Fraction(comb(ones, k) * comb(size - ones, batch - k), comb(size, batch)) for k in range(batch + 1)]
    return tuple(sum((w * law[i] for w, law in zip(weights, base, strict=True)), Fraction(0)) for i in (0, 1))


def batch_pairs(given: Domain) -> Iterator[Sampled]:
    """The same for samples without replacement of zeros and ones, a record replaced, and bases that count ones."""
    leaks = [((Fraction(0), Fraction(1)), (d, 1 - d)) for d in given.values("delta")]
    for batch, left in itertools.product(given.values("batch_size", most=2), given.values("left_out", most=2)):
        size = batch + left
        bases: list[tuple[Law, ...]] = [*itertools.product(laws(2, 3), repeat=batch + 1)]
        bases += [(without,) + (alone,) * batch for without, alone in leaks]
        for base, ones, a in itertools.product(bases, range(size), given.values("odds")):
            neighbours = [pair for one in itertools.pairwise(base) for pair in (one, one[::-1])]
            delta = max(hockey_stick(p, q, a) for p, q in neighbours)
            fewer, more = counted(base, ones, size), counted(base, ones + 1, size)
            yield f"n = {size}, m = {batch}; " + "; ".join(map(shown, base)), Fraction(batch, size), a, delta, [
                (more, fewer), (fewer, more)
            ]


def poisson_steps(given: Domain) -> list[ProofStep]:
    """What else the proof for Poisson sampling says."""
    return [argued("given who else is in the sample, P1 has one record more than P0; the rest is averaged over, and H "
                   "of mixtures is at most the mixture of the H")]


def batch_steps(given: Domain) -> list[ProofStep]:
    """What else the proof for samples without replacement says: sets of m others are reached from m sets of m - 1."""
    m, left = given.symbol("batch_size"), given.symbol("left_out")
    n = m + left
    gap = sympy.binomial(n - 1, m - 1) * left - m * sympy.binomial(n - 1, m)
    return [
        computed("pairs of a set T of m - 1 others and one of the n - m added are m times the sets of m others",
                 sympy.combsimp(gap.rewrite(sympy.gamma)) == 0 and m.is_positive and left.is_nonnegative),
        argued("each set of m others comes from m such pairs, so that P0 is the mean over them, each a neighbour of T "
               "with the record; H of mixtures is at most the mixture of the H; with m = n nothing is left out"),
    ]


def judge_amplification(
    pairs: Callable[[Domain], Iterator[Sampled]], more: Callable[[Domain], list[ProofStep]]
) -> Checker:
    """The checker of (epsilon', delta') for a way of sampling: never exceeded, and attained by a base of that delta."""

    def judge(says: Amplified, given: Domain) -> Finding:
        tried, attained, met = 0, set(), {}
        for base, q, a, delta, both in pairs(given):
            tried += 1
            larger, claimed = Fraction(says[0](a, q)), Fraction(says[1](delta, q))
            true = max(hockey_stick(*pair, larger) for pair in both)
            witness = {"base": base, "q": q, "e^epsilon": a, "delta": delta, "e^epsilon'": larger,
                       "claimed delta'": claimed, "true delta'": true}
            if true > claimed:
                return refuted("a sampled base exceeds it", witness)
            met[q, a, delta] = witness
            if true == claimed:
                attained.add((q, a, delta))
        for point, witness in met.items():
            if point not in attained:
                return refuted("q delta is attained at the e^epsilon' of the theorem, and this is another", witness)
        q = given.chart("sampling_rate") if "sampling_rate" in given.parameters else given.symbol("batch_size") / (
            given.symbol("batch_size") + given.symbol("left_out"))
        a, delta = given.chart("odds"), given.chart("delta")
        common, first = sympy.symbols("p_0 p_1", nonnegative=True)
        larger = says[0](a, q)
        return proof(
            computed("with Q1 = P0, P - a'Q = q (P1 - a P0): at a' every such pair has q times the base's divergence",
                     vanishes((1 - q) * common + q * first - larger * common - q * (first - a * common))),
            computed("that is the claimed delta', where the base's is delta; and delta is a probability",
                     vanishes(says[1](delta, q) - q * delta) and never_negative(delta, 1 - delta)),
            computed("for other Q1, and with P and Q exchanged, joint convexity compares P1 with a mixture of shares "
                     "1 - b and b = a'/a, none of them negative",
                     never_negative(larger / a, (1 - larger / a).simplify(), q, 1 - q)),
            *more(given), tried=tried,
        )

    return judge


_RATE, _ODDS = unit_interval("sampling_rate"), Parameter("odds", low=Fraction(1), meaning="e^epsilon")
_FLIPS = (
    Flip("half of the way to e^epsilon", (lambda a, q: 1 + q * (a - 1) / 2, lambda d, q: q * d), Verdict.REFUTED),
    Flip("delta not scaled", (order, lambda d, q: d), Verdict.REFUTED),
    Flip("the base's epsilon kept", (lambda a, q: a, lambda d, q: q * d), Verdict.REFUTED),
    Flip("a' in another form", (lambda a, q: q * a + (1 - q), lambda d, q: d * q), Verdict.HOLDS),
)
_STATEMENT = r"\varepsilon' = \log(1 + q(e^{\varepsilon} - 1)),\quad \delta' = q\delta"


joint_convexity = Claim(
    id="background/joint-convexity",
    source="Balle, Barthe and Gaboardi 2018, Theorem 2, advanced joint convexity; text not at hand, proved here",
    severity=Stake.PRIVACY,
    statement=(
        r"H_{a'}\big((1-q)P_0 + qP_1 \,\|\, (1-q)P_0 + qQ_1\big) = q\,H_a\big(P_1 \,\|\, (1-b)P_0 + bQ_1\big),"
        r"\quad a' = 1 + q(a-1),\ b = a'/a"
    ),
    words="mixtures that share a part have the divergence of their other parts, at a smaller order and scaled by q",
    hypotheses=(Parameter("odds", low=Fraction(1), meaning="the order a"), _RATE),
    says=(order, share),
    check=judge_convexity,
    flips=(
        Flip("P1 compared with Q1 alone", (order, lambda a, q: 1), Verdict.REFUTED),
        Flip("the order scaled by q", (lambda a, q: q * a, lambda a, q: q), Verdict.REFUTED),
        Flip("b written as 1/a + q (1 - 1/a)", (order, lambda a, q: 1 / a + q * (1 - 1 / a)), Verdict.HOLDS),
    ),
    true_variants={"*only at argument 1 = 0": "at q = 0 both sides are 0, whatever b is"},
    expected="HOLDS PROVED",
)

poisson = Claim(
    id="background/amplification-poisson",
    source="Balle, Barthe and Gaboardi 2018, Theorem 8, Poisson sampling, add or remove; text not at hand, proved here",
    severity=Stake.PRIVACY,
    statement=_STATEMENT + r" \quad (\text{Poisson sampling at rate } q,\ \text{a record added or removed})",
    words="Poisson sampling amplifies (epsilon, delta)-DP under add or remove so, and no better for every base",
    hypotheses=(_ODDS, unit_interval("delta"), _RATE),
    says=(order, lambda delta, q: q * delta),
    check=judge_amplification(poisson_pairs, poisson_steps),
    flips=_FLIPS,
    rests_on=("background/joint-convexity",),
    expected="HOLDS ARGUED",
)

without_replacement = Claim(
    id="background/amplification-wor",
    source="Balle, Barthe and Gaboardi 2018, Theorem 9, no replacement, substitution; text not at hand, proved here",
    severity=Stake.PRIVACY,
    statement=_STATEMENT + r",\ q = m/n \quad (m \text{ of } n \text{ records, unordered},\ \text{a record replaced})",
    words="a sample without replacement amplifies (epsilon, delta)-DP under replace so, for bases blind to its order",
    hypotheses=(_ODDS, unit_interval("delta"), positive_integer("batch_size", "m"),
                non_negative_integer("left_out", "n - m")),
    says=(order, lambda delta, q: q * delta),
    check=judge_amplification(batch_pairs, batch_steps),
    flips=_FLIPS,
    rests_on=("background/joint-convexity",),
    expected="HOLDS ARGUED",
)
