"""Witnesses against document 000's Section 4 and Appendices C, D and G, again: least squares, simulation, grids."""

from __future__ import annotations

import ast
import math
from collections.abc import Callable
from fractions import Fraction

import mpmath
import numpy as np
from scipy import optimize

from tests.theorems.witness_text import Witness


def features(x: np.ndarray, u: np.ndarray) -> np.ndarray:
    """The blocks D_i X side by side."""
    return np.hstack([(x @ direction >= 0)[:, None] * x for direction in u])


def positive_optimum(witness: Witness) -> bool:
    """Ridge regression as ordinary least squares with extra rows; its loss is certainly not the claimed one."""
    x, u, y = (np.array(ast.literal_eval(witness[key]), float) for key in ("X", "u", "y"))
    lam, claimed = float(Fraction(witness["lambda"])), float(Fraction(witness["claimed minimum"]))
    a = features(x, u)
    stacked = np.vstack([a / math.sqrt(len(y)), math.sqrt(lam) * np.eye(a.shape[1])])
    target = np.concatenate([y / math.sqrt(len(y)), np.zeros(a.shape[1])])
    v = np.linalg.lstsq(stacked, target, rcond=None)[0]
    return bool(abs(((stacked @ v - target) ** 2).sum() / 2 - claimed) > 1e-3) and lam > 0


def rate(witness: Witness) -> bool:
    """sqrt(p) / (n epsilon) at p = n is a thousand times (n epsilon)^(-1/2)."""
    n, epsilon = float(witness["n"]), float(Fraction(witness["epsilon"]))
    return math.sqrt(n) / (n * epsilon) >= 999 / math.sqrt(n * epsilon)


def below_the_minimum(witness: Witness) -> bool:
    """(lambda/2) n^2 / (tr S + n^2 lambda) with tr S = 2 n d P and d = n, against n^-1/2 log^10 n."""
    with mpmath.workdps(60):
        n, patterns, lam = mpmath.mpf(witness["n"]), mpmath.mpf(Fraction(witness["P"]).numerator), mpmath.mpf(1)
        patterns /= Fraction(witness["P"]).denominator
        enough = patterns >= 80 * mpmath.sqrt(2) * mpmath.log(10 * n)
        least = lam / 2 * n**2 / (2 * n * n * patterns + n**2 * lam)
        return bool(enough and least > mpmath.log(n) ** 10 / mpmath.sqrt(n)) and witness["lambda"] == "1"


def large_gradients(witness: Witness) -> bool:
    """The mean squared gradient at 0 over simulated records, five standard errors down (wrong at most once in 1e6)."""
    d, patterns, claimed = int(witness["d"]), int(witness["P"]), float(Fraction(witness["claimed"]))
    generator = np.random.default_rng(1)
    x = generator.normal(size=(2000, d))
    squares = (features(x, generator.normal(size=(patterns, d))) ** 2).sum(axis=1)  # one draw of u for all: P fixed
    fresh = np.array([
        (features(row[None], generator.normal(size=(patterns, d))) ** 2).sum() for row in x[:500]
    ])
    return all(s.mean() - 5 * s.std() / math.sqrt(len(s)) > claimed for s in (squares, fresh))


def still_or_wrong(witness: Witness) -> bool:
    """Algorithm 1 on |theta| and |theta - 1|, C = R: a step leaves the average off 0, none leaves the second at 1."""
    n, epsilon, delta, beta = (float(witness[key]) for key in ("n", "epsilon", "delta", "beta"))
    printed = math.sqrt(float(witness["p"]) * math.log(1 / delta) * math.log(1 / beta)) / (n * epsilon)
    generator = np.random.default_rng(2)

    def average(target: float, eta: float, steps: int) -> float:
        theta, total = 0.0, 0.0
        for _ in range(steps):
            theta -= eta * (float(np.sign(theta - target)) + 0.01 * float(generator.normal()))
            total += theta / steps
        return total

    moving = [abs(average(0.0, eta, steps)) for eta in (1e-6, 1e-3, 1.0, 1e6) for steps in (1, 2, 10)]
    return witness["C"] == "R" and min(moving) > 0 and abs(average(1.0, 0.0, 10) - 1) > printed


def shapes(witness: Witness) -> bool:
    """A gradient of (3.6) has as many entries as v, and the noise another number."""
    d, patterns = int(witness["d"]), int(witness["P"])
    generator = np.random.default_rng(3)
    x, u = generator.normal(size=(3, d)), generator.normal(size=(patterns, d))
    gradient = features(x, u).T @ np.ones(3)
    return int(gradient.size) != int(witness["claimed"])


