"""Witnesses against the proof of Theorem 7 of document 002, again: steps, sums and sizes, carried out in floats."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction

import mpmath
import numpy as np
from scipy import integrate, special

from tests.theorems.witness_text import Witness
from tests.theorems.witnesses.nonconvex_nn.misspecified import number


def does_not_vanish(witness: Witness) -> bool:
    """E sigmoid(x) x for x uniform, by quadrature; y = 0 and w = 1."""
    half = 3**0.5
    mean = integrate.quad(lambda x: special.expit(number(witness, "w") * x) * x, -half, half)[0] / (2 * half)
    return bool(abs(mean - number(witness, "claimed limit")) > 0.2)


def first_step_is_too_long(witness: Witness) -> bool:
    """One step from 0 with the noise away from w_l, in few coordinates: its length is that of d of them."""
    d, bound, eps = int(witness["d"]), number(witness, "B"), number(witness, "epsilon")
    norm = number(witness, "|w_l|")
    m = number(witness, "m^2") ** 0.5
    hidden = (6 * (4 / 16 + 6)) ** 0.5 * (d**0.5 * norm + bound) * number(witness, "log factors")
    deviation = 8**0.5 * bound * number(witness, "log factors") / (m * eps)
    noise = np.array([-(d**0.5) * deviation, 0.0])
    target = np.array([norm, 0.0])
    after = -number(witness, "eta") * (-target / 2 + -noise)  # the noise points away from w_l
    large = m >= hidden / (eps * number(witness, "alpha")) * (1 - 1e-9)
    return large and float(np.linalg.norm(after - target)) > 2 * norm


def square_is_another(witness: Witness) -> bool:
    u, v, eta = (number(witness, key) for key in ("u", "v", "eta"))
    return abs((u - eta * v) ** 2 - number(witness, "claimed")) > 1e-9


def step_is_longer(witness: Witness) -> bool:
    """The step itself, the premise of Lemma 14, and the right side of (12) as printed."""
    tau, beta, eta = (number(witness, key) for key in ("tau", "beta", "eta"))
    u, rise, g, zeta = (number(witness, key) for key in ("u", "Delta", "g", "zeta"))
    coercive = rise * u >= tau * u**2 + beta * rise**2
    right = (1 - tau * eta / 2) * u**2 + eta * (4 * eta + 1 / tau) * (g**2 + zeta**2)
    return coercive and (u - eta * (rise + g + zeta)) ** 2 > right + 1e-9


def overshoots(witness: Witness) -> bool:
    """Gradient descent on the quadratic, by differences of its values."""
    curve = float(Fraction(witness["loss"].split(" ")[0]))
    slope = (curve * 1.5**2 / 2 - curve * 0.5**2 / 2) / 1.0
    return curve > 0 and abs(1 - number(witness, "eta") * slope) > 1


def leaves_the_ball(witness: Witness) -> bool:
    tau, eta, alpha = (number(witness, key) for key in ("tau", "eta", "alpha"))
    inside = alpha < number(witness, "|w_l|") and number(witness, "|u|") <= 2 * number(witness, "|w_l|")
    return inside and (1 - tau * eta / 4) * number(witness, "|u|") ** 2 + 2 * alpha**2 / 9 > 4


def root_is_too_large(power: int, outside: int) -> Callable[[Witness], bool]:
    """With tau^power in the root, and alpha^outside beside it."""

    def verify(witness: Witness) -> bool:
        tau, beta, eta, alpha = (number(witness, key) for key in ("tau", "beta", "eta", "alpha"))
        error = (tau**power / (9 * (4 * tau * beta + 1))) ** 0.5 * alpha**outside
        return eta <= 1 / 16 and (4 * eta + 1 / tau) / tau * error**2 > alpha**2 / 9 + 1e-9

    return verify


def series_is_larger(witness: Witness) -> bool:
    tau, eta = number(witness, "tau"), number(witness, "eta")
    total = 0.0
    for _ in range(20000):
        total = (1 - tau * eta / 2) * total + eta
    return total > number(witness, "claimed") + 1e-6


def too_few_steps(witness: Witness) -> bool:
    """log |w_l| is 0, so that every multiple of it is: the start is not within alpha."""
    norm, alpha = number(witness, "|w_l|"), number(witness, "alpha")
    return mpmath.log(norm) == 0 and number(witness, "T") == 0 and norm > alpha and norm**2 / 2 > alpha


def events_add_up(witness: Witness) -> bool:
    """Independent events of probability zeta, one after the other."""
    zeta, count, some = number(witness, "zeta"), int(witness["events"]), 0.0
    for _ in range(count):
        some += (1 - some) * zeta
    return count == 1 + 2 * int(witness["T"]) and some > number(witness, "claimed") + 1e-12


def noise_is_left(witness: Witness) -> bool:
    """The lower bound of E|w_T - w_l|^2/alpha^2 again, in mpmath."""
    d = mpmath.mpf(10) ** int(witness["d"].split("^")[1])
    steps, eta, z = int(witness["T"]), number(witness, "eta"), number(witness, "z epsilon")
    epsilon, alpha = mpmath.mpf("0.5"), mpmath.mpf("0.1")
    n = int(witness["hidden constant"]) * d ** mpmath.mpf(float(Fraction(witness["exponent"]))) / (epsilon * alpha)
    length = 0.0
    for _ in range(steps - 1):
        length += eta * (1 - length) / 2
    deviation = z / epsilon * 3 * d * length * steps / n  # r^2 = 3d, |w_l| = 1
    return bool(eta**2 * d * deviation**2 / alpha**2 > 1)


def summary_differs(witness: Witness) -> bool:
    return witness["d, epsilon, alpha in the summary"].split(", ") != witness["in the theorem"].split(", ")


def labels_are_missing(witness: Witness) -> bool:
    """The printed noise's part from B in the last step, against alpha."""
    d, eps, m = number(witness, "d"), number(witness, "epsilon"), number(witness, "n") / int(witness["T"])
    deviation = 2 * number(witness, "z epsilon") / eps * number(witness, "B") / m
    alpha = number(witness, "alpha")
    enough = number(witness, "n") >= 100 * d * number(witness, "|w_l|") / (eps * alpha)
    return enough and alpha < number(witness, "|w_l|") and number(witness, "eta") ** 2 * d * deviation**2 > alpha**2


