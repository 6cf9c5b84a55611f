r"""Bisection in place of Algorithm 4 of document 002, which says that it cannot be used.

The prox u* is the root of the slope of the objective, link - y + beta (u - m), which rises, between m - 2B/beta and
m + 2B/beta: signs of it halve that interval. No value of g, so no integral, is asked for.
"""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from typing import Any

import sympy

from oracle.core.domain import positive
from theorems.claim import Claim, Flip, Repair, Stake, Whose
from theorems.given import Domain
from theorems.tools.leading_points import led
from theorems.tools.symbolic_signs import never_negative, vanishes
from theorems.tools.symbolic_signs import positive as surely_positive
from theorems.verdict import Finding, Verdict, argued, computed, proof, refuted, sampled

Two = Callable[[Any, Any], Any]


def bisected(bound: Fraction, beta: Fraction, m: Fraction, label: Fraction, error: Fraction) -> tuple[Fraction, int]:
    """The envelope's derivative for the link clip to [-B, B], by signs of link - y + beta (u - m), and how many."""
    low, high, asked = -2 * bound, 2 * bound, 0
    while high - low > 2 * error:
        middle, asked = (low + high) / 2, asked + 1
        link = max(-bound, min(bound, m - middle / beta))
        low, high = (middle, high) if link - label > middle else (low, middle)
    return (low + high) / 2, asked


def judge_integrals(says: int, given: Domain) -> Finding:
    """Whether bisection for the prox needs so many values of g, each an integral of the link."""
    tried, reached = 0, True
    for point in led(given, B="1", beta="4"):
        bound, beta = point["B"], point["beta"]
        m, label, error = bound * 7 / 10, bound * 3 / 10, bound / 1000
        found, asked = bisected(bound, beta, m, label, error)
        true = beta * (m - label) / (1 + beta)  # link(u) = u on [-B, B], where the prox lies
        reached, tried = reached and abs(found - true) <= error, tried + 1
        if reached and says > 0:
            return refuted("bisection on the slope of the objective finds the derivative by values of the link alone", {
                "link": "clip to [-B, B]", "B": bound, "beta": beta, "m": m, "y": label, "values of g": 0,
                "values of the link": asked, "answer": found, "derivative": true, "gamma": error,
                "claimed values of g, at least": says})
    b_, beta_ = given.symbol("B"), given.symbol("beta")
    rise, at = sympy.symbols("r", nonnegative=True), sympy.symbols("u", real=True)
    return proof(
        computed("the slope link - y + beta (u - m) rises by at least beta a unit: one root",
                 surely_positive(sympy.diff(beta_ * at, at) + rise)),
        computed("it is >= 0 at m + 2B/beta and <= 0 at m - 2B/beta, since |link - y| <= 2B",
                 vanishes(beta_ * (2 * b_ / beta_) - 2 * b_) and b_.is_positive is True),
        sampled("answers within gamma came from signs of link - y + beta (u - m) only", reached),
        argued("each sign halves the interval, so that k of them leave 2B/2^k for the derivative"),
        tried=tried,
    )


def judge_halvings(says: Two, given: Domain) -> Finding:
    """Whether 2^says(B, gamma), rounded up to a power of 2, halves [-2B, 2B] to an error of at most gamma."""
    tried = 0
    for point in given.points("B", "gamma", at_most=60):
        bound, gamma = point["B"], point["gamma"]
        ratio, k = Fraction(says(bound, gamma)), 0
        while 2**k < ratio:
            k += 1
        tried += 1
        if 2 * bound / 2**k > gamma:
            return refuted("the error is larger", {"B": bound, "gamma": gamma, "halvings": k,
                                                   "error": 2 * bound / 2**k})
    b_, gamma_ = given.symbol("B"), given.symbol("gamma")
    return proof(computed("2B over the claimed power is at most gamma",
                          never_negative(says(b_, gamma_) - 2 * b_ / gamma_)), tried=tried)


_B, _BETA, _GAMMA = positive("B"), positive("beta"), positive("gamma")
_BISECTION = (
    r"However, this approach cannot be used here as it requires access to the function $g^y(\cdot)$, which involves "
    r"integration for our problem and is difficult to compute accurately."
)

integrals = Claim(
    id="nonconvex-nn/alg-4-bisection-prose", source="002, Section 4.1.2: bisection needs g, an integral",
    quote=_BISECTION, whose=Whose.PRINTED, severity=Stake.UTILITY,
    statement=r"\text{bisection for } \mathrm{prox}_g^\beta \text{ needs values of } g^y",
    words="bisection cannot be used since it needs at least one value of g, an integral of the link",
    hypotheses=(_B, _BETA), says=1, check=judge_integrals, expected="REFUTED PROVED",
    repair=Repair(
        statement=r"u^* \text{ is the root of } \sigma(u) - y + \beta(u - m) \text{ on } m \pm 2B/\beta",
        words="bisection for the prox needs values of the link only, and none of its integral", says=0,
        expected="HOLDS ARGUED",
    ),
)
halvings = Claim(
    id="nonconvex-nn/alg-4-bisection-steps", source="a finding of ours: bisection in place of 002, Algorithm 4",
    severity=Stake.UTILITY, statement=r"k = \lceil \log_2 (2B/\gamma) \rceil",
    words="log2(2B/gamma) halvings, rounded up, give the derivative of the envelope up to gamma",
    hypotheses=(_B, _GAMMA), says=lambda b, gamma: 2 * b / gamma, check=judge_halvings,
    flips=(Flip("log2(B/(2 gamma))", lambda b, gamma: b / (2 * gamma), Verdict.REFUTED),),
    rests_on=("nonconvex-nn/alg-4-bisection-prose-repaired",),
    true_variants={"1 % more": "more is enough, too", "2 -> 3*": "more is enough, too",
                   "any B": "a negative B leaves no slope at all"},
    expected="HOLDS ARGUED",
)
