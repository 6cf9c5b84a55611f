r"""Composition of arbitrary (epsilon, delta)-DP mechanisms: basic, advanced, optimal; and randomised response.

One pair is the worst. Let a = e^epsilon. Of every (epsilon, delta)-DP pair H_a <= delta and, by relu-approx/def-2.3,
H_{1/a} <= 1 - 1/a + delta/a. H is convex in its order and falls, so between 1/a and a it lies below the chord, and
beyond a below delta. The pair W that reveals its input with probability delta, and otherwise is randomised response
with odds a, has exactly this curve. So W dominates all, and by relu-approx/thm-2.4 the product of k copies of W
dominates every adaptive composition; it is one. Its curve is Kairouz, Oh and Viswanath's (2015) formula: with p =
a/(1+a), q = 1 - p, 1 - (1-delta)^k (1 - sum_l C(k,l) max(0, p^{k-l} q^l - A p^l q^{k-l})), A = e^{total epsilon}.

Advanced: the loss of a response is epsilon or -epsilon with mean epsilon tanh(epsilon/2). Its log-Laplace transform f
has f'' = epsilon^2 - f'^2 <= epsilon^2, so P(sum - mean > x) <= e^{-x^2/(2 k epsilon^2)}, which is `slack` at x =
epsilon sqrt(2 k log(1/slack)); and the divergence is at most that probability.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable
from fractions import Fraction
from typing import Any, NamedTuple

import sympy
from flint import arb, ctx

from oracle.core.domain import Parameter, non_negative, positive_integer, probability, unit_interval
from oracle.core.enclosure import ball
from theorems.claim import Claim, Flip, Stake
from theorems.given import Domain
from theorems.tools.finite_laws import Law, dominates, hockey_stick, largest_excess, laws, shown
from theorems.tools.symbolic_signs import never_negative, positive, vanishes
from theorems.verdict import Finding, Verdict, argued, computed, proof, refuted, sampled

Root = Callable[[Any], Any]
_ODDS = tuple(Fraction(v) for v in ("3/2", "2", "4"))


def worst(odds: Any, delta: Any) -> tuple[tuple[Any, ...], tuple[Any, ...]]:
    """The pair W of the module docstring."""
    p = (1 - delta) * odds / (1 + odds)
    q = (1 - delta) / (1 + odds)
    return (delta, p, q, 0 * delta), (0 * delta, q, p, delta)


def power(pair: tuple[Law, Law], times: int) -> tuple[Law, Law]:
    """The product of so many copies of a pair, by listing all outcomes."""
    first, second = (tuple(math.prod(row, start=Fraction(1)) for row in itertools.product(law, repeat=times))
                     for law in pair)
    return first, second


class Optimal(NamedTuple):
    """A formula outer(delta, k, sum over l of ways(k, l, binomial) max(0, excess(e^epsilon, e^E, k, l)))."""

    outer: Callable[[Any, Any, Any], Any]
    ways: Callable[[Any, Any, Callable[[Any, Any], Any]], Any]
    excess: Callable[[Any, Any, Any, Any], Any]

    def value(self, odds: Fraction, delta: Fraction, steps: int, total: Fraction) -> Fraction:
        """Its value, in exact rationals."""
        gaps = (self.ways(steps, i, math.comb) * max(0, self.excess(odds, total, steps, i)) for i in range(steps + 1))
        return Fraction(self.outer(delta, steps, sum(gaps)))


def excess(odds: Any, total: Any, steps: Any, lies: Any) -> Any:
    """p^{k-l} q^l - e^E p^l q^{k-l} for p = odds/(1 + odds), q = 1 - p."""
    return (odds ** (steps - lies) - total * odds**lies) / (1 + odds) ** steps


def outer(delta: Any, steps: Any, total: Any) -> Any:
    """The delta of k copies of W from the divergence of k responses."""
    return 1 - (1 - delta) ** steps * (1 - total)


OPTIMAL = Optimal(outer, lambda steps, lies, binomial: binomial(steps, lies), excess)


def chord_is_largest(given: Domain) -> bool:
    """Whether W is a pair of laws whose curve is the chord from (1/a, 1 - 1/a + d/a) to (a, d), with 1/a <= a."""
    a, d = given.chart("odds"), given.chart("delta")
    x = sympy.symbols("x", positive=True)
    first, second = worst(a, d)
    middle = sum(first[:2]) - x * sum(second[:2])  # W's divergence at the order x between 1/a and a
    linear = vanishes(middle.subs(x, a) - d, middle.subs(x, 1 / a) - (1 - 1 / a + d / a), sympy.diff(middle, x, 2))
    return linear and vanishes(sum(first) - 1, sum(second) - 1) and never_negative(*first, *second, a - 1 / a)


def judge_optimal(says: Optimal, given: Domain) -> Finding:
    """The formula against the product of worst pairs; and W against all small pairs that are (epsilon, delta)-DP."""
    tried, small = 0, list(laws(3, 4))
    for point in given.points("odds", "delta", "steps", "total_odds", most={"steps": 4}, at_most=120):
        odds, delta, steps = point["odds"], point["delta"], point["steps"]
        pair = power(worst(odds, delta), steps)
        for total in {point["total_odds"], odds ** (steps - 1), odds**steps}:
            tried += 1
            claimed, true = says.value(odds, delta, steps, total), hockey_stick(*pair, total)
            if claimed != true:
                return refuted(
                    "the product of worst pairs has another delta, exactly",
                    {"e^epsilon": odds, "delta": delta, "k": steps, "e^total": total, "true": true, "claimed": claimed},
                )
    below = all(
        dominates(worst(odds, max(hockey_stick(p, q, odds), hockey_stick(q, p, odds))), (p, q))
        for p, q in itertools.product(small, repeat=2) for odds in _ODDS
    )
    a, total, d, s = sympy.symbols("a A delta S", positive=True)
    k, i = sympy.symbols("k l", integer=True, positive=True)
    p, q = a / (1 + a), 1 / (1 + a)
    outcome = sympy.powsimp(sympy.expand_power_base(p ** (k - i) * q**i - total * p**i * q ** (k - i), force=True))
    pascal = [says.ways(k + 1, i, sympy.binomial) - says.ways(k, i, sympy.binomial)
              - says.ways(k, i - 1, sympy.binomial)]
    pascal += [says.ways(n, 0, sympy.binomial) - 1 for n in (0, k)] + [says.ways(0, i, sympy.binomial)]
    return proof(
        computed("W is a pair of laws, and between the orders 1/a and a its curve is a chord", chord_is_largest(given)),
        sampled("W dominates every (epsilon, delta)-DP pair of small laws, exactly", below),
        argued("a convex falling curve that meets the two bounds of (epsilon, delta)-DP lies below that chord, so W "
               "dominates every pair, and k copies of it every adaptive composition"),
        computed("k answers of which l are lies exceed by the claimed term, for all k and l",
                 vanishes(outcome - says.excess(a, total, k, i))),
        computed("they are as many as claimed: Pascal's rule, from k = 0 on",
                 all(sympy.combsimp(gap) == 0 for gap in pascal) and given["steps"].low == 1),
        computed("one revealed input is sure, for all k",
                 vanishes(says.outer(d, k, s) - (1 - (1 - d) ** k + (1 - d) ** k * s))),
        tried=tried,
    )


def judge_basic(says: Callable[[Any, Any, Any], tuple[Any, Any]], given: Domain) -> Finding:
    """Whether k mechanisms of (e^epsilon, delta) are (e^total, delta_total)-DP, as claimed; at delta = 0 the least."""
    tried = 0
    for point in given.points("odds", "delta", "steps", most={"steps": 4}, at_most=100):
        tried += 1
        odds, delta, steps = point["odds"], point["delta"], point["steps"]
        total, delta_total = says(odds, delta, steps)
        pair = power(worst(odds, delta), steps)
        true = hockey_stick(*pair, total)
        sharp = delta > 0 or hockey_stick(*pair, total * Fraction(9999, 10000)) > 0
        if true > delta_total or not sharp:
            return refuted(
                "the worst composition breaks it, or needs less, exactly",
                {"e^epsilon": odds, "delta": delta, "k": steps, "e^total claimed": total, "delta claimed": delta_total,
                 "delta there": true},
            )
    a, d, u = given.chart("odds"), given.chart("delta"), sympy.symbols("u", nonnegative=True)
    k, less = sympy.symbols("k", integer=True, positive=True), sympy.symbols("s", positive=True)
    (first, second), (later, delta_later) = says(a, d, k), says(a, d, k + 1)
    return proof(
        computed("e^total is a for one mechanism and is multiplied by a with each further one",
                 vanishes(says(a, d, 1)[0] - a, later - a * first) and given["steps"].low == 1),
        computed("at a^k no outcome with l lies exceeds: with a^l = 1 + u, 1 - (1 + u)^2 <= 0, as a >= 1",
                 never_negative((1 + u) ** 2 - 1, a - 1)),
        computed("1 - (1-delta)^k is at most the claimed delta: Bernoulli's induction over k",
                 never_negative(says(a, d, 1)[1] - d, delta_later - d - (1 - d) * second, 1 - d)),
        computed("at a smaller total and delta = 0 the outcome without a lie exceeds",
                 vanishes(excess(a, first - less, k, 0) - less / (1 + a) ** k)),
        tried=tried,
    )


class Advanced(NamedTuple):
    """The total epsilon from (epsilon, k, log(1/slack), tanh, sqrt), and the total delta from (delta, k, slack)."""

    epsilon: Callable[[Any, Any, Any, Root, Root], Any]
    delta: Callable[[Any, Any, Any], Any]


def advanced(epsilon: Any, steps: Any, log_slack: Any, tanh: Root, sqrt: Root) -> Any:
    """The advanced theorem's total epsilon, from log(1/slack)."""
    return steps * epsilon * tanh(epsilon / 2) + epsilon * sqrt(2 * steps * log_slack)


