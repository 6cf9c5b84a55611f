"""Witnesses against Section 5 of document 002, again: quadrature, drawn runs, least squares, enumeration."""

from __future__ import annotations

import math
import re
from collections.abc import Callable
from fractions import Fraction

import mpmath
import numpy as np
from scipy import integrate, optimize, stats

from tests.theorems.witness_text import Witness, number


def first(text: str) -> float:
    """The first number of an enclosure's text."""
    found = re.search(r"-?\d+(\.\d+)?(e-?\d+)?", text)
    assert found is not None
    return float(found.group())


def ramp(z: float, slope: float = 1.0) -> float:
    return min(1.0, max(0.0, 0.5 + slope * z))


def noise_is_biased(witness: Witness) -> bool:
    """The best function by minimising the risk at each x, over a joint law of x and a label in {0, 1}."""
    p = number(witness, "probability of the first x")
    means = [0.5 + number(witness, "mean of zeta at the first x"), 0.5 + number(witness, "at the second")]
    h = number(witness, "h")

    def risk(values: list[float]) -> float:
        return sum(w * ((1 - m) * v**2 + m * (1 - v) ** 2) for w, m, v in zip((p, 1 - p), means, values, strict=True))

    best = [optimize.minimize_scalar(lambda v, m=m: (1 - m) * v**2 + m * (1 - v) ** 2).x for m in means]
    total = p * (means[0] - 0.5) + (1 - p) * (means[1] - 0.5)
    return bool(abs(total) < 1e-9 and abs(risk([h, h]) - risk(best) - (h - 0.5) ** 2) > 1e-6)


def surrogate_bends(witness: Witness) -> bool:
    """The second difference of the integral of a link of two slopes, at the side where it falls."""
    slopes = number(witness, "slope of the link before 0"), number(witness, "slope after 0")

    def loss(z: float) -> float:
        return float(integrate.quad(lambda u: slopes[0 if u < 0 else 1] * u, 0, z)[0])

    bends = [loss(at + 0.1) + loss(at - 0.1) - 2 * loss(at) for at in (-1.0, 1.0)]
    return max(slopes) > 0 and min(bends) < -1e-9


def exchanged_twice(witness: Witness) -> bool:
    """Add up the exchanges at numbers: G = M = D = 1."""
    exchanges, claimed = int(witness["exchanges"]), number(witness, "claimed linear term over GM")
    largest = optimize.brentq(lambda e: (e / 2 - 1) / 2 - 1 - exchanges, 0, 100)
    return bool(abs(largest - 4 - 2 - claimed) > 1e-6)


def target_is_not_best(witness: Witness) -> bool:
    phi = number(witness, "phi")
    return (ramp(number(witness, "<w*, psi>")) - ramp(phi)) ** 2 > number(witness, "claimed") + 1e-9


def integral_is_empty(witness: Witness) -> bool:
    a, phi = number(witness, "<w, psi>"), number(witness, "phi")
    losses = [integrate.quad(lambda z: ramp(z) - number(witness, "y"), 0, top)[0] for top in (a + phi, a)]
    return bool(abs(losses[0] - losses[1] - number(witness, "the printed integral")) > 1e-6)


def floor_is_higher(witness: Witness) -> bool:
    """The best constant against a label whose mean has a hidden sign, by minimisation."""
    slope, most = number(witness, "G"), number(witness, "M")
    means = [ramp(sign * most, slope) for sign in (1, -1)]
    best = optimize.minimize_scalar(lambda h: sum((h - m) ** 2 for m in means) / 2).fun
    return bool(best > number(witness, "claimed") + 1e-9)


def projection_costs_less(witness: Witness) -> bool:
    """E log cosh Z - log cosh z for chi-squared projections, by quadrature: m times it is bounded."""

    def loss(m: int) -> float:
        def integrand(q: float) -> float:
            return float(stats.chi2.pdf(q, m) * (np.log(np.cosh(q / m)) - np.log(np.cosh(1.0))))

        spread = 12 * math.sqrt(2 * m)
        return float(integrate.quad(integrand, max(0.0, m - spread), m + spread, limit=400, points=[float(m)])[0])

    values = {m: loss(m) for m in (100, 400, 1600)}
    slope = math.log(values[1600] / values[100]) / math.log(16)
    return slope < float(Fraction(witness["claimed exponent"])) - 0.3 and all(m * v < 1 for m, v in values.items())


def theorem_has_other_rates(witness: Witness) -> bool:
    return witness["claimed exponent"] not in witness["its exponents"].split(", ")


