r"""The exponential mechanism on a grid of models (document 004, "Exponential Mechanism for ML").

    P(theta) proportional to exp( -( sum_i l(theta | x_i, y_i) + n R(theta) ) / T ),      theta in a finite public grid

with the squared or the logistic loss clipped to [0, B] and R(theta) = (lambda/2) |theta|^2, lambda = regularisation.
The document has B = 1 and T = 2/epsilon. Clipping must come before the sum: the sum of unclipped losses has no bounded
sensitivity. The grid is that of the points with coordinates -grid_radius, ..., grid_radius, grid_points of them on
every axis, in lexicographic order.

A model is drawn by inverting the distribution function at one uniform number of the tape. The guarantee is of the exact
law; in doubles the probability of each of the K models is off by about K 2^-53 at most, absolutely. No pure guarantee
survives that: a model of probability below 2^-53 may be drawn under one data set and never under the other. So a plan
of our own training says CONDITIONAL (met up to rounding), and an audit holds it to the epsilon of the exact law.
"""

from __future__ import annotations

import itertools
import math
from fractions import Fraction
from typing import Any

import numpy as np

from oracle.algorithms.shared import glm
from oracle.algorithms.shared.conditions import CONSTANT_SIZE
from oracle.algorithms.shared.glm import Array
from oracle.core import vocabulary
from oracle.core.algorithm import Algorithm, Guarantee, Values, by_design, exactly, given, said
from oracle.core.errors import DomainError
from oracle.core.hypotheses import ROUNDED
from oracle.core.tape import Tape

LOSSES = ("squared", "logistic")
MOST_CANDIDATES = 10**6


def check(features: Array, labels: Array, config: Values) -> None:
    """A DomainError unless these are data, and few enough models to list."""
    glm.check_data(features, labels, loss=config.loss)
    if config.grid_points ** features.shape[1] > MOST_CANDIDATES:
        raise DomainError(
            f"grid_points = {config.grid_points} is outside its domain: at most {MOST_CANDIDATES} models in "
            f"{features.shape[1]} dimensions"
        )


def clipped_loss(loss: str, score: float, label: float, loss_range: float) -> float:
    """The loss of one record, clipped to [0, B]; neither of these losses is ever negative."""
    if loss == "squared":
        return min((score - label) * (score - label) / 2.0, loss_range)  # a power would refuse to overflow
    # log(1 + e^s) - y s for y in {0, 1} is log(1 + e^{-+s}), in a form that does not overflow.
    margin = score if label == 1.0 else -score
    return min(max(-margin, 0.0) + math.log1p(math.exp(-abs(margin))), loss_range)


def energy(features: Array, labels: Array, config: Values, theta: Array) -> float:
    """The sum of the clipped losses of a model, plus n R."""
    total = len(features) * float(config.regularisation) / 2.0 * float(theta @ theta)
    for x, y in zip(features, labels, strict=True):
        total += clipped_loss(config.loss, float(x @ theta), float(y), float(config.loss_range))
    return total


def candidates(config: Values, dimension: int) -> Array:
    """The grid, [K, d]."""
    step = Fraction(2, config.grid_points - 1)
    axis = [float(config.grid_radius * (step * j - 1)) for j in range(config.grid_points)]
    return np.array(list(itertools.product(axis, repeat=dimension)))


def probabilities(features: Array, labels: Array, config: Values) -> Array:
    """The law of the released model over the grid."""
    energies = np.array([
        energy(features, labels, config, theta) for theta in candidates(config, features.shape[1])
    ])
    weights = np.exp(-(energies - energies.min()) / float(config.temperature))
    return np.asarray(weights / weights.sum())


def train(features: Array, labels: Array, config: Values, tape: Tape, recorder: Any = None) -> Array:
    """The model of one run."""
    check(features, labels, config)
    law = probabilities(features, labels, config)
    uniform = float(tape.uniform("model", 0, 1)[0, 0])
    chosen, reached = 0, float(law[0])
    while reached < uniform and chosen < len(law) - 1:
        chosen += 1
        reached += float(law[chosen])
    if recorder is not None:
        recorder("release", chosen=chosen, probabilities=law)
    return np.asarray(candidates(config, features.shape[1])[chosen])


LAW = (vocabulary.loss_range, vocabulary.temperature)
LOSS = vocabulary.loss.choosing(*LOSSES)
_LAW = (said("loss-range", "clipped"), exactly("exact-law", "exact_sampling"))

exponential_mechanism = Algorithm(
    name="exponential-mechanism",
    document="004, Exponential Mechanism for ML",
    summary="a model of a grid, drawn with probability proportional to exp(-(sum of its clipped losses + n R)/T)",
    parameters=LAW,
    training=(LOSS, vocabulary.regularisation, vocabulary.grid_radius, vocabulary.grid_points),
    setting=(vocabulary.neighbours,),
    stated=(
        vocabulary.clipped, vocabulary.exact_sampling, vocabulary.fixed_size, vocabulary.dataset_size,
        vocabulary.candidates,
    ),
    trained=lambda config: {"clipped": "true", "exact_sampling": ROUNDED},
    released="output",
    neighbours="replace",
    guarantees=(
        Guarantee(
            "exponential-mechanism.epsilon", "pure: the exponent and its normaliser, for any number of records",
            lambda config: {
                "loss_range": config.loss_range, "temperature": config.temperature, "neighbours": config.neighbours,
            },
            (*_LAW, CONSTANT_SIZE, *by_design("public-measure")),
        ),
    ),
    risks=(
        Guarantee(
            "exponential-mechanism.utility", "the drawn model, in expectation, on clipped losses and regulariser",
            lambda config: None if None in (config.dataset_size, config.candidates) else {
                "loss_range": config.loss_range, "epsilon": 2 * config.loss_range / config.temperature,
                "dataset_size": config.dataset_size, "candidates": config.candidates, "method": "sharp",
            },
            (
                *_LAW, *by_design("excess-empirical-risk", "judged-draw", "calibrated"),
                given("uniform-measure", "candidates", words="there are that many candidates, a grid"),
            ),
        ),
    ),
    check=check,
    reference=train,
    batched="oracle.algorithms.mechanisms.torch_exponential_mechanism:twin",
    source=("cs208/exp-mech",),
)
