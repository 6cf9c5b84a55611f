"""Witnesses against document 000's Sections 5 and 6, Appendices F, H and J, again: series, integrals, enumeration."""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction

import mpmath
import numpy as np

from tests.theorems.witness_text import Witness

ACCURACIES = {  # typed again from Tables 1 and 2: NoisyCGD convex, DP-SGD convex, DP-SGD ReLU
    ("MNIST", "2.88"): (927, 929, 916), ("MNIST", "8.91"): (944, 949, 944),
    ("CIFAR-10", "2.88"): (416, 417, 427), ("CIFAR-10", "8.91"): (455, 459, 471),
}
GRIDS = {"MNIST": {64, 128, 256}, "FashionMNIST": {64, 128, 256}, "CIFAR-10": {16, 32, 64}}


def rational(text: str) -> mpmath.mpf:
    return mpmath.mpf(Fraction(text).numerator) / Fraction(text).denominator


def gaussian_delta(mu: mpmath.mpf, epsilon: mpmath.mpf) -> mpmath.mpf:
    return mpmath.ncdf(mu / 2 - epsilon / mu) - mpmath.exp(epsilon) * mpmath.ncdf(-mu / 2 - epsilon / mu)


def tuned(witness: Witness) -> bool:
    """The event "no run below s, and one beyond y", its probabilities summed over K run by run."""
    with mpmath.workdps(40):
        mu, s, y, printed = (rational(witness[key]) for key in ("mu", "threshold", "y", "printed"))
        base, mean = mpmath.mpf(witness["base"].strip("()").split(",")[0]), int(witness["m"])

        def event(shift: mpmath.mpf) -> mpmath.mpf:
            above, between = 1 - mpmath.ncdf(s - shift), mpmath.ncdf(y - shift) - mpmath.ncdf(s - shift)
            return mpmath.nsum(
                lambda k: mpmath.exp(-mean) * mpmath.mpf(mean) ** k / mpmath.factorial(k) * (above**k - between**k),
                [0, 200], method="d",
            )

        private = gaussian_delta(mu, base) <= mpmath.mpf("1.0000001e-5")
        return bool(private and event(mu) > mpmath.exp(printed) * event(mpmath.mpf(0)) + mpmath.mpf("1e-5"))


def tuned_bit(witness: Witness) -> bool:
    """The best of K runs with one bit each, summed over K, against (epsilon_hat, m delta(epsilon_hat))."""
    with mpmath.workdps(30):
        laws = [[rational(p) for p in witness[key].strip("()").split(",")] for key in ("Q (best level first)", "Q'")]
        mean, growth, rest = int(witness["m"]), rational(witness["e^epsilon_1"]), rational(witness["e^epsilon_hat"])

        def best(law: list[mpmath.mpf]) -> list[mpmath.mpf]:
            weights = [mpmath.exp(-mean) * mpmath.mpf(mean) ** k / mpmath.factorial(k) for k in range(60)]
            top = mpmath.fsum(w * (1 - law[1] ** k) for k, w in enumerate(weights))
            return [top, mpmath.fsum(w * law[1] ** k for k, w in enumerate(weights) if k), weights[0]]

        def stick(p: list[mpmath.mpf], q: list[mpmath.mpf], a: mpmath.mpf) -> mpmath.mpf:
            return mpmath.fsum(max(0, x - a * z) for x, z in zip(p, q, strict=True))

        base = max(stick(*laws, growth), stick(*laws[::-1], growth))
        left = max(stick(*laws, rest), stick(*laws[::-1], rest))
        true = stick(best(laws[0]), best(laws[1]), rest)
        known = abs(base - rational(witness["delta(epsilon_1)"])) < 1e-20
        return bool(known and true > mean * left + mpmath.mpf("1e-9"))


def winner_tells(witness: Witness) -> bool:
    """Two models by a coin, the record names the better one: the first wins unless no run has it, summed over K."""
    with mpmath.workdps(30):
        mean, growth = int(witness["m"]), mpmath.exp(rational(witness["epsilon"]))
        weights = [mpmath.exp(-mean) * mpmath.mpf(mean) ** k / mpmath.factorial(k) for k in range(200)]
        named = mpmath.fsum(w * (1 - mpmath.mpf(2) ** -k) for k, w in enumerate(weights))
        other = mpmath.fsum(w * mpmath.mpf(2) ** -k for k, w in enumerate(weights) if k)
        return bool(named > growth * other + mpmath.mpf("1e-9"))  # a base whose coin ignores the record has delta = 0


