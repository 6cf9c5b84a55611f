r"""Section 5 of document 001: the data, the schedules and Table 1, as far as numbers can be checked without its runs.

The loss of a block with constant noise never falls as epochs are added: a run of K + 1 epochs contains, at its end, a
run of K epochs that starts with more loss and a wider law, and both the factor q V/(q V + o) and the touches respect
that order. So a column of Table 1 that falls cannot come from Theorem 4.6, whatever L_F, L_T and S_g are.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from decimal import Decimal
from fractions import Fraction

from flint import arb, ctx

from oracle.core.enclosure import Enclosure, ball
from theorems.domain import Domain
from theorems.sbcd.accounting import BlockSetting, recursion
from theorems.verdict import Finding, Scope, Verdict, argued, at_points, cited, proof, refuted, undecided

_EPOCHS = (10, 20, 30, 40, 50)
DECREASE = ("0.040556", "0.040648", "0.040688", "0.040704", "0.040708")
CONSTANT = ("0.041408", "0.040652", "0.040696", "0.040712", "0.040716")
_ACCURACY: Mapping[str, tuple[tuple[str, str], ...]] = {
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
            {"training instances": str(training), "batch size": str(batch), "batches": str(batches)},
        )
    return proof(argued(f"{training} training instances in {batches} batches of {batch}"))


def origin_unknown(_: object, given: Domain) -> Finding:
    """The data set's origin is outside the documents."""
    return cited(
        Verdict.NOT_CHECKABLE,
        "the challenge's own description is not among the documents; from memory the Madelon set of 2003 has 500 "
        "features and two classes, so 20 features and five classes point to a generator with that name's recipe",
    )


def judge_schedule(noise: Callable[[int, int], Fraction], given: Domain) -> Finding:
    """Whether the decrease strategy noise(k, K) falls by 0.0008 an epoch to 0.0075 in the last epoch that is run."""
    for epochs in _EPOCHS:
        values = [noise(k, epochs) for k in range(epochs)]
        falls = all(values[k] - values[k + 1] == Fraction("0.0008") for k in range(epochs - 1))
        if not falls or min(values) <= 0 or values[-1] != Fraction("0.0075"):
            return refuted(
                "the last epoch has another variance",
                {"K": str(epochs), "last epoch": str(epochs - 1), "o there": str(values[-1]),
                            "claimed": "0.0075"},
            )
    return proof(argued("falls by 0.0008 an epoch to 0.0075, for every K of Table 1"))


def judge_column(column: tuple[str, ...], given: Domain) -> Finding:
    """Whether losses over 10, 20, ... epochs of constant noise never fall, as Theorem 4.6's cannot."""
    for gradient in (Fraction(1, 2), Fraction(1)):
        exact = [recursion(BlockSetting((Fraction(1),) * k, 2, 1, gradient, Fraction(1))) for k in range(1, 8)]
        assert exact == sorted(exact), "the recursion is not monotone"
    for before, after, epochs in zip(column, column[1:], _EPOCHS[-len(column):], strict=False):
        if Decimal(after) < Decimal(before):
            return refuted(
                "the column falls, which constant noise cannot do",
                {"epochs": f"{epochs} and {epochs + 10}", "printed": f"{before} and {after}"},
            )
    return proof(argued(
        "never falls; a longer run ends with a shorter one that starts with more loss and a wider law"
    ))


def judge_quantum(quantum: str, given: Domain) -> Finding:
    """Whether all ten printed losses are multiples of a number."""
    for value in (*DECREASE, *CONSTANT):
        if Decimal(value) % Decimal(quantum):
            return refuted(
                "not a multiple",
                {"value": value, "quantum": quantum, "rest": str(Decimal(value) % Decimal(quantum))},
            )
    return proof(argued("all ten values are multiples"))


def judge_smaller(columns: tuple[tuple[str, ...], tuple[str, ...]], given: Domain) -> Finding:
    """Whether each entry of the first printed column is below that of the second."""
    for epochs, one, other in zip(_EPOCHS, *columns, strict=True):
        if not Decimal(one) < Decimal(other):
            return refuted("not below", {"epochs": str(epochs), "first": one, "second": other})
    return proof(argued("below at every K, as printed"))


def certified_loss(gradient: Fraction, noises: Callable[[int], Fraction]) -> Enclosure:
    """R/alpha up to a factor, summed over the positions in 5 batches, at K = 50 and L_T = 1, in balls."""
    with ctx.workprec(100):
        square, spread = ball(gradient) ** 2, arb(0)
        rho = [arb(0)] * 5
        for k in range(50):
            o = ball(noises(k))
            for batch in range(5):
                moved = square * spread
                rho = [r + 1 / o if i == batch else r * (moved / (moved + o)) for i, r in enumerate(rho)]
                spread = moved + o
        return Enclosure.of_ball(sum(rho, arb(0)))


def judge_model(gradient: Fraction, given: Domain) -> Finding:
    """Whether the recursion gives the decrease strategy less loss than constant noise at K = 50, L_T = 1."""
    decrease = certified_loss(gradient, lambda k: Fraction("0.0075") + Fraction("0.0008") * (50 - k))
    constant = certified_loss(gradient, lambda k: Fraction("0.01"))
    ratio = decrease.to_floats()[0] / constant.to_floats()[0]
    if constant.certainly_le(decrease):
        return refuted(
            "the last epochs, with less noise, cost more, certified",
            {"L_F": str(gradient), "K": "50", "D over C": f"{ratio:.4f}"},
        )
    if decrease.certainly_le(constant):
        return at_points(f"D over C is {ratio:.4f}", Scope("points", 1, 1, {"L_F": str(gradient)}))
    return undecided("the enclosures overlap", 1)


def judge_accuracy(says: tuple[int, ...], given: Domain) -> Finding:
    """Whether D's accuracy is above C's, with disjoint 95 % intervals, at these epochs."""
    for epochs in says:
        index = _EPOCHS.index(epochs)
        (high, up), (low, down) = ([Fraction(v) for v in _ACCURACY[name][index]] for name in ("D", "C"))
        if high - up <= low + down:
            return refuted(
                "the intervals overlap",
                {"epochs": str(epochs), "D": " ± ".join(_ACCURACY["D"][index]),
                            "C": " ± ".join(_ACCURACY["C"][index])},
            )
    return proof(argued("disjoint intervals, as printed"))


def judge_means(better: str, given: Domain) -> Finding:
    """Whether one strategy's printed mean accuracy is the larger at every K."""
    worse = "C" if better == "D" else "D"
    for epochs, one, other in zip(_EPOCHS, _ACCURACY[better], _ACCURACY[worse], strict=True):
        if not Decimal(one[0]) > Decimal(other[0]):
            return refuted("the other mean is larger", {"epochs": str(epochs), better: one[0], worse: other[0]})
    return proof(argued("larger at all five K, as printed; the runs themselves were not repeated"))