def worst_divergence(epsilon: Fraction, steps: int, total: arb) -> arb:
    """The sum of Kairouz, Oh and Viswanath's formula at delta = 0, in balls."""
    p = 1 / (1 + (-ball(epsilon)).exp())
    result = arb(0)
    for i in range(steps + 1):
        loss = (steps - 2 * i) * ball(epsilon)
        if not loss > total:
            break
        result += math.comb(steps, i) * p ** (steps - i) * (1 - p) ** i * (1 - (total - loss).exp())
    return result


def judge_advanced(says: Advanced, given: Domain) -> Finding:
    """The worst composition's divergence at the claimed epsilon is at most the claimed delta, certified."""
    tried = 0
    lists = (given.values("epsilon"), given.values("steps", most=400), given.values("slack"))
    for epsilon, steps, slack in itertools.product(*lists):
        with ctx.workprec(200):
            total = says.epsilon(ball(epsilon), steps, -ball(slack).log(), arb.tanh, arb.sqrt)
            true = worst_divergence(epsilon, steps, total)
            for delta in given.values("delta"):
                tried += 1
                claimed, needed = says.delta(ball(delta), steps, ball(slack)), outer(ball(delta), steps, true)
                if needed > claimed:
                    return refuted(
                        "the worst composition has a larger delta, certified",
                        {"epsilon": epsilon, "delta": delta, "k": steps, "slack": slack, "delta there": needed.str(12),
                         "claimed total": total.str(12), "claimed delta": claimed.str(12)},
                    )
    e, log, t, x = sympy.symbols("epsilon L t x", positive=True)
    k = given.symbol("steps")
    d, slack_ = sympy.symbols("delta s", positive=True)
    p, gap = sympy.exp(e) / (1 + sympy.exp(e)), given.chart("slack")
    f = sympy.log(p * sympy.exp(t * e) + (1 - p) * sympy.exp(-t * e))  # of one response's loss
    mean = e * sympy.tanh(e / 2)
    room = says.epsilon(e, k, log, sympy.tanh, sympy.sqrt) - k * mean
    chernoff = (k * (t * mean + t**2 * e**2 / 2) - t * (k * mean + x)).subs(t, x / (k * e**2))
    return proof(
        computed("the loss of one response has the mean epsilon tanh(epsilon/2)",
                 vanishes((sympy.diff(f, t).subs(t, 0) - mean).rewrite(sympy.exp))),
        computed("its log-Laplace transform f has f'' = epsilon^2 - f'^2",
                 vanishes(sympy.diff(f, t, 2) - (e**2 - sympy.diff(f, t) ** 2))),
        argued("so f(t) <= t mean + t^2 epsilon^2 / 2 (Taylor), and Markov's inequality bounds the tail"),
        computed("at the best t the exponent is -x^2/(2 k epsilon^2)", vanishes(chernoff + x**2 / (2 * k * e**2))),
        computed("which at the claimed epsilon is log(slack), with slack in (0, 1)",
                 vanishes(room**2 / (2 * k * e**2) - log) and positive(gap, 1 - gap, k)),
        argued("the divergence is at most the probability of a larger loss"),
        computed("the claimed delta is that of k worst pairs with the slack for the responses' divergence, for all k",
                 vanishes(says.delta(d, k, slack_) - outer(d, k, slack_))),
        tried=tried,
    )


