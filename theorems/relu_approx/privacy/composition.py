r"""Theorem 2.4 of document 000: dominating pairs compose to the product pair, adaptively.

max(0, p p' - alpha q q') = p max(0, p' - (alpha q / p) q'). Summed over the second outcome this is p times
a divergence of the second mechanism at another alpha, at most that of (P', Q'); now sum over the first outcome for each
outcome of P', which replaces the first mechanism by (P, Q). Nothing else is used, so adaptivity is harmless.
"""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Callable
from typing import Any

import sympy

from oracle.core.domain import positive
from theorems.claim import Claim, Flip, Severity, Whose
from theorems.domain import Domain
from theorems.tools.finite_laws import LawPair, dominates, laws, product, shown
from theorems.verdict import Finding, Scope, Verdict, argued, proof, refuted, undecided


def is_product(compose: Callable[[Any, Any], Any]) -> bool:
    """Whether a rule gives the product pair of symbols, outcome by outcome in any order, for laws of several sizes."""
    for size, other in ((1, 1), (2, 2), (2, 3), (3, 2)):
        one, two = (
            tuple(sympy.symbols(f"{letter}0:{count}", positive=True) for letter in letters)
            for letters, count in (("pq", size), ("rs", other))
        )
        wanted = Counter((a * c, b * d) for a, b in zip(*one, strict=True) for c, d in zip(*two, strict=True))
        found = compose(one, two)
        if Counter(zip(*(map(sympy.expand, law) for law in found), strict=True)) != wanted:
            return False
    return True


def judge_composition(compose: Callable[[LawPair, LawPair], LawPair], given: Domain) -> Finding:
    """Hold a rule for composing dominating pairs against every adaptive composition of small mechanisms."""
    tried = met = 0
    pairs: list[LawPair] = [(one, other) for one in laws(2, 3) for other in laws(2, 3)]
    for first in pairs:
        rest = [laws_ for laws_ in pairs if dominates(first, laws_)]
        for second in pairs[1::6]:
            inner = [laws_ for laws_ in pairs if dominates(second, laws_)]
            claimed = compose(first, second)
            for outer in rest[::9]:
                for zero, one in itertools.product(inner, repeat=2):  # the second mechanism may depend on the outcome
                    tried += 1
                    joint: LawPair = (
                        tuple(outer[0][i] * law[0][j] for i, law in enumerate((zero, one)) for j in (0, 1)),
                        tuple(outer[1][i] * law[1][j] for i, law in enumerate((zero, one)) for j in (0, 1)),
                    )
                    met += 1
                    if not dominates(claimed, joint):
                        return refuted(
                            "an adaptive composition is not dominated",
                            {
                                "pair": _pair(first), "second pair": _pair(second), "mechanism": _pair(outer),
                                "then after 0": _pair(zero), "then after 1": _pair(one),
                            },
                        )
    p, q, a = sympy.symbols("p q alpha", positive=True)
    r, s = sympy.symbols("r s", nonnegative=True)
    if not is_product(compose) or sympy.simplify(p * (r - (a * q / p) * s) - (p * r - a * q * s)) != 0:
        return undecided("no composition tried is against it; not proved", Scope("points", tried, met))
    return proof(argued(
        "max(0, p p' - alpha q q') = p max(0, p' - (alpha q/p) q') (computer algebra) replaces one mechanism at a time "
        f"by its pair; {tried} adaptive compositions checked for every alpha in exact rationals"
    ))


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
    severity=Severity.PRIVACY,
    statement=(
        r"(P, Q) \succeq \mathcal{M},\ (P', Q') \succeq \mathcal{M}' \implies"
        r" (P \times P', Q \times Q') \succeq \mathcal{M} \circ \mathcal{M}'"
    ),
    words="the product of dominating pairs dominates the adaptive composition",
    hypotheses=(positive("alpha"),),
    says=product,
    check=judge_composition,
    flips=(
        Flip("only the first pair", lambda one, other: one, Verdict.REFUTED),
        Flip("the factors exchanged", lambda one, other: product(other, one), Verdict.HOLDS),
        Flip("the second pair in the wrong order", lambda one, other: product(one, (other[1], other[0])),
             Verdict.REFUTED),
    ),
    rests_on=("relu-approx/eq-2.1",),
    expected="HOLDS ARGUED",
)
