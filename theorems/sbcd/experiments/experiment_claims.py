"""The claims of Section 5 of document 001: data, schedules, Table 1 (the module `experiments` beside judges them)."""

from __future__ import annotations

from fractions import Fraction

from oracle.core.domain import positive_integer
from theorems.claim import Claim, Flip, Repair, Stake, Whose, citing
from theorems.sbcd.experiments.experiments import (
    CONSTANT,
    DECREASE,
    judge_accuracy,
    judge_batches,
    judge_chance,
    judge_column,
    judge_means,
    judge_model,
    judge_noise_order,
    judge_quantum,
    judge_schedule,
    judge_smaller,
)
from theorems.verdict import Verdict

_EPOCHS = (positive_integer("epochs"),)
_DECREASE = (
    r"the decrease strategy with a linear decay rate of 0.0008 per epoch and final noise variance $o(\eta, "
    "K, j) = 0.0075$"
)
_HIGHER = (
    "For the examples in Table 1, we see higher utilities and lower privacy loss when we use adaptive "
    "calibrated noise."
)
_IN_ORDER = {"*a digit*": "the printed values stay in that order"}

madelon = Claim(
    id="sbcd/madelon", source="001, Section 5: 6000 instances, 80 % for training, batch size 960",
    statement=r"0.8 \cdot 6000 = 5 \cdot 960", words="the training set of 4800 instances makes 5 batches of 960",
    hypotheses=(), says=(6000, Fraction(4, 5), 960, 5), check=judge_batches,
    flips=(Flip("batch size 1000", (6000, Fraction(4, 5), 1000, 5), Verdict.REFUTED),),
    expected="HOLDS PROVED",
)
madelon_origin = Claim(
    id="sbcd/madelon-origin", source="001, Section 5: the Madelon data set of the NIPS 2003 challenge",
    quote=(
        "The Madelon dataset was originally introduced as a challenging classification problem in the NIPS 2003 "
        "feature selection challenge [17]. This synthetic dataset comprises 6000 instances, each with 20 "
        "features and belonging to one of the five classes."
    ),
    whose=Whose.PRINTED,
    severity=Stake.UTILITY,
    statement=r"\text{Madelon: } 6000 \text{ instances, } 20 \text{ features, } 5 \text{ classes}",
    words="the challenge's Madelon data set has 6000 instances of 20 features in five classes",
    hypotheses=(), says=None, check=citing(
        Verdict.NOT_CHECKABLE,
        "about data that are not among the documents; the challenge's own pages contradict it: all its problems have "
        "two classes (clopinet.com/isabelle/Projects/NIPS2003, and the README beside its data at extras.springer.com, "
        "book 978-3-540-35487-1), so five classes of 20 features point to a generator with that name's recipe",
    ),
    expected="NOT_CHECKABLE CITED",
)
schedule = Claim(
    id="sbcd/decrease-schedule", source="001, Section 5: o(eta, K, j) = 0.0075", quote=_DECREASE, whose=Whose.READING,
    statement=r"o_k = 0.0075 + 0.0008(K - k)", words="the decrease strategy has the variance 0.0075 in its last epoch",
    hypotheses=_EPOCHS, says=None, check=None,
    readings=("sbcd/decrease-schedule-reading-from-0", "sbcd/decrease-schedule-reading-from-1"),
    expected="AMBIGUOUS PROVED",
)
schedule_from_0 = Claim(
    id="sbcd/decrease-schedule-reading-from-0",
    source="001, Section 5, epochs 0 to K - 1 as in Algorithm 2", quote=_DECREASE,
    whose=Whose.READING,
    statement=r"o_k = 0.0075 + 0.0008(K - k),\ 0 \le k < K, \text{ ends at } 0.0075",
    words="counted from 0, the epochs of the decrease strategy, 0.0075 at k = K, end with 0.0075",
    hypotheses=_EPOCHS, says=(lambda k, epochs: Fraction("0.0075") + Fraction("0.0008") * (epochs - k), 0),
    check=judge_schedule, repaired_by="sbcd/decrease-schedule-repaired",
    flips=(Flip("counted from 1", (lambda k, epochs: Fraction("0.0075") + Fraction("0.0008") * (epochs - k), 1),
                Verdict.HOLDS),),
    expected="REFUTED PROVED",
)
schedule_from_1 = Claim(
    id="sbcd/decrease-schedule-reading-from-1",
    source="001, Section 5, epochs 1 to K as in Figure 1(b)", quote=_DECREASE,
    whose=Whose.READING,
    statement=r"o_k = 0.0075 + 0.0008(K - k),\ 1 \le k \le K, \text{ ends at } 0.0075",
    words="counted from 1, the epochs of the decrease strategy, 0.0075 at k = K, end with 0.0075",
    hypotheses=_EPOCHS, says=(lambda k, epochs: Fraction("0.0075") + Fraction("0.0008") * (epochs - k), 1),
    check=judge_schedule,
    flips=(Flip("0.0009 an epoch", (lambda k, epochs: Fraction("0.0075") + Fraction("0.0009") * (epochs - k), 1),
                Verdict.REFUTED),),
    expected="HOLDS PROVED",
)
schedule_repaired = Claim(
    id="sbcd/decrease-schedule-repaired", source="001, Section 5, the last epoch being K - 1",
    statement=r"o_k = 0.0075 + 0.0008(K - 1 - k),\ 0 \le k < K",
    words="counted from 0, epochs with the variance 0.0075 + 0.0008 (K - 1 - k) end with 0.0075",
    hypotheses=_EPOCHS, says=(lambda k, epochs: Fraction("0.0075") + Fraction("0.0008") * (epochs - 1 - k), 0),
    check=judge_schedule,
    flips=(Flip("counted from 1", (lambda k, epochs: Fraction("0.0075") + Fraction("0.0008") * (epochs - 1 - k), 1),
                Verdict.REFUTED),),
    expected="HOLDS PROVED",
)
column = Claim(
    id="sbcd/table-1-C10", source="001, Table 1, the losses with constant noise; the inequalities are ours",
    quote="10 C 0.041408 20.03(± 0.59) 20 C 0.040652",
    whose=Whose.PRINTED,
    severity=Stake.UTILITY,
    statement=r"\varepsilon_{10} \le \varepsilon_{20} \le \dots \le \varepsilon_{50}",
    words="the losses with constant noise, 0.041408 first, come from Theorem 4.6, which grows with the epochs",
    hypotheses=(), says=CONSTANT, check=judge_column,
    uses=("sbcd/thm-4.6-eq-11",), rests_on=("sbcd/constant-noise-grows",),
    expected="REFUTED PROVED",
    repair=Repair(
        statement=r"0.040652 \le 0.040696 \le 0.040712 \le 0.040716",
        words="the losses with constant noise from 20 epochs on grow with the epochs",
        says=CONSTANT[1:],
        expected="HOLDS PROVED",
        source="001, Table 1, constant noise, K = 20 to 50",
        flips=(Flip("in the opposite order", CONSTANT[:0:-1], Verdict.REFUTED),),
        survivors=_IN_ORDER,
    ),
)
quantum = Claim(
    id="sbcd/table-1-quantum",
    source="001, Table 1: all losses are multiples of 4e-6 (four equal layers rounded before adding would do that)",
    statement=r"\varepsilon \in 4 \cdot 10^{-6}\, \mathbb{Z}",
    words="all ten losses of Table 1 are multiples of 0.000004",
    hypotheses=(), says="0.000004", check=judge_quantum, flips=(Flip("0.000008", "0.000008", Verdict.REFUTED),),
    expected="HOLDS PROVED",
)
smaller = Claim(
    id="sbcd/table-1-D-le-C", source="001, Table 1 and Section 5: lower privacy loss with adaptive noise",
    quote=_HIGHER,
    whose=Whose.PRINTED,
    severity=Stake.UTILITY,
    statement=r"\varepsilon_D(K) < \varepsilon_C(K)",
    words="the printed loss of strategy D is below that of C at every K",
    hypotheses=(), says=(DECREASE, CONSTANT), check=judge_smaller,
    flips=(Flip("C below D", (CONSTANT, DECREASE), Verdict.REFUTED),), survivors=_IN_ORDER,
    expected="HOLDS PROVED",
)
model = Claim(
    id="sbcd/table-1-D-le-C-model",
    source="001, Table 1 against Theorem 4.6 (its indices set right) at L_F = 0.95 (finding)",
    severity=Stake.UTILITY,
    statement=r"\varepsilon_D(50)/\varepsilon_C(50) = 1.212, 1.196, 1.182, 1.169, 1.158 \text{ at } j_0 = 0, \dots, 4"
              r"\quad (L_F = 0.95,\ L_T = 1)",
    words="at L_F = 0.95 the accounting gives strategy D more loss than C after 50 epochs, at every position",
    hypotheses=(), says=(Fraction(95, 100), ("1.212", "1.196", "1.182", "1.169", "1.158")), check=judge_model,
    flips=(Flip("at L_F = 0.9", (Fraction(9, 10), ("1.212", "1.196", "1.182", "1.169", "1.158")), Verdict.REFUTED),),
    expected="HOLDS PROVED",
)
model_repaired = Claim(
    id="sbcd/table-1-D-le-C-model-repaired",
    source="001, Table 1 against Theorem 4.6 (its indices set right) at L_F = 1 (finding)",
    severity=Stake.UTILITY,
    statement=r"\varepsilon_D(50)/\varepsilon_C(50) = 0.640, 0.638, 0.636, 0.633, 0.631 \text{ at } j_0 = 0, \dots, 4"
              r"\quad (L_F = L_T = 1)",
    words="without contraction, L_F = 1, the accounting gives strategy D less loss than C after 50 epochs, at every "
          "position",
    hypotheses=(), says=(Fraction(1), ("0.640", "0.638", "0.636", "0.633", "0.631")), check=judge_model,
    flips=(Flip("at L_F = 0.9", (Fraction(9, 10), ("0.640", "0.638", "0.636", "0.633", "0.631")), Verdict.REFUTED),),
    expected="HOLDS PROVED",
)
means = Claim(
    id="sbcd/table-1-utility", source="001, Table 1 and Section 5: higher utility with adaptive noise",
    quote=_HIGHER,
    whose=Whose.PRINTED,
    severity=Stake.UTILITY,
    statement=r"\mathrm{acc}_D(K) > \mathrm{acc}_C(K)",
    words="the printed mean accuracy of strategy D is above C's at every K",
    hypotheses=(), says="D", check=judge_means, flips=(Flip("C above D", "C", Verdict.REFUTED),),
    expected="HOLDS PROVED",
)
significant = Claim(
    id="sbcd/table-1-utility-significant", source="001, Table 1 and Section 5: higher utilities", quote=_HIGHER,
    whose=Whose.READING,
    severity=Stake.UTILITY,
    statement=r"\mathrm{acc}_D(K) > \mathrm{acc}_C(K) \text{, as means or beyond } \pm",
    words="strategy D has the higher utility at every K",
    hypotheses=(), says=None, check=None,
    readings=("sbcd/table-1-utility", "sbcd/table-1-utility-significant-reading-intervals"),
    expected="AMBIGUOUS PROVED",
)
intervals = Claim(
    id="sbcd/table-1-utility-significant-reading-intervals",
    source="001, Table 1: the intervals of the accuracies", quote=_HIGHER,
    whose=Whose.READING,
    severity=Stake.UTILITY,
    statement=r"\mathrm{acc}_D(K) - \Delta_D > \mathrm{acc}_C(K) + \Delta_C \text{ for all } K",
    words="strategy D is better than C at every K by printed intervals that do not overlap",
    hypotheses=(), says=(10, 20, 30, 40, 50), check=judge_accuracy,
    repaired_by="sbcd/table-1-utility-significant-repaired",
    flips=(Flip("at 20, 30 and 40", (20, 30, 40), Verdict.HOLDS),),
    expected="REFUTED PROVED",
)
intervals_repaired = Claim(
    id="sbcd/table-1-utility-significant-repaired", source="001, Table 1, where the intervals do not overlap",
    severity=Stake.UTILITY,
    statement=r"\mathrm{acc}_D(K) - \Delta_D > \mathrm{acc}_C(K) + \Delta_C,\ K = 20, 30, 40",
    words="at 20, 30 and 40 epochs the printed intervals of D and C do not overlap, D's being above",
    hypotheses=(), says=(20, 30, 40), check=judge_accuracy,
    flips=(Flip("at 50 as well", (40, 50), Verdict.REFUTED),),
    expected="HOLDS PROVED",
)
chance = Claim(
    id="sbcd/table-1-chance", source="001, Table 1, K = 10 (finding)", quote="10 C 0.041408 20.03(± 0.59)",
    severity=Stake.UTILITY,
    statement=r"20.13 \pm 0.32 \ni 20,\quad 20.03 \pm 0.59 \ni 20",
    words="after 10 epochs the printed intervals of both strategies contain chance level, 20 % for five classes",
    hypotheses=(), says=(10,), check=judge_chance, flips=(Flip("after 20 epochs, too", (10, 20), Verdict.REFUTED),),
    expected="HOLDS PROVED",
)
noise_order = Claim(
    id="sbcd/table-1-noise-order", source="001, Section 4.3, end, against Table 1 (finding)",
    quote="worth noting that noise with a smaller variance tends to yield better utility for the model compared to "
          "noise with a larger variance",
    severity=Stake.UTILITY,
    statement=r"\#\{k : o_k > 0.01\} = 7, 17, 27, 37, 47 \text{ for } K = 10, 20, 30, 40, 50",
    words="strategy D, the more accurate at every K, has more noise than C in 7, 17, 27, 37 and 47 of its epochs: "
          "in most of them",
    hypotheses=(), says=((10, 7), (20, 17), (30, 27), (40, 37), (50, 47)), check=judge_noise_order,
    flips=(Flip("in 6 of 10", ((10, 6),), Verdict.REFUTED),),
    expected="HOLDS PROVED",
)
