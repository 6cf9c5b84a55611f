r"""Definitions 2.1 and 2.3, equation (2.1) and Lemma 2.2 of document 000.

The hockey-stick divergence is the largest P(E) - alpha Q(E) over events: outcome by outcome, an event gains
x = p - alpha q if it takes the outcome and 0 if not, and max(0, x) is the better of the two. So the smallest delta of
Definition 2.1 with <= is that divergence. With the printed < (or extracted so) the empty event asks for 0 < delta, so
nothing is (epsilon, 0)-DP, and the deltas that are allowed form an open set: no smallest one exists.

For laws on finitely many outcomes every step is computed; for densities the sums become integrals, which is argued.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import sympy

from oracle.core.domain import positive, positive_integer, real
from theorems.claim import Claim, Flip, Repair, Stake, Whose
from theorems.given import Domain
from theorems.tools.finite_laws import Integrand, Law, divergence, hinge, hockey_stick, largest_excess, laws, shown
from theorems.verdict import Finding, ProofStep, Verdict, argued, computed, proof, refuted

_SMALL = 3  # outcomes up to which every event of every pair of laws is enumerated


def outcome_steps(integrand: Integrand, alpha: sympy.Expr) -> list[ProofStep]:
    """What makes the sum of an integrand the largest P(E) - alpha Q(E), for p = alpha q + gain of either sign.

    `before` is the largest excess over the events of the outcomes so far; a new outcome may be taken or left.
    """
    q, x = sympy.Symbol("q", nonnegative=True), sympy.Symbol("x", positive=True)
    before = sympy.Symbol("before", real=True)
    gains = (x, sympy.Integer(0), -x)
    added = {gain: integrand(alpha * q + gain, q, alpha) for gain in gains}
    return [
        computed(
            "the integrand is x where p - alpha q = x is positive and 0 where it is not, for all p, q and alpha",
            all(sympy.simplify(added[gain] - max(gain, sympy.Integer(0))) == 0 for gain in gains),
        ),
        computed(
            "one outcome more, taken or left, raises the largest excess by the integrand: induction over the outcomes",
            all(sympy.simplify(sympy.Max(before, before + gain) - before - added[gain]) == 0 for gain in gains),
        ),
    ]


def judge_divergence(integrand: Integrand, given: Domain) -> Finding:
    """Hold a formula for the hockey-stick divergence against the enumeration of all events, and prove it."""
    tried = 0
    for outcomes in (n for n in given.values("outcomes") if n <= _SMALL):
        for first, second in itertools.product(laws(outcomes), repeat=2):
            for alpha in given.values("alpha"):
                tried += 1
                claimed, true = divergence(integrand, first, second, alpha), largest_excess(first, second, alpha)
                if claimed != true:
                    return refuted(
                        "the formula is not the largest P(E) - alpha Q(E)",
                        {"P": shown(first), "Q": shown(second), "alpha": alpha, "formula": claimed,
                         "over all events": true},
                    )
    return proof(*outcome_steps(integrand, given.symbol("alpha")), tried=tried)


def judge_densities(integrand: Integrand, given: Domain) -> Finding:
    """The same for laws with densities: the pointwise facts, and the integral's monotonicity in words."""
    return proof(
        outcome_steps(integrand, given.symbol("alpha"))[0],
        argued(
            "so the integrand is at least 1_E (p - alpha q) for every event E, with equality on {p > alpha q}: the "
            "integral is monotone, and this event attains it"
        ),
    )


Relation = Callable[[Any, Any], Any]
"""How the two sides of Definition 2.1 compare."""


