"""Projected DP-GD on Lipschitz losses: the literal reference (document 000, Algorithm 1).

    theta_{t+1} = Pi( theta_t - eta ( (1/n) sum_i grad h(theta_t; x_i, y_i) + b_t ) ),    b_t ~ N(0, sigma^2 I_p),

t = 0, ..., T-1, from theta_0 = 0, where sigma = noise_on_mean and Pi projects on the ball |theta| <= radius; the
average iterate (1/T) (theta_1 + ... + theta_T) is released. The losses h are those of `glm`.

What is fixed here. The text's I_d is I_p, the identity of the parameters' space. As in the text nothing is clipped: the
gradient bound L is a hypothesis on the records, and every record must meet it on the whole ball, not just at the
iterates; data that do not are refused. h depends on theta through a score s in [-radius |x|, radius |x|] and r(s) does
not decrease, so a record's largest gradient norm is |x| max(|r(radius |x|)|, |r(-radius |x|)|). The text does not tie
sigma to (epsilon, delta): the guarantee does, with the sensitivity 2L/n (replace) or L/n (add or remove, n a declared
constant); it covers all iterates.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from oracle.algorithms.descent.dp_gd import WORDS, composed
from oracle.algorithms.shared import glm
from oracle.algorithms.shared.constant_size import DECLARED_SIZE, check_size
from oracle.algorithms.shared.glm import Array
from oracle.algorithms.shared.hypotheses import CONSTANT_SIZE
from oracle.core import records, vocabulary
from oracle.core.algorithm import Algorithm, Guarantee, Values, said
from oracle.core.errors import DomainError
from oracle.core.tape import Tape


def largest_gradient(loss: str, features: Array, label: float, radius: float) -> float:
    """The largest gradient norm of a record's loss on the ball."""
    norm = float(records.lengths(features[None])[0])
    return norm * max(abs(glm.residual(loss, sign * radius * norm, label)) for sign in (1.0, -1.0))


def check(features: Array, labels: Array, config: Values) -> None:
    """A DomainError unless these are data of the loss, as many as the relation allows, each Lipschitz as declared."""
    glm.check_data(features, labels, loss=config.loss)
    check_size(config, features.shape[0])
    radius = float(config.radius)
    largest = max(
        largest_gradient(config.loss, x, float(y), radius) for x, y in zip(features, labels, strict=True)
    )
    if largest > float(config.lipschitz) * (1 + 1e-12):
        raise DomainError(f"a record has a gradient of norm {largest}, above lipschitz = {config.lipschitz}")


def project(point: Array, radius: float) -> Array:
    """The nearest point of the ball around 0."""
    norm = float(np.linalg.norm(point))
    return point * (radius / norm) if norm > radius else point


def train(features: Array, labels: Array, config: Values, tape: Tape, recorder: Any = None) -> Array:
    """The average iterate of one model: the text of the algorithm, sample by sample."""
    check(features, labels, config)
    eta, sigma, radius = (float(v) for v in (config.learning_rate, config.noise_on_mean, config.radius))
    size, dimension = features.shape
    theta = np.zeros(dimension)
    iterates = np.zeros(dimension)
    for step in range(config.steps):
        total = np.zeros(dimension)
        for i in range(size):
            gradient = glm.residual(config.loss, float(features[i] @ theta), float(labels[i])) * features[i]
            total += gradient
            if recorder is not None:
                recorder("sample", step=step, sample=i, norm=float(np.linalg.norm(gradient)))
        noise = sigma * tape.normal("noise", step, dimension)[0]
        if recorder is not None:
            recorder("update", step=step, clipped_sum=total.copy(), noise_std=sigma)
        theta = project(theta - eta * (total / config.dataset_size + noise), radius)
        iterates += theta
    average: Array = iterates / config.steps
    return average


dp_gd_projected = Algorithm(
    name="dp-gd-projected",
    document="000, Algorithm 1",
    summary="full-batch noisy gradient descent on Lipschitz losses, projected on a ball, the average iterate",
    parameters=(
        vocabulary.lipschitz, vocabulary.noise_on_mean.above(0), vocabulary.steps.at_least(1),
        vocabulary.dataset_size, vocabulary.neighbours,
    ),
    training=(vocabulary.loss.choosing(*glm.LOSSES), vocabulary.learning_rate, vocabulary.radius),
    setting=(vocabulary.delta.open(), vocabulary.released),
    stated=(vocabulary.gradients_bounded, vocabulary.fixed_size),
    trained=lambda config: {"gradients_bounded": "true", "fixed_size": "true"},  # other data are refused
    released="average_iterate",
    neighbours="any",
    guarantees=(
        Guarantee(
            "dp-gd.epsilon", WORDS, lambda config: composed(config, config.lipschitz),
            (
                said("no record's gradient is longer than lipschitz on the whole ball", "gradients_bounded"),
                DECLARED_SIZE, CONSTANT_SIZE,
            ),
        ),
    ),
    check=check,
    reference=train,
    batched="oracle.algorithms.descent.torch_dp_gd_projected:twin",
    source=("relu-approx/alg-1",),
)
