r"""Definitions 2.1 and 2.3, equation (2.1) and Lemma 2.2 of document 000.

Finite mechanisms decide most of it in exact rationals: the hockey-stick divergence is the largest P(E) - alpha Q(E)
over events, because 1_E(t) (p - alpha q) <= max(0, p - alpha q), with equality for E = {p > alpha q}. So the smallest
delta of Definition 2.1 with <= is that divergence. With the printed < the empty event asks for 0 < delta, so nothing is
(epsilon, 0)-DP, and the deltas that are allowed form an open set: no smallest one exists.
"""

from __future__ import annotations

import itertools
import operator
from collections.abc import Callable, Iterator
from fractions import Fraction
from typing import Any

import sympy

from oracle.core.domain import non_negative, positive, unit_interval
from theorems.claim import Claim, Flip, Repair, Severity, Whose
from theorems.domain import Domain
from theorems.tools.finite_laws import Integrand, Law, divergence, hinge, hockey_stick, largest_excess, laws, shown
from theorems.verdict import Finding, Verdict, argued, proof, refuted, undecided

_ALPHAS = tuple(Fraction(v) for v in ("1", "1/2", "3/2", "2", "4"))


def is_hinge(integrand: Integrand) -> bool:
    """Whether an integrand is x where p - alpha q = x >= 0, and 0 where it is negative, for symbols.

    Then 1_E (p - alpha q) <= integrand for every event E, with equality on {p > alpha q}.
    """
    p, q, alpha, x = sympy.symbols("p q alpha x", positive=True)
    gaps = (
        integrand(alpha * q + x, q, alpha) - x, integrand(alpha * q, q, alpha), integrand(p, (p + x) / alpha, alpha),
    )
    return all(sympy.simplify(gap) == 0 for gap in gaps)


def judge_divergence(integrand: Integrand, given: Domain) -> Finding:
    """Hold a formula for the hockey-stick divergence against the enumeration of all events."""
    tried = 0
    for outcomes in (1, 2, 3):
        for first, second in itertools.product(laws(outcomes), repeat=2):
            for alpha in _ALPHAS:
                tried += 1
                claimed, true = divergence(integrand, first, second, alpha), largest_excess(first, second, alpha)
                if claimed != true:
                    return refuted(
                        "the formula is not the largest P(E) - alpha Q(E)",
                        {
                            "P": shown(first), "Q": shown(second), "alpha": str(alpha), "formula": str(claimed),
                            "over all events": str(true),
                        },
                    )
    if is_hinge(integrand):
        return proof(argued(
            "the integrand is p - alpha q where that is positive, else 0 (computer algebra), so it is at least "
            f"1_E (p - alpha q), with equality on {{p > alpha q}}; all events of {tried} pairs and alphas"
        ))
    return undecided("agrees with the enumeration; not proved", tried)


def tight_delta(mechanism: tuple[Law, ...], alpha: Fraction) -> Fraction:
    """The smallest delta of Definition 2.1 (with <=) for a mechanism given by its law on each data set, all of them
    neighbours: the least delta such that every event of every ordered pair keeps its promise."""
    candidates = sorted({largest_excess(p, q, alpha) for p, q in itertools.permutations(mechanism, 2)})
    return next(
        delta for delta in candidates
        if all(
            sum((p for p, inside in zip(one, event, strict=True) if inside), Fraction(0))
            <= alpha * sum((q for q, inside in zip(other, event, strict=True) if inside), Fraction(0)) + delta
            for one, other in itertools.permutations(mechanism, 2)
            for event in itertools.product((False, True), repeat=len(one))
        )
    )


Profile = tuple[Callable[..., Iterator[tuple[Any, Any]]], Integrand, Callable[[Any], Any]]
"""Which pairs of the data sets' laws are compared, by which integrand, and at which alpha of e^epsilon."""


def profile(says: Profile, mechanism: tuple[Law, ...], alpha: Fraction) -> Fraction:
    """The largest divergence over the pairs."""
    pairs, integrand, order = says
    return max(divergence(integrand, p, q, order(alpha)) for p, q in pairs(mechanism, 2))


