r"""Where Theorem 4.1 applies: the privacy budgets of the abstract, of Remark 3 and of the experiments.

Lemma D.2 asks for epsilon0 <= log(N/(16 log(2/delta))). At delta = N^-1.1 that is negative for N <= 90: no step of
positive epsilon0 is allowed, whatever the constants of Theorem 4.1 are, and the experiment at N = 50 is not covered.
1/sqrt(N), the budget of the abstract, of the introduction and of Remark 3, lies within sqrt(log(N/delta)/N) and is
smaller by the root of that logarithm.
"""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from typing import Any

import sympy
from flint import arb, ctx

from oracle.core.domain import Parameter, positive_integer
from oracle.core.enclosure import Enclosure, ball
from theorems.claim import Claim, Flip, Repair, Stake, Whose
from theorems.given import Domain
from theorems.tools.either import root
from theorems.tools.symbolic_signs import vanishes
from theorems.verdict import Finding, Verdict, computed, instance, proof, refuted, undecided

_PRECISION = 120


def largest_local(records: int, exponent: Fraction) -> arb:
    """log(N/(16 log(2/delta))), the largest epsilon0 of Lemma D.2, at delta = N^-exponent."""
    n = ball(records)
    value: arb = (n / (16 * (ball(2).log() + ball(exponent) * n.log()))).log()
    return value


def judge_least(least: int, given: Domain) -> Finding:
    """Whether Lemma D.2 allows some epsilon0 > 0 at delta = N^-1.1 exactly from N = least on."""
    exponent = Fraction(11, 10)
    with ctx.workprec(_PRECISION):
        below, at = largest_local(least - 1, exponent) if least > 1 else arb(-1), largest_local(least, exponent)
        if below >= 0 or at < 0:
            return refuted("it is another number", {
                "N": least, "log(N/(16 log(2/delta))) there": Enclosure.of_ball(at),
                "one below": Enclosure.of_ball(below)})
        n = sympy.Symbol("n", positive=True)
        grown = sympy.log(2) + sympy.Rational(11, 10) * sympy.log(n + 2)
        slope = sympy.simplify(sympy.diff((n + 2) / grown, n) * grown**2 * (n + 2) - (
            (n + 2) * grown - sympy.Rational(11, 10) * (n + 2)))
        start = ball(2).log() + ball(exponent) * ball(2).log() - ball(exponent)
        one = ball(1) < 16 * ball(2).log()
        return proof(
            computed("negative one below, positive there, certified", bool(below < 0 and at > 0)),
            computed("N/log(2 N^1.1) rises for N >= 2, since log(2 N^1.1) > 1.1 there, and N = 1 is too small",
                     slope == 0 and bool(start > 0) and bool(one)),
        )


def judge_covered(says: tuple[tuple[Fraction, ...], tuple[int, ...], Fraction], given: Domain) -> Finding:
    """Whether Lemma D.2 allows any epsilon0 > 0 at each N, delta = N^-exponent."""
    _, sizes, exponent = says
    with ctx.workprec(_PRECISION):
        for records in sizes:
            value = largest_local(records, exponent)
            if value < 0:
                return refuted("no step of positive epsilon0 meets the condition of Lemma D.2", {
                    "N": records, "delta": f"N^-{float(exponent):g}",
                    "log(N/(16 log(2/delta)))": Enclosure.of_ball(value)})
            if not value > 0:
                return undecided(f"whether there is room at N = {records} is not certain", 1)
    return instance("every N has room for some epsilon0 > 0, certified")


def judge_admitted(says: tuple[tuple[Fraction, ...], tuple[int, ...], Fraction], given: Domain) -> Finding:
    """Whether every epsilon is at most sqrt(log(N/delta)/N) at every N, delta = N^-exponent."""
    epsilons, sizes, exponent = says
    with ctx.workprec(_PRECISION):
        for records in sizes:
            most = (ball(1 + exponent) * ball(records).log() / records).sqrt()
            for epsilon in epsilons:
                if ball(epsilon) > most:
                    return refuted("epsilon is larger than sqrt(log(N/delta)/N)", {
                        "N": records, "delta": f"N^-{float(exponent):g}", "epsilon": epsilon,
                        "sqrt(log(N/delta)/N)": Enclosure.of_ball(most)})
                if not ball(epsilon) <= most:
                    return undecided(f"whether it is small enough at N = {records} is not certain", 1)
    return instance("every epsilon is small enough at every N, certified")