def better_rate(witness: Witness) -> bool:
    """The rates in n, d and epsilon themselves, at epsilon = 1 / (n x) and d = 1: their ratio grows without end."""
    ratios = []
    for n in (1e6, 1e12, 1e18):
        x = n ** float(-Fraction(witness["x"].removeprefix("n^-")))
        d, epsilon = 1.0, 1 / (n * x)
        other = {
            "Theorem D.3": math.sqrt(d) / (epsilon * n),
            "Arora et al. 2023": d ** (1 / 3) / (epsilon * n) ** (2 / 3),
            "Bassily et al. 2021": n ** (-1 / 3) + d**0.2 / (epsilon * n) ** 0.4,
        }[witness["pair"]]
        ratios.append((1 / math.sqrt(n) + math.sqrt(d) / (epsilon * n)) / other)
    return ratios[1] > 5 * ratios[0] and ratios[2] > 5 * ratios[1]


def objectives(witness: Witness) -> bool:
    """A feasible point of the second problem lies well below every point of a grid for (G.1)."""
    y, lam = (float(Fraction(witness[key])) for key in ("y", "lambda"))
    u, alpha = np.meshgrid(np.linspace(0, 3, 601), np.linspace(-3, 3, 1201))
    least = float(((np.maximum(u, 0) * alpha - y) ** 2 / 2 + lam / 2 * (u**4 + alpha**4)).min())
    if witness["bound on |u|"] != "None" or witness["bound on alpha"] != "1":
        return False
    small = 1e-3
    feasible = (max(0.0, y / small) * small - y) ** 2 / 2 + lam * small**2
    return feasible < 0.1 * least


def width_moves_it(witness: Witness) -> bool:
    """(G.1) for one record by descent in all weights from equal and random starts, of that width."""
    width, lam = int(witness["m"]), float(Fraction(witness["lam"]))
    claimed = lam / (2 + 2 * lam)  # whatever the width, from 2 on

    def objective(weights: np.ndarray) -> float:
        u, alpha = weights[:width], weights[width:]
        return float((np.maximum(u, 0) @ alpha - 1) ** 2 / 2 + lam / 2 * (weights**4).sum())

    generator = np.random.default_rng(6)
    starts = [np.full(2 * width, 0.5), *(generator.uniform(0, 1, size=2 * width) for _ in range(4))]
    return min(optimize.minimize(objective, start).fun for start in starts) < claimed - 1e-4


def not_invariant(witness: Witness) -> bool:
    u, alpha, gamma = (float(Fraction(witness[key])) for key in ("u", "alpha", "gamma"))

    def both(weight: float, outer: float) -> tuple[float, float]:
        return max(0.0, weight) * outer, (abs(weight) ** 4 + outer**4) / 2

    (before, cost), (after, scaled) = both(u, alpha), both(gamma * u, alpha / gamma)
    return abs(before - after) < 1e-12 and abs(cost - scaled) > 1e-6


def no_real_scaling(witness: Witness) -> bool:
    return float(Fraction(witness["alpha"])) / float(Fraction(witness["|u|"])) < 0


def beyond_the_textbook(witness: Witness) -> bool:
    """Follow the subgradients of the witness down |theta| and hold the average's loss against the textbook's bound."""
    steps, eta, factor = (Fraction(witness[key]) for key in ("T", "eta", "factor of G^2"))
    theta, total = Fraction(0), Fraction(0)
    for g in (Fraction(part) for part in witness["subgradients"].split(",")):
        if abs(g) > 1 or (g * theta != abs(theta) and theta != 0):
            return False  # no subgradient of |theta|
        theta -= eta * g
        total += theta
    return abs(total / steps) > eta / 2 * factor


def one_side_only(witness: Witness) -> bool:
    """One noisy step from 0 and the projection onto (3.5), 4000 times: v_2 < 0 near half of them, or never."""
    u, x, other = (np.array(ast.literal_eval(witness[key]), float) for key in ("u", "record", "other record"))
    generator = np.random.default_rng(4)

    def share(record: np.ndarray) -> float:
        v = record - generator.normal(size=(4000, 2))  # the gradient at 0 is -y x, y = 1
        normal = record * (1 if record @ u >= 0 else -1)
        v -= np.minimum(0, v @ normal)[:, None] * normal / (normal @ normal)
        return float((v[:, 1] < -1e-9).mean())

    return share(x) > 0.4 and share(other) == 0.0 and Fraction(witness["delta below"]) <= Fraction(1, 2)


def excluding(witness: Witness) -> bool:
    """Three intervals of [0, 1) side by side cover more than is allowed."""
    covered = Fraction(0)
    for part in witness["failing"].split(","):
        covered += Fraction(part)
    return Fraction(witness["gamma"]) < covered <= 1


def not_the_mean(witness: Witness) -> bool:
    losses = [float(Fraction(part)) for part in witness["losses"].split(",")]
    printed = sum(losses[int(witness["j"]) - 1] for _ in losses) / len(losses)
    return abs(printed - float(np.mean(losses))) > 1e-9


def not_scaled(witness: Witness) -> bool:
    residuals = np.sqrt([float(Fraction(part)) for part in witness["squared residuals"].split(",")])
    return bool(abs(np.linalg.norm(residuals) ** 2 / 2 - np.mean(residuals**2 / 2)) > 1e-9)