def two_left(witness: Witness) -> bool:
    """Equation (2.2) clips to C, which Section 6 does not give; the width or the number of hyperplanes is left, too."""
    return {"C"} < set(witness["left"].split(", ")) <= {"C", "W", "P"}


def clones(batches: int, local: float, epsilon: float) -> float:
    """The divergence of the two laws of the numbers of clones, over all outcomes."""
    keep, right = math.exp(-local), 1 / (1 + math.exp(-local))
    logs = np.concatenate([[0.0], np.cumsum(np.log(np.arange(1, batches + 1)))])
    total = 0.0
    for c in range(batches):
        log_weight = logs[batches - 1] - logs[c] - logs[batches - 1 - c] - local * c
        log_weight += (batches - 1 - c) * math.log1p(-keep)
        if log_weight < -60:
            continue
        half = np.exp(logs[c] - logs[: c + 1] - logs[: c + 1][::-1] - c * math.log(2))
        one = right * np.append(0, half) + (1 - right) * np.append(half, 0)
        other = right * np.append(half, 0) + (1 - right) * np.append(0, half)
        total += math.exp(log_weight) * float(np.maximum(0, one - math.exp(epsilon) * other).sum())
    return total


def amplified(witness: Witness) -> bool:
    """Enumerated clones plus the correction stay below delta at the epsilon of the witness."""
    batches, local = int(witness["batches"]), float(Fraction(witness["epsilon0"]))
    epsilon, delta = float(Fraction(witness["epsilon by shuffling"])), float(witness["delta"])
    mu = mpmath.mpf(witness["sensitivity"]) / mpmath.mpf(witness["sigma"])
    local_delta = float(gaussian_delta(mu, mpmath.mpf(local)))
    correction = (math.exp(epsilon) + 1) * (1 + math.exp(-local) / 2) * batches * local_delta
    return clones(batches, local, epsilon) + correction <= delta


def amplified_below_gaussian(witness: Witness) -> bool:
    """For sensitivity 1 and 2 the Gaussian has a larger delta at the epsilon that shuffling reaches."""
    for sensitivity in ("1", "2"):
        one = {key.removesuffix(f", sensitivity {sensitivity}"): value for key, value in witness.items()}
        one["sensitivity"] = sensitivity
        mu = mpmath.mpf(sensitivity) / mpmath.mpf(one["sigma"])
        plain = gaussian_delta(mu, rational(one["epsilon by shuffling"])) > mpmath.mpf(one["delta"])
        if not (plain and amplified(one)):
            return False
    return True


def unamplified_is_better(witness: Witness) -> bool:
    """At the Gaussian's own epsilon the shuffling bound is above delta on a grid of epsilon0, clones enumerated."""
    batches, delta = int(witness["batches"]), float(witness["delta"])
    for sensitivity in (1, 2):
        mu = mpmath.mpf(sensitivity) / mpmath.mpf(witness["sigma"])
        low, high = mpmath.mpf(0), mpmath.mpf(5)
        for _ in range(50):
            middle = (low + high) / 2
            low, high = (middle, high) if gaussian_delta(mu, middle) > delta else (low, middle)
        epsilon = float(high)
        for local in np.linspace(0.05, 4, 159) * sensitivity:
            rest = (math.exp(epsilon) + 1) * (1 + math.exp(-local) / 2) * batches * float(gaussian_delta(mu, local))
            if rest <= delta and clones(batches, local, epsilon) + rest <= delta:
                return False
    return True


def below_the_network(witness: Witness) -> bool:
    """Below the convex model, logistic regression is below the network, of which it is said not to be below."""
    row = ACCURACIES[("CIFAR-10", witness["epsilon"])]
    return row[2] - row[0] > 1000 * float(witness["claimed"])


def expected_distinct(witness: Witness) -> bool:
    count, mean = int(witness["candidates"]), int(witness["mean of K"])
    with mpmath.workdps(30):
        weight = lambda k: mpmath.exp(-mean) * mpmath.mpf(mean) ** k / mpmath.factorial(k)  # noqa: E731
        value = mpmath.fsum(weight(k) * count * (1 - (mpmath.mpf(count - 1) / count) ** k) for k in range(200))
    return bool(abs(value - mpmath.mpf(witness["claimed"])) > 0.01)


