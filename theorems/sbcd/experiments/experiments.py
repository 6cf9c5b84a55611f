"""Section 5 of document 001: the data, the schedules and Table 1, as far as numbers can be checked without its runs."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from decimal import Decimal
from fractions import Fraction
from typing import Any

import sympy
from flint import arb, ctx

from oracle.core.domain import positive_integer
from oracle.core.enclosure import Enclosure, ball
from oracle.core.errors import DomainError
from theorems.claim import Claim, Flip, Repair, Stake, Whose, citing
from theorems.given import Domain
from theorems.tools.printed import rounds_to
from theorems.tools.readings import reading
from theorems.verdict import Finding, Verdict, computed, instance, proof, refuted, undecided

EPOCHS = (10, 20, 30, 40, 50)
DECREASE = ("0.040556", "0.040648", "0.040688", "0.040704", "0.040708")
CONSTANT = ("0.041408", "0.040652", "0.040696", "0.040712", "0.040716")
Schedule = Callable[[int], Fraction]
ACCURACY: Mapping[str, tuple[tuple[str, str], ...]] = {
    "D": (("20.13", "0.32"), ("42.15", "9.35"), ("92.10", "2.20"), ("93.98", "1.38"), ("94.37", "1.46")),
    "C": (("20.03", "0.59"), ("23.57", "6.89"), ("53.35", "17.68"), ("82.35", "7.98"), ("91.16", "3.20")),
}


def judge_batches(says: tuple[int, Fraction, int, int], given: Domain) -> Finding:
    """Whether instances, training share and batch size give that number of equal batches."""
    instances, share, batch, batches = says
    training = instances * share
    if training.denominator != 1 or training != batch * batches:
        return refuted(
            "the batches do not fill the training set",
            {"training instances": training, "batch size": batch, "batches": batches},
        )
    return instance(f"{training} training instances in {batches} batches of {batch}")


def judge_schedule(says: tuple[Callable[[Any, Any], Any], int], given: Domain) -> Finding:
    """Whether noise(k, K), k counted from `first`, falls by 0.0008 an epoch to 0.0075 in the K-th epoch."""
    noise, first = says
    last, fall = Fraction("0.0075"), Fraction("0.0008")
    for epochs in (*given.values("epochs"), *EPOCHS):
        values = [noise(k, epochs) for k in (first, first + epochs - 1)]
        if values[1] != last or values[0] <= 0 or values[0] != last + fall * (epochs - 1):
            return refuted(
                "the last epoch has another variance",
                {"K": epochs, "last epoch": first + epochs - 1, "o there": values[1], "claimed": "0.0075"},
            )
    K = given.chart("epochs")
    k = sympy.Symbol("k", integer=True)
    return proof(
        computed("o is 0.0075 in the K-th epoch, for the symbol K", sympy.expand(noise(first + K - 1, K) - last) == 0),
        computed("and falls by 0.0008 an epoch", sympy.expand(noise(k, K) - noise(k + 1, K) - fall) == 0),
        computed("so the first epoch has a positive one, the largest", sympy.expand(noise(first, K)).is_positive),
    )


def judge_column(column: tuple[str, ...], given: Domain) -> Finding:
    """Whether losses over 10, 20, ... epochs of constant noise never fall, as Theorem 4.6's cannot."""
    for before, after, epochs in zip(column, column[1:], EPOCHS[-len(column):], strict=False):
        if Decimal(after) < Decimal(before):
            return refuted(
                "the column falls, which constant noise cannot do",
                {"epochs": f"{epochs} and {epochs + 10}", "printed": f"{before} and {after}"},
            )
    return instance("never falls, as printed")


def judge_quantum(quantum: str, given: Domain) -> Finding:
    """Whether all ten printed losses are multiples of a number."""
    for value in (*DECREASE, *CONSTANT):
        if Decimal(value) % Decimal(quantum):
            return refuted(
                "not a multiple", {"value": value, "quantum": quantum, "rest": Decimal(value) % Decimal(quantum)}
            )
    return instance("all ten values are multiples")


