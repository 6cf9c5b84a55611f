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

from oracle.algorithms.descent.dp_gd import FULL, MEAN_RISK, WORDS, composed
from oracle.algorithms.shared import glm
from oracle.algorithms.shared.constant_size import check_size
from oracle.algorithms.shared.glm import Array
from oracle.core import records, vocabulary
from oracle.core.algorithm import Algorithm, Guarantee, Values, by_design, given, said
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


_BOUNDED = "no record's gradient is longer than lipschitz on the whole ball"
_RISK = (
    *MEAN_RISK, said("lipschitz-losses", "gradients_bounded", _BOUNDED),
    given("lipschitz-losses", "loss", words="the loss is convex: one of those that this algorithm names"),
    *by_design("unclipped", "start-at-distance"),
)


def _risk(config: Values) -> dict[str, Any] | None:
    """The parameters of dp-gd.risk: the start, 0, is at most the radius away from the minimiser on the ball."""
    values = {
        "distance": config.radius, "lipschitz": config.lipschitz, "dimension": config.dimension,
        "noise_on_mean": config.noise_on_mean, "steps": config.steps, "learning_rate": config.learning_rate,
    }
    return None if None in values.values() else values


def _tail(config: Values) -> dict[str, Any] | None:
    """The parameters of dp-gd-tail.risk: a ball is as wide as twice its radius."""
    values = _risk(config)
    if values is None or config.failure_probability is None:
        return None
    return {**values, "constraint_radius": 2 * config.radius, "failure_probability": config.failure_probability}


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
    stated=(
        vocabulary.gradients_bounded, vocabulary.fixed_size, vocabulary.dimension, vocabulary.all_coordinates,
        vocabulary.failure_probability,
    ),
    trained=lambda config: {"gradients_bounded": "true", "fixed_size": "true"},  # other data are refused
    released="average_iterate",
    neighbours="any",
    guarantees=(
        Guarantee(
            "dp-gd.epsilon", WORDS, lambda config: composed(config, config.lipschitz),
            (said("short-gradients", "gradients_bounded", _BOUNDED), *FULL),
        ),
    ),
    risks=(
        Guarantee(
            "dp-gd.risk", "the average iterate, in expectation", _risk,
            (*_RISK, said("counted-directions", "all_coordinates")),
        ),
        Guarantee(
            "dp-gd-tail.risk", "the average iterate, but for a given probability", _tail,
            (*_RISK, said("all-directions", "all_coordinates"), *by_design("constraint-radius")),
        ),
    ),
    check=check,
    reach=lambda config, count: records.reach(
        steps=1, learning_rate=config.learning_rate, gradient=config.lipschitz, noise=config.noise_on_mean,
        start=config.radius,
    ),
    reference=train,
    batched="oracle.algorithms.descent.torch_dp_gd_projected:twin",
    source=("relu-approx/alg-1",),
)