def response(keep: Any, alpha: Any) -> Any:
    """The curve of randomised response, where it is positive."""
    return keep - alpha * (1 - keep)


def judge_response(says: Callable[[Any, Any], Any], given: Domain) -> Finding:
    """The curve of randomised response, max(0, says(keep, e^epsilon)), against all events of two outcomes."""
    tried = 0
    for point in given.points("keep", "odds"):
        tried += 1
        keep, alpha = point["keep"], point["odds"]
        pair = (keep, 1 - keep), (1 - keep, keep)
        true, claimed = largest_excess(*pair, alpha), max(Fraction(0), says(keep, alpha))
        if true != claimed:
            return refuted(
                "another number",
                {"P": shown(pair[0]), "Q": shown(pair[1]), "e^epsilon": alpha, "delta": true, "claimed": claimed},
            )
    keep, alpha = given.chart("keep"), given.chart("odds")
    return proof(
        computed("the true answer's excess is the formula", vanishes(says(keep, alpha) - (keep - alpha * (1 - keep)))),
        computed("the other answer never exceeds, nor do both: 1 - keep <= e^epsilon keep and 1 <= e^epsilon",
                 never_negative(alpha * keep - (1 - keep), alpha - 1)),
        computed("the two inputs' laws are each other's mirror image: one direction is enough, and masses are positive",
                 positive(keep) and positive(1 - keep)),
        tried=tried,
    )


