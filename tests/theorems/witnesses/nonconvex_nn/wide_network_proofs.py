"""Witnesses against the proofs and conditions of Lemmas 19 to 27 of document 002, again: powers, tails, small runs."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction

import mpmath
import numpy as np
import sympy
from scipy import optimize, stats

from tests.theorems.witness_text import Witness
from tests.theorems.witnesses.nonconvex_nn.wide_network import number


def powers(witness: Witness, *names: str) -> list[mpmath.mpf]:
    """Numbers of a witness to many digits."""
    return [mpmath.mpf(Fraction(witness[name]).numerator) / Fraction(witness[name]).denominator for name in names]


def path_is_longer(witness: Witness) -> bool:
    """S L^2 R^3/(Delta C sqrt(m)) against the radius of Lemma 19, in numbers."""
    with mpmath.workdps(50):
        s, c, depth, r, loss, log, m = powers(witness, "S", "C", "L", "R", "Delta", "log_m", "m")
        path = s * depth**2 * r**3 / (loss * c * mpmath.sqrt(m))
        return bool(path > depth**-6 * m ** (-mpmath.mpf(3) / 8) * log ** (-mpmath.mpf(3) / 2)
                    * loss ** (mpmath.mpf(3) / 4) * (1 + mpmath.mpf(10) ** -20))


def remainder_is_larger(witness: Witness) -> bool:
    """S w^(4/3) L^3 sqrt(m log m) against Delta, w = R/sqrt(m) or as told."""
    with mpmath.workdps(50):
        s, depth, loss = powers(witness, "S", "L", "Delta")
        log = powers(witness, "log_m")[0] if "log_m" in witness else mpmath.mpf(1)
        m = powers(witness, "m")[0]
        if "omega^-8" in witness:
            omega = powers(witness, "omega^-8")[0] ** (-mpmath.mpf(1) / 8)
        else:
            omega = powers(witness, "R")[0] / mpmath.sqrt(m)
        rest = s * omega ** (mpmath.mpf(4) / 3) * depth**3 * mpmath.sqrt(m * log)
        return bool(rest > loss * (1 + mpmath.mpf(10) ** -20))


def radius_is_smaller(witness: Witness) -> bool:
    """R/sqrt(m) against the printed radius."""
    with mpmath.workdps(50):
        depth, r, loss, log, m = powers(witness, "L", "R", "Delta", "log_m", "m")
        radius = depth**-6 * m ** (-mpmath.mpf(3) / 8) * log ** (-mpmath.mpf(3) / 2) * loss ** (mpmath.mpf(3) / 4)
        return bool(r / mpmath.sqrt(m) > radius * (1 + mpmath.mpf(10) ** -20))


def no_step_size(witness: Witness) -> bool:
    """The largest eta of (21) times T is below the least eta T of (22)."""
    with mpmath.workdps(50):
        s, c, depth, r, t, m, square = powers(witness, "S", "C", "L", "R", "T", "m", "Delta^2")
        loss = mpmath.sqrt(square)
        return bool(t * loss / (s * depth * mpmath.sqrt(m) * c)
                    < s * depth**2 * r**2 / (c * mpmath.sqrt(m) * loss) * (1 - mpmath.mpf(10) ** -20))


def noise_breaks_it(witness: Witness) -> bool:
    """Both signs of the noise on a line: one of them breaks the third inequality."""
    eta, a, g = (Fraction(witness[k]) for k in ("eta", "W - W* - eta g", "G"))
    broken = [-(a**2) > -((a - eta * v) ** 2) + eta**2 * v**2 for v in (g, -g)]
    return sorted(broken) == [False, True] and broken[0]


def spreads_more(witness: Witness) -> bool:
    """The largest spread of M vectors of length C, found by maximising over angles in the plane."""
    eta, clip, batch = number(witness, "eta"), number(witness, "C"), int(witness["M"])
    if batch < 2:
        return False

    def spread(angles: np.ndarray) -> float:
        points = clip * np.stack([np.cos(angles), np.sin(angles)], axis=1)
        return -eta / (2 * batch) * float(((points - points[0]) ** 2).sum())

    best = max(-optimize.minimize(spread, np.linspace(0, 3, batch) + k).fun for k in range(3))
    return bool(best > number(witness, "claimed") * (1 + 1e-9))


def sum_is_larger(witness: Witness) -> bool:
    weights, distances = ([Fraction(v) for v in witness[k].split(", ")] for k in ("weights", "squared distances"))
    total = sum(w * (x - y) for w, x, y in zip(weights, distances, distances[1:], strict=False))
    return total > max(weights) * (distances[0] - distances[-1])


def doubled_is_less(witness: Witness) -> bool:
    d, eta = Fraction(witness["difference"]), Fraction(witness["eta"])
    return d / eta < d / (2 * eta)


def projection_moves(witness: Witness) -> bool:
    w, u, r = (number(witness, k) for k in ("W", "eta (gradient + noise)", "R"))
    return bool(abs(float(np.clip(w - u, -r, r)) - w) > abs(u))


def shorter_than_clipped(witness: Witness) -> bool:
    g, clip = number(witness, "|g|"), number(witness, "C")
    return (g / max(1, g / clip)) ** 2 < clip**2


def small_but_not_in_it(witness: Witness) -> bool:
    size, mean, part = (number(witness, k) for k in ("|B|", "M", "deviation"))
    return size < (1 - part) * mean and not size - mean >= part * mean


def inside(witness: Witness) -> float:
    """P(|X - mu| <= t) by scipy's chi distribution."""
    return float(stats.chi.cdf(number(witness, "t") / number(witness, "sigma"), int(witness["n"])))


