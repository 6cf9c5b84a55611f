r"""Counts and conventions of document 001: its layers, its trainings, and what the plus-minus of Table 1 stands for.

The text says average and standard deviation of 5 runs, the caption 95 % interval: the same numbers cannot be both. For
5 runs the mean plus-minus t s/sqrt(5) covers with the probability 2 F(t) - 1 of Student's law, 4 degrees of freedom:
2 F(t) - 1 = (3/4) u (1 - t^2/(12 (1 + t^2/4))) with u = t/sqrt(1 + t^2/4). One standard deviation s is t^2 = 5.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable
from decimal import Decimal
from fractions import Fraction
from typing import Any

import sympy
from flint import arb, ctx

from oracle.core.domain import positive_integer
from oracle.core.enclosure import Enclosure, ball
from theorems.claim import Claim, Flip, Repair, Stake, Whose, citing
from theorems.given import Domain
from theorems.sbcd.experiments.experiments import ACCURACY, CONSTANT, DECREASE, EPOCHS
from theorems.tools.printed import rounds_to
from theorems.tools.readings import reading
from theorems.verdict import Finding, Verdict, computed, instance, proof, refuted, undecided


def coverage(squared: Any, root: Callable[[Any], Any]) -> Any:
    """The probability that the mean of 5 runs is off by at most t standard errors, from t^2."""
    u = root(squared / (1 + squared / 4))
    return 3 * u * (1 - squared / (12 * (1 + squared / 4))) / 4


def is_of_student() -> bool:
    """Whether `coverage` is 0 at 0, has twice the density of Student's law with 4 degrees of freedom, and ends at 1."""
    t = sympy.Symbol("t", positive=True)
    density = sympy.gamma(sympy.Rational(5, 2)) / sympy.sqrt(4 * sympy.pi) * (1 + t**2 / 4) ** sympy.Rational(-5, 2)
    form = coverage(t**2, sympy.sqrt)
    slope = sympy.simplify(sympy.diff(form, t) / density)
    return bool(slope == 2 and sympy.limit(form, t, 0) == 0 and sympy.limit(form, t, sympy.oo) == 1)


def judge_interval(squared: Fraction, given: Domain) -> Finding:
    """Whether plus-minus t s/sqrt(5), t^2 given, is a 95 % interval of 5 normal runs, t rounded to three decimals."""
    if not is_of_student():
        return undecided("the closed form is not that of Student's law", 1)
    with ctx.workprec(100):
        t = ball(squared).sqrt()
        least, found, most = (
            Enclosure.of_ball(coverage((t + side * ball(Fraction(1, 2000))) ** 2, arb.sqrt)) for side in (-1, 0, 1)
        )
    level = Fraction(95, 100)
    if not least.certainly_le(level) or most.possibly_le(level):
        return refuted(
            "it covers with another probability, certified", {"runs": 5, "t squared": squared, "coverage": found}
        )
    return instance(f"it covers with probability {found.to_floats()[0]:.5f}")


def judge_trainings(says: tuple[tuple[int, ...], int, int], given: Domain) -> Finding:
    """Whether values of K, strategies and repetitions make 50 trainings, K from 10 to 50."""
    epochs, strategies, repetitions = says
    trainings = len(epochs) * strategies * repetitions
    if trainings != 50 or min(epochs) != 10 or max(epochs) != 50:
        return refuted(
            "another number of trainings",
            {"values of K": f"{min(epochs)} to {max(epochs)}, {len(epochs)} of them", "strategies": strategies,
             "repetitions": repetitions, "trainings": trainings},
        )
    return instance(f"{len(epochs)} times {strategies} times {repetitions}")


def judge_same(differences: tuple[str, ...], given: Domain) -> Finding:
    """Whether the printed losses differ at every K by that many per cent, 3 at most."""
    for epochs, one, other, claimed in zip(EPOCHS, DECREASE, CONSTANT, differences, strict=True):
        percent = 100 * abs(Fraction(Decimal(one)) / Fraction(Decimal(other)) - 1)
        if not rounds_to(Enclosure.of_ball(ball(percent)), claimed) or percent > 3:
            told = {"epochs": epochs, "D": one, "C": other, "per cent": f"{float(percent):.4f}"}
            return refuted("farther apart", told)
    return instance(f"{', '.join(differences)} per cent apart, as printed")


def judge_layers(matrices: Callable[[Any], Any], given: Domain) -> Finding:
    """Whether (1), theta = {theta_d} for d = 0..D, has matrices(D) weight matrices."""
    return _counted(matrices, given, "theta", 0)


