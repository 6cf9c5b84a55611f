"""Witnesses against document 002, Section 4.1.3, again: floats, simulation and quadrature."""

from __future__ import annotations

from fractions import Fraction

import mpmath
import numpy as np

from tests.theorems.witness_text import Witness
from tests.theorems.witnesses.nonconvex_nn.smoothing import mixed_delta, upper
from tests.theorems.witnesses.sbcd.prose import number


def is_lipschitz(witness: Witness) -> bool:
    """Difference quotients of max(0, z) on a grid up to the witness's z."""
    z = np.linspace(-number(witness, "z"), number(witness, "z"), 4001)
    return bool(np.max(np.abs(np.diff(np.maximum(0, z)) / np.diff(z))) < 1 + 1e-9)


def same_rates(witness: Witness) -> bool:
    return bool(np.sqrt(int(witness["d"])) == np.sqrt(int(witness["theta"])))


def one_row(witness: Witness) -> bool:
    """The law of |g| cut into intervals, from where the ball of radius 2W does not cut the crossing."""
    n, eta, w, sigma = int(witness["n"]), number(witness, "eta"), number(witness, "W"), upper(witness["sigma^2"]) ** 0.5
    epsilon, claimed = number(witness, "epsilon"), Fraction(witness["claimed delta"])
    mu = 2 / n / sigma  # of |g| = 1; the crossing of w_2 lies epsilon/(mu |g|) of its deviations from the middle
    if not epsilon / (mu * 5) * eta * sigma < 2 * w:
        return False
    with mpmath.workdps(60):
        true = mixed_delta(mpmath.mpf(epsilon), mpmath.mpf(mu), 5.0)
        return bool(true * claimed.denominator > claimed.numerator)


def last_is_no_mean(witness: Witness) -> bool:
    iterates = np.array([float(Fraction(word)) for word in witness["iterates"].split(", ")])
    return bool(abs(np.mean(iterates) - np.mean(np.full(len(iterates), iterates[-1]))) > 1e-9)


def noise_remembers(witness: Witness) -> bool:
    """The mixed term by drawing one noise for both steps."""
    draws = np.random.Generator(np.random.Philox(3)).standard_normal(100_000) * number(witness, "m sigma^2") ** 0.5
    mixed = float(np.mean(draws * (-number(witness, "eta") * draws)))
    return abs(mixed - number(witness, "E<zeta, w_2>")) < 0.02 and mixed < -0.1


def better_than_comparator(witness: Witness) -> bool:
    """Surrogate losses by a sum over a fine grid of scores."""
    phi, target, last = (number(witness, name) for name in ("Phi", "w*", "w_{T+1}"))

    def loss(score: float) -> float:
        z = np.linspace(0, score, 10001)
        return float(np.trapezoid(np.maximum(0, z) - target, z))

    return loss(phi * phi * target) > loss(phi * last) + 1e-6


def power_of_w(witness: Witness) -> bool:
    """m/2 times the mean square error of a random projection with 50 rows, drawn."""
    w = number(witness, "W")
    chi = np.random.Generator(np.random.Philox(5)).chisquare(50, 200_000) / 50
    return float(np.mean((w * chi - w) ** 2)) * 50 / 2 > 0.98 * 10 * w


def long_step(witness: Witness) -> bool:
    w, b = number(witness, "W"), number(witness, "B")
    return bool(w / ((w + b) * np.sqrt(int(witness["T"]))) > 0.5)


def learns_nothing(witness: Witness) -> bool:
    """Algorithm 7 without noise or projection for T steps, its iterates averaged from 0."""
    w, seen = 0.0, []
    for _ in range(int(witness["T"])):
        seen.append(w)
        w -= 0.5 * (max(0.0, w * number(witness, "x")) - number(witness, "y")) * number(witness, "x")
    return (max(0.0, float(np.mean(seen))) - number(witness, "y")) ** 2 > 0.99


_WITNESSES = {
    "relu-nonneg-prose-lipschitz": is_lipschitz, "relu-worse-prose-reading-strictly": same_rates,
    "thm-6-privacy": one_row, "alg-7-typos": last_is_no_mean, "alg-7": last_is_no_mean,
    "alg-7-typos-noise": noise_remembers,
    "thm-6-decomposition-second": better_than_comparator, "thm-6-jl-term": power_of_w, "thm-6-eta": long_step,
    "big-O-parameters-thm-6": learns_nothing,
}
WITNESSES = {f"nonconvex-nn/{name}": verifier for name, verifier in _WITNESSES.items()}
NOT_WITNESSES = {
    "nonconvex-nn/thm-6-eta": {"W": "3", "B": "1", "T": "4"},
    "nonconvex-nn/relu-worse-prose-reading-strictly": {"d": "4", "theta": "3"},
    "nonconvex-nn/big-O-parameters-thm-6": {"T": "400", "x": "1", "y": "1"},
}
