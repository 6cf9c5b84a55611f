r"""Adaptive batched descent for ReLU regression without a model (002, Theorem 7), by exact second moments (rates R5).

x is uniform on the cube [-sqrt(3), sqrt(3)]^d (symmetric, isotropic, log-concave, |x| <= r = sqrt(3d)), and
y = x_1/2 + xi with xi = +-1/8, which no ReLU explains. As relu(a) = (a + |a|)/2 and y is odd in x, all that follows is
closed. With kappa = E x_1^2 |x|^2 = d + 4/5,

    E relu(<w,x>) x = w/2,  w_l = 2 E[yx] = e_1,  L(w) = |w|^2/2 - w_1/2 + 1/4 + 1/64,  L(w*) = 1/8 + 1/64 at e_1/2,
    E|g|^2 = kappa (|w|^2/2 - w_1/2 + 1/4) + d/64        for g = (relu(<w,x>) - y) x.

One step from w with a fresh batch of m records and noise N(0, s(w)^2 I_d): the mean error shrinks by 1 - eta/2, and
e_i = E|w_i - w_l|^2 obeys

    e_i = (1 - eta/2)^2 e_(i-1) + eta^2 [ (E|g|^2 - e_(i-1)/4)/m + d E s^2 ],       E|w|^2 = e + 2 E w_1 - 1.

The noise that gives (epsilon, delta) has s = z r (r|w| + 2B)/m, z = sqrt(2 log(1.25/delta))/epsilon: the text's lacks
the outer r (read as a variance, s = 2z (r|w| + B)/m). E s^2 needs E|w|, which lies between |E w| and sqrt(E|w|^2): the
curve is a sandwich, of certified balls. Its exponents are those of the excess risk over L(w_l), which is e/2 up to what
is left of the start. Predictions for e: n^-1 without privacy, (n epsilon)^-2 with it; in d, the corrected noise gives
d^3 ((d^(3/2))^2), the text promises d^2, which only its own noise has. T = (4/(tau eta)) log(|w_l|/alpha) with
tau = mu/3 = 1/6 and alpha = e^-2: the text's T = O(log|w_l|) is 0 here.

The text's formula read as a standard deviation, s = (2z (r|w| + B)/m)^2, has no study: its second moment needs the
fourth of |w|, which is not closed.
"""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

import numpy as np
from flint import arb

from empirical.studies.study import Array, Curve, Number, Premise, Simulation, Spot, Study
from oracle.core.enclosure import ball
from oracle.core.registry import algorithm, bound
from oracle.core.tape import Tape

DELTA, LABELS, SPREAD, RATE, STEPS = Fraction(1, 100_000), 1, Fraction(1, 8), Fraction(1, 16), 768
_FACTOR = Fraction(4845, 1000)  # at least sqrt(2 log(1.25/delta))
_OPTIMUM = Fraction(1, 8) + SPREAD**2
_MODELS = 32  # trained on a data set where noise is what differs
_SILENT = Fraction(1, 10**9)  # noise of a run without privacy: the twin wants some


def _radius(spot: Spot) -> int:
    """r = sqrt(3d), a whole number for d = 3 4^k."""
    return math.isqrt(3 * spot["dimension"])


def _batch(spot: Spot) -> int:
    return int(spot["n"]) // STEPS


def multiplier(spot: Spot) -> Fraction:
    """z, the noise in multiples of the sensitivity; 0 without privacy."""
    return Fraction(0) if spot["epsilon"] == "infinity" else _FACTOR / spot["epsilon"]


def _mean(step: int) -> Fraction:
    """The mean of the first coordinate after so many steps, exactly; the means of the others are 0."""
    return 1 - (1 - RATE / 2) ** step


def _noise(spot: Spot, square: arb, length: arb) -> arb:
    """E s^2 from E|w|^2 and E|w|."""
    z, r, m = multiplier(spot), _radius(spot), _batch(spot)
    if spot["noise"] == "corrected":
        return ball((z * r / m) ** 2) * (r**2 * square + 4 * LABELS * r * length + 4 * LABELS**2)
    return ball((2 * z / m) ** 2) * (r**2 * square + 2 * LABELS * r * length + LABELS**2)


