"""Witnesses against document 002, Section 4.1.2, again: minimisation, simulation without noise, quadrature, mpmath."""

from __future__ import annotations

import itertools
from fractions import Fraction

import mpmath
import numpy as np
from scipy import optimize, stats

from tests.theorems.witness_text import Witness
from tests.theorems.witnesses.sbcd.prose import number


def gaussian_delta(epsilon: mpmath.mpf, mu: mpmath.mpf) -> mpmath.mpf:
    """The hockey-stick divergence of two Gaussians by an integral over where the first is larger."""
    start = epsilon / mu - mu / 2  # in units in which the first has mean 0
    return mpmath.quad(
        lambda x: mpmath.npdf(x) - mpmath.exp(epsilon) * mpmath.npdf(x + mu), [start, start + 1, start + 3, start + 30])


def upper(text: str) -> float:
    """The upper end of an interval."""
    return float(text.strip("[]").split(",")[-1])


def steep_outside(witness: Witness) -> bool:
    """The envelope of a line on [0, 1], by minimisation on a grid."""
    beta, size = number(witness, "beta"), number(witness, "G")
    x, other = number(witness, "x"), number(witness, "x'")
    grid = np.linspace(0, 1, 2001)
    low, high = (float(np.min(size * grid + beta / 2 * (grid - at) ** 2)) for at in (x, other))
    return bool((high - low) / (other - x) > number(witness, "claimed"))


def not_minimal(witness: Witness) -> bool:
    x, m = number(witness, "x"), number(witness, "m")
    found = optimize.minimize_scalar(lambda u: (u - m) ** 2 / 2).x
    return bool(abs(found - x) > 1e-9)


def constant_too_small(witness: Witness) -> bool:
    return 2 * 2 * number(witness, "B") > number(witness, "claimed")


def without_integrals(witness: Witness) -> bool:
    """The prox by a root finder that sees the link only."""
    b, beta, m, y = (number(witness, name) for name in ("B", "beta", "m", "y"))
    u = optimize.brentq(lambda at: float(np.clip(at, -b, b)) - y + beta * (at - m), m - 2 * b / beta, m + 2 * b / beta)
    return abs(beta * (m - u) - number(witness, "answer")) <= number(witness, "gamma") and int(
        witness["claimed values of g, at least"]) > 0


def averages_records(witness: Witness) -> bool:
    """The answer with the record in place of iterates is beta (m - x)."""
    told = number(witness, "beta") * (number(witness, "m") - number(witness, "x"))
    return abs(told - number(witness, "derivative")) > 0.125 and abs(told - number(witness, "answer")) < 1e-9


def value_is_no_slope(witness: Witness) -> bool:
    """The envelope of 2B u and its slope, by a minimiser and by a difference."""
    b, beta, m = number(witness, "link"), number(witness, "beta"), number(witness, "m")

    def envelope(at: float) -> float:
        return float(optimize.minimize_scalar(lambda u: 2 * b * u + beta / 2 * (u - at) ** 2).fun)

    return abs((envelope(m + 0.01) - envelope(m - 0.01)) / 0.02 - envelope(m)) > 1e-3


def run_constant(records: int, noise: float) -> float:
    """mu of the last release of phased SGD, a constant link: both runs step by step, noises added up."""
    phases, means, variance = [], [], 0.0
    size, eta = records // 2, 0.25
    while size >= 1:
        phases.append((size, eta))
        size, eta = size // 2, eta / 4
    for x in (1.0, -1.0):
        w = 0.0
        for i, (size, eta) in enumerate(phases):
            path = [w]
            for t in range(size):
                record = x if (i, t) == (0, 0) else 0.0
                path.append(path[-1] - eta * 2 * record)
            w = float(np.mean(path[:size]))
        means.append(w)
    variance = sum((noise * eta) ** 2 for _, eta in phases)
    return float(abs(means[0] - means[1]) / np.sqrt(variance))


