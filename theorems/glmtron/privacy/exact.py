r"""What the bounds of the pass and of the thresholds take for granted: approximate steps, whole histograms.

Approximate steps. Let k = e^-epsilon0, delta0 = delta_G(epsilon0; 1/f), and a, b, c the laws of a step for the two
values of the record that differs and for another one, all Gaussians within one sensitivity. Where a > b/k put a' = (a +
b)/(1 + k), b' = k (a + b)/(1 + k), and the other way round where b > a/k: then a' <= b'/k and b' <= a'/k, a' + b' = a +
b, and a - a' = k/(1 + k) (a - b/k) there, so that both change by at most k delta0/(1 + k) in total variation (the two
masses are equal, since the pair of Gaussians is its own mirror image). (k (a + b)/2 - c)_+ has at most the mass k
delta0: raise c by it. Now clones apply. The laws of the n steps have changed by eta = k delta0 (n - 1 + 1/(1 + k)) at
most, and a change by eta of both sides costs (1 + e^epsilon) eta. For epsilon <= epsilon0 that is at most ((1 + k)(n -
1) + 1) delta0 <= (2n - 1) delta0.

Whole histograms. With p = delta'/2 and delta_j the curve of j Laplace releases of ratio epsilon'/2 a histogram with the
noisy test has one of the curves p + (1 - p) delta_1(epsilon - log(1 - p)), delta_1(epsilon + log(1 - p)), p,
delta_2(epsilon). All lie below p + (1 - p) delta_2(epsilon), the curve of the pair that gives all away with probability
p and else makes two releases: delta_1 <= delta_2 and delta_1 falls; and (L1 - e^epsilon (1-p) L0)_+ <= p L1 + (1-p) (L1
- e^epsilon L0)_+. That pair is its own mirror image, so it dominates; k histograms, adaptive ones too, are dominated by
k copies, whose curve is 1 - (1 - p)^k (1 - delta_2k).
"""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from typing import Any

import sympy
from flint import arb, ctx

from oracle.core.domain import positive, positive_integer, probability
from oracle.core.enclosure import Enclosure, ball
from oracle.core.registry import bound
from theorems.claim import Claim, Flip, Stake, Whose
from theorems.given import Domain
from theorems.tools.symbolic_signs import never_negative, vanishes
from theorems.verdict import Finding, Verdict, argued, computed, proof, refuted

_PRECISION = 120


def judge_steps(cost: Callable[[Any], Any], given: Domain) -> Finding:
    """Whether n steps of delta0 at epsilon0 add at most cost(n) delta0 to the delta of the clones."""
    sizes = given.values("records")
    for records in sizes:
        if records == 1 and cost(records) < 1:
            return refuted("one step alone has delta0 at epsilon0, where the clones have 0", {
                "n": records, "clones": 0, "true delta over delta0": 1, "claimed": cost(records)})
    n, share = given.chart("records"), sympy.Symbol("t", nonnegative=True)
    k = share / (1 + share)
    a, b = sympy.symbols("a b", positive=True)
    first, second = (a + b) / (1 + k), k * (a + b) / (1 + k)
    moved = k / (1 + k)
    return proof(
        computed("a' + b' = a + b, b' = k a' and a - a' = k/(1 + k) (a - b/k), on symbols",
                 vanishes(first + second - a - b, second - k * first, a - first - k / (1 + k) * (a - b / k))),
        computed("(1 + 1/k) (k/(1 + k) + (n - 1) k) = (1 + k)(n - 1) + 1 is at most the cost, on symbols",
                 vanishes((1 + 1 / k) * (moved + (n - 1) * k) - (1 + k) * (n - 1) - 1)
                 and never_negative(cost(n) - (1 + k) * (n - 1) - 1) and given["records"].low == 1),
        argued("the changes of the docstring make the steps epsilon0-close and the other steps' laws at least k times "
               "their mean: background/shuffle-clones needs no more, for adaptive steps in random order"),
        tried=len(sizes),
    )


Curves = tuple[Callable[[Any, Any], Any], Callable[[Any, Any, Any], Any]]
"""The curve of one histogram from (p, delta_2), and of k of them from (p, k, delta_2k)."""


def one_release(epsilon: arb, ratio: arb) -> arb:
    """The curve of one Laplace release of that ratio, for epsilon of either sign."""
    size = (1 - ((abs(epsilon) - ratio) / 2).exp()).max(arb(0))
    return size if epsilon >= 0 else 1 - epsilon.exp() + epsilon.exp() * size


