"""Witnesses against document 000's Sections 2 and 6.1, again: mpmath at 40 digits, enumeration, plain recursions."""

from __future__ import annotations

import functools
import itertools
from collections.abc import Callable
from fractions import Fraction

import mpmath
import numpy as np
from scipy import optimize

from tests.theorems.witness_text import Witness, numbers


def masses(x: np.ndarray, mean: float, sigma: float) -> np.ndarray:
    """What a Gaussian law gives each point of an even grid."""
    return np.exp(-((x - mean) ** 2) / (2 * sigma**2)) * (x[1] - x[0]) / (sigma * np.sqrt(2 * np.pi))


@functools.cache
def sampled_gaussian_epsilon(sigma: float, rate: float, steps: int, delta: float, neighbours: str) -> float:
    """Epsilon of composed sampled Gaussian steps by convolving the loss on a grid, each mass split between two points.

    The split keeps the mean of the loss and errs by at most grid^2/4 in its variance, 1e-5 in all here: two decimals
    more than the comparisons need.
    """
    grid, count = 4e-5, 2**19
    x = np.linspace(-1 - 12 * sigma, 1 + 12 * sigma, 400_001)

    plain, right, left = (masses(x, mean, sigma) for mean in (0, 1, -1))
    up, down = (1 - rate) * plain + rate * right, (1 - rate) * plain + rate * left
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


def not_largest(witness: Witness) -> bool:
    """Both divergences by integrating the difference of the densities where it is positive."""
    with mpmath.workdps(30):
        growth = mpmath.exp(mpmath.mpf(float(Fraction(witness["epsilon"]))))

        def divergence(text: str) -> mpmath.mpf:
            d = mpmath.mpf(Fraction(text).numerator) / Fraction(text).denominator
            start = mpmath.log(growth) / d + d / 2
            return mpmath.quad(lambda x: mpmath.npdf(x, d) - growth * mpmath.npdf(x), [start, start + 5, start + 20])

        near, farther = Fraction(witness["distance"]), Fraction(witness["larger distance"])
        return near < farther < 1 and bool(
            divergence(witness["larger distance"]) > divergence(witness["distance"]) + mpmath.mpf("1e-12")
        )


def no_quotient(witness: Witness) -> bool:
    """At mu = 0 the formula divides by 0; the two laws are one, which no event tells apart for epsilon >= 0."""
    try:
        float(witness["epsilon"]) / float(witness["mu"])
    except ZeroDivisionError:
        return float(witness["epsilon"]) >= 0
    return False


def composed_batches(witness: Witness) -> bool:
    """Two linear losses, all iterates released: the log-likelihood ratio's variance is a sum over the steps."""
    batches, epochs = int(witness["batches"]), int(witness["epochs"])
    steps = [0.0] * (batches * epochs)
    for epoch in range(epochs):
        steps[epoch * batches + 1] = 1.0  # the record lies in the second batch
    variance, claimed = float(np.dot(steps, steps)), float(witness["claimed mu^2"].replace("oo", "inf"))
    return batches >= 2 and abs(variance - claimed) > 0.5


def less_than_composition(witness: Witness) -> bool:
    """The least squares of shifts a_i >= 0 with partial sums at most those of the touched steps, equal at the end."""
    batches, epochs = int(witness["batches"]), int(witness["epochs"])
    touched = np.array([float((i + 1) % batches == 0) for i in range(batches * epochs)])
    found = optimize.minimize(
        lambda a: float(a @ a), np.full(len(touched), epochs / len(touched) / 2), jac=lambda a: 2 * a, method="SLSQP",
        constraints=[{"type": "ineq", "fun": lambda a: np.cumsum(touched - a)[:-1]},
                     {"type": "eq", "fun": lambda a: float((touched - a).sum())}],
    )
    return bool(found.success) and found.fun < float(Fraction(witness["claimed mu^2"])) - 1e-3


def a_step_forgets(witness: Witness) -> bool:
    """Two points so far apart, one noisy step and the projection: delta by integrating the densities, from 1 before."""
    with mpmath.workdps(30):
        reach, growth = (mpmath.mpf(float(Fraction(witness[key]))) for key in ("reach", "epsilon"))
        growth = mpmath.exp(growth)
        start = mpmath.log(growth) / reach + reach / 2  # where the densities' ratio is e^epsilon
        after = mpmath.quad(lambda x: mpmath.npdf(x, reach) - growth * mpmath.npdf(x), [start, start + 5, start + 20])
        return bool(after < float(witness["claimed factor"].strip("[]").split(",")[0]) - 0.01)


def expansive(witness: Witness) -> bool:
    """Quadratics of curvature lambda, step by step, against the formula summed as powers."""
    eta, lam, beta = (Fraction(witness[k]) for k in ("eta", "lambda", "beta"))
    batches, epochs = int(witness["batches"]), int(witness["epochs"])
    c = max(abs(1 - eta * lam), abs(1 - eta * beta))
    gap = sum((1 - eta * lam) ** (batches * e) for e in range(epochs))
    variance = sum((1 - eta * lam) ** (2 * i) for i in range(batches * epochs))
    touched = sum(1 / c ** (batches * e) for e in range(1, epochs))
    claimed = 1 + touched**2 / sum(1 / c ** (2 * i) for i in range(batches, batches * epochs))
    return 0 < lam <= beta and eta < Fraction(2) / int(witness["M"]) and gap**2 / variance > claimed


def slower(witness: Witness) -> bool:
    """The square of c at both step sizes."""
    lam, beta, eta, larger = (Fraction(witness[k]) for k in ("lambda", "beta", "eta", "larger eta"))
    before, after = (max((1 - step * lam) ** 2, (1 - step * beta) ** 2) for step in (eta, larger))
    return eta < larger < 2 / beta and after >= before


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