_EVEN = Parameter("odds", low=Fraction(1), meaning="e^epsilon")
_STEPS = (_EVEN, unit_interval("delta"), positive_integer("steps"))

basic = Claim(
    id="background/composition-basic",
    source="Dwork, McSherry, Nissim and Smith 2006; Dwork and Lei 2009",
    severity=Stake.PRIVACY,
    statement=r"k \text{ mechanisms of } (\varepsilon, \delta)\text{-DP are } (k\varepsilon, k\delta)\text{-DP}",
    words="epsilons and deltas add up, and no less will do for pure DP",
    hypotheses=_STEPS,
    says=lambda odds, delta, steps: (odds**steps, steps * delta),
    check=judge_basic,
    flips=(
        Flip("one mechanism forgotten", lambda odds, delta, steps: (odds ** max(steps - 1, 1), steps * delta),
             Verdict.REFUTED),
        Flip("the largest delta", lambda odds, delta, steps: (odds**steps, delta), Verdict.REFUTED),
        Flip("one mechanism too many", lambda odds, delta, steps: (odds ** (steps + 1), steps * delta),
             Verdict.REFUTED),
    ),
    rests_on=("background/composition-optimal",),
    true_variants={"* -> + (operator 2)": "k + delta >= 1 is valid, too; the least is claimed for delta = 0 only"},
    expected="HOLDS ARGUED",
)

