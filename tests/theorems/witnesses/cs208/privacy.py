"""Witnesses against what document 004 says of privacy, again: laws listed, quadrature, and sums in many digits."""

from __future__ import annotations

import itertools
import math
from ast import literal_eval
from collections.abc import Callable

import mpmath
import numpy as np
from scipy import integrate, special, stats

from tests.theorems.witnesses.cs208.learning import Witness, number


def hockey_stick(mu: float, epsilon: float) -> float:
    """int (phi(x - mu) - e^epsilon phi(x))_+ dx by quadrature."""
    start = epsilon / mu + mu / 2
    found = integrate.quad(lambda x: stats.norm.pdf(x - mu) - math.exp(epsilon) * stats.norm.pdf(x), start, start + 40)
    return float(found[0])


def responses_cost_more(witness: Witness) -> bool:
    """delta at the claimed epsilon of so many randomised responses, by the binomial law of the truths."""
    steps, each = int(witness["T"]), number(witness, "epsilon_0")
    p = 1 / (1 + math.exp(-each))
    truths = np.arange(steps + 1)
    loss = each * (2 * truths - steps)
    law = stats.binom.pmf(truths, steps, p)
    delta = np.sum(law * np.maximum(0.0, -np.expm1(np.minimum(0.0, number(witness, "claimed") - loss))))
    return bool(delta > number(witness, "delta"))


def not_near(witness: Witness) -> bool:
    p, e = number(witness, "sampling_rate"), number(witness, "epsilon")
    return math.log1p(p * math.expm1(e)) / (p * e) > number(witness, "claimed factor")


def tells_the_size(witness: Witness) -> bool:
    """The sampled laws as vectors, and the largest excess over all events."""
    none, one, other = (np.array([ratio(word) for word in witness[key].strip("()").split(",")])
                        for key in ("without", "with", "with the other"))
    p, larger = number(witness, "p"), number(witness, "e^epsilon'")
    first, second = (1 - p) * none + p * one, (1 - p) * none + p * other
    base = max(np.max(one[other > 0] / other[other > 0]), np.max(other[one > 0] / one[one > 0]))
    private = base <= number(witness, "e^epsilon") + 1e-12
    claimed = larger <= 1 + p * (number(witness, "e^epsilon") - 1) + 1e-12
    excess = np.maximum(first - larger * second, 0).sum()
    return bool(private and claimed and excess > number(witness, "claimed delta'"))


def ratio(word: str) -> float:
    top, _, bottom = word.strip().partition("/")
    return float(top) / float(bottom or 1)


def copies_count(witness: Witness) -> bool:
    """All n^B samples listed; an outcome of weight odds^copies against data without the record."""
    odds, draws, size = number(witness, "e^epsilon"), int(witness["B"]), int(witness["n"])
    samples = itertools.product(range(size), repeat=draws)
    mean = float(np.mean([odds ** sample.count(0) for sample in samples]))
    return mean > 1 + (odds - 1) * draws / size + 1e-12 and mean > number(witness, "claimed odds") + 1e-12


def order_matters(witness: Witness) -> bool:
    odds = number(witness, "e^epsilon")
    keep = odds / (1 + odds)
    outcome = literal_eval(witness["outcome"])

    def chance(rows: tuple[int, ...]) -> float:
        found = [np.prod([keep if rows[i] == o else 1 - keep for i, o in zip(pair, outcome, strict=True)])
                 for pair in ((0, 1), (0, 2), (1, 2))]
        return float(np.mean(found))

    return chance(literal_eval(witness["D'"])) / chance(literal_eval(witness["D"])) > 1 + (odds - 1) * 2 / 3 + 1e-9


def too_little_for_large_epsilon(witness: Witness) -> bool:
    """The Gaussian curve in many digits at mu = 2 sqrt(T)/sigma, sigma^2 by the slides with the constant 1000."""
    with mpmath.workdps(40):
        e, steps, delta = (mpmath.mpf(number(witness, key)) for key in ("epsilon", "steps", "delta"))
        variance = 1000 * steps * mpmath.log(1 / delta) * mpmath.log(steps / delta) / e**2
        mu = 2 * mpmath.sqrt(steps / variance)
        # e^e Phi(-x) through erfc in logarithms: x = mu/2 + e/mu
        x = mu / 2 + e / mu
        tail = mpmath.exp(e - x**2 / 2) / (x * mpmath.sqrt(2 * mpmath.pi))
        return bool(mpmath.ncdf(mu / 2 - e / mu) - tail > delta)