def range_is_empty(witness: Witness) -> bool:
    """y = 0: the gradient at 0 vanishes, so that w_l = 0."""
    x = np.linspace(-(3**0.5), 3**0.5, 1001)
    gradient = float(np.mean((np.maximum(0, 0 * x) - number(witness, "y")) * x))
    return gradient == 0 and number(witness, "alpha below") <= 0


def grows_faster(witness: Witness) -> bool:
    """The largest difference of two gradients at |w| = 1 and B = 0, in both dimensions."""
    small, large = (int(word) for word in witness["d"].split(" and "))

    def moved(d: int) -> float:
        w = np.eye(d)[0]
        records = [sign * d**0.5 * w for sign in (1, -1)]
        one, other = (max(0.0, float(w @ x)) * x for x in records)
        return float(np.linalg.norm(one - other))

    grown = moved(large) / moved(small)
    return abs(grown - number(witness, "claimed")) > 1e-6 or abs(
        grown * (large / small) ** 0.5 - number(witness, "claimed for the norm")) > 1e-6


WITNESSES: dict[str, Callable[[Witness], bool]] = {
    "nonconvex-nn/lem-13": does_not_vanish,
    "nonconvex-nn/lem-15": first_step_is_too_long,
    "nonconvex-nn/lem-15-cross-term": square_is_another,
    "nonconvex-nn/eq-12": step_is_longer,
    "nonconvex-nn/lem-15-nonexpansive": overshoots,
    "nonconvex-nn/lem-15-induction": leaves_the_ball,
    "nonconvex-nn/thm-7-alpha-root": root_is_too_large(2, 2),
    "nonconvex-nn/thm-7-alpha-root-tau": root_is_too_large(1, 1),
    "nonconvex-nn/thm-7-geometric-sum": series_is_larger,
    "nonconvex-nn/thm-7-T": too_few_steps,
    "nonconvex-nn/thm-7-T-step": too_few_steps,
    "nonconvex-nn/thm-7-probability": events_add_up,
    "nonconvex-nn/thm-7-sample-complexity": noise_is_left,
    "nonconvex-nn/thm-7-sample-complexity-intro": summary_differs,
    "nonconvex-nn/thm-7-B-missing": labels_are_missing,
    "nonconvex-nn/thm-7-alpha-range": range_is_empty,
    "nonconvex-nn/misspecified-linear-d": grows_faster,
}
NOT_WITNESSES: dict[str, Witness] = {
    "nonconvex-nn/lem-15-cross-term": {"u": "1", "v": "1", "eta": "1", "claimed": "0"},
    "nonconvex-nn/lem-15-nonexpansive": {"loss": "8 t^2/2", "eta": "1/16"},
    "nonconvex-nn/lem-15-induction": {"tau": "1/6", "eta": "1/16", "alpha": "1/10", "|w_l|": "1", "|u|": "2"},
    "nonconvex-nn/thm-7-alpha-root": {"tau": "1/6", "beta": "1/8", "eta": "1/16", "alpha": "1/3"},
    "nonconvex-nn/thm-7-geometric-sum": {"tau": "1/6", "eta": "1/16", "claimed": "12"},
    "nonconvex-nn/thm-7-probability": {"zeta": "1/1000", "T": "1", "events": "3", "claimed": "3/1000"},
    "nonconvex-nn/misspecified-linear-d": {"d": "1 and 4", "claimed": "4", "claimed for the norm": "8"},
}