def student(witness: Witness) -> bool:
    """The mass of Student's law by integrating its density."""
    freedom, x = int(witness["runs"]) - 1, rational(witness["multiple"])
    scale = mpmath.gamma(mpmath.mpf(freedom + 1) / 2) / (
        mpmath.sqrt(freedom * mpmath.pi) * mpmath.gamma(mpmath.mpf(freedom) / 2)
    )
    mass = mpmath.quad(lambda t: scale * (1 + t * t / freedom) ** (-mpmath.mpf(freedom + 1) / 2), [-x, 0, x])
    return bool(abs(mass - 0.95) > 0.005)


def less_accurate(witness: Witness) -> bool:
    row = ACCURACIES[(witness["data"], witness["epsilon"])]
    mine = row[0] if witness["method"].startswith("NoisyCGD") else row[1]
    return row[2] - mine > 1000 * float(witness["tolerance"])


def not_better(witness: Witness) -> bool:
    row = ACCURACIES[("MNIST", witness["epsilon"])]
    return not (row[0] if witness["method"].startswith("NoisyCGD") else row[1]) > row[2]


def untried(witness: Witness) -> bool:
    return 128 not in GRIDS[witness["data"]]


def other_constant(witness: Witness) -> bool:
    product, smooth = Fraction(witness["eta lambda"]), Fraction(witness["eta beta"])
    return product <= smooth and max((1 - product) ** 2, (1 - smooth) ** 2) != Fraction(witness["claimed c"]) ** 2


WITNESSES: dict[str, Callable[[Witness], bool]] = {
    "relu-approx/tables-eps": tuned,
    "relu-approx/tables-eps-cifar": tuned,
    "relu-approx/thm-5.1-prose": tuned_bit,
    "relu-approx/thm-5.1-score": winner_tells,
    "relu-approx/one-hyperparameter-reading-clip": two_left,
    "relu-approx/app-J-numerical-reading-none": amplified,
    "relu-approx/fig-8": amplified_below_gaussian,
    "relu-approx/app-J-best-option": unamplified_is_better,
    "relu-approx/cifar-logistic-reading-vectorised": below_the_network,
    "relu-approx/app-H-coverage": expected_distinct,
    "relu-approx/error-bars-reading-95": student,
    "relu-approx/table-onpar-reading-not-below": less_accurate,
    "relu-approx/fig-2-text-table": not_better,
    "relu-approx/P-128": untried,
    "relu-approx/tuning-c-reading-theorem": other_constant,
}

NOT_WITNESSES: dict[str, Witness] = {
    "relu-approx/thm-5.1-score": {"m": "1", "epsilon": "5"},
    "relu-approx/one-hyperparameter-reading-clip": {"left": "W"},
    "relu-approx/tables-eps": {
        "base": "(1.33, 1e-5)", "mu": "0.3473", "m": "20", "threshold": "-3/20", "y": "16/5", "printed": "3.64",
    },
    "relu-approx/thm-5.1-prose": {
        "Q (best level first)": "(1/2, 1/2)", "Q'": "(1/2, 1/2)", "m": "1", "e^epsilon_1": "2", "e^epsilon_hat": "2",
        "delta(epsilon_1)": "0",
    },
    "relu-approx/app-J-numerical-reading-none": {
        "batches": "60", "sigma": "5", "sensitivity": "1", "delta": "1e-5", "epsilon0": "1",
        "epsilon by shuffling": "1/2",
    },
    "relu-approx/fig-8": {
        "batches": "60", "sigma": "5", "delta": "1e-5", "epsilon0, sensitivity 1": "1",
        "epsilon by shuffling, sensitivity 1": "39/50", "epsilon0, sensitivity 2": "11/5",
        "epsilon by shuffling, sensitivity 2": "11/5",
    },
    "relu-approx/app-J-best-option": {"batches": "1000", "sigma": "5", "delta": "1e-5"},
    "relu-approx/cifar-logistic-reading-vectorised": {"epsilon": "2.88", "claimed": "0.011"},
    "relu-approx/app-H-coverage": {"candidates": "18", "mean of K": "20", "claimed": "12.07"},
    "relu-approx/error-bars-reading-95": {"runs": "5", "multiple": "2.776"},
    "relu-approx/table-onpar-reading-not-below": {
        "data": "CIFAR-10", "epsilon": "8.91", "method": "NoisyCGD + convex", "tolerance": "0.016",
    },
    "relu-approx/fig-2-text-table": {"epsilon": "2.88", "method": "NoisyCGD + convex"},
    "relu-approx/P-128": {"data": "MNIST"},
    "relu-approx/tuning-c-reading-theorem": {"eta lambda": "1/4", "eta beta": "1", "claimed c": "3/4"},
}
