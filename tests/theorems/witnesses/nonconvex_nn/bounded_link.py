"""Witnesses against what document 002 says of bounded links, again: simulation, quadrature, distribution functions."""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction

import mpmath
import numpy as np
from scipy import integrate, stats

from tests.theorems.witness_text import Witness, number


def numbers(text: str) -> np.ndarray:
    return np.array([float(Fraction(word)) for word in text.split(",")])


def clip(z: float) -> float:
    return max(-1.0, min(1.0, z))


def gaussian_delta(epsilon: float, mu: float) -> mpmath.mpf:
    with mpmath.workdps(40):
        eps, m = mpmath.mpf(epsilon), mpmath.mpf(mu)
        return mpmath.ncdf(m / 2 - eps / m) - mpmath.exp(eps) * mpmath.ncdf(-m / 2 - eps / m)


# --- definitions and links

def another_size(witness: Witness) -> bool:
    n, other = int(witness["n"]), int(witness["neighbour's n"])
    return bool(sum(math.floor(n / 2**i) != math.floor(other / 2**i) for i in range(1, 40)) > 1)


def turns_too_fast(witness: Witness) -> bool:
    s, beta = number(witness, "s"), number(witness, "beta")
    w = np.random.default_rng(1).normal(size=(200, 2))
    f, slope = s * w**2 / 2, s * w
    rises = f[:, 1] <= f[:, 0] + slope[:, 0] * (w[:, 1] - w[:, 0]) + beta / 2 * (w[:, 1] - w[:, 0]) ** 2 + 1e-15
    turned = np.abs(slope[:, 1] - slope[:, 0]) > beta * np.abs(w[:, 1] - w[:, 0])
    return bool(rises.all() and turned.all())


def too_few_rows(witness: Witness) -> bool:
    constant, alpha, rows = number(witness, "C"), number(witness, "alpha"), int(witness["rows"])
    log_beta = -(alpha**2) / constant
    asked = constant * -log_beta / alpha**2
    return bool(rows >= asked - 1e-9 and stats.chi2.logsf(rows * (1 + alpha), rows) > log_beta)


def always_off(witness: Witness) -> bool:
    alpha, m = number(witness, "alpha"), int(witness["m"])
    inside = stats.chi2.cdf(m * (1 + alpha), m) - stats.chi2.cdf(m * (1 - alpha), m)
    return bool(1 - inside > 0.99)


def not_convex(witness: Witness) -> bool:
    slope = number(witness, "slope of the link on [0, 1]")
    at = [integrate.quad(lambda z: slope * z, 0, s)[0] for s in (0.0, 0.5, 1.0)]
    return bool(at[0] + at[2] - 2 * at[1] < -1e-12)


def better_model(witness: Witness) -> bool:
    c, w = number(witness, "c"), number(witness, "w")
    x = np.array([1.0, -1.0])
    y = c * x
    return bool(abs(y.mean()) < 1e-15 and np.mean((clip(w) * x - y) ** 2) < np.mean((0 * x - y) ** 2))


def rank_is_not_one(witness: Witness) -> bool:
    x = numbers(witness["x"])
    return int(np.linalg.matrix_rank(number(witness, "slope of the link") * np.outer(x, x))) != 1


def other_gradient(witness: Witness) -> bool:
    y, score, h = number(witness, "y"), number(witness, "<w, x>"), 1e-4
    loss = [integrate.quad(lambda z: z / (1 + abs(z)) - y, 0, score + side * h)[0] for side in (1, -1)]
    return bool(abs((loss[0] - loss[1]) / (2 * h) - number(witness, "claimed")) > 1e-3)


def other_hessian(witness: Witness) -> bool:
    score, h = number(witness, "<w, x>"), 1e-5
    link = [(score + side * h) / (1 + abs(score + side * h)) for side in (1, -1)]
    return abs((link[0] - link[1]) / (2 * h) - number(witness, "claimed")) > 1e-3


def no_curvature(witness: Witness) -> bool:
    x, v = numbers(witness["x"]), numbers(witness["v"])
    hessian = number(witness, "slope of the link") * np.outer(x, x)
    return bool(v.any() and v @ hessian @ v <= 1e-12)


def no_number(witness: Witness) -> bool:
    slope, rise = np.float64(number(witness, "slope of the link")), number(witness, "sigma(z) - sigma(<w*, x>)")
    with np.errstate(all="ignore"):
        return bool(np.isnan(slope * rise / slope))


def same_risk(witness: Witness) -> bool:
    x, (one, other) = np.array([1.0, 0.0]), (numbers(witness[key].strip("()")) for key in ("w*", "w"))
    return bool((one != other).any() and np.isclose(one @ x, other @ x))