def judge_hidden(updated: Callable[[Any], Any], given: Domain) -> Finding:
    """Whether (4), with U_d for d = 0..D-1, has the updated(D) variables U_d that the loop over layers updates."""
    return _counted(updated, given, "U", 1)


def _counted(count: Callable[[Any], Any], given: Domain, letter: str, less: int) -> Finding:
    """Whether the indices 0 to D - less are count(D)."""
    tried = given.values("D")
    for depth in tried:
        names = [f"{letter}_{d}" for d in range(depth + 1 - less)]
        if count(depth) != len(names):
            return refuted(
                "there are not as many", {"D": depth, "claimed": count(depth), letter: ", ".join(names)}
            )
    depth_, index = given.symbol("D"), sympy.Symbol("d", integer=True)
    counted = sympy.summation(1, (index, 0, depth_ - less))
    return proof(computed("the sum of 1 over the indices, for the symbol D", sympy.expand(
        count(depth_) - counted) == 0), tried=len(tried))


def judge_widths(widths: tuple[int, ...], given: Domain) -> Finding:
    """Whether layers of these widths are four of 200 neurons, and one number comes out for each of five classes."""
    if widths.count(200) != 4 or widths[-1] != 5:
        return refuted("not four layers of 200 neurons and five classes", {
            "widths": ", ".join(map(str, widths)), "of 200": widths.count(200), "outputs": widths[-1], "classes": 5,
        })
    return instance(f"{len(widths)} weight matrices, the last with an output for each of five classes")


def judge_polygons(better: str, given: Domain) -> Finding:
    """Whether one strategy's polygon through the printed (loss, accuracy) lies above the other's where both exist.

    Polygons of straight lines: it is decided at their corners.
    """
    corners = {
        name: sorted((Fraction(loss), Fraction(mean)) for loss, (mean, _) in zip(column, ACCURACY[name], strict=True))
        for name, column in (("D", DECREASE), ("C", CONSTANT))
    }

    def height(name: str, at: Fraction) -> Fraction | None:
        for (left, low), (right, high) in itertools.pairwise(corners[name]):
            if left <= at <= right:
                return low + (high - low) * (at - left) / (right - left)
        return None

    worse, compared = "C" if better == "D" else "D", 0
    for loss, _ in (*corners["D"], *corners["C"]):
        above, below = height(better, loss), height(worse, loss)
        if above is not None and below is not None:
            compared += 1
            if above <= below:
                return refuted("it does not lie above there", {"loss": loss, better: above, worse: below})
    return instance(f"above at the {compared} of 10 corners at which both polygons exist") if compared else undecided(
        "nothing to compare", 1)


_SPREAD = "Table 1: The accuracy(in % under 95% confidential interval) and the privacy loss of Algorithm 2"
_TRAIN = (
    "we train the model 50 times where the total number of epochs K varies from 10 to 50. We run the whole "
    "experiment 5 times and report both the average performance and the standard deviation."
)
_LAYERS = (
    r"We consider learning an D -layer neural network parameterized by $\boldsymbol{\theta} "
    r"\stackrel{\text{def}}{=} \{\theta_d\}_{d=0}^D$"
)
_DEPTH = (positive_integer("D"),)