def more_than_at_most(witness: Witness) -> bool:
    t, n, sigma = number(witness, "t"), int(witness["n"]), number(witness, "sigma")
    return bool(inside(witness) > 1 - 2 * np.exp(-t / (2 * n * sigma**2)) + 1e-12)


def less_than_at_least(witness: Witness) -> bool:
    t, n, sigma = number(witness, "t"), int(witness["n"]), number(witness, "sigma")
    return bool(inside(witness) < 1 - 2 * np.exp(-t / (2 * n * sigma**2)) - 1e-9)


def less_than_in_the_proof(witness: Witness) -> bool:
    t, n, sigma = number(witness, "t"), int(witness["n"]), number(witness, "sigma")
    return bool(inside(witness) < 1 - 2 * np.exp(-(t**2) / (2 * n * sigma)) - 1e-9)


def product_is_larger(witness: Witness) -> bool:
    """E e^{s|Y|} by quadrature."""
    n, s = int(witness["n"]), number(witness, "s")
    moment = 2 * mpmath.quad(lambda y: mpmath.exp(s * y) * mpmath.npdf(y), [0, s, s + 5, s + 20])
    return bool(moment**n > number(witness, "claimed") * mpmath.exp(s**2 * n / 2) * (1 + 1e-9))


def least_is_other(witness: Witness) -> bool:
    t, n, sigma = number(witness, "t"), int(witness["n"]), number(witness, "sigma")
    least = optimize.minimize_scalar(lambda s: s**2 * n * sigma / 2 - s * t).fun
    return bool(abs(least - number(witness, "claimed")) > 1e-9 * max(1.0, abs(least)) and least < 0)


def noise_is_longer(witness: Witness) -> bool:
    """The ratio of weights to the claimed length grows like the width, at two widths."""
    m = sympy.Symbol("m", positive=True)
    energy, claimed = (sympy.sympify(witness[k], locals={"m": m})
                       for k in ("E|G|^2/sigma^2", "claimed squared, but for logarithms"))
    depth, inputs = int(witness["L"]), int(witness["d"])
    shapes = [(1000, inputs)] + [(1000, 1000)] * (depth - 2) + [(1, 1000)]
    counted = sum(a * b for a, b in shapes)
    ratio = [float((energy / claimed).subs(m, w)) for w in (10**3, 10**6)]
    return bool(counted == energy.subs(m, 1000) and ratio[1] > 500 * ratio[0])


def remainder_differs(witness: Witness) -> bool:
    """f = a b around (1, 1), in floats."""
    alpha, beta = number(witness, "alpha"), number(witness, "beta")

    def f(a: float, b: float) -> float:
        return a * b

    rest = f(1 + alpha, 1 + beta) - f(1 + alpha, 1) - (1 + alpha) * beta
    gap = f(1 + alpha, 1 + beta) - (1 + alpha + beta)
    return abs(rest - gap) > 1e-9


def gaps_add(witness: Witness) -> bool:
    u, v = number(witness, "u"), number(witness, "v")
    return abs(u - v) > abs(u) - abs(v)


def steeper_in_weights(witness: Witness) -> bool:
    """The slope of S log(1 + e^f) along a unit direction in which f has that slope."""
    s, g, step = number(witness, "S"), number(witness, "|grad f|"), 1e-6
    slope = s * (np.logaddexp(0, g * step) - np.logaddexp(0, -g * step)) / (2 * step)
    return bool(slope > number(witness, "claimed") + 1e-6)


