r"""Worst cases of phased SGD, plain, smoothed, projected and on the features of a kernel.

The canary is the first record and all others are zero. Its gradient is then taken at w_0 = 0, whatever the link: it
moves all n_1 - 1 later iterates of the first phase by eta_1 times its length, hence the average by (1 - 1/n_1) of that.
The later phases only add their noise, so that w_k is exactly Gaussian, of variance (sigma eta_1)^2 + ... + (sigma
eta_k)^2 with sigma = noise_over_step and eta_i = base_learning_rate / 4^i, for every link that starts at w_0 = 0.
"""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np

from empirical.pairs.descent import SIZES
from empirical.pairs.generic import replaced, unit
from empirical.pairs.laws import GaussianLaw
from empirical.pairs.pair import Array, Builder, Pair
from empirical.pairs.regression import opposite
from oracle.algorithms.kernels import multinomial
from oracle.algorithms.phased import moreau
from oracle.algorithms.phased.phased_sgd import sizes
from oracle.core.algorithm import Values
from oracle.core.enclosure import ball

AT_ZERO = {
    "tanh": Fraction(0), "sigmoid": Fraction(1, 2), "clip": Fraction(0), "constant": Fraction(1), "sign": Fraction(0),
}
"""The links at a score of 0, in units of their bound."""


def first_record_law(config: Values, records: int, squared_gap: Fraction, gap: Array, centre: Array) -> GaussianLaw:
    """The law of w_k where the first record's gradients on the two data sets are `gap` apart, a vector of that norm."""
    phases = sizes(records)
    share = Fraction(phases[0] - 1, phases[0])
    rates = [config.base_learning_rate / 4**i for i in range(1, len(phases) + 1)]
    squared_mu = squared_gap * (share * rates[0]) ** 2 / (config.noise_over_step**2 * sum(rate**2 for rate in rates))
    moved = float(share * rates[0])
    std = float(config.noise_over_step) * float(sum(rate**2 for rate in rates)) ** 0.5
    weights = gap / float(np.linalg.norm(gap)) / std
    return GaussianLaw(lambda: ball(squared_mu).sqrt(), weights, moved * centre)


def _phased(name: str, config: Values, parameters: Values) -> Pair:
    records, dimension = parameters.records, parameters.dimension
    pair = opposite(records, dimension, 0, 1.0, -float(config.label_bound))
    if name.endswith("projected") or config.initial_radius != 0 or sizes(records)[0] < 2:
        return pair
    slope = (AT_ZERO[config.link] + 1) * config.label_bound
    if name == "smoothed-phased-sgd":
        slope = Fraction(moreau.derivative(config, 0.0, -float(config.label_bound), 1))  # as the run computes it
    gap = 2 * float(slope) * unit(dimension)
    law = first_record_law(config, records, (2 * slope) ** 2, gap, np.zeros(dimension))
    return replace(pair, law=law)


def _defaults(name: str, config: Values) -> dict[str, Any]:
    return {"records": 32, "dimension": 2}


first_record = Builder(
    name="first-record",
    summary="the first record is the canary, with opposite features and the least label; the rest is zero",
    algorithms=("phased-sgd", "phased-sgd-projected", "smoothed-phased-sgd", "smoothed-phased-sgd-projected"),
    parameters=SIZES,
    defaults=_defaults,
    build=_phased,
)


def _kernel(name: str, config: Values, parameters: Values) -> Pair:
    """Features of a kernel cannot be opposite: two points on opposite sides of the sphere, or both labels of one."""
    records, dimension = parameters.records, parameters.dimension
    x = unit(dimension)
    flipped = config.link == "sigmoid"  # whose slope is +-1/2; the others' slope has one sign
    canaries = (x, x) if flipped else (-x, x)
    label = 1.0 if config.link == "clip" else 0.0
    ends = (0.0, 1.0) if flipped else (label, label)
    slopes = [_slope_at_zero(config.link) - Fraction(end) for end in ends]
    psi = [multinomial.features(canary, config.degree) for canary in canaries]
    # The weights move against the gradient.
    moved = [-float(slope) * feature for slope, feature in zip(slopes, psi, strict=True)]
    gap = moved[1] - moved[0]
    others, labels = np.zeros((records - 1, dimension)), np.full(records - 1, float(_slope_at_zero(config.link)))
    pair = replace(replaced(others, labels, canaries, ends, 0), direction=gap / np.linalg.norm(gap))
    if name.endswith("projected") or sizes(records)[0] < 2 or config.link != "constant":
        return pair  # psi(0) is not 0, so that the other records answer to the canary's move, but for a constant link
    same = Fraction(sum((-1) ** i for i in range(config.degree + 1)), config.degree + 1)  # K(x, -x), |x| = 1
    squared_gap = slopes[0] ** 2 + slopes[1] ** 2 - 2 * slopes[0] * slopes[1] * same
    return replace(pair, law=first_record_law(config, records, squared_gap, gap, (moved[0] + moved[1]) / 2))


def _slope_at_zero(link: str) -> Fraction:
    return {"sigmoid": Fraction(1, 2), "clip": Fraction(0), "constant": Fraction(1)}[link]


kernel_canary = Builder(
    name="kernel-canary",
    summary="the first record is the canary, on opposite ends of the sphere or with opposite labels",
    algorithms=("two-layer", "two-layer-projected"),
    parameters=SIZES,
    defaults=_defaults,
    build=_kernel,
)