# --- phases

def nothing_left(witness: Witness) -> bool:
    n = int(witness["n"])
    return bool(math.floor(n / 2 ** math.ceil(math.log2(n))) == 0)


def not_all_used(witness: Witness) -> bool:
    n = int(witness["n"])
    return bool(sum(math.floor(n / 2**i) for i in range(1, 60)) != n)


def never_arrives(witness: Witness) -> bool:
    """A run of 1024 records x = 1, y = 0 = w*, without noise, from that start: the risk stays 1."""
    w, n = number(witness, "|w_0|/W"), 1024
    for i in range(1, 11):
        eta, total = 1 / math.sqrt(n) / 4**i, 0.0
        for _ in range(n >> i):
            total += w
            w -= eta * clip(w)
        w = total / (n >> i)
    return clip(w) ** 2 > 10 / math.sqrt(n)


def phase_on(witness: Witness) -> tuple[float, float]:
    """L(wbar) - L(z) and |w^1 - z|^2 of a phase in the plane, x of that length in a slanted direction."""
    bound, eta, n = number(witness, "B"), number(witness, "eta_i"), int(witness["n_i"])
    length = math.sqrt(number(witness, "|x|^2")) if "|x|^2" in witness else 1.0
    x = length * np.array([0.6, 0.8])
    z = (bound + 2 * bound * eta * n * length**2) / length**2 * x
    reach = number(witness, "reach") if "reach" in witness else 2 * bound * eta * n
    w = z + reach * x
    start, iterates = w.copy(), []
    for _ in range(n):
        iterates.append(w.copy())
        w = w - eta * (max(-bound, min(bound, float(w @ x))) + bound) * x
    average = np.mean(iterates, axis=0)
    gained = integrate.quad(lambda s: max(-bound, min(bound, s)) + bound, float(z @ x), float(average @ x))[0]
    return gained, float((start - z) @ (start - z))


def more_than_the_lemma(witness: Witness) -> bool:
    gained, apart = phase_on(witness)
    bound, eta, n = number(witness, "B"), number(witness, "eta_i"), int(witness["n_i"])
    base = 4 * eta if number(witness, "|x|^2") <= 1 else eta  # of Lemma 8 as printed, and of Lemma 9
    return gained > apart / (2 * base * n) + 2 * bound**2 * eta + 1e-9


def more_than_the_radius(witness: Witness) -> bool:
    gained, apart = phase_on(witness)
    bound, eta, n = number(witness, "B"), number(witness, "eta_i"), int(witness["n_i"])
    return gained - apart / (2 * eta * n) > 2 * bound**2 * number(witness, "R") ** 2 * eta + 1e-9


def loss_rises(witness: Witness) -> bool:
    tau = number(witness, "tau_k")
    raised = integrate.quad(lambda z: min((tau * z) ** 2 / 2, abs(tau * z) - 0.5 if abs(tau * z) > 1 else math.inf)
                            * stats.norm.pdf(z), -10, 10)[0]
    return bool(raised > 0.4 * tau**2 / (1 + tau**2))


# --- privacy

def long_steps_tell(witness: Witness) -> bool:
    """Both runs in full, as vectors; the exact curve of the Gaussian pair of their last releases."""
    epsilon, delta, n = number(witness, "epsilon"), number(witness, "delta"), int(witness["n"])
    first, eta, lean = n // 2, number(witness, "eta_1 G"), number(witness, "a")
    averages = []
    for label in (1.0, -1.0):
        w, total = np.zeros(first + 1), np.zeros(first + 1)
        for t in range(first):
            total += w
            x, y = np.zeros(first + 1), 0.0
            if t == 0:
                x[0], y = 1.0, label
            else:
                x[0], x[t] = -lean, math.sqrt(1 - lean**2)
            w = w - eta * (clip(float(w @ x)) - y) * x
        averages.append(total / first)
    noise = 8 * math.sqrt(math.log(1 / delta)) / epsilon * eta
    spread = math.sqrt(sum((noise / 4**i) ** 2 for i in range(int(math.log2(n)))))
    return bool(gaussian_delta(epsilon, float(np.linalg.norm(averages[0] - averages[1])) / spread) > delta)


def too_little_noise(witness: Witness) -> bool:
    epsilon, delta = number(witness, "epsilon"), number(witness, "delta")
    mu = number(witness, "moved over B eta_1") * epsilon / (8 * math.sqrt(-math.log1p(delta - 1)))
    return bool(gaussian_delta(epsilon, mu) > delta)