def judge_smaller(columns: tuple[tuple[str, ...], tuple[str, ...]], given: Domain) -> Finding:
    """Whether each entry of the first printed column is below that of the second."""
    for epochs, one, other in zip(EPOCHS, *columns, strict=True):
        if not Decimal(one) < Decimal(other):
            return refuted("not below", {"epochs": epochs, "first": one, "second": other})
    return instance("below at every K, as printed")


def losses(q: arb, noise: Schedule, epochs: int, *, divided: bool = False) -> list[arb]:
    """R/alpha up to a factor, by position in 5 batches, in balls.

    It may be divided by q for each step after the last touch.
    """
    spread, rho = arb(0), [arb(0)] * 5
    for k in range(epochs):
        o = ball(noise(k))
        for batch in range(5):
            after = q * spread + o
            for i in range(5):
                plain = divided and k == epochs - 1 and i < batch
                rho[i] = rho[i] + 1 / o if i == batch else rho[i] * (spread if plain else q * spread) / after
            spread = after
    return rho


def judge_model(says: tuple[Fraction, tuple[str, ...]], given: Domain) -> Finding:
    """Whether D's loss over C's at K = 50 and L_T = 1 is, position by position, what is said, for that L_F.

    As printed o_50 = 0.0075, the last epoch run being 49; with o_49 = 0.0075 the losses must be in the same order.
    """
    gradient, claimed = says
    if gradient < 0:
        raise DomainError("a Lipschitz constant is not negative")
    with ctx.workprec(100):
        steady = losses(ball(gradient) ** 2, lambda k: Fraction("0.01"), 50)
        printed, shifted = (
            [one / other for one, other in zip(losses(ball(gradient) ** 2, noise, 50), steady, strict=True)]
            for noise in (lambda k: Fraction("0.0475") - Fraction("0.0008") * k,
                          lambda k: Fraction("0.0467") - Fraction("0.0008") * k)
        )
        for place, (ratio, text) in enumerate(zip(printed, claimed, strict=True)):
            if not rounds_to(Enclosure.of_ball(ratio), text):
                return refuted(
                    "another ratio, certified",
                    {"L_F": gradient, "K": 50, "j_0": place, "D over C": ratio.str(6, radius=False), "claimed": text},
                )
        if not (all(r > 1 for r in printed + shifted) or all(r < 1 for r in printed + shifted)):
            return undecided("the order depends on the position or on which epoch is the last", 10)
    return instance(f"D over C is {', '.join(claimed)} at j_0 = 0 to 4, and on the same side of 1 with o_49 = 0.0075")


def judge_accuracy(says: tuple[int, ...], given: Domain) -> Finding:
    """Whether D's accuracy is above C's, with disjoint printed intervals, at these epochs."""
    for epochs in says:
        index = EPOCHS.index(epochs)
        (high, up), (low, down) = ([Fraction(v) for v in ACCURACY[name][index]] for name in ("D", "C"))
        if high - up <= low + down:
            return refuted(
                "the intervals overlap",
                {"epochs": epochs, **{name: " ± ".join(ACCURACY[name][index]) for name in ("D", "C")}},
            )
    return instance("disjoint intervals, as printed")


def judge_means(better: str, given: Domain) -> Finding:
    """Whether one strategy's printed mean accuracy is the larger at every K."""
    worse = "C" if better == "D" else "D"
    for epochs, one, other in zip(EPOCHS, ACCURACY[better], ACCURACY[worse], strict=True):
        if not Decimal(one[0]) > Decimal(other[0]):
            return refuted("the other mean is larger", {"epochs": epochs, better: one[0], worse: other[0]})
    return instance("larger at all five K, as printed; the runs themselves were not repeated")


def judge_chance(epochs: tuple[int, ...], given: Domain) -> Finding:
    """Whether both strategies' printed intervals contain chance level, 20 % for five classes, at these epochs."""
    for at in epochs:
        for name, rows in ACCURACY.items():
            mean, spread = (Fraction(v) for v in rows[EPOCHS.index(at)])
            if abs(mean - 20) > spread:
                return refuted("the interval does not contain 20 %", {"epochs": at, "strategy": name, "mean": mean})
    return instance("the intervals of both contain 20 %, as printed")