def judge_restricted(range_: Callable[[Any], Any], given: Domain) -> Finding:
    """Whether range_(N) is at most sqrt(log(N/delta)/N), and not below it by more than that logarithm's root."""
    tried = 0
    for point in given.points("records", "delta", at_most=100):
        with ctx.workprec(_PRECISION):
            logs = (point["records"] / ball(point["delta"])).log()
            most, said = (logs / point["records"]).sqrt(), range_(ball(point["records"]))
            tried += 1
            if said > most or said * logs.sqrt() * ball(Fraction(10**6 + 1, 10**6)) < most:
                return refuted("it is not the range of Theorem 4.1 up to the logarithm", {
                    "N": point["records"], "delta": point["delta"], "claimed": Enclosure.of_ball(said),
                    "sqrt(log(N/delta)/N)": Enclosure.of_ball(most)})
    n = given.chart("records")
    with ctx.workprec(_PRECISION):
        high = given["delta"].high
        large = high is not None and bool((1 / ball(high)).log() >= 1)
    return proof(
        computed("it is 1/sqrt(N), on symbols", vanishes(range_(n) - 1 / sympy.sqrt(n)) and given["records"].low == 1),
        computed("log(N/delta) >= 1 for all N >= 1 and delta up to the largest, certified", large),
        tried=tried,
    )


_SETTING = (tuple(map(Fraction, ("0.05", "0.2", "0.5"))), tuple(range(50, 551, 100)), Fraction(11, 10))
_RANGE = (positive_integer("records", "N"),
          Parameter("delta", low=Fraction(0), high=Fraction(1, 3), low_open=True))
_SETUP = (
    "The experiments were designed with varying privacy budgets (£) set at 0.05, 0.2, and 0.5 with § = ,,,11.1 to "
    "observe the impact of differential privacy constraints on the learning process."
)

