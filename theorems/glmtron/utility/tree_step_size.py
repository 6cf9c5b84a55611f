r"""The step sizes of Theorem 5.2 of document 003 and of the lemmas of its proof.

Lemmas E.6 and E.7 ask for eta <= 1/(tr(H) log N), Lemma E.2 for less still (its constant is damaged in the scan: a
quarter of that at most). Theorem 5.2, as Theorem 4.2, has eta < 1/(alpha tr(H)): from log N > alpha on there are step
sizes that it allows and the lemmas do not.
"""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from typing import Any

import sympy
from flint import arb, ctx

from oracle.core.domain import Parameter
from oracle.core.enclosure import ball
from theorems.claim import Claim, Repair, Stake, Whose
from theorems.given import Domain
from theorems.tools.symbolic_signs import never_negative
from theorems.verdict import Finding, argued, computed, proof, refuted


def judge_steps(says: Callable[[Any, Any], Any], given: Domain) -> Finding:
    """Whether every eta tr(H) < says(alpha, log N) is at most 1/(4 log N), given balls or symbols for log N >= 1."""
    tried = 0
    with ctx.workprec(80):
        for point in given.points("alpha", "N"):
            log = arb(point["N"]).log()
            eta = ball(Fraction(99, 100)) * says(ball(point["alpha"]), log)
            tried += 1
            if eta > 1 / log:
                return refuted("the theorem allows a step size that Lemmas E.6 and E.7 do not", {
                    "alpha": point["alpha"], "N": point["N"], "eta tr(H)": f"{float(eta.mid()):.6f}",
                    "1/log N": f"{float((1 / log).mid()):.6f}"})
    log_ = 1 + sympy.Symbol("m", nonnegative=True)
    return proof(
        computed("at most 1/(4 log N) for alpha >= 1 and log N >= 1, on symbols",
                 never_negative(1 / (4 * log_) - says(given.chart("alpha"), log_))),
        argued("log N >= 1 for N >= 3"), tried=tried,
    )


steps = Claim(
    id="glmtron/thm-5.2-stepsize", source="003, Theorem 5.2 and Lemmas E.2, E.6, E.7: step sizes", whose=Whose.READING,
    severity=Stake.PROOF,
    quote="and provided that the step size 1 satisfies n < 1/(tr(H)log N), the following holds:",
    statement=r"\eta < 1/(\alpha\, tr(H)) \Rightarrow \eta \le 1/(tr(H) \log N)",
    words="the step size of Theorem 5.2, below 1/(alpha tr(H)), is one that its lemmas allow",
    hypotheses=(Parameter("alpha", low=Fraction(1)), Parameter("N", kind="integer", low=Fraction(3))),
    says=lambda alpha, log: 1 / alpha, check=judge_steps, expected="REFUTED PROVED",
    repair=Repair(
        statement=r"\eta \le 1/(4\alpha\, tr(H) \log N)", words="a step size up to 1/(4 alpha tr(H) log N) is one "
        "that the lemmas allow",
        says=lambda alpha, log: 1 / (4 * alpha * log), expected="HOLDS ARGUED",
        true_variants={"1 % less": "smaller steps are allowed, too", "4 -> 5 *": "likewise", "squared": "likewise",
            "sign": "likewise",
                       "?* -> + *": "(4 + alpha) log N is no less than 4 log N"},
    ),
)