def judge_definition(relation: Relation, given: Domain) -> Finding:
    """Whether the deltas that Definition 2.1 allows have a least one, the largest divergence of both orders."""
    left, gap = sympy.Symbol("left", real=True), sympy.Symbol("gap", positive=True)
    above, equal, below = (relation(left, left + by) == True for by in (gap, 0, -gap))  # noqa: E712 (a sympy truth)
    tried = 0
    for outcomes in (1, 2):
        for one, other in itertools.product(laws(outcomes), repeat=2):
            for growth in given.values("growth"):
                tried += 1
                delta = max(hockey_stick(one, other, growth), hockey_stick(other, one, growth))
                for event in itertools.product((False, True), repeat=outcomes):
                    for p, q in ((one, other), (other, one)):
                        small, large = _mass(p, event), growth * _mass(q, event) + delta
                        if not relation(small, large):
                            return refuted(
                                "the largest divergence is not allowed itself, though every delta above it is: the "
                                "deltas that are allowed have no least one" if above else "nor is a larger delta",
                                {"M(D)": shown(p), "M(D')": shown(q), "e^epsilon": growth, "delta": delta,
                                 "event": [i for i, inside in enumerate(event) if inside], "left side": small,
                                 "right side": large},
                            )
    return proof(
        computed(
            "with delta = P(E) - e^epsilon Q(E) + s the promise is kept for s > 0 and s = 0, and broken for s < 0: an "
            "event asks for at least its excess, so the least delta for all of them is the divergence (eq-2.1)",
            above and equal and not below,
        ),
        tried=tried,
    )


def _mass(law: Law, event: tuple[bool, ...]) -> Fraction:
    return sum((p for p, inside in zip(law, event, strict=True) if inside), Fraction(0))


Profile = tuple[str, Integrand, Callable[[Any], Any]]
"""Which pairs of the data sets' laws are compared ("ordered" or "unordered"), by which integrand, at which alpha."""
_PAIRS: dict[str, Callable[..., Any]] = {"ordered": itertools.permutations, "unordered": itertools.combinations}


def tight_delta(mechanism: tuple[Law, ...], growth: Fraction) -> Fraction:
    """The smallest delta of Definition 2.1 (with <=) for a mechanism given by its law on each data set, all of them
    neighbours: the least delta such that every event of every ordered pair keeps its promise."""
    events = list(itertools.product((False, True), repeat=len(mechanism[0])))
    candidates = sorted({largest_excess(p, q, growth) for p, q in itertools.permutations(mechanism, 2)})
    return next(
        delta for delta in candidates
        if all(
            _mass(one, event) <= growth * _mass(other, event) + delta
            for one, other in itertools.permutations(mechanism, 2) for event in events
        )
    )


def judge_profile(says: Profile, given: Domain) -> Finding:
    """Hold a formula for the tight delta against the definition, for mechanisms on three neighbouring data sets."""
    pairs, integrand, order = says
    tried = 0
    for mechanism in itertools.product(laws(2, 3), repeat=3):
        for growth in given.values("growth"):
            tried += 1
            claimed = max(divergence(integrand, p, q, order(growth)) for p, q in _PAIRS[pairs](mechanism, 2))
            true = tight_delta(mechanism, growth)
            if claimed != true:
                return refuted(
                    "the formula is not the smallest delta of the definition",
                    {"laws on the data sets": "; ".join(map(shown, mechanism)), "e^epsilon": growth,
                     "formula": claimed, "tight delta": true},
                )
    growth = given.chart("growth")
    return proof(
        computed("the divergence is taken at e^epsilon itself", sympy.simplify(order(growth) - growth) == 0),
        *outcome_steps(integrand, growth),
        computed("both orders of every pair are compared, as the definition asks", pairs == "ordered"),
        argued(
            "a delta serves all pairs and events exactly if it is at least each P(E) - e^epsilon Q(E): the least one "
            "is the supremum of the divergences, the maximum where there are finitely many pairs"
        ),
        argued("for laws with densities: eq-2.1-densities"),
        tried=tried,
    )


Symmetry = Callable[[Any], tuple[Any, Any, Any]]


def symmetry(alpha: Any) -> tuple[Any, Any, Any]:
    """Factor, order and constant of H_alpha(P || Q) = alpha H_{1/alpha}(Q || P) + 1 - alpha."""
    return alpha, 1 / alpha, 1 - alpha


