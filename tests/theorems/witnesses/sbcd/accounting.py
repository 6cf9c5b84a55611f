"""The accounting of document 001, re-judged with integrals and matrix powers instead of the checkers' recursions."""

from __future__ import annotations

import re
from collections.abc import Mapping

import mpmath
import sympy


def _corollary(witness: Mapping[str, str]) -> sympy.Expr:
    """Corollary 4.5 as printed, step by step, where its powers 1/L_T^2 are integers."""
    epochs, batches, before = (int(witness[key]) for key in ("epochs", "batches", "j_0"))
    noise = [sympy.Rational(word) for word in witness["noise"].split(",")]
    gradient, prox, eta, size, shift = (sympy.Rational(witness[key]) for key in ("L_F", "L_T", "eta", "b", "S_g"))
    bound, spread = sympy.Integer(0), sympy.Integer(0)  # R/alpha, and the inverse of the log-Sobolev constant c
    for index in range(epochs * batches):
        o = noise[index // batches]
        if index % batches == before:
            bound += eta * shift**2 / (4 * size**2 * o)
        elif bound != 0:
            bound *= (gradient**2 * spread / (gradient**2 * spread + 2 * eta * o)) ** (1 / prox**2)
        spread = prox**2 * (gradient**2 * spread + 2 * eta * o)
    return bound


def divergence(mean: mpmath.mpf, variance: mpmath.mpf) -> mpmath.mpf:
    """The Renyi divergence of order 2 of N(mean, variance) against N(0, variance), by an integral."""
    root = mpmath.sqrt(variance)

    def ratio(x: mpmath.mpf) -> mpmath.mpf:
        return mpmath.npdf(x, mean, root) ** 2 / mpmath.npdf(x, 0, root)

    return mpmath.log(mpmath.quad(ratio, [2 * mean + k * root for k in (-20, -5, 0, 5, 20)]))


def decay_is_too_fast(witness: Mapping[str, str]) -> bool:
    """Whether a step of linear maps on Gaussian laws loses more, at order 2, than the printed corollary says."""
    eta, o, v, slope, prox = (
        mpmath.mpf(sympy.Rational(witness[key]).p) / sympy.Rational(witness[key]).q
        for key in ("eta", "o", "1/c", "L_F", "L_T")
    )
    before = divergence(mpmath.mpf(1), v)
    after = divergence(prox * slope, prox**2 * (slope**2 * v + 2 * eta * o))
    return bool(after > before * (1 + 2 * eta * o / v / slope**2) ** (-1 / prox**2) * (1 + mpmath.mpf("1e-9")))


def closed_form_is_below_a_loss(witness: Mapping[str, str]) -> bool:
    """The printed (11), L_T = 1, against the touch of the last step, all that a map onto the second axis keeps."""
    epochs, batches, before = (int(witness[key]) for key in ("epochs", "batches", "j_0"))
    noise = [sympy.Rational(word) for word in witness["noise"].split(",")]
    noise.append(noise[-1])
    ratio = sympy.Rational(witness["L_F"]) ** 2
    if not (witness["L_T"] == witness["b"] == witness["S_g"] == "1" and before == batches - 1):
        return False

    def variance(epoch: int, step: int) -> sympy.Expr:
        count = epoch * batches + step
        return sum((ratio ** (count - 1 - i) * noise[i // batches] for i in range(count)), sympy.Integer(0))

    printed = sympy.Integer(0)
    for k in range(epochs):
        factor = variance(epochs, batches - 1) / variance(k, before + 1)
        factor *= (1 / ratio) ** ((batches - 1) * (epochs - k) - before)
        for epoch in range(k, epochs + 1):
            factor *= variance(epoch, before) / variance(epoch, before + 1)
        printed += sympy.zoo if factor == 0 else 1 / (8 * noise[k] * factor)
    last = noise[epochs - 1]  # theta_1 = 1/2 or 0, plus N(0, last)
    true = divergence(mpmath.mpf("0.5"), mpmath.mpf(last.p) / last.q) / 2
    return bool(true > mpmath.mpf(printed.p) / printed.q * (1 + mpmath.mpf("1e-9")))


def hidden_position_does_not_help(witness: Mapping[str, str]) -> bool:
    """The divergence of order 2 of theta_1's mixture over both positions, by an integral."""
    epochs, steps = int(witness["epochs"]), 2 * int(witness["epochs"])
    if (witness["own"], witness["other"], witness["coupling"], witness["batches"]) != ("0", "1", "1", "2"):
        return False
    # theta_1 after all steps: one own noise each, and every theta_0 but the last; a touch reaches it in the next step.
    root = mpmath.sqrt(2 * steps - 1)
    means = [mpmath.mpf(epochs) / 2, mpmath.mpf(epochs - 1) / 2]

    def ratio(x: mpmath.mpf) -> mpmath.mpf:
        return (sum(mpmath.npdf(x, m, root) for m in means) / 2) ** 2 / mpmath.npdf(x, 0, root)

    centre = 2 * means[0]
    found = mpmath.log(mpmath.quad(ratio, [centre + k * root for k in (-20, -5, -2, 0, 2, 5, 20)]))
    return bool(found > mpmath.mpf(sympy.Rational(witness["claimed R_2"]).p) / sympy.Rational(witness["claimed R_2"]).q)


def blocks_reveal_more(witness: Mapping[str, str]) -> bool:
    """Whether the joint law of both blocks, unrolled with matrix powers, is further apart than claimed."""
    own = sympy.Rational(witness["theta_0"].split()[0])
    coupling, other = (sympy.Rational(n) for n in re.findall(r"(\S+) theta_[01]", witness["theta_1"]))
    epochs, batches, before = (int(witness[key]) for key in ("epochs", "batches", "j_0"))
    step, steps = sympy.Matrix([[own, 0], [coupling, other]]), epochs * batches
    powers = [step ** (steps - 1 - i) for i in range(steps)]
    touches = [powers[i] * sympy.Matrix([sympy.Rational(1, 2), 0]) for i in range(steps) if i % batches == before]
    mean = sum(touches, sympy.zeros(2, 1))
    covariance = sum((power * power.T for power in powers), sympy.zeros(2, 2))
    alone = {**_SETTING, **witness, "L_F": str(own), "noise": ", ".join(["1"] * epochs)}  # block 1 alone loses nothing
    return bool((mean.T * covariance.LUsolve(mean))[0] / 2 > _corollary(alone))


_SETTING = {"epochs": "1", "batches": "2", "noise": "1", "L_F": "1", "L_T": "1", "eta": "1/2", "S_g": "1", "b": "1"}

WITNESSES = {
    "sbcd/cor-4.5-case1": decay_is_too_fast,
    "sbcd/fixed-blocks": blocks_reveal_more,
    "sbcd/thm-4.6-eq-11": closed_form_is_below_a_loss,
    "sbcd/fixed-blocks-mixed": hidden_position_does_not_help,
}
NOT_WITNESSES = {
    "sbcd/cor-4.5-case1": {"eta": "1/2", "o": "1", "1/c": "1", "L_F": "1", "L_T": "1"},
    "sbcd/thm-4.6-eq-11": {**_SETTING, "j_0": "1"},
    "sbcd/fixed-blocks-mixed": {
        "own": "0", "other": "1", "coupling": "1", "epochs": "2", "batches": "2", "claimed R_2": "1/4",
    },
    "sbcd/fixed-blocks": {
        "theta_0": "1 theta_0", "theta_1": "0 theta_0 + 0 theta_1", "epochs": "1", "batches": "2", "j_0": "0",
    },
}
