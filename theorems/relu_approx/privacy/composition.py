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
from theorems.tools.finite_laws import LawPair, dominates, hinge, laws, shown
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
