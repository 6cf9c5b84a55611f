r"""DP gradient descent on two problems that are solved exactly (004; rates R15).

Quadratic: records i have features e_(i mod d), labels +-1, the squared loss, so that the mean gradient in coordinate j
is (theta_j - m_j)/d. With a = 1 - eta/d the average iterate of T steps from 0 is m_j minus

    m_j a (1 - a^T)/(T (1 - a))  +  (eta/T) sum_(s=1..T) (1 - a^s)/(1 - a) Z_s,

so its excess empirical risk, (1/(2d)) sum_j E(theta_j - m_j)^2, is known. With T = n steps and the noise of mu-GDP,
sigma = 2C/(sqrt(n) mu), both parts fall like n^-2: twice as fast as for convex Lipschitz losses, as this one is
strongly convex. Clipping never acts: that some gradient is longer than C has a probability that a premise bounds.

Linear: in one dimension, on [-R, R], the records' mean gradient is -m/n for a fixed excess m of ones. Step size
and noise make all of n's runs the same up to scale, and the excess m E(R - theta)/n falls like 1/n: the rate of convex
Lipschitz losses is attained, by data that depend on n.
"""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
from flint import arb

from empirical.studies.study import EQUAL, Array, Curve, Premise, Simulation, Spot, Study
from oracle.core.enclosure import ball
from oracle.core.registry import algorithm
from oracle.core.tape import Tape

DIMENSION, RATE, CLIP, MU = 2, Fraction(1, 10), Fraction(8), Fraction(1)
_MODELS = 8
_CLIPPED = 1e-15  # the probability that a premise grants to clipping


def _root(n: int) -> int:
    """The square root of a power of 4."""
    return math.isqrt(n)


def _noise(spot: Spot) -> Fraction:
    """The noise of T = n steps of mu-GDP together: sqrt(T) 2C/(n mu)."""
    return 2 * CLIP / (_root(spot["n"]) * MU)


def _means(records: int) -> list[Fraction]:
    """The mean label of each coordinate: all labels are +1 in the first, three of four in the second."""
    labels = _labels(records)
    return [
        Fraction(int(labels[j::DIMENSION].sum()), len(labels[j::DIMENSION])) for j in range(DIMENSION)
    ]


def _labels(records: int) -> Array:
    labels = np.ones(records)
    labels[1::8] = -1.0
    return labels


def _quadratic(spot: Spot) -> Curve:
    steps, shrink = spot["n"], 1 - RATE / DIMENSION
    a, left = ball(shrink), 1 - ball(shrink)
    power = a**steps
    bias = a * (1 - power) / (steps * left)
    # sum over s of (1 - a^s)^2 = T - 2 a (1 - a^T)/(1 - a) + a^2 (1 - a^(2T))/(1 - a^2)
    squares = steps - 2 * a * (1 - power) / left + a**2 * (1 - power**2) / (1 - a**2)
    variance = (ball(RATE) / (steps * left)) ** 2 * squares * ball(_noise(spot)) ** 2
    total = sum((ball(m) * bias) ** 2 + variance for m in _means(spot["n"]))
    return (total / (2 * DIMENSION),)


def _general(spot: Spot) -> arb:
    """What holds of convex Lipschitz losses: |m|^2/(2 eta T) + eta (C^2 + d sigma^2)/2."""
    distance = sum((m**2 for m in _means(spot["n"])), Fraction(0))
    return ball(distance / (2 * RATE * spot["n"]) + RATE * (CLIP**2 + DIMENSION * _noise(spot) ** 2) / 2)


def _unclipped(spot: Spot) -> bool:
    """The chance that an iterate is so far off that a gradient |theta_j - y| exceeds C, summed over steps."""
    spread = float(RATE) * float(_noise(spot)) / math.sqrt(1 - float(1 - RATE / DIMENSION) ** 2)
    return bool(DIMENSION * spot["n"] * math.erfc((float(CLIP) - 2.0) / (spread * math.sqrt(2.0))) < _CLIPPED)


def _train(name: str, config: dict[str, object], data: tuple[Array, Array], seeds: list[int]) -> list[Array]:
    item = algorithm(name)
    parsed = item.parse(config)
    return [
        np.asarray(item.train_batched(*data, parsed, Tape(seed, models=_MODELS)), dtype=np.float64) for seed in seeds
    ]