def judge_noise_order(counts: tuple[tuple[int, int], ...], given: Domain) -> Finding:
    """In how many of its K epochs strategy D, 0.0075 + 0.0008 (K - k), has more noise than C's 0.01."""
    for epochs, claimed in counts:
        larger = sum(Fraction("0.0075") + Fraction("0.0008") * (epochs - k) > Fraction("0.01") for k in range(epochs))
        if larger != claimed or 2 * larger <= epochs or epochs not in EPOCHS:
            return refuted("another number", {"K": epochs, "epochs with more noise": larger, "claimed": claimed})
    return instance("; ".join(f"{claimed} of {epochs}" for epochs, claimed in counts))


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
    id="sbcd/decrease-schedule", source="001, Section 5: o(eta, K, j) = 0.0075", quote=_DECREASE, whose=Whose.PRINTED,
    statement=r"o_k = 0.0075 + 0.0008(K - k)", words="the decrease strategy has the variance 0.0075 in its last epoch",
    hypotheses=_EPOCHS, says=None, check=None,
    readings=("sbcd/decrease-schedule-reading-from-0", "sbcd/decrease-schedule-reading-from-1"),
    expected="AMBIGUOUS PROVED",
)
schedule_from_0 = reading(
    schedule, "from-0", source="001, Section 5, epochs 0 to K - 1 as in Algorithm 2",
    statement=r"o_k = 0.0075 + 0.0008(K - k),\ 0 \le k < K, \text{ ends at } 0.0075",
    words="counted from 0, the epochs of the decrease strategy, 0.0075 at k = K, end with 0.0075",
    says=(lambda k, epochs: Fraction("0.0075") + Fraction("0.0008") * (epochs - k), 0), check=judge_schedule,
    flips=(Flip("counted from 1", (lambda k, epochs: Fraction("0.0075") + Fraction("0.0008") * (epochs - k), 1),
                Verdict.HOLDS),),
    expected="REFUTED PROVED",
)
schedule_from_1 = reading(
    schedule, "from-1", source="001, Section 5, epochs 1 to K as in Figure 1(b)",
    statement=r"o_k = 0.0075 + 0.0008(K - k),\ 1 \le k \le K, \text{ ends at } 0.0075",
    words="counted from 1, the epochs of the decrease strategy, 0.0075 at k = K, end with 0.0075",
    says=(lambda k, epochs: Fraction("0.0075") + Fraction("0.0008") * (epochs - k), 1), check=judge_schedule,
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
    statement=r"\varepsilon_C(10) = 0.041408,\ \varepsilon_C(20) = 0.040652,\ \dots \text{ by Theorem 4.6}",
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
        true_variants=_IN_ORDER,
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
    flips=(Flip("C below D", (CONSTANT, DECREASE), Verdict.REFUTED),), true_variants=_IN_ORDER,
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
    whose=Whose.PRINTED,
    severity=Stake.UTILITY,
    statement=r"\mathrm{acc}_D(K) > \mathrm{acc}_C(K) \text{, as means or beyond } \pm",
    words="strategy D has the higher utility at every K",
    hypotheses=(), says=None, check=None,
    readings=("sbcd/table-1-utility", "sbcd/table-1-utility-significant-reading-intervals"),
    expected="AMBIGUOUS PROVED",
)
intervals = reading(
    significant, "intervals", source="001, Table 1: the intervals of the accuracies",
    statement=r"\mathrm{acc}_D(K) - \Delta_D > \mathrm{acc}_C(K) + \Delta_C \text{ for all } K",
    words="strategy D is better than C at every K by printed intervals that do not overlap", says=(10, 20, 30, 40, 50),
    check=judge_accuracy, flips=(Flip("at 20, 30 and 40", (20, 30, 40), Verdict.HOLDS),), expected="REFUTED PROVED",
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
