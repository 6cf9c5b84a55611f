"""Witnesses against document 000's Sections 2 and 6.1, again: mpmath at 40 digits, enumeration, plain recursions."""

from __future__ import annotations

import functools
import itertools
from collections.abc import Callable, Mapping
from fractions import Fraction

import mpmath
import numpy as np

Witness = Mapping[str, str]


@functools.cache
def sampled_gaussian_epsilon(sigma: float, rate: float, steps: int, delta: float, neighbours: str) -> float:
    """Epsilon of composed sampled Gaussian steps by convolving the loss on a grid, each mass split between two points.

    The split keeps the mean of the loss and errs by at most grid^2/4 in its variance, 1e-5 in all here: two decimals
    more than the comparisons need.
    """
    grid, count = 4e-5, 2**19
    x = np.linspace(-1 - 12 * sigma, 1 + 12 * sigma, 400_001)

    def density(mean: float) -> np.ndarray:
        return np.exp(-((x - mean) ** 2) / (2 * sigma**2)) * (x[1] - x[0]) / (sigma * np.sqrt(2 * np.pi))

    plain = density(0)
    up, down = (1 - rate) * plain + rate * density(1), (1 - rate) * plain + rate * density(-1)
    pairs = [(up, down)] if neighbours == "replace" else [(up, plain), (plain, up)]

    def composed(first: np.ndarray, second: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        loss = np.log(first / second) / grid
        low = np.floor(loss).astype(int)
        mass = np.bincount(low % count, first * (low + 1 - loss), count)
        mass += np.bincount((low + 1) % count, first * (loss - low), count)
        total = np.fft.irfft(np.fft.rfft(mass) ** steps, count)
        return np.where(np.arange(count) < count // 2, np.arange(count), np.arange(count) - count) * grid, total

    totals = [composed(*pair) for pair in pairs]

    def excess(epsilon: float) -> float:
        return max(float((total * np.maximum(0, -np.expm1(epsilon - loss))).sum()) for loss, total in totals)

    low, high = 0.0, 10.0
    for _ in range(50):
        low, high = ((low + high) / 2, high) if excess((low + high) / 2) > delta else (low, (low + high) / 2)
    return high


def numbers(text: str) -> list[Fraction]:
    return [Fraction(part) for part in text.strip("()[] ").split(",") if part.strip()]


def strict_definition(witness: Witness) -> bool:
    """The event's promise is broken at a delta that no event exceeds."""
    p, q, e, delta = (numbers(witness[k]) for k in ("M(D)", "M(D')", "e^epsilon", "delta"))
    event = [int(x) for x in numbers(witness["event"])]
    broken = not sum(p[i] for i in event) < e[0] * sum(q[i] for i in event) + delta[0]
    worst = max(
        sum(a[i] for i in subset) - e[0] * sum(b[i] for i in subset)
        for a, b in ((p, q), (q, p))
        for size in range(len(p) + 1)
        for subset in itertools.combinations(range(len(p)), size)
    )
    return broken and worst <= delta[0]


def sensitivity(witness: Witness) -> bool:
    slopes, lipschitz = numbers(witness["slopes of h_i"]), Fraction(witness["L"])
    return max(map(abs, slopes)) <= lipschitz and max(slopes) - min(slopes) != 2 * lipschitz


def domination(witness: Witness) -> bool:
    """The right side at alpha = 1 by numerical integration of the two mixtures' densities."""
    with mpmath.workdps(30):
        q, sigma = (mpmath.mpf(float(Fraction(witness[key]))) for key in ("q", "sigma"))

        def gap(x: mpmath.mpf) -> mpmath.mpf:
            return q * (mpmath.npdf(x, 1, sigma) - mpmath.npdf(x, -1, sigma))

        right = mpmath.quad(gap, [0, 5 * sigma, 40 * sigma])  # positive exactly for x > 0
        # Releasing the record: the two outputs are disjoint whenever it is sampled.
        return bool(q > right + mpmath.mpf("1e-10")) and "releases" in witness["mechanism"]


def expansive(witness: Witness) -> bool:
    """No feasible shifts cost as little as the formula: a fine search over the one free shift per epoch."""
    eta, lam, beta = (Fraction(witness[k]) for k in ("eta", "lambda", "beta"))
    if not eta < Fraction(2) / int(witness["M = |D_X|"]):
        return False
    c = float(max(abs(1 - eta * lam), abs(1 - eta * beta)))
    claimed = float(Fraction(witness["mu^2 claimed (k = 2, E = 3)"]))
    # Six steps, the record read at steps 2, 4, 6; z2 = 1 - a2, z4 = c (c z2 - a3) + 1 - a4 and a6 = 1 + c (c z4 - a5).
    best = min(
        a2**2 + a3**2 + a4**2 + a5**2 + (1 + c * (c * z4 - a5)) ** 2
        for i in range(21) for j in range(21) for k in range(21) for m in range(21)
        for a2 in [i / 20]
        for z3 in [c * (1 - a2)] for a3 in [z3 * j / 20]
        for z4_ in [c * (z3 - a3) + 1] for a4 in [z4_ * k / 20] for z4 in [z4_ - a4]
        for a5 in [c * z4 * m / 20]
    )
    formula = 1 + c**2 * (1 - c**2) / (1 - c**2) ** 2 * (1 - c**4) / (1 + c**4)
    return c > 1 and abs(formula - claimed) < 1e-9 and best > claimed


def other_term(witness: Witness) -> bool:
    eta, lam, beta = (Fraction(witness[k]) for k in ("eta", "lambda", "beta"))
    return lam <= beta and eta * beta < 2 and max((1 - eta * lam) ** 2, (1 - eta * beta) ** 2) != (1 - eta * lam) ** 2


def epsilon_of(mu: mpmath.mpf, delta: str = "1e-5") -> mpmath.mpf:
    """Epsilon of a Gaussian mechanism by bisection of the curve at 40 digits."""
    with mpmath.workdps(40):
        low, high = mpmath.mpf(0), mpmath.mpf(20)
        for _ in range(80):
            e = (low + high) / 2
            above = mpmath.ncdf(-e / mu + mu / 2) - mpmath.exp(e) * mpmath.ncdf(-e / mu - mu / 2) > mpmath.mpf(delta)
            low, high = (e, high) if above else (low, e)
        return high


def squared_factor(drop: str, batches: int, epochs: int) -> mpmath.mpf:
    """Theorem 2.8's squared factor as the chord's cost, by summing powers one at a time."""
    with mpmath.workdps(40):
        x = 1 / (1 - mpmath.mpf(drop))
        touched = mpmath.fsum(x ** (batches * e) for e in range(1, epochs))
        return 1 + touched**2 / mpmath.fsum(x ** (2 * i) for i in range(batches, batches * epochs))


def unreachable(witness: Witness) -> bool:
    least = epsilon_of(mpmath.mpf(2) / int(witness["sigma"]), witness["delta"])
    return bool(least > float(Fraction(witness["desired epsilon"])))


def crossing(witness: Witness) -> bool:
    """NoisyCGD by summed powers, DP-SGD by convolution."""
    noisy = epsilon_of(mpmath.mpf(2) / 15 * mpmath.sqrt(squared_factor(witness["eta lambda"], 60, 400)))
    return bool(noisy > sampled_gaussian_epsilon(15, 1 / 60, 24_000, 1e-5, "replace") + 1e-3)


def off_the_axis(witness: Witness) -> bool:
    ratio = Fraction(witness["L/(b sigma)"])
    factor = squared_factor(witness["eta lambda"], 60, 400)
    value = epsilon_of(mpmath.mpf(ratio.numerator) / ratio.denominator * mpmath.sqrt(factor))
    return bool(value < 0.2) or bool(value > 1.4)


def base_order(witness: Witness) -> bool:
    value = sampled_gaussian_epsilon(float(witness["sigma"]), 1 / 60, 24_000, 1e-5, "replace")
    return abs(value - float(witness["printed"])) > 0.3


def base_values(witness: Witness) -> bool:
    """Neither relation's discretised accountant gives both numbers to two digits."""
    printed = [float(text) for text in witness["printed"].split(" and ")]
    for relation, scale in (("replace", 1.0), ("add_remove", 1.0), ("add_remove", 0.5)):
        found = [sampled_gaussian_epsilon(scale * s, 1 / 60, 24_000, 1e-5, relation) for s in (15, 5)]
        if all(abs(a - b) < 0.004 for a, b in zip(found, printed, strict=True)):
            return False
    return True


def cifar(witness: Witness) -> bool:
    value = sampled_gaussian_epsilon(float(witness["sigma"]), 1 / 50, 20_000, 1e-5, "replace")
    return abs(value - float(witness["claimed"])) > 0.01


def much_larger(witness: Witness) -> bool:
    """The recursion in plain floats against the summed powers."""
    c, rate, spread = 1 - float(witness["eta lambda"]), 0.0, 0.0
    batches, epochs = int(witness["batches"]), int(witness["epochs"])
    for step in range(batches * epochs):
        rate = rate + 0.5 if step % batches == batches - 1 else rate * c**2 * spread / (c**2 * spread + 1)
        spread = c**2 * spread + 1
    ratio = 2 * rate / float(squared_factor(witness["eta lambda"], batches, epochs))
    low, high = (float(part) for part in witness["claimed"].split(" to "))
    return not low <= ratio <= high


WITNESSES: dict[str, Callable[[Witness], bool]] = {
    "relu-approx/def-2.1": strict_definition,
    "relu-approx/def-2.7": sensitivity,
    "relu-approx/lem-2.6": domination,
    "relu-approx/thm-2.8-eta": expansive,
    "relu-approx/thm-2.8-c": other_term,
    "relu-approx/lambda-adjusts": unreachable,
    "relu-approx/fig-1-crossing": crossing,
    "relu-approx/thm-2.8-sigma-reading-mean": off_the_axis,
    "relu-approx/eps-base": base_order,
    "relu-approx/eps-base-values": base_values,
    "relu-approx/eps-cifar": cifar,
    "relu-approx/ye-shokri-slightly": much_larger,
}

NOT_WITNESSES: dict[str, Witness] = {
    "relu-approx/def-2.7": {"L": "1", "slopes of h_i": "(1, -1)"},
    "relu-approx/thm-2.8-c": {"lambda": "1", "beta": "2", "eta": "1/2"},
    "relu-approx/fig-1-crossing": {"eta lambda": "1e-4"},
    "relu-approx/eps-base": {"sigma": "15", "printed": "1.33"},
    "relu-approx/eps-cifar": {"sigma": "15", "claimed": "1.4567"},
    "relu-approx/thm-2.8-sigma-reading-mean": {"eta lambda": "1e-4", "L/(b sigma)": "2/15"},
    "relu-approx/lambda-adjusts": {"desired epsilon": "1/2", "sigma": "15", "delta": "1e-5"},
}