def loss_rises(witness: Witness) -> bool:
    """S log(1 + e^-f) from f = -50."""
    s, moved = number(witness, "S"), number(witness, "<f', W - W(0)>")
    rise = s * (np.logaddexp(0, 50 - moved) - np.logaddexp(0, 50))
    return bool(rise > s * moved + 1e-9)


def loss_is_larger(witness: Witness) -> bool:
    """The loss l(0) + S (softplus(f) - log 2), at most S steep, at f = |f(W(0))| + moved."""
    at_zero, s, start, moved = (number(witness, k) for k in ("l(0, y)", "S", "|f(W(0))|", "|f(W) - f(W(0))|"))
    loss = at_zero + s * (np.logaddexp(0, start + moved) - np.log(2))
    return bool(loss > start + s * moved + 1e-9)


def rises_by_more(witness: Witness) -> bool:
    """A linear f of L layers with slopes c sqrt(m), moved by R/sqrt(m) in each."""
    s, depth, r, c, m = (number(witness, k) for k in ("S", "L", "R", "|grad_l f|/sqrt(m)", "m"))
    rise = s * sum(c * m**0.5 * (r / m**0.5) for _ in range(int(depth)))
    return bool(rise > c * s * depth * r / m**0.5 * (1 + 1e-9))


WITNESSES: dict[str, Callable[[Witness], bool]] = {
    "nonconvex-nn/lem-25": path_is_longer,
    "nonconvex-nn/lem-22-eq-19": remainder_is_larger,
    "nonconvex-nn/lem-19-S": remainder_is_larger,
    "nonconvex-nn/lem-19-S-agrees": radius_is_smaller,
    "nonconvex-nn/lem-25-Delta": no_step_size,
    "nonconvex-nn/lem-25-cross-term": noise_breaks_it,
    "nonconvex-nn/lem-25-constant": spreads_more,
    "nonconvex-nn/lem-25-telescoping": sum_is_larger,
    "nonconvex-nn/lem-25-doubling": doubled_is_less,
    "nonconvex-nn/lem-25-path": projection_moves,
    "nonconvex-nn/lem-25-clipped": shorter_than_clipped,
    "nonconvex-nn/lem-23-tail": small_but_not_in_it,
    "nonconvex-nn/lem-24": more_than_at_most,
    "nonconvex-nn/lem-24-reading-at-least": less_than_at_least,
    "nonconvex-nn/lem-24-reading-proof": less_than_in_the_proof,
    "nonconvex-nn/lem-24-product": product_is_larger,
    "nonconvex-nn/lem-24-sign": least_is_other,
    "nonconvex-nn/lem-25-noise-norm": noise_is_longer,
    "nonconvex-nn/lem-25-n": noise_is_longer,
    "nonconvex-nn/lem-19-base": remainder_differs,
    "nonconvex-nn/lem-19-gaps": gaps_add,
    "nonconvex-nn/lem-19-lipschitz": steeper_in_weights,
    "nonconvex-nn/lem-27-display": loss_rises,
    "nonconvex-nn/rem-17": loss_is_larger,
    "nonconvex-nn/rem-17-thm-13": rises_by_more,
}
NOT_WITNESSES: dict[str, Witness] = {
    "nonconvex-nn/lem-25": dict.fromkeys(("S", "C", "L", "R", "Delta", "log_m", "m"), "1"),
    "nonconvex-nn/lem-25-Delta": dict.fromkeys(("S", "C", "L", "R", "T", "m", "Delta^2"), "1"),
    "nonconvex-nn/lem-25-cross-term": {"eta": "1", "W - W* - eta g": "1", "G": "1"},
    "nonconvex-nn/lem-25-constant": {"eta": "1", "C": "1", "M": "2", "claimed": "1"},
    "nonconvex-nn/lem-25-telescoping": {"weights": "2, 2", "squared distances": "1, 5, 1"},
    "nonconvex-nn/lem-25-doubling": {"difference": "1", "eta": "1"},
    "nonconvex-nn/lem-25-path": {"W": "1", "eta (gradient + noise)": "1/2", "R": "1"},
    "nonconvex-nn/lem-24-reading-at-least": {"t": "1", "n": "1", "sigma": "1"},
    "nonconvex-nn/lem-24-product": {"n": "1", "s": "1", "claimed": "2"},
    "nonconvex-nn/lem-19-gaps": {"u": "2", "v": "1"},
    "nonconvex-nn/rem-17": {"l(0, y)": "0", "S": "1", "|f(W(0))|": "1", "|f(W) - f(W(0))|": "1"},
}
