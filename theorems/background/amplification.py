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

from oracle.core.domain import Parameter, non_negative, probability, unit_interval
from theorems.claim import Checker, Claim, Flip, Severity
from theorems.domain import Domain
from theorems.tools.finite_laws import Law, LawPair, hockey_stick, laws, shown
from theorems.verdict import Finding, Verdict, argued, proof, refuted, undecided

_RATES = tuple(Fraction(v) for v in ("1/4", "1/2", "1"))
_ORDERS = tuple(Fraction(v) for v in ("1", "3/2", "2", "4"))
_SIZES = ((2, 1), (2, 2), (3, 1), (3, 2), (4, 2))

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


def identity_gap(says: Convexity) -> sympy.Expr:
    """P - a' Q minus q (P1 - a ((1-b) P0 + b Q1)), outcome by outcome; zero identically."""
    a, q, common, first, second = sympy.symbols("a q p_0 p_1 q_1", positive=True)
    larger, part = (formula(a, q) for formula in says)
    left = (1 - q) * common + q * first - larger * ((1 - q) * common + q * second)
    return sympy.simplify(left - q * (first - a * ((1 - part) * common + part * second)))


def judge_convexity(says: Convexity, given: Domain) -> Finding:
    """The identity by computer algebra, and in exact rationals for small laws."""
    tried = 0
    for common, first, second in itertools.product(laws(2, 3), repeat=3):
        for q, a in itertools.product(_RATES, _ORDERS):
            tried += 1
            larger, part = (Fraction(formula(a, q)) for formula in says)
            left = hockey_stick(mixed(q, common, first), mixed(q, common, second), larger)
            right = q * hockey_stick(first, mixed(part, common, second), a)
            if left != right:
                return refuted(
                    "the two divergences differ",
                    {
                        "P0": shown(common), "P1": shown(first), "Q1": shown(second), "q": str(q), "a": str(a),
                        "left side": str(left), "right side": str(right),
                    },
                )
    if identity_gap(says) != 0:
        return _agrees(tried)
    return proof(argued(
        "the measures are equal outcome by outcome (computer algebra); the divergences are for "
        f"{tried} triples of laws, rates and orders"
    ))


def poisson_pairs() -> Iterator[Sampled]:
    """A base in words, q, a, the base's delta, and the sampled laws in both orders, a record added or removed."""
    for without, alone in itertools.product(laws(2, 4), repeat=2):
        for q, a in itertools.product(_RATES, _ORDERS):
            delta = max(hockey_stick(alone, without, a), hockey_stick(without, alone, a))
            sampled = mixed(q, without, alone)
            yield f"{shown(without)}; {shown(alone)}", q, a, delta, [(sampled, without), (without, sampled)]


def counted(base: tuple[Law, ...], ones: int, size: int) -> Law:
    """The law of a base that sees how many ones are in a sample without replacement, of that many ones."""
    batch = len(base) - 1
    weights = [Fraction(comb(ones, k) * comb(size - ones, batch - k), comb(size, batch)) for k in range(batch + 1)]
    return tuple(sum((w * law[i] for w, law in zip(weights, base, strict=True)), Fraction(0)) for i in (0, 1))


def batch_pairs() -> Iterator[Sampled]:
    """The same for samples without replacement of zeros and ones, a record replaced, and bases that count ones."""
    for (size, batch), ones in ((sizes, k) for sizes in _SIZES for k in range(sizes[0])):
        for base in itertools.product(laws(2, 3), repeat=batch + 1):
            neighbours = [pair for one in itertools.pairwise(base) for pair in (one, one[::-1])]
            for a in _ORDERS:
                delta = max(hockey_stick(p, q, a) for p, q in neighbours)
                fewer, more = counted(base, ones, size), counted(base, ones + 1, size)
                yield f"n = {size}, m = {batch}; " + "; ".join(map(shown, base)), Fraction(batch, size), a, delta, [
                    (more, fewer), (fewer, more)
                ]


def counting_gap() -> sympy.Expr:
    """Pairs of a set T of m - 1 others and one added, minus m times the sets of m others; zero identically."""
    n, m = sympy.symbols("n m", positive=True, integer=True)
    return sympy.combsimp(sympy.binomial(n - 1, m - 1) * (n - m) - m * sympy.binomial(n - 1, m))


