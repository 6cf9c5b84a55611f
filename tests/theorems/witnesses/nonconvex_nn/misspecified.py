"""Witnesses against Section 4.2 of document 002, again: laws, risks and privacy, by quadrature, search and
iteration."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from fractions import Fraction

import mpmath
import numpy as np
from scipy import integrate, optimize, stats

from tests.theorems.witness_text import Witness, number


def no_room(witness: Witness) -> bool:
    """The largest mean square that a uniform ball of that radius has, by quadrature of its radius, is below d."""
    d, square = int(witness["d"]), number(witness, "bound on |x|^2")
    top = integrate.quad(lambda s: s ** (d + 1), 0, 1)[0]
    bottom = integrate.quad(lambda s: s ** (d - 1), 0, 1)[0]
    return bool(square * top / bottom < d - 1e-9 or square <= d)


def not_isotropic(witness: Witness) -> bool:
    low, high = number(witness, "low"), number(witness, "high")
    first, second = (integrate.quad(lambda x, i=i: x**i / (high - low), low, high)[0] for i in (1, 2))
    return bool(abs(first) > 1e-9 or abs(second - 1) > 1e-9)


def has_atoms(witness: Witness) -> bool:
    """A density's mass of ever smaller neighbourhoods of the points goes to 0; theirs does not."""
    points = [float(Fraction(word)) for word in witness["points"].split(", ")]
    mass = [sum(stats.norm.cdf(at + h) - stats.norm.cdf(at - h) for at in points) for h in (1e-3, 1e-6, 1e-9)]
    return bool(mass[-1] < 1e-8 < number(witness, "their probability"))


def uniform_mean(function: Callable[[float], float]) -> float:
    half = 3**0.5
    return float(sum(integrate.quad(function, *ends)[0] for ends in ((-half, 0), (0, half))) / (2 * half))


def larger_square(witness: Witness) -> bool:
    w, mu = number(witness, "w"), number(witness, "mu")
    left = uniform_mean(lambda x: max(0.0, w * x) ** 2)
    right = mu * uniform_mean(lambda x: max(0.0, w * x) * x) ** 2
    return mu == 0.5 and left > right + 1e-9


def above_the_gradient(witness: Witness) -> bool:
    """y = 0: both sides by quadrature, the claimed one as it is printed."""
    w, c = number(witness, "w"), number(witness, "constant")
    risk = uniform_mean(lambda x: max(0.0, w * x) ** 2)
    gradient = abs(uniform_mean(lambda x: max(0.0, w * x) * x))
    return risk > 2 * c * gradient + 1e-9 and abs(number(witness, "|gradient|") - gradient) < 1e-6


def total_above(witness: Witness) -> bool:
    w, c = number(witness, "w"), number(witness, "constant")
    risk = uniform_mean(lambda x: max(0.0, w * x) ** 2)
    return risk > 4 * c * abs(uniform_mean(lambda x: max(0.0, w * x) * x)) + 1e-9


def falling(power: int) -> tuple[float, float, float]:
    """E[x^2; x < 0] of the standardised beta law, and the ends of x."""
    law = stats.beta(1, power + 1)
    mean, deviation = law.mean(), law.std()

    def square(t: float) -> float:
        return float((t - mean) ** 2 / deviation**2 * law.pdf(t))

    below = integrate.quad(square, 0, mean)[0]
    return float(below), float(-mean / deviation), float((1 - mean) / deviation)


def ratio_of_risks(power: int) -> tuple[float, float, float]:
    """mu, the best risk and that at the zero of the gradient, for y = -max(0, x), by search over w."""
    below, _, _ = falling(power)
    above = 1 - below

    def risk(w: float) -> float:  # relu(wx) lives where wx > 0, y where x > 0
        return above * (1 + w) ** 2 if w > 0 else above + w**2 * below

    def gradient(w: float) -> float:
        return w * (above if w > 0 else below) + above

    best = min(optimize.minimize_scalar(risk, bounds=ends, method="bounded").fun for ends in ((-9, 0), (0, 9)))
    return min(below, above), float(best), risk(optimize.brentq(gradient, -50, 50))


