"""Witnesses against what document 001 says in passing, again: sums over steps in floats, sampling, quadrature."""

from __future__ import annotations

import ast
import re
from collections.abc import Callable
from fractions import Fraction

import numpy as np
from scipy import integrate, stats

from tests.theorems.witness_text import Witness, number


def shares(noise: list[float], batches: int, before: int, gradient: float) -> np.ndarray:
    """What each epoch's touch is worth at the end: variances as explicit sums, factors multiplied step by step."""
    per_step = np.repeat(noise, batches)
    steps = len(per_step)
    variance = [
        sum(per_step[i] * gradient ** (2 * (step - 1 - i)) for i in range(step)) for step in range(steps + 1)
    ]
    found = []
    for touch in range(before, steps, batches):
        kept = 1 / (8 * per_step[touch])
        for step in range(touch + 1, steps):
            if step % batches != before:
                kept *= gradient**2 * variance[step] / variance[step + 1]
        found.append(kept)
    return np.array(found)


def not_in_one_batch(witness: Witness) -> bool:
    """The epoch can be sampled (every batch has b of the n records), and record 0 is not in exactly one batch."""
    n, b, epoch = int(witness["n"]), int(witness["b"]), ast.literal_eval(witness["epoch"])
    possible = len(epoch) == n // b and all(len(set(batch)) == b and set(batch) <= set(range(n)) for batch in epoch)
    return possible and sum(0 in batch for batch in epoch) != 1


def not_inverse(witness: Witness) -> bool:
    noise = [float(Fraction(word)) for word in witness["noise"].split(",")]
    epoch, factor = int(witness["epoch"]), int(witness["times"])
    changed = [o * factor if k == epoch else o for k, o in enumerate(noise)]
    before, after = (
        shares(values, int(witness["batches"]), int(witness["j_0"]), number(witness, "q") ** 0.5)[epoch]
        for values in (noise, changed)
    )
    return bool(abs(before - factor * after) > 1e-6 * before)


def earlier_epochs_matter(witness: Witness) -> bool:
    epochs, batches, before = (int(witness[key]) for key in ("epochs", "batches", "j_0"))
    found = shares([0.01] * epochs, batches, before, number(witness, "L_F"))
    return bool(found[-5:].sum() < 0.5 * found.sum())


def stays_bounded(witness: Witness) -> bool:
    """The noise falls at every epoch, and 100 epochs lose hardly more than 60, below the bound."""
    limit = float(Fraction(witness["noise"].split()[0]))
    noise = [limit + 0.5**k for k in range(100)]
    losses = [
        shares(noise[:epochs], int(witness["batches"]), int(witness["j_0"]), number(witness, "L_F")).sum()
        for epochs in (60, 100)
    ]
    return bool(limit > 0 and losses[1] < 1.01 * losses[0] and 8 * losses[1] < number(witness, "never above"))


def smoother_loses_more(witness: Witness) -> bool:
    """L_F measured as how far a gradient step on h theta^2/2 takes 0 and 1 apart."""
    small, large = (float(Fraction(word)) for word in witness["h"].split(" and "))
    batches, epochs = int(witness["batches"]), int(witness["epochs"])
    losses = [
        shares([1.0] * epochs, batches, batches - 1, abs(1.0 - number(witness, "eta") * h)).sum()
        for h in (small, large)
    ]
    return bool(small < large and losses[1] < losses[0])


def no_less_than_composition(witness: Witness) -> bool:
    """The touches of all epochs added up are no more than the block loses."""
    noise = [number(witness, "noise")] * int(witness["epochs"])
    batches, before = int(witness["batches"]), int(witness["j_0"])
    lost = shares(noise, batches, before, number(witness, "q") ** 0.5).sum()
    return bool(lost > number(witness, "claimed share") * sum(1 / (8 * o) for o in noise))


def steeper_somewhere(witness: Witness) -> bool:
    """The rise of log10 of the contributions at that epoch, in floats, is none of 0.17 to 0.22."""
    slope = {"constant": 0.0, "adaptive": -0.0003}[witness["noise"]]
    found = shares([0.01 + slope * k for k in range(30)], 21, int(witness["j_0"]), 0.99)
    epoch = int(witness["epoch"])
    return bool(not 0.165 <= np.log10(found[epoch + 1] / found[epoch]) <= 0.225)