def judge_symmetry(says: Symmetry, given: Domain) -> Finding:
    """Hold factor H_order(Q || P) + constant against (2.1), and prove it outcome by outcome."""
    tried = 0
    for first, second in itertools.product(laws(3), repeat=2):
        for alpha in given.values("alpha"):
            tried += 1
            factor, order, constant = says(alpha)
            formula, true = factor * hockey_stick(second, first, order) + constant, hockey_stick(first, second, alpha)
            if formula != true:
                return refuted(
                    "the two orders are not related so",
                    {"P": shown(first), "Q": shown(second), "alpha": alpha, "formula": formula, "divergence": true},
                )
    alpha, q = given.symbol("alpha"), sympy.Symbol("q", nonnegative=True)
    x = sympy.Symbol("x", positive=True)
    factor, order, constant = says(alpha)
    linear = []
    for gain in (x, sympy.Integer(0), -x):
        p = alpha * q + gain
        reverse = sympy.expand(sympy.simplify(q - order * p))
        other = 0 if reverse.is_nonpositive else reverse if reverse.is_nonnegative else sympy.nan
        linear.append(sympy.simplify(hinge(p, q, alpha) - factor * other - (p - alpha * q)) == 0)
    return proof(
        computed("[p - alpha q]_+ - factor [q - order p]_+ = p - alpha q at every outcome, whatever its sign",
                 all(linear)),
        computed("over all outcomes p - alpha q adds up to 1 - alpha, as both masses are 1: that is the constant",
                 sympy.simplify(constant - (1 - alpha)) == 0),
        computed("the factor is positive: a pair that dominates at every order also does so the other way round",
                 sympy.simplify(factor).is_positive),
        tried=tried,
    )


_GROWTH = (real("growth", "e^epsilon").at_least(1),)
_FINITE = (positive("alpha"), positive_integer("outcomes"))
_EVERY = {"any *": "the divergence is the largest excess at every real alpha; the hypothesis is the document's"}

definition_2_1 = Claim(
    id="relu-approx/def-2.1",
    source="000, Definition 2.1, with the tight delta defined after it; printed <, or extracted so",
    quote=(
        r"\mathbb{P}(\mathcal{M}(D) \in E) < e^{\varepsilon} \mathbb{P}(\mathcal{M}(D') \in E) + "
        r"\delta.$$ We call $\mathcal{M}$ tightly $(\varepsilon, \delta)$ -DP, if there does not exist "
        r"$\delta' < \delta$ such that $\mathcal{M}$ is $(\varepsilon, \delta')$ -DP."
    ),
    whose=Whose.TYPO,
    statement=r"\mathbb{P}(\mathcal{M}(D) \in E) < e^{\varepsilon}\, \mathbb{P}(\mathcal{M}(D') \in E) + \delta",
    words="(epsilon, delta)-DP with a strict inequality has a smallest delta, the one of Lemma 2.2",
    hypotheses=_GROWTH,
    says=lambda left, right: left < right,
    check=judge_definition,
    expected="REFUTED PROVED",
    repair=Repair(
        statement=r"\mathbb{P}(\mathcal{M}(D) \in E) \le e^{\varepsilon}\, \mathbb{P}(\mathcal{M}(D') \in E) + \delta",
        words="(epsilon, delta)-DP with <= has a smallest delta, the one of Lemma 2.2",
        says=lambda left, right: left <= right,
        expected="HOLDS PROVED",
        source="000, Definition 2.1, with <=, for laws on finitely many outcomes",
        flips=(Flip("never", lambda left, right: False, Verdict.REFUTED),),
        true_variants=_EVERY,
        rests_on=("relu-approx/eq-2.1",),
    ),
)

