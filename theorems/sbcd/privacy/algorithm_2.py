r"""Theorem 4.6 of document 001 against Algorithm 2 itself: one hidden unit, one epoch, the record in the first batch.

eta = b = 1, no regulariser, gradients clipped to C (so S_g = 2C for certain), noise s^2 = 2 o; theta_0 starts at 1 and
theta_1 at 0. The record is (1, C) or (1, -C): it leaves block 0 alone and moves block 1 to +-C + s Z. Every other
record is (0, y): x_1 is solved for with theta_1, x_1 = theta_1 y/(1 + theta_1^2), and its update moves block 1 by
min(C, y^2 theta_1/(1 + theta_1^2)^2) away from 0: it repeats what the record has said. Each block's step is
1-Lipschitz in its own variable (a clipped monotone gradient with eta |x|^2 <= 2), so all hypotheses of the theorem hold
with L_F = L_T = 1, and with its indices set right R_alpha/alpha <= (C^2/o)/N for each block: 2C^2/(o N) in all.

But as long as theta_1 stays in [a, c], where the push is the whole C, it is a walk of mean C t and variance s^2 t. So
P(theta_1 <= 0 at the end) <= q = sum_t Phi(-(C t - a)/(s sqrt t)) + Phi(-(c - C t)/(s sqrt t)) on one side, and the
mirror image on the other: the test theta_1 > 0 proves epsilon >= log((1 - q - delta)/q), whatever N is. What survives
is composition: all updates that read the record, without decay (sbcd/fixed-blocks-repaired).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from typing import Any

import sympy
from flint import arb

from oracle.core.domain import Number, Parameter
from oracle.core.enclosure import Enclosure, ball
from oracle.core.errors import PrecisionError
from oracle.core.registry import bound
from oracle.engines.gaussian_curve import normal_upper_tail
from theorems.claim import Claim, Flip, Repair, Stake, Whose, citing
from theorems.given import Domain
from theorems.tools.decisions import epsilon_of_test
from theorems.tools.symbolic_signs import vanishes
from theorems.verdict import Evidence, Finding, ProofStep, Verdict, argued, computed, proof, refuted, undecided

RECORDS = 100
CLIP_NORM = Fraction("0.03")
STD = Fraction("0.01")  # sqrt(2 o), o = 0.00005
AMPLIFIER = Fraction("2.8")
REACH = (Fraction("0.0039"), Fraction(4))  # [a, c]
_DELTA = Fraction(1, 10**5)


def pushed(theta: Fraction) -> Fraction:
    """How far a record (0, y) moves block 1 before clipping."""
    return AMPLIFIER**2 * theta / (1 + theta**2) ** 2


def failure() -> arb:
    """q: a bound on the probability that the test theta_1 > 0 errs, on either data set."""
    low, high = REACH
    for end in REACH:  # the push is least at an end: it rises up to 1/sqrt(3) and falls from there
        if pushed(end) < CLIP_NORM:
            raise PrecisionError(f"theta_1 = {end} is not pushed by the whole clipping norm")
    total = arb(0)
    for steps in range(1, RECORDS + 1):
        spread = ball(STD) * ball(steps).sqrt()
        total += normal_upper_tail(ball(CLIP_NORM * steps - low) / spread)
        total += normal_upper_tail(ball(high - CLIP_NORM * steps) / spread)
    return total


def at_least(delta: Number) -> Enclosure:
    """The epsilon that the test theta_1 > 0 proves at delta."""

    def rates() -> tuple[arb, arb]:
        q = failure()
        return 1 - q, q

    return epsilon_of_test(delta, rates)


def run_steps() -> tuple[ProofStep, ...]:
    """What makes the test a proof: computed but for the walk and the hypotheses of the theorem."""
    theta = sympy.symbols("theta", positive=True)
    slope = sympy.factor(sympy.diff(theta / (1 + theta**2) ** 2, theta))
    turns = sympy.solve(sympy.numer(slope), theta)
    return (
        computed("the push y^2 theta/(1 + theta^2)^2 rises and then falls, so on [a, c] it is least at an end, and at "
                 "least C there", len(turns) == 1 and min(map(pushed, REACH)) >= CLIP_NORM),
        argued("with x and U as solved for, each block's step is 1-Lipschitz in its own variable and S_g = 2C, so the "
               "hypotheses hold with L_F = L_T = 1"),
        argued("while theta_1 stays in [a, c] it is the walk C t + s sqrt(t) Z; a union bound over t gives q, and the "
               "other data set is the mirror image"),
    )


def judge_claim(rate: Callable[[Any, Any], Any], given: Domain) -> Finding:
    """Whether R_alpha/alpha <= rate(C^2/o, N), converted to delta = 1e-5, allows what the test proves."""
    (clip,), (noise,), (records,) = (given.values(name) for name in ("clip_norm", "noise", "records"))
    rho = rate(clip**2 / noise, records)
    claimed, true = bound("zcdp.epsilon").reference(rho=rho, delta=_DELTA), at_least(_DELTA)
    steps = run_steps()
    if any(step.passed is False for step in steps):
        return undecided("the push is not the whole C where the walk is", 1)
    if not true.possibly_le(claimed):
        found = refuted(
            "a test on the last iterate proves a larger epsilon, certified",
            {"layers": "1 hidden unit", "C": clip, "o": noise, "records": records, "y": AMPLIFIER,
             "epochs": "1", "j_0": "0", "claimed R/alpha": rho, "claimed epsilon": claimed,
             "epsilon at least": true, "delta": "1e-5"}, by=Evidence.ARGUED,
        )
        return replace(found, steps=steps)
    size, o, count = sympy.symbols("C o N", positive=True)
    one = (2 * size) ** 2 / (4 * o)  # eta S_g^2/(4 b^2 o) at S_g = 2C, eta = b = 1
    return proof(
        argued("given the releases before it, each block's update that reads the record is a Gaussian release whose "
               "mean moves by 2C (its x and U included), and the other updates do not read it"),
        computed("two such updates, one a block, lose eta (2C)^2/(4 b^2 o) each: what is claimed, on symbols",
                 vanishes(rate(size**2 / o, count) - 2 * one)),
        tried=1,
    )


_SETTING = (
    Parameter("clip_norm", low=CLIP_NORM, high=CLIP_NORM, meaning="C, of the instance"),
    Parameter("noise", low=STD**2 / 2, high=STD**2 / 2, meaning="o, of the instance"),
    Parameter("records", kind="integer", low=Fraction(RECORDS), high=Fraction(RECORDS), meaning="N, of the instance"),
)

algorithm = Claim(
    id="sbcd/thm-4.6-algorithm-2",
    source="001, Theorem 4.6 with its indices set right and summed over the blocks, for a run of Algorithm 2 with "
           "clipped gradients and a known j_0",
    quote=(
        r"then the algorithm satisfies $(\alpha, \varepsilon(\alpha))$ -Rényi differential privacy with the "
        "constant:"
    ),
    whose=Whose.READING,
    severity=Stake.PRIVACY,
    statement=r"\frac{R_\alpha}{\alpha} \le \frac{2C^2}{oN} \quad (D = 1,\ K = 1,\ j_0 = 0,\ \eta = b = 1)",
    words="Theorem 4.6, repaired and summed over blocks, bounds the loss of Algorithm 2 on a network with one unit",
    hypotheses=_SETTING, says=lambda touch, records: 2 * touch / records, check=judge_claim,
    uses=("sbcd/thm-4.6-eq-11", "sbcd/fixed-blocks", "sbcd/norm-nonexpansive"),
    expected="REFUTED ARGUED",
    repair=Repair(
        statement=r"\frac{R_\alpha}{\alpha} \le \frac{2C^2}{o} \quad (D = 1,\ K = 1,\ \eta = b = 1)",
        words="composition of the two updates that read the record bounds the loss of Algorithm 2, without any decay",
        says=lambda touch, records: 2 * touch,
        expected="HOLDS ARGUED",
        source="001, what holds for Algorithm 2: composition of the updates that read the record",
        flips=(
            Flip("a hundredth of it", lambda touch, records: 2 * touch / 100, Verdict.REFUTED),
            Flip("twice it, but falling from 200 records on", lambda touch, records: 400 * touch / records,
                 Verdict.UNDECIDED),
        ),
        rests_on=("sbcd/fixed-blocks-repaired", "sbcd/cor-4.5-case2"),
    ),
)
first = Claim(
    id="sbcd/nonconvex-first",
    source="001, abstract, Sections 1 and 6: guarantees for non-convex problems under the hidden state assumption",
    quote=(
        "is the first feasible method to solve non-convex problems with differential privacy guarantees under "
        "the hidden state assumption."
    ),
    whose=Whose.READING,  # of the guarantee: (11) for a j_0 that is known, its indices set right
    severity=Stake.PRIVACY,
    statement=r"\text{Algorithm 2 satisfies } (\alpha, \varepsilon(\alpha))\text{-RDP for the } \varepsilon"
              r" \text{ of Theorem 4.6}",
    words="DP-SBCD trains non-convex networks with the hidden-state guarantee that the document proves",
    hypotheses=_SETTING, says=lambda touch, records: 2 * touch / records, check=judge_claim,
    flips=(Flip("with the guarantee of composition", lambda touch, records: 2 * touch, Verdict.HOLDS),),
    repaired_by="sbcd/thm-4.6-algorithm-2-repaired",
    uses=("sbcd/thm-4.6-eq-11", "sbcd/fixed-blocks", "sbcd/thm-4.6-algorithm-2"),
    expected="REFUTED ARGUED",
)
priority = Claim(
    id="sbcd/first-vs-asoodeh",
    source="001, abstract and Section 6: the first method; reference [4] of 001 has a guarantee for non-convex losses",
    quote=(
        "Recently, Asoodeh and Diaz [4] also considered directly using hockey-stick divergence instead of Rényi "
        "divergence."
    ),
    whose=Whose.READING,
    statement=r"\text{DP-SBCD is the first method for non-convex problems with hidden-state guarantees}",
    words="DP-SBCD is the first method for non-convex problems with guarantees under the hidden state assumption",
    hypotheses=(), says=None,
    check=citing(Verdict.NOT_CHECKABLE,
                 "priority is not computed; but reference [4] of 001 itself, of 2023, is titled Privacy loss of noisy "
                 "stochastic gradient descent might converge even for non-convex losses"),
    expected="NOT_CHECKABLE CITED",
)
gain = Claim(
    id="sbcd/whole-network-gain",
    source="001, Section 1, fifth paragraph: for Algorithm 2, all blocks, by Theorem 4.6 with its indices set right",
    quote="our algorithm’s privacy loss is significantly smaller than that of composition theory.",
    whose=Whose.READING,  # by how much: as much as (11) gives for a j_0 that is known
    severity=Stake.PRIVACY,
    statement=r"\varepsilon(\text{Algorithm 2}) \le \frac{1}{N}\,\varepsilon(\text{composition})"
              r" \quad (K = 1,\ j_0 = 0,\ N = 100)",
    words="Algorithm 2, all of its blocks, is guaranteed less than the sum over all updates that read the record",
    hypotheses=_SETTING, says=lambda touch, records: 2 * touch / records, check=judge_claim,
    flips=(Flip("no less than composition", lambda touch, records: 2 * touch, Verdict.HOLDS),),
    repaired_by="sbcd/thm-4.6-algorithm-2-repaired",
    uses=("sbcd/thm-4.6-eq-11", "sbcd/fixed-blocks", "sbcd/thm-4.6-algorithm-2"),
    expected="REFUTED ARGUED",
)
