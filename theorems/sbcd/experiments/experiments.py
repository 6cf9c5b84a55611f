"""Section 5 of document 001: the data, the schedules and Table 1, as far as numbers can be checked without its runs."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from decimal import Decimal
from fractions import Fraction
from typing import Any

import sympy
from flint import arb, ctx

from oracle.core.enclosure import Enclosure, ball
from oracle.core.errors import DomainError
from theorems.given import Domain
from theorems.tools.printed import rounds_to
from theorems.verdict import Finding, computed, instance, proof, refuted, undecided

EPOCHS = (10, 20, 30, 40, 50)
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


def certified_losses(gradient: Fraction, noises: Callable[[int], Fraction]) -> list[arb]:
    """R/alpha up to a factor at each position in 5 batches, at K = 50 and L_T = 1, in balls."""
    square, spread, rho = ball(gradient) ** 2, arb(0), [arb(0)] * 5
    for k in range(50):
        o = ball(noises(k))
        for batch in range(5):
            moved = square * spread
            rho = [r + 1 / o if i == batch else r * (moved / (moved + o)) for i, r in enumerate(rho)]
            spread = moved + o
    return rho


def judge_model(says: tuple[Fraction, tuple[str, ...]], given: Domain) -> Finding:
    """Whether D's loss over C's at K = 50 and L_T = 1 is, position by position, what is said, for that L_F.

    As printed o_50 = 0.0075, the last epoch run being 49; with o_49 = 0.0075 the losses must be in the same order.
    """
    gradient, claimed = says
    if gradient < 0:
        raise DomainError("a Lipschitz constant is not negative")
    with ctx.workprec(100):
        steady = certified_losses(gradient, lambda k: Fraction("0.01"))
        printed, shifted = (
            [one / other for one, other in zip(certified_losses(gradient, noise), steady, strict=True)]
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
        (high, up), (low, down) = ([Fraction(v) for v in _ACCURACY[name][index]] for name in ("D", "C"))
        if high - up <= low + down:
            return refuted(
                "the intervals overlap",
                {"epochs": epochs, **{name: " ± ".join(_ACCURACY[name][index]) for name in ("D", "C")}},
            )
    return instance("disjoint intervals, as printed")


def judge_means(better: str, given: Domain) -> Finding:
    """Whether one strategy's printed mean accuracy is the larger at every K."""
    worse = "C" if better == "D" else "D"
    for epochs, one, other in zip(EPOCHS, _ACCURACY[better], _ACCURACY[worse], strict=True):
        if not Decimal(one[0]) > Decimal(other[0]):
            return refuted("the other mean is larger", {"epochs": epochs, better: one[0], worse: other[0]})
    return instance("larger at all five K, as printed; the runs themselves were not repeated")


def judge_chance(epochs: tuple[int, ...], given: Domain) -> Finding:
    """Whether both strategies' printed intervals contain chance level, 20 % for five classes, at these epochs."""
    for at in epochs:
        for name, rows in _ACCURACY.items():
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
