"""The claims of Section 5 of document 001: data, schedules, Table 1 (`theorems.sbcd.experiments` judges them)."""

from __future__ import annotations

from fractions import Fraction

from oracle.core.domain import positive, positive_integer
from theorems.claim import Claim, Flip, Repair, Severity, Whose
from theorems.sbcd.experiments import (
    CONSTANT,
    DECREASE,
    judge_accuracy,
    judge_batches,
    judge_column,
    judge_means,
    judge_model,
    judge_quantum,
    judge_schedule,
    judge_smaller,
    origin_unknown,
)
from theorems.verdict import Verdict

_SETTING = (positive("noise"), positive_integer("epochs"))

madelon = Claim(
    id="sbcd/madelon", source="001, Section 5: 6000 instances, 80 % for training, batch size 960",
    statement=r"0.8 \cdot 6000 = 5 \cdot 960", words="the training set of 4800 instances makes 5 batches of 960",
    hypotheses=(), says=(6000, Fraction(4, 5), 960, 5), check=judge_batches,
    flips=(Flip("batch size 1000", (6000, Fraction(4, 5), 1000, 5), Verdict.REFUTED),),
    expected="HOLDS ARGUED",
)
madelon_origin = Claim(
    id="sbcd/madelon-origin", source="001, Section 5: the Madelon data set of the NIPS 2003 challenge",
    quote=(
        "The Madelon dataset was originally introduced as a challenging classification problem in the NIPS 2003 "
        "feature selection challenge [17]. This synthetic dataset comprises 6000 instances, each with 20 "
        "features and belonging to one of the five classes."
    ),
    whose=Whose.PRINTED,
    severity=Severity.UTILITY,
    statement=r"\text{Madelon: } 6000 \text{ instances, } 20 \text{ features, } 5 \text{ classes}",
    words="the challenge's Madelon data set has 6000 instances of 20 features in five classes",
    hypotheses=(), says=None, check=origin_unknown,
    expected="NOT_CHECKABLE CITED",
)
schedule = Claim(
    id="sbcd/decrease-schedule", source="001, Section 5: o(eta, K, j) = 0.0075 with epochs 0 to K-1",
    quote=(
        r"the decrease strategy with a linear decay rate of 0.0008 per epoch and final noise variance $o(\eta, "
        "K, j) = 0.0075$"
    ),
    whose=Whose.READING,
    statement=r"o_k = 0.0075 + 0.0008(K - k) \text{ ends at } 0.0075",
    words="the decrease strategy, 0.0075 at k = K, has the variance 0.0075 in the last epoch that is run",
    hypotheses=_SETTING, says=lambda k, epochs: Fraction("0.0075") + Fraction("0.0008") * (epochs - k),
    check=judge_schedule,
    expected="REFUTED PROVED",
    repair=Repair(
        statement=r"o_k = 0.0075 + 0.0008(K - 1 - k)",
        words="0.0075 + 0.0008 (K - 1 - k) ends at 0.0075",
        says=lambda k, epochs: Fraction("0.0075") + Fraction("0.0008") * (epochs - 1 - k),
        expected="HOLDS ARGUED",
        source="001, Section 5, the last epoch being K - 1",
    ),
)
column = Claim(
    id="sbcd/table-1-C10", source="001, Table 1, the losses with constant noise",
    quote="10 C 0.041408 20.03(± 0.59) 20 C 0.040652",
    whose=Whose.PRINTED,
    severity=Severity.UTILITY,
    statement=r"\varepsilon_{10} \le \varepsilon_{20} \le \dots \le \varepsilon_{50}",
    words="the losses with constant noise, 0.041408 first, come from Theorem 4.6, which grows with the epochs",
    hypotheses=_SETTING, says=CONSTANT, check=judge_column,

    uses=("sbcd/thm-4.6-eq-11",),
    expected="REFUTED PROVED",
    repair=Repair(
        statement=r"0.040652 \le 0.040696 \le 0.040712 \le 0.040716",
        words="the losses with constant noise from 20 epochs on grow with the epochs, as they must",
        says=CONSTANT[1:],
        expected="HOLDS ARGUED",
        source="001, Table 1, constant noise, K = 20 to 50",
        flips=(Flip("in the opposite order", CONSTANT[:0:-1], Verdict.REFUTED),),
    ),
)
quantum = Claim(
    id="sbcd/table-1-quantum", source="001, Table 1: all losses are multiples of 4e-6",
    statement=r"\varepsilon \in 4 \cdot 10^{-6}\, \mathbb{Z}",
    words="all ten losses of Table 1 are multiples of 0.000004, as four equal layers rounded before adding would give",
    hypotheses=(), says="0.000004", check=judge_quantum, flips=(Flip("0.000008", "0.000008", Verdict.REFUTED),),
    expected="HOLDS ARGUED",
)
smaller = Claim(
    id="sbcd/table-1-D-le-C", source="001, Table 1 and Section 5: lower privacy loss with adaptive noise",
    quote=(
        "For the examples in Table 1, we see higher utilities and lower privacy loss when we use adaptive "
        "calibrated noise."
    ),
    whose=Whose.PRINTED,
    severity=Severity.UTILITY,
    statement=r"\varepsilon_D(K) < \varepsilon_C(K)",
    words="the printed loss of strategy D is below that of C at every K",
    hypotheses=_SETTING, says=(DECREASE, CONSTANT), check=judge_smaller,
    flips=(Flip("C below D", (CONSTANT, DECREASE), Verdict.REFUTED),),
    expected="HOLDS ARGUED",
)
model = Claim(
    id="sbcd/table-1-D-le-C-model", source="001, Table 1: the same from Theorem 4.6 at L_F = 0.95, L_T = 1",
    severity=Severity.UTILITY,
    statement=r"\varepsilon_D(50) < \varepsilon_C(50) \text{ for } L_F = 0.95",
    words="Theorem 4.6 gives strategy D less loss than C at 50 epochs, for a contraction such as L_F = 0.95",
    hypotheses=_SETTING, says=Fraction(95, 100), check=judge_model,

    uses=("sbcd/thm-4.6-eq-11",),
    expected="REFUTED PROVED",
    repair=Repair(
        statement=r"\varepsilon_D(50) < \varepsilon_C(50) \text{ for } L_F = 1",
        words="Theorem 4.6 gives strategy D less loss than C at 50 epochs without contraction, L_F = 1",
        says=Fraction(1),
        expected="HOLDS CHECKED_AT_POINTS",
        source="001, Table 1: where Theorem 4.6 gives D less loss, L_F = 1",
        flips=(Flip("L_F = 0.9", Fraction(9, 10), Verdict.REFUTED),),
        rests_on=("sbcd/thm-4.6-repaired",),
    ),
)
means = Claim(
    id="sbcd/table-1-utility", source="001, Table 1 and Section 5: higher utility with adaptive noise",
    quote=(
        "For the examples in Table 1, we see higher utilities and lower privacy loss when we use adaptive "
        "calibrated noise."
    ),
    whose=Whose.PRINTED,
    severity=Severity.UTILITY,
    statement=r"\mathrm{acc}_D(K) > \mathrm{acc}_C(K)",
    words="the printed mean accuracy of strategy D is above C's at every K",
    hypotheses=(), says="D", check=judge_means, flips=(Flip("C above D", "C", Verdict.REFUTED),),
    expected="HOLDS ARGUED",
)
significant = Claim(
    id="sbcd/table-1-utility-significant", source="001, Table 1: the 95 % intervals of the accuracies",
    quote=(
        "For the examples in Table 1, we see higher utilities and lower privacy loss when we use adaptive "
        "calibrated noise."
    ),
    whose=Whose.READING,
    severity=Severity.UTILITY,
    statement=r"\mathrm{acc}_D(K) - \Delta_D > \mathrm{acc}_C(K) + \Delta_C \text{ for all } K",
    words="strategy D is better than C at every K by intervals that do not overlap",
    hypotheses=(), says=(10, 20, 30, 40, 50), check=judge_accuracy,
    expected="REFUTED PROVED",
    repair=Repair(
        statement=r"\mathrm{acc}_D(K) - \Delta_D > \mathrm{acc}_C(K) + \Delta_C,\ K = 20, 30, 40",
        words="strategy D is better than C at 20, 30 and 40 epochs by intervals that do not overlap",
        says=(20, 30, 40),
        expected="HOLDS ARGUED",
        source="001, Table 1, where the intervals do not overlap",
        flips=(Flip("at 50 as well", (40, 50), Verdict.REFUTED),),
    ),
)