spread = Claim(
    id="sbcd/table-1-spread",
    source="001, Section 5 (average and standard deviation of 5 runs) and the caption of Table 1 (95 % interval)",
    quote=_SPREAD,
    whose=Whose.PRINTED,
    statement=r"\pm \text{ is an interval of 95 per cent}",
    words="the plus-minus of Table 1 is a 95 % interval of 5 runs' mean",
    hypotheses=(), says=None, check=None,
    readings=("sbcd/table-1-spread-reading-deviation", "sbcd/table-1-spread-repaired"),
    expected="AMBIGUOUS PROVED",
)
spread_deviation = reading(
    spread, "deviation", source="001, Table 1: the standard deviation, as the text says",
    statement=r"P(|\bar x - \mu| \le s) = 0.95 \text{ for 5 normal runs}",
    words="one standard deviation of 5 normal runs to both sides of their mean is a 95 % interval", says=Fraction(5),
    check=judge_interval, flips=(Flip("2.776 standard errors", Fraction("2.776") ** 2, Verdict.HOLDS),),
    expected="REFUTED PROVED",
)
spread_repaired = Claim(
    id="sbcd/table-1-spread-repaired", source="001, Table 1: a 95 % interval of 5 runs, as the caption says",
    statement=r"P(|\bar x - \mu| \le 2.776\,s/\sqrt5) = 0.95",
    words="a 95 % interval of 5 normal runs is 2.776 (three decimals) standard errors, 1.24 deviations, to both sides",
    hypotheses=(), says=Fraction("2.776") ** 2, check=judge_interval,
    flips=(
        Flip("1.96 standard errors", Fraction("1.96") ** 2, Verdict.REFUTED),
        Flip("2.777 standard errors", Fraction("2.777") ** 2, Verdict.REFUTED),
    ),
    expected="HOLDS PROVED",
)
trainings = Claim(
    id="sbcd/train-50-times", source="001, Section 5: the model is trained 50 times, K varying from 10 to 50",
    quote=_TRAIN,
    whose=Whose.PRINTED,
    statement=r"50 \text{ trainings},\ 10 \le K \le 50", words="the values of K from 10 to 50 make 50 trainings",
    hypotheses=(), says=None, check=None,
    readings=("sbcd/train-50-times-reading-each-K", "sbcd/train-50-times-repaired"),
    expected="AMBIGUOUS PROVED",
)
trainings_each = reading(
    trainings, "each-K", source="001, Section 5, one training for each K", statement=r"\#\{10, 11, \dots, 50\} = 50",
    words="one training for each K from 10 to 50 makes 50 trainings", says=(tuple(range(10, 51)), 1, 1),
    check=judge_trainings, flips=(Flip("five K, two strategies, five runs", (EPOCHS, 2, 5), Verdict.HOLDS),),
    expected="REFUTED PROVED",
)
trainings_repaired = reading(
    trainings, "repaired",
    source="001, Section 5 with Table 1, a guess (then the 5 runs of the whole experiment are counted among the 50)",
    statement=r"5 \cdot 2 \cdot 5 = 50",
    words="the five K of Table 1, two strategies and five repetitions make 50 trainings", says=(EPOCHS, 2, 5),
    check=judge_trainings, flips=(Flip("one strategy", (EPOCHS, 1, 5), Verdict.REFUTED),),
    true_variants={"[[]0[]] [[][123][]] one more": "other values of K between 10 and 50 are as many"},
    expected="HOLDS PROVED",
)
same = Claim(
    id="sbcd/table-1-same-loss",
    source="001, Section 5: the privacy loss of both strategies is approximately the same for the same K (as printed; "
           "the 3 % are ours, and what Theorem 4.6 gives depends on L_F, which is not printed: table-1-D-le-C-model)",
    quote=(
        "The decrease strategy is designed in a manner so that the privacy loss of both strategies will be "
        "approximately the same for the same number of epochs K ."
    ),
    whose=Whose.READING,
    severity=Stake.UTILITY,
    statement=r"|\varepsilon_D(K) - \varepsilon_C(K)|/\varepsilon_C(K) = 2.06, 0.01, 0.02, 0.02, 0.02\ \%",
    words="the printed losses of both strategies differ by 2.06, 0.01, 0.02, 0.02 and 0.02 % of C's, 3 % at most",
    hypotheses=(), says=("2.06", "0.01", "0.02", "0.02", "0.02"), check=judge_same,
    flips=(Flip("0.1 % at 10 epochs", ("0.10", "0.01", "0.02", "0.02", "0.02"), Verdict.REFUTED),),
    expected="HOLDS PROVED",
)
layers = Claim(
    id="sbcd/eq-1-layers", source="001, (1): a D-layer neural network, the composition of D layers, theta_0 to theta_D",
    quote=_LAYERS,
    whose=Whose.PRINTED,
    statement=r"\text{a } D \text{-layer network } \{\theta_d\}_{d=0}^{D}",
    words="the D-layer network of (1) has one weight matrix a layer",
    hypotheses=_DEPTH, says=None, check=None,
    readings=("sbcd/eq-1-layers-reading-matrices", "sbcd/eq-1-layers-repaired"),
    expected="AMBIGUOUS PROVED",
)
layers_matrices = reading(
    layers, "matrices", source="001, (1), a layer being a weight matrix", statement=r"\#\{\theta_d\}_{d=0}^{D} = D",
    words="the D-layer network of (1) has D weight matrices", says=lambda depth: depth, check=judge_layers,
    flips=(Flip("one more", lambda depth: depth + 1, Verdict.HOLDS),), expected="REFUTED PROVED",
)
layers_repaired = reading(
    layers, "repaired", source="001, (1), D hidden layers and theta_D that belongs to the loss",
    statement=r"\#\{\theta_d\}_{d=0}^{D} = D + 1",
    words="the network of (1) has D + 1 weight matrices, so a block's loss is summed D + 1 times",
    says=lambda depth: depth + 1, check=judge_layers,
    flips=(Flip("two more", lambda depth: depth + 2, Verdict.REFUTED),), expected="HOLDS PROVED",
)
hidden = Claim(
    id="sbcd/alg-U-D", source="001, Algorithms 1 and 2: U_d is updated for every layer d = 0, ..., D",
    quote=r"for layer $d = 0, 1, \dots, D$ **do** Update $\theta_d, \mathbf{U}_d, \mathbf{x}_d$ simultaneously",
    whose=Whose.TYPO,
    statement=r"\#\{\mathbf{U}_d \text{ of (4)}\} = D + 1",
    words="(4) has the D + 1 variables U_0 to U_D that the algorithms update",
    hypotheses=_DEPTH, says=lambda depth: depth + 1, check=judge_hidden,
    expected="REFUTED PROVED",
    repair=Repair(
        statement=r"\#\{\mathbf{U}_d \text{ of (4)}\} = D",
        words="(4) has the D variables U_0 to U_{D-1}: there is no U_D to update",
        says=lambda depth: depth,
        expected="HOLDS PROVED",
    ),
)
perceptron = Claim(
    id="sbcd/four-layers", source="001, Section 5, with five classes",
    quote="We employ a multilayer perceptron (MLP) model with four layers, each of which has 200 neurons.",
    whose=Whose.PRINTED,
    statement=r"4 \text{ layers of } 200 \text{ neurons and } 5 \text{ classes}",
    words="four layers of 200 neurons: hidden ones, five matrices with the output, or all there are",
    hypotheses=(), says=None, check=None,
    readings=("sbcd/four-layers-reading-hidden", "sbcd/four-layers-reading-all"),
    expected="AMBIGUOUS PROVED",
)
perceptron_hidden = reading(
    perceptron, "hidden", source="001, Section 5, four hidden layers",
    statement=r"(\theta_0, \dots, \theta_4) \text{ with } 200, 200, 200, 200, 5 \text{ outputs}",
    words="four hidden layers of 200 and an output of five make five weight matrices, so five losses to be summed",
    says=(200, 200, 200, 200, 5), check=judge_widths, expected="HOLDS PROVED",
    flips=(Flip("an output more", (200, 200, 200, 200, 6), Verdict.REFUTED),),
)
perceptron_all = reading(
    perceptron, "all", source="001, Section 5, four weight matrices (as the multiples of 4e-6 in Table 1 suggest)",
    statement=r"(\theta_0, \dots, \theta_3) \text{ with } 200, 200, 200, 200 \text{ outputs}",
    words="four weight matrices of 200 neurons each tell five classes",
    says=(200,) * 4, check=judge_widths, flips=(Flip("and an output", (200,) * 4 + (5,), Verdict.HOLDS),),
    repaired_by="sbcd/four-layers-reading-hidden", expected="REFUTED PROVED",
)
polygons = Claim(
    id="sbcd/fig-2-by-table", source="001, Section 5 on Figure 2, by the ten points that Table 1 prints",
    quote="In Figure 2, we see the curve of adaptive calibrated noise above one of its counterparts in most cases.",
    whose=Whose.READING, severity=Stake.UTILITY,
    statement=r"\mathrm{acc}_D(\varepsilon) > \mathrm{acc}_C(\varepsilon),\ 0.040652 \le \varepsilon \le 0.040708"
              r" \text{ (polygons through Table 1)}",
    words="D's polygon through Table 1's losses and accuracies lies above C's wherever both exist",
    hypotheses=(), says="D", check=judge_polygons, flips=(Flip("C's above", "C", Verdict.REFUTED),),
    expected="HOLDS PROVED",
)
figure_2 = Claim(
    id="sbcd/fig-2", source="001, Section 5 on Figure 2: the curve of adaptive noise is above in most cases",
    quote=(
        "In Figure 2, we see the curve of adaptive calibrated noise above one of its counterparts in most cases."
    ),
    whose=Whose.PRINTED,
    severity=Stake.UTILITY,
    statement=r"\mathrm{acc}_D(\varepsilon) > \mathrm{acc}_C(\varepsilon) \text{ for most } \varepsilon",
    words="in Figure 2 the curve of adaptive noise lies above that of constant noise in most cases",
    hypotheses=(), says=None, check=citing(
        Verdict.NOT_CHECKABLE,
        "the figure's points are not in the text, and neither the code nor the data set is: what Table 1 prints of "
        "them is checked in fig-2-by-table",
    ),
    expected="NOT_CHECKABLE CITED",
)
