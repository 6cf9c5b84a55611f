r"""Steps of the proofs of 003 that hold as printed, and the two variance lemmas together.

E.5, crossing term 3. Averaged over x and -x, with scores a = <w,x>, b = <w*,x>: (1[b > 0] - 1[a > 0]) b x is b x/2
times 1[b > 0] + 1[b < 0] - 1[a > 0] - 1[a < 0], that is 0 where a is not 0. Noise is continuous: from the second step
on a is 0 with probability 0, and at the first one w_0 is no random vector, so that noise has the mean 0 given it.

The induction on C_t, label noise. With c = eta sigma^2/(1 - eta alpha tr(H)) a step takes c I to at most (1 - eta
lambda + eta^2 alpha tr(H) lambda) c + eta^2 sigma^2 lambda = c in each direction, as M o I <= alpha tr(H) H: this half
of the induction is right. With one Gaussian direction c is its limit.
"""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from typing import Any

import sympy

from oracle.core.domain import Parameter, non_negative, positive
from theorems.claim import Claim, Flip, Stake, Whose
from theorems.given import Domain
from theorems.glmtron.tree.chain import GAUSSIAN
from theorems.glmtron.tree.moments import E67_HYPOTHESES, judge_noise, judge_variance
from theorems.tools.symbolic_signs import never_negative, vanishes
from theorems.verdict import Finding, Verdict, computed, proof, refuted

_SIGNS = tuple((one, other) for one in (1, -1) for other in (1, -1))


def judge_crossing(says: Callable[[Any, Any], Any], given: Domain) -> Finding:
    """Whether (1[b > 0] - 1[a > 0]) b x is on average over x and -x says(a, b) x, a other than 0."""
    tried = 0
    for point in given.points("a", "b"):
        for one, other in _SIGNS:
            a, b = one * point["a"], other * point["b"]
            true = (((b > 0) - (a > 0)) * b + ((-b > 0) - (-a > 0)) * b) / Fraction(2)
            tried += 1
            if true != says(a, b):
                return refuted("the term is another one", {
                    "<w,x>": a, "<w*,x>": b, "term": true, "claimed": says(a, b)})
    p, q = given.symbol("a"), sympy.Symbol("b", positive=True)

    def above(value: Any) -> int:
        return int(bool(value.is_positive))

    return proof(
        computed("0 for all four signs of the scores, b = 0 included, on symbols", all(
            vanishes(((above(o * q) - above(s * p)) + (above(-o * q) - above(-s * p))) * o * q / 2 - says(s * p, o * q))
            for s, o in _SIGNS) and vanishes(says(p, sympy.Integer(0)))),
        tried=tried,
    )


def judge_label(says: Callable[[Any, Any, Any], Any], given: Domain) -> Finding:
    """Whether label noise keeps C_t below says(eta, sigma^2, eta alpha tr H) I: tried with one Gaussian direction."""
    tried = 0
    for point in given.points("eta", "variance", "load", at_most=60):
        eta, variance, load = point["eta"], point["variance"], point["load"]
        lam = load / (GAUSSIAN * eta)
        bound, limit = says(eta, variance, load), eta * variance / (1 - load)  # c (1 - eta lambda (1 - load)) + ...
        tried += 1
        if limit > bound:
            return refuted("the second moment of one direction has a larger limit", {
                "lambda": lam, "eta": eta, "sigma^2": variance, "limit": limit, "claimed": bound})
    eta_, variance_, load_ = given.symbol("eta"), given.symbol("variance"), given.chart("load")
    lam_, c = sympy.Symbol("l", positive=True), says(given.symbol("eta"), given.symbol("variance"), given.chart("load"))
    after = (1 - eta_ * lam_ + eta_ * load_ * lam_) * c + eta_**2 * variance_ * lam_
    return proof(
        computed("a step takes c to at most c in each direction, M o I <= alpha tr(H) H, and c >= 0 = C_0, on symbols",
                 never_negative(sympy.simplify((c - after) / (eta_ * lam_)), c)),
        computed("it rises with the moments before it: 1 - eta lambda >= 0, as eta lambda <= eta alpha tr(H) < 1",
                 never_negative(1 - load_)),
        tried=tried,
    )