def tells_more(witness: Witness) -> bool:
    mu = run_constant(int(witness["n"]), upper(witness["tau_i/eta_i"]))
    epsilon = number(witness, "epsilon")
    same = stats.norm.cdf(epsilon / mu - mu / 2) + np.exp(epsilon) * stats.norm.sf(epsilon / mu + mu / 2)
    return bool(same < 0.9 * (1 - number(witness, "claimed delta")))


def small_factor(witness: Witness) -> bool:
    epsilon, delta = number(witness, "epsilon"), number(witness, "claimed delta")
    mu = run_constant(int(witness["n"]), 10 * number(witness, "R") * np.sqrt(np.log(1 / delta)) / epsilon)
    told = stats.norm.sf(epsilon / mu - mu / 2) - np.exp(epsilon + stats.norm.logsf(epsilon / mu + mu / 2))
    return bool(told > delta)


def echoes(witness: Witness) -> bool:
    """Phased SGD on the two data sets with the envelope's derivative by a formula of the clip link; floats."""
    records, eta = int(witness["n"]) // 2, number(witness, "eta") / 4
    epsilon, delta = number(witness, "epsilon"), number(witness, "claimed delta")

    def slope(score: float, label: float) -> float:
        inside = (score - label) / 2  # beta = 1
        return inside if abs(score - inside) <= 1 else float(np.sign(score)) - label

    means = []
    for first in (1.0, -1.0):
        w = np.zeros(records + 1)
        total = np.zeros(records + 1)
        for t in range(1, records + 1):
            total += w
            x = np.zeros(records + 1)
            if t == 1:
                x[0], label = first, -1.0
            else:
                x[0], x[t], label = -1e-3, np.sqrt(1 - 1e-6), 0.0
            w = w - eta * slope(float(w @ x), label) * x
        means.append(total / records)
    noise = 10 * eta * np.sqrt(np.log(1 / delta)) / epsilon * np.sqrt(16 / 15)
    mu = float(np.linalg.norm((means[0] - means[1])[1:])) / noise
    return bool(gaussian_delta(mpmath.mpf(epsilon), mpmath.mpf(mu)) > delta)


def mixed_delta(epsilon: mpmath.mpf, mu: mpmath.mpf, least: float = 3.0) -> mpmath.mpf:
    """At least E delta(epsilon; mu |g|) over |g| >= least: a lower sum over 200 intervals, normal tails of mpmath."""
    edges = [mpmath.mpf(least) + mpmath.mpf(k) / 20 for k in range(201)]
    total = mpmath.mpf(0)
    for a, b in itertools.pairwise(edges):
        at = mu * a
        curve = mpmath.ncdf(at / 2 - epsilon / at) - mpmath.exp(epsilon) * mpmath.ncdf(-at / 2 - epsilon / at)
        total += 2 * (mpmath.ncdf(-a) - mpmath.ncdf(-b)) * curve
    return total


def one_row(witness: Witness) -> bool:
    """The law of |g| cut into intervals, mu from the run of the constant link."""
    mu = run_constant(int(witness["n"]), upper(witness["noise"]))
    claimed = Fraction(witness["claimed delta"])
    with mpmath.workdps(60):
        true = mixed_delta(mpmath.mpf(number(witness, "epsilon")), mpmath.mpf(mu))
        return bool(true * claimed.denominator > claimed.numerator)


def smooth_after_all(witness: Witness) -> bool:
    """Difference quotients of the gradient of the clip link's surrogate on a fine grid."""
    z = np.linspace(-3, 3, 6001)
    size = number(witness, "G")
    return bool(np.max(np.abs(np.diff(size * np.clip(z, -1,
                                                     1)) / np.diff(z))) < size * 1.01) and witness["claimed"] == "oo"


def between_slopes(witness: Witness) -> bool:
    """A convex combination of limits of slopes of the clip link at 1."""
    left, right = ((np.clip(1 + h, -1, 1) - 1) / h for h in (-1e-6, 1e-6))
    return bool(min(left, right) <= number(witness, "a subgradient") <= max(left, right))


