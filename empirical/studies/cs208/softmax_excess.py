"""The exponential mechanism's excess loss, exactly: softmax sums on the worst profile of gaps (004; rates R12).

Of N = |Theta| candidates one has loss 0 and the others the loss g, losses being means of n values in [0, 1]. The
mechanism draws theta with probability proportional to exp(-epsilon n L(theta)/2), so that its expected excess is

    g w/(1 + w),        w = (N - 1) e^(-epsilon n g/2),

which the slides' mechanism keeps below 2 ln N/(epsilon n). Near the gap g = 2 ln N/(epsilon n) it is (N - 1)/(2N - 1)
times that: the rate is attained. On the twin the profile is made of `INFORMATIVE` records whose squared loss is 0 at
one point of the grid and clipped to 1 at all others, and of records that no candidate can fit better than another.
"""

from __future__ import annotations

from fractions import Fraction

import numpy as np
from flint import arb

from empirical.studies.study import EQUAL, Array, Curve, Premise, Simulation, Spot, Study
from oracle.core.enclosure import ball
from oracle.core.registry import algorithm
from oracle.core.tape import Tape

CANDIDATES, INFORMATIVE, EPSILON = 64, 8, Fraction(26, 25)  # 2 ln 64 / 8 = 1.0397
_SPACING = 4  # between neighbours of the grid: their squared losses are clipped
_MODELS = 400


def _excess(spot: Spot) -> Curve:
    gap, others = arb(INFORMATIVE) / spot["n"], arb(spot["candidates"]) - 1
    weight = others * (-ball(EPSILON) * INFORMATIVE / 2).exp()
    return (gap * weight / (1 + weight),)


def _bound(spot: Spot) -> arb:
    rate: arb = 2 * arb(spot["candidates"]).log() / (ball(EPSILON) * spot["n"])
    return rate


def _data(records: int) -> tuple[Array, Array]:
    """Records that want the first point of the grid, and others that want nothing."""
    features = np.zeros((records, 1))
    features[:INFORMATIVE] = 1.0
    labels = np.where(features[:, 0] > 0, -float(_radius()), 0.0)
    return features, labels


def _radius() -> Fraction:
    return Fraction(_SPACING * (CANDIDATES - 1), 2)


def _sample(spot: Spot, seed: int, replicates: range) -> Array:
    """The mean excess loss of the models that the twin draws: those off the first point lose the gap."""
    drawn = algorithm("exponential-mechanism")
    config = drawn.parse({
        "loss_range": 1, "temperature": 2 / EPSILON, "loss": "squared", "regularisation": 0,
        "grid_radius": _radius(), "grid_points": CANDIDATES,
    })
    features, labels = _data(spot["n"])
    means = []
    for replicate in replicates:
        models = drawn.train_batched(features, labels, config, Tape(seed * 1000 + replicate, models=_MODELS))
        off = np.asarray(models)[:, 0] != labels[0]
        means.append(off.mean() * INFORMATIVE / spot["n"])
    return np.array(means)


_LOSSES = Premise("losses lie in [0, 1]", lambda spot: spot["n"] >= INFORMATIVE)

in_records = Study(
    name="exponential-mechanism",
    source=("cs208/exp-mech-utility",),
    statement="E L - min L <= 2 ln|Theta|/(n epsilon): exponent -1 in n, attained",
    estimand="expected excess loss",
    generator="one candidate of loss 0, 63 of loss 8/n at epsilon = 1.04; exact softmax sums",
    axis="n",
    grid=tuple(4**k for k in range(2, 14)),
    setting={"candidates": CANDIDATES},
    predicted=Fraction(-1),
    margin=Fraction(1, 100),
    kind=EQUAL,
    premises=(_LOSSES,),
    exact=_excess,
    bound=_bound,
    simulation=Simulation(_sample, at=(16, 64, 256), replicates=32, seed=2012),
)


def _worst(spot: Spot) -> Curve:
    """The excess at the gap 2 ln N/(epsilon n), for N = 2^bits and n epsilon = 10^4."""
    many = arb(2) ** spot["bits"]
    return (_gap(spot) * (many - 1) / (2 * many - 1),)


def _gap(spot: Spot) -> arb:
    gap: arb = 2 * arb(2).log() * spot["bits"] / 10**4
    return gap


in_candidates = Study(
    name="exponential-mechanism-candidates",
    source=("cs208/exp-mech-utility",),
    statement="the same: exponent +1 in ln|Theta|, attained",
    estimand="expected excess loss",
    generator="one candidate of loss 0, the others of loss 2 ln N/(n epsilon), n epsilon = 10^4; exact softmax sums",
    axis="bits",
    grid=(1, 2, 4, 8, 16, 32, 64, 128, 256),
    predicted=Fraction(1),
    margin=Fraction(1, 100),
    kind=EQUAL,
    premises=(Premise("losses lie in [0, 1]", lambda spot: bool(_gap(spot) <= 1)),),
    exact=_worst,
    bound=_gap,
)