def judge_profile(says: Profile, given: Domain) -> Finding:
    """Hold a formula for the tight delta against the definition, for mechanisms on three neighbouring data sets."""
    tried = 0
    for mechanism in itertools.product(laws(2), repeat=3):
        for alpha in (a for a in _ALPHAS if a >= 1):
            tried += 1
            claimed, true = profile(says, mechanism, alpha), tight_delta(mechanism, alpha)
            if claimed != true:
                return refuted(
                    "the formula is not the smallest delta of the definition",
                    {
                        "laws on the data sets": "; ".join(map(shown, mechanism)), "e^epsilon": str(alpha),
                        "formula": str(claimed), "tight delta": str(true),
                    },
                )
    pairs, integrand, order = says
    ordered = all(
        set(pairs(range(size), 2)) == {(a, b) for a in range(size) for b in range(size) if a != b} for size in (2, 3, 5)
    )
    alpha_ = sympy.symbols("alpha", positive=True)
    if not (ordered and is_hinge(integrand) and sympy.simplify(order(alpha_) - alpha_) == 0):
        return undecided("agrees at points", tried)
    return proof(argued(
        "delta is enough exactly when it is at least the largest P(E) - e^epsilon Q(E) over events and ordered pairs, "
        f"which is the divergence (eq-2.1); the definition itself was evaluated for {tried} mechanisms and epsilons"
    ))


def judge_definition(strict: bool, given: Domain) -> Finding:
    """Whether a mechanism that ignores its data is (0, 0)-DP, and the tight delta of Lemma 2.2 is itself allowed."""
    allowed = operator.lt if strict else operator.le
    tried = 0
    for outcomes in (1, 2):
        for one, other in itertools.product(laws(outcomes), repeat=2):
            for alpha in (a for a in _ALPHAS if a >= 1):
                tried += 1
                delta = max(hockey_stick(one, other, alpha), hockey_stick(other, one, alpha))
                for event in itertools.product((False, True), repeat=outcomes):
                    for p, q in ((one, other), (other, one)):
                        left = sum((x for x, inside in zip(p, event, strict=True) if inside), Fraction(0))
                        right = sum((x for x, inside in zip(q, event, strict=True) if inside), Fraction(0))
                        if not allowed(left, alpha * right + delta):
                            return refuted(
                                "the tight delta of Lemma 2.2 does not satisfy the definition, so there is no tight "
                                "delta at all",
                                {
                                    "M(D)": shown(p), "M(D')": shown(q), "e^epsilon": str(alpha),
                                    "delta": str(delta), "event": str([i for i, inside in enumerate(event) if inside]),
                                    "left side": str(left), "right side": str(alpha * right + delta),
                                },
                            )
    return proof(argued(
        f"P(E) <= e^epsilon Q(E) + delta for all E is delta >= the divergence, by eq-2.1; {tried} pairs enumerated"
    ))


def symmetry(alpha: Any) -> tuple[Any, Any, Any]:
    """Factor, order and constant of H_alpha(P || Q) = alpha H_{1/alpha}(Q || P) + 1 - alpha."""
    return alpha, 1 / alpha, 1 - alpha


def judge_symmetry(says: Callable[[Any], tuple[Any, Any, Any]], given: Domain) -> Finding:
    """Hold factor H_order(Q || P) + constant against (2.1), and prove it from max(0, x) - max(0, -x) = x."""
    tried = 0

    def formula(first: Law, second: Law, alpha: Fraction) -> Fraction:
        factor, order, constant = says(alpha)
        return Fraction(factor * hockey_stick(second, first, order) + constant)

    for first, second in itertools.product(laws(3), repeat=2):
        for alpha in _ALPHAS:
            tried += 1
            if formula(first, second, alpha) != hockey_stick(first, second, alpha):
                return refuted(
                    "the two orders are not related so",
                    {
                        "P": shown(first), "Q": shown(second), "alpha": str(alpha),
                        "formula": str(formula(first, second, alpha)),
                        "divergence": str(hockey_stick(first, second, alpha)),
                    },
                )
    p, q, a = sympy.symbols("p q alpha", positive=True)
    x = sympy.symbols("x", real=True)
    pieces = sympy.simplify(sympy.Max(0, x).rewrite(sympy.Piecewise) - sympy.Max(0, -x).rewrite(sympy.Piecewise) - x)
    scaled = sympy.simplify(a * (q - p / a) - (a * q - p))
    same = all(sympy.simplify(one - two) == 0 for one, two in zip(says(a), (a, 1 / a, 1 - a), strict=True))
    if pieces != 0 or scaled != 0 or not same:
        return undecided("agrees at points; the identity was not shown", tried)
    return proof(argued(
        "max(0, x) - max(0, -x) = x with x = p - alpha q, summed (computer algebra): so a pair that dominates for "
        f"every alpha > 0 bounds both orders; {tried} pairs checked"
    ))


_HYPOTHESES = (non_negative("epsilon"), unit_interval("delta"))