def hardly_forgotten(witness: Witness) -> bool:
    """The first touch after K epochs, in floats, against C r^K."""
    epochs = int(witness["K"])
    kept = 8 * shares([1.0] * epochs, int(witness["batches"]), int(witness["j_0"]), 1.0)[0]
    return bool(kept > number(witness, "C") * number(witness, "r") ** epochs)


def gradient_stays(witness: Witness) -> bool:
    """The mean square of theta under steps on h theta^2/2 from 0 grows, so its limit is above 0, what is claimed."""
    square, rate = 0.0, number(witness, "rate")
    for _ in range(1000):
        square = (1 - rate) ** 2 * square + 2 * number(witness, "noise")
    return bool(number(witness, "curvature") ** 2 * square > number(witness, "claimed"))


def not_a_95_interval(witness: Witness) -> bool:
    """Student's density, integrated."""
    width, freedom = number(witness, "t squared") ** 0.5, int(witness["runs"]) - 1
    covered = integrate.quad(lambda x: stats.t.pdf(x, freedom), -width, width)[0]
    return bool(round(covered, 2) != 0.95)


def not_fifty(witness: Witness) -> bool:
    first, last = (int(word) for word in re.findall(r"\d+", witness["values of K"])[:2])
    return sum(1 for _ in range(first, last + 1)) * int(witness["strategies"]) * int(witness["repetitions"]) != 50


def one_matrix_more(witness: Witness) -> bool:
    return len(set(witness["theta"].split(", "))) == int(witness["D"]) + 1 != int(witness["claimed"])


WITNESSES: dict[str, Callable[[Witness], bool]] = {
    "sbcd/one-batch-per-epoch-reading-sampled": not_in_one_batch,
    "sbcd/contribution-inverse-reading-own-epoch": not_inverse,
    "sbcd/last-epochs-reading-convex": earlier_epochs_matter,
    "sbcd/decrease-diverges-reading-every-noise": stays_bounded,
    "sbcd/noise-vs-smoothness-reading-two-losses": smoother_loses_more,
    "sbcd/smaller-than-composition-reading-every-setting": no_less_than_composition,
    "sbcd/fig-1a-linear-reading-all": steeper_somewhere,
    "sbcd/decay-exponential-reading-convex": hardly_forgotten,
    "sbcd/gradient-diminishes-reading-noise": gradient_stays,
    "sbcd/table-1-spread-reading-deviation": not_a_95_interval,
    "sbcd/train-50-times-reading-each-K": not_fifty,
    "sbcd/eq-1-layers-reading-matrices": one_matrix_more,
}
NOT_WITNESSES: dict[str, Witness] = {
    "sbcd/one-batch-per-epoch-reading-sampled": {"n": "2", "b": "1", "epoch": "[[0], [1]]"},
    "sbcd/contribution-inverse-reading-own-epoch": {
        "noise": "1", "times": "2", "epoch": "0", "batches": "2", "j_0": "1", "q": "81/100",
    },
    "sbcd/last-epochs-reading-convex": {"L_F": "99/100", "j_0": "0", "epochs": "30", "batches": "21"},
    "sbcd/decrease-diverges-reading-every-noise": {
        "noise": "0 + 2^-k", "L_F": "9/10", "batches": "2", "j_0": "1", "never above": "800",
    },
    "sbcd/noise-vs-smoothness-reading-two-losses": {"h": "1 and 2", "eta": "1", "batches": "2", "epochs": "2"},
    "sbcd/smaller-than-composition-reading-every-setting": {
        "noise": "1", "q": "1", "batches": "2", "epochs": "2", "j_0": "0", "claimed share": "99/100",
    },
    "sbcd/fig-1a-linear-reading-all": {"noise": "constant", "j_0": "0", "epoch": "20"},
    "sbcd/decay-exponential-reading-convex": {"K": "10", "batches": "2", "j_0": "0", "C": "10", "r": "9/10"},
    "sbcd/gradient-diminishes-reading-noise": {"rate": "1/2", "noise": "0", "curvature": "1", "claimed": "0"},
    "sbcd/table-1-spread-reading-deviation": {"runs": "5", "t squared": "7.71"},
    "sbcd/train-50-times-reading-each-K": {"values of K": "1 to 50, 50 of them", "strategies": "1", "repetitions": "1"},
}