def run_is_not_private(witness: Witness) -> bool:
    """Means and variances of the run carried through its phases, then the hockey-stick divergence by quadrature."""
    n, epsilon = int(witness["n"]), number(witness, "epsilon")
    noise = first(witness["noise over the step"].strip("["))
    gap, variance, left, phase = 0.0, 0.0, n, 1
    while n >> phase:
        size, eta = n >> phase, 4.0**-phase
        runs = np.zeros(2)
        iterates = []
        for t in range(size):
            iterates.append(runs.copy())
            runs = runs - eta * np.array([1.0, -1.0 if (phase == 1 and t == 0) else 1.0])
        average = np.mean(iterates, axis=0)
        gap += float(average[0] - average[1])
        variance += (noise * eta) ** 2
        left, phase = left - size, phase + 1
    mu = abs(gap) / math.sqrt(variance)
    crossing = epsilon / mu + mu / 2
    mass = mpmath.quad(lambda x: mpmath.npdf(x, mu) - mpmath.e**epsilon * mpmath.npdf(x), [crossing, mu + 1, mu + 30])
    return bool(mass > number(witness, "delta") + 1e-6)


def steps_are_too_short(witness: Witness) -> bool:
    """The way of all phases added up, and the excess at a score that near to the start."""
    n, eta = int(witness["n"]), number(witness, "eta")
    way = sum(eta / 4**i * (n >> i) for i in range(1, n.bit_length())) + sum(8 * eta / 4**i for i in range(1, 40))
    return (ramp(number(witness, "w*")) - ramp(way)) ** 2 > 1000 * number(witness, "1/sqrt(n)")


def target_is_too_far(witness: Witness) -> bool:
    n, eta, target = int(witness["n"]), number(witness, "eta"), number(witness, "w*")
    way = sum(eta / 4**i * (n >> i) for i in range(1, n.bit_length())) + 3 * eta
    gap = integrate.quad(lambda z: 0.5 - min(1.0, max(0.0, (z - target + 1) / 2)), min(way, target), target)[0]
    return bool(gap > 10 * number(witness, "W/sqrt(n)"))


def network_has_a_kink(witness: Witness) -> bool:
    """Best polynomials, by linear programming on a grid: their errors fall like 1/m and not geometrically."""
    grid = np.cos(np.linspace(0, np.pi, 201))
    target = np.maximum(0.0, 1 / (1 + np.exp(-grid)) - 0.5)

    def best(degree: int) -> float:
        basis = np.polynomial.chebyshev.chebvander(grid, degree)
        rows = np.block([[basis, -np.ones((len(grid), 1))], [-basis, -np.ones((len(grid), 1))]])
        found = optimize.linprog(np.r_[np.zeros(degree + 1), 1.0], A_ub=rows, b_ub=np.r_[target, -target],
                                 bounds=[(None, None)] * (degree + 1) + [(0, None)])
        return float(found.fun)

    errors = {m: best(m) for m in (4, 8, 16)}
    slopes = number(witness, "slope of N_2 in <a, x> at 0-"), number(witness, "at 0+")
    return slopes[0] != slopes[1] and errors[16] * 16 > errors[4] * 4 / 2  # a geometric rate would fall by far more


def activation_is_too_steep(witness: Witness) -> bool:
    """The Chebyshev polynomial has the largest slope of its degree, m^2, at the end: here that is not enough."""
    m, steep, alpha = (number(witness, key) for key in ("degree", "G", "alpha_0"))
    small = np.polynomial.Chebyshev.basis(7)
    slope_law = small.deriv()(1.0) == 49
    return bool(slope_law and (1 - 2 * alpha) * steep > (0.5 + alpha) * m**2 and m >= 1 / alpha)


def labels_are_too_few(witness: Witness) -> bool:
    """The least worst-case excess over all rules from so many labels, by minimising over the rule."""
    n, alpha = int(witness["n"]), number(witness, "alpha")
    scores = [float(Fraction(word)) for word in witness["<a, x>"].split(" or ")]
    means = [1 / (1 + math.exp(-s)) if witness["sigma_1"] == "sigmoid" else max(0.0, s) for s in scores]

    def worst(rule: np.ndarray) -> float:
        return max(float(stats.binom.pmf(np.arange(n + 1), n, m) @ (rule - m) ** 2) for m in means)

    found = optimize.minimize(worst, np.linspace(min(means), max(means), n + 1), method="Nelder-Mead",
                              options={"xatol": 1e-10, "fatol": 1e-12, "maxiter": 20000})
    return bool(found.fun > alpha)


def needs_more_records(witness: Witness) -> bool:
    a, log, epsilon = number(witness, "A"), number(witness, "log(1/delta)"), number(witness, "epsilon")
    n = number(witness, "claimed n")
    return a**2 * log / epsilon + a * math.sqrt(n * log) / epsilon > n + 1e-9


