r"""Counts and conventions of document 001: its layers, its trainings, and what the plus-minus of Table 1 stands for.

The text says average and standard deviation of 5 runs, the caption 95 % interval: the same numbers cannot be both. For
5 runs the mean plus-minus t s/sqrt(5) covers with the probability 2 F(t) - 1 of Student's law, 4 degrees of freedom:
2 F(t) - 1 = (3/4) u (1 - t^2/(12 (1 + t^2/4))) with u = t/sqrt(1 + t^2/4). One standard deviation s is t^2 = 5.
"""

from __future__ import annotations

from collections.abc import Callable
from decimal import Decimal
from fractions import Fraction
from typing import Any

import sympy
from flint import arb, ctx

from oracle.core.domain import positive, positive_integer
from oracle.core.enclosure import Enclosure, ball
from theorems.claim import Claim, Flip, Repair, Severity, Whose, citing
from theorems.domain import Domain
from theorems.sbcd.experiments import CONSTANT, DECREASE
from theorems.verdict import Finding, Verdict, argued, proof, refuted, undecided

_EPOCHS = (10, 20, 30, 40, 50)


def coverage(squared: arb) -> Enclosure:
    """The probability that the mean of 5 runs is off by at most t standard errors, from t^2, in balls."""
    with ctx.workprec(100):
        u = (squared / (1 + squared / 4)).sqrt()
        return Enclosure.of_ball(ball(Fraction(3, 4)) * u * (1 - squared / (12 * (1 + squared / 4))))


def judge_interval(squared: Fraction, given: Domain) -> Finding:
    """Whether plus-minus t s/sqrt(5), t^2 given, is a 95 % interval of 5 runs, t rounded to three decimals."""
    level = Fraction(95, 100)
    with ctx.workprec(100):
        found = coverage(ball(squared))
        least, most = ((ball(squared).sqrt() + side * ball(Fraction(1, 2000))) ** 2 for side in (-1, 1))
    if not coverage(least).certainly_le(level) or coverage(most).possibly_le(level):
        return refuted(
            "it covers with another probability, certified",
            {"runs": "5", "t squared": str(squared), "coverage": str(found)},
        )
    return proof(argued(f"it covers with probability {found.to_floats()[0]:.5f}"))


def judge_trainings(says: tuple[tuple[int, ...], int, int], given: Domain) -> Finding:
    """Whether values of K, strategies and repetitions make 50 trainings, K from 10 to 50."""
    epochs, strategies, repetitions = says
    trainings = len(epochs) * strategies * repetitions
    if trainings != 50 or min(epochs) != 10 or max(epochs) != 50:
        return refuted(
            "another number of trainings",
            {"values of K": f"{min(epochs)} to {max(epochs)}, {len(epochs)} of them",
                        "strategies": str(strategies), "repetitions": str(repetitions),
                        "trainings": str(trainings)},
        )
    return proof(argued(f"{len(epochs)} times {strategies} times {repetitions}"))


def judge_same(tolerance: Fraction, given: Domain) -> Finding:
    """Whether the printed losses of both strategies agree at every K up to that relative difference."""
    worst = Fraction(0)
    for epochs, one, other in zip(_EPOCHS, DECREASE, CONSTANT, strict=True):
        difference = abs(Fraction(Decimal(one)) - Fraction(Decimal(other))) / Fraction(Decimal(other))
        worst = max(worst, difference)
        if difference > tolerance:
            return refuted(
                "farther apart",
                {"epochs": str(epochs), "D": one, "C": other,
                            "relative difference": f"{float(difference):.5f}"},
            )
    return proof(argued(f"at most {float(worst):.2%} apart, as printed"))


def judge_layers(matrices: Callable[[Any], Any], given: Domain) -> Finding:
    """Whether (1), theta = {theta_d} for d = 0..D, has matrices(D) weight matrices."""
    for depth in (1, 2, 4):
        true = len(range(depth + 1))
        if matrices(depth) != true:
            return refuted(
                "the indices 0 to D are one more",
                {"D": str(depth), "claimed": str(matrices(depth)), "theta": ", ".join(
                               f"theta_{d}" for d in range(depth + 1)
                           )},
            )
    depth_ = sympy.symbols("D", integer=True, positive=True)
    if sympy.simplify(matrices(depth_) - depth_ - 1) != 0:
        return undecided("right for three D only", 3)
    return proof(argued("D hidden layers and the output layer"))


