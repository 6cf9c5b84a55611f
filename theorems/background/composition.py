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
from typing import Any

import sympy
from flint import arb, ctx

from oracle.core.domain import Parameter, non_negative, positive_integer, probability, unit_interval
from oracle.core.enclosure import ball
from theorems.claim import Claim, Flip, Severity
from theorems.domain import Domain
from theorems.tools.finite_laws import Law, dominates, hockey_stick, laws, shown
from theorems.verdict import Finding, Verdict, argued, proof, refuted, undecided

_ODDS = tuple(Fraction(v) for v in ("3/2", "2", "4"))
_DELTAS = tuple(Fraction(v) for v in ("0", "1/10", "1/2"))


def worst(odds: Fraction, delta: Fraction) -> tuple[Law, Law]:
    """The pair W of the module docstring."""
    p = (1 - delta) * odds / (1 + odds)
    q = (1 - delta) / (1 + odds)
    return (delta, p, q, Fraction(0)), (Fraction(0), q, p, delta)


def power(pair: tuple[Law, Law], times: int) -> tuple[Law, Law]:
    """The product of so many copies of a pair, by listing all outcomes."""
    first, second = (tuple(math.prod(row, start=Fraction(1)) for row in itertools.product(law, repeat=times))
                     for law in pair)
    return first, second


Total = Callable[[Any, Any, int, Any], Any]
"""delta of the composition from (e^epsilon, delta, k, e^{total epsilon})."""


def optimal(odds: Any, delta: Any, steps: int, total: Any) -> Any:
    """Kairouz, Oh and Viswanath's formula."""
    p, q = odds / (1 + odds), 1 / (1 + odds)
    gaps = (
        math.comb(steps, i) * max(Fraction(0), p ** (steps - i) * q**i - total * p**i * q ** (steps - i))
        for i in range(steps + 1)
    )
    return 1 - (1 - delta) ** steps * (1 - sum(gaps, Fraction(0)))


def curve_gaps() -> dict[str, sympy.Expr]:
    """What must vanish for W to have the largest curve that (epsilon, delta)-DP allows."""
    a, d, x = sympy.symbols("a delta x", positive=True)
    middle = d + (1 - d) * (a - x) / (1 + a)  # W's divergence at the order x between 1/a and a
    return {
        "at a": middle.subs(x, a) - d,
        "at 1/a": sympy.simplify(middle.subs(x, 1 / a) - (1 - 1 / a + d / a)),
        "linear between": sympy.diff(middle, x, 2),
    }


def judge_optimal(says: Total, given: Domain) -> Finding:
    """The formula against the product of worst pairs; and W against all small pairs that are (epsilon, delta)-DP."""
    tried = 0
    for odds, delta, steps in itertools.product(_ODDS, _DELTAS, (1, 2, 3, 4)):
        pair = power(worst(odds, delta), steps)
        for total in (Fraction(1), odds, odds**2, odds ** (steps - 1) + 1, odds**steps):
            tried += 1
            claimed, true = says(odds, delta, steps, total), hockey_stick(*pair, total)
            if claimed != true:
                return refuted(
                    "the product of worst pairs has another delta, exactly",
                    {"e^epsilon": str(odds), "delta": str(delta), "k": str(steps), "e^total": str(total),
                     "true": str(true), "claimed": str(claimed)},
                )
    below = 0
    for first, second in itertools.product(laws(3, 4), repeat=2):
        for odds in _ODDS:
            delta = max(hockey_stick(first, second, odds), hockey_stick(second, first, odds))
            below += dominates(worst(odds, delta), (first, second))
            tried += 1
    dominated = below == len(list(laws(3, 4))) ** 2 * len(_ODDS)
    if says is not optimal or not dominated or any(gap != 0 for gap in curve_gaps().values()):
        return undecided("agrees at points; not proved", tried)
    return proof(argued(
        "W's curve is the largest that (epsilon, delta)-DP allows (computer algebra: the chord between 1/a and a), and "
        f"products dominate; the formula was summed outcome by outcome, and W held against pairs: {tried} exact cases"
    ))