definition_2_1 = Claim(
    id="relu-approx/def-2.1",
    source="000, Definition 2.1, with the tight delta defined after it",
    quote=(
        r"\mathbb{P}(\mathcal{M}(D) \in E) < e^{\varepsilon} \mathbb{P}(\mathcal{M}(D') \in E) + "
        r"\delta.$$ We call $\mathcal{M}$ tightly $(\varepsilon, \delta)$ -DP, if there does not exist "
        r"$\delta' < \delta$ such that $\mathcal{M}$ is $(\varepsilon, \delta')$ -DP."
    ),
    whose=Whose.TYPO,
    statement=r"\mathbb{P}(\mathcal{M}(D) \in E) < e^{\varepsilon}\, \mathbb{P}(\mathcal{M}(D') \in E) + \delta",
    words="(epsilon, delta)-DP with a strict inequality has a smallest delta, the one of Lemma 2.2",
    hypotheses=_HYPOTHESES,
    says=True,
    check=judge_definition,
    expected="REFUTED PROVED",
    repair=Repair(
        statement=r"\mathbb{P}(\mathcal{M}(D) \in E) \le e^{\varepsilon}\, \mathbb{P}(\mathcal{M}(D') \in E) + \delta",
        words="(epsilon, delta)-DP with <= has a smallest delta, the one of Lemma 2.2",
        says=False,
        expected="HOLDS ARGUED",
        source="000, Definition 2.1, with <=",
        rests_on=("relu-approx/eq-2.1",),
    ),
)

equation_2_1 = Claim(
    id="relu-approx/eq-2.1",
    source="000, equation (2.1)",
    statement=r"H_\alpha(P \| Q) = \int [P(t) - \alpha Q(t)]_+ \, dt = \sup_E P(E) - \alpha Q(E)",
    words="the hockey-stick divergence is the largest P(E) - alpha Q(E) over events",
    hypotheses=(positive("alpha"),),
    says=hinge,
    check=judge_divergence,
    flips=(
        Flip("the positive part left out", lambda p, q, alpha: p - alpha * q, Verdict.REFUTED),
        Flip("the sign of alpha changed", lambda p, q, alpha: hinge(p, q, -alpha), Verdict.REFUTED),
        Flip("(|x| + x)/2 for the positive part of x",
             lambda p, q, alpha: (abs(p - alpha * q) + p - alpha * q) / 2, Verdict.HOLDS),
    ),
    expected="HOLDS ARGUED",
)

lemma_2_2 = Claim(
    id="relu-approx/lem-2.2",
    source="000, Lemma 2.2 (Zhu, Dong and Wang 2022)",
    quote=(
        r"For a given $\varepsilon \geq 0$ , tight $\delta(\varepsilon)$ is given by the expression "
        r"$$\delta(\varepsilon) = \max_{D \sim D'} H_{e^{\varepsilon}}(\mathcal{M}(D)||\mathcal{M}(D')).$$"
    ),
    whose=Whose.PRINTED,
    severity=Severity.PRIVACY,
    statement=r"\delta(\varepsilon) = \max_{D \sim D'} H_{e^{\varepsilon}}(\mathcal{M}(D) \| \mathcal{M}(D'))",
    words="the tight delta at epsilon is the largest hockey-stick divergence over neighbours",
    hypotheses=(non_negative("epsilon"),),
    says=(itertools.permutations, hinge, lambda alpha: alpha),
    check=judge_profile,
    flips=(
        Flip("only one order of each pair", (itertools.combinations, hinge, lambda alpha: alpha), Verdict.REFUTED),
        Flip("total variation in place of the divergence", (itertools.permutations, hinge, lambda alpha: Fraction(1)),
             Verdict.REFUTED),
    ),
    uses=("relu-approx/def-2.1",),
    rests_on=("relu-approx/eq-2.1",),
    expected="HOLDS ARGUED",
)

definition_2_3 = Claim(
    id="relu-approx/def-2.3",
    source="000, Definition 2.3 (Zhu, Dong and Wang 2022): domination for all alpha > 0 covers both orders",
    severity=Severity.PROOF,
    statement=r"H_\alpha(P \| Q) = \alpha H_{1/\alpha}(Q \| P) + 1 - \alpha \quad (\alpha > 0)",
    words="a pair that dominates for every alpha > 0 bounds the divergences in both orders",
    hypotheses=(positive("alpha"),),
    says=symmetry,
    check=judge_symmetry,
    flips=(
        Flip("without 1 - alpha", lambda alpha: (alpha, 1 / alpha, 0), Verdict.REFUTED),
        Flip("the same alpha in the other order", lambda alpha: (1, alpha, 0), Verdict.REFUTED),
    ),
    rests_on=("relu-approx/eq-2.1",),
    expected="HOLDS ARGUED",
)