def judge_both(says: tuple[Any, tuple[Any, Any], Any], given: Domain) -> Finding:
    """Whether Lemmas E.6 and E.7 hold with these constants for alpha eta tr(H) up to a limit, beside the hypotheses."""
    first = judge_variance(says[0], given, says[2])
    return first if first.verdict is not Verdict.HOLDS else judge_noise(says[1], given, says[2])


crossing = Claim(
    id="glmtron/E.5-crossing-3", source="003, proof of Lemma E.5: crossing term 3 vanishes", whose=Whose.PRINTED,
    quote="(crossing term 3) = 0,", severity=Stake.PROOF,
    statement=r"E[(1[x^\top w_* > 0] - 1[x^\top w > 0])\, x x^\top w_*] = 0",
    words="the third crossing term vanishes for symmetric x where <w,x> is not 0, which noise sees to after the first "
          "step",
    hypotheses=(positive("a", "|<w,x>|"), non_negative("b", "|<w*,x>|")), says=lambda a, b: 0 * b, check=judge_crossing,
    expected="HOLDS PROVED", flips=(Flip("half of it", lambda a, b: b / 2, Verdict.REFUTED),),
    true_variants={"sign": "minus 0 is 0", "1 % *": "1 % of 0", "squared": "0 squared", "any b": "b multiplies 0"},
)
label = Claim(
    id="glmtron/variance-induction-label", source="003, Appendix D.2: the induction on C_t, its label noise",
    quote="where the last inequality is due to the fact that M is aPSD mapping. Then by the iteration of variance,\nwe "
          "have for all ¢ > 0,", whose=Whose.PRINTED, severity=Stake.PROOF,
    statement=r"\Gamma = 0: \quad C_t \preceq \frac{\eta\sigma^2}{1 - \eta\alpha\, tr(H)} I",
    words="without private noise C_t is at most eta sigma^2/(1 - eta alpha tr(H)) I: this half of the induction holds",
    hypotheses=(positive("eta"), non_negative("variance", "sigma^2"),
                Parameter("load", low=Fraction(0), high=Fraction(1), low_open=True, high_open=True,
                          meaning="eta alpha tr(H)")),
    says=lambda eta, variance, load: eta * variance / (1 - load), check=judge_label, expected="HOLDS PROVED",
    flips=(Flip("without the denominator", lambda eta, variance, load: eta * variance, Verdict.REFUTED),),
    true_variants={"1 % more": "a larger bound is weaker", "beyond *": "a larger bound is weaker"},
)
both = Claim(
    id="glmtron/lemma-E.6-E.7", source="003, Lemmas E.6 and E.7 together, at their step size",
    quote="Lemma E.7. Variance error] If the step size satisfies n < 1/(tr(H) log N), then the following holds",
    whose=Whose.PRINTED, severity=Stake.PROOF,
    statement=r"\text{Lemmas E.6 and E.7},\quad \eta < 1/(\operatorname{tr}(H)\log N)",
    words="both variance bounds, with the constants 8, 4 and 2, hold for eta < 1/(tr(H) log N): alpha eta tr(H) up to "
          "3/2 at N = 7", hypotheses=E67_HYPOTHESES, says=(Fraction(8), (Fraction(4), Fraction(2)), Fraction(3, 2)),
    check=judge_both, expected="REFUTED PROVED", repaired_by="glmtron/lemma-E.7-repaired",
    uses=("glmtron/lemma-E.6", "glmtron/lemma-E.7"),
    flips=(Flip("only for alpha eta tr(H) < 1", (Fraction(8), (Fraction(4), Fraction(2)), Fraction(1)),
                Verdict.HOLDS),),
)