def _sample_quadratic(spot: Spot, seed: int, replicates: range) -> Array:
    records = spot["n"]
    features = np.eye(DIMENSION)[np.arange(records) % DIMENSION]
    config: dict[str, object] = {
        "clip_norm": CLIP, "noise_on_mean": _noise(spot), "steps": records, "dataset_size": records,
        "neighbours": "replace", "loss": "squared", "learning_rate": RATE,
    }
    trained = _train("dp-gd", config, (features, _labels(records)), [seed * 1000 + r for r in replicates])
    means = np.array([float(m) for m in _means(records)])
    return np.array([((models - means) ** 2).sum(axis=1).mean() / (2 * DIMENSION) for models in trained])


quadratic = Study(
    name="dp-gd-quadratic",
    source=("cs208/dp-gd-sensitivity",),
    statement="DP-GD on a strongly convex quadratic, T = n: excess empirical risk of exponent -2 in n mu",
    estimand="excess empirical risk",
    generator="features e_(i mod 2), labels +-1, squared loss, C = 8, mu = 1, step size 1/10; closed second moments",
    axis="n",
    grid=tuple(4**k for k in range(4, 16)),
    predicted=Fraction(-2),
    margin=Fraction(1, 20),
    kind=EQUAL,
    premises=(
        Premise(f"clipping acts with probability below {_CLIPPED:g}", _unclipped),
        Premise("the step size is below 2/smoothness", lambda spot: RATE / DIMENSION < 2),
    ),
    exact=_quadratic,
    bound=_general,
    trivial=lambda spot: sum((ball(m) ** 2 for m in _means(spot["n"])), arb(0)) / (2 * DIMENSION),
    simulation=Simulation(_sample_quadratic, at=(256, 1024), replicates=32, seed=2015),
)

EXCESS, RADIUS, STEPS = 4, Fraction(1), 64


def _linear_setting(spot: Spot) -> tuple[Fraction, Fraction]:
    """Noise and step size: of T steps of mu-GDP, and so that the path is the same for all n."""
    noise = Fraction(2 * _root(STEPS)) / (spot["n"] * MU)
    return noise, RADIUS / (noise * STEPS)


def _sample_linear(spot: Spot, seed: int, replicates: range) -> Array:
    records = spot["n"]
    noise, rate = _linear_setting(spot)
    signs = np.where(np.arange(records) < (records + EXCESS) // 2, 1.0, -1.0)
    config: dict[str, object] = {
        "lipschitz": 1, "noise_on_mean": noise, "steps": STEPS, "dataset_size": records, "neighbours": "replace",
        "loss": "linear", "learning_rate": rate, "radius": RADIUS,
    }
    data = signs[:, None], np.zeros(records)  # the gradient of the linear loss is minus the features
    trained = _train("dp-gd-projected", config, data, [seed * 1000 + r for r in replicates])
    return np.array([EXCESS / records * float((1.0 - models[:, 0]).mean()) for models in trained])


def _lipschitz(spot: Spot) -> arb:
    """R^2/(2 eta T) + eta (1 + sigma^2)/2, from 0, for losses of slope 1 on [-R, R]."""
    noise, rate = _linear_setting(spot)
    return ball(RADIUS**2 / (2 * rate * STEPS) + rate * (1 + noise**2) / 2)


linear = Study(
    name="dp-gd-linear",
    source=("cs208/dp-gd-sensitivity",),
    statement="DP-GD on linear losses over an interval: excess empirical risk of exponent -1 in n mu, attained",
    estimand="excess empirical risk",
    generator="features +-1, four more ones than minus ones, linear loss on [-1, 1], 64 steps, mu = 1",
    axis="n",
    grid=tuple(4**k for k in range(3, 8)),
    predicted=Fraction(-1),
    margin=Fraction(1, 20),
    kind=EQUAL,
    premises=(
        Premise("an even number of records, of slope 1 each", lambda spot: spot["n"] % 2 == 0 and spot["n"] > EXCESS),
    ),
    bound=_lipschitz,
    simulation=Simulation(_sample_linear, at=tuple(4**k for k in range(3, 8)), replicates=64, seed=2115),
)
