"""Subsample and aggregate: what privacy adds to the variance, and what a biased estimator keeps (004; rates R13).

Labels are +-1 with mean m, c = 1 - m^2 their variance. The mean over k blocks of clipped block means is the mean of all
labels, since block means lie in [-1, 1], and Laplace noise of scale 2/(k epsilon) has variance 8/(k epsilon)^2, so

    n E(theta^ - m)^2 / c - 1 = 8 n/(c epsilon^2 k^2):      k = n^kappa gives the exponent 1 - 2 kappa.

The slides ask for k = omega(sqrt n) only. That is enough where the estimator has no bias. The estimator exp(-mean) of
normal labels of variance c has on a block the mean exp(-m + c k/(2n)): the bias survives the mean over the blocks,

    n bias^2 / e^(-2m) = n (e^(c k/(2n)) - 1)^2 ~ c^2 n^(2 kappa - 1)/4,

and grows against the variance c/n for every kappa > 1/2: (1 + o(1)) c/n is false of it.
"""

from __future__ import annotations

from fractions import Fraction

import numpy as np
from flint import arb

from empirical.studies.study import EQUAL, Array, Curve, Premise, Simulation, Spot, Study
from oracle.core.enclosure import ball
from oracle.core.registry import algorithm
from oracle.core.tape import Tape

MEAN, EPSILON = Fraction(1, 5), Fraction(1)
_VARIANCE = 1 - MEAN**2
_MODELS = 64


def _blocks(spot: Spot) -> int:
    """k = n^kappa, which the grid makes a whole number."""
    power: int = spot["numerator"] * ((spot["n"].bit_length() - 1) // spot["denominator"])
    return 1 << power


def _added(spot: Spot) -> Curve:
    return (ball(8 * spot["n"] / (_VARIANCE * EPSILON**2 * _blocks(spot) ** 2)),)


def _sample(spot: Spot, seed: int, replicates: range) -> Array:
    """n times the mean squared error, in units of c, less 1: data and noise are drawn anew."""
    item, blocks, records = algorithm("subsample-aggregate"), _blocks(spot), spot["n"]
    config = item.parse({
        "blocks": blocks, "noise_scale": Fraction(2, blocks) / EPSILON, "estimator": "mean", "order": "given",
        "estimate_low": -1, "estimate_high": 1,
    })
    added = []
    for replicate in replicates:
        draw = np.random.Generator(np.random.Philox([seed, replicate]))
        errors = []
        for data in range(_MODELS):
            labels = np.where(draw.random(records) < float((1 + MEAN) / 2), 1.0, -1.0)
            tape = Tape((seed * 1000 + replicate) * 1000 + data, models=1)
            released = float(item.train_batched(np.zeros((records, 1)), labels, config, tape)[0, 0])
            errors.append((released - float(MEAN)) ** 2)
        added.append(records * np.mean(errors) / float(_VARIANCE) - 1.0)
    return np.array(added)


def _added_variance(numerator: int, denominator: int, seed: int) -> Study:
    kappa = Fraction(numerator, denominator)
    grid = tuple(2 ** (denominator * k) for k in range(2, 14))
    return Study(
        name=f"subsample-aggregate-{numerator}-{denominator}",
        source=("cs208/sa-rates",),
        statement=f"k = n^({kappa}) blocks: the variance is (1 + o(1)) c/n; the o(1) has exponent {1 - 2 * kappa}",
        estimand="n variance/c - 1",
        generator="labels +-1 of mean 1/5, block means, Laplace noise, epsilon = 1",
        axis="n",
        grid=grid,
        setting={"numerator": numerator, "denominator": denominator},
        predicted=1 - 2 * kappa,
        margin=Fraction(1, 100),
        kind=EQUAL,
        premises=(
            Premise("k = omega(sqrt n)", lambda spot: _blocks(spot) ** 2 > spot["n"]),
            Premise("blocks are of one size", lambda spot: spot["n"] % _blocks(spot) == 0),
            Premise("estimates are never clipped: block means of +-1 lie in [-1, 1]", lambda spot: abs(MEAN) <= 1),
        ),
        exact=_added,
        simulation=Simulation(_sample, at=grid[:1], replicates=32, seed=seed),
    )


three_fifths = _added_variance(3, 5, 2013)
three_quarters = _added_variance(3, 4, 2014)


def _bias(spot: Spot) -> Curve:
    """n bias^2 / e^(-2m) of exp(-mean) for normal labels of variance 1."""
    return (spot["n"] * ((arb(_blocks(spot)) / (2 * spot["n"])).expm1()) ** 2,)


biased = Study(
    name="subsample-aggregate-bias",
    source=("cs208/sa-rates",),
    statement="k = n^(3/4) blocks of a biased estimator: n bias^2 must vanish for variance (1 + o(1)) c/n",
    estimand="n bias^2 in units of the squared value",
    generator="exp(-mean) of normal labels of variance 1: exact mean on a block",
    axis="n",
    grid=tuple(2 ** (4 * k) for k in range(2, 14)),
    setting={"numerator": 3, "denominator": 4},
    predicted=Fraction(0),
    margin=Fraction(1, 20),
    premises=(Premise("k = omega(sqrt n)", lambda spot: _blocks(spot) ** 2 > spot["n"]),),
    exact=_bias,
)