def discretised(witness: Witness) -> float:
    batches = int(witness["batches"])
    return sampled_gaussian_epsilon(float(witness["sigma"]), 1 / batches, 400 * batches, 1e-5, "replace")


def no_guarantee(witness: Witness) -> bool:
    return discretised(witness) > float(witness["printed"]) + 0.01


def another_value(witness: Witness) -> bool:
    return abs(discretised(witness) - float(witness["claimed"])) > 0.006


def profile_passed(witness: Witness) -> bool:
    """Both sides again: DP-SGD's curve from its loss's moment generating function, integrated along a line.

    delta(epsilon) = (1 / 2 pi i) int E_P e^{s (Z - epsilon)} / (s (s + 1)) ds over Re s = c > 0. Both integrals are
    trapezoidal sums of analytic functions, good to some 1e-10 here, where 2.7e-7 and more is at stake.
    """
    sigma, share = float(witness["sigma"]), float(witness["tuned delta"]) / 20
    rate, steps, line = 1 / 60, 24_000, 6.0
    x = np.linspace(-1 - 14 * sigma, 1 + 14 * sigma, 4001)

    plain = masses(x, 0, sigma)
    up, down = ((1 - rate) * plain + rate * masses(x, mean, sigma) for mean in (1, -1))
    t = np.linspace(-60, 60, 4801)
    s = line + 1j * t
    loss = np.log(up / down)
    moment = np.array([(up * np.exp(value * loss)).sum() for value in s]) ** steps / (s * (s + 1))

    def sampled(epsilon: float) -> float:
        return float((moment * np.exp(-s * epsilon)).real.sum() * (t[1] - t[0]) / (2 * np.pi))

    def root(curve: Callable[[float], float], level: float, low: float, high: float) -> float:
        for _ in range(60):
            low, high = ((low + high) / 2, high) if curve((low + high) / 2) > level else (low, (low + high) / 2)
        return high

    def gaussian(mu: float, epsilon: float) -> float:
        e, m = mpmath.mpf(epsilon), mpmath.mpf(mu)
        return float(mpmath.ncdf(m / 2 - e / m) - mpmath.exp(e) * mpmath.ncdf(-m / 2 - e / m))

    star = root(sampled, 1e-5, 0.0, 12.0)
    mu = root(lambda value: -gaussian(value, star), -1e-5, 0.01, 4.0)
    excess = root(sampled, share, 0.0, 20.0) - root(lambda epsilon: gaussian(mu, epsilon), share, 0.0, 20.0)
    return excess - 20 * (gaussian(mu, 0.0) - sampled(0.0)) > 1e-7


WITNESSES: dict[str, Callable[[Witness], bool]] = {
    "relu-approx/lem-2.5-mu-0": no_quotient,
    "relu-approx/intro-composition-requires": composed_batches,
    "relu-approx/strong-convexity-needed": less_than_composition,
    "relu-approx/intro-convex-only": a_step_forgets,
    "relu-approx/def-2.1": strict_definition,
    "relu-approx/def-2.7-reading-exact": sensitivity,
    "relu-approx/lem-2.6": domination,
    "relu-approx/thm-2.8-eta": expansive,
    "relu-approx/thm-2.8-c-reading-every": other_term,
    "relu-approx/lambda-adjusts-reading-any": unreachable,
    "relu-approx/fig-1-crossing": crossing,
    "relu-approx/thm-2.8-sigma-reading-mean": off_the_axis,
    "relu-approx/eps-base": no_guarantee,
    "relu-approx/eps-base-values": another_value,
    "relu-approx/eps-cifar": no_guarantee,
    "relu-approx/forgetting-eta": slower,
    "relu-approx/lem-2.2-max": not_largest,
    "relu-approx/tuning-max-profile": profile_passed,
}

NOT_WITNESSES: dict[str, Witness] = {
    "relu-approx/lem-2.5-mu-0": {"mu": "1", "epsilon": "0"},
    "relu-approx/intro-composition-requires": {"batches": "2", "epochs": "3", "claimed mu^2": "3"},
    "relu-approx/strong-convexity-needed": {"batches": "2", "epochs": "2", "claimed mu^2": "3/2"},
    "relu-approx/intro-convex-only": {"reach": "1", "epsilon": "1/2", "claimed factor": "[0.2384, 0.2385]"},
    "relu-approx/def-2.7-reading-exact": {"L": "1", "slopes of h_i": "(1, -1)"},
    "relu-approx/thm-2.8-c-reading-every": {"lambda": "1", "beta": "2", "eta": "1/2"},
    "relu-approx/fig-1-crossing": {"eta lambda": "1e-4"},
    "relu-approx/eps-base": {"sigma": "15", "batches": "60", "printed": "1.33"},
    "relu-approx/eps-base-values": {"sigma": "15", "batches": "60", "claimed": "1.32"},
    "relu-approx/eps-cifar": {"sigma": "15", "batches": "50", "printed": "1.46"},
    "relu-approx/lem-2.2-max": {"epsilon": "0", "distance": "1/2", "larger distance": "1"},
    "relu-approx/forgetting-eta": {"lambda": "1", "beta": "2", "eta": "1/4", "larger eta": "1/2"},
    "relu-approx/tuning-max-profile": {"sigma": "15", "tuned delta": "1e-05"},
    "relu-approx/thm-2.8-sigma-reading-mean": {"eta lambda": "1e-4", "L/(b sigma)": "2/15"},
    "relu-approx/lambda-adjusts-reading-any": {"desired epsilon": "1/2", "sigma": "15", "delta": "1e-5"},
}
