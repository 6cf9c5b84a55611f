r"""Theorem 5.1 of document 000: what it costs to release the best of K ~ Poisson(m) runs, and the prose around it.

True, with a proof (`theorems/background/tuning.py`): with ties broken, the best run has the density
m Q(y) e^{-m Q(>y)}, and "nothing" the mass e^{-m}. As Q'(>y) - Q(>y) <= (e^x - 1) + delta(x) =: v for each
x = epsilon_1 >= 0,

    A(y) - e^epsilon A'(y) = m e^{-m Q(>y)} (Q(y) - e^{epsilon - m (Q'(>y) - Q(>y))} Q'(y))
                          <= m (Q(y) - e^{epsilon - m v} Q'(y))_+.

Integrate; what is left is m delta(epsilon - m v). Here it is tested on finite bases, where a level y of mass q is best
with probability e^{-m Q(>y)} (1 - e^{-m q}), in balls: all pairs of laws on two and three levels.

Nothing is to be optimised: as a function of a = e^x a curve is sum (p - a q)_+, with slopes in [-1, 0], so a - 1 +
delta rises and x = 0 is always best, where v is the total variation distance.

The sentence after the theorem calls the tuning (epsilon_hat, m delta(epsilon_hat))-DP. epsilon_hat is what is left of
epsilon; with a base of one bit, e^{epsilon_1} = 2 and delta(epsilon_1) = 0, one run on average already exceeds it.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator
from fractions import Fraction
from typing import Any

import sympy
from flint import arb, ctx

from oracle.core.domain import positive, positive_integer, real
from oracle.core.enclosure import ball
from theorems.claim import Claim, Flip, Repair, Stake, Whose
from theorems.given import Domain
from theorems.tools.finite_laws import Law, hockey_stick, laws, shown
from theorems.verdict import Finding, Verdict, argued, computed, proof, refuted, sampled

_MOST = {"m": 20, "growth": 3, "epsilon": 3, "hat": 3}


def bases() -> Iterator[tuple[Law, Law]]:
    """Pairs of laws of the score on two and three levels, the first level the best."""
    for levels, denominator in ((2, 4), (2, 3), (3, 3)):
        yield from itertools.permutations(laws(levels, denominator), 2)


def curve(first: Law, second: Law, growth: Fraction) -> Fraction:
    """The base's delta at e^x = growth, the larger of both orders."""
    return max(hockey_stick(first, second, growth), hockey_stick(second, first, growth))


def ball_curve(first: Law, second: Law, growth: arb) -> arb:
    """The same where e^x is only enclosed."""
    one, other = (
        sum((_positive(ball(p) - growth * ball(q)) for p, q in zip(a, b, strict=True)), arb(0))
        for a, b in ((first, second), (second, first))
    )
    return one.max(other)


def _positive(value: arb) -> arb:
    return value.max(arb(0))


def best_of(law: Law, mean: int) -> list[arb]:
    """The law of the best of Poisson(mean) runs, level by level, and at the end that of no run."""
    above, result = Fraction(0), []
    for mass in law:
        result.append(-ball(-mean * above).exp() * ball(-mean * mass).expm1())
        above += mass
    return [*result, ball(Fraction(-mean)).exp()]


def divergence(first: list[arb], second: list[arb], growth: arb) -> arb:
    """H_{e^epsilon} of two finite laws in balls."""
    return sum((_positive(p - growth * q) for p, q in zip(first, second, strict=True)), arb(0))


Left = Callable[[Any, Any, Any, Any], Any]
"""(epsilon, m, e^{epsilon_1}, delta(epsilon_1)) -> epsilon_hat, in balls or symbols."""


def printed_left(epsilon: Any, mean: Any, growth: Any, delta: Any) -> Any:
    """Theorem 5.1's epsilon_hat."""
    return epsilon - mean * (growth - 1) - mean * delta