def distances(spot: Spot) -> tuple[arb, arb]:
    """A lower and an upper bound of E|w_T - w_l|^2."""
    d, m = spot["dimension"], _batch(spot)
    kappa, eta, kept = ball(d + Fraction(4, 5)), ball(RATE), ball((1 - RATE / 2) ** 2)
    ends = []
    for lower in (True, False):
        e, mean = arb(1), arb(0)
        for _ in range(STEPS):
            square = e + 2 * mean - 1
            gradient = kappa * (square / 2 - mean / 2 + ball(Fraction(1, 4))) + ball(d * SPREAD**2)
            noise = d * _noise(spot, square, mean if lower else square.sqrt())
            e = kept * e + eta**2 * ((gradient - e / 4) / m + noise)
            mean = 1 - (1 - mean) * ball(1 - RATE / 2)
        ends.append(e)
    return ends[0], ends[1]


def risks(spot: Spot) -> Curve:
    """E L(w_T), from below and from above."""
    mean = ball(_mean(STEPS))
    return tuple((e + 2 * mean - 1) / 2 - mean / 2 + ball(Fraction(1, 4) + SPREAD**2) for e in distances(spot))


def risk_bound(spot: Spot) -> arb:
    """The explicit bound for symmetric features, certified; the target is w_l, of length 1."""
    return bound("adaptive-batched-gd-symmetric.risk").reference(
        target_norm=1, optimal_risk=_OPTIMUM, label_bound=LABELS, feature_norm=_radius(spot),
        dimension=spot["dimension"], batch_size=_batch(spot), steps=STEPS, learning_rate=RATE,
        noise_over_sensitivity=multiplier(spot),
    ).ball


def promised_risk(spot: Spot) -> arb:
    """2 (1 + 2 mu) L(w*) with mu = 1/2, what the text promises up to alpha."""
    return ball(4 * _OPTIMUM)


def sample(spot: Spot, seed: int, replicates: range) -> Array:
    """|w_T - w_l|^2 of the real twin, a mean over models trained on one data set."""
    descent = algorithm("adaptive-batched-gd")
    config = descent.parse({
        "noise_formula": "exact" if spot["noise"] == "corrected" else "printed-variance",
        "noise_over_sensitivity": multiplier(spot) or _SILENT, "batch_size": _batch(spot), "learning_rate": RATE,
        "feature_norm": _radius(spot), "label_bound": LABELS,
    })
    models, errors = _MODELS if multiplier(spot) else 1, []
    for r in replicates:
        rng = np.random.Generator(np.random.Philox([seed, r]))
        x = math.sqrt(3) * (2 * rng.random((spot["n"], spot["dimension"])) - 1)
        y = x[:, 0] / 2 + float(SPREAD) * (2 * rng.integers(0, 2, spot["n"]) - 1)
        w = descent.train_batched(x, y, config, Tape(seed * 1_000_003 + r, models=models)).numpy()
        w[:, 0] -= 1
        errors.append(float((w**2).sum(axis=1).mean()))
    return np.array(errors)


def _private(spot: Spot) -> bool:
    if spot["epsilon"] == "infinity" or spot["noise"] != "corrected":
        return True
    proved = bound("adaptive-batched-gd.epsilon").fast(
        noise_over_sensitivity=float(multiplier(spot)), delta=float(DELTA)
    )
    return bool(proved <= float(spot["epsilon"]) <= 1)


def _stable(spot: Spot) -> bool:
    """Noise grows with the iterate: its part of the recursion must stay far below the contraction, eta."""
    r, z = _radius(spot), multiplier(spot)
    slope = z * r**2 if spot["noise"] == "corrected" else 2 * z * r  # of m s(w) in |w|
    return bool(9 * RATE * spot["dimension"] * slope**2 <= _batch(spot) ** 2)