def judge_basic(says: Callable[[Any, Any, int], tuple[Any, Any]], given: Domain) -> Finding:
    """Whether k mechanisms of (e^epsilon, delta) are (e^total, delta_total)-DP, as claimed; at delta = 0 the least."""
    tried = 0
    for odds, delta, steps in itertools.product(_ODDS, _DELTAS, (1, 2, 3, 4)):
        tried += 1
        total, delta_total = says(odds, delta, steps)
        true = hockey_stick(*power(worst(odds, delta), steps), total)
        sharp = delta > 0 or hockey_stick(*power(worst(odds, delta), steps), total - Fraction(1, 1000)) > 0
        if true > delta_total or not sharp:
            return refuted(
                "the worst composition breaks it, or needs less, exactly",
                {"e^epsilon": str(odds), "delta": str(delta), "k": str(steps), "e^total claimed": str(total),
                 "delta claimed": str(delta_total), "delta there": str(true)},
            )
    a, d = sympy.symbols("a delta", positive=True)
    shown_for = [
        sympy.simplify(says(a, d, k)[0] - a**k) == 0 == sympy.simplify(says(a, d, k)[1] - k * d) for k in range(1, 6)
    ]
    # All responses agree with odds a^k, where the sum vanishes: what is left is 1 - (1-delta)^k <= k delta.
    if not all(shown_for):
        return undecided("no composition is against it; not proved", tried)
    return proof(argued(
        "at a^k no outcome but a revealed one exceeds, and 1 - (1-delta)^k <= k delta (Bernoulli); for delta = 0 the "
        f"worst composition needs all of k epsilon; {tried} exact cases"
    ))


Root = Callable[[Any], Any]


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


def transform_gap() -> sympy.Expr:
    """f'' - (epsilon^2 - f'^2) for f = log(p e^{t epsilon} + (1-p) e^{-t epsilon}); zero identically."""
    t, e, p = sympy.symbols("t epsilon p", positive=True)
    f = sympy.log(p * sympy.exp(t * e) + (1 - p) * sympy.exp(-t * e))
    return sympy.simplify(sympy.diff(f, t, 2) - (e**2 - sympy.diff(f, t) ** 2))


def judge_advanced(says: Callable[[Any, Any, Any, Root, Root], Any], given: Domain) -> Finding:
    """The worst composition's divergence at the claimed epsilon is at most the slack, certified."""
    tried = 0
    for epsilon, steps, slack in itertools.product(("1/100", "1/10", "1"), (1, 10, 100, 400), ("1e-1", "1e-5", "1e-9")):
        tried += 1
        with ctx.workprec(200):
            total = says(ball(Fraction(epsilon)), steps, -ball(Fraction(slack)).log(), arb.tanh, arb.sqrt)
            true = worst_divergence(Fraction(epsilon), steps, total)
            if true > ball(Fraction(slack)):
                return refuted(
                    "the worst composition has a larger delta, certified",
                    {"epsilon": epsilon, "k": str(steps), "slack": slack, "claimed total": total.str(12),
                     "delta there": true.str(12)},
                )
    e, k, log = sympy.symbols("epsilon k L", positive=True)
    claimed = says(e, k, log, sympy.tanh, sympy.sqrt)
    tail = sympy.simplify((claimed - k * e * sympy.tanh(e / 2)) ** 2 / (2 * k * e**2) - log)
    mean = sympy.simplify((sympy.exp(e) - 1) / (sympy.exp(e) + 1) - sympy.tanh(e / 2).rewrite(sympy.exp))
    if tail != 0 or mean != 0 or transform_gap() != 0:
        return undecided("no composition is against it; not proved", tried)
    return proof(argued(
        "f'' = epsilon^2 - f'^2 bounds the Laplace transform (computer algebra), Markov's inequality the tail; the "
        f"worst composition obeys it at {tried} points, certified"
    ))


def response(keep: Any, alpha: Any) -> Any:
    """The curve of randomised response, where it is positive."""
    return keep - alpha * (1 - keep)


