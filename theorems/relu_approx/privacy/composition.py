r"""Theorem 2.4 of document 000: dominating pairs compose to the product pair, adaptively.

max(0, p p' - alpha q q') = p max(0, p' - (alpha q / p) q'). Summed over the second outcome this is p times
a divergence of the second mechanism at another alpha, at most that of (P', Q'); now sum over the first outcome for each
outcome of P', which replaces the first mechanism by (P, Q). Nothing else is used, so adaptivity is harmless.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable
from typing import Any

import sympy

from oracle.core.domain import positive
from theorems.claim import Claim, Flip, Stake, Whose
from theorems.given import Domain
from theorems.tools.finite_laws import LawPair, dominates, hinge, hockey_stick, laws, shown
from theorems.verdict import Finding, Verdict, argued, computed, proof, refuted

Rule = Callable[[Any, Any, Any, Any], tuple[Any, Any]]
"""The masses of an outcome of the composed pair, from those of its two parts, (p, q) and (p', q')."""


def composed(rule: Rule, one: LawPair, other: LawPair) -> LawPair:
    """The composed pair, outcome by outcome."""
    both = [rule(p, q, r, s) for (p, q), (r, s) in itertools.product(zip(*one, strict=True), zip(*other, strict=True))]
    return tuple(first for first, _ in both), tuple(second for _, second in both)


def judge_composition(rule: Rule, given: Domain) -> Finding:
    """Hold a rule for composing dominating pairs against adaptive compositions of small mechanisms, and prove it."""
    tried = 0
    pairs: list[LawPair] = [(one, other) for one in laws(2, 3) for other in laws(2, 3)]
    for first in pairs[::2]:
        rest = [laws_ for laws_ in pairs if dominates(first, laws_)]
        for second in pairs[1::6]:
            inner = [laws_ for laws_ in pairs if dominates(second, laws_)]
            claimed = composed(rule, first, second)
            for outer in rest[::9]:
                for zero, one in itertools.product(inner[::2], inner):  # the second may depend on the first outcome
                    tried += 1
                    joint: LawPair = (
                        tuple(outer[0][i] * law[0][j] for i, law in enumerate((zero, one)) for j in (0, 1)),
                        tuple(outer[1][i] * law[1][j] for i, law in enumerate((zero, one)) for j in (0, 1)),
                    )
                    if not dominates(claimed, joint):
                        return refuted(
                            "an adaptive composition is not dominated",
                            {"pair": _pair(first), "second pair": _pair(second), "mechanism": _pair(outer),
                             "then after 0": _pair(zero), "then after 1": _pair(one)},
                        )
    return proof(*_steps(rule, given), tried=tried)


def judge_losses(odds: Callable[[Any, Any], Any], given: Domain) -> Finding:
    """Whether delta of a product is E [1 - alpha/odds]_+, odds(e^Z, e^Z') being those of two losses together."""
    pairs: list[LawPair] = [(one, other) for one in laws(2, 3) for other in laws(2, 3)]
    tried = 0
    for first, second, alpha in itertools.product(pairs[::2], pairs[1::3], given.values("alpha")):
        tried += 1
        both = itertools.product(zip(*first, strict=True), zip(*second, strict=True))
        parts = [p * r * (max(0, 1 - alpha / odds(p / q, r / s)) if q * s else 1) for (p, q), (r, s) in both if p * r]
        true = hockey_stick(*composed(lambda p, q, r, s: (p * r, q * s), first, second), alpha)
        if sum(parts) != true:
            return refuted("another divergence", {
                "pair": _pair(first), "second pair": _pair(second), "alpha": alpha, "by the losses": sum(parts),
                "of the product": true})
    q, s, one, other, x = sympy.symbols("q s e^Z e^Z' x", positive=True)
    alpha, mass = given.symbol("alpha"), one * q * other * s
    return proof(
        computed("p p' - alpha q q' = p p' (1 - alpha/odds), p = e^Z q and p' = e^Z' q'",
                 sympy.simplify(mass - alpha * q * s - mass * (1 - alpha / odds(one, other))) == 0),
        computed("p p' > 0 comes out of [.]_+, and an outcome without q or q' adds p p'",
                 all(hinge(mass * y, 0, 0) == mass * hinge(y, 0, 0) for y in (x, -x))
                 and hinge(mass, 0, alpha) == mass),
        tried=tried,
    )


def _steps(rule: Rule, given: Domain) -> list[Any]:
    p, r = sympy.symbols("p r", positive=True)
    q, s = sympy.symbols("q s", nonnegative=True)
    alpha = given.symbol("alpha")
    first, second = rule(p, q, r, s)
    gap = first - alpha * second

    def nothing(masses: tuple[Any, Any]) -> bool:
        return sympy.simplify(masses[0]) == 0 and masses[1].is_nonnegative is True

    x = sympy.Symbol("x", positive=True)
    return [
        computed("an outcome's [p p' - alpha q q']_+ is p times [p' - alpha' q']_+ at the order alpha' = alpha q/p",
                 sympy.simplify(gap - p * (r - (alpha * q / p) * s)) == 0),
        computed("and p' times [p - alpha' q]_+ at the order alpha' = alpha q'/p'",
                 sympy.simplify(gap - r * (p - (alpha * s / r) * q)) == 0),
        computed("[p x]_+ = p [x]_+ for p > 0, and an outcome without p or p' adds nothing",
                 all(hinge(p * y, 0, 0) == p * hinge(y, 0, 0) for y in (x, -x))
                 and nothing(rule(sympy.Integer(0), q, r, s)) and nothing(rule(p, q, sympy.Integer(0), s))),
        computed("the orders stay positive, where the pairs dominate", (alpha * q / p).subs(q, p).is_positive),
        argued(
            "given the first outcome, the sum over the second is p times a divergence of the second mechanism, "
            "whichever the outcome has chosen, so (P', Q') may replace it; then, for each outcome of (P', Q'), the sum "
            "over the first is p' times a divergence of the first mechanism, and (P, Q) replaces it"
        ),
        argued("for laws with densities the sums become integrals"),
    ]


def _pair(pair: LawPair) -> str:
    return f"{shown(pair[0])} | {shown(pair[1])}"


theorem_2_4 = Claim(
    id="relu-approx/thm-2.4",
    source="000, Theorem 2.4 (Zhu, Dong and Wang 2022; the text also calls it Lemma 2.4)",
    quote=(
        r"*If* (P,Q) *dominates* $\mathcal{M}$ *and* (P',Q') *dominates* $\mathcal{M}'$ , *then* $(P \times "
        r"P',Q \times Q')$ *dominates the adaptive composition* $\mathcal{M} \circ \mathcal{M}'$ ."
    ),
    whose=Whose.PRINTED,
    severity=Stake.PRIVACY,
    statement=(
        r"(P, Q) \succeq \mathcal{M},\ (P', Q') \succeq \mathcal{M}' \implies"
        r" (P \times P', Q \times Q') \succeq \mathcal{M} \circ \mathcal{M}'"
    ),
    words="the product of dominating pairs dominates the adaptive composition",
    hypotheses=(positive("alpha"),),
    says=lambda p, q, r, s: (p * r, q * s),
    check=judge_composition,
    flips=(
        Flip("the second pair as if it did not tell", lambda p, q, r, s: (p * r, q * r), Verdict.REFUTED),
        Flip("the factors exchanged", lambda p, q, r, s: (r * p, s * q), Verdict.HOLDS),
        Flip("the second pair in the wrong order", lambda p, q, r, s: (p * s, q * r), Verdict.REFUTED),
    ),
    untested={"alpha": "every alpha is decided by the kinks of the two curves"},
    rests_on=("relu-approx/eq-2.1", "relu-approx/eq-2.1-densities"),
    expected="HOLDS ARGUED",
)

losses = Claim(
    id="relu-approx/prv-convolution",
    source="000, Section 2: privacy loss random variables are summed; for laws on finitely many outcomes",
    quote=(
        r"to numerically evaluate the convolutions appearing when summing the PRVs and evaluating "
        r"$\delta(\varepsilon)$ for the compositions."
    ),
    whose=Whose.PRINTED,
    severity=Stake.PRIVACY,
    statement=r"H_{e^\varepsilon}(P \times P' \| Q \times Q') = \mathbb{E}\,[1 - e^{\varepsilon - (Z + Z')}]_+,"
              r"\quad Z = \log\frac{P}{Q}(t),\ t \sim P",
    words="delta of a composition is the mean of [1 - e^(epsilon - Z - Z')]_+: the losses of the parts add up",
    hypotheses=(positive("alpha"),),
    says=lambda one, other: one * other,
    check=judge_losses,
    flips=(
        Flip("the larger loss", lambda one, other: max(one, other), Verdict.REFUTED),
        Flip("the losses subtracted", lambda one, other: one / other, Verdict.REFUTED),
    ),
    rests_on=("relu-approx/eq-2.1",),
    expected="HOLDS PROVED",
)