spread = Claim(
    id="sbcd/table-1-spread",
    source="001, Section 5 (average and standard deviation of 5 runs) and the caption of Table 1 (95 % interval)",
    quote="Table 1: The accuracy(in % under 95% confidential interval) and the privacy loss of Algorithm 2",
    whose=Whose.READING,
    statement=r"P(|\bar x - \mu| \le s) = 0.95 \text{ for 5 runs}",
    words="the plus-minus of Table 1 is both the standard deviation of 5 runs and a 95 % interval",
    hypotheses=(positive("deviation"),), says=Fraction(5), check=judge_interval,

    expected="REFUTED PROVED",
    repair=Repair(
        statement=r"P(|\bar x - \mu| \le 2.776\,s/\sqrt5) = 0.95",
        words="a 95 % interval of 5 runs is 2.776 (to three decimals) standard errors, 1.24 deviations, to both sides",
        says=Fraction("2.776") ** 2,
        expected="HOLDS ARGUED",
        source="001, Table 1: what a 95 % interval of 5 runs is",
        flips=(
            Flip("1.96 standard errors", Fraction("1.96") ** 2, Verdict.REFUTED),
            Flip("2.777 standard errors", Fraction("2.777") ** 2, Verdict.REFUTED),
        ),
    ),
)
trainings = Claim(
    id="sbcd/train-50-times", source="001, Section 5: the model is trained 50 times, K varying from 10 to 50",
    quote=(
        "we train the model 50 times where the total number of epochs K varies from 10 to 50. We run the whole "
        "experiment 5 times and report both the average performance and the standard deviation."
    ),
    whose=Whose.READING,
    statement=r"\#\{10, 11, \dots, 50\} = 50", words="one training for each K from 10 to 50 makes 50 trainings",
    hypotheses=(positive_integer("epochs"),), says=(tuple(range(10, 51)), 1, 1), check=judge_trainings,
    expected="REFUTED PROVED",
    repair=Repair(
        statement=r"5 \cdot 2 \cdot 5 = 50",
        words="the five K of Table 1, two strategies and five repetitions make 50 trainings",
        says=(_EPOCHS, 2, 5),
        expected="HOLDS ARGUED",
        source="001, Section 5 with Table 1, a guess at what was meant",
        flips=(Flip("one strategy", (_EPOCHS, 1, 5), Verdict.REFUTED),),
    ),
)
same = Claim(
    id="sbcd/table-1-same-loss",
    source="001, Section 5: the privacy loss of both strategies is approximately the same for the same K (as printed)",
    quote=(
        "The decrease strategy is designed in a manner so that the privacy loss of both strategies will be "
        "approximately the same for the same number of epochs K ."
    ),
    whose=Whose.READING,
    severity=Severity.UTILITY,
    statement=r"|\varepsilon_D(K) - \varepsilon_C(K)| \le 0.03\,\varepsilon_C(K)",
    words="the printed losses of both strategies agree to 3 % at every K",
    hypotheses=(positive_integer("epochs"),), says=Fraction(3, 100), check=judge_same,
    flips=(Flip("to 0.1 %", Fraction(1, 1000), Verdict.REFUTED),),
    expected="HOLDS ARGUED",
)
layers = Claim(
    id="sbcd/eq-1-layers", source="001, (1): a D-layer neural network, the composition of D layers, theta_0 to theta_D",
    quote=(
        r"We consider learning an D -layer neural network parameterized by $\boldsymbol{\theta} "
        r"\stackrel{\text{def}}{=} \{\theta_d\}_{d=0}^D$"
    ),
    whose=Whose.READING,
    statement=r"\#\{\theta_d\}_{d=0}^{D} = D", words="the D-layer network of (1) has D weight matrices",
    hypotheses=(positive_integer("D"),), says=lambda depth: depth, check=judge_layers,

    expected="REFUTED PROVED",
    repair=Repair(
        statement=r"\#\{\theta_d\}_{d=0}^{D} = D + 1",
        words="the network of (1) has D + 1 weight matrices, so a block's loss is summed D + 1 times",
        says=lambda depth: depth + 1,
        expected="HOLDS ARGUED",
        source="001, (1), the output layer counted",
    ),
)
figure_2 = Claim(
    id="sbcd/fig-2", source="001, Section 5 on Figure 2: the curve of adaptive noise is above in most cases",
    quote=(
        "In Figure 2, we see the curve of adaptive calibrated noise above one of its counterparts in most cases."
    ),
    whose=Whose.PRINTED,
    severity=Severity.UTILITY,
    statement=r"\mathrm{acc}_D(\varepsilon) > \mathrm{acc}_C(\varepsilon) \text{ for most } \varepsilon",
    words="in Figure 2 the curve of adaptive noise lies above that of constant noise in most cases",
    hypotheses=(), says=None, check=citing(
        Verdict.NOT_CHECKABLE,
        "the figure's points are not in the text, and neither the code nor the data set is: what Table 1 prints of "
        "them is checked in table-1-utility and table-1-D-le-C",
    ),
    expected="NOT_CHECKABLE CITED",
)