equation_2_1 = Claim(
    id="relu-approx/eq-2.1",
    source="000, equation (2.1), a definition; that it is the largest excess over events is ours, needed for Lemma 2.2",
    quote=(
        r"$$H_{\alpha}(P||Q) = \int [P(t) - \alpha \cdot Q(t)]_{+} dt, \qquad (2.1)$$ where for $t \in \mathbb{R}$ , "
        r"$[t]_+ = \max\{0, t\}$ ."
    ),
    severity=Stake.PROOF,
    statement=r"H_\alpha(P \| Q) = \sum_t [P(t) - \alpha Q(t)]_+ = \max_E P(E) - \alpha Q(E)",
    words="the hockey-stick divergence of laws on finitely many outcomes is the largest P(E) - alpha Q(E) over events",
    hypotheses=_FINITE,
    says=hinge,
    check=judge_divergence,
    flips=(
        Flip("the positive part left out", lambda p, q, alpha: p - alpha * q, Verdict.REFUTED),
        Flip("the sign of alpha changed", lambda p, q, alpha: hinge(p, q, -alpha), Verdict.REFUTED),
        Flip("(|x| + x)/2 for the positive part of x",
             lambda p, q, alpha: (abs(p - alpha * q) + p - alpha * q) / 2, Verdict.HOLDS),
    ),
    true_variants={"any alpha": "it is true at every real alpha"},
    expected="HOLDS PROVED",
)

equation_2_1_densities = Claim(
    id="relu-approx/eq-2.1-densities",
    source="000, equation (2.1), for laws with densities (ours)",
    severity=Stake.PROOF,
    statement=r"H_\alpha(P \| Q) = \int [P(t) - \alpha Q(t)]_+ \, dt = \sup_E P(E) - \alpha Q(E)",
    words="the hockey-stick divergence of laws with densities is the largest P(E) - alpha Q(E) over events",
    hypotheses=_FINITE[:1],
    says=hinge,
    check=judge_densities,
    flips=(
        Flip("the positive part left out", lambda p, q, alpha: p - alpha * q, Verdict.UNDECIDED),
        Flip("the larger of p and alpha q", lambda p, q, alpha: max(p, alpha * q), Verdict.UNDECIDED),
    ),
    true_variants={"any alpha": "it is true at every real alpha"},
    untested={"alpha": "the facts at one outcome are shown for the symbol"},
    rests_on=("relu-approx/eq-2.1",),
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
    severity=Stake.PRIVACY,
    statement=r"\delta(\varepsilon) = \max_{D \sim D'} H_{e^{\varepsilon}}(\mathcal{M}(D) \| \mathcal{M}(D'))",
    words="the tight delta at epsilon is the largest hockey-stick divergence over neighbours (the supremum)",
    hypotheses=_GROWTH,
    says=("ordered", hinge, lambda growth: growth),
    check=judge_profile,
    flips=(
        Flip("only one order of each pair", ("unordered", hinge, lambda growth: growth), Verdict.REFUTED),
        Flip("total variation in place of the divergence", ("ordered", hinge, lambda growth: Fraction(1)),
             Verdict.REFUTED),
    ),
    true_variants=_EVERY,
    uses=("relu-approx/def-2.1",),
    rests_on=("relu-approx/eq-2.1", "relu-approx/def-2.1-repaired", "relu-approx/eq-2.1-densities"),
    expected="HOLDS ARGUED",
)

definition_2_3 = Claim(
    id="relu-approx/def-2.3",
    source="000, Definition 2.3 (Zhu, Dong and Wang 2022): domination for all alpha > 0 covers both orders (ours)",
    quote=(
        r"A pair of distributions (P,Q) is a *dominating pair* of distributions for mechanism $\mathcal{M}(D)$ if for "
        r"all neighboring datasets D and D' and for all $\alpha > 0$ , "
        r"$$H_{\alpha}(\mathcal{M}(D)||\mathcal{M}(D')) \leq H_{\alpha}(P||Q).$$"
    ),
    severity=Stake.PROOF,
    statement=r"H_\alpha(P \| Q) = \alpha H_{1/\alpha}(Q \| P) + 1 - \alpha \quad (\alpha > 0)",
    words="the divergences of the two orders fix each other: a pair that dominates at every alpha > 0 bounds both",
    hypotheses=_FINITE[:1],
    says=symmetry,
    check=judge_symmetry,
    flips=(
        Flip("without 1 - alpha", lambda alpha: (alpha, 1 / alpha, 0), Verdict.REFUTED),
        Flip("the same alpha in the other order", lambda alpha: (1, alpha, 0), Verdict.REFUTED),
    ),
    rests_on=("relu-approx/eq-2.1",),
    expected="HOLDS PROVED",
)