def projected_delta(witness: Witness) -> mpmath.mpf:
    """E delta(epsilon, mu_0 |g|) by quadrature over |g|, chi with m degrees of freedom over sqrt(m)."""
    epsilon, delta = number(witness, "epsilon"), number(witness, "delta")
    m, first = int(witness["m"]), int(witness["n"]) // 2
    apart = 4 * (first - 1) / first * epsilon / (16 * math.sqrt(math.log(2 / delta)))

    def weighed(r: mpmath.mpf) -> mpmath.mpf:
        density = 2 * mpmath.mpf(m) ** (m / 2) * r ** (m - 1) * mpmath.exp(-m * r**2 / 2) / (
            mpmath.mpf(2) ** (m / 2) * mpmath.gamma(mpmath.mpf(m) / 2))
        return density * gaussian_delta(epsilon, apart * r)

    with mpmath.workdps(30):
        return mpmath.quad(weighed, [mpmath.mpf("0.05"), 1, 2, 4, 6, 8, 12])


def long_records_tell(witness: Witness) -> bool:
    return bool(projected_delta(witness) > mpmath.mpf(number(witness, "delta")))


def runs_part(witness: Witness) -> bool:
    """Two runs a little apart, one step on a record of length 2 where the link has the slope G."""
    x, slope = np.array([0.0, 2.0]), number(witness, "G")
    one, other = np.zeros(2), np.array([0.0, 1e-3])
    moved = [w - number(witness, "eta_1") * slope * (w @ x) * x for w in (one, other)]
    return bool(np.linalg.norm(moved[0] - moved[1]) > np.linalg.norm(one - other) + 1e-9)


def neighbour_is_long(witness: Witness) -> bool:
    phi, n = numbers(witness["Phi"]), int(witness["n"])
    return bool(np.all(np.abs(phi[:n]) <= 2) and abs(phi[n]) > 2)


def longer_than_claimed(witness: Witness) -> bool:
    m, n, delta = int(witness["m"]), int(witness["n"]), number(witness, "delta")
    length = 1 + math.log(math.sqrt(n / delta)) / m
    return bool(stats.chi2.sf(m * length**2, m) > delta)


# --- utility

def nothing_is_learnt(witness: Witness) -> bool:
    """The farthest that steps may carry w, and the noise's spread; the risk at what is near 0 with Chebyshev."""
    n, eta = int(witness["n"]), number(witness, "eta")
    phases = range(1, int(math.log2(n)) + 1)
    carried = sum(2 * eta / 4**i * n / 2**i for i in phases)
    spread = math.sqrt(sum((8 * math.sqrt(math.log(2)) * eta / 4**i) ** 2 for i in phases))
    near = 1 - (spread / (0.25 - carried)) ** 2
    return bool(near * 0.25**2 > 1000 * (n**-0.5 + 8 / n))


def one_row_is_not_enough(witness: Witness) -> bool:
    """The best multiple of each of 400 drawn rows, by search."""
    n = int(witness["n"])
    scale = np.concatenate([-np.logspace(-3, 3, 300), np.logspace(-3, 3, 300)])
    rows = np.random.default_rng(2).normal(size=(400, 2 * int(witness["m"])))
    risks = [np.min(((np.clip(scale * g[0], -1, 1) - 0.5) ** 2 + (np.clip(scale * g[1], -1, 1) + 0.5) ** 2) / 2)
             for g in rows]
    return bool(np.mean(risks) > 1000 * (n ** (-2 / 3) + n**-0.5))


def expected_rank_is_less(witness: Witness) -> bool:
    atoms, n = int(witness["rank of the expectation"]), int(witness["n"])
    draws = np.random.default_rng(3).integers(atoms, size=(400, n))
    return bool(np.mean([len(set(row)) for row in draws]) < 0.9 * number(witness, "claimed"))


def basis_is_larger(witness: Witness) -> bool:
    n, d = int(witness["n"]), int(witness["d"])
    records = np.eye(d)[:n]
    return int(np.linalg.matrix_rank(np.linalg.eigh(records.T @ records)[1])) > n


def projection_costs_more(witness: Witness) -> bool:
    """Link the clip of G z to [-100, 100], x = 1, w* = W, m rows: the surrogate's mean excess by quadrature."""
    slope, norm, m = number(witness, "G"), number(witness, "W"), int(witness["m"])
    edge = 100 / slope

    def loss(score: float) -> float:
        low = min(score, edge)
        return slope * (low - norm) ** 2 / 2 + (score - low) * (100 - slope * norm)

    cost = integrate.quad(lambda c: loss(norm * c / m) * stats.chi2.pdf(c, m), 0, 40 * m, limit=200)[0]
    return bool(cost > number(witness, "claimed") * 1.01)


