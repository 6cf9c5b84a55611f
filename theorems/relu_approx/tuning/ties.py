r"""Ties in Theorem 5.1 of document 000: the scores that it is applied to have no density.

The theorem is about Q(y), "the density function of the quality score". The experiments rank models by their accuracy on
a finite test set, whose law has atoms only: two runs tie with positive probability. Let the best level have the mass q
and let t be the probability of a better one. Of K ~ Poisson(m) runs the best is at that level if none is better and not
all are worse, which has the probability E (1 - t)^K - E (1 - t - q)^K = e^{-m t} (1 - e^{-m q}); the density of the
theorem's proof, m q e^{-m t}, is no probability there. Ties that are broken by numbers u, uniform on [0, 1] and drawn
without the data, mend it: the pair of a score and its u has a law without atoms along each level, the theorem's density
integrates to the true mass, and the base's profile is the same, since u comes from neither data set.
"""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from typing import Any

import sympy
from flint import arb, ctx

from oracle.core.domain import positive_integer, probability, real
from oracle.core.enclosure import ball
from theorems.claim import Claim, Flip, Stake
from theorems.given import Domain
from theorems.tools.either import exp
from theorems.verdict import Finding, Verdict, argued, computed, proof, refuted, undecided

Mass = Callable[[Any, Any, Any], Any]
"""(m, probability of the level, of a better one) -> probability that the best run is at that level."""


def by_number_of_runs(mean: int, level: Fraction, better: Fraction) -> arb:
    """The same, summed over the number of runs; what is left out is at most the chance of so many runs."""
    total, chance, terms = arb(0), ball(Fraction(-mean)).exp(), 8 * mean + 100
    left = arb(1)
    for runs in range(terms):
        total += chance * ball((1 - better) ** runs - (1 - better - level) ** runs)
        left -= chance
        chance = chance * mean / (runs + 1)
    return total + left.union(arb(0))


def judge(mass: Mass, given: Domain) -> Finding:
    """Whether the best of Poisson(m) runs is at a level of that mass with probability mass(m, q, t)."""
    tried = 0
    with ctx.workprec(200):
        for point in given.points("m", "part", "better", most={"m": 20}):
            tried += 1
            mean, better = point["m"], point["better"]
            level = point["part"] * (1 - better)
            true, claimed = by_number_of_runs(mean, level, better), mass(mean, ball(level), ball(better))
            if not claimed.overlaps(true):
                return refuted("the best run is there with another probability", {
                    "m": mean, "q": level, "t": better, "probability": true.str(12), "claimed": claimed.str(12)})
            if not claimed.rad() < 1e-20:
                return undecided("the claimed probability is not known well enough", tried)
    m, k = given.symbol("m"), sympy.Symbol("k", integer=True, nonnegative=True)
    q, t, u, z = sympy.symbols("q t u z", positive=True)
    generating = sympy.exp(-m) * sympy.summation((m * z) ** k / sympy.factorial(k), (k, 0, sympy.oo))
    none_better, all_worse = (generating.subs(z, 1 - part) for part in (t, t + q))
    broken = sympy.integrate(m * q * sympy.exp(-m * (t + q * (1 - u))), (u, 0, 1))
    return proof(
        argued("the best run is at the level if none is better and not all are worse"),
        computed("E (1 - t)^K - E (1 - t - q)^K is the claimed probability, K ~ Poisson(m)",
                 sympy.simplify(sympy.expand(none_better - all_worse - mass(m, q, t))) == 0),
        computed("ties broken by u uniform on [0, 1]: the density m q e^(-m (t + q (1 - u))) of Theorem 5.1's proof "
                 "integrates to it", sympy.simplify(sympy.expand(broken - mass(m, q, t))) == 0),
        argued("u is drawn without the data: with it the base has the profile that it has without"),
        tried=tried,
    )


ties = Claim(
    id="relu-approx/thm-5.1-ties", source="000, Theorem 5.1, for scores such as accuracies, which tie",
    quote="Let Q(y) the density function of the quality score of the base mechanism",
    severity=Stake.PRIVACY,
    statement=r"P(\text{best} = y) = e^{-m Q(>y)} \big( 1 - e^{-m Q(y)} \big) = \int_0^1 m Q(y)"
              r" e^{-m (Q(>y) + (1 - u) Q(y))} \, du",
    words="where scores tie, the best of Poisson(m) runs is at a level of mass q, t being better, with probability "
          "e^(-m t) (1 - e^(-m q)): Theorem 5.1's density with ties broken at random",
    hypotheses=(positive_integer("m"), probability("part", "q/(1 - t)"), real("better", "t").at_least(0).below(1)),
    says=lambda mean, level, better: exp(-mean * better) * (1 - exp(-mean * level)), check=judge,
    flips=(
        Flip("the density itself, m q e^(-m t)", lambda mean, level, better: mean * level * exp(-mean * better),
             Verdict.REFUTED),
        Flip("ties count for the better level", lambda mean, level, better: exp(-mean * better) - exp(-mean),
             Verdict.REFUTED),
    ),
    uses=("relu-approx/thm-5.1",),
    expected="HOLDS ARGUED",
)