PREMISES = (
    Premise("|x| <= r = sqrt(3d) on the cube, r whole", lambda spot: _radius(spot) ** 2 == 3 * spot["dimension"]),
    Premise("|y| <= B", lambda spot: math.sqrt(3) / 2 + SPREAD <= LABELS),
    Premise("eta <= 1/16 and T >= (4/(tau eta)) log(|w_l|/alpha) at alpha = e^-2",
            lambda spot: 16 * RATE <= 1 and STEPS >= 2 * 4 * 6 / RATE),
    Premise("n is T batches", lambda spot: spot["n"] == STEPS * _batch(spot)),
    Premise("batches of m >= 20 d", lambda spot: _batch(spot) >= 20 * spot["dimension"]),
    Premise("m is 3 times the size below which noise that follows the iterate explodes", _stable),
    Premise("the corrected noise gives (epsilon, delta) with epsilon <= 1", _private),
)


def _study(
    name: str, statement: str, axis: str, grid: tuple[Number, ...], predicted: int | None, setting: dict[str, Any],
    *, source: str = "nonconvex-nn/thm-7-sample-complexity", simulation: Simulation | None = None, **others: Any,
) -> Study:
    return Study(
        name=name, source=(source,), statement=statement,
        generator="x uniform on a cube, y = x_1/2 +- 1/8; exact second moments of Algorithm 8", axis=axis, grid=grid,
        setting={"noise": "corrected", "dimension": 3, **setting}, premises=PREMISES, simulation=simulation,
        predicted=None if predicted is None else Fraction(predicted),
        **{"estimand": "E|w_T - w_l|^2", "exact": distances, **others},
    )


def _sizes(*powers: int) -> tuple[int, ...]:
    return tuple(STEPS * 2**k for k in powers)


_MANY = {"epsilon": Fraction(1, 2**20), "n": STEPS * 2**52}
_DIMENSIONS = tuple(3 * 4**k for k in range(2, 8))

private = _study(
    "misspecified-private", "|w_T - w_l|^2 = O((n epsilon)^-2) with the noise that privacy needs", "n",
    _sizes(*range(10, 18)), -2, {"epsilon": Fraction(1, 16)},
    simulation=Simulation(sample, _sizes(10), 8, 7001, block=2),
)
in_epsilon = _study(
    "misspecified-epsilon", "the same in epsilon, at one n", "epsilon",
    tuple(Fraction(1, 2**k) for k in range(12, 6, -1)), -2, {"n": STEPS * 2**20},
)
statistical = _study(
    "misspecified-statistical", "without privacy |w_T - w_l|^2 = O(1/n)", "n", _sizes(*range(6, 14)), -1,
    {"epsilon": "infinity"}, simulation=Simulation(sample, _sizes(6), 32, 7002),
)
dimension = _study(
    "misspecified-dimension", "|w_T - w_l|^2 = O(d^3) with the noise that privacy needs", "dimension", _DIMENSIONS, 3,
    _MANY,
)
printed_dimension = _study(
    "misspecified-printed-dimension", "the text's |w_T - w_l|^2 = O(d^2), with the noise that privacy needs",
    "dimension", _DIMENSIONS, 2, _MANY,
)
literal = _study(
    "misspecified-literal", "|w_T - w_l|^2 = O((n epsilon)^-2) with the noise as printed (not private)", "n",
    _sizes(*range(10, 16)), -2, {"epsilon": Fraction(1, 16), "noise": "printed"},
    simulation=Simulation(sample, _sizes(10), 8, 7003, block=2),
)
literal_dimension = _study(
    "misspecified-literal-dimension", "|w_T - w_l|^2 = O(d^2) with the noise as printed (not private)", "dimension",
    _DIMENSIONS, 2, {**_MANY, "noise": "printed"},
)
risk = _study(
    "misspecified-risk", "E L(w_T) stays below the explicit bound for symmetric features", "n", _sizes(*range(10, 21)),
    None, {"epsilon": Fraction(1, 16)}, source="nonconvex-nn/thm-7-utility", estimand="E L(w_T)", exact=risks,
    bound=risk_bound,
)
promise = _study(
    "misspecified-promise", "L(w_T) <= 2 (1 + 2 mu) L(w*), mu = 1/2, for n large", "n", _sizes(*range(12, 21)), None,
    {"epsilon": Fraction(1, 16)}, source="nonconvex-nn/thm-7-constant", estimand="E L(w_T)", exact=risks,
    bound=promised_risk,
)