def judge_theorem(left: Left, given: Domain) -> Finding:
    """Whether H_{e^epsilon}(A, A') <= m delta(epsilon_hat) for every finite base, m, epsilon and epsilon_1."""
    tried = 0
    points = list(given.points("m", "growth", "epsilon", at_most=36, most=_MOST))
    with ctx.workprec(100):
        for (first, second), point in itertools.product(bases(), points):
            tried += 1
            mean, growth, epsilon = point.values()
            rest = left(ball(epsilon), mean, ball(growth), ball(curve(first, second, growth)))
            allowed = mean * ball_curve(first, second, rest.exp())
            true = divergence(best_of(first, mean), best_of(second, mean), ball(epsilon).exp())
            if true > allowed:
                return refuted(
                    "the tuning's divergence exceeds it, certified",
                    {"Q (best level first)": shown(first), "Q'": shown(second), "m": mean, "epsilon": epsilon,
                     "e^epsilon_1": growth, "divergence": true.str(12), "claimed": allowed.str(12)},
                )
    m, q, other, tail, other_tail = sympy.symbols("m q q' t t'", positive=True)
    delta, s = sympy.Symbol("delta", nonnegative=True), sympy.Symbol("s", positive=True)
    epsilon, growth = given.symbol("epsilon"), given.chart("growth")
    above = 1 / (1 + s)  # Q(>y)
    apart = growth * above + delta - above  # the most that Q'(>y) can exceed it by
    price = (growth - 1) + delta
    density, second = m * q * sympy.exp(-m * tail), m * other * sympy.exp(-m * other_tail)
    split = m * sympy.exp(-m * tail) * (q - sympy.exp(epsilon - m * (other_tail - tail)) * other)
    return proof(
        argued("with ties broken, the best of Poisson(m) runs has the density m Q(y) e^(-m Q(>y)), and no run e^(-m)"),
        computed("A - e^epsilon A' = m e^(-m Q(>y)) (Q(y) - e^(epsilon - m (Q'(>y) - Q(>y))) Q'(y))",
                 sympy.simplify(sympy.expand(density - sympy.exp(epsilon) * second - split)) == 0),
        computed("Q'(>y) <= e^x Q(>y) + delta(x) leaves Q'(>y) - Q(>y) <= (e^x - 1) + delta(x), as Q(>y) <= 1",
                 sympy.factor(price - apart).is_nonnegative),
        computed("epsilon_hat is epsilon - m ((e^x - 1) + delta(x))",
                 sympy.simplify(left(epsilon, m, growth, delta) - (epsilon - m * price)) == 0),
        argued("the factor e^(-m Q(>y)) is at most 1; integrating the positive part leaves m delta(epsilon_hat)"),
        tried=tried,
    )


def judge_best(best: Fraction, given: Domain) -> Finding:
    """Whether e^x - 1 + delta(x) is least, over the growths e^x >= 1, at e^x = best, for every base."""
    tried = 0
    for first, second in bases():
        for growth in (*given.values("growth"), best):
            tried += 1
            cost, least = (a - 1 + curve(first, second, a) for a in (growth, best))
            if cost < least or best < 1:
                return refuted(
                    "another epsilon_1 costs less, or this one is negative",
                    {"Q": shown(first), "Q'": shown(second), "e^epsilon_1": best, "cost": least,
                     "better e^epsilon_1": growth, "its cost": cost},
                )
    a, q = given.chart("growth"), sympy.Symbol("q", nonnegative=True)
    by, x = sympy.symbols("b x", positive=True)

    def part(value: sympy.Expr) -> sympy.Expr:
        whole = sympy.factor(sympy.simplify(value))
        return whole if whole.is_nonnegative else 0 if whole.is_nonpositive else sympy.nan

    # From a to a + b the cost of an outcome grows by b q - ((p - a q)_+ - (p - (a + b) q)_+), as the q add up to 1.
    cases = ((a + by) * q + x, (a + by * x / (1 + x)) * q, a * q - x)  # p beyond (a + b) q, between, below a q
    grows = [by * q - (part(p - a * q) - part(p - (a + by) * q)) for p in cases]
    return proof(
        computed("from e^x = a to a + b an outcome adds b q and takes off at most b q, whatever p: no cost falls",
                 all(sympy.factor(sympy.simplify(gap)).is_nonnegative for gap in grows)),
        computed("so it is least at the smallest e^x, and so for the larger of both orders",
                 best == 1 and given["growth"].low == 1),
        tried=tried,
    )