def limit_is_worse(witness: Witness) -> bool:
    mu, best, reached = ratio_of_risks(int(witness["k"]))
    wide = max(abs(end) for end in falling(int(witness["k"]))[1:])
    return reached > 2 * (1 + 2 * mu) * best + 1e-4 and wide**2 <= number(witness, "|x|^2 at most") + 1e-9


def limit_is_worse_bounded(witness: Witness) -> bool:
    """The first coordinate as before, the others in a ball of radius sqrt(d + 1), which is isotropic in d - 1."""
    mu, best, reached = ratio_of_risks(int(witness["k"]))
    d, c = int(witness["d"]), number(witness, "C")
    wide = max(abs(end) for end in falling(int(witness["k"]))[1:])
    inside = wide**2 + d + 1 <= c**2 * d + 1e-6
    isotropic = abs((d + 1) / (d - 1 + 2) - 1) < 1e-12
    return inside and isotropic and reached > 2 * (1 + 2 * mu) * best + 1e-4


def run_is_worse(witness: Witness) -> bool:
    """The iterates themselves."""
    mu, best, _ = ratio_of_risks(int(witness["k"]))
    w, eta = 0.0, number(witness, "eta")
    for _ in range(int(witness["T"])):
        w -= eta * (w * (1 - mu if w > 0 else mu) + (1 - mu))
    return 1 - mu + w**2 * mu > 2 * (1 + 2 * mu) * best + number(witness, "alpha") + 1e-4


def still_convex(witness: Witness) -> bool:
    """The least slope over many pairs, x uniform on the signs."""
    row = np.array([float(Fraction(word)) for word in witness["Phi"].strip("()").split(", ")])
    x = np.array(list(itertools.product((1, -1), repeat=2))) @ row
    grid = np.linspace(-3, 3, 25)
    chi = np.array([np.mean(np.maximum(0, w * x) * x) for w in grid])
    slopes = [(chi[i] - chi[j]) / (grid[i] - grid[j]) for i in range(25) for j in range(i)]
    return bool(min(slopes) > number(witness, "claimed after") + 1e-6)


def gradients(d: int, weight: float, bound: float) -> list[np.ndarray]:
    """Gradients of many records with |x| <= sqrt(d), |y| <= B; the ends among them."""
    w = np.zeros(d)
    w[0] = weight
    ends = [sign * d**0.5 * np.eye(d)[i] for i in range(d) for sign in (1, -1)]
    return [(max(0.0, float(w @ x)) - y) * x for x in ends for y in (-bound, 0.0, bound)]


def longer_gradient(witness: Witness) -> bool:
    every = gradients(int(witness["d"]), number(witness, "|w|"), number(witness, "B"))
    return max(float(np.linalg.norm(g)) for g in every) > number(witness, "claimed") + 1e-9


def moves_more(witness: Witness) -> bool:
    every = gradients(int(witness["d"]), number(witness, "|w|"), number(witness, "B"))
    most = max(float(np.linalg.norm(a - b)) for a, b in itertools.combinations(every, 2))
    return most / int(witness["m"]) > number(witness, "claimed") + 1e-9


def true_delta(witness: Witness, deviation: mpmath.mpf) -> bool:
    """The Gaussian curve at the sensitivity found by the search above, in mpmath, over the first axis."""
    d, m = int(witness["d"]), int(witness["m"])
    eps, delta = number(witness, "epsilon"), number(witness, "delta")
    most = 2 * d**0.5 * number(witness, "B") / m  # x = +-sqrt(d) e_1, y = -B, at w = 0
    mu = mpmath.mpf(most) / deviation
    tail = mpmath.ncdf(mu / 2 - eps / mu) - mpmath.exp(eps) * mpmath.ncdf(-mu / 2 - eps / mu)
    return number(witness, "|w|") == 0 and tail > 10 * delta