advanced_composition = Claim(
    id="background/composition-advanced",
    source="Dwork, Rothblum and Vadhan 2010; with this first summand Kairouz, Oh and Viswanath 2015, Thm 3.4",
    severity=Stake.PRIVACY,
    statement=(
        r"\varepsilon_{\mathrm{total}} = k\varepsilon\,\frac{e^\varepsilon - 1}{e^\varepsilon + 1}"
        r" + \varepsilon\sqrt{2k\log(1/\delta')},\quad \delta_{\mathrm{total}} = 1 - (1-\delta)^k (1-\delta')"
    ),
    words="k mechanisms together cost about the root of k epsilons, at a slack in delta",
    hypotheses=(non_negative("epsilon"), *_STEPS[1:], probability("slack")),
    says=Advanced(advanced, outer),
    check=judge_advanced,
    flips=(
        Flip("without the drift", Advanced(lambda e, k, log, tanh, sqrt: e * sqrt(2 * k * log), outer),
             Verdict.REFUTED),
        Flip("a quarter of the logarithm",
             Advanced(lambda e, k, log, tanh, sqrt: advanced(e, k, log / 4, tanh, sqrt), outer), Verdict.REFUTED),
        Flip("the deltas left out", Advanced(advanced, lambda delta, k, slack: slack), Verdict.REFUTED),
    ),
    rests_on=("background/composition-optimal",),
    expected="HOLDS ARGUED",
)

optimal_composition = Claim(
    id="background/composition-optimal",
    source="Kairouz, Oh and Viswanath 2015, Thm 3.3; Murtagh and Vadhan 2016; text not at hand, proved here",
    severity=Stake.PRIVACY,
    statement=(
        r"\delta_{\mathrm{total}} = 1 - (1-\delta)^k\left(1 - \sum_l \binom{k}{l}"
        r" \max(0,\ p^{k-l} q^l - e^E p^l q^{k-l})\right),\quad p = \frac{e^\varepsilon}{1 + e^\varepsilon}"
    ),
    words="the worst adaptive composition of (epsilon, delta)-DP mechanisms has exactly this curve",
    hypotheses=(*_STEPS, Parameter("total_odds", low=Fraction(1), meaning="e^E")),
    says=OPTIMAL,
    check=judge_optimal,
    flips=(
        Flip("one mechanism fewer reveals", OPTIMAL._replace(outer=lambda delta, k, s: outer(delta, k - 1, s)),
             Verdict.REFUTED),
        Flip("the deltas left out", OPTIMAL._replace(outer=lambda delta, k, s: s), Verdict.REFUTED),
    ),
    rests_on=("relu-approx/def-2.3", "relu-approx/thm-2.4"),
    expected="HOLDS ARGUED",
)

randomised_response = Claim(
    id="background/randomised-response",
    source="Warner 1965; the definition of (epsilon, delta)-DP",
    severity=Stake.PRIVACY,
    statement=r"\delta(\varepsilon) = \max\left(0,\ p - e^\varepsilon (1 - p)\right)",
    words="the least delta of randomised response on one bit",
    hypotheses=(Parameter("keep", low=Fraction(1, 2), high=Fraction(1), high_open=True), _EVEN),
    says=response,
    check=judge_response,
    flips=(
        Flip("the roles exchanged", lambda keep, alpha: 1 - keep - alpha * keep, Verdict.REFUTED),
        Flip("without e^epsilon", lambda keep, alpha: 2 * keep - 1, Verdict.REFUTED),
    ),
    expected="HOLDS PROVED",
)