_BIT: tuple[Law, Law] = (Fraction(1, 3), Fraction(2, 3)), (Fraction(2, 3), Fraction(1, 3))

Total = Callable[[arb, int, arb, arb], arb]
"""(epsilon_hat, m, e^{epsilon_1}, delta(epsilon_1)) -> the epsilon at which the tuning is m delta(epsilon_hat)."""


def repaired_total(rest: Any, mean: Any, growth: Any, delta: Any) -> Any:
    """The hat where it belongs."""
    return rest + mean * (growth - 1) + mean * delta


def judge_prose(total: Total, given: Domain) -> Finding:
    """Whether the tuning is (total, m delta(epsilon_hat))-DP for every finite base, m and epsilon_hat >= 0."""
    tried = 0
    points = sorted(
        given.points("m", "growth", "hat", at_most=36, most=_MOST), key=lambda at: at["growth"] != at["hat"]
    )  # first the points of the curve that the sentence names
    with ctx.workprec(100):
        for (first, second), point in itertools.product((_BIT, *bases()), points):
            tried += 1
            mean, growth, rest = point.values()
            delta = ball(curve(first, second, growth))
            spent = total(ball(rest).log(), mean, ball(growth), delta)
            allowed = mean * ball(curve(first, second, rest))
            true = divergence(best_of(first, mean), best_of(second, mean), spent.exp())
            if true > allowed:
                return refuted(
                    "the tuning loses more than that, certified",
                    {"Q (best level first)": shown(first), "Q'": shown(second), "m": mean, "e^epsilon_1": growth,
                     "delta(epsilon_1)": curve(first, second, growth), "e^epsilon_hat": rest,
                     "m delta(epsilon_hat)": allowed.str(12), "divergence at epsilon_hat": true.str(12)},
                )
    m, rest, delta = sympy.symbols("m hat delta", nonnegative=True)
    growth = given.chart("growth")
    solved = printed_left(total(rest, m, growth, delta), m, growth, delta)
    return proof(
        computed("Theorem 5.1's epsilon_hat at this epsilon is the given one", sympy.simplify(solved - rest) == 0),
        argued("so it is Theorem 5.1 solved for epsilon (thm-5.1)"),
        tried=tried,
    )


_GROWTH = real("growth", "e^epsilon_1").at_least(1)
_BASE = (positive_integer("m"), _GROWTH, positive("epsilon"))

def _within(pair: tuple[Law, Law], order: tuple[int, ...], mean: int, epsilon: Fraction) -> bool:
    """Whether the best model in a public order obeys Theorem 5.1 with the models' profile, at e^epsilon_1 = 1."""
    rest = printed_left(ball(epsilon), mean, arb(1), ball(curve(*pair, Fraction(1))))
    first, second = (best_of(tuple(law[at] for at in order), mean) for law in pair)
    return bool(divergence(first, second, ball(epsilon).exp()) <= mean * ball_curve(*pair, rest.exp()))