def moves_more(witness: Witness) -> bool:
    """The means of random clipped gradients in the plane with the two of the witness put in."""
    rng, n = np.random.default_rng(7), int(witness["divisor"])
    others = rng.normal(size=(n - 1, 2))
    others /= np.maximum(1, np.linalg.norm(others, axis=1, keepdims=True) / number(witness, "C"))
    before, after = (np.vstack([others, [number(witness, key), 0.0]]).sum(axis=0) / n
                     for key in ("gradient before", "after"))
    return bool(np.linalg.norm(before - after) > number(witness, "claimed") + 1e-12)


def step_is_not_private(witness: Witness) -> bool:
    epsilon, delta = number(witness, "epsilon_0"), number(witness, "delta_0")
    sigma = math.sqrt(2 * math.log(1.25 / delta)) / epsilon * float(witness["noise for"].split()[0])
    return hockey_stick(2 / sigma, epsilon) > delta


def odds_multiply(witness: Witness) -> bool:
    odds, steps = number(witness, "e^epsilon"), int(witness["T"])
    keep = odds / (1 + odds)
    return (keep / (1 - keep)) ** steps > number(witness, "claimed") + 1e-9


def regulariser_counts(witness: Witness) -> bool:
    """Two candidates, R = 0 and 10 T, n = 1 and n = 2; the new record has loss 0 at the first and B at the second."""
    r, weight = number(witness, "e^(B/T)"), number(witness, "weight")
    before = np.array([weight, 1.0])
    after = before * np.array([1.0, math.exp(-10.0) / r])
    grown = (after / after.sum() / (before / before.sum()))[0]
    return bool(grown > number(witness, "claimed") + 1e-9)


def event_tells(witness: Witness) -> bool:
    """P(theta in [0, 1]) by integrating the densities of the minimiser."""
    total, rate = number(witness, "n lambda"), number(witness, "noise")

    def density(theta: float, record: bool) -> float:
        s = special.expit(theta)
        b = (1 - s if record else 0.0) - total * theta
        return math.exp(-rate * abs(b)) * rate / 2 * (total + (s * (1 - s) if record else 0.0))

    one, other = (integrate.quad(density, 0, 1, args=(record,))[0] for record in (True, False))
    return math.log(one / other) > number(witness, "claimed epsilon") + 1e-9


def batch_mean_moves(witness: Witness) -> bool:
    others = [number(witness, "their gradients")] * int(witness["others in the batch"])
    joined = [*others, number(witness, "its gradient")]
    before = float(np.mean(others)) if others else 0.0
    return abs(float(np.mean(joined)) - before) > number(witness, "C") / number(witness, "B") + 1e-12


def least_noise(size: int) -> float:
    """The noise of one step at epsilon = 1, delta = 1e-5, a record replaced, by bisection of the quadrature."""
    low, high = 0.01 / size, 100.0 / size
    for _ in range(60):
        middle = (low + high) / 2
        low, high = (middle, high) if hockey_stick(2 / (size * middle), 1.0) > 1e-5 else (low, middle)
    return high


def noise_needs_n(witness: Witness) -> bool:
    one, other = (least_noise(int(word)) for word in witness["n"].split(" and "))
    return "n" in witness["missing"].split(", ") and abs(one / other - 1) > 0.1


def sampled_needs_n(witness: Witness) -> bool:
    """H of (1 - p) N(0, s^2) + p N(1, s^2) from N(0, s^2) by quadrature, p = B/n, C = B."""
    epsilon, sigma = number(witness, "epsilon"), number(witness, "sigma")

    def delta(p: float) -> float:
        def gap(x: float) -> float:
            here, there = stats.norm.pdf(x, 0, sigma), stats.norm.pdf(x, 1, sigma)
            return float(max(0.0, (1 - p) * here + p * there - math.exp(epsilon) * here))

        return float(integrate.quad(gap, -10, 15, points=[0, 1, 2, 3, 4], limit=200)[0])

    one, other = (delta(number(witness, "B") / int(word)) for word in witness["n"].split(" and "))
    return abs(one - other) > 1e-6