def first_moment_is_larger(witness: Witness) -> bool:
    """The mean absolute deviation of chi^2_m/m, by its closed form, over 1000 m^exponent."""
    with mpmath.workdps(60):
        half = mpmath.mpf(int(witness["m"])) / 2
        deviation = 2 * mpmath.exp((half - 1) * mpmath.log(half) - half - mpmath.loggamma(half))
        return bool(deviation > 1000 * (2 * half) ** mpmath.mpf(number(witness, "claimed exponent")))


def constant_is_short(witness: Witness) -> bool:
    slope, norm, bound = (number(witness, key) for key in ("G", "W", "B"))
    return 2 * slope**2 * norm**2 > 1000 * slope**2 * norm * bound


def surrogate_on_the_left(witness: Witness) -> bool:
    slope = number(witness, "G")
    surrogate = integrate.quad(lambda z: slope * z, 0, 2)[0]
    return bool(surrogate > 2 * slope * surrogate + 1e-9)


WITNESSES: dict[str, Callable[[Witness], bool]] = {
    f"nonconvex-nn/{name}": verifier for name, verifier in {
        "alg-2": nothing_left, "alg-2-empty-phase": nothing_left,
        "alg-2-partition": not_all_used, "alg-2-start": never_arrives,
        "asm-1": not_convex, "big-O-parameters": nothing_is_learnt, "big-O-parameters-thm-2": one_row_is_not_enough,
        "def-1-dp-reading-add": another_size, "def-4": turns_too_fast, "def-6-jl": too_few_rows,
        "def-6-jl-any-alpha": always_off, "eq-1-noise-reading-marginal": better_model, "lem-2-definite": no_curvature,
        "lem-2-gradient": other_gradient, "lem-2-hessian": other_hessian, "lem-2-rank": rank_is_not_one,
        "lem-3-division": no_number, "lem-3-minimiser-reading-only": same_risk, "lem-8": more_than_the_lemma,
        "lem-9-reading-fixed": more_than_the_lemma, "rem-theta-eigenbasis": basis_is_larger,
        "theta-two-definitions": expected_rank_is_less, "thm-1-last-noise": loss_rises,
        "thm-1-privacy": long_steps_tell, "thm-1-privacy-delta": too_little_noise,
        "thm-1-privacy-steps": long_steps_tell, "thm-1-proof-R": more_than_the_radius,
        "thm-2-concentration": longer_than_claimed, "thm-2-event": neighbour_is_long,
        "thm-2-final-constant": constant_is_short, "thm-2-final-left": surrogate_on_the_left,
        "thm-2-jl-term-W": projection_costs_more, "thm-2-jl-term-first": first_moment_is_larger,
        "thm-2-privacy": long_records_tell, "thm-2-privacy-range": long_records_tell, "thm-2-step": runs_part,
    }.items()
}
NOT_WITNESSES: dict[str, Witness] = {
    "nonconvex-nn/alg-2-empty-phase": {"n": "4"},
    "nonconvex-nn/alg-2-start": {"|w_0|/W": "1/100"},
    "nonconvex-nn/asm-1": {"slope of the link on [0, 1]": "1"},
    "nonconvex-nn/big-O-parameters": {"n": "1024", "eta": "1/1000000"},
    "nonconvex-nn/def-6-jl": {"C": "8", "alpha": "1", "rows": "1"},
    "nonconvex-nn/lem-2-rank": {"slope of the link": "1", "x": "1, 0, 0"},
    "nonconvex-nn/lem-8": {"B": "1", "eta_i": "1/4", "n_i": "4", "|x|^2": "1", "reach": "0"},
    "nonconvex-nn/lem-9-reading-fixed": {"B": "1", "eta_i": "1/4", "n_i": "4", "|x|^2": "4", "reach": "0"},
    "nonconvex-nn/thm-1-privacy": {
        "epsilon": "99/100", "delta": "1/100000", "n": "1024", "eta_1 G": "1", "a": "1/1000"},
    "nonconvex-nn/thm-1-privacy-delta": {
        "epsilon": "999/1000", "delta": "1/2", "moved over B eta_1": "511/128"},
    "nonconvex-nn/thm-2-concentration": {"m": "1", "n": "1", "delta": "1/1000"},
    "nonconvex-nn/thm-2-jl-term-first": {"m": "1000000000000", "claimed exponent": "-1/2"},
    "nonconvex-nn/thm-2-privacy": {"epsilon": "1/4", "delta": "1/100000", "n": "1024", "m": "24"},
    "nonconvex-nn/thm-2-step": {"G": "1", "eta_1": "1/4"},
}
