"""Witnesses against Figure 1, Section 5 and Theorem 4.6 of document 001, again: plain floats and a simulation."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction

import numpy as np

from tests.theorems.witness_text import Witness


def negative_variance(start: float, slope: float) -> Callable[[Witness], bool]:
    return lambda witness: start + slope * int(witness["epoch"]) <= 1e-12


def no_such_batch(witness: Witness) -> bool:
    return int(witness["j_0"]) not in range(int(witness["n"]) // int(witness["b"]))


def another_constant(witness: Witness) -> bool:
    """How far a gradient step on x^2 theta^2 / 2 moves two points apart."""
    square, eta = float(Fraction(witness["|x|^2"])), float(Fraction(witness["eta"])) * float(Fraction(witness["gamma"]))
    return abs(abs((1.0 - eta * square * 1.0) - 0.0) - float(Fraction(witness["claimed"]))) > 1e-9


def loss_after_one_epoch(before: int) -> float:
    """R/alpha of 21 steps with the touch at one of them, by the recursion in floats."""
    rho, spread = 0.0, 0.0
    for batch in range(21):
        moved = 0.99**2 * spread
        rho = rho + 0.01 / (4e4 * 0.01) if batch == before else rho * moved / (moved + 2e-4)
        spread = moved + 2e-4
    return rho


def later_costs_more(witness: Witness) -> bool:
    first, second = (int(part) for part in witness["j_0"].split(" and "))
    return first < second and loss_after_one_epoch(second) > loss_after_one_epoch(first)


def another_last_variance(witness: Witness) -> bool:
    epochs, last = int(witness["K"]), int(witness["last epoch"])
    return last == epochs - 1 and abs(0.0075 + 0.0008 * (epochs - last) - 0.0075) > 1e-6


def falls(witness: Witness) -> bool:
    before, after = (float(part) for part in witness["printed"].split(" and "))
    return after < before


def constant_noise_never_falls(witness: Witness) -> bool:
    """The printed losses fall, and those of the recursion do not: 60 products L_F L_T, five powers, three S_g."""
    q = np.geomspace(0.001, 9.0, 60)[:, None, None]
    power = np.array([0.25, 0.5, 1.0, 2.0, 16.0])[None, :, None]
    first, second = (int(part) for part in witness["epochs"].split(" and "))
    variance, rho, found = np.zeros((60, 5, 1)), np.zeros((60, 5, 5)), {}
    for epoch in range(1, second + 1):
        for batch in range(5):
            touched = rho[..., batch] + 1.0
            rho = rho * (q * variance / (q * variance + 0.01)) ** power
            rho[..., batch] = touched
            variance = q * variance + 0.01
        found[epoch] = rho
    grown = [bool((found[second] >= found[first]).all())]
    for scale in (0.001, 0.01, 0.1):
        late, early = (np.log(np.exp(99 * scale * found[k]).mean(axis=-1)) for k in (second, first))
        grown.append(bool((late >= early - 1e-12).all()))
    return falls(witness) and all(grown)


def strategies_differ(witness: Witness) -> bool:
    """The recursion at one position in floats: more than 3 % between the strategies."""
    gradient, epochs, position = float(Fraction(witness["L_F"])), int(witness["K"]), int(witness["j_0"])
    losses = []
    for noises in ([0.0075 + 0.0008 * (epochs - k) for k in range(epochs)], [0.01] * epochs):
        rho, spread = 0.0, 0.0
        for step in range(5 * epochs):
            o, moved = noises[step // 5], gradient**2 * spread
            rho = rho + 1 / o if step % 5 == position else rho * moved / (moved + o)
            spread = moved + o
        losses.append(rho)
    return abs(losses[0] / losses[1] - 1) > 0.03


def overlap(witness: Witness) -> bool:
    (high, up), (low, down) = ([float(part) for part in witness[name].split(" ± ")] for name in ("D", "C"))
    return high - up <= low + down


def simulated_block(label: float, clip: float, noise: float, amplifier: float, records: int) -> np.ndarray:
    """20,000 runs of Algorithm 2 with one hidden unit: x and U solved for numerically, gradients clipped, seed fixed.

    For a record (x_0, y): U = theta_0 x_0 stays what it is where x_1 = U would fit, else x_1 and U are found by
    alternating their exact updates; only block 1 is of interest, and block 0 does not move for these records.
    """
    generator = np.random.default_rng(5)
    theta = np.zeros(20_000)
    for step in range(records):
        inputs, y = (1.0, label) if step == 0 else (0.0, amplifier)
        u = np.full_like(theta, inputs)  # theta_0 = 1
        x = (theta * y + np.maximum(0, u)) / (1 + theta**2)
        gradient = (theta * x - y) * x
        theta = theta - np.clip(gradient, -clip, clip) + np.sqrt(2 * noise) * generator.normal(size=theta.size)
    return theta


def last_iterate_tells_more(witness: Witness) -> bool:
    """The test theta_1 > 0: its rates, with errors below 5 standard deviations (probability 1e-6), exceed the claim."""
    clip, noise, amplifier = (float(Fraction(witness[key])) for key in ("C", "o", "y"))
    runs = [simulated_block(s * clip, clip, noise, amplifier, int(witness["records"])) for s in (1, -1)]
    hit, alarm = ((theta > 0).mean() for theta in runs)
    spread = 5 * np.sqrt(alarm * (1 - alarm) / runs[0].size)
    claimed = float(witness["claimed epsilon"].strip("[]").split(",")[1])
    return bool(np.log((hit - spread - 1e-5) / (alarm + spread)) > claimed)


WITNESSES: dict[str, Callable[[Witness], bool]] = {
    "sbcd/fig-1a-noise": negative_variance(0.01, -0.003),
    "sbcd/fig-1b-decay": negative_variance(0.001, -0.0003),
    "sbcd/fig-1-j0": no_such_batch,
    "sbcd/fig-1-rho-reading-weights": another_constant,
    "sbcd/fig-1a-j0-claim-reading-epochs": later_costs_more,
    "sbcd/decrease-schedule-reading-from-0": another_last_variance,
    "sbcd/table-1-C10": falls,
    "sbcd/same-loss-by-theorem-reading-any": strategies_differ,
    "sbcd/table-1-privacy": constant_noise_never_falls,
    "sbcd/table-1-utility-significant-reading-intervals": overlap,
    "sbcd/thm-4.6-algorithm-2": last_iterate_tells_more,
    "sbcd/nonconvex-first": last_iterate_tells_more,
}

NOT_WITNESSES: dict[str, Witness] = {
    "sbcd/fig-1a-noise": {"epoch": "3"},
    "sbcd/fig-1b-decay": {"epoch": "3"},
    "sbcd/fig-1-j0": {"j_0": "20", "n": "2100", "b": "100"},
    "sbcd/fig-1-rho-reading-weights": {"|x|^2": "1", "eta": "1/100", "gamma": "1", "claimed": "99/100"},
    "sbcd/fig-1a-j0-claim-reading-epochs": {"j_0": "15 and 0"},
    "sbcd/table-1-C10": {"printed": "0.040652 and 0.040696"},
    "sbcd/same-loss-by-theorem-reading-any": {"L_F": "493/500", "K": "50", "j_0": "0"},
    "sbcd/table-1-privacy": {"printed": "0.028784 and 0.040020", "epochs": "10 and 20"},
    "sbcd/table-1-utility-significant-reading-intervals": {"D": "92.10 ± 2.20", "C": "53.35 ± 17.68"},
    "sbcd/thm-4.6-algorithm-2": {"C": "3/100", "o": "1/20000", "records": "100", "y": "14/5",
                                 "claimed epsilon": "[8, 8.1]"},
}