def model_error_costs_more(witness: Witness) -> bool:
    g, m = number(witness, "G"), number(witness, "M")
    return 4 * g * m + 2 * (g * m) ** 2 > number(witness, "alpha") + 1e-12


def weights_are_longer(witness: Witness) -> bool:
    k = int(witness["k"])
    layer = sum(1 / math.sqrt(k) / (1 + math.exp(-1)) for _ in range(k))
    return layer - number(witness, "M") > number(witness, "claimed")


def dimension_is_another(witness: Witness) -> bool:
    """Ordered products, enumerated as words over d letters."""
    d, m = int(witness["d"]), int(witness["m"])
    words = {()} | {word for size in range(1, m + 1) for word in np.ndindex(*(d,) * size)}
    return len(words) != int(witness["claimed"])


def letter_is_free(witness: Witness) -> bool:
    named, bound = witness["named"].split(", "), witness["bound"].split(", ")
    return any(letter not in bound for letter in named)


def another_algorithm(witness: Witness) -> bool:
    return "psi" not in witness["runs on"] and witness["algorithm"] != witness["algorithm on the features"]


WITNESSES: dict[str, Callable[[Witness], bool]] = {
    f"nonconvex-nn/{name}": verifier for name, verifier in {
        "excess-identity-reading-mean": noise_is_biased, "asm-3": surrogate_bends,
        "lem-7-proof-constant": exchanged_twice, "lem-7-proof-min": target_is_not_best,
        "lem-7-proof-limits": integral_is_empty, "thm-8-bracket": floor_is_higher, "rem-9": projection_costs_less,
        "rem-9-theorem-1": theorem_has_other_rates, "thm-8-privacy": run_is_not_private,
        "big-O-parameters-thm-8": steps_are_too_short, "thm-8-proof-W": target_is_too_far,
        "lem-16-reading-network": network_has_a_kink, "lem-17-reading-network": activation_is_too_steep,
        "thm-10-reading-upper": labels_are_too_few,
        "thm-11-reading-upper": labels_are_too_few, "intro-eps2-reading-delta": needs_more_records,
        "thm-10-alpha-0": model_error_costs_more, "asm-3-W-vs-thm-10": weights_are_longer,
        "k-overloaded": dimension_is_another, "def-7": letter_is_free, "cor-1-algorithm-8": another_algorithm,
    }.items()
}
NOT_WITNESSES: dict[str, Witness] = {
    "nonconvex-nn/excess-identity-reading-mean": {
        "probability of the first x": "1/2", "mean of zeta at the first x": "0", "at the second": "0", "h": "0"},
    "nonconvex-nn/asm-3": {"slope of the link before 0": "1", "slope after 0": "0"},
    "nonconvex-nn/lem-7-proof-constant": {"exchanges": "1", "claimed linear term over GM": "4"},
    "nonconvex-nn/lem-7-proof-min": {"phi": "0", "<w*, psi>": "0", "claimed": "0"},
    "nonconvex-nn/lem-7-proof-limits": {"<w, psi>": "0", "phi": "0", "y": "0", "the printed integral": "0"},
    "nonconvex-nn/thm-8-bracket": {"G": "1", "M": "1/20", "claimed": "21/400"},
    "nonconvex-nn/rem-9": {"claimed exponent": "-1"},
    "nonconvex-nn/rem-9-theorem-1": {"claimed exponent": "-1", "its exponents": "-1/2, -1"},
    "nonconvex-nn/thm-8-privacy": {"n": "1024", "epsilon": "1", "noise over the step": "[27.1", "delta": "1/100000"},
    "nonconvex-nn/big-O-parameters-thm-8": {
        "n": "1000000", "eta": "1/1000", "w*": "0", "1/sqrt(n)": "1/1000"},
    "nonconvex-nn/thm-8-proof-W": {"n": "10000", "eta": "1", "w*": "100", "W/sqrt(n)": "1"},
    "nonconvex-nn/thm-10-reading-upper": {"n": "30", "alpha": "1/50", "<a, x>": "1 or -1", "sigma_1": "sigmoid"},
    "nonconvex-nn/intro-eps2-reading-delta": {"A": "1", "log(1/delta)": "1", "epsilon": "1", "claimed n": "3"},
    "nonconvex-nn/thm-10-alpha-0": {"G": "1", "M": "2/9", "alpha": "1"},
    "nonconvex-nn/asm-3-W-vs-thm-10": {"k": "100", "M": "5/2", "claimed": "10"},
    "nonconvex-nn/k-overloaded": {"d": "1", "m": "2", "claimed": "3"},
}
