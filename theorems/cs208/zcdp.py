r"""Concentrated DP in document 004: the noise of a step, composition, conversion, and no amplification by sampling.

A Gaussian release of sensitivity D has R_alpha = alpha D^2/(2 sigma^2) by completing the square: it is rho-zCDP exactly
for rho >= D^2/(2 sigma^2). The slides' factor ln(1.25/delta_T) does not belong to it.

Composition. For laws P x P' against Q x Q' the moments E_Q (dP/dQ)^alpha multiply, so the R_alpha add up; where the
second release depends on the first, its moment is bounded for every outcome of the first, and the bound comes out.

Conversion. rho-zCDP has delta(epsilon) <= e^{(alpha-1)(rho alpha - epsilon)}, background/rdp-conversion with 1 for a
constant below 1. At alpha = 1 + t it is delta for epsilon = rho + rho t + ln(1/delta)/t, least at t = sqrt(ln(1/delta)
/rho): rho + 2 sqrt(rho ln(1/delta)).

Noise. Solved, sqrt rho = sqrt(l + epsilon) - sqrt l = epsilon/(sqrt(l + epsilon) + sqrt l), l = ln(1/delta), at
least epsilon/((1 + sqrt 2) sqrt l) for epsilon <= l: sigma^2 = T D^2/(2 rho) <= ((3 + 2 sqrt 2)/2) T l (D/epsilon)^2.

No amplification. With the likelihood ratio w of N(mu, 1) against N(0, 1), a Poisson sample of rate p has the ratio 1 -
p + p w. Its moment of order alpha is at least that of p w: p^alpha e^{alpha (alpha-1) mu^2/2}, so that R_alpha/alpha >=
mu^2/2 + ln p/(alpha-1), which comes as near to rho = mu^2/2 as one likes. It is not larger: (1 - p + p w)^alpha <=
1 - p + p w^alpha. The least rho of the sampled mechanism is that of the mechanism, whatever p > 0 is.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from fractions import Fraction
from typing import Any

import sympy
from flint import arb, ctx

from oracle.core.domain import Parameter, non_negative, positive_integer, probability
from oracle.core.enclosure import Enclosure, ball
from oracle.engines.gaussian_curve import delta_ball
from theorems.claim import Claim, Flip, Repair, Stake, Whose
from theorems.cs208.judging import Formula, formula
from theorems.given import Domain
from theorems.tools.either import root
from theorems.tools.finite_laws import laws, moment
from theorems.tools.studied import study_step
from theorems.tools.symbolic_signs import never_negative, vanishes
from theorems.verdict import Finding, ProofStep, Verdict, argued, computed, proof, refuted, sampled


def gaussian_steps() -> tuple[ProofStep, ...]:
    """R_alpha/alpha of two Gaussians a distance m apart, of variance v, is m^2/(2v)."""
    x, m = sympy.symbols("x m", real=True)
    alpha, v = sympy.symbols("alpha v", positive=True)
    exponent = alpha * -((x - m) ** 2) / (2 * v) + (1 - alpha) * -(x**2) / (2 * v) + (x - alpha * m) ** 2 / (2 * v)
    return (computed("R_alpha/alpha is (distance)^2/(2 variance), by completing the square",
                     vanishes(exponent / (alpha * (alpha - 1)) - m**2 / (2 * v))),)


_TERMS = {"replace": 2, "add_remove": 1}


def judge_step(says: Mapping[str, Formula], given: Domain) -> Finding:
    """Whether sigma^2 = says[kind](ln(1.25/delta_T)) (C/(e n))^2 makes a step e^2-zCDP, C = n = e = 1."""
    for delta in (Fraction(1, 2), *given.values("delta")):
        with ctx.workprec(80):
            level = ball(Fraction(5, 4) / delta).log()
            for kind, factor in says.items():
                value = factor(level)
                variance = value if isinstance(value, arb) else ball(Fraction(value))
                if not variance > 0 or _TERMS[kind] ** 2 / (2 * variance) > 1:
                    rho = "infinite" if not variance > 0 else str(Enclosure.of_ball(_TERMS[kind] ** 2 / (2 * variance)))
                    return refuted("the step's rho is larger than epsilon_0^2, certified", {
                        "what": kind, "delta_T": delta, "epsilon_0": 1, "sigma^2 n^2/C^2": variance.str(8), "rho": rho})
    level = sympy.symbols("l", positive=True)
    return proof(
        *gaussian_steps(),
        computed("sigma^2 is at least half the squared sensitivity, whatever the logarithm is", never_negative(
            *(2 * factor(level) - _TERMS[kind] ** 2 for kind, factor in says.items()))),
    )


def composition_steps(given: Domain) -> tuple[ProofStep, ...]:
    """Moments of products multiply, exactly, for small laws; adaptive releases in words."""
    pairs = [(p, q) for p in laws(2, 3) for q in laws(2, 3) if min(q) > 0][:12]
    same = True
    for (p, q), (r, s) in zip(pairs, pairs[3:], strict=False):
        product = tuple(a * b for a in p for b in r), tuple(a * b for a in q for b in s)
        one, two, both = moment(p, q, 3), moment(r, s, 3), moment(*product, 3)
        same = same and one is not None and two is not None and both == one * two
    a, b = sympy.symbols("a b", positive=True)
    return (
        computed("log(M_1 M_2) = log M_1 + log M_2: where moments multiply, R_alpha adds up",
                 vanishes(sympy.expand_log(sympy.log(a * b) - sympy.log(a) - sympy.log(b), force=True))),
        sampled("moments of order 3 of products multiply, exactly, for twelve pairs of laws", same),
        argued("a later release's moment is bounded given the earlier ones, and the bound comes out of the mean"),
    )


def judge_conversion(says: Formula, given: Domain) -> Finding:
    """Whether epsilon = says(rho, ln(1/delta)) is enough: Gaussians of that rho, and the best order on symbols."""
    for point in given.points("rho", "delta"):
        with ctx.workprec(100):
            rho, inside = ball(point["rho"]), -ball(point["delta"]).log()
            epsilon = says(rho, inside)
            if not epsilon >= 0 or (point["rho"] > 0
                                    and delta_ball(epsilon, (2 * rho).sqrt()) > ball(point["delta"])):
                return refuted("a Gaussian mechanism of that rho is less private",
                               {**point, "epsilon": epsilon.str(10)})
    rho, inside, t = sympy.symbols("rho l t", positive=True)
    at = rho * (1 + t) + inside / t
    return proof(
        computed("e^((alpha-1)(rho alpha - epsilon)) is delta at this epsilon, alpha = 1 + t",
                 vanishes(t * (rho * (1 + t) - at) + inside)),
        computed("at t = sqrt(ln(1/delta)/rho) it is at most what is claimed",
                 never_negative(says(rho, inside) - at.subs(t, sympy.sqrt(inside / rho)))),
        computed("rho >= 0 and delta in (0, 1); at rho = 0 nothing is released",
                 given["rho"].low == 0 and given["delta"].low == 0 and given["delta"].high == 1),
    )


def judge_noise(says: Callable[[Any, Any], Any], given: Domain) -> Finding:
    """Whether says(ln(1/delta), ln(T/delta)), times a constant, is enough, and is of a smaller order than before.

    "Improved": over the product of the two logarithms, which advanced composition gives, it goes to 0 as T grows.
    """
    inside, inner = sympy.symbols("l m", positive=True)
    ratio = sympy.simplify(says(inside, inner) / (inside * inner))
    if sympy.limit(ratio, inner, sympy.oo) != 0:
        return refuted("the order is no smaller than that of advanced composition", {
            "T": "1 and 1000000", "delta": "1/100000", "orders": f"{says(inside, inner)} and l m",
            "their ratio as T grows": sympy.limit(ratio, inner, sympy.oo)})
    for point in given.points("share", "delta", "steps", at_most=60):
        with ctx.workprec(100):
            level = -ball(point["delta"]).log()
            epsilon, steps = ball(point["share"]) * level, ball(point["steps"])
            rho = ((level + epsilon).sqrt() - level.sqrt()) ** 2
            bound = (3 + 2 * arb(2).sqrt()) / 2 * steps / epsilon**2 * says(level, (steps / ball(point["delta"])).log())
            if not bound >= steps / (2 * rho) * (1 - arb(2) ** -60):
                return refuted("less than zCDP asks for", {**point, "claimed": bound.str(10),
                                                           "asked for": (steps / (2 * rho)).str(10)})
    share = given.chart("share")
    least = share / (1 + sympy.sqrt(1 + share))  # sqrt(rho/l), as sqrt(1 + u) - 1 = u/(1 + sqrt(1 + u))
    return proof(
        computed("sqrt(rho/l) = u/(1 + sqrt(1 + u)) for epsilon = u l",
                 vanishes(sympy.simplify((least + 1) ** 2 - 1 - share))),
        computed("with 1 + sqrt(1 + u) <= 1 + sqrt 2 for u <= 1, sigma^2 is at most (3 + 2 sqrt 2)/2 times the order",
                 vanishes(says(inside, inner) - inside, (1 + sympy.sqrt(2)) ** 2 - 3 - 2 * sympy.sqrt(2))
                 and given["share"].high == 1),
        study_step("dp-gd-noise"),
    )


def judge_sampled(factor: Fraction, given: Domain) -> Finding:
    """Whether the least rho of the Poisson-sampled Gaussian mechanism is factor times that of the mechanism."""
    rate, rho = Fraction(1, 100), Fraction(1, 2)
    if factor > 1:
        return refuted("the sampled mechanism has no larger moments: factor 1 is enough",
                       {"p": rate, "rho": rho, "claimed": factor * rho, "enough": rho})
    with ctx.workprec(100):
        gap = (1 - factor) * rho
        if gap > 0:
            order = 2 + int(float((-ball(rate).log() / ball(gap)).upper()))
            least = ball(rho) + ball(rate).log() / (order - 1)
            if least > ball(factor * rho):
                return refuted("its Renyi divergence is larger at this order, certified", {
                    "p": rate, "rho": rho, "alpha": order, "claimed R_alpha/alpha": factor * rho,
                    "R_alpha/alpha at least": Enclosure.of_ball(least)})
    w, share = sympy.symbols("w", nonnegative=True), given.chart("rate")
    alpha, square, x = sympy.symbols("alpha m x", positive=True)
    n = sympy.Symbol("n", positive=True)
    below = (alpha * sympy.log(share) + alpha * (alpha - 1) * square / 2) / (alpha * (alpha - 1))
    exponent = alpha * (square * x - square**2 / 2) - x**2 / 2 + (x - alpha * square) ** 2 / 2
    return proof(
        computed("1 - p + p w >= p w, so that the moment is at least p^alpha times that of w", never_negative(
            1 - share + share * w - share * w)),
        computed("the moment of w is e^(alpha (alpha-1) mu^2/2), by completing the square",
                 vanishes(exponent - alpha * (alpha - 1) * square**2 / 2)),
        computed("R_alpha/alpha is at least mu^2/2 + ln p/(alpha-1), which goes to mu^2/2",
                 vanishes(below - square / 2 - sympy.log(share) / (alpha - 1))
                 and sympy.limit(square / 2 - n / (alpha - 1), alpha, sympy.oo) == square / 2 and factor == 1),
        argued("(1 - p + p w)^alpha <= 1 - p + p w^alpha, since the power is convex: no more than rho is needed"),
    )


_DELTA = probability("delta")
_NOISE = (
    r"$$\sigma^2 = O \left(\left(\frac{C}{\epsilon n} \right)^2 \cdot T \cdot \ln \frac{1}{\delta} \cdot "
    r"\ln \frac{T}{\delta} \right)$$"
)
_SHARE = Parameter("share", low=Fraction(0), low_open=True, high=Fraction(1), meaning="epsilon / ln(1/delta)")

step = Claim(
    id="cs208/zcdp-step", source="004, Improved Analysis: the noise of an iteration, a record added or removed",
    quote=r"$$\sigma^2 = \frac{1}{2} \left(\frac{C}{\epsilon_0 n} \right)^2 \cdot \ln \frac{1.25}{\delta_T}$$",
    whose=Whose.TYPO, severity=Stake.PRIVACY,
    statement=r"\sigma^2 = \frac12 \Big(\frac{C}{\epsilon_0 n}\Big)^2 \ln\frac{1.25}{\delta_T} \implies"
              r" \epsilon_0^2\text{-zCDP}",
    words="an iteration with this noise is epsilon_0^2-zCDP, whatever delta_T is", hypotheses=(_DELTA,),
    says={"add_remove": lambda level: level / 2}, check=judge_step, uses=("cs208/dp-gd-sensitivity",),
    expected="REFUTED PROVED",
    repair=Repair(
        statement=r"\sigma^2 = \frac12 \Big(\frac{C}{\epsilon_0 n}\Big)^2 \text{ (add or remove)},\quad"
                  r" 2 \Big(\frac{C}{\epsilon_0 n}\Big)^2 \text{ (replace)}",
        words="an iteration is epsilon_0^2-zCDP with half of (C/(epsilon_0 n))^2, four times that if a record is "
              "replaced, without a logarithm",
        says={"add_remove": lambda level: Fraction(1, 2), "replace": lambda level: 2}, expected="HOLDS ARGUED",
        source="004, Improved Analysis, without the logarithm", rests_on=("cs208/dp-gd-sensitivity-repaired",),
        flips=(Flip("half for both", dict.fromkeys(("add_remove", "replace"), lambda level: Fraction(1, 2)),
                    Verdict.REFUTED),),
        true_variants={
            "[[]*[]] 1 % more": "more noise is enough, too", "[[]replace[]] squared": "more noise is enough, too",
            "[[]replace[]] 2 -> 3 *": "more noise is enough, too",
            "[[]add_remove[]] 1 -> 2 *": "more noise is enough, too",
        },
    ),
)
composition = Claim(
    id="cs208/zcdp-composition", source="004, Improved Analysis: composition of zCDP",
    quote=r"By composition of zCDP, overall algorithm is $T \cdot \epsilon_0^2$ -zCDP.", whose=Whose.PRINTED,
    severity=Stake.PRIVACY, statement=r"\rho_{\mathrm{total}} = T \epsilon_0^2",
    words="T releases of rho-zCDP are T rho-zCDP together, and Gaussian ones no better",
    hypotheses=(positive_integer("steps", "T"), non_negative("rho", "epsilon_0^2")),
    says=lambda steps, rho: steps * rho,
    check=formula(
        ("steps", "rho"), lambda steps, rho: sum((rho for _ in range(steps)), Fraction(0)),
        lambda steps, rho: steps * rho, "Gaussian releases, whose squared distances add up, have another rho",
        "T equal rho add up to T rho", more=composition_steps,
    ),
    flips=(Flip("the largest", lambda steps, rho: rho, Verdict.REFUTED),),
    true_variants={"any *": "an identity of expressions"}, expected="HOLDS ARGUED",
)
conversion = Claim(
    id="cs208/zcdp-conversion", source="004, Improved Analysis: conversion to (epsilon, delta)-DP",
    quote=r"$$\epsilon = T \cdot \epsilon_0^2 + 2 \sqrt{T \cdot \epsilon_0^2 \cdot \ln(1/\delta)}$$",
    whose=Whose.PRINTED, severity=Stake.PRIVACY, statement=r"\epsilon = \rho + 2\sqrt{\rho \ln(1/\delta)}",
    words="rho-zCDP is (rho + 2 sqrt(rho ln(1/delta)), delta)-DP", hypotheses=(non_negative("rho"), _DELTA),
    says=lambda rho, inside: rho + 2 * root(rho * inside), check=judge_conversion,
    flips=(Flip("the root not doubled", lambda rho, inside: rho + root(rho * inside), Verdict.REFUTED),),
    rests_on=("background/rdp-conversion",),
    true_variants={"1 % more": "a larger epsilon will do, too", "2 -> 3 *": "a larger epsilon will do, too"},
    expected="HOLDS ARGUED",
)
noise = Claim(
    id="cs208/zcdp-noise", quote=_NOISE, whose=Whose.READING,
    source="004, Improved Analysis: the noise, read so that its order improves on that of advanced composition",
    severity=Stake.UTILITY,
    statement=r"\sigma^2 = O\Big(\Big(\frac C{\epsilon n}\Big)^2 T \ln\frac1\delta \ln\frac T\delta\Big)"
              r" \text{ improves on advanced composition}",
    words="concentrated DP improves the noise to the order T ln(1/delta) ln(T/delta)",
    hypotheses=(_SHARE, _DELTA, positive_integer("steps", "T")), says=lambda inside, inner: inside * inner,
    check=judge_noise, uses=("cs208/zcdp-step", "cs208/zcdp-composition", "cs208/zcdp-conversion"),
    expected="REFUTED PROVED",
    repair=Repair(
        statement=r"\sigma^2 \le k^2 \frac{3 + 2\sqrt2}2 \Big(\frac C{\epsilon n}\Big)^2 T \ln\frac1\delta,\quad"
                  r" \epsilon \le \ln\frac1\delta,\ k = 1 \text{ or } 2",
        words="concentrated DP improves the noise to the order T ln(1/delta), for epsilon up to ln(1/delta)",
        says=lambda inside, inner: inside, expected="HOLDS ARGUED",
        source="004, Improved Analysis, without ln(T/delta)",
        rests_on=("cs208/zcdp-step-repaired", "cs208/zcdp-composition", "cs208/zcdp-conversion"),
    ),
)
no_amplification = Claim(
    id="cs208/zcdp-no-amplification", source="004, DP SGD: Improved Privacy Analysis",
    quote="Unfortunately privacy amplification by subsampling does not hold for zCDP.", whose=Whose.PRINTED,
    severity=Stake.PRIVACY,
    statement=r"\sup_{\alpha > 1} R_\alpha/\alpha = \rho \text{ for the sampled Gaussian, at every rate } p > 0",
    words="the least rho of the Poisson-sampled Gaussian mechanism is that of the mechanism, whatever the rate",
    hypotheses=(probability("rate", "p"),), says=Fraction(1), check=judge_sampled,
    flips=(Flip("half", Fraction(1, 2), Verdict.REFUTED),),
    untested={"rate": "its symbol runs through (0, 1), and its logarithm is all that enters"},
    expected="HOLDS ARGUED",
)


def at_order_two(rate: Any, odds: Any) -> Any:
    """E_Q (1 - p + p w)^2, with E_Q w = 1 and E_Q w^2 = odds: the three terms of the square."""
    return (1 - rate) ** 2 + 2 * rate * (1 - rate) + rate**2 * odds


recovered = Claim(
    id="cs208/amplification-recovered", source="004, DP SGD: Improved Privacy Analysis: at a fixed Renyi order",
    quote="But similar analysis can be recovered using the", whose=Whose.READING, severity=Stake.UTILITY,
    statement=r"e^{R_2} = 1 + p^2 (e^{\mu^2} - 1) \text{ for the sampled Gaussian}",
    words="at one Renyi order sampling amplifies: at order 2 by the square of the rate, exactly",
    hypotheses=(probability("rate", "p"), Parameter("odds", low=Fraction(1), meaning="e^(mu^2) = E w^2")),
    says=lambda rate, odds: 1 + rate**2 * (odds - 1),
    check=formula(("rate", "odds"), at_order_two, at_order_two, "the sampled moment is another",
                  "the square's three terms are 1 + p^2 (E w^2 - 1), on symbols"),
    flips=(Flip("no amplification", lambda rate, odds: odds, Verdict.REFUTED),),
    true_variants={"any *": "an identity of expressions"}, expected="HOLDS PROVED",
)