def judge_score(public: bool, given: Domain) -> Finding:
    """Whether Theorem 5.1 with the profile of the model alone bounds the tuning, the score being public or not.

    The base releases one of two models by a coin, so its profile is 0; a score that reads the record prefers the model
    that the record names.
    """
    coin: Law = (Fraction(1, 2), Fraction(1, 2))
    points = list(given.points("m", "epsilon", most=_MOST))
    with ctx.workprec(100):
        for point in points:
            one = best_of(coin, point["m"])
            other = one if public else [one[1], one[0], one[2]]
            true = divergence(one, other, ball(point["epsilon"]).exp())
            if true > 0:
                return refuted(
                    "which model wins tells the record",
                    {**point, "best model if the record names the first": one[0].str(12),
                     "if it names the second": other[0].str(12), "divergence": true.str(12), "claimed": 0},
                )
        within = all(_within(pair, order, point["m"], point["epsilon"]) for point in points[:4] for pair in bases()
                     for order in itertools.permutations(range(len(pair[0]))))
    return proof(
        sampled("models of two and three kinds, ranked by every public score: the best of Poisson(m) is within "
                "Theorem 5.1's bound from the profile of the model", within),
        argued("a score that reads no private data is post-processing of the model, part of the base's own release: "
               "thm-5.1 applies with the profile of the model"),
        tried=len(points),
    )


theorem_5_1 = Claim(
    id="relu-approx/thm-5.1",
    source="000, Theorem 5.1 (Koskela et al. 2024)",
    quote=(
        r"Then, for all $\varepsilon > 0$ and for all $\varepsilon_1 \geq 0$ , $$H_{e^{\varepsilon}}(A||A') "
        r"\le m \cdot \delta(\widehat{\varepsilon}),$$ (5.1) where $\widehat{\varepsilon} = \varepsilon - "
        r"m \cdot (e^{\varepsilon_1} - 1) - m \cdot \delta(\varepsilon_1)$ ."
    ),
    whose=Whose.PRINTED,
    severity=Stake.PRIVACY,
    statement=r"H_{e^\varepsilon}(A \| A') \le m\,\delta(\hat\varepsilon),\quad"
              r" \hat\varepsilon = \varepsilon - m(e^{\varepsilon_1} - 1) - m\,\delta(\varepsilon_1)",
    words="the best of Poisson(m) runs loses at most m delta(epsilon - m (e^epsilon1 - 1) - m delta(epsilon1))",
    hypotheses=_BASE,
    says=printed_left,
    check=judge_theorem,
    flips=(
        Flip("epsilon_hat = epsilon", lambda epsilon, mean, growth, delta: epsilon, Verdict.REFUTED),
        Flip("without m delta(epsilon_1)", lambda epsilon, mean, growth, delta: epsilon - mean * (growth - 1),
             Verdict.REFUTED),
        Flip("delta(epsilon_1) without m",
             lambda epsilon, mean, growth, delta: epsilon - mean * (growth - 1) - delta, Verdict.REFUTED),
        Flip("99,999/100,000 of it, which is more where it is negative",
             lambda *at: printed_left(*at) * 99999 / 100000, Verdict.UNDECIDED),
        Flip("(m^2 - 2) delta(epsilon_1) for m delta(epsilon_1), the same at m = 2",
             lambda epsilon, mean, growth, delta: epsilon - mean * (growth - 1) - (mean**2 - 2) * delta,
             Verdict.REFUTED),
    ),
    true_variants={"any epsilon": "the proof does not ask for epsilon's sign, nor need it"},
    expected="HOLDS ARGUED",
)

epsilon_1 = Claim(
    id="relu-approx/thm-5.1-eps1",
    source="000, Section 5: we can optimise the upper bound (5.1) over epsilon_1 (the optimum is always at 0)",
    statement=r"\min_{\varepsilon_1 \ge 0} e^{\varepsilon_1} - 1 + \delta(\varepsilon_1) = \delta(0)",
    words="epsilon_1 = 0 is optimal in Theorem 5.1 for every base, so there is nothing to optimise",
    hypotheses=(_GROWTH,),
    says=Fraction(1),
    check=judge_best,
    flips=(
        Flip("a little below 0", Fraction(99999, 100000), Verdict.REFUTED),
        Flip("at log 2", Fraction(2), Verdict.REFUTED),
    ),
    expected="HOLDS PROVED",
)