def judge_amplification(pairs: Callable[[], Iterator[Sampled]]) -> Checker:
    """The checker of (epsilon', delta') for a way of sampling: never exceeded, and always attained."""

    def judge(says: Amplified, given: Domain) -> Finding:
        tried, attained, met = 0, set(), set()
        for base, q, a, delta, both in pairs():
            tried += 1
            larger, claimed = Fraction(says[0](a, q)), Fraction(says[1](delta, q))
            true = max(hockey_stick(*pair, larger) for pair in both)
            witness = {
                "base": base, "q": str(q), "e^epsilon": str(a), "delta": str(delta), "e^epsilon'": str(larger),
                "claimed delta'": str(claimed), "true delta'": str(true),
            }
            if true > claimed:
                return refuted("a sampled base exceeds it", witness)
            met.add((q, a, delta))
            if true == claimed:
                attained.add((q, a, delta))
        if met - attained:
            q, a, delta = min(met - attained)
            return refuted(
                "no base attains it, though a smaller one is a theorem",
                {"q": str(q), "e^epsilon": str(a), "delta": str(delta)},
            )
        a_, q_, delta_ = sympy.symbols("a q delta", positive=True)
        gaps = (says[0](a_, q_) - order(a_, q_), says[1](delta_, q_) - q_ * delta_)
        if any(sympy.simplify(gap) != 0 for gap in (*gaps, identity_gap((order, share)), counting_gap())):
            return _agrees(tried)
        return proof(argued(
            "joint convexity between neighbours of the base (computer algebra, the counting included); never exceeded "
            f"by {tried} sampled bases in exact rationals, and attained at each of their rates, orders and deltas"
        ))

    return judge


def _agrees(tried: int) -> Finding:
    return undecided("agrees at points; the identity was not shown", tried)


_RATE = unit_interval("sampling_rate")
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
    severity=Severity.PRIVACY,
    statement=(
        r"H_{a'}\big((1-q)P_0 + qP_1 \,\|\, (1-q)P_0 + qQ_1\big) = q\,H_a\big(P_1 \,\|\, (1-b)P_0 + bQ_1\big),"
        r"\quad a' = 1 + q(a-1),\ b = a'/a"
    ),
    words="mixtures that share a part have the divergence of their other parts, at a smaller order and scaled by q",
    hypotheses=(Parameter("order", low=Fraction(1)), _RATE),
    says=(order, share),
    check=judge_convexity,
    flips=(
        Flip("P1 compared with Q1 alone", (order, lambda a, q: 1), Verdict.REFUTED),
        Flip("the order scaled by q", (lambda a, q: q * a, lambda a, q: q), Verdict.REFUTED),
        Flip("b written as 1/a + q (1 - 1/a)", (order, lambda a, q: 1 / a + q * (1 - 1 / a)), Verdict.HOLDS),
    ),
    rests_on=("relu-approx/eq-2.1",),
    expected="HOLDS ARGUED",
)

poisson = Claim(
    id="background/amplification-poisson",
    source="Balle, Barthe and Gaboardi 2018, Theorem 8, Poisson sampling, add or remove; text not at hand, proved here",
    severity=Severity.PRIVACY,
    statement=_STATEMENT + r" \quad (\text{Poisson sampling at rate } q,\ \text{a record added or removed})",
    words="Poisson sampling amplifies (epsilon, delta)-DP under add or remove so, and no better for every base",
    hypotheses=(non_negative("epsilon"), probability("delta"), _RATE),
    says=(order, lambda delta, q: q * delta),
    check=judge_amplification(poisson_pairs),
    flips=_FLIPS,
    rests_on=("background/joint-convexity",),
    expected="HOLDS ARGUED",
)

without_replacement = Claim(
    id="background/amplification-wor",
    source="Balle, Barthe and Gaboardi 2018, Theorem 9, no replacement, substitution; text not at hand, proved here",
    severity=Severity.PRIVACY,
    statement=_STATEMENT + r",\ q = m/n \quad (m \text{ of } n \text{ records, unordered},\ \text{a record replaced})",
    words="a sample without replacement amplifies (epsilon, delta)-DP under replace so, for bases blind to its order",
    hypotheses=(non_negative("epsilon"), probability("delta"), _RATE),
    says=(order, lambda delta, q: q * delta),
    check=judge_amplification(batch_pairs),
    flips=_FLIPS,
    rests_on=("background/joint-convexity",),
    expected="HOLDS ARGUED",
)
