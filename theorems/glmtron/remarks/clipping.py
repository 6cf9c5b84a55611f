"""What Section 4 of document 003 says of low clipping thresholds: how far the iterates get.

Without noise a step moves w by at most eta gamma, so that from w_0 = 0 the mean of w_0, ..., w_{N-1} is at most eta
gamma (0 + 1 + ... + (N-1))/N = eta gamma (N-1)/2 away from 0, and w* has at least |w*| less that to go: the bias of the
start. Records x = 1, y = w* with w* above eta gamma N + gamma get as far. At w* itself a clip is no bias: features of
the law of their negatives leave the mean step 0 there.
"""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from typing import Any

import sympy

from oracle.core.domain import positive, positive_integer
from theorems.claim import Claim, Flip, Stake, Whose
from theorems.given import Domain
from theorems.tools.symbolic_signs import never_negative, vanishes
from theorems.verdict import Finding, Verdict, computed, proof, refuted


def judge_reach(says: Callable[[Any, Any, Any], Any], given: Domain) -> Finding:
    """Whether the mean of the iterates gets at most says(eta, gamma, N) away from 0: tried with x = 1 and a far w*."""
    tried = 0
    for point in given.points("eta", "gamma", "records", most={"records": 40}):
        eta, gamma, records = point["eta"], point["gamma"], point["records"]
        target, w, total = eta * gamma * records + gamma, Fraction(0), Fraction(0)
        for _ in range(records):
            total += w
            w -= eta * max(-gamma, min(gamma, max(w, Fraction(0)) - target))
        tried += 1
        if total / records > says(eta, gamma, records):
            return refuted("the mean of the iterates gets farther", {
                "x": 1, "w*": target, "eta": eta, "gamma": gamma, "N": records, "mean": total / records,
                "claimed": says(eta, gamma, records)})
    eta_, gamma_, n_ = given.symbol("eta"), given.symbol("gamma"), given.chart("records")
    step, size = sympy.Symbol("t", integer=True), sympy.Symbol("m", integer=True, positive=True)
    return proof(
        computed("(0 + 1 + ... + (N-1))/N = (N-1)/2, on symbols",
                 vanishes(sympy.summation(step, (step, 0, size - 1)) / size - (size - 1) / 2)),
        computed("eta gamma (N-1)/2 is at most what is claimed, on symbols",
                 never_negative(sympy.expand(says(eta_, gamma_, n_) - eta_ * gamma_ * (n_ - 1) / 2))),
        tried=tried,
    )


low_clip = Claim(
    id="glmtron/intro-low-clip", source="003, Section 4: a low threshold gives bias, read of the start's",
    whose=Whose.READING, severity=Stake.UTILITY,
    quote="If the clipping threshold is set excessively low, it results in loss of gradient information, consequently\n"
          "leading to high bias",
    statement=r"\|\bar w_N\| \le \eta\gamma\,\tfrac{N-1}{2}, \quad \|\bar w_N - w_*\| \ge \|w_*\| - "
              r"\eta\gamma\,\tfrac{N-1}{2}",
    words="without noise the mean of the iterates is at most eta gamma (N-1)/2 from 0: a clip below 2 |w*|/(eta N) "
          "leaves it away from w*",
    hypotheses=(positive("eta"), positive("gamma"), positive_integer("records", "N")),
    says=lambda eta, gamma, records: eta * gamma * (records - 1) / 2, check=judge_reach, expected="HOLDS PROVED",
    flips=(Flip("half of it", lambda eta, gamma, records: eta * gamma * (records - 1) / 4, Verdict.REFUTED),),
    true_variants={"1 % more": "a larger bound is weaker", "- -> + (operator 2)": "a larger bound is weaker",
                   "/ -> ?* (operator 4)": "a larger bound is weaker", "any gamma": "gamma enters on both sides alike"},
)