prose = Claim(
    id="relu-approx/thm-5.1-prose",
    source="000, the sentence after Theorem 5.1",
    quote=(
        r"Theorem 5.1 says that the hyperparameter tuning algorithm is $(\widehat{\varepsilon}, m \cdot "
        r"\delta(\widehat{\varepsilon}))$ -DP in case the base mechanism is $(\varepsilon_1, "
        r"\delta(\varepsilon_1)$ -DP."
    ),
    whose=Whose.TYPO,
    severity=Stake.PRIVACY,
    statement=r"Q\ (\varepsilon_1, \delta(\varepsilon_1))\text{-DP} \implies"
              r" A\ (\hat\varepsilon, m\,\delta(\hat\varepsilon))\text{-DP}",
    words="the tuning is (epsilon_hat, m delta(epsilon_hat))-DP if the base is (epsilon_1, delta(epsilon_1))-DP",
    hypotheses=(_BASE[0], _GROWTH, real("hat", "e^epsilon_hat").at_least(1)),
    says=lambda rest, mean, growth, delta: rest,
    check=judge_prose,
    uses=("relu-approx/thm-5.1",),
    expected="REFUTED PROVED",
    repair=Repair(
        statement=r"A \text{ is } \big(\hat\varepsilon + m(e^{\varepsilon_1} - 1) + m\,\delta(\varepsilon_1),"
                  r"\ m\,\delta(\hat\varepsilon)\big)\text{-DP}",
        words="the tuning is (epsilon, m delta(epsilon_hat))-DP for epsilon = epsilon_hat + m (e^epsilon1 - 1) + "
              "m delta(epsilon1)",
        says=repaired_total,
        expected="HOLDS ARGUED",
        source="000, the sentence after Theorem 5.1, for a base with the whole curve delta(.)",
        flips=(
            Flip("delta(epsilon_1)^2 on top, and epsilon_hat^2/10^4 less",
                 lambda rest, mean, growth, delta:
                     repaired_total(rest, mean, growth, delta + delta**2) - rest**2 / 10**4,
                 Verdict.UNDECIDED),
            Flip("without m delta(epsilon_1)", lambda rest, mean, growth, delta: rest + mean * (growth - 1),
                 Verdict.REFUTED),
        ),
        rests_on=("relu-approx/thm-5.1",),
    ),
)

_SCORE = "Let Q(y) the density function of the quality score of the base mechanism (y denoting the score)"

private_score = Claim(
    id="relu-approx/thm-5.1-score",
    source="000, Section 5, read with delta(.) the model's own profile, whichever data the score reads",
    quote=_SCORE,
    whose=Whose.READING,
    severity=Stake.PRIVACY,
    statement=r"\delta(\cdot) \text{ of the trained model} \implies"
              r" H_{e^\varepsilon}(A \| A') \le m\,\delta(\hat\varepsilon)",
    words="Theorem 5.1 applies with the trained model's profile even if its score is computed from the private data",
    hypotheses=_BASE[::2],
    says=False,
    check=judge_score,
    flips=(Flip("a public score", True, Verdict.HOLDS),),
    repaired_by="relu-approx/thm-5.1-score-public",
    uses=("relu-approx/thm-5.1",),
    expected="REFUTED PROVED",
)

public_score = Claim(
    id="relu-approx/thm-5.1-score-public",
    source="000, Section 5, with a score that reads the model and public data only",
    severity=Stake.PRIVACY,
    statement=r"\text{score} = f(\text{model}) \implies \delta(\cdot) \text{ of the model serves in Theorem 5.1}",
    words="Theorem 5.1 applies with the trained model's profile if the score is computed from it and public data",
    hypotheses=_BASE[::2],
    says=True,
    check=judge_score,
    flips=(Flip("a score that reads the record", False, Verdict.REFUTED),),
    rests_on=("relu-approx/thm-5.1",),
    expected="HOLDS ARGUED",
)