def judge_curves(says: Curves, given: Domain) -> Finding:
    """Whether the first is above all cases of a histogram, and the second that of k copies of its pair."""
    one, many = says
    tried = 0
    for point in given.points("threshold_epsilon", "threshold_delta", at_most=12, most={"threshold_epsilon": 2}):
        small, leak = point["threshold_epsilon"], point["threshold_delta"] / 2
        for epsilon in (Fraction(0), small / 4, small):
            two = bound("laplace-composed.delta").reference(sensitivity=small, scale=2, steps=2, epsilon=epsilon)
            with ctx.workprec(_PRECISION):
                p, e, ratio = ball(leak), ball(epsilon), ball(small / 2)
                gone = (-p).log1p()
                cases = {"a bin vanishes, another changes": p + (1 - p) * one_release(e - gone, ratio),
                         "the same, the other way round": one_release(e + gone, ratio),
                         "one vanishes, one appears": p, "two change": two.ball}
                claimed = one(p, two.ball)
                tried += 1
                for name, true in cases.items():
                    if true > claimed:
                        return refuted("a case of a histogram is above it", {
                            "epsilon'": small, "delta'": 2 * leak, "epsilon": epsilon, "case": name,
                            "delta": Enclosure.of_ball(true), "claimed": Enclosure.of_ball(claimed)})
    p_, d, k = given.chart("threshold_delta") / 2, sympy.Symbol("d", positive=True), given.symbol("histograms")
    tried += len(given.values("histograms"))
    return proof(
        computed("one copy is p + (1 - p) delta_2, and a further copy gives all away with probability p, on symbols",
                 vanishes(one(p_, d) - p_ - (1 - p_) * d, many(p_, 1, d) - one(p_, d),
                          many(p_, k + 1, d) - p_ - (1 - p_) * many(p_, k, d)) and given["histograms"].low == 1),
        argued("the inequalities of the docstring between the four cases and the pair's curve"),
        argued("a pair that is its own mirror image and above at every epsilon >= 0 dominates, and domination "
               "composes"),
        tried=tried,
    )


steps = Claim(
    id="glmtron/thm-4.1-steps", source="003, Theorem 4.1: what the (epsilon0, delta0) of the steps costs, O(e^epsilon "
                                       "delta0 N) in Lemma D.2",
    quote="Therefore, by Lemma Algorithm DP-GLMtron adheres to (£,6 + O(e“5oN))-DP, where:",
    whose=Whose.OURS, severity=Stake.PRIVACY,
    statement=r"\delta = \delta_{\mathrm{clones}}(\varepsilon) + (2N - 1)\,\delta_G(\varepsilon_0; 1/f),\quad"
              r" \varepsilon \le \varepsilon_0",
    words="a shuffled pass of N Gaussian steps has at most the delta of the clones plus (2N - 1) times that of a step "
          "at "
          "epsilon0, for epsilon up to epsilon0",
    hypotheses=(positive_integer("records", "N"),), says=lambda n: 2 * n - 1, check=judge_steps,
    flips=(Flip("nothing", lambda n: 0 * n, Verdict.REFUTED), Flip("N", lambda n: n, Verdict.UNDECIDED)),
    rests_on=("background/shuffle-clones", "glmtron/lemma-D.1-gaussian"),
    true_variants={"1 % more": "a larger cost is one, too", "2 -> 3 *": "a larger cost is one, too",
                   "- -> + *": "a larger cost is one, too", "squared": "a larger cost is one, too"},
    expected="HOLDS ARGUED",
)
curves = Claim(
    id="glmtron/threshold-composition-exact", source="003, Algorithm 2 with the noisy test: all histograms together",
    quote="Combining with the advanced composition theorem, it holds that Algorithm is (g,0)-DP.",
    whose=Whose.OURS, severity=Stake.PRIVACY,
    statement=r"\delta_{\mathrm{total}}(E) = 1 - \left(1 - \tfrac{\delta'}{2}\right)^k (1 - \delta_{2k}(E)),\quad"
              r" \delta_{2k} \text{ of } 2k \text{ Laplace releases of ratio } \varepsilon'/2",
    words="k adaptive histograms on the same records have at most the delta of k pairs that give all away with "
          "probability delta'/2 and else make two Laplace releases of ratio epsilon'/2",
    hypotheses=(positive("threshold_epsilon", "epsilon'"), probability("threshold_delta", "delta'"),
                positive_integer("histograms", "k")),
    says=(lambda p, d: p + (1 - p) * d, lambda p, k, d: 1 - (1 - p) ** k * (1 - d)), check=judge_curves,
    flips=(Flip("without what is given "
                "away", (lambda p, d: d + 0 * p, lambda p, k, d: d + 0 * p * k), Verdict.REFUTED),),
    rests_on=("background/laplace-curve", "glmtron/alg-2-histogram-privacy", "background/composition-optimal"),
    expected="HOLDS ARGUED",
)