def no_improvement(witness: Witness) -> bool:
    """Both printed formulas at two T: their ratio does not fall."""
    delta = number(witness, "delta")
    ratios = []
    for word in witness["T"].split(" and "):
        steps = int(word)
        advanced = steps * math.log(steps / delta) * math.log(1 / delta)
        concentrated = steps * math.log(1 / delta) * math.log(steps / delta)
        ratios.append(concentrated / advanced)
    return ratios[-1] >= ratios[0] * 0.99 and number(witness, "their ratio as T grows") > 0


def rho_is_larger(witness: Witness) -> bool:
    """R_2/2 of two Gaussians 1 apart, of the printed variance, by quadrature."""
    variance = math.log(1.25 / number(witness, "delta_T")) / 2
    root = math.sqrt(variance)
    moment = integrate.quad(lambda x: stats.norm.pdf(x, 1, root) ** 2 / stats.norm.pdf(x, 0, root), -6, 10)[0]
    return math.log(moment) / 2 > number(witness, "epsilon_0") ** 2 + 1e-9


WITNESSES: dict[str, Callable[[Witness], bool]] = {
    "cs208/adv-composition": responses_cost_more,
    "cs208/amp-approx": not_near,
    "cs208/amp-poisson-replace": tells_the_size,
    "cs208/amp-with-replacement": copies_count,
    "cs208/amp-wor-reading-ordered": order_matters,
    "cs208/dp-gd-noise": too_little_for_large_epsilon,
    "cs208/dp-gd-sensitivity": moves_more,
    "cs208/dp-sgd-reading-fixed-size": moves_more,
    "cs208/dp-gd-step": step_is_not_private,
    "cs208/each-step-eps": odds_multiply,
    "cs208/exp-mech-literal-n": regulariser_counts,
    "cs208/objective-perturbation-reading-no-jacobian": event_tells,
    "cs208/poisson-normalisation": batch_mean_moves,
    "cs208/tbd-sigma-n": noise_needs_n,
    "cs208/tbd-sigma-n-sgd": sampled_needs_n,
    "cs208/zcdp-noise": no_improvement,
    "cs208/zcdp-step": rho_is_larger,
}
NOT_WITNESSES: dict[str, Witness] = {
    "cs208/adv-composition": {"T": "4", "epsilon_0": "1", "claimed": "4", "delta": "1/4"},
    "cs208/amp-approx": {"sampling_rate": "1/100", "epsilon": "1/10", "claimed factor": "2"},
    "cs208/amp-with-replacement": {"e^epsilon": "3", "B": "1", "n": "2", "claimed odds": "2"},
    "cs208/amp-wor-reading-ordered": {"e^epsilon": "8", "D": "(0, 0, 1)", "D'": "(1, 0, 1)", "outcome": "(0, 1)"},
    "cs208/dp-gd-noise": {"epsilon": "1", "steps": "1", "delta": "0.125"},
    "cs208/dp-gd-sensitivity": {"C": "1", "divisor": "10", "gradient before": "1", "after": "-1", "claimed": "1/5"},
    "cs208/dp-gd-step": {"epsilon_0": "1/2", "delta_0": "1e-5", "noise for": "2 C/n"},
    "cs208/each-step-eps": {"e^epsilon": "3/2", "T": "1", "claimed": "3/2"},
    "cs208/objective-perturbation-reading-no-jacobian": {"n lambda": "1/20", "noise": "1/2", "claimed epsilon": "1.6"},
    "cs208/poisson-normalisation": {"C": "1", "B": "10", "others in the batch": "30", "their gradients": "-1",
                                    "its gradient": "1"},
    "cs208/tbd-sigma-n": {"n": "1 and 1", "missing": "n"},
    "cs208/tbd-sigma-n-sgd": {"epsilon": "1", "sigma": "1", "B": "1", "n": "10 and 10"},
    "cs208/zcdp-step": {"delta_T": "1/10", "epsilon_0": "1"},
}