def judge_response(says: Callable[[Any, Any], Any], given: Domain) -> Finding:
    """The curve of randomised response, max(0, says(keep, e^epsilon)), against the two outcomes."""
    tried = 0
    for keep in (Fraction(1, 2), Fraction(2, 3), Fraction(3, 4), Fraction(9, 10)):
        for alpha in (Fraction(1), Fraction(3, 2), Fraction(3), Fraction(10)):
            tried += 1
            laws_ = (keep, 1 - keep), (1 - keep, keep)
            true, claimed = hockey_stick(*laws_, alpha), max(Fraction(0), says(keep, alpha))
            if true != claimed:
                return refuted(
                    "another number",
                    {"P": shown(laws_[0]), "Q": shown(laws_[1]), "e^epsilon": str(alpha), "delta": str(true),
                     "claimed": str(claimed)},
                )
    half, more = sympy.symbols("h x", nonnegative=True)  # keep = 1/2 + h/2, e^epsilon = 1 + x
    keep, alpha = (1 + half) / 2, 1 + more
    other = sympy.expand(-((1 - keep) - alpha * keep))  # the second outcome adds nothing
    first = keep - alpha * (1 - keep)
    if sympy.expand(says(keep, alpha) - first) != 0 or sympy.expand(other - (half + more * (1 + half) / 2)) != 0:
        return undecided("agrees at points; not proved", tried)
    return proof(argued(
        f"the untrue outcome never exceeds: 1 - keep <= e^epsilon keep (computer algebra); {tried} exact points"
    ))


_STEPS = (non_negative("epsilon"), unit_interval("delta"), positive_integer("steps"))

basic = Claim(
    id="background/composition-basic",
    source="Dwork, McSherry, Nissim and Smith 2006; Dwork and Lei 2009",
    severity=Severity.PRIVACY,
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
    expected="HOLDS ARGUED",
)

advanced_composition = Claim(
    id="background/composition-advanced",
    source="Dwork, Rothblum and Vadhan 2010; with this first summand Kairouz, Oh and Viswanath 2015, Thm 3.4",
    severity=Severity.PRIVACY,
    statement=(
        r"\varepsilon_{\mathrm{total}} = k\varepsilon\,\frac{e^\varepsilon - 1}{e^\varepsilon + 1}"
        r" + \varepsilon\sqrt{2k\log(1/\delta')},\quad \delta_{\mathrm{total}} = 1 - (1-\delta)^k (1-\delta')"
    ),
    words="k mechanisms together cost about the root of k epsilons, at a slack in delta",
    hypotheses=(*_STEPS, probability("slack")),
    says=advanced,
    check=judge_advanced,
    flips=(
        Flip("without the drift", lambda e, k, log, tanh, sqrt: e * sqrt(2 * k * log), Verdict.REFUTED),
        Flip("a quarter of the logarithm", lambda e, k, log, tanh, sqrt: advanced(e, k, log / 4, tanh, sqrt),
             Verdict.REFUTED),
    ),
    rests_on=("background/composition-optimal",),
    expected="HOLDS ARGUED",
)

optimal_composition = Claim(
    id="background/composition-optimal",
    source="Kairouz, Oh and Viswanath 2015, Thm 3.3; Murtagh and Vadhan 2016; text not at hand, proved here",
    severity=Severity.PRIVACY,
    statement=(
        r"\delta_{\mathrm{total}} = 1 - (1-\delta)^k\left(1 - \sum_l \binom{k}{l}"
        r" \max(0,\ p^{k-l} q^l - e^E p^l q^{k-l})\right),\quad p = \frac{e^\varepsilon}{1 + e^\varepsilon}"
    ),
    words="the worst adaptive composition of (epsilon, delta)-DP mechanisms has exactly this curve",
    hypotheses=(*_STEPS, non_negative("total_epsilon")),
    says=optimal,
    check=judge_optimal,
    flips=(
        Flip("one mechanism fewer", lambda odds, delta, k, total: optimal(odds, delta, k - 1, total), Verdict.REFUTED),
        Flip("the deltas left out", lambda odds, delta, k, total: optimal(odds, 0 * delta, k, total), Verdict.REFUTED),
    ),
    rests_on=("relu-approx/def-2.3", "relu-approx/thm-2.4"),
    expected="HOLDS ARGUED",
)

randomised_response = Claim(
    id="background/randomised-response",
    source="Warner 1965; the definition of (epsilon, delta)-DP",
    severity=Severity.PRIVACY,
    statement=r"\delta(\varepsilon) = \max\left(0,\ p - e^\varepsilon (1 - p)\right)",
    words="the least delta of randomised response on one bit",
    hypotheses=(Parameter("keep", low=Fraction(1, 2), high=Fraction(1), high_open=True), non_negative("epsilon")),
    says=response,
    check=judge_response,
    flips=(
        Flip("the roles exchanged", lambda keep, alpha: 1 - keep - alpha * keep, Verdict.REFUTED),
        Flip("without e^epsilon", lambda keep, alpha: 2 * keep - 1, Verdict.REFUTED),
    ),
    rests_on=("relu-approx/eq-2.1",),
    expected="HOLDS ARGUED",
)