least = Claim(
    id="glmtron/thm-4.1-least-N", source="003, Lemma D.2 at the delta of the experiments, N^-1.1",
    quote=_SETUP, whose=Whose.OURS, severity=Stake.PRIVACY,
    statement=r"\log\frac{N}{16\log(2N^{1.1})} > 0 \iff N \ge 91",
    words="at delta = N^-1.1 Lemma D.2 allows a step of positive epsilon0 exactly from N = 91 on",
    hypotheses=(), says=91, check=judge_least,
    flips=(Flip("50", 50, Verdict.REFUTED), Flip("100", 100, Verdict.REFUTED)),
    uses=("glmtron/lemma-D.2-shuffle",), expected="HOLDS PROVED",
)
covered = Claim(
    id="glmtron/thm-4.1-experiment-range", source="003, Section 6, with Theorem 4.1 for the privacy of its runs",
    quote=_SETUP, whose=Whose.READING, severity=Stake.PRIVACY,
    statement=r"\varepsilon_0 \le \log\frac{N}{16\log(2/\delta)} \text{ has a solution } \varepsilon_0 > 0,\ N = 50,"
              r" \ldots, 550,\ \delta = N^{-1.1}",
    words="Theorem 4.1 covers the experiments: Lemma D.2 allows some epsilon0 > 0 at every N from 50 to 550",
    hypotheses=(), says=_SETTING, check=judge_covered, uses=("glmtron/thm-4.1", "glmtron/lemma-D.2-shuffle"),
    expected="REFUTED PROVED",
    repair=Repair(
        statement=r"\varepsilon_0 \le \log\frac{N}{16\log(2/\delta)} \text{ has a solution } \varepsilon_0 > 0,\ N ="
                  r" 150, \ldots, 550,\ \delta = N^{-1.1}",
        words="Lemma D.2 allows some epsilon0 > 0 at every N from 150 to 550",
        says=(_SETTING[0], _SETTING[1][1:], _SETTING[2]), expected="HOLDS PROVED",
        true_variants={**dict.fromkeys(("[[]0[]] * 1 % *", "[[]0[]] * sign", "[[]0[]] * one more"),
                                       "the epsilons do not enter"),
                       "[[]1[]] * one more": "N = 91 and more is enough",
                       "[[]2[]] 1 % *": "another exponent near 1.1 leaves room at N = 150"},
    ),
)
admitted = Claim(
    id="glmtron/thm-4.1-experiment-range-one", source="003, Section 6: epsilon <= sqrt(log(N/delta)/N), constant 1",
    quote=_SETUP, whose=Whose.READING, severity=Stake.PRIVACY,
    statement=r"\varepsilon \le \sqrt{\log(N/\delta)/N},\ \varepsilon \le 0.5,\ N = 50, \ldots, 550",
    words="the budgets 0.05, 0.2 and 0.5 are at most sqrt(log(N/delta)/N) at every N of the experiments",
    hypotheses=(), says=_SETTING, check=judge_admitted, uses=("glmtron/thm-4.1",),
    expected="REFUTED PROVED",
    repair=Repair(
        statement=r"0.05 \le \sqrt{\log(N/\delta)/N},\ N = 50, \ldots, 550",
        words="the budget 0.05 is at most sqrt(log(N/delta)/N) at every N of the experiments",
        says=(_SETTING[0][:1], *_SETTING[1:]), expected="HOLDS PROVED",
        flips=(Flip("0.2 as well: too large from N = 350 on", (_SETTING[0][:2], *_SETTING[1:]), Verdict.REFUTED),),
        true_variants={**dict.fromkeys(("[[]0[]] * 1 % *", "[[]0[]] * sign"), "0.155 is the least of the roots"),
                       "[[]1[]] * one more": "the root changes little with N",
                       "[[]2[]] 1 % *": "the root changes little with the exponent",
                       "[[]2[]] one more": "a smaller delta allows more"},
    ),
)


def budget(name: str, place: str, quote: str, words: str) -> Claim:
    """A statement that the budget is 1/sqrt(N), which is Theorem 4.1's up to a logarithm."""
    return Claim(
        id=f"glmtron/{name}", source=f"003, {place}", quote=quote, whose=Whose.READING, severity=Stake.UTILITY,
        statement=r"\frac{1}{\sqrt N} \le \sqrt{\frac{\log(N/\delta)}{N}} \le \frac{\sqrt{\log(N/\delta)}}{\sqrt N}",
        words=words, hypotheses=_RANGE, says=lambda n: 1 / root(n), check=judge_restricted,
        flips=(Flip("1/N^(1/3)", lambda n: n / root(n) ** 3 * 3, Verdict.REFUTED),
               Flip("1/N", lambda n: 1 / n, Verdict.REFUTED)),
        uses=("glmtron/thm-4.1",), expected="HOLDS PROVED",
    )


remark_3 = budget(
    "remark-3", "Remark 3: epsilon must be restricted to 1/sqrt(N)",
    "and £ must be restricted to 1/+/N, to satisfy the requirement of [17] and to ensure differential privacy.",
    "epsilon up to 1/sqrt(N) is within the range of Theorem 4.1, up to the root of log(N/delta)",
)
abstract = budget(
    "abstract-eps", "abstract: small privacy budgets O(1/sqrt N)",
    "To overcome the constraints of small privacy budgets in DP- GLMotron, represented by O(1/1/N) where N is the "
    "sample size",
    "the budgets for which DP-GLMtron is analysed are of the order 1/sqrt(N), up to the root of log(N/delta)",
)
introduction = budget(
    "intro-eps", "Section 1, second contribution: only holds with a small budget",
    "A significant issue with DP-GLMtron is its upper bound only holds with a small privacy budget",
    "the budget epsilon = O(1/sqrt N) of the introduction is that of Theorem 4.1, up to the root of log(N/delta)",
)
