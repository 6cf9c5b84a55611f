r"""Remark 7 of document 003: Algorithm 4 with the f of Theorem 5.1, a record replaced.

A replaced leaf moves its nodes by up to 2 Gamma: with noise 2 f Gamma a node the tree has mu = epsilon/sqrt(2
log(1/delta)) as for a removed leaf, and the estimate of `privacy.tree` serves for epsilon <= 1 and delta <= 1/2, too.
"""

from __future__ import annotations

from fractions import Fraction

from flint import arb, ctx

from oracle.core.domain import Parameter
from oracle.core.enclosure import ball
from theorems.claim import Claim, Repair, Stake, Whose
from theorems.given import Domain
from theorems.glmtron.privacy.tree import mills_step
from theorems.verdict import Finding, argued, computed, proof, refuted, undecided


def judge_remark_7(says: int, given: Domain) -> Finding:
    """Whether noise says f Gamma a node is (epsilon, delta)-DP if a record is replaced: moves of 2 Gamma."""
    tried = 0
    for point in given.points("epsilon", "delta"):
        with ctx.workprec(128):
            eps, delta = ball(point["epsilon"]), ball(point["delta"])
            mu = 2 * eps / (says * (2 * (1 / delta).log()).sqrt())
            near, far = (((eps / mu + side * mu / 2) / arb(2).sqrt()).erfc() / 2 for side in (-1, 1))
            true = near - eps.exp() * far
            tried += 1
            if true > delta:
                return refuted("the tree, which is that Gaussian, loses more, certified", {
                    "epsilon": point["epsilon"], "delta": point["delta"], "noise over f Gamma": says,
                    "true delta": true.str(8, radius=False)})
            if says < 1 or not true <= delta:
                return undecided("the balls are too wide", tried)
    high, most = given["delta"].high, given["epsilon"].high
    if high is None or most is None:
        return undecided("the proof needs an end of epsilon and of delta", tried)
    return proof(
        computed("2 over the noise is at most 1: mu is at most epsilon/sqrt(2 log(1/delta))", says >= 2),
        mills_step(most, high),
        argued("R falls and x_0 is the least x (`privacy.tree`); delta_G rises with mu"), tried=tried,
    )


remark_7 = Claim(
    id="glmtron/remark-7-replaced",
    source="003, Remark 7: Algorithm 4 is private with this f (Definition 3.1: one record replaced)",
    quote="(e, 9)-differential privacy with appropriate noise multiplier f = Y 2Mlg(N+1)]1n(1/5)",
    whose=Whose.PRINTED, severity=Stake.PRIVACY,
    statement=r"f = \sqrt{2\lceil\lg(N+1)\rceil\ln(1/\delta)}/\varepsilon \Rightarrow (\varepsilon,\delta)\text{-DP}",
    words="noise f Gamma a node makes the tree (epsilon, delta)-DP for neighbours with one record replaced",
    hypotheses=(Parameter("epsilon", low=Fraction(0), high=Fraction(1), low_open=True),
                Parameter("delta", low=Fraction(0), high=Fraction(1, 2), low_open=True)),
    says=1, check=judge_remark_7, expected="REFUTED PROVED",
    repair=Repair(
        statement=r"\text{noise } 2 f \Gamma \text{ a node},\ \varepsilon \le 1 \Rightarrow "
                  r"(\varepsilon,\delta)\text{-DP}",
        words="noise 2 f Gamma a node does, for epsilon up to 1", says=2, expected="HOLDS ARGUED",
        rests_on=("background/gdp-composition", "background/balle-wang"),
        true_variants={"*more": "more noise"},
    ),
)