def kept_out(witness: Witness) -> bool:
    return number(witness, "slope on the left") > number(witness, "slope on the right") >= 0


def other_line(witness: Witness) -> bool:
    text = ["set", "for i", "eta_i", "for t", "update", "end for", "w_i is the average plus zeta_i", "end for"]
    told, true = (text[int(witness[name]) - 1] for name in ("claimed line", "line of the noise"))
    return "zeta" not in told and "zeta" in true


def stretched(witness: Witness) -> bool:
    """All signs of eight coordinates under a Hadamard matrix, and the binomial tail of scipy."""
    h = np.array([[1]])
    for _ in range(3):
        h = np.block([[h, h], [h, -h]])
    m, total = int(witness["m"]), 0.0
    for sign in itertools.product((1, -1), repeat=8):
        squares = (h @ np.array(sign)) ** 2 / 8
        if sorted(squares)[-1] > 7.9:
            total += float(stats.binom.sf(m // 2, m, 1 / 8)) / 256
    return bool(total > np.exp(-m * (3 - np.log(4)) / 2) and abs(total / number(witness,
                                                                                "probability, at least") - 1) < 1e-9)


def empty(witness: Witness) -> bool:
    n = int(witness["n"])
    return int(witness["phases"]) == int(np.ceil(np.log2(n))) and n // 2 ** int(witness["phases"]) == 0


def slow(witness: Witness) -> bool:
    n = int(witness["n"])
    return bool(144 * (n * np.log(n)) ** 2 > number(witness, "claimed"))


def drifts(witness: Witness) -> bool:
    """gamma 3 n_1 eta_1 B against 1/(sqrt(n) log n), with numbers."""
    w, b, n = number(witness, "W"), number(witness, "B"), int(witness["n"])
    gamma, eta = b / (n * np.log(n)), w / (6 * b * np.sqrt(n))
    return bool(gamma * 3 * (n // 2) * (eta / 4) * b > 1 / (np.sqrt(n) * np.log(n)))


def longer(witness: Witness) -> bool:
    b, gamma = number(witness, "B"), number(witness, "gamma")
    return number(witness, "answer") ** 2 > 4 * b**2 + gamma**2 and abs(
        number(witness, "answer") - number(witness, "gradient")) <= gamma * (1 + 1e-12)


def no_room(witness: Witness) -> bool:
    n = int(witness["n"])
    return bool((n + 1) / (n * np.log(n)) > 1)


def telescopes_elsewhere(witness: Witness) -> bool:
    least, target, last = (number(witness, name) for name in ("w_beta*", "w*", "w_k"))
    return abs((last - least) ** 2 - ((last - least) ** 2 - (target - least) ** 2)) > 1e-12


def four_times(witness: Witness) -> bool:
    return 2 * (2 * number(witness, "G B^2") / number(witness, "beta")) > number(witness, "claimed")


def biased(witness: Witness) -> bool:
    """The minimiser of the smoothed risk by two nested minimisations."""
    beta, p = number(witness, "beta"), number(witness, "P(y = 1)")

    def slope(w: float, y: int) -> float:
        u = optimize.brentq(lambda at: np.tanh(at) - y + beta * (at - w), w - 4 / beta, w + 4 / beta, xtol=1e-14)
        return float(beta * (w - u))

    found = optimize.brentq(lambda w: p * slope(w, 1) + (1 - p) * slope(w, -1), -3, 3, xtol=1e-13)
    excess = (np.tanh(found) - (2 * p - 1)) ** 2
    return bool(excess * np.sqrt(number(witness, "n")) > 5 and abs(excess / upper(
        witness["excess risk of the smoothed minimiser"]) - 1) < 1e-6)


def answers_nothing(witness: Witness) -> bool:
    """T = ceil(576/gamma^2) = 1: only u_1 = m is averaged; the derivative by a root finder."""
    gamma, m, y = upper(witness["gamma"]), number(witness, "m"), number(witness, "y")
    u = optimize.brentq(lambda at: float(np.clip(at, -1, 1)) - y + at - m, -5, 5)
    return int(np.ceil(576 / gamma**2)) == int(witness["T"]) == 1 and abs(m - u) > 2 / int(witness["n"])


def wrong_size(witness: Witness) -> bool:
    return np.ones(int(witness["coordinates"])).shape != np.ones(int(witness["d"])).shape


def too_short(witness: Witness) -> bool:
    """Gradients of at most 2, the phases' steps added up, and the risk that is left."""
    n, eta = int(witness["n"]), number(witness, "eta")
    moved = sum(2 * (n / 2**i) * (eta / 4**i) for i in range(1, 40)) + 100 * eta
    return moved < 0.1 and bool((np.tanh(1) - np.tanh(0.1)) ** 2 > 0.4)


def wrong_line(witness: Witness) -> bool:
    """The least risk over all releases on the line of Phi, for drawn Phi of a fixed seed."""
    target = np.tanh(np.array([float(Fraction(word)) for word in witness["w*"].split(", ")]))
    draw, scale = np.random.Generator(np.random.Philox(7)), np.linspace(-20, 20, 4001)
    left = [np.min(np.mean((np.tanh(scale[:, None] * draw.standard_normal(2)) - target) ** 2,
                           axis=1)) for _ in range(200)]
    return bool(np.mean(left) > 0.09 * 0.8 and int(witness["m"]) == 1)


def other_power(witness: Witness) -> bool:
    ratio = number(witness, "Theorem 4") / number(witness, "Theorem 1")
    return not 0.5 <= ratio <= 2


_WITNESSES = {
    "lem-4-domain": steep_outside, "lem-4-prox": not_minimal, "lem-5-from-lem-4": constant_too_small,
    "alg-4-bisection-prose": without_integrals, "alg-4-typos": averages_records, "alg-4": averages_records,
    "alg-4-derivative": value_is_no_slope,
    "thm-4-privacy": tells_more, "thm-4-privacy-step": echoes, "alg-5-R": small_factor, "thm-5-privacy": one_row,
    "sec-4.1.2-nonsmooth": smooth_after_all, "clarke-subgradient-reading-clarke": between_slopes,
    "alg-5-6-differentiable": kept_out, "alg-6-line-number": other_line, "alg-6-fast-jl-reading-hadamard": stretched,
    "alg-5-empty-phase": empty, "alg-5": empty,
    "alg-4-cost-reading-logarithmic": slow, "lem-10-last-term": drifts,
    "lem-10-cross-term": longer, "thm-4-proof-sensitivity": no_room, "thm-4-w-beta": telescopes_elsewhere,
    "thm-4-last-constant": four_times, "thm-4-beta": biased, "thm-5-gamma": answers_nothing, "thm-5-output": wrong_size,
    "big-O-parameters-thm-4": too_short, "big-O-parameters-thm-5": wrong_line,
    "thm-4-W-scaling-reading-explicit": other_power,
}
WITNESSES = {f"nonconvex-nn/{name}": verifier for name, verifier in _WITNESSES.items()}
NOT_WITNESSES = {
    "nonconvex-nn/thm-4-privacy": {"epsilon": "1", "claimed delta": "1/100000", "n": "1024",
                                   "tau_i/eta_i": "[33.9, 33.9]"},
    "nonconvex-nn/alg-5-R": {"R": "1", "epsilon": "1", "claimed delta": "1/100000", "n": "1024"},
    "nonconvex-nn/thm-4-proof-sensitivity": {"n": "4"},
    "nonconvex-nn/lem-10-last-term": {"W": "4", "B": "3", "n": "4"},
    "nonconvex-nn/alg-5-empty-phase": {"n": "4", "phases": "2"},
}
