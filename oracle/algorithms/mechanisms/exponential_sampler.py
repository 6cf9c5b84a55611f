r"""A Metropolis chain towards the exponential mechanism on all of R^d (document 004, "Exponential Mechanism for ML").

The target is the density proportional to exp(-(sum_i l(theta | x_i, y_i) + n R(theta)) / T), with the clipped losses of
`exponential_mechanism` and R(theta) = (lambda/2) |theta|^2, lambda = regularisation > 0, without which it could not be
normalised. From theta = 0, each of a fixed number of steps proposes theta + proposal_std Z, Z ~ N(0, I), and goes there
with probability min(1, ratio of the densities).

This is what one runs where the grid of `exponential_mechanism` would be exponentially large, and NO privacy guarantee
is stated for it: after finitely many steps the law is not the target, pure epsilon-DP of the target says nothing of a
law nearby, and its distance from the target is not bounded here. (Drawing exactly, by rejection from exp(-n R / T),
accepts with probability as low as e^{-n B / T}.)
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from oracle.algorithms.mechanisms.exponential_mechanism import LAW, LOSS, energy
from oracle.algorithms.shared import glm
from oracle.algorithms.shared.glm import Array
from oracle.core import vocabulary
from oracle.core.algorithm import Algorithm, Values
from oracle.core.tape import Tape


def check(features: Array, labels: Array, config: Values) -> None:
    """A DomainError unless these are data of the loss."""
    glm.check_data(features, labels, loss=config.loss)


def train(features: Array, labels: Array, config: Values, tape: Tape, recorder: Any = None) -> Array:
    """The last state of one chain."""
    check(features, labels, config)
    dimension = features.shape[1]
    theta = np.zeros(dimension)
    current = energy(features, labels, config, theta)
    for step in range(config.steps):
        proposal = theta + float(config.proposal_std) * tape.normal("proposal", step, dimension)[0]
        there = energy(features, labels, config, proposal)
        log_ratio = (current - there) / float(config.temperature)
        accepted = math.log(float(tape.uniform("accept", step, 1)[0, 0])) < log_ratio
        if accepted:
            theta, current = proposal, there
        if recorder is not None:
            recorder("update", step=step, log_ratio=log_ratio, accepted=accepted)
    return theta


exponential_sampler = Algorithm(
    name="exponential-mechanism-sampler",
    document="004, Exponential Mechanism for ML",
    summary="a Metropolis chain of fixed length towards the exponential mechanism on R^d; no guarantee",
    parameters=(*LAW, vocabulary.steps.at_least(1)),
    training=(LOSS, vocabulary.regularisation.above(0), vocabulary.proposal_std),
    released="output",
    neighbours="replace",
    check=check,
    reference=train,
    batched="oracle.algorithms.mechanisms.torch_exponential_sampler:twin",
    source=("cs208/exp-mech",),
)