def printed_number(witness: Witness) -> mpmath.mpf:
    log = mpmath.log(1.25 / number(witness, "delta"))
    return 8 * number(witness, "B") ** 2 * log / (int(witness["m"]) * number(witness, "epsilon")) ** 2


def variance_leaks(witness: Witness) -> bool:
    return true_delta(witness, mpmath.sqrt(printed_number(witness)))


def deviation_leaks(witness: Witness) -> bool:
    return true_delta(witness, printed_number(witness))


def grows(witness: Witness) -> bool:
    """The exact step w <- w - eta (w - w_l)/2, carried on to that step."""
    w, eta, norm = 0.0, number(witness, "eta"), number(witness, "|w_l|")
    for _ in range(int(witness["step"])):
        w -= eta * (w - norm) / 2
    return abs(w - eta * (w - norm) / 2) > abs(w)


def other_limit(witness: Witness) -> bool:
    """y = x/2: descent on the surrogate's gradient, and the risk's minimiser, both by quadrature."""
    w = 0.0
    for _ in range(400):
        w -= 0.5 * uniform_mean(lambda x, w=w: (max(0.0, w * x) - x / 2) * x)  # type: ignore[misc]
    best = optimize.minimize_scalar(
        lambda v: uniform_mean(lambda x: (max(0.0, v * x) - x / 2) ** 2), bounds=(0, 3), method="bounded").x
    return abs(w - number(witness, "claimed limit")) > 0.1 and abs(best - number(witness, "w*")) < 1e-3


WITNESSES: dict[str, Callable[[Witness], bool]] = {
    "nonconvex-nn/asm-2-vacuous": no_room,
    "nonconvex-nn/asm-2-examples": not_isotropic,
    "nonconvex-nn/asm-2-examples-bernoulli": has_atoms,
    "nonconvex-nn/lem-12-reading-convexity": larger_square,
    "nonconvex-nn/eq-11": above_the_gradient,
    "nonconvex-nn/eq-11-total": total_above,
    "nonconvex-nn/thm-7-constant": limit_is_worse,
    "nonconvex-nn/thm-7-constant-bounded": limit_is_worse_bounded,
    "nonconvex-nn/thm-7-utility-reading-strong": run_is_worse,
    "nonconvex-nn/projection-destroys-sc": still_convex,
    "nonconvex-nn/grad-bound-prose": longer_gradient,
    "nonconvex-nn/grad-bound-prose-sensitivity": moves_more,
    "nonconvex-nn/grad-bound-prose-proof": moves_more,
    "nonconvex-nn/thm-7-privacy": variance_leaks,
    "nonconvex-nn/alg-8": deviation_leaks,
    "nonconvex-nn/noise-shrinks-prose": grows,
    "nonconvex-nn/lem-15-wstar": other_limit,
}
NOT_WITNESSES: dict[str, Witness] = {
    "nonconvex-nn/asm-2-vacuous": {"d": "3", "bound on |x|^2": "5"},
    "nonconvex-nn/asm-2-examples-bernoulli": {"points": "0, 1", "their probability": "0"},
    "nonconvex-nn/thm-7-constant": {"k": "0", "|x|^2 at most": "3"},
    "nonconvex-nn/thm-7-utility-reading-strong": {"k": "0", "eta": "1/16", "T": "100", "alpha": "1/100"},
    "nonconvex-nn/projection-destroys-sc": {"Phi": "(0, 0)", "claimed after": "0"},
    "nonconvex-nn/grad-bound-prose": {"d": "4", "|w|": "0", "B": "1", "claimed": "2"},
    "nonconvex-nn/grad-bound-prose-sensitivity": {"d": "4", "|w|": "0", "B": "1", "m": "10", "claimed": "2/5"},
    "nonconvex-nn/thm-7-privacy": {
        "d": "1", "|w|": "0", "B": "1", "m": "100", "epsilon": "99/100", "delta": "1/100000"},
}