def more_variables(witness: Witness) -> bool:
    """Move every entry of (v, w) a little and count those that move the prediction of (3.4)."""
    d, patterns = int(witness["d"]), int(witness["P"])
    generator = np.random.default_rng(5)
    x = generator.normal(size=(1, d))
    wide = np.hstack([x] * patterns)  # all patterns active

    def prediction(weights: np.ndarray) -> float:
        v, w = np.split(weights, 2)
        return float((wide @ (v - w))[0])

    start = generator.normal(size=2 * d * patterns)
    moving = sum(abs(prediction(start + e) - prediction(start)) > 1e-9 for e in np.eye(len(start)))
    return moving != int(witness["claimed"])


def wrong_letters(witness: Witness) -> bool:
    x, y, a, b = (float(Fraction(witness[key])) for key in ("x", "y", "a", "b"))
    return x**2 + y**2 < 2 * a * b


def outputs_interact(witness: Witness) -> bool:
    """A mixed second difference of log-sum-exp at 0."""
    def loss(one: float, two: float) -> float:
        return math.log(math.exp(one) + math.exp(two)) - one

    h = 1e-4
    mixed = (loss(h, h) - loss(h, -h) - loss(-h, h) + loss(-h, -h)) / (4 * h * h)
    return abs(mixed - float(Fraction(witness["value"]))) < 1e-3 and abs(mixed) > 0.1


WITNESSES: dict[str, Callable[[Witness], bool]] = {
    "relu-approx/zero-optimum-3.6": positive_optimum,
    "relu-approx/thm-4.1": rate,
    "relu-approx/thm-4.1-regularised": below_the_minimum,
    "relu-approx/thm-4.1-gradients": large_gradients,
    "relu-approx/thm-D.3": still_or_wrong,
    "relu-approx/thm-D.3-applies": one_side_only,
    "relu-approx/thm-4.1-union": excluding,
    "relu-approx/eq-3.7-index": not_the_mean,
    "relu-approx/app-D-scale": not_scaled,
    "relu-approx/p-of-3.4": more_variables,
    "relu-approx/young": wrong_letters,
    "relu-approx/k-independent": outputs_interact,
    "relu-approx/alg-1": shapes,
    "relu-approx/alg-1-average": beyond_the_textbook,
    "relu-approx/intro-rates-worse": better_rate,
    "relu-approx/intro-rates-erm": better_rate,
    "relu-approx/G.1-analogous": width_moves_it,
    "relu-approx/thm-G.1-reading-letters": objectives,
    "relu-approx/thm-G.1-proof": not_invariant,
    "relu-approx/thm-G.1-gamma": no_real_scaling,
}

NOT_WITNESSES: dict[str, Witness] = {
    "relu-approx/zero-optimum-3.6": {
        "X": "[[1, 0]]", "u": "[[2, 1]]", "y": "[1]", "lambda": "1", "claimed minimum": "1/4",
    },
    "relu-approx/thm-4.1": {"n": "1000000000000", "epsilon": "1"},
    "relu-approx/thm-4.1-regularised": {"n": "1e40", "lambda": "1", "P": "11172"},
    "relu-approx/thm-4.1-gradients": {"d": "1", "P": "16", "claimed": "100"},
    "relu-approx/thm-D.3-applies": {
        "u": "[1, 1]", "record": "[1, 0]", "other record": "[1, 0]", "delta below": "1/2",
    },
    "relu-approx/eq-3.7-index": {"losses": "2, 2", "j": "1"},
    "relu-approx/app-D-scale": {"squared residuals": "3"},
    "relu-approx/p-of-3.4": {"d": "2", "P": "1", "claimed": "4"},
    "relu-approx/young": {"x": "1", "y": "2", "a": "1", "b": "2"},
    "relu-approx/k-independent": {"value": "0"},
    "relu-approx/thm-4.1-union": {"gamma": "1/10", "failing": "1/30, 1/30, 1/30"},
    "relu-approx/alg-1": {"d": "3", "P": "1", "claimed": "3"},
    "relu-approx/intro-rates-erm": {"pair": "Theorem D.3", "x": "n^-0"},
    "relu-approx/G.1-analogous": {"m": "2", "lam": "1/2"},
    "relu-approx/intro-rates-worse": {"pair": "Arora et al. 2023", "x": "n^-1/4"},
    "relu-approx/alg-1-average": {"T": "1", "eta": "1", "factor of G^2": "2", "subgradients": "1"},
    "relu-approx/thm-D.3": {"C": "R", "p": "1", "n": "2", "epsilon": "1", "delta": "1e-5", "beta": "0.05"},
    "relu-approx/thm-G.1-reading-letters": {"y": "1", "lambda": "1/10", "bound on |u|": "1", "bound on alpha": "None"},
    "relu-approx/thm-G.1-proof": {"u": "1", "alpha": "1", "gamma": "1"},
    "relu-approx/thm-G.1-gamma": {"|u|": "1", "alpha": "1"},
}
